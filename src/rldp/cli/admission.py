"""Requirements that a protocol file must meet before a command uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rldp.cli.voice import progress
from rldp.gate import admission
from rldp.gate.admission import LARGEST_EPSILON, Conditions
from rldp.judge import Verdict
from rldp.protocol_file.json import ProtocolFile

__all__ = [
    "Conditions",
    "EpsilonAtMost",
    "ExpectSha256",
    "Require",
    "Unproved",
    "admitted",
]

Unproved: TypeAlias = Annotated[
    bool,
    typer.Option("--unproved", help="Continue even if the file claims nothing or does not prove its claims."),
]
EpsilonAtMost: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-epsilon",
        "--epsilon-at-most",
        metavar="E",
        help="Refuse a protocol whose proved ε is larger than this.",
        show_default=f"{LARGEST_EPSILON:g}",
    ),
]
ExpectSha256: TypeAlias = Annotated[
    str | None,
    typer.Option("--expect-sha256", metavar="HEX", help="Refuse a protocol file with a different SHA-256."),
]
Require: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="PROMISE[:ALPHA]",
        help="Accept only this promise, with at most this α: credible:0.05, pairs, all. May be repeated "
        "to accept any of several.",
    ),
]


def admitted(
    path: Path, conditions: Conditions, *, all_the_same: str = "--unproved releases"
) -> tuple[ProtocolFile, Verdict]:
    """Return a protocol file and its verdict; see :func:`rldp.gate.admission.admitted`."""
    return admission.admitted(
        path, conditions, all_the_same=all_the_same, verifying=lambda: progress("Verifying")
    )
