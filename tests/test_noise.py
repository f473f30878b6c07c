"""Only a confidential table: noise on its counts, designs that know the noise, and a judge that does too."""

import json
import math
import random

import flint
import numpy as np
import pyarrow
import pytest
from flint import arb
from scipy.special import gammaln, logsumexp

import rldp
from credible import CHANCE
from rldp.auditor.new_data import predicted
from rldp.gate.inspection import p_value
from rldp.judge.noisy import TOTALS, NoisyPosterior
from rldp.judge.posterior import adaptive_grid, trial_of
from rldp.theory.dirichlet import conditional_blocks, conditionals, mass_blocks
from rldp.theory.noisy_posterior import noisy_law
from rldp.theory.posterior import failures

pytestmark = [pytest.mark.numerical, pytest.mark.filterwarnings("ignore::rldp.SparseTableWarning")]

TABLE = [[300, 100, 0, 20], [50, 240, 3, 70]]
NOISY = [[297, 102, -2, 24], [51, 240, 9, 66]]
G = "guarantee"


def noisy_sample(noise=0.5, counts=NOISY):
    return rldp.Sample(counts, ["a", "b"], noise=noise)


@pytest.fixture(scope="module")
def designed():
    return rldp.design(noisy_sample(), 0.7, privacy=rldp.Credible()).protocol


# The sample


def test_every_count_gets_noise_of_its_own_and_labels_stay():
    plain = rldp.Sample(np.full((40, 50), 100), values=list(range(50)))
    found = plain.noisy(0.5)
    moved = found.noisy_counts - 100
    assert (found.noise, found.secrets, found.values) == (0.5, plain.secrets, plain.values)
    assert found.n == found.noisy_counts.sum()
    variance = 2 * math.exp(-0.5) / (1 - math.exp(-0.5)) ** 2
    assert abs(moved.mean()) <= 6 * math.sqrt(variance / moved.size)
    assert np.mean(moved**2) == pytest.approx(variance, rel=0.3)
    assert len(np.unique(moved)) > 10
    assert plain.noisy(0.5) != found


def test_negative_counts_stand_as_zeros_but_are_kept():
    sample = noisy_sample()
    assert sample.counts.min() == 0
    assert sample.noisy_counts.tolist() == NOISY
    assert sample.n == sum(map(sum, NOISY))
    assert sample.distribution.sum() == pytest.approx(1)
    assert "noise of ε = 0.5" in repr(sample)
    assert "-2" in sample._repr_html_()
    assert sample == noisy_sample() != noisy_sample(0.6)


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "1", None, 1e-4])
def test_a_level_that_cannot_be_used_is_refused(epsilon):
    with pytest.raises((rldp.InvalidArgument, rldp.InvalidArgumentType), match="epsilon must"):
        rldp.Sample(TABLE).noisy(epsilon)


def test_noise_is_added_once():
    with pytest.raises(rldp.InvalidArgument, match="must have no noise yet"):
        noisy_sample().noisy(1.0)


def test_a_table_of_which_nothing_is_left_is_refused_with_what_would_be_needed(monkeypatch):
    monkeypatch.setattr("rldp.sample.discrete_laplace", lambda *_: -7)
    with pytest.raises(
        rldp.InvalidArgument, match=r"nothing is left of the sample: .*2829 rows would be needed"
    ):
        rldp.Sample([[1, 0], [0, 1]]).noisy(0.01)
    with pytest.raises(rldp.InvalidArgument, match="must sum to a positive number"):
        rldp.Sample([[5, -9]], noise=1.0)
    with pytest.raises(rldp.InvalidArgument, match="non-negative"):
        rldp.Sample([[5, -1]])


def test_a_sample_file_keeps_the_noise(tmp_path):
    noisy_sample().save(tmp_path / "sample.json")
    again = rldp.Sample.load(tmp_path / "sample.json")
    assert again == noisy_sample()
    assert again.noise == 0.5


# Designs


