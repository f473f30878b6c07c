r"""Design chains: several columns, one after the other, each given the outputs so far.

Every stage is a batch of ordinary problems, one for each context c = y_<j. In a context, the set of
distributions is a ball around the posterior mean given c. Its radius is t² over the number of rows that the
context is worth (``docs/theory.md``, 'Chains'). One t serves all contexts and stages. It is about the
smallest t for which the posterior probability of a leakage above ε is at most α *for whole rows*, so the
slack of one stage helps another. The order of the columns, the split of ε and t are chosen with draws that
the proof does not use.

The first stages may be fixed: kept columns, and outputs that are already published. Their tables are given,
and the later stages get the rest of ε: for every context c of fixed stages and pair of secrets, ε − log
P(c|s)/P(c|s′) at the posterior mean, less a margin for the uncertainty of that ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rldp._common.process import on_every_core, one_blas_thread
from rldp.designer.certify import CertifiedBatch
from rldp.designer.engine.settings import Settings
from rldp.designer.risks import Risk, by_looks
from rldp.errors import InvalidArgument
from rldp.sets import Credible
from rldp.theory import chains
from rldp.theory.arrays import ordered_pairs
from rldp.theory.dirichlet import conditional_parts, conditionals, posterior_mean
from rldp.theory.model import Ball, DesignProblem, Floats

__all__ = ["ChainProblem", "Plan", "SolvedChain", "counted", "solve_chain"]

Solve = Callable[[DesignProblem, float], CertifiedBatch]

_UNITS = 2**45  # what a context's law is counted in: whole numbers that floats can add
_FEWEST = 1e-9  # rows, so that no radius is infinite
_BELOW = 1 - 1e-7  # of κ is shared out, so that rounded shares do not add up to more


@dataclass(frozen=True)
class ChainProblem:
    """The design problem of a chain.

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
    fixed : tuple of array (C_j, |S|, |U_j|, |Y_j|)
        Tables of the first columns, which are not designed.
    known : int
        The number of combinations of the first columns that readers know; 1 if they know none.
    noise : float, optional
        The level of the noise on the counts; ``noisy_counts`` are then the published counts, and ``counts``
        the same with zeros for negative ones.
    epsilon_known : float
        κ, of the whole row, shared out to the stages as ε is.
    settings : Settings
        With those of the search.
    """

    counts: NDArray[np.int64]
    values: tuple[int, ...]
    distortions: tuple[Floats, ...]
    epsilon: float
    promise: Credible
    fixed: tuple[Floats, ...] = ()
    known: int = 1
    noise: float | None = None
    noisy_counts: NDArray[np.int64] | None = None
    epsilon_known: float = math.inf
    settings: Settings = field(default_factory=Settings)

    @property
    def published(self) -> NDArray[np.int64]:
        """The counts for the posterior."""
        return self.counts if self.noisy_counts is None else self.noisy_counts

    @cached_property
    def mean(self) -> Floats:
        """P(s, u) given the counts: (|S|, |U|)."""
        return posterior_mean(self.published, self.promise.prior, self.noise)

    @cached_property
    def search_draws(self) -> Floats:
        """Conditionals (draws, |S|, |U|) for the search, which the proof does not use."""
        draws = max(1, min(self.settings.chain_draws, self.settings.chain_numbers // self.counts.size))
        drawn = conditionals(
            self.published,
            prior=self.promise.prior,
            draws=draws,
            seed=self.promise.seed,
            noise=self.noise,
        )
        return np.ascontiguousarray(np.moveaxis(drawn, -1, 0))

    @property
    def free(self) -> range:
        """The numbers of the designed columns."""
        return range(len(self.fixed), len(self.values))

    @cached_property
    def conditional_mean(self) -> Floats:
        """P(u|s) given the counts: (|S|, |U|)."""
        return np.asarray(self.mean / self.mean.sum(axis=1, keepdims=True))

    def levels(self, t: float) -> Floats:
        """The part of ε that fixed stages leave for the others, by context and pair of secrets: (C, T).

        It may be negative. The margin keeps the law of the contexts safe; half of it and twice as much cost
        the same.
        """
        law = chains.contexts(self.conditional_mean, self.fixed, self.values).sum(axis=-1)  # P(c|s): (S, C)
        first, second = ordered_pairs(len(law)).T
        unsure = np.zeros_like(law)
        if law.shape[1] != self.known:  # readers do not know all that the contexts tell
            rows = self.counts.sum(axis=1)[:, None]
            unsure = 1 / np.maximum(self.worth(self.fixed), _FEWEST) - 1 / np.maximum(rows, _FEWEST)
        margin = t * np.sqrt(np.maximum(unsure[first] + unsure[second], 0)).T  # t standard errors
        left: Floats = self.epsilon - chains.log_ratios(law, self.known) - margin
        return left

    @property
    def least_level(self) -> float:
        """The smallest level that contexts are designed for, however little of ε is left there."""
        return min(self.settings.smallest_epsilon, self.epsilon)

    def worth(self, tables: Sequence[Floats]) -> Floats:
        """The number of rows that every context is worth: (|S|, C)."""
        weights = self.conditional_mean
        squares = _per_context(weights, [table**2 for table in tables], self.values).sum(axis=-1)
        reached = _per_context(weights, tables, self.values).sum(axis=-1)
        rows = self.counts.sum(axis=1)[:, None]
        worth: Floats = np.divide(rows * reached**2, squares, out=np.zeros_like(reached), where=squares > 0)
        return worth

    def arranged(self, order: Sequence[int]) -> ChainProblem:
        """Return the problem with its columns in another order."""
        places = np.arange(prod(self.values)).reshape(self.values).transpose(order).ravel()
        arranged = replace(
            self,
            counts=self.counts[:, places],
            values=tuple(self.values[j] for j in order),
            distortions=tuple(self.distortions[j] for j in order),
            noisy_counts=None if self.noisy_counts is None else self.noisy_counts[:, places],
        )
        arranged.__dict__["mean"] = self.mean[:, places]
        arranged.__dict__["search_draws"] = self.search_draws[:, :, places]
        return arranged


@dataclass(frozen=True)
class Plan:
    """The order of the columns, and each stage's share of ε."""

    order: tuple[int, ...]
    shares: tuple[float, ...]  # of the stages that are designed

    @classmethod
    def of(cls, order: Sequence[int], ratio: float, free: int) -> Plan:
        """Return the plan whose shares grow by ``ratio`` from stage to stage: the last stage decides most."""
        weights = ratio ** np.arange(free)
        return cls(tuple(order), tuple((weights / weights.sum()).tolist()))


