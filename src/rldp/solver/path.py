r"""The primal–dual path: predictor, corrector, step; problems that are done leave the batch.

Every iterate is strictly inside: Q > 0, p > 0, σ > 0, so every iterate is a strictly private
protocol. Each iteration solves one Newton system twice or more: for the affine direction, which shows
how far μ can fall, and for the direction taken, which carries Mehrotra's second-order terms of the
products and those of the constraints themselves. A step that their curvature cuts short is corrected
once more, by the second-order terms along itself. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rldp.problem import DesignProblem
from rldp.solver.arrays import Layout, along, choose, flat, longest_step, reshape, take_problems
from rldp.solver.newton import NewtonSystem
from rldp.solver.pairs import Pairs
from rldp.solver.privacy import NominalPrivacy, PrivacyStep, PrivacyTerm, RobustPrivacy
from rldp.solver.utility import NominalUtility, RobustUtility, UtilityStep, UtilityTerm
from rldp.support import Array, namespace

__all__ = ["Dual", "Progress", "Solution", "solve"]

_LIMIT = 200  # iterations
_PATIENCE = 8  # iterations without a step worth the name, or without a better gap, times three
_BOUNDARY = 0.99  # share of the way to the boundary that a step may go
_SIGMA_KEPT = 1e-3  # share of σ that a step must leave; σ is curved, so this is checked
_LEAST_CENTRING = 0.02  # μ falls at most by this factor
_CORRECTIONS = 1  # how often a step that falls short is corrected by its own second-order terms
_FAR = 0.9  # a step that goes this far needs no further correction
_LARGE = 40  # cells from which a factorisation costs more than several corrections: twice as many
_DELICATE = 1e-4  # μ, below which Newton's systems are refined: rounding errors grow like μ^(−2)
_LAG = 0.05  # μ stays above this share of the gap that the dual point has proved so far


@dataclass(frozen=True)
class Progress:
    """What a running solve tells its caller after each iteration.

    ``worst_gap`` is the largest relative gap of the problems still running.
    """

    iteration: int
    finished: int
    problems: int
    worst_gap: float


@dataclass(frozen=True)
class Dual:
    """What proves a lower bound: multipliers, and members of the sets they weigh.

    Attributes
    ----------
    z : array (K, Y, T), non-negative
    members : array (K, Y, T, 2, U)
        Conditionals in the projected privacy set of each pair.
    distribution : array (K, |S|U)
        A member of the utility set.
    """

    z: Array
    members: Array
    distribution: Array


@dataclass(frozen=True)
class Solution:
    """The best strictly private point and the best bound found, per problem.

    Attributes
    ----------
    q : array (K, Y, |S|, U)
    eta : array (K, Y, T, 2), or (K, 0) for nominal privacy
        With Q, proves privacy over the whole set.
    eta_utility : array (K, 1), or (K, 0) for nominal utility
        With Q, proves the objective.
    objective, bound : array (K,)
        In the units of the scaled distortion; not yet rounded to the safe side.
    iterations : array (K,)
    """

    q: Array
    eta: Array
    eta_utility: Array
    objective: Array
    bound: Array
    dual: Dual
    iterations: Array


@dataclass(frozen=True)
class _Iterate:
    q: Array  # (K, Y, |S|, U)
    l: Array  # noqa: E741 — multipliers of Q > 0, as in docs/theory.md
    nu: Array  # (K, |S|U)
    privacy: PrivacyTerm
    utility: UtilityTerm

    @property
    def slacks(self) -> tuple[Array, ...]:
        return self.q, *self.privacy.slacks, *self.utility.slacks

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.l, *self.privacy.multipliers, *self.utility.multipliers

    @property
    def unknowns(self) -> tuple[Array, ...]:
        return self.q, self.privacy.eta, self.utility.eta, self.nu


@dataclass(frozen=True)
class _Direction:
    unknowns: tuple[Array, ...]  # as in _Iterate
    privacy: PrivacyStep
    utility: UtilityStep
    slacks: Array  # (K, M), joined
    multipliers: Array  # (K, M), joined


@dataclass(frozen=True)
class _Local:
    """What an iteration needs of its iterate: the slacks and multipliers side by side, the system."""

    iterate: _Iterate
    distortion: Array
    layout: Layout
    slacks: Array  # (K, M)
    multipliers: Array  # (K, M)
    mu: Array  # (K,)
    system: NewtonSystem
    delicate: bool  # curvatures of order μ and 1/μ meet: elimination alone may miss digits

    @classmethod
    def at(cls, iterate: _Iterate, distortion: Array) -> _Local:
        layout = Layout.of(iterate.slacks)
        slacks, multipliers = layout.join(iterate.slacks), layout.join(iterate.multipliers)
        mu = namespace(slacks).vecdot(slacks, multipliers) / slacks.shape[1]
        privacy, utility = iterate.privacy.curvature(), iterate.utility.curvature()
        system = NewtonSystem(
            iterate.l / iterate.q, distortion, privacy, utility, Layout.of(iterate.unknowns)
        )
        delicate = bool(namespace(mu).any(mu < _DELICATE))
        return cls(iterate, distortion, layout, slacks, multipliers, mu, system, delicate)

    def direction(self, target: Array, affine: _Direction | None = None, weight: Array = None) -> _Direction:
        """Newton's direction towards products ``target``, with ``weight`` of the second-order terms."""
        it, xp = self.iterate, namespace(self.mu)
        wanted, bend, bend_utility = target[:, None], 0.0, 0.0
        if affine is not None:
            second, bend, bend_utility = self._second_order(affine)
            wanted = wanted - weight[:, None] * second
            bend = weight[:, None, None, None, None] * bend
            bend_utility = weight[:, None, None] * bend_utility
        aimed = wanted / self.slacks
        aims = self.layout.split(aimed)
        end = 1 + len(it.privacy.slacks)
        gq, geta = it.privacy.residual(aims[1:end], bend)
        pi, geta_utility = it.utility.residual(aims[end:], bend_utility)
        cells = (it.q.shape[0], 1, *it.q.shape[2:])
        gq = gq + self.distortion * reshape(pi, cells) - aims[0] - reshape(it.nu, cells)
        missing = xp.sum(it.q, axis=1) - 1
        rhs = -self.system.layout.join((gq, geta, geta_utility, missing))
        accuracy = 1.0 if affine is None else 0.1  # the predictor only looks ahead
        x = self.system.layout.split(self.system.solve(rhs, accuracy * self.mu, refine=self.delicate))
        privacy = it.privacy.step(x[0], x[1])
        utility = it.utility.step(flat(xp.sum(self.distortion * x[0], axis=1)), x[2])
        moves = self.layout.join((x[0], *privacy.slacks, *utility.slacks))
        turns = aimed - self.multipliers - self.multipliers / self.slacks * moves
        parts = self.layout.split(turns)
        privacy = replace(privacy, multipliers=parts[1:end])
        utility = replace(utility, multipliers=parts[end:])
        return _Direction(x, privacy, utility, moves, turns)

    def _second_order(self, affine: _Direction) -> tuple[Array, Array, Array]:
        """Second-order terms along the affine direction: of the products, of ϱ and of π."""
        it = self.iterate
        curved, bend = it.privacy.second_order(affine.privacy)
        curved_utility, bend_utility = it.utility.second_order(affine.utility)
        curves = self.layout.join((0 * it.q, *curved, *curved_utility))
        return affine.slacks * affine.multipliers + self.multipliers * curves, bend, bend_utility

    def reach(self, step: _Direction) -> Array:
        """How far a step should go: inside all boundaries, as far as second order can tell."""
        xp = namespace(self.mu)
        length = xp.clip(_BOUNDARY * self.longest(step), max=1.0)
        return xp.minimum(length, _predicted_length(self.iterate.privacy, step.privacy))

    def longest(self, step: _Direction) -> Array:
        """How far a step can go before a slack or a multiplier vanishes."""
        slacks = longest_step(self.slacks, step.slacks)
        return namespace(slacks).minimum(slacks, longest_step(self.multipliers, step.multipliers))


