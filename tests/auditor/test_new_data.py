"""A protocol on new data: ε*, D*, drift, and the worst distribution beside the observed one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import rldp
from rldp.auditor.new_data import homogeneity
from rldp.sets import Radius

pytestmark = pytest.mark.numerical

COUNTS = np.array([[520, 310, 170], [140, 380, 480]])
SETS = [rldp.ChiSquare(), rldp.CressieRead(), rldp.GTest(), rldp.PowerDivergence(2.0, radius=0.02)]
each_set = pytest.mark.parametrize("uncertainty", SETS, ids=["χ²", "Cressie-Read", "G", "λ = 2"])


def designed(counts=COUNTS, epsilon=0.5, **options):
    return rldp.design(rldp.Sample(counts), epsilon, **options).protocol


def draws(n, seed, counts=COUNTS):
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, counts.ravel() / counts.sum()).reshape(counts.shape)


# --- other promises --------------------------------------------------------------------------------


def test_membership_for_pairs_is_that_of_the_pair_that_comes_closest_to_its_radius():
    counts = np.array([[50, 30, 20], [5, 4, 6], [10, 60, 90]])
    radii = [Radius(x, "A1") for x in (20.0, 12.0, 6.0)]
    protocol = designed(counts, privacy=rldp.Pairs(radii=radii))
    new = np.array([[40, 30, 30], [30, 30, 40], [12, 58, 80]])
    spent = [float(a @ np.log(a / a.sum() / (b / b.sum()))) for a, b in zip(counts, new, strict=True)]
    sums = [spent[0] + spent[1], spent[0] + spent[2], spent[1] + spent[2]]
    worst = max(range(3), key=lambda i: sums[i] / radii[i].value)
    found = rldp.audit(protocol, rldp.Sample(new)).privacy
    assert found.divergence == pytest.approx(sums[worst], rel=1e-12)
    assert found.radius == radii[worst].value
    assert found.inside
    far = rldp.audit(protocol, rldp.Sample(new[[1, 0, 2]])).privacy
    assert not far.inside


def test_pairs_that_lie_inside_leak_no_more_than_promised():
    protocol = designed(privacy=rldp.Pairs())
    for seed in range(3):
        found = rldp.audit(protocol, rldp.Sample(draws(1500, seed)))
        assert (found.sound, found.privacy.inside, found.private) == (True, True, True)


def test_a_cell_missing_from_the_new_data_lies_outside_and_a_secret_missing_does_not():
    counts = np.array([[50, 30, 20], [5, 4, 6], [10, 60, 90]])
    protocol = designed(counts, privacy=rldp.Pairs(radii=[Radius(9.0, "A1")] * 3))
    missing_cell, missing_secret = counts.copy(), counts.copy()
    missing_cell[0, 2], missing_secret[1] = 0, 0
    found = rldp.audit(protocol, rldp.Sample(missing_cell)).privacy
    assert (found.divergence, found.inside) == (math.inf, False)
    assert rldp.audit(protocol, rldp.Sample(missing_secret)).privacy.inside


def test_every_distribution_is_inside_all_distributions():
    protocol = designed(privacy=rldp.AllDistributions())
    found = rldp.audit(protocol, rldp.Sample([[0, 0, 9], [9, 0, 0]]))
    assert found.privacy == rldp.Membership(0.0, math.inf, True)
    assert found.private
    assert found.sound


def test_a_credible_promise_is_compared_with_the_set_that_is_proved_beside_it():
    plain = rldp.PowerDivergence(1.0, radius=0.01)
    protocol = designed(privacy=plain, utility=plain)
    credible = replace(protocol.guarantee, privacy=rldp.Credible(radius=0.01))
    promised = rldp.Protocol(protocol.matrix, guarantee=credible)
    new = rldp.Sample(draws(400, 1))
    found, expected = rldp.audit(promised, new), rldp.audit(protocol, new)
    assert found.privacy == expected.privacy
    assert (found.worst.lower, found.worst.upper) == (expected.worst.lower, expected.worst.upper)


# --- what is measured ------------------------------------------------------------------------------


@each_set
def test_the_numbers_are_those_of_the_measures(uncertainty):
    protocol, new = designed(privacy=uncertainty, utility=uncertainty), rldp.Sample(draws(400, 1))
    found = rldp.audit(protocol, new)
    promise = protocol.guarantee
    assert found.leakage == rldp.leakage(protocol, new.distribution)
    assert found.distortion == rldp.distortion(protocol, new.distribution, promise.distortion)
    assert (found.epsilon, found.objective) == (promise.epsilon, promise.objective)
    for place in (found.privacy, found.utility):
        ratio = COUNTS / COUNTS.sum() / new.distribution
        order = uncertainty.lambda_
        terms = ratio**order - 1 if order > 0 else np.log(ratio)
        assert place.divergence == pytest.approx(np.sum(COUNTS / COUNTS.sum() * terms), rel=1e-12)
        assert place.radius == float(uncertainty.size(COUNTS.sum(), COUNTS.size))
        assert place.inside == (place.divergence <= place.radius)


def test_the_distortion_may_be_another_one():
    protocol, new = designed(), rldp.Sample(draws(400, 1))
    found = rldp.audit(protocol, new, distortion="absolute")
    assert found.distortion == rldp.distortion(protocol, new.distribution, "absolute")
    assert (found.objective, found.useful) == (None, None)  # nothing was promised of it


@each_set
def test_the_worst_distribution_stands_beside_the_observed_one(uncertainty):
    protocol = designed(privacy=uncertainty)
    found = rldp.audit(protocol, rldp.Sample(draws(400, 1)))
    worst = rldp.worst_case(protocol, rldp.Sample(COUNTS), uncertainty)
    assert (found.worst.lower, found.worst.upper) == (worst.lower, worst.upper)
    np.testing.assert_array_equal(found.worst.distribution, worst.distribution)
    assert found.design == rldp.Sample(COUNTS)
    assert found.worst.upper <= 0.5 + 1e-6


# --- promises and drift ----------------------------------------------------------------------------


@each_set
@pytest.mark.parametrize("privacy_only", [True, False])
def test_the_sample_of_the_design_keeps_every_promise(uncertainty, privacy_only):
    utility = rldp.Nominal() if privacy_only else uncertainty
    found = rldp.audit(designed(privacy=uncertainty, utility=utility), rldp.Sample(COUNTS))
    assert found.privacy.inside
    assert found.utility.inside
    assert (found.private, found.useful, found.drifted, found.p_value) == (True, True, False, 1.0)
    assert found.sentences[0].startswith("No drift: the new data lie in the sets")


@each_set
def test_inside_the_sets_the_promises_hold(uncertainty):
    protocol = designed(privacy=uncertainty, utility=uncertainty)
    inside = 0
    for seed in range(4):
        found = rldp.audit(protocol, rldp.Sample(draws(20_000, seed)))
        if found.privacy.inside:
            inside += 1
            assert found.private
            assert found.useful
            assert not found.drifted
    assert inside >= 2


@pytest.mark.slow
def test_a_small_sample_outside_by_chance_is_no_drift():
    """The level is 0.01: six alarms or more in twenty samples come with probability 3.3e-8."""
    protocol = designed()
    outside = drifted = 0
    for seed in range(20):
        found = rldp.audit(protocol, rldp.Sample(draws(30, seed)))
        outside += not found.privacy.inside
        drifted += found.drifted
    assert outside >= 15
    assert drifted <= 5


@pytest.mark.parametrize("n", [60, 3000])
def test_drift_is_found(n):
    other = np.array([[170, 310, 520], [480, 380, 140]])
    found = rldp.audit(designed(), rldp.Sample(draws(n, 2, other)))
    assert found.drifted
    assert not found.privacy.inside
    assert found.private is False  # the roles of the secrets are exchanged
    assert found.sentences[0].startswith(
        "Drift: the new data lie outside the sets for privacy and utility, and"
    )
    assert "Privacy: ε* is more than the promised ε on the new data." in found.sentences


def test_a_difference_that_the_sets_cover_is_no_drift():
    wide = rldp.PowerDivergence(1.0, radius=0.2)
    new = rldp.Sample(COUNTS[:, ::-1] * 40 + COUNTS * 160)
    found = rldp.audit(designed(privacy=wide, utility=wide), new)
    assert found.p_value < 1e-9
    assert not found.drifted
    assert found.private
    assert found.sentences[1] == "They differ from the data of the design, but the promises cover that."
    assert "below 1e-9" in found.sentences[0]


def test_drift_from_one_set_alone_is_named():
    narrow, wide = rldp.ChiSquare(), rldp.PowerDivergence(1.0, radius=5.0)
    new = rldp.Sample(COUNTS[:, ::-1] * 10)
    found = rldp.audit(designed(privacy=wide, utility=narrow), new)
    assert (found.privacy.inside, found.utility.inside, found.drifted) == (True, False, True)
    assert "outside the set for utility, and" in found.sentences[0]


def test_a_promise_for_the_estimate_alone_is_left_by_every_other_sample():
    protocol = designed(privacy=rldp.Nominal(), utility=rldp.Nominal())
    same = rldp.audit(protocol, rldp.Sample(COUNTS * 3))
    assert (same.privacy.inside, same.private, same.useful) == (True, True, True)
    near = rldp.audit(protocol, rldp.Sample(draws(1000, 3)))
    assert (near.privacy.inside, near.privacy.radius, near.drifted) == (False, 0.0, False)


def test_the_level_decides_what_is_chance():
    protocol, new = designed(), rldp.Sample(draws(30, 0))
    found = rldp.audit(protocol, new, alpha=0.999)
    assert found.p_value < 0.999
    assert found.drifted
    assert not rldp.audit(protocol, new).drifted


# --- little data, unseen things, infinities --------------------------------------------------------


@pytest.mark.slow
def test_one_row_gives_an_answer():
    for cell in range(6):
        counts = np.zeros(6, dtype=int)
        counts[cell] = 1
        found = rldp.audit(designed(), rldp.Sample(counts.reshape(2, 3)))
        assert found.leakage == 0.0  # one secret cannot be told from another
        assert found.privacy.divergence == math.inf
        assert (found.privacy.inside, found.drifted) == (False, False)
        assert found.sentences[-1] == "1 secret does not occur in the new data; ε* says nothing about it."


def test_a_cell_that_only_the_new_data_show_is_no_trouble():
    counts = COUNTS.copy()
    counts[0, 2] = 0
    found = rldp.audit(designed(counts), rldp.Sample(COUNTS))
    assert math.isfinite(found.privacy.divergence)
    assert found.drifted


def test_an_infinite_leakage_is_told():
    matrix = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    found = rldp.audit(rldp.Protocol(matrix), rldp.Sample([[5, 0], [5, 5]]))
    assert found.leakage == math.inf


@pytest.mark.parametrize("epsilon", [0.0, math.inf])
def test_the_extremes_of_epsilon(epsilon):
    found = rldp.audit(designed(epsilon=epsilon), rldp.Sample(draws(500, 4)))
    assert found.private
    assert found.epsilon == epsilon
    assert math.isfinite(found.leakage)


def test_one_secret_and_one_value():
    found = rldp.audit(designed([[40, 60]], epsilon=1.0), rldp.Sample([[5, 7]]))
    assert (found.leakage, found.private, found.drifted) == (0.0, True, False)
    found = rldp.audit(designed([[40]], epsilon=1.0), rldp.Sample([[3]]))
    assert (found.privacy.inside, found.p_value) == (True, 1.0)


def test_without_a_guarantee_the_audit_is_partial_and_says_so():
    protocol = rldp.Protocol(designed().matrix)
    found = rldp.audit(protocol, rldp.Sample(COUNTS))
    assert found.leakage == rldp.leakage(protocol, COUNTS / COUNTS.sum())
    promised = (found.epsilon, found.objective, found.privacy, found.utility, found.p_value, found.worst)
    assert promised == (None,) * 6
    assert (found.distortion, found.private, found.useful, found.drifted) == (None,) * 4
    assert found.sentences[0].startswith("The protocol carries no guarantee: ")
    assert found.sentences[-1] == "D* is not known: name a distortion."
    assert rldp.audit(protocol, rldp.Sample(COUNTS), distortion="squared").distortion > 0


# --- homogeneity -----------------------------------------------------------------------------------


def test_large_tables_have_the_p_value_of_the_chi_square_test():
    first, second = draws(900, 5).ravel(), draws(700, 6).ravel()
    expected = chi2_contingency([first, second], correction=False).pvalue
    assert homogeneity(first, second) == pytest.approx(expected, rel=1e-9)


def test_small_tables_have_the_p_value_of_the_permutation_test():
    """Two against two: of six divisions of the draws, the two extreme ones are as far apart."""
    assert homogeneity(np.array([2, 0]), np.array([0, 2])) == pytest.approx(1 / 3, abs=0.04)
    assert homogeneity(np.array([20, 0, 1]), np.array([0, 20, 0])) == pytest.approx(1 / 2000)


@pytest.mark.parametrize(("m", "n"), [(1000, 8), (40, 40), (2000, 3000)])
def test_the_p_value_is_uniform_or_larger_if_nothing_has_changed(m, n):
    """At each level, no more rejections than the level allows."""
    found = np.array([homogeneity(draws(m, 2 * seed), draws(n, 2 * seed + 1)) for seed in range(300)])
    for level in (0.01, 0.1, 0.5):
        assert (found <= level).sum() <= 300 * level + 4 * math.sqrt(300 * level * (1 - level))
    assert (found <= 0.5).sum() >= 75


def test_a_census_is_compared_without_shuffling():
    assert homogeneity(np.array([10**12, 1]), np.array([10**12, 1])) == 1.0


# --- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (
            rldp.Sample(COUNTS, secrets=["a", "b"]),
            "sample must have the protocol's secrets, got another in place 1",
        ),
        (
            rldp.Sample(COUNTS, values=[0, 1, 3]),
            "sample must have the protocol's values, got another in place 3; protocol.count(data)",
        ),
        (
            rldp.Sample(COUNTS[:, :2]),
            "sample must have the protocol's values, got 2 instead of 3; protocol.count(data)",
        ),
        (
            rldp.Sample(np.ones((3, 3), dtype=int)),
            "sample must have the protocol's secrets, got 3 instead of 2",
        ),
        (COUNTS, "sample must be an rldp.Sample, got ndarray"),
    ],
)
def test_a_sample_with_other_labels_is_refused(sample, message):
    with pytest.raises(rldp.RldpError) as raised:
        rldp.audit(designed(), sample)
    assert str(raised.value).startswith(message)


def test_other_mistakes_are_told_in_one_sentence():
    with pytest.raises(rldp.InvalidArgumentType, match=r"protocol must be an rldp\.Protocol, got str"):
        rldp.audit("protocol.json", rldp.Sample(COUNTS))
    with pytest.raises(rldp.InvalidArgument, match=r"alpha must lie strictly between 0 and 1, got 0\.0"):
        rldp.audit(designed(), rldp.Sample(COUNTS), alpha=0)
    with pytest.raises(rldp.InvalidArgument, match="distortion must be 'squared'"):
        rldp.audit(designed(), rldp.Sample(COUNTS), distortion="cubed")


def test_a_protocol_is_sound_only_if_the_upper_bound_on_its_leakage_is_small_enough():
    found = rldp.audit(designed(), rldp.Sample(COUNTS))
    assert found.sound
    for upper, sound in ((0.5, True), (0.500001, False)):
        worst = replace(found.worst, lower=0.499999, upper=upper)
        assert replace(found, worst=worst).sound is sound


def test_new_data_that_leak_more_than_was_promised_are_not_private():
    found = rldp.audit(designed(), rldp.Sample(COUNTS))
    for leakage, private in ((0.0, True), (0.5, True), (0.5 + 1e-9, False), (0.7, False), (math.inf, False)):
        assert replace(found, leakage=leakage).private is private
    for distortion, useful in ((1.0, True), (1.0 + 1e-9, False), (1.7, False)):
        assert replace(found, objective=1.0, distortion=distortion).useful is useful


def test_an_audit_prints_its_sentences():
    sample = rldp.Sample([[30, 10], [5, 25]])
    found = rldp.audit(rldp.design(sample, 1.0).protocol, sample)
    assert str(found).splitlines() == ["New data, 70 rows:", *(f"  - {each}" for each in found.sentences)]


def test_every_pair_of_secrets_is_held_to_its_own_level():
    """The pair with the large level leaks most, and keeps its level; a stricter one breaks its own."""
    sample = rldp.Sample([[300, 100, 20], [150, 150, 120], [30, 100, 280]])
    levels = [[0, 0.2, 2.0], [0.2, 0, 2.0], [2.0, 2.0, 0]]
    protocol = rldp.design(sample, levels, privacy="nominal", utility="nominal").protocol
    kept = rldp.audit(protocol, sample)
    assert kept.private
    assert kept.leakage > 1.0
    assert kept.excess == pytest.approx(0.0, abs=1e-5)
    other = rldp.audit(protocol, rldp.Sample([[300, 100, 20], [30, 100, 280], [30, 100, 280]]))
    assert not other.private
    assert other.leakage <= 2.0
    assert other.excess > 0.5
    with pytest.raises(rldp.InvalidArgument, match="epsilon must be given for a protocol that has a level"):
        rldp.confirm(protocol, sample)