def test_a_design_comes_back_from_its_file_and_the_judge_confirms_it(designed, tmp_path):
    designed.save(tmp_path / "p.json")
    again = rldp.load(tmp_path / "p.json")
    assert again.to_json() == designed.to_json()
    assert again.guarantee.sample == noisy_sample()
    tree = json.loads(designed.to_json())
    assert (tree["version"], tree[G]["noise"], tree[G]["counts"]) == (3, 0.5, NOISY)
    verdict = rldp.verify(tmp_path / "p.json")
    assert verdict.ok
    assert any("discrete Laplace noise of level 0.5" in each for each in verdict.assumptions)
    told = " ".join(verdict.proved)
    assert "To a person who is not in the table, this promises ε = 0.7." in told
    assert (
        "together reveal at most 1.7 about the secret, which is ε + 2ε_h with the table's ε_h = 0.5" in told
    )
    assert "The noisy table alone is 0.5-differentially private" in told
    assert "as each person has one row in it" in told
    assert "and 1-differentially private where the number of rows is public" in told
    assert "this file may be published" in told
    assert any("ε = 0.7 given the noisy table" in each for each in verdict.not_promised)


def test_the_file_of_a_plain_sample_may_not_be_shown():
    verdict = rldp.verify(rldp.design(rldp.Sample(TABLE), 0.7, privacy="all", utility="nominal"))
    assert any("publish it only if these rows are public" in each for each in verdict.not_promised)
    assert not any("may be published" in each for each in verdict.proved)


def test_several_rows_of_a_person_take_more_noise_and_every_file_says_so(tmp_path):
    plain = rldp.Sample(np.full((40, 50), 100))
    found = plain.noisy(1.0, rows_a_person=2)
    assert (found.noise, found.rows_a_person, found.count_noise) == (1.0, 2, 0.5)
    variance = 2 * math.exp(-0.5) / (1 - math.exp(-0.5)) ** 2
    assert np.mean((found.noisy_counts - 100.0) ** 2) == pytest.approx(variance, rel=0.3)
    found.save(tmp_path / "sample.json")
    assert rldp.Sample.load(tmp_path / "sample.json") == found
    assert json.loads((tmp_path / "sample.json").read_text(encoding="utf-8"))["rows_a_person"] == 2
    several = rldp.Sample(NOISY, ["a", "b"], noise=1.0, rows_a_person=2)
    made = rldp.design(several, 0.7, privacy="credible", utility="nominal").protocol
    assert made.guarantee.privacy.centre == centre_of_half()
    made.save(tmp_path / "p.json")
    assert rldp.load(tmp_path / "p.json").guarantee.sample == several
    verdict = rldp.verify(tmp_path / "p.json")
    assert verdict.ok
    told = " ".join(verdict.proved)
    assert "alone is 1.0-differentially private" in told
    assert "each person has at most 2 rows" in told
    assert "together reveal at most 2.7" in told
    assert any("noise of level 0.5" in each for each in verdict.assumptions)


def centre_of_half():
    """The centre of a design on the same counts, whose noise has the level 0.5 because it is called that."""
    made = rldp.design(noisy_sample(0.5), 0.7, privacy="credible", utility="nominal")
    return made.protocol.guarantee.privacy.centre


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows_a_person": 0}, "rows_a_person must"),
        ({"rows_a_person": 1.5}, "rows_a_person must"),
        ({"rows_a_person": 2000}, "epsilon must be at least 0.001 for each of the rows of a person, got 1.0"),
    ],
)
def test_rows_of_a_person_that_cannot_be_used_are_refused(options, words):
    with pytest.raises((rldp.InvalidArgument, rldp.InvalidArgumentType), match=words):
        rldp.Sample(TABLE).noisy(1.0, **options)
    with pytest.raises(rldp.InvalidArgument, match="rows_a_person must be left out"):
        rldp.Sample(TABLE, rows_a_person=2)


def test_utility_may_be_credible_and_privacy_for_everybody():
    for privacy, utility in (
        (rldp.Credible(), rldp.Credible(0.1)),
        (rldp.AllDistributions(), rldp.Nominal()),
    ):
        protocol = rldp.design(noisy_sample(), 0.7, privacy=privacy, utility=utility).protocol
        assert rldp.verify(protocol).ok
        assert protocol.guarantee.utility.centre is not None


@pytest.mark.parametrize("name", ["chi2", "pairs", "nominal", "g"])
def test_promises_that_do_not_know_the_noise_are_refused(name):
    with pytest.raises(rldp.InvalidArgument, match=r"privacy must be .*'credible' does"):
        rldp.design(noisy_sample(), 0.7, privacy=name, utility="nominal")
    if name in ("chi2", "g"):
        with pytest.raises(rldp.InvalidArgument, match=r"utility must be .*'credible' does"):
            rldp.design(noisy_sample(), 0.7, privacy="credible", utility=name)


