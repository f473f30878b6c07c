"""Find the requested columns in a table's header, and word the error if one is missing.

A column is chosen by its name or, if no column has that name, by its position from 1, as in ``#2``. The
delimiter of a CSV file is the one with which all requested columns are found.
"""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rldp._common.checks import shown
from rldp.data import arrow
from rldp.data.csv_files import head, open_csv
from rldp.data.reading import Column
from rldp.data.sources import COMMON_DELIMITERS, Dialect, Source, reading
from rldp.errors import DataError, DataFileError, InvalidArgument

__all__ = [
    "Located",
    "column_name",
    "located",
    "require_columns",
    "require_distinct",
    "require_headers",
]

_log = logging.getLogger(__name__)

_LONGEST_NAME = 64
_MOST_NAMED = 30
_PLACE = re.compile(r"#([1-9][0-9]{0,5})")
_NUMBER = re.compile(r"\s*[-+]?[0-9][0-9.,eE+-]*\s*")
_AMOUNT = re.compile(r"[-+]?[0-9][0-9.,:/ eE+-]*")  # a number, a date or a time
_NO_NAME = re.compile(r"[-+]?[0-9][0-9.,:/ eE+-]*|.*[@{}<>;|\t].*|[\[(].*|", re.DOTALL)


def column_name(column: str, source: object) -> str:
    """Return the name of a column of a file or data frame in messages."""
    return f"column {column!r} of {source}"


@dataclass(frozen=True)
class Located:
    """The requested columns of a table.

    Attributes
    ----------
    source : Source
        The table; for a CSV file, with its delimiter.
    header : tuple of str
        The names of all columns.
    places : dict
        Requested column → its position in the header, from 0.
    """

    source: Source
    header: tuple[str, ...]
    places: dict[str, int]

    @property
    def numbers(self) -> list[str]:
        """The names of all columns while a CSV file is read: those in its header may occur twice."""
        return [f"#{i + 1}" for i in range(len(self.header))]

    def name(self, column: str) -> str:
        """Return the name in the header of a requested column."""
        return self.header[self.places[column]]

    def number(self, column: str) -> str:
        """Return the name of a requested column while a CSV file is read."""
        return f"#{self.places[column] + 1}"

    def chosen(self, rows: Any, columns: Sequence[str]) -> Any:
        """Return columns of Arrow rows that were read by name, with the requested names."""
        chosen = []
        for column in columns:
            name, place = self.name(column), self.places[column]
            among = [i for i, other in enumerate(rows.schema.names) if other == name]
            chosen.append(rows.column(among[self.header[:place].count(name)]))
        return type(rows).from_arrays(chosen, names=list(columns))

    def types(self, columns: Sequence[str]) -> list[Any]:
        """Return the Arrow types of columns of a Parquet file; those of a CSV file are None."""
        if not self.source.parquet:
            return [None] * len(columns)
        schema = arrow.parquet.read_schema(self.source.path)
        return [schema.field(self.places[column]).type for column in columns]


def located(source: Source, columns: Sequence[str]) -> Located:
    """Locate columns of a table, requested by name or position.

    Raises
    ------
    DataError
        If a column is missing.
    """
    with reading(source):
        layout = _in_parquet(source, columns) if source.parquet else _in_csv(source, columns)
        require_distinct(layout.places)
        if not source.parquet:
            _require_names(layout)
            _log.info("%s is read with the delimiter %r", source, layout.source.dialect.delimiter)
    return layout


def _in_parquet(source: Source, wanted: Sequence[str]) -> Located:
    first, *rest = (arrow.parquet.read_schema(path) for path in source.paths)
    for path, schema in zip(source.paths[1:], rest, strict=True):
        if not schema.equals(first):
            raise DataError(
                f"{source} must hold Parquet files of one schema, but {path.name} has another than "
                f"{source.path.name}"
            )
    return Located(source, tuple(first.names), require_columns(first.names, wanted, source))


