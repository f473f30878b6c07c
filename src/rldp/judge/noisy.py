r"""Draws from the posterior of a table with noisy counts, by the judge's own code.

Given a of the grid and :math:`\mu_s` of a grid of totals, the counts of secret s are independent negative
binomials with :math:`b=a|U|/\mu_s`, and the noise of level ε weighs a count m by
:math:`e^{-\varepsilon|\tilde N-m|}`. The counts are drawn first, then the distribution. See
``docs/theory.md``, 'Noise on the counts'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOTALS", "NoisyPosterior"]

TOTALS = tuple(2.0 ** (k / 2) for k in range(-4, 107))
"""The possible totals, all equally likely: from a quarter of a row to 2^53."""

_LEFT_OUT = 45.0  # noise that weighs less than e to minus this is left out, at first
_DOUBLINGS = 4
_NO_PART = 1e-9  # the omitted part may change the posterior by so much
_LARGE = 2.0**24
_MOST_WORK = 5e9  # terms of all sums together, so that no file can hang: about 20 seconds

Floats = NDArray[np.float64]


class NoisyPosterior:
    """The law of the people's distribution, given counts with noise."""

    def __init__(self, counts: Sequence[Sequence[int]], noise: float, grid: Sequence[float]) -> None:
        self.secrets, self.values = len(counts), len(counts[0])
        self.grid = list(grid)
        self.is_known = False
        for doubling in range(_DOUBLINGS + 1):
            left_out = _LEFT_OUT * 2**doubling
            terms = 2 * math.ceil(left_out / noise) + 1
            if terms * self.size * len(self.grid) * len(TOTALS) > _MOST_WORK:
                break
            self.cells = [[_weighed(n, noise, left_out) for n in row] for row in counts]
            likelihoods = [self._likelihoods(a, left_out) for a in self.grid]
            evidence, at_most, self._totals = (list(each) for each in zip(*likelihoods, strict=True))
            if np.logaddexp.reduce(at_most) - np.logaddexp.reduce(evidence) <= _NO_PART:
                self.is_known = True
                likely = np.exp(np.array(evidence) - max(evidence))
                self.weights = likely / likely.sum()
                break

    def _likelihoods(self, a: float, left_out: float) -> tuple[float, float, Floats]:
        """Logarithms of the evidence for a and of a bound on it, and how likely each total of each secret is.

        A count has probabilities that sum to one, so that what is left out of a cell's sum is less than
        what the noise weighs it.
        """
        logs = np.array([[self._log_likelihoods(s, a, mu) for mu in TOTALS] for s in range(self.secrets)])
        at_most = np.logaddexp(logs, -left_out).sum(axis=2)
        summed = logs.sum(axis=2)
        top = summed.max(axis=1, keepdims=True)
        shares = np.exp(summed - top)
        evidence = float((top[:, 0] + np.log(shares.sum(axis=1))).sum())
        bound = float(np.logaddexp.reduce(at_most, axis=1).sum())
        return evidence, bound, shares / shares.sum(axis=1, keepdims=True)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.secrets * self.values

    def _terms(self, s: int, u: int, a: float, mu: float) -> tuple[int, Floats]:
        """The first possible count of a cell, and logarithms of what it and those after it weigh.

        That of m + 1 is that of m times (m + a)/(m + 1)/(1 + b), and what the noise says.
        """
        first, noise = self.cells[s][u]
        b = a * self.values / mu
        m = np.arange(first, first + len(noise) - 1, dtype=np.float64)
        steps = np.log((m + a) / (m + 1)) - math.log1p(b)
        start = _log_rise(first + 1, a - 1) - math.lgamma(a) - first * math.log1p(b)
        start += a * (math.log(b) - math.log1p(b))
        return first, start + np.concatenate([[0.0], np.cumsum(steps)]) + noise

    def _log_likelihoods(self, s: int, a: float, mu: float) -> list[float]:
        """Of every cell of a secret."""
        sums = []
        for u in range(self.values):
            _, logs = self._terms(s, u, a, mu)
            sums.append(float(logs.max() + np.log(np.exp(logs - logs.max()).sum())))
        return sums

    def log_weights(self, source: np.random.Generator, size: int) -> Iterator[Floats]:
        """Logarithms of weights of the cells, arrays (|S|, |U|, m), of ``size`` draws in all.

        They are not numbers, so that nothing is confirmed, where too much would have to be summed.
        """
        if not self.is_known:
            yield np.full((self.secrets, self.values, size), np.nan)
            return
        shares = source.multinomial(size, self.weights).tolist()
        for a, totals, m in zip(self.grid, self._totals, shares, strict=True):
            if m:
                yield np.stack([self._of_secret(s, a, totals[s], source, m) for s in range(self.secrets)])

    def _of_secret(self, s: int, a: float, likely: Floats, source: np.random.Generator, m: int) -> Floats:
        counts, rate, order, start = np.empty((self.values, m)), np.empty(m), source.permutation(m), 0
        for mu, many in zip(TOTALS, source.multinomial(m, likely).tolist(), strict=True):
            if not many:
                continue
            where = order[start : start + many]
            start += many
            rate[where] = math.log1p(a * self.values / mu)
            for u in range(self.values):
                first, logs = self._terms(s, u, a, mu)
                share = np.exp(logs - logs.max())
                drawn = source.multinomial(many, share / share.sum())
                counts[u, where] = source.permutation(np.repeat(first + np.arange(len(logs)), drawn))
        logs = np.log(source.standard_gamma(counts + (a + 1)))
        logs -= source.standard_exponential(counts.shape) / (counts + a)
        mass = np.log(source.standard_gamma(counts.sum(axis=0) + (a * self.values + 1)))
        mass -= source.standard_exponential(m) / (counts.sum(axis=0) + a * self.values) + rate
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=0) + mass)


def _log_rise(x: float, d: float) -> float:
    """Return log Γ(x + d)/Γ(x); of large x by Stirling's series, where two logarithms would cancel."""
    if x < _LARGE:
        return math.lgamma(x + d) - math.lgamma(x)
    return (x - 0.5) * math.log1p(d / x) + d * (math.log(x + d) - 1)


def _weighed(count: int, noise: float, left_out: float) -> tuple[int, Floats]:
    """The first count that is possible, and what the noise weighs it and those after it: logarithms."""
    reach = math.ceil(left_out / noise)
    first, last = max(count - reach, 0), max(count, 0) + reach
    away = np.abs(np.arange(first, last + 1, dtype=np.float64) - count)
    return first, -noise * (away - away.min())
