r"""Ordered pairs of secrets: moves between tables per secret and per pair, and linear forms on both ends.

A pair t = (s1, s2) has the number s1·(|S|−1) + (s2 − s1 − 1 mod |S|). Moves are products with a 0/1 matrix,
which are fast for few secrets, or gathers. Neither needs scatter operations, so any array library will do.

A form of a pair is a row of coefficients for :math:`x_1 = Q[s_1,:,y]` and :math:`x_2 = -E\,Q[s_2,:,y]`. The
curvature of a privacy term consists of a few forms per pair. For few secrets, rows extend over all cells, so
that all operations are matrix products. For many secrets such rows would be mostly zeros, so a row has only
the cells of its two secrets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, Constant, apply, namespace, ordered_pairs, reshape, slots


@dataclass(frozen=True)
class PairIndex(Constant):
    """Index arrays for |S| secrets, in the array library ``xp``.

    Attributes
    ----------
    few : bool
        Whether moves are matrix products, as for few secrets.
    ends : array (2T,)
        The secrets at the ends of the pairs; the two ends of a pair are adjacent.
    slots : array (|S|·2(|S|−1),)
        The positions of each secret in ``ends``.
    forth, back : array (T/2,)
        The numbers of the pairs (s1, s2) and (s2, s1), for all s1 < s2.
    blocks : array (|S|²,)
        The position of the block of every s1 and s2, among |S| diagonal blocks, T/2 with s1 < s2 and T/2 with
        s1 > s2.
    incidence : array (|S|, 2T)
        1 where a secret is an end of a pair; empty for many secrets.
    """

    secrets: int
    few: bool
    ends: Array
    slots: Array
    forth: Array
    back: Array
    blocks: Array
    incidence: Array

    @classmethod
    def of(cls, secrets: int, xp: Any, settings: Settings) -> PairIndex:
        """Build the index in arrays of ``xp``, on its default device."""
        few = secrets <= settings.matrix_moves
        return cls(secrets, few, *(xp.asarray(x) for x in _indices(secrets, few)))

    @property
    def count(self) -> int:
        """T = |S|(|S|−1)."""
        return self.secrets * (self.secrets - 1)

    def ends_of(self, table: Array) -> Array:
        """Return the rows of ``table`` at the ends of each pair: (..., |S|, U) → (..., T, 2, U)."""
        xp = namespace(table)
        if self.few:
            seen = xp.matmul(xp.matrix_transpose(self.incidence), table)
        else:
            seen = xp.take(table, self.ends, axis=table.ndim - 2)
        return reshape(seen, table.shape[:-2] + (self.count, 2, table.shape[-1]))

    def ends_matrix(self, sign: Array) -> Array:
        """Return the matrix (K, 1, 2T, |S|) of :meth:`ends_of` times ``sign`` (K, 1, 1, 2, 1)."""
        xp = namespace(sign)
        is_end = self.ends[:, None] == xp.arange(self.secrets)[None, :]
        ends = reshape(xp.astype(is_end, sign.dtype), (self.count, 2, self.secrets))
        return reshape(sign * ends, (sign.shape[0], 1, 2 * self.count, self.secrets))

    def sum_per_secret(self, table: Array) -> Array:
        """Sum entries by secret: (..., T, 2, U) → (..., |S|, U)."""
        head, values = table.shape[:-3], table.shape[-1]
        merged = reshape(table, head + (2 * self.count, values))
        if self.few:
            return namespace(table).matmul(self.incidence, merged)
        xp = namespace(table)
        own = xp.take(merged, self.slots, axis=len(head))
        return xp.sum(reshape(own, head + (self.secrets, 2 * (self.secrets - 1), values)), axis=len(head) + 1)

    def per_secret(self, table: Array) -> Array:
        """Group entries by secret: (K, Y, T, 2, ...) → (K, Y, |S|, 2(|S|−1), ...)."""
        head, tail = table.shape[:2], table.shape[4:]
        merged = reshape(table, head + (2 * self.count,) + tail)
        shape = head + (self.secrets, 2 * (self.secrets - 1)) + tail
        return reshape(namespace(table).take(merged, self.slots, axis=2), shape)

    def links(self, kernel: Array) -> Array:
        """Assemble kernels (K, Y, T, 4, 4) of pairs into one (K, Y, |S|m, |S|m) of secrets, m = 4(|S|−1).

        A pair has two numbers for each end; those of the first kind come before those of the second. A secret
        has them for every end at which it stands, in the order of :meth:`per_secret`.
        """
        xp, (k, outputs) = namespace(kernel), kernel.shape[:2]
        entries = reshape(kernel, (k, outputs, -1))
        entries = xp.concat([entries, 0 * entries[:, :, :1]], axis=2)
        size = 4 * self.count
        places = xp.asarray(_places_of_links(self.secrets))
        return reshape(xp.take(entries, places, axis=2), (k, outputs, size, size))

    def block_matrix(self, diagonal: Array, off: Array) -> Array:
        """Assemble one symmetric matrix (K, Y, |S|U, |S|U) per output.

        The diagonal blocks are (K, Y, |S|, U, U), and those above the diagonal (K, Y, T/2, U, U) in the order
        of ``forth``.
        """
        s, head, values = self.secrets, diagonal.shape[:2], diagonal.shape[-1]
        xp = namespace(diagonal)
        if self.few:
            return reshape(self._placed(diagonal, off), head + (s * values, s * values))
        blocks = xp.concat([diagonal, off, xp.matrix_transpose(off)], axis=2)
        blocks = reshape(xp.take(blocks, self.blocks, axis=2), head + (s, s, values, values))
        return reshape(xp.permute_dims(blocks, (0, 1, 2, 4, 3, 5)), head + (s * values, s * values))

    def _placed(self, diagonal: Array, off: Array) -> Array:
        """Return the same as (K, Y, |S|, U, |S|, U), block by block, to avoid a copy of all blocks."""
        s, values, xp = self.secrets, diagonal.shape[-1], namespace(diagonal)
        matrix = xp.empty(diagonal.shape[:2] + (s, values, s, values), dtype=diagonal.dtype)
        for secret in range(s):
            matrix[:, :, secret, :, secret, :] = diagonal[:, :, secret, ...]
        for place, (first, second) in enumerate(_two_secrets(s)):
            block = off[:, :, place, ...]
            matrix[:, :, first, :, second, :] = block
            matrix[:, :, second, :, first, :] = xp.matrix_transpose(block)
        return matrix

    def blocks_above(self, left: Array, right: Array) -> Array:
        """Return sums of outer products (K, Y, T/2, U, U) for :meth:`block_matrix`.

        A pair adds left ⊗ right, both (K, Y, T, m, U), to the block of its first and second secret.
        """
        xp = namespace(left)
        (left, left_back), (right, right_back) = (
            (xp.take(x, self.forth, axis=2), xp.take(x, self.back, axis=2)) for x in (left, right)
        )
        rows, columns = xp.concat([left, right_back], axis=-2), xp.concat([right, left_back], axis=-2)
        return xp.matmul(xp.matrix_transpose(rows), columns)


@dataclass(frozen=True)
class Ends:
    """The ends of pairs with their signs: the map from Q to the ends, and its adjoint.

    For few secrets both are products with the same matrix.
    """

    pairs: PairIndex
    sign: Array  # (K, 1, 1, 2, 1): 1 and −E
    matrix: Array | None  # (K, 1, 2T, |S|), for few secrets

    @classmethod
    def of(cls, pairs: PairIndex, sign: Array) -> Ends:
        return cls(pairs, sign, pairs.ends_matrix(sign) if pairs.few else None)

    def seen(self, q: Array) -> Array:
        """Return the signed rows at the ends: (K, Y, |S|, U) → (K, Y, T, 2, U)."""
        if self.matrix is None:
            return self.sign * self.pairs.ends_of(q)
        k, outputs, _, values = q.shape
        return reshape(namespace(q).matmul(self.matrix, q), (k, outputs, self.pairs.count, 2, values))

    def back(self, table: Array) -> Array:
        """Apply the adjoint: sum entries (K, Y, T, 2, U) of the pairs with their signs to (K, Y, |S|, U)."""
        if self.matrix is None:
            return self.pairs.sum_per_secret(self.sign * table)
        return _product(self.matrix, table)

    def squared_back(self, table: Array) -> Array:
        """Sum curvatures in the same way, with squared signs."""
        if self._squares is None:
            return self.pairs.sum_per_secret(self.sign**2 * table)
        return _product(self._squares, table)

    @cached_property
    def _squares(self) -> Array | None:
        return None if self.matrix is None else self.matrix**2


def _product(matrix: Array, table: Array) -> Array:
    """Multiply the transpose of ``matrix`` (K, 1, 2T, |S|) by ``table`` (K, Y, T, 2, U)."""
    xp, (k, outputs, pairs, two, values) = namespace(table), table.shape
    return xp.matmul(xp.matrix_transpose(matrix), reshape(table, (k, outputs, pairs * two, values)))


@lru_cache(maxsize=16)
def _indices(secrets: int, few: bool) -> tuple[Any, ...]:
    """Return the arrays of :class:`PairIndex` as NumPy arrays."""
    pairs = ordered_pairs(secrets)
    ends = pairs.reshape(-1)
    first, second = pairs.T
    number = np.zeros((secrets, secrets), dtype=np.int64)
    number[first, second] = np.arange(len(pairs))
    forth = np.flatnonzero(first < second)
    back = number[second[forth], first[forth]]
    blocks = np.diag(np.arange(secrets))
    blocks[first[forth], second[forth]] = secrets + np.arange(len(forth))
    blocks[second[forth], first[forth]] = secrets + len(forth) + np.arange(len(forth))
    shown = ends if few else ends[:0]
    incidence = (np.arange(secrets)[:, None] == shown).astype(np.float64)
    return ends, slots(secrets), forth, back, blocks.reshape(-1), incidence


@lru_cache(maxsize=16)
def _two_secrets(secrets: int) -> list[tuple[int, int]]:
    """Return all s1 < s2, in the order of ``forth``."""
    pairs = ordered_pairs(secrets)
    return [(int(a), int(b)) for a, b in pairs[pairs[:, 0] < pairs[:, 1]]]


@lru_cache(maxsize=16)
def _places_of_links(secrets: int) -> Any:
    """Return the index in the pairs' kernels of each entry of :meth:`PairIndex.links`; the last for zeros."""
    count, ends = secrets * (secrets - 1), 2 * (secrets - 1)
    place = np.empty(2 * count, dtype=np.int64)
    place[slots(secrets)] = np.arange(2 * count)
    own = (place // ends * 2 * ends + place % ends).reshape(count, 2)
    numbers = np.concatenate([own, own + ends], axis=1)  # (T, 4)
    places = np.full((4 * count, 4 * count), 16 * count, dtype=np.int64)
    places[numbers[:, :, None], numbers[:, None, :]] = np.arange(16 * count).reshape(count, 4, 4)
    return places.reshape(-1)


@dataclass(frozen=True)
class Cells(Constant):
    """The value of each cell of a row: (W,)."""

    values: Array
    count: int  # of distinct values


@dataclass(frozen=True)
class Placed:
    """The positions of an end's coefficients in its row of W cells."""

    place: Array  # (K, 1, T or 1, 2, W): 1 and −E at the cells of the end
    cells: Cells

    def rows(self, table: Array) -> Array:
        """Return a form per end (K, Y, T, 2, W), with coefficients from ``table`` (K, Y, T, 2, U)."""
        return self.place * namespace(table).take(table, self.cells.values, axis=-1)

    def shared(self) -> SpreadForms:
        """Return the forms for a row that all secrets share, by summing coefficients over the secrets."""
        xp, count = namespace(self.place), self.cells.count
        place = xp.sum(reshape(self.place, (*self.place.shape[:-1], -1, count)), axis=-2)
        return SpreadForms(place, Cells(xp.arange(count), count))


@dataclass(frozen=True)
class SpreadForms(Placed):
    """Rows (K, Y, T, m, |S|U) over all cells."""

    @classmethod
    def of(cls, pairs: PairIndex, sign: Array, values: int) -> SpreadForms:
        ends = reshape(pairs.ends_matrix(sign), (sign.shape[0], 1, pairs.count, 2, pairs.secrets))
        return cls(*_placed(ends, values))

    def values(self, rows: Array, q: Array) -> Array:
        """Evaluate the forms at ``q`` (K, Y, |S|, U): (K, Y, T, m)."""
        k, outputs = q.shape[:2]
        flat = apply(_merged(rows), reshape(q, (k, outputs, -1)))
        return reshape(flat, (k, outputs, *rows.shape[2:4]))

    def total(self, rows: Array, weights: Array) -> Array:
        """Return Σ weights · forms as coefficients of Q: (K, Y, |S|, U) for weights (K, Y, T, m)."""
        k, outputs = weights.shape[:2]
        flat = reshape(weights, (k, outputs, -1))
        total = apply(namespace(rows).matrix_transpose(_merged(rows)), flat)
        return reshape(total, (k, outputs, -1, self.cells.count))

    def gram(self, left: Array, right: Array) -> Array:
        """Return Σ left ⊗ right, assumed to be symmetric: (K, Y, |S|U, |S|U)."""
        xp = namespace(left)
        return xp.matmul(xp.matrix_transpose(_merged(left)), _merged(right))


@dataclass(frozen=True)
class PairForms(Placed):
    """Rows (K, Y, T, m, 2U) over the cells of a pair."""

    pairs: PairIndex

    @classmethod
    def of(cls, pairs: PairIndex, sign: Array, values: int) -> PairForms:
        ends = sign * namespace(sign).eye(2, dtype=sign.dtype)
        return cls(*_placed(ends, values), pairs)

    def values(self, rows: Array, q: Array) -> Array:
        """Evaluate the forms at ``q`` (K, Y, |S|, U): (K, Y, T, m)."""
        seen = self.pairs.ends_of(q)
        return apply(rows, reshape(seen, (*seen.shape[:3], -1)))

    def total(self, rows: Array, weights: Array) -> Array:
        """Return Σ weights · forms as coefficients of Q: (K, Y, |S|, U) for weights (K, Y, T, m)."""
        total = apply(namespace(rows).matrix_transpose(rows), weights)
        return self.pairs.sum_per_secret(reshape(total, (*total.shape[:3], 2, -1)))

    def gram(self, left: Array, right: Array) -> Array:
        """Return Σ left ⊗ right, assumed to be symmetric: (K, Y, |S|U, |S|U)."""
        xp, pairs = namespace(left), self.pairs
        left, right = (_per_end(x) for x in (left, right))
        own_left, own_right = (_joined(pairs.per_secret(x)) for x in (left, right))
        own = xp.matmul(xp.matrix_transpose(own_left), own_right)
        return pairs.block_matrix(own, pairs.blocks_above(left[:, :, :, 0, ...], right[:, :, :, 1, ...]))


Forms: TypeAlias = SpreadForms | PairForms


def forms_of(pairs: PairIndex, sign: Array, values: int, settings: Settings) -> Forms:
    """Return the kind of forms that suits the number of secrets; ``sign`` (K, 1, 1, 2, 1) is 1 and −E."""
    return (SpreadForms if pairs.secrets <= settings.few_secrets else PairForms).of(pairs, sign, values)


def _placed(place: Array, values: int) -> tuple[Array, Cells]:
    """Expand ends ``place`` (..., V) to rows of V·``values`` cells."""
    xp, secrets = namespace(place), place.shape[-1]
    tile = xp.arange(secrets * values)
    return xp.take(place, tile // values, axis=-1), Cells(tile % values, values)


def _merged(rows: Array) -> Array:
    """Reshape (K, Y, T, m, W) → (K, Y, T·m, W)."""
    k, outputs, count, m, width = rows.shape
    return reshape(rows, (k, outputs, count * m, width))


def _per_end(rows: Array) -> Array:
    """Reshape (K, Y, T, m, 2U) → (K, Y, T, 2, m, U)."""
    k, outputs, count, m, width = rows.shape
    ends = reshape(rows, (k, outputs, count, m, 2, width // 2))
    return namespace(rows).permute_dims(ends, (0, 1, 2, 4, 3, 5))


def _joined(table: Array) -> Array:
    """Reshape (K, Y, |S|, r, m, U) → (K, Y, |S|, r·m, U)."""
    k, outputs, secrets, r, m, values = table.shape
    return reshape(table, (k, outputs, secrets, r * m, values))
