"""Problems that need no solver: no constraint at all, almost none, or one that forbids everything.

See ``docs/theory.md``, 'Special cases'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldp.theory.bounds import objective, worst_distribution
from rldp.theory.dyadic import DENOMINATOR
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = ["best_constant", "best_single_output", "nearly_unconstrained", "unconstrained_witness"]


def nearly_unconstrained(problem: DesignProblem) -> Floats:
    r"""The best output for each value, mixed with as little uniform output as a finite ε demands.

    If every output has probability at least :math:`m \ge 1/(e^\varepsilon + |Y| - 1)` and the best
    one takes the rest, no ratio of probabilities exceeds :math:`e^\varepsilon`, whatever the
    distribution. m is rounded up to the grid. One secret, or ε = ∞, needs none of it.

    Returns
    -------
    array (K, |S|, |U|, |Y|), on the grid
    """
    k, secrets, values = problem.counts.shape
    outputs = problem.distortion.shape[1]
    best = np.eye(outputs)[problem.distortion.argmin(axis=1)]
    needed = (1 + 1e-12) / (np.exp(-problem.epsilon) * (outputs - 1) + 1) * np.exp(-problem.epsilon)
    least = np.maximum(np.ceil(needed * DENOMINATOR), 1) / DENOMINATOR
    least = np.where((secrets == 1) | np.isinf(problem.epsilon), 0.0, least)[:, None, None, None]
    matrix = least + (1 - outputs * least) * best[None, None]
    return np.broadcast_to(matrix, (k, secrets, values, outputs)).copy()


def unconstrained_witness(problem: DesignProblem) -> Witness:
    """Proves that no protocol at all does better than the best output for each value."""
    k, secrets, values = problem.counts.shape
    outputs, pairs = problem.distortion.shape[1], secrets * (secrets - 1)
    cheapest = np.broadcast_to(problem.distortion.min(axis=1), (k, secrets, values))
    return Witness(
        np.zeros((k, outputs, pairs)),
        np.full((k, outputs, pairs, 2, values), 1 / values),
        worst_distribution(problem, cheapest),
    )


def best_single_output(problem: DesignProblem) -> Floats:
    """Always the same output, the one with the smallest objective: (K, |S|, |U|, |Y|)."""
    k, secrets, values = problem.counts.shape
    outputs = problem.distortion.shape[1]
    single = np.broadcast_to(np.eye(outputs)[:, None, None, None], (outputs, k, secrets, values, outputs))
    costs = np.stack([objective(problem, matrix)[0] for matrix in single])
    chosen = np.eye(outputs)[costs.argmin(axis=0)]
    return np.broadcast_to(chosen[:, None, None], (k, secrets, values, outputs)).copy()


def best_constant(problem: DesignProblem, gap: float) -> tuple[Floats, Floats]:
    """The best protocol that ignores secret and value, and a distribution that proves it.

    Under a nominal objective the best single output. Under a robust one a matrix game between the
    output's distribution and the set, solved per problem by cutting planes: a linear program
    proposes a mixture of outputs, the closed form answers with the distribution that hurts it most.

    Returns
    -------
    matrix : array (K, |S|, |U|, |Y|)
    distribution : array (K, |S|, |U|)
    """
    if problem.utility is None:
        return best_single_output(problem), problem.estimate
    parts = [_matrix_game(problem.subset(np.array([i])), gap) for i in range(len(problem.counts))]
    return np.concatenate([m for m, _ in parts]), np.concatenate([p for _, p in parts])


def _matrix_game(problem: DesignProblem, gap: float) -> tuple[Floats, Floats]:
    from scipy.optimize import linprog

    _, secrets, values = problem.counts.shape
    outputs = problem.distortion.shape[1]
    cuts: list[NDArray[np.float64]] = [problem.estimate.sum(axis=1) @ problem.distortion]
    members = [problem.estimate]
    mixture = np.full(outputs, 1 / outputs)
    for _ in range(500):
        # Minimise t over the mixture q and t subject to cut·q ≤ t.
        program = linprog(
            np.append(np.zeros(outputs), 1.0),
            A_ub=np.hstack([np.concatenate(cuts), -np.ones((len(cuts), 1))]),
            b_ub=np.zeros(len(cuts)),
            A_eq=np.append(np.ones(outputs), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, 1)] * outputs + [(None, None)],
        )
        mixture = np.clip(program.x[:outputs], 0, None)
        mixture /= mixture.sum()
        matrix = np.broadcast_to(mixture, (1, secrets, values, outputs)).copy()
        member = worst_distribution(problem, (matrix * problem.distortion).sum(axis=3))
        weights = -program.ineqlin.marginals
        proof = np.tensordot(weights / weights.sum(), np.stack(members), axes=1)
        reached = objective(problem, matrix)[0][0]
        proved = np.einsum("ksu,uy->ky", proof, problem.distortion).min()
        if reached - proved <= 0.5 * gap * max(1.0, reached):
            break
        members.append(member)
        cuts.append(member.sum(axis=1) @ problem.distortion)
    return matrix, proof
