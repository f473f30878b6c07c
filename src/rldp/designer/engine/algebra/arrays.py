"""Small helpers for batches: arrays whose first axis runs over problems, and values made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from array_api_compat import is_array_api_obj

from rldp._common.process import on_every_core
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array, namespace

Tree = TypeVar("Tree")
Value = TypeVar("Value")
Item = TypeVar("Item")


class Constant:
    """Marks a value that is the same for every problem of a batch."""


def along(batch: Array, like: Array) -> Array:
    """``batch`` (K,) shaped so that it multiplies ``like`` (K, ...)."""
    return batch[(...,) + (None,) * (like.ndim - 1)]


def on_path(mu: Array, slack: Array) -> Array:
    """Multipliers of ``slack`` (K, ...) on the central path: their products with it are ``mu`` (K,)."""
    return along(mu, slack) / slack


def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    """``x`` in another shape. NumPy's method costs a quarter of its function, and this runs often."""
    return x.reshape(shape) if type(x) is np.ndarray else namespace(x).reshape(x, shape)


def flat(x: Array) -> Array:
    """``x`` (K, ...) with everything but the problems in one axis."""
    return reshape(x, (x.shape[0], -1))


@dataclass(frozen=True)
class Layout(Constant):
    """How several arrays (K, ...) lie side by side in one (K, N)."""

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
    """Matrix times vector, batched: (..., m, n), (..., n) → (..., m)."""
    if type(vector) is np.ndarray:
        return np.matvec(matrix, vector)
    xp = namespace(vector)
    return xp.matmul(matrix, vector[..., None])[..., 0]


def diagonal_matrix(x: Array) -> Array:
    """(..., n) → (..., n, n) with ``x`` on the diagonal."""
    xp = namespace(x)
    return x[..., None] * xp.eye(x.shape[-1], dtype=x.dtype)


def add_to_diagonal(matrix: Array, x: Array) -> Array:
    """``matrix`` (K, Y, n, n), which is overwritten, with the cells of ``x`` (K, Y, …) added."""
    k, outputs, n, _ = matrix.shape
    entries = reshape(matrix, (k, outputs, n * n))
    entries[:, :, :: n + 1] += reshape(x, (k, outputs, n))
    return reshape(entries, matrix.shape)


def updated(value: Value, **changes: Any) -> Value:
    """A copy of a dataclass with other fields, at a fraction of what ``dataclasses.replace`` takes.

    Cached properties stay behind: they may depend on what changes.
    """
    old: Any = value
    new = object.__new__(type(value))
    new.__dict__.update({name: old.__dict__[name] for name in old.__dataclass_fields__}, **changes)
    return new


def map_arrays(function: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:
    """Apply ``function`` to the arrays in equally built dataclasses; leave everything else alone."""
    if is_array_api_obj(tree):
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
    """``array`` (K, ...) with the problems where ``mask`` holds replaced by ``some``, in their order."""
    xp, k = namespace(array), array.shape[0]
    place = k - 1 + xp.cumulative_sum(xp.astype(mask, xp.int64))
    return xp.take(xp.concat([array, some]), xp.where(mask, place, xp.arange(k)), axis=0)


def choose(mask: Array, yes: Tree, no: Tree) -> Tree:
    """Per problem, ``yes`` where ``mask`` holds and ``no`` elsewhere."""
    xp = namespace(mask)
    if bool(xp.all(mask)):
        return yes
    if not bool(xp.any(mask)):
        return no
    return map_arrays(lambda a, b: namespace(a).where(along(mask, a), a, b) if a.size else a, yes, no)


def runs(count: int, size: int, like: Array, settings: Settings) -> list[slice]:
    """Runs of ``count`` items, of ``size`` bytes each, that fit the cache, or an accelerator, together."""
    most = settings.part_bytes if type(like) is np.ndarray else settings.device_part_bytes
    some = max(1, most // size)
    return [slice(i, min(i + some, count)) for i in range(0, count, some)]


def each(work: Callable[[Item], None], items: Sequence[Item], like: Array) -> None:
    """Call ``work`` on every item: on every core where ``like`` is NumPy's, otherwise one after the other."""
    if type(like) is np.ndarray and len(items) > 1:
        on_every_core(work, items)
        return
    for item in items:
        work(item)
