"""How risks are counted and when they count as proved."""

from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import rldp
from rldp.designer import risks
from rldp.designer.certify import CertifiedBatch
from rldp.designer.request import CPU, Device
from rldp.designer.risks import Risk, checkable
from rldp.judge.posterior import looks
from rldp.theory.binomial import tail_probability
from rldp.theory.dirichlet import conditionals, masses
from rldp.theory.model import DesignProblem
from rldp.theory.posterior import distortions, failures, leakages

COUNTS = np.array([[[9, 4, 1], [2, 7, 6]], [[3, 3, 3], [1, 0, 9]], [[9, 4, 1], [2, 7, 6]]])
D = np.subtract.outer(np.arange(3), np.arange(3)) ** 2.0
BOTH = tuple(Risk(about, rldp.Credible(0.1, prior=0.5), 6) for about in ("privacy", "utility"))
ADAPTIVE = Risk("privacy", rldp.Credible(0.1), 6)


def tables(seed):
    """Three protocols with their problems, some of which fail often."""
    matrix = np.random.default_rng(seed).dirichlet([2.0, 1.0, 1.0], (3, 2, 3))
    problem = DesignProblem.of(COUNTS, np.array([0.3, 0.5, 0.7]), D, rldp.Nominal(), rldp.Nominal())
    filled = {name: np.zeros(3) for name in CertifiedBatch.__dataclass_fields__}
    filled |= {"matrix": matrix, "objective": np.array([0.9, 1.0, 1.1])}
    return problem, CertifiedBatch(**filled)


def test_draws_that_fail_are_counted_for_each_protocol_and_promise():
    problem, solved = tables(1)
    found = risks._count(BOTH, problem, solved, 5000, stream=3)
    for k in range(3):
        options = {"prior": 0.5, "draws": 5000, "seed": 0, "stream": 3}
        drawn, mass = conditionals(COUNTS[k], **options), masses(COUNTS[k], **options)
        private = failures(solved.matrix[k : k + 1], problem.epsilon[k], drawn)[0]
        spent = distortions(solved.matrix[k], D, drawn, mass)
        assert found[0, k] == private
        assert found[1, k] == (spent > solved.objective[k]).sum()
    assert (found > 0).all()


def test_nothing_is_drawn_for_protocols_that_are_private_whatever_the_distribution(monkeypatch):
    problem, solved = tables(1)
    drawn, parts = [], risks.conditional_parts

    def counted(counts, *options):
        drawn.append(counts.tolist())
        return parts(counts, *options)

    monkeypatch.setattr(risks, "conditional_parts", counted)
    before = risks._count(BOTH[:1], problem, solved, 5000, stream=3)
    assert sorted(drawn) == sorted(COUNTS[:2].tolist())  # the first sample and the third are one
    drawn.clear()
    matrix = solved.matrix.copy()
    matrix[1] = matrix[1, :1, :1]  # one row for all
    found = risks._count(BOTH[:1], problem, replace(solved, matrix=matrix), 5000, stream=3)
    assert found[0].tolist() == [before[0, 0], 0, before[0, 2]]
    assert drawn == [COUNTS[0].tolist()]


def test_promises_with_other_priors_or_seeds_have_draws_of_their_own():
    problem, solved = tables(2)
    others = rldp.Credible(0.1, prior=0.5, seed=5), rldp.Credible(0.1, prior=3.0)
    other = [Risk("privacy", promise, 6) for promise in others]
    same, seed, prior = risks._count((BOTH[0], *other), problem, solved, 4000, stream=1)
    assert same.tolist() != seed.tolist()
    assert same.tolist() != prior.tolist()


class Elsewhere(Device):
    """An accelerator, as far as draws and counts go."""

    @property
    def xp(self):
        return array_api_strict

    def gammas(self, shapes, seed):
        variables = np.random.default_rng(seed).standard_gamma(np.asarray(shapes))
        return array_api_strict.asarray(variables)


class WithoutGammas(Elsewhere):
    def gammas(self, shapes, seed):
        return None


@pytest.mark.parametrize("promise", [BOTH[0], ADAPTIVE, Risk("privacy", rldp.Credible(0.1, prior=0.01), 6)])
def test_an_accelerator_draws_for_all_protocols_together(promise):
    """As many fail as in memory but for chance: 6 standard deviations of two counts, about 2e-9 each."""
    device = Elsewhere("strict", bytes=8 * 8 * 6 * 20_000 * 2)
    problem, solved = tables(1)
    here = risks._count((promise,), problem, solved, 20_000, 3)
    there = risks._count((promise,), problem, solved, 20_000, 3, device)
    assert here.tolist() != there.tolist()
    assert (np.abs(here - there) <= 6 * np.sqrt(here + there)).all()
    again = risks._count((promise,), problem, solved, 20_000, 4, device)
    assert there.tolist() != again.tolist()


@pytest.mark.parametrize(
    ("promises", "device"), [(BOTH, Elsewhere("strict")), (BOTH[:1], WithoutGammas("x"))]
)
def test_what_an_accelerator_cannot_draw_is_drawn_in_memory(promises, device):
    problem, solved = tables(1)
    found = [risks._count(promises, problem, solved, 3000, 3, place) for place in (CPU, device)]
    assert np.array_equal(*found)


