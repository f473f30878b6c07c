"""The judge's own draws: they follow the posterior, and no false claim is confirmed."""

import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import exp as mp_exp, mpf, workdps
from scipy.stats import beta

import rldp
from credible import (
    CHANCE,
    PUBLISH,
    SLACK,
    assert_by_chance,
    assert_law,
    count_failures,
    risk_of_publishing,
)
from rldp.judge import posterior as judge
from rldp.judge.posterior import ERROR, binomial_tail, looks, privacy_trial, utility_trial

pytestmark = pytest.mark.numerical

COUNTS = [[9, 3], [4, 8]]
ONE = 2**52
PUBLISHED = (PUBLISH * ONE).astype(int).tolist()
PRIOR = 0.5


def generator(seed):
    return np.random.Generator(np.random.SFC64(seed))


def trial(numerators=PUBLISHED, counts=COUNTS, epsilon=1.0, alpha=0.5, prior=PRIOR, seed=1):
    return privacy_trial(numerators, counts, epsilon, alpha=alpha, prior=prior, generator=generator(seed))


def share(found):
    return found.failures / found.draws


# --- the tail ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("draws", [1, 7, 40])
def test_the_tail_is_that_of_exact_enumeration(draws, alpha):
    p = Fraction(alpha)
    for failures in range(draws + 1):
        if failures == round(p * draws):
            continue  # balls may not tell whether there are fewer than expected
        exact = sum(comb(draws, j) * p**j * (1 - p) ** (draws - j) for j in range(failures + 1))
        bound = binomial_tail(draws, failures, alpha)
        if failures < p * draws:
            assert abs(bound - arb(exact.numerator) / exact.denominator) < 1e-12
        else:
            assert bound == 1


def test_terms_left_out_are_bounded(monkeypatch):
    """With a handful of terms the bound is larger, and still holds."""
    with ctx.workprec(128):
        full = binomial_tail(100_000, 4_700, 0.05)
        monkeypatch.setattr(judge, "_MOST_TERMS", 20)
        short = binomial_tail(100_000, 4_700, 0.05)
    assert full < short < 2 * full


# --- draws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("prior", [0.5, 0.02, 1e-3, 30.0])
def test_every_conditional_probability_has_its_beta_law(monkeypatch, prior, together):
    monkeypatch.setattr(judge, "_WORTH_A_CALL", 256 if together else 10**9)
    shapes = np.array([[12, 3, 0], [0, 0, 0]]) + prior
    logs = judge._log_gammas(generator(2), shapes, 30_000)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    drawn = weights / weights.sum(axis=1, keepdims=True)
    for s, u in itertools.product(range(2), range(3)):
        law = beta(shapes[s, u], shapes[s].sum() - shapes[s, u])
        assert_law(drawn[s, u], law.cdf, low=1e-290, high=1 - 1e-9)


@pytest.mark.parametrize("prior", [5e-324, 1e-300, 1e-3, 1e9])
def test_no_draw_is_zero_over_zero(prior):
    found = trial(counts=[[0, 0], [0, 0]], prior=prior, alpha=0.9)
    assert 0 <= found.failures <= found.draws


@pytest.mark.parametrize(
    ("counts", "prior", "epsilon"),
    [
        (COUNTS, 0.5, 0.2),
        (COUNTS, 0.5, 1.0),
        (COUNTS, 3.0, 1.0),
        ([[9, 3], [0, 0]], 0.5, 1.0),
        ([[9, 0], [4, 0]], 0.1, 2.0),
        ([[900, 300], [700, 250]], 0.5, 0.1),
    ],
)
def test_failures_are_as_frequent_as_two_beta_variables_say(counts, prior, epsilon):
    found = trial(counts=counts, prior=prior, epsilon=epsilon, alpha=0.999)
    assert_by_chance(found.failures, found.draws, risk_of_publishing(counts, prior, epsilon))


