"""Simple mechanisms, held against their definitions entry by entry."""

import itertools
import math

import numpy as np
import pytest

from rldp.theory import mechanisms

pytestmark = pytest.mark.numerical

LEVELS = [0.0, 0.5, 1.0, 3.0, 20.0]
SHAPES = [(2, 2), (3, 5), (1, 4), (4, 1)]


def largest_ratio(table, *, across):
    """max Q[s1,u1,r] / Q[s2,u2,r] over all u1, u2 and secrets s1, s2 that differ, or that are one."""
    secrets, values = table.shape[:2]
    flat = table.reshape(secrets, values, -1)
    cells = list(itertools.product(range(secrets), range(values)))
    return max(
        (
            (flat[s1, u1] / flat[s2, u2]).max()
            for (s1, u1), (s2, u2) in itertools.product(cells, cells)
            if (s1 != s2) == across
        ),
        default=1.0,
    )


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_randomised_response_keeps_a_label_with_odds_e_to_the_epsilon(size, epsilon):
    table = mechanisms.randomised_response(size, epsilon)
    e = math.exp(epsilon)
    for x, y in itertools.product(range(size), repeat=2):
        wanted = (e if x == y else 1.0) / (e + size - 1)
        assert table[x, y] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_secret_randomised_response_is_as_written_down(shape, epsilon):
    secrets, values = shape
    table = mechanisms.secret_randomised_response(secrets, values, epsilon)
    e = math.exp(epsilon)
    kappa = 1 / (e + (values - 1) / e + values * (secrets - 1))
    for s, u, t, v in itertools.product(range(secrets), range(values), range(secrets), range(values)):
        wanted = kappa * (1 if s != t else e if u == v else 1 / e)
        assert table[s, u, t, v] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_secret_randomised_response_is_private_across_secrets(shape, epsilon):
    table = mechanisms.secret_randomised_response(*shape, epsilon)
    assert largest_ratio(table, across=True) <= math.exp(epsilon) * (1 + 1e-12)
    assert largest_ratio(table, across=False) <= math.exp(2 * epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_independent_reports_leak_the_sum_of_both_levels(shape, share):
    epsilon = 1.5
    table = mechanisms.independent_reporting(*shape, share * epsilon, (1 - share) * epsilon)
    assert table.sum(axis=(2, 3)) == pytest.approx(np.ones(shape))
    assert largest_ratio(table, across=True) <= math.exp(epsilon) * (1 + 1e-12)
    if min(shape) > 1:
        assert largest_ratio(table, across=True) == pytest.approx(math.exp(epsilon))


def test_no_level_overflows():
    for table in (
        mechanisms.randomised_response(3, math.inf),
        mechanisms.secret_randomised_response(2, 3, 1e6),
        mechanisms.independent_reporting(2, 3, 1e6, math.inf),
    ):
        assert np.isfinite(table).all()
        assert (table.reshape(6, 6) if table.ndim > 2 else table) == pytest.approx(
            np.eye(6 if table.ndim > 2 else 3)
        )
