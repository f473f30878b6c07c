"""Bounds in a few digits stay true."""

import math

import numpy as np
import pytest

from rldp._common.digits import at_least, at_most, rounded_up

NUMBERS = [
    *(10 ** np.random.default_rng(0).uniform(-9, 3, 300)).tolist(),
    1e-310,
    0.99999999,
    1.0,
    math.nextafter(0.43211, 1),
    math.nextafter(123.45, 200),
    -0.123456,
]


@pytest.mark.parametrize("digits", [3, 5])
def test_no_bound_is_shown_tighter_than_it_is(digits):
    for number in NUMBERS:
        room = abs(number) * 1.1 * 10.0 ** (1 - digits) + 1e-320
        assert number <= float(at_most(number, digits)) <= number + room
        assert number - room <= float(at_least(number, digits)) <= number
        assert float(at_most(number, digits)) == rounded_up(number, digits)


def test_round_numbers_stay_as_they_are():
    assert [at_most(x) for x in (0.43211, 0.0, 2.0, math.inf)] == ["0.43211", "0", "2", "∞"]
    assert [at_least(x) for x in (0.25, 0.0, 2.0, math.inf)] == ["0.25", "0", "2", "∞"]