def _in_csv(source: Source, wanted: Sequence[str]) -> Located:
    given = source.dialect.delimiter
    fitting: list[Located] = []
    troubles: dict[str, Exception] = {}
    for delimiter in COMMON_DELIMITERS if given is None else (given,):
        split = replace(source, dialect=Dialect(delimiter, source.dialect.encoding))
        try:
            with reading(source):
                names = tuple(open_csv(split)[0].schema.names)
            fitting.append(Located(split, names, require_columns(names, wanted, source)))
        except Exception as error:  # reading something else can raise anything
            troubles[delimiter] = error
        else:
            if delimiter == "," and set(wanted) <= set(names):  # a position can exist with any delimiter
                break
    if not fitting:
        raise _explained(source, wanted, troubles) from None
    if len(fitting) > 1:
        raise DataError(f"{source} has these columns with more than one delimiter; delimiter= chooses one")
    return fitting[0]


def _explained(source: Source, wanted: Sequence[str], troubles: dict[str, Exception]) -> Exception:
    """Return the most helpful error about a CSV file in which no delimiter finds the columns."""
    beginning = head(source)
    kind = _looks_like(beginning)
    if kind is not None:
        return DataFileError(f"{source} must be a CSV or Parquet table, but it looks like {kind}")
    text = beginning.decode(errors="replace")
    line = text.split("\n", 1)[0]
    for mark, error in troubles.items():
        if set(wanted) <= set(_entries(line, mark)):  # the problem is further down
            return error
    repeated = [error for error in troubles.values() if isinstance(error, RepeatedColumn)]
    if repeated:
        return repeated[0]
    missing = {mark: error for mark, error in troubles.items() if isinstance(error, MissingColumn)}
    mark = max(missing, key=lambda mark: len(missing[mark].present), default=",")
    first = next(iter(troubles.values()))
    if mark in missing and (len(missing[mark].present) > 1 or isinstance(first, MissingColumn)):
        return _told(missing[mark], wanted, text, mark)
    return first


# Errors about missing columns


class RepeatedColumn(DataError):
    """A column occurs more than once."""


class MissingColumn(DataError):
    """A column is missing; the names found instead may be data."""

    def __init__(
        self, source: object, column: str, present: Sequence[str], *, shows_names: bool = True
    ) -> None:
        self.source, self.column, self.present = source, column, present if shows_names else ()
        if not present:
            said = "it has no columns"
        elif shows_names and all(map(_plausible, present)):
            some = [*map(repr, present[:_MOST_NAMED]), *["…"] * (len(present) > _MOST_NAMED)]
            said = f"it has {', '.join(some)}"
        else:
            said = f"it has {len(present)}, whose names are not shown because the first line may be data"
        super().__init__(f"{source} has no column {column!r}; {said}")


def require_columns(present: Sequence[str], wanted: Sequence[str], source: object) -> dict[str, int]:
    """Return the positions of the requested columns, each of which must occur once."""
    return {column: _place(present, column, source) for column in wanted}


def require_distinct(places: dict[str, int]) -> None:
    """Refuse two names of one column."""
    column_at: dict[int, str] = {}
    for column, place in places.items():
        other = column_at.setdefault(place, column)
        if other != column:
            raise InvalidArgument(
                f"columns must be distinct, got {other!r} and {column!r}, which are the same"
            )


def _require_names(layout: Located) -> None:
    """Refuse a first line of data if columns of a CSV file are chosen by position.

    The row would be lost, and its entries would be published as names. A number or a date shows that a line
    is data, and so does an entry that occurs again in its column.
    """
    chosen = {column: place for column, place in layout.places.items() if layout.header[place] != column}
    if not chosen:
        return
    text = head(layout.source).decode(errors="replace")
    rows = _rows_below(text, len(layout.header), layout.source.dialect.delimiter or ",")
    for column, place in chosen.items():
        name = layout.header[place]
        if _AMOUNT.fullmatch(name) or (name and any(row[place] == name for row in rows)):
            raise DataError(
                f"{layout.source} must have the names of its columns in the first line, but the text above "
                f"column {column!r} looks like an entry; add a line with names"
            )


def require_headers(columns: Iterable[Column], called: Callable[[str], str | None], source: object) -> None:
    """Refuse another name above a column that is found by position: it may be another column.

    ``called`` maps the column to the name above it; ``source`` is what messages call the data.
    """
    for column in columns:
        if column.header is not None and called(column.name) != column.header:
            raise DataError(
                f"{source} must have the name {column.header!r} above its column {column.name!r}, as the "
                "protocol says, got another"
            )


