"""What is promised: options about sets of distributions that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer

from rldp.cli.app import ALPHA_HELP

__all__ = ["PRIVACY_HELP", "Alpha", "Prior", "Privacy", "PrivacyName", "Promised", "Utility", "UtilityName"]

PRIVACY_HELP = (
    "What privacy is promised for: chi2 (the paper's set), g (G-test), cr (Cressie-Read), pairs (a set for "
    "each pair of secrets, valid at every sample size), credible (all but a posterior probability of ALPHA), "
    "all (every distribution), or nominal (the estimate only)."
)


class PrivacyName(StrEnum):
    """The promises about privacy that the command line names."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    pairs = "pairs"
    credible = "credible"
    all = "all"
    nominal = "nominal"


class UtilityName(StrEnum):
    """The promises about the distortion."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    credible = "credible"
    nominal = "nominal"


Privacy: TypeAlias = Annotated[PrivacyName, typer.Option(help=PRIVACY_HELP)]
Promised: TypeAlias = Annotated[
    list[PrivacyName] | None,
    typer.Option(
        "--privacy",
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
