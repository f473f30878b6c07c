"""The sentences of a report, for a reader who has never heard of ε."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from itertools import permutations

from rldp._common.digits import at_least, rounded_up
from rldp.adviser.ladder import MEANINGS
from rldp.reporter.page.beside import and_of
from rldp.reporter.page.facts import Level, Report
from rldp.reporter.page.svg import number, short
from rldp.reporter.words import (
    gives_away,
    known_sentence,
    share_of_rows,
    shares_by_secret,
    worth_sentences,
)

__all__ = [
    "MECHANISMS",
    "PROMISE_NAMES",
    "at_most",
    "conclusions",
    "factor",
    "in_few_digits",
    "known_reader",
    "level_figures",
    "mechanism_names",
    "per_cent",
    "promise_meanings",
    "promise_names",
    "promise_sentences",
    "secret_of",
    "worst_sentences",
    "worth_of",
]

_PAIRS = 30  # levels of pairs that are named

PROMISE_NAMES = {
    "all": "all distributions",
    "pairs": "pairs",
    "chi2": "χ² set",
    "cr": "Cressie-Read set",
    "g": "G-test set",
    "credible": "credible",
    "nominal": "estimate",
}
"""Names of promises in drawings."""

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
"""Names of mechanisms; designs are named after their promise."""

_DIGITS = 3
_HUGE = 700.0  # no float holds e to the power of more


def at_most(x: float | Decimal, digits: int = _DIGITS) -> str:
    """Return a bound in a few digits, rounded up.

    >>> at_most(0.26985911), at_most(0.0), at_most(float("inf"))
    ('0.27', '0', '∞')
    """
    return number(rounded_up(x, digits), digits)


def per_cent(share: float, digits: int = 2) -> str:
    """Return an upper bound on a share in per cent, rounded up."""
    return f"{at_most(100 * Decimal(min(share, 1.0)), digits)} %"


_LONG = re.compile(
    r"(?P<before>\b(?:below|at least|from|probability) )?(?<![\w.])(?P<x>\d+\.\d+(?:e[+-]?\d+)?)(?!\w|\.\d)"
)


def in_few_digits(sentence: str) -> str:
    """Return a sentence of the judge with long numbers in three digits, rounded so that it remains true.

    Numbers after "below", "at least", "from" or "probability" are rounded down, all others up.

    >>> in_few_digits("at most 93.73418235045848, and none below 93.7341134050279, with probability 0.95")
    'at most 93.8, and none below 93.7, with probability 0.95'
    """

    def cut(match: re.Match[str]) -> str:
        before, text = match["before"] or "", match["x"]
        exact = Decimal(text)
        if len(exact.as_tuple().digits) <= _DIGITS:
            return match[0]
        return before + (number(float(at_least(exact, _DIGITS))) if before else at_most(exact))

    return _LONG.sub(cut, sentence)


def factor(epsilon: float) -> str:
    """Return e^ε, rounded up."""
    if epsilon == 0:
        return "1"
    return at_most(math.exp(epsilon) * (1 + 1e-15)) if epsilon < _HUGE else f"e^{epsilon:g}"


def secret_of(report: Report) -> str:
    """Return the name of the secret column, as a noun."""
    reading = report.protocol.reading
    return "the secret" if reading is None else and_of(reading.secret_names)


def promise_names(report: Report) -> dict[str, str]:
    """Return the names of the frontier's lines."""
    frontier = report.frontier
    names = () if frontier is None else frontier.promises
    return {name: PROMISE_NAMES.get(name, name) for name in names}


def mechanism_names(report: Report) -> dict[str, str]:
    """Return the names of the compared mechanisms."""
    return {
        row.name: MECHANISMS.get(row.name, f"design: {PROMISE_NAMES.get(row.name, row.name)}")
        for row in report.compared
    }


def promise_meanings(report: Report) -> list[tuple[str, str]]:
    """Return the promises of the frontier, with their meanings."""
    return [(text, MEANINGS.get(name, "")) for name, text in promise_names(report).items()]


