r"""Privacy terms for pairs: the constraints of every output on pairs of secrets, at a strictly private point.

For an output y and a pair (s1, s2) put :math:`x_1 = Q[s_1,:,y]`, :math:`x_2 = -E\,Q[s_2,:,y]`.

* nominal: :math:`\sigma = -\sum_i \hat P_{\cdot|s_i}\cdot x_i > 0`;
* robust: :math:`\sigma = G(p) - \eta_1 - \eta_2 > 0` with :math:`p_i = \eta_i - x_i > 0`.

z is the multiplier of σ > 0 and w that of p > 0. The stationarity conditions depend on a term only through
:math:`\varrho_i = z\,\nabla_i G + w_i` (nominal: :math:`z\,\hat P_{\cdot|s_i}`), which is z times a member
of the projected set; see ``docs/theory.md``, 'The engine'.

In Newton's quadratic model of the robust constraints, η is eliminated analytically. A pair contributes
:math:`\mathrm{diag}(D_i)` in :math:`x_i` and a quadratic form in the four numbers
:math:`b_i = \beta_i\cdot x_i` and :math:`\alpha_i = a_i\cdot x_i`; the step in η depends on the same four
numbers. The model is stored as one dense matrix per output, or in low-rank form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.algebra.interface import Blocks
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.algebra.low_rank_pairs import LowRankPairs
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import LinearTerm, RobustTerm, SecondOrder, Start
from rldp.designer.engine.terms.pair_index import Ends, Forms, PairIndex, forms_of
from rldp.theory.arrays import (
    Array,
    add_to_diagonal,
    apply,
    diagonal_matrix,
    namespace,
    on_path,
    per_secret,
    reshape,
    row_sum,
    updated,
)
from rldp.theory.nested_mean import MeanPoint, NestedMean


def has_few_ranks(secrets: int, values: int, settings: Settings, *, on_device: bool = False) -> bool:
    """Return whether the low-rank form of pairs, of rank four each, is faster than dense matrices."""
    ranks = 4 * secrets * (secrets - 1)
    share = settings.device_linked_share if on_device else settings.linked_share
    return ranks + settings.linked_more <= share * secrets * values


@dataclass(frozen=True)
class EtaModel:
    r"""The model of a pair in η: :math:`\eta\cdot V\eta + |M\eta - Nb|^2 - 2\eta\cdot\alpha`.

    Apart from variances and D, the model is a square. Its rows are the curvature of G between the ends, and
    σ.
    """

    variance: Array  # (K, Y, T, 2): V
    m: Array  # (K, Y, T, 2, 2): M
    n: Array  # (K, Y, T, 2, 2): N
    within: Array  # (K, Y, T, 2): A, the curvature of G to subtract along β


@dataclass(frozen=True)
class RobustCurvature:
    """Base class of the dense and the low-rank model."""

    term: RobustPairs
    ratio: Array  # (K, Y, T): z/σ
    stiffness: Array  # (K, Y, T, 2, U): w/p
    diagonal: Array  # (K, Y, T, 2, U): D
    a: Array  # (K, Y, T, 2, U): α = a·x

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step: the full Hessian, without elimination."""
        term = self.term
        dsigma, dp = term.moves(dq, deta)
        dz = -self.ratio * dsigma
        slope = term.z[..., None, None] * term.point.along(dp).log_gradient_slope + dz[..., None, None]
        dvarrho = term.point.gradient * slope - self.stiffness * dp
        return term.to_q(dvarrho), dz[..., None] - row_sum(dvarrho)


def _modelled(term: RobustPairs) -> tuple[RobustCurvature, EtaModel]:
    """Return the fields of the base class, and the model of η."""
    point, z = term.point, term.z
    xp = namespace(z)
    slope = point.value[..., None] * point.tau  # ∂G/∂b
    within = (1 - point.rho) * z[..., None] * slope
    between = (1 - point.theta) * z * slope[..., 0] * point.tau[..., 1]
    ratio = z / term.sigma
    r = row_sum(point.beta)
    deviation = point.inverse - r[..., None]
    stiffness = term.w * point.inverse
    a_beta = within[..., None] * point.beta
    spread = a_beta * deviation
    variance = xp.vecdot(spread, point.p * deviation) + row_sum(stiffness)
    opposed = xp.sqrt(between)[..., None] * xp.asarray([1.0, -1.0], dtype=z.dtype)
    steep = xp.sqrt(ratio)[..., None]
    m = xp.stack([opposed * r, steep * (slope * r - 1)], axis=-2)
    n = xp.stack([opposed, steep * slope], axis=-2)
    common = RobustCurvature(term, ratio, stiffness, a_beta * point.inverse + stiffness, spread + stiffness)
    return common, EtaModel(variance, m, n, within)


