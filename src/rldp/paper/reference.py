"""The four problems in the form of the paper's theorems, for a general solver.

With B the radius of Pearson's χ² set, and C = √(B+1) − 1 + P̂_{s1} + P̂_{s2}:

robust utility (support function of the set; a vector w and a scalar c)
    min_{w ≥ v, c ≥ 0}  −2√c Σ P̂_su √(w_su − v_su) + max w + c (B + 1)  ≤  D,
    v_su = Σ_y P(y|s,u) d(u,y)

robust privacy (support function of the projected set; vectors w1, w2 and a scalar c for each y, s1, s2)
    min_{w ≥ v, c ≥ 0}  −(2^{−2/3} + 2^{1/3}) c^{2/3} Σ_i (Σ_u P̂_{s_i,u} √(w_iu − v_iu))^{2/3}
                        + max w1 + max w2 + c C  ≤  0,
    v1 = P(y|s1,·),  v2 = −e^ε P(y|s2,·)

The concave terms are in conic form: √c Σ P̂ √x is a sum of geometric means √(c x), and
c^{2/3} ℓ^{2/3} = c^{1/3} (√c ℓ)^{2/3} is a weighted one.

This is the only module that imports CVXPY, which comes with the extra ``paper``.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from rldp._common.process import needs
from rldp.paper.settings import PROBLEMS
from rldp.theory.model import Floats

with needs("the reference solver", "CVXPY", install="robust-ldp[paper]"):
    import cvxpy as cp
    from cvxpy.error import SolverError

__all__ = ["PROBLEMS", "ReferenceDesign", "SolverError", "reference_design"]


class ReferenceDesign(NamedTuple):
    """The raw result of the solver. Rows and privacy may be off by its tolerance."""

    matrix: Floats
    objective: float
    solver_seconds: float | None
    status: str


def reference_design(
    counts: NDArray[np.int64],
    epsilon: float,
    problem: str,
    alpha: float,
    distortion_matrix: Floats,
    **options: Any,
) -> ReferenceDesign:
    """Solve NUNP, NURP, RUNP or RURP for one sample with CVXPY and Clarabel.

    Parameters
    ----------
    counts : array (|S|, |U|)
    problem : {"NUNP", "NURP", "RUNP", "RURP"}
        (Non)robust utility, (non)robust privacy.
    alpha : float
        Significance level of the χ² set.
    distortion_matrix : array (|U|, |Y|)
    options
        Settings of Clarabel.

    Raises
    ------
    SolverError
        If the solver gives up.
    """
    assert problem in PROBLEMS
    counts = np.asarray(counts)
    estimate = counts / counts.sum()
    radius = float(chdtri(counts.size - 1, alpha)) / counts.sum()
    secrets, values = counts.shape
    columns = [cp.Variable((secrets, values), nonneg=True) for _ in range(distortion_matrix.shape[1])]
    constraints = [sum(columns) == 1]

    cost = sum(
        cp.multiply(np.tile(d, (secrets, 1)), column)
        for d, column in zip(distortion_matrix.T, columns, strict=True)
    )
    if problem.startswith("RU"):
        objective = _robust_utility(cost, estimate, radius, constraints)
    else:
        objective = cp.sum(cp.multiply(estimate, cost))

    for column in columns:
        for s1, s2 in permutations(range(secrets), 2):
            v1, v2 = column[s1], -math.exp(epsilon) * column[s2]
            if problem.endswith("RP"):
                _robust_privacy(v1, v2, estimate[s1], estimate[s2], radius, constraints)
            elif estimate[s1].any() and estimate[s2].any():
                p1, p2 = estimate[s1] / estimate[s1].sum(), estimate[s2] / estimate[s2].sum()
                constraints.append(p1 @ v1 + p2 @ v2 <= 0)

    program = cp.Problem(cp.Minimize(objective), constraints)
    program.solve(solver=cp.CLARABEL, **options)
    if columns[0].value is None:
        raise SolverError(f"no solution: {program.status}")
    matrix = np.stack([column.value for column in columns], axis=2)
    return ReferenceDesign(matrix, float(program.value), program.solver_stats.solve_time, str(program.status))


def _robust_utility(v: Any, estimate: Floats, radius: float, constraints: list[Any]) -> Any:
    """Return the least D; its w and c become variables of the program."""
    w, c = cp.Variable(v.shape), cp.Variable(nonneg=True)
    means = _geometric_means(c, cp.vec(w - v, order="C"), constraints)
    return -2 * (estimate.ravel() @ means) + cp.max(w) + c * (radius + 1)


def _robust_privacy(v1: Any, v2: Any, p1: Floats, p2: Floats, radius: float, constraints: list[Any]) -> None:
    """Append the constraint for one output and one pair, with its own w and c."""
    c = cp.Variable(nonneg=True)
    total = c * (math.sqrt(radius + 1) - 1 + p1.sum() + p2.sum())
    for v, p in ((v1, p1), (v2, p2)):
        w = cp.Variable(v.shape)
        inner = p @ _geometric_means(c, w - v, constraints)
        power = cp.geo_mean(cp.hstack([c, inner]), [1, 2])
        total += cp.max(w) - (2 ** (-2 / 3) + 2 ** (1 / 3)) * power
    constraints.append(total <= 0)


def _geometric_means(c: Any, x: Any, constraints: list[Any]) -> Any:
    """Return r with r² ≤ c x and x ≥ 0, entry by entry; r = √(c x) wherever the objective rewards it."""
    r = cp.Variable(x.shape)
    constraints.append(cp.SOC(c + x, cp.vstack([2 * r, c - x]), axis=0))
    return r
