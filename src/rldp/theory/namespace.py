"""Which library an array belongs to, and NumPy's functions without the detours they take."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import array_api_compat
import numpy as np

__all__ = ["Array", "namespace", "row_sum"]

Array = Any


def namespace(x: Array) -> Any:
    """The array library of ``x``, as the array API standard has it."""
    return _QUICK if type(x) is np.ndarray else array_api_compat.array_namespace(x)


def row_sum(x: Array) -> Array:
    """Sum over the last axis. As a product with ones it is several times quicker on short rows."""
    if type(x) is np.ndarray:
        return np.vecdot(x, _ones(x.shape[-1]))
    xp = namespace(x)
    return xp.vecdot(x, xp.ones(x.shape[-1], dtype=x.dtype))


@lru_cache(maxsize=64)
def _ones(size: int) -> Array:
    return np.ones(size)


def _stack(arrays: list[Array], axis: int = 0) -> Array:
    behind = -1 - axis if axis < 0 else arrays[0].ndim - axis
    place = (..., None) + (slice(None),) * behind
    return np.concatenate([x[place] for x in arrays], axis=axis)


def _clip(x: Array, min: Any = None, max: Any = None) -> Array:
    x = x if min is None else np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def _broadcast_to(x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else np.broadcast_to(x, shape)


@lru_cache(maxsize=64)
def _eye(size: int, dtype: Any = np.float64) -> Array:
    identity = np.eye(size, dtype=dtype)
    identity.flags.writeable = False
    return identity


def _quick_numpy() -> Any:
    """NumPy's own namespace, which follows the standard, with lean versions of what runs often.

    On small arrays NumPy's reductions and views spend most of their time on the way to the method
    or ufunc that does the work. ``eye`` cannot be written to.
    """
    quick = SimpleNamespace(**{name: x for name, x in vars(np).items() if not name.startswith("_")})
    for name, ufunc in {
        "sum": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "all": np.logical_and,
        "any": np.logical_or,
    }.items():
        setattr(quick, name, _reduction(ufunc))
    quick.stack = _stack
    quick.eye = _eye
    quick.clip = _clip
    quick.broadcast_to = _broadcast_to
    quick.take = lambda x, index, axis: x.take(index, axis)
    quick.matrix_transpose = lambda x: x.mT
    quick.linalg = SimpleNamespace(
        inv=np.linalg.inv,
        qr=np.linalg.qr,
        diagonal=lambda x: x.diagonal(0, -2, -1),
    )
    return quick


def _reduction(ufunc: np.ufunc) -> Any:
    def reduce(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    return reduce


_QUICK = _quick_numpy()