@dataclass(frozen=True)
class DenseCurvature(RobustCurvature):
    r"""The model as a dense matrix per output, assembled from rows that are forms of Q.

    A pair contributes the quadratic form ``base`` in b, less the effect of eliminating η: with the cross term
    :math:`-d\eta\cdot Cx` and the Hessian H in η, this is :math:`Cx\cdot H^{-1}Cx`.
    """

    inverse: Array  # (K, Y, T, 2, 2): H⁻¹
    base: Array  # (K, Y, T, 2, 2)
    beta: Array  # (K, Y, T, 2, ·): rows b
    cross: Array  # (K, Y, T, 2, ·): rows C
    reply: Array  # (K, Y, T, 2, ·): rows H⁻¹C

    @classmethod
    def of(cls, term: RobustPairs) -> DenseCurvature:
        common, eta = _modelled(term)
        xp, transposed = namespace(eta.m), namespace(eta.m).matrix_transpose(eta.m)
        inverse = _inverse(eta, xp.matmul(transposed, eta.m))
        beta = term.forms.rows(term.point.beta)
        cross = xp.matmul(xp.matmul(transposed, eta.n), beta) + term.forms.rows(common.a)
        base = xp.matmul(xp.matrix_transpose(eta.n), eta.n) - diagonal_matrix(eta.within)
        reply = xp.matmul(inverse, cross)
        return cls(**vars(common), inverse=inverse, base=base, beta=beta, cross=cross, reply=reply)

    def blocks(self, barrier: Array, settings: Settings) -> DenseBlocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, |S|, U) of Q > 0."""
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """Return the model for ``outputs`` as matrices (K, …, |S|U, |S|U), with ``barrier`` added."""
        beta, cross, reply = (x[:, outputs, ...] for x in (self.beta, self.cross, self.reply))
        xp, term = namespace(beta), self.term
        left = xp.concat([beta, cross], axis=-2)
        right = xp.concat([xp.matmul(self.base[:, outputs, ...], beta), -reply], axis=-2)
        diagonal = barrier[:, outputs, ...] + term.ends.squared_back(self.diagonal[:, outputs, ...])
        return add_to_diagonal(term.forms.gram(left, right), diagonal)

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: return the effect of its residual on Q, and the step in η at dQ = 0."""
        return self.term.forms.total(self.reply, geta), -apply(self.inverse, geta)

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the η step that corresponds to ``dq``."""
        return eta0 + self.term.forms.values(self.reply, dq)


@dataclass(frozen=True)
class LowRankCurvature(RobustCurvature):
    """The model in low-rank form, for many values and few secrets."""

    kernel: Array  # (K, Y, T, 4, 4): of (b₁, b₂, α₁, α₂); its last two rows give −dη

    @classmethod
    def of(cls, term: RobustPairs) -> LowRankCurvature:
        common, eta = _modelled(term)
        return cls(**vars(common), kernel=_kernel(eta))

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, |S|, U) of Q > 0."""
        return LowRankPairs.of(self.low_rank(barrier), settings)

    def low_rank(self, barrier: Array) -> LowRankModel:
        """Return the same before factorisation."""
        xp, term = namespace(barrier), self.term
        signed = [term.pairs.per_secret(term.ends.sign * x) for x in (term.point.beta, self.a)]
        vectors = xp.matrix_transpose(xp.concat(signed, axis=3))
        d = barrier + term.ends.squared_back(self.diagonal)
        kernel = term.pairs.links(self.kernel)
        return LowRankModel(d, vectors, kernel, *self._scaling(barrier), linked=True)

    def _scaling(self, barrier: Array) -> tuple[Array, Array, Array]:
        """Return Q, the forces and the energy of the direction that scales an output up."""
        term = self.term
        gradient, slope = term.residual(term.multipliers)
        forces, reply = self.reduce(slope)
        multiplier = barrier * term.q
        products = row_sum(term.z * term.sigma + row_sum(row_sum(term.w * term.point.p) + slope * reply))
        energy = products + namespace(barrier).sum(multiplier * term.q, axis=(2, 3))
        return term.q, multiplier - gradient - forces, energy

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: return the effect of its residual on Q, and the step in η at dQ = 0."""
        weights = apply(self.kernel[..., :, 2:], geta)[..., None]
        dvarrho = weights[..., :2, :] * self.term.point.beta + weights[..., 2:, :] * self.a
        return -self.term.to_q(dvarrho), apply(self.kernel[..., 2:, 2:], geta)

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the η step that corresponds to ``dq``."""
        xp, x = namespace(dq), self.term.ends.seen(dq)
        numbers = xp.concat([xp.vecdot(self.term.point.beta, x), xp.vecdot(self.a, x)], axis=-1)
        return eta0 - apply(self.kernel[..., 2:, :], numbers)


