r"""Draws of likely distributions given a sample, under two priors: independent cells, and similar secrets.

With independent weights on all cells, drawn distributions separate the secrets even if the sample hardly
does, because noise accumulates over values. The other prior allows similar secrets,

.. math:: P_{\cdot|s} \sim \mathrm{Dirichlet}(\kappa m),

with a common m and a uniform prior on log κ. The likelihood of κ decides how similar they are. Neither prior
suits every table, so plans draw half of their distributions from each. See ``docs/theory.md``, 'Planning'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rldp.sets import Prior
from rldp.theory.dirichlet import conditionals, masses

__all__ = ["alike_secrets", "cells_apart"]

Floats = NDArray[np.float64]

_KAPPA = np.geomspace(1.0, 1e6, 60)
_JEFFREYS = 0.5
_TINY = np.finfo(float).tiny


def cells_apart(counts: NDArray[np.int64], prior: Prior, draws: int, rng: np.random.Generator) -> Floats:
    """Draw from the posterior of :mod:`rldp.theory.dirichlet`: (draws, |S|, |U|)."""
    options: dict[str, Any] = {"prior": prior, "draws": draws, "seed": int(rng.integers(2**63))}
    joint = masses(counts, **options)[:, None] * conditionals(counts, **options)
    return np.moveaxis(np.maximum(joint, _TINY), 2, 0)


def alike_secrets(counts: NDArray[np.int64], prior: Prior, draws: int, rng: np.random.Generator) -> Floats:
    """Draw from the posterior under the prior that allows similar secrets: (draws, |S|, |U|).

    The shares of secrets and the common m are drawn from Dirichlet laws, given all rows; then κ from a grid,
    by its likelihood; then the conditionals, given both. If the prior is adaptive, the Dirichlet laws use
    Jeffreys' prior.
    """
    rows = counts.sum(axis=1)
    prior = _JEFFREYS if prior == "adaptive" else prior
    shares = _dirichlet(np.broadcast_to(rows + prior, (draws, len(rows))), rng)
    common = _dirichlet(np.broadcast_to(counts.sum(axis=0) + prior, (draws, counts.shape[1])), rng)
    likelihood = np.stack([_log_likelihood(counts, kappa, common) for kappa in _KAPPA], axis=1)
    kappa = _KAPPA[(likelihood + rng.gumbel(size=likelihood.shape)).argmax(axis=1)]
    weights = counts[None] + kappa[:, None, None] * common[:, None, :]
    return np.asarray(shares[:, :, None] * _dirichlet(weights, rng))


def _log_likelihood(counts: NDArray[np.int64], kappa: float, common: Floats) -> Floats:
    """Return the log-likelihood of κ for each common m (draws, |U|), up to a constant: (draws,)."""
    weights = np.maximum(kappa * common[:, None, :], _TINY)
    own = (gammaln(weights + counts) - gammaln(weights)).sum(axis=(1, 2))
    return np.asarray(own + (gammaln(kappa) - gammaln(kappa + counts.sum(axis=1))).sum())


def _dirichlet(weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw Dirichlet vectors along the last axis, with no entry exactly zero."""
    drawn = rng.standard_gamma(weights) + _TINY
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
