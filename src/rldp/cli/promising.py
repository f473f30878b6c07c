"""Options for the promise: ε and sets of distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypedDict, cast

import numpy as np
import typer

import rldp
from rldp._common.checks import Label
from rldp.adviser.ladder import STANDARD, WITH_NOISE
from rldp.designer.request import levels_of_sample
from rldp.errors import InvalidArgument
from rldp.sets import NAMED, Prior, SetName, UncertaintySet, UtilityName
from rldp.theory.arrays import from_pairs

__all__ = ["Epsilon", "Levels", "PerhapsEpsilon", "Promises", "Promising", "PromisingSeveral"]

_EPSILON = typer.Option(metavar="E", help="Privacy level, 0 or more; smaller is more private.")
Epsilon: TypeAlias = Annotated[float, _EPSILON]
PerhapsEpsilon: TypeAlias = Annotated[float | None, _EPSILON]

_UTILITY_HELP = "Distributions for which the distortion is promised."
_PRIVACY_HELP = (
    "Distributions for which privacy is promised: all; pairs (a confidence set, valid at every "
    "sample size); chi2, cr or g (those that a statistical test does not reject, for large "
    "samples); credible (all but a posterior probability of ALPHA); nominal (the estimate only). "
    "Choose pairs if somebody may hold you to the promise, credible if 'given the sample and a "
    "prior' is acceptable."
)


def _prior(given: str) -> Prior:
    """Parse a prior; the library decides which numbers are valid."""
    try:
        return "adaptive" if given == "adaptive" else float(given)
    except ValueError:
        raise typer.BadParameter(f"must be adaptive or a number, got {given!r}") from None


class Promises(TypedDict):
    """The sets of a design, as :func:`rldp.design` accepts them."""

    privacy: UncertaintySet
    utility: UncertaintySet | None
    epsilon_known: float


@dataclass(frozen=True, kw_only=True)
class _Promised:
    """The set for the distortion, and how often a promise may fail."""

    alpha: Annotated[
        float,
        typer.Option(
            metavar="A",
            help="Probability that the promise fails. For pairs, an upper bound on the share of "
            "samples; for chi2, cr and g, the approximate share of large samples; for credible, "
            "the posterior probability.",
        ),
    ] = 0.05
    epsilon_known: Annotated[
        float,
        typer.Option(
            "--epsilon-known",
            metavar="K",
            help="Limit on what an output reveals about the secret to readers who know the value, 0 or "
            "more. With 0, the protocol does not read the secret.",
            show_default="nothing is promised to such readers",
        ),
    ] = math.inf
    prior: Annotated[
        Any,
        typer.Option(
            parser=_prior,
            metavar="adaptive|A",
            help="Prior of credible promises: adaptive (learns from the counts how sparse the table "
            "is), or a number A, the parameter of a Dirichlet distribution on the cells.",
        ),
    ] = "adaptive"


@dataclass(frozen=True, kw_only=True)
class Promising(_Promised):
    """One promise about privacy, and one about the distortion."""

    privacy: Annotated[SetName, typer.Option(help=_PRIVACY_HELP)] = "chi2"
    utility: Annotated[
        UtilityName | None,
        typer.Option(
            help=_UTILITY_HELP,
            show_default="chi2; for chains, given columns, earlier releases and noise: nominal",
        ),
    ] = None

    @property
    def sets(self) -> Promises:
        """Return the requested sets."""
        return {
            "privacy": NAMED[self.privacy](self.alpha, self.prior),
            "utility": None if self.utility is None else NAMED[self.utility](self.alpha, self.prior),
            "epsilon_known": self.epsilon_known,
        }


@dataclass(frozen=True, kw_only=True)
class PromisingSeveral(_Promised):
    """Several privacy promises, to be compared."""

    privacy: Annotated[
        list[str] | None,
        typer.Option(
            "--privacy",
            metavar="|".join(NAMED),
            autocompletion=lambda: list(NAMED),
            help=f"{_PRIVACY_HELP} May be repeated.",
            show_default=f"{', '.join(STANDARD)}; if the counts have noise: {', '.join(WITH_NOISE)}",
        ),
    ] = None
    utility: Annotated[
        UtilityName | None,
        typer.Option(help=_UTILITY_HELP, show_default="chi2; if the counts have noise: nominal"),
    ] = None

    @property
    def names(self) -> Sequence[SetName] | None:
        """Return the requested promises, if any; typer has no choices for lists."""
        for name in self.privacy or ():
            if name not in NAMED:
                raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMED)}", param_hint="--privacy")
        return [cast(SetName, name) for name in self.privacy] if self.privacy else None

    @property
    def useful(self) -> UncertaintySet | None:
        """Return the set that the distortion is promised for, if one is requested."""
        return None if self.utility is None else NAMED[self.utility](self.alpha, self.prior)


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The requested ε."""

    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon",
            metavar="E|COL=E",
            help="Privacy level, 0 or more; smaller is more private. With several --secret, COL=E gives "
            "each its own level; the levels of the columns in which two people differ add up.",
        ),
    ] = None
    between: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon-between",
            metavar="A,B=E",
            help="Level for one pair of secrets, in both directions, overriding --epsilon; inf for no "
            "protection. May be repeated.",
        ),
    ] = None

    @property
    def is_given(self) -> bool:
        """Whether any level is given."""
        return bool(self.epsilon)

    @property
    def one(self) -> float | None:
        """The level, if all pairs of secrets have the same."""
        given = self.epsilon or ()
        return _number("--epsilon", given[0]) if len(given) == 1 and "=" not in given[0] else None

    def of(self, sample: rldp.Sample) -> Any:
        """Return ε as :func:`rldp.design` accepts it."""
        base = self.one if self.one is not None else self._of_columns()
        if not self.between:
            return base
        table = from_pairs(levels_of_sample(sample, [base]).reshape(1, -1), len(sample.secrets))[0]
        for text in self.between:
            names, level = _split("--epsilon-between", "A,B=E", text)
            a, b = _pair(names, sample.secrets)
            table[a, b] = table[b, a] = _number("--epsilon-between", level)
        if len(table) > 1 and np.isinf(table[~np.eye(len(table), dtype=bool)]).all():
            raise InvalidArgument("--epsilon must be finite for some pair of secrets, got inf for all")
        return table

    def _of_columns(self) -> dict[str, float]:
        own: dict[str, float] = {}
        for text in self.epsilon or ():
            name, level = _split("--epsilon", "given once, or as COL=E for several", text)
            if name in own:
                raise InvalidArgument(f"--epsilon must name every column once, got {name!r} twice")
            own[name] = _number("--epsilon", level)
        if own and all(map(math.isinf, own.values())):
            raise InvalidArgument("--epsilon must be finite for some column, got inf for all")
        return own


def _split(option: str, needed: str, text: str) -> tuple[str, str]:
    name, equals, level = text.rpartition("=")
    if not equals:
        raise typer.BadParameter(f"must be {needed}, got {text!r}", param_hint=option)
    return name.strip(), level


def _number(option: str, text: str) -> float:
    """Parse a level; the library decides which numbers are valid."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid float.", param_hint=option) from None


def _pair(names: str, secrets: Sequence[Label]) -> tuple[int, int]:
    """Return the numbers of two secrets separated by a comma; labels may contain commas."""
    places = {str(secret): s for s, secret in enumerate(secrets)}
    parts = names.split(",")
    matches = [
        (places[one], places[other])
        for one, other in (
            (",".join(parts[:k]).strip(), ",".join(parts[k:]).strip()) for k in range(1, len(parts))
        )
        if one in places and other in places and one != other
    ]
    if len(matches) != 1:
        raise InvalidArgument("--epsilon-between must be A,B=E with two different secrets, got other names")
    return matches[0]
