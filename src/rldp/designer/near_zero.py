"""ε too small for floats: solve a neighbouring problem, and make its protocol private exactly.

See ``docs/theory.md``, 'Special cases'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from rldp.designer import closed_forms
from rldp.designer.certify import CertifiedBatch, better, certified
from rldp.designer.request import SolveRequest
from rldp.designer.status import Reason, Route
from rldp.theory import bounds
from rldp.theory.arrays import DENOMINATOR, from_pairs, on_grid
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.support import minimising_eta

__all__ = ["equalised", "equalised_for_all", "solve_near_known", "solve_near_zero"]

_PULLS = 10.0 ** np.arange(-13, 0)  # shares of a common row: at first a few hundred grains of the grid
_TRACES = 2.0 ** np.arange(-40, 0)  # of uniform output, for pairs that others are made equal beside
_RARE = 1e-7  # rarer outputs are dropped, since the grid is too coarse for equal probabilities
_LARGEST_GRAIN = 2**40  # multiples of more would be too coarse a grid


def solve_near_zero(
    problem: DesignProblem,
    request: SolveRequest,
    solve_inside: Callable[[DesignProblem], CertifiedBatch],
) -> CertifiedBatch:
    """ε so small, or 0 under the estimate, that the interior is too thin for floats.

    A slightly larger ε, solved by ``solve_inside``, allows more: it gives the lower bound, and a protocol
    from which one that is private at every ε is made by exact arithmetic (nominal privacy). Otherwise a
    constant protocol serves, which at such ε costs next to nothing. Where only some pairs have such an ε,
    only their secrets get the same output distribution.
    """
    relaxed = replace(problem, epsilon=np.maximum(problem.epsilon, request.settings.smallest_epsilon))
    near = solve_inside(relaxed)

    def judged(matrix: Floats, eta: Floats | None = None) -> CertifiedBatch:
        proof = bounds.trivial_eta(problem, matrix) if eta is None else eta
        return certified(problem, matrix, proof, near.witness, Route.NEAR_ZERO, reason=Reason.TINY_EPSILON)

    def is_kept(matrix: Floats) -> bool:
        return bool((bounds.known_excess(problem, matrix[None]) < 0).all())

    constant = on_grid(closed_forms.best_constant(problem, request.gap)[0])
    tiny = problem.pair_epsilon < request.settings.smallest_epsilon
    if not tiny.all():
        parts = [
            _equal_in_groups(problem.subset(np.array([k])), near.matrix[k], tiny[k], constant[k])
            for k in range(len(constant))
        ]
        matrix, eta = (np.stack(each) for each in zip(*parts, strict=True))
        solved = better(judged(matrix, eta), judged(constant))
    elif problem.privacy is not None:
        solved = judged(constant)
    else:
        pairs = zip(problem.private_counts, near.matrix, strict=True)
        exact = []
        for counts, matrix in pairs:
            equal = None if problem.epsilon_known == 0 else equalised(counts, matrix, is_kept)
            exact.append(equalised_for_all(counts, _one_row(counts, matrix)) if equal is None else equal)
        exact_or_constant = np.stack([c if e is None else e for e, c in zip(exact, constant, strict=True)])
        solved = better(judged(exact_or_constant), judged(constant))
    return replace(solved, steps=near.steps)


def _equal_in_groups(
    problem: DesignProblem, matrix: Floats, tiny: NDArray[np.bool_], constant: Floats
) -> tuple[Floats, Floats]:
    """A protocol near ``matrix`` that keeps tiny levels exactly and the others strictly, and η that prove it.

    Secrets with a tiny level between them get the same output distribution: under the centre by exact
    arithmetic, over a set by constant rows. What that costs the other pairs is paid with a trace of all used
    outputs. The ``constant`` protocol stands in where nothing else is found.
    """
    groups = _groups(problem, tiny)
    used = matrix.max(axis=(0, 1)) > 0
    uniform = used / used.sum()
    for share in (0.0, *_TRACES):
        equal = _with_equal_groups(problem, (1 - share) * matrix + share * uniform, groups)
        if equal is None:
            continue
        eta = None
        if problem.privacy is not None:
            eta = minimising_eta(bounds.privacy_mean(problem), bounds.seen_by_pairs(problem, equal[None]))
        excess, eta = bounds.privacy_excess(problem, equal[None], eta)
        excess = np.where(tiny | ~used[:, None], -np.inf, excess[0])
        if excess.max() < 0 and (bounds.known_excess(problem, equal[None]) < 0).all():
            proof = bounds.trivial_eta(problem, equal[None]) if eta is None else eta
            return equal, proof[0]
    return constant, bounds.trivial_eta(problem, constant[None])[0]


def _groups(problem: DesignProblem, tiny: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the groups of two or more secrets that tiny levels connect."""
    secrets = problem.counts.shape[1]
    linked = from_pairs(tiny.astype(np.float64), secrets) > 0
    if problem.privacy is None:  # a secret that was never seen has no nominal constraint
        seen = problem.private_counts[0].sum(axis=1) > 0
        linked &= seen[:, None] & seen
    count, group = connected_components(linked, directed=False)
    members = [np.flatnonzero(group == number) for number in range(count)]
    return [each for each in members if len(each) > 1]


