"""Levels as tables: the shortest paths, and own levels of attributes, against enumeration."""

import itertools
import math

import numpy as np
import pytest

from rldp._common.levels import closure, detours, largest, own_levels, smallest

INF = math.inf


def paths(levels, a, b):
    """Every path from a to b that meets no secret twice, with its length."""
    others = [s for s in range(len(levels)) if s not in (a, b)]
    for size in range(len(others) + 1):
        for between in itertools.permutations(others, size):
            stops = (a, *between, b)
            yield between, sum(levels[s][t] for s, t in itertools.pairwise(stops))


@pytest.mark.parametrize("seed", range(8))
def test_the_closure_is_the_shortest_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    levels = rng.exponential(size=(5, 5))
    levels[rng.random((5, 5)) < 0.4] = INF
    shortest, _ = closure(levels)
    found = {(each.first, each.second): each for each in detours(levels)}
    for a, b in itertools.permutations(range(5), 2):
        between, length = min(paths(levels, a, b), key=lambda path: path[1])
        assert shortest[a, b] == pytest.approx(length, rel=1e-12)
        assert ((a, b) in found) is bool(between and length < levels[a, b])
        if (a, b) in found:
            assert found[a, b].through == between
            assert float(found[a, b].level) >= length * (1 - 1e-12)
            assert float(found[a, b].level) == pytest.approx(length, rel=1e-5)


def test_sums_in_another_order_are_no_detours():
    own = (0.1, 0.2, 0.3)
    places = list(itertools.product((0, 1), repeat=3))
    levels = [[sum(e for e, i, j in zip(own, a, b, strict=True) if i != j) for b in places] for a in places]
    assert detours(levels) == []
    assert own_levels(levels, (2, 2, 2)) == own


def test_own_levels_are_only_of_sums():
    levels = [[0, 0.1, 0.5, 0.6], [0.1, 0, 0.6, 0.5], [0.5, 0.6, 0, 0.1], [0.6, 0.5, 0.1, 0]]
    assert own_levels(levels, (2, 2)) == (0.5, 0.1)
    assert own_levels(levels, (4,)) is None
    assert own_levels(levels, (2, 3)) is None
    levels[3][0] = 0.7
    assert own_levels(levels, (2, 2)) is None
    levels[3][0] = 0.6
    levels[2][3] = math.nextafter(0.1, 1)  # somebody is protected less than the words for all would say
    assert own_levels(levels, (2, 2)) is None
    open_ones = [[0, INF, 0.5, INF], [INF, 0, INF, 0.5], [0.5, INF, 0, INF], [INF, 0.5, INF, 0]]
    assert own_levels(open_ones, (2, 2)) == (0.5, INF)


def test_the_diagonal_means_nothing():
    assert (smallest([[0, 2], [3, 9]]), largest([[9, 2], [3, 0]])) == (2, 3)
    assert (smallest([[5]]), largest([[5]])) == (INF, 0)
