"""What the judge confirms and refuses of the promises credible, pairs and all, and what it says of them.

Its draws are fresh every time. Every risk here is so far from α that a verdict is another one with
probability 1e-6 at most.
"""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta, binom

import rldp
from claims import File
from credible import PUBLISH, risk_of_publishing
from promised import credible_claim, credible_file, everything_file, pairs_file
from rldp.judge import posterior, promises
from rldp.judge.promises import pair_level
from rldp.judge.regions import pair_number
from rldp.theory.radii import moment_radius

pytestmark = pytest.mark.numerical

G = "guarantee"
ONE = 2**52
COUNTS = [[9, 3], [4, 8]]


def judged(document, tmp_path):
    path = tmp_path / "protocol.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return rldp.verify(path)


def by_hand(table, counts, epsilon, privacy, utility=None, **claim):
    """A file with a table of probabilities and no certificate; by default it claims no distortion."""
    numerators = rldp.Protocol(table).numerators.tolist()
    secrets, values, outputs = np.shape(table)
    new = {"credible", "pairs", "all"}
    utility = {"kind": "nominal"} if utility is None else utility
    return {
        "format": "rldp-protocol",
        "version": 2 if {privacy["kind"], utility["kind"]} & new else 1,
        "generator": "by hand",
        "secrets": list(range(secrets)),
        "values": list(range(values)),
        "outputs": list(range(outputs)),
        "denominator": ONE,
        "numerators": numerators,
        G: {
            "epsilon": epsilon,
            "n": int(np.sum(counts)),
            "counts": counts,
            "privacy": privacy,
            "utility": utility,
            "distortion": [[0] * outputs] * values,
            "objective": 0,
            "lower_bound": 0,
            "certificate": dict.fromkeys(("eta", "eta_utility", "multipliers", "members", "distribution")),
        }
        | claim,
    }


def refused(verdict, *starts):
    """The verdict refuses for these reasons and no others."""
    assert not verdict.ok
    assert len(verdict.reasons) == len(starts), verdict.reasons
    for reason, start in zip(verdict.reasons, starts, strict=True):
        assert reason.startswith(start)


# --- credible ---------------------------------------------------------------------------------------


LEVELS = {0.03: 2.1854, 0.045: 2.0506, 0.0475: 2.0323, 0.06: 1.9521, 0.285: 1.3336, 0.31: 1.2924}
LEVELS_UNSEEN = {0.04: 6.1461, 0.06: 5.3357}


def publishing(risk, claim, seen=True):
    """Values published as they are, at the ε where that has this posterior risk."""
    epsilon = LEVELS[risk] if seen else LEVELS_UNSEEN[risk]
    return by_hand(PUBLISH, COUNTS if seen else [[9, 3], [0, 0]], epsilon, claim)


def test_these_are_the_risks_of_publishing():
    for counts, levels in ((COUNTS, LEVELS), ([[9, 3], [0, 0]], LEVELS_UNSEEN)):
        for risk, epsilon in levels.items():
            assert risk_of_publishing(counts, 0.5, epsilon) == pytest.approx(risk, abs=1e-4)


RISKY = "credible privacy is not confirmed: given the sample and "


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_a_risk_below_alpha_is_confirmed_and_one_a_little_above_is_not(tmp_path, alpha):
    claim = credible_claim(0.0, alpha=alpha)
    assert judged(publishing(0.0475 if alpha == 0.05 else 0.285, claim), tmp_path).ok
    verdict = judged(publishing(0.06 if alpha == 0.05 else 0.31, claim), tmp_path)
    refused(verdict, f"{RISKY}Jeffreys' prior (Dirichlet(0.5) on the cells), the probability that this ")
    assert verdict.epsilon is None
    assert verdict.promise == "nothing proved"
    assert f"may be more than {alpha!r} (" in verdict.reasons[0]
    assert verdict.reasons[0].endswith("00 000 draws fail, where fewer are needed to confirm it)")


