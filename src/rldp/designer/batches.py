"""Run the engine on batches of any size: in chunks, on every core or on an accelerator; repair and prove."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rldp._common.process import core_count, in_context, require_bytes
from rldp.designer.certify import CertifiedBatch, certified, joined
from rldp.designer.engine import EngineResult, Progress, Settings, Stop, solve
from rldp.designer.engine.terms.pairs import has_few_ranks
from rldp.designer.pair_levels import with_own_multipliers, workable
from rldp.designer.pair_proofs import estimate_witness, pair_eta, pair_witness
from rldp.designer.repair import repaired
from rldp.designer.request import SolveRequest, in_memory
from rldp.designer.status import Reason, Route
from rldp.theory import bounds
from rldp.theory.arrays import map_arrays, ordered_pairs, take_problems
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = ["ADVICE", "block_bytes", "design_bytes", "problems_at_once", "require_memory", "solve_by_engine"]

ADVICE = "windows=True, fewer values, secrets or outputs, or smaller batches need less"

# Arrays that are held at once, counted with tracemalloc.
_BLOCK_COPIES = 2  # of the size of the Newton blocks, with pairs
_PAIR_COPIES = 150  # of the size of one end of all pairs: 80 to 100 for up to 20 secrets, 150 at 1000×2
_WINDOW_COPIES = 25  # the same of windows over a set
_SIMPLE_COPIES = 8  # the same of windows under the estimate and of closed forms
_DEVICE_BLOCK_COPIES, _DEVICE_PAIR_COPIES = 4, 120  # on an accelerator


def solve_by_engine(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """Solve all problems by one of the engine's routes, and certify the result."""
    if not request.device.is_cpu:
        return _on_device(problem, route, request)
    k = len(problem.counts)
    chunk = problems_at_once(problem, request.settings)
    if k <= chunk:
        return _solve_chunk(problem, route, request)
    threads = _threads(problem, request.settings)
    return _in_threads(_split(problem, min(threads * -(-k // (chunk * threads)), k)), threads, route, request)


def _solve(problem: DesignProblem, route: Route, request: SolveRequest) -> EngineResult:
    cost_of_a_trace = problem.shape[2] * math.exp(-problem.epsilon_known) * problem.scale
    if cost_of_a_trace <= request.settings.negligible * request.gap and problem.epsilon_known < math.inf:
        # κ is left to the repair, which a trace of all outputs costs next to nothing
        problem = replace(problem, epsilon_known=math.inf)
    return solve(
        _worked(problem, request),
        gap=request.gap,
        settings=request.settings,
        windows=route is Route.WINDOWS,
        xp=request.device.xp,
        callback=request.callback,
        deadline=request.deadline,
    )


def _worked(problem: DesignProblem, request: SolveRequest) -> DesignProblem:
    """Return the problem that the engine solves, in which levels of pairs are finite."""
    return problem if problem.pair_epsilon.shape[1] == 1 else workable(problem, request)


def _solve_chunk(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """Solve problems that fit the cache together."""
    return _finished(problem, _solve(problem, route, request), route, request)


def _in_threads(
    parts: list[DesignProblem], threads: int, route: Route, request: SolveRequest
) -> CertifiedBatch:
    """Solve chunks, so many at a time."""
    total = sum(len(part.counts) for part in parts)
    solved: list[CertifiedBatch] = []
    interrupted = threading.Event()

    def go_on(_: Progress) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    def work(part: DesignProblem) -> CertifiedBatch:
        return _solve_chunk(part, route, replace(request, callback=go_on))

    with ThreadPoolExecutor(threads) as pool:
        try:
            for part in pool.map(in_context(work), parts):
                solved.append(part)
                if request.callback is not None:
                    request.callback(_chunks_done(solved, total))
        except BaseException:  # the others end at their next step, and nobody waits for more
            interrupted.set()
            raise
    return joined(solved)


def _split(problem: DesignProblem, count: int) -> list[DesignProblem]:
    return [problem.subset(index) for index in np.array_split(np.arange(len(problem.counts)), count)]


def _chunks_done(solved: list[CertifiedBatch], problems: int) -> Progress:
    worst = max(float(part.gap.max()) for part in solved)
    return Progress(len(solved), sum(len(part.gap) for part in solved), problems, worst)


def _on_device(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """Solve on an accelerator, as many problems at once as fit; certify on the CPU."""
    device, settings = request.device, request.settings
    chunk = max(1, device.bytes // device_bytes(problem))
    parts = _split(problem, -(-len(problem.counts) // chunk))
    with device.working():
        results = [_solve(part, route, request) for part in parts]
    work = [
        (part.subset(index), take_problems(result, index))
        for part, result in zip(parts, (map_arrays(in_memory, result) for result in results), strict=True)
        for index in np.array_split(
            np.arange(len(part.counts)), -(-len(part.counts) // settings.chunk_problems)
        )
    ]

    def finish(item: tuple[DesignProblem, EngineResult]) -> CertifiedBatch:
        return _finished(*item, route, request)

    with ThreadPoolExecutor(_threads(problem, settings)) as pool:
        return joined(list(pool.map(in_context(finish), work)))


def _finished(
    problem: DesignProblem, result: EngineResult, route: Route, request: SolveRequest
) -> CertifiedBatch:
    """Repair and prove; the objective is infinite if no proof was found.

    The protocol keeps the levels that the engine worked with, which are no larger than those of the problem,
    and the same η prove both.
    """
    settings, worked = request.settings, _worked(problem, request)
    matrix = _for_all_secrets(problem, np.moveaxis(result.q, 1, 3))
    eta = None if problem.privacy is None else result.eta
    if route is Route.WINDOWS and eta is not None:
        eta = pair_eta(worked, matrix, eta, settings)
    matrix, eta, proved = repaired(worked, matrix, eta, result.objective * problem.scale, settings)
    witness = _witness(problem, result, route, settings)
    solved = certified(
        problem,
        matrix,
        bounds.trivial_eta(problem, matrix) if eta is None else eta,
        witness if worked is problem else with_own_multipliers(witness, problem, worked),
        route,
        eta_utility=None if problem.utility is None else result.eta_utility * problem.scale,
        steps=result.steps.astype(np.int64),
        reason=_reasons(problem, result, route),
    )
    if proved.all():
        return solved
    return replace(solved, objective=np.where(proved, solved.objective, np.inf))


def _reasons(problem: DesignProblem, result: EngineResult, route: Route) -> NDArray[np.object_]:
    """Return why the engine stopped, for gaps that remain open."""
    among_windows = route is Route.WINDOWS and problem.privacy is not None
    reasons = {
        Stop.GAP_CLOSED: Reason.CLOSED_AMONG_WINDOWS if among_windows else Reason.ROUNDING,
        Stop.NO_PROGRESS: Reason.NO_PROGRESS,
        Stop.STEP_LIMIT: Reason.STEP_LIMIT,
        Stop.TIME_LIMIT: Reason.TIME_LIMIT,
    }
    return np.array([reasons[Stop(int(stop))] for stop in result.stop], dtype=object)


def _witness(problem: DesignProblem, result: EngineResult, route: Route, settings: Settings) -> Witness:
    """Return what proves the lower bound, in the units of the problem."""
    witness = _in_units(problem, result.witness)
    if route is Route.WINDOWS:
        pairs = len(ordered_pairs(problem.shape[0]))
        many = witness.z.shape[1] * pairs * 2 * problem.shape[1] > settings.most_members
        translate = estimate_witness if problem.privacy is None or many else pair_witness
        witness = translate(problem, witness, settings)
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
    """Repeat a row that all secrets share: (K, |S| or 1, …) → (K, |S|, …)."""
    return np.broadcast_to(rows, (len(rows), problem.counts.shape[1], *rows.shape[2:]))


def _in_units(problem: DesignProblem, witness: Witness) -> Witness:
    """Convert to the units of the problem, with a distribution on all cells.

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


# Memory of a batch


def require_memory(
    problem: DesignProblem, route: Route, settings: Settings, *, on_device: bool = False
) -> None:
    """Refuse problems that need more memory than is available.

    Raises
    ------
    NotEnoughMemory
    """
    secrets, values, outputs = problem.shape
    shape = f"{secrets} secrets × {values} values × {outputs} outputs"
    many = f"{len(problem.counts)} protocols" if len(problem.counts) > 1 else "a protocol"
    needed = design_bytes(problem, route, settings, on_device=on_device)
    require_bytes(f"designing {many} of {shape}", needed, ADVICE)


def design_bytes(problem: DesignProblem, route: Route, settings: Settings, *, on_device: bool = False) -> int:
    """Estimate the largest amount of memory held at once.

    The proofs of all problems, twice, for they are put together; and what the engine or a closed form works
    with, on every core: arrays of the size of Newton blocks and of pairs, as many as were counted.
    """
    secrets, values, outputs = problem.shape
    k = len(problem.counts)
    pairs = 8 * outputs * secrets * (secrets - 1) * values  # one end of all pairs
    table = 8 * outputs * secrets * values
    kept = 2 * k * (2 * pairs + table)
    if route is Route.PAIRS:
        work = _BLOCK_COPIES * block_bytes(problem, settings) + _PAIR_COPIES * pairs
    elif route is Route.WINDOWS:
        robust = problem.privacy is not None
        work = (_WINDOW_COPIES if robust else _SIMPLE_COPIES) * pairs
    else:
        return kept + k * _SIMPLE_COPIES * (pairs + table)
    at_once = k if on_device else min(k, problems_at_once(problem, settings) * _threads(problem, settings))
    return kept + at_once * (_SIMPLE_COPIES * (pairs + table) if on_device else work + table)


def problems_at_once(problem: DesignProblem, settings: Settings) -> int:
    """Return how many problems are solved together on one core: as many as fit its cache."""
    return max(1, min(settings.chunk_problems, settings.chunk_bytes // block_bytes(problem, settings)))


def _threads(problem: DesignProblem, settings: Settings) -> int:
    """Return how many threads solve a batch: for small problems, the cores that Python's lock keeps busy."""
    small = block_bytes(problem, settings) <= settings.part_bytes
    return min(core_count(), settings.most_threads) if small else core_count()


def device_bytes(problem: DesignProblem) -> int:
    """Return the bytes of the engine's arrays for one problem on an accelerator."""
    secrets, values, outputs = problem.shape
    cells = secrets * values
    return 8 * outputs * cells * (_DEVICE_BLOCK_COPIES * cells + _DEVICE_PAIR_COPIES * (secrets - 1))


def block_bytes(problem: DesignProblem, settings: Settings) -> int:
    """Return the bytes of the Newton blocks of one problem with pairs.

    A matrix over all cells for each output; or, where ranks are few, one for all of them and the ranks.
    """
    secrets, values, outputs = problem.shape
    cells = values if problem.epsilon_known == 0 else secrets * values
    if problem.privacy is not None and has_few_ranks(secrets, values, settings):
        coupled = 0 < problem.epsilon_known < math.inf  # ranks of a secret reach over all of them
        return 8 * cells * (cells + outputs * 4 * secrets * (secrets if coupled else 1))
    return 8 * outputs * cells**2
