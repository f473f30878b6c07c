"""From a solver's floats to a protocol on an exact grid, strictly private with its proof.

Three steps, each of which keeps privacy for every distribution: outputs that are hardly used are
folded into used ones (post-processing); a trace of uniform output is mixed in, just enough to pay
for what rounding may cost; every row is rounded to integers over 2^52 that sum exactly. Then the
proof is checked on the result, and the trace is enlarged where the check fails. See
``docs/theory.md``, 'Two bounds'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldp.designer.engine.algebra.dense import runs
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import DENOMINATOR, on_grid
from rldp.theory.bounds import known_excess, privacy_excess
from rldp.theory.model import DesignProblem, Floats

__all__ = ["repaired"]

_LARGEST_LEVEL = 700.0  # e to this is a float
_FIRST_TRACE = 4 / DENOMINATOR  # of uniform output: a few grains of the grid


def repaired(
    problem: DesignProblem, matrix: Floats, eta: Floats | None, reached: Floats, settings: Settings
) -> tuple[Floats, Floats | None, NDArray[np.bool_]]:
    """Round a batch of protocols so that they are strictly private.

    Parameters
    ----------
    matrix : array (K, |S|, |U|, |Y|)
        Private up to rounding.
    eta : array (K, Y, T, 2), or None for nominal privacy
    reached : array (K,)
        Objectives, to measure costs against.
    settings : Settings

    Returns
    -------
    matrix : array (K, |S|, |U|, |Y|)
        Multiples of 1/``DENOMINATOR``, rows summing to exactly one.
    eta : array (K, Y, T, 2) or None
    proved : bool array (K,)
        Whether privacy is proved; False only if no trace of uniform output was enough.
    """
    matrix, eta, used = _folded(problem, matrix, eta, reached, settings)
    uniform = used / used.sum(axis=1, keepdims=True)
    e = np.exp(problem.pair_epsilon)
    interior = (e - 1)[:, None] * uniform[..., None]  # how far inside the uniform protocol is
    share = np.zeros(len(matrix))
    for _ in range(settings.repairs):
        rounded = on_grid(_mixed(matrix, uniform[:, None, None, :], share))
        excess, proof = privacy_excess(problem, rounded, _mixed_eta(eta, uniform, e, share))
        unused = ~used[:, :, None] & np.ones(excess.shape, dtype=bool)
        excess = np.where(unused, -np.inf, excess)
        worst = np.max(excess / np.maximum(interior, 1e-300), axis=(1, 2), initial=-np.inf)
        if problem.epsilon_known < np.inf:
            worst = np.maximum(worst, _known_worst(problem, rounded, uniform))
        proved = worst < 0
        if proved.all():
            break
        more = share + np.maximum(2 * worst, _FIRST_TRACE)
        share = np.where(proved, share, np.minimum(more, 1.0))
    return rounded, proof, proved


def _known_worst(problem: DesignProblem, matrix: Floats, uniform: Floats) -> Floats:
    """Return by how much readers who know the value learn too much, in units of uniform output: (K,)."""
    excess = known_excess(problem, matrix)
    interior = np.expm1(min(problem.epsilon_known, _LARGEST_LEVEL)) * uniform[:, None, :]
    return np.asarray(np.max(excess / np.maximum(interior, 1e-300), axis=(1, 2)))


def _mixed(matrix: Floats, target: Floats, share: Floats) -> Floats:
    weight = share.reshape((-1,) + (1,) * (matrix.ndim - 1))
    return (1 - weight) * matrix + weight * target


def _mixed_eta(eta: Floats | None, uniform: Floats, e: Floats, share: Floats) -> Floats | None:
    """Return η of a mixture: the same mixture of η, by homogeneity of the constraint."""
    if eta is None:
        return None
    sign = np.stack([np.ones_like(e), -e], axis=-1)
    return _mixed(eta, uniform[:, :, None, None] * sign[:, None], share)


def _folded(
    problem: DesignProblem, matrix: Floats, eta: Floats | None, reached: Floats, settings: Settings
) -> tuple[Floats, Floats | None, NDArray[np.bool_]]:
    """Fold outputs that are hardly used into the used output that costs least.

    Each output is folded whole or not at all. Costs are counted for the worst cell, so they hold
    for every distribution; the cheapest outputs go first, until the budget is spent.
    """
    k, outputs = len(matrix), matrix.shape[3]
    largest = matrix.max(axis=(1, 2))
    kept = largest >= np.minimum(settings.rare, 0.5 * largest.max(axis=1, keepdims=True))
    if kept.all():
        return matrix / matrix.sum(axis=3, keepdims=True), eta, kept
    distortion, peak = problem.distortion, matrix.max(axis=1)  # (U, y'), (K, U, y)
    cost = np.concatenate(
        [
            np.max(peak[:, :, here, None] * (distortion[:, None, :] - distortion[:, here, None]), axis=1)
            for here in runs(outputs, 8 * k * peak.shape[1] * outputs, peak, settings)
        ],
        axis=1,
    )  # (K, y, y')
    cost = np.maximum(np.where(kept[:, None, :], cost, np.inf), 0)
    target, price = cost.argmin(axis=2), cost.min(axis=2)
    price = np.where(kept, np.inf, price)
    order = np.argsort(price, axis=1)
    spent = np.cumsum(np.sort(price, axis=1), axis=1)
    affordable = np.zeros((k, outputs), dtype=bool)
    np.put_along_axis(affordable, order, spent <= settings.folding_budget * reached[:, None], axis=1)
    target = np.where(affordable, target, np.arange(outputs))
    merge = np.eye(outputs)[target]  # (K, y, y')
    matrix = np.einsum("ksuy,kyz->ksuz", matrix, merge)
    matrix = matrix / matrix.sum(axis=3, keepdims=True)
    if eta is not None:
        eta = np.einsum("kytb,kyz->kztb", eta, merge)
    return matrix, eta, ~affordable
