"""The closed forms of the support functions, held against a direct search and exact arithmetic."""

import math
from decimal import Decimal, localcontext
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from oracles import JointSet, divergence, exact_mean, largest_difference_by_cones, radius_of
from problems import ORDERS, SAMPLES, UNSEEN_SECRET, wilson_upper
from rldp.judge.regions import Group, Region
from rldp.sets import PowerDivergence
from rldp.theory.nested_mean import NestedMean
from rldp.theory.support import minimising_eta, worst_members

pytestmark = pytest.mark.numerical

MANY = settings(max_examples=60)

each_order = pytest.mark.parametrize("order", ORDERS)
each_sample = pytest.mark.parametrize("counts", SAMPLES.values(), ids=SAMPLES.keys())


def budget_of(order, radius):
    return np.asarray(radius if order == 0 else np.expm1(np.log1p(radius) / (1 + order)))


def utility_mean(counts, order, radius):
    cells = (counts / counts.sum()).reshape(1, -1)
    return NestedMean(order, np.ones(1), cells, budget_of(order, radius))


def privacy_mean(counts, order, radius, pair=(0, 1)):
    chosen = counts[list(pair)]
    totals = chosen.sum(axis=1, keepdims=True)
    masses = totals[:, 0] / counts.sum()
    return NestedMean(order, masses, chosen / np.maximum(totals, 1), budget_of(order, radius))


def bound_at(mean, eta, v):
    return float(eta.sum() - mean.at(eta[:, None] - v).value)


def supremum(mean, v):
    eta = minimising_eta(mean, v)
    assert (eta >= v.max(axis=1)).all()
    return bound_at(mean, eta, v)


def assert_same_supremum(closed, found):
    """The search attains ``found``, so that the closed form may exceed it by rounding only."""
    assert closed == pytest.approx(found, rel=1e-9, abs=1e-9)


# --- the suprema ---------------------------------------------------------------------------------


@each_order
@each_sample
def test_utility_form_is_the_largest_mean_over_the_set(counts, order):
    v = np.random.default_rng(3).random(counts.shape)
    radius = radius_of(order, counts)
    found = JointSet(counts, order, radius).largest_mean(v)
    assert_same_supremum(supremum(utility_mean(counts, order, radius), v.reshape(1, -1)), found.value)


@each_order
@each_sample
@pytest.mark.parametrize("e", [1.0, 1.65, 20.0])
def test_privacy_form_is_the_largest_difference_of_two_conditionals(counts, order, e):
    q1, q2 = np.random.default_rng(5).random((2, counts.shape[1]))
    radius = radius_of(order, counts)
    found = JointSet(counts, order, radius).largest_difference(0, 1, q1, e * q2)
    assert_same_supremum(supremum(privacy_mean(counts, order, radius), np.stack([q1, -e * q2])), found.value)


@each_order
@each_sample
def test_privacy_form_agrees_with_a_conic_solver(counts, order):
    q1, q2 = np.random.default_rng(7).random((2, counts.shape[1]))
    radius = radius_of(order, counts)
    found = largest_difference_by_cones(counts, order, radius, 0, 1, q1, 2 * q2)
    closed = supremum(privacy_mean(counts, order, radius), np.stack([q1, -2 * q2]))
    assert closed == pytest.approx(found, abs=1e-6)


@each_order
@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (1, 2), (2, 0)])
def test_privacy_form_holds_for_a_secret_never_seen(order, pair):
    q1, q2 = np.random.default_rng(9).random((2, 3))
    radius = radius_of(order, UNSEEN_SECRET)
    found = JointSet(UNSEEN_SECRET, order, radius).largest_difference(*pair, q1, 1.65 * q2)
    closed = supremum(privacy_mean(UNSEEN_SECRET, order, radius, pair), np.stack([q1, -1.65 * q2]))
    assert_same_supremum(closed, found.value)


@each_order
def test_utility_form_holds_for_a_secret_never_seen(order):
    v = np.random.default_rng(11).random(UNSEEN_SECRET.shape)
    v[1] += 1
    radius = radius_of(order, UNSEEN_SECRET)
    found = JointSet(UNSEEN_SECRET, order, radius).largest_mean(v)
    assert_same_supremum(supremum(utility_mean(UNSEEN_SECRET, order, radius), v.reshape(1, -1)), found.value)


