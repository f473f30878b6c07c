"""Bounds on one cell of the statistic hold for every n and π of a box."""

import math

import mpmath
import numpy as np
import pytest

from rldp.theory import kl_laws
from rldp.theory.kl_laws import SPANS, Boxes, Grid, Law, divergence, log_weight, sure_rows

GRID = Grid(step=1 / 16, points=160, tilt=0.75, width=0.12, looseness=0.02, least=1e-5, cut=14.0)


@pytest.fixture(autouse=True)
def _in_many_digits():
    with mpmath.workdps(50):
        yield


def precise_divergence(n, j, mean):
    n, j, mean = mpmath.mpf(n), mpmath.mpf(j), mpmath.mpf(mean)
    hits = j * mpmath.log(j / mean) if j else mpmath.mpf(0)
    misses = (n - j) * mpmath.log((n - j) / (n - mean)) if j < n else mpmath.mpf(0)
    return hits + misses


def precise_probability(n, j, mean):
    p = mpmath.mpf(mean) / n
    return mpmath.binomial(n, j) * p**j * (1 - p) ** (n - j)


@pytest.mark.parametrize("j", [0, 1, 2, 3, 10, 100, 255, 256, 257, 258, 1000, 10**6, 10**12])
def test_the_weight_of_a_count_is_as_accurate_as_claimed(j):
    exact = (j * mpmath.log(j) if j else 0) - j - mpmath.loggamma(j + 1)
    assert abs(exact - float(log_weight(j))) < 2.0**-40


def test_the_error_of_a_divergence_is_within_its_bound():
    rng = np.random.default_rng(1)
    for _ in range(400):
        n = int(10 ** rng.uniform(0, 15))
        mean = float(min(10 ** rng.uniform(-6, 3), n / 2) * rng.uniform(0.9, 1))
        j = min(n, int(rng.choice([0, 1, round(mean), round(mean + 4 * math.sqrt(mean)), n])))
        value, error = divergence(n, j, mean)
        assert abs(precise_divergence(n, j, mean) - float(value)) <= float(error)
        assert float(error) <= 1e-13 * (1 + mean + j + abs(float(value)))


@pytest.mark.parametrize(
    ("n", "share", "cost"), [(30, 0.5, 3.0), (100, 0.2, 5.0), (400, 0.9, 9.0), (50, 0.04, 2.0)]
)
def test_rows_that_are_left_for_sure_fail_no_oftener_than_promised(n, share, cost):
    rows = sure_rows(n, share, cost)
    tail = sum(precise_probability(n, j, n * mpmath.mpf(share)) for j in range(rows))
    assert tail <= mpmath.exp(-cost)
    one_more = float(precise_divergence(n, rows, n * share))
    assert rows == 0 or one_more < cost + 0.2  # nor are they fewer than need be


def test_few_rows_are_never_sure():
    assert sure_rows(3, 0.5, 5.0) == 0


def boxes_with(boxes, n, mean):
    return (boxes.low <= mean) & (mean <= boxes.high) & (boxes.fewest <= n) & (n <= boxes.most)


def test_boxes_leave_no_n_and_no_mean_out():
    rng = np.random.default_rng(2)
    boxes = Boxes.covering(GRID, 1, 3000, 400.0)
    for _ in range(1000):
        n = int(rng.integers(1, rng.choice([60, 3001])))
        assert boxes_with(boxes, n, max(GRID.least, min(n / 2, 400) * rng.uniform() ** 3)).any()


def hit_probabilities(n, mean, last):
    """Pr(J = j) for j = 0, …, last, right to about 1e-12: mean^j/j!·Π(1 − i/n)·(1 − mean/n)^{n−j}."""
    j = np.arange(min(n, last) + 1.0)
    thinning = np.concatenate([[0.0], np.cumsum(np.log1p(-j[:-1] / n))])
    factorials = np.array([math.lgamma(i + 1) for i in j])
    return np.exp(j * math.log(mean) - factorials + thinning + (n - j) * math.log1p(-mean / n))


def hit_divergences(n, mean, last):
    return np.array([float(divergence(n, j, mean)[0]) for j in range(min(n, last) + 1)])


COARSE = Grid(step=0.5, points=40, tilt=0.25, width=0.5, looseness=0.2, least=1e-5, cut=14.0)
KINDS = ["few rows", "some rows", "many rows"]


def laws(grid, kind):
    boxes = {
        "few rows": Boxes.covering(grid, 1, 40, 20.0),
        "some rows": Boxes.covering(grid, 30, 500, 60.0),
        "many rows": Boxes.covering(grid, 2**20, 2**53, 60.0),
    }[kind]
    return [Law.of(grid, chunk) for chunk in boxes.chunks(grid.points)]


