"""The engine on its own: any array library, strictly private iterates, true derivatives of its model."""

from __future__ import annotations

from dataclasses import replace

import array_api_strict
import numpy as np
import pytest

import rldp
from rldp.designer.engine import Settings, solve, step
from rldp.designer.engine.path import _start
from rldp.designer.engine.step import Iterate, NewtonModel, advance
from rldp.designer.engine.terms.pair_index import PairForms, PairIndex, SpreadForms
from rldp.designer.engine.terms.pairs import has_few_ranks
from rldp.theory.arrays import Layout, ordered_pairs
from strategies import a_problem, jeffreys_counts, sets_of

pytestmark = pytest.mark.numerical

KINDS = ("NUNP", "NURP", "RUNP", "RURP")
PROBLEMS = [kind + how for how in ("", " by windows") for kind in KINDS] + ["NURP by ranks", "RURP by ranks"]


PLAIN = Settings()
AS_IN_SMALL = Settings(cells_an_end=np.inf, sigma_share=0.0)
BY_RANKS = Settings(linked_share=np.inf, device_linked_share=np.inf)


def settings_of(problem):
    """Pairs are kept as ranks, however small their table is, in a problem that says so."""
    return BY_RANKS if problem.endswith("by ranks") else PLAIN


def keeps_windows(problem):
    return problem.endswith("by windows")


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("order", [0.0, 1.0])
def test_it_runs_on_any_library_that_follows_the_array_standard(problem, order):
    task = a_problem(problem, order)
    windows = keeps_windows(problem)
    plain, strict = (
        solve(task, gap=1e-6, settings=settings_of(problem), windows=windows, xp=xp)
        for xp in (np, array_api_strict)
    )
    assert isinstance(strict.q, type(array_api_strict.asarray([1.0])))
    assert np.allclose(np.asarray(strict.objective), plain.objective, atol=2e-6)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_iterate_is_strictly_private(problem):
    task = a_problem(problem)
    distortion = np.ascontiguousarray(task.scaled_distortion.T[:, None, :])
    iterate = _start(task, keeps_windows(problem), distortion, settings_of(problem))
    while iterate.mu.min() > 1e-10:
        assert (iterate.slacks > 0).all()
        assert np.allclose(iterate.q.sum(axis=1), 1, atol=1e-9)
        iterate, _ = advance(iterate, distortion, np.zeros(len(task.counts)), settings_of(problem))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_neither_the_point_nor_the_multipliers_hold_each_other_back(problem):
    task = a_problem(problem)
    distortion = np.ascontiguousarray(task.scaled_distortion.T[:, None, :])
    iterate = _start(task, keeps_windows(problem), distortion, settings_of(problem))
    model = NewtonModel.at(iterate, distortion, settings_of(problem))
    direction = model.direction(0.1 * iterate.mu, rough=iterate.rough)
    lengths = model.reach(direction)
    steep = replace(direction, multipliers=-10 * iterate.multipliers)
    shorter = model.reach(steep)
    assert (shorter.point == lengths.point).all()
    assert np.allclose(shorter.multipliers, PLAIN.boundary / 10)
    moved, least = step._moved(model, steep, shorter)
    way, whole = (np.abs(dq).max(axis=(1, 2, 3)) for dq in (moved.q - iterate.q, direction.unknowns[0]))
    assert (way > 0.2 * whole).all()
    assert np.allclose(moved.multipliers, (1 - PLAIN.boundary) * iterate.multipliers)
    assert np.allclose(moved.nu - iterate.nu, shorter.multipliers[:, None] * direction.unknowns[3])
    assert (least == shorter.multipliers).all()


@pytest.mark.slow
def test_a_second_correction_saves_steps_in_large_tables():
    task = a_problem("NURP", count=3, shape=(2, 60), n=2000)
    twice, once = (
        solve(task, gap=1e-4, settings=s).steps.sum() for s in (AS_IN_SMALL, Settings(large=10**9))
    )
    assert twice <= 0.95 * once


