"""Entries of an array → codes, by the fastest way there is for their type. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOT_A_LABEL", "Codes", "Finder", "among_neighbours", "among_numbers", "among_texts"]

Codes: TypeAlias = NDArray[np.int32]
Finder: TypeAlias = Callable[[NDArray[Any]], Codes]
"""A block of entries → their codes."""

NOT_A_LABEL = -1
_MOST_HASHED = 2**10  # numbers, whose table then has 2^21 slots


def among_neighbours(codes: dict[int, int]) -> Finder:
    """Of integers that lie close together, by a table from the smallest to the largest."""
    lowest, size = min(codes), max(codes) - min(codes) + 1
    table = np.full(size + 1, NOT_A_LABEL, dtype=np.int32)
    for number, code in codes.items():
        table[number - lowest] = code
    shift = np.uint64(lowest % 2**64)

    def find(block: NDArray[Any]) -> Codes:
        place = block.astype(np.uint64)  # modulo 2^64: what is too small becomes too large
        place -= shift
        np.minimum(place, np.uint64(size), out=place)
        return table[place.view(np.int64)]

    return find


def among_numbers(codes: dict[Any, int], dtype: np.dtype[Any]) -> Finder:
    """Of numbers of any size, as ``dtype``: 64-bit integers or floats that hold them exactly."""
    if not codes:
        return _nowhere
    known = np.array(sorted(codes), dtype=dtype)
    table = np.array([codes[number] for number in sorted(codes)], dtype=np.int32)
    place_of = _hashed(known) if len(known) <= _MOST_HASHED else _bisected(known)

    def find(block: NDArray[Any]) -> Codes:
        wide = block.astype(dtype)
        place = place_of(wide)
        return np.where(known[place] == wide, table[place], np.int32(NOT_A_LABEL))

    return find


def _hashed(known: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[np.int32]]:
    """Where a number stands if it is known, else anywhere: by the first bits of a product with an odd factor.

    Two numbers share a slot under at most 2/m of all odd factors (Dietzfelbinger and others, 1997), m the
    number of slots. With m = 2n² or more, at least every second factor gives n numbers slots of their own.
    """
    bits = 2 * (len(known) - 1).bit_length() + 1
    shift = np.uint64(64 - bits)

    def slots(numbers: NDArray[Any], factor: NDArray[np.uint64]) -> NDArray[np.int64]:
        # Adding 0 makes a copy, and of −0.0 the zero that it equals.
        keys: NDArray[np.uint64] = (numbers + numbers.dtype.type(0)).view(np.uint64)
        keys *= factor
        keys >>= shift
        return keys.view(np.int64)

    draws = (np.random.PCG64(i).random_raw(1) | np.uint64(1) for i in count())
    factor = next(f for f in draws if len(np.unique(slots(known, f))) == len(known))
    table = np.zeros(2**bits, dtype=np.int32)
    table[slots(known, factor)] = np.arange(len(known))
    return lambda block: table[slots(block, factor)]


def _bisected(known: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[np.intp]]:
    return lambda block: np.minimum(np.searchsorted(known, block), len(known) - 1)


def among_texts(codes: dict[str, int], dtype: np.dtype[Any]) -> Finder:
    """Of text of fixed width, by a sum over its letters that differs from label to label.

    Equal sums are compared in full.
    """
    width = dtype.itemsize // 4
    fitting = [label for label in codes if len(label) <= width and not label.endswith("\0")]
    if not fitting:
        return _nowhere
    known = np.array(fitting, dtype=dtype)
    table = np.array([codes[label] for label in fitting], dtype=np.int32)

    def sums(block: NDArray[Any], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
        letters = np.ascontiguousarray(block, dtype=dtype).view(np.uint32).reshape(len(block), width)
        return letters @ factors

    draws = (np.random.PCG64(i).random_raw(width) for i in count())
    factors = next(f for f in draws if len(np.unique(sums(known, f))) == len(known))
    place_of = among_numbers({int(x): i for i, x in enumerate(sums(known, factors))}, np.dtype(np.uint64))

    def find(block: NDArray[Any]) -> Codes:
        place = place_of(sums(block, factors))
        return np.where(known[place] == block, table[place], np.int32(NOT_A_LABEL))

    return find


def _nowhere(block: NDArray[Any]) -> Codes:
    return np.full(len(block), NOT_A_LABEL, dtype=np.int32)
