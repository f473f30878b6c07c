"""Messages on standard error: errors, notes, progress and the log.

The settings of ``--quiet`` and ``--log-level`` are kept here.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, TextIO, TypeAlias

from rldp._common.checks import printable
from rldp.designer.engine import Progress

__all__ = ["LogLevel", "bar", "be", "discard", "is_quiet", "note", "progress", "say"]

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

EVERY = 10.0
"""Seconds between two lines about progress without a terminal."""

_log = logging.getLogger("rldp")
_quiet = False
_handler: logging.Handler | None = None


def be(*, quiet: bool | None = None, log_level: LogLevel | None = None) -> None:
    """Be quiet, or log from this level on; None changes nothing."""
    global _quiet
    if quiet is not None:
        _quiet = quiet
    if log_level is not None:
        _write_log(log_level)


def as_at_first() -> None:
    """Neither quiet nor logging."""
    global _quiet, _handler
    _quiet = False
    if _handler is not None:
        _log.removeHandler(_handler)
        _log.setLevel(logging.NOTSET)
        _log.propagate = True
        _handler = None


def is_quiet() -> bool:
    """Return whether only errors and results are printed."""
    return _quiet


def _write_log(level: LogLevel) -> None:
    global _handler
    if _handler is None:
        _handler = _LogLines()
        _handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _log.addHandler(_handler)
        _log.propagate = False
    _log.setLevel(level.upper())


class _LogLines(logging.Handler):
    """Write the log like all other lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        _write(self.format(record))


def say(message: str) -> None:
    """Print an error as one line on standard error."""
    _write(f"rldp: {message}")


def note(message: str) -> None:
    """Print a line on standard error, unless --quiet is set."""
    if not _quiet:
        say(message)


def _write(line: str) -> None:
    if sys.stderr is None:
        return
    try:
        print(printable(" ".join(line.split())), file=sys.stderr, flush=True)
    except OSError:  # nobody can be told
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what a stream could not write, so that Python does not try again at exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def progress(title: str) -> Iterator[Callable[[Progress], None]]:
    """Show the state of a design or a check: a status line in a terminal, else a line every few seconds."""
    from rldp.reporter import terminal

    screen = terminal.console(stderr=True)
    if _quiet or not screen.is_terminal:
        with _lines(title) as tell:
            yield lambda now: tell(_steps(now))
        return
    with screen.status(f"{title} …") as status:
        yield lambda now: status.update(f"{title} … {_steps(now)}")


def _steps(now: Progress) -> str:
    return f"step {now.iteration}, gap {now.worst_gap:.1e}"


@contextmanager
def bar(title: str) -> Iterator[Callable[..., None]]:
    """Show the progress of long work: a bar in a terminal, else a line every few seconds.

    Call it with the work done, the total, and an optional note.
    """
    from rldp.reporter import terminal

    if not _quiet and terminal.console(stderr=True).is_terminal:
        with terminal.bar(title) as advance:
            yield advance
        return
    with _lines(title) as tell:

        def moved(done: float, total: float, note: str = "") -> None:
            tell(f"{100 * done / (total or 1):.0f} %" + (f", {note}" if note else ""))

        yield moved


@contextmanager
def _lines(title: str) -> Iterator[Callable[[str], None]]:
    """Print a line every few seconds while the block runs, with the latest note and the time."""
    news, ended, started = [""], threading.Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(EVERY):
            note(", ".join(filter(None, (f"{title} … {time.monotonic() - started:.0f} s", news[0]))))

    thread = threading.Thread(target=tell, daemon=True)
    if not _quiet:
        thread.start()
    try:
        yield lambda text: news.__setitem__(0, text)
    finally:
        ended.set()
        if not _quiet:
            thread.join()
