"""``rldp verify``."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.app import app, say


@app.command()
def verify(
    protocol: Annotated[Path, typer.Argument(help="Protocol file to judge.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Check every claim of a protocol file, in exact and ball arithmetic, trusting nothing that made it.

    Exit code 0 means that every claim is proved; 1 that at least one is not.
    """
    verdict = rldp.verify(protocol)
    typer.echo(_as_json(verdict) if as_json else str(verdict))
    if not verdict.ok:
        say(f"{protocol} is refused: {verdict.reasons[0]}")
        raise typer.Exit(1)


def _as_json(verdict: rldp.Verdict) -> str:
    fields = asdict(verdict)
    if verdict.epsilon == math.inf:
        fields["epsilon"] = "infinity"  # as in the file: JSON has no such number
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, indent=2)