@dataclass(frozen=True)
class SolvedChain:
    """A chain whose stages are in the order of its plan.

    Attributes
    ----------
    plan : Plan
    t : float
        The size of the sets.
    tables : tuple of array (C_j, |S|, |U_j|, |Y_j|)
        On the grid.
    cost : float
        Expected distortion at the posterior mean: the weighted sum over the columns.
    """

    plan: Plan
    t: float
    tables: tuple[Floats, ...]
    cost: float


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
    cells = len(problem.counts) * prod(max(d.shape) for d in problem.distortions)  # that a check sees
    risk = Risk("privacy", problem.promise, cells, problem.settings)
    target = _aim(float(ndtr(-risk.target)), problem)
    candidate = _searched(problem, solve, target, order)
    arranged = problem.arranged(candidate.plan.order)
    chain = _calibrated(arranged, candidate, solve, gap, target)
    trials, close = problem.settings.chain_trials, problem.settings.chain_close
    for trial in range(trials):
        if _is_proved(chain.tables, arranged, risk, trial):
            return chain
        chain = _designed(arranged, chain.plan, chain.t * (1 + close * 2.0**trial), solve, gap)
    raise InvalidArgument(
        f"epsilon or the sample must be larger: none of {trials} designs of a chain kept the "
        f"posterior risk at alpha for ε = {problem.epsilon:g}"
    )


