"""Large blocks on every core: one Python thread for each, and BLAS kept to one thread per call.

BLAS would share out the columns of one matrix at a time, and its threads wait for each other by
spinning; where other work keeps a core busy, that costs many times what it saves. Whole matrices
share out without waiting.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import cython_lapack

Item = TypeVar("Item")

_lock = threading.Lock()
_users: list[list[int]] = []  # the numbers of threads that each user of BLAS found, the first one first


def on_every_core(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Call ``work`` on every item, a thread for each core."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for _ in pool.map(work, items):
            pass


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's OpenBLAS to one thread per call; leave any other BLAS alone."""
    with _lock:
        _users.append([get() for get, _ in _controls()])
        for _, limit in _controls():
            limit(1)
    try:
        yield
    finally:
        with _lock:
            before = _users[0]
            _users.pop()
            if not _users:
                for (_, limit), count in zip(_controls(), before, strict=True):
                    limit(count)


@lru_cache(maxsize=1)
def _controls() -> tuple[tuple[Callable[[], int], Callable[[int], None]], ...]:
    """How to read and set the number of threads of each OpenBLAS that is loaded with an extension."""
    from numpy.linalg import _umath_linalg

    found = []
    for extension in (_umath_linalg, cython_lapack):
        library = ctypes.CDLL(extension.__file__)
        for name in ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads"):
            if hasattr(library, name.format("set")):
                found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                break
    return tuple(found)


def _lapack(name: str) -> Callable[..., None]:
    """A LAPACK routine with five arguments, which unlike SciPy's own wrappers lets other threads run."""
    capsule = cython_lapack.__pyx_capi__[name]
    api: Any = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(pointer_of(capsule, name_of(capsule)))


_dpotrf, _dpotri = _lapack("dpotrf"), _lapack("dpotri")


def invert_positive(matrix: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """Invert a symmetric positive definite matrix in its place, by Cholesky's factor."""
    size, failed = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    keep = matrix.copy()
    arguments = (b"L", ctypes.byref(size), matrix.ctypes.data, ctypes.byref(size), ctypes.byref(failed))
    _dpotrf(*arguments)
    if failed.value:  # positive definite up to rounding only
        matrix[...] = np.linalg.inv(keep)
        return
    _dpotri(*arguments)
    np.copyto(matrix, matrix.T.copy(), where=_below(len(matrix)))


@lru_cache(maxsize=8)
def _below(size: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Below the diagonal: what LAPACK, which reads columns first, calls above."""
    return np.tri(size, k=-1, dtype=bool)
