"""Everything a solver needs to know about a batch of design problems, and nothing about how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldp.sets import UncertaintySet
from rldp.theory.support import Array

__all__ = ["DesignProblem", "Floats", "Witness", "ordered_pairs"]

Floats = NDArray[np.float64]

_SMALLEST_BUDGET = 2e-11  # below, the closed form loses itself in rounding


@lru_cache(maxsize=64)
def ordered_pairs(secrets: int) -> NDArray[np.int64]:
    """All (s1, s2) with s1 ≠ s2 as an array (T, 2): s1 = 0 first, s2 counting up cyclically."""
    first = np.repeat(np.arange(secrets), secrets - 1)
    second = (first + 1 + np.tile(np.arange(secrets - 1), secrets)) % secrets
    pairs = np.stack([first, second], axis=1)
    pairs.flags.writeable = False
    return pairs


@dataclass(frozen=True)
class DesignProblem:
    r"""A batch of K problems of one shape.

    .. math::
        \min_Q \sup_{P\in F_u} \sum P_{su}\,d(u,y)\,Q[s,u,y]\quad\text{s.t.}\quad
        \sum_u P_{u|s_1} Q[s_1,u,y] \le e^\varepsilon \sum_u P_{u|s_2} Q[s_2,u,y]
        \quad\forall P\in F_p, y, s_1, s_2.

    Attributes
    ----------
    counts : int array (K, |S|, |U|)
    epsilon : array (K,), non-negative, may be infinite
    distortion : array (|U|, |Y|), non-negative
    privacy, utility : (λ, budget (K,)) or None
        The sets, as orders and budgets of :class:`rldp.theory.support.NestedMean`; None is the estimate.
    enlarged_privacy, enlarged_utility : bool
        Whether a set was too small for floats and a larger one stands for it. What holds on the
        larger set holds; lower bounds must then rest on the estimate, which is in every set.
    decoupled : bool
        Whether privacy is to be kept by windows, a stronger constraint that is cheaper to handle.
    """

    counts: NDArray[np.int64]
    epsilon: Floats
    distortion: Floats
    privacy: tuple[float, Floats] | None
    utility: tuple[float, Floats] | None
    enlarged_privacy: bool = False
    enlarged_utility: bool = False
    decoupled: bool = False

    @classmethod
    def of(
        cls,
        counts: NDArray[np.int64],
        epsilon: Floats,
        distortion: Floats,
        privacy: UncertaintySet,
        utility: UncertaintySet,
    ) -> DesignProblem:
        (privacy_set, more_privacy), (utility_set, more_utility) = (
            _budget(part, counts) for part in (privacy, utility)
        )
        return cls(counts, epsilon, distortion, privacy_set, utility_set, more_privacy, more_utility)

    @property
    def estimate(self) -> Floats:
        """P̂: (K, |S|, |U|)."""
        return np.asarray(self.counts / self.counts.sum(axis=(1, 2), keepdims=True))

    @property
    def scale(self) -> float:
        """The largest distortion; solvers work with distortions of at most one."""
        return float(self.distortion.max())

    @property
    def scaled_distortion(self) -> Floats:
        return self.distortion / self.scale

    def subset(self, index: NDArray[np.int64]) -> DesignProblem:
        """The problems numbered ``index``."""
        privacy, utility = (
            None if part is None else (part[0], part[1][index]) for part in (self.privacy, self.utility)
        )
        return replace(
            self,
            counts=self.counts[index],
            epsilon=self.epsilon[index],
            privacy=privacy,
            utility=utility,
        )


@dataclass(frozen=True)
class Witness:
    """Multipliers and members that prove a lower bound for K problems.

    Attributes
    ----------
    z : array (K, Y, T), non-negative
    members : array (K, Y, T, 2, U)
        In the projected privacy set of each pair, in the order of :func:`ordered_pairs`.
    distribution : array (K, |S|, |U|)
        In the utility set.
    """

    z: Array
    members: Array
    distribution: Array


def _budget(
    uncertainty: UncertaintySet, counts: NDArray[np.int64]
) -> tuple[tuple[float, Floats] | None, bool]:
    """Order and budgets of a set, and whether it had to be enlarged."""
    radius = uncertainty.size(counts.sum(axis=(1, 2)), counts.shape[1] * counts.shape[2])
    if not radius.any():
        return None, False
    order = uncertainty.order
    budget = radius if order == 0 else np.expm1(np.log1p(radius) / (1 + order))
    return (order, np.maximum(budget, _SMALLEST_BUDGET)), bool((budget < _SMALLEST_BUDGET).any())
