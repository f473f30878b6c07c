"""What a page says, before it is a page."""

import hashlib
import json

import numpy as np
import pytest

import rldp
from rldp.reporter.page import facts
from rldp.reporter.page.facts import OWN, gathered, standard_levels

COUNTS = [[52, 31, 17], [14, 38, 48]]
SAMPLE = rldp.Sample(COUNTS, ["ill", "well"], [0, 1, 2])
DRAWS = 2000


def report_on(designed, epsilons=(0.5, 1.0), **options):
    return gathered(designed.protocol, epsilons=epsilons, draws=DRAWS, **options)


@pytest.fixture
def few(monkeypatch):
    """Compare with few promises, which is quick."""
    monkeypatch.setattr(facts, "STANDARD", ("chi2", "nominal"))


@pytest.fixture(scope="module")
def designed():
    return rldp.design(SAMPLE, 0.5)


@pytest.fixture(scope="module")
def found(designed):
    return report_on(designed, with_counts=True)


def lying(protocol, epsilon=0.1):
    """The text of a file that claims a smaller ε than it has."""
    document = json.loads(protocol.to_json())
    document["guarantee"]["epsilon"] = epsilon
    return json.dumps(document)


def test_the_facts_are_those_of_the_library(found, designed):
    protocol = designed.protocol
    assert found.verdict == rldp.verify(protocol)
    assert found.epsilon == 0.5
    assert found.promised == rldp.worst_case_distortion(protocol, SAMPLE, rldp.ChiSquare())[1]
    assert found.promised <= designed.objective * (1 + 1e-12)
    assert found.worth.constant == designed.constant_objective
    assert found.worst.upper == rldp.worst_case(protocol, SAMPLE, rldp.ChiSquare()).upper
    assert found.sha256 == hashlib.sha256(protocol.to_json().encode()).hexdigest()
    assert found.promise == "chi2"


def test_the_law_is_that_of_the_posterior(found, designed):
    drawn = rldp.posterior(designed.protocol, SAMPLE, draws=DRAWS, seed=0)
    law = found.law
    assert law.risk == drawn.risk(0.5)
    assert (law.median, law.high) == tuple(
        np.quantile(drawn.leakage, [0.5, 0.95], method="inverted_cdf").tolist()
    )
    assert sum(law.shares) + law.beyond == pytest.approx(1, abs=1e-12)
    for low, high, share in list(zip(law.edges, law.edges[1:], law.shares, strict=False))[:-1]:
        inside = (drawn.leakage >= low) & (drawn.leakage < high)
        assert share == pytest.approx(inside.mean(), abs=1e-12)
    assert law.edges[-1] > 0.5


def test_this_protocol_comes_first_and_once(found, designed):
    names = [row.name for row in found.compared]
    ours = [OWN, "pairs", "credible", "nominal", "without reading the secret", "all distributions"]
    assert names == [*ours, "as it is", "constant", "GRR", "SRR", "independent"]
    assert found.compared[0].protocol is designed.protocol
    assert found.compared[0].proved == rldp.ChiSquare()


def test_a_level_beyond_all_floats_has_no_levels_around_it():
    protocol = rldp.design(rldp.Sample([[30, 10], [5, 25]]), 1e308).protocol
    assert standard_levels(protocol)[-1] == 1e308


def test_no_level_of_a_page_is_infinite(designed):
    with pytest.raises(rldp.InvalidArgument, match="epsilons must be finite, got inf"):
        gathered(designed.protocol, epsilons=[1.0, float("inf")])


def test_the_levels_hold_this_protocol_and_the_same_promise_at_others(found, designed):
    assert [level.epsilon for level in found.levels] == [0.5, 1.0]
    own, other = found.levels
    assert (own.is_own, other.is_own) == (True, False)
    assert own.protocol is designed.protocol
    assert other.protocol.guarantee.privacy == rldp.ChiSquare()
    assert other.protocol.guarantee.epsilon == 1.0
    assert (own.proved, other.proved) == (True, True)
    assert other.promised < own.promised


