"""Handle Ctrl-C while the command is still being imported: one line, as later on.

Nothing has to be undone at that point. In other programs that import the library, Ctrl-C is unchanged.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path

__all__ = ["allow_interruption", "is_command", "leave_when_interrupted"]

_NAMES = ("rldp", "rldp.exe", "rldp-script.py")


def leave_when_interrupted() -> None:
    """Make Ctrl-C end the process at once, if it is the command ``rldp``."""
    is_ours = is_command() and threading.current_thread() is threading.main_thread()
    if is_ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def allow_interruption() -> None:
    """Make Ctrl-C an exception again, so that work in progress can be cleaned up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: object) -> None:
    os.write(2, b"rldp: interrupted\n")
    os._exit(130)


def is_command() -> bool:
    """Return whether the process was started as ``rldp`` or as ``python -m rldp``."""
    given = iter(sys.orig_argv[1:])
    for argument in given:
        if not argument.startswith("-"):
            return Path(argument).name in _NAMES
        if re.fullmatch("-[A-Za-z]*m", argument):
            return next(given, None) == "rldp"
        if argument == "-c":
            return False
        if argument in ("-W", "-X"):
            next(given, None)
    return False
