r"""The matrices :math:`H_y` of the outputs as they are, inverted, and how the outputs meet.

They meet in :math:`\sum_y Q_y` and, with a robust utility, in :math:`v = \sum_y d_y Q_y`. A border solves
for all of it: :math:`H_y q_y - \nu + d_y F = r_y` with :math:`\sum_y q_y = t` and the force
:math:`F = Kv` that a change of v meets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rldp.designer.engine.algebra.arrays import apply, flat, reshape
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.algebra.inverse import inverse, scaled_inverse
from rldp.designer.engine.cores import each, runs
from rldp.designer.engine.settings import Settings
from rldp.theory.namespace import Array, namespace


@dataclass(frozen=True)
class DenseBlocks:
    """Matrices of any form, inverted as they are."""

    inverse: Array  # (K, Y, n, n)

    @classmethod
    def of(cls, matrix: Callable[[slice], Array], like: Array, settings: Settings) -> DenseBlocks:
        """Of the matrices that ``matrix`` makes for some outputs; ``like`` is (K, Y, |S|, U)."""
        xp, (k, outputs, secrets, values) = namespace(like), like.shape
        n = secrets * values
        parts = runs(outputs, 8 * k * n * n, like, settings)
        if len(parts) == 1:
            return cls(scaled_inverse(matrix(parts[0]), settings.jitter, settings))
        inverse = xp.empty((k, outputs, n, n), dtype=like.dtype)

        def invert(part: slice) -> None:
            inverse[:, part, ...] = scaled_inverse(matrix(part), settings.jitter, settings)

        each(invert, parts, like)
        return cls(inverse)

    def border(
        self, distortion: Array, coupling: Coupling | None, settings: Settings
    ) -> DenseBorder | CoupledBorder:
        """How the outputs meet, for a ``distortion`` (Y, 1, U)."""
        if coupling is None:
            return DenseBorder(self, scaled_inverse(self._total(), settings.schur_jitter, settings))
        return CoupledBorder.of(self, distortion, coupling, settings)

    def solve(self, r: Array) -> Array:
        """H⁻¹ r for r (K, Y, n), or (K, 1, n) for all outputs alike."""
        return apply(self.inverse, r)

    def _total(self) -> Array:
        """Σ H⁻¹ over the outputs: (K, n, n)."""
        return namespace(self.inverse).sum(self.inverse, axis=1)

    def totals(self, d: Array, settings: Settings) -> tuple[Array, ...]:
        """Σ H⁻¹, Σ H⁻¹ d and Σ d H⁻¹ d over the outputs, for diagonal d (K, Y, n)."""
        xp, (k, outputs, n, _) = namespace(d), self.inverse.shape

        def summed(rows: slice) -> list[Array]:
            block = self.inverse[:, :, rows, :]
            right = block * d[:, :, None, :]
            return [xp.sum(x, axis=1) for x in (block, right, d[:, :, rows, None] * right)]

        parts = runs(n, 8 * k * outputs * n, d, settings)
        if len(parts) == 1:
            return tuple(summed(parts[0]))
        sums = tuple([xp.empty((k, n, n), dtype=d.dtype) for _ in range(3)])

        def add(rows: slice) -> None:
            for whole, part in zip(sums, summed(rows), strict=True):
                whole[:, rows, :] = part

        each(add, parts, d)
        return sums


@dataclass(frozen=True)
class DenseBorder:
    """One Schur complement over all cells, for a linear utility."""

    blocks: DenseBlocks
    schur: Array  # (K, n, n)

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        moved = self.blocks.solve(r)
        nu = apply(self.schur, total - namespace(r).sum(moved, axis=1))
        return moved + self.blocks.solve(nu[:, None, :]), nu


@dataclass(frozen=True)
class CoupledBorder:
    """The same where the outputs also meet in v, with d measured from ``centre``."""

    blocks: DenseBlocks
    schur: Array  # (K, n, n)
    centre: Array  # (K, n)
    centred: Array  # (K, Y, n)
    joint: Array  # (K, n, n): from forces on v to the need for ν
    force: Array  # (K, n, n): from the change of v that is asked for to the force it meets

    @classmethod
    def of(
        cls, blocks: DenseBlocks, distortion: Array, coupling: Coupling, settings: Settings
    ) -> CoupledBorder:
        """v moves with Q through d, and a shift of d that is the same for every output is absorbed by ν.

        Measured from the outputs that are free to move, the couplings do not cancel.
        """
        xp, (k, outputs, n, _) = namespace(distortion), blocks.inverse.shape
        values = distortion.shape[-1]
        freedom = reshape(xp.linalg.diagonal(blocks.inverse), (k, outputs, n // values, values))
        centre = xp.sum(freedom * distortion, axis=1) / xp.sum(freedom, axis=1)
        centred = reshape(distortion - centre[:, None, ...], (k, outputs, n))
        movable, joint, compliance = blocks.totals(centred, settings)
        schur = scaled_inverse(movable, settings.schur_jitter, settings)
        compliance = compliance - _product(
            xp.matrix_transpose(joint), _product(schur, joint, settings), settings
        )
        system = xp.eye(n, dtype=compliance.dtype) + xp.matrix_transpose(coupling.times(compliance))
        row_scale = 1 / xp.max(xp.abs(system), axis=-1)
        softened = inverse(system * row_scale[..., None]) * row_scale[:, None, :]
        return cls(blocks, schur, flat(centre), centred, joint, coupling.times(softened))

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        xp, moved = namespace(r), self.blocks.solve(r)
        needed = total - xp.sum(moved, axis=1)
        reached = xp.sum(self.centred * moved, axis=1) + self.centre * total
        reached = reached + apply(xp.matrix_transpose(self.joint), apply(self.schur, needed))
        force = apply(self.force, reached)
        nu = apply(self.schur, needed + apply(self.joint, force))
        pushed = nu[:, None, :] - self.centred * force[:, None, :]
        return moved + self.blocks.solve(pushed), nu + self.centre * force


def _product(a: Array, b: Array, settings: Settings) -> Array:
    """a b for matrices (K, n, n), some rows at a time where they are large."""
    xp, (k, n, _) = namespace(a), a.shape
    parts = runs(n, 8 * k * n, a, settings)
    if len(parts) == 1:
        return xp.matmul(a, b)
    product = xp.empty(a.shape, dtype=a.dtype)

    def multiply(rows: slice) -> None:
        product[:, rows, :] = xp.matmul(a[:, rows, :], b)

    each(multiply, parts, a)
    return product
