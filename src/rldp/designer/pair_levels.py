"""Levels ε of pairs of secrets, as the engine can work with them, and as users give them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rldp._common.checks import real_number, shown
from rldp._common.levels import closure
from rldp.designer.request import SolveRequest
from rldp.errors import InvalidArgument
from rldp.sample import Sample
from rldp.theory.arrays import from_pairs, ordered_pairs
from rldp.theory.model import DesignProblem, Floats

__all__ = ["levels_of_batch", "levels_of_sample", "with_own_multipliers", "workable"]

_ROOM = math.log(2.0)  # above what paths imply: such a level asks for nothing more
_SHARE = 0.1


# As users give them


def levels_of_sample(sample: Sample, epsilons: Sequence[Any]) -> Floats:
    """Levels of a problem for each of ``epsilons``: (K,) where all pairs have the same, otherwise (K, T).

    Each is a number, an array (|S|, |S|), or a mapping {secret column: number}.
    """
    secrets = len(sample.secrets)
    found = [levels_of_batch(_of_columns(sample, each), 1, secrets, one=True) for each in epsilons]
    if all(levels.ndim == 1 for levels in found):
        return np.concatenate(found)
    pairs = (1, secrets * (secrets - 1))
    return np.concatenate([np.broadcast_to(levels.reshape(1, -1), pairs) for levels in found])


def levels_of_batch(epsilon: Any, count: int, secrets: int, *, one: bool = False) -> Floats:
    """The levels of ``count`` problems: (count,) where pairs have the same, otherwise (count, T)."""
    of_all = "one number" if one else f"one number, one for each of {count} samples"
    needed = f"epsilon must be {of_all} or an array ({secrets}, {secrets}) for all pairs of secrets"
    if isinstance(epsilon, Mapping | str):
        real_number("epsilon", epsilon)  # refuses it
    try:
        given = np.asarray(epsilon, dtype=object)
    except ValueError as error:
        raise InvalidArgument(f"{needed}, got rows that differ") from error
    if given.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in given):
        raise InvalidArgument(f"{needed}, got rows that differ")
    if given.ndim >= 2:
        if given.shape not in ((secrets, secrets), (count, secrets, secrets)) or (one and given.ndim > 2):
            raise InvalidArgument(f"{needed}, got shape {given.shape}")
        first, second = ordered_pairs(secrets).T
        given = given.reshape(-1, secrets, secrets)[:, first, second]
        pairs = np.repeat(_checked(given), count // len(given), axis=0)
        if pairs.shape[1] == 0:
            return np.zeros(count)
        return pairs[:, 0] if (pairs == pairs[:, :1]).all() else pairs
    levels = _checked(given)
    if levels.ndim == 0:
        return np.repeat(levels, count)
    if levels.shape != (count,) or one:
        raise InvalidArgument(f"{needed}, got shape {levels.shape}")
    return levels


def _checked(given: Any) -> Floats:
    levels = np.array([real_number("epsilon", item) for item in given.ravel()]).reshape(given.shape)
    if (levels < 0).any():
        raise InvalidArgument(f"epsilon must be at least 0, got {float(levels.min())!r}")
    return levels


def _of_columns(sample: Sample, own: Any) -> Any:
    """ε(s, s′) = Σ over the columns in which s and s′ differ, from {secret column: ε}; else as given."""
    columns = () if sample.reading is None else sample.reading.secret
    if not isinstance(own, Mapping) or not (own or columns):
        return own
    names = tuple(column.name for column in columns)
    if set(own) != set(names):
        known = ", ".join(map(shown, names)) or "no columns, as the sample names none"
        raise InvalidArgument(
            f"epsilon must have a level for each secret column ({known}), got {_listed(own)}"
        )
    levels = [_own_level(name, own[name]) for name in names]
    if len(levels) == 1:
        return levels[0]
    places = np.array(list(np.ndindex(*(len(column.labels) for column in columns))))
    differ = places[:, None] != places[None]
    return [
        [math.fsum(e for e, other in zip(levels, row, strict=True) if other) for row in rows]
        for rows in differ.tolist()
    ]


def _own_level(name: str, level: Any) -> float:
    number = real_number("epsilon", level)
    if number < 0:
        raise InvalidArgument(f"epsilon of {shown(name)} must be at least 0, got {number!r}")
    return number


def _listed(own: Mapping[Any, Any]) -> str:
    return ", ".join(map(shown, own)) or "none"


# As the engine works with them


def workable(problem: DesignProblem, request: SolveRequest) -> DesignProblem:
    """The problem with finite levels: those that ask for nothing, or next to nothing, are made smaller.

    A level may be replaced by one that paths through other secrets imply, with room to spare: it constrains
    nothing. Otherwise a large one stands for it, at which a constraint costs a small share of the gap.
    """
    levels = problem.pair_epsilon
    if levels.shape[1] == 1:
        return problem
    settings, outputs = request.settings, problem.shape[2]
    costs_nothing = _SHARE * settings.negligible * request.gap
    most = max(math.log(max(outputs * problem.scale / costs_nothing, 2.0)), 1.0)
    return replace(problem, epsilon=np.minimum(np.minimum(levels, most), _implied(problem) + _ROOM))


def _implied(problem: DesignProblem) -> Floats:
    """What paths of pairs promise of every pair: (K, T); ∞ where sets differ from pair to pair."""
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


def with_own_multipliers(z: Floats, problem: DesignProblem, worked: DesignProblem) -> Floats:
    """Multipliers (K, Y, T) of the pairs whose levels were left as they are; 0 for the others.

    A multiplier of a smaller level proves nothing of a larger one.
    """
    own = worked.pair_epsilon >= problem.pair_epsilon
    return z if own.all() else np.where(own[:, None], z, 0.0)