@each_order
@pytest.mark.parametrize("draws", [15, 150, 1500, 15000])
def test_both_forms_hold_at_every_sample_size(order, draws):
    rng = np.random.default_rng(draws)
    counts = rng.multinomial(draws, rng.dirichlet(np.full(15, 0.5))).reshape(3, 5)
    counts[0, 0] += 1
    counts[1, 1] += 1
    radius = radius_of(order, counts)
    q1, q2 = rng.random((2, 5))
    joint_set = JointSet(counts, order, radius)
    v = np.stack([q1, -1.65 * q2])
    found = joint_set.largest_difference(0, 1, q1, 1.65 * q2).value
    assert_same_supremum(supremum(privacy_mean(counts, order, radius), v), found)
    costs = rng.random((3, 5))
    found = joint_set.largest_mean(costs).value
    assert_same_supremum(supremum(utility_mean(counts, order, radius), costs.reshape(1, -1)), found)


@each_order
def test_two_secrets_never_seen_can_have_any_conditionals(order):
    mean = NestedMean(order, np.zeros(2), np.zeros((2, 3)), np.asarray(0.1))
    v = np.array([[0.1, 0.7, 0.3], [-0.5, -0.2, -0.9]])
    assert supremum(mean, v) == pytest.approx(0.7 - 0.2, abs=1e-9)


@each_order
@each_sample
def test_every_eta_above_the_maximum_proves_an_upper_bound(counts, order):
    rng = np.random.default_rng(13)
    q1, q2 = rng.random((2, counts.shape[1]))
    radius = radius_of(order, counts)
    mean = privacy_mean(counts, order, radius)
    v = np.stack([q1, -1.65 * q2])
    found = JointSet(counts, order, radius).largest_difference(0, 1, q1, 1.65 * q2).value
    for _ in range(50):
        eta = v.max(axis=1) + 10.0 ** rng.uniform(-12, 2, size=2)
        assert bound_at(mean, eta, v) >= found - 1e-12


