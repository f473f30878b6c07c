"""The judge: which files it lets pass, what it says of those it refuses, and that its numbers are right."""

import dataclasses
import json
import math
import re
import sys
import warnings
from itertools import permutations

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf, workdps
from scipy.stats import chi2

import rldp
from claims import DENOMINATOR, DIGITS, File, Set, quantile, worst
from rldp import cli
from rldp.judge import checks
from rldp.judge.checks import Case, _bracket
from rldp.judge.regions import Group, Region, minimised, upper_quantile, working_bits
from rldp.judge.words import at_least, at_most
from rldp.protocol_file.format import SetClaim, parsed
from rldp.theory import bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import DesignProblem, Witness
from rldp.theory.nested_mean import NestedMean
from rldp.theory.support import minimising_eta, worst_members
from strategies import jeffreys_counts, sets_of

COUNTS = [[9, 3, 2], [1, 4, 7]]
SAMPLE = rldp.Sample(COUNTS, secrets=["f", "m"], values=[1, 2, 4])
G = "guarantee"

pytestmark = [
    pytest.mark.numerical,
    pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning"),
    pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning"),
]


@pytest.fixture(scope="module")
def protocol():
    return rldp.design(SAMPLE, 0.7).protocol


@pytest.fixture
def judged(tmp_path, protocol):
    """The verdict on a protocol file with a change."""

    def verdict(change=lambda document: None, of=protocol):
        document = json.loads(of.to_json())
        change(document)
        path = tmp_path / "protocol.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return rldp.verify(path)

    return verdict


def passes(designed):
    verdict = rldp.verify(designed.protocol)
    assert verdict.reasons == ()
    assert verdict.ok
    assert verdict.epsilon == designed.protocol.guarantee.epsilon
    assert (verdict.objective, verdict.lower_bound) == (designed.objective, designed.lower_bound)
    assert len(verdict.proved) == 4


# What passes

EPSILONS = [0, 1e-300, 1e-30, 1e-7, 1e-3, 0.3, 1, 10, 699, 800, math.inf]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("problem", ["NUNP", "NURP", "RUNP", "RURP"])
def test_designs_of_all_four_problems_pass_at_every_level(problem, epsilon):
    passes(rldp.design(SAMPLE, epsilon, **sets_of(problem)))


@pytest.mark.parametrize("epsilon", [0.5, 3])
@pytest.mark.parametrize(
    "uncertainty",
    [
        rldp.GTest(1e-9),
        rldp.PowerDivergence(1e-12),
        rldp.CressieRead(0.3),
        rldp.PowerDivergence(5, 0.5),
        rldp.PowerDivergence(100),
        rldp.PowerDivergence(1, radius=0),
        rldp.PowerDivergence(1, radius=1e-300),
        rldp.PowerDivergence(0, radius=1e-12),
        rldp.PowerDivergence(2, radius=1e6),
    ],
    ids=str,
)
def test_designs_over_every_set_pass(uncertainty, epsilon):
    passes(rldp.design(SAMPLE, epsilon, privacy=uncertainty, utility=uncertainty))


@pytest.mark.parametrize("n", [5, 75, 10**4, 10**9, 2**53 - 1])
@pytest.mark.parametrize("problem", ["NUNP", "RURP"])
def test_designs_for_samples_of_every_size_pass(problem, n):
    counts = jeffreys_counts(np.random.default_rng(n % 997), 1, (3, 4), n)[0]
    for epsilon in (0, 0.4) if problem == "NUNP" or n < 10**9 else (0.4,):
        passes(rldp.design(rldp.Sample(counts), epsilon, **sets_of(problem, 2 / 3)))


@pytest.mark.parametrize(
    "counts",
    [[[3]], [[3], [4]], [[0], [4], [1]], [[1, 2, 3]], [[5, 0], [0, 0]], [[0, 0, 0], [2, 0, 1], [0, 0, 9]]],
    ids=str,
)
@pytest.mark.parametrize("problem", ["NUNP", "NURP", "RUNP", "RURP"])
def test_designs_for_poor_samples_pass(problem, counts):
    for epsilon in (0, 0.8):
        passes(rldp.design(rldp.Sample(counts), epsilon, **sets_of(problem)))


@pytest.mark.parametrize("scale", [0, 1e-300, 1e-9, 1e9, 1e99])
def test_designs_for_distortions_of_every_size_pass(scale):
    distortion = scale * np.array([[0, 1.0], [2, 0.5], [0.3, 0]])
    for problem in ("NUNP", "RURP"):
        passes(rldp.design(SAMPLE, 0.7, distortion=distortion, outputs=["a", "b"], **sets_of(problem)))


@pytest.mark.parametrize("epsilon", [0, 1e-100])
def test_equal_numbers_are_equal_however_large(tmp_path, epsilon):
    """Products of counts near 2^53 have more digits than the judge computes with."""
    counts = [[2**50 - 1, 2**51 + 3], [2**51 - 7, 2**50 - 11]]
    table = [[[12345, DENOMINATOR - 12345]] * 2] * 2
    assert verdict_on(bare(table, counts, epsilon=epsilon, privacy={"kind": "nominal"}), tmp_path).ok


def test_one_output_passes():
    passes(rldp.design(SAMPLE, 0.7, outputs=[2]))


