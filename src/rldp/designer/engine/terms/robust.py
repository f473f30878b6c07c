r"""What robust privacy terms share, whether they compare pairs of secrets or keep windows.

A term has constraints :math:`\sigma > 0` that hold G at points :math:`p > 0`, with multipliers z and w.
Stationarity sees it only through :math:`\varrho = z\,\nabla G + w`.
"""

from __future__ import annotations

from typing import TypeVar

from rldp.designer.engine.algebra.arrays import updated
from rldp.designer.engine.terms.interface import SecondOrder
from rldp.theory.namespace import Array, row_sum
from rldp.theory.nested_mean import MeanPoint, NestedMean, Variation

Term = TypeVar("Term", bound="RobustTerm")


class RobustTerm:
    """Slacks σ and p, their multipliers, and how the constraints are curved."""

    mean: NestedMean
    point: MeanPoint
    eta: Array
    sigma: Array
    z: Array
    w: Array

    @property
    def proof(self) -> Array:
        return self.eta

    def prices(self) -> None:
        """Readers who know the value are promised nothing."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        return self.sigma, self.point.p

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.z, self.w

    @property
    def shares(self) -> tuple[float, ...]:
        """Of μ for each kind of slack."""
        return 1.0, 1.0

    def with_multipliers(self: Term, multipliers: tuple[Array, ...]) -> Term:
        return updated(self, z=multipliers[0], w=multipliers[1])

    def varrho(self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None) -> Array:
        """ϱ for the given multipliers, and half its second derivative along a step."""
        z, w = multipliers
        if second_order is None:
            return z[..., None, None] * self.point.gradient + w
        z, dz, z_now = (x[..., None, None] for x in (z, second_order.dz, self.z))
        return second_order.variation.bent_gradient(z, dz, z_now) + w

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """How the constraints are curved along a step that moves the slacks so."""
        return self.point.along(moves[1])

    def privacy_cost(self) -> Array:
        """What the multipliers add to the cost of each cell and output, as they are: (K, Y, |S|, U)."""
        return self.to_q(self.varrho(self.multipliers))

    def to_q(self, varrho: Array) -> Array:
        """What entries of ϱ mean for Q: (K, Y, |S|, U)."""
        raise NotImplementedError

    def members(self) -> Array:
        """Members of the projected sets that the multipliers point to: ϱ, normalised, pulled inside."""
        varrho = self.varrho(self.multipliers)
        return self.mean.pulled_inside(varrho / row_sum(varrho)[..., None])