def test_the_set_is_proved_beside_the_risk(tmp_path):
    """Private on the set but risky, on a larger set neither, and not risky but not private on the set."""
    of_set = "privacy is not proved for output "
    risky = publishing(0.06, credible_claim(0.01))
    refused(judged(risky, tmp_path), RISKY)
    risky[G]["privacy"]["radius"] = 10.0
    refused(judged(risky, tmp_path), of_set, RISKY)
    safe = publishing(0.03, credible_claim(10.0))
    verdict = judged(safe, tmp_path)
    refused(verdict, of_set)
    assert not any("posterior" in sentence or "Given" in sentence for sentence in verdict.proved)


@pytest.mark.parametrize(
    ("key", "value"), [("prior", 0.01), ("prior", 0.1), ("alpha", 0.02), ("alpha", 1e-5), ("radius", 3.0)]
)
def test_a_credible_claim_that_was_tampered_with_is_refused(tmp_path, key, value):
    document = publishing(0.045, credible_claim(0.01))
    assert judged(document, tmp_path).ok
    document[G]["privacy"][key] = value
    if key == "prior":
        assert risk_of_publishing(COUNTS, value, document[G]["epsilon"]) > 0.06
    verdict = judged(document, tmp_path)
    assert not verdict.ok
    assert verdict.epsilon is None


def test_the_seed_in_the_file_has_no_say(tmp_path):
    document = publishing(0.06, credible_claim(0.0))
    for seed in (0, 1, 2**128 - 1):
        document[G]["privacy"]["seed"] = seed
        refused(judged(document, tmp_path), RISKY)


def test_what_no_distribution_breaks_needs_no_draw(tmp_path):
    constant = np.full((2, 2, 2), 0.5)
    verdict = judged(by_hand(constant, COUNTS, 0.0, credible_claim(5.0, alpha=1e-5)), tmp_path)
    assert verdict.ok
    assert verdict.proved[1].endswith("is at most 1e-05 (no distribution at all makes it fail).")
    verdict = judged(by_hand(PUBLISH, COUNTS, "infinity", credible_claim(5.0)), tmp_path)
    assert verdict.ok
    assert verdict.promise == "nothing claimed (ε = ∞)"
    assert verdict.proved[1] == "Nothing is claimed about privacy (ε = ∞)."


def test_an_unseen_secret_has_the_law_of_the_prior(tmp_path):
    assert judged(publishing(0.04, credible_claim(0.0), seen=False), tmp_path).ok
    refused(judged(publishing(0.06, credible_claim(0.0), seen=False), tmp_path), RISKY)


def one_functional(objective, claim):
    """Always output 0: the distortion is the probability of value 1, a beta variable."""
    costs = {"distortion": [[0.0], [1.0]], "objective": objective}
    return by_hand(np.ones((1, 2, 1)), [[70, 30]], 1.0, {"kind": "nominal"}, claim, **costs)


def test_a_credible_objective_is_exceeded_with_probability_alpha_at_most(tmp_path):
    law = beta(30.5, 70.5)
    fine = judged(one_functional(law.ppf(0.96), credible_claim(1e-6)), tmp_path)
    assert fine.ok
    assert fine.objective == law.ppf(0.96)
    verdict = judged(one_functional(law.ppf(0.94), credible_claim(1e-6)), tmp_path)
    refused(
        verdict, "credible utility is not confirmed: given the sample and Jeffreys' prior (Dirichlet(0.5)"
    )
    assert verdict.objective is None
    refused(judged(one_functional(law.ppf(0.96), credible_claim(9.0)), tmp_path), "the objective ")


@pytest.mark.parametrize(("prior", "law"), [(5.0, beta(8, 12)), (0.5, beta(3.5, 7.5))], ids=["5", "0.5"])
def test_a_credible_objective_is_tried_under_its_own_prior(tmp_path, prior, law):
    """Seven rows with value 0 and three with value 1."""
    for share, ok in ((0.96, True), (0.94, False)):
        document = one_functional(law.ppf(share), credible_claim(1e-9) | {"prior": prior})
        document[G].update(counts=[[7, 3]], n=10)
        assert judged(document, tmp_path).ok == ok


