"""Sentences about levels of pairs of secrets: promised, implied, for which readers, and not promised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import permutations

from rldp._common.checks import shown
from rldp._common.levels import Detour, detours, own_levels, summed
from rldp.judge.words import not_covered
from rldp.protocol_file.format import Claim, Document, Table

__all__ = ["levels_not_promised", "levels_promised", "levels_sentence"]

_MOST = 6  # pairs that are named, with how many there are besides


def levels_sentence(document: Document, claim: Claim) -> str:
    """State the proved constraint; the distributions follow."""
    levels = _levels(claim)
    pairs = sorted(permutations(range(len(levels)), 2), key=lambda pair: levels[pair[0]][pair[1]])
    named = [
        f"ε({_secret(document, a)}, {_secret(document, b)}) = {levels[a][b]!r}"
        for a, b in pairs  # the smallest levels first
        if not math.isinf(levels[a][b])
    ]
    return (
        "P(Y=y | S=s1) ≤ e^ε(s1, s2) · P(Y=y | S=s2) for all outputs y, with a level of its own for every "
        f"ordered pair of secrets: {_some(named)}"
    )


def levels_promised(document: Document, claim: Claim) -> tuple[str, ...]:
    """State what follows from the levels: through other secrets, and for which readers."""
    if math.isinf(claim.least_level):
        return ()
    return (*_through_others(document, claim), *_of_attributes(document, claim))


def _through_others(document: Document, claim: Claim) -> Iterator[str]:
    named = [
        f"ε({_secret(document, each.first)}, {_secret(document, each.second)}) is at most {each.level}, "
        f"through {', '.join(_secret(document, s) for s in each.through)}"
        for each in _detours(claim)
    ]
    if named:
        yield f"Through other secrets, pairs are protected more than was asked for: {_some(named)}."


def _detours(claim: Claim) -> list[Detour]:
    """Levels implied for secrets that the promise covers."""
    levels, unseen = _levels(claim), not_covered(claim.privacy, claim)
    kept = [s for s in range(len(levels)) if s not in unseen]
    return [
        Detour(kept[each.first], kept[each.second], tuple(kept[s] for s in each.through), each.level)
        for each in detours([[levels[a][b] for b in kept] for a in kept])
    ]


def _levels(claim: Claim) -> Table:
    assert claim.levels is not None
    return claim.levels


def _of_attributes(document: Document, claim: Claim) -> Iterator[str]:
    """State against which readers the level of an attribute protects, if all combinations are covered."""
    attributes = _attributes(document, claim)
    if not_covered(claim.privacy, claim):
        return
    for k, (name, level) in enumerate(attributes):
        if math.isinf(level):
            continue
        others = attributes[:k] + attributes[k + 1 :]
        known, rest = " and ".join(other for other, _ in others), [own for _, own in others]
        yield (
            f"ε = {level!r} protects {name} against readers who know {known}, and against all readers where "
            f"{name} and {known} are independent. {_against_others(name, known, level, rest)}"
        )


def _against_others(name: str, known: str, level: float, rest: Sequence[float]) -> str:
    several = len(rest) > 1
    if any(map(math.isinf, rest)):
        return (
            f"Otherwise, readers who do not know {'all of ' * several}{known} may learn {name} from what the "
            f"output tells of {known}."
        )
    total, most = summed(rest), summed([level, *rest])
    return (
        f"Against readers who {f'know none of {known}' if several else f'do not know {known}'}, the level is "
        f"{level!r} + log(1 + TV · (e^{total} − 1)), where TV is the total variation between the "
        f"distributions of {known} given the two entries of {name}: at most {most}"
        f"{', which also holds against readers who know some of them' if several else ''}."
    )


def _attributes(document: Document, claim: Claim) -> list[tuple[str, float]]:
    """Return the secret columns and their levels, if the level of each pair is a sum of these; else none."""
    columns = () if document.reading is None else document.reading.secret
    own = own_levels(_levels(claim), [len(column.labels) for column in columns]) or ()
    return [(shown(column.name), level) for column, level in zip(columns, own, strict=False)]


def levels_not_promised(document: Document, claim: Claim) -> tuple[str, ...]:
    """Name pairs of secrets, or attributes, that are not protected."""
    open_ones = [name for name, level in _attributes(document, claim) if math.isinf(level)]
    if open_ones:
        return (f"Protection of {' and '.join(open_ones)}: ε = ∞ was asked for.",)
    levels = _levels(claim)
    pairs = [(a, b) for a, b in permutations(range(len(levels)), 2) if math.isinf(levels[a][b])]
    named = [f"{_secret(document, a)} against {_secret(document, b)}" for a, b in pairs]
    if not named:
        return ()
    beyond = " beyond what is proved through other secrets" if _detours(claim) else ""
    return (
        f"That an output is not far more likely for one secret than for another{beyond}, in these pairs with "
        f"ε = ∞: {_some(named)}.",
    )


def _some(named: Sequence[str]) -> str:
    rest = len(named) - _MOST
    if rest <= 0:
        return ", ".join(named)
    return f"{', '.join(named[:_MOST])}, and {rest} more"


def _secret(document: Document, s: int) -> str:
    return shown(document.secrets[s])
