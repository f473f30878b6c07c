"""The sets of pairs of secrets: which pair has which radius, and what a distribution spends."""

import math
from fractions import Fraction

import numpy as np
import pytest

import rldp
from oracles import PairSets
from rldp.sets import Radius
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import Ball
from rldp.theory.pair_sets import (
    joined_pairs,
    pair_budgets,
    radii_of,
    radii_values,
    spent_by_pairs,
    unordered_pairs,
)

COUNTS = np.array([[6, 3, 0], [1, 1, 5], [0, 0, 0], [2, 0, 2]])
RADII = [Radius(x, "A1") for x in (0.5, 2.0, 3.0, 5.0, 7.0, 11.0)]
PLACES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
GIVEN = rldp.Pairs(radii=RADII)


def test_pairs_come_in_the_order_that_files_hold_them_in():
    assert [tuple(pair) for pair in unordered_pairs(4)] == PLACES
    assert unordered_pairs(1).shape == (0, 2)


def test_either_order_of_a_pair_has_the_budget_of_its_radius():
    budgets = pair_budgets(GIVEN, np.stack([COUNTS, 2 * COUNTS]))
    assert budgets.shape == (2, 12)
    for row, n in zip(budgets, (20, 40), strict=True):
        for (s1, s2), budget in zip(ordered_pairs(4).tolist(), row.tolist(), strict=True):
            x = RADII[PLACES.index((min(s1, s2), max(s1, s2)))].value
            assert budget == pytest.approx(x / n, rel=1e-15)


@pytest.mark.parametrize("n", [3, 7, 49, 1001])
def test_budgets_are_rounded_up(n):
    counts = np.array([[[n - 1, 0], [0, 1]]])
    budget = pair_budgets(rldp.Pairs(radii=[Radius(0.1, "A1")]), counts)
    assert (Fraction(float(budget[0, 0])) * n) >= Fraction(0.1)


def test_a_ball_has_a_budget_for_each_pair_and_no_other_order_than_0():
    ball = Ball.of(GIVEN, COUNTS[None])
    assert (ball.lambda_, ball.enlarged, ball.everything) == (0.0, False, False)
    np.testing.assert_array_equal(ball.budget, pair_budgets(GIVEN, COUNTS[None]))
    np.testing.assert_array_equal(ball.subset(np.array([0])).budget, ball.budget)


def test_radii_of_zero_are_enlarged_but_stay_sets():
    ball = Ball.of(rldp.Pairs(), np.array([[[3], [0]]]))
    assert ball.enlarged
    assert (ball.budget > 0).all()


def test_radii_that_are_given_are_not_computed_again():
    (found,) = radii_of(rldp.Pairs(0.2), COUNTS[None])
    given = rldp.Pairs(0.2, radii=found)
    assert radii_of(given, COUNTS[None]) == [found]
    np.testing.assert_array_equal([radius.value for radius in found], radii_values(given, COUNTS[None])[0])


def test_what_is_spent_is_the_divergence_of_both_ends_in_rows():
    joint = np.array([[0.2, 0.1, 0.1], [0.1, 0.1, 0.2], [0.05, 0.05, 0.0], [0.05, 0.0, 0.05]])
    first = 6 * math.log((6 / 9) / 0.5) + 3 * math.log((3 / 9) / 0.25)
    second = 2 * math.log((1 / 7) / 0.25) + 5 * math.log((5 / 7) / 0.5)
    expected = [first + second, first, first, second, second, 0.0]
    np.testing.assert_allclose(spent_by_pairs(COUNTS, joint), expected, rtol=1e-13, atol=1e-15)


def test_a_cell_that_does_not_occur_costs_everything_and_a_secret_that_does_not_costs_nothing():
    joint = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.2, 0.0], [0.15, 0.0, 0.15]])
    spent = spent_by_pairs(COUNTS, joint)
    assert (spent[:3] == math.inf).all()
    np.testing.assert_array_equal(spent[3:], 0.0)


def test_members_of_one_pair_are_moved_into_the_sets_of_the_others():
    sets = PairSets(COUNTS, dict(zip(PLACES, (radius.value for radius in RADII), strict=True)))
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(200):
        pair = tuple(rng.choice(4, size=2, replace=False).tolist())
        members = rng.dirichlet(np.full(3, 2.0), size=2)
        joint, moved = joined_pairs(GIVEN, COUNTS, pair, members)
        outcomes.add(moved)
        assert joint.sum() == pytest.approx(1, abs=1e-14)
        assert (joint[list(pair)].sum(axis=1) > 0).all()
        sets.assert_holds(joint)
        if not moved:
            shown = joint[list(pair)]
            np.testing.assert_allclose(shown / shown.sum(axis=1, keepdims=True), members, rtol=1e-12)
    assert outcomes == {True, False}
