"""Designs are private, near-optimal and exact, on thousands of random samples and in every corner."""

from __future__ import annotations

import math
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

import rldp
from rldp.designer import batches
from rldp.designer.api import design_levels
from rldp.theory.arrays import ordered_pairs
from rldp.theory.bounds import privacy_excess
from rldp.theory.model import DesignProblem
from strategies import jeffreys, jeffreys_counts, sets_of

pytestmark = pytest.mark.numerical

PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")
SIZES = (15, 75, 750, 15_000, 10**6)
ORDERS = (0.0, 2 / 3, 1.0, 2.0)


def assert_sound(batch, counts, epsilon, problem, order, gap=1e-6):
    """Rows sum exactly, the gap is closed, and ε* over the whole set is at most ε."""
    assert np.array_equal(batch.matrices.sum(axis=3), np.ones(batch.matrices.shape[:3]))
    assert (batch.matrices >= 0).all()
    assert (batch.lower_bound <= batch.objective).all()
    reached = (batch.objective - batch.lower_bound) / np.maximum(1, batch.objective)
    assert reached.max() <= gap, f"sample {reached.argmax()} has a gap of {reached.max():.2g}"
    for sample_counts, matrix in zip(counts, batch.matrices, strict=True):
        sample = rldp.Sample(sample_counts)
        nominal = rldp.leakage(rldp.Protocol(matrix), sample.distribution)
        assert nominal <= epsilon + 1e-12, problem
    if problem.endswith("RP"):
        assert_private_over_set(batch.matrices, counts, epsilon, order)


def assert_private_over_set(matrices, counts, epsilon, order):
    """The closed form, minimised afresh, is at most 0 for every output and pair."""
    from rldp.theory.nested_mean import NestedMean
    from rldp.theory.support import minimising_eta

    problem = DesignProblem.of(
        counts,
        np.full(len(counts), epsilon),
        np.zeros(matrices.shape[2:]),
        rldp.PowerDivergence(order),
        rldp.Nominal(),
    )
    pairs = ordered_pairs(counts.shape[1])
    if len(pairs) == 0:
        return
    masses = problem.estimate.sum(axis=2)
    conditionals = problem.estimate / np.where(masses > 0, masses, 1)[..., None]
    mean = NestedMean(
        order, masses[:, None, pairs], conditionals[:, None, pairs], problem.privacy.budget[:, None]
    )
    x = np.moveaxis(matrices, 3, 1)[:, :, pairs] * np.array([1, -math.exp(epsilon)])[:, None]
    used = x.max(axis=(2, 3, 4)) > 0
    eta = minimising_eta(mean, x)
    p = np.maximum(eta[..., None] - x, 1e-18)
    value = eta.sum(axis=-1) - mean.at(p).value
    assert value[used].max() <= 1e-13 * (1 + np.abs(eta).max())


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_slice_of_random_samples_is_solved(problem, order):
    rng = np.random.default_rng(11)
    for n in SIZES:
        counts = jeffreys_counts(rng, 4, (3, 5), n)
        assert_sound(quiet_batch(counts, 0.5, problem, order), counts, 0.5, problem, order)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("order", ORDERS)
def test_hundreds_of_random_samples_are_solved(problem, order):
    rng = np.random.default_rng(2024)
    for n in SIZES:
        counts = jeffreys_counts(rng, 25, (3, 5), n)
        assert_sound(quiet_batch(counts, 0.5, problem, order), counts, 0.5, problem, order)


