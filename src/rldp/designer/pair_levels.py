"""Levels ε that differ between pairs of secrets, in a form that the engine can solve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rldp._common.levels import closure
from rldp.designer.request import SolveRequest
from rldp.theory.arrays import from_pairs, ordered_pairs
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = ["with_own_multipliers", "workable"]

_ROOM = 1.0  # above what paths imply; measured: with log 2, 4 of 120 designs miss their gap, with 1 to 3 none


def workable(problem: DesignProblem, request: SolveRequest) -> DesignProblem:
    """Return the problem with finite levels: levels that require nothing, or almost nothing, are reduced.

    A level may be replaced by one that paths through other secrets imply, with room to spare: it constrains
    nothing. Otherwise a large one stands for it, at which a constraint costs a small share of the gap.
    """
    levels = problem.pair_epsilon
    settings, outputs = request.settings, problem.shape[2]
    most = max(math.log(max(outputs * problem.scale / (settings.negligible * request.gap), 2.0)), 1.0)
    return replace(problem, epsilon=np.minimum(np.minimum(levels, most), _implied(problem) + _ROOM))


def _implied(problem: DesignProblem) -> Floats:
    """Return the level that paths imply for every pair: (K, T); ∞ if sets differ between pairs."""
    levels, (_, secrets, _) = problem.pair_epsilon, problem.counts.shape
    ball = problem.privacy
    if ball is not None and ball.budget.shape[1] > 1:
        return np.full_like(levels, np.inf)
    table = from_pairs(levels, secrets)
    if ball is None:  # no constraint sees a secret without data
        unseen = problem.private_counts.sum(axis=2) == 0
        table = np.where(unseen[:, :, None] | unseen[:, None, :], np.inf, table)
    distinct, which = np.unique(table, axis=0, return_inverse=True)
    first, second = ordered_pairs(secrets).T
    shortest = np.stack([closure(one)[0] for one in distinct])[which.reshape(-1)]
    return np.asarray(shortest[:, first, second])


def with_own_multipliers(witness: Witness, problem: DesignProblem, worked: DesignProblem) -> Witness:
    """Keep the multipliers of pairs with unchanged levels; set the others to 0.

    A multiplier of a smaller level proves nothing of a larger one.
    """
    own = worked.pair_epsilon >= problem.pair_epsilon
    return replace(witness, z=np.where(own[:, None], witness.z, 0.0))
