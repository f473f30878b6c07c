r"""Check what a promise says besides its sets: the probability of a failure, or of sets that miss the truth.

A credible promise is tested with draws from the posterior; the radii of pairs of secrets are proved again. A
check returns None if the claim is confirmed or proved, and a sentence if not.

Of a radius x the claim is :math:`\Pr(n_1 KL(\hat P_1\|P_1)+n_2 KL(\hat P_2\|P_2)\ge x)\le\alpha` for all
distributions :math:`P_1, P_2` on k values. It may rest on theorem A1, a closed form that is evaluated in
balls, or on theorem A2, a recursion that is computed in floats, each bound rounded to the safe side
(:mod:`rldp.judge.recursion`). Both are written from ``docs/theory.md``, 'Radii for every n', and share no
line with what chose the radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np
from flint import arb

from rldp._common.checks import shown
from rldp.judge.posterior import Trial, privacy_trial, utility_trial
from rldp.judge.recursion import every_size, recursion_proof, similar_sizes
from rldp.judge.regions import golden, pair_number, precision
from rldp.protocol_file.format import Claim, CredibleClaim, Document, PairsClaim

__all__ = [
    "Radii",
    "pair_level",
    "privacy_risk",
    "radii_failure",
    "utility_risk",
]

_BITS = 128
_MOST_TERMS = 2**17
_SEARCH_TERMS = 2**13
_SEARCH_STEPS = 72

# Work is counted in numbers that A2 looks up, about 2.5e8 in a second.
_MOST_WORK = 2e10  # a minute or so
_SEARCH_WORK = 4e6  # of A1, for its t
_TERM_WORK = 40.0  # of A1, for a term in balls


def privacy_risk(document: Document, claim: Claim) -> Trial | None:
    """Draw from the posterior and count the draws without ε-privacy; None if no risk is claimed."""
    promise = claim.privacy
    if not isinstance(promise, CredibleClaim) or math.isinf(claim.least_level):
        return None
    return privacy_trial(
        document.numerators,
        claim.counts,
        claim.epsilon if claim.levels is None else claim.levels,
        alpha=promise.alpha,
        prior=promise.prior,
        noise=claim.count_noise,
    )


def utility_risk(document: Document, claim: Claim) -> Trial | None:
    """Draw from the posterior and count the draws that exceed the objective; None if no risk is claimed."""
    promise = claim.utility
    if not isinstance(promise, CredibleClaim):
        return None
    return utility_trial(
        document.numerators,
        claim.counts,
        claim.distortion,
        claim.objective,
        alpha=promise.alpha,
        prior=promise.prior,
        noise=claim.count_noise,
    )


def radii_failure(document: Document, claim: Claim) -> str | None:
    """Say why a radius is not valid at the level of its pair of secrets, if one is not."""
    promise = claim.privacy
    if not isinstance(promise, PairsClaim) or math.isinf(claim.least_level):
        return None
    secrets, rows = len(claim.counts), [sum(row) for row in claim.counts]
    level = pair_level(promise.alpha, secrets)
    peeled = {x for x, method in zip(promise.radii, promise.methods, strict=True) if method == "A2"}
    radii = Radii(rows, peeled.pop() if len(peeled) == 1 else None)
    for s1, s2 in combinations(range(secrets), 2):
        place = pair_number(s1, s2, secrets)
        x, method = promise.radii[place], promise.methods[place]
        valid = radii.is_valid(x, rows[s1], rows[s2], len(claim.counts[0]), level, method)
        if valid:
            continue
        of = f"the radius {x!r} of secrets {shown(document.secrets[s1])}, {shown(document.secrets[s2])}"
        if valid is None:
            return f"{of} is not proved: proving all the radii of this file would take too long"
        return f"{of} is not proved by theorem {method} at level {level!r}, the share of this pair"
    return None


def pair_level(alpha: float, secrets: int) -> float:
    """Return the largest float that is at most α over the number of pairs of secrets."""
    exact = Fraction(alpha) / max(math.comb(secrets, 2), 1)
    level = float(exact)
    return level if Fraction(level) <= exact else math.nextafter(level, 0.0)


class Radii:
    """Prove the radii of one file, one after the other, until that takes too long.

    Parameters
    ----------
    rows : sequence of int
        Of every secret of the file.
    shared : float, optional
        The radius of all pairs that rest on A2, if they have the same: one proof then serves all of them.
    """

    def __init__(self, rows: Sequence[int], shared: float | None = None) -> None:
        self._rarest = min((n for n in rows if n > 0), default=0)
        self._shared = shared
        self._left = _MOST_WORK
        self._known: dict[tuple[object, ...], bool] = {}

    def is_valid(self, x: float, n1: int, n2: int, cells: int, alpha: float, method: str) -> bool | None:
        """Return whether x, in units of n·KL, is proved to be a valid radius for one pair of secrets.

        None if there was no time left for it.

        Parameters
        ----------
        n1, n2 : int
            Rows of the two secrets, from 0 to 2^53 − 1.
        cells : int
            k, the number of values.
        alpha : float
            Level of the pair.
        method : str
            "A1" or "A2", the theorem to prove it by; anything else proves nothing.
        """
        if method not in ("A1", "A2") or not (0 <= x < math.inf and 0 < alpha < 1 and cells >= 1):
            return False
        sizes = tuple(sorted((n for n in (n1, n2) if n > 0), reverse=True))
        if cells == 1 or (not sizes and x > 0):
            return True  # the statistic is 0
        if x == 0 or not all(n < 2**53 for n in sizes):
            return False
        if method == "A1":
            return self._proved(_by_moments, x, sizes, cells, alpha)
        every = every_size(self._rarest, cells)
        if x == self._shared and all(n >= every[0] for n in sizes):
            proved = self._proved(recursion_proof, x, (every,) * len(sizes), cells, alpha)
            if proved is not False:
                return proved
        return self._proved(recursion_proof, x, tuple(map(similar_sizes, sizes)), cells, alpha)

    def _proved(self, proof: Callable[..., tuple[bool, float]], *claim: object) -> bool | None:
        """Return the answer of ``proof`` to a claim; each claim of this file is worked on once."""
        key = (proof, *claim)
        if key not in self._known:
            if self._left <= 0:
                return None
            self._known[key], spent = proof(*claim)
            self._left -= spent
        return self._known[key]


@lru_cache(maxsize=4096)
def _by_moments(x: float, sizes: tuple[int, ...], cells: int, alpha: float) -> tuple[bool, float]:
    """Whether e^{−tx} Π G(t) ≤ α for some t in (0, 1]: any t proves it, so that floats may look for it."""

    def excess(v: float) -> tuple[float, float]:
        t = 1 / (1 + math.exp(-v))
        return (sum(_about(n, cells, t) for n in sizes) - math.log(alpha)) / t, t

    best = golden(excess, -16.0, 16.0, _SEARCH_STEPS)
    terms = sum(min(n, _MOST_TERMS) for n in sizes)
    work = len(sizes) * _SEARCH_WORK
    with precision(_BITS):
        for t in (best, 1.0):
            work += terms * _TERM_WORK
            if _at(arb(t), x, sizes, cells, alpha):
                return True, work
    return False, work


def _at(t: arb, x: float, sizes: Sequence[int], cells: int, alpha: float) -> bool:
    moments = [_log_moment(n, cells, t) for n in sizes]
    total = sum((moment for moment in moments if moment is not None), arb(0))
    return None not in moments and bool(total - arb(alpha).log() <= t * arb(x))


def _log_moment(n: int, cells: int, t: arb) -> arb | None:
    """A ball whose upper end bounds log G_{k,n}(t); None if t is too near 1 for so many rows."""
    total = term = arb(1)
    for m in range(min(n, _MOST_TERMS)):
        ratio = t * (cells - 1 + m) * (n - m) / (arb(m + 1) * n)
        term = term * ratio
        total += term
        if m % 16 == 0 and ratio < 1:
            rest = term * ratio / (1 - ratio)  # ratios fall: what is left is less than a geometric series
            if rest < total * arb(2) ** -_BITS:
                return (total + rest).log()
    if n <= _MOST_TERMS:
        return total.log()
    return -(cells - 1) * (1 - t).log() if t < 1 else None


def _about(n: int, cells: int, t: float) -> float:
    """log G in floats, good enough to find t by."""
    m = np.arange(min(n, _SEARCH_TERMS), dtype=np.float64)
    logs = np.cumsum(np.log((cells - 1 + m) / (m + 1) * t * ((n - m) / n)))
    limit = -(cells - 1) * math.log1p(-t) if t < 1 else math.inf
    peak = max(0.0, float(logs.max()))
    if n > _SEARCH_TERMS and logs[-1] > peak - 35:
        return limit
    return min(limit, peak + math.log(math.exp(-peak) + float(np.exp(logs - peak).sum())))