def _aim(target: float, problem: ChainProblem) -> float:
    """A smaller share of the draws of the search where a large table has few: proofs by looks are dear there.

    By twice what the share of so few misses the risk by, beyond what it misses with the usual number: a
    search finds sets whose share is small by chance.
    """
    missing = max(1 / len(problem.search_draws) - 1 / problem.settings.chain_draws, 0.0)
    return max(target - 2 * math.sqrt(target * (1 - target) * missing), target / 2)


def _is_proved(tables: Sequence[Floats], problem: ChainProblem, risk: Risk, trial: int) -> bool:
    """Return whether fresh draws confirm the promise about whole rows."""
    promise = problem.promise

    def count(_: NDArray[np.int64], draws: int, stream: int) -> NDArray[np.int64]:
        failed: list[int] = []

        def tried(block: Callable[[], Floats]) -> None:
            drawn = np.moveaxis(block(), -1, 0)
            failed.append(chains.failures(tables, problem.epsilon, drawn, problem.known))

        key = (promise.seed, stream)
        with one_blas_thread():
            on_every_core(
                tried, conditional_parts(problem.published, promise.prior, draws, key, problem.noise)
            )
        return np.array([[sum(failed)]])

    return bool(by_looks([risk], 1, count, trial)[0].all())


@dataclass(frozen=True)
class _Candidate:
    """A plan, the t that it probably needs, and its probable cost."""

    plan: Plan
    t: float
    cost: float


def _searched(problem: ChainProblem, solve: Solve, target: float, order: Sequence[int] | None) -> _Candidate:
    """Return the best of a few plans: first the order, then the split of ε."""
    orders = [tuple(order)] if order is not None else _orders(problem)
    free, t = len(problem.free), problem.settings.chain_first_t
    first, *others = problem.settings.chain_ratios if free > 1 else (1.0,)
    tried = []
    for each in orders:
        tried.append(_estimated(problem, Plan.of(each, first, free), t, solve, target))
        t = tried[0].t
    best = min(tried, key=lambda candidate: candidate.cost)
    plans = [Plan.of(best.plan.order, ratio, free) for ratio in others]
    again = [_estimated(problem, plan, best.t, solve, target) for plan in plans]
    return min([best, *again], key=lambda candidate: candidate.cost)


def _estimated(problem: ChainProblem, plan: Plan, t: float, solve: Solve, target: float) -> _Candidate:
    """Estimate what a plan needs and costs, by the line through two rough designs."""
    arranged = problem.arranged(plan.order)
    points: list[tuple[float, float]] = []
    costs = []
    for _ in range(2):
        chain = _designed(arranged, plan, t, solve, problem.settings.rough_gap)
        points.append((np.log(t), _exceeded(chain.tables, arranged, target) - problem.epsilon))
        costs.append(chain.cost)
        t = _root(points)
    (x0, _), (x1, _) = points
    slope = (costs[1] - costs[0]) / (x1 - x0)
    return _Candidate(plan, t, costs[1] + slope * (np.log(t) - x1))


def _orders(problem: ChainProblem) -> list[tuple[int, ...]]:
    """Yield the order with small columns first, usually the best, and the same with neighbours swapped."""
    first = range(len(problem.fixed))
    by_size = sorted(problem.free, key=lambda j: problem.values[j])
    swapped = range(len(by_size) - 1) if problem.counts.size <= problem.settings.chain_orders_cells else ()
    others = ((*first, *by_size[:j], by_size[j + 1], by_size[j], *by_size[j + 2 :]) for j in swapped)
    return [(*first, *by_size), *others]


def _calibrated(
    problem: ChainProblem, candidate: _Candidate, solve: Solve, gap: float, target: float
) -> SolvedChain:
    """Return the chain of a plan with about the smallest t whose risk on the search's draws is ``target``."""
    t, points, close = candidate.t, [], problem.settings.chain_close
    for _ in range(problem.settings.chain_trials):
        t *= 1 + close / 2
        chain = _designed(problem, candidate.plan, t, solve, gap)
        points.append((np.log(t), _exceeded(chain.tables, problem, target) - problem.epsilon))
        root = _root(points)
        if points[-1][1] <= 0 and t <= root * (1 + close):
            break
        t = root
    return chain


