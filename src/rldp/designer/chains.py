r"""Design of chains: several columns, one after the other, each given what is already out.

Every stage is a batch of ordinary problems, one for each context c = y_<j. In a context the set of
distributions is a ball around the posterior mean given c. Its radius is t² over the number of rows that the
context is worth (``docs/theory.md``, 'Chains'). One t serves all contexts and stages. It is about the
smallest that keeps the posterior probability of a leakage above ε at α, *for the whole row*, so that the
slack of one stage helps another. The order of the columns, the split of ε and t are searched for with draws
that the proof does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rldp.designer.certify import CertifiedBatch
from rldp.designer.risks import Risk, by_looks
from rldp.errors import RldpError
from rldp.sets import Credible
from rldp.theory import chains
from rldp.theory.dirichlet import conditional_blocks, conditionals, posterior_mean
from rldp.theory.model import Ball, DesignProblem, Floats

__all__ = ["ChainProblem", "Plan", "SolvedChain", "solve_chain"]

Solve = Callable[[DesignProblem, float], CertifiedBatch]

_ROUGH_GAP = 1e-2  # of designs that are compared, not released
_SEARCH_DRAWS = 4000
_SEARCH_NUMBERS = 2**25  # cells times draws of the search
_FIRST_T = 2.5
_STEPS = 6  # of the search for t, at most
_CLOSE = 0.02  # t is found to this share of itself
_FARTHEST = 0.7  # by which log t is moved at once
_RATIOS = (1.6, 1.0, 2.8)  # ε of a stage over that of the stage before
_FINE = 2000  # cells; above, columns are taken in the order of their sizes
_USUAL_SLOPE = 0.5  # by how much the leakage falls where log t grows by one; measured, a start for the secant
_UNITS = 2**45  # what a context's law is counted in
_LARGER = 0.05  # by how much t grows where fresh draws do not prove it
_MOST_TRIALS = 12


@dataclass(frozen=True)
class ChainProblem:
    """What a chain is designed for.

    Attributes
    ----------
    counts : int array (|S|, |U|)
        Of the values of all columns, in the order of :func:`itertools.product`.
    values : tuple of int
        |U_j| of every column.
    distortions : tuple of array (|U_j|, |Y_j|)
        Of every column, times its weight.
    epsilon : float
        Of the whole row.
    promise : Credible
    """

    counts: NDArray[np.int64]
    values: tuple[int, ...]
    distortions: tuple[Floats, ...]
    epsilon: float
    promise: Credible

    @cached_property
    def mean(self) -> Floats:
        """P(s, u) given the counts: (|S|, |U|)."""
        return posterior_mean(self.counts, self.promise.prior)

    @cached_property
    def search_draws(self) -> Floats:
        """Conditionals (draws, |S|, |U|) that the search may look at as often as it likes."""
        draws = max(1, min(_SEARCH_DRAWS, _SEARCH_NUMBERS // self.counts.size))
        drawn = conditionals(self.counts, prior=self.promise.prior, draws=draws, seed=self.promise.seed)
        return np.ascontiguousarray(np.moveaxis(drawn, -1, 0))

    def arranged(self, order: Sequence[int]) -> ChainProblem:
        """The same with its columns in another order."""
        places = np.arange(prod(self.values)).reshape(self.values).transpose(order).ravel()
        arranged = replace(
            self,
            counts=self.counts[:, places],
            values=tuple(self.values[j] for j in order),
            distortions=tuple(self.distortions[j] for j in order),
        )
        arranged.__dict__["mean"] = self.mean[:, places]
        arranged.__dict__["search_draws"] = self.search_draws[:, :, places]
        return arranged


@dataclass(frozen=True)
class Plan:
    """The order of the columns, and each stage's share of ε."""

    order: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, order: Sequence[int], ratio: float) -> Plan:
        """With shares that grow by ``ratio`` from stage to stage: the last stage decides most."""
        weights = ratio ** np.arange(len(order))
        return cls(tuple(order), tuple((weights / weights.sum()).tolist()))


