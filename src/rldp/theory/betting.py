r"""Confirmation from fresh rows that a protocol is private, by block betting; valid for all n and all P.

A triple (y, s₁, s₂) *fails* at ε if :math:`P(y|s_1) > e^\varepsilon P(y|s_2)`. A game on fresh rows can rule
this out. For every possible value c of P(y|s₁), bet against 'P(y|s₁) = c, and the triple fails':

.. math::
    \ln W(c) = \sum_b\Big\{\sum_u N^1_{bu}\ln\big(1 + \lambda_{1b}(c - q_1(u))\big)
             + \sum_u N^2_{bu}\ln\big(1 + \lambda_{2b}(e^\varepsilon q_2(u) - c)\big)\Big\},

with λ₂ ≥ 0, all factors positive, and bets that depend on earlier blocks only. If the triple fails, W at the
true c has mean at most one, so it reaches 1/α with probability at most α. ln W is concave in c. A cell is an
interval of c that shares its bets, so ln W is smallest at one of its ends. The choice of bets affects how
soon a true claim is confirmed, but never how often a false one is. See ``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.model import Floats
from rldp.theory.stakes import Outlook

__all__ = ["LARGEST_EPSILON", "Play", "Triples", "block_shares", "caps", "log_wealth", "play", "split"]

LARGEST_EPSILON = 300.0  # beyond, only the table itself bounds ε: e^{2ε} must fit in a float

_BLOCKS = (
    32  # width relative to the normal one, for many rows: 1.13 with 16 blocks, 1.08 with 32, 1.04 with 64
)
_FINER_TOWARDS_THE_END = (
    2.5  # the last bets are the boldest, so the last blocks are the smallest; flat from 2 to 3
)
_STAKE = 0.75  # share of a row's largest loss; 0.5 is a fifth wider if n = 50 and one value decides
_NARROWEST = 1e-6  # relative to the largest c: keeps bets, and thus rounding errors, finite
_MOST_SHUFFLED = 10**9  # limit of NumPy's hypergeometric sampling
_UNIT = 2.0**-52
_SIGNS = np.array([1.0, -1.0])  # of c in the factors of the two secrets


@dataclass(frozen=True)
class Triples:
    """T triples (y, s₁, s₂), the fresh rows of either secret, and prior knowledge.

    Attributes
    ----------
    q : array (T, 2, U)
        Q(y|s₁,·) and Q(y|s₂,·), multiples of 2⁻⁵².
    rows : array (T, 2, B, U)
        Counts of each value in each block of the fresh rows.
    known : array (T, 2, U), positive
        Prior weights of the values, used for bets only.
    """

    q: Floats
    rows: Floats
    known: Floats

    @property
    def sizes(self) -> Floats:
        """Number of rows of either secret in each block: (T, 2, B)."""
        return np.asarray(self.rows.sum(axis=-1))

    @property
    def n(self) -> Floats:
        """Total number of rows, at least 1: (T, 2)."""
        return np.asarray(np.maximum(self.sizes.sum(axis=-1), 1.0))

    def subset(self, index: NDArray[np.int64]) -> Triples:
        """Return the triples numbered ``index``."""
        return Triples(self.q[index], self.rows[index], self.known[index])

    def scores(self, e: Floats) -> Floats:
        """Return q₁ and e^ε q₂: (T, 2, U)."""
        return self.q * np.stack([np.ones_like(e), e], axis=-1)[..., None]

    def range(self, e: Floats) -> tuple[Floats, Floats]:
        """Return the range of P(y|s₁) if the triple fails: (T,), (T,)."""
        lowest = self.q.min(axis=-1)
        return np.maximum(lowest[:, 0], e * lowest[:, 1]), self.q[:, 0].max(axis=-1)


@dataclass(frozen=True)
class Play:
    """Bets for T triples, each made for its own ε, and their wealth at that ε.

    Attributes
    ----------
    edges : array (T, J + 1)
        Ends of the cells of c, in increasing order; cells may be empty.
    bets : array (T, J, 2, B)
        λ₁ (of any sign) and λ₂ ≥ 0 of every cell and block.
    wealth : array (T,)
        The least ln W over all c, rounded down.
    """

    edges: Floats
    bets: Floats
    wealth: Floats

    def subset(self, index: NDArray[np.int64]) -> Play:
        """Return the bets for the triples numbered ``index``."""
        return Play(self.edges[index], self.bets[index], self.wealth[index])


def block_shares() -> Floats:
    """Return the cumulative shares of rows in the blocks: (B,)."""
    return 1 - (1 - np.arange(1, _BLOCKS + 1) / _BLOCKS) ** _FINER_TOWARDS_THE_END


def split(counts: NDArray[np.int64], shares: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Split counts (S, U) of rows into blocks (S, B, U), in a random order of the rows.

    Given the counts, every order of independent rows is equally likely. A random order therefore gives blocks
    with the same law as the order in which the rows were collected.

    Parameters
    ----------
    shares : array (B,), increasing, the last one 1
        Cumulative shares of rows in the blocks.
    """
    blocks = np.zeros((counts.shape[0], len(shares), counts.shape[1]), dtype=np.int64)
    for secret, row in enumerate(counts):
        total = int(row.sum())
        if total >= _MOST_SHUFFLED:  # draw a block for every row: sizes vary a little
            blocks[secret] = rng.multinomial(row, np.diff(shares, prepend=0.0)).T
            continue
        left = row.copy()
        for block, size in enumerate(np.diff(np.rint(shares * total).astype(np.int64), prepend=0)):
            blocks[secret, block] = rng.multivariate_hypergeometric(left, size, method="marginals")
            left -= blocks[secret, block]
    return blocks