def random_design(seed):
    """Any problem with up to 5 secrets, 8 values, 8 outputs, and from 5 to 1e9 draws."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 6)), int(rng.integers(1, 9)))
    if rng.random() < 0.7:
        shape = (min(shape[0], 3), min(shape[1], 4))
    n = int(rng.choice([5, 15, 75, 1000, 10**6, 10**9]))
    truth = rng.dirichlet(np.full(shape[0] * shape[1], rng.choice([0.1, 0.5, 1.0])))
    levels = [0, 1e-30, 1e-7, 1e-3, 0.1, 0.5, 1, 2, 5, 20, 300, 800, math.inf]

    def some_set():
        kind, order = rng.random(), float(rng.choice([0, 0.1, 2 / 3, 1, 2, 30, 100]))
        if kind < 0.25:
            return rldp.Nominal()
        if kind < 0.8:
            return rldp.PowerDivergence(order, float(rng.choice([1e-9, 0.05, 0.3, 0.5])))
        return rldp.PowerDivergence(order, radius=float(rng.choice([0, 1e-30, 1e-6, 0.01, 1, 1e4])))

    outputs = int(rng.integers(1, 9)) if rng.random() < 0.4 else shape[1]
    distortion = "squared"
    if rng.random() < 0.4:
        size = float(rng.choice([1e-8, 1, 1e6, 1e12]))
        distortion = size * rng.random((shape[1], outputs)) * (rng.random((shape[1], outputs)) < 0.8)
    return rldp.design(
        rldp.Sample(rng.multinomial(n, truth).reshape(shape)),
        float(rng.choice(levels) if rng.random() < 0.7 else 10 ** rng.uniform(-4, 1.3)),
        privacy=some_set(),
        utility=some_set(),
        distortion=distortion,
        outputs=range(outputs),
    )


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("seed", range(40))
def test_any_design_passes(seed):
    passes(random_design(seed))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("block", range(6))
def test_any_of_many_designs_passes(block):
    for seed in range(1000 + 25 * block, 1025 + 25 * block):
        passes(random_design(seed))


def test_a_protocol_and_its_file_get_the_same_verdict(tmp_path, protocol):
    protocol.save(tmp_path / "protocol.json")
    verdict = rldp.verify(protocol)
    assert verdict == rldp.verify(tmp_path / "protocol.json") == rldp.verify(str(tmp_path / "protocol.json"))
    assert verdict == rldp.verify(rldp.load(tmp_path / "protocol.json"))
    wrong = json.loads(protocol.to_json())
    wrong[G]["objective"] /= 2
    (tmp_path / "protocol.json").write_text(json.dumps(wrong))
    verdict = rldp.verify(tmp_path / "protocol.json")
    assert not verdict.ok
    assert verdict == rldp.verify(rldp.load(tmp_path / "protocol.json"))


def test_layout_and_order_of_keys_do_not_matter(tmp_path, protocol):
    document = json.loads(protocol.to_json())
    text = json.dumps(document, indent=3, sort_keys=True, ensure_ascii=True)
    (tmp_path / "protocol.json").write_text(text)
    assert rldp.verify(tmp_path / "protocol.json") == rldp.verify(protocol)


def large_protocol(order):
    """10 secrets and 50 values, made without a solver: values are blurred; 4 500 triples have a proof."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(20_000, rng.dirichlet(np.full(500, 0.5))).reshape(10, 50)
    distortion = np.abs(np.subtract.outer(np.arange(50.0), np.arange(50)))
    near = np.exp(-distortion) / np.exp(-distortion).sum(axis=1, keepdims=True)
    table = rldp.Protocol(np.broadcast_to(0.3 * near + 0.7 / 50, (10, 50, 50))).matrix
    region = rldp.PowerDivergence(order)
    problem = DesignProblem.of(counts[None], np.array([2.0]), distortion, region, region)
    pairs, signs = ordered_pairs(10), np.array([1, -np.exp(2.0)])[:, None]
    mean = NestedMean(
        order,
        problem.estimate.sum(axis=2)[:, None, pairs],
        (counts / counts.sum(axis=1, keepdims=True))[None, None, pairs],
        problem.privacy.budget[:, None] * (1 - 1e-9),
    )
    x = np.moveaxis(table, 2, 0)[None][:, :, pairs] * signs
    excess, eta = bounds.privacy_excess(problem, table[None], minimising_eta(mean, x))
    assert excess.max() < 0 < (x[:, :, :, 0].max(axis=-1) + x[:, :, :, 1].max(axis=-1)).min()
    witness = Witness(np.full((1, 50, 90), 1e-9), worst_members(mean, x), problem.estimate)
    objective, eta_utility = bounds.objective(problem, table[None])
    lower_bound = bounds.lower_bound(problem, witness)
    proof = rldp.Certificate(
        eta[0], float(eta_utility[0, 0]), witness.z[0], witness.members[0], problem.estimate[0]
    )
    claim = (float(objective[0]), float(lower_bound[0]), proof)
    guarantee = rldp.Guarantee(2.0, rldp.Sample(counts), region, region, distortion, *claim)
    assert lower_bound[0] > 0
    return rldp.Protocol(table, guarantee=guarantee)


@pytest.mark.slow
def test_a_large_protocol_passes_and_its_file_is_not_too_large(tmp_path):
    path = tmp_path / "protocol.json"
    large_protocol(2 / 3).save(path)
    assert path.stat().st_size < 40e6
    verdict = rldp.verify(path)
    assert verdict.reasons == ()
    assert verdict.ok


# What each claim rests on, one at a time


def test_a_row_that_is_off_by_one_grain(judged):
    def change(document):
        document["numerators"][1][2][0] += 1

    verdict = judged(change)
    assert not verdict.ok
    assert verdict.reasons[0] == (
        "the row of secret 'm' and value 4 does not sum to one: "
        "its numerators sum to 4503599627370497, not to 4503599627370496"
    )
    assert (verdict.epsilon, verdict.objective) == (None, None)
    assert all("probability is an integer" not in sentence for sentence in verdict.proved)


def only_reason(verdict, start):
    """The verdict refuses for one reason, and says of the other claims that they are proved."""
    assert not verdict.ok
    assert len(verdict.reasons) == 1
    assert verdict.reasons[0].startswith(start)
    assert len(verdict.proved) == 3


def test_privacy_at_a_smaller_level(judged, protocol):
    verdict = judged(lambda document: document[G].update(epsilon=0.699999))
    only_reason(verdict, "privacy is not proved for output ")
    assert re.search(r"for output [124] and secrets '[fm]', '[fm]': ", verdict.reasons[0])
    assert verdict.epsilon is None
    assert verdict.objective == protocol.guarantee.objective
    assert verdict.lower_bound == protocol.guarantee.lower_bound


@pytest.mark.parametrize("problem", ["NUNP", "NURP", "RUNP", "RURP"])
def test_an_objective_a_hair_too_small(judged, problem):
    designed = rldp.design(SAMPLE, 0.7, **sets_of(problem))
    true = File(designed.protocol.to_json().encode()).worst_distortion()
    just_below = float(true) * (1 - 1e-15)
    verdict = judged(lambda document: document[G].update(objective=just_below), designed.protocol)
    only_reason(verdict, f"the objective {just_below!r} is not proved: the bound that holds is ")
    assert verdict.objective is None
    bound = float(verdict.reasons[0].split()[-1])
    assert float(true) <= bound <= designed.objective


@pytest.mark.parametrize("problem", ["NUNP", "NURP", "RUNP", "RURP"])
@pytest.mark.parametrize("epsilon", [0, 0.7])
def test_a_lower_bound_a_hair_too_large(judged, problem, epsilon):
    designed = rldp.design(SAMPLE, epsilon, **sets_of(problem))
    proved = float(File(designed.protocol.to_json().encode()).proved_lower_bound())
    just_above = proved * (1 + 1e-15)
    verdict = judged(lambda document: document[G].update(lower_bound=just_above), designed.protocol)
    only_reason(verdict, f"the lower bound {just_above!r} is not proved: the bound that holds is ")
    assert verdict.lower_bound is None
    just_below = proved * (1 - 1e-15)
    assert judged(lambda document: document[G].update(lower_bound=just_below), designed.protocol).ok


def test_a_bound_that_says_nothing_needs_no_proof(judged):
    def change(document):
        document[G].update(lower_bound=-3.5, objective=1e300)
        document[G]["certificate"].update(multipliers=None, members=None, distribution=None)

    assert judged(change).ok


def test_a_negative_objective_is_never_true(judged):
    only_reason(judged(lambda document: document[G].update(objective=-1e-300)), "the objective -1e-300 is")


