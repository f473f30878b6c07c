"""Sets of distributions: radius, membership, identity."""

import dataclasses

import mpmath
import numpy as np
import pytest
from scipy import optimize, stats

import rldp
from rldp.sets import NAMED, checked_set, name_of

pytestmark = pytest.mark.numerical

SAMPLE = rldp.Sample([[12, 7, 3], [4, 9, 15]])


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
@pytest.mark.parametrize(("n", "cells"), [(1, 2), (50, 6), (10**6, 200)])
@pytest.mark.parametrize(("lambda_", "factor"), [(0, 1 / 2), (2 / 3, 5 / 9), (1, 1), (2, 3)])
def test_the_radius_is_the_quantile_of_chi_square(lambda_, factor, n, cells, alpha):
    expected = factor * stats.chi2.isf(alpha, cells - 1) / n
    assert rldp.PowerDivergence(lambda_, alpha).size(n, cells) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.999, 0.05, 1e-20, 1e-100, 1e-200, 1e-299, 1e-300])
@pytest.mark.parametrize("cells", [2, 3, 15, 100, 1000])
def test_the_quantile_is_right_down_to_the_smallest_level(cells, alpha):
    """By an arithmetic of forty digits: the probability beyond the radius is α, to α·10⁻⁹."""
    radius = float(rldp.ChiSquare(alpha).size(1, cells))
    with mpmath.workdps(40):
        beyond = mpmath.gammainc(mpmath.mpf(cells - 1) / 2, mpmath.mpf(radius) / 2, regularized=True)
        assert abs(beyond / mpmath.mpf(alpha) - 1) < 1e-9


def test_a_level_too_small_for_its_quantile_is_refused():
    message = "^alpha must be at least 1e-300, got 1e-310$"
    for made in (rldp.ChiSquare, rldp.GTest, rldp.CressieRead):
        with pytest.raises(rldp.InvalidArgument, match=message):
            made(1e-310)


def test_one_radius_for_each_sample_size():
    found = rldp.ChiSquare().size([[10, 20], [40, 80]], cells=4)
    assert found.shape == (2, 2)
    assert found[0, 0] == pytest.approx(8 * found[1, 1])


@pytest.mark.parametrize("uncertainty", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
def test_on_a_single_cell_there_is_nothing_to_be_unsure_of(uncertainty):
    assert uncertainty.size(10, cells=1) == 0


def test_the_nominal_set_has_radius_zero():
    assert rldp.Nominal().size([10, 20], cells=6).tolist() == [0, 0]


@pytest.mark.parametrize("radius", [0, 0.25, 7])
def test_a_given_radius_is_the_radius(radius):
    found = rldp.PowerDivergence(1, radius=radius).size([10, 1000], cells=6)
    assert found.tolist() == [radius, radius]


@pytest.mark.parametrize(
    ("named", "lambda_"), [(rldp.ChiSquare, 1), (rldp.CressieRead, 2 / 3), (rldp.GTest, 0)]
)
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_named_sets_are_members_of_the_family(named, lambda_, alpha):
    assert named(alpha) == named(alpha=alpha) == rldp.PowerDivergence(lambda_, alpha=alpha)
    assert hash(named(alpha)) == hash(rldp.PowerDivergence(lambda_, alpha))
    assert named(alpha).lambda_ == lambda_
    assert named(alpha).alpha == alpha
    assert named(alpha).radius is None


def test_the_level_is_five_percent_by_default():
    assert rldp.ChiSquare() == rldp.ChiSquare(0.05)
    assert rldp.PowerDivergence(1) == rldp.PowerDivergence(1, 0.05)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (rldp.ChiSquare(0.05), rldp.ChiSquare(0.1)),
        (rldp.ChiSquare(), rldp.GTest()),
        (rldp.ChiSquare(), rldp.PowerDivergence(1, radius=0.1)),
        (rldp.PowerDivergence(1, radius=0.2), rldp.PowerDivergence(1, radius=0.1)),
        (rldp.PowerDivergence(1, radius=0), rldp.Nominal()),
        (rldp.ChiSquare(), 1.0),
    ],
)
def test_sets_that_differ_are_not_equal(one, other):
    assert one != other


