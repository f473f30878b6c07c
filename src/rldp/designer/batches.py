"""The engine on batches of any size: in chunks, on every core or on an accelerator."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from rldp._common.process import core_count, in_context
from rldp.designer.certify import CertifiedBatch, joined
from rldp.designer.devices import in_memory
from rldp.designer.engine import EngineResult, Progress, solve
from rldp.designer.engine.algebra.arrays import map_arrays, take_problems
from rldp.designer.finish import finished
from rldp.designer.memory import device_bytes, problems_at_once
from rldp.designer.pair_levels import workable
from rldp.designer.request import SolveRequest
from rldp.designer.status import Route
from rldp.theory.model import DesignProblem

__all__ = ["solve_by_engine"]


def solve_by_engine(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """All problems by one of the engine's routes, certified."""
    if not request.device.is_cpu:
        return _on_device(problem, route, request)
    k = len(problem.counts)
    chunk = problems_at_once(problem, request.settings)
    if k <= chunk:
        return _solve_chunk(problem, route, request)
    cores = core_count()
    return _on_every_core(_split(problem, min(cores * -(-k // (chunk * cores)), k)), route, request)


def _solve(problem: DesignProblem, route: Route, request: SolveRequest) -> EngineResult:
    if request.leaves_known_to_repair:
        problem = replace(problem, epsilon_known=math.inf)
    return solve(
        workable(problem, request),
        gap=request.gap,
        settings=request.settings,
        windows=route is Route.WINDOWS,
        xp=request.device.xp,
        callback=request.callback,
        deadline=request.deadline,
    )


def _solve_chunk(problem: DesignProblem, route: Route, request: SolveRequest) -> CertifiedBatch:
    """Problems that fit the cache together."""
    return finished(problem, _solve(problem, route, request), route, request)


def _on_every_core(parts: list[DesignProblem], route: Route, request: SolveRequest) -> CertifiedBatch:
    """One thread for each chunk."""
    total = sum(len(part.counts) for part in parts)
    solved: list[CertifiedBatch] = []
    interrupted = threading.Event()

    def go_on(_: Progress) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    def work(part: DesignProblem) -> CertifiedBatch:
        return _solve_chunk(part, route, replace(request, callback=go_on))

    with ThreadPoolExecutor(min(len(parts), core_count())) as pool:
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
    """The same engine on an accelerator, as many problems at once as it holds; certified as always."""
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
        return finished(*item, route, request)

    with ThreadPoolExecutor(core_count()) as pool:
        return joined(list(pool.map(in_context(finish), work)))
