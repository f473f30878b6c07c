r"""Protocols with one row for all secrets (κ = 0): :math:`Q[s,u,y] = q[u,y]`.

The unknowns are q. The wrapped privacy term gets the same row for every secret, and its derivatives in Q are
summed over the secrets. Nominal pairs need no wrapper, because their forms are summed once. See
``docs/theory.md``, 'Readers who know the value'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.algebra.interface import Blocks
from rldp.designer.engine.algebra.low_rank_pairs import LowRankPairs
from rldp.designer.engine.algebra.low_rank_windows import LowRankWindows
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import (
    PrivacyCurvature,
    PrivacyTerm,
    SecondOrder,
    WrittenOut,
    has_few_ranks,
)
from rldp.theory.arrays import Array, namespace, reshape, updated
from rldp.theory.nested_mean import Variation

__all__ = ["SharedRow"]


def _summed(x: Array) -> Array:
    """Sum over the secrets: (K, Y, S, U) → (K, Y, 1, U)."""
    return namespace(x).sum(x, axis=2, keepdims=True)


@dataclass(frozen=True)
class SharedRow:
    """A privacy term at a Q that is the same for all secrets."""

    others: PrivacyTerm
    secrets: int

    def _repeated(self, q: Array) -> Array:
        """Repeat for every secret: (K, Y, 1, U) → (K, Y, S, U)."""
        return namespace(q).concat([q] * self.secrets, axis=2)

    @property
    def eta(self) -> Array:
        return self.others.eta

    @property
    def proof(self) -> Array:
        """The η that prove privacy."""
        return self.others.proof

    @property
    def sigma(self) -> Array:
        return self.others.sigma

    @property
    def z(self) -> Array:
        return self.others.z

    @property
    def slacks(self) -> tuple[Array, ...]:
        return self.others.slacks

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.others.multipliers

    @property
    def cell_share(self) -> float:
        return self.others.cell_share

    @property
    def shares(self) -> tuple[float, ...]:
        return self.others.shares

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> SharedRow:
        return updated(self, others=self.others.with_multipliers(multipliers))

    def at(self, q: Array, eta: Array) -> SharedRow:
        return updated(self, others=self.others.at(self._repeated(q), eta))

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return self.others.moves(self._repeated(dq), deta)

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        return self.others.along(moves)

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in q and in η, for the given multipliers."""
        gq, geta = self.others.residual(multipliers, second_order)
        return _summed(gq), geta

    def curvature(self, settings: Settings) -> SharedCurvature:
        return SharedCurvature(self, self.others.curvature(settings))

    def privacy_cost(self) -> Array:
        """Return the contribution of the multipliers to the cost of q: (K, Y, 1, U)."""
        return _summed(self.others.privacy_cost())

    def members(self) -> Array:
        return self.others.members()

    def weights(self) -> Array:
        return self.others.weights()

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the members to the cost of q: (K, Y, 1, U)."""
        return _summed(self.others.reduced_cost(members))

    def prices(self) -> None:
        """Return None: the bound sums the costs of all secrets."""


@dataclass(frozen=True)
class SharedCurvature:
    """Newton's quadratic model of the wrapped term, summed over the secrets."""

    term: SharedRow
    others: PrivacyCurvature

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step, without elimination."""
        gq, geta = self.others.apply(self.term._repeated(dq), deta)
        return _summed(gq), geta

    def reduce(self, geta: Array) -> tuple[Array | float, Array]:
        """Eliminate η: return the effect of its residual on q, and the step in η at dq = 0."""
        from_eta, eta0 = self.others.reduce(geta)
        return from_eta if isinstance(from_eta, float) else _summed(from_eta), eta0

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the step in η that corresponds to ``dq``."""
        return self.others.expand(self.term._repeated(dq), eta0)

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """Return the model in q, plus the curvature ``barrier`` (K, Y, 1, U) of q > 0."""
        part = self.term._repeated(barrier / self.term.secrets)
        if has_few_ranks(self.others):
            model = self.others.low_rank(part).shared()
            return (LowRankPairs if model.linked else LowRankWindows).of(model, settings)
        return DenseBlocks.of(lambda outputs: self._matrix(part, outputs), barrier, settings)

    def _matrix(self, part: Array, outputs: slice) -> Array:
        """Return the wrapped model's matrices (K, …, |S|U, |S|U), summed to (K, …, U, U)."""
        matrix = cast(WrittenOut, self.others).matrix(part, outputs)
        (k, some, n, _), secrets = matrix.shape, self.term.secrets
        cells = reshape(matrix, (k, some, secrets, n // secrets, secrets, n // secrets))
        return namespace(matrix).sum(cells, axis=(2, 4))