@dataclass(frozen=True)
class _Patience:
    """Per problem: how often it has failed to get anywhere, and the gap it had."""

    strikes: Array
    gap: Array


def solve(
    problem: DesignProblem,
    *,
    gap: float,
    xp: Any = np,
    callback: Callable[[Progress], None] | None = None,
) -> Solution:
    """Solve a batch until every gap is at most gap·max(1, objective), or no longer shrinks.

    Parameters
    ----------
    problem : DesignProblem
        With ε > 0 finite and at least two secrets and two outputs.
    gap : float
    xp : array namespace
        The array library to compute with; the result is in its arrays.
    """
    distortion = xp.asarray(np.ascontiguousarray(problem.scaled_distortion.T[:, None, :]))
    iterate = _start(problem, distortion, xp)
    total = iterate.q.shape[0]
    where = xp.arange(total)
    record: Solution | None = None
    patience = _Patience(xp.zeros(total), xp.full((total,), xp.inf))
    finished: list[tuple[Array, Solution]] = []
    for iteration in range(_LIMIT + 1):
        record, gap_now = _recorded(iterate, distortion, record, iteration)
        proved = record.objective - record.bound
        allowed = gap * xp.clip(record.objective, min=1 / problem.scale)
        patience = _judged(patience, proved)
        done = (proved <= allowed) | (patience.strikes >= _PATIENCE) | (iteration == _LIMIT)
        if bool(xp.any(done)):
            finished.append((where[done], take_problems(record, xp.nonzero(done)[0])))
            left = xp.nonzero(~done)[0]
            iterate, record, patience = take_problems((_Batch(iterate, record, patience)), left).parts
            where, gap_now = where[~done], gap_now[~done]
        if callback is not None:
            worst = float(xp.max(proved / allowed)) * gap
            callback(Progress(iteration, total - where.shape[0], total, worst))
        if where.shape[0] == 0:
            break
        moved, length = _advance(iterate, distortion, gap_now)
        stuck = xp.astype(~(length >= 1e-6), length.dtype)
        patience = replace(patience, strikes=patience.strikes + stuck)
        sound = xp.isfinite(moved.utility.objective) & (length > 0)
        iterate = choose(sound, moved, iterate)
    return _in_order(finished, xp)


