"""Arrays of any library, pairs of secrets, and the grid of probabilities."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from rldp.theory.arrays import (
    DENOMINATOR,
    namespace,
    numerators,
    on_grid,
    ordered_pairs,
    summed_per_secret,
    updated,
)

pytestmark = pytest.mark.numerical


PARTS = [np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(2, 3)]


@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
def test_stacking_along_any_axis_is_numpys(axis):
    np.testing.assert_array_equal(namespace(PARTS[0]).stack(PARTS, axis=axis), np.stack(PARTS, axis=axis))


@pytest.mark.parametrize("axis", [-4, 3])
def test_there_is_no_axis_beyond_the_last(axis):
    with pytest.raises(IndexError):
        namespace(PARTS[0]).stack(PARTS, axis=axis)


@pytest.mark.parametrize("secrets", [1, 2, 5])
def test_ends_of_pairs_are_added_up_by_secret(secrets):
    pairs = ordered_pairs(secrets)
    table = np.random.default_rng(0).random((3, len(pairs), 2, 4))
    expected = np.zeros((3, secrets, 4))
    for t, ends in enumerate(pairs):
        for i, s in enumerate(ends):
            expected[:, s] += table[:, t, i]
    assert np.allclose(summed_per_secret(table), expected)


@pytest.mark.parametrize("seed", range(5))
def test_an_impossible_output_stays_impossible_whatever_is_left_over(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(6, 0.5), 200) * (rng.random((200, 6)) < 0.6)
    rows[:, 0] += rows.sum(axis=1) == 0
    rows /= rows.sum(axis=1, keepdims=True)
    left = DENOMINATOR - np.rint(rows * DENOMINATOR).sum(axis=1)
    assert (left > 0).any()
    assert (left < 0).any()
    grid = on_grid(rows)
    assert (grid >= 0).all()
    assert (grid[rows == 0] == 0).all()
    assert (numerators(grid).sum(axis=1) == DENOMINATOR).all()
    assert np.abs(grid - rows).max() <= 7 / DENOMINATOR


def test_what_is_on_the_grid_stays_where_it_is():
    grid = on_grid(np.random.default_rng(0).dirichlet(np.ones(5), 100))
    assert np.array_equal(on_grid(grid), grid)
    assert np.array_equal(numerators(grid) / DENOMINATOR, grid)


@dataclass(frozen=True)
class Square:
    side: float

    @cached_property
    def area(self):
        return self.side**2


def test_a_copy_with_another_field_does_not_keep_what_was_computed_from_the_old_one():
    square = Square(2.0)
    assert square.area == 4
    assert updated(square, side=3.0).area == 9
    assert square.side == 2
