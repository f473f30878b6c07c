"""Convert Excel workbooks to CSV text."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from rldp._common.process import needs
from rldp.errors import DataError, DataFileError

__all__ = ["ENDINGS", "as_csv"]

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def as_csv(path: Path) -> Callable[[BinaryIO], None]:
    """Return a function that writes the only non-empty sheet of a workbook to a file, as CSV in UTF-8.

    Numbers, booleans and dates are written as in a CSV file, an empty cell as an empty entry.

    Raises
    ------
    DataError
        If it is not a workbook, or not exactly one sheet has cells.
    MissingDependency
        If the library that reads workbooks is not installed.
    """
    with needs("reading workbooks", "python-calamine", install="robust-ldp[excel]"):
        import python_calamine
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        sheets = [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]
    except Exception as error:  # a library's message may quote cells
        raise DataFileError(f"{path} must be a workbook, but it cannot be read: {_reason(error)}") from None
    filled = [rows for rows in sheets if rows]
    if len(filled) != 1:
        raise DataError(f"{path} must have one sheet with cells, got {len(filled)}")

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerows([_cell(item) for item in row] for row in filled[0])
        text.detach()

    return write


def _reason(error: Exception) -> str:
    """Describe why a workbook cannot be read, without anything that may come from its cells."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    kind = type(error).__name__
    known = {"PasswordError": "a password protects it", "ZipError": "it is damaged, or not a workbook"}
    return known.get(kind, f"it is damaged, or its format is unknown ({kind})")


def _cell(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, float) and item.is_integer() and abs(item) < 2**53:
        return str(int(item))
    if isinstance(item, datetime.datetime) and item.time() == datetime.time():
        return item.date().isoformat()
    if isinstance(item, datetime.datetime | datetime.date | datetime.time):
        return item.isoformat()
    return "" if item is None else str(item)
