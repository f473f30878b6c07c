"""The application and what its commands share: arguments → one library call → exit code.

The command ends with an :class:`ExitCode`, or with 128 + n if signal n stopped it.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from enum import IntEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

import rldp
from rldp.cli import voice
from rldp.cli.commands import PROJECT, Command, Commands, SampleCommand
from rldp.cli.project import FILE
from rldp.cli.spelling import as_options
from rldp.cli.start import allow_interruption, is_command
from rldp.cli.voice import LogLevel, bar, discard, is_quiet, note, progress, say
from rldp.errors import FileError, NotProved, RldpError, RldpWarning

__all__ = [
    "ExitCode",
    "Json",
    "app",
    "bar",
    "command",
    "is_quiet",
    "main",
    "note",
    "progress",
    "require_writable",
    "say",
    "warn",
    "warned",
]

for _name in rldp.__all__:  # now, while Ctrl-C leaves nothing to clean up
    getattr(rldp, _name)


class ExitCode(IntEnum):
    """Exit codes for scripts; ``docs/json.md`` explains them."""

    SUCCESS = 0
    MISTAKE = 1
    """Unusable arguments or data."""
    USAGE = 2
    """An unknown command or option."""
    CLAIM = 3
    """A claim that does not hold, is not proved or is not confirmed."""
    FILE = 4
    """A file that cannot be read or written."""
    INTERRUPTED = 130


_told: dict[str, None] = {}
_SIGNALLED = 128  # plus the number of the signal, as in other programs
_OF_AN_OUTPUT = (errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF)

app = typer.Typer(
    name="rldp",
    cls=Commands,
    help="Publish a column without leaking another. Begin with 'rldp demo'.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Seed that an earlier run reported, to use the same random order of the rows.",
        show_default="a fresh one from the operating system",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and results.")]
Logged = Annotated[
    LogLevel | None,
    typer.Option("--log-level", help="Log the library's steps to standard error, from this level on."),
]


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            envvar="RLDP_PROJECT",
            metavar="FILE",
            help="Project file with options, which the command line and RLDP_… variables override.",
            show_default=f"{FILE}, if there is one",
        ),
    ] = None,
    quiet: Quiet = False,
    log_level: Logged = None,
) -> None:
    voice.be(quiet=quiet or None, log_level=log_level)
    context.meta[PROJECT] = project
    if version:
        typer.echo(f"rldp {rldp.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.USAGE)


def command(
    name: str | None = None, *, example: str, on_sample: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command, with its own options and those of all commands.

    If a parameter's type is a dataclass, each field is an option, and the function receives the dataclass.

    Parameters
    ----------
    name : str, optional
        By default the name of the function.
    example : str
        One or more lines that run, for the end of the help.
    on_sample : bool
        Whether the command works on a sample, so that options at the top of a project file apply to it.
    """

    def registered(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*, quiet: bool, log_level: LogLevel | None, **given: Any) -> None:
            voice.be(quiet=quiet or None, log_level=log_level)
            for group, kind in groups.items():
                given[group] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
            function(**given)

        own = signature(function, eval_str=True)
        groups = {each.name: each.annotation for each in own.parameters.values() if _is_group(each)}
        options = [option for each in own.parameters.values() for option in _options(each)]
        options.sort(key=lambda option: option.default is not Parameter.empty)  # required ones come first
        options.append(Parameter("quiet", Parameter.KEYWORD_ONLY, default=False, annotation=Quiet))
        options.append(Parameter("log_level", Parameter.KEYWORD_ONLY, default=None, annotation=Logged))
        parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in options]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        app.command(name, cls=SampleCommand if on_sample else Command, epilog=example)(run)
        return function

    return registered


def _is_group(parameter: Parameter) -> bool:
    return isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)


def _options(parameter: Parameter) -> list[Parameter]:
    """Return a parameter, or the fields of a group."""
    if not _is_group(parameter):
        return [parameter]
    kinds = get_type_hints(parameter.annotation, include_extras=True)  # bases may be of other modules
    fields_of_group = signature(parameter.annotation).parameters
    return [each.replace(annotation=kinds[name]) for name, each in fields_of_group.items()]


