"""Files and data frames → counts of pairs. The only module that knows data frames."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, kind_name, shown
from rldp._common.process import needs
from rldp.data import arrow
from rldp.data.bins import Binning, Bins, numbers_in
from rldp.data.columns import encode, encode_texts, is_column, kind_among
from rldp.data.csv_files import read_csv
from rldp.data.headers import (
    Located,
    column_name,
    located,
    require_columns,
    require_distinct,
    require_headers,
)
from rldp.data.labels import HOW_TO_SHOW, Alphabet, Encoded, Faults, TooManyNumbers, count_pairs
from rldp.data.meaning import Kind, Scale, labels_of_texts
from rldp.data.reading import MISSING, Column, Reading
from rldp.data.rows import joint_codes, merged, rows_of, with_category, with_missing_labelled
from rldp.data.sources import Dialect, Source, opened, reading
from rldp.data.wanted import Wanted
from rldp.errors import DataError, FewerBinsWarning, InvalidArgument, InvalidArgumentType

__all__ = ["WHOLE_FRAMES", "Counted", "columns", "counted_pairs", "header_of", "taken_apart"]

CANDIDATES = (32, 16, 8, 4)
"""Candidates of ``bins="auto"``, which takes the largest number that does not make the table sparse."""
_RARE, _MOST_RARE = 5, 0.2  # Cochran's rule: a fifth of the cells may be seen fewer than 5 times
_ABOUT_MISSING = (
    "; in {} an entry is missing: missing='skip' leaves such rows out, missing='category' gives them a label "
    "of their own"
)


@dataclass(frozen=True, eq=False)
class Counted:
    """How often each pair of labels occurs in the columns of some data.

    Attributes
    ----------
    counts : int array (|S|, |U|)
        With one column for each combination of given columns and values.
    reading : Reading
        How the columns were read.
    skipped : int
        Number of rows left out because an entry is missing.
    scales : tuple of (Scale or None)
        For each column of the value, the numbers that its labels stand for, if they are not numbers
        themselves.
    """

    counts: NDArray[np.int64]
    reading: Reading
    skipped: int
    scales: tuple[Scale | None, ...]


def counted_pairs(
    data: Any, wanted: Wanted, *, dialect: Dialect | None = None, show_labels: bool = False
) -> Counted:
    """Count the pairs of labels in the columns of ``data``."""
    table = _read(data, wanted.names, dialect)
    require_headers(wanted.known, table.name, table.source)
    for bins in CANDIDATES:
        counted = _counted(table, wanted.with_bins(bins), show_labels)
        if (counted.counts < _RARE).mean() <= _MOST_RARE or not wanted.chooses_bins:
            break
    for name, column in zip(wanted.value, counted.reading.value, strict=True):
        _tell_of_fewer_bins(column, wanted.readings[name])
    return counted


def _tell_of_fewer_bins(column: Column, asked: object) -> None:
    bins = 0 if column.edges is None else len(column.edges) + 1
    if isinstance(asked, Binning) and asked.count is not None and bins < asked.count:
        warnings.warn(
            f"column {column.name!r} is cut into {bins} bins, not into {asked.count}, since some of its "
            "numbers are too frequent to be divided",
            FewerBinsWarning,
            stacklevel=5,
        )


def _counted(table: _Table, wanted: Wanted, show_labels: bool) -> Counted:
    try:
        columns = table.encoded(wanted.readings)
    except TooManyNumbers as error:
        raise DataError(f"{error}, or cut those of a value column into bins (bins=)") from None
    if len(columns[0]) == 0:
        raise DataError(f"{table.source} must hold at least one row, got none")
    if wanted.missing == "category" and not wanted.known:
        known = [isinstance(given, Alphabet) and MISSING in given.index for given in wanted.readings.values()]
        columns = [c if is_known else with_category(c) for c, is_known in zip(columns, known, strict=True)]
    columns = _without_rare(wanted, columns)
    read = tuple(map(table.read, wanted.names, columns))
    secrets, before_value = len(wanted.secret), len(wanted.secret) + len(wanted.given)
    reading = Reading(read[:secrets], read[before_value:], wanted.missing, given=read[secrets:before_value])
    shape = (len(reading.secrets), len(reading.values))
    rows = rows_of(reading, columns, Faults(show_labels=show_labels))
    if rows.faults.first is not None:
        missing = int(np.count_nonzero(np.logical_or.reduce([column.missing() for column in columns])))
        rows.faults.refuse(
            hint=_ABOUT_MISSING.format(missing) if missing and not wanted.known else "",
            advice=HOW_TO_SHOW,
        )
    if len(rows.values) == 0:
        raise DataError(f"{table.source} must hold a row without missing entries, got none")
    counts = count_pairs(rows.secrets, rows.values, shape)
    sizes = [len(column.labels) for column in reading.value]
    by_column = counts.sum(axis=0).reshape(-1, *sizes).sum(axis=0)
    scales = (
        _scale(wanted, name, column.alphabet, by_column.sum(axis=tuple({*range(len(sizes))} - {axis})))
        for axis, (name, column) in enumerate(zip(wanted.value, columns[before_value:], strict=True))
    )
    return Counted(counts, reading, rows.skipped, tuple(scales))


def _without_rare(wanted: Wanted, columns: list[Encoded]) -> list[Encoded]:
    """Return the columns, with the rare labels of given columns merged."""
    secrets = columns[: len(wanted.secret)]
    if not wanted.given or wanted.rare == 0:
        return columns
    if wanted.missing == "category":
        secrets = [with_missing_labelled(column) for column in secrets]
    joint = joint_codes(secrets, [column.codes for column in secrets])
    count = prod(len(column.labels) for column in secrets)
    given = range(len(secrets), len(secrets) + len(wanted.given))
    return [
        merged(column, joint, count, wanted.rare) if i in given else column
        for i, column in enumerate(columns)
    ]


def _scale(wanted: Wanted, name: str, alphabet: Alphabet, counts: NDArray[np.int64]) -> Scale | None:
    """Return the numbers that the labels of a column stand for; None if they are numbers themselves.

    ``counts`` says how often each label was seen.
    """
    labels, ordered = alphabet.labels, name in wanted.ordered
    of_bins = alphabet.scale if isinstance(alphabet, Bins) else None
    known = [label for label in labels if label != MISSING or wanted.missing != "category"]
    scale = of_bins or Scale.of_labels(known, ordered=ordered)
    if len(known) < len(labels) and scale is not None:
        return scale.with_missing(labels.index(MISSING), counts.tolist(), wanted.missing_distance)
    are_numbers = not any(isinstance(label, str) for label in labels)
    return None if are_numbers and of_bins is None and not ordered else scale


@dataclass(frozen=True, eq=False)
class _Table:
    """The requested columns of a table, read once.

    Attributes
    ----------
    source : str
        What messages call it.
    columns : dict
        Requested column → its entries.
    header : sequence
        The names of all columns.
    places : dict
        Requested column → its position in the header.
    are_texts : bool
        Whether the entries come from a CSV file and have no type.
    """

    source: str
    columns: dict[str, Any]
    header: Sequence[Any]
    places: dict[str, int]
    are_texts: bool = False

    def name(self, column: str) -> str:
        return str(self.header[self.places[column]])

    def encoded(self, readings: Mapping[str, Alphabet | Kind | Binning | None]) -> list[Encoded]:
        encoded = []
        for column, given in readings.items():
            name, entries = column_name(column, self.source), self.columns[column]
            if isinstance(given, Binning):
                given = given.inferred(name, numbers_in(entries, texts=self.are_texts))
            elif self.are_texts and isinstance(given, Alphabet):
                given.require_readable(name)
            read = encode_texts if self.are_texts else encode
            encoded.append(read(name, entries, given))
        return encoded

    def read(self, column: str, encoded: Encoded) -> Column:
        """Return how a column was read, and how to find it in other data: by its position if need be."""
        edges = tuple(encoded.alphabet.edges.tolist()) if isinstance(encoded.alphabet, Bins) else None
        name = self.name(column)
        if self.header.count(self.header[self.places[column]]) > 1:
            return Column(column, encoded.labels, edges, header=name)
        return Column(name, encoded.labels, edges)


def _read(data: Any, names: tuple[str, ...], dialect: Dialect | None = None) -> _Table:
    if not isinstance(data, str | os.PathLike | Source):
        return _read_frame(data, names)
    with opened(data, dialect) as source:
        layout = located(source, names)
        with reading(source):
            columns = (_parquet_columns if source.parquet else _csv_columns)(layout, names)
        entries = dict(zip(names, columns, strict=True))
        return _Table(str(source), entries, layout.header, layout.places, not source.parquet)


def _csv_columns(layout: Located, columns: Sequence[str]) -> Any:
    """Return columns as text: the type depends on the whole column, or on known labels."""
    types = {layout.number(column): arrow.string() for column in columns}
    return read_csv(layout.source, types, layout.numbers).columns


def _parquet_columns(layout: Located, columns: Sequence[str]) -> Any:
    names = [layout.name(column) for column in columns]
    for column, kind in zip(columns, layout.types(columns), strict=True):
        if arrow.types.is_nested(kind):  # several columns of the file, without labels
            raise DataError(
                f"{column_name(column, layout.source)} must hold strings, numbers or booleans, got entries "
                f"of type {shown(str(kind))}"
            )
    tables = []
    for path in layout.source.paths:
        with arrow.parquet.ParquetFile(path, read_dictionary=names) as file:
            tables.append(layout.chosen(file.read(columns=names), columns))
    return arrow.concat_tables(tables).columns


def columns(data: Any, names: tuple[str, ...], *, dialect: Dialect | None = None) -> list[Any]:
    """Return columns of a CSV or Parquet file or of a data frame, as its library holds them."""
    if len(set(names)) < len(names):
        raise InvalidArgument(f"columns must be distinct, got {', '.join(map(repr, names))}")
    return list(_read(data, names, dialect).columns.values())


WHOLE_FRAMES: dict[str, Callable[[Any, int], Any]] = {
    "pandas.DataFrame": lambda frame, place: frame.iloc[:, place],
    "polars.DataFrame": lambda frame, place: frame.to_series(place),
    "pyarrow.Table": lambda table, place: table.column(place),
    "pyarrow.RecordBatch": lambda batch, place: batch.column(place),
}
"""The functions that return the column at a position, by the kind of frames whose rows are in memory."""


def header_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame whose rows are in memory."""
    is_arrow = kind_among(("pyarrow.Table", "pyarrow.RecordBatch"), frame) is not None
    return list(frame.schema.names if is_arrow else frame.columns)