def _inverse(eta: EtaModel, square: Array) -> Array:
    """Return (V + MᵀM)⁻¹ for 2×2 matrices, MᵀM = ``square``, with no cancellation in the determinant."""
    xp, m = namespace(square), eta.m
    v0, v1 = eta.variance[..., 0], eta.variance[..., 1]
    h00, h01, h11 = v0 + square[..., 0, 0], square[..., 0, 1], v1 + square[..., 1, 1]
    area = m[..., 0, 0] * m[..., 1, 1] - m[..., 0, 1] * m[..., 1, 0]
    determinant = v0 * h11 + v1 * square[..., 0, 0] + area**2
    adjugate = xp.stack([h11, -h01, -h01, h00], axis=-1) / determinant[..., None]
    return reshape(adjugate, m.shape)


def _kernel(eta: EtaModel) -> Array:
    r"""Return the kernel in (b₁, b₂, α₁, α₂) after elimination of η: (K, Y, T, 4, 4).

    With :math:`W = (1 + MV^{-1}M^\top)^{-1} = LL^\top` it is :math:`N^\top WN - \mathrm{diag}(within)` in b,
    :math:`-V^{-1}M^\top WN` between α and b, and :math:`-(V + M^\top M)^{-1}` in α. This avoids differences
    of large numbers, however steep σ is.
    """
    xp, m, softness = namespace(eta.m), eta.m, 1 / eta.variance
    transposed = xp.matrix_transpose(m)
    soft = xp.matmul(m * softness[..., None, :], transposed)
    area = m[..., 0, 0] * m[..., 1, 1] - m[..., 0, 1] * m[..., 1, 0]
    last = 1 + soft[..., 1, 1]
    determinant = soft[..., 0, 0] + last + area**2 * softness[..., 0] * softness[..., 1]
    first = xp.sqrt(last / determinant)
    second = -soft[..., 0, 1] / (determinant * first)
    factor = reshape(xp.stack([first, 0 * first, second, last**-0.5], axis=-1), m.shape)
    root = xp.matmul(xp.matrix_transpose(factor), eta.n)
    bb = xp.matmul(xp.matrix_transpose(root), root) - diagonal_matrix(eta.within)
    ab = -softness[..., None] * xp.matmul(transposed, xp.matmul(factor, root))
    aa = -_inverse(eta, xp.matmul(transposed, m))
    upper, lower = [bb, xp.matrix_transpose(ab)], [ab, aa]
    return xp.concat([xp.concat(upper, axis=-1), xp.concat(lower, axis=-1)], axis=-2)


@dataclass(frozen=True)
class NominalPairs(LinearTerm):
    """Linear constraints under the estimate; pairs with an unseen secret are satisfied by definition.

    If all secrets share a row (κ = 0), |S| is replaced by 1 in the shapes.
    """

    forms: Forms
    conditionals: Array  # (K, 1, T, 2, U): zero for pairs that are satisfied by definition
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
        if at.problem.epsilon_known == 0:  # Q is one row for all secrets
            forms, q = forms.shared(), q[:, :, :1, :]
        rows = -xp.sum(forms.rows(conditionals), axis=-2, keepdims=True)
        sigma = _sigma(forms, rows, active, q)
        return cls(forms, conditionals, rows, active, q[:, :0, 0, 0], sigma, on_path(at.mu, sigma))

    def at(self, q: Array, eta: Array = None) -> NominalPairs:
        return updated(self, sigma=_sigma(self.forms, self.rows, self.active, q))

    def slope(self, dq: Array) -> Array:
        """Return the change of σ along a step."""
        return self.forms.values(self.rows, dq)[..., 0]

    def cost_of(self, z: Array) -> Array:
        """Return the contribution of multipliers ``z`` to the cost of Q: (K, Y, |S|, U)."""
        return -self.forms.total(self.rows, z[..., None])

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q and in η, for the given multipliers."""
        return self.cost_of(multipliers[0]), self.eta

    def curvature(self, settings: Settings) -> NominalCurvature:
        return NominalCurvature(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return (self.slope(dq),)

    def members(self) -> Array:
        """Return the only member of the projected set: the estimated conditionals."""
        xp = namespace(self.z)
        return xp.broadcast_to(self.conditionals, self.z.shape + self.conditionals.shape[-2:])

    def weights(self) -> Array:
        """Return the weights of the members in a lower bound."""
        return self.z

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the multipliers to the cost of Q: (K, Y, |S|, U)."""
        return self.privacy_cost()


