"""The paper's theorems written down in CVXPY's own atoms, as a reader of the paper would.

:mod:`rldp.experiments.reference` writes the same programs as cones by hand, which CVXPY compiles faster and
Clarabel solves more accurately. Both are rivals in the benchmark.
"""

from __future__ import annotations

import math
import time
from itertools import permutations

import cvxpy as cp
import numpy as np
from scipy.stats import chi2

_K = 2 ** (-2 / 3) + 2 ** (1 / 3)


def literal_design(
    counts: np.ndarray, epsilon: float, problem: str, alpha: float, distortion: np.ndarray
) -> tuple[float, float, float]:
    """Seconds with modelling, seconds in the solver, and the objective of NURP or RURP.

    Robust utility is −2√c Σ P̂√(w − v) + max w + c(B + 1); robust privacy, for each output and pair,
    −K c^(2/3) Σ_i (Σ_u P̂_iu √(w_i − v_i))^(2/3) + Σ max w_i + cC ≤ 0, where √c√x is a geometric
    mean and c^(2/3)(Σ P̂√x)^(2/3) a weighted one of c and a 1/2-norm.
    """
    start = time.perf_counter()
    p = counts / counts.sum()
    secrets, values = p.shape
    radius = chi2.ppf(1 - alpha, p.size - 1) / counts.sum()
    e = math.exp(epsilon)
    columns = [cp.Variable((secrets, values), nonneg=True) for _ in range(distortion.shape[1])]
    constraints = [sum(columns) == 1]
    v = sum(cp.multiply(np.tile(d, (secrets, 1)), q) for d, q in zip(distortion.T, columns, strict=True))
    objective = cp.sum(cp.multiply(p, v))
    if problem[0] == "R":
        w, c = cp.Variable((secrets, values)), cp.Variable(nonneg=True)
        constraints.append(w >= v)
        means = sum(
            p[s, u] * cp.geo_mean(cp.hstack([c, w[s, u] - v[s, u]]))
            for s in range(secrets)
            for u in range(values)
        )
        objective = -2 * means + cp.max(w) + c * (radius + 1)
    for q in columns:
        for first, second in permutations(range(secrets), 2):
            c = cp.Variable(nonneg=True)
            total = c * (math.sqrt(radius + 1) - 1 + p[first].sum() + p[second].sum())
            for s, x in ((first, q[first]), (second, -e * q[second])):
                w = cp.Variable(values)
                constraints.append(w >= x)
                norm = cp.pnorm(cp.multiply(p[s] ** 2, w - x), 0.5)
                total = total + cp.max(w) - _K * cp.geo_mean(cp.hstack([c, norm]), p=[2, 1])
            constraints.append(total <= 0)
    program = cp.Problem(cp.Minimize(objective), constraints)
    program.solve(solver="CLARABEL", max_threads=1)
    return time.perf_counter() - start, program.solver_stats.solve_time, float(program.value)
