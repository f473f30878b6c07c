r"""Simple mechanisms that are private for every distribution, used as baselines.

With E = e^ε, each keeps P(y | s₁, u₁) ≤ E·P(y | s₂, u₂) for all u₁, u₂ and s₁ ≠ s₂, and so
P(y | s₁) ≤ E·P(y | s₂) for every distribution. See ``docs/theory.md``, 'Simple mechanisms'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["independent_reporting", "randomised_response", "secret_randomised_response"]

Floats = NDArray[np.float64]


def randomised_response(size: int, epsilon: float) -> Floats:
    r"""Report the true label of k with probability E/(E + k − 1), any other with 1/(E + k − 1): (k, k).

    Examples
    --------
    >>> randomised_response(2, float(np.log(3)))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    shrink = np.exp(-epsilon)  # 1/E, which cannot overflow
    kept = 1 / (1 + (size - 1) * shrink)
    table = np.full((size, size), shrink * kept)
    np.fill_diagonal(table, kept)
    return table


def secret_randomised_response(secrets: int, values: int, epsilon: float) -> Floats:
    r"""Return a mechanism that reports (s′, u′) for secret and value: (|S|, |U|, |S|, |U|).

    .. math::
        Q[s,u,s',u'] = \kappa\cdot\begin{cases}
            E & s'=s,\ u'=u\\ 1/E & s'=s,\ u'\ne u\\ 1 & s'\ne s
        \end{cases},\qquad \kappa^{-1} = E + (|U|-1)/E + |U|(|S|-1).

    Rows of different secrets differ by a factor of at most E; rows of one secret may differ by E².
    """
    shrink = np.exp(-epsilon)
    same_secret, same_value = (np.eye(size, dtype=bool) for size in (secrets, values))
    own = np.where(same_value, 1.0, shrink**2)[None, :, None, :]
    table = np.where(same_secret[:, None, :, None], own, shrink)
    return np.asarray(table / table.sum(axis=(2, 3), keepdims=True))


def independent_reporting(secrets: int, values: int, epsilon_secret: float, epsilon_value: float) -> Floats:
    """Apply randomised response to the secret and, independently, to the value: (|S|, |U|, |S|, |U|).

    It is private at ε = ε₁ + ε₂ for every distribution, because a value may determine its secret.
    """
    reported = randomised_response(secrets, epsilon_secret), randomised_response(values, epsilon_value)
    return np.asarray(np.einsum("st,uv->sutv", *reported))