@pytest.mark.parametrize(
    ("level", "what"), [(0.01, "privacy is not proved"), (0.5, "the lower bound")], ids=["larger", "smaller"]
)
def test_the_set_is_what_the_level_says_not_what_the_proof_was_made_for(judged, level, what):
    """A larger set breaks privacy; a smaller one leaves out members that the lower bound needs."""
    verdict = judged(lambda document: document[G]["privacy"].update(alpha=level))
    only_reason(verdict, what)


def test_a_radius_can_be_chosen_but_not_smuggled_in(judged):
    both = judged(lambda document: document[G]["privacy"].update(radius=1e-9))
    assert both.reasons == (
        "the file is not a protocol file: guarantee.privacy.'alpha' is not a key of this format",
    )

    def chosen(document):
        document[G].update(
            privacy={"kind": "power-divergence", "lambda": 1.0, "radius": 1e-9}, lower_bound=0.0
        )

    verdict = judged(chosen)
    assert verdict.ok
    assert "for every distribution within radius 1e-09 of the estimate, as a χ² test " in verdict.proved[1]
    assert not any("does not reject" in sentence for sentence in verdict.proved[:2])


def test_more_draws_than_the_counts_show(judged):
    verdict = judged(lambda document: document[G].update(n=26000))
    assert verdict.reasons == (
        "the file is not a protocol file: guarantee.n must be the sum of the counts, positive and below "
        "2^53, "
        "got 26000",
    )


def test_an_order_that_was_not_designed_for(judged):
    """At λ = 5 the set is another one: it leaves out members that the lower bound needs."""
    verdict = judged(lambda document: document[G]["privacy"].update({"lambda": 5.0}))
    only_reason(verdict, "the lower bound ")
    assert verdict.epsilon == 0.7


# A protocol that is not robust


def named_triple(verdict, document):
    """The (y, s1, s2) that a refusal names by their labels."""
    found = re.match(r"privacy is not proved for output (.+) and secrets (.+), (.+): ", verdict.reasons[0])
    names = [[repr(label) for label in document[key]] for key in ("outputs", "secrets", "secrets")]
    return tuple(where.index(label) for where, label in zip(names, found.groups(), strict=True))


