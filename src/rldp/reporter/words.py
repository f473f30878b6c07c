"""What a protocol is worth, in sentences."""

from __future__ import annotations

from rldp._common.checks import printable
from rldp._common.digits import at_most
from rldp.adviser.verdict import FEW, Worth

__all__ = ["worth_sentences"]


def worth_sentences(found: Worth) -> list[str]:
    """Is it any good? Each sentence stands alone; the first is the one to remember."""
    return [*_worth(found), *_use(found), *_rare(found), *_doubts(found)]


def _worth(found: Worth) -> list[str]:
    own = f"at most {at_most(found.promised, 4)}, and {found.estimate:.4g} under the estimate"
    if not found.is_robust:
        own = f"{found.estimate:.4g} under the estimate; for other distributions nothing is promised of it"
    sentences = [
        f"The expected distortion is {own}. The best output that ignores the data has {found.constant:.4g}; "
        f"no privacy at all has {found.unprotected:.4g}."
    ]
    if found.reach is not None:
        sentences.append(
            "So on a scale from 0 % (ignores the data) to 100 % (no privacy) it "
            f"{'is promised to reach' if found.is_robust else 'reaches'} {percent(found.reach)}."
        )
    return sentences


def _use(found: Worth) -> list[str]:
    used = f"{found.outputs_used} of {found.outputs} outputs are used"
    if found.outputs_used < found.outputs:
        used += "; the others come up less than once in a million rows"
    return [*_changes(found.changed), f"{used}."]


def _changes(share: float | None) -> list[str]:
    if share is None:
        return []
    return [f"{f'About {percent(share)} of the rows are' if share else 'No row is'} expected to change."]


def _rare(found: Worth) -> list[str]:
    without = found.without
    if without is None:
        return []
    names = " and ".join(repr(printable(secret)) for secret in without.secrets)
    several = len(without.secrets) > 1
    return [
        f"{'Rare secrets drive' if several else 'A rare secret drives'} the cost: without {names} "
        f"({_rows(without.rows)} of {found.rows}) the distortion would be at most "
        f"{at_most(without.promised, 4)}. "
        f"If {'they are' if several else 'it is'} left out, such rows cannot be released; if joined with "
        "another secret, nothing is promised about telling them apart."
    ]


def _doubts(found: Worth) -> list[str]:
    sentences = []
    if found.secrets == 1:
        sentences.append("There is only one secret, so there is nothing to protect.")
    elif found.is_tiny:
        cells = found.secrets * found.values
        sentences.append(
            f"The sample is tiny: {_rows(found.rows)} for {cells} cells (secrets × values). Below {FEW} "
            "rows a cell, about half of what a cell shows is chance; more rows or fewer values help."
        )
    return sentences


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def percent(share: float) -> str:
    """A share in words of a few letters; only what is certain is 0 % or 100 %."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if share > 0.99 else f"{100 * share:.0f} %"
