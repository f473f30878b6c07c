r"""Whether the randomness of a release repeats: rows that depend on the rows one lag away.

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
MOST_ROWS = 2**24  # what is read of a longer release
_DENSE = 2**22  # keys below this are counted without sorting
_MULTIPLES = 64  # of a lag, that are looked at together
_TESTS_PER_LAG = 4  # two scores, each with one lag alone and with its multiples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Repetition:
    """The lag at which rows depend on one another most.

    Attributes
    ----------
    lag : int
    score : float
        How strong the dependence is, in standard deviations.
    limit : float
        What chance hardly ever exceeds at any lag.
    """

    lag: int
    score: float
    limit: float


def find_repetition(outputs: Codes, cells: Codes, *, cells_are_complete: bool) -> Repetition:
    """The strongest dependence between rows one lag apart, over all lags.

    Parameters
    ----------
    outputs : int array (n,)
    cells : int array (n,)
        What each row's output may depend on.
    cells_are_complete : bool
        If not, outputs may depend on something that the rows do not show and that changes slowly down
        the table. Then a lag counts only as far as it stands out from its two neighbours.
    """
    outputs, cells = outputs[:MOST_ROWS], cells[:MOST_ROWS]
    n = len(outputs)
    limit = math.sqrt(2 * math.log(_TESTS_PER_LAG * n / FALSE_ALARM))
    last = n - math.ceil(limit**2)  # fewer pairs are no evidence
    first = 1 if cells_are_complete else 3
    found = Repetition(first, 0.0, limit)
    if last < first:
        return found
    for g, variance in _scores(outputs, cells):
        products, squares = _sums(g, variance, last, cells_are_complete)
        for multiples in (1, _MULTIPLES):
            score = _standardised(_combed(products, multiples), _combed(squares, multiples))
            score /= _tail(n, limit, multiples, len(score))
            lag = first + int(score[first:].argmax())
            if score[lag] > found.score:
                found = Repetition(lag, float(score[lag]), limit)
    return found


def tallied(keys: Codes) -> tuple[Codes, Codes, Codes]:
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


def _scores(outputs: Codes, cells: Codes) -> list[tuple[Floats, Floats]]:
    """Two scores of each row, centred in its cell, with their variances there.

    The middle of the output's place in the cell's cumulative distribution rises with the random number
    that was used, if outputs are found by inverting it; the parity of the output moves even where
    that hardly does.
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
    """M and V for the lags 0 … last."""
    length = fft.next_fast_len(2 * len(g), real=True)
    products = fft.irfft(_power(g, length), length)[: last + 2]
    if cells_are_complete:
        return products[:-1], _correlated(g**2, (g**2 + 2 * variance) / 3, length, last)
    bends = np.zeros_like(g)
    bends[1:-1] = g[1:-1] - (g[:-2] + g[2:]) / 2
    peaks = _peaks(products, g)
    peaks[products[:-1] < peaks / 2] = 0.0  # a hole beside the lag is no peak
    # The variance may differ from row to row in ways that the cell does not show; squares follow it.
    return peaks, _correlated(bends**2, g**2 + 2 * variance / 3, length, last)


def _power(signal: Floats, length: int) -> Floats:
    spectrum = fft.rfft(signal, length)
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


def _peaks(products: Floats, g: Floats) -> Floats:
    """Σ_i g_i · bends_{i−L} for every lag but the last, from the Σ_i g_i · g_{i−L}."""
    lags = len(products) - 1
    peaks = products[:-1].copy()
    peaks[1:] -= (products[:-2] + products[2:]) / 2
    # The first row has no neighbour above it and no bend: its terms are taken out again.
    peaks[1:] += g[0] / 2 * g[: lags - 1] - (g[0] - g[1] / 2) * g[1:lags]
    return peaks


def _correlated(earlier: Floats, later: Floats, length: int, last: int) -> Floats:
    """Σ_i later_i · earlier_{i−L} for the lags L = 0 … last, of what is nowhere negative."""
    spectrum = np.conj(fft.rfft(earlier, length)) * fft.rfft(later, length)
    return np.asarray(np.maximum(fft.irfft(spectrum, length)[: last + 1], 0.0))


def _combed(sums: Floats, multiples: int) -> Floats:
    """For every lag L, the sum over L, 2L, … up to so many multiples."""
    total = sums.copy()
    for k in range(2, multiples + 1):
        reached = sums[::k]
        total[: len(reached)] += reached
    return total


def _standardised(products: Floats, squares: Floats) -> Floats:
    floor = 1e-12 * squares[0]  # rounding is no evidence
    if floor == 0:
        return np.zeros_like(products)
    return np.asarray(products / np.sqrt(squares + floor))


def _tail(n: int, limit: float, multiples: int, lags: int) -> Floats:
    """By how much a sum over m multiples may exceed the limit because it is not quite normal.

    It is a quadratic form of n scores whose largest eigenvalue is √(2m/n) of its norm, so that at level
    e^{−ℓ} it reaches √(2ℓ) + ℓ√(2m/n) standard deviations: √(2ℓ) times what is returned.
    """
    m = np.minimum(multiples, n / np.maximum(np.arange(lags), 1))
    return np.asarray(1 + np.sqrt(limit**2 / 2 * m / n))
