"""The posterior distribution of a protocol's leakage ε*: a histogram and three numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldp.measures.posterior import posterior
from rldp.protocol import Guarantee, Protocol
from rldp.sample import Sample
from rldp.sets import Prior
from rldp.theory import chains
from rldp.theory.binomial import lower_probability, upper_probability
from rldp.theory.dirichlet import conditional_blocks
from rldp.theory.model import Floats
from rldp.theory.posterior import log_ratio_rounding

__all__ = ["Law", "law_of"]

_BINS = 40
_SHOWN = 0.995  # share of the draws on the axis, if ε does not need a longer one
_ERROR = 1e-6  # of a bound on the risk
_BEYOND = 1.15  # times ε: to where the axis goes at least


@dataclass(frozen=True)
class Law:
    """The posterior distribution of ε*.

    Attributes
    ----------
    epsilon : float
        The level that the risk refers to.
    median, high : float
        Its median and its 95 % point; may be infinite.
    risk : (float, float)
        Bounds on the posterior probability that ε* exceeds ε.
    edges : tuple of float
        Edges of bins of equal width, from 0.
    shares : tuple of float
        Share of the draws in each bin.
    beyond : float
        Share of the draws above the last edge, including infinite ones.
    prior : float or "adaptive"
    draws : int
    """

    epsilon: float
    median: float
    high: float
    risk: tuple[float, float]
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    beyond: float
    prior: Prior
    draws: int


def law_of(
    protocol: Protocol,
    claim: Guarantee,
    epsilon: float,
    *,
    prior: Prior,
    draws: int,
    seed: int,
    known: int = 1,
) -> Law:
    """Return the posterior distribution of the leakage of ``protocol``, given the sample of ``claim``.

    ``known`` is the number of combinations of the first columns, if readers know these.
    """
    if known > 1:
        leakage = _to_readers_who_know(known, protocol, claim.sample, prior, draws, seed)
        risk = _risk(leakage, epsilon, protocol.matrix.shape[1] + protocol.matrix.shape[2])
    else:
        drawn = posterior(protocol, claim.sample, prior=prior, draws=draws, seed=seed)
        leakage, risk = drawn.leakage, drawn.risk(epsilon)
    median, high, last = np.quantile(leakage, [0.5, 0.95, _SHOWN], method="inverted_cdf").tolist()
    top = max(_BEYOND * epsilon, last if np.isfinite(last) else 0.0) or 1.0
    counts, edges = np.histogram(leakage[leakage <= top], bins=_BINS, range=(0.0, top))
    return Law(
        epsilon=epsilon,
        median=median,
        high=high,
        risk=risk,
        edges=tuple(edges.tolist()),
        shares=tuple((counts / draws).tolist()),
        beyond=float((leakage > top).mean()),
        prior=prior,
        draws=draws,
    )


def _to_readers_who_know(
    known: int, protocol: Protocol, sample: Sample, prior: Prior, draws: int, seed: int
) -> Floats:
    """Return ε* of P(y|s, k) under every draw (draws,)."""
    counts = sample.observed
    blocks = conditional_blocks(counts, prior=prior, draws=draws, seed=seed, noise=sample.count_noise)
    table = [protocol.matrix[None]]
    return np.concatenate([chains.leakages(table, np.moveaxis(block, -1, 0), known) for block in blocks])


def _risk(leakage: Floats, epsilon: float, terms: int) -> tuple[float, float]:
    """Return bounds on the probability that ε* exceeds ε; an infinite draw may be due to underflow."""
    rounding = 2 * log_ratio_rounding(terms, epsilon)
    certain = int(((leakage > epsilon + rounding) & np.isfinite(leakage)).sum())
    possible = int((leakage >= epsilon - rounding).sum())
    return (
        float(lower_probability(certain, len(leakage), _ERROR)),
        float(upper_probability(possible, len(leakage), _ERROR)),
    )
