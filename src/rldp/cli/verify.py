"""``rldp verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.app import ExitCode, Json, command, say
from rldp.cli.machine import plain, show_json


@command(example="rldp verify protocol.json")
def verify(
    protocol: Annotated[Path, typer.Argument(help="Protocol file to check.")],
    as_json: Json = False,
) -> None:
    """Check every claim of a protocol file, with code that is independent of the solver.

    Integers are checked exactly, and other numbers with intervals that enclose every rounding error. Credible
    promises are tested with random draws; the test is wrong with probability below 1e-9. The verdict says
    what is proved, what is assumed and what is not promised. Exit code 0 means that every claim is proved; 3
    that at least one is not, 4 that the file cannot be read.
    """
    verdict = rldp.verify(protocol)
    if as_json:
        show_json(plain(verdict), indent=2)
    else:
        typer.echo(str(verdict))
    if not verdict.ok:
        say(f"{protocol} is refused: {verdict.reasons[0]}")
        raise typer.Exit(ExitCode.CLAIM if verdict.readable else ExitCode.FILE)
