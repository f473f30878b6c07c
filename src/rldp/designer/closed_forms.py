"""Solve problems that need no engine: without constraints, almost without, or with constant outputs only.

See ``docs/theory.md``, 'Special cases'.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldp.designer.certify import CertifiedBatch, certified
from rldp.designer.status import Route
from rldp.theory import bounds
from rldp.theory.arrays import DENOMINATOR, on_grid
from rldp.theory.bounds import objective, worst_distribution
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = [
    "best_constant",
    "best_single_output",
    "nearly_unconstrained",
    "solve_constant",
    "solve_single_output",
    "solve_unconstrained",
    "unconstrained_witness",
]

_MOST_CUTS = 500  # a guard: a game of n outputs is solved by few more than n cuts


def solve_single_output(problem: DesignProblem) -> CertifiedBatch:
    """Return a constant output, which is private at every ε and for every distribution."""
    return _private_for_all(problem, best_single_output(problem), Route.SINGLE_OUTPUT)


def solve_unconstrained(problem: DesignProblem) -> CertifiedBatch:
    """Return the best output for each value, with a trace of all others: private for every distribution."""
    return _private_for_all(problem, nearly_unconstrained(problem), Route.UNCONSTRAINED)


def solve_constant(problem: DesignProblem, gap: float) -> CertifiedBatch:
    """Solve ε = 0 over a set, where only protocols that ignore secret and value are private."""
    matrix, distribution = best_constant(problem, gap)
    solved = _private_for_all(problem, on_grid(matrix), Route.CONSTANT)
    bound = np.minimum(bounds.constant_lower_bound(problem, distribution), solved.objective)
    constant = np.ones(len(matrix), dtype=bool)
    return replace(solved, lower_bound=bound, distribution=distribution, constant=constant)


def _private_for_all(problem: DesignProblem, matrix: Floats, route: Route) -> CertifiedBatch:
    eta = bounds.trivial_eta(problem, matrix)
    return certified(problem, matrix, eta, unconstrained_witness(problem), route)


def nearly_unconstrained(problem: DesignProblem) -> Floats:
    r"""Return the best output for each value, mixed with as little uniform output as ε requires.

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
    ratio = np.exp(-problem.least_epsilon)
    needed = (1 + 1e-12) / (ratio * (outputs - 1) + 1) * ratio
    least = np.maximum(np.ceil(needed * DENOMINATOR), 1) / DENOMINATOR
    least = np.where((secrets == 1) | np.isinf(problem.least_epsilon), 0.0, least)[:, None, None, None]
    matrix = least + (1 - outputs * least) * best[None, None]
    return np.broadcast_to(matrix, (k, secrets, values, outputs)).copy()


def unconstrained_witness(problem: DesignProblem) -> Witness:
    """Return the proof that no protocol does better than the best output for each value."""
    k, secrets, values = problem.counts.shape
    outputs, pairs = problem.distortion.shape[1], secrets * (secrets - 1)
    cheapest = np.broadcast_to(problem.distortion.min(axis=1), (k, secrets, values))
    return Witness(
        np.zeros((k, outputs, pairs)),
        np.full((k, outputs, pairs, 2, values), 1 / values),
        worst_distribution(problem, cheapest),
    )


def best_single_output(problem: DesignProblem) -> Floats:
    """Return the constant output with the smallest objective: (K, |S|, |U|, |Y|)."""
    k, secrets, values = problem.counts.shape
    outputs = problem.distortion.shape[1]
    each = np.broadcast_to(problem.distortion.T[:, None, None], (outputs, k, secrets, values))
    chosen = np.eye(outputs)[bounds.largest_mean(problem, each)[0].argmin(axis=0)]
    return np.broadcast_to(chosen[:, None, None], (k, secrets, values, outputs)).copy()


def best_constant(problem: DesignProblem, gap: float) -> tuple[Floats, Floats]:
    """Return the best protocol that ignores secret and value, and a distribution that proves it.

    Under a nominal objective the best single output. Under a robust one a matrix game between the
    output's distribution and the set, solved per problem by cutting planes: a linear program
    proposes a mixture of outputs, the closed form answers with the distribution that hurts it most.

    Returns
    -------
    matrix : array (K, |S|, |U|, |Y|)
    distribution : array (K, |S|, |U|)
    """
    if problem.utility is None:
        return best_single_output(problem), problem.useful_centre
    parts = [_matrix_game(problem.subset(np.array([i])), gap) for i in range(len(problem.counts))]
    return np.concatenate([m for m, _ in parts]), np.concatenate([p for _, p in parts])


def _matrix_game(problem: DesignProblem, gap: float) -> tuple[Floats, Floats]:
    """Solve the game of one problem, in units in which a linear program loses no digits."""
    problem, gap = _in_its_unit(problem, gap)
    _, secrets, values = problem.counts.shape
    members, proof = [problem.useful_centre], problem.useful_centre
    matrix = best_single_output(problem)
    for _ in range(_MOST_CUTS):
        proposal = _best_mixture(np.concatenate([m.sum(axis=1) @ problem.distortion for m in members]))
        if proposal is None:
            break
        mixture, weights = proposal
        matrix = np.broadcast_to(mixture, (1, secrets, values, len(mixture))).copy()
        proof = np.tensordot(weights, np.stack(members), axes=1)
        reached = objective(problem, matrix)[0][0]
        proved = np.einsum("ksu,uy->ky", proof, problem.distortion).min()
        if reached - proved <= 0.5 * gap * max(1.0, reached):
            break
        members.append(worst_distribution(problem, (matrix * problem.distortion).sum(axis=3)))
    return matrix, proof


def _in_its_unit(problem: DesignProblem, gap: float) -> tuple[DesignProblem, float]:
    """Return the problem with its largest distortion as the unit, and the corresponding gap."""
    unit = problem.scale or 1.0
    return replace(problem, distortion=problem.distortion / unit), gap * max(1.0, 1 / unit)


def _best_mixture(cuts: Floats) -> tuple[Floats, Floats] | None:
    """Return the mixture q of outputs with the smallest max of ``cuts``·q, and the weights that prove it.

    None where the linear program fails.
    """
    from scipy.optimize import linprog

    rounds, outputs = cuts.shape
    program = linprog(
        np.append(np.zeros(outputs), 1.0),  # t, subject to cuts·q ≤ t
        A_ub=np.hstack([cuts, -np.ones((rounds, 1))]),
        b_ub=np.zeros(rounds),
        A_eq=np.append(np.ones(outputs), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, 1)] * outputs + [(None, None)],
    )
    if program.x is None:
        return None
    mixture, weights = np.clip(program.x[:outputs], 0, None), np.clip(-program.ineqlin.marginals, 0, None)
    if not (mixture.sum() > 0 and weights.sum() > 0):
        return None
    return mixture / mixture.sum(), weights / weights.sum()