@dataclass(frozen=True)
class SolvedChain:
    """A chain whose stages stand in the order of its plan.

    Attributes
    ----------
    plan : Plan
    t : float
        The size of the sets.
    tables : tuple of array (C_j, |S|, |U_j|, |Y_j|)
        On the grid.
    costs : array (columns,)
        Expected distortion of every stage's column at the posterior mean, times its weight.
    """

    plan: Plan
    t: float
    tables: tuple[Floats, ...]
    costs: Floats

    @property
    def cost(self) -> float:
        return float(self.costs.sum())


def solve_chain(
    problem: ChainProblem, gap: float, solve: Solve, order: Sequence[int] | None = None
) -> SolvedChain:
    """The chain with the smallest distortion among those tried, proved by fresh draws.

    Parameters
    ----------
    problem : ChainProblem
    gap : float
        Of the design in every context.
    solve : callable (DesignProblem, gap) → CertifiedBatch
    order : sequence of int, optional
        Of the columns; searched for by default.
    """
    risk = Risk("privacy", problem.promise, problem.counts.size)
    target = float(ndtr(-risk.target))
    candidate = _searched(problem, solve, target, order)
    arranged = problem.arranged(candidate.plan.order)
    chain = _calibrated(arranged, candidate, solve, gap, target)
    for trial in range(_MOST_TRIALS):
        if _is_proved(chain.tables, arranged, risk, trial):
            return chain
        chain = _designed(arranged, chain.plan, chain.t * (1 + _LARGER * 2.0**trial), solve, gap)
    raise RldpError(f"no chain was found that keeps the posterior risk at alpha, in {_MOST_TRIALS} designs")


def _is_proved(tables: Sequence[Floats], problem: ChainProblem, risk: Risk, trial: int) -> bool:
    """Whether draws that nothing has seen prove that whole rows keep the promise."""
    promise = problem.promise

    def count(_: NDArray[np.int64], draws: int, stream: int) -> NDArray[np.int64]:
        blocks = conditional_blocks(
            problem.counts, prior=promise.prior, draws=draws, seed=promise.seed, stream=stream
        )
        failed = (chains.failures(tables, problem.epsilon, np.moveaxis(block, -1, 0)) for block in blocks)
        return np.array([[sum(failed)]])

    return bool(by_looks([risk], 1, count, trial)[0].all())


@dataclass(frozen=True)
class _Candidate:
    """A plan, the t that it seems to need, and what it would cost."""

    plan: Plan
    t: float
    cost: float


def _searched(problem: ChainProblem, solve: Solve, target: float, order: Sequence[int] | None) -> _Candidate:
    """The best of a few plans: first the order, then the split of ε."""
    orders = [tuple(order)] if order is not None else _orders(problem)
    tried = [_estimated(problem, Plan.of(orders[0], _RATIOS[0]), _FIRST_T, solve, target)]
    for other in orders[1:]:
        tried.append(_estimated(problem, Plan.of(other, _RATIOS[0]), tried[0].t, solve, target))
    best = min(tried, key=lambda candidate: candidate.cost)
    others = [_estimated(problem, Plan.of(best.plan.order, r), best.t, solve, target) for r in _RATIOS[1:]]
    return min([best, *others], key=lambda candidate: candidate.cost)


def _estimated(problem: ChainProblem, plan: Plan, t: float, solve: Solve, target: float) -> _Candidate:
    """What a plan needs and costs, by the line through two rough designs."""
    arranged = problem.arranged(plan.order)
    points: list[tuple[float, float]] = []
    costs = []
    for _ in range(2):
        chain = _designed(arranged, plan, t, solve, _ROUGH_GAP)
        points.append((np.log(t), _exceeded(chain.tables, arranged, target) - problem.epsilon))
        costs.append(chain.cost)
        t = _root(points)
    (x0, _), (x1, _) = points
    slope = (costs[1] - costs[0]) / (x1 - x0)
    return _Candidate(plan, t, costs[1] + slope * (np.log(t) - x1))


