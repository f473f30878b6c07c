"""Numbers with many values, in bins: an alphabet whose labels stand for ranges. NumPy only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, finite_number, shown, whole_number
from rldp.data.labels import MOST_LABELS, NOT_A_LABEL, Alphabet, Codes
from rldp.data.meaning import Scale, number_of_text
from rldp.data.reading import Column
from rldp.errors import DataError, InvalidArgument

__all__ = ["BinCount", "Binning", "Bins", "alphabet_of", "numbers_in"]

BinCount: TypeAlias = int | Literal["auto"]


class Bins(Alphabet):
    """An alphabet of ranges: the k-th label stands for the numbers from the k-th edge up to the next.

    ``scale`` has the numbers in each bin, if they are known.

    Examples
    --------
    >>> Bins([10.0, 20.0], [5, 15, 30]).of_objects([3, 10, 19.5, 1e9, "3", None])
    array([ 0,  1,  1,  2, -1, -1], dtype=int32)
    """

    edges: NDArray[np.float64]
    scale: Scale | None

    def __init__(self, edges: Sequence[float], labels: Sequence[Label], scale: Scale | None = None) -> None:
        super().__init__(labels)
        object.__setattr__(self, "edges", np.asarray(edges, dtype=np.float64))
        object.__setattr__(self, "scale", scale)

    def of_numbers(self, numbers: NDArray[Any]) -> Codes:
        """Return codes of numbers, −1 for NaN and infinities."""
        floats = numbers.astype(np.float64, copy=False)
        codes = np.searchsorted(self.edges, floats, side="right").astype(np.int32)
        codes[~np.isfinite(floats)] = NOT_A_LABEL
        return codes

    def of_objects(self, items: Sequence[object]) -> Codes:
        return self.of_numbers(_as_numbers(items))

    def of_texts(self, texts: Sequence[str | None]) -> Codes:
        return self.of_numbers(_as_numbers(list(map(number_of_text, texts))))

    def require_readable(self, name: str) -> None:
        """Accept every number."""

    def and_label(self, label: Label) -> Bins:
        return Bins(self.edges.tolist(), (*self.labels, label), self.scale)


def alphabet_of(column: Column) -> Alphabet:
    """What the entries of a column are looked up in."""
    return Alphabet(column.labels) if column.edges is None else Bins(column.edges, column.labels)


def numbers_in(column: Any, *, texts: bool) -> NDArray[np.float64]:
    """Return the entries of a column as numbers, NaN where one is missing; ``texts`` if from a CSV file."""
    entries = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return _as_numbers(list(map(cache(number_of_text), entries)) if texts else entries)


def _as_numbers(items: Sequence[object]) -> NDArray[np.float64]:
    plain = [item.item() if isinstance(item, np.generic) else item for item in items]
    return np.array([_as_float(item) for item in plain], dtype=np.float64)


def _as_float(item: object) -> float:
    if isinstance(item, bool) or not isinstance(item, int | float):
        return math.nan
    try:
        return float(item)
    except OverflowError:
        return math.nan


@dataclass(frozen=True)
class Binning:
    """How a column of numbers is to be cut: into so many bins, or into bins of a width; neither is "auto".

    Examples
    --------
    >>> bins = Binning(count=2).inferred("age", np.array([1.0, 2.0, 3.0, 10.0]))
    >>> bins.labels, bins.edges
    ((1.5, 6.5), array([3.]))
    """

    count: int | None = None
    width: float | None = None

    @classmethod
    def asked(cls, bins: Mapping[str, BinCount], bin_width: Mapping[str, float]) -> dict[str, Binning]:
        """Return the requested binning of each column, from the arguments ``bins`` and ``bin_width``."""
        if bins.keys() & bin_width.keys():
            raise InvalidArgument("bins and bin_width must not be given together")
        rules = {name: cls() if count == "auto" else cls(_count(count)) for name, count in bins.items()}
        for name, given in bin_width.items():
            width = finite_number("bin_width", given)
            if width <= 0:
                raise InvalidArgument(f"bin_width must be positive, got {given!r}")
            rules[name] = cls(width=width)
        return rules

    def inferred(self, name: str, numbers: NDArray[np.float64]) -> Bins:
        """Return the bins, and the numbers in each.

        A bin is represented by the rounded mean of its numbers. The secret plays no part.

        Parameters
        ----------
        name : str
            What messages call the column.
        numbers : float array (n,)
            NaN where an entry is missing.
        """
        known = np.sort(numbers[np.isfinite(numbers)])
        if not len(known):
            raise DataError(f"{name} must hold numbers to be cut into bins, got none")
        edges = self._edges(name, known)
        codes = np.searchsorted(edges, known, side="right")
        held = [known[codes == code] for code in range(len(edges) + 1)]
        edges = edges[[len(inside) > 0 for inside in held[1:]]]  # an empty bin belongs to the one below
        points = tuple(np.unique(inside, return_counts=True) for inside in held if len(inside))
        labels = _labels([float(np.average(x, weights=w)) for x, w in points])
        return Bins(edges.tolist(), labels, Scale(labels, points))

    def _edges(self, name: str, known: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.width is None:
            assert self.count is not None
            return _equal_shares(known, self.count)
        first, last = (math.floor(x / self.width) for x in (known[0], known[-1]))
        if last - first >= MOST_LABELS:
            raise DataError(
                f"{name} must have at most {MOST_LABELS} bins, got {last - first + 1} of width "
                f"{self.width!r}; choose a larger width"
            )
        return np.arange(first + 1, last + 1) * self.width


def _count(bins: BinCount) -> int:
    if isinstance(bins, str):
        raise InvalidArgument(f"bins must be a whole number or 'auto', got {shown(bins)}")
    return whole_number("bins", bins, 1, MOST_LABELS)


def _equal_shares(known: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return edges that divide sorted numbers into at most ``count`` bins of nearly equal size."""
    distinct, counts = np.unique(known, return_counts=True)
    below = np.cumsum(counts)[:-1]  # how many numbers are left of each possible edge
    if not len(below):
        return distinct[1:]
    wanted = np.arange(1, count) * (len(known) / count)
    nearest = np.abs(below[:, None] - wanted).argmin(axis=0)
    edges: NDArray[np.float64] = distinct[1:][np.unique(nearest)]
    return edges


def _labels(means: Sequence[float]) -> tuple[float, ...]:
    """Return the means in as few digits as tell them apart."""
    for digits in (4, 6, 9):
        short = [float(f"{mean:.{digits}g}") for mean in means]
        if len(set(short)) == len(means):
            return tuple(short)
    return tuple(means)
