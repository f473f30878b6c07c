"""The rivals of the benchmarks solve the problem that we solve, and are judged by what they return."""

import json
import re

import numpy as np
import pytest

import charts
import growth
import rldp
from child import Outcome, run
from contenders import CONTENDERS, OURS
from growth import Line
from instances import PROBLEMS, Answer, Instance
from judged import judged, made_private, proved_bound, proves_private
from page import read_section
from problems import UNSEEN_SECRET
from rivals import CASES, drawn_from

pytestmark = pytest.mark.numerical

SAMPLES = {
    "1000 draws": np.array([[300, 100, 50], [50, 250, 250]]),
    "90 draws, a zero": np.array([[30, 0, 5], [5, 25, 25]]),
}
ACCURACY = {
    "rldp": 1e-6,
    "literal": 1e-3,  # it squares small probabilities
    "tuned": 1e-5,
    "two scalars": 1e-5,
    "Clarabel": 1e-5,
    "HiGHS cuts": 1e-6,
    "SCS": 3e-2,
    "SCS 1e-6": 1e-4,
}
each_contender = pytest.mark.parametrize("name", CONTENDERS)
each_problem = pytest.mark.parametrize("problem", PROBLEMS)
each_sample = pytest.mark.parametrize("counts", SAMPLES.values(), ids=SAMPLES.keys())


def best(instance):
    return rldp.design(rldp.Sample(instance.counts), instance.epsilon, **instance.sets)


def assert_finds_our_optimum(name, instance):
    answer, designed = CONTENDERS[name].design(instance), best(instance)
    assert answer.matrix.shape == designed.protocol.matrix.shape
    assert answer.objective == pytest.approx(designed.objective, abs=ACCURACY[name])


@each_contender
@each_problem
@each_sample
def test_every_rival_finds_our_optimum(name, problem, counts):
    assert_finds_our_optimum(name, Instance(problem, counts))


@each_contender
@pytest.mark.parametrize("problem", ["NURP", "RURP"])
def test_every_rival_finds_our_optimum_with_a_secret_never_seen(name, problem):
    assert_finds_our_optimum(name, Instance(problem, UNSEEN_SECRET, epsilon=1.0))


@each_problem
@each_sample
def test_cutting_planes_prove_a_bound_from_below(problem, counts):
    instance = Instance(problem, counts)
    answer, designed = CONTENDERS["HiGHS cuts"].design(instance), best(instance)
    assert answer.bound <= designed.objective
    assert answer.bound == pytest.approx(answer.objective, abs=1e-7)
    assert designed.lower_bound <= answer.objective + 1e-6


@each_problem
@each_sample
def test_our_own_answer_is_judged_private_and_near_the_bound(problem, counts):
    instance = Instance(problem, counts)
    judgement = judged(instance, CONTENDERS[OURS.name].design(instance), proved_bound(instance))
    assert judgement.leak <= 0
    assert 0 <= judgement.gap <= instance.gap


@each_problem
def test_publishing_the_value_is_judged_to_leak_and_to_cost_what_privacy_costs(problem):
    instance = Instance(problem, SAMPLES["1000 draws"])
    everything = np.broadcast_to(np.eye(3), (2, 3, 3))
    judgement = judged(instance, Answer(everything, 0.0), proved_bound(instance))
    assert judgement.leak > 0.5
    assert judgement.gap > 0.01


def test_an_answer_is_made_private_with_no_more_uniform_output_than_it_takes():
    instance = Instance("RURP", SAMPLES["1000 draws"])
    everything = np.broadcast_to(np.eye(3), (2, 3, 3))
    private = made_private(instance, everything)
    assert proves_private(instance, private)
    assert not proves_private(instance, everything + (private - everything) * (1 - 1e-3))


def test_a_child_reports_what_the_rival_answered_and_what_it_took():
    instance = Instance("RURP", SAMPLES["1000 draws"])
    (outcome,) = run("Clarabel", [instance], limit=60)
    assert outcome.answer.objective == CONTENDERS["Clarabel"].design(instance).objective
    assert 0 < outcome.answer.solver_seconds < outcome.seconds < 60
    assert outcome.memory >= 0
    assert not outcome.failure


def test_a_rival_that_exceeds_the_limit_is_shown_as_such():
    instances = [Instance("RURP", SAMPLES["1000 draws"])] * 2
    outcomes = run("HiGHS cuts", instances, limit=1e-3)
    assert [outcome.failure for outcome in outcomes] == ["over 0.001 s"] * 2


def test_exponents_are_those_of_the_upper_half():
    sizes = [1, 2, 3, 4, 6, 8]
    outcomes = [Outcome(None, 7.0 if size < 4 else 0.3 * size**2.5) for size in sizes]
    line = Line(sizes, outcomes)
    assert line.exponent(line.values("seconds")) == 2.5
    assert np.isnan(Line(sizes[:2], outcomes[:2]).exponent([1.0, 2.0]))


def test_figures_show_what_the_tables_of_the_page_say():
    tables = """who: rldp, SCS

| | a table of something else |
**RURP 3×5, n = 75**, 5 samples, gap asked of rldp 1e-06

| | time | ÷ rldp | in the solver | objective claimed | leak | proved gap |
|---|---|---|---|---|---|---|
| rldp | 14.8 ms | 1× |  | 2.46199 | none | 3e-07 (7e-07) |
| SCS | 1.5 s (1 of 5 over 80 s) | 8.29× | 121 ms | 2.462171 | ∞ | 3e-03 |
| HiGHS cuts | over 80 s | | | | | |
"""
    found = drawn_from(tables)
    assert list(found) == ["RURP 3×5, n = 75"]
    rows = found["RURP 3×5, n = 75"]
    assert rows["rldp"] == (0.0148, 0.0, 3e-7)
    assert rows["SCS"] == (1.5, np.inf, 3e-3)
    assert np.isnan(rows["HiGHS cuts"]).all()
    measured = drawn_from(read_section("rivals"))
    assert [len(rows) for rows in measured.values()] == [len(case.contenders) for case in CASES]


@pytest.mark.parametrize(("kind", "unit"), [("seconds", "s"), ("memory", "MB")])
def test_the_record_of_growth_is_that_of_its_page(kind, unit):
    record = json.loads(growth.RECORD.read_text(encoding="utf-8"))["sweeps"]
    page = read_section("growth")
    for sweep in growth.SWEEPS:
        for contender in growth.CONTENDERS:
            line = record[sweep.what][contender.name]
            assert len(line["sizes"]) == len(line[kind])
            told = rf"([\d.,]+) {unit} at {line['sizes'][-1]:,}"
            amounts = [float(found.replace(",", "")) for found in re.findall(told, page)]
            assert min(abs(amount / line[kind][-1] - 1) for amount in amounts) < 0.06


def test_charts_show_those_who_failed_and_those_who_leak_without_bound():
    rows = {"one": {"rldp": 0.02, "SCS": float("nan")}, "two": {"rldp": 0.1, "HiGHS cuts": 3.0}}
    points = {"rldp": [(-1e-9, 1e-7)], "SCS": [(float("inf"), 1e-3), (0.2, 1e-2)]}
    late = charts.times(rows, limit=60.0).axes[0].collections
    (unanswered,) = [marks.get_offsets() for marks in late if np.any(marks.get_offsets()[:, 0] == 60.0)]
    assert np.abs(unanswered - [[60.0, 0.0]]).max() < 0.5  # in the first row, perhaps a little aside
    shown = np.concatenate([marks.get_offsets() for marks in charts.quality(points).axes[0].collections])
    assert len(shown) == 3
    assert np.isfinite(shown).all()