def test_alpha_does_not_matter_beside_a_radius():
    one, other = rldp.PowerDivergence(1, 0.05, radius=0.3), rldp.PowerDivergence(1, 0.2, radius=0.3)
    assert one == other
    assert hash(one) == hash(other)


def test_nominal_sets_are_all_the_same():
    assert rldp.Nominal() == rldp.Nominal()
    assert hash(rldp.Nominal()) == hash(rldp.Nominal())


@pytest.mark.parametrize("uncertainty", [rldp.ChiSquare(), rldp.PowerDivergence(2, radius=0.1)])
@pytest.mark.parametrize("name", ["lambda_", "alpha", "radius"])
def test_sets_are_frozen(uncertainty, name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(uncertainty, name, 0.5)


def test_numbers_become_floats():
    made = rldp.PowerDivergence(np.int64(1), np.float32(0.5), radius=np.array(2))
    assert [type(x) for x in (made.lambda_, made.alpha, made.radius)] == [float, float, float]


@pytest.mark.parametrize("lambda_", [0, 2 / 3, 1, 2])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.2, 0.3, 0.5, 0.9])
def test_a_set_holds_what_the_test_does_not_reject(lambda_, share):
    p = (1 - share) * SAMPLE.distribution + share / 6
    _, p_value = stats.power_divergence(SAMPLE.counts, SAMPLE.n * p, lambda_=lambda_, axis=None)
    assert rldp.PowerDivergence(lambda_, alpha=0.05).contains(SAMPLE, p) == (p_value >= 0.05)


@pytest.mark.parametrize("alpha", [0.05, 0.5])
@pytest.mark.parametrize("lambda_", [0, 2 / 3, 1, 2])
def test_a_set_ends_where_the_test_begins_to_reject(lambda_, alpha):
    def mixture(share):
        return (1 - share) * SAMPLE.distribution + share / 6

    def slack(share):
        expected = SAMPLE.n * mixture(share)
        return stats.power_divergence(SAMPLE.counts, expected, lambda_=lambda_, axis=None)[1] - alpha

    uncertainty = rldp.PowerDivergence(lambda_, alpha=alpha)
    edge = optimize.brentq(slack, 0.01, 1, xtol=1e-12)
    assert uncertainty.contains(SAMPLE, mixture(edge - 1e-6))
    assert not uncertainty.contains(SAMPLE, mixture(edge + 1e-6))