@pytest.mark.parametrize("prior", [PRIOR, "adaptive"])
def test_judge_and_library_find_the_same_risk(prior):
    """Two programs, two generators: their frequencies differ by no more than chance (Hoeffding)."""
    counts = np.random.default_rng(3).integers(0, 60, (3, 5))
    counts[2] = 0
    sample = rldp.Sample(counts)
    small = rldp.PowerDivergence(1.0, radius=float(rldp.ChiSquare(0.9).size(sample.n, sample.counts.size)))
    protocol = rldp.design(sample, 0.5, privacy=small).protocol
    for epsilon in (0.2, 0.35, 0.5):
        found = trial(protocol.numerators.tolist(), counts.tolist(), epsilon, alpha=0.999, prior=prior)
        m = 50_000
        [ours] = count_failures(protocol.matrix[None], epsilon, counts[None], prior=prior, draws=m, seed=3)
        allowed = sum(math.sqrt(math.log(4 / CHANCE) / (2 * size)) for size in (m, found.draws))
        assert 0 < found.failures < found.draws
        assert abs(share(found) - ours / m) <= allowed


@pytest.mark.parametrize("prior", [PRIOR, "adaptive"])
def test_judge_and_library_find_the_same_excess(prior):
    """The same for the distortion, which the shares of the secrets decide: one is seen once."""
    counts = np.array([[40, 3, 0, 0], [0, 0, 0, 1]])
    matrix = np.tile(np.eye(4)[[0, 0, 3, 3]], (2, 1, 1))
    matrix[1] = np.eye(4)[0]
    protocol, d = rldp.Protocol(matrix), np.subtract.outer(np.arange(4), np.arange(4)) ** 2.0
    ours = rldp.posterior(protocol, rldp.Sample(counts), prior=prior, draws=50_000, seed=4).distortion
    for most in (0.1, 0.3, 0.6):
        options = {"alpha": 0.999, "prior": prior, "generator": generator(5)}
        table = protocol.numerators.tolist()
        found = judge.utility_trial(table, counts.tolist(), d.tolist(), most, **options)
        allowed = sum(math.sqrt(math.log(4 / CHANCE) / (2 * size)) for size in (50_000, found.draws))
        assert abs(share(found) - (ours > most).mean()) <= allowed


# --- verdicts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.0])
def test_a_risk_just_below_alpha_is_confirmed_and_one_at_alpha_is_not(monkeypatch, epsilon):
    monkeypatch.setattr(judge, "_MOST_DRAWS", 1_600_000)
    risk = risk_of_publishing(COUNTS, PRIOR, epsilon)
    below, at, above = (trial(epsilon=epsilon, alpha=risk + x) for x in (0.03, -SLACK, -0.03))
    assert below.confirmed
    assert not at.confirmed
    assert not above.confirmed
    assert above.draws == 100_000  # no point in going on


def test_a_close_case_is_decided_by_more_draws():
    risk = risk_of_publishing(COUNTS, PRIOR, 1.0)
    found = trial(alpha=risk + 0.005)
    assert found.confirmed
    assert found.draws in looks(0.5, 4)[1:]


@pytest.mark.slow
def test_false_claims_are_not_confirmed_even_when_looked_at_again_and_again(monkeypatch):
    """With an error of one in five, claims that are just not true are confirmed no more often."""
    monkeypatch.setattr(judge, "ERROR", 0.2)
    monkeypatch.setattr(judge, "_FIRST", 100)
    monkeypatch.setattr(judge, "_MOST_DRAWS", 10_000)
    risk = risk_of_publishing(COUNTS, PRIOR, 1.0)
    assert len(looks(risk, 4)) == 4
    runs = 400
    confirmed = sum(trial(alpha=risk - SLACK, seed=k).confirmed for k in range(runs))
    assert confirmed <= 0.2 * runs + math.sqrt(runs * math.log(1 / CHANCE) / 2)
    assert confirmed > 0  # the error is used


