"""Which conditionals a promise is about, for each pair of secrets; the precision that all threads share."""

from itertools import combinations, permutations

import pytest
from flint import arb, ctx

from rldp.judge.regions import Conditionals, Group, Region, pair_number, precision


@pytest.mark.parametrize("secrets", [2, 3, 7])
def test_pairs_are_numbered_in_order_whichever_secret_comes_first(secrets):
    places = {pair: number for number, pair in enumerate(combinations(range(secrets), 2))}
    for s1, s2 in permutations(range(secrets), 2):
        assert pair_number(s1, s2, secrets) == places[min(s1, s2), max(s1, s2)]


def conditionals(radii, values=2):
    groups = [Group(arb(1) / 3, [arb(1) / values] * values)] * 3
    return Conditionals(groups, [Region(0.0, arb(radius)) for radius in radii])


@pytest.mark.parametrize(
    ("radii", "values", "interior"),
    [
        ([1.0], 2, True),
        ([0.5, 1.0, 2.0], 2, True),
        ([0.0, 1.0, 2.0], 2, False),
        ([1.0, 1.0, 0.0], 2, False),
        ([0.0, 1.0, 2.0], 1, True),
        ([], 2, False),
    ],
)
def test_only_sets_that_all_have_an_interior_leave_constants_alone(radii, values, interior):
    """A pair whose set is the estimate allows protocols that are no constants, at level 0 too."""
    assert conditionals(radii, values).have_interior is interior


def test_whoever_leaves_takes_no_bits_from_those_who_stay_and_the_last_restores_what_was():
    before = ctx.prec
    first, second = precision(300), precision(128)
    first.__enter__()
    second.__enter__()
    assert ctx.prec == 300
    first.__exit__(None, None, None)
    assert ctx.prec == 128
    second.__exit__(None, None, None)
    assert ctx.prec == before


def test_what_asks_for_fewer_bits_inside_gets_no_fewer():
    with precision(300), precision(128):
        assert ctx.prec == 300
