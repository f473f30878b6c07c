"""Protocols side by side, held against numbers computed by hand."""

import math

import numpy as np
import pytest

import rldp
from rldp.adviser import baselines

SAMPLE = rldp.Sample([[30, 10], [20, 40]], secrets=["ill", "well"])
P = np.array([[0.3, 0.1], [0.2, 0.4]])
NOMINAL = {"privacy": "nominal", "utility": rldp.Nominal(), "draws": 2000}


@pytest.fixture(scope="module")
def found():
    return rldp.compare(SAMPLE, math.log(3), **NOMINAL)


def test_the_rows_are_ours_and_the_simple_ones(found):
    ours = ["nominal", "without reading the secret", "all distributions", "OptimPreproc's constraint"]
    assert [row.name for row in found.rows] == [*ours, "as it is", "constant", "GRR", "SRR", "independent"]
    assert [row.kind for row in found.rows] == ["design"] * 4 + ["simple"] * 5


def test_the_column_as_it_is_leaks_what_it_leaks(found):
    row = found["as it is"]
    assert row.estimate == 0
    assert row.known_leakage == 0
    law = rldp.posterior(row.protocol, found.sample, draws=20_000, seed=0)
    assert row.leakage_median == pytest.approx(np.median(law.leakage), rel=0.05)


def test_a_design_that_does_not_read_the_secret_stands_beside_the_first(found):
    row = found["without reading the secret"]
    assert not row.protocol.reads_secret
    assert row.known_leakage == 0
    assert row.promised >= found["nominal"].promised - 1e-6
    assert type(row.proved) is type(found["nominal"].proved)


def test_the_constraint_of_optimized_pre_processing_is_kept_under_the_estimate_and_no_further(found):
    """By hand: at E = 3 the table keeps it as it is, 3/4 ≤ 3 · 1/3 and 2/3 ≤ 3 · 1/4.

    At E = 2, moving a share q of the ill to the second value, 3/4 − q ≤ 2 · 1/3 and 2/3 ≤ 2 (1/4 + q) ask for
    q = 1/12: 0.4/12 of all rows.
    """
    row = found["OptimPreproc's constraint"]
    assert row.estimate == pytest.approx(0, abs=1e-6)
    tighter = rldp.compare(SAMPLE, math.log(2), privacy="pairs", utility="nominal", draws=2000)
    row = tighter["OptimPreproc's constraint"]
    assert row.estimate == pytest.approx(0.4 / 12, abs=1e-6)
    released = np.einsum("su,suy->sy", P, row.protocol.matrix)
    conditional = released / released.sum(axis=1, keepdims=True)
    ratios = conditional[:, None] / conditional[None]
    assert np.abs(ratios - 1).max() <= 2 - 1 + 1e-12
    assert row.proved == rldp.Nominal()
    assert row.risk[0] > 0.3


def test_it_is_the_nominal_design_and_costs_no_second_one(found):
    assert found["OptimPreproc's constraint"].protocol is found["nominal"].protocol
    bounded = rldp.compare(SAMPLE, 1.0, epsilon_known=0.5, **NOMINAL)
    assert bounded["OptimPreproc's constraint"].known_leakage > 0.5 >= bounded["nominal"].known_leakage


@pytest.mark.parametrize("sample", [SAMPLE.noisy(5.0), rldp.Sample([[3, 4, 5]])], ids=["noisy", "one secret"])
def test_where_it_means_nothing_it_is_left_out(sample):
    rows = rldp.compare(sample, 1.0, privacy="credible", utility="nominal", draws=2000).rows
    assert "OptimPreproc's constraint" not in {row.name for row in rows}


def test_randomised_response_by_hand(found):
    """E = 3, two values: the value is kept with probability 3/4, and one row in four is off by 1."""
    row = found["GRR"]
    assert row.protocol.matrix == pytest.approx(
        np.broadcast_to([[0.75, 0.25], [0.25, 0.75]], (2, 2, 2)), abs=1e-9
    )
    assert row.estimate == pytest.approx(0.25, abs=1e-9)
    assert row.promised == pytest.approx(0.25, abs=1e-9)