@pytest.mark.parametrize(("privacy", "utility"), [(0.3, 0.05), (0.05, 0.3)])
def test_each_credible_promise_is_tried_at_its_own_level(tmp_path, privacy, utility):
    """Always output 0: nothing leaks, and the distortion is the probability of value 1."""
    law = beta(3.5 + 8.5, 9.5 + 4.5)
    for share, ok in ((0.8, True), (1.2, False)):
        document = by_hand(
            *(np.ones((2, 2, 1)), COUNTS, 1.0),
            *(credible_claim(0.0, alpha=privacy), credible_claim(1e-9, alpha=utility)),
            distortion=[[0.0], [1.0]],
            objective=law.isf(share * utility),
        )
        assert judged(document, tmp_path).ok == ok


def test_a_designed_set_with_a_known_risk_passes_with_its_lower_bound(tmp_path):
    claims = {"privacy": credible_claim(0.06), "utility": credible_claim(0.05)}
    document = credible_file([[30, 12], [14, 26]], 0.5, **claims)
    verdict = judged(document, tmp_path)
    assert verdict.ok
    assert verdict.lower_bound == document[G]["lower_bound"] > 0
    document[G]["lower_bound"] *= 1.001
    refused(judged(document, tmp_path), "the lower bound ")


@pytest.mark.parametrize(
    ("alpha", "cells", "share"),
    [
        (0.05, 15, 0.98),
        (0.05, 100, 0.96),
        (0.05, 500, 0.92),
        (0.01, 15, 0.95),
        (0.01, 500, 0.83),
        (0.001, 15, 0.86),
        (0.001, 500, 0.52),
        (1e-4, 15, 0.67),
        (1e-5, 15, 0.08),
    ],
)
def test_risks_well_below_alpha_are_confirmed_but_with_probability_one_in_a_million(alpha, cells, share):
    """The last look alone confirms them, and no look before gives up: this is what a design has to aim at."""
    looks = posterior.looks(alpha, cells)
    most = int(binom.ppf(posterior.ERROR / len(looks), looks[-1], alpha)) - 1
    assert posterior.binomial_tail(looks[-1], most, alpha) <= posterior.ERROR / len(looks)
    assert binom.sf(most, looks[-1], share * alpha) <= 0.9e-6
    gives_up = [alpha * draws + 4 * math.sqrt(alpha * draws) for draws in looks[:-1]]
    assert sum(binom.sf(f - 1, m, share * alpha) for f, m in zip(gives_up, looks, strict=False)) <= 0.1e-6


# --- pairs ------------------------------------------------------------------------------------------

THREE = [[9, 3, 2], [1, 4, 3], [2, 2, 40]]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["A1", "A2"])
def test_sets_of_pairs_are_proved_with_their_radii(tmp_path, method):
    for counts in (THREE, [[5, 4], [0, 0]], [[5, 4, 1]]):
        document = pairs_file(counts, 0.7, method=method)
        verdict = judged(document, tmp_path)
        assert verdict.reasons == ()
        assert verdict.epsilon == 0.7


