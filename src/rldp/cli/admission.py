"""Requirements that a protocol file must meet before a command uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from rldp.gate.admission import LARGEST_EPSILON

__all__ = ["Requirements"]


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """The requirements, named as in :class:`rldp.ReleaseOptions`."""

    unproved: Annotated[
        bool,
        typer.Option(
            "--unproved", help="Continue even if the file claims nothing or does not prove its claims."
        ),
    ] = False
    epsilon_at_most: Annotated[
        float | None,
        typer.Option(
            "--max-epsilon",
            "--epsilon-at-most",
            metavar="E",
            help="Refuse a protocol whose proved ε is larger than this.",
            show_default=f"{LARGEST_EPSILON:g}",
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROMISE[:ALPHA]",
            help="Accept only this promise, with at most this α: credible:0.05, pairs, all. May be repeated "
            "to accept any of several.",
        ),
    ] = None
    expect_sha256: Annotated[
        str | None, typer.Option(metavar="HEX", help="Refuse a protocol file with a different SHA-256.")
    ] = None