@each_order
def test_pearson_and_its_kin_let_a_value_never_seen_have_this_much(order):
    radius = 0.2
    mean = utility_mean(np.array([[20, 0]]), order, radius)
    largest = 1 - math.exp(-radius) if order == 0 else 1 - (1 + radius) ** (-1 / order)
    assert supremum(mean, np.array([[0.0, 1.0]])) == pytest.approx(largest, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_pearson_set_on_two_cells_is_wilsons_interval(share):
    radius = 3.84 / 50
    mean = NestedMean(1.0, np.ones(1), np.array([[share, 1 - share]]), budget_of(1.0, radius))
    assert supremum(mean, np.array([[1.0, 0.0]])) == pytest.approx(wilson_upper(share, radius), abs=1e-12)


@each_order
def test_a_start_near_the_minimum_changes_nothing(order):
    counts = SAMPLES["three secrets, zeros"]
    v = np.random.default_rng(43).random((2, 5)) * np.array([[1.0], [-1.65]])
    mean = privacy_mean(counts, order, radius_of(order, counts))
    best = minimising_eta(mean, v)
    for start in (best, best * 1.01 + 0.01, best * 0.99 - 0.01, v.max(axis=1)):
        assert bound_at(mean, minimising_eta(mean, v, start=start), v) == pytest.approx(
            bound_at(mean, best, v), abs=1e-10
        )


@each_order
def test_deficit_is_the_least_share_that_is_lost_on_constant_groups(order):
    mean = random_mean(order, 4)
    kept = 1 - float(mean.deficit)
    constant = np.ones((2, 4))
    in_proportion = mean.masses[:, None] * constant
    assert float(mean.at(in_proportion).value) == pytest.approx(kept * mean.masses.sum(), rel=1e-12)
    for heights in np.random.default_rng(47).random((50, 2)):
        value = float(mean.at(heights[:, None] * constant).value)
        assert value <= kept * heights.sum() * (1 + 1e-12)


@each_order
def test_constant_costs_leave_nothing_to_be_gained(order):
    mean = utility_mean(SAMPLES["fifteen draws"], order, 0.3)
    assert supremum(mean, np.full((1, 6), 0.25)) == pytest.approx(0.25, abs=1e-12)


@each_order
def test_a_larger_radius_never_lowers_the_supremum(order):
    counts = SAMPLES["three secrets, zeros"]
    v = np.stack(np.random.default_rng(17).random((2, 5))) * np.array([[1.0], [-1.65]])
    found = [supremum(privacy_mean(counts, order, radius), v) for radius in (1e-6, 1e-3, 0.1, 1.0, 10.0)]
    assert all(smaller <= larger + 1e-12 for smaller, larger in pairwise(found))


@each_order
def test_a_vanishing_radius_leaves_the_estimate(order):
    counts = SAMPLES["fifteen draws"]
    v = np.random.default_rng(19).random((2, 3))
    mean = privacy_mean(counts, order, 1e-14)
    assert supremum(mean, v) == pytest.approx(float((mean.conditionals * v).sum()), abs=1e-6)


@each_sample
def test_a_vanishing_order_is_order_zero(counts):
    v = np.random.default_rng(23).random((2, counts.shape[1])) * np.array([[1.0], [-1.65]])

    def of_order(order):
        radius = float(PowerDivergence(order).size(counts.sum(), counts.size))
        return supremum(privacy_mean(counts, order, radius), v)

    assert of_order(1e-8) == pytest.approx(of_order(0.0), abs=1e-6)


@each_order
@each_sample
def test_radius_is_the_chi_square_quantile(counts, order):
    for alpha in (0.01, 0.05, 0.5):
        size = PowerDivergence(order, alpha=alpha).size(counts.sum(), counts.size)
        assert float(size) == pytest.approx(radius_of(order, counts, alpha), rel=1e-12)


# --- the nested mean and its derivatives ------------------------------------------------------------


def random_mean(order, seed, values=4, unseen_cell=True):
    rng = np.random.default_rng(seed)
    conditionals = rng.dirichlet(np.ones(values), size=2)
    if unseen_cell:
        conditionals[0, -1] = 0
        conditionals[0] /= conditionals[0].sum()
    radius = 0.1 * (order * (order + 1) if order > 0 else 1.0)
    return NestedMean(order, np.array([0.3, 0.45]), conditionals, budget_of(order, radius))


def random_point(seed, values=4, spread=2.0):
    return 10.0 ** np.random.default_rng(seed).uniform(-spread, 0, size=(2, values))


def exact_value(mean, p, digits=60):
    return exact_mean(mean.lambda_, mean.masses, mean.conditionals, float(mean.budget), p, digits)


def as_decimals(array):
    return [[Decimal(float(x)) for x in row] for row in array]


class ExactDerivatives:
    """Central differences in 160-digit arithmetic, right to far more digits than a float holds."""

    step = Decimal("1e-25")

    def __init__(self, mean, p, dp):
        self.mean, self.p, self.dp = mean, as_decimals(p), as_decimals(dp)

    def value(self, along=0, cell=None, shift=0):
        """G(p + along·dp), with one cell moved by ``shift`` times itself."""
        with localcontext() as context:
            context.prec = 160
            moved = [
                [x + along * d for x, d in zip(*rows, strict=True)]
                for rows in zip(self.p, self.dp, strict=True)
            ]
            if cell is not None:
                moved[cell[0]][cell[1]] += shift * self.p[cell[0]][cell[1]]
            return exact_value(self.mean, moved, digits=160)

    def partial(self, cell, along=0):
        with localcontext() as context:
            context.prec = 160
            rise = self.value(along, cell, self.step) - self.value(along, cell, -self.step)
            return rise / (2 * self.step * self.p[cell[0]][cell[1]])

    def first(self, function):
        with localcontext() as context:
            context.prec = 160
            return (function(self.step) - function(-self.step)) / (2 * self.step)

    def second(self, function):
        with localcontext() as context:
            context.prec = 160
            return (function(self.step) - 2 * function(0) + function(-self.step)) / self.step**2

    def over_cells(self, function):
        shape = len(self.p), len(self.p[0])
        return np.array([[float(function((i, u))) for u in range(shape[1])] for i in range(shape[0])])


derivative_case = pytest.mark.parametrize("seed", [0, 1])
DERIVATIVE_ORDERS = pytest.mark.parametrize("order", [*ORDERS, 1e-3])


@DERIVATIVE_ORDERS
@pytest.mark.parametrize("spread", [0.1, 3.0, 12.0])
def test_value_is_the_formula(order, spread):
    for seed in range(5):
        mean, p = random_mean(order, seed), random_point(seed, spread=spread)
        assert float(mean.at(p).value) == pytest.approx(float(exact_value(mean, p)), rel=1e-11)


@DERIVATIVE_ORDERS
@derivative_case
def test_gradient_is_the_derivative_of_the_value(order, seed):
    mean, p = random_mean(order, seed), random_point(seed)
    exact = ExactDerivatives(mean, p, np.zeros_like(p))
    np.testing.assert_allclose(mean.at(p).gradient, exact.over_cells(exact.partial), rtol=1e-10)


@DERIVATIVE_ORDERS
@derivative_case
def test_value_curvature_is_half_the_second_derivative_of_the_value(order, seed):
    mean, p = random_mean(order, seed), random_point(seed)
    dp = p * np.random.default_rng(seed + 100).normal(size=p.shape)
    exact = ExactDerivatives(mean, p, dp)
    half = float(exact.second(exact.value)) / 2
    assert float(mean.at(p).along(dp).value_curvature) == pytest.approx(half, rel=1e-10)


@pytest.mark.parametrize("order", [0.0, 1.0])
def test_curvature_along_a_mixture_follows_from_both_directions(order):
    rng = np.random.default_rng(3)
    masses = np.array([0.3, 0.5])
    mean = NestedMean(order, masses, rng.dirichlet(np.ones(4), 2), np.array(0.1))
    point = mean.at(rng.uniform(0.5, 2, (2, 4)))
    one, other = rng.normal(size=(2, 2, 4))
    first, last = point.along(one), point.along(other)
    for share in (0.0, 0.3, 1.0):
        rest = 1 - share
        mixed = (
            rest**2 * first.value_curvature
            + 2 * rest * share * first.curvature_with(last)
            + share**2 * last.value_curvature
        )
        direct = point.along(rest * one + share * other).value_curvature
        assert float(mixed) == pytest.approx(float(direct), rel=1e-10)


@DERIVATIVE_ORDERS
@derivative_case
def test_log_gradient_slope_is_the_first_derivative_of_the_logarithm(order, seed):
    mean, p = random_mean(order, seed), random_point(seed)
    dp = p * np.random.default_rng(seed + 200).normal(size=p.shape)
    exact = ExactDerivatives(mean, p, dp)
    seen = mean.conditionals > 0

    def slope(cell):
        if not seen[cell]:
            return 0
        return exact.first(lambda along: exact.partial(cell, along)) / exact.partial(cell)

    expected = exact.over_cells(slope)
    np.testing.assert_allclose(mean.at(p).along(dp).log_gradient_slope[seen], expected[seen], rtol=1e-9)


@DERIVATIVE_ORDERS
@derivative_case
def test_bent_gradient_weighs_the_gradient_and_its_derivatives(order, seed):
    mean, p = random_mean(order, seed), random_point(seed)
    dp = p * np.random.default_rng(seed + 300).normal(size=p.shape)
    exact = ExactDerivatives(mean, p, dp)

    @cache
    def parts(cell):
        partial = cache(lambda along: exact.partial(cell, along))
        return partial(0), exact.first(partial), exact.second(partial) / 2

    def weighed(weights):
        return exact.over_cells(
            lambda cell: sum(Decimal(w) * part for w, part in zip(weights, parts(cell), strict=True))
        )

    for weights in [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.3, -2.0, 0.7)]:
        bent = mean.at(p).along(dp).bent_gradient(*weights)
        np.testing.assert_allclose(bent, weighed(weights), rtol=1e-8, atol=1e-300)


