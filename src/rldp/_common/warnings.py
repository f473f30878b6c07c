"""Warnings that a caller who has the numbers does not need to hear, left out in its own thread alone.

Python's ``warnings.catch_warnings`` changes the filters of the whole process: two threads that use it at the
same time can leave them changed for good.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["silenced", "warn"]

_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("_SILENCED", default=())


def warn(message: str, category: type[Warning], *, stacklevel: int) -> None:
    """Warn as ``warnings.warn`` does, unless the caller has silenced this category."""
    if not issubclass(category, _SILENCED.get()):
        warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def silenced(*categories: type[Warning]) -> Iterator[None]:
    """Leave out these warnings of the library while the block runs, in this thread and those it starts."""
    token = _SILENCED.set((*_SILENCED.get(), *categories))
    try:
        yield
    finally:
        _SILENCED.reset(token)
