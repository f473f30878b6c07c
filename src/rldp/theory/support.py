r"""The support function of a projected set: minimising scalars, members and a proved bound.

The closed form itself is :mod:`rldp.theory.nested_mean`. See ``docs/theory.md``, 'The support function' and
'Two bounds'.

If the set is small, the best η are far above v, and :math:`\sum_i\eta_i - G(\eta - v)` is a small difference
of large numbers. :func:`proved_support` therefore sums parts in units of v. With :math:`p = \eta - v`, its
mean :math:`a_i = \sum_u\hat P_{u|i}\,p_u` within a group, the shares :math:`w_i` of the groups' masses,
:math:`N = \sum_i a_i` and :math:`a_i = N w_i(1 + d_i)`,

.. math::
    \sum_i\eta_i - G &= \sum_i\sum_u\hat P_{u|i}\,v_u + N(1 - e^L), \\
    L &= \tfrac1\theta\log\Bigl(1 + \sum_i w_i\bigl(e^{\theta(\log(1 + d_i) + m_i)}-1-\theta d_i\bigr)\Bigr)
    + \log k,

where :math:`m_i = \log(M_i/a_i)` and log k is what the budget takes. As :math:`\sum_i w_i d_i = 0` and
:math:`\sum_u\hat P_{u|i}(p_u - a_i) = 0`, an error of one rounding in a, w or p changes L in proportion to
:math:`d_i` and :math:`|v - \bar v|/a` only.
"""

from __future__ import annotations

import numpy as np

from rldp.theory.arrays import Array, namespace, row_sum
from rldp.theory.model import Floats
from rldp.theory.nested_mean import MeanPoint, NestedMean

__all__ = ["minimising_eta", "proved_support", "worst_members"]

_LAST_MU = 1e-14  # rounding of values of size 1, plus one digit
_FASTER = 5  # factor by which μ shrinks in each Newton step; with 3 and 10, a tenth and a third more work
_TO_BOUNDARY = 0.9  # share of the way to η = max v that a step may go; .8 to .99 do as well, .5 is too little
_HALVINGS, _MOST_STEPS = 10, 50  # guards; with 5 halvings, one set in thousands gets a worse bound
_UNIT = 2.0**-52
_FIRST_ORDER = 2.0**-10  # an error in L below this is below twice its first-order part


def minimising_eta(mean: NestedMean, v: Array, *, start: Array | None = None) -> Array:
    r"""Return scalars η that (nearly) attain the minimum in the support function at ``v``.

    Any :math:`\eta \ge \max v` proves an upper bound; these prove one that is tight to rounding. The method
    is damped Newton on :math:`\sum\eta - G(\eta - v) - \mu\sum\log(\eta - \max v)` with μ decreasing in every
    step, for all entries of the batch at once.

    Parameters
    ----------
    mean : NestedMean
        With one or two groups.
    v : array (..., I, U)
    start : array (..., I), optional
        Scalars near the minimum; a few steps then suffice, or none.

    Returns
    -------
    array (..., I)
    """
    xp = namespace(v)
    top = xp.max(v, axis=-1)
    below = top[..., None] - v
    scale = xp.max(below, axis=(-2, -1))
    scale = xp.where(scale > 0, scale, xp.max(xp.abs(top), axis=-1))
    scale = xp.where(scale > 0, scale, 1.0)[..., None]
    below = below / scale[..., None]  # the problem is homogeneous: h and the rest are in this unit

    def at(h: Array) -> MeanPoint:
        return mean.at(h[..., None] + below)

    def merit(h: Array, point: MeanPoint, mu: float) -> Array:
        return row_sum(h - mu * xp.log(h)) - point.value

    h, mu = xp.ones_like(top), 1.0
    if start is not None:
        h, mu = xp.clip((start - top) / scale, min=_LAST_MU), _LAST_MU
    point = at(h)
    for _ in range(_MOST_STEPS):
        mu = max(mu / _FASTER, _LAST_MU)
        slope = 1 - row_sum(point.gradient) - mu / h
        step = -_solve_small(_eta_hessian(point), mu / h**2, slope)
        fastest = xp.max(-step / h, axis=-1)
        length = xp.clip(_TO_BOUNDARY / xp.where(fastest > 0, fastest, _TO_BOUNDARY), max=1.0)
        if mu == _LAST_MU and bool(xp.all(-xp.vecdot(slope, step) <= _LAST_MU)):
            break
        most = merit(h, point, mu) + 4 * _UNIT * row_sum(h)  # with its rounding, as G is nearly the sum of h
        for _ in range(_HALVINGS):
            ahead = h + length[..., None] * step
            point = at(ahead)
            short = ~(merit(ahead, point, mu) <= most)
            if not bool(xp.any(short)):
                break
            length = xp.where(short, length / 2, length)
        h = ahead
    return top + scale * h


