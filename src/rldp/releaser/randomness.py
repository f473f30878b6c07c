"""Sources of random words: the operating system, or a seed for tests."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import seed_number
from rldp.errors import InvalidArgument
from rldp.theory.sampling import Randomness

__all__ = ["randomness", "require_no_seed"]


def randomness(seed: int | None) -> Randomness:
    """Return the operating system's secure randomness or, with a seed, a reproducible stream for tests.

    The secure source has no state in this process, so threads and forked processes can share it.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If the seed is not an integer from 0 to 2^128 − 1.
    """
    if seed is None:
        return _system
    return np.random.PCG64(seed_number(seed)).random_raw


def require_no_seed(seed: int | None) -> None:
    """Refuse a seed with a key, which determines the draws."""
    if seed is not None:
        raise InvalidArgument("seed must not be given with a key, which determines the draws")


def _system(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
