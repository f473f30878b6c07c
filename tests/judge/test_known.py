"""Readers who know the value: what the judge lets pass, what it refuses, and what it says."""

import json
import math

import pytest

import rldp
from claims import File
from known_program import known_file

COUNTS = [[9, 3, 2], [1, 4, 7], [2, 2, 5]]
KAPPAS = [0.0, 0.3, 1.0, 4.0]
G = "guarantee"


def verdict_of(document, tmp_path):
    path = tmp_path / "protocol.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return rldp.verify(path)


def moved(document, s, u, y, z, amount):
    """``amount`` moved from output y to output z in one row."""
    row = document["numerators"][s][u]
    row[y] -= amount
    row[z] += amount
    return document


@pytest.mark.parametrize("prices", [True, False])
@pytest.mark.parametrize("kappa", KAPPAS)
def test_a_file_of_the_linear_program_passes(kappa, prices, tmp_path):
    document = known_file(COUNTS, 0.5, kappa, prices=prices)
    if not prices and kappa > 0:
        document[G]["lower_bound"] = 0.0
    verdict = verdict_of(document, tmp_path)
    assert verdict.reasons == ()
    assert (verdict.epsilon, verdict.epsilon_known) == (0.5, kappa)
    assert File(json.dumps(document).encode()).known_holds()


def test_at_zero_one_unit_more_for_one_secret_is_refused(tmp_path):
    document = moved(known_file(COUNTS, 0.5, 0.0), 1, 2, 0, 2, 1)
    document[G] |= {"objective": 9.0, "lower_bound": 0.0}
    verdict = verdict_of(document, tmp_path)
    assert verdict.epsilon == 0.5
    assert verdict.epsilon_known is None
    assert len(verdict.reasons) == 1
    assert "readers who know the value is not proved for value 2, output" in verdict.reasons[0]


@pytest.mark.parametrize("kappa", [1e-12, 0.3, math.log(2), 20.0])
def test_the_largest_numerator_that_passes_is_the_largest_below_the_factor(kappa, tmp_path):
    """Two secrets, one value: K and ⌊e^κ K⌋ pass, one unit more does not."""
    import mpmath

    low = 2**20
    with mpmath.workdps(50):
        high = int(mpmath.floor(mpmath.exp(kappa) * low))
    base = known_file([[5, 3], [2, 6]], 0.5, 20.0)
    base[G] |= {"epsilon": "infinity", "epsilon_known": kappa, "objective": 9.0, "lower_bound": 0.0}
    for more, holds in ((0, True), (1, False)):
        whole = 2**52
        if high + more > whole // 2:
            continue
        rows = [[[low, whole - low]] * 2, [[high + more, whole - high - more]] * 2]
        document = base | {"numerators": rows}
        verdict = verdict_of(document, tmp_path)
        assert (verdict.epsilon_known == kappa) is holds
        assert File(json.dumps(document).encode()).known_holds() is holds


def test_an_output_that_rules_out_a_secret_has_no_level(tmp_path):
    document = known_file(COUNTS, 0.5, 20.0)
    row = document["numerators"][0][0]
    moved(document, 0, 0, 2, 0, row[2])
    document[G] |= {"objective": 9.0, "lower_bound": 0.0, "epsilon": "infinity"}
    (reason,) = verdict_of(document, tmp_path).reasons
    assert reason.endswith("the level that holds is inf")


@pytest.mark.parametrize("kappa", [0.0, 0.3, 1.0])
def test_a_lower_bound_above_the_optimum_is_refused(kappa, tmp_path):
    document = known_file(COUNTS, 0.5, kappa)
    document[G]["lower_bound"] *= 1 + 3e-6
    assert [reason[:15] for reason in verdict_of(document, tmp_path).reasons] == ["the lower bound"]


def test_prices_that_charge_too_much_prove_less(tmp_path):
    """Prices of the wrong sign raise every cost; what they may add to a private protocol is taken off."""
    document = known_file(COUNTS, 0.5, 1.0)
    document[G]["certificate"]["known"] = [[[1.0] * 3] * 3] * 3
    document[G]["lower_bound"] = 1e-9
    assert [reason[:15] for reason in verdict_of(document, tmp_path).reasons] == ["the lower bound"]


def test_prices_are_weighed_at_the_level_that_is_claimed(tmp_path):
    """What a smaller κ proves does not hold at a larger one, which allows more protocols."""
    document = known_file(COUNTS, 0.5, 0.3)
    assert verdict_of(document, tmp_path).ok
    document[G]["epsilon_known"] = 0.4
    assert [reason[:15] for reason in verdict_of(document, tmp_path).reasons] == ["the lower bound"]


def test_the_bound_is_that_of_all_readers_where_none_is_promised_anything(tmp_path):
    """Prices and merged rows count only beside the claim that they are about."""
    document = known_file(COUNTS, 0.5, 0.0, prices=False)
    assert verdict_of(document, tmp_path).ok
    document[G]["epsilon_known"] = 1e-300
    assert [reason[:15] for reason in verdict_of(document, tmp_path).reasons] == ["the lower bound"]


def test_words_for_each_kind_of_promise(tmp_path):
    def said(kappa):
        verdict = verdict_of(known_file(COUNTS, 0.5, kappa), tmp_path)
        return " ".join(verdict.proved), " ".join(verdict.not_promised)

    proved, not_promised = said(1.0)
    assert "To a reader who knows the value, the output reveals at most 1.0 more about the secret" in proved
    assert "anything to a reader who knows some of them, but not all" in not_promised
    proved, not_promised = said(0.0)
    assert "reveals nothing more about the secret" in proved
    assert "The value itself may reveal it; the output adds nothing." in not_promised
    open_ = rldp.verify(rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), 0.5).protocol)
    assert open_.epsilon_known == math.inf
    assert not any("knows the value" in sentence for sentence in open_.proved)
    assert any("To a reader who knows the value: anything." in sentence for sentence in open_.not_promised)
