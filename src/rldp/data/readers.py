"""Read CSV and Parquet files as columns of codes: whole, or in parts together with kept columns.

An entry of a CSV file has no type. If the labels are known, it is read as their type, whatever the rest of
the column looks like. Every file is then read in the same way, from its first row to its last. If they are
not known, the whole column decides: it holds numbers if that loses nothing, else text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rldp._common.checks import shown
from rldp.data.bins import alphabet_of
from rldp.data.columns import encode, encode_texts
from rldp.data.headers import (
    Located,
    column_name,
    locate,
    require_columns,
    require_distinct,
    require_headers,
    require_names,
)
from rldp.data.kinds import FittingType, read_as
from rldp.data.labels import NOT_A_LABEL, Alphabet, Encoded
from rldp.data.meaning import Kind
from rldp.data.quotes import Watched
from rldp.data.reading import Reading
from rldp.data.sources import Source, reading, source_of
from rldp.errors import DataError, DataFileError

__all__ = [
    "NULLS",
    "Columns",
    "Part",
    "located",
    "read_parts",
    "read_table",
    "typed",
    "types_of",
    "untyped",
]

_log = logging.getLogger(__name__)

NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]
_BYTES = 2**20  # of a CSV file, in one part
_ROWS = 2**16  # of a Parquet file
_HEAD = 2**14  # bytes that show what kind of file it is


def located(data: Path | Source | Located, columns: Sequence[str]) -> Located:
    """Locate columns of a file, requested by name or position."""
    if isinstance(data, Located):
        return data
    source = source_of(data)
    with reading(source):
        layout = locate(source, columns, _header, _head)
    require_distinct(layout.places)
    if not source.parquet:
        require_names(layout, _head)
        _log.info("%s is read with the delimiter %r", source, layout.source.dialect.delimiter)
    return layout


def _header(source: Source) -> Sequence[str]:
    """Return the names of all columns."""
    import pyarrow.parquet

    with reading(source):
        if not source.parquet:
            names: list[str] = _open_csv(source)[0].schema.names
            return names
        first, *rest = (pyarrow.parquet.read_schema(path) for path in source.paths)
        for path, schema in zip(source.paths[1:], rest, strict=True):
            if not schema.equals(first):
                raise DataError(
                    f"{source} must hold Parquet files of one schema, but {path.name} has another "
                    f"than {source.path.name}"
                )
        return list(first.names)


def _head(source: Source) -> bytes:
    """Return the first bytes of a CSV file."""
    with reading(source):
        return _Followed(source).read(_HEAD)


# Whole files


def typed(name: str, column: Any, given: Alphabet | Kind | None) -> Encoded:
    """Return the codes of a column whose entries have a type, which must be the requested one."""
    if isinstance(given, Alphabet):
        return encode(name, column, given)
    encoded = encode(name, column)
    if given is not None and any(isinstance(label, str) != (given == "text") for label in encoded.labels):
        raise DataError(
            f"{name} must hold {'text' if given == 'text' else 'numbers'}, as asked for, but its entries are "
            "of another type"
        )
    return encoded


def untyped(name: str, column: Any, given: Alphabet | Kind | None) -> Encoded:
    """Return the codes of a column of a CSV file; a kind sets the type of the labels to be found."""
    if isinstance(given, Alphabet):
        given.require_readable(name)
        return encode_texts(name, column, given)
    texts = {text for chunk in column.chunks for text in chunk.unique().to_pylist() if text is not None}
    encoded = encode_texts(name, column, Alphabet.read(name, texts, given))
    if given == "number":
        others = int((encoded.alphabet.of_texts(sorted(texts)) == NOT_A_LABEL).sum())
        if others:
            raise DataError(
                f"{name} must hold numbers, as asked for, but {others} of its {len(texts)} distinct entries "
                "are not numbers"
            )
    return encoded


def read_table(path: Path | Source | Located, columns: Sequence[str]) -> Any:
    """Return columns of a file as an Arrow table, named as requested; those of a CSV file are text."""
    layout = located(path, columns)
    with reading(layout.source):
        if layout.source.parquet:
            return _read_parquet(layout, columns)
        return _read_csv(layout, columns)


def _read_parquet(layout: Located, columns: Sequence[str]) -> Any:
    import pyarrow
    import pyarrow.parquet

    source, names = layout.source, [layout.name(column) for column in columns]
    for column, kind in zip(columns, types_of(layout, columns), strict=True):
        _require_flat(column_name(column, source), kind)
    tables = []
    for path in source.paths:
        with pyarrow.parquet.ParquetFile(path, read_dictionary=names) as file:
            tables.append(_chosen(file.read(columns=names), layout, columns))
    return pyarrow.concat_tables(tables)


def _chosen(rows: Any, layout: Located, columns: Sequence[str]) -> Any:
    """Return columns of rows that were read by name, with the requested names."""
    chosen = []
    for column in columns:
        name, place = layout.name(column), layout.places[column]
        among = [i for i, other in enumerate(rows.schema.names) if other == name]
        chosen.append(rows.column(among[layout.header[:place].count(name)]))
    return type(rows).from_arrays(chosen, names=list(columns))


def types_of(layout: Located, columns: Sequence[str]) -> list[Any]:
    """Return the Arrow types of columns of a Parquet file; those of a CSV file are None."""
    import pyarrow.parquet

    if not layout.source.parquet:
        return [None] * len(columns)
    schema = pyarrow.parquet.read_schema(layout.source.path)
    return [schema.field(layout.places[column]).type for column in columns]


def _require_flat(name: str, kind: Any) -> None:
    """Refuse nested columns, which are several columns of a Parquet file and hold no labels."""
    import pyarrow

    if pyarrow.types.is_nested(kind):
        raise DataError(
            f"{name} must hold strings, numbers or booleans, got entries of type {shown(str(kind))}"
        )


def _read_csv(layout: Located, columns: Sequence[str]) -> Any:
    """Read as text: the type depends on the whole column, or on known labels."""
    import pyarrow.csv

    types = {layout.key(column): pyarrow.string() for column in columns}
    table, _ = _csv(pyarrow.csv.read_csv, layout.source, types, layout=layout)
    return table.rename_columns(list(columns))


def _csv(
    read: Callable[..., Any],
    source: Source,
    types: dict[str, Any] | None = None,
    nulls: list[str] = NULLS,
    layout: Located | None = None,
    **options: Any,
) -> tuple[Any, _Followed]:
    """Yield what Arrow reads of the columns in ``types`` (all if None), and the file.

    A quoted entry is never null and may contain line breaks. Columns are numbered if their names are not
    unique.
    """
    import pyarrow.csv

    if layout is not None and layout.by_place:
        options |= {
            "column_names": [f"#{i + 1}" for i in range(len(layout.header))],
            "skip_rows_after_names": 1,
        }
    file = _Followed(source)
    with file.parsed(source):
        rows = read(
            file,
            read_options=pyarrow.csv.ReadOptions(**options),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=source.dialect.delimiter or ",", newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=None if types is None else list(types),
                column_types=types,
                null_values=nulls,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    return rows, file


# Part by part


@dataclass(frozen=True)
class Columns:
    """The needed columns of the data: to read, to keep unchanged, and one that identifies people."""

    reading: Reading
    keep: tuple[str, ...]
    id: str | None = None

    @property
    def names(self) -> list[str]:
        ids = () if self.id is None else (self.id,)
        return list(dict.fromkeys((*self.reading.names, *self.keep, *ids)))

    @property
    def alphabets(self) -> dict[str, Alphabet]:
        return {column.name: alphabet_of(column) for column in self.reading.columns}

    def places(self, header: Sequence[Any], source: object) -> dict[str, int]:
        """Locate each column in a header, where it must occur once and have the right name."""
        places = require_columns(list(header), self.names, source)
        require_distinct(places)
        self.require_headers(lambda column: str(header[places[column]]), source)
        return places

    def require_headers(self, called: Callable[[str], str | None], source: object) -> None:
        """Refuse other names above columns that are found by position."""
        require_headers({column.name: column.header for column in self.reading.columns}, called, source)

    def named(self, header: Sequence[str], places: Mapping[str, int]) -> Columns:
        """Return the same columns by their names in a header."""
        name = {column: header[place] for column, place in places.items()}
        secret, given, value = (
            tuple(replace(column, name=name[column.name], header=None) for column in columns)
            for columns in (self.reading.secret, self.reading.given, self.reading.value)
        )
        reading = replace(self.reading, secret=secret, given=given, value=value)
        return Columns(reading, tuple(map(name.__getitem__, self.keep)), self.id and name[self.id])


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive rows: the columns that are read, in order, and those to keep.

    ``share`` is the part of the file read so far, ``ids`` the column that identifies people, if requested.
    """

    columns: list[Encoded]
    kept: list[Any]
    share: float
    ids: Any = None


