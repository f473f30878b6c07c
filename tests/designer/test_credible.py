"""Credible designs keep the risk that they promise, by draws of our own, with sets hardly too large."""

import json

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

import rldp
from rldp.designer import credible
from rldp.designer.engine.settings import Settings
from rldp.theory.binomial import lower_probability
from rldp.theory.dirichlet import grid_for

pytestmark = pytest.mark.numerical

ERROR = 1e-7  # of a correct program to fail one comparison
DRAWS = 100_000

COUNTS = {
    "3×5": np.array([[9, 4, 0, 2, 1], [3, 6, 11, 4, 2], [0, 3, 5, 9, 16]]),
    "2×2": np.array([[30, 12], [9, 41]]),
    "a secret never seen": np.array([[20, 9, 4], [0, 0, 0], [3, 8, 17]]),
    "rows by the thousand": np.array([[3100, 900, 420], [700, 2500, 1100], [250, 640, 4000]]),
}
each_sample = pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS.keys())


def drawn(counts, prior="adaptive", seed=2024):
    """Distributions from the posterior, by NumPy's own sampler: (DRAWS, |S|, |U|)."""
    rng = np.random.default_rng(seed)
    if prior != "adaptive":
        return rng.dirichlet((counts + prior).ravel(), DRAWS).reshape(DRAWS, *counts.shape)
    grid, evidence = grid_for(counts.shape[1]), np.zeros(len(grid_for(counts.shape[1])))
    for row in counts[counts.any(axis=1)]:
        laws = (dirichlet_multinomial(np.full(len(row), a), row.sum()) for a in grid)
        evidence += [law.logpmf(row) for law in laws]
    weights = np.exp(evidence - evidence.max())
    conditionals = np.concatenate(
        [
            np.stack([rng.dirichlet(row + a, many) for row in counts], axis=1)
            for a, many in zip(grid, rng.multinomial(DRAWS, weights / weights.sum()), strict=True)
        ]
    )
    return rng.dirichlet(counts.sum(axis=1) + 0.5, DRAWS)[:, :, None] * conditionals


def not_private(matrix, epsilon, joint):
    """Under how many of the distributions, from the definition."""
    given = np.einsum("msu,suy->msy", joint / joint.sum(axis=2, keepdims=True), matrix)
    most = np.exp(epsilon) * (1 + 1e-13)  # these sums are rounded
    return int((given.max(axis=1) > most * given.min(axis=1)).any(axis=1).sum())


def too_distorted(matrix, d, most, joint):
    return int((np.einsum("msu,suy,uy->m", joint, matrix, d) > most).sum())


def may_be_at_most(hits, alpha):
    """Whether so many hits leave it possible that their probability is α or less."""
    return lower_probability(hits, DRAWS, ERROR) <= alpha


def is_more_than(hits, alpha):
    return lower_probability(hits, DRAWS, ERROR) > alpha


@each_sample
@pytest.mark.parametrize(
    ("alpha", "lambda_", "prior"),
    [(0.05, 1.0, 0.5), (0.2, 0.0, 0.5), (0.01, 2 / 3, 2.0), (0.05, 1.0, "adaptive")],
)
def test_the_posterior_risk_of_not_being_private_is_at_most_alpha(counts, alpha, lambda_, prior):
    promise = rldp.Credible(alpha, prior=prior, lambda_=lambda_)
    found = rldp.design(rldp.Sample(counts), 0.5, privacy=promise, utility=rldp.Nominal())
    hits = not_private(found.protocol.matrix, 0.5, drawn(counts, prior))
    assert may_be_at_most(hits, alpha)
    assert found.objective - found.lower_bound <= 1e-6 * max(1, found.objective)


@pytest.mark.parametrize("name", ["3×5", "2×2", "rows by the thousand"])
def test_a_set_half_as_large_would_not_do(name):
    counts = COUNTS[name]
    found = rldp.design(rldp.Sample(counts), 0.5, privacy=rldp.Credible(), utility=rldp.Nominal())
    radius = found.protocol.guarantee.privacy.radius
    smaller = rldp.PowerDivergence(1.0, radius=radius / 2)
    risky = rldp.design(rldp.Sample(counts), 0.5, privacy=smaller, utility=rldp.Nominal())
    assert is_more_than(not_private(risky.protocol.matrix, 0.5, drawn(counts)), 0.05)


