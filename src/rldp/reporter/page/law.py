"""What to believe of a protocol's leakage: the posterior law of ε*, as a histogram and three numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldp.measures.posterior import posterior
from rldp.protocol import Guarantee, Protocol
from rldp.sets import Prior

__all__ = ["Law", "law_of"]

_BINS = 40
_SHOWN = 0.995  # of the draws lie on the axis, if ε does not need a longer one
_BEYOND = 1.15  # times ε: to where the axis goes at least


@dataclass(frozen=True)
class Law:
    """The posterior law of ε*.

    Attributes
    ----------
    epsilon : float
        The level that the risk is about.
    median, high : float
        Its median and its 95 % point; may be infinite.
    risk : (float, float)
        Bounds on the posterior probability that ε* exceeds ε.
    edges : tuple of float
        Of bins of equal width, from 0.
    shares : tuple of float
        Of the draws in each bin.
    beyond : float
        Share of the draws above the last edge, infinite ones too.
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
    protocol: Protocol, claim: Guarantee, epsilon: float, *, prior: Prior, draws: int, seed: int
) -> Law:
    """The law of the leakage of ``protocol``, given the sample of ``claim``."""
    found = posterior(protocol, claim.sample, prior=prior, draws=draws, seed=seed)
    median, high, last = np.quantile(found.leakage, [0.5, 0.95, _SHOWN], method="inverted_cdf").tolist()
    top = max(_BEYOND * epsilon, last if np.isfinite(last) else 0.0) or 1.0
    counts, edges = np.histogram(found.leakage[found.leakage <= top], bins=_BINS, range=(0.0, top))
    return Law(
        epsilon=epsilon,
        median=median,
        high=high,
        risk=found.risk(epsilon),
        edges=tuple(edges.tolist()),
        shares=tuple((counts / draws).tolist()),
        beyond=float((found.leakage > top).mean()),
        prior=prior,
        draws=draws,
    )