def quiet_batch(counts, epsilon, problem, order, **options):
    """A batch in which nothing but unseen secrets may be warned about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.UnseenSecretWarning)
        return rldp.design_batch(counts, epsilon, **sets_of(problem, order), **options)


@pytest.mark.slow
@pytest.mark.parametrize("n", [75, 750, 15_000])
def test_leakage_under_the_truth_keeps_to_epsilon(n):
    rng = np.random.default_rng(n)
    counts, truths = jeffreys(rng, 400, (3, 5), n)
    batch = quiet_batch(counts, 0.5, "NURP", 1.0)
    kept = [
        rldp.leakage(rldp.Protocol(matrix), truth) <= 0.5
        for matrix, truth in zip(batch.matrices, truths, strict=True)
    ]
    assert np.mean(kept) >= 0.99


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("order", [2 / 3, 2.0])
def test_sparse_samples_do_not_disturb_each_other_in_a_batch(problem, order):
    rng = np.random.default_rng(8)
    truths = rng.dirichlet(np.full(12, 0.1), size=80)
    counts = np.stack([rng.multinomial(96, truth) for truth in truths]).reshape(80, 3, 4)
    batch = quiet_batch(counts, 0.43, problem, order, distortion="absolute")
    assert_sound(batch, counts, 0.43, problem, order)


@pytest.mark.parametrize("shape", [(2, 2), (2, 7), (4, 3), (5, 4)])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_other_alphabets_and_levels(shape, epsilon):
    counts = jeffreys_counts(np.random.default_rng(3), 5, shape, 200)
    for problem in PROBLEMS:
        assert_sound(quiet_batch(counts, epsilon, problem, 1.0), counts, epsilon, problem, 1.0)


@pytest.mark.parametrize("outputs", [["a"], [0, 1], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]])
def test_the_output_alphabet_is_free(outputs):
    sample = rldp.Sample([[20, 10, 5], [5, 10, 20]])
    distortion = "hamming" if outputs == ["a"] else "absolute"
    designed = rldp.design(sample, 0.5, outputs=outputs, distortion=distortion)
    assert designed.protocol.outputs == tuple(outputs)
    assert designed.objective - designed.lower_bound <= 1e-6 * max(1, designed.objective)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1e-6, 1e-3, 10.0, 14.0, 20.0, 40.0, 300.0, 900.0])
@pytest.mark.parametrize("privacy", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
def test_every_finite_epsilon_is_kept(epsilon, privacy):
    sample = rldp.Sample([[5, 3, 0], [1, 0, 4], [2, 2, 9]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.GapWarning)
        designed = rldp.design(sample, epsilon, privacy=privacy)
    worst = rldp.worst_case(designed.protocol, sample, privacy)
    assert worst.lower <= epsilon + 1e-12
    assert worst.upper <= epsilon + 1e-6 * max(1.0, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 1e-13, 1e-9, 0.5, math.inf])
@pytest.mark.parametrize("unit", [0.0, 1e-300])
def test_a_distortion_too_small_to_matter_never_costs_privacy(epsilon, unit):
    sample = rldp.Sample([[5, 3, 1], [1, 4, 9]])
    designed = rldp.design(sample, epsilon, distortion=unit * (1 - np.eye(3)))
    assert np.ptp(designed.protocol.matrix, axis=(0, 1)).max() == 0
    assert designed.objective - designed.lower_bound <= 1e-7


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.5, math.inf])
@pytest.mark.parametrize("unit", [2.0**-700, 1e-12, 1e-5, 0.3])
@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
def test_the_unit_of_a_distortion_changes_nothing(epsilon, unit):
    sample = rldp.Sample([[5, 3, 1], [1, 4, 9]])
    distortion = np.array([[0.0, 1, 3], [1, 0, 1.5], [4, 1, 0]])
    plain, scaled = (rldp.design(sample, epsilon, distortion=u * distortion) for u in (1.0, unit))
    assert scaled.objective / unit == pytest.approx(plain.objective, abs=4e-6)
    assert scaled.lower_bound / unit == pytest.approx(plain.lower_bound, abs=4e-6)
    assert rldp.verify(scaled.protocol).ok


@pytest.mark.parametrize("epsilon", [1e-6, 14.0, 16.0, 18.0, 20.0])
@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
def test_where_the_engine_is_stuck_the_closed_form_serves(epsilon):
    sample = rldp.Sample([[10, 23, 1, 20], [1, 9, 10, 1]])
    for outputs in (None, range(7)):
        designed = rldp.design(sample, epsilon, privacy=rldp.PowerDivergence(2 / 3, 1e-9), outputs=outputs)
        assert rldp.verify(designed.protocol).ok
        assert epsilon < 1 or designed.objective <= 63 * math.exp(-epsilon) + 1e-6


def test_infinite_epsilon_gives_the_identity():
    designed = rldp.design(rldp.Sample([[5, 3], [1, 4]]), math.inf)
    assert np.array_equal(designed.protocol.matrix, np.broadcast_to(np.eye(2), (2, 2, 2)))
    assert designed.objective == designed.lower_bound == 0


def test_nominal_privacy_at_epsilon_zero_holds_in_exact_arithmetic():
    counts = np.array([[7, 2, 0, 1], [3, 3, 3, 8], [0, 0, 0, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        designed = rldp.design(rldp.Sample(counts), 0.0, privacy=rldp.Nominal(), utility=rldp.Nominal())
    exact = [
        [
            sum(int(n) * Fraction(float(q)) for n, q in zip(row, column, strict=True)) / int(row.sum())
            for column in table.T
        ]
        for row, table in zip(counts[:2], designed.protocol.matrix[:2], strict=True)
    ]
    assert exact[0] == exact[1]
    constant = min((counts.sum(axis=0) * (np.arange(4) - y) ** 2).sum() / counts.sum() for y in range(4))
    assert designed.objective < 0.9 * constant


def test_epsilon_zero_over_a_set_ignores_secret_and_value():
    designed = rldp.design(rldp.Sample([[5, 3, 1], [1, 4, 9]]), 0.0)
    assert np.ptp(designed.protocol.matrix, axis=(0, 1)).max() == 0
    assert designed.certificate.multipliers is None
    assert designed.objective - designed.lower_bound <= 1e-6


@pytest.mark.parametrize(
    "counts",
    [[[3, 2, 1]], [[4], [6]], [[1, 0], [0, 0]], [[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[10**9, 7], [3, 10**9]]],
    ids=["one secret", "one value", "one draw", "two unseen secrets", "a billion draws"],
)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_degenerate_samples_have_answers(counts, problem):
    array = np.array([counts])
    assert_sound(quiet_batch(array, 0.5, problem, 1.0), array, 0.5, problem, 1.0)


def test_an_unseen_secret_is_protected_by_robust_privacy():
    sample = rldp.Sample([[30, 20, 10], [0, 0, 0], [10, 20, 30]])
    matrix = rldp.design(sample, 0.5).protocol.matrix
    used = matrix.max(axis=(0, 1)) > 0
    for s in (0, 2):
        lowest, highest = matrix[1].min(axis=0)[used], (matrix[s] * sample.counts[s][:, None]).sum(axis=0)
        assert (highest[used] / sample.counts[s].sum() <= math.exp(0.5) * lowest).all()


def test_an_unseen_secret_without_robustness_is_warned_about():
    sample = rldp.Sample([[30, 20, 10], [0, 0, 0], [10, 20, 30]])
    with pytest.warns(rldp.UnseenSecretWarning, match="never seen"):
        rldp.design(sample, 0.5, privacy=rldp.Nominal())


def test_an_unreachable_gap_is_reported_and_privacy_kept():
    sample = rldp.Sample([[12, 5, 3], [3, 9, 12]])
    with pytest.warns(rldp.GapWarning, match="proved optimal only to a gap of"):
        designed = rldp.design(sample, 0.5, gap=1e-13)
    assert rldp.worst_case_leakage(designed.protocol, sample, rldp.ChiSquare())[0] <= 0.5
    assert designed.lower_bound <= designed.objective


def test_a_batch_equals_its_designs_one_by_one():
    counts = jeffreys_counts(np.random.default_rng(5), 6, (3, 4), 120)
    batch = rldp.design_batch(counts, 0.7)
    for k in range(6):
        single = rldp.design(rldp.Sample(counts[k]), 0.7)
        assert abs(batch.objective[k] - single.objective) <= 2e-6 * max(1, single.objective)


def test_each_sample_of_a_batch_may_have_its_own_epsilon():
    counts = np.repeat([[[12, 5, 3], [3, 9, 12]]], 6, axis=0)
    epsilons = np.array([0.0, 0.1, 0.5, 2.0, 20.0, math.inf])
    batch = rldp.design_batch(counts, epsilons)
    assert (np.diff(batch.objective) <= 2e-6).all()
    for matrix, epsilon in zip(batch.matrices, epsilons, strict=True):
        found = rldp.leakage(rldp.Protocol(matrix), counts[0] / counts[0].sum())
        assert found <= epsilon + 1e-12


def test_large_batches_keep_their_order():
    counts = jeffreys_counts(np.random.default_rng(8), 600, (2, 2), 50)
    seen = []
    batch = quiet_batch(counts, 0.5, "NUNP", 1.0, callback=seen.append)
    finished = [p.finished for p in seen]
    assert len(finished) > 1
    assert finished == sorted(finished)
    assert finished[-1] == 600
    few = quiet_batch(counts[::100], 0.5, "NUNP", 1.0)
    assert np.allclose(batch.objective[::100], few.objective, atol=2e-6)


def test_the_certificate_proves_the_claims():
    sample = rldp.Sample([[12, 5, 0], [3, 9, 12]])
    designed = rldp.design(sample, 0.5)
    problem = DesignProblem.of(
        sample.counts[None],
        np.array([0.5]),
        (np.arange(3)[:, None] - np.arange(3)) ** 2.0,
        rldp.ChiSquare(),
        rldp.ChiSquare(),
    )
    excess, _ = privacy_excess(problem, designed.protocol.matrix[None], designed.certificate.eta[None])
    used = designed.protocol.matrix.max(axis=(0, 1)) > 0
    assert excess[0, used].max() < 0


def test_progress_is_reported():
    seen = []
    rldp.design(rldp.Sample([[12, 5, 3], [3, 9, 12]]), 0.5, callback=seen.append)
    assert [p.iteration for p in seen] == list(range(len(seen)))
    assert seen[-1].finished == seen[-1].problems == 1
    assert seen[-1].worst_gap <= 1e-6


def test_designs_at_several_levels_are_those_of_each_alone():
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]])
    levels = [0.0, 0.3, 1.0, math.inf]
    for epsilon, found in zip(levels, design_levels(sample, levels), strict=True):
        alone = rldp.design(sample, epsilon)
        assert found.protocol.guarantee.epsilon == epsilon
        assert found.objective == pytest.approx(alone.objective, abs=3e-6)
        assert found.status.route == alone.status.route
        assert rldp.verify(found.protocol).ok


def test_an_interrupted_batch_ends_at_the_next_steps(monkeypatch):
    """The chunks of other threads do not go on to their end."""
    steps = []

    def chunk(part, route, request):
        if part.counts[0, 0, 0] == 1:
            raise KeyboardInterrupt
        for _ in range(1000):
            time.sleep(0.01)
            steps.append(1)
            request.callback(None)
        raise AssertionError("nobody stopped it")

    monkeypatch.setattr(batches, "_solve_chunk", chunk)
    monkeypatch.setattr(batches, "problems_at_once", lambda *_: 1)
    with pytest.raises(KeyboardInterrupt):
        rldp.design_batch([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], 0.5)
    assert len(steps) < 1000
