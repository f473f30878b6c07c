"""Designs for pairs of secrets: each pair's own set, no other's, and the radii that are promised."""

import math
from itertools import combinations, pairwise, permutations

import cvxpy as cp
import numpy as np
import pytest

import rldp
from oracles import (
    PairSets,
    largest_privacy_excess,
    nominal_privacy_excess,
)
from problems import DISTORTIONS, UNSEEN_SECRET
from rldp.sets import Radius
from rldp.theory.radii import asymptotic_radius, pair_level, pair_radii
from strategies import jeffreys_counts

pytestmark = pytest.mark.numerical

UNEQUAL = np.array([[60, 9, 3], [4, 10, 2], [1, 2, 5]])
OWN = {(0, 1): 0.4, (0, 2): 2.5, (1, 2): 9.0}  # far apart, so that a pair with another's set shows
SOLVER_ACCURACY = 1e-5  # of Clarabel, as in the comparison with the paper's programs


def given(radii):
    return rldp.Pairs(radii=[Radius(x, "A1") for x in radii.values()])


def proved_radii(counts, alpha=0.05):
    """Of the definition: A1 or A2 for the rows of each pair at its share of α."""
    secrets, values = counts.shape
    rows, level = counts.sum(axis=1), pair_level(alpha, secrets)
    pairs = list(combinations(range(secrets), 2))
    found = pair_radii([(int(rows[s1]), int(rows[s2])) for s1, s2 in pairs], values, level)
    return {pair: radius.value for pair, radius in zip(pairs, found, strict=True)}


def best_distortion_in_cvxpy(counts, epsilon, d, radii):
    """The smallest expected distortion of a protocol that is private over the pair sets, as one cone program.

    The dual of sup Σ_i R_i·v_i over Σ_i n_i KL(P̂_i‖R_i) ≤ x is the least Σ_i η_i + νx + Σ_i Σ_u N_iu (ν log(ν
    n_i/(η_i − v_iu)) − ν) over ν ≥ 0 and η_i ≥ max v_i.
    """
    secrets, values = counts.shape
    q = [cp.Variable((values, d.shape[1]), nonneg=True) for _ in range(secrets)]
    kept = [cp.sum(table, axis=1) == 1 for table in q]
    for y in range(d.shape[1]):
        for s1, s2 in permutations(range(secrets), 2):
            multiplier = cp.Variable(nonneg=True)
            bound = multiplier * radii[min(s1, s2), max(s1, s2)]
            for s, v in ((s1, q[s1][:, y]), (s2, -math.exp(epsilon) * q[s2][:, y])):
                eta, seen = cp.Variable(), counts[s] > 0
                kept.append(eta >= v)
                bound += eta
                if seen.any():
                    weights, rows = counts[s][seen].astype(float), float(counts[s].sum())
                    terms = cp.rel_entr(multiplier * np.ones(seen.sum()), (eta - v[seen]) / rows)
                    bound += weights @ terms - rows * multiplier
            kept.append(bound <= 0)
    cost = sum(
        cp.sum(cp.multiply(p[:, None] * d, table)) for p, table in zip(counts / counts.sum(), q, strict=True)
    )
    problem = cp.Problem(cp.Minimize(cost), kept)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize(("epsilon", "distortion"), [(0.3, "absolute"), (1.0, "squared"), (2.0, "hamming")])
def test_each_pair_of_secrets_has_the_set_of_its_own_radius(epsilon, distortion):
    designed = rldp.design(
        rldp.Sample(UNEQUAL), epsilon, privacy=given(OWN), utility=rldp.Nominal(), distortion=distortion
    )
    sets = PairSets(UNEQUAL, OWN)
    assert largest_privacy_excess(sets, designed.protocol.matrix, epsilon) <= 0
    d = DISTORTIONS[distortion](3)
    best = best_distortion_in_cvxpy(UNEQUAL, epsilon, d, OWN)
    assert designed.objective == pytest.approx(best, abs=SOLVER_ACCURACY)
    assert designed.lower_bound <= best + SOLVER_ACCURACY


