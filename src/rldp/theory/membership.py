r"""Distributions that provably lie in a set, despite rounding.

If the radius of a set is near the rounding error of floats, its members are hard to separate from the
estimate. A member of a larger set is moved along the segment to the estimate. The divergence is convex there
and zero at the end, so it decreases all the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["pulled_inside"]

Floats = NDArray[np.float64]

_UNIT = 2.0**-53
_TRACE = 1e-12  # relative to the radius: mass of unseen secrets, at negligible cost
_SMALLEST_TRACE = 1e-280  # below, floats lose digits


def pulled_inside(lambda_: float, radius: float, estimate: Floats, target: Floats) -> Floats:
    r"""Return the last point from the estimate to ``target`` that is proved to lie in the set.

    Parameters
    ----------
    lambda_, radius : float
        λ, and B or r: the set is :math:`\sum \hat P[(\hat P/P)^\lambda - 1] \le B`, or
        :math:`\sum \hat P\log(\hat P/P) \le r` where λ = 0.
    estimate, target : array (|S|, |U|)
        P̂, and a distribution that is positive wherever P̂ is.

    Returns
    -------
    array (|S|, |U|)
        The estimate itself if no other point is proved to be inside. An unseen secret keeps a trace of its
        mass in ``target``, which every set allows.
    """
    start = _with_traces(estimate, target, _TRACE * min(1.0, radius))

    def at(share: float) -> Floats:
        mixed = (1 - share) * start + share * target
        return np.asarray(mixed / mixed.sum())

    def is_inside(share: float) -> bool:
        return _divergence_at_most(lambda_, estimate, at(share)) <= radius

    low, high = 0.0, 1.0
    if is_inside(high):
        return at(high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_inside(middle) else (low, middle)
    return at(low)


def _with_traces(estimate: Floats, target: Floats, mass: float) -> Floats:
    r"""Return the estimate, plus the conditionals of ``target`` for unseen secrets, with a tiny weight.

    Their mass τ adds at most :math:`(1+\tau)^\lambda - 1` to the divergence, 10⁻¹⁰ of the radius.
    """
    unseen = (estimate.sum(axis=1) == 0) & (target.sum(axis=1) > 0)
    if mass < _SMALLEST_TRACE or not unseen.any():
        return estimate
    traces = np.zeros_like(estimate)
    traces[unseen] = target[unseen] / target[unseen].sum(axis=1, keepdims=True)
    return np.asarray(estimate + mass / unseen.sum() * traces)


def _divergence_at_most(lambda_: float, estimate: Floats, distribution: Floats) -> float:
    r"""Return an upper bound on the divergence of the exact distribution from the exact estimate.

    Let u = 2⁻⁵³ and k be the number of cells. Entries have a relative error of at most (k + 2)u (u for the
    estimate, the rest for the sum of the distribution). A logarithm L of their ratio has an error of (k + 5)u
    + 2u|L|. A term :math:`e^{\lambda L} - 1` has an error of :math:`e^{\lambda L}` times λ times that, plus
    3u of itself. The sum adds k·u of the sum of magnitudes. The total is doubled to cover second-order terms.
    """
    seen = estimate > 0
    p_hat, p = estimate[seen], distribution[seen]
    logarithm = np.log(p_hat / p)
    scale = max(lambda_, 1.0)
    cells = estimate.size
    terms = logarithm if lambda_ == 0 else np.expm1(lambda_ * logarithm)
    slope = np.ones_like(terms) if lambda_ == 0 else np.exp(lambda_ * logarithm)
    error = slope * scale * (cells + 5 + 2 * np.abs(logarithm)) + (cells + 4) * np.abs(terms)
    return float(np.sum(p_hat * terms) + 2 * _UNIT * np.sum(p_hat * error))