def draws(rng, laws, count):
    """Laws, a box of each, an n and a mean of the box: at its ends, and in between."""
    for _ in range(count):
        law = laws[rng.integers(len(laws))]
        row = int(rng.integers(len(law.boxes)))
        fewest, most = int(law.boxes.fewest[row]), int(law.boxes.most[row])
        n = int(rng.choice([fewest, most, (fewest + most) // 2]))
        low, high = float(law.boxes.low[row]), float(law.boxes.high[row])
        part = float(rng.choice([0.0, 1.0, rng.uniform()]))
        yield law, row, n, min(max(low ** (1 - part) * high**part, low), high)


@pytest.mark.parametrize("grid", [GRID, COARSE])
@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_a_law_bound_each_hit_for_every_n_and_mean_of_its_box(grid, kind):
    rng = np.random.default_rng(3)
    for law, row, n, mean in draws(rng, laws(grid, kind), 300):
        first, last = int(law.boxes.first.min()), int(law.boxes.last.max())
        hits = slice(0, max(min(last, n) - first + 1, 0))
        c = hit_divergences(n, mean, last)[first:]
        probability = hit_probabilities(n, mean, last)[first:]
        shift, span = law.shift[row, hits], law.span[row, hits]
        assert (np.minimum(c, grid.points * grid.step) >= shift * grid.step * (1 - 1e-12) - 1e-12).all()
        lengths = np.append(SPANS, 10**6)[span]
        assert (np.minimum(c, 2 * grid.points * grid.step) <= (shift + lengths - 1) * grid.step + 1e-12).all()
        ends = np.log([law.boxes.low[row], law.boxes.high[row]])
        part = (math.log(mean) - ends[0]) / (ends[1] - ends[0])
        between = law.tilted[row, 0, hits] ** (1 - part) * law.tilted[row, 1, hits] ** part
        weight = np.where(probability > 1e-250, probability * np.exp(grid.tilt * c), 0.0)
        assert (weight <= between * (1 + 1e-9)).all()
        for end, at in enumerate((law.boxes.low[row], law.boxes.high[row])):
            there = hit_probabilities(n, at, last)[first:]
            for i in (0, grid.points // 3, grid.points - 1):
                sure = there[shift > i].sum() * math.exp(grid.tilt * grid.step * (i + 1))
                assert sure <= law.sure[row, end, i] * (1 + 1e-9)


@pytest.mark.parametrize("grid", [GRID, COARSE])
@pytest.mark.parametrize("kind", KINDS)
def test_a_law_bounds_the_next_tail_for_every_n_and_mean_of_its_box(grid, kind):
    rng = np.random.default_rng(4)
    ratios = []
    for law, row, n, mean in draws(rng, laws(grid, kind), 100):
        tail = non_increasing(rng, grid.points)
        i = int(rng.integers(grid.points))
        x = grid.step * (i + rng.choice([1e-9, 0.5, 1.0]))
        y = x - hit_divergences(n, mean, 400)
        value = np.where(y <= 0, 1.0, tail[np.maximum(np.ceil(y / grid.step) - 1, 0).astype(int)])
        exact = (hit_probabilities(n, mean, 400) * value).sum() * math.exp(grid.tilt * x)
        bound = bound_of(grid, law, row, tail, i)
        assert exact <= bound * (1 + 1e-9)
        ratios.append(bound / exact)
    assert np.median(ratios) < 1.6  # were bounds far off, a fault could hide


def non_increasing(rng, points):
    """A tail of steps, given at the intervals (iδ, (i+1)δ]."""
    falls = rng.exponential(size=points) * (rng.uniform(size=points) < 0.1)
    return np.exp(-0.4 * np.cumsum(falls))


def bound_of(grid, law, row, tail, i):
    """The right-hand side that the docstring of Law promises."""
    suprema = tail * grid.growth(grid.points)

    def supremum(m):
        return suprema[m] if m >= 0 else math.exp(grid.tilt * grid.step * (m + 1))

    sums = law.sure[row, :, i].copy()
    for hit, shift in enumerate(law.shift[row]):
        if shift <= i:
            span = law.span[row, hit]
            length = SPANS[span] if span < len(SPANS) else 3 * grid.points
            reached = range(i - shift - length + 1, i - shift + 1)
            sums += law.tilted[row, :, hit] * max(supremum(m) for m in reached)
    return sums.max() + math.exp(grid.tilt * grid.step * (i + 1)) * law.beyond[row]


def test_hits_outside_the_window_have_the_probability_that_is_added():
    grid = Grid(1 / 8, 40, 0.5, 0.3, 0.1, 1e-4, 3.0)
    law = Law.of(grid, next(Boxes.covering(grid, 30, 200, 60.0).chunks(grid.points)))
    first, last = int(law.boxes.first.min()), int(law.boxes.last.max())
    for row in range(len(law.boxes)):
        n = int(law.boxes.most[row])
        for mean in (float(law.boxes.low[row]), float(law.boxes.high[row])):
            outside = hit_probabilities(n, mean, 200)
            outside[first : last + 1] = 0.0
            assert outside.sum() <= law.beyond[row] * (1 + 1e-9)


def test_chernoffs_bound_is_rounded_up():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(10 ** rng.uniform(0.5, 6))
        mean = float(min(n / 2, 10 ** rng.uniform(-3, 2.5)))
        j = int(rng.integers(0, min(n, 400) + 1))
        found = float(kl_laws._chernoff(np.array([[n]]), j, np.array([[mean]]))[0, 0])
        with mpmath.workdps(50):
            c = (n - j) * mpmath.log(mpmath.mpf(n - j) / (n - mpmath.mpf(mean))) if j < n else mpmath.mpf(0)
            c += j * mpmath.log(j / mpmath.mpf(mean)) if j else 0
            exact = mpmath.exp(-c)
            assert exact < mpmath.mpf(10) ** -300 or exact <= found <= exact * (1 + mpmath.mpf(10) ** -9)
