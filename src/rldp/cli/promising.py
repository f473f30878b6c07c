"""What is promised: options about sets of distributions that several commands share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypedDict, cast

import typer

from rldp.adviser.frontier import STANDARD
from rldp.sets import NAMED, Prior, SetName, UncertaintySet, UtilityName

__all__ = ["Epsilon", "PerhapsEpsilon", "Promises", "Promising", "PromisingSeveral"]

_EPSILON = typer.Option(metavar="E", help="Privacy level, 0 or more; smaller is more private.")
Epsilon: TypeAlias = Annotated[float, _EPSILON]
PerhapsEpsilon: TypeAlias = Annotated[float | None, _EPSILON]

_PRIVACY_HELP = (
    "Which distributions privacy is promised for: all; pairs (valid at every sample size); chi2, cr or g "
    "(not rejected by a statistical test, for large samples); credible (all but a posterior probability of "
    "ALPHA); nominal (the estimate only). Take pairs if somebody may hold you to it, credible if 'given the "
    "sample and a prior' will do."
)


def _prior(given: str) -> Prior:
    """A prior as it is typed; whether a number can be one is for the library to say."""
    try:
        return "adaptive" if given == "adaptive" else float(given)
    except ValueError:
        raise typer.BadParameter(f"must be adaptive or a number, got {given!r}") from None


class Promises(TypedDict):
    """The sets of a design, as :func:`rldp.design` takes them."""

    privacy: UncertaintySet
    utility: UncertaintySet
    epsilon_known: float


@dataclass(frozen=True, kw_only=True)
class _Levels:
    """What the distortion is promised for, and how often a promise may fail."""

    utility: Annotated[
        UtilityName, typer.Option(help="Which distributions the distortion is promised for.")
    ] = "chi2"
    alpha: Annotated[
        float,
        typer.Option(
            metavar="A",
            help="How often the promise may fail: for pairs at most so often, for chi2, cr and g about so "
            "often in large samples, for credible with this posterior probability.",
        ),
    ] = 0.05
    epsilon_known: Annotated[
        float,
        typer.Option(
            "--epsilon-known",
            metavar="K",
            help="What an output may tell about the secret to somebody who knows the value, 0 or more. "
            "With 0 the protocol does not read the secret.",
            show_default="nothing is promised to such readers",
        ),
    ] = math.inf
    prior: Annotated[
        Any,
        typer.Option(
            parser=_prior,
            metavar="adaptive|A",
            help="Prior of credible promises: adaptive (learns from the counts how sparse the table is), or "
            "a number A for Dirichlet(A) on the cells.",
        ),
    ] = "adaptive"

    @property
    def useful(self) -> UncertaintySet:
        """The set that the distortion is promised for."""
        return NAMED[self.utility](self.alpha, self.prior)


@dataclass(frozen=True, kw_only=True)
class Promising(_Levels):
    """One promise about privacy, and one about the distortion."""

    privacy: Annotated[SetName, typer.Option(help=_PRIVACY_HELP)] = "chi2"

    @property
    def sets(self) -> Promises:
        """The sets that are asked for."""
        return {
            "privacy": NAMED[self.privacy](self.alpha, self.prior),
            "utility": self.useful,
            "epsilon_known": self.epsilon_known,
        }


@dataclass(frozen=True, kw_only=True)
class PromisingSeveral(_Levels):
    """Several promises about privacy, to be compared."""

    privacy: Annotated[
        list[str] | None,
        typer.Option(
            "--privacy",
            metavar="|".join(NAMED),
            autocompletion=lambda: list(NAMED),
            help=f"{_PRIVACY_HELP} May be repeated.",
            show_default=", ".join(STANDARD),
        ),
    ] = None

    @property
    def names(self) -> Sequence[SetName]:
        """The promises that are asked for, or the usual ones; typer has no choices for lists."""
        for name in self.privacy or ():
            if name not in NAMED:
                raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMED)}", param_hint="--privacy")
        return [cast(SetName, name) for name in self.privacy or STANDARD]
