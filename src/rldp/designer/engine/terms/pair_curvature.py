r"""Newton's quadratic model of the robust constraints on pairs, with η eliminated by hand.

In :math:`x_i` a pair contributes :math:`\mathrm{diag}(D_i)` and a quadratic form in the four numbers
:math:`b_i = \beta_i\cdot x_i` and :math:`\alpha_i = a_i\cdot x_i`; η replies to the same four. The model is
either written out as one matrix for each output, or kept as these few ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rldp.designer.engine.algebra.arrays import add_to_diagonal, apply, diagonal_matrix, reshape
from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.algebra.interface import Blocks
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.theory.namespace import Array, namespace, row_sum

if TYPE_CHECKING:
    from rldp.designer.engine.terms.pairs import RobustPairs


def has_few_ranks(secrets: int, values: int, settings: Settings, *, on_device: bool = False) -> bool:
    """Whether pairs, with four ranks each, are better kept as ranks than as matrices over all cells."""
    ranks = 4 * secrets * (secrets - 1)
    share = settings.device_linked_share if on_device else settings.linked_share
    return ranks + settings.linked_more <= share * secrets * values


@dataclass(frozen=True)
class EtaModel:
    r"""What η of the pairs can give way to: :math:`\eta\cdot V\eta + |M\eta - Nb|^2 - 2\eta\cdot\alpha`.

    Beyond variances and D, the model is a square: its rows are G's curvature between the ends and σ.
    """

    variance: Array  # (K, Y, T, 2): V
    m: Array  # (K, Y, T, 2, 2): M
    n: Array  # (K, Y, T, 2, 2): N
    within: Array  # (K, Y, T, 2): A, the curvature of G that is taken back along β


@dataclass(frozen=True)
class RobustCurvature:
    """What both ways have in common."""

    term: RobustPairs
    ratio: Array  # (K, Y, T): z/σ
    stiffness: Array  # (K, Y, T, 2, U): w/p
    diagonal: Array  # (K, Y, T, 2, U): D
    a: Array  # (K, Y, T, 2, U): what α sees

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Change of the residual along a step: the model's Hessian without any elimination."""
        term = self.term
        dsigma, dp = term.moves(dq, deta)
        dz = -self.ratio * dsigma
        slope = term.z[..., None, None] * term.point.along(dp).log_gradient_slope + dz[..., None, None]
        dvarrho = term.point.gradient * slope - self.stiffness * dp
        return term.to_q(dvarrho), dz[..., None] - row_sum(dvarrho)


def _modelled(term: RobustPairs) -> tuple[RobustCurvature, EtaModel]:
    """What both ways have in common, and the model of η."""
    point, z = term.point, term.z
    xp = namespace(z)
    slope = point.value[..., None] * point.tau  # ∂G/∂b
    within = (1 - point.rho) * z[..., None] * slope
    between = (1 - point.theta) * z * slope[..., 0] * point.tau[..., 1]
    ratio = z / term.sigma
    r = row_sum(point.beta)
    deviation = point.inverse - r[..., None]
    stiffness = term.w * point.inverse
    pull = within[..., None] * point.beta
    pulled = pull * deviation
    variance = xp.vecdot(pulled, point.p * deviation) + row_sum(stiffness)
    opposed = xp.sqrt(between)[..., None] * xp.asarray([1.0, -1.0], dtype=z.dtype)
    steep = xp.sqrt(ratio)[..., None]
    m = xp.stack([opposed * r, steep * (slope * r - 1)], axis=-2)
    n = xp.stack([opposed, steep * slope], axis=-2)
    common = RobustCurvature(term, ratio, stiffness, pull * point.inverse + stiffness, pulled + stiffness)
    return common, EtaModel(variance, m, n, within)


@dataclass(frozen=True)
class DenseCurvature(RobustCurvature):
    r"""With a matrix over all cells for each output, put together from rows that are forms of Q.

    In x a pair contributes the quadratic form ``base`` in b, and less what η can give way to: with the cross
    term :math:`-d\eta\cdot Cx` and the Hessian H in η, that is :math:`Cx\cdot H^{-1}Cx`.
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
        """The model in Q, with the curvature ``barrier`` (K, Y, |S|, U) of Q > 0 added."""
        return DenseBlocks.of(lambda outputs: self.matrix(barrier, outputs), barrier, settings)

    def matrix(self, barrier: Array, outputs: slice) -> Array:
        """The model with ``barrier`` on its diagonal: a matrix (K, …, |S|U, |S|U) for each of ``outputs``."""
        beta, cross, reply = (x[:, outputs, ...] for x in (self.beta, self.cross, self.reply))
        xp, term = namespace(beta), self.term
        left = xp.concat([beta, cross], axis=-2)
        right = xp.concat([xp.matmul(self.base[:, outputs, ...], beta), -reply], axis=-2)
        diagonal = barrier[:, outputs, ...] + term.ends.squared_back(self.diagonal[:, outputs, ...])
        return add_to_diagonal(term.forms.gram(left, right), diagonal)

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: what a residual in η means for Q, and the η step it asks for by itself."""
        return self.term.forms.total(self.reply, geta), -apply(self.inverse, geta)

    def expand(self, dq: Array, eta0: Array) -> Array:
        """The η step that belongs to ``dq``."""
        return eta0 + self.term.forms.values(self.reply, dq)