@pytest.mark.slow
def test_where_all_secrets_have_as_many_rows_the_lower_bound_is_proved(tmp_path):
    document = pairs_file([[30, 10, 6], [5, 19, 22], [15, 16, 15]], 0.7)
    verdict = judged(document, tmp_path)
    assert verdict.ok
    assert verdict.lower_bound == document[G]["lower_bound"] > 0.9 * document[G]["objective"]
    document[G]["privacy"]["radii"] = [0.99 * x for x in document[G]["privacy"]["radii"]]
    verdict = judged(document, tmp_path)
    assert any("are not in the privacy set" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(("method", "hair"), [("A1", 1e-6), ("A2", 0.3)])
@pytest.mark.parametrize("place", range(3))
def test_a_radius_that_is_a_little_too_small_is_refused(tmp_path, method, hair, place):
    document = pairs_file(THREE, 0.7, method=method)
    document[G]["privacy"]["radii"][place] *= 1 - hair
    document[G]["lower_bound"] = 0.0
    s1, s2 = list(combinations(range(3), 2))[place]
    level = 0.05 / 3
    x = document[G]["privacy"]["radii"][place]
    verdict = judged(document, tmp_path)
    refused(
        verdict,
        f"the radius {x!r} of secrets {s1}, {s2} is not proved by theorem {method} at level 0.01666666666666",
    )
    assert float(verdict.reasons[0].split()[-6].rstrip(",")) <= level
    assert verdict.epsilon is None


def test_radii_belong_to_their_pairs(tmp_path):
    """With numbers of rows that differ, radii that changed places are not valid."""
    document = pairs_file([[3, 1, 0], [8, 9, 4], [50, 70, 90]], 0.7, method="A1")
    radii = document[G]["privacy"]["radii"]
    assert radii[0] < radii[1] < radii[2]
    for one, other in combinations(range(3), 2):
        radii[one], radii[other] = radii[other], radii[one]
        refused(judged(document, tmp_path), "the radius ")
        radii[one], radii[other] = radii[other], radii[one]
    assert judged(document, tmp_path).ok


def test_the_theorem_that_is_named_must_prove_the_radius(tmp_path):
    document = pairs_file([[9, 3, 2], [1, 6, 7]], 0.7, method="A2")
    document[G]["privacy"]["methods"] = ["A1"]
    refused(judged(document, tmp_path), "the radius ")
    values = 300  # too many for the recursion
    table, counts = np.full((2, values, 2), 0.5), [[1] * values, [2] * values]
    claim = {"kind": "pairs", "alpha": 0.05, "radii": [moment_radius((values, 2 * values), values, 0.05)]}
    for method, proved in (("A1", True), ("A2", False)):
        document = by_hand(table, counts, 0.1, claim | {"methods": [method]})
        assert judged(document, tmp_path).ok is proved


def test_a_smaller_alpha_needs_larger_radii(tmp_path):
    document = pairs_file([[9, 3, 2], [1, 6, 7]], 0.7)
    document[G]["privacy"]["alpha"] = 0.02
    refused(judged(document, tmp_path), "the radius ")
    document[G]["privacy"]["alpha"] = 0.06
    assert judged(document, tmp_path).ok


def test_every_pair_has_a_set_of_its_own(tmp_path):
    """A larger set of one pair breaks privacy for that pair only."""
    document = pairs_file([[30, 5, 9], [12, 14, 18], [8, 20, 16]], 0.5)
    for place, pair in enumerate(combinations(range(3), 2)):
        radii = list(document[G]["privacy"]["radii"])
        radii[place] *= 3
        larger = json.loads(json.dumps(document))
        larger[G]["privacy"]["radii"] = radii
        verdict = judged(larger, tmp_path)
        failing = {(s1, s2) for _, s1, s2 in File(json.dumps(larger).encode()).failing_triples()}
        assert failing <= {pair, pair[::-1]}
        assert (verdict.epsilon is None) == bool(failing)
        if failing:
            named = verdict.reasons[0].split("secrets ")[1].split(":")[0]
            assert tuple(map(int, named.split(", "))) in failing


def test_pairs_are_numbered_as_the_page_says():
    for secrets in (2, 3, 5, 9):
        for place, (s1, s2) in enumerate(combinations(range(secrets), 2)):
            assert pair_number(s1, s2, secrets) == pair_number(s2, s1, secrets) == place


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1e-300, 1 - 2**-53])
@pytest.mark.parametrize("secrets", [1, 2, 3, 4, 7, 100])
def test_the_level_of_a_pair_is_alpha_over_the_pairs_rounded_down(alpha, secrets):
    exact = Fraction(alpha) / max(math.comb(secrets, 2), 1)
    level = pair_level(alpha, secrets)
    assert Fraction(level) <= exact < Fraction(math.nextafter(level, 1.0))


