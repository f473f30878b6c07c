"""Kept columns and released codes → CSV or Parquet, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rldp._checks import Label
from rldp.data.decoding import arrow_labels
from rldp.data.labels import Codes
from rldp.data.readers import NULLS
from rldp.data.sources import is_parquet
from rldp.errors import DataError

__all__ = ["Writer", "writer_for"]

_NEEDS_QUOTES = '[",\r\n]|^$'


class Writer(Protocol):
    """Writes parts to an open file."""

    def __init__(self, file: BinaryIO, kept: list[Any], name: str, outputs: Sequence[Label]) -> None: ...

    def write(self, kept: list[Any], codes: Codes) -> None: ...

    def close(self) -> None: ...


def writer_for(path: Path) -> type[Writer]:
    """The kind of writer that the name of a file asks for."""
    return _ParquetWriter if is_parquet(path) else _CsvWriter


class _ParquetWriter:
    """Every part is one row group."""

    def __init__(self, file: BinaryIO, kept: list[Any], name: str, outputs: Sequence[Label]) -> None:
        import pyarrow.parquet

        self._labels = arrow_labels(outputs)
        self._schema = pyarrow.schema([*kept, pyarrow.field(name, self._labels.type)])
        self._writer = pyarrow.parquet.ParquetWriter(file, self._schema)

    def write(self, kept: list[Any], codes: Codes) -> None:
        import pyarrow

        columns = [*kept, self._labels.take(pyarrow.array(codes))]
        self._writer.write_batch(pyarrow.record_batch(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _CsvWriter:
    """Entries in quotes only where they need them: kept text comes out as it stood."""

    def __init__(self, file: BinaryIO, kept: list[Any], name: str, outputs: Sequence[Label]) -> None:
        import pyarrow

        for field in kept:
            try:
                _as_bytes(pyarrow.array([], field.type))
            except pyarrow.ArrowException as error:
                raise DataError(
                    f"column {field.name!r} must hold text, numbers or times to stand in a CSV file, "
                    f"got {field.type}"
                ) from error
        cells = [_cell(label) for label in outputs]
        for i, cell in enumerate(cells):
            if cell in cells[:i]:
                raise DataError(
                    "outputs of the protocol must be labels that differ in a CSV file, "
                    f"got {outputs[cells.index(cell)]!r} and {outputs[i]!r}"
                )
        self._file = file
        self._line_ends = pyarrow.array([f"{cell}\n".encode() for cell in cells], pyarrow.binary())
        header = ",".join(_quoted(text) for text in [*(field.name for field in kept), name])
        file.write(f"{header}\n".encode())

    def write(self, kept: list[Any], codes: Codes) -> None:
        import pyarrow
        import pyarrow.compute

        ends = self._line_ends.take(pyarrow.array(codes))
        cells = [_cells(column) for column in kept]
        lines = pyarrow.compute.binary_join_element_wise(*cells, ends, b",") if cells else ends
        if len(lines):
            self._file.write(lines.buffers()[2])  # lines lie end to end in it

    def close(self) -> None:
        pass


def _cell(label: Label) -> str:
    """An output as an entry of a CSV file that is read back as the label, where that is possible."""
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
    """A column as bytes in CSV; nulls are empty."""
    import pyarrow.compute as arrow

    column = _as_bytes(column)
    risky = arrow.match_substring_regex(column, _NEEDS_QUOTES)
    if arrow.any(risky).as_py():
        doubled = arrow.replace_substring(column, '"', '""')
        quoted = arrow.binary_join_element_wise(b'"', doubled, b'"', b"")
        column = arrow.if_else(risky, quoted, column)
    return column.fill_null(b"")


def _as_bytes(column: Any) -> Any:
    """A column as the bytes of its text; bytes stay what they are."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pyarrow.types.is_large_binary(kind) or pyarrow.types.is_fixed_size_binary(kind):
        return column.cast(pyarrow.binary())
    return column if pyarrow.types.is_binary(kind) else column.cast(pyarrow.string()).cast(pyarrow.binary())
