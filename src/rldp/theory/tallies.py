"""Rows counted by outcome, with the probability of every outcome given the cell: input of estimation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.theory.model import Floats

__all__ = ["Tally"]

_SMALLEST = 1e-300


@dataclass(frozen=True)
class Tally:
    """Independent rows, counted by outcome.

    Attributes
    ----------
    channel : array (k, M)
        The probability of every outcome, given the cell; rows sum to one.
    counts : array (M,)
        Whole numbers for rows of people.
    is_sample : bool
        Whether the outcomes are the cells themselves.
    """

    channel: Floats
    counts: NDArray[Any]
    is_sample: bool = False

    @classmethod
    def of_sample(cls, counts: NDArray[np.int64]) -> Tally:
        """Build a tally of rows with known cells."""
        return cls(np.eye(counts.size), counts.reshape(-1), is_sample=True)

    def with_counts(self, counts: NDArray[Any]) -> Tally:
        """Return a tally of other rows with the same channel."""
        return Tally(self.channel, counts, self.is_sample)

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    def at(self, distribution: Floats) -> Floats:
        """Return the probability of every outcome under P (…, k): (…, M), never 0."""
        return np.maximum(distribution if self.is_sample else distribution @ self.channel, _SMALLEST)
