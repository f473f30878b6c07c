r"""Utility terms: the objective as a function of :math:`v = \sum_y d(\cdot,y)\,Q[\cdot,\cdot,y]`.

* nominal: :math:`\hat P\cdot v`;
* robust: :math:`\min_\eta \eta - G(\eta - v)` over :math:`p = \eta - v > 0`, the support function of
  the set (one group that holds every cell), with multipliers w of p > 0.

The stationarity conditions depend on a term only through :math:`\pi = \nabla G + w`, a member of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rldp.designer.engine.terms.interface import Start
from rldp.theory.arrays import Array, flat, namespace, on_path, row_sum, updated
from rldp.theory.nested_mean import MeanPoint, NestedMean, Variation


def expected(distortion: Array, q: Array) -> Array:
    r"""Return the expected distortions :math:`v = \sum_y d_y Q_y`: (K, |S|U) for Q (K, Y, |S|, U)."""
    return flat(namespace(q).sum(distortion * q, axis=1))


@dataclass(frozen=True)
class NominalUtility:
    """Expected distortion under the estimate."""

    estimate: Array  # (K, |S|U)
    eta: Array  # (K, 0)
    objective: Array  # (K,)

    slacks: tuple[Array, ...] = ()
    multipliers: tuple[Array, ...] = ()
    shares: tuple[float, ...] = ()

    @classmethod
    def start(cls, at: Start, v: Array) -> NominalUtility:
        cells = flat(at.useful_centre)
        return cls(cells, cells[:, :0], cells[:, 0]).at(v)

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> NominalUtility:
        return self

    def at(self, v: Array, eta: Array = None) -> NominalUtility:
        xp = namespace(v)
        return updated(self, objective=xp.vecdot(self.estimate, v))

    def residual(
        self, multipliers: tuple[Array, ...], variation: Variation | None = None
    ) -> tuple[Array, Array]:
        """Return π and the gradient in η."""
        return self.estimate, self.eta

    def curvature(self) -> None:
        """Return None: a linear objective has no curvature."""

    def moves(self, distortion: Array, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return ()

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return None: the objective is linear."""
        return None

    def member(self) -> Array:
        """Return the distribution that the lower bound uses: (K, |S|U)."""
        return self.estimate