def test_radii_that_would_take_too_long_are_refused_with_a_sentence(tmp_path, monkeypatch):
    counts = [[i + 1, 3] for i in range(12)]
    document = pairs_file(counts, 0.7, method="A1")
    assert judged(document, tmp_path).ok
    monkeypatch.setattr(promises, "_MOST_WORK", 1e8)
    verdict = judged(document, tmp_path)
    assert not verdict.ok
    assert verdict.reasons[0].endswith(
        "is not proved: proving all the radii of this file would take too long"
    )
    assert verdict.epsilon is None


def test_equal_pairs_share_one_proof(monkeypatch):
    asked = []
    monkeypatch.setattr(promises, "_by_moments", lambda *claim: (asked.append(claim) or True, 1.0))
    proofs = promises.Radii((5, 9))
    for n1, n2 in ((5, 9), (9, 5), (5, 9), (5, 5), (4, 9)):
        assert proofs.is_valid(7.0, n1, n2, 3, 0.05, "A1")
    assert len(asked) == 3


@pytest.mark.parametrize(
    "other",
    [
        (6.0, 5, 9, 3, 0.05, "A1"),
        (7.0, 6, 9, 3, 0.05, "A1"),
        (7.0, 5, 8, 3, 0.05, "A1"),
        (7.0, 5, 9, 4, 0.05, "A1"),
        (7.0, 5, 9, 3, 0.04, "A1"),
        (7.0, 5, 9, 3, 0.05, "A2"),
    ],
)
def test_pairs_that_differ_share_no_proof(monkeypatch, other):
    one = (7.0, 5, 9, 3, 0.05, "A1")
    monkeypatch.setattr(promises, "_by_moments", lambda *claim: (claim == (7.0, (9, 5), 3, 0.05), 1.0))
    monkeypatch.setattr(promises, "recursion_proof", lambda *claim: (False, 1.0))
    proofs = promises.Radii((5, 9))
    assert proofs.is_valid(*one)
    assert not proofs.is_valid(*other)


def test_every_radius_is_looked_at_where_secrets_have_as_many_rows(tmp_path):
    document = pairs_file([[6, 2, 1], [1, 4, 4], [3, 3, 3]], 0.7, method="A1")
    assert judged(document, tmp_path).ok
    document[G]["privacy"]["radii"][2] *= 1 - 1e-6
    refused(judged(document, tmp_path), "the radius ")


def test_radii_are_no_concern_where_nothing_is_claimed(tmp_path, monkeypatch):
    monkeypatch.setattr(promises, "Radii", lambda *_: pytest.fail("nothing was to be proved"))
    claim = {"kind": "pairs", "alpha": 0.05, "radii": [0.0], "methods": ["A1"]}
    assert judged(by_hand(PUBLISH, COUNTS, "infinity", claim), tmp_path).ok


# --- all --------------------------------------------------------------------------------------------

RESPONSE = np.array([[[0.75, 0.25]] * 2, [[0.25, 0.75]] * 2])


def test_every_distribution_is_one_comparison_of_entries(tmp_path):
    everything = {"kind": "all"}
    level = math.log(3)
    assert judged(by_hand(RESPONSE, COUNTS, math.nextafter(level, 2), everything), tmp_path).ok
    verdict = judged(by_hand(RESPONSE, COUNTS, level - 1e-15, everything), tmp_path)
    refused(verdict, "privacy is not proved for output 0 and secrets 0, 1: some value of the first and some ")


def test_rows_of_one_secret_may_differ_more_than_those_of_two(tmp_path):
    table = np.array([[[0.2, 0.8], [0.5, 0.5]], [[0.3, 0.7], [0.3, 0.7]]])
    assert judged(by_hand(table, COUNTS, math.log(1.7), {"kind": "all"}), tmp_path).ok
    refused(judged(by_hand(table, COUNTS, math.log(1.6), {"kind": "all"}), tmp_path), "privacy is not proved")
    assert judged(by_hand(PUBLISH[:1], COUNTS[:1], 0.0, {"kind": "all"}), tmp_path).ok


