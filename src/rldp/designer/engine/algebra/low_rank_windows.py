r"""The matrices :math:`H_y` of windows in factored form: secrets are linked by one direction only.

:math:`H_y^{-1} = A_y^{-1} + f_y f_y^\top/\lambda_y`, where :math:`A_y` has a diagonal and a low rank for each
secret. See ``docs/theory.md``, 'Windows' and 'Low ranks'.
"""

from __future__ import annotations

from dataclasses import dataclass

from rldp.designer.engine.algebra.bases import apply_core, core_of, orthonormal
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.algebra.low_rank_border import LowRankBorder, with_scaling_direction
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, diagonal_matrix, namespace, reshape


@dataclass(frozen=True)
class LowRankWindows:
    r""":math:`A^{-1} = D^{-1/2}(1 - BB^\top + BNB^\top)D^{-1/2}` per secret; each secret is a group.

    B is an orthonormal basis of the span of a secret's ranks.
    """

    inverse: Array  # (K, Y, S, U): 1/d
    root: Array  # (K, Y, S, U): its root
    basis: Array  # (K, Y, S, U, m): B
    core: Array  # (K, Y, S, m, m): N
    free: Array  # (K, Y, S, U): f
    energy: Array  # (K, Y)
    jitter: float

    @classmethod
    def of(cls, model: LowRankModel, settings: Settings) -> LowRankWindows:
        """Factorise a model whose kernel does not link secrets, and eliminate one more unknown per output.

        The row of that unknown is not given. Instead the model's direction is known, along which the matrix
        is nearly singular: Q with a unit of the unknown.
        """
        xp, inverse = namespace(model.d), 1 / model.d
        root = xp.sqrt(inverse)
        basis, rows = orthonormal(model.vectors * root[..., None], settings)
        core = core_of(xp.matmul(xp.matmul(rows, model.kernel), xp.matrix_transpose(rows)), settings)
        blocks = cls(inverse, root, basis, core, model.free, model.energy, settings.schur_jitter)
        return with_scaling_direction(blocks, model.image, settings)

    def border(self, distortion: Array, coupling: Coupling | None, settings: Settings) -> LowRankBorder:
        """Return the coupled system of the outputs, for a ``distortion`` (Y, 1, U)."""
        return LowRankBorder.of(self, distortion, coupling, settings)

    def per_group(self, r: Array) -> Array:
        """Return A⁻¹ r for r (K, Y, S, U)."""
        return self.root * apply_core(self.basis, lambda seen: apply(self.core, seen), self.root * r)

    def total(self, left: Array, right: Array) -> Array:
        """Return Σ left A⁻¹ right over the outputs: (K, S, U, U), for diagonal weights (K, Y, S, U)."""
        xp, root = namespace(left), self.root[..., None]
        taken = xp.eye(self.core.shape[-1], dtype=root.dtype) - self.core
        rows = _outputs_inside(left[..., None] * root * self.basis)
        columns = _outputs_inside(right[..., None] * root * xp.matmul(self.basis, taken))
        diagonal = xp.sum(left * self.inverse * right, axis=1)
        return (1 + self.jitter) * diagonal_matrix(diagonal) - xp.matmul(rows, xp.matrix_transpose(columns))


def _outputs_inside(x: Array) -> Array:
    """Reshape (K, Y, S, U, m) → (K, S, U, Y·m)."""
    k, outputs, secrets, values, m = x.shape
    moved = namespace(x).permute_dims(x, (0, 2, 3, 1, 4))
    return reshape(moved, (k, secrets, values, outputs * m))
