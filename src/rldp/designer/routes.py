"""The decision table: which problem goes which way, and what else is tried where its gap stays open.

Nothing else chooses. See ``docs/theory.md``, 'Special cases', 'The engine' and 'Windows'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.pair_curvature import has_few_ranks
from rldp.theory.model import DesignProblem

__all__ = ["Attempt", "Route", "block_bytes", "for_engine", "is_near_known", "routes", "when_open"]


class Route(StrEnum):
    """A way to a protocol; the name is what people are told."""

    SINGLE_OUTPUT = "single output"  # always the same one: distortions are too small to matter
    UNCONSTRAINED = "unconstrained"  # the best output for each value, and a trace of all others
    CONSTANT = "constant"  # ε = 0 over a set: the output ignores secret and value
    NEAR_ZERO = "near zero"  # ε too small for floats: solved beside it, made exact
    PAIRS = "pairs"  # the engine, with a constraint for each pair of secrets
    WINDOWS = "windows"  # the engine, with one window for each output


@dataclass(frozen=True)
class Attempt:
    """A route, and whether the engine keeps closer to the central path on it."""

    route: Route
    careful: bool = False


def routes(
    problem: DesignProblem, gap: float, settings: Settings, *, windows: bool = False
) -> NDArray[np.object_]:
    """The route of each problem (K,): that of the first line which applies.

    ``windows`` asks for them where privacy is robust; under the estimate they are privacy itself.
    """
    secrets, _, outputs = problem.shape
    epsilon, robust = problem.least_epsilon, problem.privacy is not None
    cost_of_a_trace = outputs * np.exp(-epsilon) * problem.scale
    negligible = settings.negligible * gap
    table = (
        (Route.SINGLE_OUTPUT, problem.scale <= negligible),
        (Route.UNCONSTRAINED, secrets == 1 or outputs == 1),
        (Route.UNCONSTRAINED, cost_of_a_trace <= negligible),
        (Route.CONSTANT, (problem.pair_epsilon == 0).all(axis=1) & robust),
        (Route.NEAR_ZERO, epsilon < settings.smallest_epsilon),
        (Route.WINDOWS, windows if robust else _windows_suffice(problem, gap, settings)),
        (Route.PAIRS, True),
    )
    taken, all_of_them = np.full(epsilon.shape, None, dtype=object), np.ones(epsilon.shape, dtype=bool)
    for route, applies in reversed(table):
        taken[all_of_them & applies] = route
    return taken


def is_near_known(problem: DesignProblem, settings: Settings) -> bool:
    """Whether κ is too small for floats, and not 0."""
    return 0 < problem.epsilon_known < settings.smallest_epsilon


def for_engine(problem: DesignProblem, gap: float, settings: Settings) -> DesignProblem:
    """The problem that the engine solves: without κ where a trace of all outputs pays for it in repair."""
    cost_of_a_trace = problem.shape[2] * math.exp(-problem.epsilon_known) * problem.scale
    if cost_of_a_trace > settings.negligible * gap:
        return problem
    return replace(problem, epsilon_known=math.inf)


def when_open(problem: DesignProblem, taken: Route, settings: Settings) -> tuple[Attempt, ...]:
    """What is tried beside route ``taken`` of the engine where it leaves the gap open; the best is kept.

    A single output is private whatever happened to the engine. The gap of robust windows is due to the
    windows, and pairs whose Newton blocks are too large are not tried again.
    """
    simple = (Attempt(Route.SINGLE_OUTPUT), Attempt(Route.UNCONSTRAINED))
    by_design = taken is Route.WINDOWS and problem.privacy is not None
    if by_design or block_bytes(problem, settings) > settings.most_bytes:
        return simple
    return (*simple, Attempt(Route.PAIRS, careful=True))


def _windows_suffice(problem: DesignProblem, gap: float, settings: Settings) -> bool:
    """Under the estimate: whether windows are quicker and reach the gap, or pairs would take too long."""
    many = problem.counts[0].size >= settings.windows_cells and problem.pair_epsilon.shape[1] == 1
    reached = gap >= (settings.windows_gap if problem.utility is None else settings.windows_robust_gap)
    return many and (reached or block_bytes(problem, settings) > settings.slow_bytes)


def block_bytes(problem: DesignProblem, settings: Settings) -> int:
    """Of the Newton blocks of one problem with pairs.

    A matrix over all cells for each output; or, where ranks are few, one for all of them and the ranks.
    """
    secrets, values, outputs = problem.shape
    cells = values if problem.epsilon_known == 0 else secrets * values
    if problem.privacy is not None and has_few_ranks(secrets, values, settings):
        coupled = 0 < problem.epsilon_known < math.inf  # ranks of a secret reach over all of them
        return 8 * cells * (cells + outputs * 4 * secrets * (secrets if coupled else 1))
    return 8 * outputs * cells**2
