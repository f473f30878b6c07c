"""The sentences of the page, for a reader who has never heard of ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rldp._common.checks import printable
from rldp._common.digits import rounded_up
from rldp.adviser.ladder import MEANINGS
from rldp.reporter.page.facts import Level, Report
from rldp.reporter.page.svg import number, short
from rldp.reporter.words import gives_away, known_sentence, percent, worth_sentences

__all__ = [
    "MECHANISMS",
    "PROMISE_NAMES",
    "Noun",
    "at_most",
    "caution",
    "columns",
    "conclusions",
    "factor",
    "known_reader",
    "level_figures",
    "mechanism_names",
    "per_cent",
    "promise_meanings",
    "promise_names",
    "promise_sentences",
    "worst_sentences",
    "worth_of",
]

PROMISE_NAMES = {
    "all": "all distributions",
    "pairs": "pairs",
    "chi2": "χ² set",
    "cr": "Cressie-Read set",
    "g": "G-test set",
    "credible": "credible",
    "nominal": "estimate",
}
"""What promises are called in drawings."""

MECHANISMS = {
    "this protocol": "this protocol",
    "all distributions": "best design that needs no sample",
    "without reading the secret": "design that does not read the secret",
    "as it is": "the column as it is",
    "constant": "best output that ignores the data",
    "GRR": "randomised response of the value (GRR)",
    "SRR": "secret randomised response (SRR)",
    "independent": "independent reporting",
}
"""What mechanisms are called; designs are called after their promise."""

_DIGITS = 4
_MOST_SECRETS = 8  # whose shares fit on a card
_LIKELY = 0.1  # a risk that is worth a word in the first line
_HUGE = 700.0  # no float holds e to the power of more


def at_most(x: float | Decimal, digits: int = _DIGITS) -> str:
    """A bound in a few digits, rounded up.

    >>> at_most(0.26985911), at_most(0.0), at_most(float("inf"))
    ('0.2699', '0', '∞')
    """
    return number(rounded_up(x, digits), digits)


def per_cent(share: float, digits: int = 2) -> str:
    """An upper bound on a share, in per cent, rounded up."""
    return f"{at_most(100 * Decimal(min(share, 1.0)), digits)} %"


def factor(epsilon: float) -> str:
    """e^ε, rounded up."""
    if epsilon == 0:
        return "1"
    return at_most(math.exp(epsilon) * (1 + 1e-15)) if epsilon < _HUGE else f"e^{epsilon:g}"


@dataclass(frozen=True)
class Noun:
    """What a column is called: “age” where its name is known, else value, the value or a value."""

    bare: str
    the: str
    a: str

    @classmethod
    def of(cls, names: Sequence[str], otherwise: str) -> Noun:
        if not names:
            return cls(otherwise, f"the {otherwise}", f"a {otherwise}")
        quoted = " and ".join(f"“{printable(name)}”" for name in names)
        return cls(quoted, quoted, quoted)


def columns(report: Report) -> tuple[Noun, Noun]:
    """What the secret and the value are called."""
    reading = report.protocol.reading
    secret = () if reading is None else reading.secret_names
    value = () if reading is None else reading.value_names
    return Noun.of(secret, "secret"), Noun.of(value, "value")


def promise_names(report: Report) -> dict[str, str]:
    """What the lines of the frontier are called."""
    found = report.frontier
    names = () if found is None else found.promises
    return {name: PROMISE_NAMES.get(name, name) for name in names}


def mechanism_names(report: Report) -> dict[str, str]:
    """What the compared mechanisms are called."""
    return {
        row.name: MECHANISMS.get(row.name, f"design: {PROMISE_NAMES.get(row.name, row.name)}")
        for row in report.compared
    }


def promise_meanings(report: Report) -> list[tuple[str, str]]:
    """The promises of the frontier, with what each is about."""
    return [(text, MEANINGS.get(name, "")) for name, text in promise_names(report).items()]


def promise_sentences(report: Report) -> list[str]:
    """What is promised about privacy: the ratio, the odds, for which distributions."""
    secret, value = columns(report)
    epsilon, scope = report.epsilon, report.verdict.scope or report.claim.privacy.scope
    sure = per_cent(1 / (1 + math.exp(-epsilon)) * (1 + 1e-15), 3)
    sentences = [
        f"No released {value.bare} is more than {factor(epsilon)} times as likely for people with one entry "
        f"of {secret.the} as for people with another. This number is e to the power of ε, and ε is "
        f"{epsilon!r}.",
        f"Somebody who is torn 50 : 50 between two entries of {secret.the} before seeing a person’s released "
        f"{value.bare} is at most {sure} sure of one of them afterwards. With ε = 0 it would stay at 50 %.",
        f"This holds for {scope}.",
    ]
    if report.verdict.epsilon is not None:
        return sentences
    return ["None of what follows in this section is proved. It is what the file claims.", *sentences]


def caution(report: Report) -> str:
    """A word beside the verdict, where what is proved holds for little that the sample leaves plausible."""
    low = report.law.risk[0]
    if low <= _LIKELY:
        warning = gives_away(report.worth)
        return "" if warning is None else f"But mind readers who know the value: {warning}."
    return (
        f"But mind what is claimed: privacy for {report.claim.privacy.scope}. Given sample and prior, more "
        f"than ε = {report.epsilon:g} leaks with a probability of at least {100 * low:.2g} %."
    )


def known_reader(report: Report) -> tuple[str, str]:
    """What the output tells to somebody who knows the value: the number, and what it means."""
    level, found = report.worth.known_leakage, report.worth
    shares = "; ".join(f"{percent(share)} of {short(secret, 30)}" for secret, share in found.changed_of or ())
    changed = (
        f" Rows that change: {shares}." if shares and len(found.changed_of or ()) <= _MOST_SECRETS else ""
    )
    return f"κ = {at_most(level)}" if level else "κ = 0", known_sentence(level) + changed


def worth_of(report: Report) -> list[str]:
    """What the protocol is worth, and by which distortion."""
    measured = report.verdict.distortion
    first = [f"Distortion is {measured}, where u is the value and y is what is released instead."]
    shown = replace(report.worth, promised=rounded_up(report.worth.promised, _DIGITS))
    return [*(first if measured else []), *worth_sentences(shown)]


def worst_sentences(report: Report) -> list[str]:
    """What the worst distribution of the privacy set shows."""
    worst = report.worst
    first, second, output = (f"“{short(label, 60)}”" for label in (*worst.secrets, worst.output))
    return [
        f"Over the distributions that the promise covers, the leakage ε* is at most {at_most(worst.upper)}; "
        f"there is one of them under which it is {number(worst.lower)}.",
        f"Under that distribution the output {output} tells most: it is "
        f"{_times(worst.lower)} as likely for {first} as for {second}.",
    ]


def _times(leakage: float) -> str:
    return f"{number(math.exp(leakage))} times" if leakage < _HUGE else "infinitely many times"


def level_figures(report: Report, level: Level) -> list[tuple[str, str]]:
    """The numbers of one ε, with their names."""
    share = None if not report.constant > 0 else level.promised / report.constant
    relative = "" if share is None else f" ({100 * share:.3g} % of ignoring the data)"
    return [
        ("No output is more likely by more than", f"× {factor(level.epsilon)}"),
        ("Distortion, at most", f"{at_most(level.promised)}{relative}"),
        ("Distortion, under the estimate", number(level.estimate)),
        ("Leakage ε*, median", number(level.law.median)),
        ("Leakage ε*, 95 % point", number(level.law.high)),
        ("Risk that ε* exceeds ε, at most", per_cent(level.law.risk[1])),
    ]


def conclusions(report: Report) -> list[str]:
    """What may not be concluded: the judge's list, and what this page adds to it."""
    own = [
        "That ε measures harm. It bounds how much a released entry can tell about the secret, not what "
        "somebody does with it.",
        "That designs at other ε on this page are chosen freely. Who looks at all of them and takes the "
        "one that looks best on this sample should confirm it on fresh data.",
    ]
    if not report.with_counts:
        own.append(
            "That the counts of the sample cannot be worked out. They are left off this page, but the table "
            "and the numbers on it were computed from them."
        )
    return [*report.verdict.not_promised, *own]
