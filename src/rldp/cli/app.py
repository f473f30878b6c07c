"""The command: arguments → one library call → exit code. The application and what its commands share.

Exit codes: 0 success, 1 a mistake that one sentence explains, 2 wrong usage, 3 a claim that is not confirmed,
130 interrupted.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.errors import InvalidArgument, RldpError, RldpWarning

__all__ = ["SETS", "SET_HELP", "SetName", "app", "main", "progress", "require_writable", "say"]

_INTERRUPTED = 130

app = typer.Typer(
    name="rldp",
    help="Publish one column without leaking another.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class SetName(StrEnum):
    """The sets that the command line names."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    nominal = "nominal"


SETS: dict[SetName, Callable[[float], rldp.UncertaintySet]] = {
    SetName.chi2: rldp.ChiSquare,
    SetName.g: rldp.GTest,
    SetName.cr: rldp.CressieRead,
    SetName.nominal: lambda alpha: rldp.Nominal(),
}

SET_HELP = "chi2 (the paper's), g (G-test), cr (Cressie-Read), or nominal (trust the estimate)"


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"rldp {rldp.__version__}")
        raise typer.Exit


def require_writable(output: Path) -> None:
    """Refuse early what would only fail after the work."""
    try:
        if not output.absolute().parent.is_dir():
            raise InvalidArgument(f"--output must lie in a folder that exists, got {str(output)!r}")
        if output.is_dir():
            raise InvalidArgument(f"--output must be a file, got the folder {str(output)!r}")
        if not os.access(output.absolute().parent, os.W_OK):
            raise InvalidArgument(f"--output must lie in a folder that can be written, got {str(output)!r}")
    except OSError as error:
        raise InvalidArgument(f"--output must be a file that can be written, but: {error}") from error


@contextmanager
def progress(title: str) -> Iterator[Callable[[rldp.Progress], None]]:
    """A status line on standard error while the work runs, if someone is watching."""
    from rldp.reporter import terminal

    with terminal.console(stderr=True).status(f"{title} …") as status:

        def show(now: rldp.Progress) -> None:
            status.update(f"{title} … step {now.iteration}, gap {now.worst_gap:.1e}")

        yield show


def main() -> None:
    """Run the command; a library error becomes one line and exit code 1."""
    warnings.showwarning = _one_line_warning
    warnings.simplefilter("always", RldpWarning)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ε shows ? in its place
            stream.reconfigure(errors="replace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _stop)
    try:
        app()
    except RldpError as error:
        say(str(error))
        sys.exit(1)
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            say("interrupted")
        raise
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(_INTERRUPTED)


def _stop(number: int, _: object) -> None:
    """Leave in good order when asked to: what is half-written goes away."""
    sys.exit(128 + number)


def _one_line_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(f"warning: {message}")


def say(message: str) -> None:
    """One line on standard error."""
    print("rldp:", " ".join(message.split()), file=sys.stderr)
