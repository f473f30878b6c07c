"""What the engine asks of a term: of privacy, of utility, and of the curvature of each.

A term knows its slacks and multipliers at one strictly private point. It is a value, and moving makes a new
one. A new kind of constraint is a class with the methods of :class:`PrivacyTerm`, some of which it can have
from :class:`LinearTerm` or :class:`RobustTerm`, and a line in :func:`rldp.designer.engine.path.privacy_term`.
Shapes: K problems, Y outputs, |S| secrets, U values, T ordered pairs of secrets, and M constraints σ > 0 of
each output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeGuard

from rldp.designer.engine.algebra.interface import Blocks, Coupling
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, namespace, row_sum, updated
from rldp.theory.model import Ball, DesignProblem
from rldp.theory.nested_mean import MeanPoint, NestedMean, Variation

__all__ = [
    "FewRanks",
    "LinearTerm",
    "PrivacyCurvature",
    "PrivacyTerm",
    "RobustTerm",
    "SecondOrder",
    "Start",
    "UtilityCurvature",
    "UtilityTerm",
    "WrittenOut",
    "has_few_ranks",
]


@dataclass(frozen=True)
class Start:
    """Where the path begins, and what a term may read of the problem.

    Attributes
    ----------
    problem : DesignProblem
    q : array (K, Y, |S|, U)
        The uniform protocol.
    mu : array (K,)
        What a slack times its multiplier shall be.
    settings : Settings
    """

    problem: DesignProblem
    q: Array
    mu: Array
    settings: Settings

    def array(self, x: Any) -> Array:
        """NumPy's array as one of the engine's library."""
        return namespace(self.q).asarray(x)

    @cached_property
    def private_centre(self) -> Array:
        """The centre of the privacy set: (K, |S|, U)."""
        return self.array(self.problem.private_centre)

    @cached_property
    def useful_centre(self) -> Array:
        """The centre of the utility set: (K, |S|, U), or (K, 1, U) where all secrets share a row."""
        centre = self.problem.useful_centre
        return self.array(centre.sum(axis=1, keepdims=True) if self.problem.epsilon_known == 0 else centre)

    @cached_property
    def e(self) -> Array:
        """E = e^ε of every ordered pair of secrets: (K, T), or (K, 1) where all are the same."""
        return namespace(self.q).exp(self.array(self.problem.pair_epsilon))

    def budget(self, ball: Ball) -> Array:
        """Budgets of the sets: (K, 1) or (K, T)."""
        return self.array(ball.budget)


class SecondOrder(NamedTuple):
    """A step, as the second derivatives of a term see it: along σ's curvature, with its change of z."""

    variation: Variation
    dz: Array


class PrivacyTerm(Protocol):
    """The privacy constraints of every output at a strictly private point."""

    @property
    def eta(self) -> Array:
        """Scalars that the term solves for beside Q: (K, Y, …), or (K, 0) for none."""

    @property
    def proof(self) -> Array:
        """Those of the scalars that prove privacy with Q."""

    @property
    def sigma(self) -> Array:
        """How far inside the constraints are, positive: (K, Y, M)."""

    @property
    def z(self) -> Array:
        """Multipliers of σ > 0: (K, Y, M)."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        """All that must stay positive, σ first: (K, Y, M, …) each."""

    @property
    def multipliers(self) -> tuple[Array, ...]:
        """Of the slacks, in their shapes."""

    @property
    def shares(self) -> tuple[float, ...]:
        """What a slack times its multiplier is on the central path, in units of μ, for each kind."""

    @property
    def cell_share(self) -> float:
        """The same for Q > 0 itself: 1, or less where other slacks imply it."""

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        """The same point with other multipliers."""

    def at(self, q: Array, eta: Array) -> Self:
        """The term at other Q (K, Y, |S|, U) and η, with the multipliers as they are."""

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """First-order change of the slacks along a step."""

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """How σ is curved along a step that moves the slacks so; None if it is linear."""

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Gradient of the Lagrangian in Q (K, Y, |S|, U) and in η, for the given multipliers.

        With ``second_order``, half its second derivative along that step is added.
        """

    def curvature(self, settings: Settings) -> PrivacyCurvature:
        """Newton's quadratic model here."""

    def privacy_cost(self) -> Array:
        """What the multipliers add to the cost of each cell and output, as they are: (K, Y, |S|, U)."""

    def members(self) -> Array:
        """Members of the projected sets that the multipliers point to: (K, Y, M, …, U)."""

    def weights(self) -> Array:
        """What the members weigh in a lower bound: (K, Y, M)."""

    def reduced_cost(self, members: Array) -> Array:
        """What those weights of ``members`` add to the cost of each cell and output: (K, Y, |S|, U)."""

    def prices(self) -> Array | None:
        """Prices γ of readers who know the value in a lower bound (K, Y, |S|, U); None if there are none."""