def test_all_looks_of_all_trials_share_the_error():
    looks = ADAPTIVE.most_looks
    assert sum(risks._share(trial, looks) for trial in range(60)) * looks <= risks._ERROR * (1 + 1e-12)


@pytest.mark.parametrize("cells", [15, 100])
@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 0.05, 0.3, 0.9])
def test_what_a_design_aims_for_is_mostly_accepted(alpha, cells):
    """After so many draws as are planned by half of the designs that hit their aim, after all by most."""
    risk = Risk("privacy", rldp.Credible(alpha), cells)
    planned, looks = risk.look * risk.settings.credible_looks, risk.most_looks
    for draws, accepted in ((planned, 0.45), (4 * planned, 0.99)):
        hits = np.arange(int(alpha * draws) + 1)  # more prove nothing
        proving = hits[tail_probability(hits, draws, risk.level) <= risks._share(0, looks)]
        assert binom(draws, 1 - ndtr(risk.target)).cdf(proving.max()) >= accepted


@pytest.mark.parametrize("cells", [4, 52, 79, 312, 500, 1250, 20_000])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5])
def test_the_judge_confirms_what_is_checkable_all_but_certainly(alpha, cells):
    """Power of a last look with an error of 1e-10, less than the share that the judge gives it."""
    draws = looks(alpha, cells)[-1]
    level = checkable(alpha, cells)
    assert 0.3 * alpha < level < alpha
    least = binom(draws, alpha).ppf(1e-10) - 1
    assert binom(draws, level).sf(least) <= 1.1e-6


@pytest.mark.parametrize("level", [1e-4, 0.01, 0.3, 1.0])
def test_the_largest_number_of_hits_that_proves_something_is_found(level):
    tails = tail_probability(np.arange(1001), 1000, level)
    for error in (1e-12, 1e-6, 0.5):
        assert risks._most_hits(1000, level, error) == (tails <= error).sum() - 1


@pytest.mark.parametrize(("share", "accepted"), [(0.6, True), (1.2, False), (1.7, False)])
def test_a_risk_is_accepted_below_alpha_and_not_above(share, accepted):
    """ε is the quantile of ε* that makes the risk this share of α, by draws of another seed."""
    problem, solved = tables(4)
    options = {"prior": 0.5, "draws": 200_000, "seed": 99}
    leaks = [leakages(solved.matrix[k], conditionals(COUNTS[k], **options)) for k in range(3)]
    epsilon = np.array([np.quantile(each, 1 - share * 0.1) for each in leaks])
    found, _ = risks.proved(BOTH[:1], replace(problem, epsilon=epsilon), solved, 0)
    assert (found == accepted).all()


def test_nothing_is_proved_by_draws_that_were_looked_at_before(monkeypatch):
    streams, tally = [], risks._count

    def recorded(kinds, problem, solved, draws, stream, _):
        streams.append(stream)
        return tally(kinds, problem, solved, draws, stream)

    monkeypatch.setattr(risks, "_count", recorded)
    problem, solved = tables(5)
    risks.estimated(BOTH, problem, solved)
    for trial in range(4):
        risks.proved(BOTH, problem, solved, trial)
    assert len(streams) >= 5
    assert len(set(streams)) == len(streams)


@pytest.mark.parametrize("trial", [0, 5])
def test_hits_prove_a_promise_where_so_few_are_unlikely_above_the_level(monkeypatch, trial):
    """As many as that at the second look, and one more at all looks; what was proved stays proved."""
    both = Risk("privacy", rldp.Credible(0.3), 6), Risk("utility", rldp.Credible(0.02), 6)
    more = max(risk.look for risk in both)

    def most(risk, draws):
        error = 1e-6 / 2 ** (trial + 1) / risk.most_looks
        return risks._most_hits(draws, risk.level, error)

    totals = [np.array([[most(r, more * (look + 1)) + (look != 1)] * 3 for r in both]) for look in range(99)]
    for look, each in enumerate(totals):
        each[1, 2] += look == 1  # one too many for the second promise of the third
    looks = iter([totals[0], totals[1] - totals[0], (totals[2] - totals[1])[:, 2:]])
    monkeypatch.setattr(risks, "_count", lambda *given: next(looks, np.full((2, 1), given[3])))
    found, _ = risks.proved(both, *tables(5), trial)
    assert found.tolist() == [[True, True, True], [True, True, False]]


def test_what_is_proved_is_so_much_less_than_alpha_that_a_check_confirms_alpha():
    for risk in (Risk("privacy", rldp.Credible(0.05), 15), Risk("utility", rldp.Credible(0.01), 500)):
        assert risk.level == checkable(risk.promise.alpha, risk.cells) < risk.promise.alpha


def test_neither_another_look_nor_the_next_trial_uses_draws_again(monkeypatch):
    """As many hits as the level allows on average: too many to prove it, too few to give up."""
    streams = [0]  # of the search

    def undecided(kinds, problem, solved, draws, stream, _):
        streams.append(stream)
        return np.full((len(kinds), len(problem.counts)), int(kinds[0].level * draws))

    monkeypatch.setattr(risks, "_count", undecided)
    for trial in range(4):
        assert not risks.proved(BOTH, *tables(5), trial)[0].any()
    assert len(set(streams)) == len(streams) == 1 + BOTH[0].most_looks * 4
