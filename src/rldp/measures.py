r"""Judging a protocol: leakage and distortion under a distribution, and at worst over a set.

See ``docs/theory.md``, 'Leakage'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._checks import Label, distribution_table
from rldp._memory import require_bytes, within_memory
from rldp.distortions import Distortion, distortion_matrix
from rldp.errors import InvalidArgumentType
from rldp.protocol import Protocol
from rldp.sample import Sample
from rldp.sets import Nominal, UncertaintySet, checked_set
from rldp.theory import bounds
from rldp.theory.membership import pulled_inside
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.nested_mean import NestedMean
from rldp.theory.pairs import ordered_pairs, per_secret
from rldp.theory.support import minimising_eta, worst_members

_COPIES = 36  # arrays of the size of one end of all pairs that are held at once; counted, with tracemalloc
_ADVICE = "rldp.verify needs less, and a coarser alphabet too"

__all__ = [
    "WorstCase",
    "distortion",
    "distortions",
    "leakage",
    "leakages",
    "worst_case",
    "worst_case_leakage",
]


def leakage(protocol: Protocol, distribution: ArrayLike) -> float:
    r"""The paper's ε*: the privacy level that the protocol has under a known distribution.

    .. math:: \varepsilon^* = \log \max_{y, s_1, s_2} P(Y{=}y\,|\,S{=}s_1) / P(Y{=}y\,|\,S{=}s_2)

    with 0/0 = 1, and ∞ where an output that one secret can give is impossible for another. Secrets
    of probability zero are left out. See ``docs/theory.md``, 'Leakage'.

    Parameters
    ----------
    protocol : Protocol
    distribution : array_like (|S|, |U|)

    Returns
    -------
    float, at least 0

    Examples
    --------
    >>> flip = Protocol([[[0.75, 0.25]], [[0.25, 0.75]]])
    >>> round(leakage(flip, [[0.5], [0.5]]), 4) == round(math.log(3), 4)
    True
    """
    p = _checked_distribution(protocol, distribution)
    return float(leakages(protocol.matrix[None], p[None])[0])


def leakages(matrices: Floats, distributions: Floats) -> Floats:
    """:func:`leakage` of K protocols, each under its own distribution.

    Parameters
    ----------
    matrices : array (K, |S|, |U|, |Y|)
    distributions : array (K, |S|, |U|)

    Returns
    -------
    array (K,)
    """
    masses, conditionals = per_secret(distributions)
    present = masses > 0
    outputs = np.einsum("ksu,ksuy->ksy", conditionals, matrices)
    highest = outputs.max(axis=1)  # an absent secret gives zeros, which no maximum notices
    lowest = np.where(present[:, :, None], outputs, np.inf).min(axis=1)
    ratios = np.ones_like(highest)
    np.divide(highest, lowest, out=ratios, where=(highest > 0) & (lowest > 0))
    ratios[(highest > 0) & (lowest == 0)] = np.inf
    return np.asarray(np.log(ratios.max(axis=1)))


def distortion(protocol: Protocol, distribution: ArrayLike, distortion: Distortion | None = None) -> float:
    """The paper's D*: the expected distortion E d(U, Y) under a known distribution.

    See ``docs/theory.md``, 'Model'.

    Parameters
    ----------
    protocol : Protocol
    distribution : array_like (|S|, |U|)
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array, optional
        By default the one that the protocol was designed for; "squared" where that is not known.
    """
    p = _checked_distribution(protocol, distribution)
    if distortion is None:
        distortion = "squared" if protocol.guarantee is None else protocol.guarantee.distortion
    d = distortion_matrix(distortion, protocol.values, protocol.outputs)
    return float(distortions(protocol.matrix[None], p[None], d)[0])


def distortions(matrices: Floats, distributions: Floats, d: Floats) -> Floats:
    """:func:`distortion` of K protocols, each under its own distribution.

    Parameters
    ----------
    matrices : array (K, |S|, |U|, |Y|)
    distributions : array (K, |S|, |U|)
    d : array (|U|, |Y|)

    Returns
    -------
    array (K,)
    """
    return np.asarray(np.einsum("ksu,ksuy,uy->k", distributions, matrices, d))


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest leakage of a protocol over a set of distributions.

    Attributes
    ----------
    lower, upper : float
        The supremum of ε* over the set lies between them.
    output : label
        The output that leaks most.
    secrets : (label, label)
        The pair of secrets it tells apart best.
    distribution : array (|S|, |U|)
        A member of the set under which ε* is ``lower``: what an attacker would have to know.
    """

    lower: float
    upper: float
    output: Label
    secrets: tuple[Label, Label]
    distribution: Floats


