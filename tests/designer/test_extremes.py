"""Sets at the far ends of what is allowed: every file that is written is proved, whatever its set."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest

import rldp
from rldp.theory.model import Ball
from rldp.theory.nested_mean import NestedMean

LAMBDAS = (0.0, 5e-324, 1e-300, 1e-9, 2e-6, 0.02, 2 / 3, 1.0, 5.0, 100.0)
RADII = (5e-324, 1e-300, 1e-12, 1e-3, 1.0, 1e3, 1e12, 1e100, 1e300, 1.7e308)
ESTIMATES = {
    "even": [[30, 10, 5], [5, 25, 25]],
    "a rare cell": [[10**12, 1, 3], [2, 10**9, 10**6]],
    "an unseen secret": [[30, 10, 0], [0, 0, 0], [5, 25, 25]],
}


def verdict(counts, epsilon, **sets):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rldp.RldpWarning)
        return rldp.verify(rldp.design(rldp.Sample(counts), epsilon, **sets).protocol)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("lambda_", LAMBDAS)
def test_every_radius_of_every_order_is_proved(lambda_, radius):
    uncertainty = rldp.PowerDivergence(lambda_, radius=radius)
    turn = (LAMBDAS.index(lambda_) + RADII.index(radius)) % len(ESTIMATES)
    found = verdict(list(ESTIMATES.values())[turn], 0.5, privacy=uncertainty, utility=uncertainty)
    assert found.ok, found.reasons


@pytest.mark.parametrize("lambda_", [5e-324, 4e-313, 1e-300, 1e-9])
def test_an_order_whose_radius_no_float_holds_is_not_taken_for_the_estimate(lambda_):
    """λ/2 times a quantile over n = 10¹² is 0 in floats; the set is about the one of the G-test."""
    counts = [[10**11, 10**12, 8], [10**5, 10**7, 10**12]]
    sets = (rldp.PowerDivergence(lambda_, alpha=0.05), rldp.GTest())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.GapWarning)
        found = [rldp.design(rldp.Sample(counts), 0.5, privacy=each, utility=each) for each in sets]
    assert rldp.verify(found[0].protocol).ok
    assert found[0].certificate.eta is not None
    assert abs(found[0].objective - found[1].objective) <= 1e-5 * found[1].objective


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 5.0])
@pytest.mark.parametrize("radius", [1e-300, 1.7e308])
@pytest.mark.parametrize("lambda_", [0.0, 5e-324, 5.0])
def test_so_are_they_at_every_level(lambda_, radius, epsilon):
    uncertainty = rldp.PowerDivergence(lambda_, radius=radius)
    found = verdict(ESTIMATES["a rare cell"], epsilon, privacy=uncertainty, utility=uncertainty)
    assert found.ok, found.reasons


@pytest.mark.parametrize("size", [{"alpha": 0.05}, {"alpha": 1e-300}, {"radius": 1e-8}, {"radius": 3.0}])
@pytest.mark.parametrize("lambda_", [1e-290, 1e-12, 9e-7])
def test_the_set_of_a_tiny_order_lies_in_the_one_that_stands_for_it(lambda_, size):
    """Σ P̂ log(P̂/P) ≤ r wherever Σ P̂ [(P̂/P)^λ − 1] ≤ B, at random distributions on the way out of the set."""
    uncertainty = rldp.PowerDivergence(lambda_, **size)
    counts = np.array([[[40, 3, 7], [20, 9, 1]]])
    ball = Ball.of(uncertainty, counts)
    assert ball.lambda_ == 0.0
    assert ball.enlarged
    estimate = counts[0] / counts.sum()
    rng = np.random.default_rng(0)
    radius = float(uncertainty.size(int(counts.sum()), 6))
    spent_most = 0.0
    for direction in rng.dirichlet(np.ones(6), size=40).reshape(-1, 2, 3):
        low, high = 0.0, 1.0
        for _ in range(60):
            share = (low + high) / 2
            p = (1 - share) * estimate + share * direction
            spent = np.sum(estimate * np.expm1(lambda_ * np.log(estimate / p)))
            low, high = (share, high) if spent <= radius * (1 - 1e-6) else (low, share)
        kl = rldp.GTest().divergence(estimate, (1 - low) * estimate + low * direction)
        assert kl <= ball.budget[0, 0] * (1 + 1e-9)
        spent_most = max(spent_most, kl)
    assert spent_most > 0.99 * ball.budget[0, 0] or low > 0.99  # the boundary was reached, or all is inside


@pytest.mark.parametrize("smallest", [1e-3, 1e-80, 1e-280])
@pytest.mark.parametrize("lambda_", [0.01, 1.0, 5.0, 100.0])
def test_what_far_members_spend_is_exact(lambda_, smallest):
    """Against 50 digits. Logarithms of up to 650λ are rounded to 2⁻⁵³ of themselves and divided by 1 + λ."""
    mean = NestedMean(lambda_, np.ones((1, 1)), np.array([[[0.25, 0.75]]]), np.ones(1))
    member = np.array([[[smallest, 1 - smallest]]])
    with mpmath.workdps(50):
        terms = [
            mpmath.mpf(c) * (mpmath.mpf(c) / mpmath.mpf(r)) ** lambda_
            for c, r in zip((0.25, 0.75), member.flat, strict=True)
        ]
        exact = mpmath.fsum(terms) ** (1 / (1 + mpmath.mpf(lambda_))) - 1
    assert abs(mean.divergence(member)[0] / float(exact) - 1) <= 650 * 8 * 2.0**-53 + 1e-14
