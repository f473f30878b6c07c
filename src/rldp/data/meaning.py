"""Interpret texts of a CSV file, which have no type, and labels as numbers. NumPy only.

A text stands for a number or a boolean if that loses nothing: a number has no leading zeros, no plus sign, no
exponent and at most 15 digits, which a float keeps. The patterns are those of Python and of Arrow.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label

__all__ = [
    "DECIMAL",
    "INTEGER",
    "NUMBER",
    "TRUTH",
    "TRUTHS",
    "WHOLE",
    "Kind",
    "Scale",
    "labels_of_texts",
    "labels_read_as",
    "number_of_text",
    "whole_of_text",
]

Kind: TypeAlias = Literal["text", "number"]
"""The type of a column of a CSV file, if it is set instead of inferred."""

INTEGER = (r"(?:0|-?[1-9][0-9]{0,14})",)
DECIMAL = (r"(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]+)", r"-?(?:[0-9]\.?){1,15}")
TRUTH = (r"(?:true|false|True|False|TRUE|FALSE)",)
"""Patterns that a whole text must match to be read in this way without loss."""

WHOLE = re.compile(r"[ \t]*(?:-?[0-9]{1,100}|0[xX][0-9a-fA-F]{1,15})[ \t]*", re.ASCII)
NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*", re.ASCII)
"""Everything that can be read as a number."""

TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1"), True) | dict.fromkeys(
    ("false", "False", "FALSE", "0"), False
)


def whole_of_text(text: str) -> int | None:
    """Return the integer that a text stands for, or None."""
    return int(text, 16 if "x" in text.lower() else 10) if WHOLE.fullmatch(text) else None


def number_of_text(text: str | None) -> float | None:
    """Return the finite number that a text stands for as a float, or None."""
    if text is None:
        return None
    number = float(text) if NUMBER.fullmatch(text) else whole_of_text(text)
    return None if number is None or not math.isfinite(number) else float(number)


def labels_of_texts(texts: Collection[str]) -> Iterable[Label]:
    """Return what distinct texts stand for: numbers or booleans if that loses nothing, else the texts.

    That is: no leading zeros, no exponents, at most 15 digits, and no two texts for one number.

    >>> labels_of_texts(["10115", "01067"]), labels_of_texts(["39", "7"])
    (['10115', '01067'], [39, 7])
    """
    for patterns, read in _WITHOUT_LOSS:
        bare = [text.strip(" \t") for text in texts]
        if all(re.fullmatch(pattern, text) for text in bare for pattern in patterns):
            labels: list[Label] = [read(text) for text in bare]
            if len(set(labels)) == len(texts):
                return labels
    return texts


_WITHOUT_LOSS: tuple[tuple[tuple[str, ...], Callable[[str], Label]], ...] = (
    (INTEGER, int),
    (DECIMAL, float),
    (TRUTH, lambda text: text.lower() == "true"),
)


def labels_read_as(kind: Kind | None, texts: Collection[str]) -> Iterable[Label]:
    """Return what distinct texts of this type stand for; None for others."""
    if kind == "text":
        return texts
    if kind is None:
        return labels_of_texts(texts)
    numbers = {text: number for text in texts if (number := number_of_text(text)) is not None}
    wholes = [whole_of_text(text) for text in numbers]
    return numbers.values() if None in wholes else [whole for whole in wholes if whole is not None]


# Labels as numbers, for distortions that measure distances


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Points = tuple[NDArray[np.float64], NDArray[np.int64]]
Distance = Callable[[NDArray[np.float64], float], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Scale:
    """A number for each label, and all numbers that the label stands for.

    Attributes
    ----------
    numbers : tuple of float
        The number of an output with this label; NaN for the label of missing entries.
    points : tuple of (numbers, counts)
        The numbers that a value with this label may be, and how often the sample shows each: one number;
        several for a bin; none for missing entries. A distortion of the label is the mean over these.
    counts : tuple of int
        How often the sample shows each label; needed only if entries are missing.
    missing : float or None
        Distance of a missing entry from every number, in the unit of the distortion. By default the average
        distance of known entries from the best constant.
    """

    numbers: tuple[float, ...]
    points: tuple[Points, ...]
    counts: tuple[int, ...] = ()
    missing: float | None = None

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Scale:
        """Return the scale of labels that stand for one number each."""
        one = np.ones(1, dtype=np.int64)
        return cls(tuple(map(float, numbers)), tuple((np.array([float(x)]), one) for x in numbers))

    @classmethod
    def of_labels(cls, labels: Sequence[Label], *, ordered: bool = False) -> Scale | None:
        """Return ranks for ``ordered`` labels, days for dates such as 2024-01-31, and numbers as they are.

        None for other labels.
        """
        if ordered:
            return cls.of(range(len(labels)))
        days = [_day(label) for label in labels]
        known = [day for day in days if day is not None]
        if len(known) == len(labels):
            return cls.of(known)
        numbers = [
            float(label) for label in labels if not isinstance(label, str | tuple) and _is_finite(label)
        ]
        return cls.of(numbers) if len(numbers) == len(labels) else None

    def with_missing(self, place: int, counts: Sequence[int], distance: float | None) -> Scale:
        """Return the scale with the label of missing entries at ``place``; ``counts`` of all labels."""
        nothing = np.empty(0), np.empty(0, dtype=np.int64)
        return Scale(
            (*self.numbers[:place], math.nan, *self.numbers[place:]),
            (*self.points[:place], nothing, *self.points[place:]),
            tuple(counts),
            distance,
        )

    def distances(self, distance: Distance, outputs: Sequence[float]) -> NDArray[np.float64]:
        """Return the mean distance of each label's numbers from each output: (|U|, |Y|).

        An output that is NaN, the label of missing entries, has distance 0 only from missing entries.
        """
        numbers = np.array(outputs, dtype=np.float64)
        known, unknown = ~np.isnan(numbers), np.array([not len(x) for x, _ in self.points])
        table = np.zeros((len(self.points), len(numbers)))
        for u, (x, w) in enumerate(self.points):
            if len(x):
                table[u, known] = [float(np.average(distance(x, y), weights=w)) for y in numbers[known]]
        if unknown.any():
            apart = self._of_the_best_constant(table[~unknown][:, known], ~unknown)
            table[np.ix_(unknown, known)] = table[np.ix_(~unknown, ~known)] = apart
        return table

    def _of_the_best_constant(self, table: NDArray[np.float64], known: NDArray[np.bool_]) -> float:
        if self.missing is not None:
            return self.missing
        counts = np.array(self.counts, dtype=np.float64)[known]
        if not counts.any() or not table.size:
            return 0.0
        return float((counts @ table / counts.sum()).min())


def _is_finite(number: float) -> bool:
    return abs(number) <= sys.float_info.max


def _day(label: Label) -> int | None:
    if not isinstance(label, str) or not _DAY.fullmatch(label):
        return None
    try:
        return datetime.date.fromisoformat(label).toordinal()
    except ValueError:
        return None
