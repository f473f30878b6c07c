r"""Audit a protocol on new data: leakage, distortion, and whether its promise still applies.

See ``docs/audit.md``, 'New data'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rldp._common.checks import seed_or_fresh, share_number
from rldp.chain import ChainGuarantee
from rldp.distortions import Distortion
from rldp.measures import leakage as measures
from rldp.measures.leakage import WorstCase
from rldp.protocol import Guarantee, Protocol, require_labels
from rldp.sample import Sample, require_exact
from rldp.sets import AllDistributions, Credible, Pairs, UncertaintySet
from rldp.theory.dirichlet import conditionals
from rldp.theory.pair_sets import radii_values, spent_by_pairs

__all__ = ["Audit", "Membership", "audit", "homogeneity", "membership", "predicted"]

_ROUNDING = 1e-12  # ε* and D* are sums of floats, while the proved bounds are exact
_SMALLEST_EXPECTED = 5.0  # below this expected count the χ² distribution is not trusted
_SHUFFLES = 1999
_PREDICTED = 1999
_MOST_SHUFFLED = 10**9  # limit of NumPy's multivariate hypergeometric draws


@dataclass(frozen=True)
class Membership:
    """The position of new data relative to the set of a promise.

    Attributes
    ----------
    divergence : float
        Divergence of the new distribution from the estimate the protocol was designed on; ∞ if a cell of that
        estimate does not occur in the new data. For :class:`rldp.Pairs`, that of the pair of secrets closest
        to its radius, leaving out secrets that do not occur in the new data.
    radius : float
        The radius of the set; ∞ if it holds every distribution.
    inside : bool
    """

    divergence: float
    radius: float
    inside: bool


@dataclass(frozen=True, eq=False)
class Audit:
    """The audit of a protocol on new data. Fields about the promise are None without a guarantee.

    A chain promises a posterior probability and has no sets: ``privacy``, ``utility`` and ``worst`` are None.

    Attributes
    ----------
    sample : Sample
        The new data.
    leakage : float
        ε*: the privacy level under the distribution of the new data; to readers who know the kept columns if
        the promise is to them.
    distortion : float or None
        D*: the expected distortion under that distribution; None if no distortion is known.
    epsilon, objective : float or None
        The promised values of both, over the sets.
    privacy, utility : Membership or None
        The position of the new distribution relative to the set of each promise.
    p_value : float or None
        The probability that two samples of these sizes from one distribution differ as much.
    alpha : float
        A difference with a ``p_value`` below this is not attributed to chance.
    promise : str or None
        The promised ε and the distributions it holds for, in words.
    design : Sample or None
        The sample that the protocol was designed on.
    worst : WorstCase or None
        The worst distribution in the privacy set.
    seed : int
        The seed of the simulation behind ``p_value``; ``audit(…, seed=…)`` repeats the result.
    excess : float or None
        The largest amount by which ε* of a pair of secrets exceeds the pair's own level; None if all pairs
        share one level. ``epsilon`` is then the largest level.
    least_level : float
        The smallest level of any pair of secrets.
    """

    sample: Sample
    leakage: float
    distortion: float | None
    epsilon: float | None
    objective: float | None
    privacy: Membership | None
    utility: Membership | None
    p_value: float | None
    alpha: float
    promise: str | None
    design: Sample | None
    worst: WorstCase | None
    seed: int
    excess: float | None = None
    least_level: float = math.inf

    @property
    def private(self) -> bool | None:
        """Whether the new data leak no more than was promised."""
        if self.excess is not None:
            return self.excess <= _ROUNDING
        return None if self.epsilon is None else self.leakage <= self.epsilon + _ROUNDING

    @property
    def useful(self) -> bool | None:
        """Whether the expected distortion is no more than was promised."""
        if self.objective is None or self.distortion is None:
            return None
        return self.distortion <= self.objective * (1 + _ROUNDING)

    @property
    def sound(self) -> bool | None:
        """Whether the protocol keeps its promise over the set it was designed for."""
        if self.epsilon is None or self.worst is None:
            return None
        if self.excess is not None and self.worst.upper > self.least_level + _ROUNDING:
            return None  # the worst case is about all pairs together
        return self.worst.upper <= self.epsilon + _ROUNDING

    @property
    def drifted(self) -> bool | None:
        """Whether the new data lie outside a set, or differ from the sample of a chain, and not by chance."""
        if self.p_value is None:
            return None
        return not (self._sets and all(place.inside for _, place in self._sets)) and self.p_value < self.alpha

    @property
    def _sets(self) -> list[tuple[str, Membership]]:
        """The positions relative to the set of each promise, by name; none for a chain, which has no sets."""
        named = [("privacy", self.privacy), ("utility", self.utility)]
        return [(name, place) for name, place in named if place is not None]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        return (*self._about_drift(), *self._about_promises(), *self._about_gaps())

    def __str__(self) -> str:
        return "\n".join([f"New data, {self.sample.n} rows:", *(f"  - {each}" for each in self.sentences)])

    def _about_drift(self) -> Iterator[str]:
        if self.p_value is None:
            yield (
                "The protocol carries no guarantee: it does not say which ε it promises, nor for which "
                "distributions, so drift cannot be judged."
            )
            return
        probability = f"{self.p_value:.2g}" if self.p_value >= 1e-9 else "below 1e-9"
        chance = f"two samples of one distribution differ as much with probability {probability}"
        if not self._sets:
            yield (
                f"Drift: the new data differ from the sample, and chance does not explain it ({chance})."
                if self.drifted
                else f"No drift is shown: chance explains how the new data differ from the sample ({chance})."
            )
            return
        outside = [name for name, place in self._sets if not place.inside]
        if not outside:
            yield f"No drift: the new data lie in the sets the protocol was designed for ({chance})."
            if self.p_value < self.alpha:
                yield "They differ from the data of the design, but the promises cover that."
            return
        where = "set" if len(outside) == 1 else "sets"
        place = f"the new data lie outside the {where} for {' and '.join(outside)}"
        if self.drifted:
            yield f"Drift: {place}, and chance does not explain it ({chance})."
        else:
            yield f"No drift is shown: {place}, but chance explains it ({chance}); more rows would tell."

    def _about_promises(self) -> Iterator[str]:
        if self.promise is not None:
            yield f"Promised: {self.promise}."
        if self.sound is False:
            yield "The protocol breaks its own promise: ε* exceeds ε within the set it was designed for."
        if self.private is not None:
            relation = "no more" if self.private else "more"
            yield f"Privacy: ε* is {relation} than the promised ε on the new data."
        if self.useful is not None:
            relation = "no more" if self.useful else "more"
            yield f"Utility: D* is {relation} than the promised distortion on the new data."

    def _about_gaps(self) -> Iterator[str]:
        unseen = int((self.sample.counts.sum(axis=1) == 0).sum())
        if unseen:
            which, them = ("1 secret does", "it") if unseen == 1 else (f"{unseen} secrets do", "them")
            yield f"{which} not occur in the new data; ε* says nothing about {them}."
        if self.distortion is None:
            yield "D* is not known: name a distortion."


def audit(
    protocol: Protocol,
    sample: Sample,
    *,
    distortion: Distortion | None = None,
    alpha: float = 0.01,
    seed: int | None = None,
) -> Audit:
    r"""Audit a protocol on new data.

    Reports ε* and D* under the distribution of the new data; its divergence from the estimate the protocol
    was designed on, compared with the radius of the privacy and the utility set; the probability that chance
    alone makes two samples differ as much (a test of homogeneity); and the worst distribution in the privacy
    set. Inside both sets the promises hold on the new data, whatever that probability. A chain has no
    sets: ε*, D* and that probability are reported.

    Assumption: the new rows are drawn independently from one distribution. See ``docs/audit.md``, 'New data'.

    Parameters
    ----------
    protocol : Protocol
        Without a guarantee the audit is partial, since there is nothing to compare with.
    sample : Sample
        New data with the protocol's labels and bins: ``protocol.count(data)``.
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array, optional
        By default that of the guarantee. D* under another distortion is not compared with a promise.
    alpha : float
        Between 0 and 1: differences less probable than this are called drift.
    seed : int, optional
        Seed of the random divisions of the rows that the test of homogeneity uses for small counts; by
        default fresh from the operating system. The result records it, and passing it repeats the result.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from rldp import Sample, design
    >>> protocol = design(Sample([[52, 31, 17], [14, 38, 48]]), 0.5).protocol
    >>> audit(protocol, Sample([[490, 330, 180], [150, 370, 480]])).drifted
    False
    >>> audit(protocol, Sample([[100, 0, 900], [900, 0, 100]])).drifted
    True
    """
    require_labels(protocol, sample)
    require_exact(sample)
    promise = protocol.guarantee
    is_measured = distortion is not None or promise is not None
    set_promise = None if isinstance(promise, ChainGuarantee) else promise
    observed = sample.distribution
    drawn = seed_or_fresh(seed)
    return Audit(
        sample=sample,
        leakage=measures.promised_leakage(protocol, observed),
        distortion=measures.distortion(protocol, observed, distortion) if is_measured else None,
        epsilon=None if promise is None else promise.epsilon,
        objective=None if promise is None or distortion is not None else promise.objective,
        privacy=None if set_promise is None else membership(set_promise, set_promise.privacy, sample),
        utility=None if set_promise is None else membership(set_promise, set_promise.utility, sample),
        p_value=_chance(promise, sample, drawn),
        alpha=share_number("alpha", alpha),
        promise=None if promise is None else promise.promise,
        design=None if promise is None else promise.sample,
        worst=None
        if set_promise is None
        else measures.worst_case(protocol, set_promise.sample, set_promise.privacy),
        seed=drawn,
        excess=_excess(protocol, observed),
        least_level=getattr(promise, "least_level", math.inf),
    )


def _excess(protocol: Protocol, distribution: NDArray[np.float64]) -> float | None:
    """Return the largest excess of a pair of secrets over its own level, or None if all share one level."""
    claim = protocol.guarantee
    if not isinstance(claim, Guarantee) or claim.levels is None:
        return None
    protected = np.isfinite(claim.levels) & ~np.eye(len(claim.levels), dtype=bool)
    pairs = measures.pair_leakage(protocol, distribution)
    return float((pairs[protected] - claim.levels[protected]).max(initial=-math.inf))


def _chance(promise: Guarantee | None, sample: Sample, seed: int) -> float | None:
    """Return the probability that samples of one population differ as much; None without a promise."""
    if promise is None:
        return None
    if promise.sample.noise is not None:
        return predicted(promise.sample, sample.counts, promise.privacy, seed=seed)
    return homogeneity(promise.sample.counts, sample.counts, seed=seed)


def predicted(
    sample: Sample, counts: NDArray[np.int64], privacy: UncertaintySet, *, seed: int | None = None
) -> float:
    r"""Return the p-value of new rows and noisy counts having one distribution given the secret.

    The hypothesis includes the noise: 1999 distributions are drawn from the posterior given the noisy counts,
    and as many new rows of each secret from each of them. The statistic is the sum over the cells of
    :math:`(N_{su}-\bar N_{su})^2/v_{su}`, with mean and variance over these tables and the new rows' own.
    Given the noisy counts, and averaged over the posterior, a p-value of at most p has probability at most p.

    Parameters
    ----------
    sample : Sample
        With noise.
    counts : int array (|S|, |U|)
        Counts of the new rows.
    privacy : UncertaintySet
        If credible, its prior is used.
    seed : int, optional
        Seed of the draws; by default fresh.
    """
    assert sample.noisy_counts is not None
    generator = np.random.default_rng(seed)
    drawn = conditionals(
        sample.noisy_counts,
        prior=privacy.prior if isinstance(privacy, Credible) else "adaptive",
        draws=_PREDICTED,
        seed=int(generator.integers(2**63)),
        noise=sample.count_noise,
    )
    rows = counts.sum(axis=1)
    laws = [np.moveaxis(law, -1, 0) for law in drawn]
    new = np.stack([generator.multinomial(n, p) for n, p in zip(rows, laws, strict=True)], axis=1)
    tables = np.concatenate([counts[None], new]).astype(np.float64)
    variance = np.maximum(tables.var(axis=0), 1e-300)
    statistic = ((tables - tables.mean(axis=0)) ** 2 / variance).sum(axis=(1, 2))
    return float((statistic >= statistic[0] * (1 - 1e-9)).mean())


def membership(promise: Guarantee, uncertainty: UncertaintySet, sample: Sample) -> Membership:
    """Locate new data relative to a set around the sample of a promise."""
    estimate, observed = promise.sample, sample.distribution
    match uncertainty:
        case AllDistributions():
            return Membership(divergence=0.0, radius=math.inf, inside=True)
        case Pairs():
            return _membership_of_pairs(uncertainty, estimate, observed)
    return Membership(
        divergence=max(0.0, uncertainty.divergence(uncertainty.around(estimate).distribution, observed)),
        radius=float(uncertainty.size(estimate.n, observed.size)),
        inside=uncertainty.contains(estimate, observed),
    )


def _membership_of_pairs(pairs: Pairs, estimate: Sample, observed: NDArray[np.float64]) -> Membership:
    """Locate new data relative to the pair's set that comes closest to excluding them, in units of n·KL."""
    radii = radii_values(pairs, estimate.counts[None])[0]
    spent = spent_by_pairs(estimate.counts, observed)
    if len(radii) == 0:
        return Membership(divergence=0.0, radius=math.inf, inside=True)
    with np.errstate(divide="ignore"):
        worst = int(np.argmax(np.where(spent > 0, spent / radii, 0.0)))
    return Membership(float(spent[worst]), float(radii[worst]), bool((spent <= radii).all()))


