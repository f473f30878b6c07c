"""The decision table: every problem goes by the first line that applies, and a design says which."""

import numpy as np
import pytest

import rldp
from rldp.designer.engine import Settings
from rldp.designer.request import SolveRequest
from rldp.designer.routes import attempts, routes
from rldp.designer.status import Route
from strategies import a_problem

SAMPLE = rldp.Sample([[30, 10, 5], [5, 25, 25]])
ROBUST = {"privacy": rldp.ChiSquare(), "utility": rldp.ChiSquare()}
NOMINAL = {"privacy": rldp.Nominal(), "utility": rldp.Nominal()}


def route_of(epsilon=0.5, gap=1e-6, windows=False, sets=ROBUST, **options):
    problem = a_problem(sets, count=1, epsilon=epsilon, **options)
    (route,) = routes(problem, SolveRequest(gap, Settings(), windows=windows))
    return route


@pytest.mark.parametrize(
    ("wanted", "options"),
    [
        (Route.PAIRS, {}),
        (Route.WINDOWS, {"windows": True}),
        (Route.PAIRS, {"windows": True, "sets": NOMINAL}),
        (Route.SINGLE_OUTPUT, {"gap": 1e3}),
        (Route.UNCONSTRAINED, {"shape": (1, 4)}),
        (Route.UNCONSTRAINED, {"epsilon": np.inf}),
        (Route.UNCONSTRAINED, {"epsilon": 50.0}),
        (Route.CONSTANT, {"epsilon": 0.0}),
        (Route.CONSTANT, {"epsilon": 0.0, "windows": True}),
        (Route.NEAR_ZERO, {"epsilon": 0.0, "sets": NOMINAL}),
        (Route.NEAR_ZERO, {"epsilon": 1e-7}),
        (Route.WINDOWS, {"sets": NOMINAL, "shape": (5, 20), "gap": 1e-4}),
        (Route.WINDOWS, {"sets": NOMINAL, "shape": (5, 20), "gap": 1e-6}),
        (Route.PAIRS, {"sets": NOMINAL, "shape": (5, 20), "gap": 1e-8}),
        (Route.PAIRS, {"sets": NOMINAL | {"utility": rldp.ChiSquare()}, "shape": (5, 20), "gap": 1e-6}),
        (Route.PAIRS, {"shape": (5, 20), "gap": 1e-4}),
    ],
)
def test_a_problem_goes_by_the_first_line_that_applies(wanted, options):
    assert route_of(**options) is wanted


def test_problems_of_one_batch_may_go_different_ways():
    counts = np.stack([SAMPLE.counts] * 4)
    batch = rldp.design_batch(counts, [0.0, 1e-7, 0.5, np.inf])
    assert batch.status.route.tolist() == ["constant", "near zero", "pairs", "unconstrained"]
    assert (batch.status.steps > 0).tolist() == [False, True, True, False]
    assert batch.status.reason[[0, 2, 3]].tolist() == ["gap closed"] * 3


def ways(sets, taken, deadline=np.inf, **options):
    request = SolveRequest(1e-6, Settings(), deadline=deadline)
    return list(attempts(a_problem(sets, **options), taken, request))


@pytest.mark.parametrize("sets", [ROBUST, NOMINAL])
@pytest.mark.parametrize("taken", [Route.PAIRS, Route.WINDOWS])
def test_a_single_output_is_tried_whenever_the_engine_leaves_a_gap(sets, taken):
    first, *others = (route for route, _ in ways(sets, taken))
    assert first is taken
    assert Route.SINGLE_OUTPUT in others


def test_a_gap_that_windows_leave_by_design_is_not_taken_for_a_failure():
    assert Route.PAIRS not in [route for route, _ in ways(ROBUST, Route.WINDOWS)]
    (again, whole), (last, request) = ways(NOMINAL, Route.WINDOWS)[-2:]
    assert (again, last) == (Route.WINDOWS, Route.PAIRS)
    assert whole.settings.blends == Settings().careful_blends
    assert request.settings.lag == Settings().careful_lag


def test_when_time_is_up_only_closed_forms_are_tried():
    for taken in (Route.PAIRS, Route.WINDOWS):
        late = [route for route, _ in ways(ROBUST, taken, deadline=-np.inf)]
        assert late == [Route.SINGLE_OUTPUT, Route.UNCONSTRAINED]


def test_a_design_says_how_it_was_found():
    status = rldp.design(SAMPLE, 0.5).status
    assert (status.route, status.reason) == ("pairs", "gap closed")
    assert status.steps > 0
    assert 0 < status.seconds < 60
    assert rldp.design(SAMPLE, np.inf).status.steps == 0


def test_a_design_fits_in_a_line():
    text = repr(rldp.design(SAMPLE, 0.5))
    assert text.startswith("<Design RURP, epsilon=0.5: 2 secrets, 3 values, 3 outputs; distortion ")
    assert text.endswith("; solver=pairs, gap closed>")


def test_the_price_of_windows_is_told():
    with pytest.warns(rldp.PriceWarning, match=r"^windows may be costly in 1 of 1 designs: the distortion"):
        found = rldp.design(rldp.Sample([[20, 9, 3], [4, 30, 11], [9, 2, 25]]), 1.0, windows=True)
    assert found.objective > 2 * found.lower_bound
    assert found.status.reason == "gap closed among windows"


def test_what_a_constant_output_costs_is_known():
    found = rldp.design(SAMPLE, 0.0, utility=rldp.Nominal(), distortion="absolute")
    assert found.constant_objective == pytest.approx((35 * 1 + 30 * 1) / 100)
    assert found.objective == pytest.approx(found.constant_objective)


def test_huge_distortions_at_epsilon_zero_are_no_error():
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], values=[0, 3 * 10**7, 6 * 10**7])
    for epsilon in (0.0, 1e-7):
        found = rldp.design(sample, epsilon)
        assert rldp.verify(found.protocol).ok
        assert found.objective - found.lower_bound <= 1e-5 * found.objective


def test_a_constant_output_may_be_a_mixture():
    sample = rldp.Sample([[16, 12], [10, 14]])
    found = rldp.design(sample, 1e-3, distortion="hamming")
    assert found.constant_objective == pytest.approx(0.5, abs=1e-3)
    assert 0.49 < found.objective <= found.constant_objective