def test_both_promises_are_named_where_neither_knows_the_noise():
    with pytest.raises(rldp.InvalidArgument, match="privacy='credible' does; so does utility='nominal'"):
        rldp.design(noisy_sample(), 0.7, utility="chi2")


def test_comparisons_and_frontiers_take_promises_that_know_the_noise():
    small = rldp.Sample([[300, 98], [51, 240]], noise=5.0)
    found = rldp.compare(small, 0.7, draws=500, gap=1e-2)
    names = ["credible", "all", "without reading the secret", "all distributions"]
    assert [row.name for row in found.rows][:4] == names
    assert isinstance(found.utility, rldp.Nominal)
    levels = rldp.frontier(small, [0.7], gap=1e-2)
    assert levels.promises == ("credible", "all")
    with pytest.raises(
        rldp.InvalidArgument, match=r"utility must be rldp.Nominal\(\) here where counts have"
    ):
        rldp.compare(small, 0.7, utility="chi2")


def test_more_noise_costs_more():
    costs = []
    for noise in (50.0, 0.2, 0.05):
        made = rldp.design(
            noisy_sample(noise), 0.7, privacy=rldp.Credible(), utility=rldp.Nominal(), gap=1e-3
        )
        costs.append(rldp.distortion(made.protocol, noisy_sample().distribution))
    assert costs == sorted(costs)
    assert costs[-1] > 1.2 * costs[0]


# The judge


def library_risk(document, draws=20_000):
    """Of not being private, by the library's own draws: another program than the judge's."""
    claim = document[G]
    table = np.array(document["numerators"]) / 2**52
    options = {"prior": claim["privacy"]["prior"], "draws": draws, "seed": 9, "noise": claim["noise"]}
    blocks = conditional_blocks(np.array(claim["counts"]), **options)
    return sum(int(failures(table[None], claim["epsilon"], block)[0]) for block in blocks) / draws


def test_judge_and_library_draw_the_same_law():
    size = 30_000
    judged = NoisyPosterior(NOISY, 0.5, adaptive_grid(len(NOISY[0]))).log_weights(
        np.random.default_rng(3), size
    )
    weights = np.concatenate([np.exp(each - each.max(axis=(0, 1))) for each in judged], axis=2)
    theirs = weights / weights.sum(axis=(0, 1))
    options = {"prior": "adaptive", "draws": size, "seed": 4, "noise": 0.5}
    blocks = zip(
        mass_blocks(np.array(NOISY), **options), conditional_blocks(np.array(NOISY), **options), strict=True
    )
    ours = np.concatenate([mass[:, None] * given for mass, given in blocks], axis=2)
    allowed = math.sqrt(math.log(16 / CHANCE) / (2 * size)) * 2
    for s, u in np.ndindex(2, 4):
        for level in np.quantile(ours[s, u], [0.05, 0.25, 0.5, 0.75, 0.95]):
            assert abs((ours[s, u] <= level).mean() - (theirs[s, u] <= level).mean()) <= allowed


def mean_by_sums(counts, noise, a):
    """E P(u) of one secret, by sums over all counts that are possible, and over the totals."""
    m, cells = np.arange(12_000), len(counts)
    away = [noise * np.abs(m - count) for count in counts]
    weights, means = [], []
    for mu in TOTALS:
        b = a * cells / mu
        law = gammaln(m + a) - gammaln(m + 1) - gammaln(a) + a * np.log(b / (1 + b)) - m * np.log1p(b)
        weights.append(sum(logsumexp(law - each) for each in away))
        means.append([float(m @ np.exp(law - each - logsumexp(law - each))) for each in away])
    given_total = np.exp(np.array(weights) - max(weights))
    found = given_total / given_total.sum() @ np.array(means) + a
    return found / found.sum()


