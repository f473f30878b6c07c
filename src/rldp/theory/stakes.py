r"""Betting strategies for the game of :mod:`rldp.theory.betting`; no proof depends on them.

The numbers here were chosen by the width of the bounds in simulations (five kinds of triples, 50 to 5000
rows of each secret). See ``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri_exp

from rldp.theory.model import Floats

__all__ = ["Outlook", "boldness", "moments"]

_PULL = 0.15  # of the bet that would be best for c alone; 0.25 and 0.5 are wider
_FIRST_CELL = 0.7  # half its width, in standard errors; 1.5 is wider by 6 % at n = 50
_CELL_RATIO = 2.0
_LEAST_VARIANCE = 1e-30


def moments(q: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance (never 0) of q(U) under these weights of the values, the last axis."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    mean = (shares * q).sum(axis=-1)
    variance = (shares * (q - mean[..., None]) ** 2).sum(axis=-1)
    return mean, np.maximum(variance, _LEAST_VARIANCE)


@dataclass(frozen=True)
class Outlook:
    """Expectations about the rows at some ε, before they are seen.

    Attributes
    ----------
    n : array (T, 2)
        Total number of rows of either secret.
    scores : array (T, 2, U)
        q₁ and e^ε q₂ of the values.
    mean, variance : array (T, 2)
        Mean and variance of the score of a row.
    centre : array (T,)
        Expected c if both scores have the same mean, where a failure is hardest to rule out.
    """

    n: Floats
    scores: Floats
    mean: Floats
    variance: Floats
    centre: Floats

    @classmethod
    def of(cls, scores: Floats, weights: Floats, n: Floats) -> Outlook:
        """Build it from current weights (T, 2, U) of the values."""
        mean, variance = moments(scores, weights)
        error = variance / n
        centre = (mean * error[:, ::-1]).sum(axis=-1) / error.sum(axis=-1)
        return cls(n, scores, mean, variance, centre)

    def errors(self, c: Floats) -> Floats:
        """Return variances (T, J, 2) of the mean scores of all rows, if both have mean c (T, J).

        The expected law is mixed with its smallest or largest score until its mean is c. If a mean is far
        from c, as for a rare output at a large ε, this differs a lot from the expected variance. If a row is
        expected to lose, it is at least as large.
        """
        c, mean, variance = c[..., None], self.mean[:, None], self.variance[:, None]
        end = np.where(c < mean, self.scores.min(axis=-1)[:, None], self.scores.max(axis=-1)[:, None])
        gap = mean - end
        kept = np.clip(np.divide(c - end, gap, out=np.ones_like(gap), where=gap != 0), 0, 1)
        mixed = kept * variance + kept * (1 - kept) * gap**2
        losing = (c < mean) == np.array([True, False])
        return np.asarray(np.maximum(mixed, np.where(losing, variance, _LEAST_VARIANCE)) / self.n[:, None])

    def edges(self, lowest: Floats, highest: Floats) -> Floats:
        """Return ends of cells that cover [lowest, highest] and widen away from the centre: (T, J + 1)."""
        centre = np.clip(self.centre, lowest, highest)[:, None]
        error = np.sqrt(self.errors(centre).sum(axis=-1))
        lowest, highest = lowest[:, None], highest[:, None]
        widest = float(((highest - lowest) / error).max()) / _FIRST_CELL
        steps = 1 + max(0, math.ceil(math.log(max(widest, 1), _CELL_RATIO)))
        offsets = _FIRST_CELL * _CELL_RATIO ** np.arange(steps)
        inner = centre + error * np.concatenate([-offsets[::-1], offsets])
        return np.asarray(np.clip(np.concatenate([lowest, inner, highest], axis=1), lowest, highest))

    def stakes(self, ends: Floats, needed: Floats, left: Floats, part: Floats) -> Floats:
        r"""Return λ₁ and λ₂ before clipping: (T, J, 2).

        .. math:: \lambda_1 = \theta/n_1 + a/\sigma_1^2,\qquad \lambda_2 = \theta/n_2 - a/\sigma_2^2,

        where θ is the :func:`boldness` over the standard error of the remaining rows, σ² is the expected
        variance, and a pulls c from the centre towards the cell, if the centre is outside.

        Parameters
        ----------
        ends : array (T, J, 2)
            Ends of the cells.
        needed : array (T, J)
            Remaining growth of ln W.
        left, part : array (T, 2)
            Shares of the rows of either secret that remain, and that are in the next block.
        """
        centre = np.clip(self.centre, ends[:, 0, 0], ends[:, -1, 1])[:, None]
        nearest = np.clip(centre, ends[..., 0], ends[..., 1])
        v = self.errors(nearest)
        ahead = np.maximum((v @ left[..., None])[..., 0], 1e-300)
        share = np.clip((v @ part[..., None])[..., 0] / ahead, 0, 1)
        theta = boldness(np.maximum(needed, 1e-9), share) / np.sqrt(ahead)
        away = nearest - centre
        pull = _PULL * np.stack([away, -away], axis=-1) / self.variance[:, None]
        return np.asarray(theta[..., None] / self.n[:, None] + pull)


def boldness(needed: Floats, share: Floats) -> Floats:
    """Return the number of standard errors to bet on if ln W must still grow by ``needed`` (positive).

    In the limit of many rows and blocks, the wealth of the game that reaches 1/α most often is the
    conditional probability p of winning, over α. It stakes φ(z)/p, where p = e^{−needed} = Φ(z). If only the
    next block remains, √(2·needed) reaches the goal most often. ``share``, the next block's part of the
    remaining rows, interpolates between these two cases.
    """
    z = ndtri_exp(-needed)
    hedge = np.exp(needed - z**2 / 2) / math.sqrt(2 * math.pi)
    return np.asarray((1 - share) * hedge + share * np.sqrt(2 * needed))
