"""Optimized Pre-Processing (Calmon et al., NeurIPS 2017), its program written anew in CVXPY from the paper.

Rows have a secret d and a value w = (x, y): features and a label. The program chooses Q(w'|d,w):

    minimise    ½ Σ_w' |P'(w') − P(w')|,  P' the law of what is released
    subject to  P'(y'|d₁) ≤ (1 + ε) P'(y'|d₂)  for every label and all secrets (their eq. 2 and 3)
                caps on the distortion of each value (their eq. 5)

all under the law of the training rows. The optimum is not unique: see ``fewest``.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import rldp


@dataclass(frozen=True, eq=False)
class Caps:
    """What may be changed into what, and how often.

    Attributes
    ----------
    allowed : bool array (W, W)
    costs : tuple of arrays (W, W)
    levels : array (number of costs, secrets)
        The largest mean of each cost, for each value.
    by_secret : bool
        Whether for each secret and value, or for each value over all secrets.
    """

    allowed: np.ndarray
    costs: tuple[np.ndarray, ...]
    levels: np.ndarray
    by_secret: bool


def optimized(counts, labels, caps, epsilon, *, form="ratio", fewest=False):
    """The protocol that the program makes of training rows.

    Parameters
    ----------
    counts : array (S, W)
    labels : array (W,)
        The label of each value, from 0.
    epsilon : float
        Theirs: a ratio of at most 1 + ε. In our form it is log(1 + ε).
    form : {"ratio", "difference"}
        The paper's constraint, or that of AIF360, P'(y'|d₁) − P'(y'|d₂) ≤ ε.
    fewest : bool
        Of all optima, the one that changes the fewest rows. What a solver returns by itself is some optimum.

    Returns
    -------
    Protocol
        Rows that training rows lack have no part in the program. They are published as they are.
    """
    mass = counts / counts.sum()
    secrets, values = mass.shape
    seen = mass.ravel() > 0
    # the unknowns: one for each (d, w) that occurs and each w' that it may become
    row, output = np.nonzero(np.tile(caps.allowed, (secrets, 1)) & seen[:, None])
    secret, value = np.divmod(row, values)
    weight = mass.ravel()[row]
    q = cp.Variable(len(row), nonneg=True)

    def sums(index, size, factor=1.0):
        """The matrix that adds up unknowns by their index."""
        factors = np.broadcast_to(factor, len(row))
        return sp.csr_array((factors, (index, np.arange(len(row)))), shape=(size, len(row)))

    total = sums(row, secrets * values)[seen] @ q == 1
    released = sums(output, values, weight) @ q
    distance = cp.norm(released - mass.sum(axis=0), 1) / 2
    by_label = sums(
        secret * (labels.max() + 1) + labels[output],
        secrets * (labels.max() + 1),
        weight / mass.sum(axis=1)[secret],
    )
    given = cp.reshape(by_label @ q, (secrets, labels.max() + 1), order="C")
    constraints = [total]
    for one in range(secrets):
        for other in range(secrets):
            if one != other:
                bound = (1 + epsilon) * given[other] if form == "ratio" else given[other] + epsilon
                constraints.append(given[one] <= bound)
    for cost, levels in zip(caps.costs, caps.levels, strict=True):
        each = cost[value, output]
        if caps.by_secret:
            mean = sums(row, secrets * values, each)[seen]
            constraints.append(mean @ q <= np.repeat(levels, values)[seen])
        else:
            shares = mass / np.maximum(mass.sum(axis=0), 1e-300)
            constraints.append(sums(value, values, each * shares.ravel()[row]) @ q <= levels[0])
    problem = cp.Problem(cp.Minimize(distance), constraints)
    problem.solve(solver=cp.CLARABEL)
    if fewest:
        kept = weight @ cp.multiply(value == output, q)
        closest = distance <= problem.value * (1 + 1e-6) + 1e-9
        problem = cp.Problem(cp.Maximize(kept), [*constraints, closest])
        problem.solve(solver=cp.CLARABEL)
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise RuntimeError(f"the program of {form} at ε = {epsilon:g} is {problem.status}")
    matrix = np.zeros((secrets * values, values))
    matrix[row, output] = np.where(q.value < 1e-8, 0, q.value)  # as their code does
    matrix[~seen] = np.tile(np.eye(values), (secrets, 1))[~seen]
    matrix /= matrix.sum(axis=1, keepdims=True)
    return rldp.Protocol(matrix.reshape(secrets, values, values))
