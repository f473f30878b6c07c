r"""Sets of distributions in interval arithmetic (balls): the sets of a promise, radius, support, membership.

Written from ``docs/theory.md`` alone, so that it shares no line with what designs protocols. Every
number is a ball, an interval that holds the true value; a comparison is True only if it holds for the
whole ball.

Groups are the conditionals that a family of secrets has (two for privacy; all cells as one group for
utility), each with its estimated mass :math:`P_i` and its estimated conditional :math:`c_i`.

A privacy constraint sees the conditionals of two secrets. What a promise says of them is a :class:`Region`
around two :class:`Group`:

- a set around the estimate or another centre, also that of a credible promise: its projection, one region
  for all pairs;
- a set for each pair of secrets: :math:`\{\sum n_s KL(\hat P_s\|P_s)\le x\}` is the region of λ = 0 and
  radius x/n, for :math:`\sum P_s KL(\hat P_s\|P_s)\le x/n`;
- every distribution: groups as of secrets that were never seen, of which every conditional is possible.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from flint import arb, ctx

from rldp.protocol_file.format import Claim, CredibleClaim, EverythingClaim, PairsClaim, Promise, SetClaim

__all__ = [
    "SEARCH_STEPS",
    "Conditionals",
    "Group",
    "Region",
    "centre_of",
    "conditionals_of",
    "dot",
    "golden",
    "just_below_exp",
    "minimised",
    "pair_number",
    "precision",
    "region_of",
    "upper_quantile",
    "within",
    "working_bits",
]

Found = TypeVar("Found")

SEARCH_STEPS = 46  # evaluations in one dimension
_BITS = 128
_LARGEST_EXPONENT = 700.0  # a smaller ε is a stronger claim, so ε above need not be distinguished


_LOCK = threading.Lock()
_ASKED: list[int] = []  # the bits that the threads in :func:`precision` ask for
_BEFORE: list[int] = []  # those that python-flint had before the first of them


@contextmanager
def precision(bits: int = _BITS) -> Iterator[None]:
    """Compute with ``bits`` at least, whatever other threads of the judge ask for meanwhile.

    python-flint keeps the precision in ``flint.ctx.prec``, for all threads together. Balls hold the true
    value at any precision, so it cannot make a false claim look proved; but with too few bits a valid file
    is refused. What was there before comes back with the last to leave.
    """
    with _LOCK:
        _BEFORE[:] = _BEFORE or [ctx.prec]
        _ASKED.append(bits)
        ctx.prec = max(_ASKED)
    try:
        yield
    finally:
        with _LOCK:
            _ASKED.remove(bits)
            ctx.prec = max(_ASKED) if _ASKED else _BEFORE.pop()


def just_below_exp(exponent: float) -> arb:
    """Return a number just below e^x and at least 1."""
    return arb(min(exponent, _LARGEST_EXPONENT)).exp().lower().max(arb(1))


def within(top: int, bottom: int, factor: arb) -> bool:
    """Return whether certainly top ≤ factor · bottom; equal numbers are, for every factor ≥ 1."""
    return top <= bottom or bool(arb(top) <= factor * bottom)


def dot(numbers: Iterable[arb | float], others: Iterable[arb | float]) -> arb:
    """Return the sum of the products."""
    return sum((arb(one) * arb(other) for one, other in zip(numbers, others, strict=True)), arb(0))


def working_bits(*claims: Promise) -> int:
    """Return the bits to work with: orders near 0 lose as many as their own logarithm has."""
    lambdas = [claim.lambda_ for claim in claims if isinstance(claim, SetClaim | CredibleClaim)]
    small = [lambda_ for lambda_ in lambdas if lambda_ and lambda_ < 1]
    return _BITS + max((-math.frexp(lambda_)[1] for lambda_ in small), default=0)


def region_of(promise: SetClaim | CredibleClaim, n: int, cells: int) -> Region | None:
    """The set that a file claims, its radius computed from n, the number of cells and α.

    None is the estimate alone. Of a credible promise it is the set that is proved beside it.
    """
    claim = promise.proved_set if isinstance(promise, CredibleClaim) else promise
    if claim.lambda_ is None or claim.radius == 0 or (claim.radius is None and cells == 1):
        return None
    if claim.radius is not None:
        return Region(claim.lambda_, arb(claim.radius))
    assert claim.alpha is not None
    factor = arb(claim.lambda_) * (arb(claim.lambda_) + 1) / 2 if claim.lambda_ > 0 else arb(1) / 2
    return Region(claim.lambda_, factor * upper_quantile(cells - 1, claim.alpha) / n)


def upper_quantile(freedom: int, alpha: float) -> arb:
    """A ball that holds the x with P(χ² > x) = α: bisection, each comparison certain."""
    shape, level = arb(freedom) / 2, arb(alpha)

    def above(x: arb) -> bool | None:
        """Return whether the quantile lies above x; None if the precision cannot tell."""
        tail = (x / 2).gamma_upper(shape, regularized=1)
        return True if tail > level else False if tail < level else None

    low = high = arb(freedom)
    while above(low) is not True:
        low /= 2
    while above(high) is not False:
        high *= 2
    for _ in range(ctx.prec // 2 + 32):
        middle = (low * high).sqrt().mid()  # in proportion: α near 1 has a quantile near 0
        side = above(middle)
        if side is None:
            break
        low, high = (middle, high) if side else (low, middle)
    return low.union(high)


@dataclass(frozen=True)
class Group:
    """A conditional distribution: its estimated mass, and its estimated probabilities.

    A group that was never seen has mass 0 and all probabilities 0.
    """

    mass: arb
    conditional: Sequence[arb]

    @cached_property
    def seen(self) -> list[int]:
        """The values that the sample shows."""
        return [u for u, c in enumerate(self.conditional) if c > 0]


@dataclass(frozen=True)
class Region:
    """A power-divergence set of order λ and a radius B (λ > 0, positive) or r (λ = 0)."""

    lambda_: float
    radius: arb

    @cached_property
    def _lambda(self) -> arb:
        return arb(self.lambda_)

    @cached_property
    def _exponents(self) -> tuple[arb, arb]:
        """ρ and θ."""
        return self._lambda / (1 + self._lambda), self._lambda / (1 + 2 * self._lambda)

    @cached_property
    def budget(self) -> arb:
        """Δ (λ > 0) or r (λ = 0): what all groups together may spend."""
        if self.lambda_ == 0:
            return self.radius
        return (1 + self.radius) ** (1 / (1 + self._lambda)) - 1

    def mean(self, groups: Sequence[Group], p: Sequence[Sequence[arb]]) -> arb:
        """A lower bound on G(p), the nested power mean; ``p`` has a row for each group."""
        seen = [(group, row) for group, row in zip(groups, p, strict=True) if group.seen]
        if not seen:
            return arb(0)
        total = sum((group.mass for group, _ in seen), arb(0))
        if self.lambda_ == 0:
            if not all(row[u] > 0 for group, row in seen for u in group.seen):
                return arb(0)
            level = sum((group.mass * _log_ratio(group, row) for group, row in seen), arb(0))
            return (total * ((level - self.radius) / total).exp()).lower()
        rho, theta = self._exponents
        spread = arb(0)
        for group, row in seen:
            inner = sum((group.conditional[u] * _power(row[u], rho) for u in group.seen), arb(0))
            spread += group.mass ** (1 - theta) * _power(inner, theta / rho)
        return (_power(spread, 1 / theta) * (self.budget + total) ** (1 - 1 / theta)).lower()

    def contains(self, groups: Sequence[Group], members: Sequence[Sequence[arb]]) -> bool:
        """Return whether conditionals certainly lie in the projection of the set."""
        spent = arb(0)
        for group, member in zip(groups, members, strict=True):
            if not all(member[u] > 0 for u in group.seen):
                return False
            ratios = [(group.conditional[u], group.conditional[u] / member[u]) for u in group.seen]
            if self.lambda_ == 0:
                spent += group.mass * sum((c * ratio.log() for c, ratio in ratios), arb(0))
            elif group.seen:
                inner = sum((c * ratio**self._lambda for c, ratio in ratios), arb(0))
                spent += group.mass * (inner ** (1 / (1 + self._lambda)) - 1)
        return bool(spent <= self.budget)


def _log_ratio(group: Group, row: Sequence[arb]) -> arb:
    """Return the logarithm of the geometric mean of a group's row over the group's mass."""
    return sum((group.conditional[u] * row[u].log() for u in group.seen), -group.mass.log())


def _power(x: arb, exponent: arb) -> arb:
    """x^exponent for x ≥ 0, also where the ball of x touches 0; the exponent is positive."""
    if x > 0:
        return x**exponent
    top = x.upper()
    return arb(0).union(top**exponent) if top > 0 else arb(0)


def minimised(value: Callable[[tuple[arb, ...]], arb], tops: Sequence[arb], scale: arb) -> tuple[arb, ...]:
    """A point η ≥ ``tops`` where the convex ``value`` is about smallest, by nested golden sections.

    A search for a witness, nothing more: what is proved with it is evaluated afterwards.
    """
    if not tops:
        return ()

    def tried(log_height: float) -> tuple[float, tuple[arb, ...]]:
        eta = (tops[0] + scale * arb(log_height).exp()).mid()
        point = (eta, *minimised(lambda others: value((eta, *others)), tops[1:], scale))
        return float(value(point).mid()), point

    return golden(tried, -32.0, 8.0, SEARCH_STEPS)


def golden(tried: Callable[[float], tuple[float, Found]], low: float, high: float, evaluations: int) -> Found:
    """Return what ``tried`` finds where its convex value is about smallest, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = tried(high - ratio * (high - low)), tried(low + ratio * (high - low))
    for _ in range(evaluations - 2):
        if left[0] <= right[0]:
            high, right = low + ratio * (high - low), left
            left = tried(high - ratio * (high - low))
        else:
            low, left = high - ratio * (high - low), right
            right = tried(low + ratio * (high - low))
    return min(left, right, key=lambda pair: pair[0])[1]


