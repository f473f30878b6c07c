"""Integrals of a power times a Gaussian: compared with parabolic cylinder functions and textbook laws."""

import mpmath
import numpy as np
import pytest
from scipy.stats import truncnorm

from rldp.theory.tilted import has_peak, moments


def arrays(*numbers):
    return (np.array([number], dtype=np.float64) for number in numbers)


def exact(a, nu, tau):
    """By D, Whittaker's function: ∫ t^(a−1) exp(νt − τt²/2) = τ^(−a/2) Γ(a) exp(ν²/4τ) D_{−a}(−ν/√τ)."""
    with mpmath.workdps(60):
        nu, tau = mpmath.mpf(nu), mpmath.mpf(tau)

        def integral(power):
            whole = mpmath.gamma(power) * mpmath.pcfd(-power, -nu / mpmath.sqrt(tau))
            return tau ** (-power / 2) * whole * mpmath.exp(nu**2 / (4 * tau))

        zero, one, two = (integral(mpmath.mpf(a) + j) for j in range(3))
        mean = one / zero
        return float(mpmath.log(zero)), float(mean), float(two / zero - mean**2)


@pytest.mark.numerical
@pytest.mark.parametrize("a", [0.1, 0.5, 1.0, 3.5, 40.0])
@pytest.mark.parametrize("mean", [-30.0, -2.0, 0.0, 1.5, 30.0])
def test_moments_are_those_of_parabolic_cylinder_functions(a, mean):
    tau = 400.0
    nu = mean * np.sqrt(tau)  # the Gaussian has this mean in standard deviations
    found = [float(each[0]) for each in moments(*arrays(a, nu, tau))]
    log, middle, variance = exact(a, nu, tau)
    assert found[0] == pytest.approx(log, abs=1e-6)
    assert found[1] == pytest.approx(middle, rel=1e-6)
    assert found[2] == pytest.approx(variance, rel=1e-5)


def test_a_power_of_none_leaves_a_truncated_normal_law():
    law = truncnorm(0.7, np.inf, loc=-0.7, scale=1.0)
    _, mean, variance = moments(*arrays(1.0, -0.7, 1.0))
    np.testing.assert_allclose([mean[0], variance[0]], [law.mean(), law.var()], rtol=1e-8)


def test_millions_of_rows_are_no_harder_than_few():
    """N log p has the curvature N/p² at its peak, beside which a Gaussian of another outcome counts."""
    n, p = 3e6, 0.2
    others = n / (1 - p)  # of the outcomes that are not this one, which together have n(1 − p) rows
    nu = others * (2 * p - 1)
    _, mean, variance = moments(*arrays(n * p + 1, nu, others))
    assert mean[0] == pytest.approx(p, abs=3 / n)
    assert variance[0] == pytest.approx(p * (1 - p) / n, rel=1e-5)


def test_without_a_gaussian_that_holds_it_there_is_no_peak():
    peaks = has_peak(*(np.array(each, dtype=np.float64) for each in ([2, 2, 2], [1, 1, -9], [1, -1, -1])))
    assert peaks.tolist() == [True, False, True]
    _, mean, _ = moments(*arrays(100.0, -1000.0, -1.0))  # nearly the law of Γ(100) over 1000
    assert mean[0] == pytest.approx(0.1, rel=1e-3)
