r"""Step lengths: how far a step can go inside all boundaries, to second order.

All directions between two given ones are available without another solve. The point and the multipliers
choose among them independently, as in linear programming. See ``docs/theory.md``, 'Direction and
corrections'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, flat, namespace
from rldp.theory.nested_mean import Variation

__all__ = ["Between", "CurvedBetween", "Lengths", "farthest", "reach_of_sigma", "to_boundary"]


@dataclass(frozen=True)
class Lengths:
    """The step lengths of the point (Q and η with their slacks) and of the multipliers."""

    point: Array  # (K,)
    multipliers: Array  # (K,)

    @property
    def least(self) -> Array:
        return namespace(self.point).minimum(self.point, self.multipliers)


def to_boundary(relative: Array, settings: Settings) -> Array:
    """Return the longest step, at most 1, for positive numbers that change by ``relative`` (K, M): (K,)."""
    xp = namespace(relative)
    return 1 / xp.clip(xp.min(relative, axis=1) / -settings.boundary, min=1.0)


def reach_of_sigma(sigma: Array, slope: Array, curve: Array, most: Array, settings: Settings) -> Array:
    """Return the t, at most ``most`` (K,), where σ + t·slope + t²·curve has used up all but a share of σ."""
    xp = namespace(slope)
    keep = (2 * settings.boundary - 1) * sigma
    inverse = (xp.sqrt(slope * slope - 4 * keep * curve) - slope) / (2 * keep)
    return 1 / xp.maximum(xp.max(flat(inverse), axis=1), 1 / most)


@dataclass(frozen=True)
class Between:
    """Two moves of positive numbers, restricted to the entries that limit either of them."""

    one: Array  # (K, N): relative to the numbers
    other: Array  # (K, N)
    settings: Settings

    @classmethod
    def of(cls, x: Array, one: Array, other: Array, settings: Settings) -> Between:
        xp = namespace(x)
        one, other = one / x, other / x
        limiting = ~(xp.minimum(one, other) >= -settings.boundary)  # includes NaN
        places = xp.nonzero(xp.any(limiting, axis=0))[0]
        return cls(xp.take(one, places, axis=1), xp.take(other, places, axis=1), settings)

    def reach(self, share: float) -> Array:
        """Return the step length after moving a ``share`` of the way from one to the other: (K,)."""
        xp = namespace(self.one)
        if self.one.shape[1] == 0:
            return xp.ones((self.one.shape[0],), dtype=self.one.dtype)
        return to_boundary(self.one + share * (self.other - self.one), self.settings)


@dataclass(frozen=True)
class CurvedBetween:
    """The same for slacks of which some, σ, are curved along the two moves."""

    linear: Between
    sigma: Array  # (K, Y, M)
    slopes: tuple[Array, Array]
    curves: tuple[Array, Array, Array]  # along one, along the other, and mixed

    @classmethod
    def of(
        cls, linear: Between, sigma: Array, slopes: tuple[Array, Array], along: tuple[Variation, Variation]
    ) -> CurvedBetween:
        one, other = along
        curves = one.value_curvature, other.value_curvature, one.curvature_with(other)
        return cls(linear, sigma, slopes, curves)

    def reach(self, share: float) -> Array:
        """Return the step length after moving a ``share`` of the way from one to the other: (K,)."""
        (one, other), rest = self.slopes, 1 - share
        first, last, both = self.curves
        curve = rest**2 * first + 2 * rest * share * both + share**2 * last
        slope = one + share * (other - one)
        return reach_of_sigma(self.sigma, slope, curve, self.linear.reach(share), self.linear.settings)


def farthest(reach: Callable[[float], Array], settings: Settings) -> tuple[Array, Array]:
    """Return the share (K,) of ``settings.blends`` with the longest step, and that step; first on ties."""
    first, *others = settings.blends
    length = reach(first)
    xp = namespace(length)
    chosen, length = xp.full_like(length, first), xp.where(length > 0, length, 0.0)
    for share in others:
        reached = reach(share)
        better = reached > length
        chosen, length = xp.where(better, share, chosen), xp.where(better, reached, length)
    return chosen, length
