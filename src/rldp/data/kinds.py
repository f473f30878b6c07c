"""Infer the type of a column of texts from all of its entries.

An entry is read as a number, a boolean or a date only if that loses nothing. ``007``, ``+5``, ``1e5`` and
numbers of more than fifteen digits, which a float may round, stay text, and so does their whole column.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rldp.data.meaning import DECIMAL, INTEGER, TRUTH

__all__ = ["FittingType", "read_as"]

_DATE = (r"[0-9]{4}-[0-9]{2}-[0-9]{2}",)


class FittingType:
    """The types that a column may still have after the entries seen so far.

    Examples
    --------
    >>> import pyarrow
    >>> kind = FittingType()
    >>> kind.see(pyarrow.array(["1", None, "25"]))
    >>> kind.type
    DataType(int64)
    >>> kind.see(pyarrow.array(["1.5"]))
    >>> kind.type
    DataType(double)
    >>> kind.see(pyarrow.array(["007"]))
    >>> kind.type
    DataType(string)
    """

    def __init__(self) -> None:
        self._possible = ["integer", "decimal", "truth", "date"]
        self._seen = False

    def see(self, column: Any) -> None:
        """Take note of more entries: an Arrow array of strings."""
        if column.null_count == len(column):
            return
        self._seen = True
        self._possible = [name for name in self._possible if _TESTS[name](column)]

    @property
    def type(self) -> Any:
        """The Arrow type of the column; text if nothing else fits or nothing was seen."""
        import pyarrow

        types = {
            "integer": pyarrow.int64(),
            "decimal": pyarrow.float64(),
            "truth": pyarrow.bool_(),
            "date": pyarrow.date32(),
        }
        return types[self._possible[0]] if self._seen and self._possible else pyarrow.string()


def read_as(column: Any, kind: Any) -> Any:
    """Convert an Arrow array of strings to the type that fits all entries."""
    return column if column.type == kind else column.cast(kind)


def _all_match(column: Any, patterns: Iterable[str]) -> bool:
    import pyarrow.compute as arrow

    matches: Iterable[Any] = (arrow.match_substring_regex(column, f"^{pattern}$") for pattern in patterns)
    return all(arrow.all(match).as_py() is not False for match in matches)


def _dates(column: Any) -> bool:
    """Keep only days that exist in the calendar."""
    import pyarrow

    if not _all_match(column, _DATE):
        return False
    try:
        column.cast(pyarrow.date32())
    except pyarrow.ArrowException:
        return False
    return True


_TESTS = {
    "integer": lambda column: _all_match(column, INTEGER),
    "decimal": lambda column: _all_match(column, DECIMAL),
    "truth": lambda column: _all_match(column, TRUTH),
    "date": _dates,
}
