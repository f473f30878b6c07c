r"""The nested power mean, a concave function for both utility and privacy, and its set.

A distribution in :math:`F_\lambda` induces, on any family of secrets :math:`i` (all cells as one
group for utility, two conditionals for privacy), conditionals :math:`R_i` with

.. math::
    \sum_i P_i\,\bigl(K_i(R_i)^{1/(1+\lambda)} - 1\bigr) \le \Delta,\qquad
    K_i(R) = \sum_u \hat P_{u|i}\,(\hat P_{u|i}/R_u)^\lambda,\qquad
    \Delta = (1+B)^{1/(1+\lambda)} - 1,

and for λ = 0 the same with :math:`\sum_i P_i\,\mathrm{KL}(\hat P_{\cdot|i}\|R_i) \le r`. Its support
function at :math:`v = (v_i)` is a minimum over one scalar per group,

.. math::
    \sup_R \sum_i R_i\cdot v_i = \min_{\eta_i \ge \max v_i} \sum_i \eta_i - G(\eta - v),\qquad
    G = T^{1/\theta} C^{1-1/\theta},\quad T = \sum_i P_i^{1-\theta} M_i^\theta,\quad
    C = \Delta + \sum_i P_i,

with :math:`M_i(p) = (\sum_u \hat P_{u|i}\,p_u^\rho)^{1/\rho}`, :math:`\rho = \lambda/(1+\lambda)`,
:math:`\theta = \lambda/(1+2\lambda)`. See ``docs/theory.md``, 'The support function'.

The last axes of arrays are (group, value); earlier axes are a batch. The code follows the array API standard.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rldp.theory.arrays import Array, namespace, row_sum

_LARGE_LOG = 600.0  # up to here, a sum of exponentials cannot overflow

__all__ = ["MeanPoint", "NestedMean", "Variation"]


@dataclass(frozen=True)
class MeanPoint:
    r"""The nested mean at a point :math:`p`, with its derivatives.

    Let :math:`e = dp/p`, with means :math:`\bar e_i` under :math:`\omega_i` and their mean under
    :math:`\tau`. Every derivative is a weighted mean or a variance of ``e``, without cancellation
    (``docs/theory.md``, 'Derivatives').

    Attributes
    ----------
    p : array (..., I, U), positive
    value : array (...)
        :math:`G(p)`.
    tau : array (..., I)
        Weights of the groups; they sum to one unless no group was seen.
    omega : array (..., I, U)
        Weights of the values within a group; they sum to one for every group that was seen.
    inverse, beta, gradient : array (..., I, U)
        1/p; ω/p, the derivative of the logarithm of a group's mean; ∂G/∂p = G τ ω/p.
    """

    p: Array
    value: Array
    tau: Array
    omega: Array
    inverse: Array
    beta: Array
    gradient: Array
    rho: float
    theta: float

    def along(self, dp: Array) -> Variation:
        """Return derivatives along a direction ``dp`` (..., I, U)."""
        return Variation(self, dp)


class Variation:
    """Derivatives of the nested mean along a direction, computed from a few means of e = dp/p."""

    def __init__(self, point: MeanPoint, dp: Array) -> None:
        self.point = point
        e = dp * point.inverse
        self._group = namespace(dp).vecdot(point.omega, e)[..., None]
        self._deviation = e - self._group
        self._is_single = point.tau.shape[-1] == 1

    @cached_property
    def _between(self) -> Array | float:
        if self._is_single:
            return 0.0
        group = self._group[..., 0]
        return (group - namespace(group).vecdot(self.point.tau, group)[..., None])[..., None]

    @cached_property
    def _variance(self) -> Array:
        return namespace(self._deviation).vecdot(self.point.omega, self._deviation**2)[..., None]

    def _mean(self, x: Array) -> Array:
        """Return the mean of ``x`` (..., I, 1) over the groups: (...)."""
        return namespace(x).vecdot(self.point.tau, x[..., 0])

    @cached_property
    def value_curvature(self) -> Array:
        """Half the second derivative of G, never positive: (...)."""
        point = self.point
        spread = (1 - point.theta) * self._between**2 + (1 - point.rho) * self._variance
        return -0.5 * point.value * self._mean(spread)

    def curvature_with(self, other: Variation) -> Array:
        """Return half the mixed second derivative of G along this and another direction: (...)."""
        point, xp = self.point, namespace(self._deviation)
        within = xp.vecdot(point.omega, self._deviation * other._deviation)[..., None]
        spread = (1 - point.theta) * (self._between * other._between) + (1 - point.rho) * within
        return -0.5 * point.value * self._mean(spread)

    @property
    def log_gradient_slope(self) -> Array:
        """First derivative of log ∂G/∂p: (..., I, U)."""
        point = self.point
        return (point.theta - 1) * self._between + (point.rho - 1) * self._deviation

    def bent_gradient(self, base: Array, first: Array, second: Array) -> Array:
        """Return ``base``·g + ``first``·g′ + ``second``·½g″ for g = ∂G/∂p: (..., I, U).

        The weights are scalars, or (..., 1, 1). Within a group, all three terms are g times a polynomial in
        the deviation of e from its mean.
        """
        point, rho, theta, concavity = self.point, self.point.rho, self.point.theta, 1 - self.point.rho
        half, within = 0.5 * second, concavity * self._variance
        if self._is_single:
            constant = base - (concavity * half) * within
            linear = concavity * (second * self._group - first)
        else:
            slope, between, square = (theta - 1) * self._between, self._between**2, self._group**2
            log_value = self._mean(theta * between - within - square)[..., None, None]
            level = (1 - theta) * ((1 - theta) * between + square + log_value) - (theta - rho) * within
            constant = base + first * slope + half * level
            linear = concavity * (second * (self._group - slope) - first)
        quadratic = concavity * (1 + concavity) * half
        return point.gradient * ((quadratic * self._deviation + linear) * self._deviation + constant)


@dataclass(frozen=True)
class NestedMean:
    r"""The concave, homogeneous function :math:`G` of a projected set, and the set itself.

    Attributes
    ----------
    lambda_ : float
        λ of the power divergence.
    masses : array (..., I)
        :math:`P_i`, the estimated mass of each group; 0 for an unseen group.
    conditionals : array (..., I, U)
        :math:`\hat P_{u|i}`; zero for an unseen group.
    budget : array (...)
        :math:`\Delta` (λ > 0) or r (λ = 0).
    """

    lambda_: float
    masses: Array
    conditionals: Array
    budget: Array

    @property
    def rho(self) -> float:
        return self.lambda_ / (1 + self.lambda_)

    @property
    def theta(self) -> float:
        return self.lambda_ / (1 + 2 * self.lambda_)

    # Unseen groups have mass zero. The constants below keep them, and families without seen groups,
    # out of every quotient and logarithm.

    @cached_property
    def _total(self) -> Array:
        return row_sum(self.masses)

    @cached_property
    def _unseen(self) -> Array:
        """1 for an unseen group, else 0."""
        return namespace(self.masses).astype(self.masses <= 0, self.masses.dtype)

    @cached_property
    def _alone(self) -> Array:
        """1 for a family without seen groups, else 0."""
        return namespace(self.masses).astype(self._total <= 0, self.masses.dtype)

    @cached_property
    def _shares(self) -> Array:
        return self.masses / (self._total + self._alone)[..., None]

    @cached_property
    def _log_masses(self) -> Array:
        return namespace(self.masses).log(self.masses + self._unseen)

    @cached_property
    def _size(self) -> Array:
        """C, or 0 for a family without seen groups, for which G = 0."""
        return (self.budget + self._total) * (1 - self._alone)

    @cached_property
    def _positive_size(self) -> Array:
        return self.budget + self._total + self._alone

    @cached_property
    def _seen_cells(self) -> Array:
        return self.conditionals > 0

    @cached_property
    def _log_conditionals(self) -> Array:
        """Log conditionals of the seen cells; 0 for the others."""
        xp = namespace(self.masses)
        return xp.log(xp.where(self._seen_cells, self.conditionals, 1.0))

    def at(self, p: Array) -> MeanPoint:
        """Evaluate G and its weights at ``p`` (..., I, U), all positive.

        Powers are computed as ``expm1`` of logarithms, so that λ → 0 and radius → 0 lose no digits. They are
        powers of ratios to a mean, so that no scale of ``p`` causes underflow.
        """
        xp = namespace(p)
        log_mean, omega = self._group_means(p)
        if self.masses.shape[-1] == 1:
            value = xp.exp(log_mean[..., 0]) * self._kept
            return self._point(p, value, xp.broadcast_to(self._shares, p.shape[:-1]), omega)
        if self.lambda_ == 0:
            excess = xp.vecdot(self.masses, log_mean - self._log_masses) - self.budget
            value = self._total * xp.exp(excess / (self._total + self._alone))
            return self._point(p, value, xp.broadcast_to(self._shares, p.shape[:-1]), omega)
        level = xp.vecdot(self._shares, log_mean)
        excess = self.masses * xp.expm1(self.theta * (log_mean - level[..., None] - self._log_masses))
        share = (row_sum(excess) - self.budget) / self._positive_size
        part = excess + self.masses
        total = row_sum(part) + self._alone
        small = share < -0.5
        if bool(xp.any(small)):
            log_share = xp.log1p(xp.where(small, 0.0, share))
            log_share = xp.where(small, xp.log(total / self._positive_size), log_share)
        else:
            log_share = xp.log1p(share)
        value = xp.exp(level + log_share / self.theta) * self._size
        return self._point(p, value, part / total[..., None], omega)

    def _group_means(self, p: Array) -> tuple[Array, Array]:
        """Return the log of each group's mean M and the weights of its terms, accurate at any scale."""
        xp = namespace(p)
        if self.lambda_ == 0:
            return xp.vecdot(self.conditionals, xp.log(p)), xp.broadcast_to(self.conditionals, p.shape)
        centre = xp.vecdot(self.conditionals, p) + self._unseen
        x = self.rho * xp.log(p / centre[..., None])
        power = xp.expm1(x)
        excess = xp.vecdot(self.conditionals, power)
        terms, total, log_total = self.conditionals * (1 + power), 1 + excess, xp.log1p(excess)
        small = excess < -0.5
        if bool(xp.any(small)):
            exact = self.conditionals * xp.exp(x)
            sums = row_sum(exact) + self._unseen
            terms = xp.where(small[..., None], exact, terms)
            total = xp.where(small, sums, total)
            log_total = xp.where(small, xp.log(sums), log_total)
        return xp.log(centre) + log_total / self.rho, terms / total[..., None]

    def _point(self, p: Array, value: Array, tau: Array, omega: Array) -> MeanPoint:
        inverse = 1.0 / p
        beta = omega * inverse
        gradient = (value[..., None] * tau)[..., None] * beta
        return MeanPoint(p, value, tau, omega, inverse, beta, gradient, self.rho, self.theta)

    @cached_property
    def exponent(self) -> Array:
        """Log of the share of η − v that remains if v is constant within each group: (...)."""
        relative = self.budget / (self._total + self._alone)
        if self.lambda_ == 0:
            return -relative
        return -(1 / self.theta - 1) * namespace(relative).log1p(relative)

    @property
    def deficit(self) -> Array:
        """The share of η − v that the bound loses if v is constant within each group: (...)."""
        return -namespace(self.budget).expm1(self.exponent)

    @cached_property
    def _kept(self) -> Array:
        """G of a single group, in units of its mean."""
        return namespace(self.budget).exp(self.exponent) * (1 - self._alone)

    def divergence(self, members: Array) -> Array:
        """Return the divergence of ``members`` (..., I, U); they are in the set iff it is ≤ ``budget``."""
        xp = namespace(members)
        positive = xp.clip(xp.where(self._seen_cells, members, 1.0), min=1e-300)
        log_ratio = self._log_conditionals - xp.log(positive)
        if self.lambda_ == 0:
            spent = xp.vecdot(self.conditionals, log_ratio)
        else:
            spent = xp.expm1(self._log_spread(self.lambda_ * log_ratio) / (1 + self.lambda_))
        return xp.vecdot(self.masses, spent)

    def _log_spread(self, x: Array) -> Array:
        """Return log Σ c eˣ over the seen cells of each group (..., I), without overflow."""
        xp = namespace(x)
        top = xp.max(xp.where(self._seen_cells, x, 0.0), axis=-1)
        near = xp.log1p(xp.vecdot(self.conditionals, xp.expm1(xp.clip(x, max=_LARGE_LOG))))
        if not bool(xp.any(top > _LARGE_LOG)):
            return near
        far = top + xp.log(xp.vecdot(self.conditionals, xp.exp(x - top[..., None])) + self._unseen)
        return xp.where(top > _LARGE_LOG, far, near)

    def pulled_inside(self, members: Array) -> Array:
        """Move ``members`` towards the estimate until they lie in the set.

        The divergence is convex and zero at the estimate, so a fraction (d − budget)/d of the way suffices.
        The code goes slightly farther, so that rounding, here or in the radius, cannot leave them outside.
        """
        xp = namespace(members)
        members = xp.where(self._seen_cells, xp.clip(members, min=1e-290), members)
        spent = self.divergence(members)
        safe = xp.clip(self.budget * (1 - 1e-11) - 4e-15 * (self.lambda_ or 1.0), min=0.0)
        over = spent > safe
        fraction = (spent - safe * (1 - 1e-9)) / xp.where(spent > 0, spent, 1.0)
        fraction = xp.where(over, xp.clip(fraction, min=0.0, max=1.0), 0.0)[..., None, None]
        estimate = xp.where(self.masses[..., None] > 0, self.conditionals, members)
        return (1 - fraction) * members + fraction * estimate
