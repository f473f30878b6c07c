"""The verdict on a chain, in numbers and in words that an auditor can quote."""

from __future__ import annotations

from rldp._common.checks import shown
from rldp.judge import balls
from rldp.judge.chains import failures_of
from rldp.judge.verdict import Verdict
from rldp.judge.words import given_the_sample, not_promised, scope
from rldp.protocol_file.chains import ChainClaim, ChainDocument
from rldp.protocol_file.format import CredibleClaim

__all__ = ["judged_chain"]

_BITS = 128


def judged_chain(document: ChainDocument) -> Verdict:
    """Check everything that the file of a chain claims."""
    claim = document.guarantee
    assert claim is not None
    with balls.precision(_BITS):
        found, trial = failures_of(document, claim)
    whole = found["rows"] is None
    private = whole and found["privacy"] is None
    useful = whole and "objective" not in found
    bounded = "lower_bound" not in found
    promise = _promise(claim)
    evidence = "" if trial is None else f" ({trial.evidence})"
    columns = ", ".join(shown(stage.column) for stage in document.stages)
    given = given_the_sample(promise)
    sentences = {
        f"Every probability is an integer over 2^52, and every row of every table sums to exactly one. "
        f"Columns are drawn in the order {columns}, each given those before it.": whole,
        f"{given[0].upper()}{given[1:]}, the probability that whole rows are not {claim.epsilon!r}-private "
        f"is at most {claim.alpha!r}{evidence}.": private,
        f"The expected distortion of whole rows is at most {claim.objective!r} under the posterior mean that "
        "the file holds.": useful,
        f"No protocol for these columns that is private under that distribution has an expected distortion "
        f"below {claim.lower_bound!r} there.": bounded,
    }
    failures = tuple(reason for reason in found.values() if reason)
    return Verdict(
        ok=not failures,
        epsilon=claim.epsilon if private else None,
        objective=claim.objective if useful else None,
        lower_bound=claim.lower_bound if bounded else None,
        reasons=failures,
        proved=tuple(sentence for sentence, holds in sentences.items() if holds),
        assumptions=_ASSUMED,
        not_promised=(not_promised("privacy", promise)[0], *_NOT_PROMISED),  # a chain has no radius
        scope=scope(promise),
        distortion="the sum over the columns of weight times distortion",
    )


def _promise(claim: ChainClaim) -> CredibleClaim:
    return CredibleClaim(claim.alpha, claim.prior, 1.0, 0.0, claim.seed)


_ASSUMED = (
    "The sample was drawn independently from the distribution of the people who are to be protected.",
    "What was known of that distribution before the sample is what the prior says.",
    "The random draws of this check are independent and have the laws they are named for.",
    "Outputs are drawn with exactly these probabilities, with fresh randomness for every row and column.",
)
_NOT_PROMISED = (
    "A level for each column by itself: what is proved is the total, and so every column and every group of "
    "columns that comes first.",
    "Anything about what is published beside the released columns, or released again of the same people.",
    "Anything to readers who know some of a person's values: they may learn more about the secret.",
)