@dataclass(frozen=True)
class RobustUtility:
    """Largest expected distortion over a set."""

    mean: NestedMean  # one group of |S|U cells: (K, 1, |S|U)
    eta: Array  # (K, 1)
    point: MeanPoint  # at p (K, 1, |S|U)
    objective: Array  # (K,)
    w: Array  # (K, 1, |S|U)

    shares: tuple[float, ...] = (1.0,)

    @classmethod
    def start(cls, at: Start, v: Array) -> RobustUtility:
        """Return the term at the start of the path, with η at the scale expected at the solution."""
        xp, ball = namespace(v), at.problem.utility
        assert ball is not None
        cells = flat(at.useful_centre)[:, None, :]
        mean = NestedMean(ball.lambda_, xp.ones_like(cells[..., 0]), cells, at.budget(ball)[:, 0])
        spread = xp.max(v, axis=-1) - xp.min(v, axis=-1)
        eta = (xp.max(v, axis=-1) + (spread + at.settings.start_spread) * mean.deficit**-0.5)[:, None]
        point = mean.at(eta[..., None] - v[:, None, :])
        return cls(mean, eta, point, eta[:, 0] - point.value, on_path(at.mu, point.p))

    @property
    def slacks(self) -> tuple[Array, ...]:
        return (self.point.p,)

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return (self.w,)

    def with_multipliers(self, multipliers: tuple[Array, ...]) -> RobustUtility:
        return updated(self, w=multipliers[0])

    def at(self, v: Array, eta: Array) -> RobustUtility:
        point = self.mean.at(eta[..., None] - v[:, None, :])
        return updated(self, eta=eta, point=point, objective=eta[:, 0] - point.value)

    def residual(
        self, multipliers: tuple[Array, ...], variation: Variation | None = None
    ) -> tuple[Array, Array]:
        """Return π and the gradient in η, plus half their second derivative for a ``variation``."""
        gradient = self.point.gradient if variation is None else variation.bent_gradient(1.0, 0.0, 1.0)
        pi = (gradient + multipliers[0])[:, 0, :]
        return pi, 1 - row_sum(pi)[:, None]

    def curvature(self) -> RobustUtilityCurvature:
        return RobustUtilityCurvature.of(self)

    def moves(self, distortion: Array, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return (deta[..., None] - expected(distortion, dq)[:, None, :],)

    def along(self, moves: tuple[Array, ...]) -> Variation | None:
        """Return the curvature of the objective along a step with these ``moves`` of the slacks."""
        return self.point.along(moves[0])

    def member(self) -> Array:
        """Return the distribution that the lower bound uses, pulled inside the set: (K, |S|U)."""
        pi = self.point.gradient + self.w
        return self.mean.pulled_inside(pi / row_sum(pi)[..., None])[:, 0, :]


@dataclass(frozen=True)
class RobustUtilityCurvature:
    """Newton's quadratic model of the robust objective in v, with η eliminated analytically."""

    term: RobustUtility
    a: Array  # (K, |S|U)
    diagonal: Array  # (K, |S|U)
    stiffness: Array  # (K, 1, |S|U): w/p
    within: Array  # (K,): A, or γ of windows
    eta_curvature: Array  # (K,)

    @classmethod
    def of(cls, term: RobustUtility) -> RobustUtilityCurvature:
        point = term.point
        within = point.value * (1 - point.rho)
        stiffness = term.w * point.inverse
        deviation = point.inverse - row_sum(point.beta)[..., None]
        a_beta = within[:, None, None] * point.beta
        variance = row_sum(a_beta * point.p * deviation**2 + stiffness)
        a = a_beta * deviation + stiffness
        diagonal = a_beta * point.inverse + stiffness
        return cls(term, a[:, 0, :], diagonal[:, 0, :], stiffness, within, variance[:, 0])

    def times(self, matrix: Array) -> Array:
        """Multiply the model in v by ``matrix`` (K, |S|U, ·), as a diagonal minus two ranks."""
        xp, (rows, weighted) = namespace(matrix), self._ranks
        return self.diagonal[..., None] * matrix - xp.matmul(weighted, xp.matmul(rows, matrix))

    @cached_property
    def _ranks(self) -> tuple[Array, Array]:
        """The two ranks as rows (K, 2, |S|U), and as columns (K, |S|U, 2) with their weights."""
        xp = namespace(self.a)
        rows = xp.stack([self.term.point.beta[:, 0, :], self.a], axis=-2)
        weights = xp.stack([self.within, 1 / self.eta_curvature], axis=-1)
        return rows, xp.matrix_transpose(weights[..., None] * rows)

    def compliance(self) -> tuple[Array, Array, Array]:
        r"""Return the response of v to forces F, before elimination of η: 1/D and β/D (K, |S|U), and δ (K,).

        :math:`v - \eta = D^{-1}F + D^{-1}\beta\,c` with :math:`\delta c = \beta\cdot D^{-1}F`; see
        ``docs/theory.md``, 'Windows'.
        """
        point = self.term.point
        beta_over_d = point.beta[:, 0, :] / self.diagonal
        delta = row_sum((point.omega * self.stiffness)[:, 0, :] / self.diagonal) / self.within
        return 1 / self.diagonal, beta_over_d, delta

    def apply(self, dv: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of π and of the gradient in η along a step."""
        term = self.term
        dp = deta[..., None] - dv[:, None, :]
        pi = term.point.gradient * term.point.along(dp).log_gradient_slope
        pi = pi - self.stiffness * dp
        return pi[:, 0, :], -row_sum(pi)

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: return the effect of its residual on v, and the step in η at dv = 0."""
        eta0 = -geta / self.eta_curvature[:, None]
        return -self.a * eta0, eta0

    def expand(self, dv: Array, eta0: Array) -> Array:
        """Return the η step that corresponds to ``dv``."""
        xp = namespace(dv)
        return eta0 + (xp.vecdot(self.a, dv) / self.eta_curvature)[:, None]