def test_many_secrets_make_no_list_of_pairs(tmp_path):
    table = np.tile([[0.3, 0.7]], (6000, 1, 1))
    table[0] = [[0.35, 0.65]]
    counts = [[1]] * 6000
    assert judged(by_hand(table, counts, 0.2, {"kind": "all"}), tmp_path).ok
    verdict = judged(by_hand(table, counts, 0.1, {"kind": "all"}), tmp_path)
    refused(verdict, "privacy is not proved for output 0 and secrets 0, 1: ")


def test_a_linear_program_is_proved_to_be_best_for_every_distribution(tmp_path):
    document = everything_file([[9, 3, 2], [1, 4, 7]], 0.7)
    verdict = judged(document, tmp_path)
    assert verdict.ok
    assert verdict.lower_bound > 0.999 * verdict.objective > 0
    document[G]["lower_bound"] = verdict.objective * 1.001
    refused(judged(document, tmp_path), "the lower bound ")
    document[G]["privacy"] = {"kind": "power-divergence", "lambda": 1.0, "alpha": 0.05}
    document[G]["lower_bound"] = verdict.lower_bound
    document["version"] = 1
    verdict = judged(document, tmp_path)  # the witnesses are no members of a set
    refused(verdict, "the lower bound ")
    assert verdict.reasons[0].endswith("are not in the privacy set")


# --- ε = 0 ------------------------------------------------------------------------------------------


def constant(privacy, counts=COUNTS):
    """Always output 1, at ε = 0, said to be the best: its distortion under the estimate is the bound."""
    values = len(counts[0])
    table = np.zeros((len(counts), values, 2))
    table[:, :, 1] = 1
    wanted = 0.25 * sum(row[0] for row in counts) / np.sum(counts)
    distortion = [[0.0, 0.25]] + [[1.0, 0.0]] * (values - 1)
    return by_hand(
        table,
        counts,
        0.0,
        privacy,
        distortion=distortion,
        objective=wanted * (1 + 1e-12),
        lower_bound=wanted * (1 - 1e-12),
    )


def of_pairs(radius):
    return {"kind": "pairs", "alpha": 0.05, "radii": [radius], "methods": ["A1"]}


@pytest.mark.parametrize(
    "privacy", [credible_claim(0.1), of_pairs(20.0), {"kind": "all"}], ids=lambda claim: claim["kind"]
)
def test_only_constants_are_private_at_level_zero(tmp_path, privacy):
    assert judged(constant(privacy), tmp_path).ok


@pytest.mark.parametrize("privacy", [credible_claim(0.0), of_pairs(0.0)], ids=lambda claim: claim["kind"])
def test_not_so_on_a_set_of_one_distribution(tmp_path, privacy):
    verdict = judged(constant(privacy), tmp_path)
    assert verdict.reasons[-1].startswith("the lower bound ")


def test_a_single_value_has_one_conditional(tmp_path):
    """The radius is 0, and at level zero only constants are private all the same."""
    document = constant(of_pairs(0.0), [[9], [4]])
    document[G] |= {"distortion": [[1.0, 0.25]], "objective": 0.25 + 1e-12, "lower_bound": 0.25 - 1e-12}
    assert judged(document, tmp_path).ok


# --- words ------------------------------------------------------------------------------------------


