"""The verdict on a chain, in numbers and in words that an auditor can quote."""

from __future__ import annotations

import math
from collections.abc import Iterator

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


def judged_chain(document: ChainDocument) -> Verdict:
    """Check everything that the file of a chain claims."""
    claim = document.guarantee
    assert claim is not None
    with precision():
        failures, trial = failures_of(document, claim)
    whole = "rows" not in failures
    private, useful, known = (whole and name not in failures for name in ("privacy", "objective", "known"))
    bounded = "lower_bound" not in failures
    promise = CredibleClaim(claim.alpha, claim.prior, 1.0, 0.0, claim.seed)
    evidence = "" if trial is None else f" ({trial.evidence})"
    given = given_the_sample(promise).replace("given", "Given", 1)
    kept, earlier = (
        " and ".join(shown(stage.column) for stage in document.stages if fixed(stage))
        for fixed in (lambda stage: stage.kept, lambda stage: stage.earlier is not None)
    )
    beside = " beside what is kept or out already" if document.fixed else ""
    sentences = {
        f"Every probability is an integer over 2^52, and every row of every table sums to exactly one. "
        f"{_order(document, kept, earlier)}": whole,
        f"{given}, the probability that {promised(document)} are not {claim.epsilon!r}-private is at most "
        f"{claim.alpha!r}{evidence}.{_total(claim, kept, earlier)}": private,
        f"The expected distortion of whole rows is at most {at_most(claim.objective)} under the centre in "
        "the file.": useful,
        "No protocol for these columns with these outputs that is private under the centre in the file has "
        f"an expected distortion below {at_least(claim.lower_bound)} there{beside}.": bounded,
        _known_sentence(claim.epsilon_known): known,
        noise_promised(claim.epsilon, claim.noise, is_certain=False): private,
        table_promised(claim.noise, claim.rows_a_person): True,
    }
    return Verdict(
        ok=not failures,
        epsilon=claim.epsilon if private else None,
        objective=claim.objective if useful else None,
        lower_bound=claim.lower_bound if bounded else None,
        reasons=tuple(failures.values()),
        proved=tuple(sentence for sentence, holds in sentences.items() if holds and sentence),
        assumptions=(*_assumptions(claim), *_assumed_of_contexts(document)),
        not_promised=(  # a chain has no radius
            not_promised("privacy", promise)[0],
            noise_not_promised(claim.epsilon, claim.noise),
            *_not_promised_of_contexts(claim, kept, earlier),
            *_NOT_PROMISED,
            *_known_not_promised(claim, document),
        ),
        scope=f"{scope(promise)}{_about(claim, kept, earlier)}",
        distortion="the sum over the columns of weight times distortion",
        epsilon_known=claim.epsilon_known if known else None,
    )


def _order(document: ChainDocument, kept: str, earlier: str) -> str:
    drawn = [shown(stage.column) for stage in document.stages if stage.is_drawn]
    said = f"Columns are drawn in the order {', '.join(drawn)}, each given those before it"
    if len(drawn) == 1:
        said = f"{drawn[0]} is drawn"
    before = [
        f"{kept}, published as it is" if kept else "",
        f"the outputs of {earlier}, which are out already and not drawn again" if earlier else "",
    ]
    given = " and ".join(filter(None, before))
    return f"{said}{' and' * (len(drawn) > 1)} given {given}." if given else f"{said}."


def _total(claim: ChainClaim, kept: str, earlier: str) -> str:
    """Say what the level is the total of."""
    beside = ["" if claim.given_known else kept, earlier and f"the earlier {earlier}"]
    if not any(beside):
        return ""
    return (
        f" This level is the total of {' and '.join(filter(None, beside))} and the released columns together."
    )


def _about(claim: ChainClaim, kept: str, earlier: str) -> str:
    """Name the readers that the level refers to, if not everybody."""
    said = f", as the total with the earlier release of {earlier}" if earlier else ""
    if not kept:
        return said
    readers = f"to readers who know {kept}" if claim.given_known else f"together with {kept}, kept as it is"
    return f", {readers}{said}"


def _assumed_of_contexts(document: ChainDocument) -> Iterator[str]:
    """Yield the assumptions about earlier releases, which no file can show."""
    earlier = [(stage.column, stage.earlier) for stage in document.stages if stage.earlier is not None]
    for column, table in earlier:
        file = f" (its file: {table.sha256})" if table.sha256 else ""
        yield (
            f"The earlier outputs of {shown(column)} were drawn once, by the protocol whose table has the "
            f"SHA-256 {table.digest}{file}."
        )
    if earlier:
        yield (
            "The sample's rows are linked: each has one person's values of all releases. Nobody's secret has "
            "changed between them, and whether somebody is in this release does not depend on the values of "
            "the earlier ones."
        )


def _not_promised_of_contexts(claim: ChainClaim, kept: str, earlier: str) -> Iterator[str]:
    if claim.given_known:
        yield (
            f"Anything about what {kept} reveals about the secret: a reader who knew neither learns that "
            "too, and ε comes on top of it."
        )
    if earlier:
        yield "Anything if rows are released whose earlier outputs came from another protocol, or twice."


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
