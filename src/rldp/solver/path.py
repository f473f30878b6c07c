r"""The primal–dual path: predictor, corrector, step; problems that are done leave the batch.

Every iterate is strictly inside: Q > 0, p > 0, σ > 0, so every iterate is a strictly private
protocol. Each iteration solves one Newton system twice: for the affine direction, which shows how
far μ can fall, and for the direction taken, which carries Mehrotra's second-order terms of the
products and those of the constraints themselves. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rldp.problem import DesignProblem
from rldp.solver.arrays import along, choose, dot, flat, longest_step, take_problems
from rldp.solver.newton import NewtonSystem, Vector
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
    objective, bound : array (K,)
        In the units of the scaled distortion; not yet rounded to the safe side.
    iterations : array (K,)
    """

    q: Array
    eta: Array
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


@dataclass(frozen=True)
class _Direction:
    vector: Vector
    privacy: PrivacyStep
    utility: UtilityStep
    slacks: tuple[Array, ...]
    multipliers: tuple[Array, ...]


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
        patience = replace(patience, strikes=patience.strikes + xp.where(length < 1e-6, 1.0, 0.0))
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
    """The uniform protocol, centred."""
    estimate = xp.asarray(problem.estimate)
    k, secrets, values = estimate.shape
    outputs = distortion.shape[0]
    e = xp.exp(xp.asarray(problem.epsilon))
    q = xp.full((k, outputs, secrets, values), 1 / outputs, dtype=estimate.dtype)
    mu = xp.full((k,), 0.1 / (outputs * secrets * values), dtype=estimate.dtype)
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
    nu = xp.zeros((k, secrets * values), dtype=estimate.dtype)
    return _Iterate(q, along(mu, q) / q, nu, privacy, utility)


def _recorded(
    iterate: _Iterate, distortion: Array, record: Solution | None, iteration: int
) -> tuple[Solution, Array]:
    """The record with this iterate's objective and bound where they are better; and its own gap."""
    xp = namespace(iterate.q)
    dual = Dual(iterate.privacy.multipliers[0], iterate.privacy.members(), iterate.utility.member())
    cells = xp.reshape(dual.distribution, (-1, 1, *iterate.q.shape[2:]))
    cost = distortion * cells + iterate.privacy.reduced_cost(dual.members)
    bound = xp.sum(flat(xp.min(cost, axis=1)), axis=1)
    objective = iterate.utility.objective
    count = xp.full(bound.shape, float(iteration))
    new = Solution(iterate.q, iterate.privacy.eta, objective, bound, dual, count)
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
    idle = xp.where(gap < 0.95 * patience.gap, 0.0, 1 / 3)
    return _Patience(patience.strikes + idle, xp.minimum(gap, patience.gap))


def _advance(iterate: _Iterate, distortion: Array, gap_now: Array) -> tuple[_Iterate, Array]:
    """One predictor–corrector iteration; the new iterate and the length of its step."""
    xp = namespace(iterate.q)
    slacks, multipliers = iterate.slacks, iterate.multipliers
    count = sum(flat(slack).shape[1] for slack in slacks)
    mu = _complementarity(slacks, multipliers) / count
    system = NewtonSystem(
        iterate.l / iterate.q, distortion, iterate.privacy.curvature(), iterate.utility.curvature()
    )
    affine = _direction(iterate, system, distortion, mu, 0 * mu)
    reach = xp.clip(longest_step((*slacks, *multipliers), (*affine.slacks, *affine.multipliers)), max=1.0)
    ahead = _complementarity(
        tuple(s + along(reach, s) * d for s, d in zip(slacks, affine.slacks, strict=True)),
        tuple(m + along(reach, m) * d for m, d in zip(multipliers, affine.multipliers, strict=True)),
    )
    centring = xp.clip((ahead / (mu * count)) ** 3, min=_LEAST_CENTRING, max=1.0)
    target = xp.minimum(xp.maximum(centring * mu, _LAG * gap_now / count), mu)
    weight = reach * (1 - target / mu) ** 2
    step = _direction(iterate, system, distortion, mu, target, affine, weight)
    length = longest_step((*slacks, *multipliers), (*step.slacks, *step.multipliers))
    return _moved(iterate, step, distortion, xp.clip(_BOUNDARY * length, max=1.0))