@pytest.mark.slow
def test_slacks_of_large_tables_are_weighed_so_that_paths_do_not_begin_with_short_steps():
    task = a_problem("NURP", count=3, shape=(2, 100), n=3000)
    weighed, alike = (solve(task, gap=1e-4, settings=s).steps.sum() for s in (PLAIN, AS_IN_SMALL))
    assert weighed <= 0.9 * alike


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("order", [0.0, 2 / 3, 2.0])
def test_the_newton_matrix_is_the_derivative_of_the_residual(problem, order):
    """The residual of stationarity, differentiated numerically, is what ``apply`` computes."""
    task = a_problem(problem, order, count=1)
    distortion = np.ascontiguousarray(task.scaled_distortion.T[:, None, :])
    iterate = _start(task, keeps_windows(problem), distortion, settings_of(problem))
    rng = np.random.default_rng(1)
    q = rng.dirichlet(np.full(4, 5.0), size=(1, 3, 4)).transpose(0, 3, 1, 2) * 0.2 + 0.8 * iterate.q
    model = NewtonModel.at(moved_to(iterate, q, distortion), distortion, settings_of(problem))
    layout = model.system.layout
    step = 1e-3 * rng.normal(size=sum(np.prod(shape) for _, shape in layout.places))[None]
    expected = model.system.apply(step)
    h = 1e-4
    plus, minus = (stationarity(model, layout.split(sign * h * step), distortion) for sign in (1, -1))
    assert np.allclose((plus - minus) / (2 * h), expected, atol=1e-7)


def moved_to(iterate, q, distortion):
    v = (distortion * q).sum(axis=1).reshape(1, -1)
    privacy = iterate.privacy.at(q, iterate.privacy.eta + 0.05)
    utility = iterate.utility.at(v, iterate.utility.eta + 0.05)
    rest = (iterate.centre, iterate.ease, iterate.rough, iterate.reached)
    return Iterate.of(q, iterate.multipliers, iterate.nu, privacy, utility, *rest)


def stationarity(model, step, distortion):
    """The residual after a step, with multipliers moved as Newton's method moves them."""
    it = model.iterate
    dq, deta, deta_utility, dnu = step
    q = it.q + dq
    v = (distortion * q).sum(axis=1).reshape(1, -1)
    privacy = it.privacy.at(q, it.privacy.eta + deta)
    utility = it.utility.at(v, it.utility.eta + deta_utility)
    # Along a Newton step a multiplier times its slack is constant to first order.
    moves = model.layout.join((q, *privacy.slacks, *utility.slacks)) - it.slacks
    linear = model.layout.join(
        (
            dq,
            *it.privacy.moves(dq, deta),
            *it.utility.moves(distortion, dq, deta_utility),
        )
    )
    assert np.allclose(moves, linear, atol=1e-5)
    multipliers = model.layout.split(it.multipliers * (1 - linear / it.slacks))
    end = 1 + len(privacy.slacks)
    gq, geta = privacy.residual(multipliers[1:end])
    pi, geta_utility = utility.residual(multipliers[end:])
    cells = (1, 1, *q.shape[2:])
    gq = gq + distortion * pi.reshape(cells) - multipliers[0] - (it.nu + dnu).reshape(cells)
    return Layout.of(it.unknowns).join((gq, geta, geta_utility, q.sum(axis=1)))


@pytest.mark.parametrize("secrets", [2, 3, 5])
def test_forms_mean_the_same_spread_over_all_cells_or_not(secrets):
    rng = np.random.default_rng(0)
    pairs, sign = PairIndex.of(secrets, np, PLAIN), np.array([1.0, -1.7]).reshape(1, 1, 1, 2, 1)
    spread, compact = SpreadForms.of(pairs, sign, 4), PairForms.of(pairs, sign, 4)
    table = rng.normal(size=(1, 3, pairs.count, 2, 4))
    q, weights = rng.normal(size=(1, 3, secrets, 4)), rng.normal(size=(1, 3, pairs.count, 2))
    rows = [forms.rows(table) for forms in (spread, compact)]
    seen = sign * pairs.ends_of(q)
    assert np.allclose(spread.values(rows[0], q), (table * seen).sum(axis=-1))
    for name, given in (("values", q), ("total", weights)):
        one, other = (getattr(f, name)(r, given) for f, r in zip((spread, compact), rows, strict=True))
        assert np.allclose(one, other)
    assert np.allclose(spread.gram(rows[0], rows[0]), compact.gram(rows[1], rows[1]))


