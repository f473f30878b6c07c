"""Array operations shared by all modules of the mathematics.

The module finds the library of an array, with lean versions of NumPy's functions. It handles batches, whose
first axis runs over problems, and dataclasses of them. It numbers ordered pairs of secrets and extracts the
data of their two ends. It rounds probabilities to a grid of integers over one power of two, so that every one
is exact. The code follows the array API standard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, TypeVar

import array_api_compat
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BITS",
    "DENOMINATOR",
    "Array",
    "Constant",
    "Layout",
    "add_to_diagonal",
    "along",
    "apply",
    "choose",
    "diagonal_matrix",
    "flat",
    "from_pairs",
    "map_arrays",
    "namespace",
    "numerators",
    "on_grid",
    "on_path",
    "ordered_pairs",
    "per_pair",
    "per_secret",
    "put_problems",
    "reshape",
    "row_sum",
    "slots",
    "summed_per_secret",
    "take_problems",
    "updated",
]

Array = Any
Tree = TypeVar("Tree")
Value = TypeVar("Value")

BITS = 52
DENOMINATOR: int = 2**BITS


def namespace(x: Array) -> Any:
    """Return the array library of ``x``, as the array API standard has it."""
    return _QUICK if type(x) is np.ndarray else array_api_compat.array_namespace(x)


def row_sum(x: Array) -> Array:
    """Sum over the last axis, as a product with ones, which is several times faster on short rows."""
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
    """Return NumPy's namespace, which follows the standard, with lean versions of frequent functions.

    On small arrays NumPy's reductions and views spend most of their time on dispatch. ``eye`` returns a
    read-only array.
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


# Batches: the first axis runs over problems


class Constant:
    """Marks a value that is the same for every problem of a batch."""


def along(batch: Array, like: Array) -> Array:
    """Reshape ``batch`` (K,) so that it broadcasts against ``like`` (K, ...)."""
    return batch[(...,) + (None,) * (like.ndim - 1)]


def on_path(mu: Array, slack: Array) -> Array:
    """Return multipliers of ``slack`` (K, ...) on the central path, so that the products are ``mu`` (K,)."""
    return along(mu, slack) / slack


def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    """Reshape ``x``. NumPy's method takes a quarter of the time of its function."""
    return x.reshape(shape) if type(x) is np.ndarray else namespace(x).reshape(x, shape)


def flat(x: Array) -> Array:
    """Flatten all axes of ``x`` (K, ...) except the first."""
    return reshape(x, (x.shape[0], -1))


@dataclass(frozen=True)
class Layout(Constant):
    """The layout of several arrays (K, ...) that are concatenated to one (K, N)."""

    places: tuple[tuple[slice, tuple[int, ...]], ...]

    @classmethod
    def of(cls, parts: Sequence[Array]) -> Layout:
        return _layout(tuple(part.shape[1:] for part in parts))

    def join(self, parts: Sequence[Array]) -> Array:
        if type(parts[0]) is np.ndarray:  # as below; this runs often
            k = len(parts[0])
            return np.concatenate([x if x.ndim == 2 else x.reshape(k, -1) for x in parts], axis=1)
        return namespace(parts[0]).concat([flat(part) for part in parts], axis=1)

    def split(self, joined: Array) -> tuple[Array, ...]:
        k = joined.shape[0]
        if type(joined) is np.ndarray:
            return tuple([joined[:, place].reshape(k, *shape) for place, shape in self.places])
        return tuple([reshape(joined[:, place], (k, *shape)) for place, shape in self.places])

    def part(self, joined: Array, number: int) -> Array:
        place, shape = self.places[number]
        return reshape(joined[:, place], (joined.shape[0], *shape))


@lru_cache(maxsize=256)
def _layout(shapes: tuple[tuple[int, ...], ...]) -> Layout:
    ends = [0, *accumulate(math.prod(shape) for shape in shapes)]
    return Layout(tuple((slice(*ends[i : i + 2]), shape) for i, shape in enumerate(shapes)))


def apply(matrix: Array, vector: Array) -> Array:
    """Multiply matrices by vectors, batched: (..., m, n), (..., n) → (..., m)."""
    if type(vector) is np.ndarray:
        return np.matvec(matrix, vector)
    xp = namespace(vector)
    return xp.matmul(matrix, vector[..., None])[..., 0]


def diagonal_matrix(x: Array) -> Array:
    """Return matrices (..., n, n) with ``x`` (..., n) on the diagonal."""
    xp = namespace(x)
    return x[..., None] * xp.eye(x.shape[-1], dtype=x.dtype)


def add_to_diagonal(matrix: Array, x: Array) -> Array:
    """Add the cells of ``x`` (K, Y, …) to the diagonal of ``matrix`` (K, Y, n, n), in place."""
    k, outputs, n, _ = matrix.shape
    entries = reshape(matrix, (k, outputs, n * n))
    entries[:, :, :: n + 1] += reshape(x, (k, outputs, n))
    return reshape(entries, matrix.shape)


def updated(value: Value, **changes: Any) -> Value:
    """Return a copy of a dataclass with other fields, in a fraction of the time of ``dataclasses.replace``.

    Cached properties are dropped, because they may depend on the changed fields.
    """
    kind: type[Any] = type(value)
    new: Value = object.__new__(kind)
    new.__dict__.update(value.__dict__, **changes)
    for name in _cached_properties(kind):  # type: ignore[arg-type]
        new.__dict__.pop(name, None)
    return new


