"""The way of a batch: problem → solve → repair → certify, each problem by the route that fits it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from rldp.designer import closed_forms as closed
from rldp.designer.devices import CPU, Device, in_memory
from rldp.designer.engine import Progress, Solution, solve
from rldp.designer.engine.algebra.arrays import map_arrays, take_problems
from rldp.designer.pair_proofs import estimate_witness, pair_eta, pair_witness
from rldp.designer.repair import equalised, repaired
from rldp.theory import bounds
from rldp.theory.dyadic import on_grid
from rldp.theory.model import DesignProblem, Floats, Witness, ordered_pairs

__all__ = ["Solved", "solve_batch"]

Callback = Callable[[Progress], None] | None

_TIGHTER = 0.8  # share of the asked gap that the solver may use up; the rest is for rounding
_CHUNK_BYTES = 2**21  # of the Newton blocks of the problems that are solved together
_DEVICE_BYTES = 2**35  # of arrays on an accelerator
_MANY_CELLS = 100  # from which windows are quicker than pairs under the estimate
_COARSE, _ROBUSTLY_COARSE = 1e-5, 1e-4  # gaps that windows reach there, for a linear and a robust utility
_SLOW_BYTES, _MOST_BYTES = 2**27, 2**31  # of Newton blocks with which pairs take long, or are not tried again
_ROUGHLY = 0.01  # gap of a problem that only gives multipliers for a weak bound
_MOST_MEMBERS = 4_000_000  # numbers in the proof of a lower bound
_SMALLEST_SCALE = 1e-250  # distortions below are as good as none
_SMALLEST_EPSILON = 1e-6  # below, the interior is too thin for floats; see _solve_thin


@dataclass(frozen=True)
class Solved:
    """A batch of designed protocols with their proofs; every field has the problems first.

    Attributes
    ----------
    matrix : array (K, |S|, |U|, |Y|)
        On the grid, rows summing to exactly one, strictly private.
    objective, lower_bound : array (K,)
        Rounded to the safe side.
    eta (K, Y, T, 2), eta_utility (K, 0 or 1), z (K, Y, T), members (K, Y, T, 2, U),
    distribution (K, |S|, |U|) : array
        The proofs; see :class:`rldp.certificate.Certificate`.
    constant : bool array (K,)
        Whether the lower bound rests on ε = 0 instead of z and members.
    """

    matrix: Floats
    objective: Floats
    lower_bound: Floats
    eta: Floats
    eta_utility: Floats
    z: Floats
    members: Floats
    distribution: Floats
    constant: NDArray[np.bool_]


def solve_batch(
    problem: DesignProblem, gap: float, callback: Callback = None, device: Device = CPU
) -> Solved:
    """Solve each problem by the route that fits it, the engine's arrays on ``device``.

    Distortions that are all below one are first measured in a smaller unit, a power of two so that
    nothing is rounded: a gap means the same whatever unit a user's values come in.
    """
    unit = _unit(problem.scale)
    solved = _routed(replace(problem, distortion=problem.distortion / unit), gap, callback, device)
    scaled = ("objective", "lower_bound", "eta_utility", "z")
    return replace(solved, **{name: unit * getattr(solved, name) for name in scaled})


def _unit(scale: float) -> float:
    return 2.0 ** math.floor(math.log2(scale)) if _SMALLEST_SCALE < scale < 1 else 1.0


def _routed(problem: DesignProblem, gap: float, callback: Callback, device: Device) -> Solved:
    """Send each problem where it belongs, and put the answers back in order."""
    if problem.scale <= 0.1 * gap:
        return _solve_single_output(problem)
    easy = _is_easy(problem, gap)
    frozen = ~easy & (problem.epsilon == 0) & (problem.privacy is not None)
    thin = ~easy & ~frozen & (problem.epsilon < _SMALLEST_EPSILON)
    routes: list[tuple[NDArray[np.bool_], Callable[[DesignProblem], Solved]]] = [
        (easy, _solve_easy),
        (frozen, lambda part: _solve_frozen(part, gap)),
        (thin, lambda part: _solve_thin(part, gap)),
        (~easy & ~frozen & ~thin, lambda part: _solve_inside(part, gap, callback, device)),
    ]
    taken = [(np.flatnonzero(mask), route) for mask, route in routes if mask.any()]
    parts = [route(problem.subset(index)) for index, route in taken]
    return _rows(_joined(parts), np.argsort(np.concatenate([index for index, _ in taken])))


def _joined(parts: list[Solved]) -> Solved:
    if len(parts) == 1:
        return parts[0]
    return Solved(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Solved)))


def _rows(solved: Solved, index: NDArray[np.int64]) -> Solved:
    return Solved(*(getattr(solved, f.name)[index] for f in fields(Solved)))


def _with_rows(solved: Solved, index: NDArray[np.int64], rows: Solved) -> Solved:
    """``solved`` with the problems numbered ``index`` replaced."""
    order = np.arange(len(solved.matrix))
    order[index] = len(order) + np.arange(len(index))
    return _rows(_joined([solved, rows]), order)


def _better(one: Solved, other: Solved) -> Solved:
    """Per problem the protocol with the smaller objective, and the larger lower bound."""
    primal = ("matrix", "objective", "eta", "eta_utility")
    smaller = one.objective <= other.objective
    larger = one.lower_bound >= other.lower_bound
    chosen = {}
    for field in fields(Solved):
        a, b = getattr(one, field.name), getattr(other, field.name)
        mask = smaller if field.name in primal else larger
        chosen[field.name] = np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)
    return Solved(**chosen)


def _certified(
    problem: DesignProblem, matrix: Floats, eta: Floats, witness: Witness, start: Floats | None = None
) -> Solved:
    objective, eta_utility = bounds.objective(problem, matrix, start)
    return Solved(
        matrix=matrix,
        objective=objective,
        lower_bound=np.minimum(np.maximum(bounds.lower_bound(problem, witness), 0), objective),
        eta=eta,
        eta_utility=eta_utility,
        z=witness.z,
        members=witness.members,
        distribution=witness.distribution,
        constant=np.zeros(len(matrix), dtype=bool),
    )


def _is_easy(problem: DesignProblem, gap: float) -> NDArray[np.bool_]:
    """Where mixing a little uniform output into the unconstrained optimum is good enough."""
    secrets, outputs = problem.counts.shape[1], problem.distortion.shape[1]
    if secrets == 1 or outputs == 1:
        return np.ones(len(problem.counts), dtype=bool)
    return np.asarray(outputs * np.exp(-problem.epsilon) * problem.scale <= 0.1 * gap)


def _solve_easy(problem: DesignProblem) -> Solved:
    """Private for every distribution at the ε of the engine; best where next to nothing is forbidden."""
    matrix = closed.nearly_unconstrained(problem)
    eta = bounds.trivial_eta(problem, matrix)
    return _certified(problem, matrix, eta, closed.unconstrained_witness(problem))


def _solve_single_output(problem: DesignProblem) -> Solved:
    """Always the same output: private at every ε and for every distribution.

    Good enough as it stands where no distortion is worth the gap.
    """
    matrix = closed.best_single_output(problem)
    eta = bounds.trivial_eta(problem, matrix)
    return _certified(problem, matrix, eta, closed.unconstrained_witness(problem))


def _solve_frozen(problem: DesignProblem, gap: float) -> Solved:
    """ε = 0 over a set: only protocols that ignore secret and value are private."""
    matrix, distribution = closed.best_constant(problem, gap)
    matrix = on_grid(matrix)
    eta = bounds.trivial_eta(problem, matrix)
    solved = _certified(problem, matrix, eta, closed.unconstrained_witness(problem))
    bound = np.minimum(bounds.constant_lower_bound(problem, distribution), solved.objective)
    constant = np.ones(len(matrix), dtype=bool)
    return replace(solved, lower_bound=bound, distribution=distribution, constant=constant)


def _solve_thin(problem: DesignProblem, gap: float) -> Solved:
    """ε so small, or 0 under the estimate, that the interior is too thin for floats.

    A slightly larger ε allows more: it gives the lower bound, and a protocol from which one that is
    private at every ε is made by exact arithmetic (nominal privacy). Otherwise a constant protocol
    serves, which at such ε costs next to nothing.
    """
    relaxed = replace(problem, epsilon=np.full_like(problem.epsilon, _SMALLEST_EPSILON))
    near = _solve_inside(relaxed, gap, None)
    witness = Witness(near.z, near.members, near.distribution)

    def judged(matrix: Floats) -> Solved:
        return _certified(problem, matrix, bounds.trivial_eta(problem, matrix), witness)

    constant = on_grid(closed.best_constant(problem, gap)[0])
    if problem.privacy is not None:
        return judged(constant)
    exact = [equalised(counts, m) for counts, m in zip(problem.counts, near.matrix, strict=True)]
    found = np.stack([c if e is None else e for e, c in zip(exact, constant, strict=True)])
    return _better(judged(found), judged(constant))


def _solve_inside(problem: DesignProblem, gap: float, callback: Callback, device: Device = CPU) -> Solved:
    """The interior-point engine, in chunks that fit the cache, one thread each."""
    if problem.privacy is None:
        problem = replace(problem, decoupled=_by_windows(problem, gap))
    if not device.is_cpu:
        return _solve_on_device(problem, gap, callback, device)
    k = len(problem.counts)
    chunk = max(1, min(256, _CHUNK_BYTES // _block_bytes(problem)))
    cores = os.cpu_count() or 1
    count = 1 if k <= chunk else cores * -(-k // (chunk * cores))  # as many for each core
    parts = [problem.subset(index) for index in np.array_split(np.arange(k), min(count, k))]
    if len(parts) == 1:
        return _solve_chunk(problem, gap, callback)
    solved: list[Solved] = []
    with ThreadPoolExecutor(min(len(parts), cores)) as pool:
        for part in pool.map(lambda part: _solve_chunk(part, gap, None), parts):
            solved.append(part)
            if callback is not None:
                callback(_chunks_done(solved, k))
    return _joined(solved)


def _by_windows(problem: DesignProblem, gap: float) -> bool:
    """Whether nominal privacy is kept by windows: the same, much cheaper, but not to the smallest gaps."""
    many = problem.counts[0].size >= _MANY_CELLS
    coarse = gap >= (_COARSE if problem.utility is None else _ROBUSTLY_COARSE)
    return many and (coarse or _block_bytes(problem) > _SLOW_BYTES)


def _block_bytes(problem: DesignProblem) -> int:
    """Of the Newton blocks of one problem with pairs."""
    return int(8 * problem.distortion.shape[1] * problem.counts[0].size ** 2)


def _solve_on_device(problem: DesignProblem, gap: float, callback: Callback, device: Device) -> Solved:
    """The same engine on an accelerator, as many problems at once as it holds; certified as always."""
    k, secrets, values = problem.counts.shape
    outputs = problem.distortion.shape[1]
    cells = outputs * secrets * values
    numbers = cells * (4 * secrets * values + 120 * (secrets - 1))  # per problem, of blocks and pairs
    chunk = max(1, _DEVICE_BYTES // (8 * numbers))
    parts = [problem.subset(index) for index in np.array_split(np.arange(k), -(-k // chunk))]
    with device.working():
        solutions = [solve(part, gap=_TIGHTER * gap, xp=device.xp, callback=callback) for part in parts]
    solutions = [map_arrays(in_memory, solution) for solution in solutions]

    def finished(item: tuple[DesignProblem, Solution, NDArray[np.int64]]) -> Solved:
        part, solution, index = item
        return _finished(part.subset(index), take_problems(solution, index), gap)

    work = [
        (part, solution, index)
        for part, solution in zip(parts, solutions, strict=True)
        for index in np.array_split(np.arange(len(part.counts)), -(-len(part.counts) // 256))
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return _joined(list(pool.map(finished, work)))


def _chunks_done(solved: list[Solved], problems: int) -> Progress:
    gaps = [(s.objective - s.lower_bound) / np.maximum(1, s.objective) for s in solved]
    finished = sum(len(gap) for gap in gaps)
    return Progress(len(solved), finished, problems, float(max(gap.max() for gap in gaps)))


def _solve_chunk(problem: DesignProblem, gap: float, callback: Callback) -> Solved:
    return _finished(problem, solve(problem, gap=_TIGHTER * gap, callback=callback), gap)


def _finished(problem: DesignProblem, solution: Solution, gap: float, careful: bool = False) -> Solved:
    """Repaired, certified, and replaced where something simple is better, or a more careful path."""
    matrix = np.moveaxis(solution.q, 1, 3)
    eta = None if problem.privacy is None else solution.eta
    if problem.decoupled and eta is not None:
        eta = pair_eta(problem, matrix)
    matrix, eta, proved = repaired(problem, matrix, eta, solution.objective * problem.scale)
    if eta is None:
        eta = bounds.trivial_eta(problem, matrix)
    start = None if problem.utility is None else solution.eta_utility * problem.scale
    solved = _certified(problem, matrix, eta, _witness(problem, solution, gap), start)
    objective = np.where(proved, solved.objective, np.inf)
    solved = replace(solved, objective=objective)
    missed = np.flatnonzero(~(objective - solved.lower_bound <= gap * np.maximum(1, objective)))
    if len(missed) == 0:
        return solved
    hard = problem.subset(missed)
    tries = [_rows(solved, missed), _solve_single_output(hard), _solve_easy(hard)]
    if not careful:
        ways = [(way, solve(way, gap=_TIGHTER * gap, careful=True)) for way in _other_ways(hard)]
        tries += [_finished(way, found, gap, careful=True) for way, found in ways]
    return _with_rows(solved, missed, reduce(_better, tries))


def _other_ways(problem: DesignProblem) -> list[DesignProblem]:
    """What else may close a gap, or find something better: pairs, with more care, and windows.

    Pairs whose blocks are too large are left out; and the gap of robust windows is due to the windows.
    """
    pairs, windows = (replace(problem, decoupled=decoupled) for decoupled in (False, True))
    if problem.privacy is None:
        return [pairs] if _block_bytes(problem) <= _MOST_BYTES else []
    return [] if problem.decoupled else [pairs, windows]


def _witness(problem: DesignProblem, solution: Solution, gap: float) -> Witness:
    """What proves the lower bound, in the units of the problem."""
    witness = replace(solution.witness, z=solution.witness.z * problem.scale)
    if problem.decoupled:
        witness = _pair_witness(problem, witness, gap)
    if problem.privacy is None:  # a secret that was never seen has no nominal constraint to weigh
        seen = problem.counts.sum(axis=2) > 0
        constrained = seen[:, ordered_pairs(seen.shape[1])].all(axis=2)
        witness = replace(witness, z=np.where(constrained[:, None], witness.z, 0.0))
    if problem.enlarged_privacy:
        members = bounds.estimated_members(problem, problem.distortion.shape[1])
        witness = replace(witness, members=members)
    if problem.enlarged_utility:
        witness = replace(witness, distribution=problem.estimate)
    return witness


def _pair_witness(problem: DesignProblem, rows: Witness, gap: float) -> Witness:
    """Of pairs, from one of windows: that of the windows or that of the estimate, which proves more.

    Where members are too many to hand on, that of the estimate.
    """
    if problem.privacy is None:
        return estimate_witness(problem, rows)
    near = solve(replace(problem, privacy=None), gap=max(gap, _ROUGHLY)).witness
    near = estimate_witness(problem, replace(near, z=near.z * problem.scale))
    if near.members.size > _MOST_MEMBERS:
        return near
    wide = pair_witness(problem, rows)
    better = bounds.lower_bound(problem, wide) > bounds.lower_bound(problem, near)
    return Witness(
        *(
            np.where(better.reshape((-1,) + (1,) * (one.ndim - 1)), one, other)
            for one, other in ((getattr(wide, f.name), getattr(near, f.name)) for f in fields(Witness))
        )
    )
