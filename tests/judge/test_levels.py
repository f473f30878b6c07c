"""Levels of pairs of secrets: every promise holds each pair to its own, to the last unit of the grid."""

import json
import math

import numpy as np
import pytest

import rldp
from claims import File
from rldp.data.reading import Column, Reading
from rldp.judge.posterior import privacy_trial

INF = math.inf
COUNTS = [[400, 300, 300], [300, 300, 400], [300, 400, 300]]
G = "guarantee"
LEVELS = [[0.0, 0.3, 1.0], [0.4, 0.0, INF], [0.5, 0.2, 0.0]]
PROMISES = {
    "nominal": rldp.Nominal(),
    "a set": rldp.ChiSquare(),
    "pairs": rldp.Pairs(),
    "all": rldp.AllDistributions(),
}


def judged(document):
    """The library's verdict, and a second opinion that shares nothing with it."""
    text = json.dumps(document)
    verdict = rldp.verify(rldp.Protocol.from_json(text))
    if document[G]["privacy"]["kind"] != "credible":
        assert (File(text.encode()).failing_triples() == []) is (verdict.epsilon is not None)
    return verdict


def table_of(rows, levels, privacy):
    """A file that claims ``levels`` of a table whose rows depend on the secret alone."""
    whole = 2**52
    design = rldp.design(rldp.Sample([[5, 5]] * len(rows)), [[0, 1, 2], [1, 0, 1], [1, 1, 0]], privacy="all")
    document = json.loads(design.protocol.to_json())
    document["numerators"] = [[[top, whole - top]] * 2 for top in rows]
    certificate = dict.fromkeys(document[G]["certificate"])
    document[G] |= {"objective": 9.0, "lower_bound": 0.0, "certificate": certificate, "privacy": privacy}
    document[G]["epsilon"] = [["infinity" if x == INF else x for x in row] for row in levels]
    return document


KINDS = [
    {"kind": "nominal"},
    {"kind": "power-divergence", "lambda": 1.0, "radius": 0.1},
    {"kind": "all"},
    {"kind": "credible", "alpha": 0.05, "prior": 0.5, "lambda": 1.0, "radius": 0.1, "seed": 0},
    {"kind": "pairs", "alpha": 0.5, "radii": [9.0] * 3, "methods": ["A1"] * 3},
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["kind"])
@pytest.mark.parametrize("pair", [(0, 1), (2, 1), (1, 0)])
def test_one_unit_above_the_level_of_a_single_pair_is_refused(kind, pair):
    """All other pairs have room; the pair's level is the largest that e^ε · bottom rounds down to."""
    import mpmath

    top, bottom = pair
    levels = np.full((3, 3), 2.0)
    np.fill_diagonal(levels, 0.0)
    levels[top, bottom] = 0.3
    low = 2**50
    with mpmath.workdps(50):
        high = int(mpmath.floor(mpmath.exp(mpmath.mpf(0.3)) * low))
    for more, holds in ((0, True), (1, False)):
        rows = [low, low, low]
        rows[top] = high + more
        verdict = judged(table_of(rows, levels.tolist(), kind))
        assert (verdict.epsilon == 2.0) is holds, verdict.reasons
        assert (verdict.levels is not None) is holds
        if not holds:
            assert verdict.reasons[0].startswith(
                ("privacy is not proved for output 0", "credible privacy is not")
            )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["kind"])
def test_a_pair_without_a_level_may_differ_and_the_others_may_not(kind):
    levels = [[0.0, 0.3, 0.3], [INF, 0.0, INF], [INF, INF, 0.0]]
    low = 2**40
    assert judged(table_of([low, low * 900, low * 800], levels, kind)).ok
    assert judged(table_of([low * 2, low, low * 800], levels, kind)).epsilon is None


@pytest.mark.parametrize("privacy", PROMISES.values(), ids=PROMISES)
def test_a_design_passes_and_its_claim_with_a_smaller_level_of_any_pair_does_not(privacy):
    sample = rldp.Sample(COUNTS)
    levels = [[5 * x if privacy == rldp.AllDistributions() else x for x in row] for row in LEVELS]
    document = json.loads(rldp.design(sample, levels, privacy=privacy, utility="nominal").protocol.to_json())
    verdict = judged(document)
    assert verdict.reasons == ()
    assert verdict.levels == tuple(map(tuple, levels))
    assert verdict.epsilon == INF
    refused = 0
    for a, b in ((0, 1), (2, 1), (1, 0), (2, 0)):
        changed = json.loads(json.dumps(document))
        changed[G]["epsilon"][a][b] *= 0.9
        refused += judged(changed).epsilon is None
    assert refused >= 2  # those that bind


def test_the_lower_bound_weighs_every_pair_with_its_own_level():
    """Multipliers of one pair prove nothing where its level is larger, or is none."""
    document = json.loads(rldp.design(rldp.Sample(COUNTS), LEVELS, privacy="nominal").protocol.to_json())
    assert judged(document).ok
    z = np.array(document[G]["certificate"]["multipliers"]).max(axis=0)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]
    a, b = pairs[int(z.argmax())]
    for level in (LEVELS[a][b] + 0.2, "infinity"):
        changed = json.loads(json.dumps(document))
        changed[G]["epsilon"][a][b] = level
        reasons = judged(changed).reasons
        assert len(reasons) == 1
        assert "the lower bound" in reasons[0]


