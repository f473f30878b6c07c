"""What nominal privacy terms share, whether they compare pairs of secrets or keep windows.

Their constraints σ > 0, with multipliers z, are linear, and the projected set has one member.
"""

from __future__ import annotations

from typing import TypeVar

from rldp.designer.engine.algebra.arrays import updated
from rldp.theory.namespace import Array
from rldp.theory.nested_mean import Variation

Term = TypeVar("Term", bound="LinearTerm")


class LinearTerm:
    """Slacks σ and their multipliers."""

    eta: Array
    sigma: Array
    z: Array

    shares: tuple[float, ...] = (1.0,)

    @property
    def proof(self) -> Array:
        return self.eta

    def prices(self) -> None:
        """Readers who know the value are promised nothing."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        return (self.sigma,)

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return (self.z,)

    def with_multipliers(self: Term, multipliers: tuple[Array, ...]) -> Term:
        return updated(self, z=multipliers[0])

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """How the constraints are curved along a step: not at all."""
        return None

    def cost_of(self, z: Array) -> Array:
        """What multipliers ``z`` add to the cost of each cell and output: (K, Y, |S|, U)."""
        raise NotImplementedError

    def privacy_cost(self) -> Array:
        """The same, for the multipliers as they are."""
        return self.cost_of(self.z)
