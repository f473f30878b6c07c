"""Intervals by betting: they are about the right number, hold, and are not much wider than normal ones."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from games import in_order
from rldp.theory import mean_bounds
from rldp.theory.estimation import row_space, unbiased
from rldp.theory.mean_bounds import Game, betting_limits, games, upper_limits
from rldp.theory.tallies import Tally

CHANNEL = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
P = np.array([0.5, 0.3, 0.2])
A = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]])


@pytest.mark.numerical
def test_a_game_bets_against_the_functional_being_larger():
    """The means of its two scores differ by θ − t, up to a positive scale: so it fails where θ > t."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(4, 3)), rng.normal(size=(4, 5))
    laws = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(5))
    game = Game((first, second), (np.ones((4, 2, 3)), np.ones((4, 2, 5))), (np.ones((4, 3)), np.ones((4, 5))))
    theta = first @ laws[0] + second @ laws[1]
    least, most = game.range
    ratios = []
    for share in (0.1, 0.7):
        t = least + share * (most - least)
        triples, _ = game.at(t)
        assert triples.q.min() >= 0
        assert triples.q.max() <= 1
        gap = triples.q[:, 0, :3] @ laws[0] - triples.q[:, 1] @ laws[1]
        ratios.append(gap / (theta - t))
    assert (ratios[0] > 0).all()
    np.testing.assert_allclose(ratios[0], ratios[1], rtol=1e-9)


def counts_like(law, n):
    """Rows as nearly distributed like the law as whole numbers are."""
    counts = np.floor(law * n).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


@pytest.mark.numerical
@pytest.mark.parametrize("tallies", [1, 2, 3])
def test_limits_hold_a_truth_that_the_rows_show_and_are_not_much_wider_than_normal_ones(tallies):
    released = Tally(CHANNEL, counts_like(P @ CHANNEL, 40_000))
    sample, other = (
        Tally.of_sample(counts_like(P, 2000)),
        Tally(CHANNEL[::-1], counts_like(P @ CHANNEL[::-1], 9000)),
    )
    some = {1: [released], 2: [sample, released], 3: [sample, released, other]}[tallies]
    basis = row_space(some)
    lower, upper = betting_limits(some, basis, A, 0.05, np.random.default_rng(0))
    low, high = unbiased(some, basis, A, np.random.default_rng(0)).limits(0.05)
    truth = P @ A
    assert ((lower < truth) & (truth < upper)).all()
    assert (upper - lower > high - low).all()
    assert (upper - lower < (1.5 if tallies < 3 else 2.2) * (high - low)).all()


@pytest.mark.slow
def test_limits_miss_the_truth_no_more_often_than_asked():
    """Of 20 draws with few rows, seven or more would be missed at α = 0.02 with probability below 1e-6."""
    rng = np.random.default_rng(7)
    a, missed = np.array([[1.0], [0.0], [0.0]]), 0
    for _ in range(20):
        sample, released = rng.multinomial(12, P), rng.multinomial(60, P @ CHANNEL)
        tallies = [Tally.of_sample(sample), Tally(CHANNEL, released)]
        lower, upper = betting_limits(tallies, None, a, 0.02, rng)
        missed += not lower[0] <= P[0] <= upper[0]
    assert missed < 7


def test_a_single_row_gives_limits():
    tallies = [Tally(CHANNEL, np.array([1, 0, 0]))]
    lower, upper = betting_limits(tallies, row_space(tallies), A, 0.05, np.random.default_rng(0))
    assert (lower <= P @ A).all()
    assert (upper >= P @ A).all()


# --- how often an interval misses, over all rows and all orders -------------------------------------

SHARE = np.array([[1.0], [0.0]])


def together(some):
    """Many games as one."""
    fields = ("scores", "blocks", "known")
    return Game(
        *(
            tuple(np.concatenate([getattr(game, name)[j] for game in some]) for j in range(2))
            for name in fields
        )
    )


def misses(some, truths, alpha):
    """Whether each game's interval for the first share misses the truth."""
    limits = upper_limits(together(some), alpha / 2).reshape(len(some), 2)
    return (limits[:, 0] < truths) | (-limits[:, 1] > truths)


def channel_of(first, second):
    return np.array([[first, 1 - first], [second, 1 - second]])


@pytest.mark.parametrize("alpha", [0.2, 0.7])
def test_of_200_small_channels_no_interval_misses_more_often_than_alpha(alpha, monkeypatch):
    """All arrivals of three released rows."""
    rng, rows = np.random.default_rng(0), 3
    some, truths, chances = [], [], []
    for first, second, share in rng.uniform(0.02, 0.98, size=(200, 3)):
        channel = channel_of(first, second)
        law = np.array([share, 1 - share]) @ channel
        for arrival in product(range(2), repeat=rows):
            tally = Tally(channel, np.bincount(arrival, minlength=2))
            monkeypatch.setattr(mean_bounds, "split", in_order(arrival))
            some += games([tally], None, SHARE, rng)
            truths.append(share)
            chances.append(np.prod(law[list(arrival)]))
    chance = np.array(chances).reshape(200, -1)
    np.testing.assert_allclose(chance.sum(axis=1), 1, atol=1e-12)
    missed = (chance * misses(some, np.array(truths), alpha).reshape(200, -1)).sum(axis=1)
    assert missed.max() <= alpha
    assert alpha < 0.5 or (missed > 0.1 * alpha).sum() >= 5  # or nothing would have been tested


def test_a_fresh_order_for_every_sample_keeps_the_level_that_one_seed_for_all_breaks():
    """A hundred rows, of which 84 % have the second value: all counts, and six orders of each."""
    channel, share, n, alpha = channel_of(0.99, 0.05), 1 - 0.8446, 100, 0.05
    counts = np.arange(4, 38)
    chance = binom.pmf(counts, n, np.array([share, 1 - share]) @ channel[:, 0])
    assert chance.sum() > 0.999
    seeds = [[0] * len(counts), *np.arange(1, 6 * len(counts) + 1).reshape(6, -1)]
    some = [
        games([Tally(channel, np.array([count, n - count]))], None, SHARE, np.random.default_rng(seed))[0]
        for order in seeds
        for count, seed in zip(counts, order, strict=True)
    ]
    missed = misses(some, share, alpha).reshape(7, -1) @ chance
    assert missed[0] > alpha
    assert missed[1:].mean() < 0.04
