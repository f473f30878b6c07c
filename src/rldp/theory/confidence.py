r"""Upper confidence bounds by inverting betting tests of the hypotheses 'more than x'.

For every x there is a test of level α of the hypothesis θ > x. **Levels** x₀ < x₁ < … are fixed before any
betting, and the test at x in [x_g, x_{g+1}) uses the bets made for x_g. Within such an interval the wealth
grows with x. If θ ≤ x is shown at some x and at every level above it, it is therefore shown for *all* larger
x. The least such x is an upper confidence bound for θ. See ``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

import math
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rldp.theory.betting import Play, Triples, log_wealth, play
from rldp.theory.model import Floats

__all__ = ["Claims", "levels_around", "most_together", "upper_bounds"]

_FAR = 2.8 * 2.0 ** np.arange(1, 8)
_OFFSETS = np.concatenate([-_FAR, np.linspace(-2.8, 2.8, 61), _FAR])  # twice as many: 1 % narrower
_HALVINGS = 24
_LEVELS_TOGETHER = 8
_MOST_NUMBERS = 2**21  # in one array: arrays that fit the caches are fastest
_CELLS = 24  # typical number in a game, to estimate the size of arrays
_UNIT = 2.0**-52


class Claims(Protocol):
    """T numbers θ, with a game against 'θ > x' for every x."""

    @property
    def largest(self) -> float:
        """The largest x for which there is a game."""

    @property
    def values(self) -> int:
        """Number of values that a row can have."""

    def subset(self, index: NDArray[np.int64]) -> Self:
        """Return the claims numbered ``index``."""

    def at(self, x: Floats) -> tuple[Triples, Floats]:
        """Return triples, and the ε (T,) at which they fail if θ > x, for x (T,)."""


def levels_around(expected: Floats, spread: Floats) -> Floats:
    """Return levels for T bounds, most of them within a few spreads of the expected bound: (T, G)."""
    return np.asarray(expected[:, None] + spread[:, None] * _OFFSETS)


def most_together(values: int) -> int:
    """Return the number of games to play at once, for rows with this many values."""
    return max(1, _MOST_NUMBERS // (4 * _CELLS * values))


def upper_bounds(
    claims: Claims, levels: Floats, bound: Floats, alpha: float, *, floor: float = -math.inf
) -> Floats:
    """Return upper confidence bounds on T numbers, each of level 1 − α and at least ``floor``: (T,).

    Parameters
    ----------
    levels : array (T, G)
        Fixed before any betting.
    bound : array (T,)
        An upper bound on θ that holds for any rows.
    """
    goal = -math.log(alpha) * (1 + 4 * _UNIT)
    levels, bound = np.sort(levels, axis=1)[:, ::-1], np.maximum(bound, floor)
    undecided = np.flatnonzero(bound > floor)
    together = min(_LEVELS_TOGETHER, max(1, most_together(claims.values) // max(len(bound), 1)))
    few = max(1, most_together(claims.values) // together)
    for start in range(0, levels.shape[1], together):
        left = [undecided[:0]]
        for some in np.split(undecided, range(few, len(undecided), few)):
            part = levels[some, start : start + together]
            bound[some], final = _lowered(claims.subset(some), part, bound[some], floor, goal)
            left.append(some[~final])
        undecided = np.concatenate(left)
    return bound


def _lowered(
    claims: Claims, levels: Floats, bound: Floats, floor: float, goal: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Lower the bounds through some levels. Return the bounds, and which of them are final.

    Parameters
    ----------
    levels : array (T, g), in decreasing order
    bound : array (T,)
        θ ≤ x is shown there and for every larger x.
    """
    above = np.minimum(np.concatenate([bound[:, None], levels[:, :-1]], axis=1), bound[:, None])
    wanted = (levels < above) & (above > floor)
    if not wanted.any():
        return bound, bound <= floor
    t, g = np.nonzero(wanted)
    part, level, at = claims.subset(t), levels[t, g], np.maximum(levels, floor)
    made = play(*part.at(level), goal)
    wealth = made.wealth if (level >= floor).all() else log_wealth(*_with(part, made, at[t, g]))
    shown = np.ones(levels.shape, dtype=np.bool_)
    shown[t, g] = wealth >= goal
    unbroken = np.logical_and.accumulate(shown, axis=1)
    lower = np.where(unbroken & wanted, at, bound[:, None]).min(axis=1)
    lost = np.flatnonzero(~unbroken[:, -1])
    first = shown[lost].argmin(axis=1)
    number = np.zeros(levels.shape, dtype=np.int64)
    number[t, g] = np.arange(len(t))
    which = number[lost, first]
    lower[lost] = _bisected(part.subset(which), made.subset(which), at[lost, first], lower[lost], goal)
    return lower, ~unbroken[:, -1] | (lower <= floor)


def _bisected(claims: Claims, made: Play, lost: Floats, shown: Floats, goal: float) -> Floats:
    """Return the least x found above ``lost`` where the bets that lost there win, or else ``shown``: (T,)."""
    if not len(lost):
        return shown

    def wins(x: Floats) -> NDArray[np.bool_]:
        return np.asarray(log_wealth(*_with(claims, made, x)) >= goal)

    low, high = lost, np.minimum(shown, claims.largest)
    best = np.where((shown > claims.largest) & wins(high), high, shown)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        won = wins(middle)
        best = np.where(won, middle, best)
        low, high = np.where(won, low, middle), np.where(won, middle, high)
    return best


def _with(claims: Claims, made: Play, x: Floats) -> tuple[Triples, Play, Floats]:
    triples, epsilon = claims.at(x)
    return triples, made, epsilon
