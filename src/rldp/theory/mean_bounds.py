r"""Intervals for :math:`\langle a,P\rangle` that hold for every number of rows and every P, by betting.

With weights g fixed before the rows are bet on, :math:`\theta=\sum_j E\,g_j(Y_j)`. For two tallies, 'θ > t'
says that the mean of :math:`g_1(Y_1)` is above that of :math:`t-g_2(Y_2)`: it is a triple that fails at ε = 0
in the game of :mod:`rldp.theory.betting`, with these scores in place of a protocol's columns. So the same
bets rule it out, with no price for the unknown mean of either. See ``docs/theory.md``, 'Estimation'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.betting import Play, Triples, block_shares, log_wealth, play, split
from rldp.theory.estimation import least_variance, pilot
from rldp.theory.model import Floats
from rldp.theory.stakes import moments
from rldp.theory.tallies import Tally

__all__ = ["Game", "betting_limits", "upper_limits"]

_FIRST_ROWS = 0.08  # of every tally choose the weights and the bets, and are not bet on
_KNOWN = 0.5  # rows more that the bets pretend to know
_EXPECTED = 2.2  # so many standard errors above the estimate an upper limit lies, as a rule
_FAR = 2.8 * 2.0 ** np.arange(1, 8)
_OFFSETS = np.concatenate([-_FAR, np.linspace(-2.8, 2.8, 57), _FAR])[::-1]
_TOGETHER = 8  # levels that are tried at once
_HALVINGS = 20
_MOST_NUMBERS = 2**21
_CELLS = 24  # about as many as a game has, to know the size of arrays
_UNIT = 2.0**-52


@dataclass(frozen=True)
class Game:
    """Rows of two tallies in blocks, and the weights of T functionals.

    Attributes
    ----------
    scores : (array (T, M₁), array (T, M₂))
        g₁ and g₂: the functional is the sum of their means.
    blocks : (array (B, M₁), array (B, M₂))
    known : (array (M₁,), array (M₂,))
        Weights of the outcomes as known before, for bets only.
    """

    scores: tuple[Floats, Floats]
    blocks: tuple[Floats, Floats]
    known: tuple[Floats, Floats]

    def subset(self, index: NDArray[np.int64]) -> Game:
        """The functionals numbered ``index``."""
        return Game((self.scores[0][index], self.scores[1][index]), self.blocks, self.known)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The least and largest value that each functional can have: (T,), (T,)."""
        first, second = self.scores
        return first.min(axis=1) + second.min(axis=1), first.max(axis=1) + second.max(axis=1)

    def at(self, t: Floats) -> Triples:
        """The games against θ > t, for t (T,): scores g₁ and t − g₂, moved and scaled into [0, 1]."""
        first, second = self.scores
        least, most = self.range
        bottom = np.minimum(first.min(axis=1), least - second.max(axis=1))
        size = np.maximum(first.max(axis=1), most - second.min(axis=1)) - bottom
        size = np.where(size > 0, size, 1.0)[:, None]
        both = ((first - bottom[:, None]) / size, ((t - bottom)[:, None] - second) / size)
        width = max(part.shape[1] for part in both)
        q = np.stack([_filled(np.clip(part, 0.0, 1.0), width, part[:, :1]) for part in both], axis=1)
        shape = (len(t), *self.blocks[0].shape[:1], width)
        rows = np.stack([np.broadcast_to(_filled(part, width), shape) for part in self.blocks], axis=1)
        known = np.stack([_filled(part[None], width)[0] for part in self.known])
        return Triples(q, rows, np.broadcast_to(known, (len(t), *known.shape)))


def _filled(part: Floats, width: int, filling: Floats | float = 0.0) -> Floats:
    """With more columns, up to ``width``: outcomes that do not occur."""
    more = np.broadcast_to(filling, (*part.shape[:-1], width - part.shape[-1]))
    return np.concatenate([part, np.clip(more, 0.0, 1.0)], axis=-1)


