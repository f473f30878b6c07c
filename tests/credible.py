"""Posterior probabilities that can be had without drawing, and what chance allows draws to differ."""

import math

import numpy as np
from scipy.special import betainc, betaincc, betaincinv
from scipy.stats import binom

from rldp.theory.dirichlet import conditional_blocks
from rldp.theory.posterior import failures

CHANCE = 1e-7  # of a correct program to fail one comparison

_STEPS = 20_000
SLACK = 1 / _STEPS  # of risk_of_publishing


def risk_of_publishing(counts, prior, epsilon):
    """Pr(ε* > epsilon) of publishing a value of two as it is, for two secrets; up to SLACK.

    P(y=0|s) = b_s and P(y=1|s) = c_s = 1 − b_s are beta variables, independent for the two secrets.
    Given those of the first, the protocol is private for b1/E ≤ b2 ≤ E·b1 and c1/E ≤ c2 ≤ E·c1. Both ends
    of that interval rise with b1, so that the midpoint rule over quantiles of b1 cannot be off by more than
    half a step for either. Small b and small c are never taken as differences from 1.
    """
    (b, c), (other_b, other_c) = np.asarray(counts, dtype=float) + prior
    e = math.exp(epsilon)
    share = (np.arange(_STEPS) + 0.5) / _STEPS
    b1, c1 = betaincinv(b, c, share), betaincinv(c, b, 1 - share)
    top = np.minimum(
        betainc(other_b, other_c, np.minimum(1, e * b1)), betaincc(other_c, other_b, np.minimum(1, c1 / e))
    )
    bottom = np.maximum(
        betainc(other_b, other_c, np.minimum(1, b1 / e)), betaincc(other_c, other_b, np.minimum(1, e * c1))
    )
    return 1 - float(np.maximum(top - bottom, 0).mean())


def assert_by_chance(hits, trials, probability, slack=SLACK):
    """So many hits are what chance gives, the probability being known up to ``slack``."""
    low, high = max(0.0, probability - slack), min(1.0, probability + slack)
    assert binom.sf(hits - 1, trials, high) > CHANCE / 2, (hits / trials, probability)
    assert binom.cdf(hits, trials, low) > CHANCE / 2, (hits / trials, probability)


def assert_law(values, cdf, low=-np.inf, high=np.inf):
    """Independent values follow a distribution function (Dvoretzky, Kiefer, Wolfowitz, Massart).

    Looked at between ``low`` and ``high``, where floats can tell one value from the next.
    """
    ordered = np.sort(values)
    at = ordered[(ordered >= low) & (ordered <= high)]
    distance = np.abs(np.searchsorted(ordered, at, side="right") / len(ordered) - cdf(at)).max()
    assert distance <= math.sqrt(math.log(2 / CHANCE) / (2 * len(ordered)))


PUBLISH = np.tile(np.eye(2), (2, 1, 1))
"""The protocol that publishes a value of two as it is."""


def count_failures(matrices, epsilon, counts, *, prior, draws, seed, common=False):
    """Under how many draws each of K protocols is not private, each with its own sample (K, |S|, |U|)."""
    levels = np.broadcast_to(np.asarray(epsilon, dtype=float), (len(matrices),))
    found = np.zeros(len(matrices), dtype=np.int64)
    for k, table in enumerate(counts):
        options = {"prior": prior, "draws": draws, "seed": seed, "stream": 0 if common else k}
        for block in conditional_blocks(table, **options):
            found[k] += failures(matrices[k : k + 1], levels[k], block)[0]
    return found