@each_sample
@pytest.mark.parametrize("privacy", [rldp.Nominal(), rldp.ChiSquare(), rldp.Credible()], ids=repr)
@pytest.mark.filterwarnings("ignore::rldp.UnseenSecretWarning")
def test_the_distortion_exceeds_the_objective_with_posterior_probability_alpha_at_most(counts, privacy):
    found = rldp.design(rldp.Sample(counts), 0.7, privacy=privacy, utility=rldp.Credible())
    d = found.protocol.guarantee.distortion
    hits = too_distorted(found.protocol.matrix, d, found.objective, drawn(counts))
    assert may_be_at_most(hits, 0.05)
    assert hits > DRAWS / 1000


def test_a_credible_promise_costs_less_than_the_set_of_the_same_level():
    for counts in (COUNTS["3×5"], COUNTS["rows by the thousand"]):
        sample = rldp.Sample(counts)
        joint = rldp.design(sample, 0.5)
        cheaper = rldp.design(sample, 0.5, privacy=rldp.Credible(), utility=rldp.Credible())
        assert cheaper.problem == joint.problem == "RURP"
        assert cheaper.objective < joint.objective


def test_a_batch_gives_what_single_designs_give_with_as_many_draws():
    counts = np.stack([COUNTS["3×5"], COUNTS["3×5"][::-1], 40 * COUNTS["3×5"]])
    promises = {"privacy": rldp.Credible(), "utility": rldp.Credible(0.1)}
    batch = rldp.design_batch(counts, [0.5, 1.0, 0.2], **promises)
    for k, epsilon in enumerate([0.5, 1.0, 0.2]):
        sample = rldp.Sample(counts[k])
        alone = rldp.design(sample, epsilon, **promises, settings=Settings(credible_least_hits=0))
        assert batch.objective[k] == pytest.approx(alone.objective, rel=1e-5)


def test_more_draws_for_the_proof_make_a_design_cheaper():
    sample = rldp.Sample(COUNTS["3×5"])
    few, many = (
        rldp.design(sample, 0.5, privacy="credible", settings=Settings(credible_least_hits=h))
        for h in (0, 2400)
    )
    assert many.objective < 0.99 * few.objective


def test_the_seed_decides_and_is_kept_in_the_file(tmp_path):
    sample = rldp.Sample(COUNTS["3×5"])
    first, again = (rldp.design(sample, 0.5, privacy=rldp.Credible(seed=7)) for _ in range(2))
    other = rldp.design(sample, 0.5, privacy=rldp.Credible(seed=8))
    assert first.protocol.to_json() == again.protocol.to_json() != other.protocol.to_json()
    tree = json.loads(first.protocol.to_json())
    claim = tree["guarantee"]["privacy"]
    promise = first.protocol.guarantee.privacy
    assert (claim["kind"], claim["alpha"], claim["prior"]) == ("credible", 0.05, "adaptive")
    assert (claim["seed"], claim["lambda"], claim["radius"]) == (7, 1.0, promise.radius)
    assert claim["centre"] == list(map(list, promise.centre))
    assert tree["version"] == 3
    first.protocol.save(tmp_path / "p.json")
    assert rldp.load(tmp_path / "p.json").guarantee.privacy == first.protocol.guarantee.privacy


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 30.0, np.inf])
def test_levels_at_which_the_set_hardly_matters_are_no_trouble(epsilon):
    found = rldp.design(rldp.Sample(COUNTS["3×5"]), epsilon, privacy=rldp.Credible(), utility=rldp.Credible())
    assert may_be_at_most(not_private(found.protocol.matrix, epsilon, drawn(COUNTS["3×5"])), 0.05)


def test_one_secret_needs_no_privacy():
    found = rldp.design(rldp.Sample([[5, 3, 1]]), 0.5, privacy=rldp.Credible())
    assert np.array_equal(found.protocol.matrix[0].round(9), np.eye(3))


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.5])
def test_every_level_that_is_allowed_is_reached(alpha):
    promise = rldp.Credible(alpha)
    found = rldp.design(rldp.Sample(COUNTS["2×2"]), 0.5, privacy=promise, utility=promise)
    joint = drawn(COUNTS["2×2"])
    assert may_be_at_most(not_private(found.protocol.matrix, 0.5, joint), alpha)


