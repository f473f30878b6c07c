"""Radii are valid for every n and every distribution, and not much larger than need be."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

import rldp
from multinomials import distributions, exact_tail, outcomes, probabilities, statistic
from promised import pair_radius
from rldp.theory import radii
from rldp.theory.radii import (
    Radius,
    asymptotic_radius,
    log_moment_bound,
    moment_radius,
    pair_level,
    pair_radii,
    recursion_radius,
)


@pytest.fixture(autouse=True)
def _in_many_digits():
    with mpmath.workdps(60):
        yield


def exact_moment(n, cells, t):
    """G_{k,n}(t), term by term: in fractions for fractions, otherwise in high precision."""
    total, term = t * 0 + 1, t * 0 + 1
    for m in range(n):
        term = term * (cells - 1 + m) * (n - m) * t / ((m + 1) * n)
        total += term
        if not isinstance(t, Fraction) and abs(term) < total * mpmath.mpf(10) ** -55 and m > 10 * cells:
            break
    return total


# A1: the moment bound


@pytest.mark.parametrize(("n", "p"), [(1, (1, 2)), (4, (1, 1, 1)), (6, (1, 5, 30)), (5, (3, 1, 2, 4))])
def test_at_t_1_the_bound_is_the_moment_whatever_the_distribution(n, p):
    p = [Fraction(each, sum(p)) for each in p]
    moment = Fraction(0)
    for counts in outcomes(n, len(p)).tolist():
        weight = Fraction(math.factorial(n))
        for count, probability in zip(counts, p, strict=True):
            ratio = Fraction(count, n) / probability
            weight *= probability**count / math.factorial(count) * (ratio**count if count else 1)
        moment += weight
    assert moment == exact_moment(n, len(p), Fraction(1))


@pytest.mark.parametrize("t", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(("n", "cells"), [(1, 2), (30, 2), (6, 3), (15, 3), (7, 5)])
def test_below_1_no_distribution_has_a_larger_moment(n, cells, t):
    counts = outcomes(n, cells)
    bound = math.exp(log_moment_bound(n, cells, t))
    moments = [
        float((probabilities(counts, p) * np.exp(t * statistic(counts, p))).sum())
        for p in distributions(cells, 60, seed=n)
    ]
    assert max(moments) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("t", [1e-6, 0.1, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("cells", [2, 3, 15, 100, 1000])
@pytest.mark.parametrize("n", [1, 2, 10, 63, 64, 65, 1000, 10**5])
def test_the_moment_bound_is_rounded_up_and_by_little(n, cells, t):
    exact = mpmath.log(exact_moment(n, cells, mpmath.mpf(t)))
    bound = log_moment_bound(n, cells, t)
    assert exact <= bound <= exact + 1e-7


@pytest.mark.parametrize("n", [10**9, 10**15])
def test_with_very_many_rows_the_moment_bound_is_rounded_up_and_by_little(n):
    for cells, t in ((2, 0.3), (5, 0.9), (1000, 0.5)):
        exact = mpmath.log(exact_moment(n, cells, mpmath.mpf(t)))
        assert exact <= log_moment_bound(n, cells, t) <= exact + 1e-7


def test_where_the_series_is_too_long_the_limit_of_many_rows_is_taken():
    t = 1 - 2.0**-40
    assert log_moment_bound(10**15, 3, t) == pytest.approx(-2 * math.log(1 - t), rel=1e-12)
    assert log_moment_bound(10**15, 3, 1.0) == math.inf


def test_without_rows_and_with_one_cell_there_is_nothing_to_bound():
    assert log_moment_bound(0, 7, 0.5) == 0.0
    assert log_moment_bound(50, 1, 0.5) == 0.0


# A1: the radius


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-9, 1e-300])
@pytest.mark.parametrize(("sizes", "cells"), [((25, 25), 5), ((0, 3), 3), ((1000, 1, 7), 2), ((200,), 300)])
def test_the_radius_of_moments_is_rounded_up_and_by_little(sizes, cells, alpha):
    radius, t = radii._moment_radius(sizes, cells, alpha)
    moments = sum(mpmath.log(exact_moment(n, cells, mpmath.mpf(t))) for n in sizes if n)
    exact = (moments - mpmath.log(mpmath.mpf(alpha))) / mpmath.mpf(t)
    assert exact * (1 + 2.0**-31) <= radius <= exact * (1 + 3e-9)
    assert moment_radius(sizes, cells, alpha) == radius


@pytest.mark.parametrize(
    ("n", "cells", "alpha"), [(1, 2, 0.05), (40, 5, 0.01), (10**6, 15, 0.05), (30, 200, 0.3)]
)
def test_no_other_t_gives_a_smaller_radius(n, cells, alpha):
    radius = moment_radius((n,), cells, alpha)
    for t in np.concatenate([np.linspace(0.001, 1, 300), 1 - np.geomspace(1e-6, 0.5, 100)]):
        assert radius <= (log_moment_bound(n, cells, float(t)) - math.log(alpha)) / t * (1 + 1e-6)


def test_radii_of_moments_are_those_of_the_theory_page():
    limit = asymptotic_radius(14, 0.05)
    ratios = [moment_radius((n,), 15, 0.05) / limit for n in (15, 75, 300, 1500, 15_000)]
    assert ratios == pytest.approx([1.24, 1.94, 2.09, 2.12, 2.13], abs=0.006)
    limit = asymptotic_radius(99, 0.05)
    ratios = [moment_radius((n,), 100, 0.05) / limit for n in (15, 75, 300, 1500, 15_000)]
    assert ratios == pytest.approx([0.56, 1.22, 1.93, 2.02, 2.03], abs=0.006)


def test_more_rows_more_cells_or_a_smaller_level_give_a_larger_radius_of_moments():
    sizes = [moment_radius((n, 10), 5, 0.01) for n in (0, 1, 2, 5, 30, 1000, 10**9)]
    cells = [moment_radius((40, 10), k, 0.01) for k in (1, 2, 3, 10, 100, 1000)]
    levels = [moment_radius((40, 10), 5, alpha) for alpha in (0.9, 0.1, 1e-3, 1e-30, 1e-300)]
    for values in (sizes, cells, levels):
        assert values == sorted(values)
        assert len(set(values)) == len(values)


# A2


@pytest.mark.parametrize(
    ("n", "cells", "alpha"), [(1, 2, 0.1), (10, 2, 0.05), (9, 3, 0.05), (20, 3, 0.01), (6, 5, 0.1)]
)
def test_no_distribution_exceeds_its_level_at_the_radius(n, cells, alpha):
    counts = outcomes(n, cells)
    for radius in (recursion_radius((n,), cells, alpha), moment_radius((n,), cells, alpha)):
        for p in distributions(cells, 150, seed=n):
            tail = exact_tail(statistic(counts, p), probabilities(counts, p), np.array([radius - 2e-9]))
            assert tail[0] <= alpha * (1 + 1e-9)


@pytest.mark.parametrize(
    ("n1", "n2", "cells", "alpha"),
    [(25, 25, 5, 0.05 / 3), (300, 40, 5, 0.05), (2000, 2000, 5, 0.05), (150, 150, 12, 0.1)],
)
def test_simulated_samples_exceed_the_radius_no_oftener_than_promised(n1, n2, cells, alpha):
    """Each of the 40 comparisons in all fails by chance with probability below 1e-8."""
    rng = np.random.default_rng(n1)
    radius, draws = pair_radius(n1, n2, cells, alpha).value, 20_000
    rare = [1.4 / n1] * (cells - 1)  # cells hit once or twice: the worst ones known
    candidates = [np.full(cells, 1 / cells), np.array([*rare, 1 - sum(rare)])]
    candidates += list(rng.dirichlet(np.full(cells, 0.5), size=8))
    for p in candidates:
        values = statistic(rng.multinomial(n1, p, draws), p) + statistic(rng.multinomial(n2, p, draws), p)
        assert (values >= radius).sum() <= binom.isf(1e-8, draws, alpha)


@pytest.mark.slow
def test_radii_of_the_recursion_are_as_small_as_the_theory_page_says():
    assert recursion_radius((25, 25), 5, 0.05 / 3) < 12.2
    assert recursion_radius((250, 250), 5, 0.05 / 3) < 11.65
    limit = asymptotic_radius(14, 0.05)
    for n, ratio in ((15, 1.35), (300, 1.35)):
        assert recursion_radius((n,), 15, 0.05) < ratio * limit
    assert recursion_radius((10**12, 10**9), 5, 0.05 / 3) < 1.25 * asymptotic_radius(8, 0.05 / 3)


def test_the_recursion_is_left_where_it_would_take_too_long_or_leave_the_range_of_floats():
    assert recursion_radius((1000, 1000), 1000, 0.05) == math.inf
    assert recursion_radius((20, 20), 4, 1e-120) == math.inf
    assert recursion_radius((0, 0), 4, 0.05) == math.inf


@pytest.mark.slow
def test_a_smaller_level_gives_a_larger_radius():
    values = [pair_radius(12, 40, 3, alpha).value for alpha in (0.5, 1e-3, 1e-30)]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


# Pairs


def test_the_smaller_radius_is_taken_and_named():
    pair = pair_radius(25, 25, 5, 0.05 / 3)
    assert pair == Radius(recursion_radius((25, 25), 5, 0.05 / 3), "A2")
    assert pair.value < moment_radius((25, 25), 5, 0.05 / 3)
    few = pair_radius(3, 3, 5, 0.05 / 3)
    assert few == Radius(moment_radius((3, 3), 5, 0.05 / 3), "A1")
    large = pair_radius(1000, 1000, 1000, 0.05)
    assert large == Radius(moment_radius((1000, 1000), 1000, 0.05), "A1")


def test_the_order_of_the_secrets_does_not_matter():
    assert pair_radius(3, 40, 4, 0.01) == pair_radius(40, 3, 4, 0.01)
    assert pair_radius(0, 40, 4, 0.01) == pair_radius(40, 0, 4, 0.01)


def test_a_secret_without_rows_adds_nothing():
    assert pair_radius(0, 40, 4, 0.01).value == min(
        recursion_radius((40,), 4, 0.01), moment_radius((40,), 4, 0.01)
    )


def test_a_pair_without_rows_has_a_positive_radius():
    assert pair_radius(0, 0, 4, 0.01) == Radius(moment_radius((0, 0), 4, 0.01), "A1")
    assert pair_radius(0, 0, 4, 0.01).value == pytest.approx(-math.log(0.01))


def test_a_single_value_has_radius_0():
    assert pair_radius(10, 20, 1, 0.05).value == 0.0
    assert moment_radius((10, 20), 1, 0.05) == 0.0


def test_the_pairs_of_a_table_share_the_radius_of_its_rarest_secret():
    """It is valid for all of them; where every secret has 16 rows for a value it is smaller."""
    with_rare, without = [(10, 500), (10, 900), (500, 900)], [(400, 500), (400, 900), (500, 900)]
    assert {radius.value for radius in pair_radii(with_rare, 2, 0.05)} == {
        recursion_radius((10, 500), 2, 0.05)
    }
    assert {radius.value for radius in pair_radii(without, 2, 0.05)} == {
        recursion_radius((400, 500), 2, 0.05)
    }
    assert recursion_radius((10, 500), 2, 0.05) > recursion_radius((400, 500), 2, 0.05)
    assert pair_radii([], 2, 0.05) == ()


def test_a_secret_without_rows_is_not_the_rarest():
    assert pair_radii([(0, 500), (500, 900)], 2, 0.05) == (
        pair_radius(0, 500, 2, 0.05),
        pair_radius(500, 900, 2, 0.05),
    )


def test_the_level_of_a_pair_is_rounded_down():
    for alpha in (0.05, 0.1, 1 / 3):
        for secrets in (2, 3, 5, 10, 27):
            level = pair_level(alpha, secrets)
            assert Fraction(level) * math.comb(secrets, 2) <= Fraction(alpha)
            assert level >= alpha / math.comb(secrets, 2) * (1 - 1e-15)
    assert pair_level(0.05, 1) == 0.05


def test_the_asymptotic_radius_is_half_a_quantile():
    assert asymptotic_radius(2, 0.05) == pytest.approx(-math.log(0.05))
    assert asymptotic_radius(8, 0.05 / 3) == pytest.approx(9.340106142816241)
    assert asymptotic_radius(0, 0.05) == 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((-1, 3, 4, 0.05), r"the number of rows must lie between 0 and 2\^53 − 1, got -1"),
        ((3, 2**53, 4, 0.05), r"the number of rows must lie between 0 and 2\^53 − 1, got 9007199254740992"),
        ((3, 3, 0, 0.05), r"cells must lie between 1 and 2\^53 − 1, got 0"),
        ((3, 3, 4, 0.0), "alpha must lie strictly between 0 and 1, got 0.0"),
        ((3, 3, 4, 1.0), "alpha must lie strictly between 0 and 1, got 1.0"),
        ((3, 3, 4, math.nan), "alpha must be a number, got NaN"),
    ],
)
def test_bad_arguments_are_named(arguments, sentence):
    with pytest.raises(rldp.RldpError, match=sentence):
        pair_radius(*arguments)


@pytest.mark.parametrize("arguments", [(2.5, 3, 4, 0.05), (3, True, 4, 0.05), (3, 3, "4", 0.05)])
def test_sizes_and_cells_must_be_integers(arguments):
    with pytest.raises(TypeError, match="must be an integer, got"):
        pair_radius(*arguments)
