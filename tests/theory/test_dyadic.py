"""Rounding to the grid: rows sum exactly, nothing becomes negative, and what is impossible stays so."""

import numpy as np
import pytest

from rldp.theory.dyadic import DENOMINATOR, numerators, on_grid

pytestmark = pytest.mark.numerical


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
