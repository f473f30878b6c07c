r"""The matrices :math:`H_y` of windows, never written out: all secrets apart but for one direction.

:math:`H_y^{-1} = A_y^{-1} + f_y f_y^\top/\lambda_y`, where :math:`A_y` has a diagonal and a low rank for each
secret. Outputs meet as in :mod:`.dense`, and their border is found group by group of cells, here the
secrets. See ``docs/theory.md``, 'Windows' and 'Low ranks'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from rldp.designer.engine.algebra.arrays import apply, diagonal_matrix, flat, reshape
from rldp.designer.engine.algebra.inverse import scaled_inverse
from rldp.designer.engine.settings import SETTINGS
from rldp.designer.engine.terms.utility import UtilityCurvature
from rldp.theory.namespace import Array, namespace

if TYPE_CHECKING:
    from rldp.designer.engine.algebra.linked import LinkedBlocks


class GroupedBlocks(Protocol):
    r""":math:`H^{-1} = A^{-1} + ff^\top/\lambda`, where A keeps G groups of W cells apart."""

    @property
    def inverse(self) -> Array:
        """What A would have on the diagonal of its inverse if it were diagonal: (K, Y, G, W)."""

    @property
    def free(self) -> Array:
        """f: (K, Y, G, W)."""

    @property
    def energy(self) -> Array:
        """λ: (K, Y)."""

    def per_group(self, r: Array) -> Array:
        """A⁻¹ r for r (K, Y, G, W)."""

    def total(self, left: Array, right: Array) -> Array:
        """Σ left A⁻¹ right over the outputs: (K, G, W, W), for diagonal weights (K, Y, G, W)."""


Blocks = TypeVar("Blocks", "SeparateBlocks", "LinkedBlocks")


def freed(blocks: Blocks, image: Array) -> Blocks:
    """With f and λ, where ``blocks`` hold a direction ξ and its energy ξ·Hξ in their places.

    ``image`` (K, Y, G, W) is Hξ. Then f = ξ − A⁻¹Hξ and λ = ξ·Hξ − Hξ·A⁻¹Hξ, in numbers of the size of the
    result. Solving for the row of A that f belongs to instead would lose all digits that matter.
    """
    xp, energy = namespace(image), blocks.energy
    reply = blocks.per_group(image)
    left = xp.maximum(energy - xp.sum(image * reply, axis=(2, 3)), SETTINGS.least_energy * energy)
    return replace(blocks, free=blocks.free - reply, energy=left)


def apart(basis: Array, x: Array) -> tuple[Array, Array]:
    """What is left of x (…, U) beside an orthonormal ``basis`` (…, U, m), and its coordinates there (…, m).

    Taken apart twice: what is left is then orthogonal to the basis to its own last digit, not to that of x.
    """
    transposed = namespace(x).matrix_transpose(basis)
    seen = apply(transposed, x)
    rest = x - apply(basis, seen)
    more = apply(transposed, rest)
    return rest - apply(basis, more), seen + more


def orthonormal(columns: Array) -> tuple[Array, Array]:
    """An orthonormal basis (…, U, r) of ``columns`` (…, U, m), and what they are in it (…, r, m).

    Where a column depends on those before it, but for rounding, the basis has zeros instead of another.
    """
    xp, (values, m) = namespace(columns), columns.shape[-2:]
    if m > min(values, SETTINGS.gram_schmidt):
        return xp.linalg.qr(columns)  # type: ignore[no-any-return]
    lengths = xp.sqrt(xp.sum(columns * columns, axis=-2, keepdims=True))  # (…, 1, m)
    basis, rows = columns[..., :1] / xp.where(lengths > 0, lengths, 1.0)[..., :1], lengths[..., :1]
    for column in range(1, m):
        rest, seen = apart(basis, columns[..., column])
        length = xp.sqrt(xp.sum(rest * rest, axis=-1))[..., None, None]
        new = length > SETTINGS.dependent * lengths[..., column : column + 1]
        rest = xp.where(new, rest[..., None] / xp.where(new, length, 1.0), 0.0)
        basis = xp.concat([basis, rest], axis=-1)
        above = xp.concat([rows, seen[..., None]], axis=-1)
        below = xp.concat([0 * above[..., :1, :-1], xp.where(new, length, 0.0)], axis=-1)
        rows = xp.concat([above, below], axis=-2)
    return basis, rows


@dataclass(frozen=True)
class SeparateBlocks:
    r""":math:`A^{-1} = D^{-1/2}(1 - BB^\top + BNB^\top)D^{-1/2}` for each secret; the secrets are the groups.

    B is an orthonormal basis of what the ranks of a secret span.
    """

    inverse: Array  # (K, Y, S, U): 1/d
    basis: Array  # (K, Y, S, U, m): B
    core: Array  # (K, Y, S, m, m): N
    free: Array  # (K, Y, S, U): f
    energy: Array  # (K, Y)

    @classmethod
    def of(
        cls, d: Array, vectors: Array, kernel: Array, free: Array, image: Array, energy: Array
    ) -> SeparateBlocks:
        """Of diag(d) + vectors kernel vectorsᵀ per secret, less what one more unknown per output gives way.

        Rather than its row, it is known what the whole makes of a direction where it is nearly singular:
        ``free`` with a unit of that unknown meets the forces ``image`` and has this ``energy``.
        """
        xp = namespace(d)
        basis, rows = orthonormal(vectors / d[..., None] ** 0.5)
        stiff = xp.matmul(xp.matmul(rows, kernel), xp.matrix_transpose(rows))
        core = core_of(stiff)
        return freed(cls(1 / d, basis, core, free, energy), image)

    def border(self, distortion: Array, utility: UtilityCurvature | None) -> LowRankBorder:
        """How the outputs meet, for a ``distortion`` (Y, 1, U)."""
        return LowRankBorder.of(self, distortion, utility)

    def per_group(self, r: Array) -> Array:
        """A⁻¹ r for r (K, Y, S, U)."""
        root = self.inverse**0.5
        rest, seen = apart(self.basis, root * r)
        return root * (rest + apply(self.basis, apply(self.core, seen)))

    def total(self, left: Array, right: Array) -> Array:
        """Σ left A⁻¹ right over the outputs: (K, S, U, U), for diagonal weights (K, Y, S, U)."""
        xp, root = namespace(left), (self.inverse**0.5)[..., None]
        taken = xp.eye(self.core.shape[-1], dtype=root.dtype) - self.core
        rows = _outputs_inside(left[..., None] * root * self.basis)
        columns = _outputs_inside(right[..., None] * root * xp.matmul(self.basis, taken))
        diagonal = xp.sum(left * self.inverse * right, axis=1)
        return (1 + SETTINGS.schur_jitter) * diagonal_matrix(diagonal) - xp.matmul(
            rows, xp.matrix_transpose(columns)
        )


def core_of(stiff: Array) -> Array:
    """N = (1 + stiff)⁻¹ for symmetric ``stiff`` (…, m, m) whose ranks have an orthonormal basis."""
    xp = namespace(stiff)
    stiff = (stiff + xp.matrix_transpose(stiff)) / 2
    return scaled_inverse(stiff + xp.eye(stiff.shape[-1], dtype=stiff.dtype), SETTINGS.schur_jitter)


@dataclass(frozen=True)
class LowRankBorder:
    r"""A Schur complement for each group of cells, and one over the outputs.

    Unknowns x that all outputs see of a cell are ν and, with a robust utility, the force F. With
    :math:`q_y = A_y^{-1}(r_y + \sum_c e_{cy} x_c) + f_y t_y`, where e = 1 for ν and −d for F, they
    meet only in t and in two numbers of the utility: its η, and what its rank-one curvature takes of F.
    """

    blocks: GroupedBlocks
    weights: tuple[Array, ...]  # (K, Y, G, W) each: e
    centre: Array  # (K, G, W): d is measured from here
    schur: Array  # (K, G, cW, cW)
    across: Array  # (K, G, cW, Y or Y + 2)
    reply: Array  # the same, met by the Schur complements
    inner: Array  # (K, Y, Y), or (K, Y + 2, Y + 2)

    @classmethod
    def of(cls, blocks: GroupedBlocks, distortion: Array, utility: UtilityCurvature | None) -> LowRankBorder:
        """For a ``distortion`` (Y, 1, W)."""
        xp, (k, _, groups, width) = namespace(blocks.free), blocks.free.shape
        cells, one = (k, groups, width), xp.ones_like(blocks.free)
        freedom = xp.sum(blocks.inverse, axis=1)
        centre = xp.sum(blocks.inverse * distortion, axis=1) / freedom
        weights = (one,) if utility is None else (one, centre[:, None, ...] - distortion)
        totals = [[blocks.total(e, f) for f in weights[: i + 1]] for i, e in enumerate(weights)]
        across = xp.concat([xp.permute_dims(e * blocks.free, (0, 2, 3, 1)) for e in weights], axis=2)
        energy = blocks.energy
        if utility is not None:
            softness, pull, left = (reshape(x, cells) if x.ndim > 1 else x for x in utility.compliance())
            totals[1][1] = totals[1][1] + diagonal_matrix(softness)
            none = 0 * pull
            numbers = [xp.concat([none, x], axis=2) for x in (pull, none + 1)]
            across = xp.concat([across, xp.stack(numbers, axis=-1)], axis=-1)
            energy = xp.concat([energy, left[:, None], 0 * left[:, None]], axis=1)
        schur = scaled_inverse(_symmetric(totals), SETTINGS.schur_jitter)
        reply = xp.matmul(schur, across)
        rows, columns = (reshape(x, (k, -1, energy.shape[1])) for x in (across, reply))
        inner = xp.matmul(xp.matrix_transpose(rows), columns) + diagonal_matrix(energy)
        return cls(
            blocks, weights, centre, schur, across, reply, scaled_inverse(inner, SETTINGS.schur_jitter)
        )

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n).

        Sums that rounding missed are made good in a second pass: protocols live by them.
        """
        blocks = self.blocks
        xp, (k, outputs, groups, width) = namespace(r), blocks.free.shape
        r, total = reshape(r, blocks.free.shape), reshape(total, (k, groups, width))
        q, nu = self._met(blocks.per_group(r), xp.sum(blocks.free * r, axis=(2, 3)), total)
        more, extra = self._met(0 * q, 0 * q[:, :, 0, 0], total - xp.sum(q, axis=1))
        return reshape(q + more, (k, outputs, -1)), flat(nu + extra)

    def _met(self, moved: Array, asked: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, G, W) and ν (K, G, W), from A⁻¹r, f·r and the sums."""
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
        """(K, Y) with zeros for the numbers of the utility."""
        missing = self.inner.shape[-1] - x.shape[1]
        return namespace(x).concat([x, 0 * x[:, :missing]], axis=1) if missing else x


def _symmetric(lower: list[list[Array]]) -> Array:
    """Blocks (K, G, W, W) on and below the diagonal of a symmetric matrix → (K, G, cW, cW)."""
    if len(lower) == 1:
        return lower[0][0]
    xp = namespace(lower[0][0])
    (first,), (cross, second) = lower
    top = xp.concat([first, xp.matrix_transpose(cross)], axis=-1)
    return xp.concat([top, xp.concat([cross, second], axis=-1)], axis=-2)


def _outputs_inside(x: Array) -> Array:
    """(K, Y, S, U, m) → (K, S, U, Y·m)."""
    k, outputs, secrets, values, m = x.shape
    moved = namespace(x).permute_dims(x, (0, 2, 3, 1, 4))
    return reshape(moved, (k, secrets, values, outputs * m))
