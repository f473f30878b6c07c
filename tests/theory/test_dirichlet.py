"""Draws from the posterior follow it, whatever the prior, and follow from their seed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from credible import CHANCE, assert_by_chance, assert_law
from rldp.judge.posterior import adaptive_grid, components as judged_components
from rldp.theory import dirichlet
from rldp.theory.dirichlet import (
    centre_counts,
    conditional_blocks,
    conditionals,
    grid_for,
    mass_blocks,
    masses,
    mixture,
    posterior_mean,
)

pytestmark = pytest.mark.numerical

COUNTS = np.array([[12, 3, 0], [0, 0, 0], [2, 40, 7]])


@pytest.mark.parametrize("prior", [0.5, 0.02, 1e-3, 3.0])
def test_every_conditional_probability_has_its_beta_law(prior):
    drawn = conditionals(COUNTS, prior=prior, draws=30_000, seed=1)
    shapes = COUNTS + prior
    for s, u in itertools.product(range(3), range(3)):
        law = beta(shapes[s, u], shapes[s].sum() - shapes[s, u])
        assert_law(drawn[s, u], law.cdf, low=1e-290, high=1 - 1e-9)


@pytest.mark.parametrize("prior", [0.5, 1e-3])
def test_the_probabilities_of_secrets_have_their_beta_law(prior):
    drawn = masses(COUNTS, prior=prior, draws=30_000, seed=1)
    shapes = COUNTS.sum(axis=1) + 3 * prior
    np.testing.assert_allclose(drawn.sum(axis=0), 1, atol=1e-14)
    for s in (0, 2):
        assert_law(drawn[s], beta(shapes[s], shapes.sum() - shapes[s]).cdf)


def test_conditionals_of_different_secrets_and_masses_are_independent(monkeypatch):
    """The mean of F(x)·F(y) is a quarter, by Hoeffding's inequality up to what chance allows.

    Every draw starts a generator, so that generators with the same seed would show.
    """
    monkeypatch.setattr(dirichlet, "BLOCK", 1)
    m = 10_000
    drawn = conditionals(COUNTS, prior=0.5, draws=m, seed=2)[:, 0]
    shapes = COUNTS + 0.5
    uniform = [beta(shapes[s, 0], shapes[s, 1:].sum()).cdf(drawn[s]) for s in range(3)]
    total = COUNTS.sum() + 4.5
    uniform.append(beta(16.5, total - 16.5).cdf(masses(COUNTS, prior=0.5, draws=m, seed=2)[0]))
    for x, y in itertools.combinations(uniform, 2):
        assert abs(np.mean(x * y) - 0.25) <= math.sqrt(math.log(2 / CHANCE) / (2 * m))


@pytest.mark.parametrize("prior", [5e-324, 1e-300, 1e-9, 1e-3, 0.01, 1 / 16, 0.5, 1e9, 1e300])
def test_no_draw_is_zero_over_zero(prior):
    counts = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [10**15, 0, 1, 0]])
    for drawn in (
        conditionals(counts, prior=prior, draws=5000, seed=3),
        masses(counts, prior=prior, draws=5000, seed=3)[None],
    ):
        assert np.isfinite(drawn).all()
        assert (drawn >= 0).all()
        np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=5 * 2.0**-52)


def test_a_tiny_prior_of_an_unseen_secret_chooses_one_value_fairly():
    drawn = conditionals(np.zeros((1, 3), dtype=int), prior=1e-6, draws=20_000, seed=4)[0]
    assert np.mean(drawn.max(axis=0) > 0.999) > 0.999
    for chosen in np.bincount(drawn.argmax(axis=0), minlength=3):
        assert_by_chance(chosen, 20_000, 1 / 3)


def test_draws_follow_from_the_seed_and_fewer_are_the_first_of_more():
    many = conditionals(COUNTS, prior=0.5, draws=10_000, seed=5)
    for fewer in (1, 7, 2048, 2049, 9999):
        np.testing.assert_array_equal(conditionals(COUNTS, prior=0.5, draws=fewer, seed=5), many[..., :fewer])
    few = masses(COUNTS, prior=0.5, draws=5000, seed=5)
    np.testing.assert_array_equal(few, masses(COUNTS, prior=0.5, draws=9000, seed=5)[:, :5000])


def test_other_seeds_and_streams_give_other_draws():
    keys = [(5, 0), (6, 0), (5, 1), (2**127, 0)]
    drawn = [conditionals(COUNTS, prior=0.5, draws=100, seed=seed, stream=stream) for seed, stream in keys]
    for x, y in itertools.combinations(drawn, 2):
        assert not (x == y).any(axis=2).all(axis=1).any()
    blocks = list(conditional_blocks(COUNTS, prior=0.5, draws=8192, seed=5))
    assert not (blocks[0] == blocks[1]).any()


@pytest.mark.parametrize(("shape", "draws"), [((10, 100), 9000), ((40, 500), 500), ((2, 3), 9000)])
def test_blocks_bound_the_memory_and_go_together(shape, draws):
    counts = np.ones(shape, dtype=int)
    sizes = [block.shape for block in conditional_blocks(counts, prior=0.5, draws=draws, seed=6)]
    assert all(math.prod(size) <= 2**22 for size in sizes)
    assert sum(size[2] for size in sizes) == draws
    assert [size[2] for size in sizes] == [
        block.shape[1] for block in mass_blocks(counts, prior=0.5, draws=draws, seed=6)
    ]


# The adaptive prior

SPARSE = np.array([[12, 0, 0, 3], [0, 0, 0, 0], [0, 40, 0, 7]])


def exact_weights(counts):
    """Of the grid's a, in rationals: the probability of the counts given a and the rows of each secret."""
    likely = []
    for a in map(Fraction, ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5")):
        of_cells = math.prod(a + k for row in counts.tolist() for n in row for k in range(n))
        of_rows = math.prod(len(row) * a + k for row in counts.tolist() for k in range(sum(row)))
        likely.append(of_cells / of_rows)
    return [float(each / sum(likely)) for each in likely]


@pytest.mark.parametrize("counts", [COUNTS, SPARSE, np.array([[1, 0]]), np.full((2, 3), 30)], ids=str)
def test_the_counts_say_how_likely_each_a_is(counts):
    grid, weights = mixture(counts, "adaptive")
    assert grid.tolist() == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    np.testing.assert_allclose(weights, exact_weights(counts), rtol=1e-10)
    assert judged_components(counts.tolist()) == pytest.approx(dict(zip(grid, weights, strict=True)))


def test_counts_beyond_all_samples_leave_the_weights_as_they_are():
    """Against balls of 128 bits, where logarithms of factorials have lost all digits that floats have."""
    counts = np.array([[10**15, 3, 0], [1, 0, 7 * 10**14], [9_999_999, 10_000_001, 5]])
    grid, weights = mixture(counts, "adaptive")
    assert judged_components(counts.tolist()) == pytest.approx(
        dict(zip(grid, weights, strict=True)), rel=1e-6
    )


@pytest.mark.parametrize("counts", [COUNTS, SPARSE], ids=str)
def test_every_conditional_probability_has_a_mixture_of_beta_laws(counts):
    drawn = conditionals(counts, prior="adaptive", draws=30_000, seed=1)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-14)
    grid, weights = mixture(counts, "adaptive")
    for s, u in itertools.product(*map(range, counts.shape)):
        shapes = counts[s] + grid[:, None]
        own = [(w, beta(x[u], x.sum() - x[u])) for w, x in zip(weights, shapes, strict=True)]
        assert_law(drawn[s, u], lambda x, own=own: sum(w * law.cdf(x) for w, law in own), 1e-290, 1 - 1e-9)


