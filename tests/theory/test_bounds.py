"""What is proved of a protocol is true, and errs to the safe side."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from flint import arb, ctx

import rldp
from known_program import codes, nominal_optimum
from rldp.judge.checks import _bracket
from rldp.judge.regions import Group, Region, region_of
from rldp.protocol_file.format import SetClaim
from rldp.theory import bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import DesignProblem, Witness
from rldp.theory.support import minimising_eta
from strategies import a_problem

pytestmark = pytest.mark.numerical

COUNTS = np.array([[[9, 3], [2, 8]]])


def two_sided(ratio):
    """A protocol on one value whose outputs tell the two secrets apart by exactly ``ratio``."""
    low = 1 / (1 + ratio)
    return np.array([[[[low, 1 - low]], [[1 - low, low]]]])


@pytest.mark.parametrize("privacy", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_excess_tells_a_ratio_just_above_from_one_just_below(privacy, epsilon):
    problem = DesignProblem.of(
        np.array([[[4], [6]]]), np.array([epsilon]), np.zeros((1, 2)), privacy, rldp.Nominal()
    )
    for ratio, private in ((math.exp(epsilon) * (1 - 1e-9), True), (math.exp(epsilon) * (1 + 1e-9), False)):
        matrix = two_sided(ratio)
        eta = None if problem.privacy is None else bounds.trivial_eta(problem, matrix)
        excess, _ = bounds.privacy_excess(problem, matrix, eta)
        assert (excess.max() < 0) == private


def test_eta_below_the_largest_entry_is_raised_not_believed():
    problem = a_problem(counts=COUNTS, distortion="hamming")
    matrix = np.array([[[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]])
    nonsense = np.full((1, 2, 2, 2), -1e6)
    excess, eta = bounds.privacy_excess(problem, matrix, nonsense)
    honest, _ = bounds.privacy_excess(problem, matrix, bounds.trivial_eta(problem, matrix))
    assert np.allclose(excess, honest)
    assert (eta > -10).all()


def test_a_lower_bound_holds_for_any_multipliers_and_members():
    rng = np.random.default_rng(0)
    problem = a_problem(counts=COUNTS, distortion="hamming")
    best = rldp.design(rldp.Sample(problem.counts[0]), 0.5, distortion="hamming").objective
    mean = bounds.utility_mean(problem)
    for _ in range(50):
        members = np.broadcast_to(bounds.estimated_members(problem), (1, 2, 2, 2, 2))
        drawn = rng.dirichlet(np.ones(4), size=(1, 1))
        witness = Witness(
            z=rng.exponential(0.3, size=(1, 2, 2)),
            members=members,
            distribution=mean.pulled_inside(drawn).reshape(1, 2, 2),
        )
        assert bounds.lower_bound(problem, witness)[0] <= best


def test_the_objective_is_attained_up_to_rounding_by_the_worst_distribution():
    problem = a_problem(counts=COUNTS, distortion="hamming")
    matrix = np.array([[[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]])
    v = (matrix * problem.distortion).sum(axis=3)
    upper = bounds.objective(problem, matrix)[0][0]
    attained = (bounds.worst_distribution(problem, v) * v).sum()
    assert attained <= upper <= attained + 1e-8


def test_a_set_too_small_for_floats_is_enlarged_and_the_lower_bound_rests_on_the_estimate():
    sample = rldp.Sample([[30, 20, 10], [5, 25, 20]])
    tiny = rldp.PowerDivergence(1.0, radius=1e-14)
    with pytest.warns(rldp.GapWarning):
        designed = rldp.design(sample, 0.5, privacy=tiny, utility=tiny)
    nominal = rldp.design(sample, 0.5, privacy=rldp.Nominal(), utility=rldp.Nominal())
    assert designed.lower_bound <= nominal.objective <= designed.objective <= nominal.objective + 1e-4


def test_over_every_distribution_the_excess_is_that_of_the_worst_two_cells():
    """The sample, which shows none of the cells that matter, must not help."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(3), size=(1, 2, 2))
    problem = DesignProblem.of(
        np.array([[[900, 0], [0, 900]]]),
        np.array([0.5]),
        np.zeros((2, 3)),
        rldp.AllDistributions(),
        rldp.Nominal(),
    )
    eta = bounds.trivial_eta(problem, matrix)
    excess, _ = bounds.privacy_excess(problem, matrix, eta)
    for y in range(3):
        for t, (s1, s2) in enumerate(((0, 1), (1, 0))):
            worst = matrix[0, s1, :, y].max() - math.exp(0.5) * matrix[0, s2, :, y].min()
            assert worst <= excess[0, y, t] <= worst + 1e-14


