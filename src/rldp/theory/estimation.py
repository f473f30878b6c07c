r"""Estimation of linear functionals of P from released rows and a public sample, on arrays.

A *tally* counts independent rows by outcome: rows with cell i (a pair of secret and value) have outcome y
with probability :math:`Q(i,y)`, the tally's **channel**. Released rows, released rows beside known secrets
and a public sample are tallies; the channel of a sample is the identity. All rows have the same distribution
P on the k cells. For weights g with :math:`\sum_j Q_j g_j = a`,

.. math:: \hat\theta = \sum_j \frac{1}{N_j}\sum_{i\le N_j} g_j(Y_{ji}),\qquad
          E\,\hat\theta = \sum_j \langle P, Q_j g_j\rangle = \langle a, P\rangle = \theta .

The weights of least variance depend on P. Here they are computed from other rows than those they are applied
to, so that the expectation stays exact. See ``docs/theory.md``, 'Estimation'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.betting import split
from rldp.theory.binomial import lower_probability, upper_probability
from rldp.theory.likelihood import maximum_likelihood
from rldp.theory.model import Floats
from rldp.theory.tallies import Tally

__all__ = [
    "UnbiasedEstimates",
    "allowed",
    "identified",
    "least_variance",
    "on_simplex",
    "outcome_limits",
    "pilot",
    "row_space",
    "rows_worth",
    "shrunk",
    "unbiased",
]

_FOLDS = 10
_PRIOR = 0.5  # pseudo-counts per cell of a pilot
# pseudo-counts per outcome in the law of a tally, so that an unseen outcome has a positive variance
_PRETENDED = 0.5
_ROUGHLY = 0.01  # largest gap of a pilot's log-likelihood, in nats
_RANK = 1e-6  # relative to the largest singular value: smaller ones count as zero
_FEASIBLE = 1e-9  # tolerance for the limits of outcomes in a linear program


# Identifiable functionals


def row_space(tallies: Sequence[Tally]) -> Floats | None:
    """Return an orthonormal basis (k, r) of the identifiable functionals; None if all are identifiable."""
    if any(tally.is_sample for tally in tallies):
        return None
    left, sizes, _ = np.linalg.svd(np.concatenate([tally.channel for tally in tallies], axis=1))
    rank = int(np.count_nonzero(sizes > _RANK * sizes[0]))
    return None if rank == len(left) else np.ascontiguousarray(left[:, :rank])


def identified(basis: Floats | None, a: Floats) -> NDArray[np.bool_]:
    """Return whether the laws of the outcomes determine each functional of a (k, m): (m,)."""
    if basis is None:
        return np.ones(a.shape[1], dtype=np.bool_)
    rest = a - basis @ (basis.T @ a)
    return np.asarray(np.abs(rest).max(axis=0) <= _RANK * np.abs(a).max(axis=0))


def outcome_limits(tallies: Sequence[Tally], alpha: float) -> list[tuple[Floats, Floats]]:
    """Return limits on the probabilities of all outcomes that hold jointly with probability at least 1 − α.

    These are Clopper–Pearson limits, each at level α over twice the number of outcomes. They hold for every
    number of rows and every P.
    """
    share = alpha / (2 * sum(tally.channel.shape[1] for tally in tallies))
    return [
        (lower_probability(tally.counts, tally.n, share), upper_probability(tally.counts, tally.n, share))
        for tally in tallies
    ]


def allowed(
    tallies: Sequence[Tally], limits: Sequence[tuple[Floats, Floats]], a: Floats
) -> tuple[Floats, Floats] | None:
    r"""Return the extremes of :math:`\langle a, P\rangle` under limits on the outcomes, by linear programs.

    .. math:: \min / \max\ \langle a,P\rangle\quad\text{over } P\ge 0,\ \textstyle\sum P = 1,\
              l_j \le Q_j^\top P \le u_j\ \text{for all } j.

    Parameters
    ----------
    limits : sequence of (array (M,), array (M,))
        :math:`l_j` and :math:`u_j` of each tally.
    a : array (k, m)

    Returns
    -------
    lower, upper : array (m,), or None if no P satisfies all limits
    """
    from scipy.optimize import linprog  # imported late, because it is slow

    table = np.concatenate([tally.channel for tally in tallies], axis=1).T
    lower = np.concatenate([low for low, _ in limits]) - _FEASIBLE
    upper = np.concatenate([high for _, high in limits]) + _FEASIBLE
    rows, bounds = np.concatenate([table, -table]), np.concatenate([upper, -lower])
    total = np.ones((1, len(a)))
    ends = np.empty((2, a.shape[1]))
    for functional in range(a.shape[1]):
        for end, sign in enumerate((1.0, -1.0)):
            program = linprog(sign * a[:, functional], rows, bounds, total, [1.0], method="highs")
            if program.status == 2:
                return None
            best = sign * program.fun if program.status == 0 else sign * (sign * a[:, functional]).min()
            ends[end, functional] = best
    return ends[0], ends[1]


def rows_worth(tallies: Sequence[Tally], p: Floats) -> float:
    r"""Return the size of a sample that estimates no functional better than the tallies, if P is ``p``.

    A sample of n rows has the information :math:`n\,\mathrm{diag}(p)^{-1}`. The information F of the tallies
    is at least as large in every direction if n is at most the smallest eigenvalue of
    :math:`\mathrm{diag}(p)^{1/2}F\,\mathrm{diag}(p)^{1/2}`.
    """
    scale = np.sqrt(p)[:, None]
    return float(np.linalg.eigvalsh(scale * _information(tallies, p) * scale.T)[0])


# Weights


def pilot(tallies: Sequence[Tally]) -> Floats:
    """Return a positive P (k,) that fits the tallies well enough to choose weights.

    It is close to the posterior mode under a prior of half a row per cell.
    """
    k = tallies[0].channel.shape[0]
    prior = Tally(np.eye(k), np.full(k, _PRIOR), is_sample=True)
    return maximum_likelihood([prior, *tallies], gap=_ROUGHLY).distribution


def least_variance(tallies: Sequence[Tally], basis: Floats | None, p: Floats, a: Floats) -> list[Floats]:
    r"""Return weights g with :math:`\sum_j Q_j g_j = a` and the least variance if P is ``p``: M×m arrays.

    With :math:`F=\sum_j N_j Q_j\,\mathrm{diag}(Q_j^\top p)^{-1}Q_j^\top`, and λ a solution of :math:`F\lambda
    = a-\langle a,p\rangle 1`, they are :math:`g_j = N_j\,\mathrm{diag}(Q_j^\top p)^{-1}Q_j^\top\lambda + c_j`
    with any constants that sum to :math:`\langle a,p\rangle`. The first tally gets the constant. If it is a
    sample, its weights are a minus the contributions of the others, so that the weights sum to a for any
    rounding of λ.

    Parameters
    ----------
    basis : array (k, r) or None
        Basis of the identifiable functionals, whose span must contain ``a``.
    p : array (k,), positive
    a : array (k, m)
    """
    theta = p @ a
    multipliers = _solved(_information(tallies, p), basis, a - theta)
    weights = [(tally.n / tally.at(p))[:, None] * (tally.channel.T @ multipliers) for tally in tallies]
    first, *others = tallies
    if first.is_sample:
        weights[0] = a - sum(t.channel @ g for t, g in zip(others, weights[1:], strict=True))
    else:
        weights[0] = weights[0] + theta
    return weights


def _information(tallies: Sequence[Tally], p: Floats) -> Floats:
    """Return F, the Fisher information of the tallies about the cells: (k, k)."""
    factors = [tally.n / tally.at(p) for tally in tallies]
    parts = [
        np.diag(factor) if tally.is_sample else (tally.channel * factor) @ tally.channel.T
        for tally, factor in zip(tallies, factors, strict=True)
    ]
    return np.asarray(sum(parts))


def _solved(information: Floats, basis: Floats | None, right: Floats) -> Floats:
    """Solve Fλ = right in the span of the basis; rows and columns are scaled first."""
    if basis is not None:
        information, right = basis.T @ information @ basis, basis.T @ right
    scale = 1 / np.sqrt(np.diag(information))
    scaled = scale[:, None] * information * scale
    try:
        solution = scale[:, None] * np.linalg.solve(scaled, scale[:, None] * right)
    except np.linalg.LinAlgError:
        solution = scale[:, None] * np.linalg.lstsq(scaled, scale[:, None] * right)[0]
    return np.asarray(solution if basis is None else basis @ solution)


@dataclass(frozen=True)
class UnbiasedEstimates:
    """Estimates of m functionals.

    Attributes
    ----------
    values : array (m,)
    covariance : array (m, m)
        Estimated from the rows.
    skewness : array (m,)
        Third central moments of the values, estimated from the rows.
    """

    values: Floats
    covariance: Floats
    skewness: Floats

    def limits(self, alpha: float) -> tuple[Floats, Floats]:
        r"""Return the ends of normal intervals with a correction for skewness: (m,), (m,).

        The interval is the set of θ with :math:`(\hat\theta-\theta)^2\le
        z^2\big(V+\tfrac{\kappa_3}{V}(\theta-\hat\theta)\big)`, where z is the normal quantile, V the variance
        and κ₃ the third moment. The variance of rare outcomes grows with their mean, so V is taken to change
        with θ. For the share of an outcome this is Wilson's interval up to terms of order 1/N.
        """
        from scipy.special import ndtri

        z = -float(ndtri(alpha / 2))
        variance = np.maximum(np.diag(self.covariance), 0.0)
        slope = np.divide(self.skewness, variance, out=np.zeros_like(variance), where=variance > 0)
        middle = self.values + z**2 * slope / 2
        half = np.sqrt((z**2 * slope / 2) ** 2 + z**2 * variance)
        return middle - half, middle + half


def unbiased(
    tallies: Sequence[Tally], basis: Floats | None, a: Floats, rng: np.random.Generator
) -> UnbiasedEstimates:
    r"""Return the cross-fitted estimate of :math:`\langle a,P\rangle`, exactly unbiased, and its covariance.

    Every tally is split at random into the same number of folds, at most ten. The weights for a fold are
    those of least variance at a :func:`pilot` of the other folds, and the estimate is the mean over the
    folds. Given the other folds a fold's estimate is unbiased, so the mean is unbiased for every P and every
    number of rows. If a tally has a single row, the weights are those for a uniform P.

    Parameters
    ----------
    tallies : sequence of Tally
        Each with a row; a sample comes first.
    basis : array (k, r) or None
        From :func:`row_space`.
    a : array (k, m)
        Identifiable functionals.

    Returns
    -------
    UnbiasedEstimates
    """
    folds = min(_FOLDS, *(tally.n for tally in tallies))
    if folds < 2:
        parts, pilots = [tally.counts[None] for tally in tallies], [np.full(len(a), 1.0 / len(a))]
    else:
        shares = np.arange(1, folds + 1) / folds
        parts = [split(tally.counts[None], shares, rng)[0] for tally in tallies]
        pilots = [
            pilot([t.with_counts(t.counts - part[fold]) for t, part in zip(tallies, parts, strict=True)])
            for fold in range(folds)
        ]
    m = a.shape[1]
    values, covariance, skewness = np.zeros(m), np.zeros((m, m)), np.zeros(m)
    for fold, p in enumerate(pilots):
        weights = least_variance(tallies, basis, p, a)
        for tally, part, g in zip(tallies, parts, weights, strict=True):
            values += part[fold] @ g / part[fold].sum()
            centred = g - _law(tally, tally.counts, p) @ g
            law = _law(tally, part[fold], p)  # from rows that were not used for g, so that V is not too small
            covariance += (centred.T * law) @ centred / tally.n
            skewness += law @ centred**3 / tally.n**2
    return UnbiasedEstimates(values / len(pilots), covariance / len(pilots), skewness / len(pilots))


def _law(tally: Tally, counts: NDArray[np.int64], p: Floats) -> Floats:
    """Return the shares of outcomes among some rows, with pseudo-counts spread according to a pilot."""
    pretended = _PRETENDED * tally.channel.shape[1] * counts.sum() / tally.n
    return np.asarray((counts + pretended * tally.at(p)) / (counts.sum() + pretended))


def on_simplex(shares: Floats) -> Floats:
    """Return the distribution nearest to ``shares`` (m,), in Euclidean distance."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(shares - excess[kept], 0.0))


