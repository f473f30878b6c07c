r"""How to bet well in the game of :mod:`rldp.theory.betting`: nothing that is proved rests on it.

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
    """Mean and variance (never 0) of q(U) if the values, the last axis, have these weights."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    mean = (shares * q).sum(axis=-1)
    variance = (shares * (q - mean[..., None]) ** 2).sum(axis=-1)
    return mean, np.maximum(variance, _LEAST_VARIANCE)


@dataclass(frozen=True)
class Outlook:
    """What is expected of the rows at some ε, before they are seen.

    Attributes
    ----------
    n : array (T, 2)
        How many rows of either secret there are in all.
    variance : array (T, 2)
        Of the two estimates of c: the means of q₁ and of e^ε q₂ over those rows.
    centre : array (T,)
        Where c is expected if both have the same mean, as they have where it is hardest to tell.
    """

    n: Floats
    variance: Floats
    centre: Floats

    @classmethod
    def of(cls, scores: Floats, weights: Floats, n: Floats) -> Outlook:
        """From the scores q₁ and e^ε q₂ of the values, and the weights of the values so far: (T, 2, U)."""
        mean, variance = moments(scores, weights)
        variance = variance / n
        other = variance[:, ::-1]
        return cls(n, variance, (mean * other).sum(axis=-1) / variance.sum(axis=-1))

    def edges(self, lowest: Floats, highest: Floats) -> Floats:
        """Ends of cells that cover [lowest, highest] and widen away from the centre: (T, J + 1)."""
        error = np.sqrt(self.variance.sum(axis=-1))
        widest = float(((highest - lowest) / error).max()) / _FIRST_CELL
        steps = 1 + max(0, math.ceil(math.log(max(widest, 1), _CELL_RATIO)))
        offsets = _FIRST_CELL * _CELL_RATIO ** np.arange(steps)
        centre = np.clip(self.centre, lowest, highest)
        inner = centre[:, None] + error[:, None] * np.concatenate([-offsets[::-1], offsets])
        every = np.concatenate([lowest[:, None], inner, highest[:, None]], axis=1)
        return np.asarray(np.clip(every, lowest[:, None], highest[:, None]))

    def stakes(self, ends: Floats, needed: Floats, left: Floats, part: Floats) -> Floats:
        r"""λ₁ and λ₂ before any limits: (T, J, 2).

        .. math:: \lambda_1 = (\theta + a/v_1)/n_1,\qquad \lambda_2 = (\theta - a/v_2)/n_2,

        where v are the variances, θ is the :func:`boldness` over the standard error of what is left, and a
        pulls c from the centre to the cell, if the centre is not in it.

        Parameters
        ----------
        ends : array (T, J, 2)
            Of the cells.
        needed : array (T, J)
            By how much ln W must still grow.
        left, part : array (T, 2)
            Shares of the rows of either secret that are left, and that the next block has.
        """
        ahead = np.maximum((self.variance * left).sum(axis=-1), 1e-300)
        share = np.clip((self.variance * part).sum(axis=-1) / ahead, 0, 1)
        theta = boldness(np.maximum(needed, 1e-9), share[:, None]) / np.sqrt(ahead)[:, None]
        centre = self.centre[:, None]
        away = np.maximum(ends[..., 0] - centre, 0) - np.maximum(centre - ends[..., 1], 0)
        pull = _PULL * np.stack([away, -away], axis=-1) / self.variance[:, None]
        return np.asarray((theta[..., None] + pull) / self.n[:, None])


def boldness(needed: Floats, share: Floats) -> Floats:
    """How many standard errors to bet on, when ln W must still grow by ``needed`` (positive).

    In the limit of many rows and blocks, the game that reaches 1/α most often is worth, at every moment, the
    conditional probability p of winning over α. It stakes φ(z)/p, where p = e^{−needed} = Φ(z). If the
    next block is all that is left, √(2·needed) reaches the goal most often. ``share``, the part of what is
    left that the next block has, lies between these two cases.
    """
    z = ndtri_exp(-needed)
    hedge = np.exp(needed - z**2 / 2) / math.sqrt(2 * math.pi)
    return np.asarray((1 - share) * hedge + share * np.sqrt(2 * needed))