def test_the_estimate_is_a_member_of_the_set_of_every_distribution():
    problem = DesignProblem.of(
        COUNTS, np.array([0.5]), np.zeros((2, 2)), rldp.AllDistributions(), rldp.Nominal()
    )
    members = bounds.estimated_members(problem)
    np.testing.assert_allclose(members[0, 0, 0], COUNTS[0] / COUNTS[0].sum(axis=1, keepdims=True))


# The same in balls: what floats say is on the safe side of it

LEVELS = [0.0, 1e-9, 0.1, 0.5, 1.0, 3.3, 30.0, 699.9, 700.0]
LAMBDAS = [0.0, 2 / 3, 1.0, 5.0]


def of_level(epsilon, **options):
    return a_problem("NUNP", counts=COUNTS, epsilon=epsilon, **options)


@pytest.mark.parametrize("epsilon", LEVELS)
def test_e_is_rounded_down_where_privacy_is_checked_and_up_where_it_is_a_limit(epsilon):
    problem = of_level(epsilon)
    with ctx.workprec(300):
        exact = arb(epsilon).exp()
        assert (
            arb(float(bounds._safe_e(problem)[0, 0])) <= exact <= arb(float(bounds._large_e(problem)[0, 0]))
        )
        assert float(bounds._large_e(problem)[0, 0] / bounds._safe_e(problem)[0, 0]) < 1 + 1e-14


def radius_of(mean):
    """B or r of a set in balls, from the budget that it has in floats."""
    budget = arb(float(np.ravel(mean.budget)[0]))
    return budget if mean.lambda_ == 0 else (1 + budget) ** (1 + arb(mean.lambda_)) - 1


def groups_of(problem, secrets):
    n = int(problem.counts.sum())
    rows = problem.counts[0].tolist()
    return [Group(arb(sum(rows[s])) / n, [arb(c) / max(sum(rows[s]), 1) for c in rows[s]]) for s in secrets]


def exact_excess(problem, matrix, eta, y, s1, s2):
    """The bound that η proves, over the set whose radius is rounded up."""
    e = arb(float(problem.epsilon[0])).exp()
    x = [[arb(q) for q in matrix[0, s1, :, y]], [-e * arb(q) for q in matrix[0, s2, :, y]]]
    mean = bounds._enlarged(bounds.privacy_mean(problem))
    region = Region(mean.lambda_, radius_of(mean))
    return _bracket(region, groups_of(problem, (s1, s2)), x, [arb(value) for value in eta])