def _orders(problem: ChainProblem) -> list[tuple[int, ...]]:
    """Small columns first, which is best more often than not, and the same with two neighbours swapped."""
    by_size = sorted(range(len(problem.values)), key=lambda j: problem.values[j])
    swapped = range(len(by_size) - 1) if problem.counts.size <= _FINE else ()
    others = ((*by_size[:j], by_size[j + 1], by_size[j], *by_size[j + 2 :]) for j in swapped)
    return [tuple(by_size), *others]


def _calibrated(
    problem: ChainProblem, candidate: _Candidate, solve: Solve, gap: float, target: float
) -> SolvedChain:
    """The chain of a plan with about the smallest t whose risk on the draws of the search is ``target``."""
    t, points = candidate.t, []
    for _ in range(_STEPS):
        t *= 1 + _CLOSE / 2
        chain = _designed(problem, candidate.plan, t, solve, gap)
        points.append((np.log(t), _exceeded(chain.tables, problem, target) - problem.epsilon))
        root = _root(points)
        if points[-1][1] <= 0 and t <= root * (1 + _CLOSE):
            break
        t = root
    return chain


def _root(points: Sequence[tuple[float, float]]) -> float:
    """Where a share of the draws exceeds just ε: the leakage falls nearly linearly with log t."""
    x, excess = points[-1]
    slope = -_USUAL_SLOPE
    if len(points) > 1 and points[-2][0] != x:
        slope = min((excess - points[-2][1]) / (x - points[-2][0]), -_USUAL_SLOPE / 4)
    return float(np.exp(x - np.clip(excess / slope, -_FARTHEST, _FARTHEST)))


def _exceeded(tables: Sequence[Floats], problem: ChainProblem, share: float) -> float:
    """The leakage that a share of the draws of the search exceeds."""
    leakages = chains.leakages(tables, problem.search_draws)
    return float(np.quantile(leakages, 1 - share, method="higher"))


def _designed(problem: ChainProblem, plan: Plan, t: float, solve: Solve, gap: float) -> SolvedChain:
    """The stages of a plan with sets of size t; the problem's columns are in the order of the plan."""
    masses = problem.mean.sum(axis=1)
    rows = problem.counts.sum(axis=1)
    weights = problem.mean / masses[:, None]
    tables: list[Floats] = []
    for share, d in zip(plan.shares, problem.distortions, strict=True):
        given = _per_context(weights, tables, problem.values)  # (S, C, U_j)
        squares = _per_context(weights, [table**2 for table in tables], problem.values).sum(axis=-1)
        reached = given.sum(axis=-1)  # (S, C)
        worth = np.divide(rows[:, None] * reached**2, squares, out=np.zeros_like(reached), where=squares > 0)
        joint = np.moveaxis(masses[:, None, None] * given, 1, 0)  # (C, S, U_j)
        tables.append(_stage(joint, share * problem.epsilon, d, t**2 / worth.sum(axis=0), solve, gap))
    costs = chains.expected_distortions(tables, problem.distortions, problem.mean)
    return SolvedChain(plan, t, tuple(tables), costs)


def _per_context(weights: Floats, tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    """Weights of every context and value of the next column: (|S|, C, |U_j|)."""
    found = chains.contexts(weights, tables, values)
    return np.asarray(found.reshape(*found.shape[:2], values[len(tables)], -1).sum(axis=-1))


def _stage(joint: Floats, epsilon: float, d: Floats, radius: Floats, solve: Solve, gap: float) -> Floats:
    """A table for every context (C, |S|, |U_j|, |Y_j|); where nobody gets to, the best constant."""
    count, secrets, values = joint.shape
    mass = joint.sum(axis=(1, 2))
    best = int(np.argmin(joint.sum(axis=(0, 1)) @ d))
    tables = np.zeros((count, secrets, values, d.shape[1]))
    tables[..., best] = 1.0
    reached = np.flatnonzero(mass * d.max() > gap * d.max() / (100 * count))
    law = joint[reached] / mass[reached, None, None]
    problem = DesignProblem(
        np.rint(law * _UNITS).astype(np.int64),
        np.full(len(reached), epsilon),
        d,
        Ball.of_radius(1.0, radius[reached]),
        None,
    )
    tables[reached] = solve(problem, gap).matrix
    return tables
