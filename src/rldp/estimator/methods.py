"""Methods that compute values from the unbiased estimates, or from the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.estimation import on_simplex, shrunk
from rldp.theory.likelihood import iterative_bayesian_update, maximum_likelihood
from rldp.theory.model import Floats
from rldp.theory.share_posterior import posterior
from rldp.theory.tallies import Tally

__all__ = ["Moved", "by_method"]


@dataclass(frozen=True)
class Moved:
    """Values by some method, with its by-products.

    Attributes
    ----------
    values : array (m,)
    gap : float or None
        Gap of the likelihood.
    prior_rows : float or None
    posterior_errors : array (m,) or None
    """

    values: Floats
    gap: float | None = None
    prior_rows: float | None = None
    posterior_errors: Floats | None = None


def by_method(
    method: str, tallies: list[Tally], a: Floats, sure: NDArray[np.bool_], values: Floats, covariance: Floats
) -> Moved:
    """Estimate the functionals a (k, m) by the given method; NaN unless they are ``sure`` (m,).

    ``values`` (m,) and ``covariance`` (m, m) are those of the unbiased estimates.
    """
    if method == "likelihood":
        fit = maximum_likelihood(tallies)
        return Moved(np.where(sure, fit.distribution @ a, np.nan), gap=fit.gap)
    if method == "projected" and sure.all():
        return Moved(on_simplex(values))
    if method == "shrunk" and sure.all():
        return Moved(shrunk(values, covariance))
    if method == "posterior":
        given = posterior(tallies)
        spread = np.sqrt(np.einsum("km,kl,lm->m", a, given.covariance, a, optimize=True))
        return Moved(
            np.where(sure, given.mean @ a, np.nan),
            prior_rows=given.prior_rows,
            posterior_errors=np.where(sure, spread, np.nan),
        )
    if method == "bayes":
        return Moved(_updated(tallies, len(a)) @ a)
    return Moved(values)


def _updated(tallies: list[Tally], k: int) -> Floats:
    """Apply the iterative Bayesian update to all released rows, from a uniform start."""
    rows = [tally for tally in tallies if not tally.is_sample]
    weight = np.array([tally.n for tally in rows], dtype=np.float64)
    channel = np.concatenate(
        [t.channel * (w / weight.sum()) for t, w in zip(rows, weight, strict=True)], axis=1
    )
    counts = np.concatenate([tally.counts for tally in rows]).astype(np.float64)
    return iterative_bayesian_update(channel, counts, start=np.full(k, 1.0 / k))[0]
