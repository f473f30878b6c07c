"""Designs that are private whatever the distribution: what a program without any sample finds."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import rldp
from oracles import (
    Everything,
    JointSet,
    best_distortion_by_cutting_planes,
    best_distortion_for_every_distribution,
    radius_of,
)
from problems import DISTORTIONS, SAMPLES, UNSEEN_SECRET
from rldp.distortions import distortion_matrix
from strategies import jeffreys_counts

pytestmark = pytest.mark.numerical

ALL = rldp.AllDistributions()
CUSTOM = np.array([[0.0, 3.0], [1.0, 1.0], [4.0, 0.5]])


def assert_private_for_every_distribution(matrix, epsilon):
    """Q[s1,u1,y] ≤ e^ε Q[s2,u2,y] in exact arithmetic; e^ε is rounded by less than its last digit."""
    e = Fraction(math.exp(epsilon)) * (1 + Fraction(2) ** -52)
    for y in range(matrix.shape[2]):
        for s1, s2 in permutations(range(len(matrix)), 2):
            assert Fraction(matrix[s1, :, y].max()) <= e * Fraction(matrix[s2, :, y].min())


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("distortion", ["squared", "absolute", "hamming"])
@pytest.mark.parametrize(
    "counts",
    [SAMPLES["fifteen draws"], SAMPLES["three secrets, zeros"], UNSEEN_SECRET],
    ids=["two secrets", "three secrets", "a secret never seen"],
)
def test_a_design_is_as_good_as_the_linear_program(counts, distortion, epsilon):
    sample = rldp.Sample(counts)
    designed = rldp.design(sample, epsilon, privacy=ALL, utility=rldp.Nominal(), distortion=distortion)
    d = DISTORTIONS[distortion](counts.shape[1])
    best = best_distortion_for_every_distribution(sample.distribution, epsilon, d)
    assert designed.lower_bound <= best + 1e-9
    assert designed.objective >= best - 1e-9
    assert designed.objective - designed.lower_bound <= 1e-6 * max(1, designed.objective)
    assert_private_for_every_distribution(designed.protocol.matrix, epsilon)
    assert designed.problem == "NURP"


def test_outputs_and_distortions_of_ones_own_are_kept():
    sample = rldp.Sample([[8, 2, 5], [1, 9, 4], [3, 3, 30]])
    designed = rldp.design(
        sample, 1.0, privacy=ALL, utility=rldp.Nominal(), distortion=CUSTOM, outputs=["low", "high"]
    )
    best = best_distortion_for_every_distribution(sample.distribution, 1.0, CUSTOM)
    assert designed.objective == pytest.approx(best, abs=2e-6)
    assert_private_for_every_distribution(designed.protocol.matrix, 1.0)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_robust_utility_is_weighed_as_ever(epsilon):
    counts = SAMPLES["fifteen draws"]
    designed = rldp.design(rldp.Sample(counts), epsilon, privacy=ALL, utility=rldp.ChiSquare())
    utility = JointSet(counts, 1.0, radius_of(1.0, counts))
    best = best_distortion_by_cutting_planes(
        counts, epsilon, DISTORTIONS["squared"](3), privacy=Everything(counts.shape), utility=utility
    )
    assert designed.objective == pytest.approx(best, abs=5e-6)
    assert_private_for_every_distribution(designed.protocol.matrix, epsilon)


@pytest.mark.parametrize("order", [0.0, 1.0])
def test_it_is_the_limit_of_ever_larger_sets(order):
    sample = rldp.Sample(SAMPLES["three secrets, zeros"])
    limit = rldp.design(sample, 1.0, privacy=ALL, utility=rldp.Nominal())
    found = [
        rldp.design(
            sample, 1.0, privacy=rldp.PowerDivergence(order, radius=radius), utility=rldp.Nominal()
        ).objective
        for radius in ((0.1, 1.0, 30.0) if order == 0 else (0.3, 30.0, 1e8))
    ]
    assert found == sorted(found)
    assert found[0] < limit.lower_bound - 0.01
    assert found[-1] == pytest.approx(limit.objective, abs=2e-3)
    assert found[-1] <= limit.objective + 1e-6


def test_the_sample_plays_no_part_but_for_utility():
    counts = np.array([[9, 3, 1], [2, 8, 7]])
    one, other = (
        rldp.design(rldp.Sample(c), 0.9, privacy=ALL, utility=rldp.Nominal()) for c in (counts, 1000 * counts)
    )
    assert one.objective == pytest.approx(other.objective, abs=2e-6)


@pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")
@pytest.mark.parametrize("utility", [rldp.Nominal(), rldp.ChiSquare()], ids=["nominal", "robust"])
def test_windows_are_private_for_every_distribution_too(utility):
    sample = rldp.Sample(SAMPLES["three secrets, zeros"])
    exact = rldp.design(sample, 1.5, privacy=ALL, utility=utility)
    found = rldp.design(sample, 1.5, privacy=ALL, utility=utility, windows=True)
    assert_private_for_every_distribution(found.protocol.matrix, 1.5)
    assert found.status.reason in ("gap closed among windows", "gap closed")
    assert found.objective >= exact.lower_bound
    assert found.lower_bound <= exact.objective


def test_a_batch_gives_what_each_sample_gives_alone():
    counts = jeffreys_counts(np.random.default_rng(5), 5, (3, 4), 60)
    batch = rldp.design_batch(counts, np.linspace(0.2, 2, 5), privacy=ALL, distortion="absolute")
    for table, matrix, epsilon, objective in zip(
        counts, batch.matrices, np.linspace(0.2, 2, 5), batch.objective, strict=True
    ):
        alone = rldp.design(rldp.Sample(table), epsilon, privacy=ALL, distortion="absolute")
        assert objective == pytest.approx(alone.objective, abs=2e-6)
        assert_private_for_every_distribution(matrix, epsilon)


# Edges


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-7])
def test_a_tiny_epsilon_leaves_a_constant_output(epsilon):
    sample = rldp.Sample([[9, 3, 1], [2, 8, 7]])
    designed = rldp.design(sample, epsilon, privacy=ALL, utility=rldp.Nominal())
    assert_private_for_every_distribution(designed.protocol.matrix, epsilon)
    d = distortion_matrix("squared", (0, 1, 2), (0, 1, 2))
    best_single = (sample.distribution[..., None] * d).sum(axis=(0, 1)).min()
    assert designed.objective == pytest.approx(best_single, abs=1e-5)


def test_an_infinite_epsilon_needs_no_noise():
    designed = rldp.design(rldp.Sample([[9, 3, 1], [2, 8, 7]]), math.inf, privacy=ALL)
    assert designed.objective == 0.0


def test_one_secret_has_nothing_to_be_told_from():
    assert rldp.design(rldp.Sample([[4, 5, 6]]), 0.1, privacy=ALL).objective == 0.0


def test_the_promise_is_said_in_words_and_travels_with_the_file(tmp_path):
    designed = rldp.design(rldp.Sample(UNSEEN_SECRET), 0.7, privacy=ALL)
    assert designed.protocol.guarantee.promise == "ε = 0.7 for every distribution"
    designed.protocol.save(tmp_path / "protocol.json")
    assert rldp.load(tmp_path / "protocol.json").guarantee.privacy == ALL