@dataclass(frozen=True)
class LowRankCurvature(RobustCurvature):
    """With the few ranks that pairs have, where values are many and secrets few."""

    kernel: Array  # (K, Y, T, 4, 4): of (b₁, b₂, α₁, α₂); its last two rows are −η's reply

    @classmethod
    def of(cls, term: RobustPairs) -> LowRankCurvature:
        common, eta = _modelled(term)
        return cls(**vars(common), kernel=_kernel(eta))

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """The model in Q, with the curvature ``barrier`` (K, Y, |S|, U) of Q > 0 added."""
        return self.low_rank(barrier).blocks(settings)

    def low_rank(self, barrier: Array) -> LowRankModel:
        """The same, not yet factorised."""
        xp, term = namespace(barrier), self.term
        signed = [term.pairs.per_secret(term.ends.sign * x) for x in (term.point.beta, self.a)]
        vectors = xp.matrix_transpose(xp.concat(signed, axis=3))
        d = barrier + term.ends.squared_back(self.diagonal)
        kernel = term.pairs.links(self.kernel)
        return LowRankModel(d, vectors, kernel, *self._scaling(barrier), linked=True)

    def _scaling(self, barrier: Array) -> tuple[Array, Array, Array]:
        """An output with all that belongs to it, scaled up: its Q, the forces that meets, its energy."""
        term = self.term
        charge, slope = term.residual(term.multipliers)
        forces, reply = self.reduce(slope)
        multiplier = barrier * term.q
        products = row_sum(term.z * term.sigma + row_sum(row_sum(term.w * term.point.p) + slope * reply))
        energy = products + namespace(barrier).sum(multiplier * term.q, axis=(2, 3))
        return term.q, multiplier - charge - forces, energy

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate η: what a residual in η means for Q, and the η step it asks for by itself."""
        weights = apply(self.kernel[..., :, 2:], geta)[..., None]
        dvarrho = weights[..., :2, :] * self.term.point.beta + weights[..., 2:, :] * self.a
        return -self.term.to_q(dvarrho), apply(self.kernel[..., 2:, 2:], geta)

    def expand(self, dq: Array, eta0: Array) -> Array:
        """The η step that belongs to ``dq``."""
        xp, x = namespace(dq), self.term.ends.seen(dq)
        numbers = xp.concat([xp.vecdot(self.term.point.beta, x), xp.vecdot(self.a, x)], axis=-1)
        return eta0 - apply(self.kernel[..., 2:, :], numbers)


def _inverse(eta: EtaModel, square: Array) -> Array:
    """(V + MᵀM)⁻¹ for 2×2 matrices, MᵀM = ``square``; in the determinant nothing cancels."""
    xp, m = namespace(square), eta.m
    v0, v1 = eta.variance[..., 0], eta.variance[..., 1]
    h00, h01, h11 = v0 + square[..., 0, 0], square[..., 0, 1], v1 + square[..., 1, 1]
    area = m[..., 0, 0] * m[..., 1, 1] - m[..., 0, 1] * m[..., 1, 0]
    determinant = v0 * h11 + v1 * square[..., 0, 0] + area**2
    adjugate = xp.stack([h11, -h01, -h01, h00], axis=-1) / determinant[..., None]
    return reshape(adjugate, m.shape)


def _kernel(eta: EtaModel) -> Array:
    r"""Of (b₁, b₂, α₁, α₂), with η eliminated: (K, Y, T, 4, 4).

    With :math:`W = (1 + MV^{-1}M^\top)^{-1} = LL^\top` it is :math:`N^\top WN - \mathrm{diag}(within)` in b,
    :math:`-V^{-1}M^\top WN` between α and b, and :math:`-(V + M^\top M)^{-1}` in α: no difference of large
    numbers, however steep σ is.
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
