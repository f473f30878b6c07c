"""A privacy term combined with a linear constraint.

The slacks, multipliers and scalars of both are concatenated. If the first model has few ranks and the second
supports them, the low-rank form is kept. Otherwise both are assembled as dense matrices and added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.algebra.interface import Blocks
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import (
    PrivacyCurvature,
    PrivacyTerm,
    SecondOrder,
    WrittenOut,
    has_few_ranks,
)
from rldp.designer.engine.terms.known_value import KnownCurvature
from rldp.theory.arrays import Array, Layout, updated
from rldp.theory.nested_mean import Variation

__all__ = ["Together"]


@dataclass(frozen=True)
class Together:
    """``first``, which may be curved and provides the lower bound, and ``second``, which is linear."""

    first: PrivacyTerm
    second: PrivacyTerm

    @cached_property
    def _layout(self) -> Layout:
        return Layout.of((self.first.eta, self.second.eta))

    def _split(self, multipliers: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Split multipliers into those of the first term and those of the second."""
        end = len(self.first.slacks)
        return multipliers[:end], multipliers[end:]

    @property
    def eta(self) -> Array:
        return self._layout.join((self.first.eta, self.second.eta))

    @property
    def proof(self) -> Array:
        return self.first.proof

    @property
    def sigma(self) -> Array:
        return self.first.sigma

    @property
    def z(self) -> Array:
        return self.first.z

    @property
    def slacks(self) -> tuple[Array, ...]:
        return (*self.first.slacks, *self.second.slacks)

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return (*self.first.multipliers, *self.second.multipliers)

    @property
    def cell_share(self) -> float:
        return min(self.first.cell_share, self.second.cell_share)

    @property
    def shares(self) -> tuple[float, ...]:
        return (*self.first.shares, *self.second.shares)

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Together:
        one, other = self._split(multipliers)
        return updated(
            self, first=self.first.with_multipliers(one), second=self.second.with_multipliers(other)
        )

    def at(self, q: Array, eta: Array) -> Together:
        one, other = self._layout.split(eta)
        return updated(self, first=self.first.at(q, one), second=self.second.at(q, other))

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        one, other = self._layout.split(deta)
        return (*self.first.moves(dq, one), *self.second.moves(dq, other))

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        return self.first.along(self._split(moves)[0])

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        one, other = self._split(multipliers)
        (gq, geta), (more, extra) = self.first.residual(one, second_order), self.second.residual(other)
        return gq + more, self._layout.join((geta, extra))

    def curvature(self, settings: Settings) -> TogetherCurvature:
        other = self.second.curvature(settings)
        if not isinstance(other, KnownCurvature):
            settings = replace(settings, linked_share=0.0, device_linked_share=0.0)
        one = self.first.curvature(settings)
        return TogetherCurvature(one, cast(WrittenOut, other), self._layout)

    def privacy_cost(self) -> Array:
        return self.first.privacy_cost() + self.second.privacy_cost()

    def members(self) -> Array:
        return self.first.members()

    def weights(self) -> Array:
        return self.first.weights()

    def reduced_cost(self, members: Array) -> Array:
        return self.first.reduced_cost(members) + self.second.reduced_cost(self.second.members())

    def prices(self) -> Array | None:
        return self.second.prices()


@dataclass(frozen=True)
class TogetherCurvature:
    """The sum of two models, whose scalars are eliminated separately."""

    first: PrivacyCurvature
    second: WrittenOut
    layout: Layout

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        one, other = self.layout.split(deta)
        (gq, geta), (more, extra) = self.first.apply(dq, one), self.second.apply(dq, other)
        return gq + more, self.layout.join((geta, extra))

    def reduce(self, geta: Array) -> tuple[Array | float, Array]:
        one, other = self.layout.split(geta)
        (gq, eta0), (more, extra) = self.first.reduce(one), self.second.reduce(other)
        return gq + more, self.layout.join((eta0, extra))

    def expand(self, dq: Array, eta0: Array) -> Array:
        one, other = self.layout.split(eta0)
        return self.layout.join((self.first.expand(dq, one), self.second.expand(dq, other)))

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        if has_few_ranks(self.first) and isinstance(self.second, KnownCurvature):
            return self.second.beside(self.first.low_rank(barrier), settings)
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """Return the model for ``outputs`` as matrices (K, …, |S|U, |S|U), with ``barrier`` added."""
        first = cast(WrittenOut, self.first)
        return first.matrix(barrier, outputs) + self.second.matrix(0 * barrier, outputs)
