"""Large blocks on every core: one Python thread for each, and BLAS kept to one thread per call.

BLAS would share out the columns of one matrix at a time, and its threads wait for each other by
spinning; where other work keeps a core busy, that costs many times what it saves. Whole matrices
share out without waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

import numpy as np

from rldp._common.cores import core_count
from rldp.designer.engine.settings import Settings
from rldp.theory.namespace import Array

__all__ = ["each", "in_context", "on_every_core", "runs"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_every_core(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Call ``work`` on every item, a thread for each core."""
    with ThreadPoolExecutor(core_count()) as pool:
        for _ in pool.map(in_context(work), items):
            pass


def in_context(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Make ``work`` run in the caller's context on other threads, where NumPy's ``errstate`` holds too."""
    context = copy_context()
    return lambda item: context.copy().run(work, item)


def runs(count: int, size: int, like: Array, settings: Settings) -> list[slice]:
    """Runs of ``count`` items, of ``size`` bytes each, that fit the cache, or an accelerator, together."""
    most = settings.part_bytes if type(like) is np.ndarray else settings.device_part_bytes
    some = max(1, most // size)
    return [slice(i, min(i + some, count)) for i in range(0, count, some)]


def each(work: Callable[[Item], None], items: Sequence[Item], like: Array) -> None:
    """Call ``work`` on every item: on every core where ``like`` is NumPy's, otherwise one after the other."""
    if type(like) is np.ndarray and len(items) > 1:
        on_every_core(work, items)
        return
    for item in items:
        work(item)
