"""The dispatcher: which route solves each problem, what is tried if its gap stays open, and searches.

The other modules carry out what is chosen here; :mod:`rldp.designer.credible` and
:mod:`rldp.designer.chains` search for the sizes of their sets. See ``docs/theory.md``, 'Special cases',
'The engine', 'Windows' and 'Credible privacy'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rldp._common.process import one_blas_thread
from rldp.designer.batches import block_bytes, require_memory, solve_by_engine
from rldp.designer.certify import CertifiedBatch, better, joined
from rldp.designer.closed_forms import solve_constant, solve_single_output, solve_unconstrained
from rldp.designer.contexts import After
from rldp.designer.credible import credible_risks, solve_credible
from rldp.designer.engine.settings import Settings
from rldp.designer.near_zero import solve_near_known, solve_near_zero
from rldp.designer.request import SolveRequest, SolveResult
from rldp.designer.status import Reason, Route
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sample import Sample
from rldp.sets import Credible, UncertaintySet
from rldp.theory.model import DesignProblem

__all__ = ["attempts", "is_chained", "routes", "solve", "solve_batch"]

_ENGINE = (Route.PAIRS, Route.WINDOWS)
_SMALLEST_SCALE = 1e-250  # distortions below are as good as none


def is_chained(
    sample: Sample,
    chain: bool | Sequence[str] | None,
    privacy: UncertaintySet,
    after: After,
    settings: Settings,
) -> bool:
    """Return whether columns are chained: because it is requested, or because they are too many.

    Columns published beside them are stages of a chain, too.
    """
    if after or sample.given_columns:
        if chain is False:
            what = "after" if after else "given columns"
            raise InvalidArgument(f"chain must not be False with {what}, which the released columns follow")
        return True
    several = sample.reading is not None and len(sample.reading.value) > 1
    if chain is None:
        return several and len(sample.values) > settings.most_joint and isinstance(privacy, Credible)
    if chain is False:
        return False
    if chain is not True and not isinstance(chain, Sequence):
        raise InvalidArgumentType(
            f"chain must be True, False, None or a list of value columns, got {type(chain).__name__}"
        )
    if not several:
        raise InvalidArgument("chain needs several named value columns; Sample.from_data names columns")
    return True


def solve(
    problem: DesignProblem, privacy: UncertaintySet, utility: UncertaintySet, request: SolveRequest
) -> SolveResult:
    """Solve a batch for its sets, or search for sets that keep a credible promise."""
    if not any(isinstance(given, Credible) for given in (privacy, utility)):
        return SolveResult(problem, solve_batch(problem, request), {})

    def solve_to(problem: DesignProblem, gap: float) -> CertifiedBatch:
        return solve_batch(problem, replace(request, gap=gap))

    settings = request.settings
    searches = 2 * settings.usual_steps * _seconds_a_step(problem, request) <= request.seconds_left
    if not searches or (problem.published != problem.published[0]).any():
        settings = replace(settings, credible_least_hits=0)  # where draws would take most of the time
    risks = credible_risks(privacy, utility, problem.counts[0].size, settings)
    return solve_credible(problem, risks, request.gap, solve_to, request.device, searches=searches)


def solve_batch(problem: DesignProblem, request: SolveRequest) -> CertifiedBatch:
    """Solve each problem by its route.

    Distortions that are all below one are first measured in a smaller unit, a power of two so that
    nothing is rounded: a gap means the same whatever unit a user's values come in.
    """
    if 0 < problem.epsilon_known < request.settings.smallest_epsilon:
        closer = replace(request, gap=request.gap / 2)  # protocol and bound come from one problem each
        return solve_near_known(problem, request, lambda other: solve_batch(other, closer))
    unit = 2.0 ** math.floor(math.log2(problem.scale)) if _SMALLEST_SCALE < problem.scale < 1 else 1.0
    scaled = problem if unit == 1 else replace(problem, distortion=problem.distortion / unit)
    taken = routes(scaled, request)
    places = {route: np.flatnonzero(taken == route) for route in dict.fromkeys(taken.tolist())}
    parts = {route: scaled.subset(index) if len(places) > 1 else scaled for route, index in places.items()}
    for route, part in parts.items():
        require_memory(part, route, request.settings, on_device=not request.device.is_cpu)
    with one_blas_thread():
        solved = joined([_solve_by(part, route, request) for route, part in parts.items()])
    if len(places) > 1:
        solved = solved.subset(np.argsort(np.concatenate(list(places.values()))))
    if unit != 1:
        in_unit = ("objective", "lower_bound", "eta_utility", "z", "known")
        solved = replace(solved, **{name: unit * getattr(solved, name) for name in in_unit})
    return solved.explained(request.gap)


def routes(problem: DesignProblem, request: SolveRequest) -> NDArray[np.object_]:
    """Return the route of each problem (K,): that of the first line that applies."""
    secrets, _, outputs = problem.shape
    epsilon, robust, settings = problem.least_epsilon, problem.privacy is not None, request.settings
    cost_of_a_trace = outputs * np.exp(-epsilon) * problem.scale
    negligible = settings.negligible * request.gap
    table = (
        (Route.SINGLE_OUTPUT, problem.scale <= negligible),
        (Route.UNCONSTRAINED, secrets == 1 or outputs == 1),
        (Route.UNCONSTRAINED, cost_of_a_trace <= negligible),
        (Route.CONSTANT, (problem.pair_epsilon == 0).all(axis=1) & robust),
        (Route.NEAR_ZERO, epsilon < settings.smallest_epsilon),
        (Route.WINDOWS, request.windows if robust else _windows_suffice(problem, request)),
        (Route.PAIRS, True),
    )
    taken, all_of_them = np.full(epsilon.shape, None, dtype=object), np.ones(epsilon.shape, dtype=bool)
    for route, applies in reversed(table):
        taken[all_of_them & applies] = route
    return taken


def _windows_suffice(problem: DesignProblem, request: SolveRequest) -> bool:
    """Return whether to take windows under the estimate: quicker at this gap, or pairs take too long."""
    settings = request.settings
    many = problem.counts[0].size >= settings.windows_cells and problem.pair_epsilon.shape[1] == 1
    reached = request.gap >= (
        settings.windows_gap if problem.utility is None else settings.windows_robust_gap
    )
    return many and (reached or block_bytes(problem, settings) > settings.slow_bytes)


def _seconds_a_step(problem: DesignProblem, request: SolveRequest) -> float:
    """About how long a step of pairs takes for one problem."""
    secrets, values, outputs = problem.shape
    return request.settings.seconds_a_number * outputs * 2 * secrets * (secrets - 1) * values


def attempts(
    problem: DesignProblem, route: Route, request: SolveRequest
) -> Iterator[tuple[Route, SolveRequest]]:
    """Return the routes to try in turn while a gap is open; the best result is kept.

    The closed forms are private whatever happened to the engine. The gap of robust windows is due to the
    windows, and pairs whose Newton blocks are too large are not tried again. Windows under the estimate are
    tried once more, with whole corrections, before pairs, which take far longer.
    """
    settings, robust = request.settings, problem.privacy is not None
    if request.seconds_left <= 0:  # a search has used up the time
        yield from ((Route.SINGLE_OUTPUT, request), (Route.UNCONSTRAINED, request))
        return
    a_step = _seconds_a_step(problem, request)
    if route is Route.PAIRS and robust and settings.usual_steps * a_step > request.seconds_left:
        yield Route.WINDOWS, replace(request, callback=None)
    if route is Route.WINDOWS or 2 * a_step <= request.seconds_left:
        yield route, request
    yield Route.SINGLE_OUTPUT, request
    yield Route.UNCONSTRAINED, request
    by_design = route is Route.WINDOWS and robust
    if route is Route.WINDOWS and not robust and request.seconds_left > 0:
        whole = replace(settings, blends=settings.careful_blends)
        yield route, replace(request, settings=whole, callback=None)
    small = block_bytes(problem, settings) <= settings.most_bytes
    if small and not by_design and 2 * a_step <= request.seconds_left:
        careful = replace(settings, lag=settings.careful_lag)
        yield Route.PAIRS, replace(request, settings=careful, callback=None)


def _solve_by(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """Solve all problems by one route, and try others where the gap stays open."""
    if route not in _ENGINE:
        return _carry_out(problem, route, request)
    solved: CertifiedBatch | None = None
    left, skipped = np.arange(len(problem.counts)), True
    for way, asked in attempts(problem, route, request):
        new = _carry_out(problem if solved is None else problem.subset(left), way, asked)
        skipped = skipped and way is not route
        if solved is None:
            solved = new
        else:
            before = solved.subset(left)
            reason = new.reason if way in _ENGINE else before.reason
            solved = solved.replaced(left, replace(better(before, new), reason=reason))
        left = np.flatnonzero(~solved.closes(request.gap))
        if len(left) == 0:
            break
    assert solved is not None
    if skipped or request.seconds_left < 0:
        solved.reason[left] = Reason.TIME_LIMIT
    return solved


def _carry_out(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    match route:
        case Route.SINGLE_OUTPUT:
            return solve_single_output(problem)
        case Route.UNCONSTRAINED:
            return solve_unconstrained(problem)
        case Route.CONSTANT:
            return solve_constant(problem, request.gap)
        case Route.NEAR_ZERO:
            return solve_near_zero(problem, request, lambda larger: solve_batch(larger, request))
    solved = solve_by_engine(problem, route, request)
    if route is Route.WINDOWS and problem.privacy is not None and request.seconds_left > 0:
        rough = replace(request, gap=max(request.gap, request.settings.rough_gap), callback=None)
        relaxed = solve_by_engine(replace(problem, privacy=None), Route.WINDOWS, rough)
        return solved.with_bound_of(relaxed)  # private over a set implies private under its centre
    return solved