def worst_case_leakage(
    protocol: Protocol, sample: Sample, uncertainty: UncertaintySet
) -> tuple[float, float]:
    """Lower and upper bound on the supremum of ε* over the set around a sample.

    The lower one is attained by a distribution in the set (see :func:`worst_case`); the upper one
    is proved by the closed form of the support function; see ``docs/theory.md``, 'Leakage'.
    """
    found = worst_case(protocol, sample, uncertainty)
    return found.lower, found.upper


def worst_case(protocol: Protocol, sample: Sample, uncertainty: UncertaintySet) -> WorstCase:
    """The worst leakage over the set around a sample, and a distribution that shows it.

    See ``docs/theory.md``, 'Leakage'.

    Parameters
    ----------
    protocol : Protocol
    sample : Sample
        Of the protocol's shape (|S|, |U|).
    uncertainty : UncertaintySet

    Returns
    -------
    WorstCase

    Raises
    ------
    NotEnoughMemory
        If this would take more memory than is available.
    """
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    _checked_distribution(protocol, sample.distribution)
    checked_set("uncertainty", uncertainty)
    _require_memory(protocol)
    with within_memory("the worst leakage over a set", _ADVICE):
        return _worst_case(protocol, sample, uncertainty)


def _worst_case(protocol: Protocol, sample: Sample, uncertainty: UncertaintySet) -> WorstCase:
    pairs = ordered_pairs(len(protocol.secrets))
    problem = DesignProblem.of(
        sample.counts[None],
        np.zeros(1),
        np.zeros(protocol.matrix.shape[1:]),
        uncertainty,
        Nominal(),
    )
    if len(pairs) == 0 or problem.privacy is None:
        return _nominal_case(protocol, sample)
    ratio, members = _worst_ratios(problem, protocol, pairs)
    y, t = np.unravel_index(int(ratio.argmax()), ratio.shape)
    upper = _proved_ratio(problem, protocol, ratio)
    joint = _joint(problem, pairs[t], members[y, t])
    lower = leakage(protocol, joint)
    if problem.privacy.enlarged:  # the larger set proves the upper bound; its member need not be one of ours
        radius = float(uncertainty.size(sample.n, joint.size))
        joint = pulled_inside(problem.privacy.lambda_, radius, sample.distribution, joint)
        lower = _rounded_down(leakage(protocol, joint))
    return WorstCase(
        lower=lower,
        upper=max(lower, math.log(upper) * (1 + 1e-15) + 1e-15),
        output=protocol.outputs[y],
        secrets=(protocol.secrets[pairs[t, 0]], protocol.secrets[pairs[t, 1]]),
        distribution=joint,
    )


def _require_memory(protocol: Protocol) -> None:
    """Refuse alphabets whose pairs of secrets would not fit."""
    secrets, values, outputs = protocol.matrix.shape
    needed = _COPIES * 8 * outputs * secrets * (secrets - 1) * values
    shape = f"{secrets} secrets × {values} values × {outputs} outputs"
    require_bytes(f"the worst leakage over a set of {shape}", needed, _ADVICE)


def _checked_distribution(protocol: Protocol, distribution: ArrayLike) -> Floats:
    if not isinstance(protocol, Protocol):
        raise InvalidArgumentType(f"protocol must be an rldp.Protocol, got {type(protocol).__name__}")
    return distribution_table(distribution, protocol.matrix.shape[:2])


