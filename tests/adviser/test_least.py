"""The smallest ε that does, proved on both sides."""

from dataclasses import dataclass

import numpy as np
import pytest

import rldp
from rldp.adviser import least

SAMPLE = rldp.Sample([[300, 100, 50], [50, 250, 90]])
SETS = {
    "robust": {},
    "nominal": {"privacy": rldp.Nominal(), "utility": rldp.Nominal()},
    "pairs": {"privacy": rldp.Pairs()},
}


@pytest.mark.filterwarnings("ignore::rldp.GapWarning")
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
@pytest.mark.parametrize("wanted", [0.05, 0.2])
def test_the_level_is_the_smallest_up_to_the_tolerance(sets, wanted):
    found = rldp.least_epsilon(SAMPLE, wanted, **sets)
    assert found.objective <= wanted
    assert 0 < found.epsilon - found.too_small <= 1e-3 * found.epsilon
    below = rldp.design(SAMPLE, found.too_small, gap=1e-9, **sets)
    assert below.lower_bound > wanted


def test_the_design_is_one_that_verifies():
    found = rldp.least_epsilon(SAMPLE, 0.2)
    verdict = rldp.verify(found.protocol)
    assert verdict.ok
    assert verdict.epsilon == found.epsilon
    assert isinstance(found, rldp.Design)
    assert found.wanted == 0.2


def test_a_level_is_too_small_only_where_a_bound_says_so():
    """Of three designs the first is proved too bad, the second is not known, the third is good."""

    @dataclass
    class Known:
        lower_bound: float
        objective: float

    designs = [Known(0.3, 0.4), Known(0.1, 0.25), Known(0.1, 0.15)]
    found = least._Bracket(0.2).narrowed([1.0, 2.0, 3.0], designs)
    assert (found.too_small, found.epsilon) == (1.0, 3.0)
    assert found.design is designs[2]


@pytest.mark.slow
def test_a_credible_promise_has_a_smallest_level_too():
    found = rldp.least_epsilon(SAMPLE, 0.1, privacy=rldp.Credible(), tolerance=0.05)
    assert found.objective <= 0.1
    assert found.epsilon < rldp.least_epsilon(SAMPLE, 0.1).epsilon


def test_a_constant_output_needs_no_leakage():
    constant = rldp.design(SAMPLE, 0.0).objective
    found = rldp.least_epsilon(SAMPLE, constant + 1e-9)
    assert found.epsilon == 0
    assert found.too_small is None


def test_a_finer_tolerance_gives_a_smaller_interval():
    widths = []
    for tolerance in (0.1, 1e-5):
        found = rldp.least_epsilon(SAMPLE, 0.2, tolerance=tolerance)
        widths.append(found.epsilon - found.too_small)
        assert widths[-1] <= tolerance * found.epsilon
    assert widths[1] < widths[0]


def test_an_impossible_distortion_is_refused_with_the_smallest_possible_one():
    cut = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]])  # no output is nearer than 1
    with pytest.raises(rldp.InvalidArgument, match=r"distortion must be at least 1\.\d+, the smallest"):
        rldp.least_epsilon(SAMPLE, 0.9, measure=cut, outputs=["a", "b"])


@pytest.mark.filterwarnings("ignore::rldp.GapWarning")
def test_the_smallest_possible_distortion_that_is_named_is_possible():
    cut = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]])
    options = {"measure": cut, "outputs": ["a", "b"], "tolerance": 0.1}
    with pytest.raises(rldp.InvalidArgument, match="the smallest") as refused:
        rldp.least_epsilon(SAMPLE, 0.9, **options)
    named = float(str(refused.value).split("at least ")[1].split(",")[0])
    assert rldp.least_epsilon(SAMPLE, named, **options).objective <= named


def test_a_distortion_that_needs_a_huge_level_is_refused():
    apart = rldp.Sample([[100, 0], [0, 100]])
    with pytest.raises(rldp.InvalidArgument, match=r"distortion must be at least .* for an ε of at most 50"):
        rldp.least_epsilon(apart, 1e-30)


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        (-1.0, {}, "distortion must be at least 0, got -1.0"),
        (float("nan"), {}, "distortion must not be NaN|distortion must be a number"),
        ("much", {}, "distortion must be a number, got 'much'"),
        (0.1, {"tolerance": 0.0}, "tolerance must lie between 1e-09 and 1, got 0.0"),
        (0.1, {"tolerance": 2.0}, "tolerance must lie between 1e-09 and 1, got 2.0"),
    ],
)
def test_bad_arguments(wanted, options, message):
    with pytest.raises(rldp.RldpError, match=message):
        rldp.least_epsilon(SAMPLE, wanted, **options)


def test_a_callback_hears_of_every_round():
    heard = []
    rldp.least_epsilon(SAMPLE, 0.2, callback=lambda *news: heard.append(news))
    assert [number for number, _, _ in heard] == list(range(1, len(heard) + 1))
    assert all(low <= high for _, low, high in heard)