@pytest.mark.parametrize("counts", [UNEQUAL, UNSEEN_SECRET], ids=["unequal", "a secret never seen"])
def test_a_design_is_private_over_the_proved_sets_and_over_the_smaller_ones_of_the_limit(counts):
    designed = rldp.design(rldp.Sample(counts), 0.8, privacy=rldp.Pairs())
    proved, level = proved_radii(counts), pair_level(0.05, len(counts))
    freedom = {pair: int(counts[list(pair)].any(axis=1).sum()) * (counts.shape[1] - 1) for pair in proved}
    for radii in (proved, {pair: asymptotic_radius(free, level) for pair, free in freedom.items()}):
        assert largest_privacy_excess(PairSets(counts, radii), designed.protocol.matrix, 0.8) <= 0
    assert nominal_privacy_excess(counts, designed.protocol.matrix, 0.8) < 0
    assert designed.problem == "RURP"
    assert designed.objective - designed.lower_bound <= 1e-6 * max(1, designed.objective)


def test_a_guarantee_tells_the_radii_and_their_theorems_in_the_order_of_the_pairs():
    few = np.array([[3, 1, 0], [0, 1, 1], [1, 1, 1]])  # where each pair has a radius of its own, by A1
    designed = rldp.design(rldp.Sample(few), 1.0, privacy=rldp.Pairs(0.1))
    radii = designed.protocol.guarantee.privacy.radii
    expected = proved_radii(few, alpha=0.1)
    assert [radius.value for radius in radii] == list(expected.values())
    assert len(set(expected.values())) == 3
    assert {radius.method for radius in radii} <= {"A1", "A2"}
    assert "which miss the truth with probability at most 0.1" in designed.protocol.guarantee.promise


def test_twenty_five_rows_a_secret_and_five_values_give_the_radius_of_the_theory_page():
    counts = np.array([[9, 4, 6, 1, 5], [2, 8, 8, 4, 3], [5, 5, 5, 5, 5]])
    designed = rldp.design(rldp.Sample(counts), 0.5, privacy=rldp.Pairs(), utility=rldp.Nominal())
    for radius in designed.protocol.guarantee.privacy.radii:
        assert radius.value == pytest.approx(12.17, rel=2e-3)
        assert radius.method == "A2"


def test_radii_travel_with_the_file(tmp_path):
    designed = rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=rldp.Pairs())
    designed.protocol.save(tmp_path / "protocol.json")
    loaded = rldp.load(tmp_path / "protocol.json").guarantee.privacy
    assert loaded == designed.protocol.guarantee.privacy
    again = rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=loaded)
    np.testing.assert_array_equal(again.protocol.matrix, designed.protocol.matrix)


@pytest.mark.slow
def test_a_larger_level_or_smaller_radii_never_cost_more():
    sample = rldp.Sample(UNEQUAL)
    costs = [
        rldp.design(sample, 0.7, privacy=rldp.Pairs(alpha), utility=rldp.Nominal())
        for alpha in (1e-6, 0.05, 0.5)
    ]
    nominal = rldp.design(sample, 0.7, privacy=rldp.Nominal(), utility=rldp.Nominal())
    everything = rldp.design(sample, 0.7, privacy=rldp.AllDistributions(), utility=rldp.Nominal())
    ladder = [everything, *costs, nominal]
    for dear, cheap in pairwise(ladder):
        assert cheap.lower_bound <= dear.objective


def test_relabelled_secrets_get_a_relabelled_protocol():
    order = [2, 0, 1]
    one = rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=given(OWN), utility=rldp.Nominal())
    place = {frozenset(pair): x for pair, x in OWN.items()}
    moved = {(a, b): place[frozenset((order[a], order[b]))] for a, b in OWN}
    other = rldp.design(rldp.Sample(UNEQUAL[order]), 1.0, privacy=given(moved), utility=rldp.Nominal())
    assert other.objective == pytest.approx(one.objective, abs=2e-6)


# Windows


@pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")
@pytest.mark.parametrize("radii", [OWN, dict(zip(OWN, reversed(OWN.values()), strict=True))])
def test_windows_are_wide_enough_for_every_pair(radii):
    found = rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=given(radii), utility=rldp.Nominal(), windows=True)
    exact = rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=given(radii), utility=rldp.Nominal())
    assert found.status.route == "windows"
    assert found.status.reason == "gap closed among windows"
    assert largest_privacy_excess(PairSets(UNEQUAL, radii), found.protocol.matrix, 1.0) <= 0
    assert found.objective >= exact.lower_bound
    assert found.lower_bound <= exact.objective


# Batches


@pytest.mark.slow
def test_a_batch_gives_what_each_sample_gives_alone():
    counts = jeffreys_counts(np.random.default_rng(3), 3, (2, 3), 2000)
    batch = rldp.design_batch(counts, 0.8, privacy=rldp.Pairs(), utility=rldp.Nominal())
    for table, objective, lower_bound in zip(counts, batch.objective, batch.lower_bound, strict=True):
        alone = rldp.design(rldp.Sample(table), 0.8, privacy=rldp.Pairs(), utility=rldp.Nominal())
        assert alone.lower_bound <= objective
        assert lower_bound <= alone.objective
        assert objective == pytest.approx(alone.objective, abs=2e-6 * max(1, alone.objective))


# Edges


def test_one_secret_needs_no_radius():
    designed = rldp.design(rldp.Sample([[4, 5, 6]]), 0.5, privacy=rldp.Pairs())
    assert designed.protocol.guarantee.privacy.radii == ()
    assert designed.objective == 0.0


def test_with_one_value_a_secret_never_seen_is_bound_too():
    """Its conditional is known without data: all of it is on the one value."""
    sample = rldp.Sample([[7], [0], [3]])
    d = np.array([[1.0, 2.0]])
    designed = rldp.design(sample, 0.5, privacy=rldp.Pairs(), distortion=d, outputs=["a", "b"])
    matrix = designed.protocol.matrix[:, 0]
    ratio = (matrix.max(axis=0)[matrix.max(axis=0) > 0] / matrix.min(axis=0)[matrix.max(axis=0) > 0]).max()
    assert ratio <= math.exp(0.5)
    assert [radius.value for radius in designed.protocol.guarantee.privacy.radii] == [0.0] * 3


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, math.inf])
def test_the_smallest_and_the_largest_epsilon_are_kept(epsilon):
    sample = rldp.Sample(UNEQUAL)
    designed = rldp.design(sample, epsilon, privacy=rldp.Pairs())
    constant = rldp.design(sample, epsilon, privacy=rldp.ChiSquare())
    assert designed.objective == pytest.approx(constant.objective, abs=2e-6)
    if epsilon < math.inf:
        assert largest_privacy_excess(PairSets(UNEQUAL, OWN), designed.protocol.matrix, epsilon) <= 1e-15


@pytest.mark.parametrize(
    ("radii", "sentence"),
    [
        ([Radius(1.0, "A1")], "radii must be one for each of the 3 pairs of 3 secrets, got 1"),
        ([1.0, 2.0, 3.0], "radii must hold rldp.sets.Radius, got float"),
        ([Radius(x, "A1") for x in (1.0, -2.0, 3.0)], "radius must be at least 0"),
        ([Radius(x, "A1") for x in (1.0, math.nan, 3.0)], "radius must be a number, got NaN"),
    ],
)
def test_radii_that_cannot_be_meant_are_refused(radii, sentence):
    with pytest.raises(rldp.RldpError, match=sentence):
        rldp.design(rldp.Sample(UNEQUAL), 1.0, privacy=rldp.Pairs(radii=radii))


@pytest.mark.parametrize("promise", [rldp.Pairs(), rldp.AllDistributions()])
def test_promises_for_privacy_are_refused_for_utility(promise):
    with pytest.raises(rldp.InvalidArgument, match="which can stand for privacy only"):
        rldp.design(rldp.Sample(UNEQUAL), 1.0, utility=promise)
