"""The judge proves radii that are valid, and no others."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from multinomials import distributions, exact_tail, outcomes, probabilities, statistic
from promised import pair_radius
from rldp.judge import promises, recursion
from rldp.judge.promises import Radii
from rldp.judge.recursion import Mesh
from rldp.theory import radii as theory_radii
from rldp.theory.kl_laws import divergence
from rldp.theory.kl_recursion import Strata, normal_survival, work
from rldp.theory.radii import asymptotic_radius, moment_radius, recursion_radius


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def pair_radius_is_valid(x, n1, n2, cells, alpha, method):
    return Radii((n1, n2), x).is_valid(x, n1, n2, cells, alpha, method) is True


# A1


@pytest.mark.parametrize(
    ("n1", "n2", "cells", "alpha"),
    [
        (25, 25, 5, 0.05 / 3),
        (0, 3, 3, 0.2),
        (1, 1, 2, 0.4),
        (10**9, 40, 4, 1e-300),
        (300, 10**6, 1000, 0.01),
        (10**15, 2, 7, 0.9),
    ],
)
def test_a_radius_of_moments_is_proved_and_one_a_little_smaller_is_not(n1, n2, cells, alpha):
    radius = moment_radius((n1, n2), cells, alpha)
    assert pair_radius_is_valid(radius, n1, n2, cells, alpha, "A1")
    assert pair_radius_is_valid(2 * radius, n1, n2, cells, alpha, "A1")
    assert not pair_radius_is_valid(radius * (1 - 1e-6), n1, n2, cells, alpha, "A1")
    assert not pair_radius_is_valid(radius * 0.99, n1, n2, cells, alpha, "A1")


@pytest.mark.parametrize("t", [0.01, 0.5, 0.97, 1.0])
@pytest.mark.parametrize(("n", "cells"), [(1, 2), (17, 3), (200, 50), (3000, 2), (10**6, 5)])
def test_the_ball_of_a_moment_holds_it(n, cells, t):
    total = term = mpmath.mpf(1)
    for m in range(min(n, 20_000)):
        term = term * (cells - 1 + m) * (n - m) * mpmath.mpf(t) / ((m + 1) * n)
        total += term
    with ctx.workprec(128):
        ball = promises._log_moment(n, cells, arb(t))
    assert mpmath.log(total) <= float(ball.upper()) * (1 + 1e-15) + 1e-300
    assert float(ball.upper()) <= float(mpmath.log(total)) * (1 + 1e-12)


def test_where_the_series_is_too_long_the_limit_of_many_rows_is_taken():
    with ctx.workprec(128):
        t = 1 - arb(2) ** -40
        assert float(promises._log_moment(10**15, 3, t).upper()) == pytest.approx(80 * math.log(2), rel=1e-14)
        assert promises._log_moment(10**15, 3, arb(1)) is None


@pytest.mark.parametrize("bits", [3, 8, 16])
def test_what_a_series_leaves_out_is_counted(monkeypatch, bits):
    """Broken off sooner than it ever is, a series is still no less than all of it."""
    monkeypatch.setattr(promises, "_BITS", bits)
    for n, cells, t in ((200, 3, 0.7), (3000, 2, 0.9), (10**6, 5, 0.5)):
        with ctx.workprec(128):
            ball = promises._log_moment(n, cells, arb(t))
        with mpmath.workdps(40):
            total = term = mpmath.mpf(1)
            for m in range(min(n, 5_000)):
                term = term * (cells - 1 + m) * (n - m) * mpmath.mpf(t) / ((m + 1) * n)
                total += term
            assert mpmath.log(total) <= mpmath.mpf(ball.upper().str(35, radius=False))


# A2


@pytest.mark.parametrize(
    ("n1", "n2", "cells", "alpha"),
    [
        (0, 30, 3, 0.1),
        pytest.param(25, 25, 5, 0.05 / 3, marks=pytest.mark.slow),
        pytest.param(10**7, 60, 3, 1e-6, marks=pytest.mark.slow),
    ],
)
def test_a_radius_of_the_recursion_is_proved_and_one_a_little_smaller_is_not(n1, n2, cells, alpha):
    radius = pair_radius(n1, n2, cells, alpha)
    assert radius.method == "A2"
    assert pair_radius_is_valid(radius.value, n1, n2, cells, alpha, "A2")
    assert not pair_radius_is_valid(0.85 * radius.value, n1, n2, cells, alpha, "A2")
    assert not pair_radius_is_valid(radius.value, n1, n2, cells, alpha, "A1")


def test_the_order_of_the_secrets_does_not_matter():
    radius = pair_radius(20, 70, 3, 0.02).value
    assert pair_radius_is_valid(radius, 70, 20, 3, 0.02, "A2")


def test_a_recursion_that_would_take_too_long_proves_nothing():
    assert not pair_radius_is_valid(1e6, 10**6, 10**6, 1000, 0.01, "A2")
    assert not pair_radius_is_valid(1e6, 10, 10, 5, 1e-200, "A2")
    assert not pair_radius_is_valid(1e5, 10**6, 10**6, 200, 0.01, "A2")


@pytest.mark.parametrize(("n", "cells"), [(1, 2), (20, 2), (130, 2), (9, 3), (25, 3), (7, 4)])
@pytest.mark.parametrize(("steps", "tilt"), [((1 / 32, 0.05, 0.008), 0.75), ((1 / 2, 0.3, 0.05), 0.5)])
def test_no_distribution_has_a_larger_tail(n, cells, steps, tilt):
    counts = outcomes(n, cells)
    for x, spare in [(x, 1e-6) for x in (0.3, 0.69, 1.0, 2.5, 4.01, 6.0, 8.7)] + [(6.0, 0.02)]:
        mesh = Mesh(*steps, tilt, math.ceil(x / steps[0]), spare)
        bound = recursion._tail_at(x, mesh, [recursion.similar_sizes(n)], cells)
        for p in distributions(cells, 40, seed=n):
            exact = exact_tail(statistic(counts, p), probabilities(counts, p), np.array([x]))
            assert exact[0] <= bound * (1 + 1e-9)


@pytest.mark.parametrize(
    ("cells", "sizes"), [(2, (1, 2, 3, 5, 9, 30, 130)), (3, (1, 2, 4, 9, 25)), (4, (3, 7))]
)
def test_a_bound_for_all_sizes_holds_for_each(cells, sizes):
    for x in (0.69, 1.0, 2.5, 4.01, 6.0):
        mesh = Mesh(1 / 4, 0.3, 0.05, 0.75, math.ceil(4 * x), 1e-6)
        bound = recursion._tail_at(x, mesh, [recursion.every_size(1, cells)], cells)
        for n in sizes:
            counts = outcomes(n, cells)
            for p in distributions(cells, 40, seed=n):
                exact = exact_tail(statistic(counts, p), probabilities(counts, p), np.array([x]))
                assert exact[0] <= bound * (1 + 1e-9)
        assert bound < 4 * math.exp(-x / 2)  # were it far off, a fault could hide


def test_two_strata_are_bounded_together():
    first, second = outcomes(6, 3), outcomes(3, 3)
    for x in (1.0, 3.0, 5.5):
        mesh = Mesh(1 / 16, 0.1, 0.016, 0.75, math.ceil(16 * x), 1e-6)
        bound = recursion._tail_at(x, mesh, [(6, 6), (3, 3)], 3)
        candidates = distributions(3, 12, seed=1)
        for p in candidates:
            for q in candidates[::3]:
                values = np.add.outer(statistic(first, p), statistic(second, q)).ravel()
                weights = np.outer(probabilities(first, p), probabilities(second, q)).ravel()
                assert exact_tail(values, weights, np.array([x]))[0] <= bound * (1 + 1e-9)


def test_a_proof_for_many_rows_serves_no_pair_of_few():
    x = recursion_radius((400, 500), 2, 0.05)
    assert promises.Radii((400, 500), x).is_valid(x, 400, 500, 2, 0.05, "A2")
    assert x < recursion_radius((4, 4), 2, 0.05)
    assert not promises.Radii((400, 500), x).is_valid(x, 4, 4, 2, 0.05, "A2")


def test_a_proof_for_all_sizes_holds_them():
    for cells in (2, 3, 50):
        for rarest in (0, 1, 5, 16 * cells - 1, 16 * cells, 10**6):
            low, high = recursion.every_size(rarest, cells)
            assert low <= max(rarest, 1)
            assert high == 2**53


def test_pairs_with_one_radius_share_a_proof_and_its_work(monkeypatch):
    asked = []
    monkeypatch.setattr(promises, "recursion_proof", lambda *claim: (asked.append(claim) or True, 1.0))
    proofs = promises.Radii((40, 500, 900), 7.0)
    for n1, n2 in ((40, 500), (40, 900), (500, 900)):
        assert proofs.is_valid(7.0, n1, n2, 3, 0.05, "A2")
    assert asked == [(7.0, ((1, 2**53),) * 2, 3, 0.05)]


def test_a_radius_of_a_file_of_before_is_proved_for_its_own_rows():
    """Found for 25 and 25 rows alone, as until 0.2; it is too small for all numbers of rows."""
    assert recursion_radius((25, 25), 5, 0.05 / 3) > 11.44
    assert pair_radius_is_valid(11.44, 25, 25, 5, 0.05 / 3, "A2")


def test_every_size_is_in_its_range():
    for n in [1, 100, 101, 2**20 - 1, 2**20, 2**53 - 1, *range(99, 3000, 11)]:
        low, high = recursion.similar_sizes(n)
        assert low <= n <= high
        assert n <= 100 or n >= 2**20 or high <= 1.2 * low


MESHES = [Mesh(1 / 16, 0.1, 0.016, 0.75, 160, 1e-5), Mesh(1 / 2, 0.5, 0.2, 0.25, 40, 1e-5)]


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize(
    ("fewest", "most", "apart"), [(1, 40, True), (30, 500, False), (2**20, 2**53, False)]
)
def test_what_is_said_of_a_hit_holds_for_every_n_and_mean(mesh, fewest, most, apart):
    """The smallest and largest c of a hit, its weight, its probability."""
    rng = np.random.default_rng(3)
    a, b, n1, n2 = recursion._ranges(mesh, fewest, most, apart)
    first, last = recursion._windows(mesh, a, b)
    for row in rng.choice(len(a), size=60):
        part = slice(row, row + 1)
        batch = recursion._batch(mesh, apart, a[part], b[part], n1[part], n2[part], first[part], last[part])
        n = int(rng.choice([n1[row], n2[row], (n1[row] + n2[row]) // 2]))
        share = float(rng.choice([0.0, 1.0, rng.uniform()]))
        mean = min(max(a[row] ** (1 - share) * b[row] ** share, a[row]), b[row])
        j = np.arange(first[row], min(last[row], n) + 1)
        c = divergence(n, j, mean)[0]
        hits = slice(0, len(j))
        shift, length = batch.shift[0, hits], batch.length[0, hits]
        assert (np.minimum(c, mesh.points * mesh.delta) >= shift * mesh.delta - 1e-12).all()
        assert (
            np.minimum(c, 3 * mesh.points * mesh.delta) <= (shift + length - 1) * mesh.delta + 1e-12
        ).all()
        probability = hit_probabilities(n, mean, j)
        between = batch.weight[0, 0, hits] ** (1 - share) * batch.weight[0, 1, hits] ** share
        assert (probability * np.exp(mesh.tilt * c) <= between * (1 + 1e-9)).all()
        assert 1 - probability.sum() <= batch.beyond + 1e-12
        for end, at in enumerate((a[row], b[row])):
            there = hit_probabilities(n, at, j)
            for i in (0, mesh.points // 3, mesh.points - 1):
                alone = there[shift > i].sum() * math.exp(mesh.tilt * mesh.delta * (i + 1))
                assert alone <= batch.alone[0, end, i] * (1 + 1e-9)


def hit_probabilities(n, mean, j):
    """Binomial probabilities, right to about 1e-12."""
    i = np.arange(j[-1] + 1.0)
    thinning = np.concatenate([[0.0], np.cumsum(np.log1p(-i[:-1] / n))])[j]
    factorials = np.array([math.lgamma(each + 1) for each in j])
    return np.exp(j * math.log(mean) - factorials + thinning + (n - j) * math.log1p(-mean / n))


def test_the_normal_law_is_the_one_of_the_theory_page():
    mesh = Mesh(1 / 16, 0.1, 0.016, 0.75, 160, 1e-5)
    value = recursion._by_normal_law(mesh, np.ones(160), 3)  # for the tail e^{-κx}
    for i in (0, 30, 100, 159):
        y = np.arange(8 * (i + 1) + 1) / 128
        step = 1 / np.sqrt(400 * 2 / 3) / (1 - np.sqrt(2 * y / 400) - 1 / 400)
        law = [
            min(1, 2 * math.exp(-v), math.erfc((math.sqrt(2 * v) - h) / math.sqrt(2)))
            for v, h in zip(y, step, strict=True)
        ]
        law = np.minimum.accumulate(law)
        exact = ((law[:-1] - law[1:]) * np.exp(0.75 * y[1:])).sum() + law[-1] * math.exp(0.75 * y[-1])
        assert exact * (1 - 1e-12) <= value[i] <= exact * (1 + 1e-9)


def test_the_normal_law_bounds_the_next_tail():
    mesh = Mesh(1 / 16, 0.1, 0.016, 0.75, 160, 1e-5)
    rng = np.random.default_rng(5)
    ends = np.arange(160 * 8 + 1) / 128
    survival = normal_survival(ends, 3)
    for _ in range(20):
        tail = np.exp(-0.3 * np.cumsum(rng.exponential(size=160) * (rng.uniform(size=160) < 0.15)))
        bound = recursion._by_normal_law(mesh, tail * mesh.powers(), 3)
        for i in range(0, 160, 9):
            x = mesh.delta * (i + rng.choice([1e-9, 0.5, 1.0]))
            y = x - ends[1:]
            value = np.where(y <= 0, 1.0, tail[np.maximum(np.ceil(y / mesh.delta) - 1, 0).astype(int)])
            exact = ((survival[:-1] - survival[1:]) * value).sum() + survival[-1]
            assert exact * math.exp(mesh.tilt * x) <= bound[i] * (1 + 1e-12)


def test_rows_that_are_left_fail_no_oftener_than_promised():
    for n, cells, spare in ((40, 5, 1e-2), (300, 4, 1e-4)):
        for left, rows in enumerate(recursion._fewest(n, cells, spare)[:-1], start=2):
            tail = sum(
                mpmath.binomial(n, j) * mpmath.mpf(left) ** j * mpmath.mpf(cells - left) ** (n - j)
                for j in range(rows)
            )
            assert tail / mpmath.mpf(cells) ** n <= spare


@pytest.mark.parametrize(("ranges", "cells"), [([(9, 9)], 4), ([(9, 9), (5, 5)], 3), ([(2000, 2300)], 5)])
def test_rows_that_may_be_fewer_than_is_sure_are_counted_for_every_cell(monkeypatch, ranges, cells):
    """With tails of nothing, what is left of the bound is the probability that rows run out."""
    monkeypatch.setattr(recursion, "_peeled", lambda mesh, tails, *_: (0 * tails, 0.0))
    mesh = Mesh(1 / 8, 0.2, 0.03, 0.5, 16, 0.01)
    assert recursion._tail_at(2.0, mesh, ranges, cells) >= len(ranges) * (cells - 2) * mesh.spare


# Claims that prove themselves, or nothing


def test_a_statistic_that_is_always_0_has_any_radius():
    assert pair_radius_is_valid(0.0, 10, 20, 1, 0.05, "A2")
    assert pair_radius_is_valid(1e-9, 0, 0, 5, 0.05, "A1")
    assert not pair_radius_is_valid(0.0, 0, 0, 5, 0.05, "A1")


@pytest.mark.parametrize(
    "claim",
    [
        (100.0, 10, 10, 3, 0.05, "A3"),
        (math.nan, 10, 10, 3, 0.05, "A1"),
        (math.inf, 10, 10, 3, 0.05, "A1"),
        (-1.0, 10, 10, 3, 0.05, "A2"),
        (0.0, 10, 10, 3, 0.05, "A2"),
        (100.0, 10, 10, 3, 0.0, "A1"),
        (100.0, 10, 10, 3, 1.0, "A1"),
        (100.0, 10, 10, 0, 0.05, "A1"),
        (100.0, 2**53, 10, 3, 0.05, "A1"),
    ],
)
def test_nonsense_proves_nothing(claim):
    assert not pair_radius_is_valid(*claim)


@pytest.mark.slow
def test_judge_and_designer_agree_on_many_pairs():
    rng = np.random.default_rng(7)
    for _ in range(5):
        n1, n2 = (int(each) for each in 10 ** rng.uniform(0, 5, size=2))
        cells, alpha = int(2 + 10 ** rng.uniform(-0.5, 1.0)), float(10 ** rng.uniform(-5, -0.5))
        radius = pair_radius(n1, n2, cells, alpha)
        assert pair_radius_is_valid(radius.value, n1, n2, cells, alpha, radius.method)
        assert recursion_radius((n1, n2), cells, alpha) >= radius.value


@pytest.mark.slow
def test_the_judge_can_afford_a_finer_mesh_than_any_that_the_designer_can():
    """8 155 and 34 287 rows, 7 values: the judge's mesh took a hundredth more than it was allowed."""
    rng = np.random.default_rng(8)
    rows, cells = np.floor(10 ** rng.uniform(0, 6.5, size=2)), 2 + 10 ** rng.uniform(-0.5, 1.3)
    another = (*map(int, rows), int(cells), float(10 ** rng.uniform(-6, -0.5)))
    compared = 0
    for n1, n2, cells, alpha in ((8155, 34287, 7, 3.5e-4), another):
        sizes, freedom = sorted((n1, n2), reverse=True), 2 * (cells - 1)
        reach = 1.15 * asymptotic_radius(freedom, alpha)
        strata = Strata(2, cells, theory_radii._fewest(sizes, cells))
        ranges = (recursion.every_size(min(sizes), cells),) * 2
        for mine in theory_radii._RESOLUTIONS:
            most = theory_radii._WORK if mine.step < 0.25 else theory_radii._MOST_WORK
            if work(strata, alpha, reach=reach, tilt=0.5, resolution=mine) > most:
                continue
            finer = [
                recursion._work(
                    Mesh(*steps, 0.5, math.ceil(reach / steps[0]), alpha * 1e-3 / freedom), ranges, cells
                )
                <= affordable
                for steps, affordable in recursion._MESHES
                if np.all(np.array(steps) <= (mine.step, mine.width, mine.looseness))
            ]
            assert any(finer), (n1, n2, cells, alpha, mine)
            compared += 1
    assert compared > 5
