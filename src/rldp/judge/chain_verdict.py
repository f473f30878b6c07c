"""The verdict on a chain, in numbers and in words that an auditor can quote."""

from __future__ import annotations

import math

from rldp._common.checks import shown
from rldp.judge.chains import failures_of, known_level
from rldp.judge.contexts import promised, whole_tables
from rldp.judge.regions import precision
from rldp.judge.verdict import Verdict
from rldp.judge.words import (
    at_least,
    at_most,
    given_the_sample,
    known_not_promised,
    noise_assumption,
    noise_not_promised,
    noise_promised,
    not_promised,
    other_columns,
    scope,
    table_promised,
)
from rldp.protocol_file.chains import ChainClaim, ChainDocument
from rldp.protocol_file.format import CredibleClaim

__all__ = ["judged_chain"]

_BITS = 128


def judged_chain(document: ChainDocument) -> Verdict:
    """Check everything that the file of a chain claims."""
    claim = document.guarantee
    assert claim is not None
    with precision(_BITS):
        outcome, trial = failures_of(document, claim)
    whole = outcome["rows"] is None
    private = whole and outcome["privacy"] is None
    useful = whole and "objective" not in outcome
    known = whole and "known" not in outcome
    bounded = "lower_bound" not in outcome
    promise = _promise(claim)
    evidence = "" if trial is None else f" ({trial.evidence})"
    given = given_the_sample(promise)
    sentences = {
        f"Every probability is an integer over 2^52, and every row of every table sums to exactly one. "
        f"{_order(document)}": whole,
        f"{given[0].upper()}{given[1:]}, the probability that {promised(document)} are not "
        f"{claim.epsilon!r}-private is at most {claim.alpha!r}{evidence}.{_total(document)}": private,
        f"The expected distortion of whole rows is at most {at_most(claim.objective)} under the centre in "
        "the file.": useful,
        f"No protocol for these columns that is private under the centre in the file has an expected "
        f"distortion below {at_least(claim.lower_bound)} there{_beside(document)}.": bounded,
        _known_sentence(claim.epsilon_known): known,
        noise_promised(claim.epsilon, claim.noise): private,
        table_promised(claim.noise, claim.rows_a_person): True,
    }
    failures = tuple(reason for reason in outcome.values() if reason)
    return Verdict(
        ok=not failures,
        epsilon=claim.epsilon if private else None,
        objective=claim.objective if useful else None,
        lower_bound=claim.lower_bound if bounded else None,
        reasons=failures,
        proved=tuple(sentence for sentence, holds in sentences.items() if holds and sentence),
        assumptions=(*_assumptions(claim), *_assumed_of_contexts(document)),
        not_promised=(  # a chain has no radius
            not_promised("privacy", promise)[0],
            noise_not_promised(claim.epsilon, claim.noise),
            *_not_promised_of_contexts(document),
            *_NOT_PROMISED,
            *_known_not_promised(claim, document),
        ),
        scope=f"{scope(promise)}{_about(document)}",
        distortion="the sum over the columns of weight times distortion",
        epsilon_known=claim.epsilon_known if known else None,
    )


def _columns(document: ChainDocument, *, kept: bool) -> str:
    """Describe the columns that are kept, or already published."""
    stages = [stage for stage in document.stages if (stage.kept if kept else stage.earlier is not None)]
    return " and ".join(shown(stage.column) for stage in stages)


def _order(document: ChainDocument) -> str:
    drawn = [shown(stage.column) for stage in document.stages if stage.is_drawn]
    kept, earlier = _columns(document, kept=True), _columns(document, kept=False)
    said = f"Columns are drawn in the order {', '.join(drawn)}, each given those before it"
    if len(drawn) == 1:
        said = f"{drawn[0]} is drawn"
    before = [
        f"{kept}, published as it is" if kept else "",
        f"the outputs of {earlier}, which are out already and not drawn again" if earlier else "",
    ]
    given = " and ".join(filter(None, before))
    return f"{said}{' and' * (len(drawn) > 1)} given {given}." if given else f"{said}."