def test_a_trial_counts_the_pairs_that_exceed_their_own_level():
    rng = np.random.default_rng(4)
    table = rng.dirichlet(np.ones(3), size=(3, 3))
    numerators = np.rint(table * 2**40).astype(int).tolist()
    levels = [[0.0, 0.2, 0.5], [INF, 0.0, 0.4], [0.6, INF, 0.0]]
    trial = privacy_trial(
        numerators, COUNTS, levels, alpha=0.5, prior=0.5, generator=np.random.default_rng(1)
    )
    conditionals = np.stack([rng.dirichlet(np.add(row, 0.5), size=20_000) for row in COUNTS])
    p = np.einsum("smu,suy->msy", conditionals, np.array(numerators))
    worst = np.log(p[:, :, None] / p[:, None]).max(axis=3) - np.array(levels)
    share = (worst.max(axis=(1, 2)) > 0).mean()
    assert abs(trial.failures / trial.draws - share) < 0.02
    assert share > 0.02


def test_a_trial_of_equal_levels_is_the_trial_of_one():
    numerators = [[[2**50, 3 * 2**50], [2**51, 2**51]], [[3 * 2**50, 2**50], [2**51, 2**51]]]
    one, each = (
        privacy_trial(
            numerators, [[4, 9], [6, 5]], level, alpha=0.9, prior=0.5, generator=np.random.default_rng(3)
        )
        for level in (0.3, [[0, 0.3], [0.3, 0]])
    )
    assert one == each
    assert one.failures > 0


def test_words_say_which_pairs_paths_protect_and_which_have_no_level():
    sample = rldp.Sample(COUNTS, secrets=["a", "b", "c"])
    levels = [[0, 0.5, INF], [0.5, 0, 0.25], [INF, INF, 0]]
    verdict = rldp.verify(rldp.design(sample, levels, privacy="chi2"))
    told = " ".join(verdict.proved)
    assert "ε('b', 'c') = 0.25, ε('a', 'b') = 0.5, ε('b', 'a') = 0.5, for every" in told
    assert "ε('a', 'c') is at most 0.75, through 'b'." in told
    assert verdict.not_promised[0] == (
        "That an output is not far more likely for one secret than for another beyond what is proved through "
        "other secrets, in these pairs with ε = ∞: 'a' against 'c', 'c' against 'a', 'c' against 'b'."
    )
    assert verdict.promise.startswith("ε from 0.25 to ∞, by the pair of secrets, for every distribution")


def test_no_path_leads_through_a_secret_of_which_the_estimate_says_nothing():
    sample = rldp.Sample([[3, 4], [0, 0], [5, 2]], secrets=["a", "b", "c"])
    levels = [[0, 0.5, INF], [0.5, 0, 0.5], [INF, 0.5, 0]]
    with pytest.warns(rldp.UnseenSecretWarning):
        nominal = rldp.design(sample, levels, privacy="nominal", utility="nominal")
    assert "through" not in str(rldp.verify(nominal))
    assert nominal.objective < 1e-6
    assert "through 'b'" in str(rldp.verify(rldp.design(sample, levels, privacy="all", utility="nominal")))


@pytest.mark.filterwarnings("ignore::rldp.UnseenSecretWarning")
def test_no_attribute_is_protected_through_a_combination_that_the_estimate_never_shows():
    columns = (Column("sex", ("f", "m")), Column("test", ("no", "yes")))
    reading = Reading(columns, (Column("v", (0, 1, 2)),))
    for unseen in (False, True):
        counts = [[40, 30, 30], [0, 0, 0] if unseen else [30, 30, 40], [30, 40, 30], [35, 35, 30]]
        sample = rldp.Sample(counts, reading.secrets, reading.values, reading=reading)
        design = rldp.design(sample, {"sex": 0.5, "test": 0.2}, privacy="nominal", utility="nominal")
        verdict = rldp.verify(design)
        assert verdict.ok
        assert any("protects 'sex' against" in sentence for sentence in verdict.proved) is not unseen


def test_readers_who_know_some_of_three_columns_are_not_those_who_know_none():
    columns = tuple(Column(name, (0, 1)) for name in "abc")
    counts = np.random.default_rng(0).integers(20, 60, size=(8, 3))
    reading = Reading(columns, (Column("u", (0, 1, 2)),))
    sample = rldp.Sample(counts, reading.secrets, reading.values, reading=reading)
    levels = {"a": 0.5, "b": 1.0, "c": 1.0}
    designed = rldp.design(sample, levels, privacy="nominal", utility="nominal")
    (told,) = (each for each in rldp.verify(designed).proved if each.startswith("ε = 0.5 protects 'a'"))
    assert "Against readers who know none of 'b' and 'c', the level is 0.5 + log(1 + TV · (e^2 − 1))" in told
    assert told.endswith("at most 2.5, which also holds against readers who know some of them.")
