r"""Lower bounds for the columns of a chain, given what is already published.

Rows of a chain are private at the centre. So is every column by itself, together with the contexts that fixed
stages make. For every context c this is a nominal problem for the column, with a level for each pair of
secrets; see ``docs/theory.md``, 'Chains' and 'Contexts'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.designer.chains import ChainProblem, Solve, counted
from rldp.distortions import ColumnDistortion
from rldp.theory import chains
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import DesignProblem, Floats

__all__ = ["column_bound", "column_margin"]

_BOUND_GAP = 1e-6  # of these nominal problems, whatever the gap of the chain: they are solved quickly
_ROUNDING = 1e-11  # of the terms of a bound, many times what they can lose


def column_bound(
    problem: ChainProblem, centre: NDArray[np.int64], column: ColumnDistortion, j: int, solve: Solve
) -> tuple[float, Floats]:
    """Bound the cost of column j under the centre from below, times its weight.

    Its multipliers come too: (Y, T), or (C, Y, T) behind fixed stages.
    """
    law: Floats = centre.astype(np.float64) * 2.0**-52
    masses = _masses(problem, law, j)
    whole = masses.sum(axis=2)  # (C, S)
    known = whole.reshape(problem.known, -1, whole.shape[1]).sum(axis=1)
    own = np.repeat(known, len(whole) // len(known), axis=0)
    first, second = ordered_pairs(masses.shape[1]).T
    pairs = len(first)
    multipliers = np.zeros((len(masses), column.matrix.shape[1], pairs))
    reached = np.flatnonzero((whole > 0).all(axis=1))
    if problem.fixed and not len(reached):
        return 0.0, multipliers
    if problem.fixed:
        levels = np.full(len(reached), problem.epsilon)  # of a single secret
        if pairs:
            share = whole[reached] / own[reached]
            left = problem.epsilon - np.log(share[:, first] / share[:, second])
            levels = np.maximum(left, problem.least_level)  # a larger level gives a lower bound, still true
        share = masses[reached] / whole[reached].sum(axis=1)[:, None, None]
        counts = counted(share)
    else:
        reached = np.arange(len(masses))
        levels = np.full(len(masses), problem.epsilon)
        counts = column_margin(centre, problem.values, j)[None]
    solved = solve(DesignProblem(counts, levels, column.matrix, None, None), _BOUND_GAP)
    multipliers[reached] = solved.z
    if problem.fixed:
        scale = whole[reached].sum(axis=1)[:, None] * own[reached] / whole[reached]
        multipliers[reached] *= scale[:, None, first]
    bound = _value(masses, own, column.matrix, multipliers, problem.epsilon)
    return column.weight * bound, multipliers if problem.fixed else multipliers[0]


def _masses(problem: ChainProblem, law: Floats, j: int) -> Floats:
    """Return P(s, c, u_j) of the contexts of fixed stages: (C, |S|, |U_j|)."""
    free = problem.values[len(problem.fixed) :]
    weights = chains.contexts(law, problem.fixed, problem.values)
    weights = weights.reshape(*weights.shape[:2], *free)
    axes = tuple(2 + i for i in range(len(free)) if i != j - len(problem.fixed))
    return np.ascontiguousarray(np.moveaxis(weights.sum(axis=axes), 1, 0))


def _value(masses: Floats, own: Floats, d: Floats, multipliers: Floats, epsilon: float) -> float:
    """Return the bound that the judge finds for these multipliers, rounded down."""
    first, second = ordered_pairs(masses.shape[1]).T
    charged = np.zeros((len(masses), masses.shape[1], d.shape[1]))
    for t, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        charged[:, a] += multipliers[:, :, t]
        charged[:, b] -= np.exp(epsilon) * multipliers[:, :, t]
    charged = np.divide(charged, own[..., None], out=np.zeros_like(charged), where=own[..., None] > 0)
    brackets = masses[..., None] * (d + charged[:, :, None, :])
    size = float((masses[..., None] * (d + np.abs(charged[:, :, None, :]))).max(axis=-1).sum())
    return max(0.0, float(brackets.min(axis=-1).sum()) - _ROUNDING * size)


def column_margin(table: NDArray[Any], sizes: Sequence[int], j: int) -> NDArray[Any]:
    """Sum a table (|S|, |U|) of all columns to column j: (|S|, |U_j|)."""
    whole = table.reshape(len(table), *sizes)
    margin: NDArray[Any] = whole.sum(axis=tuple(1 + i for i in range(len(sizes)) if i != j))
    return margin
