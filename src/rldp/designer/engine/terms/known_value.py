r"""Constraints for readers who know the value, :math:`Q[s_1,u,y] \le K\,Q[s_2,u,y]`.

They are added to another privacy term. With a variable :math:`l_{uy}` for each value and output they are
windows,

.. math:: a = Q[s,u,y] - l_{uy} > 0, \qquad b = K l_{uy} - Q[s,u,y] > 0,

with multipliers α and β. Both are linear, and l is eliminated analytically. For κ = 0 see :mod:`.shared_row`.
See ``docs/theory.md``, 'Readers who know the value'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.algebra.low_rank_known import CoupledCells, LowRankKnown
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import SecondOrder, Start
from rldp.theory.arrays import Array, add_to_diagonal, namespace, on_path, reshape, updated
from rldp.theory.nested_mean import Variation

__all__ = ["KnownCurvature", "KnownValue"]

_HAIR = 2.0**-44  # subtracted from prices, so that rounding cannot make them too large


@dataclass(frozen=True)
class KnownValue:
    """The windows of every value and output; ``eta`` holds l."""

    factor: float  # K = e^κ
    q: Array  # (K, Y, S, U)
    eta: Array  # (K, Y, 1, U): l
    alpha: Array  # (K, Y, S, U)
    beta: Array  # (K, Y, S, U)

    cell_share: float = 1.0  # share of Q > 0, which the windows imply
    shares: tuple[float, ...] = (1.0, 1.0)

    @classmethod
    def start(cls, at: Start) -> KnownValue:
        """Return the term at the start of the path: the uniform protocol in the middle of its windows."""
        factor = math.exp(at.problem.epsilon_known)
        level, share = at.q[:, :, :1, :] / math.sqrt(factor), at.settings.known_cell_share
        term = cls(factor, at.q, level, at.q, at.q, share)
        above, below = term.slacks
        return updated(term, alpha=on_path(at.mu, above), beta=on_path(at.mu, below))

    @property
    def slacks(self) -> tuple[Array, ...]:
        """a and b: (K, Y, S, U)."""
        return self.q - self.eta, self.factor * self.eta - self.q

    @property
    def sigma(self) -> Array:
        return self.slacks[0]

    @property
    def z(self) -> Array:
        return self.alpha

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.alpha, self.beta

    @property
    def proof(self) -> Array:
        """An empty proof: the integers of a table suffice."""
        return self.eta[:, :0, 0, 0]

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> KnownValue:
        return updated(self, alpha=multipliers[0], beta=multipliers[1])

    def at(self, q: Array, eta: Array) -> KnownValue:
        return updated(self, q=q, eta=eta)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return dq - deta, self.factor * deta - dq

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return None: the windows are linear."""
        return None

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q and in l, for the given multipliers."""
        alpha, beta = multipliers
        return beta - alpha, namespace(alpha).sum(alpha - self.factor * beta, axis=2, keepdims=True)

    def curvature(self, settings: Settings) -> KnownCurvature:
        return KnownCurvature(self)

    def privacy_cost(self) -> Array:
        """Return the contribution of the multipliers to the cost of Q: (K, Y, |S|, U)."""
        return self.beta - self.alpha

    def members(self) -> Array:
        """Return an empty array: the constraints involve no set of distributions."""
        return self.eta[:, :0, 0, 0]

    def weights(self) -> Array:
        return self.eta[:, :0, 0, 0]

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the prices to the cost of Q: (K, Y, |S|, U)."""
        return self.prices()

    def prices(self) -> Array:
        """Return γ = β − α, with its positive part scaled down so that K Σ_s γ⁺ ≤ Σ_s γ⁻."""
        xp, gamma = namespace(self.q), self.beta - self.alpha
        charged, given = xp.clip(gamma, min=0.0), xp.clip(-gamma, min=0.0)
        total = self.factor * xp.sum(charged, axis=2, keepdims=True)
        most = (1 - _HAIR) * xp.sum(given, axis=2, keepdims=True)
        return charged * (most / xp.clip(xp.maximum(total, most), min=1e-300)) - given


@dataclass(frozen=True)
class KnownCurvature:
    r"""Newton's quadratic model of the windows, with l eliminated analytically.

    With :math:`A = \alpha/a` and :math:`B = \beta/b` it is :math:`A\,(dQ - dl)^2 + B\,(K\,dl - dQ)^2`.
    """

    term: KnownValue

    @cached_property
    def _stiffness(self) -> tuple[Array, Array]:
        """Return A and B: (K, Y, S, U)."""
        above, below = self.term.slacks
        return self.term.alpha / above, self.term.beta / below

    @cached_property
    def _cross(self) -> Array:
        """c = A + KB, the coupling of l and Q."""
        above, below = self._stiffness
        return above + self.term.factor * below

    @cached_property
    def _level(self) -> Array:
        """h = Σ_s (A + K²B), the curvature in l: (K, Y, 1, U)."""
        above, below = self._stiffness
        return namespace(above).sum(above + self.term.factor**2 * below, axis=2, keepdims=True)

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step, without elimination."""
        moves = zip(self._stiffness, self.term.moves(dq, deta), strict=True)
        return self.term.residual(tuple([-stiffness * move for stiffness, move in moves]))

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate l: return the effect of its residual on Q, and the step in l at dQ = 0."""
        eta0 = -geta / self._level
        return -self._cross * eta0, eta0

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the step in l that corresponds to ``dq``."""
        return eta0 + namespace(dq).sum(self._cross * dq, axis=2, keepdims=True) / self._level

    def blocks(self, barrier: Array, settings: Settings) -> DenseBlocks:
        """Return the model in Q, plus the curvature ``barrier`` of Q > 0."""
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """Return matrices (K, …, |S|U, |S|U) that link the cells of a value, with ``barrier`` added."""
        above, below = self._stiffness
        own = (barrier + above + below)[:, outputs, ...]
        xp, (k, some, secrets, values) = namespace(own), own.shape
        cross, n = self._cross[:, outputs, ...], secrets * values
        taken = cross / self._level[:, outputs, ...]
        entries = xp.zeros((k, some, n * n), dtype=own.dtype)
        for s in range(secrets):
            for t in range(secrets):
                start = s * values * n + t * values
                place = slice(start, start + (values - 1) * (n + 1) + 1, n + 1)
                entries[:, :, place] = -cross[:, :, s, :] * taken[:, :, t, :]
        return add_to_diagonal(reshape(entries, (k, some, n, n)), own)

    def beside(self, model: LowRankModel, settings: Settings) -> LowRankKnown:
        """Add this model to another one that has few ranks."""
        image, energy = self._scaling(model.free)
        model = replace(model, image=model.image + image, energy=model.energy + energy)
        return LowRankKnown.of(model, CoupledCells.of(model.d, *self._stiffness, self.term.factor), settings)

    def _scaling(self, free: Array) -> tuple[Array, Array]:
        """Return the contribution of the windows to the forces and the energy when an output is scaled up.

        The windows are homogeneous, so the forces for scaled Q and l are the multipliers; l is then
        eliminated.
        """
        xp, term = namespace(free), self.term
        unit = (free[:, :, 0, 0] / term.q[:, :, 0, 0])[..., None, None]
        above, below = term.slacks
        cost, missed = term.residual(term.multipliers)
        products = xp.sum(term.alpha * above + term.beta * below, axis=2, keepdims=True)
        energy = xp.sum(products - missed**2 / self._level, axis=(2, 3))
        return -unit * (cost + self._cross * missed / self._level), unit[:, :, 0, 0] ** 2 * energy