def read_parts(
    path: Path | Source | Located, columns: Columns, *, typed: bool
) -> tuple[list[Any], Iterator[Part]]:
    """Return the Arrow fields of the columns to keep, and all parts of a file in order.

    If ``typed``, columns kept from a CSV file get types that fit all of their entries, for which the file is
    read twice; else they are unchanged bytes.
    """
    layout = located(path, columns.names)
    source, alphabets = layout.source, columns.alphabets
    columns.require_headers(layout.name, source)
    code = encode if source.parquet else encode_texts
    with reading(source):
        kept, batches = (
            _parquet_rows(layout, columns) if source.parquet else _csv_rows(layout, columns, typed)
        )

    def parts() -> Iterator[Part]:
        with reading(source):
            for entries, cells, share in batches:
                read = [code(column_name(c, source), entries(c), a) for c, a in alphabets.items()]
                yield Part(read, cells, share, None if columns.id is None else entries(columns.id))
            source.require_unchanged()

    return kept, parts()


_Rows: TypeAlias = Iterator[tuple[Callable[[str], Any], list[Any], float]]
"""For some rows: column → entries, the columns to keep, and the share of the file read so far."""


def _parquet_rows(layout: Located, columns: Columns) -> tuple[list[Any], _Rows]:
    import pyarrow.parquet

    source, names = layout.source, [layout.name(column) for column in columns.names]
    schema = pyarrow.parquet.read_schema(source.path)
    total = max(1, sum(pyarrow.parquet.read_metadata(path).num_rows for path in source.paths))

    def rows() -> _Rows:
        done = 0
        for path in source.paths:
            with pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
                for batch in file.iter_batches(_ROWS, columns=names):
                    done += batch.num_rows
                    chosen = _chosen(batch, layout, columns.names)
                    yield chosen.column, [chosen.column(name) for name in columns.keep], done / total

    return [schema.field(layout.places[column]).remove_metadata() for column in columns.keep], rows()