def _with_equal_groups(
    problem: DesignProblem, matrix: Floats, groups: list[NDArray[np.int64]]
) -> Floats | None:
    """Return the table on the grid, with one output distribution for the secrets of each group."""
    counts = problem.private_counts[0]
    if problem.epsilon_known == 0:
        return equalised_for_all(counts, matrix, groups) if problem.privacy is None else None
    result: Floats = on_grid(matrix[None])[0]
    for group in groups:
        if problem.privacy is None:
            equal = equalised(counts[group], matrix[group])
            if equal is None:
                return None
            result[group] = equal
        else:
            centre = problem.estimate[0][group]
            mean = (
                np.einsum("su,suy->y", centre, matrix[group])
                if centre.any()
                else matrix[group].mean(axis=(0, 1))
            )
            result[group] = on_grid((mean / mean.sum())[None])[0]
    return result


def _one_row(counts: NDArray[np.int64], matrix: Floats) -> Floats:
    """Return the mean over secrets of the rows of each value (|S|, |U|, |Y|): κ = 0."""
    weights = np.where(counts.any(axis=0), counts, 1)[:, :, None]
    return np.broadcast_to((weights * matrix).sum(axis=0) / weights.sum(axis=0), matrix.shape)


def solve_near_known(
    problem: DesignProblem, request: SolveRequest, solve_inside: Callable[[DesignProblem], CertifiedBatch]
) -> CertifiedBatch:
    """Solve for κ too small for floats: protocols of κ = 0, and bounds of a larger κ."""
    shared = solve_inside(replace(problem, epsilon_known=0.0))
    wider = solve_inside(replace(problem, epsilon_known=request.settings.smallest_epsilon))
    proofs = {name: getattr(wider, name) for name in ("z", "members", "distribution", "known", "constant")}
    bound = np.minimum(wider.lower_bound, shared.objective)
    return replace(shared, lower_bound=bound, steps=shared.steps + wider.steps, **proofs)


def equalised(
    counts: NDArray[np.int64], matrix: Floats, is_kept: Callable[[Floats], bool] = lambda _: True
) -> Floats | None:
    r"""Return a protocol near ``matrix`` whose outputs have exactly the same distribution for every secret.

    With integers K over the denominator, secret s gives output y with probability
    :math:`\sum_u N_{su} K_{suy} / (N_s D)`. Put :math:`K_{suy} = M_y + X_{suy}`: the probabilities
    are all :math:`M_y/D` iff :math:`\sum_u N_{su} X_{suy} = 0`, and rows sum iff
    :math:`\sum_y X_{suy} = 0`. Choosing X freely away from one value and one output, as multiples
    that divide out, determines the rest in integers.

    Parameters
    ----------
    counts : int array (|S|, |U|)
    matrix : array (|S|, |U|, |Y|)
        With conditionals that are nearly equal.
    is_kept : callable
        Whether a table satisfies the other constraints; the constant that tables are pulled to does.

    Returns
    -------
    array (|S|, |U|, |Y|) on the grid, or None if the counts are too large for the grid.
    """
    seen = counts.sum(axis=1) > 0
    conditionals = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for start in (_with_one_law(conditionals, matrix, seen), matrix):
        common = np.einsum("su,suy->sy", conditionals, start)[seen].mean(axis=0)
        target = on_grid(common[None, None, None] / common.sum())[0, 0, 0]
        for share in _PULLS:
            result = on_grid(((1 - share) * start + share * target)[None])[0]
            for s in np.flatnonzero(seen):
                result[s] = _balanced(counts[s], result[s], target)
            if (result >= 0).all() and is_kept(result):
                return np.asarray(result)
    return None