def shrunk(shares: Floats, covariance: Floats) -> Floats:
    r"""Shrink shares towards equal ones as far as their errors suggest; they are non-negative and sum to 1.

    This is the James–Stein estimate in Bock's form: with :math:`d=\hat\theta-1/m`, the share :math:`\min(1,
    (\mathrm{tr} V/\lambda_{\max}(V)-2)_+/d^\top V^+d)` of d is subtracted. For normal errors of covariance V
    its mean squared error never exceeds that of :math:`\hat\theta`. Negative shares are then set to 0 and the
    others scaled. This last step was chosen among four by simulation. It does well if the truth is spread
    out, and worse than a projection if most people share few values.

    Parameters
    ----------
    shares : array (m,)
        They sum to one.
    covariance : array (m, m)
    """
    sizes, directions = np.linalg.eigh(covariance)
    used = sizes > _RANK**2 * max(sizes[-1], 0.0)
    excess = float(sizes[used].sum() / sizes[-1]) - 2 if used.any() else 0.0
    middle = np.full(len(shares), 1.0 / len(shares))
    distance = shares - middle
    length = float(((directions[:, used].T @ distance) ** 2 / sizes[used]).sum())
    if excess <= 0 or length == 0:
        return on_simplex(shares)
    kept = np.maximum(middle + max(0.0, 1 - excess / length) * distance, 0.0)
    return np.asarray(kept / kept.sum())