def test_secret_randomised_response_by_hand(found):
    """κ⁻¹ = 3 + 1/3 + 2 = 16/3: the reported value is right with 3κ + κ = ¾, wrong with κ/3 + κ = ¼."""
    assert found["SRR"].protocol.matrix == pytest.approx(
        np.broadcast_to([[0.75, 0.25], [0.25, 0.75]], (2, 2, 2)), abs=1e-9
    )
    assert found["SRR"].estimate == pytest.approx(0.25, abs=1e-9)


def test_secret_randomised_response_of_three_secrets_by_hand():
    """κ⁻¹ = 3 + 1/3 + 4 = 22/3: right with (3 + 2)·3/22 = 15/22."""
    sample = rldp.Sample([[30, 10], [20, 40], [50, 50]])
    row = rldp.compare(sample, math.log(3), **NOMINAL)["SRR"]
    assert row.protocol.matrix[..., 0] == pytest.approx(np.broadcast_to([15 / 22, 7 / 22], (3, 2)), abs=1e-9)
    assert row.estimate == pytest.approx(7 / 22, abs=1e-9)


def test_the_best_constant_by_hand(found):
    """P(u = 0) = P(u = 1) = ½: either output is off by 1 in half of the rows."""
    assert found["constant"].estimate == pytest.approx(0.5, abs=1e-12)
    assert (found["constant"].protocol.matrix == found["constant"].protocol.matrix[0, 0]).all()


def test_the_optimum_over_all_distributions_is_no_worse_than_any_that_needs_no_sample(found):
    best = found["all distributions"].promised
    for name in ("constant", "GRR", "SRR", "independent"):
        assert best <= found[name].promised + 1e-6


def test_a_design_is_no_worse_than_what_is_private_for_more(found):
    assert found["nominal"].promised <= found["all distributions"].promised + 1e-6


def test_independent_reports_are_read_in_the_best_way():
    """A report of the secret tells something about the value, so that it may be worth a share of ε."""
    sample = rldp.Sample([[400, 0], [0, 400]])
    both = rldp.compare(sample, 1.0, **NOMINAL)
    assert both["independent"].estimate <= both["GRR"].estimate + 1e-9
    assert both["independent"].estimate <= both["constant"].estimate + 1e-9


def test_what_is_private_for_every_distribution_is_proved_so(found):
    for name in ("constant", "GRR", "SRR", "independent", "all distributions"):
        assert found[name].proved == rldp.AllDistributions()
        assert found[name].risk == (0.0, 0.0)
    assert found["nominal"].proved == rldp.Nominal()


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3, 10.0, 40.0, math.inf])
@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (1, 3)])
def test_simple_mechanisms_are_private_at_their_level_after_rounding(epsilon, shape):
    sample = rldp.Sample(np.arange(1, 1 + shape[0] * shape[1]).reshape(shape))
    d = np.square(np.subtract.outer(np.arange(shape[1]), np.arange(shape[1])))
    made = baselines.baselines(sample, epsilon, d, sample.values, rldp.ChiSquare())
    assert tuple(made) == baselines.SIMPLE
    for name, protocol in made.items():
        assert name == "as it is" or baselines.is_private_anyway(protocol, epsilon)


def test_a_report_becomes_the_nearest_output():
    sample = rldp.Sample([[30, 10, 5], [20, 40, 9]], values=[0, 10, 20])
    row = rldp.compare(sample, 50.0, outputs=[1, 19], **NOMINAL)["GRR"]
    assert row.protocol.outputs == (1, 19)
    assert row.protocol.matrix[0] == pytest.approx(np.array([[1, 0], [1, 0], [0, 1]]), abs=1e-6)


