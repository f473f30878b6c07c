r"""Noise for counts: exact draws from the discrete Laplace distribution, with integers only.

.. math:: \Pr(Z=z)=\frac{1-e^{-\varepsilon}}{1+e^{-\varepsilon}}\,e^{-\varepsilon|z|}

for a rational :math:`\varepsilon=s/t`; a float is one. Nothing is rounded: the only random numbers are
uniform integers, and no float is computed. See ``docs/theory.md``, 'Noise on the counts'.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

__all__ = ["discrete_laplace"]

Below = Callable[[int], int]


def discrete_laplace(epsilon: Fraction, below: Below) -> int:
    r"""Draw a number.

    With U uniform below t, kept with probability :math:`e^{-U/t}`, and V geometric with ratio :math:`e^{-1}`,
    X = U + tV has :math:`\Pr(X=x)\propto e^{-x/t}`. So ⌊X/s⌋ is geometric with ratio
    :math:`e^{-s/t}`. It gets a random sign; a negative zero is thrown away.

    Parameters
    ----------
    epsilon : Fraction
        Positive.
    below : callable
        ``below(n)`` is a uniform integer from 0 to n − 1; :func:`secrets.randbelow` draws securely.
    """
    s, t = epsilon.numerator, epsilon.denominator
    while True:
        u = below(t)
        if not _happens(u, t, below):
            continue
        v = 0
        while _happens(1, 1, below):
            v += 1
        size, negative = (u + t * v) // s, bool(below(2))
        if size or not negative:
            return -size if negative else size


def _happens(n: int, d: int, below: Below) -> bool:
    r"""Return whether an event of probability :math:`e^{-\gamma}` happens, γ = n/d from 0 to 1.

    Events of probability γ/1, γ/2, γ/3, … are tried until one fails, the K-th.
    :math:`\Pr(K>k)=\gamma^k/k!`, so K is odd with probability
    :math:`1-\gamma+\gamma^2/2-\dots=e^{-\gamma}`.
    """
    k = 1
    while below(d * k) < n:
        k += 1
    return k % 2 == 1