@dataclass(frozen=True)
class _Batch:
    iterate: _Iterate
    record: Solution
    patience: _Patience

    @property
    def parts(self) -> tuple[_Iterate, Solution, _Patience]:
        return self.iterate, self.record, self.patience


def _start(problem: DesignProblem, distortion: Array, xp: Any) -> _Iterate:
    """The uniform protocol, with centred constraints and multipliers that are stationary in Q."""
    estimate = xp.asarray(problem.estimate)
    k, secrets, values = estimate.shape
    outputs = distortion.shape[0]
    e = xp.exp(xp.asarray(problem.epsilon))
    q = xp.full((k, outputs, secrets, values), 1 / outputs, dtype=estimate.dtype)
    mu = xp.full((k,), 0.5 / (outputs * secrets * values), dtype=estimate.dtype)
    pairs = Pairs.of(secrets, xp)
    privacy: PrivacyTerm
    utility: UtilityTerm
    if problem.privacy is None:
        privacy = NominalPrivacy.start(pairs, estimate, e, q, mu)
    else:
        order, budget = problem.privacy
        privacy = RobustPrivacy.start(pairs, estimate, e, order, xp.asarray(budget), q, mu)
    v = flat(xp.sum(distortion * q, axis=1))
    if problem.utility is None:
        utility = NominalUtility.start(estimate, v)
    else:
        order, budget = problem.utility
        utility = RobustUtility.start(estimate, order, xp.asarray(budget), v, mu)
    pi, _ = utility.residual(utility.multipliers, 0.0)
    cost = distortion * reshape(pi, (k, 1, secrets, values))
    cost = cost + privacy.residual(privacy.multipliers, 0.0)[0]
    least = xp.min(cost, axis=1, keepdims=True)
    margin = along(0.3 * mu * outputs, q)
    return _Iterate(q, cost - least + margin, flat(least - margin), privacy, utility)


def _recorded(
    iterate: _Iterate, distortion: Array, record: Solution | None, iteration: int
) -> tuple[Solution, Array]:
    """The record with this iterate's objective and bound where they are better; and its own gap."""
    xp = namespace(iterate.q)
    dual = Dual(iterate.privacy.multipliers[0], iterate.privacy.members(), iterate.utility.member())
    cells = reshape(dual.distribution, (-1, 1, *iterate.q.shape[2:]))
    cost = distortion * cells + iterate.privacy.reduced_cost(dual.members)
    bound = xp.sum(flat(xp.min(cost, axis=1)), axis=1)
    objective = iterate.utility.objective
    count = xp.full(bound.shape, float(iteration))
    new = Solution(iterate.q, iterate.privacy.eta, iterate.utility.eta, objective, bound, dual, count)
    if record is None:
        return new, objective - bound
    primal = objective < record.objective
    tighter = bound > record.bound
    best = choose(primal, replace(new, dual=None, bound=None), replace(record, dual=None, bound=None))  # type: ignore[arg-type]
    return (
        replace(
            best,
            bound=xp.where(tighter, bound, record.bound),
            dual=choose(tighter, dual, record.dual),
            iterations=count,
        ),
        objective - bound,
    )