def test_the_best_reading_is_that_of_every_reading():
    matrix = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2))
    d = np.array([[0.0, 2.0, 5.0], [4.0, 1.0, 0.0]])
    best = baselines.relabelled(matrix, P, d)
    cost = (P[..., None] * best * d).sum()
    readings = np.stack(np.meshgrid(*[range(3)] * 3), axis=-1).reshape(-1, 3)
    every = [(P[..., None] * (matrix @ np.eye(3)[list(reading)]) * d).sum() for reading in readings]
    assert cost == pytest.approx(min(every))


def test_own_mechanisms_stand_beside():
    """One that is private for none of the sets, one for every distribution."""
    leaky = rldp.Protocol([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]], ["ill", "well"])
    coin = rldp.Protocol(np.full((2, 2, 2), 0.5), ["ill", "well"])
    rows = rldp.compare(SAMPLE, 1.0, protocols={"leaky": leaky, "coin": coin}, **NOMINAL)
    assert rows["leaky"].kind == "given"
    assert rows["leaky"].proved is None
    assert rows["leaky"].proved_for is None
    assert rows["leaky"].risk[0] > 0.99
    assert rows["leaky"].leakage_median == math.inf
    assert rows["coin"].proved == rldp.AllDistributions()
    assert rows["coin"].estimate == pytest.approx(0.5)
    assert rows["leaky"].estimate == pytest.approx(0.1 + 0.2)


def test_the_largest_set_is_named_over_which_an_own_mechanism_is_private():
    """ε* of a table under the estimate and over the sets; between them lie the levels that are tried."""
    own = rldp.Protocol([[[0.7, 0.3], [0.6, 0.4]], [[0.5, 0.5], [0.6, 0.4]]], ["ill", "well"])
    over = [
        rldp.worst_case_leakage(own, SAMPLE, uncertainty)[1]
        for uncertainty in (rldp.Nominal(), rldp.ChiSquare(), rldp.Pairs(), rldp.AllDistributions())
    ]
    assert over == sorted(over)
    for level, wanted in zip(over, (rldp.Nominal, rldp.PowerDivergence, rldp.Pairs), strict=False):
        row = rldp.compare(SAMPLE, level * (1 + 1e-9), protocols={"own": own}, **NOMINAL)["own"]
        assert isinstance(row.proved, wanted)


def test_what_a_protocol_claims_about_another_sample_proves_nothing_here():
    other = rldp.Sample([[3000, 1], [1, 3000]], secrets=["ill", "well"])
    own = rldp.design(SAMPLE, 1.0, privacy=rldp.Nominal(), utility=rldp.Nominal()).protocol
    row = rldp.compare(other, 1.0, protocols={"own": own}, **NOMINAL)["own"]
    assert row.proved is None


def test_the_table_is_tidy(found):
    table = found.table()
    assert set(map(len, table.values())) == {9}
    assert table["proved_for"][-1] == "every distribution"
    with pytest.raises(KeyError):
        found["no such row"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocols": {"GRR": rldp.Protocol(np.full((2, 2, 2), 0.5))}}, "names of their own, got 'GRR'"),
        (
            {"protocols": {"own": rldp.Protocol(np.full((3, 2, 2), 0.5))}},
            "sample must have the protocol's secrets",
        ),
        ({"protocols": [1]}, "protocols must map names to protocols"),
        ({"protocols": {1: rldp.Protocol(np.full((2, 2, 2), 0.5))}}, "protocols must map names to protocols"),
        ({"protocols": {"own": "protocol.json"}}, "protocol must be an rldp.Protocol, got str"),
        ({"utility": rldp.Credible()}, "utility must be a set that is the same for every protocol"),
        ({"privacy": ["best"]}, "privacy must be a set or one of"),
        ({"epsilon": -1.0}, "epsilon must be at least 0, got -1.0"),
        ({"sample": [[1]]}, "sample must be an rldp.Sample, got list"),
    ],
)
def test_bad_arguments(options, message):
    given = {"sample": SAMPLE, "epsilon": 1.0, **options}
    with pytest.raises(rldp.RldpError, match=message):
        rldp.compare(given.pop("sample"), given.pop("epsilon"), **given)