def test_a_credible_verdict_can_be_quoted(tmp_path):
    document = publishing(0.03, credible_claim(0.01))
    document[G]["utility"] = credible_claim(0.02, alpha=0.1, prior=2.0, lambda_=0.0)
    epsilon = document[G]["epsilon"]
    verdict = judged(document, tmp_path)
    assert verdict.ok
    sentence = (
        "Given the sample and Jeffreys' prior (Dirichlet(0.5) on the cells), the probability that this "
        f"protocol is not {epsilon!r}-private is at most 0.05 ("
    )
    assert verdict.proved[1].startswith(sentence)
    assert verdict.proved[1].endswith(" of 100 000 draws; this check is wrong with probability below 1e-9).")
    scope = "for every distribution within radius 0.01 of the estimate, as a χ² test measures it"
    assert verdict.proved[2].endswith(f"secrets s1, s2, {scope} (sample of 24 rows, 4 cells).")
    assert verdict.proved[3] == (
        "Given the sample and the prior Dirichlet(2.0) on the cells, the probability that the expected "
        "distortion exceeds 0 is at most 0.1 (no distribution at all makes it fail)."
    )
    assert verdict.proved[5].startswith(f"No protocol with these outputs that is private {scope}, has a ")
    assert verdict.promise == f"ε = {epsilon!r} for {rldp.Credible(prior=0.5, radius=0.01).scope}"
    assert verdict.assumptions[1] == (
        "For privacy, what was known of that distribution before the sample is what the prior "
        "Dirichlet(0.5) on the cells says."
    )
    assert verdict.not_promised[0].startswith(
        "For privacy: that such a protocol fails for a share of at most 0.05 of the samples, whatever the "
        "people's distribution is."
    )
    assert "0.284 at the worst" in verdict.not_promised[0]
    assert any(sentence.startswith("For the lower bound: ") for sentence in verdict.not_promised)
    assert "Not promised:" in str(verdict).splitlines()


def test_a_verdict_on_pairs_can_be_quoted(tmp_path):
    document = pairs_file([[9, 3, 2], [1, 4, 3], [2, 2, 2]], 0.7)
    document[G]["privacy"]["methods"][1] = "A1"
    document[G]["privacy"]["radii"][1] *= 2
    document[G] |= {"epsilon": 5.0, "lower_bound": 0.0}
    verdict = judged(document, tmp_path)
    assert verdict.ok
    assert verdict.promise == f"ε = 5.0 for {rldp.Pairs().scope}"
    assert verdict.proved[2] == (
        "Over the draw of the sample, the sets of all pairs of secrets hold the truth with probability at "
        "least 0.95, whatever the truth and the number of rows (a closed formula, theorem A1, for 1 pair and "
        "an exact recursion, theorem A2, for 2 pairs)."
    )
    assert verdict.assumptions[1].startswith("For privacy, that distribution is in the sets.")
    assert any("floats" in sentence for sentence in verdict.assumptions)
    assert verdict.not_promised[0] == (
        "For privacy: anything if the people's distribution is not in the sets. Over the draw of the sample "
        "that has probability at most 0.05; nobody can know whether it has happened."
    )


def test_a_verdict_on_all_distributions_can_be_quoted(tmp_path):
    verdict = judged(by_hand(RESPONSE, COUNTS, 2.0, {"kind": "all"}), tmp_path)
    assert verdict.promise == f"ε = 2.0 for {rldp.AllDistributions().scope}"
    assert verdict.proved[1].endswith("secrets s1, s2, for every distribution.")
    assert verdict.assumptions[1] == (
        "For privacy, nothing is assumed about that distribution or about the sample."
    )
    assert not any(sentence.startswith("For privacy") for sentence in verdict.not_promised)


@pytest.mark.parametrize("privacy", [rldp.Pairs(), rldp.Credible(0.1), rldp.ChiSquare()])
def test_where_nothing_is_claimed_about_privacy_nothing_is_assumed_for_it(privacy):
    verdict = rldp.verify(rldp.design(rldp.Sample([[9, 3], [2, 8]]), math.inf, privacy=privacy).protocol)
    assert verdict.ok
    assert not [sentence for sentence in verdict.assumptions if "privacy" in sentence or "A2" in sentence]
    assert not [sentence for sentence in verdict.not_promised if sentence.startswith("For privacy")]
