"""What labels stand for as numbers, for distortions that measure distances. NumPy only."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label

__all__ = ["Scale"]

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Points = tuple[NDArray[np.float64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Scale:
    """A number for each label, and all numbers that it stands for.

    Attributes
    ----------
    numbers : tuple of float
        What an output of this label is taken for.
    points : tuple of (numbers, counts)
        What a value of this label may be, with how often the sample shows it: one number, or many where the
        label is that of a bin. A distortion of the label is the mean over these.
    """

    numbers: tuple[float, ...]
    points: tuple[Points, ...]

    @classmethod
    def of_ranks(cls, count: int) -> Scale:
        """0, 1, 2, …: that of categories with an order."""
        return cls._of_numbers(range(count))

    @classmethod
    def of_days(cls, labels: Sequence[Label]) -> Scale | None:
        """Days, if all labels are dates such as 2024-01-31."""
        days = [_day(label) for label in labels]
        known = [day for day in days if day is not None]
        return cls._of_numbers(known) if len(known) == len(days) else None

    @classmethod
    def _of_numbers(cls, numbers: Sequence[int]) -> Scale:
        one = np.ones(1, dtype=np.int64)
        return cls(tuple(map(float, numbers)), tuple((np.array([float(x)]), one) for x in numbers))

    def distances(
        self, distance: Callable[[NDArray[np.float64], float], NDArray[np.float64]], outputs: Sequence[float]
    ) -> NDArray[np.float64]:
        """The mean distance of what each label stands for from each output: (|U|, |Y|)."""
        return np.array(
            [[float(np.average(distance(x, y), weights=w)) for y in outputs] for x, w in self.points]
        )


def _day(label: Label) -> int | None:
    if not isinstance(label, str) or not _DAY.fullmatch(label):
        return None
    try:
        return datetime.date.fromisoformat(label).toordinal()
    except ValueError:
        return None
