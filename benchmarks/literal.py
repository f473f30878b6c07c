"""The paper's theorems written down in CVXPY's own atoms, as a reader of the paper would.

:mod:`rldp.paper.reference` writes the same programs as cones by hand, which CVXPY compiles faster and
Clarabel solves more accurately. Both are rivals in the benchmark.
"""

from __future__ import annotations

import math
from itertools import permutations

import cvxpy as cp
import numpy as np

from instances import Answer, GaveUp, Instance

_K = 2 ** (-2 / 3) + 2 ** (1 / 3)


def literal_design(instance: Instance) -> Answer:
    """Any of the four problems.

    Robust utility is −2√c Σ P̂√(w − v) + max w + c(B + 1); robust privacy, for each output and pair,
    −K c^(2/3) Σ_i (Σ_u P̂_iu √(w_i − v_i))^(2/3) + Σ max w_i + cC ≤ 0, where √c√x is a geometric
    mean and c^(2/3)(Σ P̂√x)^(2/3) a weighted one of c and a 1/2-norm.
    """
    p = instance.estimate
    secrets, values = p.shape
    distortion = instance.distortion
    columns = [cp.Variable((secrets, values), nonneg=True) for _ in range(distortion.shape[1])]
    constraints = [sum(columns) == 1]
    v = sum(cp.multiply(np.tile(d, (secrets, 1)), q) for d, q in zip(distortion.T, columns, strict=True))
    objective = cp.sum(cp.multiply(p, v))
    if instance.robust_utility:
        w, c = cp.Variable((secrets, values)), cp.Variable(nonneg=True)
        constraints.append(w >= v)
        means = sum(
            p[s, u] * cp.geo_mean(cp.hstack([c, w[s, u] - v[s, u]]))
            for s in range(secrets)
            for u in range(values)
        )
        objective = -2 * means + cp.max(w) + c * (instance.radius + 1)
    for q in columns:
        for first, second in permutations(range(secrets), 2):
            sides = ((p[first], q[first]), (p[second], -instance.e * q[second]))
            if instance.robust_privacy:
                constraints.append(_robust_privacy(sides, instance.radius, constraints) <= 0)
            elif p[first].any() and p[second].any():
                constraints.append(sum(row @ x / row.sum() for row, x in sides) <= 0)
    program = cp.Problem(cp.Minimize(objective), constraints)
    try:
        program.solve(solver="CLARABEL", max_threads=1)
    except cp.error.SolverError as error:
        raise GaveUp(str(error)) from error
    if columns[0].value is None:
        raise GaveUp(program.status)
    matrix = np.stack([q.value for q in columns], axis=2)
    stats = program.solver_stats
    return Answer(matrix, float(program.value), stats.solve_time, steps=stats.num_iters)


def _robust_privacy(
    sides: tuple[tuple[np.ndarray, cp.Expression], ...], radius: float, constraints: list[cp.Constraint]
) -> cp.Expression:
    """What must not be positive for one output and one pair, with a w and a c of its own."""
    c = cp.Variable(nonneg=True)
    total = c * (math.sqrt(radius + 1) - 1 + sum(row.sum() for row, _ in sides))
    for row, x in sides:
        w = cp.Variable(len(row))
        constraints.append(w >= x)
        norm = cp.pnorm(cp.multiply(row**2, w - x), 0.5)
        total = total + cp.max(w) - _K * cp.geo_mean(cp.hstack([c, norm]), p=[2, 1])
    return total
