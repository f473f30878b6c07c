"""Checks that turn a user's argument into a usable value, or raise one clear sentence."""

from __future__ import annotations

import math
import numbers
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp.errors import InvalidArgument, InvalidArgumentType

Scalar: TypeAlias = str | int | float | bool
Label: TypeAlias = Scalar | tuple[Scalar, ...]
"""An entry of a column, or a tuple of entries where several columns are published together."""

_TOO_MANY = 2**53  # draws; from here on, a float does not hold every integer


def finite_number(name: str, value: object, *, at_least: float | None = None) -> float:
    """Return ``value`` as a float, if it is a finite number (and no smaller than ``at_least``)."""
    number = real_number(name, value)
    if not math.isfinite(number):
        raise InvalidArgument(f"{name} must be finite, got {shown(value)}")
    if at_least is not None and number < at_least:
        raise InvalidArgument(f"{name} must be at least {at_least:g}, got {shown(value)}")
    return number


def real_number(name: str, value: object) -> float:
    """Return ``value`` as a float that is not NaN; infinity is allowed."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidArgumentType(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError as error:
        raise InvalidArgument(f"{name} must be a number that a float can hold, got {shown(value)}") from error
    if math.isnan(number):
        raise InvalidArgument(f"{name} must be a number, got NaN")
    return number


def share_number(name: str, value: object) -> float:
    """Return ``value`` as a float, if it is strictly between 0 and 1."""
    number = finite_number(name, value)
    if not 0 < number < 1:
        raise InvalidArgument(f"{name} must lie strictly between 0 and 1, got {number!r}")
    return number


def level_number(name: str, value: object) -> float:
    """Return ``value`` as a float, if it is a level ε: at least 0, perhaps infinite."""
    number = real_number(name, value)
    if number < 0:
        raise InvalidArgument(f"{name} must be at least 0, got {number!r}")
    return number


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return ``value`` as an integer between ``low`` and ``high``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InvalidArgumentType(f"{name} must be a whole number, got {shown(value)}")
    number = int(value)
    if not low <= number <= high:
        limit = f"at least {low}" if number < low else f"at most {high}"
        raise InvalidArgument(f"{name} must be {limit}, got {shown(number)}")
    return number


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return ``value``, if it is one of the choices."""
    if isinstance(value, str) and value in choices:
        return value
    kind = InvalidArgument if isinstance(value, str) else InvalidArgumentType
    raise kind(f"{name} must be one of {', '.join(choices)}, got {shown(value)}")


def seed_number(value: object) -> int:
    """Return ``value`` as the seed of a generator: an integer from 0 to 2^128 − 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidArgumentType(f"seed must be an integer or None, got {shown(value)}")
    if not 0 <= value < 2**128:
        raise InvalidArgument(f"seed must lie between 0 and 2^128 - 1, got {shown(value)}")
    return int(value)


def seed_or_fresh(value: object) -> int:
    """Return the given seed, or for None one from the operating system's secure randomness.

    Fresh seeds are below 2^53, so that every reader of JSON keeps all of their digits.
    """
    return secrets.randbits(53) if value is None else seed_number(value)


def number_array(name: str, needed: str, given: object) -> NDArray[np.float64]:
    """Return ``given`` as a new array of floats, if it is a rectangular array of numbers."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentType(f"{name} must be {needed}, got rows that differ") from error
    if array.dtype == object:
        odd = [item for item in array.flat if not isinstance(item, numbers.Real)]
        if odd:
            raise InvalidArgumentType(f"{name} must be {needed}, got {shown(odd[0])}")
    elif array.dtype.kind not in "biuf":
        raise InvalidArgumentType(f"{name} must be {needed}, got {_entries(array)}")
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise InvalidArgument(f"{name} must be {needed}, got one that a float cannot hold") from error


