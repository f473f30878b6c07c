"""Proved bounds for a given protocol, rounded to the safe side, without a solver.

Every number is computed from a protocol and a few witnesses (η, multipliers, members of a set) by formulas
that hold for arbitrary witnesses. For floats that carry a claim, a bound on the rounding error is added
(upper bounds) or subtracted (lower bounds). See ``docs/theory.md``, 'Two bounds'.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldp.theory.arrays import ordered_pairs, per_pair, per_secret, summed_per_secret
from rldp.theory.model import DesignProblem, Floats, Witness
from rldp.theory.nested_mean import NestedMean
from rldp.theory.support import minimising_eta, proved_support, worst_members

__all__ = [
    "constant_lower_bound",
    "estimated_members",
    "known_excess",
    "largest_mean",
    "lower_bound",
    "objective",
    "privacy_excess",
    "privacy_mean",
    "seen_by_pairs",
    "trivial_eta",
    "utility_mean",
    "worst_distribution",
]

_UNIT = 2.0**-52
_SMALLEST, _NORMAL = 2.0**-1074, 2.0**-900
_LARGEST_EXPONENT = 700.0
_MARGIN = 2.0**-46  # of e^κ, so that the logarithm of a float ratio does not exceed κ either
_RADIUS_ERROR = 1e-11  # relative; quantiles of χ² are not known better for α near 1


def _safe_e(problem: DesignProblem) -> Floats:
    """Return e^ε (K, T or 1) rounded down, and finite: a constraint that holds with it holds with e^ε."""
    return np.exp(np.minimum(problem.pair_epsilon, _LARGEST_EXPONENT)) * (1 - 4 * _UNIT)


def _large_e(problem: DesignProblem) -> Floats:
    """Return e^ε (K, T or 1) rounded up: a protocol that is private with e^ε is private with it.

    It stays finite for ε above 700. There a constraint raises a bound by less than 1e-300 of the distortions,
    which is negligible relative to the rounding error subtracted from a lower bound.
    """
    return np.exp(np.minimum(problem.pair_epsilon, _LARGEST_EXPONENT)) * (1 + 4 * _UNIT)


def _signs(e: Floats) -> Floats:
    """Return 1 and −E for the ends of the pairs: (K, 1, T or 1, 2, 1)."""
    return np.stack([np.ones_like(e), -e], axis=-1)[:, None, :, :, None]


def _pair_data(problem: DesignProblem) -> tuple[Floats, Floats]:
    """Return masses (K, 1, T, 2) and conditionals (K, 1, T, 2, U) of the pairs at the privacy centre."""
    totals, conditionals = per_pair(problem.private_counts[:, None])
    return totals / problem.private_counts.sum(axis=(1, 2))[:, None, None, None], conditionals


def seen_by_pairs(problem: DesignProblem, matrix: Floats) -> Floats:
    """Return x (K, Y, T, 2, U): Q[s1,:,y] and −E·Q[s2,:,y]."""
    columns = np.moveaxis(matrix, 3, 1)
    return np.asarray(columns[:, :, ordered_pairs(matrix.shape[1])] * _signs(_safe_e(problem)))


def privacy_mean(problem: DesignProblem) -> NestedMean:
    """Return the privacy set as two groups for each pair: (K, 1, T, 2, U)."""
    ball = problem.privacy
    assert ball is not None
    masses, conditionals = _pair_data(problem)
    if ball.everything:
        masses, conditionals = np.zeros_like(masses), np.zeros_like(conditionals)
    return NestedMean(ball.lambda_, masses, conditionals, ball.budget[:, None])


def _enlarged(mean: NestedMean) -> NestedMean:
    """Return the set with its radius rounded up, for upper bounds. Lower bounds need the exact radius."""
    return replace(mean, budget=mean.budget * (1 + _RADIUS_ERROR))


def estimated_members(problem: DesignProblem) -> Floats:
    """Return the centre's conditionals, members of every set, as (K, Y, T, 2, U); uniform if unseen."""
    masses, conditionals = _pair_data(problem)
    members = np.where(masses[..., None] > 0, conditionals, 1 / conditionals.shape[-1])
    return np.repeat(members, problem.distortion.shape[1], axis=1)


