"""Memory that is not there is told of in a sentence, before it is asked for where that can be known."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rldp.errors import NotEnoughMemory

__all__ = ["available_bytes", "require_bytes", "within_memory"]

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")
_ALWAYS_TRIED = 2**28  # what needs less than a quarter of a GiB is tried whatever the system says


def available_bytes() -> int | None:
    """What this process can still get, as far as the system tells; None where it does not."""
    known = [found for found in (_of_machine(), _of_group(), _of_process()) if found is not None]
    return min(known, default=None)


def require_bytes(purpose: str, needed: int, advice: str) -> None:
    """Refuse what would take more memory than there is.

    Parameters
    ----------
    purpose : str
        What needs it: the subject of the sentence.
    needed : int
        Bytes, by an estimate that was counted on smaller cases.
    advice : str
        What needs less: a clause.

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
    """The block may run out of memory all the same, and the error is a sentence then.

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
    """What a container may still use; its own caches count as used, and can be given back."""
    with suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        kept = (_GROUP / "memory.stat").read_text(encoding="ascii").split()
        cached = int(kept[kept.index("inactive_file") + 1])
        return max(0, limit - used + cached)
    return None


def _of_process() -> int | None:
    """What ulimit -v leaves."""
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