def _judged(patience: _Patience, gap: Array) -> _Patience:
    """A third of a strike for each iteration that does not better the gap."""
    xp = namespace(gap)
    idle = xp.astype(~(gap < 0.95 * patience.gap), gap.dtype)
    return _Patience(patience.strikes + idle / 3, xp.minimum(gap, patience.gap))


def _advance(iterate: _Iterate, distortion: Array, gap_now: Array) -> tuple[_Iterate, Array]:
    """One predictor–corrector iteration; the new iterate and the length of its step."""
    xp = namespace(iterate.q)
    local = _Local.at(iterate, distortion)
    mu, count = local.mu, local.slacks.shape[1]
    affine = local.direction(0 * mu)
    reach = xp.clip(local.longest(affine), max=1.0)
    slacks = local.slacks + reach[:, None] * affine.slacks
    multipliers = local.multipliers + reach[:, None] * affine.multipliers
    centring = xp.clip((xp.vecdot(slacks, multipliers) / (mu * count)) ** 3, min=_LEAST_CENTRING)
    target = xp.minimum(xp.maximum(centring * mu, _LAG * gap_now / count), mu)
    step = local.direction(target, affine, reach * (1 - target / mu) ** 2)
    length = local.reach(step)
    for _ in range(_CORRECTIONS if iterate.nu.shape[1] < _LARGE else 2 * _CORRECTIONS):
        if bool(xp.all(length >= _FAR)):
            break
        again = local.direction(target, step, xp.ones_like(mu))
        reached = local.reach(again)
        step = choose(reached > length, again, step)
        length = xp.maximum(reached, length)
    return _moved(local, step, length)


def _moved(local: _Local, step: _Direction, length: Array) -> tuple[_Iterate, Array]:
    """The iterate after the step, shortened until the curved slacks stay positive."""
    xp = namespace(length)
    iterate = local.iterate
    sigma = iterate.privacy.slacks[0]
    for _ in range(60):
        q, eta, eta_utility, nu = (
            x + along(length, x) * dx for x, dx in zip(iterate.unknowns, step.unknowns, strict=True)
        )
        privacy = iterate.privacy.at(q, eta)
        short = ~xp.all(flat(privacy.slacks[0] > _SIGMA_KEPT * sigma), axis=1)
        if not bool(xp.any(short)):
            break
        length = xp.where(short, 0.9 * length, length)
    else:
        length = xp.where(short, 0.0, length)
    utility = iterate.utility.at(flat(xp.sum(local.distortion * q, axis=1)), eta_utility)
    multipliers = local.layout.split(local.multipliers + length[:, None] * step.multipliers)
    end = 1 + len(privacy.slacks)
    privacy = privacy.with_multipliers(multipliers[1:end])
    utility = utility.with_multipliers(multipliers[end:])
    return _Iterate(q, multipliers[0], nu, privacy, utility), length


def _predicted_length(term: PrivacyTerm, step: PrivacyStep) -> Array:
    """Where the second-order expansion of σ says that a step must end: (K,), about 1 if nowhere.

    σ + t·dσ + t²·c keeps a share of σ up to the positive root of a concave quadratic.
    """
    xp = namespace(term.slacks[0])
    keep, slope = (1 - 2 * _SIGMA_KEPT) * term.slacks[0], step.slacks[0]
    curve = term.sigma_curvature(step)
    root = 2 * keep / (xp.sqrt(slope**2 - 4 * curve * keep) - slope + 1e-300)
    root = xp.where(root > 0, root, 1.0)
    return xp.clip(xp.min(flat(root), axis=1), max=1.0)


def _in_order(finished: list[tuple[Array, Solution]], xp: Any) -> Solution:
    """The solutions in the order the problems came in."""
    order = xp.argsort(xp.concat([where for where, _ in finished]))

    def joined(get: Callable[[Solution], Array]) -> Array:
        return xp.take(xp.concat([get(part) for _, part in finished]), order, axis=0)

    dual = Dual(
        joined(lambda part: part.dual.z),
        joined(lambda part: part.dual.members),
        joined(lambda part: part.dual.distribution),
    )
    return Solution(
        joined(lambda part: part.q),
        joined(lambda part: part.eta),
        joined(lambda part: part.eta_utility),
        joined(lambda part: part.objective),
        joined(lambda part: part.bound),
        dual,
        joined(lambda part: part.iterations),
    )
