r"""The posterior mean of P given tallies, under a Dirichlet prior with a weight fitted to the tallies.

Prior: :math:`P\sim\mathrm{Dirichlet}(\alpha,\dots,\alpha)` on the k cells, and :math:`1/(1+2\alpha)` has the
law Beta(2, 2), so that the median of α is Jeffreys' ½, and nine of ten are between 0.08 and 3.2. Given α, the
posterior density of P on the simplex is a product of functions of one number each,

.. math:: \prod_i P_i^{\alpha+c_i-1}\ \prod_j\prod_y (Q_j^\top P)_y^{N_{jy}},

with the counts c of a sample. Expectation propagation replaces every factor f(t) of a number t by a Gaussian
:math:`e^{\nu t-\tau t^2/2}`, such that t has the same mean and variance whether f itself or its Gaussian
stands beside the Gaussians of all other factors. It also yields the integral of the product, the
*evidence*, which weighs the means for a grid of α. Nothing is random. See ``docs/theory.md``, 'Estimation'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldp.theory.estimation import pilot
from rldp.theory.model import Floats
from rldp.theory.tallies import Tally
from rldp.theory.tilted import has_peak, moments

__all__ = ["ALPHAS", "Posterior", "posterior"]

ALPHAS = 0.1 * 10 ** np.linspace(0, 2.75, 12)
"""Grid of prior pseudo-counts per cell: from 0.1 to 56, equally spaced on a log scale."""

_MOST_ROUNDS = 60
_SETTLED = 1e-3  # tolerance of the means in the last round, in standard deviations
_DOUBTFUL = 0.1  # an α whose means are off by more is omitted
_FIRST, _LARGEST, _LEAST = 0.7, 0.9, 0.05  # shares of the way taken in a round
_STALLED = 0.9  # the error must fall to this share in a round, or rounds are shortened
_SLOWER, _FASTER = 0.8, 1.05
_SMALLEST_PART = 1e-3
_PRIOR = 0.5  # pseudo-counts per cell of the pilot
_UNIT = 2.0**-52
_MANY = 1e9  # rows of a tally are capped at this number
_TOLD = 1e-12  # outcomes with less information about every cell are omitted


@dataclass(frozen=True)
class Posterior:
    """The posterior of P, given tallies and the prior.

    Attributes
    ----------
    mean : array (k,)
    covariance : array (k, k)
    prior_rows : float
        Weight of the prior in rows: k times the mean of α given the tallies.
    """

    mean: Floats
    covariance: Floats
    prior_rows: float


def posterior(tallies: Sequence[Tally], alphas: Floats = ALPHAS) -> Posterior:
    """Return the posterior of P, by expectation propagation for each of ``alphas``.

    Parameters
    ----------
    tallies : sequence of Tally
        With at least one row in total.
    alphas : array (A,)
        In increasing order, equally spaced on a log scale.
    """
    k = tallies[0].channel.shape[0]
    if k == 1:
        return Posterior(np.ones(1), np.zeros((1, 1)), 0.0)
    factors = _Factors.of(tallies, alphas)
    middle = pilot(tallies)
    start = _start(factors, middle)
    factors = factors.scaled(start.tau[len(alphas) // 2])
    gaussians = _propagated(factors, start)
    if not (gaussians.off <= _DOUBTFUL).any():
        gaussians = start  # the pilot itself, with its curvature
    weights = _weights(gaussians, alphas, k)
    means, covariances = gaussians.cells(factors)
    mean = np.maximum(weights @ means, 0.0)
    mean /= mean.sum()
    apart = means - mean
    covariance = np.tensordot(weights, covariances, 1) + (apart.T * weights) @ apart
    return Posterior(mean, covariance, k * float(weights @ alphas))


# The factors


@dataclass(frozen=True)
class _Factors:
    """Factors t^(a − 1) of S numbers t = ⟨v, P⟩, for each of A values of α; the k cells come first.

    On the simplex P = 1/k + Bw with w of k − 1 coordinates, so that t = offset + rows·w.
    """

    alphas: Floats  # (A,)
    a: Floats  # (A, S)
    offset: Floats  # (S,)
    rows: Floats  # (S, k − 1)
    basis: Floats  # B, (k, k − 1)
    columns: Floats  # v of the outcomes, (k, S − k)

    @classmethod
    def of(cls, tallies: Sequence[Tally], alphas: Floats) -> _Factors:
        k = tallies[0].channel.shape[0]
        sample = np.zeros(k) + sum(tally.counts for tally in tallies if tally.is_sample)
        released = [tally for tally in tallies if not tally.is_sample]
        columns = np.concatenate([np.zeros((k, 0)), *(tally.channel for tally in released)], axis=1)
        counts = np.concatenate(
            [np.zeros(0), *(tally.counts * min(1.0, _MANY / max(tally.n, 1)) for tally in released)]
        )
        differ = np.ptp(columns, axis=0) / np.maximum(columns.max(axis=0), 1e-300)
        told = counts * differ**2 > _TOLD
        columns, counts = columns[:, told], counts[told]
        vectors = np.concatenate([np.eye(k), columns], axis=1)
        basis = np.linalg.qr(np.eye(k) - 1.0 / k)[0][:, : k - 1]
        a = np.concatenate(
            [alphas[:, None] + sample, np.broadcast_to(counts + 1, (len(alphas), len(counts)))], axis=1
        )
        return cls(alphas, a, vectors.mean(axis=0), vectors.T @ basis, basis, columns)

    @property
    def is_outcome(self) -> NDArray[np.bool_]:
        return np.arange(len(self.offset)) >= len(self.basis)

    def subset(self, index: NDArray[np.int64]) -> _Factors:
        """Select some values of α."""
        return replace(self, alphas=self.alphas[index], a=self.a[index])

    def scaled(self, tau: Floats) -> _Factors:
        """Rescale the coordinates w so that the precision for ``tau`` (S,) is near 1.

        Otherwise its scales differ by many orders of magnitude with millions of released rows and few public
        ones.
        """
        sizes, directions = np.linalg.eigh(self.precision(tau[None])[0])
        change = directions / np.sqrt(np.maximum(sizes, max(1.0, _UNIT * sizes[-1])))
        return replace(self, rows=self.rows @ change, basis=self.basis @ change)

    def precision(self, tau: Floats) -> Floats:
        """Return the precision of w: (A, k − 1, k − 1)."""
        return np.asarray((self.rows.T * tau[:, None, :]) @ self.rows)


@dataclass(frozen=True)
class _Gaussians:
    """The Gaussian approximations of the factors, the moments of their numbers, and the error; by α.

    An *expanded* factor uses the second-order expansion of its logarithm at the mean instead.
    """

    nu: Floats  # (A, S)
    tau: Floats
    expanded: NDArray[np.bool_]
    evidence: Floats  # (A,), logarithms
    off: Floats  # (A,)

    _names: ClassVar = ("nu", "tau", "expanded", "evidence", "off")

    def cells(self, factors: _Factors) -> tuple[Floats, Floats]:
        """Return means and covariances of P: (A, k), (A, k, k)."""
        k = len(factors.basis)
        covariance = np.linalg.inv(factors.precision(self.tau))
        right = (self.nu - self.tau * factors.offset) @ factors.rows
        mean = 1 / k + np.einsum("ij,ajl,al->ai", factors.basis, covariance, right, optimize=True)
        return mean, np.asarray(factors.basis @ covariance @ factors.basis.T)

    def subset(self, index: NDArray[np.int64]) -> _Gaussians:
        """Select some values of α."""
        return _Gaussians(**{name: getattr(self, name)[index] for name in self._names})

    def into(self, index: NDArray[np.int64], some: _Gaussians) -> _Gaussians:
        """Replace the entries for some values of α."""
        fields = {}
        for name in self._names:
            fields[name] = getattr(self, name).copy()
            fields[name][index] = getattr(some, name)
        return _Gaussians(**fields)


def _start(factors: _Factors, p: Floats) -> _Gaussians:
    """Expand every factor at the pilot, with the pilot's prior of half a row per cell."""
    k = len(factors.basis)
    numbers = np.concatenate([p, p @ factors.columns])
    powers = np.concatenate(
        [factors.a[:, :k] - factors.alphas[:, None] + _PRIOR, factors.a[:, k:] - 1], axis=1
    )
    none = np.zeros(powers.shape, dtype=np.bool_)
    nothing = np.zeros(len(powers))
    return _Gaussians(2 * powers / numbers, powers / numbers**2, none, nothing, nothing + np.inf)


