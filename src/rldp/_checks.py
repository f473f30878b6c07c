"""Checks that turn a user's argument into a value we can work with, or into one clear sentence."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp.errors import InvalidArgument, InvalidArgumentType

Label: TypeAlias = str | int | float | bool


def finite_number(name: str, value: object, *, at_least: float | None = None) -> float:
    """``value`` as a float, if it is a finite number (and no smaller than ``at_least``)."""
    number = real_number(name, value)
    if not math.isfinite(number):
        raise InvalidArgument(f"{name} must be finite, got {value!r}")
    if at_least is not None and number < at_least:
        raise InvalidArgument(f"{name} must be at least {at_least:g}, got {value!r}")
    return number


def real_number(name: str, value: object) -> float:
    """``value`` as a float that is not NaN; infinity is allowed."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidArgumentType(f"{name} must be a number, got {value!r}")
    if math.isnan(value):
        raise InvalidArgument(f"{name} must be a number, got NaN")
    return float(value)


def labels(name: str, given: object, count: int | None = None) -> tuple[Label, ...]:
    """``given`` as a tuple of distinct labels, ``count`` of them; None stands for 0, 1, 2, …"""
    if given is None and count is not None:
        return tuple(range(count))
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidArgumentType(f"{name} must be a list of labels, got {given!r}")
    result = tuple(label(name, item) for item in given)
    if not result:
        raise InvalidArgument(f"{name} must hold at least one label, got none")
    if count is not None and len(result) != count:
        raise InvalidArgument(f"{name} must hold {count} labels, got {len(result)}")
    repeated = _first_repeated(result)
    if repeated is not None:
        raise InvalidArgument(f"{name} must hold distinct labels, got {repeated!r} more than once")
    return result


def label(name: str, item: object) -> Label:
    """``item`` as a plain Python string, integer, float or boolean."""
    plain = item.item() if isinstance(item, np.generic) else item
    if not isinstance(plain, str | int | float | bool):
        raise InvalidArgumentType(
            f"{name} must hold strings, numbers or booleans, got {item!r} of type {type(item).__name__}"
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise InvalidArgument(f"{name} must hold finite labels, got {plain!r}")
    return plain


def _first_repeated(items: Sequence[Label]) -> Label | None:
    seen: set[Label] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def count_array(name: str, given: object, ndim: int) -> NDArray[np.int64]:
    """``given`` as a read-only array of non-negative integers with ``ndim`` axes."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidArgument(f"{name} must be a rectangular table, got rows that differ") from error
    if array.dtype == object or array.dtype.kind not in "iuf":
        kind = "booleans" if array.dtype.kind == "b" else f"entries of type {array.dtype}"
        raise InvalidArgumentType(f"{name} must hold non-negative integers, got {kind}")
    if array.ndim != ndim:
        axes = {2: "two axes (secrets, values)", 3: "three axes (samples, secrets, values)"}[ndim]
        raise InvalidArgument(f"{name} must have {axes}, got shape {array.shape}")
    if array.size == 0:
        raise InvalidArgument(f"{name} must not be empty, got shape {array.shape}")
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise InvalidArgument(f"{name} must hold non-negative integers, got NaN")
        wrong = array[~np.isfinite(array) | (array != np.floor(array))]
        if wrong.size:
            raise InvalidArgument(f"{name} must hold non-negative integers, got {wrong[0]:g}")
    if (array < 0).any():
        raise InvalidArgument(f"{name} must hold non-negative integers, got {array[array < 0].flat[0]:g}")
    if (array > 2**53).any():
        raise InvalidArgument(f"{name} must hold integers up to 2^53, got {array.max():g}")
    result: NDArray[np.int64] = array.astype(np.int64)
    totals = result.reshape(result.shape[0] if ndim == 3 else 1, -1).sum(axis=1)
    if (totals == 0).any():
        where = f" in sample {int(np.argmin(totals))}" if ndim == 3 else ""
        raise InvalidArgument(f"{name} must hold at least one observation, got all zeros{where}")
    result.setflags(write=False)
    return result
