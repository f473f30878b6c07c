"""How many cores this process may use, and BLAS kept to one thread while Python's threads share them."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["core_count", "one_blas_thread"]

_GROUP = Path("/sys/fs/cgroup")


@lru_cache(maxsize=1)
def core_count() -> int:
    """Return how many cores the system lets this process use: its affinity and its container's quota.

    The first answer is kept. Asking the system takes as long as many operations on small arrays.
    """
    quota = _quota()
    return _allowed() if quota is None else max(1, min(_allowed(), quota))


def _allowed() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quota() -> int | None:
    """How many cores' worth of time a container gets, rounded up; None where there is no limit."""
    with suppress(OSError, ValueError):
        quota, period = (_GROUP / "cpu.max").read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    with suppress(OSError, ValueError):  # the first version of control groups
        quota, period = ((_GROUP / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return math.ceil(int(quota) / int(period)) if int(quota) > 0 else None
    return None


class _OneThread:
    """The limit on BLAS, one for the whole process: the first user sets it, the last takes it off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def join(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep every BLAS that is loaded to one thread per call, as long as any caller is inside.

    BLAS has one limit for the whole process. Calls may overlap in any order: the limit that was there before
    the first of them is back after the last.
    """
    _ONE_THREAD.join()
    try:
        yield
    finally:
        _ONE_THREAD.leave()


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The libraries that NumPy and SciPy have loaded; looking for them takes as long as a small design."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