def betting_limits(
    tallies: Sequence[Tally],
    basis: Floats | None,
    a: Floats,
    alpha: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Limits that are both right with probability 1 − α at least, for each functional: (m,), (m,).

    Two tallies are one game. Where there are more, they are taken two by two, and the levels and limits of
    the games are added up.

    Parameters
    ----------
    tallies : sequence of Tally
        Each with a row; a sample comes first.
    basis : array (k, r) or None
        From :func:`rldp.theory.estimation.row_space`.
    a : array (k, m)
        Of functionals that are identified.
    alpha : float
    """
    shares = np.concatenate([[_FIRST_ROWS], _FIRST_ROWS + (1 - _FIRST_ROWS) * block_shares()])
    parts = [split(tally.counts[None], shares, rng)[0].astype(np.float64) for tally in tallies]
    p = pilot([tally.with_counts(part[0]) for tally, part in zip(tallies, parts, strict=True)])
    weights = [g.T for g in least_variance(tallies, basis, p, a)]
    known = [(part[0].sum() + _KNOWN) * tally.at(p) for tally, part in zip(tallies, parts, strict=True)]
    pairs = [range(i, min(i + 2, len(tallies))) for i in range(0, len(tallies), 2)]
    level = alpha / (2 * len(pairs))
    lower, upper = np.zeros(a.shape[1]), np.zeros(a.shape[1])
    for pair in pairs:
        scores = [np.concatenate([weights[j], -weights[j]]) for j in pair]
        blocks, about = [parts[j][1:] for j in pair], [known[j] for j in pair]
        if len(pair) == 1:
            scores.append(np.zeros((len(scores[0]), 1)))
            blocks.append(np.zeros((len(blocks[0]), 1)))
            about.append(np.ones(1))
        game = Game((scores[0], scores[1]), (blocks[0], blocks[1]), (about[0], about[1]))
        above, below = np.split(upper_limits(game, level), 2)
        lower, upper = lower - below, upper + above
    return lower, upper


def upper_limits(game: Game, alpha: float) -> Floats:
    """Limits that are below their functional with probability α at most, each: (T,).

    **Levels** are fixed before the rows are bet on. The test of 'θ > t' uses the bets made for the level
    below t; with them the wealth grows with t. So θ ≤ t is shown for all t from a point on, if it is shown
    there and at all higher levels.
    """
    goal = -math.log(alpha) * (1 + 4 * _UNIT)
    least, most = game.range
    levels = _levels(game, least, most)
    limit = most.copy()
    undecided = np.flatnonzero(most > least)
    size = max(part.shape[1] for part in game.scores)
    few = max(1, _MOST_NUMBERS // (4 * _CELLS * size * _TOGETHER))
    for start in range(0, levels.shape[1], _TOGETHER):
        left = []
        for some in np.split(undecided, range(few, len(undecided), few)):
            if not len(some):
                continue
            limit[some], lost = _lowered(
                game.subset(some), levels[some, start : start + _TOGETHER], limit[some], goal
            )
            left.append(some[~lost])
        undecided = np.concatenate(left) if left else undecided[:0]
    return limit + 64 * _UNIT * (np.abs(least) + np.abs(most))


def _levels(game: Game, least: Floats, most: Floats) -> Floats:
    """Levels in decreasing order, most of them where the limit is expected: (T, G)."""
    middle, fresh, earlier = np.zeros_like(least), np.zeros_like(least), np.zeros_like(least)
    for scores, blocks, known in zip(game.scores, game.blocks, game.known, strict=True):
        mean, variance = moments(scores, np.broadcast_to(known, scores.shape))
        middle += mean
        fresh += variance / max(float(blocks.sum()), 1.0)
        earlier += variance / known.sum()
    middle += _EXPECTED * np.sqrt(fresh)
    levels = middle[:, None] + np.sqrt(fresh + earlier)[:, None] * _OFFSETS
    return np.asarray(np.clip(levels, least[:, None], most[:, None]))


def _lowered(game: Game, levels: Floats, limit: Floats, goal: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Go down some levels: limits as low as they allow, and which games have lost and are over."""
    functionals, count = levels.shape
    which = np.repeat(np.arange(functionals), count)
    many = game.subset(which)
    made = play(many.at(levels.reshape(-1)), np.zeros(len(which)), goal)
    won = (made.wealth >= goal).reshape(levels.shape) | (levels >= limit[:, None])
    unbroken = np.logical_and.accumulate(won, axis=1)
    lowest = np.where(unbroken, np.minimum(levels, limit[:, None]), limit[:, None]).min(axis=1)
    lost = ~unbroken[:, -1]
    games = np.flatnonzero(lost)
    first = games * count + won[games].argmin(axis=1)
    lowest[games] = _halved(
        game.subset(games), made.subset(first), levels.reshape(-1)[first], lowest[games], goal
    )
    return lowest, lost


def _halved(game: Game, made: Play, low: Floats, high: Floats, goal: float) -> Floats:
    """The least t found above a level that was lost at which its bets win; else ``high``."""
    if not len(low):
        return high
    best = high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        won = log_wealth(game.at(middle), made, np.zeros(len(middle))) >= goal
        best = np.where(won, middle, best)
        low, high = np.where(won, low, middle), np.where(won, middle, high)
    return best
