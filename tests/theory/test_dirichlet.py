"""Draws from the posterior follow it, whatever the prior, and follow from their seed."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta

from credible import CHANCE, assert_by_chance, assert_law
from rldp.theory import dirichlet
from rldp.theory.dirichlet import conditional_blocks, conditionals, mass_blocks, masses

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
    monkeypatch.setattr(dirichlet, "_BLOCK", 1)
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