def worst_members(mean: NestedMean, v: Array) -> Array:
    """Return members of the set that (nearly) attain the support function at ``v`` (..., I, U).

    They are the gradient of G at the minimising η. Missing mass goes to the cells where v is largest.
    """
    xp = namespace(v)
    top = xp.max(v, axis=-1, keepdims=True)
    p = minimising_eta(mean, v)[..., None] - v
    p = xp.where(p > 0, p, 1e-18 * (1 + xp.abs(top)))
    members = mean.at(p).gradient
    largest = xp.astype(v == top, v.dtype)
    missing = xp.clip(1 - row_sum(members), min=0.0) / row_sum(largest)
    members = members + missing[..., None] * largest
    return mean.pulled_inside(members / row_sum(members)[..., None])


def _eta_hessian(point: MeanPoint) -> tuple[Array, Array]:
    """Return −∂²G/∂η² as a diagonal and a rank one between groups, both non-negative."""
    xp = namespace(point.p)
    r = row_sum(point.beta)
    deviation = xp.where(point.omega > 0, point.inverse - r[..., None], 0.0)
    within = (1 - point.rho) * xp.vecdot(point.omega, deviation**2)
    diagonal = point.value[..., None] * point.tau * within
    if r.shape[-1] == 1:
        return diagonal, 0.0 * r
    strength = point.value * (1 - point.theta) * point.tau[..., 0] * point.tau[..., 1]
    signed = xp.stack([r[..., 0], -r[..., 1]], axis=-1)
    return diagonal, xp.sqrt(strength)[..., None] * signed


def _solve_small(hessian: tuple[Array, Array], ridge: Array, rhs: Array) -> Array:
    """Solve (diag + ridge + u uᵀ) x = rhs by the Sherman–Morrison formula."""
    xp = namespace(rhs)
    diagonal = hessian[0] + ridge
    u = hessian[1]
    x, y = rhs / diagonal, u / diagonal
    share = xp.vecdot(u, x) / (1 + xp.vecdot(u, y))
    return x - share[..., None] * y


def proved_support(mean: NestedMean, v: Floats, eta: Floats) -> Floats:
    r"""Return an upper bound on :math:`\sum_i\eta_i - G(\eta - v)`, hence on the support function at ``v``.

    Parameters
    ----------
    mean : NestedMean
    v : array (..., I, U)
    eta : array (..., I)
        Above max v within each group.

    Returns
    -------
    array (...)
        Exceeds the true value by at most twice its error bound.
    """
    values, seen, c = v.shape[-1], mean.masses > 0, mean.conditionals
    top = v.max(axis=-1)
    below, above = np.where(c > 0, top[..., None] - v, 0.0), eta - top  # unseen cells have no weight
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
    r"""Return m = log(M/a) of each group (..., I), and a bound on its error.

    p/a is 1 + (below − mean below)/a, and each of the three is a sum of positive terms. Its logarithm
    y has an error of at most :math:`(U+8)\,2^{-52}` times (below + mean below)/a + \|y\|, also where p is
    tiny; and m, a power mean, lies between the mean of y and 0.
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
    """Return the part of L that is independent of the budget (...), and a bound on its error."""
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
