"""Columns of labels → integer codes: lists, NumPy arrays, and what narwhals reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._checks import Label, label, shown
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType, needs

__all__ = ["Coded", "coded", "tallied"]

_MOST_LABELS = 1000
_DENSE = 2**22  # integers below this are counted without sorting


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as positions in its alphabet.

    Attributes
    ----------
    codes : int array (n,)
    labels : tuple of labels
        Sorted, or as they were given.
    """

    codes: NDArray[np.int64]
    labels: tuple[Label, ...]


def coded(name: str, column: Any, alphabet: Sequence[Label] | None = None) -> Coded:
    """The codes of a column; ``name`` is what messages call it.

    Parameters
    ----------
    column : list, NumPy array, or column of pandas, Polars or Arrow
        Strings, numbers or booleans, without nulls.
    alphabet : sequence of labels, optional
        The labels that may occur; by default those that do, sorted.

    Examples
    --------
    >>> coded("released", ["b", "a", "b"])
    Coded(codes=array([1, 0, 1]), labels=('a', 'b'))
    """
    codes, found = _numbered(name, column)
    if len(codes) == 0:
        raise DataError(f"{name} must hold at least one row, got none")
    _refuse_nulls(name, codes, found)
    if len(found) > _MOST_LABELS:
        raise DataError(f"{name} must have at most {_MOST_LABELS} distinct labels, got {len(found)}")
    known = [label(name, item) for item in found]
    if alphabet is None:
        alphabet = sorted(known, key=lambda item: (isinstance(item, str), item))
    place = {item: i for i, item in enumerate(alphabet)}
    _refuse_unknown(name, codes, known, place)
    return Coded(np.array([place[item] for item in known])[codes], tuple(alphabet))


def _numbered(name: str, column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes in any order, and the items they stand for."""
    if isinstance(column, str | bytes) or not (isinstance(column, Iterable) or hasattr(column, "__array__")):
        raise InvalidArgumentType(f"{name} must be a column of labels, got {shown(column)}")
    if not isinstance(column, np.ndarray | list | tuple | range):
        column = _unwrapped(name, column)
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InvalidArgument(f"{name} must have one axis, got shape {column.shape}")
        if column.dtype.kind in "biuf" and not isinstance(column, np.ma.MaskedArray):
            return _numbered_numbers(column)
        column = column.tolist()
    items = list(column)
    try:
        place = {item: i for i, item in enumerate(dict.fromkeys(items))}
    except TypeError as error:
        raise InvalidArgumentType(
            f"{name} must hold strings, numbers or booleans, got one that cannot be compared: {error}"
        ) from error
    codes = np.fromiter(map(place.__getitem__, items), dtype=np.int64, count=len(items))
    return codes, list(place)


def _numbered_numbers(column: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    if column.dtype.kind in "iu" and column.size:
        least, most = int(column.min()), int(column.max())
        if most - least < _DENSE and most < 2**63:
            found, codes, _ = tallied(column.astype(np.int64) - least)
            return codes, [item + least for item in found.tolist()]
    found, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64), found.tolist()


def tallied(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys (0 or more), the place of each row's key among them, and how often each occurs.

    Examples
    --------
    >>> tallied(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]), array([1, 2]))
    """
    if int(keys.max()) >= _DENSE:
        found, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return found, places.astype(np.int64), counts.astype(np.int64)
    counts = np.bincount(keys)
    found = np.flatnonzero(counts)
    return found, (np.cumsum(counts > 0) - 1)[keys], counts[found]


def _unwrapped(name: str, column: Any) -> Any:
    """A data-frame library's column as a NumPy array (numbers) or a list (all else)."""
    with needs(f"reading {name} of type {type(column).__name__}", "narwhals"):
        import narwhals.stable.v1 as nw
    try:
        series = nw.from_native(column, series_only=True)
    except TypeError:
        return column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    if series.dtype.is_numeric() and series.null_count() == 0:
        return np.asarray(series.to_numpy())
    return series.to_list()


def _refuse_nulls(name: str, codes: NDArray[np.int64], found: list[Any]) -> None:
    nulls = [i for i, item in enumerate(found) if item is None or (isinstance(item, float) and item != item)]
    if nulls:
        rows = np.flatnonzero(np.isin(codes, nulls))
        raise DataError(
            f"{name} must hold no nulls, got {len(rows)} in {len(codes)} rows, the first in row {rows[0] + 1}"
        )


def _refuse_unknown(name: str, codes: NDArray[np.int64], known: list[Label], place: dict[Label, int]) -> None:
    strange = [i for i, item in enumerate(known) if item not in place]
    if strange:
        rows = np.flatnonzero(np.isin(codes, strange))
        raise DataError(
            f"{name} must hold known labels only, got {shown(known[codes[rows[0]]])} in row {rows[0] + 1} "
            f"({len(rows)} such row{'s' * (len(rows) > 1)})"
        )
