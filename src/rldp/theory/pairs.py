"""Ordered pairs of secrets, and what a table of counts or probabilities says about their two ends.

The code follows the array API standard.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.theory.namespace import Array, namespace, row_sum

__all__ = ["ordered_pairs", "per_pair", "per_secret", "summed_per_secret"]


@lru_cache(maxsize=64)
def ordered_pairs(secrets: int) -> NDArray[np.int64]:
    """All (s1, s2) with s1 ≠ s2 as an array (T, 2): s1 = 0 first, s2 counting up cyclically."""
    first = np.repeat(np.arange(secrets), secrets - 1)
    second = (first + 1 + np.tile(np.arange(secrets - 1), secrets)) % secrets
    pairs = np.stack([first, second], axis=1)
    pairs.flags.writeable = False
    return pairs


def per_secret(table: Array) -> tuple[Array, Array]:
    """Masses (..., |S|) and conditionals (..., |S|, U) of the secrets.

    Parameters
    ----------
    table : array (..., |S|, U)
        Counts or probabilities. The conditional of a secret without any is zero.
    """
    masses = row_sum(table)
    return masses, table / namespace(masses).where(masses > 0, masses, 1.0)[..., None]


def per_pair(table: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same for the two ends of every pair: (..., T, 2) and (..., T, 2, U)."""
    pairs = ordered_pairs(table.shape[-2])
    masses, conditionals = per_secret(table)
    return masses[..., pairs], conditionals[..., pairs, :]


def summed_per_secret(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries of the ends of pairs (..., T, 2, U), added up by secret: (..., |S|, U)."""
    secrets = _secrets_of(table.shape[-3])
    shape = (*table.shape[:-3], secrets, secrets - 1, table.shape[-1])
    by_second = np.argsort(ordered_pairs(secrets)[:, 1], kind="stable")
    first, second = table[..., 0, :], table[..., by_second, 1, :]
    return np.asarray(first.reshape(shape).sum(axis=-2) + second.reshape(shape).sum(axis=-2))


def _secrets_of(pairs: int) -> int:
    """|S| from |S|(|S| − 1)."""
    return (1 + isqrt(1 + 4 * pairs)) // 2
