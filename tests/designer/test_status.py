"""What a design says about itself: why it stopped, after how many steps, how far from the best it can be."""

import time

import numpy as np
import pytest

import rldp
from rldp.designer import batches, routes
from rldp.designer.request import SolveRequest
from rldp.designer.status import Route
from strategies import a_problem, jeffreys_counts

SAMPLE = rldp.Sample([[30, 10, 5], [5, 25, 25]])


def large_sample(secrets, values, seed=0):
    return rldp.Sample(jeffreys_counts(np.random.default_rng(seed), 1, (secrets, values), 20_000)[0])


def test_every_reason_has_a_sentence_of_advice():
    for reason in rldp.Reason:
        assert reason == str(reason) == reason.value
        assert reason.advice.endswith(".")
        assert "\n" not in reason.advice


def test_a_closed_gap_is_optimal():
    found = rldp.design(SAMPLE, 0.5)
    assert found.status.reason is rldp.Reason.GAP_CLOSED
    assert found.is_optimal
    assert found.gap == (found.objective - found.lower_bound) / max(1, found.objective) <= 1e-6


@pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")
def test_windows_are_not_called_optimal():
    found = rldp.design(SAMPLE, 0.5, windows=True)
    assert found.status.reason is rldp.Reason.CLOSED_AMONG_WINDOWS
    assert not found.is_optimal
    assert found.gap > 1e-3


def test_a_batch_says_it_of_every_design():
    batch = rldp.design_batch(np.stack([SAMPLE.counts] * 3), [0.0, 0.5, np.inf])
    assert all(isinstance(reason, rldp.Reason) for reason in batch.status.reason)
    assert batch.is_optimal.tolist() == [True] * 3
    assert (batch.gap <= 1e-6).all()


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
def test_steps_are_those_of_all_runs_also_where_a_closed_form_wins(monkeypatch):
    """The engine stops after two steps, is tried again with more care, and a single output is better."""
    found = rldp.design(SAMPLE, 0.5, settings=rldp.Settings(most_steps=1))
    assert found.status.route == "single output"
    assert found.status.steps == 2
    assert found.status.reason is rldp.Reason.STEP_LIMIT


def test_steps_of_a_search_count_too():
    """A credible design is searched for with two rough ones; a level next to zero has two neighbours."""
    credible = rldp.design(SAMPLE, 0.5, privacy="credible", utility="nominal")
    radius = credible.protocol.guarantee.privacy.radius
    given = rldp.design(SAMPLE, 0.5, privacy=rldp.Credible(radius=radius), utility="nominal")
    assert given.status.steps < credible.status.steps
    near, *around = (rldp.design(SAMPLE, 0.5, epsilon_known=kappa).status.steps for kappa in (1e-9, 0, 1e-6))
    assert near >= sum(around)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_warning_and_the_reason_agree(scale):
    """A gap that is closed in the units of the values is not warned of, and is called closed."""
    sample = rldp.Sample(SAMPLE.counts, values=[0.0, scale, 3 * scale])
    settings = rldp.Settings(most_steps=5)
    with pytest.warns(rldp.errors.GapWarning, match=r"out of steps"):
        missed = rldp.design(sample, 0.5, gap=1e-12, settings=settings)
    assert not missed.is_optimal
    assert rldp.design(sample, 0.5, gap=2 * missed.gap, settings=settings).is_optimal


def test_a_design_whose_time_is_over_is_private_and_says_so():
    with pytest.warns(rldp.errors.GapWarning, match=r"instead of 1e-06: The time limit was reached"):
        found = rldp.design(SAMPLE, 0.5, max_seconds=1e-9)
    assert found.status.reason is rldp.Reason.TIME_LIMIT
    assert not found.is_optimal
    assert 0 <= found.lower_bound <= rldp.design(SAMPLE, 0.5).objective <= found.objective
    assert rldp.verify(found).ok


@pytest.mark.filterwarnings("ignore::rldp.errors.RldpWarning")
def test_a_credible_design_without_time_to_search_proves_the_first_set():
    ways = [
        rldp.design(SAMPLE, 0.5, privacy="credible", utility="nominal", max_seconds=100, settings=settings)
        for settings in (None, rldp.Settings(seconds_a_number=0.1))
    ]
    assert ways[1].status.steps < ways[0].status.steps
    assert ways[0].protocol.guarantee.privacy.radius < ways[1].protocol.guarantee.privacy.radius
    assert rldp.verify(ways[1]).ok


def test_enough_time_changes_nothing():
    plain, limited = rldp.design(SAMPLE, 0.5), rldp.design(SAMPLE, 0.5, max_seconds=600)
    assert np.array_equal(plain.protocol.matrix, limited.protocol.matrix)


@pytest.mark.filterwarnings("ignore::rldp.errors.RldpWarning")
def test_the_best_iterate_by_then_is_kept(monkeypatch):
    """With a clock that runs a second each time it is looked at, some steps fit, and the result is proved."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    found = rldp.design(SAMPLE, 0.5, max_seconds=12)
    monkeypatch.undo()
    assert found.status.reason is rldp.Reason.TIME_LIMIT
    assert 0 < found.status.steps < 8
    assert rldp.verify(found).ok


@pytest.mark.filterwarnings("ignore::rldp.errors.RldpWarning")
def test_a_large_table_is_designed_in_the_time_it_is_given(monkeypatch):
    """By the processor's clock, since others may use it too; without a limit it takes half a minute.

    The judge proves what was found by then.
    """
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    started = time.process_time()
    found = rldp.design(large_sample(10, 50), 1.0, max_seconds=0.5)
    assert time.process_time() - started < 6
    assert found.gap <= 1
    assert found.protocol.matrix.shape == (10, 50, 50)
    verdict = rldp.verify(found)
    assert verdict.ok, verdict.reasons


def test_what_others_wait_for_ends_too(monkeypatch):
    """A batch of many chunks: those that begin when time is over are done at once."""
    monkeypatch.setattr(batches, "problems_at_once", lambda *_: 1)
    problem = a_problem("RURP", count=6)
    late = SolveRequest(1e-6, rldp.Settings(), deadline=time.perf_counter())
    solved = routes.solve_batch(problem, late)
    assert set(solved.reason.tolist()) == {rldp.Reason.TIME_LIMIT}
    assert set(solved.route.tolist()) <= {Route.SINGLE_OUTPUT, Route.UNCONSTRAINED}


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_time_limit_is_a_positive_number(seconds):
    with pytest.raises(rldp.InvalidArgument, match="max_seconds must be"):
        rldp.design(SAMPLE, 0.5, max_seconds=seconds)


def test_settings_are_settings():
    with pytest.raises(rldp.InvalidArgumentType, match=r"^settings must be an rldp.Settings, got dict$"):
        rldp.design(SAMPLE, 0.5, settings={"lag": 0.1})