def _with_one_law(conditionals: Floats, matrix: Floats, seen: NDArray[np.bool_]) -> Floats:
    """A table whose secrets give outputs with one law, up to rounding: all above the least goes elsewhere.

    Rare outputs are given up; an output that all secrets give often takes what is left.
    """
    laws = np.einsum("su,suy->sy", conditionals, matrix)
    least = laws[seen].min(axis=0)
    common = np.where(least < _RARE, 0.0, least)
    scaled: Floats = matrix * np.divide(common, laws, out=np.ones_like(laws), where=laws > 0)[:, None, :]
    scaled[:, :, int(common.argmax())] += 1 - scaled.sum(axis=2)
    return scaled


def equalised_for_all(
    counts: NDArray[np.int64], matrix: Floats, groups: Sequence[NDArray[np.int64]] | None = None
) -> Floats | None:
    r"""The same where all secrets have one row: q with the same :math:`\sum_u N_{su} q_{uy}/N_s` for each.

    With ``groups``, for each secret of a group. With :math:`q = M_y + X_{uy}` that are linear equations in X,
    the same for every output. Free unknowns are multiples of the denominators that eliminating the others
    brings about; so all are integers.
    """
    totals = [int(total) for total in counts.sum(axis=1)]
    tied = [np.arange(len(totals))] if groups is None else groups
    seen = [[int(s) for s in group if totals[s]] for group in tied]
    equations = [
        [
            Fraction(int(counts[s, u]), totals[s]) - Fraction(int(counts[first, u]), totals[first])
            for u in range(counts.shape[1])
        ]
        for first, *others in seen
        for s in others
    ]
    solved = _eliminated(equations)
    grain = lcm(*(entry.denominator for row in solved.values() for entry in row))
    if grain > _LARGEST_GRAIN:
        return None
    rows = matrix[0]
    target = on_grid((counts.sum(axis=0) @ rows / counts.sum())[None])[0]
    y0, free = int(np.argmax(target)), [u for u in range(len(rows)) if u not in solved]
    for share in _PULLS:
        pulled = target + (1 - share) * (rows - target)
        units = [
            [grain * round(x) for x in row] for row in ((pulled - target) * (DENOMINATOR / grain)).tolist()
        ]
        for u in free:
            units[u][y0] -= sum(units[u])
        for pivot, row in solved.items():
            units[pivot] = [int(-sum(row[u] * units[u][y] for u in free)) for y in range(len(target))]
        column = target + np.array(units, dtype=np.float64) / DENOMINATOR
        if (column >= 0).all():
            return np.broadcast_to(column, matrix.shape).copy()
    return None


def _eliminated(equations: list[list[Fraction]]) -> dict[int, list[Fraction]]:
    """Solve homogeneous equations for some unknowns, by exact elimination: x_pivot = −Σ entry · x."""
    solved: dict[int, list[Fraction]] = {}
    for row in equations:
        for pivot, known in solved.items():
            row = [a - row[pivot] * b for a, b in zip(row, known, strict=True)]
        if not any(row):
            continue
        new = max(range(len(row)), key=lambda u: abs(row[u]))
        row = [entry / row[new] for entry in row]
        solved = {
            p: [a - known[new] * b for a, b in zip(known, row, strict=True)] for p, known in solved.items()
        }
        solved[new] = row
    return solved


def _balanced(counts: NDArray[np.int64], rows: Floats, target: Floats) -> Floats:
    """Move rows (U, Y) of one secret by a few multiples of grains to meet ``target``."""
    n = [int(count) for count in counts]
    u0, y0 = int(np.argmax(counts)), int(np.argmax(target))
    units = [[int(x) for x in row] for row in np.rint((rows - target) * DENOMINATOR)]
    for u, row in enumerate(units):
        if n[u] == 0 or u == u0:
            continue
        grain = n[u0] // gcd(n[u], n[u0])
        row[:] = [grain * round(x / grain) for x in row]
        row[y0] -= sum(row)
    others = [u for u in range(len(n)) if n[u] and u != u0]
    units[u0] = [-sum(n[u] * units[u][y] for u in others) // n[u0] for y in range(len(target))]
    result = target + np.array(units, dtype=np.float64) / DENOMINATOR
    return np.where(counts[:, None] > 0, result, rows)
