"""The posterior law of ε* and D*, as a user asks for it."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta

import rldp
from credible import PUBLISH, SLACK, assert_law, risk_of_publishing
from rldp.theory.binomial import lower_probability, upper_probability

pytestmark = pytest.mark.numerical

COUNTS = [[9, 3], [4, 8]]
SAMPLE = rldp.Sample(COUNTS)
PROTOCOL = rldp.Protocol(PUBLISH)
VALUE, TYPE = rldp.InvalidArgument, rldp.InvalidArgumentType


# --- the law ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0, 2.5])
def test_the_risk_of_publishing_lies_between_its_bounds(prior, epsilon):
    """Each bound is wrong with probability 1e-6."""
    lower, upper = rldp.posterior(PROTOCOL, SAMPLE, prior=prior, seed=1).risk(epsilon)
    exact = risk_of_publishing(COUNTS, prior, epsilon)
    assert lower - SLACK <= exact <= upper + SLACK
    assert upper - lower < 0.05


def test_the_adaptive_prior_is_the_default_and_the_draws_are_20_000():
    found = rldp.posterior(PROTOCOL, SAMPLE, seed=1)
    same = rldp.posterior(PROTOCOL, SAMPLE, prior="adaptive", draws=20_000, seed=1)
    assert found.draws == 20_000
    np.testing.assert_array_equal(found.leakage, same.leakage)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5, 0.9])
def test_the_level_for_a_risk_has_at_most_that_risk_and_is_no_larger_than_it_need_be(alpha):
    found = rldp.posterior(PROTOCOL, SAMPLE, prior=0.5, seed=2)
    epsilon = found.epsilon(alpha)
    assert found.risk(epsilon)[1] <= alpha
    assert found.risk(epsilon * (1 - 1e-9))[1] > alpha
    assert risk_of_publishing(COUNTS, 0.5, epsilon) <= alpha + SLACK
    assert risk_of_publishing(COUNTS, 0.5, epsilon) >= 0.5 * alpha


def test_an_unseen_secret_is_believed_to_be_what_the_prior_says():
    found = rldp.posterior(PROTOCOL, rldp.Sample([[9, 3], [0, 0]]), prior=0.5, seed=3)
    lower, upper = found.risk(1.0)
    assert lower <= risk_of_publishing([[9, 3], [0, 0]], 0.5, 1.0) <= upper


def test_more_data_make_the_leakage_known():
    matrix = [[[0.6, 0.4], [0.4, 0.6]]] * 2
    counts = np.array([[3, 1], [1, 3]]) * 10**12
    sample, protocol = rldp.Sample(counts), rldp.Protocol(matrix)
    found = rldp.posterior(protocol, sample, seed=4)
    leak = rldp.leakage(protocol, sample.distribution)
    np.testing.assert_allclose(found.leakage, leak, atol=1e-5)
    assert found.risk(leak * 1.001)[1] < 0.001
    assert found.risk(leak * 0.999)[0] > 0.999


def test_rows_of_several_columns_have_no_distance_without_a_guarantee():
    pairs = [(0, "a"), (1, "b")]
    protocol = rldp.Protocol([[[1.0, 0.0], [1.0, 0.0]]] * 2, values=pairs, outputs=pairs)
    found = rldp.posterior(protocol, rldp.Sample([[3, 1], [1, 3]], values=pairs), draws=9, seed=4)
    assert (found.distortion <= 1).all()


def test_a_designed_protocol_has_less_risk_than_its_set_is_made_for():
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]])
    designed = rldp.design(sample, 0.5, privacy=rldp.ChiSquare(0.05))
    assert rldp.posterior(designed.protocol, sample, seed=5).risk(0.5)[1] < 0.05


# --- distortion -------------------------------------------------------------------------------------


def test_distortion_is_that_of_the_guarantee_by_default():
    sample = rldp.Sample(COUNTS)
    d = np.array([[0.0, 3.0], [1.0, 0.5]])
    designed = rldp.design(sample, 0.5, distortion=d).protocol
    found = rldp.posterior(designed, sample, draws=50, seed=6)
    asked = rldp.posterior(designed, sample, draws=50, seed=6, distortion=d)
    other = rldp.posterior(designed, sample, draws=50, seed=6, distortion="hamming")
    np.testing.assert_array_equal(found.distortion, asked.distortion)
    assert (found.distortion != other.distortion).all()
    np.testing.assert_array_equal(found.leakage, other.leakage)


def test_without_a_guarantee_numbers_are_compared_by_squares_and_names_by_equality():
    matrix = np.tile([[1.0], [1.0]], (1, 1, 1))
    law = beta(3.5, 7.5)
    numbers = rldp.posterior(
        rldp.Protocol(matrix, values=[0, 2]), rldp.Sample([[7, 3]], values=[0, 2]), prior=0.5, seed=7
    )
    assert_law(numbers.distortion / 4, law.cdf)
    names = rldp.posterior(
        rldp.Protocol(matrix, values=["no", "yes"], outputs=["no"]),
        rldp.Sample([[7, 3]], values=["no", "yes"]),
        prior=0.5,
        seed=7,
    )
    assert_law(names.distortion, law.cdf)


# --- the conventions of leakage ----------------------------------------------------------------------


def test_what_ignores_everything_has_no_risk_at_all():
    constant = rldp.Protocol(np.tile([0.3, 0.7, 0.0], (2, 2, 1)))
    found = rldp.posterior(constant, SAMPLE, draws=100, seed=8)
    assert found.leakage.tolist() == [0.0] * 100
    assert found.risk(0) == (0.0, 0.0)
    assert found.epsilon(1e-9) == 0.0


def test_what_one_secret_cannot_give_leaks_everything():
    telling = rldp.Protocol([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]])
    found = rldp.posterior(telling, SAMPLE, draws=100, seed=8)
    assert found.leakage.tolist() == [math.inf] * 100
    assert found.risk(1e6) == (float(lower_probability(100, 100, 1e-6)), 1.0)
    assert found.risk(math.inf) == (0.0, 0.0)
    assert found.epsilon(0.5) == math.inf


def test_randomised_response_has_no_risk_above_its_own_level():
    response = rldp.Protocol([[[0.75, 0.25]] * 2, [[0.25, 0.75]] * 2])
    found = rldp.posterior(response, SAMPLE, draws=100, seed=8)
    assert found.risk(math.log(3) + 1e-14) == (0.0, 0.0)
    assert found.risk(math.log(3) - 1e-12)[0] > 0.8
    assert found.epsilon(1e-9) == pytest.approx(math.log(3), abs=1e-13)


def test_one_secret_has_nothing_to_leak():
    found = rldp.posterior(rldp.Protocol(PUBLISH[:1]), rldp.Sample([[3, 4]]), draws=10, seed=8)
    assert found.leakage.tolist() == [0.0] * 10
    assert found.risk(0) == (0.0, 0.0)


def test_draws_beyond_floats_count_against_the_protocol_but_prove_nothing():
    """With a tiny prior, probabilities of values never seen vanish for both secrets."""
    found = rldp.posterior(PROTOCOL, rldp.Sample([[9, 0], [4, 0]]), prior=1e-5, draws=200, seed=9)
    lost = np.isinf(found.leakage)
    assert lost.sum() > 150
    lower, upper = found.risk(500.0)
    assert upper >= float(upper_probability(int(lost.sum()), 200, 1e-6))
    assert lower <= float(lower_probability(200 - int(lost.sum()), 200, 1e-6))


def test_a_risk_on_the_very_edge_is_not_decided_by_rounding():
    """One value: every draw leaks exactly log 3, and neither bound relies on the last digit."""
    response = rldp.Protocol([[[0.75, 0.25]], [[0.25, 0.75]]])
    found = rldp.posterior(response, rldp.Sample([[3], [4]]), draws=1000, seed=10)
    for epsilon in (math.log(3) * (1 - 2**-52), math.log(3) * (1 + 2**-52)):
        assert found.risk(epsilon) == (0.0, 1.0)


# --- draws ------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_draws_and_no_seed_gives_others():
    first, again = (rldp.posterior(PROTOCOL, SAMPLE, draws=500, seed=11) for _ in range(2))
    np.testing.assert_array_equal(first.leakage, again.leakage)
    np.testing.assert_array_equal(first.distortion, again.distortion)
    fresh, fresher = (rldp.posterior(PROTOCOL, SAMPLE, draws=500) for _ in range(2))
    assert fresh.seed != fresher.seed
    assert (fresh.leakage != fresher.leakage).any()
    repeated = rldp.posterior(PROTOCOL, SAMPLE, draws=500, seed=fresh.seed)
    np.testing.assert_array_equal(fresh.leakage, repeated.leakage)


def test_fewer_draws_are_the_first_of_more():
    more = rldp.posterior(PROTOCOL, SAMPLE, draws=5000, seed=12)
    fewer = rldp.posterior(PROTOCOL, SAMPLE, draws=2100, seed=12)
    np.testing.assert_array_equal(fewer.leakage, more.leakage[:2100])
    np.testing.assert_array_equal(fewer.distortion, more.distortion[:2100])


def test_draws_cannot_be_written_to():
    found = rldp.posterior(PROTOCOL, SAMPLE, draws=5, seed=13)
    for array in (found.leakage, found.distortion):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_it_shows_itself_on_one_line():
    found = rldp.posterior(PROTOCOL, SAMPLE, draws=500, seed=13)
    assert repr(found).startswith("Posterior(500 draws, adaptive prior: ε* median ")
    assert "\n" not in repr(found)
    assert len(repr(found)) < 120
    lost = rldp.posterior(PROTOCOL, rldp.Sample([[9, 0], [4, 0]]), prior=1e-5, draws=20, seed=9)
    assert "median inf" in repr(lost)


def test_sizes_of_every_kind_are_drawn():
    for secrets, values, outputs in itertools.product((1, 2, 4), (1, 2, 5), (1, 3)):
        matrix = np.random.default_rng(14).dirichlet(np.ones(outputs), size=(secrets, values))
        counts = np.ones((secrets, values), dtype=int)
        found = rldp.posterior(rldp.Protocol(matrix), rldp.Sample(counts), draws=3, seed=14)
        assert found.leakage.shape == found.distortion.shape == (3,)
        assert (found.leakage >= 0).all()


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"protocol": PUBLISH}, TYPE, r"^protocol must be an rldp\.Protocol, got ndarray$"),
        ({"sample": COUNTS}, TYPE, r"^sample must be an rldp\.Sample, got list$"),
        (
            {"sample": rldp.Sample([[1, 2, 3], [1, 2, 3]])},
            VALUE,
            r"^sample must have the protocol's values, got 3 instead of 2; protocol\.count",
        ),
        (
            {"sample": rldp.Sample(COUNTS, secrets=["f", "m"])},
            VALUE,
            r"^sample must have the protocol's secrets, got another in place 1; protocol\.count",
        ),
        ({"prior": 0}, VALUE, r"^prior must be greater than 0, got 0\.0$"),
        ({"prior": -0.5}, VALUE, r"^prior must be greater than 0, got -0\.5$"),
        ({"prior": math.inf}, VALUE, r"^prior must be finite, got inf$"),
        ({"prior": math.nan}, VALUE, r"^prior must be a number, got NaN$"),
        ({"prior": "1/2"}, VALUE, r"^prior must be 'adaptive' or a positive number, got '1/2'$"),
        ({"prior": None}, TYPE, r"^prior must be a number, got None$"),
        ({"draws": 0}, VALUE, r"^draws must be at least 1, got 0$"),
        ({"draws": 10**9}, VALUE, r"^draws must be at most 100000000, got 1000000000$"),
        ({"draws": 1000.0}, TYPE, r"^draws must be a whole number, got 1000\.0$"),
        ({"draws": True}, TYPE, r"^draws must be a whole number, got True$"),
        ({"seed": -1}, VALUE, r"^seed must lie between 0 and 2\^128 - 1, got -1$"),
        ({"seed": 1.5}, TYPE, r"^seed must be an integer or None, got 1\.5$"),
        ({"distortion": "cubed"}, VALUE, r"^distortion must be 'squared', 'absolute' or 'hamming', "),
    ],
)
def test_bad_input_gets_one_sentence(given, error, message):
    options = {"protocol": PROTOCOL, "sample": SAMPLE, **given}
    with pytest.raises(error, match=message):
        rldp.posterior(options.pop("protocol"), options.pop("sample"), **options)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda found: found.risk(-0.1), VALUE, r"^epsilon must be at least 0, got -0\.1$"),
        (lambda found: found.risk(math.nan), VALUE, r"^epsilon must be a number, got NaN$"),
        (lambda found: found.risk("high"), TYPE, r"^epsilon must be a number, got 'high'$"),
        (lambda found: found.epsilon(0), VALUE, r"^alpha must lie strictly between 0 and 1, got 0\.0$"),
        (lambda found: found.epsilon(1), VALUE, r"^alpha must lie strictly between 0 and 1, got 1\.0$"),
    ],
)
def test_bad_questions_get_one_sentence(ask, error, message):
    found = rldp.posterior(PROTOCOL, SAMPLE, draws=5, seed=15)
    with pytest.raises(error, match=message):
        ask(found)


# --- levels of pairs of secrets ----------------------------------------------------------------------


def test_the_risk_of_levels_is_that_some_pair_exceeds_its_own():
    rng = np.random.default_rng(5)
    protocol = rldp.Protocol(rng.dirichlet(np.full(3, 15.0), size=(3, 2)))
    counts = [[30, 20], [25, 25], [40, 10]]
    levels = np.array([[9.0, 0.4, 0.3], [0.2, 9.0, math.inf], [math.inf, 0.35, 9.0]])
    found = rldp.posterior(protocol, rldp.Sample(counts), prior=0.5, seed=2)
    lower, upper = found.risk(levels)
    drawn = np.stack([rng.dirichlet(np.add(row, 0.5), size=20_000) for row in counts])
    law = np.einsum("smu,suy->msy", drawn, protocol.matrix)
    ratios = np.log(law[:, :, None] / law[:, None]).max(axis=3)
    share = ((ratios > levels) & ~np.eye(3, dtype=bool)).any(axis=(1, 2)).mean()
    assert 0.05 < share < 0.95
    assert lower - 0.02 < share < upper + 0.02
    assert upper - lower < 0.05
    assert found.risk(np.full((3, 3), 0.4)) == found.risk(0.4)
    assert found.risk(np.full((3, 3), math.inf)) == (0.0, 0.0)
    with pytest.raises(VALUE, match=r"shape \(3, 3\), got shape \(2, 2\)"):
        found.risk([[0, 1], [1, 0]])
