r"""Maximum likelihood given tallies, with a bound on the gap.

The log-likelihood :math:`L(P)=\sum_j\sum_y N_{jy}\ln (Q_j^\top P)_y` is concave. With its gradient G, and N
rows in all, :math:`\langle G,P\rangle=N`; so for every distribution R

.. math:: L(R) - L(P) \le \langle G, R-P\rangle \le \max_i G_i - N.

The right-hand side is the **gap** of P. Results have a small gap, or report the gap they have. A round of EM,
:math:`P_i \leftarrow P_iG_i/N`, never lowers L, but closes the gap slowly. Newton steps are therefore taken
between rounds of EM. See ``docs/theory.md``, 'Estimation'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rldp.theory.model import Floats
from rldp.theory.tallies import Tally

__all__ = ["Likeliest", "agreement", "iterative_bayesian_update", "maximum_likelihood"]

_GAP = 1e-6
_FIRST_ROUNDS = 10
_MOST_STEPS = 200
_INSIDE = 0.995  # share of the way to the boundary
_RANK = 1e-6  # smaller singular values count as zero
_UNIT = 2.0**-52
_LEAST = 1e-200  # smallest share, so that divisions by it stay finite


@dataclass(frozen=True)
class Likeliest:
    """A distribution that nearly maximises the likelihood of the tallies.

    Attributes
    ----------
    distribution : array (k,)
    gap : float
        Upper bound on the distance to the maximum of the log-likelihood, rounded up.
    steps : int
    """

    distribution: Floats
    gap: float
    steps: int


def maximum_likelihood(tallies: Sequence[Tally], *, gap: float = _GAP) -> Likeliest:
    """Return a distribution with a gap of at most ``gap``, if rounding permits.

    The Newton steps are those of a primal-dual interior-point method for max L(P) − N ΣP over P ≥ 0, whose
    solution sums to one. If many distributions are equally likely, it ends in the interior of their set.

    Parameters
    ----------
    tallies : sequence of Tally
        With at least one row in total.
    gap : float
        In units of the log-likelihood, for any number of rows.
    """
    game = _Problem.of(tallies)
    p = np.full(game.table.shape[0], 1.0 / game.table.shape[0])
    for _ in range(_FIRST_ROUNDS):
        p = game.em(p)
    best, steps = game.judged(p, _FIRST_ROUNDS), _FIRST_ROUNDS
    p = np.maximum(p, _LEAST)  # values that no outcome allows have share 0
    slack = np.maximum(game.n - game.gradient(p), 0.1 * game.n)
    while best.gap > max(gap, 2 * game.rounding) and steps < _MOST_STEPS:
        p, slack = game.newton(p, slack)
        steps += 1
        fit = game.judged(game.em(p), steps)
        best = fit if fit.gap < best.gap else best
    return best


@dataclass(frozen=True)
class _Problem:
    """All observed outcomes, concatenated: their columns (k, M), their counts, and N."""

    table: Floats
    counts: Floats
    n: float

    @classmethod
    def of(cls, tallies: Sequence[Tally]) -> _Problem:
        counts = np.concatenate([tally.counts for tally in tallies]).astype(np.float64)
        table = np.concatenate([tally.channel for tally in tallies], axis=1)
        return cls(np.ascontiguousarray(table[:, counts > 0]), counts[counts > 0], float(counts.sum()))

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of G: sums of k and M terms, each of few operations."""
        return 2 * _UNIT * (sum(self.table.shape) + 8) * self.n

    def at(self, p: Floats) -> Floats:
        return np.maximum(p @ self.table, 1e-300)

    def gradient(self, p: Floats) -> Floats:
        return np.asarray(self.table @ (self.counts / self.at(p)))

    def em(self, p: Floats) -> Floats:
        """Run one round of EM; the result sums to one."""
        raised = p * self.gradient(p)
        return np.asarray(raised / raised.sum())

    def judged(self, p: Floats, steps: int) -> Likeliest:
        largest = float(self.gradient(p).max())
        return Likeliest(
            p, max(0.0, largest - self.n) + 2 * _UNIT * (sum(self.table.shape) + 8) * largest, steps
        )

    def newton(self, p: Floats, slack: Floats) -> tuple[Floats, Floats]:
        """Take a step towards G = N − slack with p·slack = μ/10 for the current μ; both stay positive."""
        target = 0.1 * float(p @ slack) / len(p)
        at = self.at(p)
        gradient = self.table @ (self.counts / at)
        hessian = (self.table * (self.counts / at**2)) @ self.table.T
        residual = self.n - gradient - slack
        right = (target - p * slack) / p - residual
        scale = np.sqrt(p)  # the system for dp/√p: its diagonal p·H + slack does not grow where p is small
        system = scale[:, None] * hessian * scale
        system[np.diag_indices_from(system)] += slack
        move = scale * np.linalg.solve(system, scale * right)
        change = (target - p * slack - slack * move) / p
        return np.maximum(p + _length(p, move) * move, _LEAST), slack + _length(slack, change) * change