def test_looks_are_planned_before_any_draw():
    assert looks(0.05, 15) == [100_000, 400_000, 1_600_000, 6_400_000]
    assert looks(1e-5, 15) == [6_000_000]
    assert looks(1e-300, 15) == [10_000_000]
    assert looks(0.05, 500) == [100_000, 400_000]
    assert looks(0.05, 100_000) == [5_000]
    assert looks(0.05, 10**9) == [1_000]


def test_a_hopeless_claim_is_given_up_at_once():
    found = trial(alpha=1e-5)
    assert not found.confirmed
    assert found.failures >= 60
    assert found.draws < 300_000 < looks(1e-5, 4)[0]


def test_without_a_generator_the_draws_are_fresh():
    found = {privacy_trial(PUBLISHED, COUNTS, 1.0, alpha=0.999, prior=PRIOR).failures for _ in range(4)}
    assert len(found) > 1


# --- the safe side ----------------------------------------------------------------------------------


def test_what_is_private_under_every_distribution_needs_no_draw():
    constant = [[[ONE // 4, 3 * ONE // 4, 0]] * 2] * 2
    response = [[[3 * ONE // 4, ONE // 4]] * 2, [[ONE // 4, 3 * ONE // 4]] * 2]
    one_secret = PUBLISHED[:1]
    for numerators, epsilon in ((constant, 0.0), (response, math.log(3) + 1e-15), (PUBLISHED, math.inf)):
        assert trial(numerators, epsilon=epsilon, alpha=1e-9) == judge.Trial(0, 0, 1e-9, True)
    assert trial(one_secret, COUNTS[:1], 0.0).draws == 0
    assert trial(response, epsilon=math.log(3) - 1e-12).failures == 100_000


def test_an_output_that_one_secret_cannot_give_fails_at_every_level():
    telling = [[[ONE, 0]] * 2, [[ONE // 2, ONE // 2]] * 2]
    for epsilon in (0.1, 300.0, 1e4):
        found = trial(telling, epsilon=epsilon)
        assert found.failures == found.draws
        assert not found.confirmed


def test_probabilities_too_small_for_floats_count_as_failures():
    found = trial(counts=[[9, 0], [4, 0]], epsilon=600.0, prior=1e-7, alpha=0.9)
    assert share(found) > 0.99


def test_no_draw_on_the_edge_is_counted_as_private_when_it_is_not(monkeypatch):
    """P(y|s1) as near to e^ε P(y|s2) as numerators go; where it is above, in forty digits, the draw fails."""
    rng = np.random.default_rng(4)
    monkeypatch.setattr(judge, "looks", lambda alpha, cells: [1])
    above = 0
    for _ in range(300):
        epsilon = float(rng.uniform(0.01, 2))
        logs = judge._log_gammas(generator(int(rng.integers(2**60))), rng.uniform(0.5, 9, (2, 3)), 1)
        monkeypatch.setattr(judge, "_log_gammas", lambda *_, logs=logs: logs)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))[..., 0]
        column = rng.integers(ONE // 20, ONE // 3, 3)
        exact = [[Fraction(float(w)) for w in row] for row in weights]
        second = sum(w * int(k) for w, k in zip(exact[1], column, strict=True)) / sum(exact[1])
        edge = round(math.exp(epsilon) * float(second)) + int(rng.integers(-1, 2))
        with workdps(40):
            private = mpf(edge) * second.denominator / second.numerator <= mp_exp(epsilon)
        above += not private
        numerators = [[[edge, 10 * ONE - edge]] * 3, [[int(k), 10 * ONE - int(k)] for k in column]]
        found = privacy_trial(numerators, [[0] * 3] * 2, epsilon, alpha=0.5, prior=1.0)
        assert private or found.failures == 1
    assert 50 < above < 250


# --- utility ----------------------------------------------------------------------------------------


def test_the_law_of_the_distortion_is_tried_likewise():
    """One secret, always output 0: D* is the probability of value 1, a beta variable."""
    numerators, distortion, counts = [[[ONE], [ONE]]], [[0.0], [1.0]], [[7, 3]]
    law = beta(3.5, 7.5)

    def tried(objective, alpha):
        return utility_trial(
            numerators, counts, distortion, objective, alpha=alpha, prior=0.5, generator=generator(5)
        )

    for level in (0.3, 0.5, 0.9):
        found = tried(float(law.ppf(level)), 0.999)
        assert_by_chance(found.failures, found.draws, 1 - level)
    assert tried(float(law.ppf(0.96)), 0.05).confirmed
    assert not tried(float(law.ppf(0.94)), 0.05).confirmed
    assert tried(1.0, 1e-9) == judge.Trial(0, 0, 1e-9, True)


def test_distortion_adds_up_over_secrets():
    numerators, distortion = [[[ONE, 0]], [[0, ONE]]], [[0.0, 1.0]]
    law = beta(3.5, 7.5)
    found = utility_trial(
        numerators,
        [[7], [3]],
        distortion,
        float(law.median()),
        alpha=0.999,
        prior=0.5,
        generator=generator(6),
    )
    assert_by_chance(found.failures, found.draws, 0.5)


def test_a_distortion_on_the_edge_counts_as_exceeded():
    """Every cell costs the same: what is claimed is what is spent, up to rounding."""
    numerators, distortion = [[[ONE // 2, ONE // 2]] * 30], [[0.1, 0.7]] * 30
    cost = (0.1 + 0.7) / 2
    below = cost if cost < (Fraction(0.1) + Fraction(0.7)) / 2 else math.nextafter(cost, 0)
    for claimed, failing in ((below, True), (cost * (1 + 2**-40), False)):
        found = utility_trial(
            numerators, [[3] * 30], distortion, claimed, alpha=0.5, prior=0.5, generator=generator(7)
        )
        assert found.failures == (found.draws if failing else 0)


CONSTANT = [[[ONE, 0], [ONE, 0]]] * 2  # always the first output


def tried_on_constant(costs, objective, *, counts, alpha=0.05, prior=PRIOR):
    """The cost of each value, whatever the secret."""
    options = {"alpha": alpha, "prior": prior, "generator": generator(5)}
    return utility_trial(CONSTANT, counts, [[cost, 0.0] for cost in costs], objective, **options)


@pytest.mark.parametrize("prior", [0.5, 1e-6])
@pytest.mark.parametrize("unit", [1.0, 5e-324])
def test_an_objective_of_nothing_is_exceeded_by_every_value_that_costs(unit, prior):
    """A value that was never seen costs. Its probability is positive, however often it underflows."""
    unseen = [[9, 0], [9, 0]]
    assert not tried_on_constant([0.0, unit], 0.0, counts=unseen, prior=prior).confirmed
    assert tried_on_constant([0.0, 0.0], 0.0, counts=unseen, prior=prior).confirmed


def test_the_unit_of_a_distortion_does_not_matter_even_where_floats_end():
    for objective in (1, 3, 5, 8):
        ordinary, tiny = (
            tried_on_constant([2 * unit, 9 * unit], objective * unit, counts=COUNTS, alpha=0.5)
            for unit in (1.0, 5e-324)
        )
        assert tiny == ordinary


# --- words ------------------------------------------------------------------------------------------


def test_the_evidence_is_said_in_words():
    assert ERROR == 1e-9
    assert (
        judge.Trial(100_000, 4_312, 0.05, True).evidence
        == "4 312 of 100 000 draws; this check is wrong with probability below 1e-9"
    )
    assert (
        judge.Trial(100_000, 6_000, 0.05, False).evidence
        == "6 000 of 100 000 draws fail, where fewer are needed to confirm it"
    )
    assert judge.Trial(0, 0, 0.05, True).evidence == "no distribution at all makes it fail"
