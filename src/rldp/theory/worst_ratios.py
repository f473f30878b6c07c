r"""The largest ratio :math:`P(y|s_1)/P(y|s_2)` of a protocol over a set, and distributions that attain it.

See ``docs/theory.md``, 'Leakage'. Protocols are arrays (|S|, |U|, |Y|), problems hold one sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rldp.theory import bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.nested_mean import NestedMean
from rldp.theory.support import minimising_eta, worst_members

__all__ = ["WorstRatio", "joined", "over_everything", "over_set", "proved_ratio"]

_TRACE = 1e-12  # relative to the radius: mass of an unseen secret, enough for any conditional


@dataclass(frozen=True)
class WorstRatio:
    """A ratio, its output and pair of secrets (s1, s2), and their conditionals (2, U)."""

    ratio: float
    output: int
    pair: tuple[int, int]
    members: Floats


def over_everything(matrix: Floats) -> WorstRatio:
    """Return the largest ratio over all distributions: of two entries of a column, for different secrets."""
    pairs = ordered_pairs(len(matrix))
    first, second = pairs.T
    ratios = _quotients(matrix.max(axis=1)[first], matrix.min(axis=1)[second])  # (T, Y)
    t, y = np.unravel_index(int(ratios.argmax()), ratios.shape)
    s1, s2 = (int(s) for s in pairs[t])
    ends = [matrix[s1, :, y].argmax(), matrix[s2, :, y].argmin()]
    return WorstRatio(float(ratios[t, y]), int(y), (s1, s2), np.eye(matrix.shape[1])[ends])


def over_set(problem: DesignProblem, matrix: Floats) -> WorstRatio:
    """Return the largest ratio over the privacy set, by Dinkelbach's iteration for each output and pair.

    With R the worst members for R1·q1 − E·R2·q2, the next E is R1·q1 / R2·q2; it rises to the supremum.
    """
    pairs = ordered_pairs(len(matrix))
    q = np.moveaxis(matrix, 2, 0)[:, pairs]  # (Y, T, 2, U)
    mean = _pair_mean(problem)
    members = np.broadcast_to(
        np.where(mean.masses[..., None] > 0, mean.conditionals, 1 / q.shape[-1]), q.shape
    )
    ratio = _ratio(q, members)
    for _ in range(12):
        e = np.where(np.isfinite(ratio), ratio, 1.0)
        x = q * np.stack([np.ones_like(e), -e], axis=-1)[..., None]
        worst = worst_members(mean, x)
        better = _ratio(q, worst) > ratio
        if not better.any():
            break
        members = np.where(better[..., None, None], worst, members)
        ratio = np.where(better, _ratio(q, worst), ratio)
    y, t = np.unravel_index(int(ratio.argmax()), ratio.shape)
    s1, s2 = (int(s) for s in pairs[t])
    return WorstRatio(float(ratio[y, t]), int(y), (s1, s2), members[y, t])


def _pair_mean(problem: DesignProblem) -> NestedMean:
    """Return the set of the one problem, as two groups for each pair: (T, 2, U)."""
    mean = bounds.privacy_mean(problem)
    return NestedMean(mean.lambda_, mean.masses[0, 0], mean.conditionals[0, 0], mean.budget[0, 0])


def _ratio(q: Floats, members: Floats) -> Floats:
    top, bottom = np.moveaxis((q * members).sum(axis=-1), -1, 0)
    return _quotients(top, bottom)


def _quotients(top: Floats, bottom: Floats) -> Floats:
    """Return top/bottom, with 0/0 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top > 0, top / bottom, np.where(bottom > 0, 0.0, 1.0))


def proved_ratio(problem: DesignProblem, matrix: Floats, attained: float) -> float:
    """Return an e^ε for which the closed form proves every constraint, as small as rounding allows.

    It is at most the largest ratio of two entries of a column, which no distribution exceeds.
    """
    worst = max(attained, 1.0)
    mean = _pair_mean(problem)
    q = np.moveaxis(matrix, 2, 0)[:, ordered_pairs(len(matrix))]
    used = q.max(axis=(1, 2, 3)) > 0
    lowest, highest = matrix.min(axis=(0, 1))[used], matrix.max(axis=(0, 1))[used]
    limit = float((highest / lowest).max()) * (1 + 1e-15) if lowest.all() else math.inf

    def proves(e: float) -> bool:
        claim = replace(problem, epsilon=np.array([math.log(e)]))
        eta = minimising_eta(mean, q * np.array([1.0, -e])[:, None])
        over, _ = bounds.privacy_excess(claim, matrix[None], eta[None])
        return bool((over[0, used] <= 0).all())

    if not math.isfinite(worst):
        return limit
    low, high = -1.0, -1.0
    for power in range(-13, 3):  # excess 10^power over the ratio that is attained
        high = float(power)
        if proves(worst * (1 + 10.0**power)):
            break
        low = high
    else:
        return limit
    for _ in range(6 if high > -13 else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if proves(worst * (1 + 10.0**middle)) else (middle, high)
    return min(limit, float(worst * (1 + 10.0**high)))


def joined(problem: DesignProblem, pair: tuple[int, int], members: Floats) -> Floats:
    """Return a joint distribution (|S|, |U|) in the joint set with conditionals ``members`` of ``pair``."""
    assert problem.privacy is not None
    lambda_, budget = problem.privacy.lambda_, problem.privacy.budget
    centre = problem.private_centre[0]
    joint = centre.copy()
    for secret, member in zip(pair, members, strict=True):
        mass = centre[secret].sum()
        if mass == 0:
            joint[secret] = _TRACE * min(1.0, float(budget.min())) * member
            continue
        known = centre[secret] > 0
        ratio = centre[secret][known] / mass / member[known]
        spread = np.sum(centre[secret][known] / mass * ratio**lambda_)
        joint[secret] = mass * spread ** (1 / (1 + lambda_)) * member
    return np.asarray(joint / joint.sum())