def _place(present: Sequence[str], column: str, source: object) -> int:
    count = present.count(column)
    if count == 1:
        return present.index(column)
    if count > 1:
        places = [f"#{i + 1}" for i, name in enumerate(present) if name == column]
        raise RepeatedColumn(
            f"{source} must have one column {column!r}, got several; choose one by its place, "
            f"{' or '.join(map(repr, places[:3]))}"
        )
    by_text = [
        place for place, name in enumerate(present) if not isinstance(name, str) and str(name) == column
    ]
    if len(by_text) == 1:
        return by_text[0]
    by_place = _PLACE.fullmatch(column)
    if by_place is not None and int(by_place[1]) <= len(present):
        return int(by_place[1]) - 1
    raise MissingColumn(source, column, present)


def _plausible(name: object) -> bool:
    """Return whether a text, or a tuple of texts, may be the name of a column rather than data."""
    if isinstance(name, tuple):
        return all(map(_plausible, name))
    if not isinstance(name, str) or not name.isprintable():
        return False
    return len(name) <= _LONGEST_NAME and _NO_NAME.fullmatch(name) is None


def _told(missing: MissingColumn, wanted: Sequence[str], beginning: str, delimiter: str) -> DataError:
    """Word the error about a missing column without showing the first row of a file without a header."""
    source, column, present = missing.source, missing.column, missing.present
    if len(present) == 1:
        line = beginning.split("\n", 1)[0]
        others = [mark for mark in COMMON_DELIMITERS if mark != delimiter and mark in line]
        mark = shown("tab" if others[0] == "\t" else others[0]) if others else "…"
        return DataError(
            f"{source} has no column {column!r}: only one column was found; if another character separates "
            f"the columns, delimiter={mark} reads it"
        )
    rows = _rows_below(beginning, len(present), delimiter)
    return MissingColumn(source, column, present, shows_names=_is_header(present, wanted, rows))


def _rows_below(beginning: str, width: int, delimiter: str) -> list[list[str]]:
    """Return the first complete rows below the first line."""
    lines = beginning.replace("\r\n", "\n").split("\n")[1:-1]
    rows = (_entries(line, delimiter) for line in lines)
    return [row for row in rows if len(row) == width]


def _entries(line: str, delimiter: str) -> list[str]:
    """Return the entries of a line; none if they are not those of a CSV file."""
    try:
        return next(csv.reader([line.removesuffix("\r")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _is_header(present: Sequence[str], wanted: Sequence[str], rows: list[list[str]]) -> bool:
    """Return whether the first line clearly holds names: a requested one, or one above numbers.

    An entry that occurs again below shows that the line holds data.
    """
    below = list(zip(*rows, strict=True))
    if not below or any(name in entries for name, entries in zip(present, below, strict=True)):
        return False
    asked = {column.strip().casefold() for column in wanted}
    return any(
        name.strip().casefold() in asked or all(map(_NUMBER.fullmatch, entries))
        for name, entries in zip(present, below, strict=True)
    )


_MARKS = {
    b"PAR1": "a Parquet file, whose name must end in .parquet",
    b"PK\x03\x04": "an Excel workbook, whose name must end in .xlsx, or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, whose name must end in .xls",
    b"\x1f\x8b": "a gzip file, whose name must end in .gz",
    b"\x28\xb5\x2f\xfd": "a zstd file, whose name must end in .zst",
    b"BZh": "a bzip2 file, whose name must end in .bz2",
    b"\xff\xfe": "UTF-16 text; encoding='utf-16' reads it",
    b"\xfe\xff": "UTF-16 text; encoding='utf-16' reads it",
}


def _looks_like(beginning: bytes) -> str | None:
    """Return what a file is instead of a CSV table; None if it may be one."""
    for mark, kind in _MARKS.items():
        if beginning.startswith(mark):
            return kind
    text = beginning.lstrip()
    if text[:1] in (b"{", b"["):
        return "JSON"
    if text[:1] == b"<":
        return "XML or HTML"
    control = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in beginning)
    if b"\0" in beginning or control > len(beginning) / 100:
        return "a binary file, or text in an encoding such as UTF-16"
    return None
