"""What a batch of designs will hold in memory at once, before it is asked for."""

from __future__ import annotations

import math

from rldp._common.process import core_count, require_bytes
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.pairs import has_few_ranks
from rldp.designer.status import Route
from rldp.theory.model import DesignProblem

__all__ = ["ADVICE", "block_bytes", "design_bytes", "device_bytes", "problems_at_once", "require_memory"]

ADVICE = "windows=True, fewer values, secrets or outputs, or smaller batches need less"

# Arrays that are held at once, counted with tracemalloc.
_BLOCK_COPIES = 2  # of the size of the Newton blocks, with pairs
_PAIR_COPIES = 150  # of the size of one end of all pairs: 80 to 100 for up to 20 secrets, 150 at 1000×2
_WINDOW_COPIES = 25  # the same of windows over a set
_SIMPLE_COPIES = 8  # the same of windows under the estimate and of closed forms
_DEVICE_BLOCK_COPIES, _DEVICE_PAIR_COPIES = 4, 120  # on an accelerator


def require_memory(
    problem: DesignProblem, route: Route, settings: Settings, *, on_device: bool = False
) -> None:
    """Refuse problems that would take more memory than there is.

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
        work = _BLOCK_COPIES * block_bytes(problem, settings) + _PAIR_COPIES * pairs
    elif route is Route.WINDOWS:
        robust = problem.privacy is not None
        work = (_WINDOW_COPIES if robust else _SIMPLE_COPIES) * pairs
    else:
        return kept + k * _SIMPLE_COPIES * (pairs + table)
    at_once = k if on_device else min(k, problems_at_once(problem, settings) * core_count())
    return kept + at_once * (_SIMPLE_COPIES * (pairs + table) if on_device else work + table)


def problems_at_once(problem: DesignProblem, settings: Settings) -> int:
    """How many are solved together on one core: as many as fit its cache."""
    return max(1, min(settings.chunk_problems, settings.chunk_bytes // block_bytes(problem, settings)))


def device_bytes(problem: DesignProblem) -> int:
    """Of the engine's arrays for one problem on an accelerator."""
    secrets, values, outputs = problem.shape
    cells = secrets * values
    return 8 * outputs * cells * (_DEVICE_BLOCK_COPIES * cells + _DEVICE_PAIR_COPIES * (secrets - 1))


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
