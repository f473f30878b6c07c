"""Noise has exactly its law, and no float has a part in it."""

import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from rldp._common import discrete_laplace as module
from rldp._common.discrete_laplace import discrete_laplace


def chi_square(found, draws, probability, cells):
    """Pearson's statistic of counts over ``cells`` and all others together, and its p-value."""
    expected = {z: draws * probability(z) for z in cells}
    statistic = sum((found[z] - e) ** 2 / e for z, e in expected.items())
    rest = draws - sum(expected.values())
    statistic += (draws - sum(found[z] for z in cells) - rest) ** 2 / rest
    return chi2.sf(statistic, len(expected))


def law(epsilon):
    ratio = math.exp(-epsilon)
    return lambda z: (1 - ratio) / (1 + ratio) * ratio ** abs(z)


@pytest.mark.parametrize("epsilon", ["1", "3/10", "5/2", "0.1"])
def test_draws_follow_the_law(epsilon):
    exact, draws = Fraction(epsilon), 60_000
    source = random.Random(f"noise {epsilon}")
    found = Counter(discrete_laplace(exact, source.randrange) for _ in range(draws))
    probability = law(float(exact))
    cells = [z for z in range(-200, 201) if draws * probability(z) >= 10]
    assert chi_square(found, draws, probability, cells) > 1e-9
    other = law(float(exact) * 1.1)
    assert chi_square(found, draws, other, cells) < 1e-9  # a test that could not fail would say nothing


def probability_of_odd(n, d, terms):
    """That the loop ends at an odd number, in rationals, with what may be left out."""
    survives, odd = Fraction(1), Fraction(0)
    for k in range(1, terms):
        fails = survives * (1 - Fraction(n, d * k))
        odd += fails if k % 2 else 0
        survives *= Fraction(n, d * k)
    return odd, survives


@pytest.mark.parametrize(("n", "d"), [(0, 7), (1, 3), (2, 3), (1, 1)])
def test_an_event_has_the_probability_of_the_exponential(n, d):
    odd, left = probability_of_odd(n, d, 25)
    series = sum(Fraction((-n) ** k, d**k * math.factorial(k)) for k in range(25))
    assert abs(odd - series) <= 2 * left < Fraction(1, 10**20)
    source = random.Random(n * 31 + d)
    hits, draws = sum(module._happens(n, d, source.randrange) for _ in range(20_000)), 20_000
    assert abs(hits / draws - math.exp(-n / d)) <= 6 * math.sqrt(0.25 / draws)


def test_every_number_that_is_asked_for_is_an_integer():
    asked = []

    def below(n):
        asked.append(n)
        return random.Random(len(asked)).randrange(n)

    drawn = [discrete_laplace(Fraction(0.1), below) for _ in range(20)]
    assert {type(z) for z in drawn} == {int}
    assert {type(n) for n in asked} == {int}
    assert Fraction(0.1).denominator in asked  # of the float itself, not of one tenth


def test_a_run_of_the_generator_gives_what_is_worked_out_by_hand():
    """ε = 2/3: U = 2 is kept (1 fails at once), V = 1, X = 5, so 2, and negative."""
    steps = iter([(3, 2), (3, 2), (1, 0), (2, 0), (3, 2), (1, 0), (2, 1), (2, 1)])

    def below(n):
        wanted, answer = next(steps)
        assert n == wanted
        return answer

    assert discrete_laplace(Fraction(2, 3), below) == -2
    assert next(steps, None) is None