def trivial_eta(problem: DesignProblem, matrix: Floats) -> Floats:
    """Return η = max x, which proves privacy of protocols that are private for every distribution."""
    highest, lowest = _at_ends(problem, matrix.max(axis=2), matrix.min(axis=2))
    return np.stack([highest, -lowest], axis=-1)


def _at_ends(problem: DesignProblem, one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return ``one`` at s1 and E times ``other`` at s2 (K, Y, T), from numbers of the secrets (K, |S|, Y)."""
    first, second = ordered_pairs(one.shape[1]).T
    one, other = np.moveaxis(one, 2, 1), np.moveaxis(other, 2, 1)
    return one[:, :, first], _safe_e(problem)[:, None] * other[:, :, second]


def _above(eta: Floats, x: Floats) -> Floats:
    """Raise η slightly above max x where it is not above it already.

    Any η ≥ max x proves its bound, so raising or replacing it is safe. η − x = 0 would have no logarithm.
    """
    top = x.max(axis=-1)
    hair = np.maximum(_UNIT * np.abs(top), 1e-290)
    return np.asarray(np.maximum(np.where(np.isfinite(eta), eta, top), top + hair))


def privacy_excess(
    problem: DesignProblem, matrix: Floats, eta: Floats | None
) -> tuple[Floats, Floats | None]:
    """Return upper bounds on P(y|s1) − e^ε P(y|s2) over the whole privacy set, for every y and pair.

    Parameters
    ----------
    matrix : array (K, |S|, |U|, |Y|)
    eta : array (K, Y, T, 2), or None for nominal privacy
        Arbitrary numbers; raised to max x where they are smaller.

    Returns
    -------
    excess : array (K, Y, T)
        The protocol is private where this is at most 0.
    eta : array (K, Y, T, 2) or None
        The η that prove it.
    """
    if problem.privacy is None or eta is None:
        masses, conditionals = per_secret(problem.private_counts)
        law = (conditionals[..., None] * matrix).sum(axis=2)
        one, other = _at_ends(problem, law, law)
        excess = one - other + 8 * _UNIT * matrix.shape[2] * (one + other)
        seen = (masses > 0)[:, ordered_pairs(masses.shape[1])].all(axis=-1)
        return np.where(seen[:, None], excess, -np.inf), None
    x = seen_by_pairs(problem, matrix)
    eta = _above(eta, x)
    return proved_support(_enlarged(privacy_mean(problem)), x, eta), eta


def utility_mean(problem: DesignProblem) -> NestedMean:
    """Return the utility set as one group that holds every cell."""
    assert problem.utility is not None
    ball = problem.utility
    cells = problem.useful_centre.reshape(len(problem.counts), 1, -1)
    return NestedMean(ball.lambda_, np.ones(cells.shape[:2]), cells, ball.budget[:, 0])


def worst_distribution(problem: DesignProblem, v: Floats) -> Floats:
    """Return the member of the utility set (nearly) worst for costs ``v`` (K, |S|, |U|); P̂ if nominal."""
    if problem.utility is None or problem.utility.enlarged:
        return problem.useful_centre
    flat = v.reshape(len(v), 1, -1)
    return np.asarray(worst_members(utility_mean(problem), flat)).reshape(v.shape)


def objective(problem: DesignProblem, matrix: Floats, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the largest expected distortion over the utility set, rounded up (K,), and its η (K, 0 or 1).

    ``start`` (K, 1) may hold initial values near the best η.
    """
    v = (matrix * problem.distortion[None, None]).sum(axis=3) * (1 + 2 * _UNIT * (matrix.shape[3] + 2))
    if _may_underflow(problem.distortion):
        v = v + _SMALLEST * ((matrix > 0) & (problem.distortion > 0)).sum(axis=3)
    return largest_mean(problem, v, start)


def largest_mean(problem: DesignProblem, v: Floats, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the largest mean of ``v`` (…, K, |S|, |U|) over the utility set, rounded up, and its η."""
    flat = v.reshape(*v.shape[:-2], 1, -1)
    if problem.utility is None:
        value = (problem.useful_centre * v).sum(axis=(-2, -1)) * (1 + 2 * _UNIT * (flat.shape[-1] + 2))
        if _may_underflow(v):
            value = value + _SMALLEST * ((problem.useful_centre > 0) & (v > 0)).sum(axis=(-2, -1))
        return value, np.zeros((*value.shape, 0))
    mean = _enlarged(utility_mean(problem))
    eta = _above(minimising_eta(mean, flat, start=start), flat)
    return np.minimum(proved_support(mean, flat, eta), flat.max(axis=(-2, -1))), eta


def _may_underflow(costs: Floats) -> bool:
    """Return whether products of costs and probabilities may underflow."""
    return bool(((costs > 0) & (costs < _NORMAL)).any())


def lower_bound(problem: DesignProblem, witness: Witness) -> Floats:
    """Return a distortion that no private protocol beats, rounded down: (K,)."""
    cost = np.moveaxis(witness.distribution[..., None] * problem.distortion[None, None], 3, 1)
    size = np.abs(cost)
    if witness.z.any():  # zero for closed forms; in large tables these products would take most of the time
        weighted = witness.z[..., None, None] * witness.members * _signs(_large_e(problem))
        cost, size = cost + summed_per_secret(weighted), size + summed_per_secret(np.abs(weighted))
    if witness.known is not None:
        cost, size = cost + witness.known, size + np.abs(witness.known)
    elif problem.epsilon_known == 0:  # all secrets share a row
        cost, size = (x.sum(axis=2, keepdims=True) for x in (cost, size))
    added = witness.z.shape[2] + cost[0, 0].size + 8
    rounding = 4 * _UNIT * added * size.max(axis=1).sum(axis=(1, 2))
    return np.asarray(cost.min(axis=1).sum(axis=(1, 2)) - _overcharge(problem, witness) - rounding)


def _overcharge(problem: DesignProblem, witness: Witness) -> Floats | float:
    """Return the largest amount that prices for readers who know the value may overcharge: (K,)."""
    if witness.known is None:
        return 0.0
    factor = np.exp(min(problem.epsilon_known, _LARGEST_EXPONENT)) * (1 + 4 * _UNIT)
    charged, given = (np.maximum(x, 0).sum(axis=2) for x in (witness.known, -witness.known))
    return np.maximum(factor * charged - given, 0).max(axis=1).sum(axis=1)  # type: ignore[no-any-return]


def known_excess(problem: DesignProblem, matrix: Floats) -> Floats:
    """Return upper bounds on Q[s1,u,y] − e^κ Q[s2,u,y] over all secrets: (K, |U|, |Y|); −∞ if all are equal.

    A protocol satisfies the constraints for readers who know the value where this is below 0.
    """
    highest, lowest = matrix.max(axis=1), matrix.min(axis=1)
    excess = highest - np.exp(min(problem.epsilon_known, _LARGEST_EXPONENT)) * (1 - _MARGIN) * lowest
    return np.where(highest == lowest, -np.inf, excess)


def constant_lower_bound(problem: DesignProblem, distribution: Floats) -> Floats:
    """Return a lower bound, rounded down, for protocols that ignore secret and value: (K,)."""
    cost = np.einsum("ksu,uy->ky", distribution, problem.distortion)
    return np.asarray(cost.min(axis=1) * (1 - 4 * _UNIT * (problem.counts[0].size + 4)))
