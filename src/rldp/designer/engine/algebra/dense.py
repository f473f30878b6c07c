r"""Dense inverses of the matrices :math:`H_y` of the outputs, and the system that couples the outputs.

The outputs are coupled by :math:`\sum_y Q_y` and, with a robust utility, by :math:`v = \sum_y d_y Q_y`. A
border solves the coupled system :math:`H_y q_y - \nu + d_y F = r_y` with :math:`\sum_y q_y = t` and the
force :math:`F = Kv`.

Symmetric positive definite matrices are inverted in place by Cholesky factorisation. LAPACK is called through
SciPy's Cython interface, because SciPy's Python wrappers hold the interpreter lock and threads would gain
nothing. NumPy's ``inv`` releases the lock, but takes about three times the arithmetic.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_lapack, lapack

from rldp._common.process import on_every_core
from rldp.designer.engine.algebra.interface import Coupling
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, flat, namespace, reshape

__all__ = ["DenseBlocks", "each", "inverse", "invert_positive", "runs", "scaled_inverse"]

Item = TypeVar("Item")
Matrix = NDArray[np.float64]

_SIGNATURE = b"void (char *, int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *, int *, int *)"


def scaled_inverse(matrix: Array, jitter: float, settings: Settings) -> Array:
    """Return the inverse of symmetric positive definite matrices, which may be overwritten.

    The matrices are scaled to a unit diagonal, and ``jitter`` is added to it. Large NumPy matrices are
    inverted by Cholesky factorisation, at a third of the cost.
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
    """Return inverses of matrices (..., n, n); NaN if singular. Steps with NaN are rejected later."""
    xp = namespace(matrix)
    try:
        return xp.linalg.inv(matrix)
    except _singular():
        if matrix.ndim == 2:
            return xp.full(matrix.shape, xp.nan, dtype=matrix.dtype)
    return xp.stack([inverse(matrix[i, ...]) for i in range(matrix.shape[0])], axis=-matrix.ndim)


def _singular() -> tuple[type[Exception], ...]:
    """Return the exceptions for a singular matrix. PyTorch raises RuntimeError for lack of memory too."""
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
    """Invert a symmetric positive definite matrix in place.

    Raises
    ------
    ValueError
        If the matrix is not a square, C-contiguous array of doubles, as the LAPACK call assumes.
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
    """Write the inverse above the diagonal. Return False if there is no Cholesky factor."""
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
    """Do the same with SciPy's wrappers. They use column-major order, so below and above are swapped."""
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    if failed:
        return False
    inverse, failed = lapack.dpotri(factor, lower=1)
    matrix[...] = inverse.T
    return not failed


def _routine(name: str) -> Callable[..., None] | None:
    """Return a LAPACK routine, or None if its signature in this SciPy is not the expected one."""
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
    """Return a mask of the entries below the diagonal, which column-major LAPACK calls above."""
    return np.tri(size, k=-1, dtype=bool)


@dataclass(frozen=True)
class DenseBlocks:
    """Dense matrices of any structure with their inverses."""

    inverse: Array  # (K, Y, n, n)

    @classmethod
    def of(cls, matrix: Callable[[slice], Array], like: Array, settings: Settings) -> DenseBlocks:
        """Invert the matrices that ``matrix`` returns for a slice of outputs; ``like`` is (K, Y, |S|, U)."""
        xp, (k, outputs, secrets, values) = namespace(like), like.shape
        n = secrets * values
        parts = runs(outputs, 8 * k * n * n, like, settings)
        if len(parts) == 1:
            return cls(scaled_inverse(matrix(parts[0]), settings.jitter, settings))
        inverse = xp.empty((k, outputs, n, n), dtype=like.dtype)

        def invert(part: slice) -> None:
            inverse[:, part, ...] = scaled_inverse(matrix(part), settings.jitter, settings)

        each(invert, parts, like)
        return cls(inverse)

    def border(
        self, distortion: Array, coupling: Coupling | None, settings: Settings
    ) -> DenseBorder | CoupledBorder:
        """Return the coupled system of the outputs, for a ``distortion`` (Y, 1, U)."""
        if coupling is None:
            return DenseBorder(self, scaled_inverse(self._total(), settings.schur_jitter, settings))
        return CoupledBorder.of(self, distortion, coupling, settings)

    def solve(self, r: Array) -> Array:
        """Return H⁻¹ r for r (K, Y, n), or for r (K, 1, n) shared by all outputs."""
        return apply(self.inverse, r)

    def _total(self) -> Array:
        """Return Σ H⁻¹ over the outputs: (K, n, n)."""
        return namespace(self.inverse).sum(self.inverse, axis=1)

    def totals(self, d: Array, settings: Settings) -> tuple[Array, ...]:
        """Return Σ H⁻¹, Σ H⁻¹ d and Σ d H⁻¹ d over the outputs, for diagonal d (K, Y, n)."""
        xp, (k, outputs, n, _) = namespace(d), self.inverse.shape

        def summed(rows: slice) -> list[Array]:
            block = self.inverse[:, :, rows, :]
            right = block * d[:, :, None, :]
            return [xp.sum(x, axis=1) for x in (block, right, d[:, :, rows, None] * right)]

        parts = runs(n, 8 * k * outputs * n, d, settings)
        if len(parts) == 1:
            return tuple(summed(parts[0]))
        sums = tuple([xp.empty((k, n, n), dtype=d.dtype) for _ in range(3)])

        def add(rows: slice) -> None:
            for whole, part in zip(sums, summed(rows), strict=True):
                whole[:, rows, :] = part

        each(add, parts, d)
        return sums


