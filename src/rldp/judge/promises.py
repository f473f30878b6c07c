"""What a promise says beside its sets: how likely a failure is, or how likely the sets are to miss the truth.

A credible promise is tried with draws from the posterior; the radii of pairs of secrets are proved anew. A
check gives None where nothing speaks against the claim, and a sentence where it is not confirmed or proved.
"""

from __future__ import annotations

import math
from itertools import combinations

from rldp._common.checks import shown
from rldp.judge.conditionals import pair_number
from rldp.judge.posterior import Trial, privacy_trial, utility_trial
from rldp.judge.radii import Radii, pair_level
from rldp.judge.words import given_the_sample
from rldp.protocol_file.format import Claim, CredibleClaim, Document, PairsClaim

__all__ = ["privacy_risk", "radii_failure", "risk_failure", "utility_risk"]


def privacy_risk(document: Document, claim: Claim) -> Trial | None:
    """Draws from the posterior, and under how many the protocol is not ε-private; None if none is claimed."""
    promise = claim.privacy
    if not isinstance(promise, CredibleClaim) or math.isinf(claim.epsilon):
        return None
    return privacy_trial(
        document.numerators,
        claim.counts,
        claim.epsilon,
        alpha=promise.alpha,
        prior=promise.prior,
        noise=claim.noise,
    )


def utility_risk(document: Document, claim: Claim) -> Trial | None:
    """Draws from the posterior, and under how many the objective is exceeded; None if none is claimed."""
    promise = claim.utility
    if not isinstance(promise, CredibleClaim):
        return None
    table, counts = document.numerators, claim.counts
    return utility_trial(
        table,
        counts,
        claim.distortion,
        claim.objective,
        alpha=promise.alpha,
        prior=promise.prior,
        noise=claim.noise,
    )


def risk_failure(what: str, event: str, promise: object, trial: Trial | None) -> str | None:
    """Why a risk is not confirmed, if it is not."""
    if trial is None or trial.confirmed:
        return None
    assert isinstance(promise, CredibleClaim)
    adaptive = promise.prior == "adaptive"  # which takes many words to write out
    given = "given the sample and the adaptive prior" if adaptive else given_the_sample(promise)
    return (
        f"credible {what} is not confirmed: {given}, the probability that {event} may be more than "
        f"{promise.alpha!r} ({trial.evidence})"
    )


def radii_failure(document: Document, claim: Claim) -> str | None:
    """Why some radius is not valid at the level of its pair of secrets, if one is not."""
    promise = claim.privacy
    if not isinstance(promise, PairsClaim) or math.isinf(claim.epsilon):
        return None
    secrets, rows = len(claim.counts), [sum(row) for row in claim.counts]
    level = pair_level(promise.alpha, secrets)
    peeled = {x for x, method in zip(promise.radii, promise.methods, strict=True) if method == "A2"}
    radii = Radii(rows, peeled.pop() if len(peeled) == 1 else None)
    for s1, s2 in combinations(range(secrets), 2):
        place = pair_number(s1, s2, secrets)
        x, method = promise.radii[place], promise.methods[place]
        valid = radii.is_valid(x, rows[s1], rows[s2], len(claim.counts[0]), level, method)
        if valid:
            continue
        of = f"the radius {x!r} of secrets {shown(document.secrets[s1])}, {shown(document.secrets[s2])}"
        if valid is None:
            return f"{of} is not proved: proving all the radii of this file would take too long"
        return f"{of} is not proved by theorem {method} at level {level!r}, the share of this pair"
    return None
