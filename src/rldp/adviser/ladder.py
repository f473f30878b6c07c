"""The ladder of promises: what the same ε costs, from the strongest promise to none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from rldp._common.checks import Label, shown
from rldp.designer.api import design
from rldp.designer.designs import Design
from rldp.distortions import Distortion
from rldp.errors import InvalidArgument
from rldp.measures.leakage import distortion as expected_distortion
from rldp.sample import Sample
from rldp.sets import (
    AllDistributions,
    ChiSquare,
    Credible,
    CressieRead,
    GTest,
    Nominal,
    Pairs,
    UncertaintySet,
    checked_set,
)

__all__ = ["LADDER", "MEANINGS", "PROMISES", "Promises", "Rung", "named_promises", "rungs", "short_name"]

Promises: TypeAlias = "Iterable[str | UncertaintySet] | Mapping[str, UncertaintySet] | str | UncertaintySet"

PROMISES: dict[str, Callable[[float, float], UncertaintySet]] = {
    "all": lambda alpha, prior: AllDistributions(),
    "pairs": lambda alpha, prior: Pairs(alpha),
    "chi2": lambda alpha, prior: ChiSquare(alpha),
    "cr": lambda alpha, prior: CressieRead(alpha),
    "g": lambda alpha, prior: GTest(alpha),
    "credible": lambda alpha, prior: Credible(alpha, prior=prior),
    "nominal": lambda alpha, prior: Nominal(),
}
"""Every promise by its short name, made from α and the prior."""

MEANINGS = {
    "all": "every distribution; needs no sample",
    "pairs": "a set for each pair of secrets, valid at any n",
    "chi2": "a set for the whole table, valid for large n",
    "cr": "the same, by Cressie and Read's test",
    "g": "the same, by the G-test",
    "credible": "all but a posterior probability of alpha",
    "nominal": "the estimate only",
}
"""What each is about, in a few words."""

LADDER = ("all", "pairs", "chi2", "credible", "nominal")
"""From the strongest promise to none."""


def named_promises(promises: Promises, *, alpha: float, prior: float) -> dict[str, UncertaintySet]:
    """Sets by their names: those of :data:`PROMISES`, one's own, or how a set is written.

    Parameters
    ----------
    promises : names or sets, one or several, or a mapping from own names to sets
    alpha, prior : float
        Of the promises that are given by name and have them.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If there are none, two of one name, or something that is neither name nor set.

    Examples
    --------
    >>> list(named_promises(["credible", Pairs(0.01)], alpha=0.05, prior=0.5))
    ['credible', 'Pairs(alpha=0.01)']
    """
    if isinstance(promises, Mapping):
        pairs = [(str(name), checked_set("promises", given)) for name, given in promises.items()]
    else:
        one = isinstance(promises, str) or not isinstance(promises, Iterable)
        pairs = [
            _named(given, alpha, prior) for given in cast(Iterable[object], (promises,) if one else promises)
        ]
    names = [name for name, _ in pairs]
    if not names:
        raise InvalidArgument("promises must name at least one promise, got none")
    if len(set(names)) < len(names):
        raise InvalidArgument(f"promises must be distinct, got {', '.join(names)}")
    return dict(pairs)


def short_name(promise: UncertaintySet) -> str:
    """The name of a promise among :data:`PROMISES`, whatever its α; "set" for one that has none."""
    match promise:
        case AllDistributions():
            return "all"
        case Pairs():
            return "pairs"
        case Credible():
            return "credible"
        case Nominal():
            return "nominal"
    tests = {1.0: "chi2", 2 / 3: "cr", 0.0: "g"}
    return tests.get(promise.lambda_, "set") if promise.radius is None else "set"


def _named(given: object, alpha: float, prior: float) -> tuple[str, UncertaintySet]:
    if not isinstance(given, str):
        return repr(given), checked_set("promises", given)
    if given not in PROMISES:
        raise InvalidArgument(f"promises must be among {', '.join(PROMISES)}, or sets, got {shown(given)}")
    return given, PROMISES[given](alpha, prior)


@dataclass(frozen=True)
class Rung:
    """A promise about privacy, and what keeping it costs.

    Attributes
    ----------
    name : str
        Of :data:`PROMISES`.
    design : Design
    estimate : float
        Expected distortion under the estimate.
    """

    name: str
    design: Design
    estimate: float

    @classmethod
    def of(cls, name: str, designed: Design) -> Rung:
        """The rung of a design."""
        guarantee = designed.protocol.guarantee
        assert guarantee is not None
        under_estimate = expected_distortion(designed.protocol, guarantee.sample.distribution)
        return cls(name, designed, float(np.minimum(under_estimate, designed.objective)))


def rungs(
    sample: Sample,
    epsilon: float,
    names: Iterable[str] = LADDER,
    *,
    alpha: float = 0.05,
    prior: float = 0.5,
    utility: UncertaintySet | None = None,
    distortion: Distortion = "squared",
    outputs: Iterable[Label] | None = None,
    gap: float = 1e-3,
) -> Iterator[Rung]:
    """Designs at the same ε under several promises, one after another.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`PROMISES`.
    alpha, prior : float
        Of the promises that have them.
    utility : UncertaintySet, optional
        On which set the distortion must hold, the same for all; by default the estimate.
    distortion, outputs, gap
        As in :func:`rldp.design`; the gap is wide, since this is for comparing.
    """
    for name in names:
        designed = design(
            sample,
            epsilon,
            privacy=PROMISES[name](alpha, prior),
            utility=Nominal() if utility is None else utility,
            distortion=distortion,
            outputs=outputs,
            gap=gap,
        )
        yield Rung.of(name, designed)
