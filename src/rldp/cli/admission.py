"""What a command asks of a protocol file before it acts on it."""

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
    typer.Option(
        "--unproved", help="Go on even if the file does not prove what it claims, or claims nothing."
    ),
]
EpsilonAtMost: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-epsilon",
        "--epsilon-at-most",
        metavar="E",
        help="Refuse a protocol whose proved ε is larger.",
        show_default=f"{LARGEST_EPSILON:g}",
    ),
]
ExpectSha256: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--expect-sha256", metavar="HEX", help="Refuse a protocol file whose bytes have another SHA-256."
    ),
]
Require: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="PROMISE[:ALPHA]",
        help="Refuse a protocol that promises something else, or for a larger α: credible:0.05, pairs, all. "
        "May be repeated; one of them must be promised.",
    ),
]


def admitted(
    path: Path, conditions: Conditions, *, all_the_same: str = "--unproved releases"
) -> tuple[ProtocolFile, Verdict]:
    """A protocol file and what is proved of it; see :func:`rldp.gate.admission.admitted`."""
    return admission.admitted(
        path, conditions, all_the_same=all_the_same, verifying=lambda: progress("Verifying")
    )
