r"""Slopes, correlations and group means: smooth functions of moments with unbiased estimates.

A moment is a linear functional :math:`m_i=\sum_u P(u)a_i(u)`; rows of several columns give unbiased estimates
:math:`\hat m` and their covariance V. An answer is :math:`f(m)`, estimated by :math:`f(\hat m)`. Its bias is
of the order 1/rows, and by the delta method its variance is :math:`\nabla f^\top V\,\nabla f`. Limits on the
moments give limits on f(m): the extremes of f over the box of the moments, by interval arithmetic. See
``docs/theory.md``, 'Functions of moments'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from rldp.theory.model import Floats

__all__ = ["Correlation", "Derived", "GroupDifferences", "GroupMeans", "Line"]

Ends = tuple[float, float]


class Derived(ABC):
    """Functions f of moments.

    Attributes
    ----------
    moments : array (|U|, k)
        a(u) of every moment.
    needed : int
        Largest number of moments that an answer needs.
    """

    moments: Floats
    needed: int

    @abstractmethod
    def limits(self) -> tuple[Floats, Floats]:
        """Return the least and largest possible answers: (m,), (m,)."""

    @abstractmethod
    def at(self, m: Floats) -> Floats:
        """Return f(m): (m,); NaN if f is undefined at the moments (k,)."""

    @abstractmethod
    def gradient(self, m: Floats) -> Floats:
        """Return ∇f: (m, k)."""

    @abstractmethod
    def within(self, lower: Floats, upper: Floats) -> list[Ends]:
        """Return the extremes of f over the box of moments, or wider limits."""

    def between(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return limits on the answers from limits on the moments: (m,), (m,)."""
        low, high = np.array(self.within(lower, upper)).T
        least, most = self.limits()
        return np.maximum(low, least), np.minimum(high, most)


def _centre(numbers: Floats) -> float:
    return float(numbers.min() + numbers.max()) / 2


@dataclass(frozen=True)
class Line(Derived):
    r"""The least-squares line of y on x: slope :math:`\mathrm{cov}(x,y)/\mathrm{var}(x)` and intercept.

    Moments are those of :math:`x-c` and :math:`y-d`, with c and d in the middle of the alphabets: 1, y, x²
    and xy, in the order x, y, xx, xy.

    Parameters
    ----------
    x, y : array (|U|,)
        The numbers of every value.
    """

    x: Floats
    y: Floats

    needed = 4

    @property
    def moments(self) -> Floats:  # type: ignore[override]
        """Moments of the centred columns: (|U|, 4)."""
        x, y = self.x - _centre(self.x), self.y - _centre(self.y)
        return np.stack([x, y, x * x, x * y], axis=-1)

    def limits(self) -> tuple[Floats, Floats]:
        r"""Return limits based on the steepest slope between two values of x, which bounds the slope."""
        steepest = np.ptp(self.y) / np.diff(np.unique(self.x)).min()
        reach = steepest * np.abs(self.x).max()
        return np.array([-steepest, self.y.min() - reach]), np.array([steepest, self.y.max() + reach])

    def at(self, m: Floats) -> Floats:
        """Return slope and intercept."""
        x, y, xx, xy = m
        variance = xx - x * x
        if not variance > 0:
            return np.full(2, np.nan)
        slope = (xy - x * y) / variance
        return np.array([slope, y + _centre(self.y) - slope * (x + _centre(self.x))])

    def gradient(self, m: Floats) -> Floats:
        """Return the gradients of slope and intercept: (2, 4)."""
        x, y, xx, _ = m
        slope, variance = self.at(m)[0], xx - x * x
        of_slope = np.array([2 * x * slope - y, -x, -slope, 1.0]) / variance
        of_intercept = np.array([-slope, 1.0, 0.0, 0.0]) - (x + _centre(self.x)) * of_slope
        return np.stack([of_slope, of_intercept])

    def within(self, lower: Floats, upper: Floats) -> list[Ends]:
        """Use interval arithmetic; return no limits if the variance of x may be 0."""
        (x, y, xx, xy), (c, d) = zip(lower, upper, strict=True), (_centre(self.x), _centre(self.y))
        slope = _ratio(_less(xy, _times(x, y)), _less(xx, _square(x)))
        reach = _times(slope, (x[0] + c, x[1] + c))
        return [slope, _less((y[0] + d, y[1] + d), reach)]


