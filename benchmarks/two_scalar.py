"""The design problem in two scalars per output and pair, in CVXPY: all pairs in one expression of each kind.

The cones are those of :mod:`conic`, where the formulas stand. Written over whole arrays, the program takes
CVXPY as long to compile for a hundred pairs as for one.
"""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
from scipy import sparse

from instances import Answer, GaveUp, Instance
from rldp.theory.arrays import ordered_pairs


def two_scalar_design(instance: Instance) -> Answer:
    """Clarabel by way of CVXPY, default tolerances, one thread."""
    secrets, values = instance.counts.shape
    scale = instance.distortion.max()
    d = (instance.distortion / scale).T
    shape = (len(d), secrets, values)
    q = cp.Variable(math.prod(shape), nonneg=True)
    cell = np.tile(np.arange(secrets * values), len(d))
    constraints = [_sums(cell, np.ones(q.size)) @ q == 1]
    privacy = _robust_privacy if instance.robust_privacy else _nominal_privacy
    constraints += privacy(instance, q, np.arange(q.size).reshape(shape))
    v = _sums(cell, np.broadcast_to(d[:, None, :], shape).ravel()) @ q
    if instance.robust_utility:
        objective, more = _robust_utility(instance, v)
        constraints += more
    else:
        objective = instance.estimate.ravel() @ v
    program = cp.Problem(cp.Minimize(objective), constraints)
    try:
        program.solve(solver=cp.CLARABEL, max_threads=1)
    except cp.error.SolverError as error:
        raise GaveUp(str(error)) from error
    if q.value is None:
        raise GaveUp(program.status)
    matrix = np.moveaxis(q.value.reshape(shape), 0, 2)
    stats = program.solver_stats
    return Answer(matrix, float(scale * program.value), stats.solve_time, steps=stats.num_iters)


def _robust_privacy(instance: Instance, q: cp.Variable, index: np.ndarray) -> list[cp.Constraint]:
    pairs = ordered_pairs(len(instance.counts))
    x = index[:, pairs]  # (Y, T, 2, U), of columns of q
    triples, sides = math.prod(x.shape[:2]), math.prod(x.shape[:3])
    masses = instance.estimate.sum(axis=1)[pairs]
    size = math.sqrt(1 + instance.radius) - 1 + masses.sum(axis=1)  # C
    weight = np.broadcast_to(instance.estimate[pairs] / size[:, None, None], x.shape).ravel()
    sign = np.broadcast_to(np.array([1.0, -instance.e])[:, None], x.shape).ravel()
    side = np.repeat(np.arange(sides), x.shape[3])
    eta, a, h = cp.Variable(sides), cp.Variable(sides), cp.Variable(sides)
    both = _sums(np.arange(sides) // 2, np.ones(sides))
    p = eta[side] - cp.multiply(sign, q[x.ravel()])
    seen = np.flatnonzero(weight)
    unseen = np.flatnonzero(weight == 0)
    g = both @ eta
    b = cp.Variable(len(seen))
    means = sparse.csr_matrix((weight[seen], (side[seen], np.arange(len(seen)))), shape=(sides, len(seen)))
    constraints = [
        both @ a >= g,
        _square_below(b, p[seen], g[side[seen] // 2]),
        _square_below(a, means @ b, h),
        _square_below(h, g[np.arange(sides) // 2], a),
    ]
    assert g.size == triples
    return constraints + ([p[unseen] >= 0] if len(unseen) else [])


def _nominal_privacy(instance: Instance, q: cp.Variable, index: np.ndarray) -> list[cp.Constraint]:
    masses = instance.estimate.sum(axis=1)
    pairs = ordered_pairs(len(masses))
    pairs = pairs[(masses[pairs] > 0).all(axis=1)]
    x = index[:, pairs]
    weight = instance.estimate[pairs] / masses[pairs][..., None] * np.array([1.0, -instance.e])[:, None]
    triple = np.repeat(np.arange(math.prod(x.shape[:2])), math.prod(x.shape[2:]))
    return [_sums(triple, np.broadcast_to(weight, x.shape).ravel()) @ q[x.ravel()] <= 0]


def _robust_utility(instance: Instance, v: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    weight = instance.estimate.ravel()
    seen = np.flatnonzero(weight)
    eta, t, b = cp.Variable(), cp.Variable(), cp.Variable(len(seen))
    constraints = [
        eta >= v,
        _square_below(b, eta - v[seen], t * np.ones(len(seen))),
        weight[seen] @ b >= math.sqrt(1 + instance.radius) * t,
    ]
    return eta - t, constraints


def _square_below(b: cp.Expression, x: cp.Expression, y: cp.Expression) -> cp.SOC:
    """b² ≤ xy with x, y ≥ 0, entry by entry."""
    return cp.SOC(x + y, cp.vstack([x - y, 2 * b]), axis=0)


def _sums(row: np.ndarray, weights: np.ndarray) -> sparse.csr_matrix:
    """The matrix that adds up weighted entries, entry i in row[i]."""
    return sparse.csr_matrix((weights, (row, np.arange(len(row)))), shape=(row.max() + 1, len(row)))
