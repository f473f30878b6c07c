"""What η proves, computed in floats, is above the truth and near it, in the units of v and not of η."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from oracles import exact_mean
from rldp.theory.nested_mean import NestedMean
from rldp.theory.support import minimising_eta, proved_support

pytestmark = pytest.mark.numerical

ORDERS = [0.0, 1e-3, 2 / 3, 1.0, 2.0, 10.0]
each_order = pytest.mark.parametrize("order", ORDERS)


class Counted:
    """A set around rows of counts (I, U), out of ``n`` draws, in floats and exactly."""

    def __init__(self, order, counts, budget, n=None):
        self.order, self.budget = order, budget
        self.rows = [[int(count) for count in row] for row in counts]
        self.n = n or sum(map(sum, self.rows))
        table = np.array(self.rows, dtype=float)
        totals = table.sum(axis=1)
        self.mean = NestedMean(
            order, totals / self.n, table / np.where(totals > 0, totals, 1)[:, None], np.asarray(budget)
        )

    def exact(self, v, eta):
        with localcontext() as context:
            context.prec = 60
            masses = [Fraction(sum(row), self.n) for row in self.rows]
            conditionals = [[Fraction(count, max(sum(row), 1)) for count in row] for row in self.rows]
            p = [[Decimal(float(h)) - Decimal(float(x)) for x in xs] for h, xs in zip(eta, v, strict=True)]
            mean = exact_mean(self.order, masses, conditionals, self.budget, p, digits=60)
            return sum(Decimal(float(h)) for h in eta) - mean

    def error(self, v, eta):
        """By how much floats are above what ``eta`` proves; never less than nothing."""
        bound, exact = Decimal(float(proved_support(self.mean, v, eta))), self.exact(v, eta)
        assert bound >= exact
        return float(bound - exact)


def two_secrets(seed, values=5):
    """Counts of two secrets, of which some are zero, and v as a constraint has it."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, (2, values)) * (rng.random((2, values)) < 0.8)
    counts[:, 0] += 1
    return counts, rng.random((2, values)) * np.array([[1.0], [-1.65]])


@each_order
@pytest.mark.parametrize("budget", [1e-10, 1e-6, 1e-3, 0.3, 5.0])
def test_the_bound_is_above_the_truth_by_a_rounding_of_v(order, budget):
    """At the best η, which are up to 10⁵ times v."""
    for seed in range(6):
        counts, v = two_secrets(seed)
        case = Counted(order, counts, budget)
        eta = minimising_eta(case.mean, v)
        assert case.error(v, eta) <= 2e-12


@each_order
@pytest.mark.parametrize("height", [1e-9, 1e-3, 1.0, 1e9])
@pytest.mark.parametrize("tilt", [1.0, 1e-6])
def test_the_bound_is_above_the_truth_at_any_eta(order, height, tilt):
    for seed in range(4):
        counts, v = two_secrets(seed)
        case = Counted(order, counts, 0.01)
        case.error(v, v.max(axis=1) + height * np.array([1.0, tilt]))


@each_order
def test_all_cells_are_one_group(order):
    for seed in range(6):
        counts, v = two_secrets(seed)
        case = Counted(order, counts.reshape(1, -1), 1e-4)
        flat = np.abs(v).reshape(1, -1)
        assert case.error(flat, minimising_eta(case.mean, flat)) <= 2e-12


@each_order
def test_constant_costs_are_what_they_are(order):
    case = Counted(order, [[3, 4, 9]], 1e-3)
    v = np.full((1, 3), 0.7)
    bound = float(proved_support(case.mean, v, v.max(axis=1) * (1 + 2.0**-50)))
    assert 0.7 <= bound <= 0.7 * (1 + 1e-14)


