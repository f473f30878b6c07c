"""Exact sampling: map uniform integers to outputs, with probabilities given by the integers of a table.

A row of non-negative integers :math:`a_0, a_1, …` that sum to :math:`2^b` cuts the integers
:math:`0, …, 2^b - 1` into intervals of these lengths. If a uniform integer falls into interval y, output y is
drawn. Nothing is rounded: exactly :math:`a_y` of the :math:`2^b` integers give y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp.errors import InvalidArgument
from rldp.theory.arrays import BITS

__all__ = ["Randomness", "RowWords", "Sampler", "words_of_stage"]

Randomness: TypeAlias = Callable[[int], NDArray[np.uint64]]
"""A function from a number n to n independent, uniform 64-bit words."""


class RowWords(Interface):
    """Random words tied to the rows for which outputs are drawn."""

    def of_stage(
        self,
        stage: int,
        secrets: NDArray[np.integer],
        values: NDArray[np.integer],
        before: Sequence[NDArray[np.integer]],
    ) -> NDArray[np.uint64]:
        """Return a 64-bit word for each row.

        Parameters
        ----------
        stage : int
            Index of the output of a row, from 0.
        secrets, values : int array (n,)
            Codes; values are in the alphabet of the stage.
        before : sequence of int array (n,)
            Codes of the outputs of earlier stages, in order.
        """


def words_of_stage(
    words: Randomness | RowWords,
    stage: int,
    secrets: NDArray[np.integer],
    values: NDArray[np.integer],
    before: Sequence[NDArray[np.integer]] = (),
) -> Randomness:
    """Return the words from which the outputs of a stage are drawn, in the order of the rows."""
    if callable(words):
        return words
    left = words.of_stage(stage, secrets, values, before)

    def next_words(count: int) -> NDArray[np.uint64]:
        nonlocal left
        given, left = left[:count], left[count:]
        return given

    return next_words


_BLOCK = 2**15  # rows drawn at once, so that a block stays in the processor's cache
_WORD = 64


@dataclass(frozen=True, init=False, eq=False)
class Sampler:
    """Draws outputs from rows of integers over a power of two.

    Parameters
    ----------
    numerators : array_like of int (rows, |Y|)
        Non-negative; each row sums to :math:`2^b`.
    bits : int
        b, at most 62.

    Examples
    --------
    >>> sampler = Sampler([[1, 0, 3]], bits=2)
    >>> sampler.outputs(np.zeros(4, dtype=int), np.arange(4))
    array([0, 2, 2, 2])
    """

    bits: int
    width: int
    ends: NDArray[np.int64]  # rows × width, flat: where the interval of each output ends

    def __init__(self, numerators: ArrayLike, bits: int = BITS) -> None:
        table = np.asarray(numerators, dtype=np.int64)
        if (table < 0).any() or (table.sum(axis=1) != 2**bits).any():
            raise InvalidArgument(f"numerators must be non-negative rows that sum to 2^{bits}")
        width = 1 << (table.shape[1] - 1).bit_length()
        ends = np.full((len(table), width), 2**bits, dtype=np.int64)
        ends[:, : table.shape[1]] = table.cumsum(axis=1)
        ends.setflags(write=False)
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "ends", ends.reshape(-1))

    def outputs(self, rows: NDArray[np.int64], integers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the output of each integer in 0, …, 2^b − 1, for the row at the same position.

        It is the number of intervals that end at or before the integer, by bisection. Empty intervals are
        skipped, so outputs with probability zero are never drawn.
        """
        at = rows * self.width
        step = self.width // 2
        while step:
            at += step * (integers >= self.ends[at + (step - 1)])
            step //= 2
        return at & (self.width - 1)

    def draw(self, rows: NDArray[np.integer], source: Randomness) -> NDArray[np.int32]:
        """Draw an output for every entry of ``rows``, with one word of ``source`` each, in order."""
        drawn = np.empty(len(rows), dtype=np.int32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK].astype(np.int64)
            integers = (source(len(block)) >> np.uint64(_WORD - self.bits)).view(np.int64)
            drawn[start : start + _BLOCK] = self.outputs(block, integers)
        return drawn
