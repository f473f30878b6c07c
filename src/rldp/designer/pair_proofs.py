r"""From windows back to pairs: what a solution with windows proves about the original problem.

Windows are a stronger constraint than privacy, so a protocol that keeps them is private; its proof is made
pair by pair. A lower bound on all private protocols needs multipliers and members of pairs: the
weight that a window puts on its two sides is shipped from upper to lower sides, and the members of the
two balls are pulled into the smaller set of the pair. See ``docs/theory.md``, 'Windows'.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldp._common.process import on_every_core
from rldp.designer.engine.algebra.dense import runs
from rldp.designer.engine.settings import Settings
from rldp.theory import bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import DesignProblem, Floats, Witness
from rldp.theory.support import minimising_eta

__all__ = ["estimate_witness", "pair_eta", "pair_witness"]


def pair_eta(problem: DesignProblem, matrix: Floats, rows: Floats, settings: Settings) -> Floats:
    """Return scalars (K, Y, T, 2) that prove privacy of protocols (K, |S|, |U|, |Y|), if any do.

    ``rows`` (K, Y, 2|S| + 1) are those of the windows. The scalars of two sides mostly prove a pair, too;
    for outputs where they do not, the best ones are found.
    """
    secrets = matrix.shape[1]
    first, second = ordered_pairs(secrets).T
    eta = np.stack([rows[..., first], rows[..., secrets + second]], axis=-1)
    open_outputs = np.flatnonzero((bounds.privacy_excess(problem, matrix, eta)[0] >= 0).any(axis=(0, 2)))
    mean, x = bounds.privacy_mean(problem), bounds.seen_by_pairs(problem, matrix[..., open_outputs])

    def prove(part: slice) -> None:
        eta[:, open_outputs[part]] = minimising_eta(mean, x[:, part])

    on_every_core(prove, _parts(x, settings))
    return eta


def pair_witness(problem: DesignProblem, rows: Witness, settings: Settings) -> Witness:
    """Multipliers and members of pairs, from those of windows (K, Y, 2|S|) and (K, Y, 2|S|, 1, U)."""
    secrets = problem.counts.shape[1]
    first, second = ordered_pairs(secrets).T
    upper, lower = rows.members[:, :, :secrets, 0], rows.members[:, :, secrets:, 0]
    members = np.stack([upper[:, :, first], lower[:, :, second]], axis=3)
    mean = bounds.privacy_mean(problem)
    for part in _parts(members, settings):
        members[:, part] = mean.pulled_inside(members[:, part])
    return replace(rows, z=_pair_weights(rows.z, settings), members=members)


def estimate_witness(problem: DesignProblem, rows: Witness, settings: Settings) -> Witness:
    """The same from windows under the estimate, whose members are the estimated conditionals."""
    members = bounds.estimated_members(problem)
    return replace(rows, z=_pair_weights(rows.z, settings), members=members)


def _pair_weights(z: Floats, settings: Settings) -> Floats:
    """Multipliers (K, Y, T) of pairs, from those of windows (K, Y, 2|S|)."""
    secrets = z.shape[-1] // 2
    first, second = ordered_pairs(secrets).T
    return _shipped(z[..., :secrets], z[..., secrets:], settings)[..., first, second]


def _shipped(supply: Floats, demand: Floats, settings: Settings) -> Floats:
    """Plans (..., |S|, |S|) with these margins and nothing on the diagonal, or almost these margins.

    Alternately scaling rows and columns; the last scaling never exceeds either margin.
    """
    plan = supply[..., :, None] * demand[..., None, :] * (1 - np.eye(supply.shape[-1]))
    for _ in range(settings.shipments):
        plan = plan * _ratio(supply, plan.sum(axis=-1))[..., :, None]
        plan = plan * _ratio(demand, plan.sum(axis=-2))[..., None, :]
    return np.asarray(plan * np.minimum(_ratio(supply, plan.sum(axis=-1)), 1)[..., :, None])


def _ratio(wanted: Floats, actual: Floats) -> Floats:
    return np.asarray(wanted / np.where(actual > 0, actual, 1.0))


def _parts(pairs: Floats, settings: Settings) -> list[slice]:
    """Return runs of outputs of an array (K, Y, …) that are small enough to be handled together."""
    return runs(pairs.shape[1], max(pairs[:, :1].nbytes, 1), pairs, settings)
