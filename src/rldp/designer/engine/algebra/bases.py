"""Low-rank terms in an orthonormal basis, so that stiff and soft directions keep entries of their own size.

See ``docs/theory.md``, 'Low ranks'.
"""

from __future__ import annotations

from collections.abc import Callable

from rldp.designer.engine.algebra.dense import scaled_inverse
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, apply, namespace

__all__ = ["apply_core", "core_of", "orthonormal", "split_off"]

_DEPENDENT = 2.0**-46  # relative to its length: the rounding residue of a column that depends on a few others


def split_off(basis: Array, x: Array) -> tuple[Array, Array]:
    """Return x (…, U) less its part in an orthonormal ``basis`` (…, U, m), and its coordinates there (…, m).

    The projection is done twice, so the residual is orthogonal to the basis to its own last digit, not x's.
    """
    rest, seen, more = _seen_twice(basis, x)
    return rest - apply(basis, more), seen + more


def apply_core(basis: Array, core: Callable[[Array], Array], x: Array) -> Array:
    """Return (1 − BBᵀ + BNBᵀ)x for x (…, U) and an orthonormal ``basis`` B (…, U, m); ``core`` applies N.

    x is decomposed by :func:`split_off`, and both parts are recombined in one product.
    """
    rest, seen, more = _seen_twice(basis, x)
    return rest + apply(basis, core(seen + more) - more)


def _seen_twice(basis: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return x less its part in the basis, that part's coordinates, and the rounding error left in x."""
    transposed = namespace(x).matrix_transpose(basis)
    seen = apply(transposed, x)
    rest = x - apply(basis, seen)
    return rest, seen, apply(transposed, rest)


def orthonormal(columns: Array, settings: Settings) -> tuple[Array, Array]:
    """Return an orthonormal basis (…, U, r) of ``columns`` (…, U, m), and their coordinates in it (…, r, m).

    A column that depends on earlier ones, up to rounding, gets a column of zeros in the basis.
    """
    xp, (values, m) = namespace(columns), columns.shape[-2:]
    if m > min(values, settings.gram_schmidt):
        return xp.linalg.qr(columns)  # type: ignore[no-any-return]
    lengths = xp.sqrt(xp.sum(columns * columns, axis=-2, keepdims=True))  # (…, 1, m)
    basis, rows = columns[..., :1] / xp.where(lengths > 0, lengths, 1.0)[..., :1], lengths[..., :1]
    for column in range(1, m):
        rest, seen = split_off(basis, columns[..., column])
        length = xp.sqrt(xp.sum(rest * rest, axis=-1))[..., None, None]
        new = length > _DEPENDENT * lengths[..., column : column + 1]
        rest = xp.where(new, rest[..., None] / xp.where(new, length, 1.0), 0.0)
        basis = xp.concat([basis, rest], axis=-1)
        above = xp.concat([rows, seen[..., None]], axis=-1)
        below = xp.concat([0 * above[..., :1, :-1], xp.where(new, length, 0.0)], axis=-1)
        rows = xp.concat([above, below], axis=-2)
    return basis, rows


def core_of(stiff: Array, settings: Settings) -> Array:
    """Return N = (1 + stiff)⁻¹ for symmetric ``stiff`` (…, m, m), given in an orthonormal basis."""
    xp = namespace(stiff)
    stiff = (stiff + xp.matrix_transpose(stiff)) / 2
    return scaled_inverse(stiff + xp.eye(stiff.shape[-1], dtype=stiff.dtype), settings.schur_jitter, settings)