@dataclass(frozen=True)
class Correlation(Derived):
    """The correlation of x and y; the moments are those of a line, and the square of y."""

    x: Floats
    y: Floats

    needed = 5

    @property
    def moments(self) -> Floats:  # type: ignore[override]
        """Moments of the centred columns: (|U|, 5)."""
        y = self.y - _centre(self.y)
        return np.concatenate([Line(self.x, self.y).moments, (y * y)[:, None]], axis=-1)

    def limits(self) -> tuple[Floats, Floats]:
        """Return −1 and 1."""
        return np.array([-1.0]), np.array([1.0])

    def at(self, m: Floats) -> Floats:
        """Return the correlation; estimated moments may give one beyond 1."""
        x, y, xx, xy, yy = m
        product = (xx - x * x) * (yy - y * y)
        defined = xx > x * x and yy > y * y
        return np.array([(xy - x * y) / np.sqrt(product) if defined else np.nan])

    def gradient(self, m: Floats) -> Floats:
        """Return the gradient: (1, 5)."""
        x, y, xx, xy, yy = m
        vx, vy, covariance = xx - x * x, yy - y * y, xy - x * y
        root = np.sqrt(vx * vy)
        share = covariance / root
        return np.array(
            [
                [
                    -y / root + share * x / vx,
                    -x / root + share * y / vy,
                    -share / (2 * vx),
                    1 / root,
                    -share / (2 * vy),
                ]
            ]
        )

    def within(self, lower: Floats, upper: Floats) -> list[Ends]:
        """Use interval arithmetic."""
        x, y, xx, xy, yy = zip(lower, upper, strict=True)
        vx, vy = _less(xx, _square(x)), _less(yy, _square(y))
        if vx[0] <= 0 or vy[0] <= 0:
            return [(-np.inf, np.inf)]
        roots = float(np.sqrt(vx[0] * vy[0])), float(np.sqrt(vx[1] * vy[1]))
        return [_ratio(_less(xy, _times(x, y)), roots)]


@dataclass(frozen=True)
class GroupMeans(Derived):
    """The mean of x in every group of values. The moments are the groups' shares, then E (x − c) 1[group].

    Parameters
    ----------
    x : array (|U|,)
    groups : array (|U|, g)
        1 where a value belongs to the group, 0 elsewhere.
    """

    x: Floats
    groups: Floats

    needed = 2

    @property
    def moments(self) -> Floats:  # type: ignore[override]
        """Moments of shares and of x by group: (|U|, 2g)."""
        return np.concatenate([self.groups, self.groups * (self.x - _centre(self.x))[:, None]], axis=-1)

    def limits(self) -> tuple[Floats, Floats]:
        """Return the least and largest value."""
        count = self.groups.shape[1]
        return np.full(count, self.x.min()), np.full(count, self.x.max())

    def at(self, m: Floats) -> Floats:
        """Return the means; NaN in groups whose share is not positive."""
        shares, sums = np.split(m, 2)
        means = np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)
        return np.asarray(_centre(self.x) + means)

    def gradient(self, m: Floats) -> Floats:
        """Return the gradients: (g, 2g)."""
        shares, _ = np.split(m, 2)
        means = self.at(m) - _centre(self.x)
        scale = np.divide(1.0, shares, out=np.full_like(shares, np.nan), where=shares > 0)
        return np.concatenate([np.diag(-means * scale), np.diag(scale)], axis=1)

    def within(self, lower: Floats, upper: Floats) -> list[Ends]:
        """Use interval arithmetic."""
        (low, sums_low), (high, sums_high) = np.split(lower, 2), np.split(upper, 2)
        c, means = _centre(self.x), []
        for g in range(len(low)):
            mean = _ratio((sums_low[g], sums_high[g]), (low[g], high[g]))
            means.append((mean[0] + c, mean[1] + c))
        return means


@dataclass(frozen=True)
class GroupDifferences(Derived):
    """Differences between the group means and that of the first group."""

    means: GroupMeans

    needed = 4

    @property
    def moments(self) -> Floats:  # type: ignore[override]
        """Moments of the group means."""
        return self.means.moments

    def limits(self) -> tuple[Floats, Floats]:
        """Return minus and plus the range of x."""
        least, most = self.means.limits()
        return (least - most)[1:], (most - least)[1:]

    def at(self, m: Floats) -> Floats:
        """Return the differences."""
        means = self.means.at(m)
        return np.asarray(means[1:] - means[0])

    def gradient(self, m: Floats) -> Floats:
        """Return the gradients: (g − 1, 2g)."""
        gradient = self.means.gradient(m)
        return np.asarray(gradient[1:] - gradient[0])

    def within(self, lower: Floats, upper: Floats) -> list[Ends]:
        """Use interval arithmetic, with each mean clipped to the range of x."""
        means = list(zip(*self.means.between(lower, upper), strict=True))
        return [_less(each, means[0]) for each in means[1:]]


# Interval arithmetic


def _less(one: Ends, other: Ends) -> Ends:
    return one[0] - other[1], one[1] - other[0]


def _times(one: Ends, other: Ends) -> Ends:
    if not np.isfinite([*one, *other]).all():
        return -np.inf, np.inf
    products = [a * b for a in one for b in other]
    return min(products), max(products)


def _square(one: Ends) -> Ends:
    low, high = sorted((one[0] ** 2, one[1] ** 2))
    return (0.0 if one[0] <= 0 <= one[1] else low), high


def _ratio(above: Ends, below: Ends) -> Ends:
    """Divide by a positive denominator; the result is unbounded if the denominator may be 0."""
    if below[0] <= 0:
        return -np.inf, np.inf
    return _times(above, (1 / below[1], 1 / below[0]))
