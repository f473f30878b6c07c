"""Sets may be centred away from the estimate, that of privacy elsewhere than that of utility."""

from dataclasses import replace

import numpy as np
import pytest

import rldp
from problems import squared
from rldp.designer.engine import Settings
from rldp.designer.request import SolveRequest
from rldp.designer.routes import solve_batch
from rldp.theory.model import DesignProblem

pytestmark = pytest.mark.numerical

COUNTS = np.array([[[12, 0, 5, 3], [0, 9, 4, 7]]])
CENTRE = np.array([[[130, 4, 40, 26], [5, 80, 60, 55]]])
AROUND = {"robust": rldp.PowerDivergence(1.0, radius=0.1), "nominal": rldp.Nominal()}
REQUEST = SolveRequest(1e-6, Settings())


def problem_of(counts, privacy, utility, epsilon):
    return DesignProblem.of(
        counts, np.full(len(counts), epsilon), squared(4), AROUND[privacy], AROUND[utility]
    )


@pytest.mark.parametrize("privacy", AROUND)
@pytest.mark.parametrize("utility", AROUND)
@pytest.mark.parametrize(("epsilon", "windows"), [(0.5, False), (0.5, True), (0.0, False)])
def test_only_the_centres_matter_where_radii_are_given(privacy, utility, epsilon, windows):
    """The sample has no other say: the design is that of the sample whose estimate is the centre."""
    moved = replace(
        problem_of(COUNTS, privacy, utility, epsilon), centre_of_privacy=CENTRE, centre_of_utility=CENTRE
    )
    request = replace(REQUEST, windows=windows)
    found = solve_batch(moved, request)
    wanted = solve_batch(problem_of(CENTRE, privacy, utility, epsilon), request)
    np.testing.assert_array_equal(found.matrix, wanted.matrix)
    np.testing.assert_array_equal(found.objective, wanted.objective)
    np.testing.assert_array_equal(found.lower_bound, wanted.lower_bound)


def test_each_set_has_a_centre_of_its_own():
    problem = problem_of(COUNTS, "robust", "nominal", 0.5)
    private = solve_batch(replace(problem, centre_of_privacy=CENTRE), REQUEST)
    useful = solve_batch(replace(problem, centre_of_utility=CENTRE), REQUEST)
    both = solve_batch(replace(problem, centre_of_privacy=CENTRE, centre_of_utility=CENTRE), REQUEST)
    assert all(found.closes(1e-6).all() for found in (private, useful, both))
    assert len({round(float(found.objective[0]), 4) for found in (private, useful, both)}) == 3


def test_a_part_of_a_batch_keeps_its_centres():
    counts, centres = np.concatenate([COUNTS, COUNTS + 1]), np.concatenate([CENTRE, CENTRE + 1])
    problem = replace(problem_of(counts, "robust", "robust", 0.5), centre_of_privacy=centres)
    part = problem.subset(np.array([1]))
    np.testing.assert_array_equal(part.private_counts, CENTRE + 1)
    np.testing.assert_array_equal(part.useful_centre, part.estimate)