def test_the_probabilities_of_secrets_have_a_law_of_their_own():
    drawn = masses(SPARSE, prior="adaptive", draws=30_000, seed=1)
    shapes = SPARSE.sum(axis=1) + 0.5
    for s in range(3):
        assert_law(drawn[s], beta(shapes[s], shapes.sum() - shapes[s]).cdf)


def test_secrets_share_the_a_of_a_draw_and_the_next_draw_has_its_own():
    """Two secrets without data are both nearly certain of a value as often as the law of a says."""
    drawn = conditionals(np.zeros((2, 2), dtype=int), prior="adaptive", draws=40_000, seed=2)[:, 0]
    certain = (np.minimum(drawn, 1 - drawn) < 1e-6).astype(int)
    grid, weights = mixture(np.zeros((2, 2), dtype=int), "adaptive")
    alone = np.array([2 * beta(a, a).cdf(1e-6) for a in grid])
    assert_by_chance(int((certain[0] * certain[1]).sum()), 40_000, float(weights @ alone**2))
    followed = int((certain[0, ::2] * certain[1, 1::2]).sum())
    assert_by_chance(followed, 20_000, float(weights @ alone) ** 2)


def test_draws_of_the_adaptive_prior_follow_from_the_seed_and_fewer_are_the_first_of_more():
    many = conditionals(COUNTS, prior="adaptive", draws=5000, seed=5)
    for fewer in (1, 2048, 2049, 4999):
        few = conditionals(COUNTS, prior="adaptive", draws=fewer, seed=5)
        np.testing.assert_array_equal(few, many[..., :fewer])


def test_small_tables_in_one_call_and_large_ones_cell_by_cell_draw_the_same(monkeypatch):
    options = {"prior": "adaptive", "draws": 3000, "seed": 11}
    together = conditionals(COUNTS, **options)
    monkeypatch.setattr(dirichlet, "_FEW_CELLS", 0)
    assert np.array_equal(conditionals(COUNTS, **options), together)


@pytest.mark.parametrize("counts", [COUNTS, SPARSE], ids=str)
@pytest.mark.parametrize("prior", ["adaptive", 0.5, 0.02])
def test_the_mean_is_that_of_the_draws(counts, prior):
    options = {"prior": prior, "draws": 40_000, "seed": 3}
    joint = masses(counts, **options)[:, None] * conditionals(counts, **options)
    error = 6 * joint.std(axis=2) / 200
    assert (np.abs(joint.mean(axis=2) - posterior_mean(counts, prior)) <= error).all()


def test_the_centre_is_the_mean_in_integers_that_sum_to_a_power_of_two():
    centre = centre_counts(SPARSE, "adaptive")
    assert centre.sum() == 2**52
    assert (centre > 0).all()
    np.testing.assert_allclose(centre / 2**52, posterior_mean(SPARSE, "adaptive"), atol=1e-15)


@pytest.mark.parametrize("values", [1, 2, 16, 17, 40, 41, 80, 128, 160, 400, 800, 801, 10**6])
def test_the_prior_of_a_secret_weighs_eight_rows_at_most(values):
    """And the judge, which has its own code, tries the same a."""
    grid = grid_for(values)
    assert grid[0] == 0.01
    assert all(round(100 * a) * values <= 800 for a in grid[1:])
    left_out = [a for a in (0.02, 0.05, 0.1, 0.2, 0.5) if a not in grid.tolist()]
    assert all(round(100 * a) * values > 800 for a in left_out)
    assert tuple(grid.tolist()) == adaptive_grid(values)
