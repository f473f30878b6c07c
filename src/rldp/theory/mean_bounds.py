r"""Confidence intervals for :math:`\langle a,P\rangle` by betting, valid for every P and number of rows.

With weights g fixed before any betting, :math:`\theta=\sum_j E\,g_j(Y_j)`. For two tallies, 'θ > t' means
that the mean of :math:`g_1(Y_1)` is above that of :math:`t-g_2(Y_2)`. In the game of
:mod:`rldp.theory.betting` this is a triple that fails at ε = 0, with these scores instead of a protocol's
columns. The same bets therefore rule it out, with no loss for the unknown means. See ``docs/theory.md``,
'Estimation'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.betting import Triples, block_shares, split
from rldp.theory.confidence import levels_around, upper_bounds
from rldp.theory.estimation import least_variance, pilot
from rldp.theory.model import Floats
from rldp.theory.stakes import moments
from rldp.theory.tallies import Tally

__all__ = ["Game", "betting_limits", "games", "upper_limits"]

_FIRST_ROWS = 0.08  # share of a tally used to choose weights and bets, and not for betting
_KNOWN = 0.5  # pseudo-counts of prior knowledge for the bets
_EXPECTED = 2.2  # typical distance of an upper limit above the estimate, in standard errors
_UNIT = 2.0**-52


@dataclass(frozen=True)
class Game:
    """Rows of two tallies in blocks, and the weights of T functionals.

    Attributes
    ----------
    scores : (array (T, M₁), array (T, M₂))
        g₁ and g₂: the functional is the sum of their means.
    blocks : (array (T, B, M₁), array (T, B, M₂))
    known : (array (T, M₁), array (T, M₂))
        Prior weights of the outcomes, used for bets only.
    """

    scores: tuple[Floats, Floats]
    blocks: tuple[Floats, Floats]
    known: tuple[Floats, Floats]
    largest: float = math.inf

    def subset(self, index: NDArray[np.int64]) -> Game:
        """Return the functionals numbered ``index``."""
        scores, blocks, known = (
            (first[index], second[index]) for first, second in (self.scores, self.blocks, self.known)
        )
        return Game(scores, blocks, known)

    @property
    def values(self) -> int:
        """The number of outcomes of the tally that has more."""
        return max(int(part.shape[1]) for part in self.scores)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """Least and largest possible value of each functional: (T,), (T,)."""
        first, second = self.scores
        return first.min(axis=1) + second.min(axis=1), first.max(axis=1) + second.max(axis=1)

    def at(self, t: Floats) -> tuple[Triples, Floats]:
        """Return the games against θ > t, for t (T,): scores g₁ and t − g₂ mapped to [0, 1], and ε = 0."""
        first, second = self.scores
        least, most = self.range
        bottom = np.minimum(first.min(axis=1), least - second.max(axis=1))
        size = np.maximum(first.max(axis=1), most - second.min(axis=1)) - bottom
        size = np.where(size > 0, size, 1.0)[:, None]
        both = ((first - bottom[:, None]) / size, ((t - bottom)[:, None] - second) / size)
        q = np.stack([_filled(np.clip(part, 0.0, 1.0), self.values, part[:, :1]) for part in both], axis=1)
        rows = np.stack([_filled(part, self.values) for part in self.blocks], axis=1)
        known = np.stack([_filled(part, self.values) for part in self.known], axis=1)
        return Triples(q, rows, known), np.zeros(len(t))


def _filled(part: Floats, width: int, filling: Floats | float = 0.0) -> Floats:
    """Pad with columns up to ``width``, for outcomes that do not occur."""
    more = np.broadcast_to(filling, (*part.shape[:-1], width - part.shape[-1]))
    return np.concatenate([part, np.clip(more, 0.0, 1.0)], axis=-1)


def betting_limits(
    tallies: Sequence[Tally],
    basis: Floats | None,
    a: Floats,
    alpha: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return limits that both hold with probability at least 1 − α, for each functional: (m,), (m,).

    Two tallies form one game. More tallies are taken in pairs, and the levels and limits of the games are
    added.

    Parameters
    ----------
    tallies : sequence of Tally
        Each with a row; a sample comes first.
    basis : array (k, r) or None
        From :func:`rldp.theory.estimation.row_space`.
    a : array (k, m)
        Identifiable functionals.
    alpha : float
    """
    played = games(tallies, basis, a, rng)
    limits = [upper_limits(game, alpha / (2 * len(played))) for game in played]
    above, below = np.split(np.sum(limits, axis=0), 2)
    return -below, above


def games(tallies: Sequence[Tally], basis: Floats | None, a: Floats, rng: np.random.Generator) -> list[Game]:
    """Return a game for every two tallies, about all functionals and then about their negatives.

    A few rows are used to choose weights and bets. An unpaired tally plays against a constant.
    """
    shares = np.concatenate([[_FIRST_ROWS], _FIRST_ROWS + (1 - _FIRST_ROWS) * block_shares()])
    parts = [split(tally.counts[None], shares, rng)[0].astype(np.float64) for tally in tallies]
    p = pilot([tally.with_counts(part[0]) for tally, part in zip(tallies, parts, strict=True)])
    sides = [
        (np.concatenate([g.T, -g.T]), part[1:], (part[0].sum() + _KNOWN) * tally.at(p))
        for g, part, tally in zip(least_variance(tallies, basis, p, a), parts, tallies, strict=True)
    ]
    if len(sides) % 2:
        sides.append((np.zeros((2 * a.shape[1], 1)), np.zeros((len(shares) - 1, 1)), np.ones(1)))
    return [_game(one, other) for one, other in zip(sides[::2], sides[1::2], strict=True)]


def _game(*sides: tuple[Floats, Floats, Floats]) -> Game:
    scores, blocks, known = zip(*sides, strict=True)
    size = len(scores[0])
    (blocks, known) = (
        tuple(np.broadcast_to(part, (size, *part.shape)) for part in both) for both in (blocks, known)
    )
    return Game((scores[0], scores[1]), (blocks[0], blocks[1]), (known[0], known[1]))


def upper_limits(game: Game, alpha: float) -> Floats:
    """Return upper confidence limits, each of level 1 − α: (T,)."""
    least, most = game.range
    limit = upper_bounds(game, np.clip(_levels(game), least[:, None], most[:, None]), most, alpha)
    return limit + 64 * _UNIT * (np.abs(least) + np.abs(most))


def _levels(game: Game) -> Floats:
    """Return the levels for which bets are made, most of them near the expected limit: (T, G)."""
    middle, fresh, earlier = (np.zeros(len(game.scores[0])) for _ in range(3))
    for scores, blocks, known in zip(game.scores, game.blocks, game.known, strict=True):
        mean, variance = moments(scores, known)
        middle += mean
        fresh += variance / np.maximum(blocks.sum(axis=(1, 2)), 1.0)
        earlier += variance / known.sum(axis=1)
    return levels_around(middle + _EXPECTED * np.sqrt(fresh), np.sqrt(fresh + earlier))