def pair_number(s1: int, s2: int, secrets: int) -> int:
    """The place of {s1, s2} among (0, 1), (0, 2), …, (1, 2), …, whatever their order."""
    low, high = min(s1, s2), max(s1, s2)
    return low * (2 * secrets - low - 1) // 2 + high - low - 1


@dataclass(frozen=True)
class Conditionals:
    """The conditionals for which privacy is promised.

    Attributes
    ----------
    groups : sequence of Group
        The estimated conditional of every secret; none is seen where every distribution is meant.
    regions : sequence of Region
        One for all pairs of secrets, or one for each in the order of :func:`pair_number`. Empty where the
        estimate alone is meant, or where there are no pairs.
    """

    groups: Sequence[Group]
    regions: Sequence[Region]

    @property
    def are_estimates(self) -> bool:
        """Whether the estimate alone is meant."""
        return not self.regions

    @property
    def have_interior(self) -> bool:
        """Whether all conditionals near the estimate are meant, for every pair; one value has no others."""
        single = len(self.groups[0].conditional) == 1
        return bool(self.regions) and (single or all(region.radius > 0 for region in self.regions))

    def region(self, s1: int, s2: int) -> Region:
        """Return the region of the conditionals of two secrets."""
        if len(self.regions) == 1:
            return self.regions[0]
        return self.regions[pair_number(s1, s2, len(self.groups))]


def conditionals_of(claim: Claim) -> Conditionals:
    """Return the conditionals for which a file claims privacy."""
    match claim.privacy:
        case EverythingClaim():
            never_seen = [Group(arb(0), [arb(0)] * len(row)) for row in claim.counts]
            return Conditionals(never_seen, [Region(0.0, arb(1))])
        case PairsClaim(radii=radii):
            return Conditionals(_groups(claim.counts), [Region(0.0, arb(x) / claim.n) for x in radii])
        case CredibleClaim() | SetClaim() as promise:
            region = region_of(promise, claim.n, len(claim.counts) * len(claim.counts[0]))
            return Conditionals(_groups(centre_of(promise, claim)), [] if region is None else [region])


def centre_of(promise: Promise, claim: Claim) -> list[list[int]]:
    """Return integers proportional to the centre of a set: the counts, unless the file has others."""
    given = promise.centre if isinstance(promise, CredibleClaim | SetClaim) else None
    return claim.counts if given is None else given


def _groups(centre: list[list[int]]) -> list[Group]:
    totals = [sum(row) for row in centre]
    return [
        Group(arb(total) / sum(totals), [arb(count) / max(total, 1) for count in row])
        for total, row in zip(totals, centre, strict=True)
    ]
