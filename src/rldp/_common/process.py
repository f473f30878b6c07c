"""Properties of the whole process: cores, threads of BLAS, memory, warnings, libraries.

Every change is undone, even if several threads make it at once. A lack of memory is reported in a sentence,
before the memory is requested if possible. Python's ``warnings.catch_warnings`` changes the filters of the
whole process; :func:`without` silences a warning in one thread only.
"""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from rldp.errors import MissingDependency, NotEnoughMemory

__all__ = [
    "available_bytes",
    "core_count",
    "in_context",
    "needs",
    "on_every_core",
    "one_blas_thread",
    "require_bytes",
    "silenced",
    "warn",
    "within_memory",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

_GROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_ALWAYS_TRIED = 2**28  # less than a quarter of a GiB is always tried
_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("_SILENCED", default=())


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
    """Return the number of cores whose time a container gets, rounded up; None without a limit."""
    with suppress(OSError, ValueError):
        quota, period = (_GROUP / "cpu.max").read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    with suppress(OSError, ValueError):  # the first version of control groups
        quota, period = ((_GROUP / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return math.ceil(int(quota) / int(period)) if int(quota) > 0 else None
    return None


class _OneThread:
    """The limit on BLAS for the whole process: the first user sets it, the last removes it."""

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
    """Return the libraries that NumPy and SciPy have loaded; the search takes as long as a small design."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def on_every_core(work: Callable[[Item], None], items: Iterable[Item], *, most: int | None = None) -> None:
    """Call ``work`` on every item, a thread for each core; BLAS is best kept to one thread meanwhile.

    BLAS would divide one matrix at a time among its threads, which wait for each other by spinning; if other
    work keeps a core busy, this costs many times what it saves. Whole matrices are divided without waiting.
    With ``most``, no more threads are used.
    """
    with ThreadPoolExecutor(min(core_count(), most or core_count())) as pool:
        for _ in pool.map(in_context(work), items):
            pass


def in_context(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Make ``work`` run in the caller's context on other threads, including NumPy's ``errstate``."""
    context = copy_context()
    return lambda item: context.copy().run(work, item)


def available_bytes() -> int | None:
    """Return the memory still available to this process; None if unknown."""
    known = [limit for limit in (_of_machine(), _of_group(), _of_process()) if limit is not None]
    return min(known, default=None)


def require_bytes(purpose: str, needed: int, advice: str) -> None:
    """Refuse an operation that needs more memory than is available.

    Parameters
    ----------
    purpose : str
        The operation: the subject of the sentence.
    needed : int
        Bytes, by an estimate based on smaller cases.
    advice : str
        How to need less: a clause.

    Raises
    ------
    NotEnoughMemory
        If more than ``needed`` is not available.
    """
    if needed <= _ALWAYS_TRIED:
        return
    available = available_bytes()
    if available is not None and needed > available:
        raise NotEnoughMemory(
            f"{purpose} needs about {_gibibytes(needed)} of memory, but {_gibibytes(available)} "
            f"{'are' if available else 'is'} available; {advice}"
        )


@contextmanager
def within_memory(purpose: str, advice: str) -> Iterator[None]:
    """Turn a MemoryError in the block into a sentence.

    Raises
    ------
    NotEnoughMemory
        If the block raises MemoryError.
    """
    try:
        yield
    except NotEnoughMemory:
        raise
    except MemoryError as error:
        raise NotEnoughMemory(f"{purpose} needs more memory than is available; {advice}") from error


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _of_group() -> int | None:
    """Return the memory that a container may still use; its caches can be freed."""
    with suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        kept = (_GROUP / "memory.stat").read_text(encoding="ascii").split()
        cached = int(kept[kept.index("inactive_file") + 1])
        return max(0, limit - used + cached)
    return None


def _of_process() -> int | None:
    """Return the memory that ``ulimit -v`` leaves."""
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    return None


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"


def warn(message: str, category: type[Warning], *, stacklevel: int) -> None:
    """Warn as ``warnings.warn`` does, unless the caller has silenced this category."""
    if not issubclass(category, _SILENCED.get()):
        warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def silenced(*categories: type[Warning]) -> Iterator[None]:
    """Silence these warnings of the library while the block runs, in this thread and those it starts."""
    token = _SILENCED.set((*_SILENCED.get(), *categories))
    try:
        yield
    finally:
        _SILENCED.reset(token)


@contextmanager
def needs(purpose: str, library: str, *, install: str | None = None) -> Iterator[None]:
    """Turn an ImportError in the block into a message with the pip command that installs ``library``.

    Parameters
    ----------
    purpose : str
        The feature that needs the library: the subject of the sentence.
    library : str
        The usual name of the library.
    install : str, optional
        The argument of pip, such as "robust-ldp[paper]"; by default the library itself.

    Raises
    ------
    MissingDependency
        If the block raises ImportError.

    Examples
    --------
    >>> with needs("drawing", "crayons", install="robust-ldp[plots]"):
    ...     import crayons
    Traceback (most recent call last):
    rldp.errors.MissingDependency: drawing needs crayons; pip install 'robust-ldp[plots]' installs it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        what = library if install is None else install
        line = f"pip install '{what}'" if "[" in what else f"pip install {what}"
        raise MissingDependency(f"{purpose} needs {library}; {line} installs it") from error
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise MissingDependency(f"{purpose} needs {library}, which cannot be imported: {reason}") from error
