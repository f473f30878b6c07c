"""The ladder of promises: the cost of the same ε, from the strongest promise to none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from rldp.designer.api import design, usual_utility
from rldp.designer.designs import Design
from rldp.errors import InvalidArgument
from rldp.measures.leakage import distortion as expected_distortion
from rldp.sample import Sample
from rldp.sets import (
    NAMED,
    Prior,
    PrivacySet,
    SetName,
    UncertaintySet,
    UtilitySet,
    checked_set,
)

__all__ = [
    "LADDER",
    "MEANINGS",
    "STANDARD",
    "WITH_NOISE",
    "PrivacySets",
    "named_sets",
    "others_than",
    "rungs",
    "under_estimate",
    "usual",
]

PrivacySets: TypeAlias = "Iterable[PrivacySet] | Mapping[str, PrivacySet] | PrivacySet"

MEANINGS = {
    "all": "every distribution; needs no sample",
    "pairs": "a set for each pair of secrets, valid at any n",
    "chi2": "a set for the whole table, valid for large n",
    "cr": "the same, by Cressie and Read's test",
    "g": "the same, by the G-test",
    "credible": "all but a posterior probability of alpha",
    "nominal": "the estimate only",
}
"""A short description of each promise."""

STANDARD: tuple[SetName, ...] = ("pairs", "chi2", "credible", "nominal")
"""The promises that are compared by default."""
WITH_NOISE: tuple[SetName, ...] = ("credible", "all")
"""The one of them that accounts for noise on the counts, and the one that needs no counts."""
LADDER: tuple[SetName, ...] = ("all", "pairs", "chi2", "credible", "nominal")
"""Ordered from the strongest promise to none."""
_GAP = 1e-3
QUICK = 2.0
"""Compare with other promises by default if the design took at most this many seconds."""


def usual(
    sample: Sample, privacy: PrivacySets | None, utility: UtilitySet | None
) -> tuple[PrivacySets, UtilitySet]:
    """Return the promises to compare, by default those that account for noise if the counts have any."""
    promises = (STANDARD if sample.noise is None else WITH_NOISE) if privacy is None else privacy
    return promises, usual_utility(sample, utility)


def named_sets(privacy: PrivacySets, *, alpha: float, prior: Prior) -> dict[str, UncertaintySet]:
    """Return sets by name: keys of :data:`rldp.sets.NAMED`, your own names, or the set's repr.

    Parameters
    ----------
    privacy : names or sets, one or several, or a mapping from your own names to sets
    alpha, prior : float
        Used for sets given by name.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If there is no set, two have the same name, or an item is neither a name nor a set.

    Examples
    --------
    >>> from rldp import Pairs
    >>> list(named_sets(["credible", Pairs(0.01)], alpha=0.05, prior=0.5))
    ['credible', 'Pairs(alpha=0.01)']
    """
    if isinstance(privacy, Mapping):
        named = [(str(name), given) for name, given in privacy.items()]
    else:
        one = isinstance(privacy, str) or not isinstance(privacy, Iterable)
        several = cast(Iterable[PrivacySet], (privacy,) if one else privacy)
        named = [(given if isinstance(given, str) else repr(given), given) for given in several]
    names = [name for name, _ in named]
    if not names:
        raise InvalidArgument("privacy must name at least one set, got none")
    sets = {name: checked_set("privacy", given, alpha=alpha, prior=prior) for name, given in named}
    if len(sets) < len(names):
        raise InvalidArgument(f"privacy must name distinct sets, got {', '.join(names)}")
    return sets


def under_estimate(designed: Design) -> float:
    """Return the expected distortion under the estimate, at most the promised one if that covers it."""
    claim = designed.protocol.guarantee
    assert claim is not None
    expected = expected_distortion(designed.protocol, claim.sample.distribution)
    centred = getattr(claim.utility, "centre", None) is not None
    return expected if centred else min(expected, designed.objective)


def others_than(chosen: SetName, designed: Design, asked: bool | None = None) -> list[SetName]:
    """Return the promises to compare with: all if ``asked``, by default only if that is quick."""
    others = [name for name in LADDER if name != chosen]
    if asked is not None:
        return others if asked else []
    quick = designed.status.seconds <= QUICK and designed.status.route != "windows"
    return others if quick else []


def rungs(
    sample: Sample,
    epsilon: float,
    names: Iterable[SetName] = LADDER,
    *,
    alpha: float = 0.05,
    prior: Prior = "adaptive",
    **options: Any,
) -> dict[str, Design]:
    """Design at the same ε under several promises.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`rldp.sets.NAMED`.
    alpha, prior : float
        Used for the promises that have them.
    **options
        Options of :func:`rldp.design`. The default utility set is the estimate, and the default gap is wide,
        since the designs are only compared.
    """
    given = {"utility": "nominal", "gap": _GAP, **options}
    return {name: design(sample, epsilon, privacy=NAMED[name](alpha, prior), **given) for name in names}
