"""Write kept columns and released codes as CSV, Parquet or a workbook, part by part."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from rldp._common.checks import Label
from rldp._common.process import needs
from rldp.data import arrow
from rldp.data.columns import arrow_labels
from rldp.data.csv_files import NULLS
from rldp.data.labels import Codes
from rldp.data.standard import STANDARD
from rldp.errors import DataError, InvalidArgument

__all__ = ["PARQUET", "TYPED", "Maker", "Released", "Writer", "writer_for"]

_MOST_ROWS = 2**20 - 1  # of a sheet, below its header
_LARGEST_NUMBER = 2**53  # from here on, a cell does not hold every integer
_LONGEST_TEXT = 32767
_LONGEST_TYPE = 80
_NEEDS_QUOTES = '[",\r\n]|^$'


class Writer(Protocol):
    """Writes parts to an open file."""

    def write(self, kept: list[Any], codes: Sequence[Codes]) -> None: ...

    def close(self) -> None: ...


Released: TypeAlias = Mapping[str, tuple[Sequence[Label], Any]]
"""Names of the released columns; the labels that their codes stand for, and the Arrow type of the values."""

Maker: TypeAlias = Callable[[BinaryIO, list[Any], Released], Writer]
"""File, fields of the kept columns, released columns → a writer."""


class _ParquetWriter:
    """Write every part as one row group."""

    def __init__(self, file: BinaryIO, kept: list[Any], released: Released) -> None:
        self._labels = [arrow_labels(outputs, like) for outputs, like in released.values()]
        fields = [arrow.field(n, labels.type) for n, labels in zip(released, self._labels, strict=True)]
        self._schema = arrow.schema([*kept, *fields])
        self._writer = arrow.parquet.ParquetWriter(file, self._schema)

    def write(self, kept: list[Any], codes: Sequence[Codes]) -> None:
        drawn = [labels.take(column) for labels, column in zip(self._labels, codes, strict=True)]
        self._writer.write_batch(arrow.record_batch([*kept, *drawn], schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _CsvWriter:
    """Quote entries only where needed, so that kept text is unchanged."""

    def __init__(self, file: BinaryIO, kept: list[Any], released: Released, codec: str | None = None) -> None:
        for field in kept:
            try:
                _as_bytes(arrow.array([], field.type))
            except arrow.ArrowException as error:
                raise DataError(
                    f"column {field.name!r} must hold text, numbers or times to be written to a CSV file, "
                    f"got {str(field.type)[:_LONGEST_TYPE]}"
                ) from error
        self._compressed = codec is not None
        if codec is not None:
            same = os.fdopen(os.dup(file.fileno()), "wb")  # which it closes, and leaves the file open
            file = arrow.CompressedOutputStream(same, codec)
        self._file = file
        *first, last = (_distinct_cells(outputs) for outputs, _ in released.values())
        texts = [*first, [f"{cell}\n" for cell in last]]  # the last column ends its line
        self._labels = [arrow.array([cell.encode() for cell in cells], arrow.binary()) for cells in texts]
        header = ",".join(_quoted(text) for text in [*(field.name for field in kept), *released])
        file.write(f"{header}\n".encode())

    def write(self, kept: list[Any], codes: Sequence[Codes]) -> None:
        drawn = [labels.take(column) for labels, column in zip(self._labels, codes, strict=True)]
        cells = [*map(_cells, kept), *drawn]
        lines = arrow.compute.binary_join_element_wise(*cells, b",") if len(cells) > 1 else cells[0]
        if len(lines):
            self._file.write(lines.buffers()[2])  # lines lie end to end in it

    def close(self) -> None:
        if self._compressed:
            self._file.close()


class _WorkbookWriter:
    """Write one sheet: numbers and booleans as such, everything else as text."""

    def __init__(self, file: BinaryIO, kept: list[Any], released: Released) -> None:
        with needs("writing workbooks", "XlsxWriter", install="robust-ldp[excel]"):
            import xlsxwriter

        self._labels, self._rows = [outputs for outputs, _ in released.values()], 0
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True})
        self._sheet = self._book.add_worksheet()
        self._write_row([*(field.name for field in kept), *released])

    def write(self, kept: list[Any], codes: Sequence[Codes]) -> None:
        columns = [column.to_pylist() for column in kept]
        columns += [
            [labels[code] for code in drawn.tolist()]
            for labels, drawn in zip(self._labels, codes, strict=True)
        ]
        for row in zip(*columns, strict=True):
            if self._rows > _MOST_ROWS:
                raise DataError(
                    f"output must have at most {_MOST_ROWS} rows to fit in a workbook, got more; "
                    "a name that ends in .csv or .parquet asks for a file that holds them"
                )
            self._write_row(row)

    def _write_row(self, row: Sequence[Any]) -> None:
        for place, item in enumerate(row):
            if isinstance(item, bool):
                self._sheet.write_boolean(self._rows, place, item)
            elif isinstance(item, int | float) and abs(item) < _LARGEST_NUMBER:
                self._sheet.write_number(self._rows, place, item)
            elif item is not None:
                text = item.decode() if isinstance(item, bytes) else str(item)
                if len(text) > _LONGEST_TEXT:
                    raise DataError(
                        f"output must hold texts of at most {_LONGEST_TEXT} characters to fit in a "
                        "workbook, got a longer one"
                    )
                self._sheet.write_string(self._rows, place, text)
        self._rows += 1

    def close(self) -> None:
        self._book.close()


PARQUET: Maker = _ParquetWriter

TYPED: tuple[Maker, ...] = (PARQUET, _WorkbookWriter)
"""Of formats whose entries have types."""

_MAKERS: dict[str, Maker] = {
    ".csv": _CsvWriter,
    ".csv.gz": partial(_CsvWriter, codec="gzip"),
    ".csv.zst": partial(_CsvWriter, codec="zstd"),
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".xlsx": _WorkbookWriter,
}


def writer_for(path: Path) -> Maker:
    """Return the writer for the format that a name asks for; "-" is CSV.

    Raises
    ------
    InvalidArgument
        If it asks for no format, or for one that cannot be written.
    """
    name = path.name.lower()
    for ending, maker in _MAKERS.items():
        if name == STANDARD or (name.endswith(ending) and name != ending):
            return maker
    *most, last = _MAKERS
    raise InvalidArgument(
        f"output must end in {', '.join(most)} or {last}, or be - for standard output, or have no extension "
        f"if a folder is released, got {str(path)!r}"
    )


# Entries of a CSV file


def _distinct_cells(outputs: Sequence[Label]) -> list[str]:
    """Return the outputs of a column as entries of a CSV file."""
    cells = [_cell(label) for label in outputs]
    for i, cell in enumerate(cells):
        if cell in cells[:i]:
            raise DataError(
                "outputs of the protocol must be labels that differ in a CSV file, "
                f"got two that look alike, in places {cells.index(cell) + 1} and {i + 1}"
            )
    return cells


def _cell(label: Label) -> str:
    """Return an output as an entry of a CSV file that is read back as the label, if possible."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, str):
        return f'"{label}"' if label in NULLS else _quoted(label)
    return repr(label)


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in '",\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _cells(column: Any) -> Any:
    """Return a column as CSV bytes; nulls are empty."""
    column = _as_bytes(column)
    risky = arrow.compute.match_substring_regex(column, _NEEDS_QUOTES)
    if arrow.compute.any(risky).as_py():
        doubled = arrow.compute.replace_substring(column, '"', '""')
        quoted = arrow.compute.binary_join_element_wise(b'"', doubled, b'"', b"")
        column = arrow.compute.if_else(risky, quoted, column)
    return column.fill_null(b"")


def _as_bytes(column: Any) -> Any:
    """Return a column as the bytes of its texts; bytes are unchanged."""
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kinds = arrow.types
    if not any(
        is_kind(column.type)
        for is_kind in (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)
    ):
        column = column.cast(arrow.string())
    return column.cast(arrow.binary())
