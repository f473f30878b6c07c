"""Each problem of a batch by its own route, in chunks, on every core or on an accelerator."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rldp._common.cores import core_count, one_blas_thread
from rldp.designer.certify import CertifiedBatch, joined
from rldp.designer.closed_forms import solve_constant, solve_single_output, solve_unconstrained
from rldp.designer.devices import CPU, Device, in_memory
from rldp.designer.engine import EngineResult, Progress, solve
from rldp.designer.engine.algebra.arrays import map_arrays, take_problems
from rldp.designer.engine.cores import in_context
from rldp.designer.engine.settings import Settings
from rldp.designer.finish import finished, solve_chunk
from rldp.designer.memory import problems_at_once, require_memory
from rldp.designer.near_zero import solve_near_known, solve_near_zero
from rldp.designer.routes import Route, for_engine, is_near_known, routes
from rldp.theory.model import DesignProblem

__all__ = ["solve_batch"]

Callback = Callable[[Progress], None] | None

_SMALLEST_SCALE = 1e-250  # distortions below are as good as none


def solve_batch(
    problem: DesignProblem,
    gap: float,
    settings: Settings,
    *,
    windows: bool = False,
    callback: Callback = None,
    device: Device = CPU,
) -> CertifiedBatch:
    """Solve each problem by its route, the engine's arrays on ``device``.

    Distortions that are all below one are first measured in a smaller unit, a power of two so that
    nothing is rounded: a gap means the same whatever unit a user's values come in.
    """
    inside = partial(solve_batch, gap=gap, settings=settings, windows=windows)
    if is_near_known(problem, settings):
        return solve_near_known(problem, settings, partial(inside, callback=callback, device=device))
    unit = _unit(problem.scale)
    scaled = replace(problem, distortion=problem.distortion / unit)
    taken = routes(scaled, gap, settings, windows=windows)
    found = set(taken.tolist())
    places = [(np.flatnonzero(taken == route), route) for route in Route if route in found]
    parts = [(scaled.subset(index), route) for index, route in places]
    for part, route in parts:
        require_memory(part, route, settings, on_device=not device.is_cpu)
    with one_blas_thread():
        solutions = [_solve(part, route, gap, settings, inside, callback, device) for part, route in parts]
    solved = joined(solutions).subset(np.argsort(np.concatenate([index for index, _ in places])))
    solved = solved.explained(gap)
    in_unit = ("objective", "lower_bound", "eta_utility", "z", "known")
    return replace(solved, **{name: unit * getattr(solved, name) for name in in_unit})


def _unit(scale: float) -> float:
    return 2.0 ** math.floor(math.log2(scale)) if _SMALLEST_SCALE < scale < 1 else 1.0


def _solve(
    problem: DesignProblem,
    route: Route,
    gap: float,
    settings: Settings,
    inside: Callable[[DesignProblem], CertifiedBatch],
    callback: Callback,
    device: Device,
) -> CertifiedBatch:
    """All problems by one route; ``inside`` solves problems of a larger ε."""
    match route:
        case Route.SINGLE_OUTPUT:
            return solve_single_output(problem)
        case Route.UNCONSTRAINED:
            return solve_unconstrained(problem)
        case Route.CONSTANT:
            return solve_constant(problem, gap)
        case Route.NEAR_ZERO:
            return solve_near_zero(problem, gap, settings, inside)
    if device.is_cpu:
        return _on_every_core(problem, route, gap, settings, callback)
    return _on_device(problem, route, gap, settings, callback, device)


def _on_every_core(
    problem: DesignProblem, route: Route, gap: float, settings: Settings, callback: Callback
) -> CertifiedBatch:
    """In chunks that fit the cache, one thread each."""
    k = len(problem.counts)
    chunk = problems_at_once(problem, settings)
    if k <= chunk:
        return solve_chunk(problem, route, gap, settings, callback)
    cores = core_count()
    parts = _split(problem, min(cores * -(-k // (chunk * cores)), k))  # as many for each core
    solved: list[CertifiedBatch] = []
    interrupted = threading.Event()

    def go_on(_: Progress) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    def work(part: DesignProblem) -> CertifiedBatch:
        return solve_chunk(part, route, gap, settings, go_on)

    with ThreadPoolExecutor(min(len(parts), cores)) as pool:
        try:
            for part in pool.map(in_context(work), parts):
                solved.append(part)
                if callback is not None:
                    callback(_chunks_done(solved, k))
        except BaseException:  # the others end at their next step, and nobody waits for more
            interrupted.set()
            raise
    return joined(solved)


def _split(problem: DesignProblem, count: int) -> list[DesignProblem]:
    return [problem.subset(index) for index in np.array_split(np.arange(len(problem.counts)), count)]


def _chunks_done(solved: list[CertifiedBatch], problems: int) -> Progress:
    gaps = [(s.objective - s.lower_bound) / np.maximum(1, s.objective) for s in solved]
    done = sum(len(gap) for gap in gaps)
    return Progress(len(solved), done, problems, float(max(gap.max() for gap in gaps)))


def _on_device(
    problem: DesignProblem, route: Route, gap: float, settings: Settings, callback: Callback, device: Device
) -> CertifiedBatch:
    """The same engine on an accelerator, as many problems at once as it holds; certified as always."""
    secrets, values, outputs = problem.shape
    of_blocks = settings.device_blocks * secrets * values
    of_pairs = settings.device_pairs * (secrets - 1)
    numbers = outputs * secrets * values * (of_blocks + of_pairs)
    chunk = max(1, device.bytes // (8 * numbers))
    parts = _split(problem, -(-len(problem.counts) // chunk))
    run = partial(solve, gap=gap, settings=settings, windows=route is Route.WINDOWS, callback=callback)
    with device.working():
        solutions = [run(for_engine(part, gap, settings), xp=device.xp) for part in parts]
    work = [
        (part.subset(index), take_problems(solution, index))
        for part, solution in zip(parts, (map_arrays(in_memory, s) for s in solutions), strict=True)
        for index in _indices(len(part.counts), settings)
    ]

    def finish(item: tuple[DesignProblem, EngineResult]) -> CertifiedBatch:
        return finished(*item, route, gap, settings)

    with ThreadPoolExecutor(core_count()) as pool:
        return joined(list(pool.map(in_context(finish), work)))


def _indices(count: int, settings: Settings) -> list[NDArray[np.int64]]:
    return np.array_split(np.arange(count), -(-count // settings.chunk_problems))
