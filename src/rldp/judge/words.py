"""Sentences of a verdict: distributions, assumptions, what is not promised, the distortion."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from rldp._common.checks import shown
from rldp._common.levels import summed
from rldp.protocol_file.format import (
    Claim,
    CredibleClaim,
    Document,
    EverythingClaim,
    PairsClaim,
    Promise,
    SetClaim,
    Table,
)

__all__ = [
    "assumption",
    "at_least",
    "at_most",
    "distortion_words",
    "except_for",
    "given_the_sample",
    "known_not_promised",
    "noise_assumption",
    "noise_not_promised",
    "noise_promised",
    "not_covered",
    "not_promised",
    "proved_set",
    "scope",
    "table_promised",
]

_JEFFREYS = 0.5
_ADAPTIVE = (
    "Dirichlet(a) on the values of each secret, with one a for all of them: one of 0.01, 0.02, 0.05, 0.1, "
    "0.2 and 0.5 with a times the number of values at most 8, all equally probable"
)


# Distributions


def proved_set(promise: Promise) -> Promise:
    """Return the proved set: for a credible promise the set of its radius, else the promise itself."""
    return promise.proved_set if isinstance(promise, CredibleClaim) else promise


def scope(promise: Promise) -> str:
    """Return the distributions of a promise, in words that follow 'for'."""
    match promise:
        case EverythingClaim():
            return "every distribution"
        case PairsClaim(alpha):
            return (
                "every distribution in the confidence sets of all pairs of secrets, which miss the truth "
                f"with probability at most {alpha!r}, whatever it is"
            )
        case CredibleClaim(alpha, prior):
            return (
                f"all distributions but some of posterior probability at most {alpha!r}, given the sample "
                f"and the {_short_prior(prior)}"
            )
        case SetClaim():
            return _set_scope(promise)


def _short_prior(prior: float | str) -> str:
    return "adaptive prior" if prior == "adaptive" else f"prior Dirichlet({prior!r})"


def _set_scope(claim: SetClaim) -> str:
    if _is_estimate(claim):
        return "the estimated distribution only" if claim.centre is None else "the centre in the file only"
    centre = "the estimate" if claim.centre is None else "the centre in the file"
    named = {1.0: "χ² test", 2 / 3: "Cressie-Read test", 0.0: "G-test"}
    test = named.get(claim.lambda_ or 0.0, f"power-divergence test of order {claim.lambda_!r}")
    if claim.radius is not None:
        return f"every distribution within radius {claim.radius!r} of {centre}, as a {test} measures it"
    return f"every distribution that a {test} at level {claim.alpha!r} does not reject"


def _is_estimate(promise: Promise) -> bool:
    return isinstance(promise, SetClaim) and (promise.lambda_ is None or promise.radius == 0)


def not_covered(promise: Promise, claim: Claim) -> list[int]:
    """Return the unseen secrets, about which the estimate alone says nothing."""
    if not isinstance(promise, SetClaim) or not _is_estimate(promise):
        return []
    rows = claim.counts if promise.centre is None else promise.centre
    return [s for s, row in enumerate(rows) if not any(row)]


def except_for(promise: Promise, document: Document, claim: Claim) -> str:
    """Name the secrets that a promise does not cover."""
    unseen = [shown(document.secrets[s]) for s in not_covered(promise, claim)]
    return f", and not for secrets that the sample never shows ({', '.join(unseen)})" if unseen else ""


def given_the_sample(promise: CredibleClaim) -> str:
    """Say what a posterior probability is conditional on."""
    if promise.prior == "adaptive":
        return f"given the sample and the adaptive prior ({_ADAPTIVE})"
    law = f"Dirichlet({promise.prior!r}) on the cells"
    prior = f"Jeffreys' prior ({law})" if promise.prior == _JEFFREYS else f"the prior {law}"
    return f"given the sample and {prior}"


# What is assumed, and what is not promised


def assumption(what: str, promise: Promise) -> str:
    """State what must be true of the people's distribution, which no file can show."""
    match promise:
        case EverythingClaim():
            return f"For {what}, nothing is assumed about that distribution or about the sample."
        case PairsClaim(alpha):
            return (
                f"For {what}, that distribution is in the sets. Over the draw of the sample this has "
                f"probability at least {1 - alpha:.6g}, for every distribution and every number of rows. It "
                "is enough that the values of rows with the same secret were drawn independently."
            )
        case CredibleClaim(prior=prior):
            law = "adaptive prior" if prior == "adaptive" else f"prior Dirichlet({prior!r}) on the cells"
            known = f"For {what}, what was known of that distribution before the sample"
            return f"{known} is what the {law} says."
        case SetClaim(radius=None, alpha=float(alpha)):
            return (
                f"For {what}, that distribution is in the set. Over the draw of the sample this has "
                f"probability {1 - alpha:.6g} in the limit of many rows, and may be less at this number."
            )
        case SetClaim() if not _is_estimate(promise):
            return f"For {what}, that distribution lies within the radius that the designer chose."
    if isinstance(promise, SetClaim) and promise.centre is not None:
        return f"For {what}, that distribution is exactly the centre in the file."
    return f"For {what}, that distribution is exactly the one the sample shows."