def test_a_level_that_nobody_could_check_is_refused():
    message = r"^alpha must be larger to be checked by draws on a table of 4 cells, got 1e-05$"
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.design(rldp.Sample(COUNTS["2×2"]), 0.5, privacy=rldp.Credible(1e-5))


@pytest.mark.parametrize("about", ["privacy", "utility"])
def test_such_a_level_is_refused_before_anything_is_designed(about):
    promises = {"privacy": rldp.Nominal(), "utility": rldp.Nominal()} | {about: rldp.Credible(1e-5)}
    with pytest.raises(rldp.InvalidArgument, match=r"^alpha must be larger to be checked by draws"):
        credible.credible_risks(**promises, cells=4, settings=Settings())
    (risk,) = credible.credible_risks(**promises | {about: rldp.Credible(1e-3)}, cells=4, settings=Settings())
    assert (risk.about, risk.promise, risk.cells) == (about, rldp.Credible(1e-3), 4)


@each_sample
def test_the_judge_confirms_with_draws_of_its_own(counts):
    found = rldp.design(rldp.Sample(counts), 0.5, privacy=rldp.Credible(), utility=rldp.Credible(0.1))
    verdict = rldp.verify(found.protocol)
    assert verdict.ok, verdict
    assert verdict.epsilon == 0.5


def test_a_design_that_draws_do_not_prove_is_made_again_with_a_larger_set(monkeypatch):
    """A search that is far too hopeful costs designs, and no privacy."""
    estimated, trials = credible.estimated, []

    def hopeful(risks, problem, solved, device):
        return estimated(risks, problem, solved, device) + 1.0

    def counted(risks, problem, solved, trial, device, proved=credible.proved):
        trials.append(trial)
        return proved(risks, problem, solved, trial)

    monkeypatch.setattr(credible, "estimated", hopeful)
    monkeypatch.setattr(credible, "proved", counted)
    counts = COUNTS["3×5"]
    found = rldp.design(rldp.Sample(counts), 0.5, privacy=rldp.Credible(), utility=rldp.Nominal())
    assert trials == list(range(len(trials)))
    assert len(trials) >= 2
    assert may_be_at_most(not_private(found.protocol.matrix, 0.5, drawn(counts)), 0.05)


@pytest.mark.parametrize(("privacy", "utility"), [(0.3, 0.02), (0.02, 0.3)])
def test_each_promise_has_the_risk_that_was_asked_of_it(privacy, utility):
    counts = COUNTS["3×5"]
    promises = {"privacy": rldp.Credible(privacy), "utility": rldp.Credible(utility)}
    found = rldp.design(rldp.Sample(counts), 0.5, **promises)
    joint, d = drawn(counts), found.protocol.guarantee.distortion
    hits = {
        privacy: not_private(found.protocol.matrix, 0.5, joint),
        utility: too_distorted(found.protocol.matrix, d, found.objective, joint),
    }
    for alpha, failing in hits.items():
        assert may_be_at_most(failing, alpha)
        assert is_more_than(failing, 0.25 * alpha)


@pytest.mark.parametrize("open_one", [0, 1], ids=["privacy", "utility"])
def test_a_design_is_made_again_until_both_promises_are_proved(monkeypatch, open_one):
    """The set of the promise that is not proved yet grows, and the other stays."""
    problems = []

    def one_at_first(risks, problem, solved, trial, device, proved=credible.proved):
        problems.append(problem)
        accepted, quantile = proved(risks, problem, solved, trial)
        return (np.arange(2)[:, None] != open_one, quantile) if trial == 0 else (accepted, quantile)

    monkeypatch.setattr(credible, "proved", one_at_first)
    sample = rldp.Sample(COUNTS["3×5"])
    found = rldp.design(sample, 0.5, privacy=rldp.Credible(), utility=rldp.Credible())
    first, last = problems[0], problems[-1]
    grown = [last.privacy.budget > first.privacy.budget, last.utility.budget > first.utility.budget]
    assert len(problems) >= 2
    assert grown[open_one]
    assert len(problems) > 2 or not grown[1 - open_one]
    assert rldp.verify(found.protocol).ok