def distribution_table(given: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return ``given`` as a table of probabilities of the given shape that sum to one."""
    table = number_array("distribution", "a table of numbers (secrets, values)", given)
    if table.shape != shape:
        raise InvalidArgument(f"distribution must have shape {shape} (secrets, values), got {table.shape}")
    if not (table >= 0).all():
        raise InvalidArgument("distribution must hold probabilities, got a negative number or NaN")
    if not abs(table.sum() - 1) <= 1e-9:
        raise InvalidArgument(
            f"distribution must hold probabilities that sum to one, got a sum of {table.sum():g}"
        )
    return table


def labels(
    name: str, given: object, count: int | None = None, *, of_columns: bool = False
) -> tuple[Label, ...]:
    """Return ``given`` as a tuple of ``count`` distinct labels; None stands for 0, 1, 2, …

    With ``of_columns``, labels may be tuples with an entry for each of several columns.
    """
    if given is None and count is not None:
        return tuple(range(count))
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidArgumentType(f"{name} must be a list of labels, got {shown(given)}")
    result = tuple(_label(name, item, of_columns) for item in given)
    if not result:
        raise InvalidArgument(f"{name} must hold at least one label, got none")
    if count is not None and len(result) != count:
        raise InvalidArgument(f"{name} must hold {count} labels, got {len(result)}")
    repeated = _first_repeated(result)
    if repeated is not None:
        raise InvalidArgument(f"{name} must hold distinct labels, got {shown(repeated)} more than once")
    if len({len(item) if isinstance(item, tuple) else 0 for item in result}) > 1:
        raise InvalidArgument(f"{name} must hold tuples of one length, or no tuples, got both or others")
    return result


def _label(name: str, item: object, of_columns: bool) -> Label:
    if not of_columns or not isinstance(item, tuple) or len(item) < 2:
        return label(name, item)
    return tuple(label(name, part) for part in item)


def label(name: str, item: object) -> Scalar:
    """Return ``item`` as a plain Python string, integer, float or boolean."""
    plain = item.item() if isinstance(item, np.generic) else item
    needed = needed_of_label(plain)
    if not isinstance(plain, Scalar):
        raise InvalidArgumentType(
            f"{name} must hold {needed}, got {shown(item)} of type {type(item).__name__}"
        )
    if needed is not None:
        raise InvalidArgument(f"{name} must hold {needed}, got {shown(plain)}")
    return plain


def needed_of_label(plain: object) -> str | None:
    """Return what labels must be and ``plain`` is not, in words; None for a label."""
    if not isinstance(plain, Scalar):
        return "strings, numbers or booleans"
    if isinstance(plain, float) and not math.isfinite(plain):
        return "finite labels"
    if isinstance(plain, str) and not plain.isascii() and any("\ud800" <= c <= "\udfff" for c in plain):
        return "labels of valid Unicode"
    return None


def kind_name(value: object) -> str:
    """Return the name of the type of ``value`` and, if not Python's own, of its library."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return kind.__name__ if library in ("builtins", "__main__") else f"{kind.__name__} of {library}"


_OF_FRAMES = {"pandas", "polars", "pyarrow", "duckdb", "_duckdb", "narwhals", "dask", "pyspark", "modin"}


def shown(value: object, width: int = 80) -> str:
    """Return ``value`` as messages show it: on one line, and not too long.

    Of frames and columns, whose entries may be personal data, only the type is shown.

    >>> import pyarrow
    >>> shown([1, 2]), shown(pyarrow.array([1, 2]))
    ('[1, 2]', 'Int64Array of pyarrow')
    """
    if type(value).__module__.partition(".")[0] in _OF_FRAMES:
        return kind_name(value)
    try:
        text = " ".join(repr(value).split())
    except Exception:  # not ours: an integer too long to print, a broken __repr__
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(name: str, items: Sequence[object]) -> str:
    """Return the number of labels and the first of them: "2 secrets ('ill', 'well')"."""
    some = ", ".join(shown(item, 24) for item in items[:3]) + (", …" if len(items) > 3 else "")
    return f"{len(items)} {name}{'s' * (len(items) != 1)} ({some})"


def printable(value: object) -> str:
    r"""Return ``value`` as text that cannot control a terminal: unprintable characters are spelled out.

    >>> printable("a\x1b"), printable((20, "N"))
    ('a\\x1b', '20, N')
    """
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _first_repeated(items: Sequence[Label]) -> Label | None:
    seen: set[Label] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def count_array(name: str, given: object, ndim: int, *, noisy: bool = False) -> NDArray[np.int64]:
    """Return ``given`` as a read-only array of integers with ``ndim`` axes, negative only if ``noisy``."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidArgument(f"{name} must be a rectangular table, got rows that differ") from error
    if array.dtype == object:
        array = _plain_integers(name, array)
    if array.dtype.kind not in "iuf":
        raise InvalidArgumentType(f"{name} must hold non-negative integers, got {_entries(array)}")
    if array.ndim != ndim:
        axes = {2: "two axes (secrets, values)", 3: "three axes (samples, secrets, values)"}[ndim]
        raise InvalidArgument(f"{name} must have {axes}, got shape {array.shape}")
    if array.size == 0:
        raise InvalidArgument(f"{name} must not be empty, got shape {array.shape}")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        if np.isnan(array).any():
            raise InvalidArgument(f"{name} must hold non-negative integers, got NaN")
        wrong = array[~np.isfinite(array) | (array != np.floor(array))]
        if wrong.size:
            raise InvalidArgument(f"{name} must hold non-negative integers, got {wrong[0]:g}")
    if (array < 0).any() and not noisy:
        raise InvalidArgument(f"{name} must hold non-negative integers, got {array[array < 0].flat[0]:g}")
    totals = array.reshape(array.shape[0] if ndim == 3 else 1, -1).sum(axis=1, dtype=np.float64)
    if (totals >= _TOO_MANY).any():
        raise InvalidArgument(f"{name} must hold integers that sum to less than 2^53, got {totals.max():g}")
    result: NDArray[np.int64] = array.astype(np.int64)
    if noisy and (totals <= 0).any():
        raise InvalidArgument(
            f"{name} with noise must sum to a positive number of rows, got {totals.min():g}"
        )
    if (totals == 0).any():
        where = f" in sample {int(np.argmin(totals))}" if ndim == 3 else ""
        raise InvalidArgument(f"{name} must hold at least one observation, got all zeros{where}")
    result.setflags(write=False)
    return result


def _plain_integers(name: str, array: NDArray[Any]) -> NDArray[np.int64]:
    """Return an array of Python objects as integers, if they are integers."""
    for item in array.flat:
        if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
            raise InvalidArgumentType(f"{name} must hold non-negative integers, got {shown(item)}")
        if item >= _TOO_MANY:
            raise InvalidArgument(f"{name} must hold integers that sum to less than 2^53, got {shown(item)}")
        if item < 0:
            raise InvalidArgument(f"{name} must hold non-negative integers, got {shown(item)}")
    return array.astype(np.int64)


def _entries(array: NDArray[Any]) -> str:
    """Describe the content of an array that should hold numbers."""
    words = {"b": "booleans", "U": "text", "S": "bytes"}
    return words.get(array.dtype.kind, f"entries of type {array.dtype}")