def _csv_rows(layout: Located, columns: Columns, typed: bool) -> tuple[list[Any], _Rows]:
    import pyarrow

    source, size = layout.source, layout.source.size
    for column, alphabet in columns.alphabets.items():
        alphabet.require_readable(column_name(column, source))
    as_read = pyarrow.string() if typed else pyarrow.binary()
    types = _kinds(layout, columns.keep) if typed else [as_read] * len(columns.keep)
    texts = [*columns.alphabets, *([] if columns.id is None else [columns.id])]
    labels, file = _open_csv(source, {layout.key(c): pyarrow.string() for c in texts}, layout=layout)
    kept = _kept(layout, columns.keep, as_read)

    def rows() -> _Rows:
        with file.parsed(source):
            for batch in labels:
                beside = batch.select([]) if kept is None else next(kept, None)
                if beside is None or (kept is not None and beside.num_rows != batch.num_rows):
                    raise DataFileError(f"{source} must not change while it is read, but it did")
                cells = [
                    read_as(beside.column(layout.key(column)), kind)
                    for column, kind in zip(columns.keep, types, strict=True)
                ]
                yield partial(_entries, batch, layout), cells, min(1.0, file.position() / size)

    return [pyarrow.field(layout.name(c), kind) for c, kind in zip(columns.keep, types, strict=True)], rows()


def _entries(batch: Any, layout: Located, column: str) -> Any:
    return batch.column(layout.key(column))


def _kept(layout: Located, columns: Sequence[str], kind: Any) -> Iterator[Any] | None:
    """Yield rows of the columns to keep, with those of the columns that are read."""
    if not columns:
        return None
    types = {layout.key(column): kind for column in columns}
    return (batch for batch in _open_csv(layout.source, types, nulls=[""], layout=layout)[0])


def _kinds(layout: Located, columns: Sequence[str]) -> list[Any]:
    """Return the types that fit all entries of the columns."""
    import pyarrow

    kinds = {column: FittingType() for column in columns}
    for batch in _kept(layout, columns, pyarrow.string()) or ():
        for column, kind in kinds.items():
            kind.see(batch.column(layout.key(column)))
    return [kind.type for kind in kinds.values()]


def _open_csv(source: Source, types: dict[str, Any] | None = None, **options: Any) -> tuple[Any, _Followed]:
    """Stream columns without threads, which would read ahead."""
    import pyarrow.csv

    return _csv(pyarrow.csv.open_csv, source, types, block_size=_BYTES, use_threads=False, **options)


class _Followed(Watched):
    """Open a CSV file, compressed or not, as UTF-8."""

    def __init__(self, source: Source) -> None:
        import pyarrow

        raw = pyarrow.OSFile(str(source.path))
        file = raw if source.codec is None else pyarrow.CompressedInputStream(raw, source.codec)
        if source.dialect.encoding is not None:
            file = pyarrow.transcoding_input_stream(file, source.dialect.encoding, "utf-8")
        super().__init__(file, source.dialect.delimiter or ",")
        self.position: Callable[[], int] = raw.tell
        """Return how many bytes of the file on disk have been read."""
