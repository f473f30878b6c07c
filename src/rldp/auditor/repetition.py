r"""Detect repeated randomness in a release: rows that depend on rows at a fixed distance.

Let :math:`g_i` be a score of the output of row i with mean 0 and variance :math:`\sigma_i^2` in its
cell. If every row is drawn afresh, :math:`M_L=\sum_i g_i g_{i-L}` is a martingale for each lag L, and

.. math:: P\big(M_L \ge \sqrt{2\ell V_L}\big) \lesssim e^{-\ell},\qquad
          V_L = \sum_i \tfrac13(g_i^2 + 2\sigma_i^2)\,g_{i-L}^2 .

See ``docs/audit.md``, 'Repetition'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

__all__ = ["FALSE_ALARM", "MOST_ROWS", "Repetition", "find_repetition", "tallied"]

FALSE_ALARM = 1e-6  # asked of the test, over all lags together
MOST_ROWS = 2**24  # of a longer release, only this many rows are read
_DENSE = 2**22  # smaller keys are counted without sorting
_MULTIPLES = 64  # of a lag, examined together
_TESTS_PER_LAG = 4  # two scores, each for the lag alone and with its multiples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Repetition:
    """The lag at which rows depend on each other most.

    Attributes
    ----------
    lag : int
    score : float
        Strength of the dependence, in standard deviations.
    limit : float
        The value that chance hardly ever exceeds at any lag.
    """

    lag: int
    score: float
    limit: float


def find_repetition(outputs: Codes, cells: Codes, *, cells_are_complete: bool) -> Repetition:
    """Find the strongest dependence between rows at one distance, over all lags.

    Parameters
    ----------
    outputs : int array (n,)
    cells : int array (n,)
        What each row's output may depend on.
    cells_are_complete : bool
        If not, outputs may depend on something unobserved that changes slowly along the table. A lag then
        counts only as far as it exceeds its two neighbours.
    """
    outputs, cells = outputs[:MOST_ROWS], cells[:MOST_ROWS]
    n = len(outputs)
    limit = math.sqrt(2 * math.log(_TESTS_PER_LAG * n / FALSE_ALARM))
    last = n - math.ceil(limit**2)  # fewer pairs are not evidence
    first = 1 if cells_are_complete else 3
    repetition = Repetition(first, 0.0, limit)
    if last < first:
        return repetition
    for g, variance in _scores(outputs, cells):
        products, squares = _sums(g, variance, last, cells_are_complete)
        for multiples in (1, _MULTIPLES):
            score = _standardised(_combed(products, multiples), _combed(squares, multiples))
            score /= _tail(n, limit, multiples, len(score))
            lag = first + int(score[first:].argmax())
            if score[lag] > repetition.score:
                repetition = Repetition(lag, float(score[lag]), limit)
    return repetition


def tallied(keys: Codes) -> tuple[Codes, Codes, Codes]:
    """Return the distinct keys (0 or more), the position of each row's key among them, and their counts.

    Examples
    --------
    >>> tallied(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]), array([1, 2]))
    """
    if int(keys.max()) >= _DENSE:
        distinct, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct, places.astype(np.int64), counts.astype(np.int64)
    counts = np.bincount(keys)
    distinct = np.flatnonzero(counts)
    return distinct, (np.cumsum(counts > 0) - 1)[keys], counts[distinct]


def _scores(outputs: Codes, cells: Codes) -> list[tuple[Floats, Floats]]:
    """Return two scores of each row, centred within its cell, with their variances there.

    The first is the middle of the output's interval in the cell's cumulative distribution, which increases
    with the random number if outputs are drawn by inversion. The second is the parity of the output, which
    varies even where the first hardly does.
    """
    base = int(outputs.max()) + 1
    pairs, place, counts = tallied(cells * base + outputs)
    cell = pairs // base
    total = np.bincount(cell, counts)
    before = np.cumsum(total) - total
    total = np.maximum(total, 1)
    middle = (np.cumsum(counts) - counts / 2 - before[cell]) / total[cell]
    scores = []
    for raw in (middle, 1.0 - 2.0 * (pairs % base % 2)):
        centred = raw - (np.bincount(cell, counts * raw) / total)[cell]
        variance = (np.bincount(cell, counts * centred**2) / total)[cell]
        scores.append((centred[place], variance[place]))
    return scores


def _sums(g: Floats, variance: Floats, last: int, cells_are_complete: bool) -> tuple[Floats, Floats]:
    """Compute M and V for the lags 0 … last."""
    length = fft.next_fast_len(2 * len(g), real=True)
    products = fft.irfft(_power(g, length), length)[: last + 2]
    if cells_are_complete:
        return products[:-1], _correlated(g**2, (g**2 + 2 * variance) / 3, length, last)
    bends = np.zeros_like(g)
    bends[1:-1] = g[1:-1] - (g[:-2] + g[2:]) / 2
    peaks = _peaks(products, g)
    peaks[products[:-1] < peaks / 2] = 0.0  # a dip at the neighbouring lag does not make a peak
    # The variance may differ between rows of a cell in unobserved ways; squares follow it.
    return peaks, _correlated(bends**2, g**2 + 2 * variance / 3, length, last)


def _power(signal: Floats, length: int) -> Floats:
    spectrum = fft.rfft(signal, length)
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


def _peaks(products: Floats, g: Floats) -> Floats:
    """Compute Σ_i g_i · bends_{i−L} for every lag but the last, from the Σ_i g_i · g_{i−L}."""
    lags = len(products) - 1
    peaks = products[:-1].copy()
    peaks[1:] -= (products[:-2] + products[2:]) / 2
    # The first row has no predecessor and no bend: remove its terms again.
    peaks[1:] += g[0] / 2 * g[: lags - 1] - (g[0] - g[1] / 2) * g[1:lags]
    return peaks


def _correlated(earlier: Floats, later: Floats, length: int, last: int) -> Floats:
    """Compute Σ_i later_i · earlier_{i−L} for the lags L = 0 … last, for non-negative arrays."""
    spectrum = np.conj(fft.rfft(earlier, length)) * fft.rfft(later, length)
    return np.asarray(np.maximum(fft.irfft(spectrum, length)[: last + 1], 0.0))


def _combed(sums: Floats, multiples: int) -> Floats:
    """For every lag L, sum over L, 2L, … up to so many multiples."""
    total = sums.copy()
    for k in range(2, multiples + 1):
        reached = sums[::k]
        total[: len(reached)] += reached
    return total


def _standardised(products: Floats, squares: Floats) -> Floats:
    floor = 1e-12 * squares[0]  # rounding is not evidence
    if floor == 0:
        return np.zeros_like(products)
    return np.asarray(products / np.sqrt(squares + floor))


def _tail(n: int, limit: float, multiples: int, lags: int) -> Floats:
    """Return the factor on the limit for a sum over m multiples, which is not quite normal.

    The sum is a quadratic form of n scores whose largest eigenvalue is √(2m/n) of its norm. At level e^{−ℓ}
    it reaches √(2ℓ) + ℓ√(2m/n) standard deviations, which is √(2ℓ) times the returned factor.
    """
    m = np.minimum(multiples, n / np.maximum(np.arange(lags), 1))
    return np.asarray(1 + np.sqrt(limit**2 / 2 * m / n))
