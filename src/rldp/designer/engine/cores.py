"""Large blocks on every core: one Python thread for each, and BLAS kept to one thread per call.

BLAS would share out the columns of one matrix at a time, and its threads wait for each other by
spinning; where other work keeps a core busy, that costs many times what it saves. Whole matrices
share out without waiting.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from rldp.designer.engine.settings import SETTINGS
from rldp.theory.namespace import Array

__all__ = ["core_count", "each", "on_every_core", "one_blas_thread", "runs"]

Item = TypeVar("Item")


def on_every_core(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Call ``work`` on every item, a thread for each core."""
    with ThreadPoolExecutor(core_count()) as pool:
        for _ in pool.map(work, items):
            pass


def runs(count: int, size: int, like: Array) -> list[slice]:
    """Runs of ``count`` items, of ``size`` bytes each, that fit the cache, or an accelerator, together."""
    most = SETTINGS.part_bytes if type(like) is np.ndarray else SETTINGS.device_part_bytes
    some = max(1, most // size)
    return [slice(i, min(i + some, count)) for i in range(0, count, some)]


def each(work: Callable[[Item], None], items: Sequence[Item], like: Array) -> None:
    """Call ``work`` on every item: on every core where ``like`` is NumPy's, otherwise one after the other."""
    if type(like) is np.ndarray and len(items) > 1:
        on_every_core(work, items)
        return
    for item in items:
        work(item)


@lru_cache(maxsize=1)
def core_count() -> int:
    """Of this machine; asking the system takes as long as twenty operations on small arrays."""
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep every BLAS that is loaded to one thread per call, in this thread and those it starts."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The libraries that NumPy and SciPy have loaded; looking for them takes as long as a small design."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
