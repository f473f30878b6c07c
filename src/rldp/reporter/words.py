"""Sentences about what a protocol is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rldp._common.checks import Label, printable
from rldp._common.digits import at_most, rounded_up
from rldp.adviser.demo import Story
from rldp.adviser.verdict import FEW, Worth
from rldp.judge.level_words import levels_not_promised, levels_promised, levels_sentence
from rldp.measures.association import Association
from rldp.protocol import Protocol
from rldp.protocol_file.format import parsed
from rldp.sample import Sample

__all__ = [
    "association_sentences",
    "gives_away",
    "known_sentence",
    "level_sentences",
    "noise_words",
    "share_of_rows",
    "shares_by_secret",
    "story_lines",
    "worth_sentences",
]

NO_ASSOCIATION = 0.005
"""Correlations and Cramér's V below this are reported without the share that is kept."""

_MILLION = math.log(1e6)
_MOST_SECRETS = 6  # whose shares are listed one by one


def level_sentences(protocol: Protocol) -> tuple[str, ...]:
    """Return what is claimed about pairs of secrets; empty if all have one level."""
    claim = protocol.guarantee
    if claim is None or claim.levels is None:
        return ()
    document = parsed(protocol.to_json().encode("utf-8"))
    assert document.guarantee is not None
    return (
        f"{levels_sentence(document, document.guarantee)}.",
        *levels_promised(document, document.guarantee),
        *(f"Not promised: {each}" for each in levels_not_promised(document, document.guarantee)),
    )


def noise_words(sample: Sample) -> str | None:
    """Say what is promised to the people of a table whose counts have noise; None for exact counts."""
    if sample.noise is None:
        return None
    most = sample.rows_a_person
    has = "one row for each person" if most == 1 else f"at most {most} rows for each person"
    return (
        f"the table is {sample.noise!r}-differentially private ({has}); about people in it, the table and "
        f"the released row together reveal at most ε + {at_most(2 * sample.noise, 6)} where ε holds"
    )


def association_sentences(associations: Sequence[Association]) -> list[str]:
    """Say what the released table keeps of the association between published columns."""
    return list(map(_association, associations))


def _association(pair: Association) -> str:
    one, other = map(printable, pair.columns)
    between = f"Between {one!r} and {other!r} the {pair.measure} is"
    if pair.before is None:
        return f"One of {one!r} and {other!r} holds a single label: there is no association to keep."
    if pair.after is None:
        return f"{between} {pair.before:.2g} under the estimate; one of the released columns never varies."
    kept = f"{between} {pair.before:.2g} under the estimate, and {pair.after:.2g} in the released table"
    if abs(pair.before) < NO_ASSOCIATION:
        return f"{kept}."
    share = pair.after / pair.before
    if share < 0:
        return f"{kept}: its sign is lost."
    return f"{kept}: {f'{percent(share)} of it is kept' if share <= 1 else 'it grows'}."


def worth_sentences(worth: Worth, digits: int = 4) -> list[str]:
    """Return the sentences of "Is it any good?"; each stands alone, and the first matters most."""
    return [*_distortions(worth, digits), *_changes(worth), *_doubts(worth, digits)]


def _about(x: float, digits: int) -> str:
    return f"{float(f'{x:.{digits}g}'):.10g}"


def _at_most(x: float, digits: int) -> str:
    return f"{rounded_up(x, digits):.10g}"


def _distortions(worth: Worth, digits: int) -> Iterator[str]:
    at_mean = not worth.is_robust and not math.isclose(worth.promised, worth.estimate, rel_tol=1e-9)
    if worth.is_robust or at_mean:
        yield (
            f"The promised distortion is at most {_at_most(worth.promised, digits)}"
            f"{', for the posterior mean alone' if at_mean else ''}. For the same "
            f"distribution{'' if at_mean else 's'}, the best output that ignores the data has "
            f"{_about(worth.constant, digits)}, and no privacy at all has "
            f"{_about(worth.unprotected, digits)}."
        )
    yield (
        f"Under the estimate, the expected distortion is {_about(worth.estimate, digits)}. The best output "
        f"that ignores the data has {_about(worth.estimate_constant, digits)}; no privacy at all has "
        f"{_about(worth.estimate_unprotected, digits)}."
        f"{'' if worth.is_robust or at_mean else ' For other distributions, nothing is promised.'}"
    )
    if worth.reach is not None:
        yield (
            "So on a scale from 0 % (ignores the data) to 100 % (no privacy) it "
            f"{'is promised to reach' if worth.is_robust else 'reaches'} {percent(worth.reach)}."
        )


