r"""Draws from the posterior of a table whose counts have noise, by the judge's own code.

Given a of the grid and :math:`\mu_s` of a grid of totals, the counts of secret s are independent negative
binomials with :math:`b=a|U|/\mu_s`, and the noise of level ε weighs a count m by
:math:`e^{-\varepsilon|\tilde N-m|}`. What the counts are is drawn first, then the distribution. See
``docs/theory.md``, 'Noise on the counts'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOTALS", "NoisyPosterior"]

TOTALS = tuple(2.0 ** (k / 2) for k in range(-4, 107))
"""The totals that are possible, all equally likely: from a quarter of a row to 2^53."""

_LEFT_OUT = 45.0  # noise that weighs less than e to minus this plays no part

Floats = NDArray[np.float64]


class NoisyPosterior:
    """The law of the people's distribution, given counts with noise."""

    def __init__(self, counts: Sequence[Sequence[int]], noise: float, grid: Sequence[float]) -> None:
        self.cells = [[_weighed(n, noise) for n in row] for row in counts]
        self.secrets, self.values = len(counts), len(counts[0])
        evidence, self._totals = [], []
        for a in grid:
            logs = np.array([[self._log_likelihood(s, a, mu) for mu in TOTALS] for s in range(self.secrets)])
            top = logs.max(axis=1, keepdims=True)
            shares = np.exp(logs - top)
            evidence.append(float((top[:, 0] + np.log(shares.sum(axis=1))).sum()))
            self._totals.append(shares / shares.sum(axis=1, keepdims=True))
        likely = np.exp(np.array(evidence) - max(evidence))
        self.grid, self.weights = list(grid), likely / likely.sum()

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
        start = math.lgamma(first + a) - math.lgamma(first + 1) - math.lgamma(a) - first * math.log1p(b)
        start += a * (math.log(b) - math.log1p(b))
        return first, start + np.concatenate([[0.0], np.cumsum(steps)]) + noise

    def _log_likelihood(self, s: int, a: float, mu: float) -> float:
        found = 0.0
        for u in range(self.values):
            _, logs = self._terms(s, u, a, mu)
            found += float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))
        return found

    def log_weights(self, source: np.random.Generator, size: int) -> Iterator[Floats]:
        """Logarithms of weights of the cells, arrays (|S|, |U|, m), of ``size`` draws in all."""
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


def _weighed(count: int, noise: float) -> tuple[int, Floats]:
    """The first count that is possible, and what the noise weighs it and those after it: logarithms."""
    reach = math.ceil(_LEFT_OUT / noise)
    first, last = max(count - reach, 0), max(count, 0) + reach
    away = np.abs(np.arange(first, last + 1, dtype=np.float64) - count)
    return first, -noise * (away - away.min())
