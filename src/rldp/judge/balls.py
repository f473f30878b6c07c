"""The precision of ball arithmetic, which is one number for the whole process.

python-flint keeps it in ``flint.ctx.prec``, for all threads together. Balls hold the true value at any
precision, so it cannot make a false claim look proved; but with too few bits a valid file is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flint import ctx

__all__ = ["precision"]


class _Shared:
    """The most bits that any thread asks for; what was there before comes back with the last to leave."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[int] = []
        self._before = 0

    def join(self, bits: int) -> None:
        with self._lock:
            if not self._asked:
                self._before = ctx.prec
            self._asked.append(bits)
            ctx.prec = max(self._asked)

    def leave(self, bits: int) -> None:
        with self._lock:
            self._asked.remove(bits)
            ctx.prec = max(self._asked, default=self._before)


_SHARED = _Shared()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with ``bits`` at least, whatever other threads of the judge ask for meanwhile."""
    _SHARED.join(bits)
    try:
        yield
    finally:
        _SHARED.leave(bits)