@dataclass(frozen=True)
class NominalCurvature:
    """Newton's quadratic model of the linear constraints: one rank per pair and output."""

    term: NominalPairs

    @property
    def _weight(self) -> Array:
        return self.term.z / self.term.sigma

    def blocks(self, barrier: Array, settings: Settings) -> DenseBlocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, |S|, U) of Q > 0."""
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """Return the model for ``outputs`` as matrices (K, …, |S|U, |S|U), with ``barrier`` added."""
        scaled = self._weight[:, outputs, :, None, None] * self.term.rows
        rows = namespace(scaled).broadcast_to(self.term.rows, scaled.shape)
        return add_to_diagonal(self.term.forms.gram(scaled, rows), barrier[:, outputs, ...])

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step."""
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
    shares: tuple[float, ...]  # of σ and of p

    @classmethod
    def start(cls, at: Start) -> RobustPairs:
        """Return the term at the start of the path.

        There v is constant, and any η above it loses a fixed share of its excess, the deficit. The excess
        starts at the scale expected at the solution, deficit^(−1/2), if half the slack allows it.
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
        shares = _shares(pairs, q.shape[3], at.settings)
        z, w = (on_path(share * at.mu, slack) for share, slack in zip(shares, (sigma, point.p), strict=True))
        return cls(pairs, forms, ends, mean, q, eta, point, sigma, z, w, shares)

    def at(self, q: Array, eta: Array) -> RobustPairs:
        point = self.mean.at(eta[..., None] - self.ends.seen(q))
        return updated(self, q=q, eta=eta, point=point, sigma=point.value - row_sum(eta))

    def to_q(self, varrho: Array) -> Array:
        """Map entries (K, Y, T, 2, U) of the pairs to Q: (K, Y, |S|, U)."""
        return self.ends.back(varrho)

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q and in η, for the given multipliers.

        If ``second_order`` is given, half the second derivative along that step is added.
        """
        z, varrho = multipliers[0], self.varrho(multipliers, second_order)
        return self.to_q(varrho), z[..., None] - row_sum(varrho)

    def curvature(self, settings: Settings) -> DenseCurvature | LowRankCurvature:
        """Return the model, in low-rank form if the ranks are few, else as dense matrices."""
        secrets, values = self.q.shape[2:]
        few = has_few_ranks(secrets, values, settings, on_device=type(self.q) is not np.ndarray)
        return LowRankCurvature.of(self) if few else DenseCurvature.of(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        xp = namespace(dq)
        dp = deta[..., None] - self.ends.seen(dq)
        return row_sum(xp.vecdot(self.point.gradient, dp) - deta), dp

    def weights(self) -> Array:
        """Return the weights of the members in a lower bound."""
        return self.z

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the multipliers to the cost of Q: (K, Y, |S|, U)."""
        return self.to_q(self.z[..., None, None] * members)


def _per_pair(at: Start) -> tuple[PairIndex, Array, Array, Array]:
    """Return the pairs, masses (K, 1, T, 2), conditionals (K, 1, T, 2, U), signs (K, 1, T or 1, 2, 1)."""
    xp = namespace(at.q)
    pairs = PairIndex.of(at.q.shape[2], xp, at.settings)
    masses, conditionals = per_secret(at.private_centre)
    sign = xp.stack([xp.ones_like(at.e), -at.e], axis=-1)[:, None, :, :, None]
    ends = pairs.ends_of(xp.concat([masses[..., None], conditionals], axis=-1))[:, None, ...]
    return pairs, ends[..., 0], ends[..., 1:], sign


def _sigma(forms: Forms, rows: Array, active: Array, q: Array) -> Array:
    """Return the slacks of linear constraints; 1 for pairs that are satisfied by definition."""
    return namespace(q).where(active, forms.values(rows, q)[..., 0], 1.0)


def _shares(pairs: PairIndex, values: int, settings: Settings) -> tuple[float, float]:
    """Return the shares of μ for σ and for p. All p of a cell of Q together count as much as the cell.

    In large tables an end of a pair counts for a few cells at most, and the weight of the few σ grows with
    the number of cells.
    """
    others = pairs.secrets - 1
    sigma, p = 1.0, 1 / (2 * others)
    if pairs.secrets * values >= settings.large:
        sigma = max(sigma, settings.sigma_share * values / others)
        p *= min(1.0, settings.cells_an_end / values)
    return sigma, p