orders = st.sampled_from([*ORDERS, 1e-6, 10.0])
seeds = st.integers(0, 10**6)


@MANY
@given(orders, seeds, st.floats(-190, 190))
def test_mean_is_homogeneous(order, seed, power):
    mean, p = random_mean(order, seed), random_point(seed)
    scaled = mean.at(p * 10.0**power)
    assert float(scaled.value) == pytest.approx(float(mean.at(p).value) * 10.0**power, rel=1e-9)
    np.testing.assert_allclose(scaled.gradient, mean.at(p).gradient, rtol=1e-9)


@MANY
@given(orders, seeds)
def test_mean_grows_with_every_value(order, seed):
    mean, p = random_mean(order, seed), random_point(seed)
    more = p * (1 + np.random.default_rng(seed).random(p.shape))
    assert mean.at(more).value > mean.at(p).value
    assert (mean.at(p).gradient >= 0).all()


@MANY
@given(orders, seeds, st.floats(0.05, 0.95))
def test_mean_is_concave(order, seed, weight):
    mean = random_mean(order, seed)
    p, q = random_point(seed), random_point(seed + 1)
    between = float(mean.at(weight * p + (1 - weight) * q).value)
    chord = weight * float(mean.at(p).value) + (1 - weight) * float(mean.at(q).value)
    assert between >= chord * (1 - 1e-12)


