"""Bets against a failing triple: fair at the truth, settled in advance, and rounded to the safe side."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from games import KINDS, drawn, laws
from rldp.theory.betting import (
    LARGEST_EPSILON,
    Triples,
    block_shares,
    caps,
    log_wealth,
    play,
    split,
)

GOAL = math.log(20)
each_kind = pytest.mark.parametrize("kind", KINDS)


def ln_wealth(triples, made, epsilon, c):
    """ln W at c, for each triple: by the definition, and with the bets of the cell that c is in."""
    e, found = math.exp(epsilon), []
    for (q1, q2), (rows1, rows2), edges, bets in zip(
        triples.q, triples.rows, made.edges, made.bets, strict=True
    ):
        cell = next(j for j in range(len(bets)) if edges[j] <= c <= edges[j + 1] and edges[j] < edges[j + 1])
        total = 0.0
        for b in range(bets.shape[2]):
            bet1, bet2 = bets[cell, :, b]
            total += rows1[b] @ np.log1p(bet1 * (c - q1)) + rows2[b] @ np.log1p(bet2 * (e * q2 - c))
        found.append(total)
    return np.array(found)


# --- why it is valid -------------------------------------------------------------------------------

Q = np.array([[0.25, 0.75], [0.125, 0.625]])
LAW1 = np.array([0.5, 0.5])  # P(y|s₁) = ½


def every_outcome(law2, blocks, known=((3.0, 2.0), (2.0, 3.0))):
    """All games of two rows of either secret in each block, and their probabilities."""
    pair = [((2, 0), lambda p: p[0] ** 2), ((1, 1), lambda p: 2 * p[0] * p[1]), ((0, 2), lambda p: p[1] ** 2)]
    rows, chances = [], []
    for game in itertools.product(pair, repeat=2 * blocks):
        first, second = game[:blocks], game[blocks:]
        rows.append([[counts for counts, _ in side] for side in (first, second)])
        chances.append(
            math.prod([chance(LAW1) for _, chance in first] + [chance(law2) for _, chance in second])
        )
    size = len(rows)
    return (
        Triples(
            np.tile(Q, (size, 1, 1)), np.array(rows, dtype=float), np.tile(np.array(known), (size, 1, 1))
        ),
        np.array(chances),
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("goal", [0.2, 1.0, 3.0])
def test_where_the_triple_is_on_the_edge_of_failing_the_game_is_fair(share, goal):
    law2 = np.array([1 - share, share])
    epsilon = math.log(0.5 / (law2 @ Q[1]))
    triples, chances = every_outcome(law2, blocks=3)
    assert chances.sum() == pytest.approx(1, abs=1e-14)
    made = play(triples, np.full(len(chances), epsilon), goal)
    assert np.abs(made.bets).max() > 0.1
    assert chances @ np.exp(ln_wealth(triples, made, epsilon, 0.5)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("excess", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("alpha", [0.3, 0.6, 0.9])
def test_a_failing_triple_is_confirmed_no_more_often_than_alpha(excess, alpha):
    law2 = np.array([0.5, 0.5])
    failing = math.log(0.5 / (law2 @ Q[1]))
    triples, chances = every_outcome(law2, blocks=3)
    epsilon = max(0.0, failing - excess)
    goal = -math.log(alpha)
    made = play(triples, np.full(len(chances), epsilon), goal)
    truth = ln_wealth(triples, made, epsilon, 0.5)
    assert chances @ np.exp(truth) <= 1 + 1e-12
    assert (made.wealth <= truth).all()  # what is smallest over all c is no more than at the true one
    assert chances @ (made.wealth >= goal) <= alpha
    assert chances @ (truth >= goal) > 0  # or nothing would have been tested


@each_kind
@pytest.mark.parametrize("n", [50, 500, 5000])
def test_on_the_edge_of_failing_few_are_confirmed(kind, n):
    """The level is 0.05; with 2000 runs, more than the limit has probability 1e-7 at most."""
    runs = 2000
    triples = drawn(kind, n, runs, seed=n)
    edge = laws(kind)[2]
    confirmed = play(triples, np.full(runs, edge), GOAL).wealth >= GOAL
    assert confirmed.sum() <= binom.isf(1e-7, runs, 0.05)


@each_kind
@pytest.mark.parametrize("block", [0, 7, 31])
def test_bets_do_not_know_their_own_block_nor_later_ones(kind, block):
    one = drawn(kind, 300, 20, seed=1)
    other = drawn(kind, 300, 20, seed=2)
    rows = one.rows.copy()
    rows[:, :, block:] = other.rows[:, :, block:]
    epsilon = np.full(20, laws(kind)[2] + 0.2)
    first, second = (play(Triples(one.q, part, one.known), epsilon, GOAL) for part in (one.rows, rows))
    np.testing.assert_array_equal(first.edges, second.edges)
    np.testing.assert_array_equal(first.bets[..., : block + 1], second.bets[..., : block + 1])
    if block < 31:
        assert (first.bets[..., block + 1 :] != second.bets[..., block + 1 :]).any()


@each_kind
def test_bets_on_the_second_secret_are_never_negative_and_no_row_can_ruin(kind):
    triples = drawn(kind, 60, 200, seed=3)
    epsilon = np.full(200, laws(kind)[2] + 0.3)
    made = play(triples, epsilon, GOAL)
    assert (made.bets[:, :, 1] >= 0).all()
    e = np.exp(epsilon)[:, None, None]
    for end in (made.edges[:, :-1], made.edges[:, 1:]):
        c = end[..., None, None]
        assert (1 + made.bets[:, :, 0, :, None] * (c - triples.q[:, None, None, 0]) >= 0.25).all()
        assert (
            1 + made.bets[:, :, 1, :, None] * (e[..., None] * triples.q[:, None, None, 1] - c) >= 0.25
        ).all()


@each_kind
def test_cells_cover_all_that_a_failing_triple_allows(kind):
    triples = drawn(kind, 200, 50, seed=4)
    epsilon = laws(kind)[2] + 0.1
    edges = play(triples, np.full(50, epsilon), GOAL).edges
    lowest = np.maximum(triples.q[:, 0].min(axis=1), math.exp(epsilon) * triples.q[:, 1].min(axis=1))
    assert (edges[:, 0] <= lowest).all()
    assert (edges[:, -1] == triples.q[:, 0].max(axis=1)).all()
    assert (np.diff(edges, axis=1) >= 0).all()


# --- the least wealth over all c -------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("above", [0.0, 0.1, 0.5])
def test_no_c_has_less_wealth_than_is_said(kind, above):
    triples = drawn(kind, 100, 4, seed=5)
    made = play(triples, np.full(4, laws(kind)[2]), GOAL)
    epsilon = laws(kind)[2] + above
    said = log_wealth(triples, made, np.full(4, epsilon))
    lowest = max(triples.q[0, 0].min(), math.exp(epsilon) * triples.q[0, 1].min())
    grid = np.linspace(lowest, triples.q[0, 0].max(), 400)
    least = np.min([ln_wealth(triples, made, epsilon, c) for c in grid[1:-1]], axis=0)
    assert (said <= least + 1e-9).all()


@each_kind
def test_wealth_is_rounded_down_and_hardly_so(kind):
    triples = drawn(kind, 400, 3, seed=6)
    epsilon = laws(kind)[2] + 0.1
    made = play(triples, np.full(3, epsilon), GOAL)
    with mpmath.workdps(40):
        e = mpmath.exp(mpmath.mpf(epsilon))
        for t in range(3):
            q1, q2 = ([mpmath.mpf(x) for x in row] for row in triples.q[t])
            least = mpmath.inf
            for j in range(made.bets.shape[1]):
                first, last = made.edges[t, j : j + 2]
                if first == last:
                    continue
                for c in (mpmath.mpf(first), mpmath.mpf(last)):
                    total = mpmath.mpf(0)
                    for b in range(made.bets.shape[3]):
                        bet1, bet2 = (mpmath.mpf(x) for x in made.bets[t, j, :, b])
                        for u in range(len(q1)):
                            total += int(triples.rows[t, 0, b, u]) * mpmath.log(1 + bet1 * (c - q1[u]))
                            total += int(triples.rows[t, 1, b, u]) * mpmath.log(1 + bet2 * (e * q2[u] - c))
                    least = min(least, total)
            for said in (made.wealth[t], log_wealth(triples, made, np.full(3, epsilon))[t]):
                assert said <= least
                assert said >= least - 1e-9


@each_kind
def test_with_the_same_bets_wealth_grows_with_epsilon(kind):
    triples = drawn(kind, 200, 20, seed=7)
    start = max(0.0, laws(kind)[2] - 0.2)
    made = play(triples, np.full(20, start), GOAL)
    top = min(float(caps(triples.q).min()), start + 3) - 1e-9
    wealth = np.array([log_wealth(triples, made, np.full(20, x)) for x in np.linspace(start, top, 40)])
    np.testing.assert_allclose(wealth[0], made.wealth, atol=1e-9)
    assert (wealth[1:] >= wealth[:-1] - 1e-9).all()
    assert (wealth[-1] > wealth[0]).all()


def test_the_largest_epsilon_is_no_number_too_large():
    triples = drawn("many zeros", 100, 5, seed=8)
    far = np.full(5, LARGEST_EPSILON)
    made = play(triples, far, GOAL)
    assert np.isfinite(made.wealth).all()
    assert (log_wealth(triples, made, far) >= GOAL).all()


# --- tables that need no rows ----------------------------------------------------------------------


def test_a_cap_is_the_largest_ratio_that_the_table_allows_rounded_up():
    rng = np.random.default_rng(9)
    q = rng.integers(1, 2**52, size=(200, 2, 3)) / 2**52
    q[:20, 1] = q[:20, 0].max(axis=1)[:, None] - np.arange(3) / 2**52  # ratios next to 1
    found = caps(q)
    with mpmath.workdps(40):
        for cap, (q1, q2) in zip(found, q, strict=True):
            exact = max(mpmath.mpf(0), mpmath.log(mpmath.mpf(q1.max()) / mpmath.mpf(q2.min())))
            assert exact <= cap <= exact * (1 + mpmath.mpf(2) ** -46)


def test_caps_of_zeros():
    never, always = np.zeros(2), np.ones(2)
    assert caps(np.array([[never, never], [never, always], [always, always], [always, never]])).tolist() == [
        0.0,
        0.0,
        0.0,
        math.inf,
    ]


# --- the order of the rows -------------------------------------------------------------------------


def test_blocks_hold_every_row_once():
    counts = np.array([[5, 0, 17], [400, 31, 2], [0, 0, 0]])
    blocks = split(counts, block_shares(), np.random.default_rng(0))
    np.testing.assert_array_equal(blocks.sum(axis=1), counts)
    ends = np.rint(block_shares() * counts.sum(axis=1)[:, None])
    np.testing.assert_array_equal(blocks.sum(axis=2).cumsum(axis=1), ends)
    assert block_shares()[-1] == 1


def test_every_order_of_the_rows_is_equally_likely():
    """Of four rows, two alike, two make a block: both with probability 1/6; by Hoeffding's bound ± 0.03."""
    rng, draws = np.random.default_rng(1), 10_000
    counts = np.tile([2, 2], (draws, 1))
    first = split(counts, np.array([0.5, 1.0]), rng)[:, 0, 0]
    shares = np.bincount(first, minlength=3) / draws
    assert 2 * math.exp(-2 * draws * 0.03**2) < 1e-6
    np.testing.assert_allclose(shares, [1 / 6, 2 / 3, 1 / 6], atol=0.03)


def test_a_billion_rows_are_split_too():
    counts = np.array([[3 * 10**12, 7, 10**9]])
    blocks = split(counts, block_shares(), np.random.default_rng(2))
    np.testing.assert_array_equal(blocks.sum(axis=1), counts)
    expected = np.diff(block_shares(), prepend=0) * 3e12
    assert (np.abs(blocks[0, :, 0] - expected) <= 8 * np.sqrt(expected) + 8).all()
