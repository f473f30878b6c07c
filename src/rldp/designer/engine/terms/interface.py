"""The interfaces of privacy and utility terms, and of their curvatures.

A term holds its slacks and multipliers at one strictly private point. It is immutable: a step returns a new
term. To add a kind of constraint, write a class with the methods of :class:`PrivacyTerm` and add a line to
:func:`rldp.designer.engine.path.privacy_term`; :class:`LinearTerm` and :class:`RobustTerm` implement some of
the methods.
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
    """The start of the path, and the data of the problem that terms may read.

    Attributes
    ----------
    problem : DesignProblem
    q : array (K, Y, |S|, U)
        The uniform protocol.
    mu : array (K,)
        Target for the product of a slack and its multiplier.
    settings : Settings
    """

    problem: DesignProblem
    q: Array
    mu: Array
    settings: Settings

    def array(self, x: Any) -> Array:
        """Convert a NumPy array to the engine's array library."""
        return namespace(self.q).asarray(x)

    @cached_property
    def private_centre(self) -> Array:
        """The centre of the privacy set: (K, |S|, U)."""
        return self.array(self.problem.private_centre)

    @cached_property
    def useful_centre(self) -> Array:
        """The centre of the utility set: (K, |S|, U), or (K, 1, U) if all secrets share a row."""
        centre = self.problem.useful_centre
        return self.array(centre.sum(axis=1, keepdims=True) if self.problem.epsilon_known == 0 else centre)

    @cached_property
    def e(self) -> Array:
        """E = e^ε of every ordered pair of secrets: (K, T), or (K, 1) if all are equal."""
        return namespace(self.q).exp(self.array(self.problem.pair_epsilon))

    def budget(self, ball: Ball) -> Array:
        """Return the budgets of the sets: (K, 1) or (K, T)."""
        return self.array(ball.budget)


class SecondOrder(NamedTuple):
    """The inputs for second derivatives of a term along a step: the curvature of σ and the change of z."""

    variation: Variation
    dz: Array


class PrivacyTerm(Protocol):
    """The privacy constraints of every output at a strictly private point."""

    @property
    def eta(self) -> Array:
        """Scalar unknowns of the term besides Q: (K, Y, …), or (K, 0) for none."""

    @property
    def proof(self) -> Array:
        """The scalars that prove privacy together with Q."""

    @property
    def sigma(self) -> Array:
        """Slacks of the constraints, positive: (K, Y, M)."""

    @property
    def z(self) -> Array:
        """Multipliers of σ > 0: (K, Y, M)."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        """All slacks, which must stay positive, σ first: (K, Y, M, …) each."""

    @property
    def multipliers(self) -> tuple[Array, ...]:
        """Multipliers of the slacks, in the same shapes."""

    @property
    def shares(self) -> tuple[float, ...]:
        """Product of a slack and its multiplier on the central path, in units of μ, for each kind."""

    @property
    def cell_share(self) -> float:
        """The same for Q > 0 itself: 1, or less if other slacks imply it."""

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        """Return the term at the same point with other multipliers."""

    def at(self, q: Array, eta: Array) -> Self:
        """Return the term at another Q (K, Y, |S|, U) and η, with unchanged multipliers."""

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the first-order change of the slacks along a step."""

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return the curvature of σ along a step with these ``moves`` of the slacks; None if σ is linear."""

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q (K, Y, |S|, U) and in η, for the given multipliers.

        If ``second_order`` is given, half the second derivative along that step is added.
        """

    def curvature(self, settings: Settings) -> PrivacyCurvature:
        """Return Newton's quadratic model at this point."""

    def privacy_cost(self) -> Array:
        """Return the contribution of the current multipliers to the cost of Q: (K, Y, |S|, U)."""

    def members(self) -> Array:
        """Return the members of the projected sets given by the multipliers: (K, Y, M, …, U)."""

    def weights(self) -> Array:
        """Return the weights of the members in a lower bound: (K, Y, M)."""

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the weighted ``members`` to the cost of Q: (K, Y, |S|, U)."""

    def prices(self) -> Array | None:
        """Return the prices γ for readers who know the value in a lower bound (K, Y, |S|, U), or None."""


class PrivacyCurvature(Protocol):
    """Newton's quadratic model of a privacy term, in Q and η."""

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step: the full Hessian, without elimination."""

    def reduce(self, geta: Array) -> tuple[Array | float, Array]:
        """Eliminate η: return the effect of its residual on Q, and the step in η at dQ = 0."""

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the step in η that corresponds to ``dq``."""

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, |S|, U) of Q > 0."""


class WrittenOut(PrivacyCurvature, Protocol):
    """A model that can be assembled as a dense matrix per output, and added to another model."""

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """Return the model in Q, with ``barrier`` on its diagonal: (K, …, |S|U, |S|U) for ``outputs``."""


class FewRanks(PrivacyCurvature, Protocol):
    """A model of the form diagonal plus low rank for each output."""

    def low_rank(self, barrier: Array) -> LowRankModel:
        """Return the model in Q with ``barrier`` on its diagonal, before factorisation."""


def has_few_ranks(model: PrivacyCurvature) -> TypeGuard[FewRanks]:
    """Return whether a model has few ranks. It avoids isinstance, which took 5 % of a small design."""
    return hasattr(model, "low_rank")


class UtilityTerm(Protocol):
    r"""The objective as a function of :math:`v = \sum_y d_y Q_y`, at one point."""

    @classmethod
    def start(cls, at: Start, v: Array) -> Self:
        """Return the term at the start of the path, for the expected distortions ``v`` (K, |S|U)."""

    @property
    def objective(self) -> Array:
        """Value of the objective: (K,)."""

    @property
    def eta(self) -> Array:
        """Scalar unknowns of the term besides Q: (K, 1), or (K, 0) for none."""

    @property
    def slacks(self) -> tuple[Array, ...]:
        """All slacks, which must stay positive."""

    @property
    def multipliers(self) -> tuple[Array, ...]:
        """Multipliers of the slacks, in the same shapes."""

    @property
    def shares(self) -> tuple[float, ...]:
        """Product of a slack and its multiplier on the central path, in units of μ, for each kind."""

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        """Return the term at the same point with other multipliers."""

    def at(self, v: Array, eta: Array) -> Self:
        """Return the term at another v (K, |S|U) and η, with unchanged multipliers."""

    def moves(self, distortion: Array, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the first-order change of the slacks along a step."""

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return the curvature of the objective along a step with these ``moves``; None if it is linear."""

    def residual(
        self, multipliers: tuple[Array, ...], variation: Variation | None = None
    ) -> tuple[Array, Array]:
        """Return π (K, |S|U) and the gradient in η, plus half their second derivative for a ``variation``."""

    def curvature(self) -> UtilityCurvature | None:
        """Return Newton's quadratic model at this point; None if the objective is linear."""

    def member(self) -> Array:
        """Return the distribution that the lower bound uses: (K, |S|U)."""


