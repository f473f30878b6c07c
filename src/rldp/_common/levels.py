"""Levels ε of ordered pairs of secrets as tables, and the levels implied by paths through other secrets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, permutations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.digits import at_most

__all__ = ["Detour", "closure", "detours", "largest", "level_words", "own_levels", "smallest", "summed"]

Levels: TypeAlias = "Sequence[Sequence[float]] | NDArray[np.float64]"
"""ε(s1, s2) as [s1][s2]; the diagonal is ignored."""

_SAME = 1e-9  # relative: sums of the same levels in another order are the same
_ROUNDED = 1e-14  # relative: what the order of a sum does to it, which six digits rounded up make good


@dataclass(frozen=True)
class Detour:
    """A pair of secrets for which a path through others implies a smaller level than its own.

    Attributes
    ----------
    first, second : int
    through : tuple of int
        The secrets between them, in order.
    level : str
        The sum of the levels along the path, rounded up.
    """

    first: int
    second: int
    through: tuple[int, ...]
    level: str


def largest(levels: Levels) -> float:
    """Return the largest ε of any pair; 0 for a single secret."""
    return max((float(levels[a][b]) for a, b in permutations(range(len(levels)), 2)), default=0.0)


def smallest(levels: Levels) -> float:
    """Return the smallest ε of any pair; ∞ for a single secret."""
    return min((float(levels[a][b]) for a, b in permutations(range(len(levels)), 2)), default=math.inf)


def level_words(epsilon: float, levels: Levels | None) -> str:
    """Describe the claimed ε: one level, or those of pairs of secrets."""
    if levels is None:
        return f"ε = {epsilon!r}"
    return f"ε from {smallest(levels)!r} to {_written(largest(levels))}, by the pair of secrets,"


def _written(level: float) -> str:
    return "∞" if math.isinf(level) else repr(level)


def closure(levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the smallest sum of levels along any path, and its last but one secret: (|S|, |S|) each.

    If every link of a path keeps its level, the path keeps their sum: P(y|a) ≤ e^ε(a,b) P(y|b) and
    P(y|b) ≤ e^ε(b,c) P(y|c) give P(y|a) ≤ e^(ε(a,b) + ε(b,c)) P(y|c). This is the algorithm of Floyd and
    Warshall. Sums that differ only by rounding do not count as shorter.
    """
    shortest = np.array(levels, dtype=np.float64)
    np.fill_diagonal(shortest, 0.0)
    before = np.repeat(np.arange(len(shortest))[:, None], len(shortest), axis=1)
    for through in range(len(shortest)):
        path = shortest[:, through, None] + shortest[through]
        shorter = path < shortest * (1 - _SAME)
        before = np.where(shorter, before[through], before)
        shortest = np.where(shorter, path, shortest)
    return shortest, before


def detours(levels: Levels) -> list[Detour]:
    """Return the pairs for which a path through other secrets implies a smaller level than requested."""
    _, before = closure(levels)
    paths = []
    for a, b in permutations(range(len(levels)), 2):
        path = [b]
        while path[-1] != a:
            path.append(int(before[a, path[-1]]))
        if len(path) > 2:
            path.reverse()
            links = pairwise(path)
            paths.append(Detour(a, b, tuple(path[1:-1]), summed(levels[s][t] for s, t in links)))
    return paths


def summed(levels: Iterable[float]) -> str:
    """Return the sum of levels, rounded up."""
    return at_most(sum((Decimal(repr(float(level))) for level in levels), Decimal(0)), 6)


def own_levels(levels: Levels, sizes: Sequence[int]) -> tuple[float, ...] | None:
    """Return ε of every attribute, if the level of each pair is the sum over the attributes that differ.

    ``sizes`` are the numbers of labels of the attributes, whose combinations are the secrets, the last
    attribute quickest. None where there are fewer than two attributes, or the levels are not such sums.
    """
    if len(sizes) < 2 or math.prod(sizes) != len(levels) or min(sizes) < 2:
        return None
    steps = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
    own = tuple(float(levels[0][step]) for step in steps)
    places = list(product(*map(range, sizes)))
    for (a, at), (b, to) in permutations(enumerate(places), 2):
        apart = [e for e, i, j in zip(own, at, to, strict=True) if i != j]
        total, level = math.fsum(apart), float(levels[a][b])
        if level != total and (len(apart) == 1 or not math.isclose(level, total, rel_tol=_ROUNDED)):
            return None
    return own
