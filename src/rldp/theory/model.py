"""The optimisation problem on arrays, without its solution method.

See ``docs/theory.md``, 'Model'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rldp.errors import InvalidArgument
from rldp.sets import AllDistributions, Credible, Nominal, Pairs, PowerDivergence, UncertaintySet
from rldp.theory.arrays import Array, updated
from rldp.theory.pair_sets import pair_budgets

__all__ = ["Ball", "DesignProblem", "Floats", "Witness"]

Floats = NDArray[np.float64]

_SMALLEST_BUDGET = 2e-11  # below, the closed form is lost in rounding
_LARGEST_BUDGET = 1e250  # from here on, G is smaller than any positive float, however large p is
_SMALLEST_LAMBDA = 1e-6  # below, division by λ loses too many digits


@dataclass(frozen=True)
class Ball:
    """The sets of K problems, as orders and budgets of :class:`rldp.theory.nested_mean.NestedMean`.

    Attributes
    ----------
    lambda_ : float
        λ of the power divergence.
    budget : array (K, 1), or (K, T) with one for each pair of secrets
    enlarged : bool
        Whether a set was too small for floats and was replaced by a larger one. Guarantees on the larger set
        still hold. Lower bounds must then use the estimate, which is in every set.
    everything : bool
        Whether the sets contain every distribution, as if no secret had been seen. The budget is then unused.
    """

    lambda_: float
    budget: Floats
    enlarged: bool = False
    everything: bool = False

    @classmethod
    def of(cls, uncertainty: UncertaintySet, counts: NDArray[np.int64]) -> Ball | None:
        """Return the sets around samples ``counts`` (K, |S|, |U|); None if they are the estimates alone."""
        match uncertainty:
            case Nominal():
                return None
            case AllDistributions():
                return cls(0.0, np.ones((len(counts), 1)), everything=True)
            case Pairs():
                return cls._for_floats(0.0, pair_budgets(uncertainty, counts))
        around = uncertainty.proved_set if isinstance(uncertainty, Credible) else uncertainty
        if around.radius == 0 or counts[0].size == 1:
            return None
        if 0 < around.lambda_ < _SMALLEST_LAMBDA:  # a radius proportional to λ may underflow
            return replace(cls._for_floats(0.0, _kl_radius(around, counts)[:, None]), enlarged=True)
        return cls.of_radius(around.lambda_, around.size(counts.sum(axis=(1, 2)), counts[0].size))

    @classmethod
    def of_radius(cls, lambda_: float, radius: Floats) -> Ball:
        """Return the sets of the given order and radii (K,)."""
        budget = radius if lambda_ == 0 else np.expm1(np.log1p(radius) / (1 + lambda_))
        return cls._for_floats(lambda_, budget[:, None])

    @classmethod
    def _for_floats(cls, lambda_: float, budget: Floats) -> Ball:
        enlarged = bool((budget < _SMALLEST_BUDGET).any())
        return cls(lambda_, np.clip(budget, _SMALLEST_BUDGET, _LARGEST_BUDGET), enlarged)

    def subset(self, index: NDArray[np.int64]) -> Ball:
        """Return the sets numbered ``index``."""
        return replace(self, budget=self.budget[index])


def _kl_radius(uncertainty: PowerDivergence, counts: NDArray[np.int64]) -> Floats:
    r"""Return radii r of sets of λ = 0 that contain those of a small λ > 0: (K,).

    :math:`K_i \ge e^{\lambda\,\mathrm{KL}_i}` and :math:`e^x \ge 1 + x` give
    :math:`\sum P_i\,\mathrm{KL}_i \le \Delta(1+\lambda)/\lambda \le B/\lambda`, the last by Bernoulli's
    inequality.
    """
    lambda_, radius = uncertainty.lambda_, uncertainty.radius
    if radius is None:
        limit = PowerDivergence(0.0, uncertainty.alpha)
        return limit.size(counts.sum(axis=(1, 2)), counts[0].size) * (1 + lambda_)
    largest = radius / lambda_ if radius < lambda_ * _LARGEST_BUDGET else _LARGEST_BUDGET
    return np.full(len(counts), largest * (1 + 1e-15))


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
    epsilon : array (K,), or (K, T) with one for each ordered pair of secrets; non-negative
        A pair with infinite ε is not protected.
    distortion : array (|U|, |Y|), non-negative
    privacy, utility : Ball or None
        The sets; None means the centre alone.
    centre_of_privacy, centre_of_utility : int array (K, |S|, |U|), or None
        Integers proportional to the centres of the sets; None if these are the estimates.
    noise : float, optional
        Level of the noise on the counts. ``noisy_counts`` (K, |S|, |U|) are then the published counts, and
        ``counts`` are the same with negative ones set to 0.
    epsilon_known : float
        κ: requires Q[s1,u,y] ≤ e^κ Q[s2,u,y] for all u, y, s1, s2; ∞ means no constraint.
    """

    counts: NDArray[np.int64]
    epsilon: Floats
    distortion: Floats
    privacy: Ball | None
    utility: Ball | None
    centre_of_privacy: NDArray[np.int64] | None = None
    centre_of_utility: NDArray[np.int64] | None = None
    noise: float | None = None
    noisy_counts: NDArray[np.int64] | None = None
    epsilon_known: float = math.inf

    @classmethod
    def of(
        cls,
        counts: NDArray[np.int64],
        epsilon: Floats,
        distortion: Floats,
        privacy: UncertaintySet,
        utility: UncertaintySet,
    ) -> DesignProblem:
        """Return the problems for samples ``counts`` and their sets."""
        balls = Ball.of(privacy, counts), Ball.of(utility, counts)
        return cls(counts, epsilon, distortion, *balls, _centres(privacy, counts), _centres(utility, counts))

    @property
    def published(self) -> NDArray[np.int64]:
        """The counts on which the posterior is conditioned: (K, |S|, |U|)."""
        return self.counts if self.noisy_counts is None else self.noisy_counts

    @cached_property
    def estimate(self) -> Floats:
        """P̂: (K, |S|, |U|)."""
        return _distribution(self.counts)

    @property
    def private_counts(self) -> NDArray[np.int64]:
        """Integers proportional to the centre of the privacy set: (K, |S|, |U|)."""
        return self.counts if self.centre_of_privacy is None else self.centre_of_privacy

    @property
    def private_centre(self) -> Floats:
        """The centre of the privacy set (K, |S|, |U|): zeros if it contains every distribution."""
        ignored = self.privacy is not None and self.privacy.everything
        return np.zeros(self.counts.shape) if ignored else _distribution(self.private_counts)

    @property
    def useful_centre(self) -> Floats:
        """The centre of the utility set: (K, |S|, |U|)."""
        return self.estimate if self.centre_of_utility is None else _distribution(self.centre_of_utility)

    @property
    def pair_epsilon(self) -> Floats:
        """ε of the ordered pairs of secrets: (K, T), or (K, 1) if all are equal."""
        return self.epsilon.reshape(len(self.counts), -1)

    @property
    def least_epsilon(self) -> Floats:
        """The smallest ε of any pair: (K,)."""
        return np.asarray(self.pair_epsilon.min(axis=1))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of secrets, values and outputs."""
        _, secrets, values = self.counts.shape
        return secrets, values, self.distortion.shape[1]

    @cached_property
    def scale(self) -> float:
        """The largest distortion; solvers work with distortions of at most one."""
        return float(self.distortion.max())

    @property
    def scaled_distortion(self) -> Floats:
        return self.distortion / self.scale

    def subset(self, index: NDArray[np.int64]) -> DesignProblem:
        """Return the problems numbered ``index``."""
        privacy, utility = (
            None if ball is None else ball.subset(index) for ball in (self.privacy, self.utility)
        )
        private, useful, noisy = (
            None if table is None else table[index]
            for table in (self.centre_of_privacy, self.centre_of_utility, self.noisy_counts)
        )
        return updated(
            self,
            counts=self.counts[index],
            epsilon=self.epsilon[index],
            privacy=privacy,
            utility=utility,
            centre_of_privacy=private,
            centre_of_utility=useful,
            noisy_counts=noisy,
        )


def _centres(uncertainty: UncertaintySet, counts: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the centre of a promise's set for each sample; None if it is the estimate."""
    if isinstance(uncertainty, Pairs | AllDistributions) or uncertainty.centre is None:
        return None
    centre = np.array(uncertainty.centre, dtype=np.int64)
    if centre.shape != counts.shape[1:]:
        raise InvalidArgument(
            f"centre must have the shape {counts.shape[1:]} of the counts, got {centre.shape}"
        )
    return np.broadcast_to(centre, counts.shape)


def _distribution(counts: NDArray[np.int64]) -> Floats:
    return np.asarray(counts / counts.sum(axis=(1, 2), keepdims=True))


@dataclass(frozen=True)
class Witness:
    """Multipliers and members that prove a lower bound for K problems.

    Attributes
    ----------
    z : array (K, Y, T), non-negative
    members : array (K, Y, T, 2, U)
        Members of the projected privacy set of each pair, in the order of
        :func:`rldp.theory.arrays.ordered_pairs`.
    distribution : array (K, |S|, |U|)
        A member of the utility set; if all secrets share a row, its marginal (K, 1, |U|).
    known : array (K, Y, |S|, |U|), or None
        Prices γ for readers who know the value; see ``docs/theory.md``, 'A lower bound with prices'.
    """

    z: Array
    members: Array
    distribution: Array
    known: Array | None = None