@pytest.mark.parametrize("uncertainty", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
def test_the_estimate_is_in_every_set(uncertainty):
    assert uncertainty.contains(SAMPLE, SAMPLE.distribution) is True


@pytest.mark.parametrize("uncertainty", [rldp.Nominal(), rldp.PowerDivergence(1, radius=0)])
def test_radius_zero_is_the_estimate_alone(uncertainty):
    nearby = (1 - 1e-9) * SAMPLE.distribution + 1e-9 / 6
    assert uncertainty.contains(SAMPLE, SAMPLE.distribution)
    assert not uncertainty.contains(SAMPLE, nearby)


@pytest.mark.parametrize("uncertainty", [rldp.ChiSquare(0.999), rldp.GTest(1e-9)])
def test_what_was_seen_cannot_be_impossible(uncertainty):
    assert not uncertainty.contains(rldp.Sample([[1, 5]]), [[0, 1]])


def test_what_was_not_seen_can_be_possible():
    assert rldp.ChiSquare().contains(rldp.Sample([[0, 5]]), [[0.1, 0.9]])


def test_membership_is_of_the_samples_shape():
    message = r"^distribution must have shape \(2, 3\) \(secrets, values\), got \(1, 6\)$"
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.ChiSquare().contains(SAMPLE, SAMPLE.distribution.reshape(1, 6))


EVERY_KIND = [
    rldp.Nominal(),
    rldp.ChiSquare(),
    rldp.CressieRead(0.2),
    rldp.GTest(alpha=1e-5),
    rldp.PowerDivergence(2),
    rldp.PowerDivergence(1 / 3, alpha=0.1),
    rldp.PowerDivergence(0, radius=0.25),
]


@pytest.mark.parametrize("uncertainty", EVERY_KIND, ids=repr)
def test_what_a_set_is_shown_as_makes_it_again(uncertainty):
    again = eval(repr(uncertainty), vars(rldp))
    assert again == uncertainty
    assert type(again) is type(uncertainty)


def test_a_set_is_shown_with_what_it_was_made_from():
    assert [repr(uncertainty) for uncertainty in EVERY_KIND] == [
        "Nominal()",
        "ChiSquare(alpha=0.05)",
        "CressieRead(alpha=0.2)",
        "GTest(alpha=1e-05)",
        "PowerDivergence(lambda_=2.0, alpha=0.05)",
        "PowerDivergence(lambda_=0.3333333333333333, alpha=0.1)",
        "PowerDivergence(lambda_=0.0, radius=0.25)",
    ]


@pytest.mark.parametrize(
    ("uncertainty", "words"),
    [
        (rldp.Nominal(), "the estimated distribution only"),
        (rldp.PowerDivergence(1, radius=0), "the estimated distribution only"),
        (rldp.ChiSquare(), "every distribution that a χ² test at level 0.05 does not reject"),
        (rldp.CressieRead(0.01), "every distribution that a Cressie-Read test at level 0.01 does not reject"),
        (rldp.GTest(1e-5), "every distribution that a G-test at level 1e-05 does not reject"),
        (
            rldp.PowerDivergence(0.5),
            "every distribution that a power-divergence test of order 0.5 at level 0.05 does not reject",
        ),
        (
            rldp.PowerDivergence(0, radius=0.25),
            "every distribution within radius 0.25 of the estimate, as a G-test measures it",
        ),
    ],
    ids=repr,
)
def test_a_set_says_which_distributions_it_stands_for(uncertainty, words):
    assert uncertainty.scope == words


class Ball(type(rldp.Nominal()).__mro__[1]):
    """A set of somebody else's."""

    scope = "a ball"

    def size(self, n, cells):
        return np.full(np.shape(n), 0.1)

    def divergence(self, estimate, distribution):
        return 0.0


class Wider(rldp.PowerDivergence):
    """Pearson's set, twice as large as it says."""

    def size(self, n, cells):
        return 2 * super().size(n, cells)


@pytest.mark.parametrize("name", ["privacy", "utility"])
@pytest.mark.parametrize("odd", [Ball(), Wider(1.0)], ids=["of another class", "a subclass"])
def test_a_set_that_engine_file_and_judge_do_not_know_is_refused(name, odd):
    message = (
        rf"^{name} must be one of rldp's own sets, which are a closed family, got a {type(odd).__name__}$"
    )
    with pytest.raises(rldp.InvalidArgumentType, match=message):
        rldp.design(rldp.Sample([[8, 3], [2, 9]]), 1.0, **{name: odd})
    known = rldp.design(rldp.Sample([[8, 3], [2, 9]]), 1.0).protocol.guarantee
    with pytest.raises(rldp.InvalidArgumentType, match=message):
        dataclasses.replace(known, **{name: odd})


@pytest.mark.parametrize("name", NAMED)
def test_a_name_stands_for_its_set(name):
    named = checked_set("privacy", name, alpha=0.01, prior=2.0)
    assert name_of(named) == name
    assert getattr(named, "alpha", 0.01) == 0.01
    assert getattr(named, "prior", 2.0) == 2.0


def test_a_design_takes_names_where_it_takes_sets():
    sample = rldp.Sample([[30, 10], [5, 25]])
    named = rldp.design(sample, 1.0, privacy="pairs", utility="nominal")
    assert named.protocol == rldp.design(sample, 1.0, privacy=rldp.Pairs(), utility=rldp.Nominal()).protocol
    assert named.epsilon == 1.0
    assert "; solver=pairs, gap closed>" in repr(named)
    assert rldp.worst_case_leakage(named.protocol, sample, "pairs")[1] <= 1.0


@pytest.mark.parametrize("name", ["pairs", "all"])
def test_a_name_that_stands_for_privacy_only_is_no_utility(name):
    with pytest.raises(rldp.InvalidArgument, match=r"utility must be a set .*can stand for privacy only"):
        rldp.design(rldp.Sample([[3, 1]]), 1.0, utility=name)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(
        rldp.InvalidArgument, match=f"privacy must be a set or one of {', '.join(NAMED)}, got 'chi'"
    ):
        rldp.design(rldp.Sample([[3, 1]]), 1.0, privacy="chi")
