"""From the engine's floats to certified protocols; where a gap stays open, something else is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from rldp.designer.certify import CertifiedBatch, better, certified, witness_where
from rldp.designer.closed_forms import solve_single_output, solve_unconstrained
from rldp.designer.engine import EngineResult, Progress, solve
from rldp.designer.engine.settings import Settings
from rldp.designer.pair_proofs import estimate_witness, pair_eta, pair_witness
from rldp.designer.repair import repaired
from rldp.designer.routes import Attempt, Route, for_engine, when_open
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Floats, Witness
from rldp.theory.pairs import ordered_pairs

__all__ = ["finished", "solve_chunk"]


def solve_chunk(
    problem: DesignProblem,
    route: Route,
    gap: float,
    settings: Settings,
    callback: Callable[[Progress], None] | None = None,
) -> CertifiedBatch:
    """Problems that fit the cache together, by one of the engine's routes."""
    engine = for_engine(problem, gap, settings)
    solution = solve(engine, gap=gap, settings=settings, windows=route is Route.WINDOWS, callback=callback)
    return finished(problem, solution, route, gap, settings)


def finished(
    problem: DesignProblem, solution: EngineResult, route: Route, gap: float, settings: Settings
) -> CertifiedBatch:
    """Certified, and replaced where something else is better."""
    solved = _certified(problem, solution, route, gap, settings)
    missed = np.flatnonzero(~solved.closes(gap))
    if len(missed) == 0:
        return solved
    hard = problem.subset(missed)
    tries = [_tried(hard, attempt, gap, settings) for attempt in when_open(problem, route, settings)]
    return solved.replaced(missed, reduce(better, tries, solved.subset(missed)))


def _tried(problem: DesignProblem, attempt: Attempt, gap: float, settings: Settings) -> CertifiedBatch:
    if attempt.route is Route.SINGLE_OUTPUT:
        return solve_single_output(problem)
    if attempt.route is Route.UNCONSTRAINED:
        return solve_unconstrained(problem)
    if attempt.careful:
        settings = replace(settings, lag=settings.careful_lag)
    engine = for_engine(problem, gap, settings)
    solution = solve(engine, gap=gap, settings=settings, windows=attempt.route is Route.WINDOWS)
    return _certified(problem, solution, attempt.route, gap, settings)


def _certified(
    problem: DesignProblem, solution: EngineResult, route: Route, gap: float, settings: Settings
) -> CertifiedBatch:
    """Repaired and proved; the objective is infinite where no proof was found."""
    matrix = _for_all_secrets(problem, np.moveaxis(solution.q, 1, 3))
    eta = None if problem.privacy is None else solution.eta
    if route is Route.WINDOWS and eta is not None:
        eta = pair_eta(problem, matrix, settings)
    matrix, eta, proved = repaired(problem, matrix, eta, solution.objective * problem.scale, settings)
    solved = certified(
        problem,
        matrix,
        bounds.trivial_eta(problem, matrix) if eta is None else eta,
        _witness(problem, solution, route, gap, settings),
        route,
        eta_utility=None if problem.utility is None else solution.eta_utility * problem.scale,
        steps=solution.steps.astype(np.int64),
        reason=_reasons(problem, solution, route, settings),
    )
    return replace(solved, objective=np.where(proved, solved.objective, np.inf))


def _reasons(
    problem: DesignProblem, solution: EngineResult, route: Route, settings: Settings
) -> NDArray[np.object_]:
    """Why the engine stopped, for gaps that are open all the same."""
    among_windows = route is Route.WINDOWS and problem.privacy is not None
    closed = "gap closed among windows" if among_windows else "rounding"
    stopped = np.where(solution.steps >= settings.most_steps, "step limit", "no further progress")
    return np.where(solution.closed, closed, stopped).astype(object)


def _witness(
    problem: DesignProblem, solution: EngineResult, route: Route, gap: float, settings: Settings
) -> Witness:
    """What proves the lower bound, in the units of the problem."""
    witness = _in_units(problem, solution.witness)
    if route is Route.WINDOWS:
        witness = _pair_witness(problem, witness, gap, settings)
    if problem.privacy is None:  # a secret that was never seen has no nominal constraint to weigh
        seen = problem.private_counts.sum(axis=2) > 0
        constrained = seen[:, ordered_pairs(seen.shape[1])].all(axis=2)
        witness = replace(witness, z=np.where(constrained[:, None], witness.z, 0.0))
    elif problem.privacy.enlarged:
        witness = replace(witness, members=bounds.estimated_members(problem))
    if problem.utility is not None and problem.utility.enlarged:
        witness = replace(witness, distribution=problem.useful_centre)
    return witness


def _for_all_secrets(problem: DesignProblem, rows: Floats) -> Floats:
    """(K, |S| or 1, …) → (K, |S|, …): a row that all secrets share, once for each."""
    return np.broadcast_to(rows, (len(rows), problem.counts.shape[1], *rows.shape[2:]))


def _in_units(problem: DesignProblem, witness: Witness) -> Witness:
    """In the units of the problem, and with a distribution on all cells.

    Of a marginal distribution of the values, that of the cells which costs least to get there.
    """
    known = None if witness.known is None else witness.known * problem.scale
    marginal = witness.distribution
    if problem.epsilon_known == 0:
        masses = problem.useful_centre.sum(axis=1, keepdims=True)
        shares = np.divide(
            problem.useful_centre, masses, where=masses > 0, out=np.zeros(problem.counts.shape)
        )
        marginal = marginal * np.where(masses > 0, shares, 1 / problem.counts.shape[1])
    return Witness(witness.z * problem.scale, witness.members, marginal, known)


def _pair_witness(problem: DesignProblem, rows: Witness, gap: float, settings: Settings) -> Witness:
    """Of pairs, from one of windows: that of the windows or that of the estimate, which proves more.

    Where members are too many to hand on, that of the estimate.
    """
    if problem.privacy is None:
        return estimate_witness(problem, rows, settings)
    rough = max(gap, settings.rough_gap)
    engine = for_engine(replace(problem, privacy=None), rough, settings)
    nominal = solve(engine, gap=rough, settings=settings, windows=True)
    near = estimate_witness(problem, _in_units(problem, nominal.witness), settings)
    if near.members.size > settings.most_members:
        return near
    wide = pair_witness(problem, rows, settings)
    larger = bounds.lower_bound(problem, wide) > bounds.lower_bound(problem, near)
    return witness_where(larger, wide, near)