class UtilityCurvature(Coupling, Protocol):
    """Newton's quadratic model of a utility term in v and η; with η eliminated, it couples the outputs."""

    def apply(self, dv: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of π and of the gradient in η along a step."""

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: return the effect of its residual on v, and the step in η at dv = 0."""

    def expand(self, dv: Array, eta0: Array) -> Array:
        """Return the step in η that corresponds to ``dv``."""


class Term:
    """Base class of most privacy terms: η is the proof, and nothing concerns readers who know the value."""

    eta: Array

    cell_share: float = 1.0

    @property
    def proof(self) -> Array:
        return self.eta

    def prices(self) -> None:
        """Return None: there are no constraints for readers who know the value."""


class LinearTerm(Term):
    """Base class of nominal privacy terms, for pairs of secrets and for windows.

    The constraints σ > 0, with multipliers z, are linear, and the projected set has one member.
    """

    sigma: Array
    z: Array

    shares: tuple[float, ...] = (1.0,)

    @property
    def slacks(self) -> tuple[Array, ...]:
        return (self.sigma,)

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return (self.z,)

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        return updated(self, z=multipliers[0])

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return None: the constraints are linear."""
        return None

    def cost_of(self, z: Array) -> Array:
        """Return the contribution of multipliers ``z`` to the cost of Q: (K, Y, |S|, U)."""
        raise NotImplementedError

    def privacy_cost(self) -> Array:
        """Return the contribution of the current multipliers."""
        return self.cost_of(self.z)


class RobustTerm(Term):
    r"""Base class of robust privacy terms, for pairs of secrets and for windows.

    The constraints :math:`\sigma > 0` contain G at points :math:`p > 0`; the multipliers are z and w. The
    stationarity conditions depend on the term only through :math:`\varrho = z\,\nabla G + w`.
    """

    mean: NestedMean
    point: MeanPoint
    sigma: Array
    z: Array
    w: Array

    shares: tuple[float, ...] = (1.0, 1.0)

    @property
    def slacks(self) -> tuple[Array, ...]:
        return self.sigma, self.point.p

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.z, self.w

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        return updated(self, z=multipliers[0], w=multipliers[1])

    def varrho(self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None) -> Array:
        """Return ϱ for the given multipliers, plus half its second derivative along a step."""
        z, w = multipliers
        if second_order is None:
            return z[..., None, None] * self.point.gradient + w
        z, dz, z_now = (x[..., None, None] for x in (z, second_order.dz, self.z))
        return second_order.variation.bent_gradient(z, dz, z_now) + w

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return the curvature of the constraints along a step with these ``moves`` of the slacks."""
        return self.point.along(moves[1])

    def privacy_cost(self) -> Array:
        """Return the contribution of the current multipliers to the cost of Q: (K, Y, |S|, U)."""
        return self.to_q(self.varrho(self.multipliers))

    def to_q(self, varrho: Array) -> Array:
        """Map entries of ϱ to Q: (K, Y, |S|, U)."""
        raise NotImplementedError

    def members(self) -> Array:
        """Return the members of the projected sets given by the multipliers: ϱ, normalised, pulled inside."""
        varrho = self.varrho(self.multipliers)
        return self.mean.pulled_inside(varrho / row_sum(varrho)[..., None])
