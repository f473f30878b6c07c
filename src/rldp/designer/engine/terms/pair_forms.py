r"""Linear forms on Q, a few for each pair of secrets: what the privacy terms' curvature is made of.

A form of a pair is a row of coefficients for :math:`x_1 = Q[s_1,:,y]` and :math:`x_2 = -E\,Q[s_2,:,y]`.
With few secrets rows are spread over all cells, so that everything is a plain product of matrices; with
many, most of that would be zeros, and a row has the cells of its two secrets only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rldp.designer.engine.algebra.arrays import Constant, apply, reshape
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.pair_index import PairIndex
from rldp.theory.namespace import Array, namespace


@dataclass(frozen=True)
class Cells(Constant):
    """The value of each cell of a row: (W,)."""

    values: Array
    count: int  # of different ones


@dataclass(frozen=True)
class Placed:
    """Where the coefficients of an end stand in its row of W cells."""

    place: Array  # (K, 1, T or 1, 2, W): 1 and −E at the cells of the end
    cells: Cells

    def rows(self, table: Array) -> Array:
        """One form for each end: (K, Y, T, 2, W), with its coefficients from ``table`` (K, Y, T, 2, U)."""
        return self.place * namespace(table).take(table, self.cells.values, axis=-1)


@dataclass(frozen=True)
class SpreadForms(Placed):
    """Rows (K, Y, T, m, |S|U) over all cells."""

    @classmethod
    def of(cls, pairs: PairIndex, sign: Array, values: int) -> SpreadForms:
        ends = reshape(pairs.ends_matrix(sign), (sign.shape[0], 1, pairs.count, 2, pairs.secrets))
        return cls(*_placed(ends, values))

    def values(self, rows: Array, q: Array) -> Array:
        """The forms at ``q`` (K, Y, |S|, U): (K, Y, T, m)."""
        k, outputs = q.shape[:2]
        flat = apply(_merged(rows), reshape(q, (k, outputs, -1)))
        return reshape(flat, (k, outputs, *rows.shape[2:4]))

    def total(self, rows: Array, weights: Array) -> Array:
        """Σ weights · forms, as coefficients of Q: (K, Y, |S|, U) for weights (K, Y, T, m)."""
        k, outputs = weights.shape[:2]
        flat = reshape(weights, (k, outputs, -1))
        total = apply(namespace(rows).matrix_transpose(_merged(rows)), flat)
        return reshape(total, (k, outputs, -1, self.cells.count))

    def gram(self, left: Array, right: Array) -> Array:
        """Σ left ⊗ right, symmetric by assumption: (K, Y, |S|U, |S|U)."""
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
        """The forms at ``q`` (K, Y, |S|, U): (K, Y, T, m)."""
        seen = self.pairs.ends_of(q)
        return apply(rows, reshape(seen, (*seen.shape[:3], -1)))

    def total(self, rows: Array, weights: Array) -> Array:
        """Σ weights · forms, as coefficients of Q: (K, Y, |S|, U) for weights (K, Y, T, m)."""
        total = apply(namespace(rows).matrix_transpose(rows), weights)
        return self.pairs.sum_per_secret(reshape(total, (*total.shape[:3], 2, -1)))

    def gram(self, left: Array, right: Array) -> Array:
        """Σ left ⊗ right, symmetric by assumption: (K, Y, |S|U, |S|U)."""
        xp, pairs = namespace(left), self.pairs
        left, right = (_per_end(x) for x in (left, right))
        own_left, own_right = (_joined(pairs.per_secret(x)) for x in (left, right))
        own = xp.matmul(xp.matrix_transpose(own_left), own_right)
        return pairs.block_matrix(own, pairs.blocks_above(left[:, :, :, 0, ...], right[:, :, :, 1, ...]))


Forms: TypeAlias = SpreadForms | PairForms


def forms_of(pairs: PairIndex, sign: Array, values: int, settings: Settings) -> Forms:
    """The kind of forms that suits the number of secrets; ``sign`` (K, 1, 1, 2, 1) is 1 and −E."""
    return (SpreadForms if pairs.secrets <= settings.few_secrets else PairForms).of(pairs, sign, values)


def _placed(place: Array, values: int) -> tuple[Array, Cells]:
    """Ends ``place`` (..., V) in rows of V·``values`` cells."""
    xp, secrets = namespace(place), place.shape[-1]
    tile = xp.arange(secrets * values)
    return xp.take(place, tile // values, axis=-1), Cells(tile % values, values)


def _merged(rows: Array) -> Array:
    """(K, Y, T, m, W) → (K, Y, T·m, W)."""
    k, outputs, count, m, width = rows.shape
    return reshape(rows, (k, outputs, count * m, width))


def _per_end(rows: Array) -> Array:
    """(K, Y, T, m, 2U) → (K, Y, T, 2, m, U)."""
    k, outputs, count, m, width = rows.shape
    ends = reshape(rows, (k, outputs, count, m, 2, width // 2))
    return namespace(rows).permute_dims(ends, (0, 1, 2, 4, 3, 5))


def _joined(table: Array) -> Array:
    """(K, Y, |S|, r, m, U) → (K, Y, |S|, r·m, U)."""
    k, outputs, secrets, r, m, values = table.shape
    return reshape(table, (k, outputs, secrets, r * m, values))
