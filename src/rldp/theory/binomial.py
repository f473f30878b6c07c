r"""Confidence bounds on a binomial probability.

These are the Clopper–Pearson bounds: with f hits in M trials, the upper bound is the largest p under which at
most f hits have a probability above ``error``. See ``docs/theory.md``, 'Monte Carlo'.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv

__all__ = ["lower_probability", "tail_probability", "upper_probability"]

Floats = NDArray[np.float64]

_DISTRUST = 1e-6  # relative; far above the error of SciPy's tails, and negligible in the bounds
_FIRST_STEP = 2.0**-50  # as a share of the remaining way
_MOST_STEPS = 50  # the last one goes half of the way


def tail_probability(hits: ArrayLike, trials: ArrayLike, level: ArrayLike) -> Floats:
    r"""Return :math:`\Pr(\mathrm{Bin}(M, \ell)\le f)`, rounded up; 0 if it underflows.

    Parameters
    ----------
    hits, trials : array_like of int
        f and M, with f ≤ M.
    level : array_like
        ℓ, between 0 and 1.
    """
    f, m = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    tail = betaincc(f + 1, np.maximum(m - f, 1.0), level)
    return np.where(f < m, np.minimum(tail * (1 + _DISTRUST), 1.0), 1.0)


def upper_probability(hits: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    r"""Return an upper confidence bound on the probability of a hit, of level 1 − ``error``, rounded up.

    .. math:: \max\{p : \Pr(\mathrm{Bin}(M, p) \le f) > \mathrm{error}\}

    Parameters
    ----------
    hits : array_like of int
        f, from 0 to M.
    trials : array_like of int
        M, at least 1; independent, with the same probability of a hit.
    error : float
        Between 0 and 1.

    Returns
    -------
    array of the common shape

    Examples
    --------
    >>> float(upper_probability(0, 100, 0.05).round(4))
    0.0295
    """
    f, m = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    misses = np.maximum(m - f, 1.0)  # if all trials hit, the answer is 1, whatever is computed
    return np.where(
        f < m,
        _stepped(
            betainccinv(f + 1, misses, error), np.ones_like(f), lambda p: betaincc(f + 1, misses, p), error
        ),
        1.0,
    )


def lower_probability(hits: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    r"""Return a lower confidence bound on the probability of a hit, of level 1 − ``error``, rounded down.

    .. math:: \min\{p : \Pr(\mathrm{Bin}(M, p) \ge f) > \mathrm{error}\}

    Parameters as in :func:`upper_probability`.
    """
    f, m = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    some = np.maximum(f, 1.0)  # if no trial hits, the answer is 0, whatever is computed
    return np.where(
        f > 0,
        _stepped(
            betaincinv(some, m - f + 1, error),
            np.zeros_like(f),
            lambda p: betainc(some, m - f + 1, p),
            error,
        ),
        0.0,
    )


def _stepped(start: Floats, end: Floats, tail: Callable[[Floats], Floats], error: float) -> Floats:
    """Return the first p on the way from ``start`` to ``end`` where the tail is small enough; else ``end``.

    A root finder may stop on either side of its root. Its answer is therefore moved, in steps that double,
    until the tail itself confirms the bound.
    """
    p = start
    share = _FIRST_STEP
    for _ in range(_MOST_STEPS):
        proved = tail(p) <= error * (1 - _DISTRUST)
        if proved.all():
            return p
        p = np.where(proved, p, p + share * (end - p))
        share *= 2
    return np.where(tail(p) <= error * (1 - _DISTRUST), p, end)