@MANY
@given(orders, seeds)
def test_mean_lies_below_each_of_its_tangents(order, seed):
    mean = random_mean(order, seed)
    p, q = random_point(seed), random_point(seed + 1)
    tangent = float((mean.at(p).gradient * q).sum())
    assert float(mean.at(q).value) <= tangent * (1 + 1e-12)


@DERIVATIVE_ORDERS
@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e100])
def test_no_scale_is_too_small_or_too_large(order, size):
    mean, p = random_mean(order, 1), random_point(1)
    point = mean.at(size * p)
    assert float(point.value) == pytest.approx(float(exact_value(mean, size * p)), rel=1e-10)
    np.testing.assert_allclose(point.gradient, mean.at(p).gradient, rtol=1e-10)
    np.testing.assert_allclose(point.omega.sum(axis=1), 1, rtol=1e-13)


@DERIVATIVE_ORDERS
def test_one_value_may_be_next_to_nothing(order):
    mean, p = random_mean(order, 2), random_point(2)
    p[0, 0], p[1, 1] = 1e-200, 1e-150
    point = mean.at(p)
    assert float(point.value) == pytest.approx(float(exact_value(mean, p)), rel=1e-10)
    assert np.isfinite(point.gradient).all()


@each_order
def test_a_batch_is_its_entries_one_by_one(order):
    means = [random_mean(order, seed) for seed in range(3)]
    points = [random_point(seed) for seed in range(3)]
    batch = NestedMean(
        order, *(np.stack([getattr(m, name) for m in means]) for name in ("masses", "conditionals", "budget"))
    )
    v = -np.stack(points)
    etas = minimising_eta(batch, v)
    for index, (mean, p) in enumerate(zip(means, points, strict=True)):
        assert float(batch.at(np.stack(points)).value[index]) == pytest.approx(
            float(mean.at(p).value), rel=1e-14
        )
        assert bound_at(mean, etas[index], -p) == pytest.approx(supremum(mean, -p), abs=1e-12)


# --- the projected set ------------------------------------------------------------------------------


def conditionals_of(joint, pair):
    return joint[list(pair)] / joint[list(pair)].sum(axis=1, keepdims=True)


def random_joint_on_the_boundary(counts, order, radius, rng):
    """A point of the set as far from the estimate as the set reaches in a random direction."""
    estimate = counts / counts.sum()
    far = rng.dirichlet(np.ones(counts.size)).reshape(counts.shape)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        inside = divergence(estimate, (1 - middle) * estimate + middle * far, order) <= radius
        low, high = (middle, high) if inside else (low, middle)
    return (1 - low) * estimate + low * far


@each_order
@each_sample
def test_every_member_of_the_set_projects_into_the_projected_set(counts, order):
    rng = np.random.default_rng(29)
    radius = radius_of(order, counts)
    mean = privacy_mean(counts, order, radius)
    for _ in range(50):
        joint = random_joint_on_the_boundary(counts, order, radius, rng)
        spent = float(mean.divergence(conditionals_of(joint, (0, 1))))
        assert spent <= float(mean.budget) * (1 + 1e-9)