@pytest.mark.parametrize("order", [0.0, 2 / 3, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_nominal_protocol_that_claims_a_set_is_refused_with_a_triple_that_fails(tmp_path, seed, order):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(60, rng.dirichlet(np.full(9, 2.0))).reshape(3, 3)
    sample = rldp.Sample(counts, secrets=["a", "b", "c"], values=[10, 20, 30])
    nominal = rldp.design(sample, 0.5, privacy=rldp.Nominal(), utility=rldp.Nominal(), gap=1e-4)
    document = json.loads(nominal.protocol.to_json())
    document[G]["privacy"] = {"kind": "power-divergence", "lambda": order, "alpha": 0.05}
    path = tmp_path / "protocol.json"
    path.write_text(json.dumps(document))
    verdict = rldp.verify(path)
    assert not verdict.ok
    assert verdict.epsilon is None
    y, s1, s2 = named_triple(verdict, document)
    with workdps(DIGITS):
        excess = File(path.read_bytes()).privacy_excess(y, s1, s2)
    assert excess > 1e-4
    bound = float(re.search(r"at most (\S+) in the set", verdict.reasons[0])[1])
    assert bound == pytest.approx(float(excess), rel=1e-4)


@pytest.mark.parametrize("order", [0.0, 1.0, 3.0])
def test_the_line_between_private_and_not_is_drawn_where_it_is(tmp_path, order):
    """The smallest level that is true is found by halving; the judge lets hardly more pass, and no less."""
    table = [[[0.3, 0.7], [0.6, 0.4]], [[0.5, 0.5], [0.35, 0.65]]]
    numerators = rldp.Protocol(table).numerators.tolist()
    region = {"kind": "power-divergence", "lambda": order, "alpha": 0.05}
    document = bare(numerators, [[30, 12], [0, 25]], privacy=region)
    low, high = 0.1, 0.8
    for _ in range(40):
        document[G]["epsilon"] = middle = (low + high) / 2
        fails = File(json.dumps(document).encode()).failing_triples()
        low, high = (middle, high) if fails else (low, middle)
    assert 0.11 < high < 0.79
    document[G]["epsilon"] = high * (1 + 1e-9)
    assert verdict_on(document, tmp_path).ok
    document[G]["epsilon"] = low
    assert not verdict_on(document, tmp_path).ok


def test_a_nominal_protocol_that_is_not_private_names_the_worst_pair(judged):
    designed = rldp.design(SAMPLE, 0.7, **sets_of("NUNP"))

    def change(document):
        document[G]["epsilon"] = 0.5

    verdict = judged(change, designed.protocol)
    assert re.fullmatch(
        r"privacy is not proved for output [124] and secrets '[fm]', '[fm]': "
        r"the ratio of their probabilities under the estimate is 2\.013\d\d",
        verdict.reasons[0],
    )


def test_a_secret_without_data_has_any_conditional_at_all(judged):
    """Under a set, it must be protected whatever its values are; under the estimate it is not protected."""
    sample = rldp.Sample([[4, 5], [0, 0]], secrets=["seen", "unseen"])
    kept = rldp.Protocol([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]], ["seen", "unseen"])

    def claims(privacy):
        certificate = rldp.Certificate(None, None, None, None, None)
        guarantee = rldp.Guarantee(
            0.1, sample, privacy, rldp.Nominal(), np.zeros((2, 2)), 0.0, 0.0, certificate
        )
        return rldp.Protocol(kept.matrix, kept.secrets, guarantee=guarantee)

    for nominal in (rldp.Nominal(), rldp.PowerDivergence(1, radius=0)):
        verdict = rldp.verify(claims(nominal))
        assert verdict.ok
        assert "and not for secrets that the sample never shows ('unseen')" in verdict.proved[1]
    verdict = rldp.verify(claims(rldp.ChiSquare()))
    only_reason(verdict, "privacy is not proved for output 0 and secrets 'seen', 'unseen': ")


# Proofs that are missing or wrong


def without(*names):
    return lambda document: document[G]["certificate"].update(dict.fromkeys(names))


def test_missing_eta_are_searched_for(judged, protocol):
    assert judged(without("eta")).ok
    verdict = judged(without("eta_utility"))
    assert verdict.ok or verdict.reasons[0].startswith("the objective ")

    def looser(document):
        without("eta_utility")(document)
        document[G]["objective"] *= 1 + 1e-12

    assert judged(looser).ok


def test_wrong_eta_do_no_harm(judged):
    for wrong in (0.0, -1e300, 1e300, 1e-300):

        def change(document, wrong=wrong):
            eta = document[G]["certificate"]["eta"]
            eta[0][0] = [wrong, wrong]
            eta[1][1] = [wrong, -wrong]

        assert judged(change).ok


def test_a_lower_bound_without_multipliers_or_with_wrong_ones(judged):
    only_reason(judged(without("multipliers")), "the lower bound ")
    only_reason(judged(without("members")), "the lower bound ")
    only_reason(judged(without("distribution")), "the lower bound ")


def test_members_outside_the_set_prove_nothing(judged):
    def change(document):
        proof = document[G]["certificate"]
        y, t = np.argwhere(np.array(proof["multipliers"]) > 0)[0]
        proof["members"][y][t][0] = [1, 0, 0]

    verdict = judged(change)
    only_reason(verdict, "the lower bound ")
    assert re.search(r"members \[\d\]\[\d\] are not in the privacy set$", verdict.reasons[0])


def test_eta_must_lie_above_cells_that_were_never_seen_too(tmp_path):
    """A member may put mass on the third value of the first secret, which gives output 0 for sure."""
    half = DENOMINATOR // 2
    table = [[[half, half], [half, half], [DENOMINATOR, 0]], [[half, half]] * 3]
    document = bare(table, [[5, 5, 0], [5, 5, 5]], epsilon=0.3)
    for eta in ([0.5, -0.67], [0.6, -0.67], [0.0, 0.0], [-5.0, -5.0]):
        document[G]["certificate"]["eta"] = [[eta, eta[::-1]]] * 2
        only_reason(verdict_on(document, tmp_path), "privacy is not proved for output 0 and secrets 0, 1: ")
    document[G]["counts"][0][2], document[G]["n"] = 10**6, 10**6 + 25
    assert not verdict_on(document, tmp_path).ok


@pytest.mark.parametrize("scale", [1e-5, 0.7, 3.0])
def test_members_and_distribution_count_in_proportion(judged, scale):
    def change(document):
        proof = document[G]["certificate"]
        for key in ("members", "distribution"):
            proof[key] = (scale * np.array(proof[key])).tolist()
        document[G]["lower_bound"] *= 1 - 1e-12

    assert judged(change).ok


def test_members_and_distribution_that_are_zero_prove_nothing(judged):
    def no_members(document):
        proof = document[G]["certificate"]
        proof["members"] = np.zeros_like(proof["members"]).tolist()

    def no_distribution(document):
        proof = document[G]["certificate"]
        proof["distribution"] = np.zeros_like(proof["distribution"]).tolist()

    only_reason(judged(no_members), "the lower bound ")
    only_reason(judged(no_distribution), "the lower bound ")


def test_a_distribution_outside_the_set_proves_nothing(judged):
    def change(document):
        document[G]["certificate"]["distribution"] = [[1, 0, 0], [0, 0, 1]]

    verdict = judged(change)
    only_reason(verdict, "the lower bound ")
    assert verdict.reasons[0].endswith("the certificate's distribution is not in the utility set")


def test_under_the_estimate_no_other_distribution_counts(judged):
    designed = rldp.design(SAMPLE, 0.7, **sets_of("NURP"))

    def change(document):
        document[G]["certificate"]["distribution"] = (np.array(COUNTS) / 26).tolist()

    verdict = judged(change, designed.protocol)
    only_reason(verdict, "the lower bound ")


def test_a_multiplier_of_a_secret_without_data_proves_nothing_under_the_estimate(judged):
    sample = rldp.Sample([[4, 5], [5, 1], [0, 0]])
    designed = rldp.design(sample, 0.3, **sets_of("NUNP"))

    def change(document):
        document[G]["certificate"]["multipliers"][0][1] = 1e-9

    assert rldp.verify(designed.protocol).ok
    verdict = judged(change, designed.protocol)
    only_reason(verdict, "the lower bound ")
    assert verdict.reasons[0].endswith("multiplier [0][1] weighs a secret that was never seen")


def test_multipliers_prove_nothing_without_a_constraint(judged):
    designed = rldp.design(SAMPLE, math.inf)

    def change(document):
        document[G].update(lower_bound=1e-9)
        document[G]["certificate"]["multipliers"][0][0] = 1

    verdict = judged(change, designed.protocol)
    only_reason(verdict, "the lower bound ")
    assert verdict.reasons[0].endswith("at ε = ∞ every multiplier must be 0")


@pytest.mark.parametrize("epsilon", [1e-300, 0.7])
def test_only_at_level_zero_over_a_set_are_constants_the_only_private_protocols(judged, epsilon):
    frozen = rldp.design(SAMPLE, 0).protocol
    assert frozen.guarantee.certificate.multipliers is None
    assert rldp.verify(frozen).ok
    only_reason(judged(lambda document: document[G].update(epsilon=epsilon), frozen), "the lower bound ")


def test_constants_are_not_the_only_private_protocols_under_the_estimate(judged):
    frozen = rldp.design(SAMPLE, 0).protocol
    for nominal in ({"kind": "nominal"}, {"kind": "power-divergence", "lambda": 1, "radius": 0}):
        verdict = judged(lambda document, nominal=nominal: document[G].update(privacy=nominal), frozen)
        only_reason(verdict, "the lower bound ")


# Words


def test_the_verdict_can_be_quoted(protocol):
    verdict = rldp.verify(protocol)
    claim = protocol.guarantee
    scope = "for every distribution that a χ² test at level 0.05 does not reject (sample of 26 rows, 6 cells)"
    assert verdict.proved == (
        "Every probability is an integer over 2^52, and every row of the table sums to exactly one.",
        f"P(Y=y | S=s1) ≤ e^0.7 · P(Y=y | S=s2) for all outputs y and secrets s1, s2, {scope}.",
        f"The expected distortion is at most {at_most(claim.objective)}, {scope}, where distortion is "
        "d(u, y) = (u − y)².",
        "No protocol with these outputs that is private in this sense has a largest expected distortion "
        f"below {at_least(claim.lower_bound)}, {scope}.",
    )
    assert verdict.assumptions[0] == (
        "The sample of n = 26 rows was drawn independently from the distribution of the people who are to be "
        "protected."
    )
    for what, assumption in zip(("privacy", "utility"), verdict.assumptions[1:3], strict=True):
        assert assumption == (
            f"For {what}, that distribution is in the set. Over the draw of the sample this has probability "
            "0.95 in the limit of many rows, and may be less at this number. Here 4 of 6 cells were seen "
            "fewer than 5 times, and it can be far less."
        )
    assert str(verdict).splitlines()[0] == "Proved:"
    for what, sentence in zip(("privacy", "utility"), verdict.not_promised, strict=False):
        assert sentence == (
            f"For {what}: that the set holds the people's distribution with probability 0.95 at this number "
            "of rows. Where 0.95 was asked for, 0.65 was measured for sets of the χ² test and 0.74 for sets "
            "of the G-test, at the worst distributions."
        )
    for sentence in verdict.proved + verdict.assumptions + verdict.not_promised:
        assert f"  - {sentence}" in str(verdict).splitlines()


def test_without_sets_the_estimate_is_assumed_to_be_the_truth():
    verdict = rldp.verify(rldp.design(SAMPLE, 0.7, **sets_of("NUNP")).protocol)
    assert verdict.proved[1].endswith("for the estimated distribution only (sample of 26 rows, 6 cells).")
    assert verdict.assumptions[1:3] == tuple(
        f"For {what}, that distribution is exactly the one the sample shows."
        for what in ("privacy", "utility")
    )


def test_no_level_means_no_privacy_and_says_so():
    verdict = rldp.verify(rldp.design(SAMPLE, math.inf).protocol)
    assert verdict.ok
    assert verdict.proved[1] == "Nothing is claimed about privacy (ε = ∞)."


def test_a_refusal_says_what_is_proved_all_the_same(judged):
    verdict = judged(lambda document: document[G].update(objective=0.01))
    lines = str(verdict).splitlines()
    assert lines[0] == "Refused:"
    assert lines[1] == f"  - {verdict.reasons[0]}"
    assert "What is proved:" in lines
    assert "Assuming:" in lines
    assert "Not promised:" in lines


# What is no protocol file, or claims nothing


def test_a_table_without_a_guarantee_claims_nothing():
    verdict = rldp.verify(rldp.Protocol([[[0.25, 0.75], [1, 0]]], ["all"]))
    assert not verdict.ok
    assert verdict.reasons == ("the file claims nothing: it holds a table without a guarantee",)
    assert verdict.proved == ()


@pytest.mark.parametrize("level", [math.nan, -math.inf, -1.0])
def test_a_level_that_is_none_is_not_taken_for_infinity(protocol, level):
    claim = dataclasses.replace(protocol.guarantee, epsilon=level)
    names = protocol.secrets, protocol.values, protocol.outputs
    verdict = rldp.verify(rldp.Protocol(protocol.matrix, *names, guarantee=claim))
    assert not verdict.ok
    assert verdict.proved == ()
    assert "number" in verdict.reasons[0]


NO_PROTOCOLS = {
    "empty": b"",
    "text": b"protocol",
    "other JSON": b"[1, 2]",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"format": "rldp-protocol"}'.encode("utf-16"),
    "deep": b"[" * 10**6,
    "deep objects": b'{"a":' * 10**5,
    "a version of the future": b'{"format": "rldp-protocol", "version": 3}',
    "endless digits": b'{"format": "rldp-protocol", "version": ' + b"1" * 10**6 + b"}",
}


