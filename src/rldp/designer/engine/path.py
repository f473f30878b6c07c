"""The primal–dual path: iterate until the gap is proved, and drop finished problems from the batch.

Every iterate is strictly feasible (Q > 0, p > 0, σ > 0), so it is a strictly private protocol. If its
multipliers promise a small gap, a lower bound is computed as well. The best point and the best bound are
kept. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from rldp.designer.engine.settings import Settings
from rldp.designer.engine.step import Centre, Iterate, advance
from rldp.designer.engine.terms.interface import PrivacyTerm, Start, UtilityTerm
from rldp.designer.engine.terms.known_value import KnownValue
from rldp.designer.engine.terms.pairs import NominalPairs, RobustPairs
from rldp.designer.engine.terms.shared_row import SharedRow
from rldp.designer.engine.terms.together import Together
from rldp.designer.engine.terms.utility import NominalUtility, RobustUtility, expected
from rldp.designer.engine.terms.windows import NominalWindows, RobustWindows
from rldp.theory.arrays import (
    Array,
    along,
    choose,
    flat,
    map_arrays,
    namespace,
    reshape,
    take_problems,
    updated,
)
from rldp.theory.model import DesignProblem, Witness

__all__ = ["EngineResult", "Progress", "Stop", "privacy_term", "solve", "utility_term"]


class Stop(IntEnum):
    """Why a path ended."""

    GAP_CLOSED = 0
    NO_PROGRESS = 1
    STEP_LIMIT = 2
    TIME_LIMIT = 3


@dataclass(frozen=True)
class Progress:
    """The state of a running solver, passed to callbacks.

    Attributes
    ----------
    iteration : int
        Iteration of the solver; in a batch of several chunks, the number of finished chunks.
    finished, problems : int
    worst_gap : float
        The largest relative gap: estimated at first, proved near the end.
    """

    iteration: int
    finished: int
    problems: int
    worst_gap: float


@dataclass(frozen=True)
class EngineResult:
    """The best strictly private point and the best bound found, per problem.

    Attributes
    ----------
    q : array (K, Y, |S|, U), or (K, Y, 1, U) where all secrets share a row
    eta : array (K, Y, T, 2), or (K, 0) for nominal privacy, or (K, Y, 2|S| + 1) for windows
        Together with Q, these scalars prove privacy over the whole set.
    eta_utility : array (K, 1), or (K, 0) for nominal utility
        Together with Q, these scalars prove the objective.
    objective, bound : array (K,)
        In units of the scaled distortion; not yet rounded to the safe side.
    witness : Witness
        Proves the bound, in the same units; it is for windows if the path used windows.
    steps : array (K,)
    stop : array (K,)
        Reasons to stop, as values of :class:`Stop`.
    """

    q: Array
    eta: Array
    eta_utility: Array
    objective: Array
    bound: Array
    witness: Witness
    steps: Array
    stop: Array

    @property
    def closed(self) -> Array:
        """Return whether the gap was closed: (K,)."""
        return self.stop == Stop.GAP_CLOSED


@dataclass(frozen=True)
class _Patience:
    """The number of iterations without progress, and the last gap, of every problem."""

    strikes: Array
    gap: Array


def solve(
    problem: DesignProblem,
    *,
    gap: float,
    settings: Settings,
    windows: bool = False,
    xp: Any = np,
    callback: Callable[[Progress], None] | None = None,
    deadline: float = math.inf,
) -> EngineResult:
    """Solve a batch until every gap is at most gap·max(1, objective) or no longer shrinks.

    Parameters
    ----------
    problem : DesignProblem
        With ε > 0 finite and at least two secrets and two outputs.
    gap : float
    settings : Settings
    windows : bool
        Use windows instead of pairs as the privacy constraints.
    xp : array namespace
        The array library to compute with; the result has its arrays.
    callback : callable, optional
    deadline : float
        Time by which the result must be returned, proofs included, as of :func:`time.perf_counter`. The best
        iterate found by then is returned.
    """
    with np.errstate(all="ignore"):  # steps that overflow are rejected
        return _solve(problem, gap, settings, windows, xp, callback, deadline)


def _solve(
    problem: DesignProblem,
    gap: float,
    settings: Settings,
    windows: bool,
    xp: Any,
    callback: Callable[[Progress], None] | None,
    deadline: float,
) -> EngineResult:
    distortion = xp.asarray(np.ascontiguousarray(problem.scaled_distortion.T[:, None, :]))
    xp = namespace(distortion)  # the same library; for NumPy, lean versions of its functions
    iterate = _start(problem, windows, distortion, settings)
    total = iterate.q.shape[0]
    where = xp.arange(total)
    record: Any = None  # an EngineResult after the first iteration
    idle = xp.zeros((total,), dtype=distortion.dtype)
    patience = _Patience(idle, xp.full_like(idle, xp.inf))
    finished: list[tuple[Array, EngineResult]] = []
    clock = time.perf_counter()
    for iteration in range(settings.most_steps + 1):
        gap_now = known = _promised(iterate, distortion)
        asked = _asked(iterate.utility.objective, gap, problem.scale)
        before, clock = clock, time.perf_counter()
        last = _last_step(iteration, clock - before, deadline - clock, settings)
        tired = patience.strikes >= settings.patience
        due = (known <= settings.worth_proving * asked) | tired
        done = None
        if last is not None or bool(xp.any(due)):
            record, gap_now = _recorded(iterate, distortion, record, iteration)
            known = record.objective - record.bound
            closed = known <= _allowed(record.objective, gap, problem.scale, settings)
            otherwise = Stop.NO_PROGRESS if last is None else last
            record = updated(record, stop=int(otherwise) * xp.astype(~closed, xp.int64))
            done = closed | tired | (last is not None)
        patience = _judged(patience, known)
        if callback is not None:
            left = where.shape[0] if done is None else int(xp.sum(~done))
            callback(Progress(iteration, total - left, total, _worst(known, iterate, problem.scale)))
        if done is not None and bool(xp.all(done)):
            finished.append((where, record))
            break
        if done is not None and bool(xp.any(done)):
            finished.append((where[done], take_problems(record, xp.nonzero(done)[0])))
            kept = (iterate, record, patience, where, gap_now)
            iterate, record, patience, where, gap_now = take_problems(kept, xp.nonzero(~done)[0])
        moved, length = advance(iterate, distortion, gap_now, settings)
        sound = (length > 0) & xp.isfinite(moved.utility.objective)
        if not bool(xp.all(sound)):
            patience = updated(patience, strikes=patience.strikes + xp.astype(~sound, length.dtype))
        iterate = choose(sound, moved, iterate)
    return _in_order(finished, xp)


def _last_step(iteration: int, a_step: float, left: float, settings: Settings) -> Stop | None:
    """Return the reason to stop if a step takes ``a_step`` of the ``left`` seconds; None to continue."""
    if iteration == settings.most_steps:
        return Stop.STEP_LIMIT
    return Stop.TIME_LIMIT if (1 + settings.proof_steps) * a_step > left else None


def _promised(iterate: Iterate, distortion: Array) -> Array:
    """Return the gap that the multipliers promise, before it is proved: (K,)."""
    xp, utility = namespace(iterate.q), iterate.utility
    pi = reshape(utility.residual(utility.multipliers)[0], (-1, 1, *iterate.q.shape[2:]))
    cost = distortion * pi + iterate.privacy.privacy_cost()
    gap = utility.objective - xp.sum(flat(xp.min(cost, axis=1)), axis=1)
    return xp.maximum(gap, iterate.mu)


def _worst(gap: Array, iterate: Iterate, scale: float) -> float:
    """Return the largest relative gap, for progress reports."""
    xp = namespace(gap)
    return float(xp.max(gap / xp.clip(iterate.utility.objective, min=1 / scale)))


def _asked(objective: Array, gap: float, scale: float) -> Array:
    """Return the requested gap, gap·max(1, objective), in the units of the scaled distortion."""
    return gap * namespace(objective).clip(objective, min=1 / scale)


def _allowed(objective: Array, gap: float, scale: float, settings: Settings) -> Array:
    """Return the gap at which to stop: the requested one, or a tighter one if the objective is small.

    An objective far below 1 should have a few correct digits too. It may be 0, so there is a limit.
    """
    xp = namespace(objective)
    own = settings.small_objective * gap * objective
    own = xp.clip(own, min=settings.least_allowed * gap / scale)
    return xp.minimum(_asked(objective, gap, scale), own)


def _start(problem: DesignProblem, windows: bool, distortion: Array, settings: Settings) -> Iterate:
    """Return the uniform protocol with centred constraints, and multipliers that are stationary in Q."""
    xp, (k, secrets, values), outputs = namespace(distortion), problem.counts.shape, distortion.shape[0]
    rows = 1 if problem.epsilon_known == 0 else secrets  # one row for all secrets, or one for each
    uniform = xp.full((k, outputs, secrets, values), 1 / outputs, dtype=distortion.dtype)
    q, mu = uniform[:, :, :rows, :], xp.full((k,), 0.5 / (outputs * rows * values), dtype=uniform.dtype)
    at = Start(problem, uniform, mu, settings)
    privacy, utility = privacy_term(at, windows=windows), utility_term(at, expected(distortion, q))
    pi, _ = utility.residual(utility.multipliers)
    cost = distortion * reshape(pi, (k, 1, rows, values))
    cost = cost + privacy.residual(privacy.multipliers)[0]
    least = xp.min(cost, axis=1, keepdims=True)
    margin = along(mu * outputs, q)
    centre = Centre.of(q, privacy, utility)
    multipliers = centre.layout.join((cost - least + margin, *privacy.multipliers, *utility.multipliers))
    rough = xp.zeros((k,), dtype=xp.bool)
    ease = settings.ease / xp.max(at.e, axis=1) ** 2
    nu, reached = flat(least - margin), xp.ones((k,), dtype=q.dtype)
    return Iterate.of(q, multipliers, nu, privacy, utility, centre, ease, rough, reached)


def _recorded(
    iterate: Iterate, distortion: Array, record: EngineResult | None, iteration: int
) -> tuple[EngineResult, Array]:
    """Return the record, updated where this iterate's objective or bound is better, and the iterate's gap."""
    xp = namespace(iterate.q)
    members = iterate.privacy.members()
    distribution = reshape(iterate.utility.member(), (-1, *iterate.q.shape[2:]))
    witness = Witness(iterate.privacy.weights(), members, distribution, iterate.privacy.prices())
    cost = distortion * distribution[:, None, ...] + iterate.privacy.reduced_cost(members)
    bound = xp.sum(flat(xp.min(cost, axis=1)), axis=1)
    objective = iterate.utility.objective
    count, stop = xp.full_like(bound, float(iteration)), xp.zeros(bound.shape, dtype=xp.int64)
    eta, eta_utility = iterate.privacy.proof, iterate.utility.eta
    new = EngineResult(iterate.q, eta, eta_utility, objective, bound, witness, count, stop)
    if record is None:
        return new, objective - bound
    old = (record.q, record.eta, record.eta_utility, record.objective)
    primal = choose(objective < record.objective, (new.q, new.eta, new.eta_utility, objective), old)
    proof = choose(bound > record.bound, (bound, witness), (record.bound, record.witness))
    return EngineResult(*primal, *proof, count, stop), objective - bound


def _judged(patience: _Patience, gap: Array) -> _Patience:
    """Count a strike for every iteration that does not reduce the gap."""
    xp = namespace(gap)
    idle = xp.astype(~(gap < patience.gap), gap.dtype)
    return _Patience(patience.strikes + idle, xp.minimum(gap, patience.gap))


def _in_order(finished: list[tuple[Array, EngineResult]], xp: Any) -> EngineResult:
    """Return the solutions in the original order of the problems."""
    if len(finished) == 1:
        return finished[0][1]
    order = xp.argsort(xp.concat([where for where, _ in finished]))
    parts = [part for _, part in finished]
    return map_arrays(lambda *arrays: xp.take(xp.concat(arrays), order, axis=0), *parts)


# The terms of a problem: one line for each kind of constraint and objective


def privacy_term(at: Start, *, windows: bool) -> PrivacyTerm:
    """Return the constraints on pairs, or as ``windows``, with those for readers who know the value."""
    term = _of_secrets(at, windows)
    if at.problem.epsilon_known == 0:
        return term if isinstance(term, NominalPairs) else SharedRow(term, at.q.shape[2])
    return term if math.isinf(at.problem.epsilon_known) else Together(term, KnownValue.start(at))


def _of_secrets(at: Start, windows: bool) -> PrivacyTerm:
    if at.problem.privacy is None:
        return NominalWindows.start(at) if windows else NominalPairs.start(at)
    return RobustWindows.start(at) if windows else RobustPairs.start(at)


def utility_term(at: Start, v: Array) -> UtilityTerm:
    """Return the objective, for the expected distortion ``v`` (K, |S|U) of each cell."""
    return NominalUtility.start(at, v) if at.problem.utility is None else RobustUtility.start(at, v)
