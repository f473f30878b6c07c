"""What entries stand for: texts of a CSV file, which have no type, and labels as numbers. NumPy only.

A text stands for a number or a boolean where that loses nothing: a number has no leading zeros, no sign +, no
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
"""What the entries of a column of a CSV file are taken for, where they are not read as what loses nothing."""

INTEGER = (r"(?:0|-?[1-9][0-9]{0,14})",)
DECIMAL = (r"(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]+)", r"-?(?:[0-9]\.?){1,15}")
TRUTH = (r"(?:true|false|True|False|TRUE|FALSE)",)
"""Patterns that all of a text must match to be read so without loss."""

WHOLE = re.compile(r"[ \t]*(?:-?[0-9]{1,100}|0[xX][0-9a-fA-F]{1,15})[ \t]*", re.ASCII)
NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*", re.ASCII)
"""All that can be read as a number."""

TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1"), True) | dict.fromkeys(
    ("false", "False", "FALSE", "0"), False
)


def whole_of_text(text: str) -> int | None:
    """The integer that a text stands for, if it does."""
    return int(text, 16 if "x" in text.lower() else 10) if WHOLE.fullmatch(text) else None


def number_of_text(text: str | None) -> float | None:
    """The finite number that a text stands for, if it does, as a float."""
    if text is None:
        return None
    number = float(text) if NUMBER.fullmatch(text) else whole_of_text(text)
    return None if number is None or not math.isfinite(number) else float(number)


def labels_of_texts(texts: Collection[str]) -> Iterable[Label]:
    """What distinct texts stand for: numbers or booleans where that loses nothing, and the texts if not."""
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
    """What distinct texts stand for, if they are of this kind; those that are not stand for nothing."""
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
    """A number for each label, and all numbers that it stands for.

    Attributes
    ----------
    numbers : tuple of float
        What an output of this label is taken for; NaN for the label of missing entries.
    points : tuple of (numbers, counts)
        What a value of this label may be, with how often the sample shows it: one number, many where the
        label is that of a bin, or none where it is that of missing entries. A distortion of the label is the
        mean over these.
    counts : tuple of int
        How often the sample shows each label; needed only where entries are missing.
    missing : float or None
        How far a missing entry is from every number, in the unit of the distortion. By default as far as
        known entries are, on average, from the one output that is best for all of them.
    """

    numbers: tuple[float, ...]
    points: tuple[Points, ...]
    counts: tuple[int, ...] = ()
    missing: float | None = None

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Scale:
        """Of labels that stand for one number each."""
        one = np.ones(1, dtype=np.int64)
        return cls(tuple(map(float, numbers)), tuple((np.array([float(x)]), one) for x in numbers))

    @classmethod
    def of_labels(cls, labels: Sequence[Label], *, ordered: bool = False) -> Scale | None:
        """Ranks of labels that are ``ordered``, days of dates such as 2024-01-31, and numbers of numbers.

        None where labels are something else.
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
        """The same labels and, at ``place``, that of missing entries; ``counts``: of all labels."""
        nothing = np.empty(0), np.empty(0, dtype=np.int64)
        return Scale(
            (*self.numbers[:place], math.nan, *self.numbers[place:]),
            (*self.points[:place], nothing, *self.points[place:]),
            tuple(counts),
            distance,
        )

    def distances(self, distance: Distance, outputs: Sequence[float]) -> NDArray[np.float64]:
        """The mean distance of what each label stands for from each output: (|U|, |Y|).

        An output that is NaN, that of missing entries, is at distance 0 from missing entries alone.
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
