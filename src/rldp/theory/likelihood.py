r"""The distribution that maximises the likelihood of tallies, with a bound on its gap.

The log-likelihood :math:`L(P)=\sum_j\sum_y N_{jy}\ln (Q_j^\top P)_y` is concave. With its gradient G, and N
rows in all, :math:`\langle G,P\rangle=N`; so for every distribution R

.. math:: L(R) - L(P) \le \langle G, R-P\rangle \le \max_i G_i - N.

The right-hand side is the **gap** of P. What is returned has a small gap, or says which it has. A round of
EM, :math:`P_i \leftarrow P_iG_i/N`, never lowers L, but closes the gap slowly; so between rounds of EM come
Newton steps. See ``docs/theory.md``, 'Estimation'.
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
_INSIDE = 0.995  # of the way to the nearest cell without mass
_RANK = 1e-6  # smaller singular values count as zero
_UNIT = 2.0**-52
_LEAST = 1e-200  # of a share, so that what is divided by it stays finite


@dataclass(frozen=True)
class Likeliest:
    """A distribution that makes the tallies about as likely as any does.

    Attributes
    ----------
    distribution : array (k,)
    gap : float
        No distribution has a log-likelihood larger by more than this; rounded up.
    steps : int
    """

    distribution: Floats
    gap: float
    steps: int


def maximum_likelihood(tallies: Sequence[Tally], *, gap: float = _GAP) -> Likeliest:
    """Return a distribution whose gap is at most ``gap``, if rounding allows that.

    Newton steps are those of a primal-dual interior-point method for max L(P) − N ΣP over P ≥ 0, whose
    solution sums to one. Where many distributions are equally likely, it ends well inside of them all.

    Parameters
    ----------
    tallies : sequence of Tally
        With at least one row together.
    gap : float
        In units of the log-likelihood, whatever the number of rows.
    """
    game = _Problem.of(tallies)
    p = np.full(game.table.shape[0], 1.0 / game.table.shape[0])
    for _ in range(_FIRST_ROUNDS):
        p = game.em(p)
    best, steps = game.judged(p, _FIRST_ROUNDS), _FIRST_ROUNDS
    p = np.maximum(p, _LEAST)  # a value that no outcome allows has lost its share
    slack = np.maximum(game.n - game.gradient(p), 0.1 * game.n)
    while best.gap > max(gap, 2 * game.rounding) and steps < _MOST_STEPS:
        p, slack = game.newton(p, slack)
        steps += 1
        fit = game.judged(game.em(p), steps)
        best = fit if fit.gap < best.gap else best
    return best


@dataclass(frozen=True)
class _Problem:
    """All outcomes that occurred, side by side: their columns (k, M), how often they did, and N."""

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
        """One round of EM; the result sums to one."""
        raised = p * self.gradient(p)
        return np.asarray(raised / raised.sum())

    def judged(self, p: Floats, steps: int) -> Likeliest:
        largest = float(self.gradient(p).max())
        return Likeliest(
            p, max(0.0, largest - self.n) + 2 * _UNIT * (sum(self.table.shape) + 8) * largest, steps
        )

    def newton(self, p: Floats, slack: Floats) -> tuple[Floats, Floats]:
        """One step towards G = N − slack with p·slack = μ, a tenth of what it is; both stay positive."""
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
    """How far to go, so that x stays positive."""
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
    r"""EM of one tally, stopped as other libraries stop it: when a round hardly moves anything.

    .. math:: P_i \leftarrow P_i\sum_y \frac{N_y}{N}\,\frac{Q(i,y)}{(Q^\top P)_y}

    For comparison. The rule of stopping proves nothing; where several distributions explain the rows equally
    well, the start decides which of them is found.

    Parameters
    ----------
    channel : array (k, M)
    counts : array (M,)
    start : array (k,), optional
        Uniform by default.
    tolerance : float
        A round that moves P by less is the last.
    by_sum : bool
        Whether moves of all cells are summed up, as in qif, or the largest counts, as in multi-freq-ldpy.
    most : int
        Rounds, at most.

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
    r"""How likely it is that tallies of one P differ as much as these, by the χ² law of many rows.

    Twice the difference between the log-likelihoods with a P for each tally and with one for all. None where
    there is nothing to compare.
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