def promise_sentences(report: Report) -> list[str]:
    """Say what is promised about privacy: the ratio, the odds, for which distributions."""
    secret, beside = secret_of(report), report.beside
    value = and_of(beside.counted) or "value"
    knowing = f", among people with the same {and_of(beside.kept)}" if beside.is_known else ""
    first = f" and knows {and_of(beside.kept)}" if beside.is_known else ""
    epsilon, scope = report.epsilon, report.verdict.scope or report.claim.privacy.scope
    sure = per_cent(1 / (1 + math.exp(-epsilon)) * (1 + 1e-15), 3)
    sentences = [
        f"No released {value} is more than {factor(epsilon)} times as likely for people with one entry "
        f"of {secret} as for people with another{knowing}. This number is e to the power of ε, and ε is "
        f"{epsilon:g}.",
        f"Somebody who thinks that two entries of {secret} are equally likely{first} before seeing a "
        f"person’s released {value} is at most {sure} sure of one of them afterwards. With ε = 0 it would "
        "stay at 50 %.",
        *_levels(report),
        f"This holds for {scope}.",
        *beside.sentences(epsilon, secret),
    ]
    if report.verdict.epsilon is not None:
        return sentences
    return ["Nothing in this section is proved. It is what the file claims.", *sentences]


def _levels(report: Report) -> list[str]:
    """Name the levels of pairs of secrets, if they differ."""
    levels = report.claim.levels
    if levels is None:
        return []
    names = [short(label) for label in report.protocol.secrets]
    pairs = sorted(permutations(range(len(names)), 2), key=lambda pair: levels[pair])
    named = [f"{names[a]} against {names[b]}: {levels[a, b]:g}" for a, b in pairs[:_PAIRS]]
    rest = f"; and {len(pairs) - _PAIRS} more pairs" if len(pairs) > _PAIRS else ""
    return [f"That is the largest level. Each pair of entries has its own: {'; '.join(named)}{rest}."]


def known_reader(report: Report) -> tuple[str, str]:
    """Return what the output reveals to a reader who knows the value: the number, and what it means."""
    level, worth = report.worth.known_leakage, report.worth
    shown = shares_by_secret(worth)
    shares = "; ".join(f"{share_of_rows(share)} of {short(secret, 30)}" for secret, share in shown)
    some = (
        ""
        if len(shown) == len(worth.changed_of or ())
        else ", by secret from the smallest to the largest share"
    )
    changed = f" Rows that change{some}: {shares}." if shares else ""
    away = gives_away(worth)
    warned = "" if away is None else f" Note that {away}."
    return f"κ = {at_most(level)}" if level else "κ = 0", known_sentence(level, _DIGITS) + changed + warned


def worth_of(report: Report) -> list[str]:
    """Say what the protocol is worth, and by which distortion."""
    measured = report.verdict.distortion
    first = [
        f"Distortion is {in_few_digits(measured or '')}, where u is the value and y is what is released."
    ]
    shown = replace(report.worth, promised=rounded_up(report.worth.promised, _DIGITS))
    return [*(first if measured else []), *worth_sentences(shown, _DIGITS)]


def worst_sentences(report: Report) -> list[str]:
    """Say what the worst distribution of the privacy set shows."""
    worst = report.worst
    if worst is None:
        return [
            "A chain is proved by draws from the posterior distribution, not over a set of distributions, "
            "so there is no worst distribution to show."
        ]
    first, second, output = (f"“{short(label, 60)}”" for label in (*worst.secrets, worst.output))
    return [
        f"Over the distributions that the promise covers, the leakage ε* is at most {at_most(worst.upper)}; "
        f"under one of them it is {number(worst.lower)}.",
        f"Under that distribution, the output {output} reveals most: it is "
        f"{_times(worst.lower)} as likely for {first} as for {second}.",
    ]


def _times(leakage: float) -> str:
    return f"{number(math.exp(leakage))} times" if leakage < _HUGE else "infinitely many times"


def level_figures(report: Report, level: Level) -> list[tuple[str, str]]:
    """Return the numbers for one ε, with their names."""
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
    """Return what may not be concluded: the judge's list and additions of the report."""
    own = [
        "That ε measures harm. It bounds what a released entry reveals about the secret, not what somebody "
        "does with it.",
    ]
    if len(report.levels) > 1:
        own.append(
            "That you may choose freely among the designs at other ε on this page. If you look at all of "
            "them and take the one that looks best on this sample, confirm it on fresh data."
        )
    if not report.with_counts:
        own.append(
            "That the counts of the sample cannot be inferred. They are not on this page, but the table "
            "and the numbers on it were computed from them."
        )
    return [*map(in_few_digits, report.verdict.not_promised), *own]