def _root(points: Sequence[tuple[float, float]]) -> float:
    """Find the t at which a share of the draws exceeds ε: the leakage falls nearly linearly with log t.

    By about half of what log t grows by, of which the first step makes use. No step more than halves or
    doubles t.
    """
    x, excess = points[-1]
    slope = -0.5
    if len(points) > 1 and points[-2][0] != x:
        slope = min((excess - points[-2][1]) / (x - points[-2][0]), slope / 4)
    return float(np.exp(x - np.clip(excess / slope, -math.log(2), math.log(2))))


def _exceeded(tables: Sequence[Floats], problem: ChainProblem, share: float) -> float:
    """Return the leakage that a share of the search's draws exceeds."""
    leakages = chains.leakages(tables, problem.search_draws, problem.known)
    return float(np.quantile(leakages, 1 - share, method="higher"))


def _designed(problem: ChainProblem, plan: Plan, t: float, solve: Solve, gap: float) -> SolvedChain:
    """Design the stages of a plan with sets of size t; the problem's columns are in the order of the plan."""
    masses = problem.mean.sum(axis=1)
    tables: list[Floats] = list(problem.fixed)
    levels = problem.levels(t) if problem.fixed and len(masses) > 1 else None
    for share, d in zip(plan.shares, problem.distortions[len(problem.fixed) :], strict=True):
        given = _per_context(problem.conditional_mean, tables, problem.values)  # (S, C, U_j)
        worth = problem.worth(tables).sum(axis=0)
        joint = np.moveaxis(masses[:, None, None] * given, 1, 0)  # (C, S, U_j)
        if levels is None:
            level = np.full(len(joint), share * problem.epsilon)
        else:
            left = share * np.repeat(levels, len(joint) // len(levels), axis=0)
            level = np.maximum(left, problem.least_level)
        known = share * problem.epsilon_known * _BELOW
        radius = t**2 / np.maximum(worth, _FEWEST)  # unreachable contexts have no rows
        negligible = problem.settings.negligible * gap / len(joint)
        reached = joint.sum(axis=(1, 2)) * max(d.max(), 1.0) > negligible
        tables.append(_stage(joint, reached, level, known, d, radius, lambda part: solve(part, gap)))
    costs = chains.expected_distortions(tables, problem.distortions, problem.mean)
    return SolvedChain(plan, t, tuple(tables), float(costs.sum()))


def counted(law: Floats) -> NDArray[np.int64]:
    """Return whole numbers in proportion to a law, as a design problem has them."""
    return np.rint(law * _UNITS).astype(np.int64)


def _per_context(weights: Floats, tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    """Return the weights of every context and value of the next column: (|S|, C, |U_j|)."""
    shares = chains.contexts(weights, tables, values)
    return np.asarray(shares.reshape(*shares.shape[:2], values[len(tables)], -1).sum(axis=-1))


def _stage(
    joint: Floats,
    reached: NDArray[np.bool_],
    level: Floats,
    known: float,
    d: Floats,
    radius: Floats,
    solve: Callable[[DesignProblem], CertifiedBatch],
) -> Floats:
    """Return a table for every context (C, |S|, |U_j|, |Y_j|); the best constant if it is hardly reached."""
    tables = np.zeros((*joint.shape, d.shape[1]))
    tables[..., int(np.argmin(joint.sum(axis=(0, 1)) @ d))] = 1.0
    law = joint[reached] / joint[reached].sum(axis=(1, 2), keepdims=True)
    ball = Ball.of_radius(1.0, radius[reached])
    problem = DesignProblem(counted(law), level[reached], d, ball, None, epsilon_known=known)
    tables[reached] = solve(problem).matrix
    return tables
