"""The recursion bounds the tail of the statistic for every distribution."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from multinomials import distributions, exact_tail, outcomes, probabilities, statistic
from rldp.theory import kl_recursion
from rldp.theory.kl_laws import Grid, divergence
from rldp.theory.kl_recursion import Resolution, Strata, normal_survival, recursion_tail

FINE = Resolution(1 / 32, 0.06, 0.01)
MEDIUM = Resolution(1 / 16, 0.12, 0.02)
ROUGH = Resolution(1 / 4, 0.3, 0.06)
X = np.linspace(0.03, 13, 250)


def bounds(strata, resolution, tilt=0.75, alpha=0.01):
    tail = recursion_tail(strata, alpha, reach=13.0, tilt=tilt, resolution=resolution)
    return np.array([tail.at(x) for x in X])


def largest_tail(counts, candidates):
    """The largest exact tails over the candidates, from below."""
    return np.max([exact_tail(statistic(counts, p), probabilities(counts, p), X) for p in candidates], axis=0)


def pairs_of_probabilities():
    p = np.geomspace(1e-7, 0.5, 500)
    return np.stack([p, 1 - p], axis=1)


@pytest.mark.parametrize("resolution", [MEDIUM, ROUGH])
@pytest.mark.parametrize(("n", "cells"), [(1, 2), (2, 3), (9, 3), (25, 3), (7, 4), (5, 6)])
def test_no_distribution_has_a_larger_tail(n, cells, resolution):
    exact = largest_tail(outcomes(n, cells), distributions(cells, 60, seed=n))
    for fewest in {1, n}:
        assert (exact <= bounds(Strata(1, cells, fewest), resolution) * (1 + 1e-9)).all()


@pytest.mark.parametrize("fewest", [1, 130])
def test_with_two_cells_the_bound_is_nearly_attained(fewest):
    """By some number of rows: all from ``fewest`` on are bounded, and some of them come close."""
    sizes = range(fewest, fewest + 16)
    exact = np.max([largest_tail(outcomes(n, 2), pairs_of_probabilities()) for n in sizes], axis=0)
    bound = bounds(Strata(1, 2, fewest), FINE)
    assert (exact <= bound * (1 + 1e-9)).all()
    counted = exact > 1e-3
    assert np.median(bound[counted] / exact[counted]) < 1.15


def test_two_strata_are_bounded_together():
    for n1, n2, cells in ((3, 3, 3), (8, 2, 3), (6, 5, 2)):
        first, second = outcomes(n1, cells), outcomes(n2, cells)
        bound = bounds(Strata(2, cells, min(n1, n2)), MEDIUM)
        candidates = distributions(cells, 6, seed=n1)
        for p in candidates:
            for q in candidates[::3]:
                values = np.add.outer(statistic(first, p), statistic(second, q)).ravel()
                weights = np.outer(probabilities(first, p), probabilities(second, q)).ravel()
                assert (exact_tail(values, weights, X) <= bound * (1 + 1e-9)).all()


def test_a_distribution_on_fewer_cells_is_covered():
    pairs = pairs_of_probabilities()[::4]
    candidates = np.concatenate([pairs, np.zeros((len(pairs), 1))], axis=1)
    exact = largest_tail(outcomes(12, 3), candidates)
    assert (exact <= bounds(Strata(1, 3), MEDIUM) * (1 + 1e-9)).all()


@pytest.mark.parametrize("tilt", [1 / 8, 0.5, 61 / 64])
def test_any_tilt_gives_a_bound(tilt):
    exact = largest_tail(outcomes(9, 3), distributions(3, 60, seed=9))
    assert (exact <= bounds(Strata(1, 3), MEDIUM, tilt=tilt) * (1 + 1e-9)).all()


def test_a_radius_is_where_the_bound_is_alpha():
    tail = recursion_tail(Strata(1, 4), 0.02, reach=12.0, tilt=0.75, resolution=MEDIUM)
    radius = tail.radius(0.02)
    assert tail.at(radius) <= 0.02 < tail.at(radius - 1 / 32)
    assert tail.radius(0.05) < radius
    assert tail.radius(1e-6) == math.inf  # beyond the reach
    assert tail.at(0.0) == 1.0
    assert tail.at(100.0) == tail.at(12.0)


def test_what_is_wasted_on_rare_events_is_a_small_share_of_alpha():
    for alpha in (0.3, 1e-3, 1e-12):
        tail = recursion_tail(Strata(1, 8, 70), alpha, reach=40.0, tilt=0.75, resolution=ROUGH)
        assert 0 < tail.waste < 0.01 * alpha


@pytest.mark.parametrize("n", [2, 3, 10, 57, 1000, 10**5])
@pytest.mark.parametrize("p", [1e-4, 0.01, 0.1, 0.3, 0.5, 0.8])
def test_the_inequalities_of_zubkov_and_serov_hold(n, p):
    k = np.unique(np.clip(np.round(n * p + np.linspace(-6, 6, 60) * math.sqrt(n * p)), 1, n - 1))
    root = np.sign(k / n - p) * np.sqrt(2 * np.array([float(divergence(n, j, n * p)[0]) for j in k]))
    assert (norm.cdf(root) <= binom.cdf(k, n, p) + 1e-12).all()
    assert (binom.cdf(k - 1, n, p) <= norm.cdf(root) + 1e-12).all()


@pytest.mark.parametrize(
    ("n", "share"), [(800, 0.5), (801, 0.4995), (1200, 1 / 3), (4000, 0.1), (10**6, 0.0004), (10**6, 0.5)]
)
def test_cells_with_a_large_mean_are_bounded_by_the_normal_law(n, share):
    mean = n * share
    j = np.arange(max(0, int(mean - 12 * math.sqrt(mean))), min(n, int(mean + 12 * math.sqrt(mean))) + 1)
    c = np.array([float(divergence(n, i, mean)[0]) for i in j])
    exact = exact_tail(c, binom.pmf(j, n, share), X)
    bound = normal_survival(X, round(1 / share))
    assert (exact <= bound + 1e-11).all()
    assert (bound[X < 6] < 1.6 * exact[X < 6]).all()


def test_the_normal_law_bounds_the_next_tail():
    """Against the law that has ``normal_survival`` as its tail, placed on a finer lattice from above."""
    grid = Grid(step=1 / 16, points=160, tilt=0.75, width=0.1, looseness=0.01, least=1e-6, cut=14.0)
    rng = np.random.default_rng(5)
    ends = np.arange(160 * 8 + 1) / 128
    survival = normal_survival(ends, 3)
    for _ in range(20):
        tail = np.exp(-0.3 * np.cumsum(rng.exponential(size=160) * (rng.uniform(size=160) < 0.15)))
        bound = kl_recursion._normal(grid, tail * grid.growth(160), 3)
        for i in range(0, 160, 9):
            x = grid.step * (i + rng.choice([1e-9, 0.5, 1.0]))
            y = x - ends[1:]
            value = np.where(y <= 0, 1.0, tail[np.maximum(np.ceil(y / grid.step) - 1, 0).astype(int)])
            exact = ((survival[:-1] - survival[1:]) * value).sum() + survival[-1]
            assert exact * math.exp(grid.tilt * x) <= bound[i] * (1 + 1e-12)


def test_the_normal_law_is_summed_up_without_loss():
    grid = Grid(step=1 / 16, points=160, tilt=0.75, width=0.1, looseness=0.01, least=1e-6, cut=14.0)
    ends = np.arange(160 * 8 + 1) / 128
    survival = normal_survival(ends, 3)
    bound = kl_recursion._normal(grid, np.ones(160), 3)  # the tail e^{-κx}
    for i in range(160):
        upto = 8 * (i + 1)
        inside = ((survival[:upto] - survival[1 : upto + 1]) * np.exp(grid.tilt * ends[1 : upto + 1])).sum()
        exact = inside + survival[upto] * math.exp(grid.tilt * ends[upto])
        assert exact <= bound[i] <= exact * (1 + 1e-9)


def test_cells_with_a_large_mean_count(monkeypatch):
    usual = bounds(Strata(1, 3, 1000), ROUGH)
    monkeypatch.setattr(kl_recursion, "_NORMAL_FROM", 20.0)
    kl_recursion._boxes.cache_clear()
    kl_recursion._laws.cache_clear()
    loose = bounds(Strata(1, 3, 1000), ROUGH)  # the normal law from a mean of 20 on is loose, and shows
    kl_recursion._boxes.cache_clear()
    kl_recursion._laws.cache_clear()
    assert np.median(loose / usual) > 1.1


def test_what_is_cut_off_a_tail_is_lost_probability():
    grid = Grid(step=0.25, points=80, tilt=0.5, width=0.1, looseness=0.02, least=1e-3, cut=8.0)
    x = grid.step * np.arange(80)
    tail = 0.3 * np.exp(-0.9 * x) * np.exp(grid.tilt * x)
    kept, lost = kl_recursion._trimmed(grid, tail, 0.01)
    cut_off = (tail * np.exp(-grid.tilt * x))[len(kept) :]
    assert 0 < cut_off.max() <= lost - 0.01
    assert np.array_equal(kept, tail[: len(kept)])
