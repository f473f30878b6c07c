"""The likeliest distribution: its gap bounds what any other gains, and closes on every kind of problem."""

import numpy as np
import pytest

from rldp.theory.likelihood import agreement, iterative_bayesian_update, maximum_likelihood
from rldp.theory.tallies import Tally

KINDS = {
    "released rows": (4, 4, 0, 300, 1.0),
    "fewer outputs than cells": (9, 3, 0, 3000, 1.0),
    "few public rows, many released": (15, 5, 75, 3_000_000, 0.3),
    "more cells than rows": (30, 5, 10, 20, 0.3),
    "outputs that cells hardly ever have": (6, 6, 20, 1000, 0.05),
}


def problem(kind, seed=0):
    k, outputs, n, released, spread = KINDS[kind]
    rng = np.random.default_rng(seed)
    channel, p = rng.dirichlet(np.full(outputs, spread), k), rng.dirichlet(np.full(k, 0.5))
    tallies = [Tally(channel, rng.multinomial(released, p @ channel))]
    return [Tally.of_sample(rng.multinomial(n, p)), *tallies] if n else tallies


def log_likelihood(tallies, p):
    return sum(float(tally.counts @ np.log(tally.at(p))) for tally in tallies)


@pytest.mark.numerical
@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_closes(kind):
    for seed in range(5):
        assert maximum_likelihood(problem(kind, seed)).gap <= 1e-6


@pytest.mark.numerical
@pytest.mark.parametrize("kind", KINDS)
def test_no_distribution_is_likelier_by_more_than_the_gap(kind):
    """Random ones, corners, and what EM finds by itself."""
    tallies = problem(kind)
    found = maximum_likelihood(tallies, gap=1.0)
    rng = np.random.default_rng(1)
    k = len(found.distribution)
    others = [*rng.dirichlet(np.ones(k), 50), *(0.5 * np.eye(k) + 0.5 * found.distribution)]
    p = np.full(k, 1.0 / k)
    for _ in range(2000):
        p = p * sum(tally.channel @ (tally.counts / tally.at(p)) for tally in tallies)
        p = p / p.sum()
    best = log_likelihood(tallies, found.distribution)
    rounding = 1e-12 * abs(best)
    assert max(log_likelihood(tallies, other) for other in [*others, p]) <= best + found.gap + rounding


def test_a_value_that_no_outcome_allows_is_no_division_by_zero():
    """One public row of the third value, one released row that the second cannot have given."""
    channel = np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    tallies = [Tally.of_sample(np.array([0, 0, 1])), Tally(channel, np.array([1, 0]))]
    found = maximum_likelihood(tallies)
    assert found.gap <= 1e-6
    assert found.steps < 50


@pytest.mark.numerical
def test_the_likeliest_distribution_of_a_sample_is_its_own():
    counts = np.array([3, 0, 5, 2])
    found = maximum_likelihood([Tally.of_sample(counts)])
    np.testing.assert_allclose(found.distribution, counts / 10, atol=1e-6)


@pytest.mark.numerical
def test_iterative_bayesian_update_finds_what_qif_does():
    """Version 1.6.0 of qif, without symmetry; it stops when all together move by less than 1e-6."""
    channel = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    found, rounds = iterative_bayesian_update(channel, np.array([30.0, 45, 25]))
    np.testing.assert_allclose(found, [0.250283912, 0.749025317, 0.000690771344], rtol=1e-6)
    assert rounds == 1974
    start = np.array([0.7, 0.2, 0.1])
    found, rounds = iterative_bayesian_update(channel, np.array([30.0, 45, 25]), start=start)
    np.testing.assert_allclose(found, [0.250283832, 0.749025592, 0.000690576724], rtol=1e-6)
    assert rounds == 1977


@pytest.mark.numerical
def test_iterative_bayesian_update_finds_what_multi_freq_ldpy_does():
    """Version 0.2.5, GRR of four values at ε = 1; it stops when no probability moves by 1e-12."""
    p = np.e / (np.e + 3)
    channel = np.full((4, 4), (1 - p) / 3)
    np.fill_diagonal(channel, p)
    found, _ = iterative_bayesian_update(channel, np.array([40.0, 25, 20, 15]), tolerance=1e-12, by_sum=False)
    np.testing.assert_allclose(found, [0.710225703, 0.225649799, 0.0641244980, 0.0], atol=1e-8)
    likeliest = maximum_likelihood([Tally(channel, np.array([40, 25, 20, 15]))]).distribution
    np.testing.assert_allclose(likeliest, found, atol=1e-6)


@pytest.mark.numerical
def test_where_an_iteration_ends_depends_on_its_start_and_the_likelihood_does_not():
    """Three cells, two outputs: qif 1.6.0 ends at either place, too."""
    channel = np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]])
    counts = np.array([30.0, 70])
    one, _ = iterative_bayesian_update(channel, counts)
    other, _ = iterative_bayesian_update(channel, counts, start=np.array([0.2, 0.1, 0.7]))
    np.testing.assert_allclose(one, [0.43778646, 0.32442338, 0.23779015], atol=1e-7)
    np.testing.assert_allclose(other, [0.53803695, 0.12392378, 0.33803927], atol=1e-7)
    np.testing.assert_allclose(one @ channel, other @ channel, atol=1e-4)


def test_rows_of_one_distribution_agree_and_others_do_not():
    rng = np.random.default_rng(5)
    channel, p = rng.dirichlet(np.ones(4), 4), np.array([0.4, 0.3, 0.2, 0.1])
    sample = Tally.of_sample(rng.multinomial(500, p))
    alike, unlike = (Tally(channel, rng.multinomial(5000, law @ channel)) for law in (p, p[::-1]))
    assert agreement([sample, alike]) > 1e-6  # a true law is doubted with about this probability
    assert agreement([sample, unlike]) < 1e-9
    assert agreement([sample]) is None
