"""The frontier: what can be promised at each ε."""

import numpy as np
import pytest

import rldp
from rldp.adviser import frontier as module

SAMPLE = rldp.Sample([[300, 100, 50], [50, 250, 90]], secrets=["ill", "well"])
LEVELS = [0.2, 0.5, 1.0, 2.0]


@pytest.fixture(scope="module")
def found():
    return rldp.frontier(SAMPLE, LEVELS, privacy=["pairs", "chi2", "credible", "nominal"])


def test_every_promise_has_a_point_at_every_level(found):
    assert found.promises == ("pairs", "chi2", "credible", "nominal")
    assert found.epsilons == tuple(LEVELS)
    assert len(found.points) == 16


@pytest.mark.parametrize("promise", ["pairs", "chi2", "credible", "nominal"])
def test_more_leakage_never_costs_more(found, promise):
    points = found.of(promise)
    promised = [point.promised for point in points]
    assert promised == sorted(promised, reverse=True)
    for point in points:
        assert 0 <= point.lower_bound <= point.promised
        assert 0 <= point.estimate <= point.promised


@pytest.mark.parametrize("promise", ["chi2", "nominal"])
def test_a_point_is_what_a_single_design_promises(found, promise):
    privacy = {"chi2": rldp.ChiSquare(), "nominal": rldp.Nominal()}[promise]
    for point in found.of(promise):
        single = rldp.design(SAMPLE, point.epsilon, privacy=privacy)
        assert point.promised == pytest.approx(single.objective, abs=3e-6)
        assert rldp.distortion(point.design.protocol, SAMPLE.distribution) == pytest.approx(point.estimate)


@pytest.mark.slow
def test_the_protocols_prove_what_their_points_say(found):
    for point in found.points:
        verdict = rldp.verify(point.design.protocol)
        assert verdict.ok
        assert verdict.epsilon <= point.epsilon


def test_a_point_takes_the_protocol_of_a_smaller_level_where_that_is_better():
    good, bad = (rldp.design(SAMPLE, epsilon) for epsilon in (1.0, 0.5))
    first, second = module._points("chi2", [0.5, 1.0], [good, bad], fixed=True)
    assert second.design is good
    assert second.promised == good.objective
    assert first.lower_bound == max(good.lower_bound, min(bad.lower_bound, good.objective))


def test_levels_are_sorted_and_taken_once():
    found = rldp.frontier(SAMPLE, [1.0, 0.5, 1.0], privacy="nominal")
    assert found.epsilons == (0.5, 1.0)


def test_no_privacy_at_all_is_a_level_too():
    found = rldp.frontier(SAMPLE, [0.0, np.inf], privacy=["chi2"])
    assert found.points[1].promised == 0
    assert found.points[0].promised == pytest.approx(found.points[0].design.constant_objective, rel=1e-4)


def test_own_sets_have_own_names():
    sets = {"strict": rldp.ChiSquare(0.001), "loose": rldp.ChiSquare(0.2)}
    found = rldp.frontier(SAMPLE, [0.5], privacy=sets)
    assert found.promises == ("strict", "loose")
    assert found.points[0].promised > found.points[1].promised


def test_the_table_is_tidy(found):
    table = found.table()
    assert list(table) == ["promise", "epsilon", "promised", "estimate", "lower_bound"]
    assert {len(column) for column in table.values()} == {16}
    pytest.importorskip("pandas").DataFrame(table)


def test_a_callback_hears_of_every_promise():
    heard = []
    rldp.frontier(SAMPLE, [1.0], privacy=["chi2", "nominal"], callback=lambda *news: heard.append(news))
    assert heard == [(0, 2, "chi2"), (1, 2, "nominal"), (2, 2, "")]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_frontier_can_be_drawn(found, tmp_path, suffix):
    path = tmp_path / f"frontier.{suffix}"
    found.plot(path)
    assert path.stat().st_size > 1000


def test_a_frontier_of_zeros_can_be_drawn(tmp_path):
    path = tmp_path / "zeros.svg"
    rldp.frontier(SAMPLE, [0.0, np.inf], privacy="nominal", outputs=[0]).plot(path)
    assert path.read_text(encoding="utf-8").count("<path") > 2


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([], "epsilons must hold at least one level, got none"),
        ([1.0, -0.5], "epsilons must be at least 0, got -0.5"),
        ("1.0", "epsilons must be a list of numbers, got str"),
        (1.0, "epsilons must be a list of numbers, got float"),
        ([None], "epsilons must be a number, got None"),
    ],
)
def test_levels_that_cannot_be_used(levels, message):
    with pytest.raises(rldp.RldpError, match=message):
        rldp.frontier(SAMPLE, levels)


@pytest.mark.parametrize(
    ("privacy", "message"),
    [
        ([], "privacy must name at least one set, got none"),
        (["chi3"], "privacy must be a set or one of all, pairs, chi2, cr, g, credible, nominal, got 'chi3'"),
        (["chi2", "chi2"], "privacy must name distinct sets, got chi2, chi2"),
        ([3], "privacy must be a set such as"),
        ({"mine": "chi3"}, "privacy must be a set or one of"),
    ],
)
def test_promises_that_there_are_not(privacy, message):
    with pytest.raises(rldp.RldpError, match=message):
        rldp.frontier(SAMPLE, [1.0], privacy=privacy)


def test_the_old_name_of_privacy_works_and_warns():
    new = rldp.frontier(SAMPLE, [LEVELS[0]], privacy={"own": "chi2"})
    with pytest.warns(DeprecationWarning, match=r"promises= is deprecated .*; use privacy=") as heard:
        old = rldp.frontier(SAMPLE, [LEVELS[0]], promises={"own": "chi2"})
    assert old.table() == new.table()
    assert heard[0].filename == __file__


@pytest.mark.parametrize("backend", ["pyarrow", "pandas", "polars"])
def test_the_table_is_a_frame_of_the_library_that_is_asked_for(found, backend):
    frame = found.to_frame(backend)
    assert type(frame).__module__.split(".")[0] == ("pyarrow" if backend == "pyarrow" else backend)
    assert [
        list(frame[name].to_pylist() if backend == "pyarrow" else frame[name]) for name in found.table()
    ] == [*found.table().values()]


def test_a_frame_of_something_else_is_refused(found):
    with pytest.raises(
        rldp.InvalidArgument, match="backend must be one of pyarrow, pandas, polars, got 'spark'"
    ):
        found.to_frame("spark")


def test_what_is_no_sample_or_no_utility():
    with pytest.raises(rldp.InvalidArgumentType, match=r"sample must be an rldp\.Sample, got list"):
        rldp.frontier([[1, 2]], [1.0])
    with pytest.raises(rldp.InvalidArgument, match="can stand for privacy only"):
        rldp.frontier(SAMPLE, [1.0], utility=rldp.Pairs())


def test_an_unknown_promise_has_no_points(found):
    with pytest.raises(rldp.InvalidArgument, match="promise must be among pairs, chi2, credible, nominal"):
        found.of("all")
