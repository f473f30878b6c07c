"""Windows: a stronger constraint that is cheaper to keep, private all the same, and proved to be."""

import cvxpy as cp
import numpy as np
import pytest

import rldp
from rldp.designer import routes
from rldp.designer.engine.terms.pairs import NominalPairs
from strategies import jeffreys_counts

pytestmark = [pytest.mark.numerical, pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")]

SAMPLES = {
    "three secrets": [[20, 9, 3], [4, 30, 11], [9, 2, 25]],
    "zero counts": [[20, 0, 3], [0, 30, 11], [9, 2, 0]],
    "two secrets, four values": [[40, 9, 3, 1], [4, 10, 30, 11]],
    "a secret never seen": [[20, 9, 3], [4, 30, 11], [0, 0, 0]],
}
SETS = {
    "chi2": rldp.ChiSquare(),
    "g": rldp.GTest(),
    "cr": rldp.CressieRead(),
    "order 3": rldp.PowerDivergence(3, 0.2),
}


def windows_in_cvxpy(counts, epsilon, utility):
    """The smallest objective of a protocol that keeps windows over Pearson's set, from the definition.

    A secret's conditional R has Σ P̂²/R ≤ (1 + Δ/P̂_s)², the dual of which is a rotated cone for each value.
    """
    counts = np.array(counts, dtype=float)
    n, (secrets, values) = counts.sum(), counts.shape
    estimate = counts / n
    radius = float(rldp.ChiSquare().size(n, counts.size))
    d = (np.arange(values)[:, None] - np.arange(values)) ** 2.0
    q = [cp.Variable((values, values), nonneg=True) for _ in range(secrets)]
    top = cp.Variable(values)
    kept = [cp.sum(table, axis=1) == 1 for table in q]
    for s in range(secrets):
        mass = estimate[s].sum()
        for y in range(values):
            for sign, limit in ((1, top[y]), (-1, -top[y] * np.exp(-epsilon))):
                if mass == 0:
                    kept.append(sign * q[s][:, y] <= limit)
                    continue
                kept.append(
                    _support(estimate[s] / mass, np.sqrt(1 + radius) - 1, mass, sign * q[s][:, y], kept)
                    <= limit
                )
    v = cp.vstack([cp.sum(cp.multiply(d, table), axis=1) for table in q])
    cost = cp.sum(cp.multiply(estimate, v))
    if utility is not None:
        flat = cp.reshape(v, (secrets * values,), order="C")
        cost = _support(estimate.ravel(), np.sqrt(1 + radius) - 1, 1.0, flat, kept)
    problem = cp.Problem(cp.Minimize(cost), kept)
    problem.solve(solver="CLARABEL")
    return problem.value


def _support(conditional, budget, mass, x, kept):
    """sup R·x over Σ c²/R ≤ z² as a cone program: min η + κ z² − Σ 2 c √(κ (η − x))."""
    z2 = (1 + budget / mass) ** 2
    eta, kappa, roots = cp.Variable(), cp.Variable(nonneg=True), cp.Variable(len(conditional), nonneg=True)
    kept.append(eta >= x)
    for u, c in enumerate(conditional):
        if c > 0:
            kept.append(cp.quad_over_lin(roots[u], kappa) <= eta - x[u])
    return eta + kappa * z2 - 2 * conditional @ roots


@pytest.mark.parametrize("utility", [rldp.Nominal(), rldp.ChiSquare()], ids=["NURP", "RURP"])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_best_windows_are_those_of_the_definition(name, utility):
    wanted = windows_in_cvxpy(SAMPLES[name], 0.7, None if isinstance(utility, rldp.Nominal) else utility)
    found = rldp.design(rldp.Sample(SAMPLES[name]), 0.7, utility=utility, windows=True)
    assert found.objective == pytest.approx(wanted, abs=2e-5)


@pytest.mark.parametrize("epsilon", [0.1, pytest.param(1.0, marks=pytest.mark.slow), 3.0])
@pytest.mark.parametrize("privacy", SETS.values(), ids=SETS)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_protocol_that_keeps_windows_is_private_and_both_its_bounds_are_true(name, privacy, epsilon):
    sample = rldp.Sample(SAMPLES[name])
    exact = rldp.design(sample, epsilon, privacy=privacy)
    found = rldp.design(sample, epsilon, privacy=privacy, windows=True)
    assert rldp.worst_case_leakage(found.protocol, sample, privacy)[1] <= epsilon
    assert found.lower_bound <= exact.objective
    assert found.objective >= exact.lower_bound
    verdict = rldp.verify(found.protocol)
    assert verdict.ok, verdict.reasons


@pytest.mark.parametrize("name", ["three secrets", "zero counts"])
def test_a_set_that_shrinks_to_the_estimate_loses_nothing_to_windows(name):
    sample = rldp.Sample(SAMPLES[name])
    tiny = rldp.PowerDivergence(1, radius=1e-9)
    nominal = rldp.design(sample, 0.7, privacy=rldp.Nominal(), utility=rldp.Nominal())
    found = rldp.design(sample, 0.7, privacy=tiny, utility=rldp.Nominal(), windows=True)
    assert found.objective == pytest.approx(nominal.objective, abs=1e-4)
    assert found.lower_bound == pytest.approx(nominal.objective, abs=1e-4)


def test_a_batch_gives_what_each_sample_gives_alone():
    counts = jeffreys_counts(np.random.default_rng(5), 4, (3, 4), 400)
    batch = rldp.design_batch(counts, 0.8, windows=True)
    for table, objective in zip(counts, batch.objective, strict=True):
        alone = rldp.design(rldp.Sample(table), 0.8, windows=True)
        assert objective == pytest.approx(alone.objective, abs=2e-6)


def test_under_the_estimate_windows_change_nothing():
    sample = rldp.Sample(SAMPLES["three secrets"])
    one, other = (rldp.design(sample, 0.7, privacy=rldp.Nominal(), windows=d) for d in (False, True))
    np.testing.assert_array_equal(one.protocol.matrix, other.protocol.matrix)


@pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning")
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("utility", [rldp.Nominal(), rldp.ChiSquare()], ids=["NUNP", "RUNP"])
@pytest.mark.parametrize("name", SAMPLES)
def test_under_the_estimate_windows_are_privacy_itself(name, utility, epsilon, monkeypatch):
    sample = rldp.Sample(SAMPLES[name])
    sets = {"privacy": rldp.Nominal(), "utility": utility}
    by_pairs = rldp.design(sample, epsilon, **sets)
    monkeypatch.setattr(routes, "_windows_suffice", lambda *_: True)
    monkeypatch.setattr(routes, "attempts", lambda problem, route, request: [(route, request)])
    by_windows = rldp.design(sample, epsilon, gap=1e-5, **sets)
    assert by_windows.objective == pytest.approx(by_pairs.objective, abs=1e-5)
    assert by_windows.objective - by_windows.lower_bound <= 1e-5 * max(1, by_windows.objective)
    verdict = rldp.verify(by_windows.protocol)
    assert verdict.ok, verdict.reasons


def test_rows_sum_to_one_far_more_exactly_than_a_thin_epsilon(monkeypatch):
    counts = [
        [30, 1, 5, 14, 6, 1, 32],
        [40, 3, 56, 11, 70, 24, 34],
        [13, 35, 26, 16, 8, 14, 21],
        [8, 8, 1, 3, 11, 5, 3],
        [66, 2, 59, 1, 4, 22, 4],
        [10, 20, 53, 27, 0, 10, 18],
        [45, 5, 4, 36, 10, 6, 3],
        [1, 1, 1, 60, 12, 0, 21],
    ]
    monkeypatch.setattr(routes, "_windows_suffice", lambda *_: True)
    monkeypatch.setattr(routes, "attempts", lambda problem, route, request: [(route, request)])
    found = rldp.design(rldp.Sample(counts), 1e-6, privacy=rldp.Nominal(), distortion="hamming", gap=1e-5)
    assert found.objective - found.lower_bound <= 1e-5


def test_a_missed_gap_is_told_where_windows_change_nothing():
    counts = [[3051683475, 3947280242, 560965034], [112322218056, 25451651946, 286202189371]]
    with pytest.warns(rldp.errors.GapWarning):
        rldp.design(
            rldp.Sample(counts), 0.0, privacy=rldp.Nominal(), utility=rldp.Nominal(), gap=1e-9, windows=True
        )


def test_nominal_privacy_on_hundreds_of_cells_is_never_solved_by_pairs(monkeypatch):
    def too_long(*_):
        raise AssertionError("pairs of secrets would take minutes here")

    monkeypatch.setattr(NominalPairs, "start", too_long)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(20_000, rng.dirichlet(np.full(600, 0.5))).reshape(10, 60)
    found = rldp.design(rldp.Sample(counts), 0.5, privacy=rldp.Nominal(), utility=rldp.Nominal(), gap=1e-4)
    assert found.objective - found.lower_bound <= 1e-4 * found.objective
    assert rldp.verify(found.protocol).ok


@pytest.mark.slow
def test_an_alphabet_of_hundreds_of_cells():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(50_000, rng.dirichlet(np.full(480, 0.5))).reshape(8, 60)
    found = rldp.design(rldp.Sample(counts), 0.5, utility=rldp.Nominal(), gap=1e-3, windows=True)
    assert rldp.verify(found.protocol).ok
    assert 0 < found.lower_bound < found.objective
