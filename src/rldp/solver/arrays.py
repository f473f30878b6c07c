"""Small helpers for batches: arrays whose first axis runs over problems, and values made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from array_api_compat import is_array_api_obj

from rldp.support import Array, namespace

Tree = TypeVar("Tree")


class Constant:
    """Marks a value that is the same for every problem of a batch."""


def along(batch: Array, like: Array) -> Array:
    """``batch`` (K,) shaped so that it multiplies ``like`` (K, ...)."""
    xp = namespace(batch)
    return xp.reshape(batch, (-1,) + (1,) * (like.ndim - 1))


def flat(x: Array) -> Array:
    """``x`` (K, ...) with everything but the problems in one axis."""
    xp = namespace(x)
    size = 1
    for extent in x.shape[1:]:
        size *= extent
    return xp.reshape(x, (x.shape[0], size))


def dot(x: Array, y: Array) -> Array:
    """Inner product per problem: (K, ...), (K, ...) → (K,)."""
    xp = namespace(x)
    return xp.sum(flat(x * y), axis=1)


def apply(matrix: Array, vector: Array) -> Array:
    """Matrix times vector, batched: (..., m, n), (..., n) → (..., m)."""
    xp = namespace(vector)
    return xp.matmul(matrix, vector[..., None])[..., 0]


def diagonal_matrix(x: Array) -> Array:
    """(..., n) → (..., n, n) with ``x`` on the diagonal."""
    xp = namespace(x)
    return x[..., None] * xp.eye(x.shape[-1], dtype=x.dtype)


def longest_step(slacks: Iterable[Array], steps: Iterable[Array]) -> Array:
    """Largest t ≥ 0 per problem with slack + t·step ≥ 0 throughout; at most 1e30."""
    longest: Array = None
    for slack, step in zip(slacks, steps, strict=True):
        xp = namespace(slack)
        ratio = xp.max(flat(-step / slack), axis=1)
        longest = ratio if longest is None else xp.maximum(longest, ratio)
    return 1.0 / xp.clip(longest, min=1e-30)


def map_arrays(function: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:
    """Apply ``function`` to the arrays in equally built dataclasses; leave everything else alone."""
    if is_array_api_obj(tree):
        return function(tree, *others)  # type: ignore[no-any-return]
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


def choose(mask: Array, yes: Tree, no: Tree) -> Tree:
    """Per problem, ``yes`` where ``mask`` holds and ``no`` elsewhere."""
    if bool(namespace(mask).all(mask)):
        return yes
    return map_arrays(lambda a, b: namespace(a).where(along(mask, a), a, b) if a.size else a, yes, no)