def homogeneity(first: NDArray[np.int64], second: NDArray[np.int64], *, seed: int | None = None) -> float:
    r"""Return the p-value of two tables of counts being samples of one distribution.

    Pearson's statistic with :math:`a, b` the counts and :math:`m, n` their sums,

    .. math:: X = \sum (a\sqrt{n/m} - b\sqrt{m/n})^2 / (a + b),

    has asymptotically a χ² distribution with one degree of freedom less than there are cells seen. If some
    expected count is below five, X is compared instead with 1999 random divisions of the pooled draws: the
    probability of a p-value of at most p is then at most p for every distribution, over the rows and these
    divisions.

    Examples
    --------
    >>> homogeneity(np.array([50, 50]), np.array([500, 500]))
    1.0
    """
    a, b = np.ravel(first), np.ravel(second)
    seen = a + b > 0
    a, b = a[seen], b[seen]
    m, n = int(a.sum()), int(b.sum())
    if len(a) == 1:
        return 1.0
    statistic = _pearson(b, a + b, m, n)
    if (a + b).min() * min(m, n) / (m + n) >= _SMALLEST_EXPECTED or m + n >= _MOST_SHUFFLED:
        return float(chdtrc(len(a) - 1, statistic))
    urn = np.random.default_rng(seed_or_fresh(seed))
    shuffled = urn.multivariate_hypergeometric(a + b, n, size=_SHUFFLES, method="marginals")
    as_far = _pearson(shuffled, a + b, m, n) >= statistic * (1 - 1e-9)
    return float((1 + as_far.sum()) / (1 + _SHUFFLES))


def _pearson(b: NDArray[np.int64], pooled: NDArray[np.int64], m: int, n: int) -> NDArray[np.float64]:
    """Compute X from the pooled counts: Σ (b − expected)² / expected · (m + n) / m."""
    expected = pooled * (n / (m + n))
    return np.asarray(((b - expected) ** 2 / expected).sum(axis=-1) * ((m + n) / m))