def _length(x: Floats, move: Floats) -> float:
    """Return the step length that keeps x positive."""
    falling = move < 0
    return min(1.0, _INSIDE * float((-x[falling] / move[falling]).min())) if falling.any() else 1.0


def iterative_bayesian_update(
    channel: Floats,
    counts: Floats,
    *,
    start: Floats | None = None,
    tolerance: float = 1e-6,
    by_sum: bool = True,
    most: int = 10_000,
) -> tuple[Floats, int]:
    r"""Run EM for one tally with the stopping rule of other libraries: stop when a round changes little.

    .. math:: P_i \leftarrow P_i\sum_y \frac{N_y}{N}\,\frac{Q(i,y)}{(Q^\top P)_y}

    This is for comparison. The stopping rule proves nothing. If several distributions explain the rows
    equally well, the result depends on the start.

    Parameters
    ----------
    channel : array (k, M)
    counts : array (M,)
    start : array (k,), optional
        Uniform by default.
    tolerance : float
        Stop after a round that changes P by less.
    by_sum : bool
        Whether the changes of all cells are summed, as in qif, or the largest counts, as in multi-freq-ldpy.
    most : int
        Largest number of rounds.

    Returns
    -------
    distribution : array (k,)
    rounds : int
    """
    k = channel.shape[0]
    shares = counts / counts.sum()
    p = np.full(k, 1.0 / k) if start is None else np.asarray(start, dtype=np.float64)
    size = np.sum if by_sum else np.max
    for rounds in range(1, most + 1):
        before, p = p, p * (channel @ (shares / np.maximum(p @ channel, 1e-300)))
        if size(np.abs(p - before)) < tolerance:
            return p, rounds
    return p, most


def agreement(tallies: Sequence[Tally]) -> float | None:
    r"""Return the p-value of the hypothesis that all tallies have one P, by the χ² law for many rows.

    The statistic is twice the difference between the log-likelihoods with a P for each tally and with one for
    all. The result is None if there is nothing to compare.
    """
    from scipy.special import chdtrc  # imported late, because it is slow

    if len(tallies) < 2:
        return None
    table = np.concatenate([tally.channel for tally in tallies], axis=1)
    ranks = [int(np.linalg.matrix_rank(tally.channel, tol=_RANK)) for tally in tallies]
    freedom = sum(ranks) - len(ranks) + 1 - int(np.linalg.matrix_rank(table, tol=_RANK))
    if freedom <= 0:
        return None
    joint = maximum_likelihood(tallies).distribution
    apart = [maximum_likelihood([tally]).distribution for tally in tallies]
    statistic = sum(
        2 * float(tally.counts @ (np.log(tally.at(own)) - np.log(tally.at(joint))))
        for tally, own in zip(tallies, apart, strict=True)
    )
    return float(chdtrc(freedom, max(statistic, 0.0)))
