r"""Simple mechanisms that are private for every distribution, as baselines for designs.

With E = e^ε, each keeps P(y | s₁, u₁) ≤ E·P(y | s₂, u₂) for all u₁, u₂ and s₁ ≠ s₂, and so
P(y | s₁) ≤ E·P(y | s₂), whatever the distribution is. See ``docs/theory.md``, 'Simple mechanisms'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["independent_reporting", "randomised_response", "secret_randomised_response"]

Floats = NDArray[np.float64]


def randomised_response(size: int, epsilon: float) -> Floats:
    r"""Of k labels the true one with probability E/(E + k − 1), each other with 1/(E + k − 1): (k, k).

    Examples
    --------
    >>> randomised_response(2, float(np.log(3)))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    shrink = np.exp(-epsilon)  # 1/E, which never overflows
    kept = 1 / (1 + (size - 1) * shrink)
    table = np.full((size, size), shrink * kept)
    np.fill_diagonal(table, kept)
    return table


def secret_randomised_response(secrets: int, values: int, epsilon: float) -> Floats:
    r"""Return a report (s′, u′) of secret and value: (|S|, |U|, |S|, |U|).

    .. math::
        Q[s,u,s',u'] = \kappa\cdot\begin{cases}
            E & s'=s,\ u'=u\\ 1/E & s'=s,\ u'\ne u\\ 1 & s'\ne s
        \end{cases},\qquad \kappa^{-1} = E + (|U|-1)/E + |U|(|S|-1).

    Two rows of different secrets differ by the factor E at most; rows of one secret may differ by E².
    """
    shrink = np.exp(-epsilon)
    same_secret, same_value = (np.eye(size, dtype=bool) for size in (secrets, values))
    own = np.where(same_value, 1.0, shrink**2)[None, :, None, :]
    table = np.where(same_secret[:, None, :, None], own, shrink)
    return np.asarray(table / table.sum(axis=(2, 3), keepdims=True))


def independent_reporting(secrets: int, values: int, epsilon_secret: float, epsilon_value: float) -> Floats:
    """Randomised response of the secret and, apart from it, of the value: (|S|, |U|, |S|, |U|).

    Private at ε = ε₁ + ε₂ for every distribution, since a value may tell its secret.
    """
    reported = randomised_response(secrets, epsilon_secret), randomised_response(values, epsilon_value)
    return np.asarray(np.einsum("st,uv->sutv", *reported))
