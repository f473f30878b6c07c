"""How far a step may go: reaches of mixtures against the mixtures themselves."""

from __future__ import annotations

import numpy as np
import pytest

from rldp.designer.engine import Settings
from rldp.designer.engine.path import _start
from rldp.designer.engine.reach import (
    Between,
    CurvedBetween,
    Lengths,
    farthest,
    reach_of_sigma,
    to_boundary,
)
from rldp.designer.engine.step import NewtonModel, advance
from rldp.theory.nested_mean import NestedMean
from strategies import a_problem

pytestmark = pytest.mark.numerical

SETTINGS = Settings()


def test_a_mixture_reaches_what_it_reaches_when_made():
    rng = np.random.default_rng(1)
    x = rng.uniform(0.1, 1, (3, 50))
    one, other = rng.normal(size=(2, 3, 50))
    ways = Between.of(x, one, other, SETTINGS)
    for share in (0.0, 0.2, 0.5, 1.0):
        made = one + share * (other - one)
        np.testing.assert_allclose(ways.reach(share), to_boundary(made / x, SETTINGS), rtol=1e-12)
    assert ways.one.shape[1] < 50


def test_a_curved_slack_limits_a_mixture_as_it_limits_the_mixture_made():
    rng = np.random.default_rng(4)
    mean = NestedMean(1.0, np.array([0.3, 0.5]), rng.dirichlet(np.ones(4), 2), np.array(0.1))
    point = mean.at(rng.uniform(0.5, 2, (1, 1, 1, 2, 4)))
    dps, slopes = rng.normal(size=(2, 1, 1, 1, 2, 4)), -rng.uniform(0.1, 1, (2, 1, 1, 1))
    sigma, free = np.full((1, 1, 1), 0.01), Between.of(np.ones((1, 1)), *np.zeros((2, 1, 1)), SETTINGS)
    ways = CurvedBetween.of(free, sigma, tuple(slopes), tuple(point.along(dp) for dp in dps))
    for share in (0.0, 0.2, 0.5, 1.0):
        slope, dp = slopes[0] + share * (slopes[1] - slopes[0]), dps[0] + share * (dps[1] - dps[0])
        made = reach_of_sigma(sigma, slope, point.along(dp).value_curvature, np.ones(1), SETTINGS)
        assert made[0] < 1
        np.testing.assert_allclose(ways.reach(share), made, rtol=1e-9)


def test_nothing_limits_a_step_that_uses_nothing_up():
    x = np.random.default_rng(2).uniform(1, 2, (2, 5))
    ways = Between.of(x, 0.1 * x, -0.1 * x, SETTINGS)
    assert ways.one.shape[1] == 0
    np.testing.assert_array_equal(ways.reach(0.5), 1.0)


def test_what_is_not_a_number_goes_nowhere():
    ways = Between.of(np.ones((1, 2)), np.array([[np.nan, 0.0]]), np.zeros((1, 2)), SETTINGS)
    assert not ways.reach(0.5)[0] > 0


def test_the_share_that_goes_farthest_is_taken():
    lengths = {1.0: [0.1, 0.9, np.nan], 0.5: [0.6, 0.9, 0.2], 0.2: [0.5, 0.8, 0.1], 0.0: [0.3, 0.1, 0.1]}
    share, length = farthest(lambda share: np.array(lengths[share]), SETTINGS)
    np.testing.assert_array_equal(share, [0.5, 1.0, 0.5])
    np.testing.assert_array_equal(length, [0.6, 0.9, 0.2])


@pytest.mark.parametrize("problem", ["NURP", "RURP", "NURP by windows"])
def test_point_and_multipliers_choose_for_themselves(problem):
    """The blended step goes as far as it says, at least as far as either direction, and mixes as it says."""
    asked = a_problem(problem[:4], count=1, shape=(3, 5), n=200)
    distortion = np.ascontiguousarray(asked.scaled_distortion.T[:, None, :])
    iterate = _start(asked, problem.endswith("windows"), distortion, SETTINGS)
    gap = np.full(1, np.inf)
    for _ in range(3):
        iterate, _ = advance(iterate, distortion, gap, SETTINGS)
    model = NewtonModel.at(iterate, distortion, SETTINGS)
    one = model.direction(0.01 * iterate.mu)
    other = model.direction(0.01 * iterate.mu, one)
    made, lengths = model.blended(one, other, np.array([True]), (1.0, model.reach(other)))
    again = model.reach(made)
    np.testing.assert_allclose(lengths.point, again.point, rtol=1e-9)
    np.testing.assert_allclose(lengths.multipliers, again.multipliers, rtol=1e-9)
    for either in (one, other):
        assert (lengths.point >= model.reach(either).point * (1 - 1e-12)).all()
        assert (lengths.multipliers >= model.reach(either).multipliers * (1 - 1e-12)).all()
    kept = Lengths(np.array([0.25]), np.array([0.5]))
    same, told = model.blended(one, other, np.array([False]), (0.0, kept))
    np.testing.assert_array_equal(same.slacks, one.slacks)
    np.testing.assert_array_equal(told.point, kept.point)
