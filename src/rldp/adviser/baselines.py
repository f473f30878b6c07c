"""Simple mechanisms as protocols, made without a solver. All but the unchanged column are private.

See ``docs/theory.md``, 'Simple mechanisms'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rldp._common.checks import Label
from rldp.designer.closed_forms import best_constant
from rldp.measures.leakage import distortions
from rldp.protocol import Protocol
from rldp.sample import Sample
from rldp.sets import Nominal, UncertaintySet
from rldp.theory import mechanisms
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.worst_ratios import over_everything

__all__ = ["SIMPLE", "baselines", "is_private_anyway", "relabelled"]

SIMPLE = ("as it is", "constant", "GRR", "SRR", "independent")

_CONSTANT_GAP = 1e-4
_SHARES = np.linspace(0, 1, 9)
"""Shares of ε that independent reporting may spend on the secret."""
_LARGEST = 15.0
"""From this ε on simple mechanisms no longer change: e⁻³⁰ is still some hundred times 2⁻⁵²."""
_SMALLER = (1e-13, 1e-10, 1e-7, 1e-4)
"""Relative reductions of ε, tried until the rounded probabilities are private at ε."""


def baselines(
    sample: Sample, epsilon: float, d: Floats, outputs: Sequence[Label], utility: UncertaintySet
) -> dict[str, Protocol]:
    """Return the simple mechanisms by name; see :data:`SIMPLE`.

    A reported value is replaced by the nearest output. Independent reporting uses both reports: each pair
    becomes the output that estimates the value best, and ε is split between secret and value in the best of
    nine ways.

    Parameters
    ----------
    d : array (|U|, |Y|)
    outputs : sequence of labels
    utility : UncertaintySet
        The set for which the constant is optimal.
    """
    secrets, values = sample.counts.shape
    nearest = np.eye(len(outputs))[d.argmin(axis=1)]  # (U, Y)

    def protocol(matrix: Floats) -> Protocol:
        return Protocol(matrix, sample.secrets, sample.values, outputs, reading=sample.reading)

    def response(level: float) -> Floats:
        return np.repeat((mechanisms.randomised_response(values, level) @ nearest)[None], secrets, axis=0)

    def secret_response(level: float) -> Floats:
        reports = mechanisms.secret_randomised_response(secrets, values, level)
        return np.asarray(reports.sum(axis=2) @ nearest)

    def independent(level: float) -> Floats:
        reports = (
            mechanisms.independent_reporting(secrets, values, share * level, (1 - share) * level)
            for share in _SHARES
        )
        read = [relabelled(each.reshape(secrets, values, -1), sample.distribution, d) for each in reports]
        costs = distortions(np.stack(read), np.stack([sample.distribution] * len(read)), d)
        return read[int(costs.argmin())]

    problem = DesignProblem.of(sample.counts[None], np.zeros(1), d, Nominal(), utility)
    made = (
        protocol(np.repeat(nearest[None], secrets, axis=0)),
        protocol(best_constant(problem, _CONSTANT_GAP)[0][0]),
        *(_private(make, epsilon, protocol) for make in (response, secret_response, independent)),
    )
    return dict(zip(SIMPLE, made, strict=True))


def relabelled(matrix: Floats, distribution: Floats, d: Floats) -> Floats:
    """Replace each report by the best estimate of the value: (|S|, |U|, R) → (|S|, |U|, |Y|).

    The best estimate is the output with the smallest expected distortion given the report.
    """
    costs = np.einsum("su,sur,uy->ry", distribution, matrix, d)
    return np.asarray(matrix @ np.eye(d.shape[1])[costs.argmin(axis=1)])


def is_private_anyway(protocol: Protocol, epsilon: float) -> bool:
    """Return whether the protocol is ε-private for every distribution, allowing for rounding."""
    if len(protocol.secrets) == 1:
        return True
    ratio = over_everything(protocol.matrix).ratio
    return ratio <= 1 or math.log(ratio) * (1 + 1e-15) + 1e-15 <= epsilon


def _private(
    mechanism: Callable[[float], Floats], epsilon: float, protocol: Callable[[Floats], Protocol]
) -> Protocol:
    """Return the mechanism at ε, or slightly below it so that it is private at ε after rounding."""
    for smaller in _SMALLER:
        made = protocol(mechanism(min(epsilon, _LARGEST) * (1 - smaller)))
        if is_private_anyway(made, epsilon):
            break
    return made
