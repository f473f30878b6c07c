r"""How far a step may go: inside all boundaries, as far as second order can tell.

Of two directions, all those between them are at hand without another solution. The point and the multipliers
choose from these for themselves, as in linear programming. See ``docs/theory.md``, 'Direction and
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
    """How far a step goes: the point, which is Q and η with their slacks, and the multipliers."""

    point: Array  # (K,)
    multipliers: Array  # (K,)

    @property
    def least(self) -> Array:
        return namespace(self.point).minimum(self.point, self.multipliers)


def to_boundary(relative: Array, settings: Settings) -> Array:
    """How far positive numbers may go that move by ``relative`` (K, M) of themselves, at most 1: (K,)."""
    xp = namespace(relative)
    return 1 / xp.clip(xp.min(relative, axis=1) / -settings.boundary, min=1.0)


def reach_of_sigma(sigma: Array, slope: Array, curve: Array, most: Array, settings: Settings) -> Array:
    """Where σ + t·slope + t²·curve has used up all but a share of σ, at ``most`` (K,)."""
    xp = namespace(slope)
    keep = (2 * settings.boundary - 1) * sigma
    inverse = (xp.sqrt(slope * slope - 4 * keep * curve) - slope) / (2 * keep)
    return 1 / xp.maximum(xp.max(flat(inverse), axis=1), 1 / most)


@dataclass(frozen=True)
class Between:
    """Two ways for positive numbers to move, in those entries that either of them would use up."""

    one: Array  # (K, N): relative to the numbers
    other: Array  # (K, N)
    settings: Settings

    @classmethod
    def of(cls, x: Array, one: Array, other: Array, settings: Settings) -> Between:
        xp = namespace(x)
        one, other = one / x, other / x
        limiting = ~(xp.minimum(one, other) >= -settings.boundary)  # what is not a number is among them
        places = xp.nonzero(xp.any(limiting, axis=0))[0]
        return cls(xp.take(one, places, axis=1), xp.take(other, places, axis=1), settings)

    def reach(self, share: float) -> Array:
        """With a ``share`` of what leads from one to the other: (K,)."""
        xp = namespace(self.one)
        if self.one.shape[1] == 0:
            return xp.ones((self.one.shape[0],), dtype=self.one.dtype)
        return to_boundary(self.one + share * (self.other - self.one), self.settings)


@dataclass(frozen=True)
class CurvedBetween:
    """The same for slacks of which some, σ, are curved along the two ways."""

    linear: Between
    sigma: Array  # (K, Y, M)
    slopes: tuple[Array, Array]
    curves: tuple[Array, Array, Array]  # along one, along the other, and along both

    @classmethod
    def of(
        cls, linear: Between, sigma: Array, slopes: tuple[Array, Array], along: tuple[Variation, Variation]
    ) -> CurvedBetween:
        one, other = along
        curves = one.value_curvature, other.value_curvature, one.curvature_with(other)
        return cls(linear, sigma, slopes, curves)

    def reach(self, share: float) -> Array:
        """With a ``share`` of what leads from one to the other: (K,)."""
        (one, other), rest = self.slopes, 1 - share
        first, last, both = self.curves
        curve = rest**2 * first + 2 * rest * share * both + share**2 * last
        slope = one + share * (other - one)
        return reach_of_sigma(self.sigma, slope, curve, self.linear.reach(share), self.linear.settings)


def farthest(reach: Callable[[float], Array], settings: Settings) -> tuple[Array, Array]:
    """The share (K,) of ``settings.blends`` that goes farthest, earlier ones first; and how far it goes."""
    first, *others = settings.blends
    length = reach(first)
    xp = namespace(length)
    chosen, length = xp.full_like(length, first), xp.where(length > 0, length, 0.0)
    for share in others:
        reached = reach(share)
        better = reached > length
        chosen, length = xp.where(better, share, chosen), xp.where(better, reached, length)
    return chosen, length
