r"""Measure leakage and distortion of a protocol, under a distribution and at worst over a set.

See ``docs/theory.md``, 'Leakage'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import Label, distribution_table
from rldp._common.process import require_bytes, within_memory
from rldp.chain import Chain, ChainGuarantee
from rldp.distortions import Distortion, distortion_matrix
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol, require_protocol
from rldp.sample import Sample, require_exact
from rldp.sets import (
    AllDistributions,
    Credible,
    Nominal,
    Pairs,
    PowerDivergence,
    PrivacySet,
    UncertaintySet,
    checked_set,
)
from rldp.theory import bounds, chains
from rldp.theory.arrays import per_secret
from rldp.theory.membership import pulled_inside
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.pair_sets import joined_pairs
from rldp.theory.worst_ratios import WorstRatio, joined, over_everything, over_set, proved_ratio

_COPIES = 36  # arrays the size of one end of all pairs that are held at once, as counted with tracemalloc
_ADVICE = "rldp.verify needs less, and so does a coarser alphabet"

__all__ = [
    "WorstCase",
    "distortion",
    "distortions",
    "known_leakage",
    "leakage",
    "leakages",
    "leakages_of_outputs",
    "pair_leakage",
    "promised_leakage",
    "worst_case",
    "worst_case_distortion",
    "worst_case_leakage",
]


def leakage(protocol: Protocol, distribution: ArrayLike) -> float:
    r"""Compute the paper's ε*: the privacy level of the protocol under a known distribution.

    .. math:: \varepsilon^* = \log \max_{y, s_1, s_2} P(Y{=}y\,|\,S{=}s_1) / P(Y{=}y\,|\,S{=}s_2)

    with 0/0 = 1, and ∞ if one secret can give an output that is impossible for another. Secrets of
    probability zero are left out. See ``docs/theory.md``, 'Leakage'.

    Parameters
    ----------
    protocol : Protocol
    distribution : array_like (|S|, |U|)
        Also with an axis for the secret, one for each given column, and one for the values or for each value
        column. With given columns and earlier releases, the result is the leakage of everything that is
        published.

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
    if isinstance(protocol, Chain):
        return float(leakages_of_outputs(protocol.output_law(p)[None], p.sum(axis=1)[None] > 0)[0])
    return float(leakages(protocol.matrix[None], p[None])[0])


def pair_leakage(protocol: Protocol, distribution: ArrayLike) -> Floats:
    r"""Compute ε* of each ordered pair of secrets, :math:`\max_y\log P(y|s_1)/P(y|s_2)`.

    Parameters
    ----------
    protocol : Protocol
    distribution : array_like
        As for :func:`leakage`.

    Returns
    -------
    array (|S|, |S|)
        0 on the diagonal, and for pairs with a secret of probability zero.

    Examples
    --------
    >>> coins = Protocol([[[0.5, 0.5]], [[0.25, 0.75]]])
    >>> np.exp(pair_leakage(coins, [[0.5], [0.5]])).round(3).tolist()
    [[1.0, 2.0], [1.5, 1.0]]
    """
    p = _checked_distribution(protocol, distribution)
    masses, conditionals = per_secret(p)
    if isinstance(protocol, Chain):
        law = protocol.output_law(p)
    else:
        law = np.einsum("su,suy->sy", conditionals, protocol.matrix)
    table = np.zeros((len(law), len(law)))
    for s, t in permutations(np.flatnonzero(masses > 0).tolist(), 2):
        table[s, t] = _largest_log_ratio(law[None, s], law[None, t])[0]
    return table


def promised_leakage(protocol: Protocol, distribution: Floats) -> float:
    """Compute ε* for the readers of the promise, who may know the kept columns: of P(y|s, k) then.

    A secret is left out of a context in which nobody has it.
    """
    claim = protocol.guarantee
    if not isinstance(protocol, Chain) or not isinstance(claim, ChainGuarantee) or not claim.given_known:
        return leakage(protocol, distribution)
    p = _checked_distribution(protocol, distribution)
    known = math.prod(len(stage.outputs) for stage in protocol.stages if stage.kept)
    law = protocol.output_law(p).reshape(len(p), known, -1).swapaxes(0, 1)
    masses = law.sum(axis=2, keepdims=True)
    given = np.divide(law, masses, out=np.zeros_like(law), where=masses > 0)
    return float(leakages_of_outputs(given, masses[..., 0] > 0).max())