# Rounds


def _propagated(factors: _Factors, gaussians: _Gaussians) -> _Gaussians:
    """Run rounds for all α at once, until each has settled."""
    length = np.full(len(factors.a), _FIRST)
    left = np.arange(len(factors.a))
    for _ in range(_MOST_ROUNDS):
        before = gaussians.subset(left)
        with np.errstate(all="ignore"):
            after = _round(factors.subset(left), before, length[left])
        change = np.where(after.off > _STALLED * before.off, _SLOWER, _FASTER)
        length[left] = np.clip(change * length[left], _LEAST, _LARGEST)
        gaussians = gaussians.into(left, after)
        left = left[after.off > _SETTLED]
        if not len(left):
            break
    return gaussians


def _round(factors: _Factors, now: _Gaussians, length: Floats) -> _Gaussians:
    """Replace every Gaussian by its factor in turn, and apply all results at once.

    If the other Gaussians alone do not determine the number of an outcome, its factor is expanded from then
    on. The factor of a cell keeps its Gaussian in that case, and α counts as not settled.
    """
    mean, variance, integral = _marginals(factors, now.nu, now.tau)
    others_nu, others_tau = mean / variance - now.nu, 1 / variance - now.tau
    held = has_peak(factors.a, others_nu, others_tau)
    expanded = (now.expanded | ~held) & factors.is_outcome & (mean > 0)
    used = held & ~expanded
    logs, tilted_mean, tilted_variance = moments(
        factors.a, np.where(used, others_nu, 0.0), np.where(used, others_tau, 1.0)
    )
    count, at = factors.a - 1, np.where(expanded, mean, 1.0)
    cases = [used, expanded]
    tau = np.select(cases, [1 / tilted_variance - others_tau, count / at**2], now.tau)
    nu = np.select(cases, [tilted_mean / tilted_variance - others_nu, 2 * count / at], now.nu)
    moved = np.maximum(np.abs(tilted_mean - mean) / np.sqrt(variance), np.abs(tilted_variance / variance - 1))
    off = np.select(cases, [moved, np.abs(tau - now.tau) * variance], np.inf)
    gaussian = np.log(2 * np.pi * variance) / 2 + mean**2 / (2 * variance)
    at_mean = count * np.log(at) - now.nu * at + now.tau * at**2 / 2
    evidence = integral + np.select(cases, [logs - gaussian, at_mean], 0.0).sum(axis=1)
    wanted = _Gaussians(nu, tau, expanded, evidence, off.max(axis=1))
    return _stepped(factors, now, wanted, length)


