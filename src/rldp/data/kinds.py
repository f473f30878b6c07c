"""Infer the type of a column of texts from all of its entries.

An entry is read as a number, a boolean or a date only if that loses nothing. ``007``, ``+5``, ``1e5`` and
numbers of more than fifteen digits, which a float may round, stay text, and so does their whole column.
"""

from __future__ import annotations

from typing import Any

from rldp.data import arrow
from rldp.data.meaning import DECIMAL, INTEGER, TRUTH

__all__ = ["FittingType"]

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
        self._possible = [
            (arrow.int64(), INTEGER),
            (arrow.float64(), DECIMAL),
            (arrow.bool_(), TRUTH),
            (arrow.date32(), _DATE),
        ]
        self._seen = False

    def see(self, column: Any) -> None:
        """Take note of more entries: an Arrow array of strings."""
        if column.null_count < len(column):
            self._seen = True
            self._possible = [each for each in self._possible if _fits(column, *each)]

    @property
    def type(self) -> Any:
        """The Arrow type of the column; text if nothing else fits or nothing was seen."""
        return self._possible[0][0] if self._seen and self._possible else arrow.string()


def _fits(column: Any, kind: Any, patterns: tuple[str, ...]) -> bool:
    """Return whether all entries match the patterns, and all days exist in the calendar."""
    for pattern in patterns:
        matches = arrow.compute.match_substring_regex(column, f"^{pattern}$")
        if arrow.compute.all(matches).as_py() is False:
            return False
    if patterns is _DATE:
        try:
            column.cast(kind)
        except arrow.ArrowException:
            return False
    return True