def test_weights_of_huge_counts_have_digits_left():
    """Quotients of gamma functions at 10^15, whose logarithms cancel in floats: held against 200 bits."""
    counts, grid, noise, bits = [[10**15, 10**14, 0], [0, 0, 7]], adaptive_grid(3), 9.0, flint.ctx.prec
    flint.ctx.prec = 200
    try:
        weights = []
        for a in map(arb, grid):
            evidence = arb(1)
            for row in counts:
                totals = []
                for mu in map(arb, TOTALS):
                    b = a * 3 / mu
                    totals.append(
                        math.prod(
                            sum(
                                (
                                    (m + a).lgamma()
                                    - arb(m + 1).lgamma()
                                    - m * (1 + b).log()
                                    - noise * abs(m - n)
                                ).exp()
                                for m in range(max(n - 5, 0), n + 6)
                            )
                            * (b / (1 + b)) ** a
                            / a.gamma()
                            for n in row
                        )
                    )
                evidence *= sum(totals)
            weights.append(evidence)
        wanted = [float(each / sum(weights)) for each in weights]
    finally:
        flint.ctx.prec = bits
    assert NoisyPosterior(counts, noise, grid).weights == pytest.approx(wanted, rel=1e-6)
    ours = noisy_law(np.array(counts), noise, np.array(grid))
    assert [each.weight for each in ours.components] == pytest.approx(wanted, rel=1e-6)


def test_a_prior_that_contradicts_the_counts_may_win_against_the_noise():
    counts, wanted = [[5000, 0]], mean_by_sums([5000, 0], 0.05, 200.0)
    law = NoisyPosterior(counts, 0.05, [200.0])
    drawn = np.concatenate(list(law.log_weights(np.random.default_rng(5), 2000)), axis=2)
    weights = np.exp(drawn - drawn.max(axis=(0, 1)))
    found = (weights / weights.sum(axis=(0, 1))).mean(axis=2)[0]
    assert found == pytest.approx(wanted, abs=0.01)
    ours = conditionals(np.array(counts), prior=200.0, draws=2000, seed=5, noise=0.05).mean(axis=2)[0]
    assert ours == pytest.approx(wanted, abs=0.01)


def test_nothing_is_confirmed_where_too_many_counts_are_possible():
    law = NoisyPosterior([[10**6, 0, 5, 5]] * 2, 0.1, [1000.0])
    assert not law.is_known
    trial = trial_of(lambda logs: int((~(logs[0, 0] < np.inf)).sum()), law, 0.5, np.random.default_rng(1))
    assert not trial.confirmed
    with pytest.raises(rldp.InvalidArgument, match="prior must be smaller: with 1000"):
        conditionals(np.array([[10**6, 0, 5, 5]] * 2), prior=1000.0, draws=10, seed=1, noise=0.1)


def test_a_file_with_much_noise_on_many_cells_cannot_keep_the_judge_busy():
    counts = [[50] * 80] * 2
    with pytest.raises(
        rldp.InvalidArgument, match=r"160 cells must have a level of at least 0\.0014 on each"
    ):
        rldp.design(noisy_sample(0.001, counts), 0.7, privacy="credible", utility="nominal")
    law = NoisyPosterior(counts, 0.001, adaptive_grid(80))
    assert not law.is_known
    assert np.isnan(next(law.log_weights(np.random.default_rng(1), 3))).all()


def changed(document, rng):
    """Another level of noise, other counts, another radius, prior or α."""
    claim = document[G]
    kind = rng.choice(["noise", "counts", "radius", "epsilon", "alpha", "centre"])
    if kind == "noise":
        claim["noise"] = rng.choice([0.01, 0.1, 0.3, 0.49, 0.51, 1.0, 5.0])
    elif kind == "counts":
        s, u = rng.randrange(2), rng.randrange(4)
        claim["counts"][s][u] += rng.choice([-200, -20, -3, 3, 20, 200])
        claim["n"] = sum(map(sum, claim["counts"]))
    elif kind == "radius":
        claim["privacy"]["radius"] *= rng.choice([0.1, 0.5, 0.9, 1.1])
        claim["lower_bound"] = 0.0
    elif kind == "epsilon":
        claim["epsilon"] *= rng.choice([0.5, 0.9, 0.99, 1.01])
    elif kind == "alpha":
        claim["privacy"]["alpha"] = rng.choice([0.01, 0.03, 0.2])
    else:
        table = claim["privacy"]["centre"]
        moved = table[0][0] // rng.choice([2, 10, 1000])
        table[0][0] -= moved
        table[1][1] += moved
    return document