def test_what_is_made_again_in_a_batch_is_judged_and_kept(monkeypatch):
    """The second of three is not proved at first."""
    asked = []

    def second_fails(risks, problem, solved, trial, device, proved=credible.proved):
        asked.append((problem.epsilon.tolist(), solved.matrix))
        accepted, quantile = proved(risks, problem, solved, trial)
        return (np.array([[True, False, True]]), quantile) if trial == 0 else (accepted, quantile)

    monkeypatch.setattr(credible, "proved", second_fails)
    counts, levels = np.stack([COUNTS["3×5"]] * 3), [0.3, 0.5, 0.8]
    batch = rldp.design_batch(counts, levels, privacy=rldp.Credible(), utility=rldp.Nominal())
    assert len(asked) >= 2
    assert asked[0][0] == levels
    assert all(epsilon == [0.5] and len(matrix) == 1 for epsilon, matrix in asked[1:])
    kept = [asked[0][1][0], asked[-1][1][0], asked[0][1][2]]
    assert np.array_equal(batch.matrices, kept)


def test_a_radius_that_is_given_is_kept_or_refused():
    sample = rldp.Sample(COUNTS["3×5"])
    wide = rldp.design(sample, 0.5, privacy=rldp.Credible(radius=0.5), utility=rldp.Nominal())
    assert wide.protocol.guarantee.privacy.radius == 0.5
    message = (
        r"^radius must keep the posterior risk of privacy at 0\.05, but at 0\.001 draws do not prove it; "
        r"without a radius, one is searched for$"
    )
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.design(sample, 0.5, privacy=rldp.Credible(radius=0.001), utility=rldp.Nominal())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"prior": 0}, rldp.InvalidArgument, "prior must be greater than 0, got 0.0"),
        ({"prior": -0.5}, rldp.InvalidArgument, "prior must be greater than 0, got -0.5"),
        (
            {"prior": "flat"},
            rldp.InvalidArgument,
            "prior must be 'adaptive' or a positive number, got 'flat'$",
        ),
        ({"prior": None}, rldp.InvalidArgumentType, "prior must be a number, got None$"),
        ({"alpha": 0}, rldp.InvalidArgument, "alpha must lie strictly between 0 and 1, got 0.0"),
        ({"alpha": 1}, rldp.InvalidArgument, "alpha must lie strictly between 0 and 1, got 1.0"),
        ({"alpha": 1e-6}, rldp.InvalidArgument, "alpha must be at least 1e-05, got 1e-06"),
        ({"lambda_": -1}, rldp.InvalidArgument, "lambda_ must be at least 0, got -1"),
        ({"seed": -1}, rldp.InvalidArgument, r"seed must lie between 0 and 2\^128 - 1, got -1"),
        ({"radius": -1}, rldp.InvalidArgument, "radius must be at least 0, got -1"),
    ],
)
def test_what_makes_no_promise_is_refused_in_a_sentence(options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        rldp.Credible(**options)


def test_a_promise_without_a_radius_is_no_set_yet():
    protocol = rldp.design(rldp.Sample(COUNTS["2×2"]), 0.5).protocol
    with pytest.raises(
        rldp.InvalidArgument, match=r"^a credible set has no radius before a design has found"
    ):
        rldp.worst_case_leakage(protocol, rldp.Sample(COUNTS["2×2"]), rldp.Credible())


# --- distortions that are all alike, or tiny --------------------------------------------------------


def test_a_distortion_that_no_distribution_changes_has_a_set():
    """Everything costs 1, so that D* is the promised distortion itself under every draw."""
    design = rldp.design(
        rldp.Sample([[30, 20], [10, 40]]), 0.5, utility=rldp.Credible(), distortion=np.ones((2, 2))
    )
    assert 1 <= design.objective < 1 + 1e-12
    assert rldp.verify(design.protocol).ok


@pytest.mark.parametrize("utility", [rldp.Credible(), rldp.ChiSquare(), rldp.Nominal()])
@pytest.mark.parametrize("size", [5e-324, 1e-310])
def test_distortions_next_to_zero_are_promised_no_smaller_than_they_are(utility, size):
    design = rldp.design(
        rldp.Sample([[30, 20], [10, 40]]), 0.5, utility=utility, distortion=size * (1 - np.eye(2))
    )
    assert 0 < design.objective < 10 * size
    assert rldp.verify(design.protocol).ok