def not_promised(what: str, promise: Promise) -> tuple[str, ...]:
    """State what a reader might mistake for a promise."""
    match promise:
        case EverythingClaim():
            return ()
        case PairsClaim(alpha):
            return (
                f"For {what}: anything if the people's distribution is not in the sets. Over the draw of the "
                f"sample that has probability at most {alpha!r}; nobody can know whether it has happened.",
            )
        case CredibleClaim(alpha):
            measured = (
                " Measured for privacy with two secrets, two values, 10 rows of each secret and a "
                "probability of 0.05: 0.049 on average, 0.284 at the worst."
            )
            return (
                f"For {what}: that such a protocol fails for a share of at most {alpha!r} of the samples, "
                "whatever the people's distribution is. Averaged over distributions drawn from the prior, "
                f"the share is at most that. For a single distribution it can be more.{measured}",
                f"For {what}: that the people's distribution is within the radius. The radius is only a "
                "means to find the protocol; the promise is the posterior probability.",
            )
        case SetClaim(radius=None, alpha=float(alpha)):
            return (
                f"For {what}: that the set holds the people's distribution with probability {1 - alpha:.6g} "
                "at this number of rows. Where 0.95 was asked for, 0.65 was measured for sets of the χ² test "
                "and 0.74 for sets of the G-test, at the worst distributions.",
            )
        case SetClaim() if not _is_estimate(promise):
            return (
                f"For {what}: anything about how likely the people's distribution is within that radius.",
            )
    centred = isinstance(promise, SetClaim) and promise.centre is not None
    one = "the centre in the file" if centred else "the one that the sample shows"
    return (
        f"For {what}: anything if the people's distribution differs from {one}, as it nearly always does.",
    )


def other_columns(released: str) -> str:
    """State that other columns and releases of the same people are not covered."""
    return (
        f"Anything about what is published beside {released}, or released again of the same people. Two "
        "columns, each released with a protocol of its own, can together reveal far more than the sum of "
        "their ε: design them in one release."
    )


def known_not_promised(kappa: float, level: float) -> tuple[str, ...]:
    """State what readers who know the value can still learn; ``level`` is the κ of the table."""
    if math.isinf(kappa):
        tells = "the secret" if math.isinf(level) else f"up to {level:.6g} more about the secret"
        return (
            f"To a reader who knows the value: anything. The output can reveal {tells} to such a reader.",
        )
    added = f"{kappa!r} bounds what the output adds" if kappa else "the output adds nothing"
    return (
        "To a reader who knows the value: that the secret stays unknown. The value itself may reveal it; "
        f"{added}.",
        "If the value stands for several columns: anything to a reader who knows some of them, but not all.",
    )


