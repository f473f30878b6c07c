"""Weights, identifiability, intervals: compared with enumeration and with textbook formulas."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from rldp.theory import estimation
from rldp.theory.estimation import (
    allowed,
    identified,
    least_variance,
    on_simplex,
    row_space,
    shrunk,
    unbiased,
)
from rldp.theory.tallies import Tally

FLIP = np.array([[0.8, 0.2], [0.3, 0.7]])


def draw(rng, k, outcomes, rank=None):
    if rank is None:
        return rng.dirichlet(np.ones(outcomes), k)
    return rng.dirichlet(np.ones(rank), k) @ rng.dirichlet(np.ones(outcomes), rank)


def combined(tallies, weights):
    return sum(tally.channel @ g for tally, g in zip(tallies, weights, strict=True))


@pytest.mark.numerical
@pytest.mark.parametrize(("rank", "sample"), [(None, True), (2, True), (None, False), (2, False)])
def test_the_weights_of_all_tallies_sum_to_the_functional(rank, sample):
    rng = np.random.default_rng(1)
    k = 5
    tallies = [Tally(draw(rng, k, 6, rank), rng.integers(1, 50, 6)) for _ in range(1 if rank else 2)]
    a = rng.normal(size=(k, 3))
    if sample:
        tallies.insert(0, Tally.of_sample(rng.integers(0, 9, k)))
    elif rank:
        a = tallies[0].channel @ rng.normal(size=(6, 3))
    basis = row_space(tallies)
    assert identified(basis, a).all()
    for p in rng.dirichlet(np.ones(k), 5):
        np.testing.assert_allclose(combined(tallies, least_variance(tallies, basis, p, a)), a, atol=1e-8)


@pytest.mark.numerical
@pytest.mark.parametrize("rank", [None, 2])
def test_no_other_weights_have_less_variance(rank):
    """The least of a quadratic under linear constraints, from its Lagrangian alone."""
    rng = np.random.default_rng(2)
    k = 4
    tallies = [Tally.of_sample(np.array([9, 3, 5, 4])), Tally(draw(rng, k, 3, rank), np.array([30, 50, 20]))]
    p, a = rng.dirichlet(np.ones(k)), rng.normal(size=(k, 1))
    sizes = [tally.channel.shape[1] for tally in tallies]
    quadratic = np.zeros((sum(sizes),) * 2)
    for tally, start in zip(tallies, (0, k), strict=True):
        law = p @ tally.channel
        part = slice(start, start + len(law))
        quadratic[part, part] = (np.diag(law) - np.outer(law, law)) / tally.n
    table = np.concatenate([tally.channel for tally in tallies], axis=1)
    system = np.block([[2 * quadratic, table.T], [table, np.zeros((k, k))]])
    right = np.concatenate([np.zeros(sum(sizes)), a[:, 0]])
    best = np.linalg.lstsq(system, right, rcond=None)[0][: sum(sizes)]
    found = np.concatenate([g[:, 0] for g in least_variance(tallies, None, p, a)])
    assert found @ quadratic @ found == pytest.approx(best @ quadratic @ best, rel=1e-8)


def all_rows(n):
    return product(range(2), repeat=n)


def counts_of(row):
    """A row as counts, so that every row is a fold of its own."""
    return np.eye(2, dtype=np.int64)[row]


@pytest.mark.numerical
@pytest.mark.parametrize("channel", [FLIP, np.full((2, 2), 0.5)], ids=["full rank", "rank one"])
def test_the_estimate_is_exactly_unbiased(monkeypatch, channel):
    """The expectation over all rows of a small sample and a small release: no chance, no limit of many "
    "rows."""
    p, a, mean = np.array([0.35, 0.65]), np.array([[1.0], [-2.0]]), 0.0
    for public, released in product(all_rows(3), all_rows(3)):
        rows = iter(
            [np.stack([counts_of(row) for row in public]), np.stack([counts_of(r) for r in released])]
        )
        monkeypatch.setattr(estimation, "split", lambda *_, rows=rows: next(rows)[None])
        counts = [np.sum([counts_of(row) for row in some], axis=0) for some in (public, released)]
        tallies = [Tally.of_sample(counts[0]), Tally(channel, counts[1])]
        chance = np.prod(p[list(public)]) * np.prod((p @ channel)[list(released)])
        mean += chance * unbiased(tallies, None, a, np.random.default_rng(0)).values[0]
    assert mean == pytest.approx(float(p @ a[:, 0]), abs=1e-12)