def test_a_changed_file_passes_only_if_its_risk_is_what_it_says(designed, tmp_path):
    passed = 0
    for seed in range(12):
        document = changed(json.loads(designed.to_json()), random.Random(seed))
        (tmp_path / "p.json").write_text(json.dumps(document), encoding="utf-8")
        verdict = rldp.verify(tmp_path / "p.json")
        if verdict.ok:
            passed += 1
            slack = math.sqrt(math.log(1 / CHANCE) / (2 * 20_000))
            assert library_risk(document) <= document[G]["privacy"]["alpha"] + slack
    assert passed < 12


# New rows, and other samples


def test_rows_of_the_table_are_released_and_rows_of_others_are_not(designed):
    """Twenty tables of the same people: all of them pass, as each is refused with probability 5e-4."""
    rng = np.random.default_rng(11)
    law = np.array(TABLE) / np.sum(TABLE)
    for _ in range(20):
        cells = rng.choice(8, size=2000, p=law.ravel())
        rows = pyarrow.table({"s": np.array(["a", "b"])[cells // 4], "u": cells % 4})
        designed.release_frame(rows, secret="s", value="u", seed=1)
    others = pyarrow.table({"s": np.array(["a", "b"])[cells // 4], "u": 3 - cells % 4})
    with pytest.raises(rldp.DataError, match="data must come from the population"):
        designed.release_frame(others, secret="s", value="u", seed=1)


def test_the_p_value_of_new_rows_knows_the_noise():
    """Few rows and much noise: forgetting the noise, nearly every table would seem to be of others."""
    rng = np.random.default_rng(12)
    truth = np.array([[60, 30, 5, 5], [20, 40, 30, 10]])
    found, forgotten = [], []
    for _ in range(14):
        noisy = truth + rng.geometric(1 - np.exp(-0.1), (2, 4)) - rng.geometric(1 - np.exp(-0.1), (2, 4))
        sample = rldp.Sample(noisy, ["a", "b"], noise=0.1)
        new = np.stack([rng.multinomial(3000, row / row.sum()) for row in truth])
        found.append(predicted(sample, new, rldp.Credible(), seed=1))
        forgotten.append(p_value(sample.counts, new, seed=1))
    assert np.sum(np.array(found) < 0.05) <= 5  # more in less than one run in 10^4
    assert np.sum(np.array(forgotten) < 0.05) >= 7


def test_an_audit_compares_new_rows_with_counts_and_their_noise(designed):
    same = rldp.audit(designed, rldp.Sample(TABLE, ["a", "b"]), seed=3)
    assert same.p_value > 0.01
    other = rldp.audit(designed, rldp.Sample(np.array(TABLE)[:, ::-1], ["a", "b"]), seed=3)
    assert other.p_value <= 1e-3


@pytest.mark.slow
def test_a_plan_from_noisy_counts_adds_their_noise_to_new_ones():
    options = {"privacy": "credible", "utility": "nominal", "draws": 10, "distortion": "hamming"}
    small = rldp.Sample([[300, 98], [51, 240]], noise=5.0)
    found = rldp.plan(small, 0.7, [300], **options)
    assert found.limit.median < found.rows[0].median < 0.5
    assert found.present > found.limit.low


@pytest.mark.parametrize(
    "treat",
    [
        lambda protocol, noisy: rldp.confirm(protocol, noisy),
        lambda protocol, noisy: rldp.confirm_chain([protocol], noisy),
        lambda protocol, noisy: rldp.audit(protocol, noisy),
        lambda protocol, noisy: rldp.estimate([0, 1], protocol, sample=noisy),
        lambda protocol, noisy: rldp.worst_case_leakage(protocol, noisy, "chi2"),
        lambda protocol, noisy: rldp.worst_case_leakage(protocol, noisy, "pairs"),
        lambda protocol, noisy: rldp.worst_case_distortion(protocol, noisy, "chi2"),
    ],
    ids=["confirm", "chain", "audit", "estimate", "leakage", "pairs", "distortion"],
)
def test_noisy_counts_are_not_taken_for_exact_ones(designed, treat):
    with pytest.raises(
        rldp.InvalidArgument, match="sample must have exact counts here, got counts with noise"
    ):
        treat(designed, noisy_sample())


def test_a_plan_from_noisy_counts_needs_a_promise_that_knows_the_noise():
    with pytest.raises(rldp.InvalidArgument, match="'credible' does"):
        rldp.plan(noisy_sample(), 0.7, [400])
