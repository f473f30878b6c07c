"""What noisy counts say of a distribution, held against sums over all counts and against the prior itself."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import nbinom

from credible import assert_law
from rldp.theory import noisy_posterior
from rldp.theory.dirichlet import grid_for, mixture
from rldp.theory.noisy_posterior import TOTALS, noisy_law

GRID = grid_for(2)

pytestmark = pytest.mark.numerical


def drawn(counts, epsilon, size, seed=1, grid=GRID):
    law = noisy_law(np.array(counts), epsilon, grid)
    conditionals, masses = np.empty((*law.shape, size)), np.empty((law.shape[0], size))
    law.fill(conditionals, masses, np.random.default_rng(seed))
    return conditionals, masses


def weighed(count, a, mu, values, epsilon):
    """Possible counts of a cell, and the probability of each together with its noise: SciPy's law."""
    m = np.arange(400)  # a count of more would need noise of more than 300
    b = a * values / mu
    return m, nbinom(a, b / (1 + b)).pmf(m) * np.exp(-epsilon * np.abs(m - count))


@pytest.mark.parametrize("counts", [[[3, 0, -2]], [[12, 1], [-4, 0]], [[40, 2]]], ids=str)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_weights_are_those_of_sums_over_all_counts(counts, epsilon):
    values = len(counts[0])
    evidence = [
        math.prod(
            sum(math.prod(weighed(n, a, mu, values, epsilon)[1].sum() for n in row) for mu in TOTALS)
            for row in counts
        )
        for a in GRID
    ]
    found = {each.a: each.weight for each in noisy_law(np.array(counts), epsilon, GRID).components}
    assert found == pytest.approx(dict(zip(GRID, np.array(evidence) / sum(evidence), strict=True)), rel=1e-6)


def test_the_mean_is_that_of_sums_over_all_counts():
    """One secret, two values, few rows: every pair of counts is gone through."""
    row, epsilon = [4, -1], 0.7
    total = mean = 0.0
    for a, mu in itertools.product(GRID, TOTALS):
        (m, first), (_, second) = (weighed(n, a, mu, 2, epsilon) for n in row)
        first, second, m = first[:80], second[:80], m[:80]
        joint = np.outer(first, second)
        share = (m[:, None] + a) / (m[:, None] + m[None] + 2 * a)
        total, mean = total + joint.sum(), mean + (joint * share).sum()
    conditionals, _ = drawn([row], epsilon, 40_000)
    ours = conditionals[0, 0]
    assert abs(ours.mean() - mean / total) <= 6 * ours.std() / 200


def test_noise_that_is_almost_none_leaves_the_adaptive_prior():
    """Over all totals, in logarithms, that of a secret says nothing of a: the integral is 1/N_s."""
    counts = [[52, 31, 17, 0], [14, 38, 48, 2]]
    found = {each.a: each.weight for each in noisy_law(np.array(counts), 60.0, GRID).components}
    wanted = dict(zip(*mixture(np.array(counts), "adaptive"), strict=True))
    for a, weight in wanted.items():
        assert found[a] == pytest.approx(weight, rel=0.1, abs=1e-4)  # the grid of totals is coarse


def test_truths_and_tables_from_the_prior_are_where_the_posterior_says(monkeypatch):
    """The posterior's distribution function at the truth is uniform, over truths, tables and noise."""
    monkeypatch.setattr(noisy_posterior, "TOTALS", TOTALS[:40])  # larger ones only take longer
    noisy_posterior._law.cache_clear()
    rng, epsilon, values, size = np.random.default_rng(5), 0.5, 3, 300
    ranks = []
    for i in range(100):
        a, mu = rng.choice(GRID), rng.choice(TOTALS[:40], size=2)
        rates = rng.standard_gamma(a, (2, values)) / (a * values / mu)[:, None]
        if not rates.sum(axis=1).all():
            continue
        counts = rng.poisson(rates)
        ratio = math.exp(-epsilon)
        noise = rng.geometric(1 - ratio, counts.shape) - rng.geometric(1 - ratio, counts.shape)
        conditionals, _ = drawn(counts + noise, epsilon, size, seed=i)
        truth = rates[0, 0] / rates[0].sum()
        away = conditionals[0, 0] - truth
        equal = (np.abs(away) <= 1e-9).sum() + 1
        ranks.append(((away < -1e-9).sum() + equal * rng.random()) / (size + 1))
    noisy_posterior._law.cache_clear()
    assert len(ranks) > 70
    assert_law(np.array(ranks), lambda x: np.clip(x, 0, 1))


def test_draws_are_distributions_whatever_the_counts():
    conditionals, masses = drawn([[-300, 0, 5], [-2, -1, -9], [10**6, 3, -40]], 0.1, 2000)
    assert np.isfinite(conditionals).all()
    assert (conditionals >= 0).all()
    np.testing.assert_allclose(conditionals.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(masses.sum(axis=0), 1, rtol=1e-14)
    assert masses[2].min() > 0.9