def caps(q: Floats) -> Floats:
    """Return the least ε ≥ 0 at which a triple holds for every distribution, rounded up: (T,).

    This is ln(max q₁ / min q₂), and 0 for an output with probability 0 given s₁.

    Parameters
    ----------
    q : array (T, 2, U)
        Multiples of 2⁻⁵² up to 1, so that differences are exact.
    """
    highest, lowest = q[:, 0].max(axis=-1), q[:, 1].min(axis=-1)
    above = np.maximum(highest - lowest, 0)
    excess = np.full_like(above, np.inf)
    np.divide(above, lowest, out=excess, where=lowest > 0)
    excess[highest == 0] = 0
    return np.asarray(np.log1p(excess) * (1 + 16 * _UNIT))


def play(triples: Triples, epsilon: Floats, goal: float) -> Play:
    """Bet against a failure at ε, block by block, with the goal ln W ≥ goal for every c.

    A cell that has reached the goal stops betting.

    Parameters
    ----------
    epsilon : array (T,)
        Below :func:`caps` and at most ``LARGEST_EPSILON``.
    goal : float
        ln 1/α.
    """
    e = _safe_e(epsilon)
    scores, n = triples.scores(e), triples.n
    lowest, highest = triples.range(e)
    seen = triples.known.astype(np.float64)
    edges = Outlook.of(scores, seen, n).edges(lowest, highest)
    ends = _ends(edges, lowest)
    least, most = _limits(scores, ends)
    parts = triples.sizes / n[..., None]
    left = np.ones(n.shape)
    wealth = np.where(_without_extent(edges)[..., None], goal, np.zeros(ends.shape))
    bets = np.zeros((*ends.shape[:2], *parts.shape[1:]))
    for block in range(bets.shape[3]):
        needed = goal - _lesser(wealth)
        stakes = Outlook.of(scores, seen, n).stakes(ends, needed, left, parts[..., block])
        bets[..., block] = np.where(needed[..., None] > 0, np.clip(stakes, least, most), 0)
        wealth += _gain(scores, triples.rows[:, :, block], ends, bets[..., block])
        seen += triples.rows[:, :, block]
        left = np.maximum(left - parts[..., block], 0)
    return Play(edges, bets, _least(wealth - _rounding(triples, scores, ends, bets), edges, lowest))


def log_wealth(triples: Triples, made: Play, epsilon: Floats) -> Floats:
    """Return the least ln W over all c, rounded down, at an ε no smaller than the bets were made for: (T,).

    It grows with ε, because the factors of the second secret grow and the range of c shrinks.
    """
    e = _safe_e(epsilon)
    scores = triples.scores(e)
    lowest, _ = triples.range(e)
    ends = _ends(made.edges, lowest)
    wealth = np.zeros(ends.shape)
    for block in range(made.bets.shape[3]):
        wealth += _gain(scores, triples.rows[:, :, block], ends, made.bets[..., block])
    return _least(wealth - _rounding(triples, scores, ends, made.bets), made.edges, lowest)


def _safe_e(epsilon: Floats) -> Floats:
    """Return e^ε rounded down: a claim that is confirmed with it is confirmed with e^ε."""
    return np.where(epsilon == 0, 1.0, np.exp(epsilon) * (1 - 8 * _UNIT))


