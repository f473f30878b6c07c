"""What is promised: options about sets of distributions that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias, cast

import typer

from rldp.cli.app import ALPHA_HELP
from rldp.sets import NAMED, SetName, UtilityName

__all__ = ["PRIVACY_HELP", "Alpha", "Prior", "Privacy", "Promised", "Utility", "named"]

PRIVACY_HELP = (
    "What privacy is promised for: chi2 (the paper's set), g (G-test), cr (Cressie-Read), pairs (a set for "
    "each pair of secrets, valid at every sample size), credible (all but a posterior probability of ALPHA), "
    "all (every distribution), or nominal (the estimate only)."
)


Privacy: TypeAlias = Annotated[SetName, typer.Option(help=PRIVACY_HELP)]
Promised: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--privacy",
        metavar=f"[{'|'.join(NAMED)}]",
        autocompletion=lambda: list(NAMED),
        help=f"{PRIVACY_HELP} May be repeated.",
        show_default="pairs, chi2, credible and nominal",
    ),
]
Utility: TypeAlias = Annotated[
    UtilityName, typer.Option(help="What the distortion is promised for; the same names.")
]
Alpha: TypeAlias = Annotated[
    float,
    typer.Option(
        help=f"{ALPHA_HELP} For pairs it is at most this at every size, and for credible a posterior "
        "probability."
    ),
]
Prior: TypeAlias = Annotated[
    float, typer.Option(help="Prior of credible promises, Dirichlet(PRIOR) on the cells; ½ is Jeffreys'.")
]


def named(given: Sequence[str] | None) -> list[SetName]:
    """The names that were given, if all are names of sets: a list has no choices that typer would check."""
    for name in given or ():
        if name not in NAMED:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMED)}", param_hint="--privacy")
    return [cast(SetName, name) for name in given or ()]
