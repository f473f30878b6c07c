"""Inverses of symmetric positive definite matrices, in their place, by Cholesky's factor.

LAPACK is called through SciPy's Cython interface. SciPy's Python wrappers of the same routines hold the
interpreter's lock while they work, so that blocks on two threads would take as long as on one; NumPy's
``inv``, which does not, takes about three times the arithmetic.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_lapack, lapack

from rldp.designer.engine.settings import Settings
from rldp.theory.namespace import Array, namespace

__all__ = ["inverse", "invert_positive", "scaled_inverse"]

Matrix = NDArray[np.float64]

_SIGNATURE = b"void (char *, int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *, int *, int *)"


def scaled_inverse(matrix: Array, jitter: float, settings: Settings) -> Array:
    """Inverse of symmetric positive definite matrices, which may be overwritten.

    Their diagonals are scaled to one first, and ``jitter`` is added to them. Large NumPy matrices
    go through Cholesky's factor, at a third of the work.
    """
    xp, n = namespace(matrix), matrix.shape[-1]
    scale = xp.clip(xp.linalg.diagonal(matrix), min=1e-300) ** -0.5
    if type(matrix) is np.ndarray and n >= settings.cholesky_rows:
        for block, s in zip(matrix.reshape(-1, n, n), scale.reshape(-1, n), strict=True):
            _invert_scaled(block, s, jitter)
        return matrix
    scale = scale[..., :, None] * scale[..., None, :]
    return inverse(matrix * scale + jitter * xp.eye(n, dtype=matrix.dtype)) * scale


def inverse(matrix: Array) -> Array:
    """Inverses of matrices (..., n, n), NaN where there is none: a step that is not a number is not taken."""
    xp = namespace(matrix)
    try:
        return xp.linalg.inv(matrix)
    except _singular():
        if matrix.ndim == 2:
            return xp.full(matrix.shape, xp.nan, dtype=matrix.dtype)
    return xp.stack([inverse(matrix[i, ...]) for i in range(matrix.shape[0])], axis=-matrix.ndim)


def _singular() -> tuple[type[Exception], ...]:
    """What a singular matrix raises; running out of memory is also a RuntimeError to PyTorch."""
    torch = sys.modules.get("torch")
    return (np.linalg.LinAlgError, *(() if torch is None else (torch.linalg.LinAlgError,)))


def _invert_scaled(matrix: Matrix, scale: Matrix, jitter: float) -> None:
    diagonal = np.einsum("ii->i", matrix)
    matrix *= scale[:, None]
    matrix *= scale
    diagonal += jitter
    invert_positive(matrix)
    matrix *= scale[:, None]
    matrix *= scale


def invert_positive(matrix: Matrix) -> None:
    """Invert a symmetric positive definite matrix in its place.

    Raises
    ------
    ValueError
        If it is not a square array of doubles in rows, which is what LAPACK is told it gets.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square, got shape {matrix.shape}")
    if matrix.dtype != np.float64 or not matrix.flags.carray:
        raise ValueError(f"matrix must hold doubles in rows that can be written, got {matrix.dtype}")
    keep = matrix.copy()
    if _factorise_and_invert(matrix):
        np.copyto(matrix, matrix.T.copy(), where=_below(len(matrix)))
    else:  # positive definite up to rounding only
        matrix[...] = inverse(keep)


def _factorise_and_invert(matrix: Matrix) -> bool:
    """Put the inverse above the diagonal; False where there is no Cholesky factor."""
    if _dpotrf is None or _dpotri is None:
        return _by_wrappers(matrix)
    size, failed = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    arguments = (b"L", ctypes.byref(size), matrix.ctypes.data, ctypes.byref(size), ctypes.byref(failed))
    _dpotrf(*arguments)
    if failed.value:
        return False
    _dpotri(*arguments)
    return not failed.value


def _by_wrappers(matrix: Matrix) -> bool:
    """The same by SciPy's wrappers, which read columns first: below is above there."""
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    if failed:
        return False
    inverse, failed = lapack.dpotri(factor, lower=1)
    matrix[...] = inverse.T
    return not failed


def _routine(name: str) -> Callable[..., None] | None:
    """A LAPACK routine, or None where this SciPy's has other arguments than we would give it."""
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    try:
        address = pointer_of(cython_lapack.__pyx_capi__[name], _SIGNATURE)
    except ValueError:  # the capsule's own check
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(address)


_dpotrf, _dpotri = _routine("dpotrf"), _routine("dpotri")


@lru_cache(maxsize=8)
def _below(size: int) -> NDArray[Any]:
    """Below the diagonal: what LAPACK, which reads columns first, calls above."""
    return np.tri(size, k=-1, dtype=bool)
