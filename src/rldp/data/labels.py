"""Entries of a column → codes: where each stands in an alphabet. NumPy only.

Two labels are the same where Python calls them equal, as in :meth:`rldp.Sample.from_data`: 1 is 1.0, and
neither is "1". What is no label of the alphabet has the code −1.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._checks import Label
from rldp.errors import DataError

__all__ = ["NOT_A_LABEL", "Alphabet", "Codes", "is_label"]

Codes: TypeAlias = NDArray[np.int32]

NOT_A_LABEL = -1
_BLOCK = 2**15
_LARGEST_TABLE = 2**16
_LABEL_KINDS = (str, int, float, np.bool_, np.integer, np.floating)

_WHOLE = re.compile(r"[ \t]*(?:-?[0-9]{1,100}|0[xX][0-9a-fA-F]{1,15})[ \t]*", re.ASCII)
_NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*", re.ASCII)
_TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1"), True) | dict.fromkeys(
    ("false", "False", "FALSE", "0"), False
)


def is_label(kind: type) -> bool:
    """Whether entries of this type can be labels."""
    return issubclass(kind, _LABEL_KINDS) and not issubclass(kind, np.timedelta64)


@dataclass(frozen=True, init=False, eq=False)
class Alphabet:
    """The labels of one axis of a protocol, in order.

    Examples
    --------
    >>> alphabet = Alphabet([10, 2.5, "a"])
    >>> alphabet.of_objects(["a", 10.0, None, "10"])
    array([ 2,  0, -1, -1], dtype=int32)
    """

    labels: tuple[Label, ...]
    index: dict[Label, int]

    def __init__(self, labels: Sequence[Label]) -> None:
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "index", {label: code for code, label in enumerate(labels)})

    @cached_property
    def _kinds(self) -> set[type]:
        return set(map(type, self.labels))

    def of_objects(self, items: Sequence[object]) -> Codes:
        """Codes of Python objects."""
        integers = _integers(items)
        if integers is not None:
            return self.of_array(integers)
        texts_only = all(isinstance(label, str) for label in self.labels)
        try:
            if texts_only or all(map(is_label, set(map(type, items)))):
                return self._looked_up(items)
        except TypeError:  # an entry that cannot be looked up, such as a list
            pass
        return self._looked_up([item if is_label(type(item)) else None for item in items])

    def _looked_up(self, items: Sequence[Any]) -> Codes:
        found = map(self.index.get, items, repeat(NOT_A_LABEL))
        return np.fromiter(found, dtype=np.int32, count=len(items))

    def of_array(self, entries: NDArray[Any]) -> Codes:
        """Codes of an array of booleans, integers, floats of at most 64 bits, or fixed-width text."""
        find = self._finder(entries.dtype)
        codes = np.empty(len(entries), dtype=np.int32)
        for start in range(0, len(entries), _BLOCK):
            codes[start : start + _BLOCK] = find(entries[start : start + _BLOCK])
        return codes

    def of_text(self, text: str) -> int:
        """The code of an entry of a CSV file, read as the type of the labels.

        The text itself if it is a label; else, where some labels are numbers, the number that it
        stands for; else, where some are booleans, the boolean.
        """
        code = self.index.get(text)
        return self._of_reading(text) if code is None else code

    def require_readable(self, name: str) -> None:
        """Refuse an alphabet in which a text stands for two labels."""
        for label in self.labels:
            other = self._of_reading(label) if isinstance(label, str) else NOT_A_LABEL
            if other != NOT_A_LABEL:
                raise DataError(
                    f"{name} of the protocol must be labels that differ in a CSV file, "
                    f"got {self.labels[other]!r} and {label!r}"
                )

    def _of_reading(self, text: str) -> int:
        """The code of the number or boolean that ``text`` stands for."""
        code = None
        if self._kinds & {int, float}:
            if _WHOLE.fullmatch(text):
                code = self.index.get(int(text, 16 if "x" in text.lower() else 10))
            if code is None and _NUMBER.fullmatch(text):
                code = self.index.get(float(text))
                if code is not None and _WHOLE.fullmatch(text) and not isinstance(self.labels[code], float):
                    code = None  # a large integer that only rounding made equal
        if code is None and bool in self._kinds and text in _TRUTHS:
            code = self.index.get(_TRUTHS[text])
        return NOT_A_LABEL if code is None else code

    def _finder(self, dtype: np.dtype[Any]) -> Callable[[NDArray[Any]], Codes]:
        if dtype.kind == "U":
            texts = {label: code for label, code in self.index.items() if isinstance(label, str)}
            return _among_texts(texts, dtype.newbyteorder("="))
        numbers = {label: code for label, code in self.index.items() if not isinstance(label, str)}
        if dtype.kind == "f":
            return _among_sorted({x: c for x, c in numbers.items() if _is_float(x)}, np.dtype(np.float64))
        wide = np.dtype(np.int64 if dtype.kind == "i" else np.uint64)
        limits = np.iinfo(wide)
        whole = {int(x): c for x, c in numbers.items() if x == int(x) and limits.min <= x <= limits.max}
        if whole and max(whole) - min(whole) < _LARGEST_TABLE:
            return _among_neighbours(whole)
        return _among_sorted(whole, wide)


def _integers(items: Sequence[Any]) -> NDArray[np.int64] | None:
    """Python integers as an array, if that is what all of them are."""
    try:
        return np.frombuffer(array("q", items), dtype=np.int64)
    except (TypeError, OverflowError, ValueError):
        return None


def _is_float(number: float) -> bool:
    """Whether a float holds ``number`` exactly."""
    try:
        return float(number) == number
    except OverflowError:
        return False


def _among_neighbours(codes: dict[int, int]) -> Callable[[NDArray[Any]], Codes]:
    """By a table from the smallest integer to the largest."""
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


def _among_sorted(codes: dict[Any, int], dtype: np.dtype[Any]) -> Callable[[NDArray[Any]], Codes]:
    """By bisection."""
    if not codes:
        return lambda block: np.full(len(block), NOT_A_LABEL, dtype=np.int32)
    known = np.array(sorted(codes), dtype=dtype)
    table = np.array([codes[number] for number in sorted(codes)], dtype=np.int32)

    def find(block: NDArray[Any]) -> Codes:
        wide = block.astype(dtype)
        place = np.minimum(np.searchsorted(known, wide), len(known) - 1)
        return np.where(known[place] == wide, table[place], np.int32(NOT_A_LABEL))

    return find


def _among_texts(codes: dict[str, int], dtype: np.dtype[Any]) -> Callable[[NDArray[Any]], Codes]:
    """By a sum over the letters that differs from label to label; equal sums are compared in full."""
    width = dtype.itemsize // 4
    fitting = [label for label in codes if len(label) <= width and not label.endswith("\0")]
    if not fitting:
        return lambda block: np.full(len(block), NOT_A_LABEL, dtype=np.int32)
    known = np.array(fitting, dtype=dtype)
    table = np.array([codes[label] for label in fitting], dtype=np.int32)

    def sums(block: NDArray[Any], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
        letters = np.ascontiguousarray(block, dtype=dtype).view(np.uint32).reshape(len(block), width)
        return letters @ factors

    draws = (np.random.PCG64(i).random_raw(width) for i in count())
    factors = next(f for f in draws if len(np.unique(sums(known, f))) == len(known))
    place_of = _among_sorted({int(x): i for i, x in enumerate(sums(known, factors))}, np.dtype(np.uint64))

    def find(block: NDArray[Any]) -> Codes:
        place = place_of(sums(block, factors))
        return np.where(known[place] == block, table[place], np.int32(NOT_A_LABEL))

    return find
