r"""The support function of a projected set, bounded from above at any η, with all rounding accounted for.

:math:`\sum_i\eta_i - G(\eta - v)` is a small difference of large numbers where the set is small, since the
best η then are far above v. Here it is added up from parts in the units of v. With :math:`p = \eta - v`, its
mean :math:`a_i = \sum_u\hat P_{u|i}\,p_u` within a group, the shares :math:`w_i` of the groups' masses,
:math:`N = \sum_i a_i` and :math:`a_i = N w_i(1 + d_i)`,

.. math::
    \sum_i\eta_i - G &= \sum_i\sum_u\hat P_{u|i}\,v_u + N(1 - e^L), \\
    L &= \tfrac1\theta\log\Bigl(1 + \sum_i w_i\bigl(e^{\theta(\log(1 + d_i) + m_i)}-1-\theta d_i\bigr)\Bigr)
    + \log k,

where :math:`m_i = \log(M_i/a_i)` and log k is what the budget takes. As :math:`\sum_i w_i d_i = 0` and
:math:`\sum_u\hat P_{u|i}(p_u - a_i) = 0`, an error of one rounding in a, w or p changes L in proportion to
:math:`d_i` and :math:`|v - \bar v|/a` only. See ``docs/theory.md``, 'Two bounds'.
"""

from __future__ import annotations

import numpy as np

from rldp.theory.model import Floats
from rldp.theory.nested_mean import NestedMean

__all__ = ["proved_support"]

_UNIT = 2.0**-52
_FIRST_ORDER = 2.0**-10  # an error in L below this is below twice its first-order part


def proved_support(mean: NestedMean, v: Floats, eta: Floats) -> Floats:
    r"""Upper bound on :math:`\sum_i\eta_i - G(\eta - v)`, and so on the support function at ``v``.

    Parameters
    ----------
    mean : NestedMean
    v : array (..., I, U)
    eta : array (..., I)
        Above max v within each group.

    Returns
    -------
    array (...)
        Above the true value by no more than twice its own bound on the error.
    """
    values, seen, c = v.shape[-1], mean.masses > 0, mean.conditionals
    top = v.max(axis=-1)
    below, above = np.where(c > 0, top[..., None] - v, 0.0), eta - top  # what was never seen has no weight
    mean_below = np.vecdot(c, below)
    a = above + mean_below
    m, m_error = _log_means(mean, below, above, mean_below)

    total = np.where(seen, a, 0.0).sum(axis=-1)
    positive = np.where(total > 0, total, 1.0)
    w = mean.masses / np.where(seen.any(axis=-1), mean.masses.sum(axis=-1), 1.0)[..., None]
    ratio = np.where(seen, a / (positive[..., None] * np.where(seen, w, 1.0)), 1.0)
    log_share, share_error = _log_share(mean.theta, w, ratio, m, m_error, values)

    lost = -np.expm1(log_share + mean.exponent)
    error = share_error + 8 * _UNIT * np.abs(mean.exponent)
    plain = np.where(seen, top - mean_below, eta)
    size = (np.abs(top) + np.where(seen, mean_below, np.abs(eta))).sum(axis=-1)
    value = plain.sum(axis=-1) + total * lost
    rounding = 2 * total * (1 - lost) * error + (values + 8) * _UNIT * (total * np.abs(lost) + size)
    trivial = eta.sum(axis=-1) + 4 * _UNIT * np.abs(eta).sum(axis=-1)
    return np.asarray(np.where(error < _FIRST_ORDER, np.minimum(value + rounding, trivial), trivial))


def _log_means(mean: NestedMean, below: Floats, above: Floats, mean_below: Floats) -> tuple[Floats, Floats]:
    r"""m = log(M/a) of each group (..., I), and a bound on its error.

    p/a is 1 + (below − mean below)/a, and every one of the three is a sum of positive terms. So its logarithm
    y has an error of at most :math:`(U+8)\,2^{-52}` times (below + mean below)/a + \|y\|, also where p is
    next to nothing; and m, a power mean, lies between the mean of y and 0.
    """
    c, rho = mean.conditionals, mean.rho
    a = above + mean_below
    t = (below - mean_below[..., None]) / a[..., None]
    y = np.log1p(np.maximum(t, -0.5))
    near_zero = t < -0.5
    if near_zero.any():
        y = np.where(near_zero, np.log((above[..., None] + below) / a[..., None]), y)
    size = (below + mean_below[..., None]) / a[..., None] + np.abs(y)
    scale = 5 * (below.shape[-1] + 8) * _UNIT
    if mean.lambda_ == 0:
        return np.vecdot(c, y), scale * np.vecdot(c, size)
    power = np.expm1(rho * y)
    excess = np.vecdot(c, power)
    log_total = np.log1p(np.maximum(excess, -0.5))
    if (excess < -0.5).any():
        sums = np.where(mean.masses > 0, np.vecdot(c, np.exp(rho * y)), 1.0)
        log_total = np.where(excess < -0.5, np.log(sums), log_total)
    return log_total / rho, scale * np.vecdot(c, (1 + np.maximum(power, 0)) * size) / np.exp(log_total)


def _log_share(
    theta: float, w: Floats, ratio: Floats, m: Floats, m_error: Floats, values: int
) -> tuple[Floats, Floats]:
    """The part of L that does not come from the budget (...), and a bound on its error."""
    d = ratio - 1
    log_ratio = np.where(d < -0.5, np.log(ratio), np.log1p(np.maximum(d, -0.5)))
    x = log_ratio + m
    size = np.abs(log_ratio) + np.abs(m) + np.abs(d)
    error = m_error + 4 * (values + 16) * _UNIT * size
    if theta == 0:
        return np.vecdot(w, x - d), np.vecdot(w, error)
    growth = np.expm1(theta * x)
    excess = np.vecdot(w, growth - theta * d)
    log_mean = np.log1p(np.maximum(excess, -0.5))
    if (excess < -0.5).any():
        sums = np.vecdot(w, 1 + growth)
        log_mean = np.where(excess < -0.5, np.log(np.where(sums > 0, sums, 1.0)), log_mean)
    spread = np.vecdot(w, (1 + np.maximum(growth, 0)) * error) / np.exp(log_mean)
    return log_mean / theta, spread + 8 * _UNIT * np.abs(log_mean) / theta
