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

__all__ = ["ordered_pairs", "per_pair", "per_secret", "slots", "summed_per_secret"]


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
    head, values = table.shape[:-3], table.shape[-1]
    secrets = (1 + isqrt(1 + 4 * table.shape[-3])) // 2  # T = |S|(|S| − 1)
    places = slots(secrets)
    if not places.size:
        return np.zeros((*head, secrets, values))
    own = table.reshape(*head, -1, values).take(places, axis=-2)
    return np.asarray(own.reshape(*head, secrets, -1, values).sum(axis=-2))


@lru_cache(maxsize=64)
def slots(secrets: int) -> NDArray[np.int64]:
    """For each secret its places among the ends of all pairs: (|S|·2(|S|−1),)."""
    return np.argsort(ordered_pairs(secrets).reshape(-1), kind="stable")
