r"""Low-rank blocks in which the cells of one value are coupled across secrets.

With windows for readers who know the value, the diagonal of :math:`H_y = M_y + V_y K_y V_y^\top` is replaced
by a block :math:`M_{yu} = \mathrm{diag}(D) - cc^\top/h` over the secrets of each value. Its root
:math:`M = LL^\top` is a rank-one update of the root of D. The section 'Low ranks' therefore applies with
:math:`L^{-1}` instead of :math:`D^{-1/2}`. See ``docs/theory.md``, 'Readers who know the value'.
"""

from __future__ import annotations

from dataclasses import dataclass

from rldp.designer.engine.algebra.bases import apply_core, core_of, orthonormal
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.algebra.low_rank_border import LowRankBorder, with_scaling_direction
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, diagonal_matrix, namespace, reshape

__all__ = ["CoupledCells", "LowRankKnown"]


@dataclass(frozen=True)
class CoupledCells:
    r""":math:`M = D^{1/2}(1 - \tau ww^\top)D^{1/2}` for every value and output: |w| = 1, ω = 1 − τ > 0."""

    root: Array  # (K, Y, S, U): D^{-1/2}
    w: Array  # (K, Y, S, U)
    omega: Array  # (K, Y, 1, U)

    @classmethod
    def of(cls, rest: Array, above: Array, below: Array, factor: float) -> CoupledCells:
        """Use D = rest + A + B, c = A + KB and h = Σ (A + K²B); ω is computed without cancellation."""
        xp = namespace(rest)
        d = rest + above + below
        root = 1 / xp.sqrt(d)
        own = above + factor**2 * below
        left = xp.sum((above * below * (factor - 1) ** 2 + rest * own) / d, axis=2, keepdims=True)
        w = (above + factor * below) * root
        length = xp.sqrt(xp.sum(w * w, axis=2, keepdims=True))
        return cls(root, w / length, left / xp.sum(own, axis=2, keepdims=True))

    def half(self, x: Array) -> Array:
        """Return L⁻¹x for x (K, Y, S, U)."""
        return self._turned(self.root * x, self.omega**-0.5 - 1)

    def back(self, x: Array) -> Array:
        """Return L⁻ᵀx."""
        return self.root * self._turned(x, self.omega**-0.5 - 1)

    def whole(self, x: Array) -> Array:
        """Return Lᵀx."""
        return self._turned(x / self.root, namespace(x).sqrt(self.omega) - 1)

    def _turned(self, x: Array, theta: Array) -> Array:
        return x + theta * self.w * namespace(x).sum(self.w * x, axis=2, keepdims=True)

    def half_of_each(self, vectors: Array) -> Array:
        """Apply L⁻¹ to columns (K, Y, S, U, m), each over the cells of one secret: (K, Y, SU, Sm)."""
        xp, (k, outputs, secrets, values) = namespace(vectors), self.root.shape
        scaled = self.root[..., None] * vectors  # (K, Y, S', U, m), S' being the secret of a column
        seen = xp.permute_dims(self.w[..., None] * scaled, (0, 1, 3, 2, 4))[:, :, None, ...]  # (…, U, S', m)
        turned = ((self.omega**-0.5 - 1) * self.w)[..., None, None] * seen
        apart = reshape(xp.eye(secrets, dtype=scaled.dtype), (secrets, 1, secrets, 1))
        columns = turned + scaled[:, :, :, :, None, :] * apart
        return reshape(columns, (k, outputs, secrets * values, -1))

    def back_of_each(self, basis: Array) -> Array:
        """Apply L⁻ᵀ to columns (K, Y, SU, m)."""
        shape = (*self.root.shape, basis.shape[-1])
        x, w = reshape(basis, shape), self.w[..., None]
        theta = (self.omega**-0.5 - 1)[..., None]
        turned = x + theta * w * namespace(x).sum(w * x, axis=2, keepdims=True)
        return reshape(self.root[..., None] * turned, basis.shape)

    def total(self, left: Array, right: Array) -> Array:
        """Return Σ left M⁻¹ right over the outputs: (K, SU, SU), for diagonal weights (K, Y, S, U)."""
        xp, (k, _, secrets, values) = namespace(left), left.shape
        rank = self.root * self.w
        one, other = left * rank * (1 / self.omega - 1), right * rank
        blocks = xp.sum(one[:, :, :, None, :] * other[:, :, None, :, :], axis=1)  # (K, S, S, U)
        blocks = (
            blocks
            + reshape(xp.eye(secrets, dtype=left.dtype), (secrets, secrets, 1))
            * (xp.sum(left * self.root**2 * right, axis=1)[:, :, None, :])
        )
        whole = xp.permute_dims(diagonal_matrix(blocks), (0, 1, 3, 2, 4))
        return reshape(whole, (k, secrets * values, secrets * values))


