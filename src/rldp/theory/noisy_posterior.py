r"""The posterior of a distribution, given noisy counts.

A table of counts N was published as :math:`\tilde N=N+Z` with discrete Laplace noise Z of level ε. The counts
are Poisson with Gamma(a, b_s) rates for the cells of secret s. A cell's count is therefore negative binomial,
and its noisy count has the likelihood, up to a factor,

.. math:: Z_{su}=\frac{(b/(1+b))^a}{\Gamma(a)}\sum_{m\ge0}\frac{\Gamma(m+a)}{m!}(1+b)^{-m}
    e^{-\varepsilon|\tilde N_{su}-m|},\qquad b=\frac{a|U|}{\mu_s} .

a is uniform on the grid of the adaptive prior; :math:`\mu_s`, about the number of rows of secret s, is
uniform on a logarithmic grid. Given the noisy counts: draw a, by :math:`\prod_s\sum_\mu\prod_uZ_{su}`; then
each :math:`\mu_s`; then each :math:`N_{su}`, by the terms of the sum; then
:math:`P_{U|s}\sim\mathrm{Dirichlet}(N_{s\cdot}+a)`, and :math:`P_s\propto\mathrm{Gamma}(N_s+a|U|)/(1+b_s)`.
See ``docs/theory.md``, 'Noise on the counts'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from rldp.errors import InvalidArgument

__all__ = ["TOTALS", "NoisyLaw", "noisy_law"]

Floats = NDArray[np.float64]

TOTALS = 2.0 ** (np.arange(-4, 107) / 2)
"""The grid of μ, all equally likely: from a quarter of a row to 2^53, in steps of a factor √2."""

_LEFT_OUT = 45.0  # noise with a weight below e to minus this is omitted at first
_DOUBLINGS = 4
_NO_PART = 1e-9  # largest effect on the posterior of the omitted terms
_MOST_WORK = 5e9  # total number of terms; the judge sums no more
_MANY = 1e7  # from here on, differences of log-gamma functions use Stirling's series
_SHORT = 1000  # sums with up to this many terms are cached between blocks: 32 MB at most
_UNLIKELY = 1e-18  # less likely components are omitted


@dataclass(frozen=True, eq=False)
class _Cell:
    """The possible counts of a cell, from the first on, and the log weights of the noise."""

    first: int
    noise: Floats

    @classmethod
    def of(cls, count: int, epsilon: float, left_out: float) -> _Cell:
        reach = int(np.ceil(left_out / epsilon))
        first, last = max(count - reach, 0), max(count, 0) + reach
        m = np.arange(first, last + 1, dtype=np.float64)
        away = np.abs(m - count)
        return cls(first, -epsilon * (away - away.min()))

    def logs(self, a: float, b: Floats) -> Floats:
        """Return the logs of the terms of the sum, for each of some b: (b, terms)."""
        m = self.first + np.arange(len(self.noise), dtype=np.float64)
        counted = _log_quotient(m, a) - gammaln(a) + self.noise
        scale = a * (np.log(b) - np.log1p(b))
        return np.asarray(scale[:, None] + counted - np.log1p(b)[:, None] * m)


@dataclass(frozen=True)
class _Component:
    """The probability of one a, and of each μ of each secret (|S|, μ) given it."""

    a: float
    weight: float
    totals: Floats


@dataclass(frozen=True)
class NoisyLaw:
    """The posterior of one table of noisy counts."""

    cells: tuple[tuple[_Cell, ...], ...]
    components: tuple[_Component, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of secrets and values."""
        return len(self.cells), len(self.cells[0])

    def fill(self, drawn: Floats, masses: Floats, generator: np.random.Generator) -> None:
        """Fill conditionals (|S|, |U|, m) and masses (|S|, m) with draws."""
        size, start = drawn.shape[2], 0
        order = generator.permutation(size)
        shares = generator.multinomial(size, [component.weight for component in self.components])
        for component, many in zip(self.components, shares.tolist(), strict=True):
            if many:
                where = order[start : start + many]
                drawn[..., where], masses[:, where] = self._drawn(component, many, generator)
                start += many

    def _drawn(
        self, component: _Component, size: int, generator: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw for one a: (|S|, |U|, size) and (|S|, size)."""
        a, (secrets, values) = component.a, self.shape
        drawn, masses = np.empty((secrets, values, size)), np.empty((secrets, size))
        for s, likely in enumerate(component.totals):
            chosen = generator.choice(len(TOTALS), size=size, p=likely)
            counts = np.empty((values, size))
            for number in np.unique(chosen):
                where = np.flatnonzero(chosen == number)
                b = a * values / TOTALS[number]
                for u, cell in enumerate(self.cells[s]):
                    counts[u, where] = _picked(cell, a, b, len(where), generator)
            logs = np.log(generator.standard_gamma(np.maximum(counts, 1) + a))
            unseen = counts == 0
            logs[unseen] -= generator.standard_exponential(int(unseen.sum())) / a
            logs -= logs.max(axis=0)
            drawn[s] = np.exp(logs)
            drawn[s] /= drawn[s].sum(axis=0)
            rate = 1 + a * values / TOTALS[chosen]
            masses[s] = generator.standard_gamma(counts.sum(axis=0) + a * values) / rate
        masses = np.maximum(masses, 2.0**-1000)
        return drawn, masses / masses.sum(axis=0)


def _log_quotient(m: Floats, a: float) -> Floats:
    """Return log Γ(m + a)/Γ(m + 1), to a relative 10^-8, without cancellation of two large logarithms."""
    far = np.maximum(m, _MANY)
    stirling = (far + 0.5) * np.log1p((a - 1) / (far + 1)) + (a - 1) * (np.log(far + a) - 1)
    return np.asarray(np.where(m < _MANY, gammaln(m + a) - gammaln(m + 1), stirling))


def _picked(cell: _Cell, a: float, b: float, size: int, generator: np.random.Generator) -> Floats:
    """Draw counts of a cell, by the terms of its sum."""
    below = (_kept_sums if len(cell.noise) <= _SHORT else _sums)(cell, a, b)
    places = np.searchsorted(below, generator.random(size) * below[-1], side="right")
    return np.asarray(cell.first + np.minimum(places, len(below) - 1), dtype=np.float64)


def _sums(cell: _Cell, a: float, b: float) -> Floats:
    """Return the cumulative sums of the terms, up to a factor."""
    logs = cell.logs(a, np.array([b]))[0]
    return np.cumsum(np.exp(logs - logs.max()))


_kept_sums = lru_cache(maxsize=4096)(_sums)


def noisy_law(counts: NDArray[np.int64], epsilon: float, grid: Floats) -> NoisyLaw:
    """Return the posterior given noisy counts (|S|, |U|), the level of the noise, and a grid of a."""
    return _law(np.asarray(counts, dtype=np.int64).tobytes(), counts.shape[1], epsilon, tuple(grid.tolist()))


@lru_cache(maxsize=64)
def _law(table: bytes, values: int, epsilon: float, grid: tuple[float, ...]) -> NoisyLaw:
    counts = np.frombuffer(table, dtype=np.int64).reshape(-1, values)
    for left_out in _LEFT_OUT * 2.0 ** np.arange(_DOUBLINGS + 1):
        terms = 2 * np.ceil(left_out / epsilon) + 1
        work = terms * counts.size * len(grid) * len(TOTALS)
        if work > _MOST_WORK:
            raise InvalidArgument(
                f"the noise on a table of {counts.size} cells must have a level of at least "
                f"{1.1 * epsilon * work / _MOST_WORK:.2g} on each count, got {epsilon:g}, as otherwise too "
                "many counts are possible; a coarser table needs less"
            )
        cells = tuple(tuple(_Cell.of(int(n), epsilon, left_out) for n in row) for row in counts)
        logs_of_sums, at_most = [], []
        for a in grid:
            b = a * values / TOTALS
            sums = np.array([[logsumexp(cell.logs(a, b), axis=1) for cell in row] for row in cells])
            totals = sums.sum(axis=1)
            evidence = logsumexp(totals, axis=1, keepdims=True)
            logs_of_sums.append((a, float(evidence.sum()), np.exp(totals - evidence)))
            # the error of a cell's sum is below the weight of the omitted noise, as probabilities sum to one
            at_most.append(logsumexp(np.logaddexp(sums, -left_out).sum(axis=1), axis=1).sum())
        if logsumexp(at_most) - logsumexp([log for _, log, _ in logs_of_sums]) <= _NO_PART:
            break
    else:
        raise InvalidArgument(
            f"prior must be smaller: with {max(grid):g} counts far from the noisy ones would matter"
        )
    logs = np.array([log for _, log, _ in logs_of_sums])
    weights = np.exp(logs - logsumexp(logs))
    kept = [(each, w) for each, w in zip(logs_of_sums, weights.tolist(), strict=True) if w > _UNLIKELY]
    whole = sum(w for _, w in kept)
    return NoisyLaw(cells, tuple(_Component(a, w / whole, _normalised(t)) for (a, _, t), w in kept))


def _normalised(totals: Floats) -> Floats:
    return np.asarray(totals / totals.sum(axis=1, keepdims=True))