def leakages(matrices: Floats, distributions: Floats) -> Floats:
    """Compute :func:`leakage` of K protocols, each under its own distribution.

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
    return leakages_of_outputs(np.einsum("ksu,ksuy->ksy", conditionals, matrices), present)


def leakages_of_outputs(outputs: Floats, present: NDArray[np.bool_]) -> Floats:
    """Compute ε* of P(y|s) (K, |S|, |Y|), without secrets that are not ``present`` (K, |S|): (K,)."""
    highest = outputs.max(axis=1)  # an absent secret gives zeros, which do not affect the maximum
    lowest = np.where(present[:, :, None], outputs, np.inf).min(axis=1)
    return _largest_log_ratio(highest, lowest)


def _largest_log_ratio(highest: Floats, lowest: Floats) -> Floats:
    """Return the largest log ratio in each of K arrays, with 0/0 = 1."""
    ratios = np.ones_like(highest)
    np.divide(highest, lowest, out=ratios, where=(highest > 0) & (lowest > 0))
    ratios[(highest > 0) & (lowest == 0)] = np.inf
    return np.asarray(np.log(ratios.reshape(len(ratios), -1).max(axis=1)))


def known_leakage(protocol: Protocol) -> float:
    r"""Compute what an output reveals about the secret to a reader who knows the value.

    .. math:: \kappa^* = \log \max_{y, u, s_1, s_2} P(Y{=}y\,|\,s_1, u) / P(Y{=}y\,|\,s_2, u)

    with 0/0 = 1, whatever the distribution. It adds to what the value itself reveals about the secret. It
    does not bound :func:`leakage`, nor is it bounded by it. With several value columns it refers to a reader
    who knows all of them. See ``docs/theory.md``, 'Readers who know the value'.

    Parameters
    ----------
    protocol : Protocol

    Returns
    -------
    float, at least 0; ∞ where a secret never gives an output that another one can give
        Exactly 0 if and only if the table does not read the secret.

    Examples
    --------
    >>> only_the_ill = Protocol([[[0.5, 0.5]], [[0.0, 1.0]]], secrets=["ill", "well"])
    >>> known_leakage(only_the_ill)
    inf
    """
    require_protocol(protocol)
    if isinstance(protocol, Chain):
        return chains.known_leakage([stage.table for stage in protocol.stages])
    return float(known_leakages(protocol.matrix[None])[0])


def known_leakages(matrices: Floats) -> Floats:
    """Compute :func:`known_leakage` of K tables (K, |S|, |U|, |Y|): (K,)."""
    return _largest_log_ratio(matrices.max(axis=1), matrices.min(axis=1))


def distortion(protocol: Protocol, distribution: ArrayLike, distortion: Distortion | None = None) -> float:
    """Compute the paper's D*: the expected distortion E d(U, Y) under a known distribution.

    See ``docs/theory.md``, 'Model'.

    Parameters
    ----------
    protocol : Protocol
    distribution : array_like (|S|, |U|)
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array, optional
        By default the one that the protocol was designed for, or "squared" if that is unknown.
    """
    p = _checked_distribution(protocol, distribution)
    if isinstance(protocol, Chain) and distortion is None and protocol.guarantee is not None:
        return protocol.expected_distortion(p)
    return float(distortions(protocol.matrix[None], p[None], _measure(protocol, distortion))[0])


def _measure(protocol: Protocol, distortion: Distortion | None) -> Floats:
    """Return d(u, y): the given distortion, the guarantee's, or squared."""
    if distortion is None:
        distortion = "squared" if protocol.guarantee is None else protocol.guarantee.distortion
    return distortion_matrix(distortion, protocol.values, protocol.outputs)


def distortions(matrices: Floats, distributions: Floats, d: Floats) -> Floats:
    """Compute :func:`distortion` of K protocols, each under its own distribution.

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
        Bounds on the supremum of ε* over the set.
    output : label
        The output that leaks most.
    secrets : (label, label)
        The pair of secrets that it distinguishes best.
    distribution : array (|S|, |U|)
        A member of the set under which ε* equals ``lower``: what an attacker would have to know.
    """

    lower: float
    upper: float
    output: Label
    secrets: tuple[Label, Label]
    distribution: Floats


