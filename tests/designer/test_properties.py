"""What must hold for every sample: the laws that relate one design to another."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rldp
from strategies import EPSILONS, ORDERS, samples, sets_of

pytestmark = pytest.mark.numerical

PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")


def objective(sample, epsilon, **options):
    return designed(sample, epsilon, **options).objective


def designed(sample, epsilon, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.UnseenSecretWarning)
        return rldp.design(sample, epsilon, **options)


def assert_close(one, other):
    assert abs(one - other) <= 3e-6 * max(1, one, other)


@given(samples(), st.sampled_from(EPSILONS), st.sampled_from(ORDERS))
def test_radius_zero_is_nominal(sample, epsilon, order):
    point = rldp.PowerDivergence(order, radius=0.0)
    assert_close(
        objective(sample, epsilon, privacy=point, utility=point),
        objective(sample, epsilon, privacy=rldp.Nominal(), utility=rldp.Nominal()),
    )


@given(samples(), st.sampled_from(EPSILONS), st.sampled_from(ORDERS), st.sampled_from(PROBLEMS))
def test_a_larger_set_never_helps(sample, epsilon, order, problem):
    small, large = rldp.PowerDivergence(order, alpha=0.5), rldp.PowerDivergence(order, alpha=0.01)
    nominal = rldp.Nominal()
    costs = [
        objective(
            sample,
            epsilon,
            utility=s if problem[0] == "R" else nominal,
            privacy=s if problem[2] == "R" else nominal,
        )
        for s in (small, large)
    ]
    assert costs[0] <= costs[1] + 2e-6 * max(1, costs[1])


@given(samples(), st.sampled_from(PROBLEMS), st.floats(0.05, 1.5), st.floats(0.05, 1.5))
def test_a_smaller_epsilon_never_helps(sample, problem, one, other):
    low, high = sorted((one, other))
    cheap = objective(sample, high, **sets_of(problem))
    dear = objective(sample, low, **sets_of(problem))
    assert cheap <= dear + 2e-6 * max(1, dear)


@given(samples(), st.sampled_from(PROBLEMS))
def test_epsilon_to_infinity_gives_the_identity(sample, problem):
    found = designed(sample, 25.0, **sets_of(problem))
    assert found.objective <= 1e-6
    assert np.abs(found.protocol.matrix - np.eye(len(sample.values))).max() <= 1e-6


@given(samples(), st.sampled_from(EPSILONS), st.sampled_from(PROBLEMS), st.randoms(use_true_random=False))
def test_relabelling_secrets_relabels_the_protocol(sample, epsilon, problem, random):
    order = list(range(len(sample.secrets)))
    random.shuffle(order)
    moved = rldp.Sample(sample.counts[order], [sample.secrets[i] for i in order], sample.values)
    original, relabelled = (designed(s, epsilon, **sets_of(problem)) for s in (sample, moved))
    assert relabelled.protocol.secrets == tuple(original.protocol.secrets[i] for i in order)
    assert_close(original.objective, relabelled.objective)
    back = rldp.Protocol(relabelled.protocol.matrix[np.argsort(order)], sample.secrets, sample.values)
    assert_close(
        rldp.distortion(back, sample.distribution),
        rldp.distortion(relabelled.protocol, moved.distribution),
    )


@given(samples(), st.sampled_from(EPSILONS), st.sampled_from(ORDERS))
def test_post_processing_never_raises_leakage(sample, epsilon, order):
    protocol = designed(sample, epsilon, **sets_of("NURP", order)).protocol
    merged = protocol.matrix.copy()
    merged[:, :, 0] += merged[:, :, -1]
    merged[:, :, -1] = 0
    after = rldp.Protocol(merged)
    assert rldp.leakage(after, sample.distribution) <= rldp.leakage(protocol, sample.distribution) + 1e-12


@given(samples(secrets=(2, 2), values=(2, 3)), st.sampled_from(EPSILONS))
def test_the_sample_counts_only_through_its_proportions_without_robustness(sample, epsilon):
    tripled = rldp.Sample(3 * sample.counts)
    nominal = sets_of("NUNP")
    assert_close(objective(sample, epsilon, **nominal), objective(tripled, epsilon, **nominal))


@given(samples(), st.sampled_from(EPSILONS), st.floats(0.01, 1e4))
def test_distortion_may_be_measured_in_any_unit(sample, epsilon, unit):
    d = np.abs(np.subtract.outer(np.arange(len(sample.values)), np.arange(len(sample.values)))) * 1.0
    plain, scaled = (objective(sample, epsilon, distortion=k * d) for k in (1, unit))
    assert abs(scaled / unit - plain) <= 3e-6 * max(1, plain, 1 / unit)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_secrets_that_do_not_matter_cost_nothing_without_robustness(problem):
    sample = rldp.Sample([[10, 20, 30], [10, 20, 30]])
    cost = objective(sample, 0.1, **sets_of(problem))
    assert cost <= 1e-6 if problem.endswith("NP") else cost > 1e-3
