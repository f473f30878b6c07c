r"""The support function of a projected set: its minimising scalars, and the members that attain it.

The closed form itself is :mod:`rldp.theory.nested_mean`. See ``docs/theory.md``, 'The support function'.
"""

from __future__ import annotations

from rldp.theory.namespace import Array, namespace, row_sum
from rldp.theory.nested_mean import MeanPoint, NestedMean

__all__ = ["minimising_eta", "worst_members"]

_LAST_MU = 1e-14  # rounding of values of size 1, with a digit to spare
_FASTER = 5  # times: Newton's method follows a μ that shrinks so much each step
_CLOSE = 1e-12  # decrease below which η from a good start are as good as any: bounds of distortions need less
_START = 1e-9  # of the scale: how far above max v a start is at least
_TO_BOUNDARY = 0.9  # share of the way to η = max v that a step may go
_ARMIJO, _ROUNDING = 1e-4, 1e-15  # share of the predicted decrease that is enough, and what rounding hides
_HALVINGS = 10


def minimising_eta(mean: NestedMean, v: Array, *, start: Array | None = None, steps: int = 50) -> Array:
    r"""Scalars η that (nearly) attain the minimum in the support function at ``v``.

    Any :math:`\eta \ge \max v` proves an upper bound; these prove one that is tight to rounding. A
    damped Newton method on :math:`\sum\eta - G(\eta - v) - \mu\sum\log(\eta - \max v)` with μ
    shrinking every step, for all entries of the batch at once.

    Parameters
    ----------
    mean : NestedMean
        With one or two groups.
    v : array (..., I, U)
    start : array (..., I), optional
        Scalars near the minimum; a step or two then suffice, or none.

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
    below = below / scale[..., None]  # the problem is homogeneous: h and all below are in this unit

    def at(h: Array) -> MeanPoint:
        return mean.at(h[..., None] + below)

    def merit(h: Array, point: MeanPoint, mu: float) -> Array:
        return row_sum(h - mu * xp.log(h)) - point.value

    h, mu, enough = xp.ones_like(top), 1.0, _LAST_MU
    if start is not None:
        h, mu, enough = xp.clip((start - top) / scale, min=_START), _LAST_MU, _CLOSE
    point = at(h)
    for _ in range(steps):
        mu = max(mu / _FASTER, _LAST_MU)
        slope = 1 - row_sum(point.gradient) - mu / h
        step = -_solve_small(_eta_hessian(point), mu / h**2, slope)
        fastest = xp.max(-step / h, axis=-1)
        length = xp.clip(_TO_BOUNDARY / xp.where(fastest > 0, fastest, _TO_BOUNDARY), max=1.0)
        before, decrease = merit(h, point, mu), xp.vecdot(slope, step)
        if mu == _LAST_MU and bool(xp.all(-decrease <= enough)):
            break
        for _ in range(_HALVINGS):
            ahead = h + length[..., None] * step
            point = at(ahead)
            reached = merit(ahead, point, mu)
            short = ~(reached <= before + _ARMIJO * length * decrease + _ROUNDING * xp.abs(before))
            if not bool(xp.any(short)):
                break
            length = xp.where(short, length / 2, length)
        else:
            ahead = h + length[..., None] * step
            point = at(ahead)
        h = ahead
    return top + scale * h


def worst_members(mean: NestedMean, v: Array) -> Array:
    """Members of the set that (nearly) attain the support function at ``v`` (..., I, U).

    The gradient of G at the minimising η; what it lacks in mass goes to the cells where v is largest.
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
    """−∂²G/∂η² as a diagonal and a between-group rank one, both non-negative."""
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