@pytest.mark.parametrize("shape", [(3, 4), (5, 3)])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_elimination_alone_solves_the_system_it_was_built_from(problem, shape):
    task = a_problem(problem, count=2, shape=shape)
    distortion = np.ascontiguousarray(task.scaled_distortion.T[:, None, :])
    settings = settings_of(problem)
    iterate = _start(task, keeps_windows(problem), distortion, settings)
    system = NewtonModel.at(iterate, distortion, settings).system
    size = sum(int(np.prod(shape)) for _, shape in system.layout.places)
    rhs = np.random.default_rng(2).normal(size=(2, size))
    x = system._eliminate(system.layout.split(rhs))
    assert np.abs(system.apply(system.layout.join(x)) - rhs).max() <= 1e-7


@pytest.mark.parametrize(("problem", "shape", "order"), [("NURP", (2, 24), 1.0), ("RURP", (3, 30), 0.0)])
def test_pairs_as_ranks_and_as_matrices_are_the_same_problem(problem, shape, order):
    task = a_problem(problem, order, count=2, shape=shape, n=2000)
    assert has_few_ranks(*shape, PLAIN)
    ranks, matrices = (solve(task, gap=1e-6, settings=s) for s in (PLAIN, Settings(linked_share=0.0)))
    assert ranks.closed.all()
    assert matrices.closed.all()
    assert (np.abs(ranks.objective - matrices.objective) <= 1e-6 * np.maximum(1, ranks.objective)).all()


@pytest.mark.parametrize("problem", ["NUNP by windows", "NURP by ranks"])
def test_late_in_the_path_two_refinements_make_a_direction_as_good_as_asked_for(problem):
    """Of 60 and 80 cells; without a basis in which low ranks are orthonormal they take twenty, and fail."""
    shape = (10, 8) if keeps_windows(problem) else (2, 30)
    task = a_problem(problem, count=1, shape=shape, n=3000)
    distortion = np.ascontiguousarray(task.scaled_distortion.T[:, None, :])
    iterate = _start(task, keeps_windows(problem), distortion, settings_of(problem))
    while iterate.mu[0] > 1e-10:
        iterate, _ = advance(iterate, distortion, np.zeros(1), settings_of(problem))
    model = NewtonModel.at(iterate, distortion, settings_of(problem))
    system, target = model.system, 0.1 * iterate.mu
    rhs = system.apply(system.layout.join(model.direction(target).unknowns))
    system.settings = replace(system.settings, refinements=3)  # elimination is the first
    found, _ = system.solve(system.layout.split(rhs), 10 * iterate.mu, np.array([True]))
    assert np.abs(system.apply(system.layout.join(found)) - rhs).max() <= 10 * iterate.mu[0]


def test_a_correction_that_is_taken_in_shares_keeps_the_sums():
    """Where all are, the rest of one is a direction that elimination alone had solved, sums off by 1e-6."""
    counts = jeffreys_counts(np.random.default_rng(4), 10, (10, 30), 6000)[6:7]
    found = solve(a_problem("NUNP", counts=counts), gap=1e-6, settings=Settings(near=2.0), windows=True)
    assert found.closed.all()
    assert np.abs(found.q.sum(axis=1) - 1).max() <= 1e-9


def test_problems_that_are_done_leave_the_batch_and_come_back_in_order():
    task = a_problem("NURP", count=8, n=500, seed=4)
    together = solve(task, gap=1e-7, settings=PLAIN)
    assert len(np.unique(together.steps)) > 1
    for k in range(8):
        alone = solve(task.subset(np.array([k])), gap=1e-7, settings=PLAIN)
        assert abs(alone.objective[0] - together.objective[k]) <= 2e-7


def test_pairs_move_tables_back_and_forth():
    pairs = PairIndex.of(4, np, PLAIN)
    table = np.random.default_rng(0).random((2, 3, 4, 5))
    seen = pairs.ends_of(table)
    for t, (a, b) in enumerate(ordered_pairs(4)):
        assert np.array_equal(seen[:, :, t, 0], table[:, :, a])
        assert np.array_equal(seen[:, :, t, 1], table[:, :, b])
    assert np.allclose(pairs.sum_per_secret(seen), 6 * table)
    assert np.allclose(pairs.per_secret(seen).sum(axis=3), 6 * table)


def test_the_four_problems_are_named():
    sample = rldp.Sample([[8, 3], [2, 9]])
    assert [rldp.design(sample, 1.0, **sets_of(p)).problem for p in KINDS] == list(KINDS)
