r"""An upper confidence bound on ε* from fresh rows, by the bets of :mod:`rldp.theory.betting`.

For every triple and every ε there is a test, of level α, of the hypothesis that the triple fails at ε. The
tests come in pieces: **levels** ε₀ < ε₁ < … are fixed before the rows are bet on, and the test at any ε in
[ε_g, ε_{g+1}) uses the bets that were made for ε_g. Within a piece the wealth grows with ε. So a triple is
confirmed at *all* ε from some point on if it is confirmed there, and at every level above. The least such
point is an upper confidence bound for the triple; the largest of these bounds is one for ε*, with no
correction for the number of triples. See ``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rldp.theory.betting import LARGEST_EPSILON, Play, Triples, caps, log_wealth, play
from rldp.theory.model import Floats
from rldp.theory.pairs import ordered_pairs
from rldp.theory.stakes import moments

__all__ = ["leakage_bound", "table_bound", "upper_bounds"]

_EXPECTED = 1.9  # so many standard errors above the estimate the bound lies, as a rule
_FAR = 2.8 * 2.0 ** np.arange(1, 8)
_OFFSETS = np.concatenate([-_FAR, np.linspace(-2.8, 2.8, 61), _FAR])  # twice as many levels narrow by 1 %
_HALVINGS = 24
_LEVELS_TOGETHER = 8
_FIRST_TRIPLES = 32
_MOST_NUMBERS = 2**21  # in one array: what fits the caches is fastest
_CELLS = 24  # about as many as a triple has, to know the size of arrays
_SMALLEST_MEAN = 1e-100
_UNIT = 2.0**-52


def leakage_bound(
    matrix: Floats,
    blocks: NDArray[np.int64],
    known: Floats,
    alpha: float,
    *,
    claim: float = math.inf,
    floor: float = 0.0,
) -> tuple[float, tuple[int, int, int] | None]:
    """Upper confidence bound on ε* of level 1 − α, but no less than ``floor``, and the triple that decides.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    blocks : int array (|S|, B, |U|)
        Fresh rows, in blocks.
    known : array (|S|, |U|), positive
        Weights of the values as known beforehand: for bets only.
    claim : float
        An ε that matters: bets are made for it too.

    Returns
    -------
    epsilon : float
    triple : (y, s1, s2), or None where the bound is ``floor``
    """
    order = _in_order(matrix, blocks, known)
    bound, decides, start = floor, None, 0
    while start < len(order) and math.isfinite(bound):
        most = _most_triples(matrix.shape[1])
        some = order[start : start + (min(most, _FIRST_TRIPLES) if start == 0 else most)]
        pairs = some[:, 1:]
        triples = Triples(
            q=matrix[pairs, :, some[:, :1]], rows=blocks[pairs].astype(np.float64), known=known[pairs]
        )
        found = upper_bounds(triples, alpha, claim=claim, floor=bound)
        if found.max() > bound:
            decides, bound = some[found.argmax()], float(found.max())
        start += len(some)
    return bound, None if decides is None else (int(decides[0]), int(decides[1]), int(decides[2]))


def table_bound(matrix: Floats, about: NDArray[np.bool_]) -> tuple[float, tuple[int, int, int] | None]:
    """The largest ε* that the table allows any distribution for pairs of secrets with one of those ``about``.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    about : bool array (|S|,)

    Returns
    -------
    epsilon : float
    triple : (y, s1, s2), or None where the bound is 0
    """
    pairs = ordered_pairs(len(matrix))
    pairs = pairs[about[pairs].any(axis=1)]
    columns = np.moveaxis(matrix[pairs], 3, 0)
    bounds = caps(columns.reshape(-1, *columns.shape[2:])).reshape(columns.shape[:2])
    if not bounds.any():
        return 0.0, None
    y, pair = np.unravel_index(bounds.argmax(), bounds.shape)
    return float(bounds[y, pair]), (int(y), int(pairs[pair, 0]), int(pairs[pair, 1]))


def upper_bounds(triples: Triples, alpha: float, *, claim: float = math.inf, floor: float = 0.0) -> Floats:
    """Upper confidence bounds on ln P(y|s₁)/P(y|s₂), each of level 1 − α and no less than ``floor``: (T,).

    A bound is infinite where neither the rows nor the table itself bound the ratio. Every other one is an ε
    at which the triple holds by the table alone, or was tested and confirmed with its wealth rounded down.
    """
    goal = -math.log(alpha) * (1 + 4 * _UNIT)
    levels = _levels(triples, claim)
    bound = np.maximum(caps(triples.q), floor)
    together = min(_LEVELS_TOGETHER, max(1, _most_triples(triples.q.shape[2]) // len(bound)))
    undecided = np.flatnonzero(bound > floor)
    for start in range(0, levels.shape[1], together):
        some = levels[undecided, start : start + together]
        bound[undecided], final = _lowered(triples.subset(undecided), some, bound[undecided], floor, goal)
        undecided = undecided[~final]
    return bound


def _most_triples(values: int) -> int:
    """How many triples to look at together."""
    return max(1, _MOST_NUMBERS // (4 * _CELLS * values))


def _in_order(matrix: Floats, blocks: NDArray[np.int64], known: Floats) -> NDArray[np.int64]:
    """All triples (y, s1, s2) as an array (T, 3), those first that can be expected to decide."""
    columns = np.moveaxis(matrix, 2, 1)
    mean, variance = moments(columns, np.broadcast_to(known[:, None], columns.shape))
    used, mean = mean > 0, np.maximum(mean, _SMALLEST_MEAN)
    logarithm, spread = np.log(mean), variance / mean**2 / np.maximum(blocks.sum(axis=(1, 2)), 1)[:, None]
    first, second = ordered_pairs(len(matrix)).T
    expected = logarithm[first] - logarithm[second] + _EXPECTED * np.sqrt(spread[first] + spread[second])
    expected = np.where(used[first], expected, -np.inf)
    pair, y = np.unravel_index(np.argsort(-expected, axis=None, kind="stable"), expected.shape)
    return np.stack([y, first[pair], second[pair]], axis=1)


def _levels(triples: Triples, claim: float) -> Floats:
    """Levels that bets are made for, in decreasing order, down to 0: (T, G).

    Most lie where the bound is expected: some standard errors above the estimate, give or take what fresh
    and earlier rows may be off.
    """
    mean, variance = moments(triples.q, triples.known)
    mean = np.maximum(mean, _SMALLEST_MEAN)
    relative = variance / mean**2
    fresh = (relative / triples.n).sum(axis=-1)
    earlier = (relative / triples.known.sum(axis=-1)).sum(axis=-1)
    middle = np.log(mean[:, 0] / mean[:, 1]) + _EXPECTED * np.sqrt(fresh)
    around = middle[:, None] + np.sqrt(fresh + earlier)[:, None] * _OFFSETS
    named = np.broadcast_to([0.0, claim], (len(around), 2))
    levels = np.clip(np.concatenate([around, named], axis=1), 0, LARGEST_EPSILON)
    return np.asarray(np.sort(levels, axis=1)[:, ::-1])


def _lowered(
    triples: Triples, levels: Floats, bound: Floats, floor: float, goal: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Go down some levels: bounds as low as they allow, and which of them are final.

    Parameters
    ----------
    levels : array (T, g), in decreasing order
    bound : array (T,)
        Triples are confirmed there and at every ε above.
    """
    above = np.minimum(np.concatenate([bound[:, None], levels[:, :-1]], axis=1), bound[:, None])
    wanted = (levels < above) & (above > floor)
    if not wanted.any():
        return bound, bound <= floor
    t, g = np.nonzero(wanted)
    part, level = triples.subset(t), levels[t, g]
    made, at = play(part, level, goal), np.maximum(levels, floor)
    wealth = made.wealth if (level >= floor).all() else log_wealth(part, made, at[t, g])
    confirmed = np.ones(levels.shape, dtype=np.bool_)
    confirmed[t, g] = wealth >= goal
    unbroken = np.logical_and.accumulate(confirmed, axis=1)
    lower = np.where(unbroken & wanted, at, bound[:, None]).min(axis=1)
    lost = np.flatnonzero(~unbroken[:, -1])
    first = confirmed[lost].argmin(axis=1)
    number = np.zeros(levels.shape, dtype=np.int64)
    number[t, g] = np.arange(len(t))
    which = number[lost, first]
    lower[lost] = _bisected(part.subset(which), made.subset(which), at[lost, first], lower[lost], goal)
    return lower, ~unbroken[:, -1] | (lower <= floor)


def _bisected(triples: Triples, made: Play, lost: Floats, confirmed: Floats, goal: float) -> Floats:
    """The least ε found confirmed above ``lost`` by the bets that lost there, or else ``confirmed``: (T,)."""
    if not len(lost):
        return confirmed
    low, high = lost, np.minimum(confirmed, LARGEST_EPSILON)
    reached = (confirmed > LARGEST_EPSILON) & (log_wealth(triples, made, high) >= goal)
    best = np.where(reached, high, confirmed)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        won = log_wealth(triples, made, middle) >= goal
        best = np.where(won, middle, best)
        low, high = np.where(won, low, middle), np.where(won, middle, high)
    return best
