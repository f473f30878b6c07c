"""The ordered pairs of secrets, and the moves between tables per secret and tables per pair.

A pair t = (s1, s2) is numbered s1·(|S|−1) + (s2 − s1 − 1 mod |S|). Moves are products with a 0/1
matrix or gathers along a fixed permutation, so they run on any array library without scattering.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldp.problem import ordered_pairs
from rldp.solver.arrays import Constant, reshape
from rldp.support import Array


@dataclass(frozen=True)
class Pairs(Constant):
    """Index arrays for |S| secrets, in the array library ``xp``.

    Attributes
    ----------
    incidence : array (|S|, 2T)
        1 where a secret is an end of a pair, the ends of one pair side by side.
    slots : array (|S|·2(|S|−1),)
        For each secret the columns of ``incidence`` where it stands.
    reverse : array (T,)
        Number of the pair (s2, s1).
    blocks : array (|S|²,)
        Where block (s, s') stands in the list 'for each s: diagonal block, then its pairs'.
    """

    xp: Array
    secrets: int
    incidence: Array
    slots: Array
    reverse: Array
    blocks: Array

    @classmethod
    def of(cls, secrets: int, xp: Array) -> Pairs:
        pairs = ordered_pairs(secrets)
        number = {(int(a), int(b)): t for t, (a, b) in enumerate(pairs)}
        slots = np.argsort(pairs.reshape(-1), kind="stable")
        reverse = np.array([number[int(b), int(a)] for a, b in pairs], dtype=np.int64)
        s = np.arange(secrets)
        blocks = s[:, None] * secrets + (s[None, :] - s[:, None]) % secrets
        incidence = (s[:, None] == pairs.reshape(-1)).astype(np.float64)
        index = (xp.asarray(i.reshape(-1)) for i in (slots, reverse, blocks))
        return cls(xp, secrets, xp.asarray(incidence), *index)

    @property
    def count(self) -> int:
        """T = |S|(|S|−1)."""
        return self.secrets * (self.secrets - 1)

    def ends_of(self, table: Array) -> Array:
        """(..., |S|, U) → (..., T, 2, U): what each pair sees of ``table``."""
        seen = self.xp.matmul(self.xp.matrix_transpose(self.incidence), table)
        return reshape(seen, table.shape[:-2] + (self.count, 2, table.shape[-1]))

    def sum_per_secret(self, table: Array) -> Array:
        """(..., T, 2, U) → (..., |S|, U): entries added up by secret."""
        head, values = table.shape[:-3], table.shape[-1]
        merged = reshape(table, head + (2 * self.count, values))
        return self.xp.matmul(self.incidence, merged)

    def per_secret(self, table: Array) -> Array:
        """(K, Y, T, 2, ...) → (K, Y, |S|, 2(|S|−1), ...): the same entries, grouped by secret."""
        head, tail = table.shape[:2], table.shape[4:]
        merged = reshape(table, head + (2 * self.count,) + tail)
        shape = head + (self.secrets, 2 * (self.secrets - 1)) + tail
        return reshape(self.xp.take(merged, self.slots, axis=2), shape)

    def block_matrix(self, diagonal: Array, off: Array) -> Array:
        """(K, Y, |S|, U, U) and (K, Y, T, U, U) as one matrix (K, Y, |S|U, |S|U) per output."""
        xp, s = self.xp, self.secrets
        head, values = diagonal.shape[:2], diagonal.shape[-1]
        rows = reshape(off, head + (s, s - 1, values, values))
        blocks = xp.concat([diagonal[:, :, :, None, ...], rows], axis=3)
        blocks = reshape(blocks, head + (s * s, values, values))
        blocks = reshape(xp.take(blocks, self.blocks, axis=2), head + (s, s, values, values))
        matrix = xp.permute_dims(blocks, (0, 1, 2, 4, 3, 5))
        return reshape(matrix, head + (s * values, s * values))