def _changes(worth: Worth) -> Iterator[str]:
    """Say how many rows change: of all, and of each secret, since one number could hide differences."""
    if worth.binned:
        yield "No raw number is published: each becomes the label of a bin."
    what = "to get the label of another bin" if worth.binned else "to change"
    if worth.changed == 0:
        yield f"No row is expected {what}."
    elif worth.changed is not None:
        some = percent(worth.changed)
        amount = some[0].upper() + some[1:] if some[0].isalpha() else f"About {some}"
        yield f"{amount} of the rows are expected {what}."
        parts = [
            f"{share_of_rows(share)} of the rows with {printable(secret)!r}"
            for secret, share in shares_by_secret(worth)
        ]
        if parts:
            all_of_them = len(parts) == len(worth.changed_of or ())
            yield f"By secret: {', '.join(parts) if all_of_them else f'from {parts[0]} to {parts[1]}'}."
    used = f"{worth.outputs_used} of {worth.outputs} outputs are used"
    if worth.outputs_used < worth.outputs:
        used += "; the others occur less than once in a million rows"
    yield f"{used}."


def shares_by_secret(worth: Worth) -> list[tuple[Label, float]]:
    """Return the share of changed rows of each secret, or the smallest and the largest of many."""
    shares = list(worth.changed_of or ())
    if len(shares) <= _MOST_SECRETS:
        return shares if len(shares) > 1 else []
    by_share = sorted(shares, key=lambda item: item[1])
    return [by_share[0], by_share[-1]]


def known_sentence(level: float, digits: int = 4) -> str:
    """Say what the output reveals to a reader who knows the value, beyond what the value reveals."""
    if level == 0:
        return (
            "To a reader who knows the value, the output reveals nothing more about the secret: the protocol "
            "does not read it."
        )
    if math.isinf(level):
        return (
            "Somebody who knows the value can learn the secret from the output: some outputs are possible "
            "for one secret and impossible for another (κ = ∞)."
        )
    factor = f"{rounded_up(math.exp(min(level, _MILLION)), 3):,.7g}".replace(",", "\u00a0")
    if level > _MILLION:
        factor = "more than a million"
    return (
        f"To a reader who knows the value, the output reveals up to κ = {at_most(level, digits)} more about "
        f"the secret: it can change the odds by a factor of {factor}."
    )


def gives_away(worth: Worth) -> str | None:
    """Return a warning if outputs rule out the most frequent secret for readers who know the value."""
    if worth.gives_away is None:
        return None
    kept, moved, share = worth.gives_away
    return (
        f"{share_of_rows(share)} of the rows with {printable(moved)!r} get an output that rows with the most "
        f"frequent secret, {printable(kept)!r}, and the same value hardly ever get: whoever knows the value "
        f"and sees the output is practically certain that the secret is not {printable(kept)!r}"
    )


def _doubts(worth: Worth, digits: int) -> Iterator[str]:
    """Say what readers of the value learn, what drives the cost, and what is doubtful about the sample."""
    if worth.secrets > 1:
        yield known_sentence(worth.known_leakage, digits)
    without = worth.without
    if without is not None:
        names = " and ".join(repr(printable(secret)) for secret in without.secrets)
        several = len(without.secrets) > 1
        yield (
            f"{'Rare secrets drive' if several else 'A rare secret drives'} the cost: without {names} "
            f"({_rows(without.rows)} of {worth.rows}) the distortion would be at most "
            f"{_at_most(without.promised, digits)}. "
            f"If {'they are' if several else 'it is'} left out, such rows cannot be released; if merged with "
            "another secret, nothing is promised about telling them apart."
        )
    if worth.secrets == 1:
        yield "There is only one secret, so there is nothing to protect."
    elif worth.is_tiny:
        cells = worth.secrets * worth.values
        yield (
            f"The sample is tiny: {_rows(worth.rows)} for {cells} cells (secrets × values). Below {FEW} "
            "rows a cell, about half of what a cell shows is chance; more rows or fewer values help."
        )


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def percent(share: float) -> str:
    """Return a share in words; only certainty is written as 0 % or 100 %."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def share_of_rows(share: float) -> str:
    """Return a share with two digits below 1 %, for comparisons."""
    if not 0 < share < 0.01:
        return percent(share)
    return "less than 0.01 %" if share < 1e-4 else f"{100 * share:.2g} %"


def story_lines(told: Story, epsilon: float, rows: int) -> dict[str, str]:
    """Return the demonstration's story: heading → a few plain sentences."""
    often, rarely = told.raw_secrets
    common = f"are {math.exp(min(told.raw_leakage, 700.0)):.1f} times as common for {often} as for {rarely}"
    if math.isinf(told.raw_leakage):
        common = f"occur for {often} and never for {rarely}"
    stays = " and ".join(f"{percent(share)} ({secret})" for secret, share, _ in told.moved)
    return {
        "the task": "Publish how many years people went to school, but not their sex.",
        "the raw column": f"In a public sample of {rows} rows, {told.raw_value} years {common}. So the "
        "raw number reveals something about the sex.",
        "published instead": "A number that is drawn at random for each person. Among people with "
        f"{told.moved_value} years, {stays} still get {told.moved_value}; most others get "
        f"{told.moved[0][2]}.",
        "what it keeps": f"{percent(told.unchanged)} of the rows do not change. The typical error is "
        f"{told.error:.2g} years.",
        "what is promised": "Every published number is at most "
        f"{at_most(math.exp(min(epsilon, 700.0)), 3)} times as likely for one sex as for the other (e^ε with "
        f"ε = {epsilon:g}). This is proved for every distribution that the sample does not rule out.",
    }
