"""Sources of random words: the operating system, or a seed for tests."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import seed_number
from rldp.errors import InvalidArgument
from rldp.theory.sampling import Randomness

__all__ = ["randomness", "secure_words"]


def randomness(seed: int | None, key: object = None) -> Randomness:
    """Return the operating system's secure randomness or, with a seed, a reproducible stream for tests.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If the seed is not an integer from 0 to 2^128 − 1, or if there is a key, which determines the draws.
    """
    if seed is None:
        return secure_words
    if key is not None:
        raise InvalidArgument("seed must not be given with a key, which determines the draws")
    return np.random.PCG64(seed_number(seed)).random_raw


def secure_words(count: int) -> NDArray[np.uint64]:
    """Return words of the operating system. It has no state in this process: threads and forks share it."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
