r"""The matrices :math:`H_y` of the outputs, inverted: what Newton's system asks of them.

Both kinds give :math:`H_y^{-1} r`, the diagonal of :math:`H_y^{-1}`, sums of :math:`H_y^{-1}` over the
outputs, from which Schur complements are made, and a border: the system in which the outputs meet in
:math:`\sum_y Q_y` alone, :math:`H_y q_y - \nu = r_y`, :math:`\sum_y q_y = t`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rldp.solver.arrays import apply, diagonal_matrix, flat, reshape, scaled_inverse
from rldp.solver.cores import on_every_core
from rldp.support import Array, namespace

_JITTER = 1e-11  # relative ridge on the scaled blocks, so that rounding cannot make them singular
_LEAST = 1e-12  # share of a direction's energy that rounding must leave
SCHUR_JITTER = 1e-15
_PART_BYTES = 2**22  # of the blocks that are assembled and inverted together
_LARGE_PART_BYTES = 2**31  # the same where there are no caches to fit but launches to save


@dataclass(frozen=True)
class DenseBlocks:
    """Matrices of any form, inverted as they are."""

    inverse: Array  # (K, Y, n, n)

    @classmethod
    def of(cls, matrix: Callable[[slice], Array], like: Array) -> DenseBlocks:
        """Of the matrices that ``matrix`` makes for some outputs; ``like`` is (K, Y, |S|, U)."""
        xp, (k, outputs, secrets, values) = namespace(like), like.shape
        n = secrets * values
        parts = _parts(like, 8 * k * n * n)
        if len(parts) == 1:
            return cls(scaled_inverse(matrix(parts[0]), _JITTER))
        inverse = xp.empty((k, outputs, n, n), dtype=like.dtype)

        def invert(part: slice) -> None:
            inverse[:, part, ...] = scaled_inverse(matrix(part), _JITTER)

        if type(like) is np.ndarray:
            on_every_core(invert, parts)
        else:
            for part in parts:
                invert(part)
        return cls(inverse)

    def solve(self, r: Array) -> Array:
        """H⁻¹ r for r (K, Y, n), or (K, 1, n) for all outputs alike."""
        return apply(self.inverse, r)

    def border(self) -> DenseBorder:
        return DenseBorder(self, scaled_inverse(self.total(), SCHUR_JITTER))

    def diagonal(self) -> Array:
        """Of H⁻¹: (K, Y, n)."""
        return namespace(self.inverse).linalg.diagonal(self.inverse)

    def total(self) -> Array:
        """Σ H⁻¹ over the outputs: (K, n, n)."""
        return namespace(self.inverse).sum(self.inverse, axis=1)

    def totals(self, d: Array) -> tuple[Array, ...]:
        """Σ H⁻¹, Σ H⁻¹ d and Σ d H⁻¹ d over the outputs, for diagonal d (K, Y, n)."""
        xp, (k, _, n, _) = namespace(d), self.inverse.shape
        sums: tuple[Array, ...] = ()
        for part in _parts(d, 8 * k * n * n):
            block, columns = self.inverse[:, part, ...], d[:, part, :]
            right = block * columns[:, :, None, :]
            terms = [xp.sum(x, axis=1) for x in (block, right, columns[..., None] * right)]
            sums = tuple([x + y for x, y in zip(sums, terms, strict=True)] if sums else terms)
        return sums


@dataclass(frozen=True)
class DenseBorder:
    """One Schur complement over all cells."""

    blocks: DenseBlocks
    schur: Array  # (K, n, n)

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        moved = self.blocks.solve(r)
        nu = apply(self.schur, total - namespace(r).sum(moved, axis=1))
        return moved + self.blocks.solve(nu[:, None, :]), nu


@dataclass(frozen=True)
class SeparateBlocks:
    r"""A diagonal and a low rank for each secret, and a rank one across the secrets of an output.

    Nothing of size U² is stored: :math:`H^{-1} = A^{-1} + f f^\top/\lambda`,
    :math:`A^{-1} = 1/d - V N V^\top` for each secret.
    """

    inverse: Array  # (K, Y, S, U): 1/d
    outer: Array  # (K, Y, S, U, m): V
    kernel: Array  # (K, Y, S, m, m): N
    free: Array  # (K, Y, S, U): f
    energy: Array  # (K, Y): λ

    @classmethod
    def of(
        cls, d: Array, vectors: Array, kernel: Array, free: Array, image: Array, energy: Array
    ) -> SeparateBlocks:
        """Of diag(d) + vectors kernel vectorsᵀ per secret, less what one more unknown per output gives way.

        Rather than its row, it is known what the whole makes of a direction where it is nearly singular:
        ``free`` with a unit of that unknown meets the forces ``image`` and has this ``energy``. Solving
        for its row instead would lose all digits that matter.
        """
        xp = namespace(d)
        outer = vectors / d[..., None]
        gram = xp.matmul(xp.matrix_transpose(vectors), outer)
        system = xp.eye(kernel.shape[-1], dtype=d.dtype) + xp.matmul(gram, kernel)
        scale = 1 / xp.max(xp.abs(system), axis=-1)
        core = xp.matmul(kernel, xp.linalg.inv(system * scale[..., None]) * scale[..., None, :])
        core = (core + xp.matrix_transpose(core)) / 2
        shell = cls(1 / d, outer, core, free, energy)
        reply = shell.per_secret(image)
        left = xp.maximum(energy - xp.sum(image * reply, axis=(2, 3)), _LEAST * energy)
        return replace(shell, free=free - reply, energy=left)

    @property
    def across(self) -> Array:
        """What is left of a rank one across the secrets: f/√λ."""
        return self.free / namespace(self.free).sqrt(self.energy)[..., None, None]

    def per_secret(self, r: Array) -> Array:
        """A⁻¹ r for r (K, Y, S, U)."""
        xp = namespace(r)
        inner = apply(self.kernel, apply(xp.matrix_transpose(self.outer), r))
        return self.inverse * r - apply(self.outer, inner)

    def border(self) -> SeparateBorder:
        return SeparateBorder.of(self)

    def solve(self, r: Array) -> Array:
        """H⁻¹ r for r (K, Y, n), or (K, 1, n) for all outputs alike."""
        xp, (k, outputs, secrets, values) = namespace(r), self.inverse.shape
        r = xp.broadcast_to(reshape(r, (*r.shape[:2], secrets, values)), self.inverse.shape)
        across = self.across
        x = self.per_secret(r) + xp.sum(across * r, axis=(2, 3), keepdims=True) * across
        return reshape(x, (k, outputs, secrets * values))

    def diagonal(self) -> Array:
        """Of H⁻¹: (K, Y, n)."""
        xp = namespace(self.inverse)
        inner = xp.sum(xp.matmul(self.outer, self.kernel) * self.outer, axis=-1)
        return reshape(self.inverse - inner + self.across**2, (*inner.shape[:2], -1))

    def total(self) -> Array:
        """Σ H⁻¹ over the outputs: (K, n, n)."""
        one = namespace(self.inverse).ones_like(self.inverse)
        one = reshape(one, (*one.shape[:2], -1))
        return self._weighted(one, one)

    def totals(self, d: Array) -> tuple[Array, ...]:
        """Σ H⁻¹, Σ H⁻¹ d and Σ d H⁻¹ d over the outputs, for diagonal d (K, Y, n)."""
        one = namespace(d).ones_like(d)
        return self._weighted(one, one), self._weighted(one, d), self._weighted(d, d)

    def _weighted(self, left: Array, right: Array) -> Array:
        """Σ left H⁻¹ right: (K, n, n), for diagonal weights (K, Y, n)."""
        xp, (k, outputs, secrets, values) = namespace(left), self.inverse.shape
        n = secrets * values
        f, g = (w * reshape(self.across, (k, outputs, n)) for w in (left, right))
        total = reshape(xp.matmul(xp.matrix_transpose(f), g), (k, secrets, values, secrets, values))
        own = self.own_total(*(reshape(w, self.inverse.shape) for w in (left, right)))
        for s in range(secrets):
            total[:, s, :, s, :] += own[:, s, :, :]
        return reshape(total, (k, n, n))

    def own_total(self, left: Array, right: Array) -> Array:
        """Σ left A⁻¹ right over the outputs: (K, S, U, U), for diagonal weights (K, Y, S, U)."""
        xp = namespace(left)
        rows = _outputs_inside(left[..., None] * self.outer)
        columns = _outputs_inside(right[..., None] * xp.matmul(self.outer, self.kernel))
        own = (1 + SCHUR_JITTER) * diagonal_matrix(xp.sum(left * self.inverse * right, axis=1))
        return own - xp.matmul(rows, xp.matrix_transpose(columns))


@dataclass(frozen=True)
class SeparateBorder:
    r"""A Schur complement for each secret, and one over the outputs.

    With :math:`q_y = A_y^{-1}(r_y + \nu) + f_y t_y` the secrets meet in t alone, and λ, which may be tiny, is
    never divided by.
    """

    blocks: SeparateBlocks
    schur: Array  # (K, S, U, U): (Σ A⁻¹)⁻¹
    across: Array  # (K, S, U, Y): f
    reply: Array  # (K, S, U, Y): (Σ A⁻¹)⁻¹ f
    inner: Array  # (K, Y, Y)

    @classmethod
    def of(cls, blocks: SeparateBlocks) -> SeparateBorder:
        xp, (k, outputs, secrets, values) = namespace(blocks.free), blocks.free.shape
        one = xp.ones_like(blocks.free)
        schur = scaled_inverse(blocks.own_total(one, one), SCHUR_JITTER)
        across = xp.permute_dims(blocks.free, (0, 2, 3, 1))
        reply = xp.matmul(schur, across)
        rows, columns = (reshape(x, (k, secrets * values, outputs)) for x in (across, reply))
        inner = xp.matmul(xp.matrix_transpose(rows), columns) + diagonal_matrix(blocks.energy)
        return cls(blocks, schur, across, reply, scaled_inverse(inner, SCHUR_JITTER))

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        blocks = self.blocks
        xp, (k, outputs, secrets, values) = namespace(r), blocks.free.shape
        r = reshape(r, blocks.free.shape)
        moved = blocks.per_secret(r)
        needed = reshape(total, (k, secrets, values)) - xp.sum(moved, axis=1)
        nu = apply(self.schur, needed)
        asked = xp.sum(blocks.free * r, axis=(2, 3))
        asked = asked + xp.sum(apply(xp.matrix_transpose(self.across), nu), axis=1)
        t = apply(self.inner, asked)
        nu = nu - apply(self.reply, t[:, None, :])
        pushed = xp.broadcast_to(nu[:, None, :, :], blocks.free.shape)
        q = moved + blocks.per_secret(pushed) + blocks.free * t[..., None, None]
        return reshape(q, (k, outputs, -1)), flat(nu)


def _outputs_inside(x: Array) -> Array:
    """(K, Y, S, U, m) → (K, S, U, Y·m)."""
    k, outputs, secrets, values, m = x.shape
    moved = namespace(x).permute_dims(x, (0, 2, 3, 1, 4))
    return reshape(moved, (k, secrets, values, outputs * m))


Blocks: TypeAlias = DenseBlocks | SeparateBlocks
Border: TypeAlias = DenseBorder | SeparateBorder


def _parts(like: Array, size: int) -> list[slice]:
    """Consecutive outputs whose blocks, ``size`` bytes each, fit the cache, or an accelerator, together."""
    outputs = like.shape[1]
    count = max(1, (_PART_BYTES if type(like) is np.ndarray else _LARGE_PART_BYTES) // size)
    return [slice(i, min(i + count, outputs)) for i in range(0, outputs, count)]