def _nominal_case(protocol: Protocol, sample: Sample) -> WorstCase:
    value = leakage(protocol, sample.distribution)
    masses, conditionals = per_secret(sample.distribution)
    outputs = np.einsum("su,suy->sy", conditionals, protocol.matrix)
    seen = np.flatnonzero(masses > 0)
    high, low = outputs[seen].argmax(axis=0), outputs[seen].argmin(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(outputs[seen].max(axis=0) / outputs[seen].min(axis=0), nan=1.0)
    y = int(ratio.argmax())
    slack = 1e-14 * max(1.0, value) if math.isfinite(value) else 0.0
    return WorstCase(
        lower=_rounded_down(value),
        upper=value + slack,
        output=protocol.outputs[y],
        secrets=(protocol.secrets[seen[high[y]]], protocol.secrets[seen[low[y]]]),
        distribution=sample.distribution,
    )


def _rounded_down(value: float) -> float:
    """A leakage less what rounding may have added to it."""
    return max(0.0, value - 1e-14 * max(1.0, value)) if math.isfinite(value) else value


def _worst_ratios(
    problem: DesignProblem, protocol: Protocol, pairs: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Largest P(y|s1)/P(y|s2) over the set for each output and pair, by Dinkelbach's iteration.

    With R the worst members for R1·q1 − E·R2·q2, the next E is R1·q1 / R2·q2; it rises to the
    supremum.

    Returns
    -------
    ratio : array (Y, T)
    members : array (Y, T, 2, U)
        Members of the projected sets that attain the ratios.
    """
    q = np.moveaxis(protocol.matrix, 2, 0)[:, pairs]  # (Y, T, 2, U)
    mean = _pair_mean(problem)
    members = np.broadcast_to(
        np.where(mean.masses[..., None] > 0, mean.conditionals, 1 / q.shape[-1]), q.shape
    )
    ratio = _ratio(q, members)
    for _ in range(12):
        e = np.where(np.isfinite(ratio), ratio, 1.0)
        x = q * np.stack([np.ones_like(e), -e], axis=-1)[..., None]
        found = worst_members(mean, x)
        better = _ratio(q, found) > ratio
        if not better.any():
            break
        members = np.where(better[..., None, None], found, members)
        ratio = np.where(better, _ratio(q, found), ratio)
    return ratio, members


def _pair_mean(problem: DesignProblem) -> NestedMean:
    """The set of the one problem, as two groups for each pair: (T, 2, U)."""
    mean = bounds.privacy_mean(problem)
    return NestedMean(mean.lambda_, mean.masses[0, 0], mean.conditionals[0, 0], mean.budget[0, 0])


def _ratio(q: Floats, members: Floats) -> Floats:
    top, bottom = np.moveaxis((q * members).sum(axis=-1), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top > 0, top / bottom, np.where(bottom > 0, 0.0, 1.0))


def _proved_ratio(problem: DesignProblem, protocol: Protocol, ratio: Floats) -> float:
    """An e^ε for which the closed form proves every constraint, as small as rounding allows.

    Never more than the largest ratio of two entries of a column, which no distribution exceeds.
    """
    worst = float(max(ratio.max(), 1.0))
    pairs = ordered_pairs(len(protocol.secrets))
    mean = _pair_mean(problem)
    q = np.moveaxis(protocol.matrix, 2, 0)[:, pairs]
    used = q.max(axis=(1, 2, 3)) > 0
    lowest = protocol.matrix.min(axis=(0, 1))[used]
    highest = protocol.matrix.max(axis=(0, 1))[used]
    limit = float((highest / lowest).max()) * (1 + 1e-15) if lowest.all() else math.inf

    def proves(e: float) -> bool:
        claim = replace(problem, epsilon=np.array([math.log(e)]))
        eta = minimising_eta(mean, q * np.array([1.0, -e])[:, None])
        over, _ = bounds.privacy_excess(claim, protocol.matrix[None], eta[None])
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


def _joint(problem: DesignProblem, pair: NDArray[np.int64], members: Floats) -> Floats:
    """A joint distribution in the set whose two conditionals are ``members`` (2, U)."""
    assert problem.privacy is not None
    lambda_, budget = problem.privacy.lambda_, problem.privacy.budget
    estimate = problem.estimate[0]
    joint = estimate.copy()
    for secret, member in zip(pair, members, strict=True):
        mass = estimate[secret].sum()
        if mass == 0:  # any trace of it shows the conditional, and a trace costs next to nothing
            joint[secret] = 1e-12 * min(1.0, float(budget.min())) * member
            continue
        known = estimate[secret] > 0
        ratio = estimate[secret][known] / mass / member[known]
        spread = np.sum(estimate[secret][known] / mass * ratio**lambda_)
        joint[secret] = mass * spread ** (1 / (1 + lambda_)) * member
    return np.asarray(joint / joint.sum())
