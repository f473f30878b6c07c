"""A constraint of another kind is one class; ε may differ from pair to pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import linprog

from rldp.designer.engine import Settings, path, solve
from rldp.designer.engine.terms.interface import LinearTerm
from rldp.designer.engine.terms.together import Together
from rldp.designer.request import SolveRequest
from rldp.designer.routes import routes
from rldp.designer.status import Route
from rldp.theory import bounds
from rldp.theory.arrays import add_to_diagonal, on_path, ordered_pairs, updated
from strategies import a_problem

pytestmark = pytest.mark.numerical

PAIRS = ordered_pairs(3)
UNEQUAL = np.random.default_rng(3).uniform(0.1, 2.0, size=(2, len(PAIRS)))
FLOOR = 0.05


@dataclass(frozen=True)
class Floor(LinearTerm):
    """Every output has at least the probability ``FLOOR``, whatever secret and value are."""

    eta: np.ndarray
    sigma: np.ndarray
    z: np.ndarray

    @classmethod
    def start(cls, at):
        sigma = at.q - FLOOR
        return cls(at.q[:, :0, 0, 0], sigma, on_path(at.mu, sigma))

    def at(self, q, eta):
        return updated(self, sigma=q - FLOOR)

    def moves(self, dq, deta):
        return (dq,)

    def privacy_cost(self):
        """Of z·(Q − c) ≥ 0; the constant z·c is spread over the outputs, whose probabilities sum to one."""
        return FLOOR * self.z.sum(axis=1, keepdims=True) - self.z

    def residual(self, multipliers, second_order=None):
        return -multipliers[0], self.eta

    def curvature(self, settings):
        return FloorCurvature(self.z / self.sigma)

    def members(self):
        return self.z[..., None]

    def weights(self):
        return self.z

    def reduced_cost(self, members):
        return self.privacy_cost()


@dataclass(frozen=True)
class FloorCurvature:
    weight: np.ndarray

    def apply(self, dq, deta):
        return self.weight * dq, deta

    def reduce(self, geta):
        return 0.0, geta

    def expand(self, dq, eta0):
        return eta0

    def matrix(self, barrier, outputs):
        k, y, s, u = barrier[:, outputs].shape
        return add_to_diagonal(np.zeros((k, y, s * u, s * u)), barrier[:, outputs] + self.weight[:, outputs])


def optimum(problem, k, floor=0.0):
    """The nominal problem as a linear program, with ε of each pair."""
    secrets, values, outputs = problem.shape
    q = np.arange(secrets * values * outputs).reshape(secrets, values, outputs)
    conditionals = problem.counts[k] / problem.counts[k].sum(axis=1, keepdims=True)
    epsilon = np.broadcast_to(problem.pair_epsilon[k], (len(PAIRS),))
    rows = np.zeros((len(PAIRS) * outputs, q.size))
    for t, (a, b) in enumerate(PAIRS):
        for y in range(outputs):
            rows[t * outputs + y, q[a, :, y]] += conditionals[a]
            rows[t * outputs + y, q[b, :, y]] -= np.exp(epsilon[t]) * conditionals[b]
    sums = np.zeros((secrets * values, q.size))
    for cell, row in enumerate(q.reshape(-1, outputs)):
        sums[cell, row] = 1
    cost = (problem.estimate[k][..., None] * problem.distortion).ravel()
    return linprog(cost, rows, np.zeros(len(rows)), sums, np.ones(len(sums)), bounds=(floor, 1)).fun


@pytest.mark.parametrize("sets", ["NUNP", "RURP"])
def test_a_constraint_beside_privacy_is_a_term_beside_its_term(sets, monkeypatch):
    task = a_problem(sets, count=2)
    plain = solve(task, gap=1e-7, settings=Settings())
    usual = path.privacy_term
    monkeypatch.setattr(
        path, "privacy_term", lambda at, windows: Together(usual(at, windows=windows), Floor.start(at))
    )
    found = solve(task, gap=1e-7, settings=Settings())
    assert found.closed.all()
    assert found.q.min() > FLOOR
    assert (found.objective > plain.objective).all()
    assert found.eta.shape == plain.eta.shape
    if sets == "NUNP":
        wanted = [optimum(task, k, FLOOR) for k in range(2)]
        np.testing.assert_allclose(found.objective * task.scale, wanted, rtol=1e-6)
        assert (found.bound * task.scale <= np.array(wanted) * (1 + 1e-12)).all()


def test_under_the_estimate_every_pair_keeps_an_epsilon_of_its_own():
    task = replace(a_problem("NUNP", count=2), epsilon=UNEQUAL)
    found = solve(task, gap=1e-7, settings=Settings())
    np.testing.assert_allclose(
        found.objective * task.scale, [optimum(task, k) for k in range(2)], rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("shape", [(3, 4), (6, 3), (2, 30)])
@pytest.mark.parametrize("sets", ["NUNP", "RURP"])
def test_the_same_epsilon_for_every_pair_is_one_epsilon(sets, shape):
    task = a_problem(sets, count=2, shape=shape)
    pairs = shape[0] * (shape[0] - 1)
    one, each = (
        solve(replace(task, epsilon=epsilon), gap=1e-6, settings=Settings())
        for epsilon in (np.full(2, 0.5), np.full((2, pairs), 0.5))
    )
    np.testing.assert_allclose(one.objective, each.objective, rtol=1e-9)


def test_over_a_set_what_is_proved_holds_for_every_pair():
    """A smaller ε of one pair costs something, and the proof sees each pair with its own."""
    task = a_problem("NURP", count=2, n=3000)
    strict = np.full((2, len(PAIRS)), 0.8)
    strict[:, 2] = 0.1
    one, each = (
        solve(replace(task, epsilon=e), gap=1e-6, settings=Settings()) for e in (np.full(2, 0.8), strict)
    )
    assert (each.objective > one.objective).all()
    matrix = np.moveaxis(each.q, 1, 3)
    excess, _ = bounds.privacy_excess(replace(task, epsilon=strict), matrix, each.eta)
    assert excess.max() < 0
    excess, _ = bounds.privacy_excess(replace(task, epsilon=strict), np.moveaxis(one.q, 1, 3), one.eta)
    assert (excess[:, :, 2].max(axis=1) > 0).all()


def test_windows_are_not_privacy_where_pairs_differ():
    task = replace(a_problem("NUNP", count=2, shape=(3, 40)), epsilon=UNEQUAL)
    assert routes(task, SolveRequest(1e-4, Settings())).tolist() == [Route.PAIRS] * 2