@dataclass(frozen=True)
class LowRankKnown:
    r""":math:`A^{-1} = L^{-\top}(1 - BB^\top + BNB^\top)L^{-1}`, all cells in one group."""

    cells: CoupledCells
    basis: Array  # (K, Y, n, m): B
    core: Array  # (K, Y, m, m): N
    inverse: Array  # (K, Y, 1, n): 1/D
    free: Array  # (K, Y, 1, n): f
    energy: Array  # (K, Y): λ
    jitter: float

    @classmethod
    def of(cls, model: LowRankModel, cells: CoupledCells, settings: Settings) -> LowRankKnown:
        """Factorise ``model`` with ``cells`` instead of its diagonal; its direction already includes them."""
        xp, (k, outputs, secrets, values) = namespace(model.d), cells.root.shape
        n = secrets * values
        stacked = cells.half_of_each(model.vectors)
        kernel = model.linked_kernel + xp.zeros((k, outputs, 1, 1), dtype=model.d.dtype)
        if model.linked:  # the direction is stiffened, and taken out again below
            last = cells.whole(model.free)
            stacked = xp.concat([stacked, reshape(last, (k, outputs, n, 1))], axis=-1)
            kernel = _bordered(kernel, 1 / xp.sum(last * last, axis=(2, 3)))
        basis, rows = orthonormal(stacked, settings)
        core = core_of(xp.matmul(xp.matmul(rows, kernel), xp.matrix_transpose(rows)), settings)
        free, image, inverse = (
            reshape(x, (k, outputs, 1, n)) for x in (model.free, model.image, cells.root**2)
        )
        blocks = cls(cells, basis, core, inverse, free, model.energy, settings.schur_jitter)
        return with_scaling_direction(blocks, image, settings)

    def border(self, distortion: Array, coupling: Coupling | None, settings: Settings) -> LowRankBorder:
        """Return the coupled system of the outputs, for a ``distortion`` (Y, 1, U)."""
        tiled = namespace(distortion).tile(distortion, (1, 1, self.cells.root.shape[2]))
        return LowRankBorder.of(self, tiled, coupling, settings)

    def per_group(self, r: Array) -> Array:
        """Return A⁻¹ r for r (K, Y, 1, n)."""
        shape = self.cells.root.shape
        half = reshape(self.cells.half(reshape(r, shape)), (*shape[:2], -1))
        met = apply_core(self.basis, lambda seen: apply(self.core, seen), half)
        return reshape(self.cells.back(reshape(met, shape)), r.shape)

    def total(self, left: Array, right: Array) -> Array:
        """Return Σ left A⁻¹ right over the outputs: (K, 1, n, n), for diagonal weights (K, Y, 1, n)."""
        xp, shape = namespace(left), self.cells.root.shape
        m, back = self.basis.shape[-1], self.cells.back_of_each(self.basis)
        taken = xp.eye(m, dtype=left.dtype) - self.core
        rows = _outputs_inside(left[:, :, 0, :, None] * back)
        columns = _outputs_inside(right[:, :, 0, :, None] * xp.matmul(back, taken))
        diagonal = self.cells.total(reshape(left, shape), reshape(right, shape))
        return ((1 + self.jitter) * diagonal - xp.matmul(rows, xp.matrix_transpose(columns)))[:, None, ...]


def _outputs_inside(x: Array) -> Array:
    """Reshape (K, Y, n, m) → (K, n, Y·m)."""
    k, outputs, n, m = x.shape
    return reshape(namespace(x).permute_dims(x, (0, 2, 1, 3)), (k, n, outputs * m))


def _bordered(kernel: Array, stiffness: Array) -> Array:
    """Extend kernels (K, Y, m, m) by one uncoupled rank of ``stiffness`` (K, Y)."""
    xp = namespace(kernel)
    side = 0 * kernel[..., :1]
    corner = reshape(stiffness, (*stiffness.shape, 1, 1))
    upper = xp.concat([kernel, side], axis=-1)
    lower = xp.concat([xp.matrix_transpose(side), corner], axis=-1)
    return xp.concat([upper, lower], axis=-2)