def _complementarity(slacks: tuple[Array, ...], multipliers: tuple[Array, ...]) -> Array:
    return sum(dot(s, m) for s, m in zip(slacks, multipliers, strict=True))


def _direction(
    iterate: _Iterate,
    system: NewtonSystem,
    distortion: Array,
    mu: Array,
    target: Array,
    affine: _Direction | None = None,
    weight: Array = None,
) -> _Direction:
    """Newton's direction towards products ``target``, with ``weight`` of the second-order terms."""
    xp = namespace(iterate.q)
    slacks, multipliers = iterate.slacks, iterate.multipliers
    split = 1 + len(iterate.privacy.slacks)
    wanted = tuple(along(target, s) + 0 * s for s in slacks)
    bend, bend_utility = 0.0, 0.0
    if affine is not None:
        curved, bend = iterate.privacy.second_order(affine.privacy)
        curved_utility, bend_utility = iterate.utility.second_order(affine.utility)
        curves = (0.0, *curved, *curved_utility)
        bend = bend * weight[:, None, None, None, None]
        bend_utility = bend_utility * weight[:, None, None]
        second = zip(affine.slacks, affine.multipliers, multipliers, curves, strict=True)
        products = (ds * dm + m * curve for ds, dm, m, curve in second)
        wanted = tuple(t - along(weight, p) * p for t, p in zip(wanted, products, strict=True))
    aimed = tuple(t / s for t, s in zip(wanted, slacks, strict=True))
    gq, geta = iterate.privacy.residual(aimed[1:split], bend)
    pi, geta_utility = iterate.utility.residual(aimed[split:], bend_utility)
    row = (iterate.q.shape[0], 1, *iterate.q.shape[2:])
    gq = gq + distortion * xp.reshape(pi, row) - aimed[0] - xp.reshape(iterate.nu, row)
    missing = flat(1 - xp.sum(iterate.q, axis=1))
    accuracy = 1.0 if affine is None else 0.1  # of μ: the predictor only looks ahead
    x = system.solve(Vector(-gq, -geta, -geta_utility, missing), accuracy * mu, 1e-9)
    privacy = iterate.privacy.step(x.q, x.eta)
    utility = iterate.utility.step(flat(xp.sum(distortion * x.q, axis=1)), x.eta_utility)
    moves = (x.q, *privacy.slacks, *utility.slacks)
    turns = tuple(a - m - m / s * d for a, m, s, d in zip(aimed, multipliers, slacks, moves, strict=True))
    privacy = replace(privacy, multipliers=turns[1:split])
    utility = replace(utility, multipliers=turns[split:])
    return _Direction(x, privacy, utility, moves, turns)


def _moved(iterate: _Iterate, step: _Direction, distortion: Array, length: Array) -> tuple[_Iterate, Array]:
    """The iterate after the step, shortened until the curved slacks stay positive."""
    xp = namespace(length)
    sigma = iterate.privacy.slacks[0]
    for _ in range(60):
        q = iterate.q + along(length, iterate.q) * step.vector.q
        eta = iterate.privacy.eta + along(length, iterate.privacy.eta) * step.privacy.eta
        privacy = iterate.privacy.at(q, eta)
        short = ~xp.all(flat(privacy.slacks[0] > _SIGMA_KEPT * sigma), axis=1)
        if not bool(xp.any(short)):
            break
        length = xp.where(short, 0.9 * length, length)
    else:
        length = xp.where(short, 0.0, length)
    eta_utility = iterate.utility.eta + along(length, iterate.utility.eta) * step.utility.eta
    utility = iterate.utility.at(flat(xp.sum(distortion * q, axis=1)), eta_utility)
    multipliers = tuple(
        m + along(length, m) * d for m, d in zip(iterate.multipliers, step.multipliers, strict=True)
    )
    split = 1 + len(privacy.slacks)
    moved = _Iterate(
        q,
        multipliers[0],
        iterate.nu + length[:, None] * step.vector.nu,
        privacy.with_multipliers(multipliers[1:split]),
        utility.with_multipliers(multipliers[split:]),
    )
    return moved, length


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
        joined(lambda part: part.objective),
        joined(lambda part: part.bound),
        dual,
        joined(lambda part: part.iterations),
    )