@pytest.mark.numerical
def test_what_a_column_shows_unchanged_is_counted():
    tally = Tally(np.eye(3), np.array([5, 3, 2]))
    found = unbiased([tally], row_space([tally]), np.eye(3), np.random.default_rng(0))
    np.testing.assert_allclose(found.values, [0.5, 0.3, 0.2], atol=1e-12)


@pytest.mark.numerical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_normal_intervals_cover_rare_shares_too(share):
    """All counts of 80 rows, so that the coverage is exact; Wald's intervals have 0.90 at 0.05."""
    n, a = 80, np.array([[1.0], [0.0]])
    covered = 0.0
    for hits in range(n + 1):
        tally = Tally(np.eye(2), np.array([hits, n - hits]))
        lower, upper = unbiased([tally], None, a, np.random.default_rng(0)).limits(0.05)
        covered += float(binom.pmf(hits, n, share)) * bool(lower[0] <= share <= upper[0])
    assert 0.93 <= covered <= 0.985


def test_functionals_that_the_outputs_do_not_tell_are_known():
    same = Tally(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]), np.array([10, 10]))
    a = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert identified(row_space([same]), a).tolist() == [False, True, True]
    assert identified(row_space([same, Tally.of_sample(np.array([1, 1, 1]))]), a).all()


@pytest.mark.numerical
def test_what_outputs_allow_is_found_by_hand_too():
    """P(u = 2) follows from the law of the outputs; what is left may be all of value 0, or none of it."""
    tally = Tally(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]), np.array([30, 70]))
    law = np.array([0.3, 0.7])
    rare = (0.5 - 0.3) / 0.4
    lower, upper = allowed([tally], [(law, law)], np.eye(3))
    np.testing.assert_allclose(lower, [0.0, 0.0, rare], atol=1e-7)
    np.testing.assert_allclose(upper, [1 - rare, 1 - rare, rare], atol=1e-7)
    assert allowed([tally], [(np.array([0.6, 0.4]),) * 2], np.eye(3)) is None


@pytest.mark.numerical
def test_a_projection_is_the_nearest_distribution():
    """The conditions of Karush, Kuhn and Tucker: moved by one number where positive, by no more elsewhere."""
    rng = np.random.default_rng(3)
    for shares in rng.normal(0.2, 0.4, size=(200, 5)):
        found = on_simplex(shares)
        moved = shares - found
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        most = moved[found > 0].max()
        np.testing.assert_allclose(moved[found > 0], most, atol=1e-12)
        assert (moved <= most + 1e-12).all()


@pytest.mark.numerical
def test_shares_are_drawn_to_the_middle_as_far_as_their_errors_say():
    """James and Stein's formula for equal variances, which leaves shares alone that are surely unequal."""
    m, size = 10, 0.02
    flat = (np.eye(m) - 1 / m) * size**2
    shares = np.array([0.19, 0.01, *[0.1] * 8])
    kept = 1 - (m - 1 - 2) * size**2 / ((shares - 0.1) ** 2).sum()
    np.testing.assert_allclose(shrunk(shares, flat) - 0.1, kept * (shares - 0.1), atol=1e-12)
    np.testing.assert_allclose(shrunk(shares, flat * 1e-12), shares, atol=1e-9)
    np.testing.assert_allclose(shrunk(shares, flat * 1e6), 0.1, atol=1e-12)
    two = np.array([1.2, -0.2])
    np.testing.assert_allclose(shrunk(two, np.array([[1.0, -1], [-1, 1]])), [1, 0])