def _marginals(factors: _Factors, nu: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
    """Return means and variances of the numbers (A, S), and the log integral of the Gaussians (A,)."""
    precision = factors.precision(tau)
    covariance = np.linalg.inv(precision)
    right = (nu - tau * factors.offset) @ factors.rows
    w = np.einsum("aij,aj->ai", covariance, right)
    mean = factors.offset + w @ factors.rows.T
    variance = np.einsum("asi,si->as", factors.rows @ covariance, factors.rows)
    integral = (right * w).sum(axis=1) / 2 - np.linalg.slogdet(precision)[1] / 2
    integral += factors.rows.shape[1] / 2 * np.log(2 * np.pi)
    integral += (nu * factors.offset - tau * factors.offset**2 / 2).sum(axis=1)
    return mean, variance, integral


def _stepped(factors: _Factors, now: _Gaussians, wanted: _Gaussians, length: Floats) -> _Gaussians:
    """Take a partial step, shortened where the precision would not stay positive definite.

    If even a small step fails, or rounding spoiled the numbers, nothing changes and α is not settled.
    """
    part = length.copy()
    while True:
        nu = now.nu + part[:, None] * (wanted.nu - now.nu)
        tau = now.tau + part[:, None] * (wanted.tau - now.tau)
        refused = ~_positive(factors.precision(tau)) | ~np.isfinite(nu).all(axis=1)
        lost = refused & (part < _SMALLEST_PART)
        if not (refused & ~lost).any():
            break
        part[refused] /= 2
    stay = lost[:, None]
    return replace(
        wanted,
        nu=np.where(stay, now.nu, nu),
        tau=np.where(stay, now.tau, tau),
        off=np.where(lost | np.isnan(wanted.off), np.inf, wanted.off),
    )


def _positive(matrices: Floats) -> NDArray[np.bool_]:
    """Return the mask of positive definite matrices."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    matrices = np.where(finite[:, None, None], matrices, -np.eye(matrices.shape[-1]))
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(matrices)[..., 0] > 0)
    return np.ones(len(matrices), dtype=np.bool_)


def _weights(gaussians: _Gaussians, alphas: Floats, k: int) -> Floats:
    """Return the posterior probabilities of α: evidence times prior, for those that have settled."""
    from scipy.special import gammaln  # imported late, because it is slow

    logs = gaussians.evidence + gammaln(k * alphas) - k * gammaln(alphas)
    logs += 2 * np.log(alphas) - 4 * np.log1p(2 * alphas)  # the prior, of log α
    settled = gaussians.off <= _DOUBTFUL
    logs = np.where(settled, logs, -np.inf) if settled.any() else logs
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
