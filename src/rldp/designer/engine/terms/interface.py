"""What the engine asks of a term: of privacy, of its curvature, and of the blocks a Newton step is made of.

A privacy term knows its slacks and multipliers at one strictly private point; it is a value, and moving
makes a new one. A new kind of constraint is a class with these methods and a line in ``path._start``.
Shapes: K problems, Y outputs, |S| secrets, U values, and M constraints σ > 0 of each output.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

from rldp.designer.engine.terms.utility import UtilityCurvature
from rldp.theory.namespace import Array
from rldp.theory.nested_mean import Variation

__all__ = ["Bend", "Blocks", "Border", "PrivacyCurvature", "PrivacyTerm"]


class Bend(NamedTuple):
    """A step, as the second derivatives of a term see it: along σ's curvature, with its change of z."""

    variation: Variation
    dz: Array


class PrivacyTerm(Protocol):
    """The privacy constraints of every output at a strictly private point."""

    @property
    def eta(self) -> Array:
        """Scalars that the term solves for beside Q: (K, Y, …), or (K, 0) for none."""

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

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> Self:
        """The same point with other multipliers."""

    def at(self, q: Array, eta: Array) -> Self:
        """The term at other Q (K, Y, |S|, U) and η, with the multipliers as they are."""

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """First-order change of the slacks along a step."""

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """How σ is curved along a step that moves the slacks so; None if it is linear."""

    def residual(self, multipliers: tuple[Array, ...], bend: Bend | None = None) -> tuple[Array, Array]:
        """Gradient of the Lagrangian in Q (K, Y, |S|, U) and in η, for the given multipliers.

        With a ``bend``, half its second derivative along that step is added.
        """

    def curvature(self) -> PrivacyCurvature:
        """Newton's quadratic model here."""

    def charge(self) -> Array:
        """What the multipliers add to the cost of each cell and output, as they are: (K, Y, |S|, U)."""

    def members(self) -> Array:
        """Members of the projected sets that the multipliers point to: (K, Y, M, …, U)."""

    def weights(self) -> Array:
        """What the members weigh in a lower bound: (K, Y, M)."""

    def reduced_cost(self, members: Array) -> Array:
        """What those weights of ``members`` add to the cost of each cell and output: (K, Y, |S|, U)."""


class PrivacyCurvature(Protocol):
    """Newton's quadratic model of a privacy term, in Q and η."""

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Change of the residual along a step: the Hessian, without any elimination."""

    def reduce(self, geta: Array) -> tuple[Array | float, Array]:
        """Eliminate η: what a residual in it means for Q, and the step it asks for by itself."""

    def expand(self, dq: Array, eta0: Array) -> Array:
        """The step in η that belongs to ``dq``."""

    def blocks(self, barrier: Array) -> Blocks:
        """The model in Q alone, with the curvature ``barrier`` (K, Y, |S|, U) of Q > 0 added."""


class Blocks(Protocol):
    """The matrices of the outputs, each of size |S|U, factorised."""

    def border(self, distortion: Array, utility: UtilityCurvature | None) -> Border:
        """How the outputs meet, for a ``distortion`` (Y, 1, U)."""


class Border(Protocol):
    """The outputs together: Σ Q is given, and with a robust utility they meet in v too."""

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n), n = |S|U."""
