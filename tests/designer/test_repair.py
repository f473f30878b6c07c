"""Repair makes a protocol exact and strictly private, at next to no cost."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from flint import arb, ctx

import rldp
from rldp.designer.engine import Settings
from rldp.designer.near_zero import equalised
from rldp.designer.repair import repaired
from rldp.theory.arrays import DENOMINATOR, numerators, on_grid
from rldp.theory.bounds import known_excess, privacy_excess, trivial_eta
from rldp.theory.model import DesignProblem
from strategies import a_problem

pytestmark = pytest.mark.numerical

COUNTS = np.array([[[30, 12, 4], [5, 20, 25]]])


def a_design(problem, privacy):
    designed = rldp.design(rldp.Sample(problem.counts[0]), 0.5, privacy=privacy, utility=rldp.Nominal())
    return designed.protocol.matrix[None].copy(), designed.certificate.eta


@pytest.mark.parametrize("privacy", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
@pytest.mark.parametrize("violation", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_a_violated_constraint_is_repaired_strictly_and_cheaply(privacy, violation):
    problem = a_problem({"privacy": privacy, "utility": rldp.Nominal()}, counts=COUNTS)
    matrix, eta = a_design(problem, privacy)
    matrix = (1 - violation) * matrix + violation * np.eye(3)
    eta = None if eta is None else eta[None] * (1 + violation)
    result, proof, proved = repaired(problem, matrix, eta, np.ones(1), Settings())
    assert proved.all()
    excess, _ = privacy_excess(problem, result, proof)
    used = result.max(axis=(1, 2)) > 0
    assert excess[used].max() < 0
    assert np.abs(result - matrix).max() <= 1e-9 + 50 * violation


def on_the_edge(over):
    """Of two secrets one has its outputs e^½·(1 + over) times as often as the other; there is one value."""
    low = 1 / (1 + np.exp(0.5) * (1 + over))
    return np.array([[[[low, 1 - low]], [[1 - low, low]]]])


@pytest.mark.parametrize("privacy", [rldp.ChiSquare(), rldp.GTest(), rldp.Nominal()])
@pytest.mark.parametrize("over", [1e-14, 1e-12, 1e-9, 1e-7, 1e-3])
def test_a_hair_too_much_is_not_let_pass(privacy, over):
    """Evaluated in balls: no matter what the float check says, the result is private."""
    problem = DesignProblem.of(
        np.array([[[4], [6]]]), np.array([0.5]), np.zeros((1, 2)), privacy, rldp.Nominal()
    )
    matrix = on_the_edge(over)
    eta = None if problem.privacy is None else trivial_eta(problem, matrix)
    result, _, proved = repaired(problem, matrix, eta, np.ones(1), Settings())
    assert proved.all()
    units = numerators(result)[0, :, 0].tolist()
    with ctx.workprec(128):
        assert all(max(column) <= arb(0.5).exp() * min(column) for column in zip(*units, strict=True))


def test_a_batch_is_not_done_before_all_of_it_is_proved():
    counts = np.array([[[4], [6]]] * 3)
    problem = DesignProblem.of(counts, np.full(3, 0.5), np.zeros((1, 2)), rldp.Nominal(), rldp.Nominal())
    matrix = np.concatenate([on_the_edge(over) for over in (-0.1, 1e-3, 1e-9)])
    result, _, proved = repaired(problem, matrix, None, np.ones(3), Settings())
    assert proved.all()
    assert (privacy_excess(problem, result, None)[0] < 0).all()
    assert np.array_equal(result[0], on_grid(matrix)[0])


def test_rows_are_integers_over_the_denominator_that_sum_exactly():
    rows = np.random.default_rng(0).dirichlet(np.full(7, 0.3), size=(2, 3, 4))
    grid = on_grid(rows)
    units = grid * DENOMINATOR
    assert np.array_equal(units, np.rint(units))
    assert (units.astype(object).sum(axis=3) == DENOMINATOR).all()
    assert np.abs(grid - rows).max() <= 7 / DENOMINATOR
    assert (grid[rows == 0] == 0).all()


def test_an_output_that_is_hardly_used_is_folded_into_the_cheapest_one():
    problem = a_problem("NUNP", counts=COUNTS)
    matrix = np.zeros((1, 2, 3, 3))
    matrix[..., 0], matrix[..., 1], matrix[..., 2] = 0.5, 0.5 - 1e-12, 1e-12
    result, _, proved = repaired(problem, matrix, None, np.ones(1), Settings())
    assert proved.all()
    assert (result[..., 2] == 0).all()
    # Output 1 is nearer to output 2 than output 0 is.
    assert np.allclose(result[..., 1], 0.5, rtol=0, atol=1e-15)


def test_an_output_that_matters_is_kept():
    problem = a_problem("NUNP", counts=COUNTS)
    matrix = np.broadcast_to([0.5, 0.4999, 0.0001], (1, 2, 3, 3)).copy()
    result, _, _ = repaired(problem, matrix, None, np.ones(1), Settings())
    assert (result[..., 2] > 0).all()


def test_folding_keeps_the_proof():
    privacy = rldp.ChiSquare()
    problem = a_problem({"privacy": privacy, "utility": rldp.Nominal()}, counts=COUNTS)
    matrix = np.broadcast_to([0.6, 0.4 - 1e-11, 1e-11], (1, 2, 3, 3)).copy()
    result, proof, proved = repaired(problem, matrix, trivial_eta(problem, matrix), np.ones(1), Settings())
    assert proved.all()
    assert (result[..., 2] == 0).all()
    excess, _ = privacy_excess(problem, result, proof)
    assert excess[0, :2].max() < 0


@pytest.mark.parametrize("factor", [1, 10**3, 10**7, 10**12])
def test_conditionals_are_equalised_exactly_and_at_little_cost(factor):
    """An entry is rounded to multiples of a grain that is at most the largest count, so moves by half of it.

    Its row is then made to sum in one output, and its secret to balance in one value: with three of each
    no entry moves by more than 2·2 halves. The 1e-12 is for the pull of 1e-13 that comes first, and the grid.
    """
    counts = np.array([[7, 2, 4], [3, 3, 5]]) * factor + (factor > 1)
    rng = np.random.default_rng(1)
    common = np.array([0.5, 0.3, 0.2])
    matrix = 0.9 * common + 0.1 * rng.dirichlet(np.ones(3), size=(2, 3))
    for s in range(2):  # nearly equal conditionals, as a solver would leave them
        weights = counts[s] / counts[s].sum()
        matrix[s] += common - weights @ matrix[s]
    result = equalised(counts, matrix)
    units = [[[int(k) for k in row] for row in rows] for rows in result * DENOMINATOR]
    size = [sum(int(n) for n in row) for row in counts]
    for y in range(3):
        first, second = (
            sum(int(n) * row[y] for n, row in zip(counts[s], units[s], strict=True)) for s in (0, 1)
        )
        assert first * size[1] == second * size[0]
    assert np.abs(result - matrix).max() <= 1e-12 + 2 * counts.max() / DENOMINATOR


@pytest.mark.parametrize("seed", range(6))
def test_equalised_probabilities_are_never_negative(seed):
    """Outputs that some rows hardly give, and counts whose grain is coarse: the pull must grow."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(10**9, 10**12, (2, 3))
    matrix = rng.dirichlet(np.full(3, 0.3), size=(2, 3))
    matrix[:, :, 2] = np.where(rng.random((2, 3)) < 0.5, 0.0, matrix[:, :, 2])
    matrix /= matrix.sum(axis=2, keepdims=True)
    weights = counts / counts.sum(axis=1, keepdims=True)
    matrix[1] += ((weights[0] @ matrix[0]) - (weights[1] @ matrix[1]))[None]
    matrix = np.clip(matrix, 0, None) / np.clip(matrix, 0, None).sum(axis=2, keepdims=True)
    result = equalised(counts, matrix)
    if result is not None:
        assert (result >= 0).all()
        assert (numerators(result).sum(axis=2) == DENOMINATOR).all()


@pytest.mark.parametrize("excess", [0.0, 1e-12, 1e-6, 1e-3])
def test_a_table_at_the_level_of_readers_who_know_the_value_is_moved_inside(excess):
    """Two secrets whose rows are e^κ apart, or a little more: the result keeps κ, and costs as little."""
    kappa, low = 0.5, 0.2
    high = math.exp(kappa) * low * (1 + excess)
    matrix = np.array([[[[low, 1 - low], [0.4, 0.6]], [[high, 1 - high], [0.4, 0.6]]]])
    counts, distortion = np.array([[[5, 3], [2, 6]]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = DesignProblem.of(counts, np.array([5.0]), distortion, rldp.Nominal(), rldp.Nominal())
    problem = dataclasses.replace(problem, epsilon_known=kappa)
    found, _, proved = repaired(problem, matrix, None, np.ones(1), Settings())
    assert proved.all()
    assert (known_excess(problem, found) < 0).all()
    assert rldp.known_leakage(rldp.Protocol(found[0])) <= kappa
    assert np.abs(found - matrix).max() <= 10 * excess + 1e-9  # a trace of uniform output, no more
