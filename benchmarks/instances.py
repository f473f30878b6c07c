"""What every rival is given, and what it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri

import rldp
from rldp.theory.model import DesignProblem

PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")


@dataclass(frozen=True, eq=False)
class Instance:
    """One design problem: squared distortion, outputs as values, Pearson's set where it is robust."""

    problem: str
    counts: np.ndarray
    epsilon: float = 0.5
    alpha: float = 0.05
    gap: float = 1e-6

    @property
    def robust_utility(self) -> bool:
        return self.problem.startswith("RU")

    @property
    def robust_privacy(self) -> bool:
        return self.problem.endswith("RP")

    @property
    def e(self) -> float:
        """e^ε."""
        return math.exp(self.epsilon)

    @cached_property
    def estimate(self) -> np.ndarray:
        """P̂: (|S|, |U|)."""
        return self.counts / self.counts.sum()

    @cached_property
    def radius(self) -> float:
        """B, the radius of Pearson's set."""
        return float(chdtri(self.counts.size - 1, self.alpha)) / self.counts.sum()

    @cached_property
    def distortion(self) -> np.ndarray:
        """d(u, y) = (u − y)²: (|U|, |Y|)."""
        values = np.arange(self.counts.shape[1])
        return np.subtract.outer(values, values) ** 2.0

    @property
    def sets(self) -> dict[str, rldp.UncertaintySet]:
        """The two sets, as keyword arguments of :func:`rldp.design`."""
        robust, nominal = rldp.ChiSquare(self.alpha), rldp.Nominal()
        return {
            "utility": robust if self.robust_utility else nominal,
            "privacy": robust if self.robust_privacy else nominal,
        }

    @cached_property
    def as_problem(self) -> DesignProblem:
        """The same as the library's own bounds read it."""
        return DesignProblem.of(
            self.counts[None],
            np.array([self.epsilon]),
            self.distortion,
            self.sets["privacy"],
            self.sets["utility"],
        )


@dataclass(frozen=True, eq=False)
class Answer:
    """What a rival returns, as it returns it.

    Attributes
    ----------
    matrix : array (|S|, |U|, |Y|)
        Rows, signs and privacy may be off by the rival's tolerance.
    objective : float
        As claimed.
    solver_seconds : float or None
        Spent in the solver proper, without what builds the program, where the two can be told apart.
    bound : float or None
        A lower bound on the objective of every private protocol, where the rival proves one.
    steps : int or None
        Iterations, or rounds of cuts.
    """

    matrix: np.ndarray
    objective: float
    solver_seconds: float | None = None
    bound: float | None = None
    steps: int | None = None


class GaveUp(Exception):
    """A rival that has no answer says so."""