def _ends(edges: Floats, lowest: Floats) -> Floats:
    """Return both ends of every cell, (T, J, 2); cells that contain ``lowest`` are cut off there."""
    first, last = edges[:, :-1], edges[:, 1:]
    return np.stack([np.clip(lowest[:, None], first, last), last], axis=-1)


def _limits(scores: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and largest bets that keep all factors above 1 − _STAKE: (T, J, 2), (T, J, 2).

    Scores that do not depend on the value get no bet.
    """
    smallest, largest = scores.min(axis=-1)[:, None], scores.max(axis=-1)[:, None]
    floor = _NARROWEST * largest[..., 0]
    stake = _STAKE * (1 - 1e-6) * (largest > smallest)
    down = np.maximum(ends[..., 1] - smallest[..., 0], floor)
    up = np.maximum(largest[..., 0] - ends[..., 0], floor)
    up2 = np.maximum(ends[..., 1] - smallest[..., 1], floor)
    least = np.stack([-stake[..., 0] / down, np.zeros_like(down)], axis=-1)
    return least, stake / np.stack([up, up2], axis=-1)


def _gain(scores: Floats, rows: Floats, ends: Floats, bets: Floats) -> Floats:
    """Return the gain of ln W from one block at both ends of every cell: (T, J, 2). Skip cells without bets.

    Parameters
    ----------
    scores, rows : array (T, 2, U)
    ends, bets : array (T, J, 2)
    """
    gain = np.zeros(ends.shape)
    t, j = np.nonzero((bets[..., 0] != 0) | (bets[..., 1] != 0))
    odds = _SIGNS[:, None, None] * (ends[t, j][:, None, :, None] - scores[t][:, :, None])
    logarithms = np.log1p(bets[t, j][..., None, None] * odds)
    both = (logarithms @ rows[t][..., None])[..., 0]
    gain[t, j] = both[:, 0] + both[:, 1]
    return gain


def _rounding(triples: Triples, scores: Floats, ends: Floats, bets: Floats) -> Floats:
    r"""Return a bound on the rounding error of ln W: (T, J, 1).

    With :math:`u = 2^{-53}` and q for a score, a row adds at most :math:`(60 + 2U + 4B)u\,m`, where
    :math:`m = |\lambda|(c + q)`, or for the second secret :math:`1 + 2\lambda c + \ln(1 + \lambda q)` if that
    is less; the code has 2u for u. For the argument x of a logarithm is off by at most
    :math:`3.1u|\lambda|(c + q)`, which no factor :math:`1 + x \ge 1/4` makes more than
    :math:`12.4u\,m` in the logarithm; a logarithm that is good to eight units in the last place adds
    :math:`16u|\ln(1 + x)|`, and the sum, in whatever order, :math:`(U + 2B + 5)u` times the sum of all
    magnitudes, where :math:`|\ln(1 + x)| \le 1.85m`.
    """
    blocks, values = triples.rows.shape[2:]
    c, q, sizes = ends[..., 1:], scores.max(axis=-1)[..., None], triples.sizes
    first, second = np.abs(bets[:, :, 0]), bets[:, :, 1]
    exposed = first * (c + q[:, :1])
    exposed2 = np.minimum(second * (c + q[:, 1:]), 1 + 2 * second * c + np.log1p(second * q[:, 1:]))
    total = exposed @ sizes[:, 0, :, None] + exposed2 @ sizes[:, 1, :, None]
    return np.asarray(_UNIT * (60 + 2 * values + 4 * blocks) * total)


def _least(wealth: Floats, edges: Floats, lowest: Floats) -> Floats:
    """Return the least ln W of all c from ``lowest`` on: (T,), from both ends of every cell (T, J, 2)."""
    idle = _without_extent(edges) | (edges[:, 1:] < lowest[:, None])
    return np.asarray(np.where(idle, np.inf, _lesser(wealth)).min(axis=-1))


def _lesser(wealth: Floats) -> Floats:
    """Return the minimum over both ends of a cell; NumPy's minimum is slow on such a short axis."""
    return np.minimum(wealth[..., 0], wealth[..., 1])


def _without_extent(edges: Floats) -> NDArray[np.bool_]:
    """Return the mask of cells with a single c, which also belongs to a neighbour: (T, J)."""
    return np.asarray((edges[:, 1:] == edges[:, :-1]) & (edges[:, -1:] > edges[:, :1]))
