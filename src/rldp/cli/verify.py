"""``rldp verify``."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import rldp
from rldp.cli.app import ExitCode, command, say, show_json


@command()
def verify(
    protocol: Annotated[Path, typer.Argument(help="Protocol file to judge.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Check every claim of a protocol file, in exact and ball arithmetic, trusting nothing that made it.

    Exit code 0 means that every claim is proved; 3 that at least one is not, 4 that the file
    cannot be read.
    """
    verdict = rldp.verify(protocol)
    if as_json:
        show_json(_fields(verdict), indent=2)
    else:
        typer.echo(str(verdict))
    if not verdict.ok:
        say(f"{protocol} is refused: {verdict.reasons[0]}")
        raise typer.Exit(ExitCode.CLAIM if verdict.readable else ExitCode.FILE)


def _fields(verdict: rldp.Verdict) -> dict[str, Any]:
    fields = asdict(verdict)
    if verdict.epsilon == math.inf:
        fields["epsilon"] = "infinity"  # as in the file: JSON has no such number
    return fields
