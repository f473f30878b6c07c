"""The grid that probabilities live on: integers over one power of two, so that every one is exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "DENOMINATOR", "numerators", "on_grid"]

BITS = 52
DENOMINATOR: int = 2**BITS


def on_grid(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearest multiples of the grain; the largest entry of a row (last axis) takes what is left over."""
    units = np.rint(matrix * DENOMINATOR)
    left = DENOMINATOR - units.sum(axis=-1)
    largest = np.arange(matrix.shape[-1]) == matrix.argmax(axis=-1)[..., None]
    np.add(units, left[..., None], out=units, where=largest)
    return np.asarray(units / DENOMINATOR)


def numerators(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """The integers that probabilities on the grid are, over ``DENOMINATOR``."""
    units: NDArray[np.int64] = (matrix * DENOMINATOR).astype(np.int64)
    return units
