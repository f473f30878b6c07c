r"""The posterior distribution of ε* and D* of a protocol, given a sample and a prior.

See ``docs/theory.md``, 'Credible privacy'.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import level_number, number_array, seed_number, share_number, whole_number
from rldp._common.process import require_bytes, within_memory
from rldp.distortions import Distortion, distortion_matrix
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol, require_labels
from rldp.sample import Sample
from rldp.sets import Prior, checked_prior, prior_words
from rldp.theory.binomial import lower_probability, upper_probability
from rldp.theory.dirichlet import conditional_blocks, mass_blocks
from rldp.theory.posterior import (
    always_infinite,
    distortions,
    exceedances,
    keeps_levels,
    largest_ratios,
    leakages,
    log_ratio_rounding,
)

__all__ = ["Posterior", "posterior"]

_ERROR = 1e-6  # probability that a bound is wrong
_MOST_DRAWS = 10**8


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Draws of ε* and D* from their posterior distribution.

    Attributes
    ----------
    leakage : array (draws,)
        ε* under each draw; ∞ if an output of one secret is impossible for another, or its probability too
        small for floats.
    distortion : array (draws,)
        D* under each draw.
    prior : "adaptive" or float
    seed : int
        The seed with which :func:`rldp.posterior` repeats the draws.
    """

    leakage: NDArray[np.float64]
    distortion: NDArray[np.float64]
    prior: Prior
    seed: int
    _matrix: NDArray[np.float64]
    _sample: Sample

    @property
    def draws(self) -> int:
        """Number of draws."""
        return len(self.leakage)

    def risk(self, epsilon: ArrayLike) -> tuple[float, float]:
        """Bound the posterior probability Pr(ε* > epsilon | sample) of not being private.

        With levels of ordered pairs of secrets, bound the probability that some pair exceeds its own.

        Each bound is wrong with probability at most 1e-6 over the draws, for an ``epsilon`` that was not
        chosen by looking at them. See ``docs/theory.md``, 'Monte Carlo'.

        Parameters
        ----------
        epsilon : float, or array (|S|, |S|)
            Non-negative; may be infinite. The diagonal of an array is ignored.

        Returns
        -------
        lower, upper : float
        """
        if np.ndim(epsilon):
            return self._risk_of_pairs(_levels(epsilon, len(self._matrix)))
        level = level_number("epsilon", epsilon)
        if self._private_anyway(level):
            return 0.0, 0.0
        rounding = log_ratio_rounding(self._values, level)
        above = (self.leakage > level + rounding) & (np.isfinite(self.leakage) | self._always_infinite)
        certain = int(above.sum())  # excludes draws that are infinite only for lack of digits
        possible = int((self.leakage >= level - rounding).sum())
        return self._bounds(certain, possible)

    def _risk_of_pairs(self, levels: NDArray[np.float64]) -> tuple[float, float]:
        """Repeat the draws, and compare each pair of secrets with its own level."""
        certain = possible = 0
        if keeps_levels(self._matrix, levels):
            return 0.0, 0.0
        counts, noise = self._sample.observed, self._sample.count_noise
        draws, seed = self.draws, self.seed
        for block in conditional_blocks(counts, prior=self.prior, draws=draws, seed=seed, noise=noise):
            exceeded = exceedances(self._matrix, levels, block)
            certain, possible = certain + exceeded[0], possible + exceeded[1]
        return self._bounds(certain, possible)

    def _bounds(self, certain: int, possible: int) -> tuple[float, float]:
        """Bound a probability from draws that certainly have a property, and that may have it."""
        lower = lower_probability(certain, self.draws, _ERROR)
        return float(lower), float(upper_probability(possible, self.draws, _ERROR))

    def epsilon(self, alpha: float = 0.05) -> float:
        """Return a level that ε* stays below with posterior probability 1 − alpha, rounded up.

        It is the smallest ε whose :meth:`risk` is certainly at most ``alpha``; like the risk, it is wrong
        with probability at most 1e-6. Infinite if there are too few draws to tell.

        Parameters
        ----------
        alpha : float
            Strictly between 0 and 1.
        """
        share = share_number("alpha", alpha)
        low, high = -1, self.draws  # bisection on the number of draws that may exceed the level
        while low + 1 < high:
            middle = (low + high) // 2
            fits = float(upper_probability(middle, self.draws, _ERROR)) <= share
            low, high = (middle, high) if fits else (low, middle)
        quantile = float(np.sort(self.leakage)[::-1][low]) if low >= 0 else np.inf
        return min(self._limit, quantile + 2 * log_ratio_rounding(self._values, quantile))

    @property
    def _values(self) -> int:
        return int(self._matrix.shape[1])

    @cached_property
    def _always_infinite(self) -> bool:
        return always_infinite(self._matrix)

    @cached_property
    def _largest_ratio(self) -> float:
        return float(largest_ratios(self._matrix).max())

    @property
    def _limit(self) -> float:
        """The level that ε* exceeds under no distribution, rounded up."""
        limit = float(np.log(self._largest_ratio))
        return limit + log_ratio_rounding(self._values, limit) if limit > 0 else 0.0

    def _private_anyway(self, epsilon: float) -> bool:
        e = np.exp(min(epsilon, 700.0)) * (1 - 2.0**-50)
        return bool(epsilon == np.inf or self._largest_ratio <= max(1.0, e))

    def __repr__(self) -> str:
        return (
            f"Posterior({self.draws} draws, {prior_words(self.prior)}: ε* {_summary(self.leakage)}; "
            f"D* {_summary(self.distortion)})"
        )