def worst_case_leakage(protocol: Protocol, sample: Sample, uncertainty: PrivacySet) -> tuple[float, float]:
    """Bound the supremum of ε* over the set around a sample, from below and above.

    The lower bound is attained by a distribution in the set (see :func:`worst_case`). The upper bound is
    proved by the closed form of the support function; see ``docs/theory.md``, 'Leakage'.
    """
    worst = worst_case(protocol, sample, uncertainty)
    return worst.lower, worst.upper


def worst_case(protocol: Protocol, sample: Sample, uncertainty: PrivacySet) -> WorstCase:
    """Find the worst leakage over the set around a sample, and a distribution that shows it.

    See ``docs/theory.md``, 'Leakage'.

    Parameters
    ----------
    protocol : Protocol
    sample : Sample
        With the protocol's shape (|S|, |U|).
    uncertainty : UncertaintySet or its name
        :class:`rldp.Credible` stands for the set with the radius found by the design.

    Returns
    -------
    WorstCase

    Raises
    ------
    NotEnoughMemory
        If the computation would take more memory than is available.
    """
    _require_sample(protocol, sample)
    within = checked_set("uncertainty", uncertainty)
    _require_memory(protocol)
    with within_memory("the worst leakage over a set", _ADVICE):
        return _worst_over(protocol, sample, within)


def worst_case_distortion(
    protocol: Protocol,
    sample: Sample,
    uncertainty: PrivacySet,
    distortion: Distortion | None = None,
) -> tuple[float, float]:
    r"""Bound the supremum of D* over the set around a sample, from below and above.

    .. math:: \sup_{P\in F} \sum_{s,u,y} P_{su}\,Q[s,u,y]\,d(u,y)

    The lower bound is attained by a distribution in the set, the upper bound is proved by the closed form of
    the support function. Both are rounded to the safe side; see ``docs/theory.md``, 'Two bounds'.

    Parameters
    ----------
    protocol : Protocol
        Designed with rldp or made by hand.
    sample : Sample
        With the protocol's shape (|S|, |U|).
    uncertainty : UncertaintySet or its name
        Any set but :class:`rldp.Pairs`, which does not restrict how frequent secrets are.
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array, optional
        As in :func:`rldp.distortion`.

    Examples
    --------
    >>> import rldp
    >>> sample = rldp.Sample([[30, 10], [5, 25]])
    >>> coin = Protocol(np.full((2, 2, 2), 0.5))
    >>> lower, upper = worst_case_distortion(coin, sample, rldp.ChiSquare())
    >>> round(lower, 9), round(upper, 9)
    (0.5, 0.5)
    """
    _require_sample(protocol, sample)
    within = checked_set("uncertainty", uncertainty)
    if isinstance(within, Pairs):
        raise InvalidArgument(
            "uncertainty must be a set of joint distributions, such as rldp.ChiSquare(), got rldp.Pairs, "
            "which does not restrict how frequent secrets are"
        )
    d = _measure(protocol, distortion)
    costs = (protocol.matrix * d).sum(axis=2)
    rounding = 2.0**-50 * (costs.size + d.shape[1] + 4)
    if isinstance(within, AllDistributions):
        return float(costs.max()) * (1 - rounding), float(costs.max()) * (1 + rounding)
    sample, proved = within.around(sample), within.proved_set if isinstance(within, Credible) else within
    if not isinstance(proved, Nominal):
        require_exact(sample)
    problem = DesignProblem.of(sample.counts[None], np.zeros(1), d, Nominal(), proved)
    upper = float(bounds.objective(problem, protocol.matrix[None])[0][0])
    member = bounds.worst_distribution(problem, costs[None])[0]
    if isinstance(proved, PowerDivergence):
        radius = float(proved.size(sample.n, costs.size))
        member = pulled_inside(proved.lambda_, radius, sample.distribution, member)
    lower = float((member * costs).sum()) * (1 - rounding)
    return min(lower, upper), upper


