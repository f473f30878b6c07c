r"""The matrices :math:`H_y` of pairs in factored form: a diagonal plus a low rank per secret.

:math:`H_y = D_y + V_y K_y V_y^\top`, where :math:`V_y` has a few columns over the cells of each secret and
the kernel :math:`K_y` links them across secrets. Near the solution :math:`H_y` is almost singular along
:math:`Q_y`. This direction is stiffened, :math:`A_y = H_y + D_yQ_yQ_y^\top D_y/(Q_y\cdot D_yQ_y)`, and the
inverse is corrected afterwards: :math:`H_y^{-1} = A_y^{-1} + f_yf_y^\top/\lambda_y`. See ``docs/theory.md``,
'Low ranks'.
"""

from __future__ import annotations

from dataclasses import dataclass

from rldp.designer.engine.algebra.bases import apply_core, core_of, orthonormal
from rldp.designer.engine.algebra.dense import each, runs
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.algebra.low_rank_border import LowRankBorder, with_scaling_direction
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, diagonal_matrix, namespace, reshape

_SHARES, _LARGE = 8, 2**17
"""Number of parts into which a sum over the outputs is split for few secrets, so that every core has one;
and the number of outputs times values from which splitting pays off."""


@dataclass(frozen=True)
class LowRankPairs:
    r""":math:`A^{-1} = D^{-1/2}(1 - BB^\top + BNB^\top)D^{-1/2}`, all cells in one group.

    B is an orthonormal basis of the span of each secret's ranks.
    """

    inverse: Array  # (K, Y, 1, n): 1/d
    root: Array  # (K, Y, 1, n): its root
    basis: Array  # (K, Y, S, U, m): B
    core: Array  # (K, Y, Sm, Sm): N
    free: Array  # (K, Y, 1, n): f
    energy: Array  # (K, Y): λ
    jitter: float

    @classmethod
    def of(cls, model: LowRankModel, settings: Settings) -> LowRankPairs:
        """Factorise a model with a linked kernel, whose direction is Q."""
        d, vectors, q = model.d, model.vectors, model.free
        xp, (k, outputs, secrets, values) = namespace(d), d.shape
        root, width = xp.sqrt(d), vectors.shape[-1] + 1
        ranks = min(values, width)
        basis = xp.empty((k, outputs, secrets, values, ranks), dtype=d.dtype)
        core = xp.empty((k, outputs, secrets * ranks, secrets * ranks), dtype=d.dtype)

        def factorise(part: slice) -> None:
            some = root[:, part, ...]
            last = (some * q[:, part, ...])[..., None]
            columns = xp.concat([vectors[:, part, ...] / some[..., None], last], axis=-1)
            basis[:, part, ...], rows = orthonormal(columns, settings)
            links = _with_last(model.kernel[:, part, ...], 1 / xp.sum(last * last, axis=(2, 3, 4)), secrets)
            core[:, part, ...] = core_of(_congruent(rows, links), settings)

        each(factorise, runs(outputs, 8 * k * secrets * values * width, d, settings), d)
        cells = (k, outputs, 1, secrets * values)
        inverse, root, q, image = (reshape(x, cells) for x in (1 / d, 1 / root, q, model.image))
        blocks = cls(inverse, root, basis, core, q, model.energy, settings.schur_jitter)
        return with_scaling_direction(blocks, image, settings)

    def border(self, distortion: Array, coupling: Coupling | None, settings: Settings) -> LowRankBorder:
        """Return the coupled system of the outputs, for a ``distortion`` (Y, 1, U)."""
        xp = namespace(distortion)
        return LowRankBorder.of(self, xp.tile(distortion, (1, 1, self.basis.shape[2])), coupling, settings)

    def per_group(self, r: Array) -> Array:
        """Return A⁻¹ r for r (K, Y, 1, n)."""
        k, outputs, secrets, values, m = self.basis.shape

        def core(seen: Array) -> Array:
            return reshape(apply(self.core, reshape(seen, (k, outputs, secrets * m))), seen.shape)

        x = reshape(self.root * r, (k, outputs, secrets, values))
        return self.root * reshape(apply_core(self.basis, core, x), r.shape)

    def total(self, left: Array, right: Array) -> Array:
        """Return Σ left A⁻¹ right over the outputs: (K, 1, n, n), for diagonal weights (K, Y, 1, n)."""
        xp, (k, outputs, secrets, values, m) = namespace(left), self.basis.shape
        shape = (k, outputs, secrets, values, 1)
        total = (1 + self.jitter) * diagonal_matrix(xp.sum(left * self.inverse * right, axis=1))
        rows, columns = (reshape(x * self.root, shape) * self.basis for x in (left, right))
        columns = reshape(xp.permute_dims(columns, (0, 2, 1, 4, 3)), (k, secrets, outputs * m, values))
        taken = xp.eye(secrets * m, dtype=left.dtype) - self.core

        symmetric = left is right  # then the entries below the diagonal suffice

        def take(cells: tuple[int, slice]) -> None:
            secret, part = cells
            linked = xp.matmul(rows[:, :, secret, part, :], taken[:, :, secret * m : (secret + 1) * m, :])
            some, start = linked.shape[2], secret * values + part.start
            met = secret + 1 if symmetric else secrets
            width = start + some if symmetric and secrets == 1 else values
            linked = reshape(linked, (k, outputs, some, secrets, m))[:, :, :, :met, :]
            linked = reshape(xp.permute_dims(linked, (0, 3, 2, 1, 4)), (k, met, some, outputs * m))
            block = xp.permute_dims(xp.matmul(linked, columns[:, :met, :, :width]), (0, 2, 1, 3))
            total[:, 0, start : start + some, : met * width] -= reshape(block, (k, some, met * width))

        shares = max(1, _SHARES // secrets) if outputs * values >= _LARGE else 1
        size = -(-values // shares)
        parts = [slice(i, min(i + size, values)) for i in range(0, values, size)]
        each(take, [(secret, part) for secret in range(secrets) for part in parts], left)
        if not symmetric:
            return total
        lower = xp.tril(total)
        return lower + xp.matrix_transpose(xp.tril(total, k=-1))


def _with_last(kernel: Array, stiffness: Array, secrets: int) -> Array:
    """Extend kernels (K, Y, Sm, Sm) by a column per secret, with a joint ``stiffness`` (K, Y)."""
    xp, (k, outputs, size, _) = namespace(kernel), kernel.shape
    m = size // secrets
    links = xp.zeros((k, outputs, secrets, m + 1, secrets, m + 1), dtype=kernel.dtype)
    links[:, :, :, :m, :, :m] = reshape(kernel, (k, outputs, secrets, m, secrets, m))
    links[:, :, :, m, :, m] = stiffness[..., None, None]
    return reshape(links, (k, outputs, secrets, m + 1, secrets * (m + 1)))


def _congruent(rows: Array, links: Array) -> Array:
    """Return rows links rowsᵀ for rows (K, Y, S, m, w), computed block by block: (K, Y, Sm, Sm)."""
    xp, (k, outputs, secrets, m, wide) = namespace(rows), rows.shape
    half = reshape(xp.matmul(rows, links), (k, outputs, secrets * m, secrets, wide))
    both = xp.matmul(rows, xp.permute_dims(half, (0, 1, 3, 4, 2)))
    return reshape(both, (k, outputs, secrets * m, secrets * m))
