"""What is proved of a protocol is true, and errs to the safe side."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rldp
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Witness
from strategies import a_problem

pytestmark = pytest.mark.numerical

COUNTS = np.array([[[9, 3], [2, 8]]])


def two_sided(ratio):
    """A protocol on one value whose outputs tell the two secrets apart by exactly ``ratio``."""
    low = 1 / (1 + ratio)
    return np.array([[[[low, 1 - low]], [[1 - low, low]]]])


@pytest.mark.parametrize("privacy", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_excess_tells_a_ratio_just_above_from_one_just_below(privacy, epsilon):
    problem = DesignProblem.of(
        np.array([[[4], [6]]]), np.array([epsilon]), np.zeros((1, 2)), privacy, rldp.Nominal()
    )
    for ratio, private in ((math.exp(epsilon) * (1 - 1e-9), True), (math.exp(epsilon) * (1 + 1e-9), False)):
        matrix = two_sided(ratio)
        eta = None if problem.privacy is None else bounds.trivial_eta(problem, matrix)
        excess, _ = bounds.privacy_excess(problem, matrix, eta)
        assert (excess.max() < 0) == private


def test_eta_below_the_largest_entry_is_raised_not_believed():
    problem = a_problem(counts=COUNTS, distortion="hamming")
    matrix = np.array([[[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]])
    nonsense = np.full((1, 2, 2, 2), -1e6)
    excess, eta = bounds.privacy_excess(problem, matrix, nonsense)
    honest, _ = bounds.privacy_excess(problem, matrix, bounds.trivial_eta(problem, matrix))
    assert np.allclose(excess, honest)
    assert (eta > -10).all()


def test_a_lower_bound_holds_for_any_multipliers_and_members():
    rng = np.random.default_rng(0)
    problem = a_problem(counts=COUNTS, distortion="hamming")
    best = rldp.design(rldp.Sample(problem.counts[0]), 0.5, distortion="hamming").objective
    mean = bounds.utility_mean(problem)
    for _ in range(50):
        members = np.broadcast_to(bounds.estimated_members(problem), (1, 2, 2, 2, 2))
        drawn = rng.dirichlet(np.ones(4), size=(1, 1))
        witness = Witness(
            z=rng.exponential(0.3, size=(1, 2, 2)),
            members=members,
            distribution=mean.pulled_inside(drawn).reshape(1, 2, 2),
        )
        assert bounds.lower_bound(problem, witness)[0] <= best


def test_the_objective_is_attained_up_to_rounding_by_the_worst_distribution():
    problem = a_problem(counts=COUNTS, distortion="hamming")
    matrix = np.array([[[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]])
    v = (matrix * problem.distortion).sum(axis=3)
    upper = bounds.objective(problem, matrix)[0][0]
    attained = (bounds.worst_distribution(problem, v) * v).sum()
    assert attained <= upper <= attained + 1e-8


def test_a_set_too_small_for_floats_is_enlarged_and_the_lower_bound_rests_on_the_estimate():
    sample = rldp.Sample([[30, 20, 10], [5, 25, 20]])
    tiny = rldp.PowerDivergence(1.0, radius=1e-14)
    with pytest.warns(rldp.GapWarning):
        designed = rldp.design(sample, 0.5, privacy=tiny, utility=tiny)
    nominal = rldp.design(sample, 0.5, privacy=rldp.Nominal(), utility=rldp.Nominal())
    assert designed.lower_bound <= nominal.objective <= designed.objective <= nominal.objective + 1e-4


def test_over_every_distribution_the_excess_is_that_of_the_worst_two_cells():
    """The sample, which shows none of the cells that matter, must not help."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(3), size=(1, 2, 2))
    problem = DesignProblem.of(
        np.array([[[900, 0], [0, 900]]]),
        np.array([0.5]),
        np.zeros((2, 3)),
        rldp.AllDistributions(),
        rldp.Nominal(),
    )
    eta = bounds.trivial_eta(problem, matrix)
    excess, _ = bounds.privacy_excess(problem, matrix, eta)
    for y in range(3):
        for t, (s1, s2) in enumerate(((0, 1), (1, 0))):
            worst = matrix[0, s1, :, y].max() - math.exp(0.5) * matrix[0, s2, :, y].min()
            assert worst <= excess[0, y, t] <= worst + 1e-14


def test_the_estimate_is_a_member_of_the_set_of_every_distribution():
    problem = DesignProblem.of(
        COUNTS, np.array([0.5]), np.zeros((2, 2)), rldp.AllDistributions(), rldp.Nominal()
    )
    members = bounds.estimated_members(problem)
    np.testing.assert_allclose(members[0, 0, 0], COUNTS[0] / COUNTS[0].sum(axis=1, keepdims=True))
