"""What a batch of designs will hold in memory at once, before it is asked for."""

from __future__ import annotations

from rldp._common.cores import core_count
from rldp._common.memory import require_bytes
from rldp.designer.engine.settings import SETTINGS
from rldp.designer.engine.terms.pair_curvature import has_few_ranks
from rldp.designer.routes import Route, block_bytes
from rldp.theory.model import DesignProblem

__all__ = ["ADVICE", "design_bytes", "design_seconds", "problems_at_once", "require_memory"]

ADVICE = "windows=True (--windows), fewer values, secrets or outputs, or smaller batches need less"


def require_memory(problem: DesignProblem, route: Route, *, on_device: bool = False) -> None:
    """Refuse problems that would take more memory than there is.

    Raises
    ------
    NotEnoughMemory
    """
    secrets, values, outputs = problem.shape
    shape = f"{secrets} secrets × {values} values × {outputs} outputs"
    many = f"{len(problem.counts)} protocols" if len(problem.counts) > 1 else "a protocol"
    time = "" if on_device else f" takes about {_duration(design_seconds(problem, route))} and"
    purpose = f"designing {many} of {shape}{time}"
    require_bytes(purpose, design_bytes(problem, route, on_device=on_device), ADVICE)


def design_bytes(problem: DesignProblem, route: Route, *, on_device: bool = False) -> int:
    """An estimate of the most that is held at once.

    The proofs of all problems, twice, for they are put together; and what the engine or a closed form works
    with, on every core: arrays of the size of Newton blocks and of pairs, as many as were counted.
    """
    secrets, values, outputs = problem.shape
    k = len(problem.counts)
    pairs = 8 * outputs * secrets * (secrets - 1) * values  # one end of all pairs
    table = 8 * outputs * secrets * values
    kept = 2 * k * (2 * pairs + table)
    if route is Route.PAIRS:
        work = SETTINGS.block_copies * block_bytes(problem) + SETTINGS.pair_copies * pairs
    elif route is Route.WINDOWS:
        robust = problem.privacy is not None
        work = (SETTINGS.window_copies if robust else SETTINGS.simple_copies) * pairs
    else:
        return kept + k * SETTINGS.simple_copies * (pairs + table)
    at_once = k if on_device else min(k, problems_at_once(problem) * core_count())
    return kept + at_once * (SETTINGS.simple_copies * (pairs + table) if on_device else work + table)


def design_seconds(problem: DesignProblem, route: Route) -> float:
    """A rough estimate of the time that designs take, within a factor of four or so.

    Numbers of all pairs and operations on Newton blocks, each step, at what they were measured to cost.
    """
    secrets, values, outputs = problem.shape
    cells, ends = secrets * values, 2 * secrets * (secrets - 1)
    if route is not Route.PAIRS:
        numbers, operations = 2 * outputs * cells, secrets * values**2 * (values + 4 * outputs) + outputs**3
    elif problem.privacy is not None and has_few_ranks(secrets, values):
        numbers = outputs * ends * values
        operations = outputs * (2 * ends) ** 3 + 4 * outputs * secrets**3 * values**2 + 4 * cells**3
    else:
        numbers, operations = outputs * ends * values, outputs * cells**3
    step = SETTINGS.seconds_a_number * numbers + SETTINGS.seconds_an_operation * operations
    return len(problem.counts) * SETTINGS.usual_steps * step


def _duration(seconds: float) -> str:
    """In words, with one or two digits."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return f"{max(1, round(seconds))} seconds" if seconds >= 1.5 else "a second"


def problems_at_once(problem: DesignProblem) -> int:
    """How many are solved together on one core: as many as fit its cache."""
    return max(1, min(SETTINGS.chunk_problems, SETTINGS.chunk_bytes // block_bytes(problem)))