def tables(seed, constant):
    """Protocols (1, 2, 3, 3), of which some depend on the secret alone."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(3, 2.0), (1, 2, 1 if constant else 3))
    return rldp.Protocol(np.broadcast_to(rows, (1, 2, 3, 3))[0]).matrix[None]


def counts_of(seed):
    return np.random.default_rng(seed).integers(0, 40, (1, 2, 3)) + np.array([[[1, 0, 0], [0, 0, 1]]])


@pytest.mark.parametrize("order", LAMBDAS)
@pytest.mark.parametrize("constant", [False, True])
def test_no_excess_is_below_what_its_eta_proves(order, constant):
    for seed in range(12):
        problem = a_problem("NURP", order, counts=counts_of(seed), epsilon=0.1 + 0.1 * seed)
        matrix = tables(seed, constant)
        eta = minimising_eta(bounds.privacy_mean(problem), bounds.seen_by_pairs(problem, matrix))
        excess, proof = bounds.privacy_excess(problem, matrix, eta)
        with ctx.workprec(300):
            for y in range(3):
                for t, (s1, s2) in enumerate(ordered_pairs(2).tolist()):
                    exact = exact_excess(problem, matrix, proof[0, y, t], y, s1, s2)
                    assert exact <= arb(float(excess[0, y, t])) <= exact + 1e-9


@pytest.mark.parametrize("constant", [False, True])
def test_no_nominal_excess_is_below_the_truth(constant):
    for seed in range(12):
        problem = a_problem("NUNP", counts=counts_of(seed), epsilon=0.1 + 0.1 * seed)
        matrix = tables(seed, constant)
        excess, _ = bounds.privacy_excess(problem, matrix, None)
        with ctx.workprec(300):
            e = arb(float(problem.epsilon[0])).exp()
            for y in range(3):
                for t, pair in enumerate(ordered_pairs(2).tolist()):
                    one, other = (
                        sum(
                            (c * arb(q) for c, q in zip(g.conditional, matrix[0, s, :, y], strict=True)),
                            arb(0),
                        )
                        for g, s in zip(groups_of(problem, pair), pair, strict=True)
                    )
                    exact = one - e * other
                    assert exact <= arb(float(excess[0, y, t])) <= exact + 1e-12


def exact_costs(matrix, distortion):
    return [
        sum((arb(q) * arb(d) for q, d in zip(row, ds, strict=True)), arb(0))
        for rows in matrix[0].tolist()
        for row, ds in zip(rows, distortion.tolist(), strict=True)
    ]


@pytest.mark.parametrize("order", [None, *LAMBDAS])
@pytest.mark.parametrize("constant", [False, True])
def test_no_objective_is_below_what_its_eta_proves(order, constant):
    """Where neither table nor distortion depends on the value, all costs are one number, the objective."""
    for seed in range(12):
        sets = "NUNP" if order is None else "RUNP"
        problem = a_problem(sets, order or 0.0, counts=counts_of(seed))
        if constant:
            rows = np.random.default_rng(seed).random((1, 3)) * np.ones((3, 1))
            problem = DesignProblem(problem.counts, problem.epsilon, rows, None, problem.utility)
        matrix = np.repeat(tables(seed, constant)[:, :1], 2, axis=1)
        objective, eta = bounds.objective(problem, matrix)
        with ctx.workprec(300):
            costs = exact_costs(matrix, problem.distortion)
            cells = Group(
                arb(1), [arb(c) / int(problem.counts.sum()) for c in problem.counts.ravel().tolist()]
            )
            exact = sum((p * v for p, v in zip(cells.conditional, costs, strict=True)), arb(0))
            if order is not None:
                mean = bounds._enlarged(bounds.utility_mean(problem))
                region = Region(mean.lambda_, radius_of(mean))
                bound = _bracket(region, [cells], [costs], [arb(float(eta[0, 0]))])
                exact = max(exact, bound.min(max(costs, key=float)), key=float)
            assert exact <= arb(float(objective[0])) <= exact + 1e-9


@pytest.mark.parametrize("order", LAMBDAS)
@pytest.mark.parametrize("alpha", [1e-300, 1e-9, 0.05, 0.9, 1 - 1e-12])
def test_radii_are_rounded_up_to_more_than_the_quantile_is_wrong_by(order, alpha):
    for counts in (COUNTS, counts_of(1), 10**9 * counts_of(2)):
        uncertainty = rldp.PowerDivergence(order, alpha)
        problem = a_problem({"privacy": uncertainty, "utility": uncertainty}, counts=counts)
        with ctx.workprec(300):
            exact = region_of(SetClaim(order, alpha=alpha), int(counts.sum()), counts[0].size).budget
            for mean in (bounds.privacy_mean(problem), bounds.utility_mean(problem)):
                budgets = np.ravel(bounds._enlarged(mean).budget).tolist()
                assert all(exact <= arb(budget) for budget in budgets)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 20.0])
def test_no_lower_bound_is_above_what_its_witness_proves(epsilon):
    rng = np.random.default_rng(3)
    for _ in range(30):
        problem = a_problem("NUNP", counts=counts_of(4), epsilon=epsilon)
        members = rng.dirichlet(np.ones(3), (1, 3, 2, 2))
        witness = Witness(
            rng.exponential(0.1, (1, 3, 2)), members, rng.dirichlet(np.ones(6)).reshape(1, 2, 3)
        )
        with ctx.workprec(300):
            e = arb(epsilon).exp()
            total = arb(0)
            for s, u in ((s, u) for s in range(2) for u in range(3)):
                entries = []
                for y in range(3):
                    entry = arb(witness.distribution[0, s, u]) * arb(problem.distortion[u, y])
                    for t, pair in enumerate(ordered_pairs(2).tolist()):
                        side = pair.index(s)
                        weight = arb(witness.z[0, y, t]) * arb(members[0, y, t, side, u])
                        entry += weight if side == 0 else -e * weight
                    entries.append(entry)
                smallest = entries[0]
                for entry in entries[1:]:
                    smallest = smallest.min(entry)
                total += smallest
            assert total - 1e-9 * abs(total) <= arb(float(bounds.lower_bound(problem, witness)[0])) <= total


def test_no_constant_lower_bound_is_above_what_its_distribution_proves():
    rng = np.random.default_rng(5)
    for _ in range(30):
        problem = a_problem("NUNP", counts=counts_of(4))
        distribution = rng.dirichlet(np.ones(6)).reshape(1, 2, 3)
        found = bounds.constant_lower_bound(problem, distribution)[0]
        with ctx.workprec(300):
            costs = [
                sum(
                    (
                        arb(p) * arb(d)
                        for row in distribution[0].tolist()
                        for p, d in zip(row, ds, strict=True)
                    ),
                    arb(0),
                )
                for ds in problem.distortion.T.tolist()
            ]
            exact = min(costs, key=float)
            assert exact * (1 - arb(1e-12)) <= arb(float(found)) <= exact


def test_above_level_700_a_lower_bound_is_no_better_for_its_constraints():
    """At level 800 the best cost is below 1e300·e^-800; these multipliers would prove 5e-5 at level 700.

    Each secret shows one value, so with a = P(0|s1), b = P(0|s2) the cost is 1e300·((1 − a)/2 + b/2).
    """
    counts = np.array([[[4, 0], [0, 4]]])
    problem = DesignProblem(counts, np.array([800.0]), 1e300 * (1 - np.eye(2)), None, None)
    z = np.array([[[0.5e300 * math.exp(-700), 0.0], [0.0, 0.0]]])
    witness = Witness(z, bounds.estimated_members(problem), problem.estimate)
    assert bounds.lower_bound(problem, witness)[0] <= 1e300 * math.exp(-700) * math.exp(-100)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 2.0])
def test_prices_that_charge_too_much_prove_no_more(kappa):
    """Any prices at all: no bound exceeds the optimum of the linear program."""
    counts, rng = np.array([[9, 3, 2], [2, 8, 4]]), np.random.default_rng(7)
    best = nominal_optimum(counts, 0.5, kappa)
    sets = rldp.Nominal(), rldp.Nominal()
    problem = DesignProblem.of(counts[None], np.array([0.5]), codes(3), *sets)
    problem = dataclasses.replace(problem, epsilon_known=kappa)
    members, estimate = bounds.estimated_members(problem), problem.estimate
    for _ in range(200):
        size = 10.0 ** rng.uniform(-3, 1)
        z, gamma = size * rng.random((1, 3, 2)), size * rng.normal(size=(1, 3, 2, 3))
        assert bounds.lower_bound(problem, Witness(z, members, estimate, gamma))[0] <= best.value * (1 + 1e-7)
    witness = Witness(best.z[None], members, estimate, best.gamma[None])
    assert bounds.lower_bound(problem, witness)[0] == pytest.approx(best.value, abs=1e-7)
    if kappa == 0:
        merged = bounds.lower_bound(problem, Witness(best.z[None], members, estimate))[0]
        assert merged == pytest.approx(best.value, abs=1e-7)