@lru_cache(maxsize=256)
def _cached_properties(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the cached properties of a class and its bases."""
    return tuple(name for name in dir(kind) if isinstance(getattr(kind, name), cached_property))


def map_arrays(function: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:
    """Apply ``function`` to the arrays in dataclasses of the same structure; keep everything else."""
    if array_api_compat.is_array_api_obj(tree):
        return function(tree, *others)  # type: ignore[no-any-return]
    if isinstance(tree, tuple):
        return tuple(map_arrays(function, *parts) for parts in zip(tree, *others, strict=True))  # type: ignore[return-value]
    if isinstance(tree, Constant) or not is_dataclass(tree) or isinstance(tree, type):
        return tree
    names = [field.name for field in fields(tree)]
    changes = {
        name: map_arrays(function, getattr(tree, name), *(getattr(o, name) for o in others)) for name in names
    }
    return replace(tree, **changes)


def take_problems(tree: Tree, index: Array) -> Tree:
    """Keep only the problems numbered ``index``."""
    return map_arrays(lambda x: namespace(x).take(x, index, axis=0), tree)


def put_problems(array: Array, mask: Array, some: Array) -> Array:
    """Return ``array`` (K, ...) with the problems selected by ``mask`` replaced by ``some``, in order."""
    xp, k = namespace(array), array.shape[0]
    place = k - 1 + xp.cumulative_sum(xp.astype(mask, xp.int64))
    return xp.take(xp.concat([array, some]), xp.where(mask, place, xp.arange(k)), axis=0)


def choose(mask: Array, yes: Tree, no: Tree) -> Tree:
    """Return, per problem, ``yes`` where ``mask`` is true and ``no`` elsewhere."""
    xp = namespace(mask)
    if bool(xp.all(mask)):
        return yes
    if not bool(xp.any(mask)):
        return no
    return map_arrays(lambda a, b: namespace(a).where(along(mask, a), a, b) if a.size else a, yes, no)


# Pairs of secrets


@lru_cache(maxsize=64)
def ordered_pairs(secrets: int) -> NDArray[np.int64]:
    """Return all (s1, s2) with s1 ≠ s2 as an array (T, 2): s1 = 0 first, s2 counting up cyclically."""
    first = np.repeat(np.arange(secrets), secrets - 1)
    second = (first + 1 + np.tile(np.arange(secrets - 1), secrets)) % secrets
    pairs = np.stack([first, second], axis=1)
    pairs.flags.writeable = False
    return pairs


def from_pairs(numbers: NDArray[np.float64], secrets: int) -> NDArray[np.float64]:
    """Arrange numbers of ordered pairs (..., T or 1) as (..., |S|, |S|), with zeros on the diagonal."""
    table = np.zeros((*numbers.shape[:-1], secrets, secrets))
    first, second = ordered_pairs(secrets).T
    table[..., first, second] = numbers
    return table


def per_secret(table: Array) -> tuple[Array, Array]:
    """Return masses (..., |S|) and conditionals (..., |S|, U) of the secrets.

    Parameters
    ----------
    table : array (..., |S|, U)
        Counts or probabilities. The conditional of a secret with zero mass is zero.
    """
    masses = row_sum(table)
    return masses, table / namespace(masses).where(masses > 0, masses, 1.0)[..., None]


def per_pair(table: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same for the two ends of every pair: (..., T, 2) and (..., T, 2, U)."""
    pairs = ordered_pairs(table.shape[-2])
    masses, conditionals = per_secret(table)
    return masses[..., pairs], conditionals[..., pairs, :]


def summed_per_secret(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum entries of the ends of pairs (..., T, 2, U) by secret: (..., |S|, U)."""
    head, values = table.shape[:-3], table.shape[-1]
    secrets = (1 + math.isqrt(1 + 4 * table.shape[-3])) // 2  # T = |S|(|S| − 1)
    places = slots(secrets)
    if not places.size:
        return np.zeros((*head, secrets, values))
    own = table.reshape(*head, -1, values).take(places, axis=-2)
    return np.asarray(own.reshape(*head, secrets, -1, values).sum(axis=-2))


@lru_cache(maxsize=64)
def slots(secrets: int) -> NDArray[np.int64]:
    """Return the positions of each secret among the ends of all pairs: (|S|·2(|S|−1),)."""
    return np.argsort(ordered_pairs(secrets).reshape(-1), kind="stable")


# The grid


def on_grid(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to the grid. The largest entry of a row (last axis) absorbs the remainder."""
    units = np.rint(matrix * DENOMINATOR)
    left = DENOMINATOR - units.sum(axis=-1)
    largest = np.arange(matrix.shape[-1]) == matrix.argmax(axis=-1)[..., None]
    np.add(units, left[..., None], out=units, where=largest)
    return np.asarray(units / DENOMINATOR)


def numerators(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the numerators, over ``DENOMINATOR``, of probabilities on the grid."""
    units: NDArray[np.int64] = (matrix * DENOMINATOR).astype(np.int64)
    return units