@pytest.mark.parametrize("content", NO_PROTOCOLS.values(), ids=NO_PROTOCOLS)
def test_other_files_get_a_verdict_too(tmp_path, content):
    (tmp_path / "protocol.json").write_bytes(content)
    verdict = rldp.verify(tmp_path / "protocol.json")
    assert not verdict.ok
    assert verdict.reasons[0].startswith("the file is not a protocol file: ")
    assert "\n" not in verdict.reasons[0]
    assert len(verdict.reasons[0]) < 300


@pytest.mark.parametrize("odd", [-0.0, 5e-324, 1e-310])
def test_numbers_at_the_edge_of_floats_are_numbers(judged, odd):
    """Each is read as what it is: only a smaller lower bound is still true, and only α must be larger."""
    assert judged(lambda document: document[G].update(lower_bound=odd)).ok
    refused = {
        "epsilon": "privacy is not proved",
        "objective": "the objective",
        "lambda": "privacy is not proved",
    }
    refused |= {
        "radius": "the lower bound",
        "alpha": "the file is not a protocol file: guarantee.privacy.alpha",
    }
    for key, reason in refused.items():

        def change(document, key=key):
            if key in document[G]:
                document[G][key] = odd
                return
            given = {"alpha": odd} if key == "alpha" else {"radius": 1.0} | {key: odd}
            document[G]["privacy"] = {"kind": "power-divergence", "lambda": 1.0} | given

        assert judged(change).reasons[0].startswith(reason), key


@pytest.mark.parametrize("huge", [1e300, 1.7e308, 2**53, 10**300])
def test_huge_numbers_get_a_verdict(judged, huge):
    def everywhere(document):
        proof = document[G]["certificate"]
        document[G].update(epsilon=huge, distortion=[[huge] * 3] * 3, objective=huge)
        for key in ("eta", "multipliers", "members", "distribution"):
            proof[key] = (np.zeros_like(proof[key]) + float(huge)).tolist()
        proof["eta_utility"] = huge

    assert not judged(everywhere).ok
    assert not judged(lambda document: document[G]["privacy"].update({"lambda": 100, "alpha": 5e-324})).ok


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(rldp.ProtocolFileError, match="is missing"):
        rldp.verify(tmp_path / "none.json")
    with pytest.raises(rldp.ProtocolFileError, match="cannot be read"):
        rldp.verify(tmp_path)
    with pytest.raises(rldp.InvalidArgumentType, match="path must be a path"):
        rldp.verify(5)


# No file takes long: what a proof does not settle is searched for only while that is cheap


def bare(table, counts, **claim):
    """A file that claims a set for privacy and gives no proof."""
    secrets, values, outputs = len(table), len(table[0]), len(table[0][0])
    nothing = dict.fromkeys(("eta", "eta_utility", "multipliers", "members", "distribution"))
    return {
        "format": "rldp-protocol",
        "version": 1,
        "generator": "by hand",
        "secrets": list(range(secrets)),
        "values": list(range(values)),
        "outputs": list(range(outputs)),
        "denominator": DENOMINATOR,
        "numerators": table,
        G: {
            "epsilon": 1.0,
            "n": sum(map(sum, counts)),
            "counts": counts,
            "privacy": {"kind": "power-divergence", "lambda": 1.0, "alpha": 0.05},
            "utility": {"kind": "nominal"},
            "distortion": [[0] * outputs] * values,
            "objective": 0,
            "lower_bound": 0,
            "certificate": nothing,
        }
        | claim,
    }


def verdict_on(document, tmp_path):
    (tmp_path / "protocol.json").write_text(json.dumps(document))
    return rldp.verify(tmp_path / "protocol.json")


def test_many_secrets_make_no_list_of_pairs(tmp_path):
    """6 000 secrets have 36 million pairs; that rows are all equal, or not, is seen without them."""
    many = 6_000
    one = bare([[[DENOMINATOR, 0]]] * many, [[1]] * many)
    assert verdict_on(one, tmp_path).ok
    one["numerators"][-1] = [[0, DENOMINATOR]]
    only_reason(
        verdict_on(one, tmp_path),
        "privacy is not proved for output 0 and secrets 0, 5999: the file carries no η to prove it",
    )


def test_without_eta_few_triples_are_searched_and_of_many_one_in_doubt_is_named(tmp_path, monkeypatch):
    """'Where a file carries no η and has more than ten thousand triples in doubt' (docs/theory.md)."""
    assert checks._MOST_TRIPLES_WITHOUT_PROOF == 10_000
    protocol = rldp.design(rldp.Sample([[20, 9, 4], [8, 12, 9], [3, 8, 17]]), 0.5).protocol
    document = json.loads(protocol.to_json())
    document[G]["certificate"]["eta"] = None
    assert verdict_on(document, tmp_path).ok
    monkeypatch.setattr(checks, "_MOST_TRIPLES_WITHOUT_PROOF", 0)
    (reason,) = verdict_on(document, tmp_path).reasons
    named = r"privacy is not proved for output (.) and secrets (.), (.): the file carries no η to prove it"
    y, s1, s2 = map(int, re.fullmatch(named, reason).groups())
    assert protocol.matrix[s1, :, y].max() > np.exp(0.5) * protocol.matrix[s2, :, y].min()