@dataclass(frozen=True)
class DenseBorder:
    """A Schur complement over all cells, for a linear utility."""

    blocks: DenseBlocks
    schur: Array  # (K, n, n)

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """Solve for q (K, Y, n) and ν (K, n), given forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        moved = self.blocks.solve(r)
        nu = apply(self.schur, total - namespace(r).sum(moved, axis=1))
        return moved + self.blocks.solve(nu[:, None, :]), nu


@dataclass(frozen=True)
class CoupledBorder:
    """A Schur complement for outputs that are also coupled by v, with d measured from ``centre``."""

    blocks: DenseBlocks
    schur: Array  # (K, n, n)
    centre: Array  # (K, n)
    centred: Array  # (K, Y, n)
    joint: Array  # (K, n, n): maps forces on v to ν
    force: Array  # (K, n, n): maps the requested change of v to a force

    @classmethod
    def of(
        cls, blocks: DenseBlocks, distortion: Array, coupling: Coupling, settings: Settings
    ) -> CoupledBorder:
        """Build the Schur complement with a centred d.

        v depends on Q through d, and ν absorbs a shift of d that all outputs share. The centre is that of the
        outputs that are free to move, so that the couplings do not cancel.
        """
        xp, (k, outputs, n, _) = namespace(distortion), blocks.inverse.shape
        values = distortion.shape[-1]
        freedom = reshape(xp.linalg.diagonal(blocks.inverse), (k, outputs, n // values, values))
        centre = xp.sum(freedom * distortion, axis=1) / xp.sum(freedom, axis=1)
        centred = reshape(distortion - centre[:, None, ...], (k, outputs, n))
        movable, joint, compliance = blocks.totals(centred, settings)
        schur = scaled_inverse(movable, settings.schur_jitter, settings)
        compliance = compliance - _product(
            xp.matrix_transpose(joint), _product(schur, joint, settings), settings
        )
        system = xp.eye(n, dtype=compliance.dtype) + xp.matrix_transpose(coupling.times(compliance))
        row_scale = 1 / xp.max(xp.abs(system), axis=-1)
        softened = inverse(system * row_scale[..., None]) * row_scale[:, None, :]
        return cls(blocks, schur, flat(centre), centred, joint, coupling.times(softened))

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """Solve for q (K, Y, n) and ν (K, n), given forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
        xp, moved = namespace(r), self.blocks.solve(r)
        needed = total - xp.sum(moved, axis=1)
        reached = xp.sum(self.centred * moved, axis=1) + self.centre * total
        reached = reached + apply(xp.matrix_transpose(self.joint), apply(self.schur, needed))
        force = apply(self.force, reached)
        nu = apply(self.schur, needed + apply(self.joint, force))
        pushed = nu[:, None, :] - self.centred * force[:, None, :]
        return moved + self.blocks.solve(pushed), nu + self.centre * force


def _product(a: Array, b: Array, settings: Settings) -> Array:
    """Return the product a b of matrices (K, n, n), by blocks of rows if they are large."""
    xp, (k, n, _) = namespace(a), a.shape
    parts = runs(n, 8 * k * n, a, settings)
    if len(parts) == 1:
        return xp.matmul(a, b)
    product = xp.empty(a.shape, dtype=a.dtype)

    def multiply(rows: slice) -> None:
        product[:, rows, :] = xp.matmul(a[:, rows, :], b)

    each(multiply, parts, a)
    return product


# Work in parts that fit the cache, on every core


def runs(count: int, size: int, like: Array, settings: Settings) -> list[slice]:
    """Split ``count`` items of ``size`` bytes each into runs that fit the cache, or an accelerator."""
    most = settings.part_bytes if type(like) is np.ndarray else settings.device_part_bytes
    some = max(1, most // size)
    return [slice(i, min(i + some, count)) for i in range(0, count, some)]


def each(work: Callable[[Item], None], items: Sequence[Item], like: Array) -> None:
    """Call ``work`` on every item: on all cores if ``like`` is a NumPy array, otherwise one by one."""
    if type(like) is np.ndarray and len(items) > 1:
        on_every_core(work, items)
        return
    for item in items:
        work(item)