# Distortion


_KNOWN: dict[str, Callable[[Any, Any], float]] = {
    "(u − y)²": lambda u, y: (float(u) - float(y)) * (float(u) - float(y)),
    "|u − y|": lambda u, y: abs(float(u) - float(y)),
    "1 if y ≠ u, else 0": lambda u, y: float(u != y),
}


def distortion_words(document: Document, claim: Claim) -> str:
    """Return the formulas that give every entry of the table exactly, or the range of its entries."""
    table = claim.distortion
    entries = [entry for row in table for entry in row]
    if not any(entries):
        return "d(u, y) = 0 whatever u and y are, so it measures nothing"
    names = [name for name, formula in _KNOWN.items() if _tabulated(formula, document) == table]
    if names:
        return f"d(u, y) = {' = '.join(names)}"
    return f"the table d(u, y) in the file, which goes from {min(entries)!r} to {max(entries)!r}"


def _tabulated(formula: Callable[[Any, Any], float], document: Document) -> Table | None:
    """Return the formula at every value and output; None if it does not apply to the labels."""
    names = (*document.values, *document.outputs)
    if formula is not _KNOWN["1 if y ≠ u, else 0"] and any(isinstance(label, str | tuple) for label in names):
        return None
    try:
        return [[formula(u, y) for y in document.outputs] for u in document.values]
    except OverflowError:  # an integer that no float holds
        return None


def noise_assumption(noise: float, rows_a_person: int) -> str:
    """State what a proof assumes about noisy counts."""
    level = noise / rows_a_person
    return (
        f"Every count of the table has independent discrete Laplace noise of level {level!r}, drawn once, "
        f"and {_has(rows_a_person)}. Labels, bins, weights and everything else that the design used were "
        "public or came from the noisy counts."
    )


def noise_promised(epsilon: float, noise: float | None, *, is_certain: bool) -> str:
    """State what is promised to people in a table with noisy counts, and to others.

    ``is_certain``: whether ε holds for every distribution, so that it cannot fail.
    """
    if noise is None or math.isinf(epsilon):
        return ""
    together = "noisy table" if is_certain else "where that holds, noisy table"
    return (
        f"To a person who is not in the table, this promises ε = {epsilon!r}. To a person in it, {together} "
        f"and released row together reveal at most {summed([epsilon, noise, noise])} about the secret, which "
        f"is ε + 2ε_h with the table's ε_h = {noise!r}, also to a reader who knows all other rows."
    )


def table_promised(noise: float | None, rows_a_person: int) -> str:
    """State what noisy counts reveal by themselves."""
    if noise is None:
        return ""
    return (
        f"The noisy table alone is {noise!r}-differentially private when the rows of one person are added or "
        f"removed, as {_has(rows_a_person)}, and {summed([noise, noise])}-differentially private where the "
        "number of rows is public. So this file may be published."
    )


def noise_not_promised(epsilon: float, noise: float | None) -> str:
    """State what is not promised to the people whose rows were counted."""
    if noise is None:
        return (
            "Anything to the people whose rows are the sample. This file holds its exact counts: publish it "
            "only if these rows are public."
        )
    return (
        f"To a person in the table: ε = {epsilon!r} given the noisy table, which also reveals something "
        "about its people."
    )


def _has(rows: int) -> str:
    return "each person has one row in it" if rows == 1 else f"each person has at most {rows} rows in it"


def at_most(bound: float) -> str:
    """Return an upper bound in six digits, rounded up."""
    return _rounded(bound, ROUND_CEILING)


def at_least(bound: float) -> str:
    """Return a lower bound in six digits, rounded down."""
    return _rounded(bound, ROUND_FLOOR)


def _rounded(bound: float, side: str) -> str:
    return f"{float(Context(prec=6, rounding=side).create_decimal(str(bound))):.6g}"
