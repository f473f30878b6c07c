"""Upper confidence bounds on ε*: never below what is not confirmed, the same however they are computed."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from games import KINDS, drawn, laws
from rldp.theory import leakage_bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.betting import LARGEST_EPSILON, Triples, block_shares, caps, log_wealth, play, split
from rldp.theory.leakage_bounds import leakage_bound, ratio_bounds

ALPHA = 0.05
GOAL = math.log(20)
each_kind = pytest.mark.parametrize("kind", KINDS)


def by_definition(triples, claim=math.inf, floor=0.0):
    """One triple, its levels from the top one by one: the first lost, the last won, the test between."""
    bound = max(floor, float(caps(triples.q)[0]))
    for level in np.unique(leakage_bounds._levels(triples, claim)[0])[::-1]:
        if level >= bound or bound <= floor:
            continue
        made = play(triples, np.array([level]), GOAL)
        at = max(level, floor)
        if log_wealth(triples, made, np.array([at]))[0] < GOAL:
            return at, bound, lambda x, made=made: log_wealth(triples, made, np.array([x]))[0] >= GOAL
        bound = at
    return bound, bound, None


@each_kind
@pytest.mark.parametrize("floor", [0.0, 0.7])
def test_bounds_are_those_of_the_definition(kind, floor):
    triples = drawn(kind, 100, 5, seed=11)
    for t, bound in enumerate(ratio_bounds(triples, ALPHA, claim=0.5, floor=floor)):
        lost, won, test = by_definition(triples.subset(np.array([t])), claim=0.5, floor=floor)
        if test is None:
            assert bound == won
            continue
        assert lost < bound <= won
        assert bound == won or test(bound)
        step = (min(won, LARGEST_EPSILON) - lost) * 2.0**-20
        assert not test(min(bound - step, LARGEST_EPSILON))


@pytest.mark.slow
@each_kind
def test_few_bounds_are_below_the_truth(kind):
    """The level is 0.05; with 150 runs, more than the limit has probability 1e-7 at most."""
    runs = 150
    bound = ratio_bounds(drawn(kind, 100, runs, seed=13), ALPHA)
    assert (bound < laws(kind)[2]).sum() <= binom.isf(1e-7, runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "widest"), [(50, 1.5), (5000, 1.3)])
@pytest.mark.parametrize("kind", ["coin", "five values"])
def test_bounds_are_not_much_wider_than_the_normal_approximation(kind, n, widest):
    q, _, _ = laws(kind)
    triples = drawn(kind, n, 100, seed=14)
    shares = triples.rows.sum(axis=2) / n
    mean = (shares * q).sum(axis=-1)
    variance = (shares * (q - mean[..., None]) ** 2).sum(axis=-1)
    normal = 1.645 * np.sqrt((variance / mean**2).sum(axis=-1) / n)
    width = ratio_bounds(triples, ALPHA) - np.log(mean[:, 0] / mean[:, 1])
    assert 1 < np.median(width / normal) < widest


def test_rows_that_differ_from_what_was_known_still_give_a_bound():
    triples = drawn("five values", 500, 20, seed=15)
    misled = Triples(triples.q, triples.rows, triples.known[:, ::-1, ::-1])
    told, found = ratio_bounds(triples, ALPHA), ratio_bounds(misled, ALPHA)
    assert np.isfinite(found).all()
    assert np.median(found - told) > 0
    assert (found >= laws("five values")[2]).sum() >= 15


# --- the whole protocol ----------------------------------------------------------------------------


def a_protocol(seed, secrets=3, values=4, outputs=3):
    rng = np.random.default_rng(seed)
    matrix = np.rint(rng.dirichlet(np.ones(outputs), size=(secrets, values)) * 2**20) / 2**20
    matrix[..., 0] = 1 - matrix[..., 1:].sum(axis=-1)
    counts = np.stack([rng.multinomial(300, law) for law in rng.dirichlet(np.ones(values), size=secrets)])
    return matrix, split(counts, block_shares(), rng), counts + 0.5


@pytest.mark.slow
@pytest.mark.parametrize("triples_together", [1, 5, 10**6])
def test_the_bound_is_the_largest_of_all_triples(triples_together, monkeypatch):
    matrix, blocks, known = a_protocol(triples_together % 2)
    pairs = ordered_pairs(len(matrix))
    every = {
        (y, *map(int, pair)): ratio_bounds(
            Triples(matrix[pair, :, y][None], blocks[pair][None].astype(float), known[pair][None]),
            ALPHA,
        )[0]
        for y in range(matrix.shape[2])
        for pair in pairs
    }
    monkeypatch.setattr(leakage_bounds, "most_together", lambda values: triples_together)
    bound, triple = leakage_bound(matrix, blocks, known, ALPHA)
    assert bound == pytest.approx(max(every.values()), abs=1e-6)
    assert triple == max(every, key=every.get)


def test_no_bound_is_below_the_floor_and_none_above_needs_it():
    matrix, blocks, known = a_protocol(1)
    bound, _ = leakage_bound(matrix, blocks, known, ALPHA)
    assert leakage_bound(matrix, blocks, known, ALPHA, floor=bound + 0.1) == (bound + 0.1, None)
    assert leakage_bound(matrix, blocks, known, ALPHA, floor=bound / 2)[0] == pytest.approx(bound, abs=1e-6)


def test_a_smaller_alpha_gives_a_larger_bound():
    matrix, blocks, known = a_protocol(2)
    bounds = [leakage_bound(matrix, blocks, known, alpha)[0] for alpha in (0.5, 0.05, 1e-3, 1e-9)]
    assert bounds == sorted(bounds)
    assert len(set(bounds)) == 4


def test_a_protocol_for_one_secret_leaks_nothing():
    assert leakage_bound(np.full((1, 2, 2), 0.5), np.ones((1, 4, 2), dtype=int), np.ones((1, 2)), ALPHA) == (
        0.0,
        None,
    )