def posterior(
    protocol: Protocol,
    sample: Sample,
    *,
    prior: Prior = "adaptive",
    draws: int = 20_000,
    seed: int | None = None,
    distortion: Distortion | None = None,
) -> Posterior:
    r"""Draw from the posterior distribution of ε* and D* of any protocol.

    The adaptive prior learns from the sample how sparse the table is. With a number a, the prior of P is
    Dirichlet(a, …, a) on the cells (s, u), and the posterior Dirichlet(counts + a). Every draw of P has an ε*
    and a D*. Statements about their distribution refer to the sample at hand and the prior, not to repeated
    samples; see ``docs/theory.md``, 'Credible privacy', for when they also hold for those.

    Parameters
    ----------
    protocol : Protocol
        Designed with rldp or made by hand.
    sample : Sample
        With the protocol's secrets and values.
    prior : "adaptive" or float
        A number must be positive. One half is Jeffreys' prior; larger numbers favour equal probabilities.
    draws : int
    seed : int, optional
        The same seed gives the same draws. By default fresh from the operating system.
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array, optional
        By default that of the guarantee. Without one, "squared" if all values and outputs are numbers, else
        "hamming".

    Returns
    -------
    Posterior

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If the sample's labels are not the protocol's, the prior is not positive and finite, or draws is not a
        whole number from 1 to 10^8.

    Examples
    --------
    >>> flip = Protocol([[[0.6, 0.4], [0.4, 0.6]], [[0.6, 0.4], [0.4, 0.6]]])
    >>> found = posterior(flip, Sample([[30, 10], [15, 45]]), seed=1)
    >>> found.leakage.shape
    (20000,)
    >>> lower, upper = found.risk(0.3)
    >>> 0 < lower < upper < 0.01
    True
    """
    require_labels(protocol, sample)
    a = checked_prior(prior)
    size = whole_number("draws", draws, 1, _MOST_DRAWS)
    key = secrets.randbits(128) if seed is None else seed_number(seed)
    d = distortion_matrix(_measure(protocol, distortion), protocol.values, protocol.outputs)
    with within_memory("drawing from the posterior", "fewer draws need less"):
        leakage, cost = _drawn(protocol.matrix, d, sample, a, size, key)
    return Posterior(leakage, cost, a, key, protocol.matrix, sample)


def _drawn(
    matrix: NDArray[np.float64],
    d: NDArray[np.float64],
    sample: Sample,
    prior: Prior,
    size: int,
    key: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute ε* and D* of every draw (size,), block by block, read-only."""
    require_bytes(f"drawing {size} distributions", 2 * 8 * size, "fewer draws need less")
    leakage, cost = np.empty(size), np.empty(size)
    start = 0
    counts, noise = sample.observed, sample.count_noise
    for conditionals, masses in zip(
        conditional_blocks(counts, prior=prior, draws=size, seed=key, noise=noise),
        mass_blocks(counts, prior=prior, draws=size, seed=key, noise=noise),
        strict=True,
    ):
        block = slice(start, start + masses.shape[-1])
        leakage[block] = leakages(matrix, conditionals)
        cost[block] = distortions(matrix, d, conditionals, masses)
        start = block.stop
    leakage.setflags(write=False)
    cost.setflags(write=False)
    return leakage, cost


def _measure(protocol: Protocol, given: Distortion | None) -> Distortion:
    if given is not None:
        return given
    if protocol.guarantee is not None:
        return protocol.guarantee.distortion
    named = any(isinstance(label, str | tuple) for label in (*protocol.values, *protocol.outputs))
    return "hamming" if named else "squared"


def _levels(epsilon: ArrayLike, secrets: int) -> NDArray[np.float64]:
    levels = number_array("epsilon", "a number or an array of numbers (secrets, secrets)", epsilon)
    if levels.shape != (secrets, secrets):
        raise InvalidArgument(
            f"epsilon must be a number or have shape {(secrets, secrets)}, got shape {levels.shape}"
        )
    np.fill_diagonal(levels, 0.0)
    if not (levels >= 0).all():
        raise InvalidArgument("epsilon must be at least 0 for every pair of secrets, got less or NaN")
    return levels


def _summary(values: NDArray[np.float64]) -> str:
    """Describe median and 95 % quantile, as order statistics since values may be infinite."""
    middle, high = np.quantile(values, [0.5, 0.95], method="inverted_cdf")
    return f"median {middle:.4g}, 95 % at most {high:.4g}"