def _total(document: ChainDocument) -> str:
    """Say what the level is the total of."""
    kept, earlier = _columns(document, kept=True), _columns(document, kept=False)
    claim = document.guarantee
    assert claim is not None
    beside = " and ".join(
        filter(None, [kept if not claim.given_known else "", earlier and f"the earlier {earlier}"])
    )
    return f" This level is the total of {beside} and the released columns together." if beside else ""


def _about(document: ChainDocument) -> str:
    """Name the readers that the level refers to, if not everybody."""
    claim = document.guarantee
    assert claim is not None
    kept, earlier = _columns(document, kept=True), _columns(document, kept=False)
    said = ""
    if kept:
        said = (
            f", to readers who know {kept}" if claim.given_known else f", together with {kept}, kept as it is"
        )
    return said + (f", as the total with the earlier release of {earlier}" if earlier else "")


def _beside(document: ChainDocument) -> str:
    return " beside what is kept or out already" if document.fixed else ""


def _assumed_of_contexts(document: ChainDocument) -> tuple[str, ...]:
    """Return the assumptions about earlier releases, which no file can show."""
    said = []
    for stage in document.stages:
        if stage.earlier is None:
            continue
        column = shown(stage.column)
        file = f" (its file: {stage.earlier.sha256})" if stage.earlier.sha256 else ""
        said.append(
            f"The earlier outputs of {column} were drawn once, by the protocol whose table has the SHA-256 "
            f"{stage.earlier.digest}{file}."
        )
    if said:
        said.append(
            "The sample's rows are linked: each has one person's values of all releases. Nobody's secret has "
            "changed between them, and whether somebody is in this release does not depend on the values of "
            "the earlier ones."
        )
    return tuple(said)


def _not_promised_of_contexts(document: ChainDocument) -> tuple[str, ...]:
    claim = document.guarantee
    assert claim is not None
    said = []
    if claim.given_known:
        kept = _columns(document, kept=True)
        said.append(
            f"Anything about what {kept} reveals about the secret: a reader who knew neither learns that "
            "too, and ε comes on top of it."
        )
    if _columns(document, kept=False):
        said.append(
            "Anything if rows are released whose earlier outputs came from another protocol, or twice."
        )
    return tuple(said)


def _promise(claim: ChainClaim) -> CredibleClaim:
    return CredibleClaim(claim.alpha, claim.prior, 1.0, 0.0, claim.seed)


def _known_sentence(kappa: float) -> str:
    """Say what is promised to readers who know all values; empty if nothing is."""
    if math.isinf(kappa):
        return ""
    if kappa == 0:
        return (
            "To a reader who knows all values, a row reveals nothing more about the secret, whatever the "
            "distribution: no table reads the secret."
        )
    return (
        f"To a reader who knows all values, a row reveals at most {kappa!r} more about the secret, whatever "
        "the distribution: the largest log-ratios of the stages add up to no more."
    )


def _assumptions(claim: ChainClaim) -> tuple[str, ...]:
    drawn = "The sample was" if claim.noise is None else "The rows of the table were"
    noisy = () if claim.noise is None else (noise_assumption(claim.noise, claim.rows_a_person),)
    return (
        f"{drawn} drawn independently from the distribution of the people who are to be protected.",
        "What was known of that distribution before the sample is what the prior says.",
        *noisy,
        "The random draws of this check are independent and have the stated distributions.",
        "Outputs are drawn with exactly these probabilities, with fresh randomness for every row and column.",
    )


def _known_not_promised(claim: ChainClaim, document: ChainDocument) -> tuple[str, ...]:
    """Say what readers who know all or some values can still learn."""
    level = known_level(whole_tables(document))
    several = "Anything to readers who know some of a person's values, but not all of them."
    told = known_not_promised(claim.epsilon_known, level)
    return (*told, several) if math.isinf(claim.epsilon_known) else told  # which says so otherwise


_NOT_PROMISED = (
    "For utility: anything if the people's distribution differs from the centre in the file, as it nearly "
    "always does. Designs put the posterior mean there.",
    "A level for each column by itself: what is proved is the total, and so every column and every group of "
    "columns that comes first.",
    other_columns("the released columns"),
)
