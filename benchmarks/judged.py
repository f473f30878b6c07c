"""What a rival's answer is worth, by the library's bounds, which know no solver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import rldp
from instances import Answer, Instance
from rldp.theory import bounds
from rldp.theory.arrays import on_grid
from rldp.theory.support import minimising_eta

_FINEST = 1e-16
_BISECTIONS = 16  # of the logarithm: the share is known to a thousandth of itself


@dataclass(frozen=True)
class Judgement:
    """Of an answer, its rows clipped at 0 and scaled to sum to one.

    Attributes
    ----------
    leak : float
        ε* − ε, where ε* is the largest leakage over the privacy set; some member of it attains it.
    gap : float
        (objective − bound) / max(1, objective), where the objective is proved of the answer mixed with as
        little uniform output as proves it private, and the bound is proved of every private protocol.
    own_gap : float or None
        The same with the bound that the contender proves itself, if it does.
    """

    leak: float
    gap: float
    own_gap: float | None = None


def judged(instance: Instance, answer: Answer, bound: float) -> Judgement:
    """Measure one answer against a proved lower bound."""
    matrix = np.maximum(answer.matrix, 0.0)
    matrix = on_grid(matrix / matrix.sum(axis=2, keepdims=True))
    sample, privacy = rldp.Sample(instance.counts), instance.sets["privacy"]
    attained, proved = rldp.worst_case_leakage(rldp.Protocol(matrix), sample, privacy)
    leak = (proved if proved <= instance.epsilon else attained) - instance.epsilon
    objective = float(bounds.objective(instance.as_problem, made_private(instance, matrix)[None])[0][0])
    gap, own_gap = (
        None if lower is None else (objective - lower) / max(1.0, objective)
        for lower in (bound, answer.bound)
    )
    return Judgement(leak, gap, own_gap)


def made_private(instance: Instance, matrix: np.ndarray) -> np.ndarray:
    """The answer with the least share of uniform output with which its privacy can be proved."""
    uniform = np.full(matrix.shape, 1 / matrix.shape[2])

    def mixed(share: float) -> np.ndarray:
        return on_grid((1 - share) * matrix + share * uniform)

    if proves_private(instance, matrix):
        return matrix
    low, high = np.log(_FINEST), 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if proves_private(instance, mixed(np.exp(middle))) else (middle, high)
    return mixed(np.exp(high))


def proves_private(instance: Instance, matrix: np.ndarray) -> bool:
    """Whether the closed form proves every constraint of an output that is used."""
    problem, batch = instance.as_problem, matrix[None]
    eta = None
    if problem.privacy is not None:
        eta = minimising_eta(bounds.privacy_mean(problem), bounds.seen_by_pairs(problem, batch))
    excess, _ = bounds.privacy_excess(problem, batch, eta)
    return bool((excess[0, matrix.max(axis=(0, 1)) > 0] <= 0).all())


def proved_bound(instance: Instance) -> float:
    """A lower bound on every private protocol, a hundred times finer than what the instance asks for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.GapWarning)
        sample = rldp.Sample(instance.counts)
        return rldp.design(sample, instance.epsilon, gap=instance.gap / 100, **instance.sets).lower_bound