def _read_frame(data: Any, names: tuple[str, ...]) -> _Table:
    """Return columns of a frame; of a lazy frame, only these are computed."""
    kind = kind_among(WHOLE_FRAMES, data)
    frame, header = _frame(data) if kind is None else (data, header_of(data))
    places = require_columns(header, names, "data")
    require_distinct(places)
    if kind is not None:
        entries = [WHOLE_FRAMES[kind](frame, place) for place in places.values()]
    else:
        chosen = [header[place] for place in places.values()]
        if hasattr(frame, "collect"):
            frame = frame.select(chosen).collect()
        series = [frame.get_column(name) for name in chosen]
        # Columns of other libraries are converted through Arrow.
        entries = [s.to_native() if is_column(s.to_native()) else s.to_arrow() for s in series]
    return _Table("data", dict(zip(names, entries, strict=True)), header, places)


def _frame(data: Any) -> tuple[Any, list[Any]]:
    """Return any eager or lazy frame as one of narwhals, and its header."""
    with needs("reading data frames", "narwhals"):
        import narwhals as nw
    try:
        if kind_among(["pyarrow.RecordBatchReader"], data):  # which narwhals does not know
            data = data.read_all()
        frame = nw.from_native(data)
        return frame, list(frame.collect_schema().names())
    except TypeError as error:
        raise InvalidArgumentType(f"data must be a path or a data frame, got {kind_name(data)}") from error
    except Exception as error:  # of one kind or another, by the version of narwhals
        reason = " ".join(str(error).split())
        raise DataError(f"data must have columns of distinct names, but: {reason}") from error


# A contingency table as a data frame


def taken_apart(table: Any) -> tuple[Any, Iterable[Label] | None, Iterable[Label] | None]:
    """Return counts, and the labels of rows and columns if a data frame has them.

    Parameters
    ----------
    table : data frame, or anything else
        A pandas frame has its secrets in the index, as ``pandas.crosstab`` makes it. Frames without an index
        (Polars, PyArrow) have them in the first column, if that holds no numbers. If column names can only be
        texts, they are read as numbers where that loses nothing, like the header of a CSV file.

    Returns
    -------
    counts, secrets, values
        Anything but a frame is returned unchanged, without labels.
    """
    if not hasattr(table, "columns"):
        return table, None, None
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return table, None, None
    if nw.dependencies.is_pandas_dataframe(table):
        return table.to_numpy(), table.index.tolist(), table.columns.tolist()
    names = frame.columns
    secrets = None
    if names and not frame[names[0]].dtype.is_numeric():
        secrets, names = frame[names[0]].to_list(), names[1:]
    return frame.select(names).to_numpy(), secrets, labels_of_texts(names)