def require_writable(output: Path, option: str = "--output") -> None:
    """Refuse early an output that cannot be written."""
    try:
        if not output.absolute().parent.is_dir():
            raise FileError(f"{option} must lie in a folder that exists, got {str(output)!r}")
        if output.is_dir():
            raise FileError(f"{option} must be a file, got the folder {str(output)!r}")
        with suppress(FileNotFoundError):
            output.stat()  # is_dir does not raise if a name is too long
        if not os.access(output.absolute().parent, os.W_OK):
            raise FileError(f"{option} must lie in a folder that can be written, got {str(output)!r}")
    except OSError as error:
        raise FileError(f"{option} must be a file that can be written, but: {error}") from error


def main() -> None:
    """Run the command; an error becomes one line and an exit code."""
    _told.clear()
    voice.as_at_first()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ε shows ? in its place
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings(), _tidying_up_when_asked_to_stop():
        warnings.showwarning = _one_line_warning
        warnings.simplefilter("always", RldpWarning)
        allow_interruption()
        code = _outcome()
    code = code or _delivered()
    if is_command() and (code > _SIGNALLED or "joblib" not in sys.modules):  # joblib ends its workers at exit
        _leave_at_once(code)
    sys.exit(code)


def _leave_at_once(code: int) -> None:
    """End the process after cleaning up, even if threads of other libraries are still running.

    Such as those in which Arrow reads ahead: if Python ended them, the process could abort.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _outcome() -> int:
    """Return the exit code of the command."""
    try:
        app()
    except RldpError as error:
        say(as_options(str(error)))
        return _code_of(error)
    except SystemExit as stop:
        if stop.code == ExitCode.INTERRUPTED:
            say("interrupted")
        elif isinstance(stop.code, int) and stop.code > _SIGNALLED:
            say(f"stopped by signal {stop.code - _SIGNALLED}")
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        say("interrupted")
        return ExitCode.INTERRUPTED
    except OSError as error:
        return _say_refused(error)
    except MemoryError:  # the library words its own lack of memory; the rest is a file or a table
        say("there is not enough memory for this")
        return ExitCode.MISTAKE
    return ExitCode.SUCCESS


def _code_of(error: RldpError) -> ExitCode:
    """Return the exit code for an error of the library."""
    if isinstance(error, NotProved):
        return ExitCode.CLAIM
    return ExitCode.FILE if isinstance(error, FileError) else ExitCode.MISTAKE


def _delivered() -> int:
    """Return whether all output was written; if not, report it, unless the reader closed the pipe."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _say_refused(error)
    return ExitCode.SUCCESS


def _say_refused(error: OSError) -> ExitCode:
    """Report what the operating system refused. Errors without a file name are about standard output.

    If the reader closed the pipe, print nothing and return the same code as other programs.
    """
    if error.filename is not None or error.errno not in _OF_AN_OUTPUT:
        say(f"the operating system reports an error: {error}")
        return ExitCode.FILE
    discard(sys.stdout)
    if error.errno == errno.EPIPE:
        return ExitCode.MISTAKE
    say(f"standard output must be writable, but it is not: {error.strerror}")
    return ExitCode.FILE


@contextmanager
def _tidying_up_when_asked_to_stop() -> Iterator[None]:
    """Remove unfinished output on SIGTERM and SIGHUP; an ignored SIGHUP stays ignored.

    The caller's handlers are restored afterwards, for callers that use the command as a function.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM]
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) != signal.SIG_IGN:
        numbers.append(hang_up)
    before = {number: signal.signal(number, _stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None was set by something that is not Python
                signal.signal(number, handler)


def _stop(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    sys.exit(_SIGNALLED + number)


def _one_line_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print each warning once, however many designs it concerns."""
    warn(as_options(f"{message}"))


def warn(message: str) -> None:
    """Print a line that begins with 'warning', unless it was printed before."""
    if message not in _told:
        _told[message] = None
        note(f"warning: {message}")


def warned() -> list[str]:
    """Return all warnings of this run, in order."""
    return list(_told)
