"""Bounds on a probability from hits among trials: never on the wrong side more often than they say."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from mpmath import binomial as binomial_of, mpf, workdps

from rldp.theory import binomial
from rldp.theory.binomial import lower_probability, tail_probability, upper_probability

pytestmark = pytest.mark.numerical

ERRORS = (0.5, 0.05, 1e-6)


def at_most(hits, trials, p):
    """Pr(Bin(trials, p) ≤ hits), exactly."""
    p = Fraction(float(p))
    return sum(comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(hits + 1))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("trials", [1, 2, 5, 17])
def test_bounds_hold_and_are_sharp_by_exact_enumeration(trials, error):
    for hits in range(trials + 1):
        upper, lower = (float(bound(hits, trials, error)) for bound in (upper_probability, lower_probability))
        if hits < trials:
            assert at_most(hits, trials, upper) <= error < at_most(hits, trials, upper * (1 - 1e-5))
        else:
            assert upper == 1
        if hits > 0:
            assert 1 - at_most(hits - 1, trials, lower) <= error
            assert error < 1 - at_most(hits - 1, trials, lower * (1 + 1e-5))
        else:
            assert lower == 0


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.03, 0.5, 0.97, 1.0])
def test_bounds_are_wrong_as_seldom_as_they_say(p, error):
    trials = 25
    hits = np.arange(trials + 1)
    law = [at_most(int(j), trials, p) - (at_most(int(j) - 1, trials, p) if j else 0) for j in hits]
    too_low = upper_probability(hits, trials, error) < p
    too_high = lower_probability(hits, trials, error) > p
    assert sum(w for w, wrong in zip(law, too_low, strict=True) if wrong) <= error
    assert sum(w for w, wrong in zip(law, too_high, strict=True) if wrong) <= error


@pytest.mark.parametrize(
    ("hits", "trials"),
    [(0, 20_000), (1, 20_000), (830, 20_000), (2_000, 4_000), (1_999, 2_000), (90, 10**7)],
)
def test_bounds_hold_for_many_trials_in_fifty_digits(hits, trials):
    error = 1e-6
    upper, lower = (
        float(upper_probability(hits, trials, error)),
        float(lower_probability(hits, trials, error)),
    )
    with workdps(50):

        def tail(count, p):
            """Pr(Bin(trials, p) ≤ count)."""
            p, term = mpf(p), (1 - mpf(p)) ** trials
            total = term
            for j in range(1, count + 1):
                term *= mpf(trials - j + 1) / j * p / (1 - p)
                total += term
            return total

        assert tail(hits, upper) <= error
        assert tail(hits, upper - 1e-5 * (upper - hits / trials)) > error
        if hits > 0:
            assert 1 - tail(hits - 1, lower) <= error
            assert 1 - tail(hits - 1, lower + 1e-5 * (hits / trials - lower)) > error


@pytest.mark.parametrize("factor", [0.0, 0.5, 1 - 1e-9, 1.0])
def test_a_root_finder_that_stops_short_is_not_believed(monkeypatch, factor):
    """Whatever it says, a bound that is too small is moved until the tail allows it."""
    wanted = upper_probability(np.arange(12), 12, 0.01), lower_probability(np.arange(1, 13), 12, 0.01)
    true_upper, true_lower = binomial.betainccinv, binomial.betaincinv
    monkeypatch.setattr(binomial, "betainccinv", lambda *x: true_upper(*x) * factor)
    monkeypatch.setattr(binomial, "betaincinv", lambda *x: 1 - (1 - true_lower(*x)) * factor)
    assert (upper_probability(np.arange(12), 12, 0.01) >= wanted[0] * (1 - 1e-7)).all()
    assert (lower_probability(np.arange(1, 13), 12, 0.01) <= wanted[1] * (1 + 1e-7)).all()


def test_arrays_of_hits_and_trials_go_together():
    hits, trials = np.array([[0], [3]]), np.array([10, 20, 30])
    found = upper_probability(hits, trials, 0.05)
    assert found.shape == (2, 3)
    assert found[1, 2] == upper_probability(3, 30, 0.05)


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("trials", [1, 20, 700])
def test_a_tail_is_the_sum_of_its_terms_rounded_up(level, trials):
    """Terms with 50 digits; where they do not underflow."""
    tails = tail_probability(np.arange(trials + 1), trials, level).tolist()
    with workdps(50):
        p, exact = mpf(level), mpf(0)
        for hits, found in enumerate(tails):
            exact += comb(trials, hits) * p**hits * (1 - p) ** (trials - hits)
            if exact > 1e-290:
                assert exact * (1 - mpf(10) ** -40) <= found <= exact * (1 + mpf(3) / 10**6) or found == 1
    assert tails[-1] == 1


@pytest.mark.parametrize("trials", [24_576, 6_400_000])
def test_a_tail_of_many_trials_is_rounded_up(trials):
    """So far below the mean as proofs need it; with 50 digits, by the ratio of neighbouring terms."""
    hits, level = round(0.05 * trials - 6 * math.sqrt(0.0475 * trials)), 0.05
    with workdps(50):
        p = mpf(level)
        term = binomial_of(trials, hits) * p**hits * (1 - p) ** (trials - hits)
        exact, j = term, hits
        while term > exact * mpf(10) ** -20:
            term *= j * (1 - p) / ((trials - j + 1) * p)
            exact, j = exact + term, j - 1
        assert exact <= float(tail_probability(hits, trials, level)) <= exact * (1 + mpf(3) / 10**6)