def test_what_is_not_proved_is_called_private_for_nothing(few, designed, tmp_path):
    path = tmp_path / "lie.json"
    path.write_text(lying(designed.protocol))
    found = gathered(rldp.load(path), epsilons=[0.1], draws=DRAWS)
    assert not found.verdict.ok
    assert found.compared[0].proved is None
    assert [level.proved for level in found.levels if level.is_own] == [False]


@pytest.mark.parametrize(
    ("privacy", "name"),
    [
        (rldp.Pairs(), "pairs"),
        (rldp.Credible(0.1, prior=1.0), "credible"),
        (rldp.Nominal(), "nominal"),
        (rldp.AllDistributions(), "all"),
        (rldp.PowerDivergence(1.0, radius=0.01), "its own"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_every_promise_has_its_line_on_the_frontier(few, privacy, name):
    found = report_on(rldp.design(SAMPLE, 0.5, privacy=privacy), epsilons=[0.5])
    assert found.promise == name
    assert found.frontier.promises[0] == name
    assert found.verdict.ok
    everything = [row.name for row in found.compared if row.proved == rldp.AllDistributions()]
    assert ("all distributions" in everything) == (name != "all")
    if name == "credible":
        assert found.law.prior == 1.0


def test_the_distortion_of_a_credible_utility_is_that_of_its_set(few):
    designed = rldp.design(SAMPLE, 0.5, utility=rldp.Credible())
    found = report_on(designed, epsilons=[0.5])
    assert found.promised == pytest.approx(designed.objective, rel=1e-9)
    assert found.compared[0].promised == found.promised


def test_of_a_large_table_nothing_is_designed_and_the_simple_mechanisms_are_the_same(
    few, monkeypatch, designed
):
    usual = report_on(designed, epsilons=[0.5])
    monkeypatch.setattr(facts, "SOME", 1)
    monkeypatch.setattr(facts, "FEW", 1)
    assert standard_levels(designed.protocol) == []
    found = gathered(designed.protocol, draws=DRAWS)
    assert found.frontier is None
    assert [level.is_own for level in found.levels] == [True]
    simple = ["as it is", "constant", "GRR", "SRR", "independent"]
    assert [row.name for row in found.compared] == [OWN, *simple]
    by_name = {row.name: row for row in usual.compared}
    for row in found.compared:
        twin = by_name[row.name]
        for number in (
            "promised",
            "estimate",
            "relabelled",
            "leakage_median",
            "leakage_high",
            "risk",
            "proved",
        ):
            assert getattr(row, number) == getattr(twin, number), (row.name, number)


def test_the_standard_levels_surround_that_of_the_protocol():
    for epsilon in (0.0, 0.5, 0.7, 30.0):
        levels = standard_levels(rldp.design(SAMPLE, epsilon).protocol)
        assert epsilon in levels
        assert 17 <= len(levels) <= 21
        assert max(levels) >= 5 * (epsilon or 0.5)
        assert min(level for level in levels if level > 0) <= 0.2 * (epsilon or 0.5)


def test_work_is_told_from_beginning_to_end(designed):
    told = []
    report_on(designed, epsilons=[0.5], callback=lambda *now: told.append(now))
    shares = [done / total for done, total, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert {"verifying", "GRR", "credible", "worst distribution"} <= {what for _, _, what in told}


def test_no_warning_of_other_designs_reaches_the_reader(few, recwarn):
    unseen = rldp.design(rldp.Sample([[3, 4], [4, 3], [0, 0]]), 0.5)
    recwarn.clear()
    report_on(unseen, epsilons=[0.5])
    assert not recwarn.list


def test_what_cannot_be_reported_on():
    bare = rldp.Protocol(np.full((2, 2, 2), 0.5))
    with pytest.raises(rldp.InvalidArgument, match="must claim something that can be reported on, got a tab"):
        gathered(bare)
    free = rldp.design(SAMPLE, np.inf).protocol
    with pytest.raises(rldp.InvalidArgument, match="must claim a privacy level to be reported on, got ε = ∞"):
        gathered(free)
    for epsilons, sentence in (([], "at least one level, got none"), ([-1.0], "must be at least 0")):
        with pytest.raises(rldp.InvalidArgument, match=sentence):
            gathered(rldp.design(SAMPLE, 0.5).protocol, epsilons=epsilons)
