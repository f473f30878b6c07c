r"""Privacy terms: the constraints of one output on pairs of secrets, at a strictly private point.

For an output y and a pair (s1, s2) put :math:`x_1 = Q[s_1,:,y]`, :math:`x_2 = -E\,Q[s_2,:,y]`.

* nominal: :math:`\sigma = -\sum_i \hat P_{\cdot|s_i}\cdot x_i > 0`;
* robust: :math:`\sigma = G(p) - \eta_1 - \eta_2 > 0` with :math:`p_i = \eta_i - x_i > 0`.

z is the multiplier of σ > 0 and w that of p > 0. Stationarity sees a term only through
:math:`\varrho_i = z\,\nabla_i G + w_i` (nominal: :math:`z\,\hat P_{\cdot|s_i}`), which is z times a
member of the projected set; see ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldp.designer.engine.algebra.arrays import add_to_diagonal, on_path, updated
from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import SecondOrder, Start
from rldp.designer.engine.terms.linear import LinearTerm
from rldp.designer.engine.terms.pair_curvature import DenseCurvature, LowRankCurvature, has_few_ranks
from rldp.designer.engine.terms.pair_forms import Forms, forms_of
from rldp.designer.engine.terms.pair_index import Ends, PairIndex
from rldp.designer.engine.terms.robust import RobustTerm
from rldp.theory.namespace import Array, namespace, row_sum
from rldp.theory.nested_mean import MeanPoint, NestedMean
from rldp.theory.pairs import per_secret


@dataclass(frozen=True)
class NominalPairs(LinearTerm):
    """Linear constraints under the estimate; pairs with an unseen secret hold by definition."""

    forms: Forms
    conditionals: Array  # (K, 1, T, 2, U): zero in pairs that hold by definition
    rows: Array  # (K, 1, T, 1, ·): σ as a form of Q
    active: Array  # (K, 1, T)
    eta: Array  # (K, 0)
    sigma: Array  # (K, Y, T)
    z: Array  # (K, Y, T)

    @classmethod
    def start(cls, at: Start) -> NominalPairs:
        pairs, masses, conditionals, sign = _per_pair(at)
        xp, q = namespace(at.q), at.q
        active = xp.min(masses, axis=-1) > 0
        conditionals = xp.where(active[..., None, None], conditionals, 0.0)
        forms = forms_of(pairs, sign, q.shape[3], at.settings)
        rows = -xp.sum(forms.rows(conditionals), axis=-2, keepdims=True)
        sigma = _sigma(forms, rows, active, q)
        return cls(forms, conditionals, rows, active, q[:, :0, 0, 0], sigma, on_path(at.mu, sigma))

    def at(self, q: Array, eta: Array = None) -> NominalPairs:
        return updated(self, sigma=_sigma(self.forms, self.rows, self.active, q))

    def slope(self, dq: Array) -> Array:
        """Change of σ along a step."""
        return self.forms.values(self.rows, dq)[..., 0]

    def cost_of(self, z: Array) -> Array:
        """What multipliers ``z`` add to the cost of each cell and output: (K, Y, |S|, U)."""
        return -self.forms.total(self.rows, z[..., None])

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Gradient of the Lagrangian in Q and in η, for the given multipliers."""
        return self.cost_of(multipliers[0]), self.eta

    def curvature(self, settings: Settings) -> NominalCurvature:
        return NominalCurvature(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Change of the slacks along a step."""
        return (self.slope(dq),)

    def members(self) -> Array:
        """The only member of the projected set: the estimated conditionals."""
        xp = namespace(self.z)
        return xp.broadcast_to(self.conditionals, self.z.shape + self.conditionals.shape[-2:])

    def weights(self) -> Array:
        """What the members weigh in a lower bound."""
        return self.z

    def reduced_cost(self, members: Array) -> Array:
        """What the multipliers add to the cost of each cell and output: (K, Y, |S|, U)."""
        return self.privacy_cost()


@dataclass(frozen=True)
class NominalCurvature:
    """Newton's quadratic model of the linear constraints: a rank one per pair and output."""

    term: NominalPairs

    @property
    def _weight(self) -> Array:
        return self.term.z / self.term.sigma

    def blocks(self, barrier: Array, settings: Settings) -> DenseBlocks:
        """The model in Q, with the curvature ``barrier`` (K, Y, |S|, U) of Q > 0 added."""
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """The model with ``barrier`` on its diagonal: a matrix (K, …, |S|U, |S|U) for each of ``outputs``."""
        scaled = self._weight[:, outputs, :, None, None] * self.term.rows
        rows = namespace(scaled).broadcast_to(self.term.rows, scaled.shape)
        return add_to_diagonal(self.term.forms.gram(scaled, rows), barrier[:, outputs, ...])

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Change of the residual along a step."""
        return self.term.cost_of(-self._weight * self.term.slope(dq)), deta

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        return 0.0, geta

    def expand(self, dq: Array, eta0: Array) -> Array:
        return eta0


@dataclass(frozen=True)
class RobustPairs(RobustTerm):
    """Constraints over the whole projected set, with two scalars η per pair and output."""

    pairs: PairIndex
    forms: Forms
    ends: Ends
    mean: NestedMean  # of the pairs: (K, 1, T, 2, U)
    q: Array  # (K, Y, |S|, U)
    eta: Array  # (K, Y, T, 2)
    point: MeanPoint  # at p (K, Y, T, 2, U)
    sigma: Array  # (K, Y, T)
    z: Array  # (K, Y, T)
    w: Array  # (K, Y, T, 2, U)

    @classmethod
    def start(cls, at: Start) -> RobustPairs:
        """The term where the path begins.

        There v is constant and any η above it loses a fixed share of its excess, the deficit. The
        excess starts at the scale the solution will want, deficit^(−1/2), if half the slack allows.
        """
        xp, q, ball = namespace(at.q), at.q, at.problem.privacy
        assert ball is not None
        pairs, masses, conditionals, sign = _per_pair(at)
        mean = NestedMean(ball.lambda_, masses, conditionals, at.budget(ball)[:, None, :])
        total = row_sum(masses)
        share = masses / xp.where(total > 0, total, 1.0)[..., None]
        slack = ((at.e - 1) / q.shape[1])[:, None, :]
        excess = xp.minimum(0.5 * slack / mean.deficit, mean.deficit**-0.5)
        excess = xp.where(masses > 0, excess[..., None] * share, at.settings.start_unseen * slack[..., None])
        forms, ends = forms_of(pairs, sign, q.shape[3], at.settings), Ends.of(pairs, sign)
        x = ends.seen(q)
        eta = xp.max(x, axis=-1) + excess
        point = mean.at(eta[..., None] - x)
        sigma = point.value - row_sum(eta)
        z, w = on_path(at.mu, sigma), on_path(_kappa(pairs) * at.mu, point.p)
        return cls(pairs, forms, ends, mean, q, eta, point, sigma, z, w)

    @property
    def shares(self) -> tuple[float, ...]:
        return 1.0, _kappa(self.pairs)

    def at(self, q: Array, eta: Array) -> RobustPairs:
        point = self.mean.at(eta[..., None] - self.ends.seen(q))
        return updated(self, q=q, eta=eta, point=point, sigma=point.value - row_sum(eta))

    def to_q(self, varrho: Array) -> Array:
        """What entries (K, Y, T, 2, U) of the pairs mean for Q: (K, Y, |S|, U)."""
        return self.ends.back(varrho)

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Gradient of the Lagrangian in Q and in η, for the given multipliers.

        With a ``second_order``, half its second derivative along that step is added.
        """
        z, varrho = multipliers[0], self.varrho(multipliers, second_order)
        return self.to_q(varrho), z[..., None] - row_sum(varrho)

    def curvature(self, settings: Settings) -> DenseCurvature | LowRankCurvature:
        """With the ranks that pairs have where these are few, otherwise with matrices over all cells."""
        secrets, values = self.q.shape[2:]
        few = has_few_ranks(secrets, values, settings, on_device=type(self.q) is not np.ndarray)
        return LowRankCurvature.of(self) if few else DenseCurvature.of(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Change of the slacks along a step."""
        xp = namespace(dq)
        dp = deta[..., None] - self.ends.seen(dq)
        return row_sum(xp.vecdot(self.point.gradient, dp) - deta), dp

    def weights(self) -> Array:
        """What the members weigh in a lower bound."""
        return self.z

    def reduced_cost(self, members: Array) -> Array:
        """What the multipliers add to the cost of each cell and output: (K, Y, |S|, U)."""
        return self.to_q(self.z[..., None, None] * members)


def _per_pair(at: Start) -> tuple[PairIndex, Array, Array, Array]:
    """The pairs, their masses (K, 1, T, 2), conditionals (K, 1, T, 2, U) and signs (K, 1, T or 1, 2, 1)."""
    xp = namespace(at.q)
    pairs = PairIndex.of(at.q.shape[2], xp, at.settings)
    masses, conditionals = per_secret(at.private_centre)
    sign = xp.stack([xp.ones_like(at.e), -at.e], axis=-1)[:, None, :, :, None]
    ends = pairs.ends_of(xp.concat([masses[..., None], conditionals], axis=-1))[:, None, ...]
    return pairs, ends[..., 0], ends[..., 1:], sign


def _sigma(forms: Forms, rows: Array, active: Array, q: Array) -> Array:
    """Slacks of linear constraints; 1 where a pair holds by definition."""
    return namespace(q).where(active, forms.values(rows, q)[..., 0], 1.0)


def _kappa(pairs: PairIndex) -> float:
    """Of μ for each p: all that see a cell of Q together as much as the cell."""
    return 1 / (2 * (pairs.secrets - 1))