def test_many_triples_without_eta_are_no_matter_where_every_distribution_is_private(tmp_path):
    """One secret's own rows are far apart, which no pair of secrets is; e² is 7.4."""
    far, near = ([round(p * DENOMINATOR), DENOMINATOR - round(p * DENOMINATOR)] for p in (0.08, 0.7))
    middle = [DENOMINATOR * 3 // 10, DENOMINATOR - DENOMINATOR * 3 // 10]
    document = bare([[far, near]] + [[middle, middle]] * 101, [[1, 1]] * 102, epsilon=2.0)
    assert verdict_on(document, tmp_path).ok


def test_many_values_are_not_searched_through(tmp_path):
    values = 4000
    table = [[[DENOMINATOR, 0], [0, DENOMINATOR]] * (values // 2)] * 2
    document = bare(table, [[1] * values] * 2)
    only_reason(
        verdict_on(document, tmp_path),
        "privacy is not proved for output 0 and secrets 0, 1: the file carries no η that proves it",
    )


@pytest.mark.slow
def test_a_utility_set_of_many_cells_is_not_searched_through(tmp_path):
    values = 24_000
    utility = {"kind": "power-divergence", "lambda": 1.0, "alpha": 0.05}
    table = [[[DENOMINATOR, 0], [0, DENOMINATOR]] * (values // 2)]
    claim = {"utility": utility, "distortion": [[0, 1]] * values}
    document = bare(table, [[1] * values], objective=1, **claim)
    assert verdict_on(document, tmp_path).ok
    document[G]["objective"] = 0.999
    only_reason(verdict_on(document, tmp_path), "the objective 0.999 is not proved")


@pytest.mark.parametrize("order", [5e-324, 1e-100, 1e-17])
def test_orders_next_to_zero_are_no_trouble(judged, order):
    """The set of a tiny order and that of order 0 are the same but for a hair."""
    designed = rldp.design(SAMPLE, 0.7, privacy=rldp.GTest(), utility=rldp.GTest())

    def change(document):
        document[G]["privacy"]["lambda"] = document[G]["utility"]["lambda"] = order

    verdict = judged(change, designed.protocol)
    assert verdict.ok


# The judge's numbers


@pytest.mark.parametrize("freedom", [1, 2, 14, 499, 9999])
@pytest.mark.parametrize("alpha", [5e-324, 1e-12, 0.05, 0.5, 1 - 1e-9, 1 - 2**-53])
def test_quantiles_hold_the_truth_and_little_else(freedom, alpha):
    with ctx.workprec(128):
        ball = upper_quantile(freedom, alpha)
        assert ball.rad() < 1e-18 * ball.mid()
        if freedom < 1000:
            with workdps(40):
                true = quantile(freedom, alpha)
                assert mpf(str(ball.lower().str(40, radius=False))) <= true * (1 + mpf(10) ** -38)
                assert true * (1 - mpf(10) ** -38) <= mpf(str(ball.upper().str(40, radius=False)))
        if alpha >= 1e-12:
            assert float(ball.mid()) == pytest.approx(chi2.isf(alpha, freedom), rel=1e-10)


ORDERS = [0.0, 1e-9, 0.1, 2 / 3, 1.0, 5.0, 100.0]


def random_groups(seed, order):
    """Two secrets with costs v, some cells and sometimes a secret never seen, as (mass, conditional, v)."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, (3, 4)) * (rng.random((3, 4)) < 0.7)
    counts[2, 0] += 1
    if seed % 5 == 4:
        counts[1] = 0
    v = rng.random((2, 4)) * (rng.random((2, 4)) < 0.8)
    n, region = int(counts.sum()), Set(mpf(order), mpf(float(10.0 ** rng.integers(-6, 2))))
    groups = []
    for row, costs, sign in zip(counts[:2].tolist(), v.tolist(), (1, -2.5), strict=True):
        conditional = [mpf(c) / max(sum(row), 1) for c in row]
        groups.append((mpf(sum(row)) / n, conditional, [mpf(sign * x) for x in costs]))
    judged_groups = [
        Group(arb(sum(row)) / n, [arb(c) / max(sum(row), 1) for c in row]) for row in counts[:2].tolist()
    ]
    judged_v = [[arb(sign * x) for x in costs] for costs, sign in zip(v.tolist(), (1, -2.5), strict=True)]
    return region, groups, Region(order, arb(float(region.radius))), judged_groups, judged_v, rng


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(10))
def test_the_bound_is_above_every_member_and_meets_the_worst(order, seed):
    with workdps(DIGITS), ctx.workprec(160):
        region, groups, ball_region, ball_groups, v, rng = random_groups(seed, order)
        members = worst(region, groups)
        reached = sum(
            sum(r * x for r, x in zip(m, g[2], strict=True)) for m, g in zip(members, groups, strict=True)
        )
        tops = [max(row, key=float) for row in v]

        def bound(eta):
            return _bracket(ball_region, ball_groups, v, eta)

        for _ in range(20):
            eta = [top + arb(float(10 ** rng.uniform(-6, 3))) for top in tops]
            assert float(bound(eta)) >= float(reached) - 1e-14
        best = float(bound(minimised(bound, tops, arb(2.5))))
        assert best == pytest.approx(float(reached), abs=1e-9)
        assert best >= float(reached) - 1e-14


def mean_as_written(order, radius, groups, p):
    """G(p) in many digits: T^{1/θ} C^{1−1/θ}, and P̄ e^{−r/P̄} Π (M_i/P_i)^{P_i/P̄} for λ = 0."""
    seen = [
        (mass, conditional, row) for (mass, conditional, _), row in zip(groups, p, strict=True) if mass > 0
    ]
    total = sum(mass for mass, _, _ in seen)
    if order == 0:
        result = total * mp.exp(-radius / total)
        for mass, conditional, row in seen:
            geometric = mp.exp(sum(c * mp.log(x) for c, x in zip(conditional, row, strict=True) if c > 0))
            result *= (geometric / mass) ** (mass / total)
        return result
    order = mpf(order)
    rho, theta = order / (1 + order), order / (1 + 2 * order)
    t = mpf(0)
    for mass, conditional, row in seen:
        mean = sum(c * x**rho for c, x in zip(conditional, row, strict=True) if c > 0) ** (1 / rho)
        t += mass ** (1 - theta) * mean**theta
    return t ** (1 / theta) * ((1 + radius) ** (1 / (1 + order)) - 1 + total) ** (1 - 1 / theta)


@pytest.mark.parametrize("order", [*ORDERS, 1e-60])
@pytest.mark.parametrize("seed", range(6))
def test_the_nested_mean_is_rounded_down_and_hardly(order, seed):
    with workdps(120), ctx.workprec(400):
        region, groups, ball_region, ball_groups, _, rng = random_groups(seed, order)
        p = (10.0 ** rng.uniform(-8, 4, (2, 4))).tolist()
        exact = mean_as_written(order, region.radius, groups, [[mpf(x) for x in row] for row in p])
        found = ball_region.mean(ball_groups, [[arb(x) for x in row] for row in p])
        below = mpf(found.str(80, radius=False)) / exact
        assert 1 - mpf(10) ** -30 < below < 1 + mpf(10) ** -60


def test_a_mean_of_zeros_is_zero():
    with ctx.workprec(128):
        group = Group(arb(1), [arb(0.5), arb(0.5), arb(0)])
        for order in ORDERS:
            region = Region(order, arb(0.1))
            assert region.mean([group], [[arb(0), arb(0), arb(3)]]) <= 0
            assert region.mean([Group(arb(0), [arb(0)])], [[arb(1)]]) == 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 9])
def test_members_are_told_from_what_is_just_outside(order, seed):
    with workdps(DIGITS), ctx.workprec(160):
        region, groups, ball_region, ball_groups, _, _ = random_groups(seed, order)
        members = worst(region, groups)

        def contains(stretch):
            """Whether the members, moved from the estimate by a factor, are in the set."""
            moved = []
            for member, (mass, conditional, _) in zip(members, groups, strict=True):
                row = [c + stretch * (r - c) if mass else r for r, c in zip(member, conditional, strict=True)]
                moved.append([arb(mp.nstr(x, 45)) for x in row])
            return ball_region.contains(ball_groups, moved)

        assert contains(mpf(0))
        assert contains(1 - mpf(10) ** -10)
        assert not contains(1 + mpf(10) ** -10)
        with ctx.workprec(20):  # which cannot tell the three apart
            assert not contains(1 + mpf(10) ** -10)


def test_a_member_must_be_positive_where_the_sample_is():
    with ctx.workprec(128):
        group = Group(arb(1), [arb(0.5), arb(0.5)])
        for order in ORDERS:
            assert not Region(order, arb(1e300)).contains([group], [[arb(1), arb(0)]])


def test_precision_grows_as_the_order_shrinks():
    assert working_bits(SetClaim(None), SetClaim(1.0, alpha=0.1)) == 128
    assert working_bits(SetClaim(0.0, alpha=0.1), SetClaim(100.0, radius=1.0)) == 128
    assert working_bits(SetClaim(5e-324, alpha=0.1), SetClaim(1.0, alpha=0.1)) > 1200


# What is false by next to nothing


NOMINAL = {"kind": "nominal"}
CHI2, G_TEST = ({"kind": "power-divergence", "lambda": order, "alpha": 0.05} for order in (1.0, 0.0))


def sixteenths(*rows):
    """A table on one value: P(0|s), P(1|s), … in sixteenths, so that no distribution matters."""
    return [[[k * DENOMINATOR // 16 for k in row]] for row in rows]


def test_a_secret_seen_once_is_protected_too(tmp_path):
    table = [[[8, 8], [8, 8]], [[16, 0], [8, 8]]]
    table = [[[k * DENOMINATOR // 16 for k in row] for row in rows] for rows in table]
    document = bare(table, [[8, 8], [1, 0]], privacy=NOMINAL)
    only_reason(verdict_on(document, tmp_path), "privacy is not proved for output 1 and secrets 0, 1: ")


@pytest.mark.parametrize("seed", range(8))
def test_under_the_estimate_the_level_is_that_of_the_definition(tmp_path, seed):
    """Secrets of very different sizes, one of them seen once: the largest ratio of conditionals decides."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 10 ** rng.integers(1, 5, (4, 1)), (4, 3)) + [[1, 0, 0]]
    counts[seed % 4] = [0, 1, 0]
    table = rldp.Protocol(rng.dirichlet(np.full(2, 3.0), (4, 3))).numerators.tolist()
    conditionals = [
        [sum(n * row[y] for n, row in zip(ns, rows, strict=True)) / sum(ns) for y in range(2)]
        for ns, rows in zip(counts.tolist(), table, strict=True)
    ]
    ratio = max(max(column) / min(column) for column in zip(*conditionals, strict=True))
    document = bare(table, counts.tolist(), privacy=NOMINAL, epsilon=math.log(ratio) * (1 + 1e-9))
    assert verdict_on(document, tmp_path).ok
    document[G]["epsilon"] = math.log(ratio) * (1 - 1e-9)
    only_reason(verdict_on(document, tmp_path), "privacy is not proved for output ")


@pytest.mark.parametrize("epsilon", [0, 1e-100])
def test_numbers_that_differ_beyond_all_digits_are_not_taken_for_equal(tmp_path, epsilon):
    """Secrets a, b of A and B rows give output 0 in x and y of A·2^52 and B·2^52 cases, with x·B − y·A = 1.

    So the two probabilities differ by 2^-154 or so of themselves. A row count of A − 1 and 1 reaches every x.
    """
    a, b = 2**50 + 7, 2**51 + 1
    x = pow(b, -1, a) + (DENOMINATOR // 3) * a
    y = (x * b - 1) // a
    assert x * b - y * a == 1
    table = []
    for total, cases in ((a, x), (b, y)):
        most, rest = divmod(cases, total - 1)
        assert rest <= DENOMINATOR
        table.append([[most, DENOMINATOR - most], [rest, DENOMINATOR - rest]])
    document = bare(table, [[a - 1, 1], [b - 1, 1]], privacy=NOMINAL, epsilon=epsilon)
    only_reason(verdict_on(document, tmp_path), "privacy is not proved for output ")


@pytest.mark.parametrize("privacy", [NOMINAL, CHI2, G_TEST], ids=["nominal", "chi2", "g"])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_the_one_triple_that_fails_is_found_wherever_it_stands(tmp_path, order, privacy):
    """Of 10, 8 and 5 sixteenths for output 0 only 10 to 5 is more than 1.9; of the others at most 11 to 6."""
    shares = [(10, 5, 8)[i] for i in order]
    for flip in (1, -1):
        table = sixteenths(*((share, 16 - share)[::flip] for share in shares))
        document = bare(table, [[4], [4], [4]], privacy=privacy, epsilon=math.log(1.9))
        s1, s2, y = shares.index(10), shares.index(5), 0 if flip == 1 else 1
        only_reason(
            verdict_on(document, tmp_path), f"privacy is not proved for output {y} and secrets {s1}, {s2}: "
        )
        document[G]["epsilon"] = math.log(2.1)
        assert verdict_on(document, tmp_path).ok


@pytest.mark.parametrize("privacy", [NOMINAL, CHI2, G_TEST], ids=["nominal", "chi2", "g"])
@pytest.mark.parametrize("with_eta", [True, False])
def test_less_than_a_grain_too_much_is_too_much(tmp_path, privacy, with_eta):
    """At level 1 three grains allow 8.15 of them: eight are private, nine are not."""
    for grains, private in ((8, True), (9, False)):
        table = [[[grains, DENOMINATOR - grains]], [[3, DENOMINATOR - 3]]]
        document = bare(table, [[4], [4]], privacy=privacy)
        if with_eta and privacy is not NOMINAL:
            x = [[grains, -math.e * 3], [3, -math.e * grains]]
            x += [[DENOMINATOR - grains, -math.e * (DENOMINATOR - 3)]]
            x += [[DENOMINATOR - 3, -math.e * (DENOMINATOR - grains)]]
            eta = [[value / DENOMINATOR for value in pair] for pair in x]
            document[G]["certificate"]["eta"] = [eta[:2], eta[2:]]
        assert verdict_on(document, tmp_path).ok == private


def case_of(document):
    document = parsed(json.dumps(document).encode())
    return Case(document, document.guarantee)


def proved_by_hand(**claim):
    """The secrets show one value each, so with a = P(0|s1), b = P(0|s2) the cost is (1 − a)/2 + b/2.

    As a ≤ e·b, it is at least z if z·e ≤ 1/2: the multiplier is z.
    """
    table = [[row] * 2 for (row,) in sixteenths((11, 5), (5, 11))]
    document = bare(table, [[4, 0], [0, 4]], privacy=NOMINAL, distortion=[[0, 1], [1, 0]], objective=1)
    document[G].update(claim)
    document[G]["certificate"]["multipliers"] = [[0.18, 0.0], [0.0, 0.0]]
    return document


def test_where_the_precision_does_not_tell_the_judge_doubts():
    """Claims that are false by a billionth, in an arithmetic of seven digits."""
    hair = 1e-9
    twice = bare(sixteenths((10, 6), (5, 11)), [[4], [3]], privacy=NOMINAL, epsilon=math.log(2) * (1 - hair))
    costly = proved_by_hand(counts=[[3, 0], [0, 4]], n=7, lower_bound=0, objective=0.3125 * (1 - hair))
    bound = proved_by_hand(lower_bound=0.18 * (1 + hair))
    with ctx.workprec(24):
        assert case_of(twice).privacy().startswith("privacy is not proved")
        assert case_of(costly).objective().startswith("the objective ")
        assert case_of(bound).lower_bound().startswith("the lower bound ")
    with ctx.workprec(128):
        assert case_of(twice).privacy().startswith("privacy is not proved")
        twice[G]["epsilon"] = math.log(2) * (1 + hair)
        costly[G]["objective"] = 0.3125 * (1 + hair)
        bound[G]["lower_bound"] = 0.18 * (1 - hair)
        assert case_of(twice).privacy() is None
        assert case_of(costly).objective() is None
        assert case_of(bound).lower_bound() is None


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.7, 1.0, 3.3, 50.0, 700.0])
def test_what_the_judge_takes_for_e_to_the_level_is_no_more(epsilon):
    for bits in (24, 53, 128):
        with ctx.workprec(bits):
            factor = case_of(proved_by_hand(epsilon=epsilon))._weakest_factor(0, 1)
        with ctx.workprec(2000):
            assert factor <= arb(epsilon).exp()
            assert factor >= arb(epsilon).exp() * (1 - arb(2) ** (12 - bits))


@pytest.mark.parametrize("order", ORDERS)
def test_a_bound_is_no_less_in_a_poor_arithmetic(order):
    for seed in range(10):
        _, _, region, groups, v, rng = random_groups(seed, order)
        eta = [max(map(float, row)) + float(10 ** rng.uniform(-3, 1)) for row in v]
        with ctx.workprec(28):
            poor = _bracket(region, groups, v, [arb(x) for x in eta])
        with ctx.workprec(400):
            _, _, region, groups, v, _ = random_groups(seed, order)
            assert poor >= _bracket(region, groups, v, [arb(x) for x in eta])


def test_multipliers_that_fit_a_smaller_level_prove_nothing_at_a_larger_one(tmp_path):
    """At level 800 the best cost is below 1e300·e^-800; what these multipliers prove would hold at 700."""
    document = proved_by_hand(
        epsilon=800.0, distortion=[[0, 1e300], [1e300, 0]], objective=1e300, lower_bound=2e-5
    )
    document[G]["certificate"]["multipliers"] = [[0.5e300 * math.exp(-700), 0.0], [0.0, 0.0]]
    only_reason(verdict_on(document, tmp_path), "the lower bound 2e-05 is not proved: ")


@pytest.mark.parametrize("privacy", [NOMINAL, CHI2], ids=["nominal", "chi2"])
def test_with_one_secret_everything_is_private_at_level_zero(tmp_path, privacy):
    table = [[[DENOMINATOR, 0], [0, DENOMINATOR]]]
    document = bare(table, [[5, 5]], privacy=privacy, epsilon=0, distortion=[[0, 1], [1, 0]], lower_bound=0.5)
    document[G]["objective"] = 0.5
    only_reason(verdict_on(document, tmp_path), "the lower bound 0.5 is not proved: ")


# The command


@pytest.fixture
def verify_command(monkeypatch, capsys, tmp_path, protocol):
    """Run ``rldp verify`` beside a file that is fine and one that is not: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    protocol.save(tmp_path / "good.json")
    document = json.loads(protocol.to_json())
    document[G]["epsilon"] = 0.1
    (tmp_path / "bad.json").write_text(json.dumps(document))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["rldp", "verify", *arguments])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as stopped:
            cli.main()
        printed = capsys.readouterr()
        return stopped.value.code or 0, printed.out, printed.err

    return run


def test_the_command_prints_the_verdict(verify_command):
    assert verify_command("good.json") == (0, f"{rldp.verify('good.json')}\n", "")


def test_a_refusal_is_exit_code_three_and_one_line(verify_command):
    code, output, errors = verify_command("bad.json")
    assert code == 3
    assert output == f"{rldp.verify('bad.json')}\n"
    assert re.fullmatch(r"rldp: bad\.json is refused: privacy is not proved for output .+\n", errors)


@pytest.mark.parametrize("name", ["good.json", "bad.json"])
def test_the_verdict_as_json(verify_command, name):
    code, output, errors = verify_command(name, "--json")
    verdict = rldp.verify(name)
    found = json.loads(output)
    assert set(found) == {
        *("ok", "epsilon", "objective", "lower_bound", "reasons", "proved", "assumptions"),
        *("not_promised", "scope", "distortion", "readable", "epsilon_known", "levels"),
    }
    assert found["ok"] is verdict.ok
    assert (found["epsilon"], found["objective"]) == (verdict.epsilon, verdict.objective)
    assert found["reasons"] == list(verdict.reasons)
    assert code == (0 if verdict.ok else 3)
    assert errors.count("\n") == (code != 0)


def test_no_level_at_all_is_a_word_in_json(verify_command, tmp_path):
    rldp.design(rldp.Sample([[9, 3], [1, 4]]), math.inf).protocol.save(tmp_path / "open.json")
    _, output, _ = verify_command("open.json", "--json")
    found = json.loads(output, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["epsilon"] == "infinity"


def test_a_file_that_is_missing_or_no_protocol(verify_command, tmp_path):
    code, output, errors = verify_command("none.json")
    assert (code, output) == (4, "")
    assert errors == "rldp: path must be a protocol file, but 'none.json' is missing\n"
    (tmp_path / "other.json").write_text("[]")
    code, output, errors = verify_command("other.json")
    assert code == 4
    assert errors == "rldp: other.json is refused: the file is not a protocol file: it holds other JSON\n"
    assert verify_command()[0] == 2