class PrivacyCurvature(Protocol):
    """Newton's quadratic model of a privacy term, in Q and η."""

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Change of the residual along a step: the Hessian, without any elimination."""

    def reduce(self, geta: Array) -> tuple[Array | float, Array]:
        """Eliminate η: what a residual in it means for Q, and the step it asks for by itself."""

    def expand(self, dq: Array, eta0: Array) -> Array:
        """The step in η that belongs to ``dq``."""

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """The model in Q alone, with the curvature ``barrier`` (K, Y, |S|, U) of Q > 0 added."""


class WrittenOut(PrivacyCurvature, Protocol):
    """A model that can be written out as a matrix for each output, and added to another's."""

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """The model in Q alone with ``barrier`` on its diagonal: (K, …, |S|U, |S|U) for some outputs."""


class FewRanks(PrivacyCurvature, Protocol):
    """A model that is a diagonal and a few ranks for each output."""

    def low_rank(self, barrier: Array) -> LowRankModel:
        """The model in Q alone with ``barrier`` on its diagonal, not yet factorised."""


def has_few_ranks(model: PrivacyCurvature) -> TypeGuard[FewRanks]:
    """Whether a model has few ranks; an instance check in every step took 5 % of a small design."""
    return hasattr(model, "low_rank")


class UtilityTerm(Protocol):
    r"""The objective as a function of :math:`v = \sum_y d_y Q_y`, at one point."""

    @classmethod
    def start(cls, at: Start, v: Array) -> Self:
        """The term where the path begins, for the expected distortion ``v`` (K, |S|U) of each cell."""

    @property
    def objective(self) -> Array:
        """(K,)."""

    @property
    def eta(self) -> Array:
        """Scalars that the term solves for beside Q: (K, 1), or (K, 0) for none."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        """All that must stay positive."""

    @property
    def multipliers(self) -> tuple[Array, ...]:
        """Of the slacks, in their shapes."""

    @property
    def shares(self) -> tuple[float, ...]:
        """What a slack times its multiplier is on the central path, in units of μ, for each kind."""

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        """The same point with other multipliers."""

    def at(self, v: Array, eta: Array) -> Self:
        """The term at other v (K, |S|U) and η, with the multipliers as they are."""

    def moves(self, distortion: Array, dq: Array, deta: Array) -> tuple[Array, ...]:
        """First-order change of the slacks along a step."""

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """How the objective is curved along a step that moves the slacks so; None if it is linear."""

    def residual(
        self, multipliers: tuple[Array, ...], variation: Variation | None = None
    ) -> tuple[Array, Array]:
        """π (K, |S|U) and the gradient in η; with a ``variation``, half their second derivative is added."""

    def curvature(self) -> UtilityCurvature | None:
        """Newton's quadratic model here; None if the objective is linear."""

    def member(self) -> Array:
        """The distribution that the lower bound uses: (K, |S|U)."""


class UtilityCurvature(Coupling, Protocol):
    """Newton's quadratic model of a utility term, in v and η; with η eliminated it couples the outputs."""

    def apply(self, dv: Array, deta: Array) -> tuple[Array, Array]:
        """Change of π and of the gradient in η along a step."""

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: what a residual in it means for v, and the step it asks for by itself."""

    def expand(self, dv: Array, eta0: Array) -> Array:
        """The step in η that belongs to ``dv``."""


class LinearTerm:
    """What nominal privacy terms share, whether they compare pairs of secrets or keep windows.

    Their constraints σ > 0, with multipliers z, are linear, and the projected set has one member.
    """

    eta: Array
    sigma: Array
    z: Array

    cell_share: float = 1.0
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

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
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


class RobustTerm:
    r"""What robust privacy terms share, whether they compare pairs of secrets or keep windows.

    A term has constraints :math:`\sigma > 0` that hold G at points :math:`p > 0`, with multipliers z and w.
    Stationarity sees it only through :math:`\varrho = z\,\nabla G + w`.
    """

    mean: NestedMean
    point: MeanPoint
    eta: Array
    sigma: Array
    z: Array
    w: Array

    cell_share: float = 1.0
    shares: tuple[float, ...] = (1.0, 1.0)

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

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
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