def _worst_over(protocol: Protocol, sample: Sample, uncertainty: UncertaintySet) -> WorstCase:
    if not isinstance(uncertainty, Pairs | AllDistributions):
        sample = uncertainty.around(sample)
    if not isinstance(uncertainty, Nominal | AllDistributions):
        require_exact(sample)
    proved = uncertainty.proved_set if isinstance(uncertainty, Credible) else uncertainty
    if len(protocol.secrets) == 1 or isinstance(proved, Nominal):
        return _nominal_case(protocol, sample)
    if isinstance(proved, AllDistributions):
        return _case_of_everything(protocol)
    problem = DesignProblem.of(
        sample.counts[None], np.zeros(1), np.zeros(protocol.matrix.shape[1:]), proved, Nominal()
    )
    if problem.privacy is None:
        return _nominal_case(protocol, sample)
    ratio = over_set(problem, protocol.matrix)
    joint, moved = _in_set(problem, proved, sample, ratio)
    attained = leakage(protocol, joint)
    lower = _rounded_down(attained) if moved else attained
    upper = proved_ratio(problem, protocol.matrix, ratio.ratio)
    return _worst_case(protocol, ratio, lower, upper, joint)


def _in_set(
    problem: DesignProblem, uncertainty: PowerDivergence | Pairs, sample: Sample, ratio: WorstRatio
) -> tuple[Floats, bool]:
    """Return a member of the set with the given conditionals, or close to them, and whether it was moved.

    Conditionals of a larger set that replaces one too small for floats need not be members. Those of a pair
    need not lie in the sets of other pairs.
    """
    assert problem.privacy is not None
    if isinstance(uncertainty, Pairs):
        return joined_pairs(uncertainty, sample.counts, ratio.pair, ratio.members)
    joint = joined(problem, ratio.pair, ratio.members)
    if not problem.privacy.enlarged:
        return joint, False
    radius = float(uncertainty.size(sample.n, joint.size))
    return pulled_inside(problem.privacy.lambda_, radius, sample.distribution, joint), True


def _case_of_everything(protocol: Protocol) -> WorstCase:
    ratio = over_everything(protocol.matrix)
    joint = np.full(protocol.matrix.shape[:2], 1 / protocol.matrix.shape[1])
    joint[list(ratio.pair)] = ratio.members
    joint /= len(protocol.secrets)
    lower = _rounded_down(leakage(protocol, joint))
    return _worst_case(protocol, ratio, lower, ratio.ratio, joint)


def _worst_case(
    protocol: Protocol, ratio: WorstRatio, lower: float, proved: float, joint: Floats
) -> WorstCase:
    """Return the case of a ratio, of which none in the set is more than ``proved``."""
    s1, s2 = ratio.pair
    secrets = protocol.secrets[s1], protocol.secrets[s2]
    upper = math.log(proved) * (1 + 1e-15) + 1e-15
    return WorstCase(lower, max(lower, upper), protocol.outputs[ratio.output], secrets, joint)


def _require_memory(protocol: Protocol) -> None:
    """Refuse alphabets whose pairs of secrets would not fit in memory."""
    secrets, values, outputs = protocol.matrix.shape
    needed = _COPIES * 8 * outputs * secrets * (secrets - 1) * values
    shape = f"{secrets} secrets × {values} values × {outputs} outputs"
    require_bytes(f"the worst leakage over a set of {shape}", needed, _ADVICE)


def _require_sample(protocol: Protocol, sample: Sample) -> None:
    """Refuse anything but a sample of the protocol's shape."""
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    _checked_distribution(protocol, sample.distribution)


def _checked_distribution(protocol: Protocol, distribution: ArrayLike) -> Floats:
    require_protocol(protocol)
    shape = len(protocol.secrets), len(protocol.values)
    return distribution_table(_flat(protocol, distribution), shape)


def _flat(protocol: Protocol, distribution: ArrayLike) -> ArrayLike:
    """Flatten the axes of given and value columns to one of whole rows."""
    reading = protocol.reading
    if reading is None:
        return distribution
    given, value = ([len(column.labels) for column in part] for part in (reading.given, reading.value))
    secrets, shape = len(protocol.secrets), np.shape(distribution)
    apart = shape in ((secrets, *given, *value), (secrets, *given, math.prod(value)))
    return np.reshape(distribution, (secrets, -1)) if apart else distribution


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
    """Subtract what rounding may have added to a leakage."""
    return max(0.0, value - 1e-14 * max(1.0, value)) if math.isfinite(value) else value
