r"""The coupled system of outputs whose matrices are kept in low-rank form.

With :math:`H_y^{-1} = A_y^{-1} + f_y f_y^\top/\lambda_y` the system is that of :mod:`.dense`. Its border is
computed separately for each group of cells, because :math:`A_y` does not link groups. See
``docs/theory.md``, 'Windows' and 'Low ranks'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from rldp.designer.engine.algebra.dense import scaled_inverse
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, diagonal_matrix, flat, namespace, reshape

__all__ = ["GroupedBlocks", "LowRankBorder", "with_scaling_direction"]


class GroupedBlocks(Protocol):
    r""":math:`H^{-1} = A^{-1} + ff^\top/\lambda`, where A is block diagonal over G groups of W cells."""

    @property
    def inverse(self) -> Array:
        """The inverse of A's diagonal part: (K, Y, G, W)."""

    @property
    def free(self) -> Array:
        """f: (K, Y, G, W)."""

    @property
    def energy(self) -> Array:
        """λ: (K, Y)."""

    def per_group(self, r: Array) -> Array:
        """Return A⁻¹ r for r (K, Y, G, W)."""

    def total(self, left: Array, right: Array) -> Array:
        """Return Σ left A⁻¹ right over the outputs: (K, G, W, W), for diagonal weights (K, Y, G, W)."""


Blocks = TypeVar("Blocks", bound=GroupedBlocks)


def with_scaling_direction(blocks: Blocks, image: Array, settings: Settings) -> Blocks:
    """Compute f and λ for ``blocks`` that hold a direction ξ and its energy ξ·Hξ in those fields.

    ``image`` (K, Y, G, W) is Hξ. Then f = ξ − A⁻¹Hξ and λ = ξ·Hξ − Hξ·A⁻¹Hξ, computed without cancellation.
    Solving for the corresponding row of A instead would lose all significant digits.
    """
    xp, energy = namespace(image), blocks.energy
    reply = blocks.per_group(image)
    left = xp.maximum(energy - xp.sum(image * reply, axis=(2, 3)), settings.least_energy * energy)
    return replace(blocks, free=blocks.free - reply, energy=left)  # type: ignore[type-var]


@dataclass(frozen=True)
class LowRankBorder:
    r"""A Schur complement for each group of cells, and one over the outputs.

    The unknowns x shared by all outputs are ν and, with a robust utility, the force F. With
    :math:`q_y = A_y^{-1}(r_y + \sum_c e_{cy} x_c) + f_y t_y`, where e = 1 for ν and −d for F, the outputs
    are coupled only by t and by two numbers of the utility: its η, and the part of F along its rank-one
    curvature.
    """

    blocks: GroupedBlocks
    weights: tuple[Array, ...]  # (K, Y, G, W) each: e
    centre: Array  # (K, G, W): d is measured from here
    schur: Array  # (K, G, cW, cW)
    across: Array  # (K, G, cW, Y or Y + 2)
    reply: Array  # ``across``, multiplied by the inverse Schur complements
    inner: Array  # (K, Y, Y), or (K, Y + 2, Y + 2)

    @classmethod
    def of(
        cls, blocks: GroupedBlocks, distortion: Array, coupling: Coupling | None, settings: Settings
    ) -> LowRankBorder:
        """Build the border for a ``distortion`` (Y, 1, W)."""
        xp, (k, _, groups, width) = namespace(blocks.free), blocks.free.shape
        cells, one = (k, groups, width), xp.ones_like(blocks.free)
        freedom = xp.sum(blocks.inverse, axis=1)
        centre = xp.sum(blocks.inverse * distortion, axis=1) / freedom
        weights = (one,) if coupling is None else (one, centre[:, None, ...] - distortion)
        totals = [[blocks.total(e, f) for f in weights[: i + 1]] for i, e in enumerate(weights)]
        across = xp.concat([xp.permute_dims(e * blocks.free, (0, 2, 3, 1)) for e in weights], axis=2)
        energy = blocks.energy
        if coupling is not None:
            softness, beta_over_d, delta = (
                reshape(x, cells) if x.ndim > 1 else x for x in coupling.compliance()
            )
            totals[1][1] = totals[1][1] + diagonal_matrix(softness)
            none = 0 * beta_over_d
            numbers = [xp.concat([none, x], axis=2) for x in (beta_over_d, none + 1)]
            across = xp.concat([across, xp.stack(numbers, axis=-1)], axis=-1)
            energy = xp.concat([energy, delta[:, None], 0 * delta[:, None]], axis=1)
        schur = scaled_inverse(_symmetric(totals), settings.schur_jitter, settings)
        reply = xp.matmul(schur, across)
        rows, columns = (reshape(x, (k, -1, energy.shape[1])) for x in (across, reply))
        inner = xp.matmul(xp.matrix_transpose(rows), columns) + diagonal_matrix(energy)
        inner = scaled_inverse(inner, settings.schur_jitter, settings)
        return cls(blocks, weights, centre, schur, across, reply, inner)

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """Solve for q (K, Y, n) and ν (K, n), given forces ``r`` (K, Y, n) and sums ``total`` (K, n).

        A second pass corrects rounding errors in the sums, because the rows of a protocol must sum to one.
        """
        blocks = self.blocks
        xp, (k, outputs, groups, width) = namespace(r), blocks.free.shape
        r, total = reshape(r, blocks.free.shape), reshape(total, (k, groups, width))
        q, nu = self._solve_border(blocks.per_group(r), xp.sum(blocks.free * r, axis=(2, 3)), total)
        more, extra = self._solve_border(0 * q, 0 * q[:, :, 0, 0], total - xp.sum(q, axis=1))
        return reshape(q + more, (k, outputs, -1)), flat(nu + extra)

    def _solve_border(self, moved: Array, asked: Array, total: Array) -> tuple[Array, Array]:
        """Solve for q (K, Y, G, W) and ν (K, G, W), given A⁻¹r, f·r and the sums."""
        blocks, xp, width = self.blocks, namespace(moved), moved.shape[3]
        wanted = (total, self.centre * total)[: len(self.weights)]
        pairs = zip(wanted, self.weights, strict=True)
        x = apply(self.schur, xp.concat([w - xp.sum(e * moved, axis=1) for w, e in pairs], axis=2))
        answer = xp.sum(apply(xp.matrix_transpose(self.across), x), axis=1)
        t = apply(self.inner, answer + self._padded(asked))
        x = x - apply(self.reply, t[:, None, :])
        parts = [x[:, :, i * width : (i + 1) * width] for i in range(len(self.weights))]
        pushed = sum(e * part[:, None, ...] for e, part in zip(self.weights, parts, strict=True))
        q = moved + blocks.per_group(pushed) + blocks.free * t[:, : moved.shape[1], None, None]
        return q, parts[0] if len(parts) == 1 else parts[0] + self.centre * parts[1]

    def _padded(self, x: Array) -> Array:
        """Append zeros for the numbers of the utility to ``x`` (K, Y)."""
        missing = self.inner.shape[-1] - x.shape[1]
        return namespace(x).concat([x, 0 * x[:, :missing]], axis=1) if missing else x


def _symmetric(lower: list[list[Array]]) -> Array:
    """Join blocks (K, G, W, W) on and below the diagonal into symmetric matrices (K, G, cW, cW)."""
    if len(lower) == 1:
        return lower[0][0]
    xp = namespace(lower[0][0])
    (first,), (cross, second) = lower
    top = xp.concat([first, xp.matrix_transpose(cross)], axis=-1)
    return xp.concat([top, xp.concat([cross, second], axis=-1)], axis=-2)