@each_order
def test_a_secret_never_seen_adds_its_eta(order):
    counts, v = two_secrets(3)
    counts[1] = 0
    case = Counted(order, counts, 1e-3, n=300)
    eta = minimising_eta(case.mean, v)
    assert case.error(v, eta) <= 2e-12
    alone = Counted(order, counts[:1], 1e-3, n=300)
    expected = float(proved_support(alone.mean, v[:1], eta[:1])) + eta[1]
    assert float(proved_support(case.mean, v, eta)) == pytest.approx(expected, abs=1e-13)


@each_order
@pytest.mark.parametrize("counts", [[[5, 0], [3, 4]], [[5, 0], [0, 0]]])
def test_what_was_never_seen_may_be_as_far_below_as_floats_go(order, counts):
    case = Counted(order, counts, 0.01, n=20)
    v = -np.array([[0.0, 0.5], [0.0, 0.7]])
    assert case.error(v, np.array([1e-290, 1e-290])) <= 1e-11


def test_where_nothing_was_seen_the_bound_is_the_sum_of_eta():
    _, v = two_secrets(1)
    case = Counted(1.0, np.zeros((2, 5)), 0.1, n=10)
    eta = v.max(axis=1) + 0.25
    assert float(proved_support(case.mean, v, eta)) == pytest.approx(eta.sum(), abs=1e-14)


@pytest.mark.parametrize("order", [2 / 3, 1.0, 2.0])
@pytest.mark.parametrize("draws", [10**4, 10**9, 10**15])
def test_the_bound_is_above_the_truth_where_a_rare_value_decides(order, draws):
    """Nearly all mass on a value with next to nothing below η: the mean is that of the rare one."""
    case = Counted(order, [[1, draws - 1]], 0.01)
    for k in range(1, 12):
        case.error(-np.array([[1 + k / 7, 1e-3 * k / draws**2]]), np.zeros(1))


@pytest.mark.parametrize("order", [0.0, 2 / 3, 1.0, 2.0])
@pytest.mark.parametrize("tiny", [1e-30, 1e-100, 1e-260])
@pytest.mark.parametrize("rare", [1, 10**8])
def test_the_bound_is_above_the_truth_where_one_secret_sees_next_to_nothing(order, tiny, rare):
    case = Counted(order, [[rare, rare], [10**9, 10**9]], 0.01)
    for k in range(1, 8):
        case.error(-np.array([[1 + k / 7, 1.0], [tiny * k, tiny]]), np.zeros(2))


@each_order
@pytest.mark.parametrize("height", [1e-9, 1e-20, 1e-60])
def test_the_bound_is_near_the_truth_where_eta_all_but_touches_a_value(order, height):
    case = Counted(order, [[3, 5], [4, 4]], 0.01)
    v = -np.array([[0.0, 1.0], [0.0, 0.3]])
    assert case.error(v, np.array([height, 2 * height])) <= 1e-11


@pytest.mark.parametrize("radius", [0.1, 1.0, 10.0, 60.0])
def test_the_bound_is_above_the_truth_where_the_radius_is_large_for_a_rare_pair(radius):
    for seed in range(20):
        counts, v = two_secrets(seed, values=2)
        case = Counted(0.0, counts, radius, n=20 * int(counts.sum()))
        case.error(v, minimising_eta(case.mean, v))


def test_a_batch_is_its_entries_one_by_one():
    cases = [
        (Counted(1.0, two_secrets(seed)[0], 1e-3 * (seed + 1)), two_secrets(seed)[1]) for seed in range(4)
    ]
    means = [case.mean for case, _ in cases]
    batch = NestedMean(
        1.0, *(np.stack([getattr(m, name) for m in means]) for name in ("masses", "conditionals", "budget"))
    )
    v = np.stack([v for _, v in cases])
    eta = v.max(axis=-1) + 1.0
    alone = [float(proved_support(mean, v[i], eta[i])) for i, mean in enumerate(means)]
    np.testing.assert_allclose(proved_support(batch, v, eta), alone, rtol=1e-14)