@each_order
@each_sample
def test_the_worst_member_of_the_set_projects_onto_the_boundary(counts, order):
    q1, q2 = np.random.default_rng(31).random((2, counts.shape[1]))
    radius = radius_of(order, counts)
    mean = privacy_mean(counts, order, radius)
    worst = JointSet(counts, order, radius).largest_difference(0, 1, q1, 1.65 * q2)
    spent = float(mean.divergence(conditionals_of(worst.joint, (0, 1))))
    assert spent == pytest.approx(float(mean.budget), rel=1e-5)


@each_order
def test_divergence_of_a_single_group_is_that_of_the_set(order):
    counts = SAMPLES["fifteen draws"]
    estimate = counts / counts.sum()
    rng = np.random.default_rng(37)
    for _ in range(20):
        joint = rng.dirichlet(np.ones(6)).reshape(2, 3)
        raw = divergence(estimate, joint, order)
        spent = float(utility_mean(counts, order, 1.0).divergence(joint.reshape(1, -1)))
        assert spent == pytest.approx(float(budget_of(order, raw)), rel=1e-11)


@each_order
def test_divergence_of_the_estimate_is_zero(order):
    mean = random_mean(order, 3)
    assert float(mean.divergence(mean.conditionals)) == pytest.approx(0, abs=1e-15)


@each_order
def test_members_outside_are_pulled_inside_towards_the_estimate(order):
    rng = np.random.default_rng(41)
    for seed in range(30):
        mean = random_mean(order, seed)
        outside = rng.dirichlet(np.full(4, 0.3), size=2) + 1e-6
        outside /= outside.sum(axis=1, keepdims=True)
        if mean.divergence(outside) <= mean.budget:
            continue
        inside = mean.pulled_inside(outside)
        assert float(mean.divergence(inside)) <= float(mean.budget)
        np.testing.assert_allclose(inside.sum(axis=1), 1, rtol=1e-14)
        moved, way = inside - outside, mean.conditionals - outside
        share = (moved * way).sum() / (way * way).sum()
        assert 0 < share < 1
        np.testing.assert_allclose(moved, share * way, atol=1e-14)


@each_order
def test_members_inside_stay_where_they_are(order):
    mean = random_mean(order, 5)
    inside = 0.99 * mean.conditionals + 0.01 / 4
    assert mean.divergence(inside) < mean.budget
    np.testing.assert_array_equal(mean.pulled_inside(inside), inside)


@each_order
def test_the_conditional_of_a_secret_never_seen_is_never_pulled(order):
    mean = NestedMean(order, np.array([0.8, 0.0]), np.array([[0.5, 0.5], [0.0, 0.0]]), np.asarray(0.01))
    members = np.array([[0.01, 0.99], [0.0, 1.0]])
    inside = mean.pulled_inside(members)
    np.testing.assert_array_equal(inside[1], members[1])
    assert float(mean.divergence(inside)) <= 0.01


def in_balls(mean, members):
    """Whether members lie in the set, for certain, though its radius be rounded up by a hair."""
    budget = arb(float(mean.budget)) * (1 - arb(1e-12))
    radius = budget if mean.lambda_ == 0 else (1 + budget) ** (1 + arb(mean.lambda_)) - 1
    groups = [
        Group(arb(float(mass)), [arb(float(c)) for c in row])
        for mass, row in zip(mean.masses, mean.conditionals, strict=True)
    ]
    rows = [[arb(float(r)) for r in row] for row in members]
    rows = [[r / sum(row, arb(0)) for r in row] for row in rows]
    return Region(mean.lambda_, radius).contains(groups, rows)


@each_order
@pytest.mark.parametrize("budget", [1e-9, 1e-4, 0.1, 3.0])
def test_the_worst_members_are_members_in_exact_arithmetic_too(order, budget):
    """Estimates are dyadic here, so that no rounding of them is taken for one of the members."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(64, rng.dirichlet(np.ones(4)), size=2)
        mean = NestedMean(order, np.array([0.25, 0.5]), counts / 64, np.asarray(budget))
        v = rng.random((2, 4)) * np.array([[1.0], [-1.6]])
        with ctx.workprec(200):
            assert in_balls(mean, worst_members(mean, v))
            assert in_balls(mean, mean.pulled_inside(rng.dirichlet(np.ones(4), size=2)))
