r"""Check a file's claims about sets of distributions, one at a time.

Claims about the probability of such a set or of a failure are checked in :mod:`rldp.judge.promises`.

Every check works on the exact numbers of the file: probabilities are integers, in units of
:math:`2^{-52}`; floats stand for the binary fractions they are. A check returns None if the claim is proved,
and a sentence if not.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial, reduce
from itertools import permutations, product

from flint import arb

from rldp._common.checks import shown
from rldp.judge.regions import (
    SEARCH_STEPS,
    Group,
    Region,
    centre_of,
    conditionals_of,
    dot,
    just_below_exp,
    minimised,
    region_of,
    within,
    working_bits,
)
from rldp.protocol_file.format import Claim, Document, EverythingClaim
from rldp.protocol_file.reader import DENOMINATOR

__all__ = ["Case"]

_TOO_FAR_APART = "some value of the first and some value of the second are too far apart"
_MOST_POWERS = 1_000_000  # that the searches for η of one claim may cost, so that no file can hang
_MOST_TRIPLES_WITHOUT_PROOF = 10_000

Balls = list[arb]


class Case:
    """A document with a claim, and checks of every part of the claim."""

    def __init__(self, document: Document, claim: Claim) -> None:
        self.document, self.claim = document, claim
        self.secrets, self.values, self.outputs = document.shape
        self.conditionals = conditionals_of(claim)
        self.utility_region = region_of(claim.utility, claim.n, self.secrets * self.values)
        self._powers_left = 0
        self._bits = working_bits(claim.privacy, claim.utility)
        self._just_below_exp = cache(just_below_exp)

    def _pair(self, t: int) -> tuple[int, int]:
        """The t-th (s1, s2): s1 = 0 first, s2 counting up cyclically. A list could be far too long."""
        s1, shift = divmod(t, self.secrets - 1)
        return s1, (s1 + 1 + shift) % self.secrets

    @cached_property
    def _columns(self) -> list[list[Balls]]:
        """Numerators as [y][s][u]."""
        return [
            [[arb(row[y]) for row in rows] for rows in self.document.numerators] for y in range(self.outputs)
        ]

    # Rows

    def rows(self) -> str | None:
        """Check that every row sums to one, in integers."""
        for s, u in product(range(self.secrets), range(self.values)):
            total = sum(self.document.numerators[s][u])
            if total != DENOMINATOR:
                return (
                    f"the row of secret {self._secret(s)} and value {shown(self.document.values[u])} "
                    f"does not sum to one: its numerators sum to {total}, not to {DENOMINATOR}"
                )
        return None

    # Privacy

    def privacy(self) -> str | None:
        """Check that P(y|s1) ≤ e^ε P(y|s2) for the whole set and all y, s1, s2, with ε of each pair."""
        if math.isinf(self.claim.least_level):
            return None
        self._powers_left = _MOST_POWERS
        if isinstance(self.claim.privacy, EverythingClaim):
            failing = self._failure_for_some_distribution()
        elif self.conditionals.are_estimates:
            failing = self._nominal_failure()
        else:
            failing = self._robust_failure()
        if failing is None:
            return None
        y, s1, s2, why = failing
        return (
            f"privacy is not proved for output {shown(self.document.outputs[y])} and secrets "
            f"{self._secret(s1)}, {self._secret(s2)}: {why}"
        )

    def _weakest_factor(self, s1: int, s2: int) -> arb:
        """Return a number just below e^ε of the pair and at least 1: what holds with it holds with e^ε."""
        return self._just_below_exp(self.claim.level(s1, s2))

    def _is_protected(self, s1: int, s2: int) -> bool:
        """Return whether anything is claimed about P(y|s1) and P(y|s2)."""
        return s1 != s2 and not math.isinf(self.claim.level(s1, s2))

    def _within(self, top: int, bottom: int, s1: int, s2: int) -> bool:
        """Return whether certainly top ≤ e^ε · bottom, with ε of the pair."""
        return within(top, bottom, self._weakest_factor(s1, s2))

    def _nominal_failure(self) -> tuple[int, int, int, str] | None:
        """Check the centre alone: the extremes of Σ_u N_su K_suy / N_s over the secrets that were seen."""
        counts = centre_of(self.claim.privacy, self.claim)
        seen = [s for s in range(self.secrets) if sum(counts[s])]
        for y in range(self.outputs):
            weights = {
                s: sum(n * row[y] for n, row in zip(counts[s], self.document.numerators[s], strict=True))
                for s in seen
            }
            for high, low in self._pairs_in_doubt(seen, weights, [sum(row) for row in counts]):
                top, bottom = weights[high] * sum(counts[low]), weights[low] * sum(counts[high])
                if not self._within(top, bottom, high, low):
                    ratio = f"{top / bottom:.6g}" if bottom else "infinite"
                    return y, high, low, f"the ratio of their probabilities under the estimate is {ratio}"
        return None

    def _pairs_in_doubt(
        self, seen: Sequence[int], weights: Mapping[int, int], totals: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield pairs that may fail under the centre: with one level, the extremes of weight over total."""
        if self.claim.levels is not None:
            yield from (pair for pair in permutations(seen, 2) if self._is_protected(*pair))
            return
        high = low = seen[0]
        for s in seen:
            if weights[s] * totals[high] > weights[high] * totals[s]:
                high = s
            if weights[s] * totals[low] < weights[low] * totals[s]:
                low = s
        yield high, low

    def _robust_failure(self) -> tuple[int, int, int, str] | None:
        eta = self.claim.proof.eta
        pairs = self.secrets * (self.secrets - 1)
        doubtful = [y for y in range(self.outputs) if not self._private_for_any_secrets(y)]
        if eta is None and pairs * len(doubtful) > _MOST_TRIPLES_WITHOUT_PROOF:
            failing = self._failure_for_some_distribution()
            return None if failing is None else (*failing[:3], "the file carries no η to prove it")
        for y, t in ((y, t) for y in doubtful for t in range(pairs)):
            s1, s2 = self._pair(t)
            if not self._is_protected(s1, s2) or self._private_for_any_distribution(y, s1, s2):
                continue
            if eta is not None and self._excess(y, s1, s2, [DENOMINATOR * arb(x) for x in eta[y][t]]) <= 0:
                continue
            searched = self._minimising(partial(self._excess, y, s1, s2), self._x(y, s1, s2))
            if searched is None:
                return y, s1, s2, "the file carries no η that proves it"
            excess = self._excess(y, s1, s2, searched) / DENOMINATOR
            if not excess <= 0:
                bound = float(excess.upper())
                return y, s1, s2, f"P(y|s1) − e^ε P(y|s2) is only proved to be at most {bound:.6g} in the set"
        return None

    def _failure_for_some_distribution(self) -> tuple[int, int, int, str] | None:
        """Return a pair of secrets whose extreme entries are too far apart, if any."""
        if self.secrets == 1:
            return None
        if self.claim.levels is not None:
            for y, (s1, s2) in product(range(self.outputs), permutations(range(self.secrets), 2)):
                if self._is_protected(s1, s2) and not self._private_for_any_distribution(y, s1, s2):
                    return y, s1, s2, _TOO_FAR_APART
            return None
        for y, extremes in enumerate(self._extremes):
            largest = heapq.nlargest(2, range(self.secrets), key=[high for _, high in extremes].__getitem__)
            for s2 in range(self.secrets):
                s1 = largest[largest[0] == s2]
                if not self._private_for_any_distribution(y, s1, s2):
                    return y, s1, s2, _TOO_FAR_APART
        return None

    @cached_property
    def _extremes(self) -> list[list[tuple[int, int]]]:
        """Return the smallest and the largest numerator of each output y and secret s, as [y][s]."""
        columns = [list(zip(*rows, strict=True)) for rows in self.document.numerators]
        return [[(min(column[y]), max(column[y])) for column in columns] for y in range(self.outputs)]

    def _private_for_any_secrets(self, y: int) -> bool:
        lowest, highest = zip(*self._extremes[y], strict=True)
        return within(max(highest), min(lowest), self._just_below_exp(self.claim.least_level))

    def _private_for_any_distribution(self, y: int, s1: int, s2: int) -> bool:
        """Return whether the largest entry is at most e^ε times the smallest, for every distribution."""
        return self._within(self._extremes[y][s1][1], self._extremes[y][s2][0], s1, s2)

    def _x(self, y: int, s1: int, s2: int) -> list[Balls]:
        factor = self._weakest_factor(s1, s2)
        return [self._columns[y][s1], [-factor * q for q in self._columns[y][s2]]]

    def _excess(self, y: int, s1: int, s2: int, eta: Sequence[arb]) -> arb:
        """Return an upper bound on the constraint over the set, for any η, raised to max x if smaller."""
        groups = [self.conditionals.groups[s] for s in (s1, s2)]
        return _bracket(self.conditionals.region(s1, s2), groups, self._x(y, s1, s2), eta)

    def _minimising(self, value: Callable[[Sequence[arb]], arb], x: Sequence[Balls]) -> Sequence[arb] | None:
        """Return η that nearly minimises the bound on the support function at x; None if too much work."""
        self._powers_left -= SEARCH_STEPS ** len(x) * sum(map(len, x)) * (self._bits // 128)
        if self._powers_left < 0:
            return None
        scale = _largest([abs(entry) for row in x for entry in row])
        return minimised(value, [_largest(row) for row in x], scale)

    # Readers who know the value

    def known(self) -> str | None:
        """Check that P(y|s1,u) ≤ e^κ P(y|s2,u) for all y, u, s1, s2, in integers and e^κ."""
        u, y, s1, s2 = self._farthest_apart
        table, kappa = self.document.numerators, self.claim.epsilon_known
        if math.isinf(kappa) or within(table[s1][u][y], table[s2][u][y], just_below_exp(kappa)):
            return None
        return (
            f"privacy towards readers who know the value is not proved for value "
            f"{shown(self.document.values[u])}, output {shown(self.document.outputs[y])} and secrets "
            f"{self._secret(s1)}, {self._secret(s2)}: the level that holds is {self.known_level():.6g}"
        )

    def known_level(self) -> float:
        """Return the smallest κ of the table, rounded up; ∞ if an output rules out a secret."""
        u, y, s1, s2 = self._farthest_apart
        top, bottom = self.document.numerators[s1][u][y], self.document.numerators[s2][u][y]
        if top == bottom:
            return 0.0
        return float((arb(top) / bottom).log().upper()) if bottom else math.inf

    @cached_property
    def _farthest_apart(self) -> tuple[int, int, int, int]:
        """Return (u, y, s1, s2) with the largest ratio of P(y|s1,u) to P(y|s2,u), by products of integers."""
        table, farthest, top, bottom = self.document.numerators, (0, 0, 0, 0), 1, 1
        for u, y in product(range(self.values), range(self.outputs)):
            column = [rows[u][y] for rows in table]
            high, low = max(column), min(column)
            if high * bottom > top * low:
                farthest, top, bottom = (u, y, column.index(high), column.index(low)), high, low
        return farthest

    # Objective

    def objective(self) -> str | None:
        """Check that the expected distortion is at most the objective on the whole utility set."""
        self._powers_left = _MOST_POWERS
        costs = [list(map(dot, rows, self.claim.distortion)) for rows in self.document.numerators]
        claimed = DENOMINATOR * arb(self.claim.objective)
        reached = self._largest_mean(costs)
        if reached <= claimed:
            return None
        bound = float((reached / DENOMINATOR).upper())
        return f"the objective {self.claim.objective!r} is not proved: the bound that holds is {bound!r}"

    def _largest_mean(self, costs: list[Balls]) -> arb:
        """Return an upper bound on Σ P v over the utility set; costs are [s][u]."""
        flat = [cost for row in costs for cost in row]
        if self.utility_region is None:
            return dot(self._all_cells.conditional, flat)
        top = _largest(flat)
        region, group = self.utility_region, [self._all_cells]

        def bound(eta: Sequence[arb]) -> arb:
            return _bracket(region, group, [flat], eta)

        given = self.claim.proof.eta_utility
        eta = self._minimising(bound, [flat]) if given is None else [DENOMINATOR * arb(given)]
        return top if eta is None else top.min(bound(eta))

    @cached_property
    def _all_cells(self) -> Group:
        return Group(arb(1), [p for row in self._useful_centre for p in row])

    @cached_property
    def _useful_centre(self) -> list[Balls]:
        """Return the centre of the utility set, as [s][u]."""
        counts = centre_of(self.claim.utility, self.claim)
        total = sum(map(sum, counts))
        return [[arb(count) / total for count in row] for row in counts]

    # Lower bound

    def lower_bound(self) -> str | None:
        """Check that no private protocol has a smaller objective."""
        if self.claim.lower_bound <= 0:
            return None
        try:
            proved = self._dual_value()
        except _Unusable as error:
            return f"the lower bound {self.claim.lower_bound!r} is not proved: {error}"
        if proved >= arb(self.claim.lower_bound):
            return None
        bound = float(proved.lower())
        return f"the lower bound {self.claim.lower_bound!r} is not proved: the bound that holds is {bound!r}"

    def _dual_value(self) -> arb:
        distribution = self._distribution()
        if self._only_constants_are_private and self.claim.proof.multipliers is None:
            masses = [sum(column, arb(0)) for column in zip(*distribution, strict=True)]
            by_output = zip(*self.claim.distortion, strict=True)
            return _smallest([dot(masses, distances) for distances in by_output])
        prices, known = self._prices(), self.claim.proof.known

        def cost(s: int, u: int, y: int) -> arb:
            gamma = arb(0) if known is None else arb(known[y][s][u])
            return distribution[s][u] * arb(self.claim.distortion[u][y]) + prices[y][s][u] + gamma

        secrets, outputs = range(self.secrets), range(self.outputs)
        if self.claim.epsilon_known == 0 and known is None:  # one row for all secrets
            least = [
                _smallest([sum((cost(s, u, y) for s in secrets), arb(0)) for y in outputs])
                for u in range(self.values)
            ]
        else:
            least = [_smallest([cost(s, u, y) for y in outputs]) for u in range(self.values) for s in secrets]
        return sum(least, arb(0)) - self._overcharge()

    def _overcharge(self) -> arb:
        r"""Bound what the prices γ of readers who know the value can add to a private protocol.

        With :math:`l_{uy} = \min_s P(y|s,u)`, Σ_s γ P(y|s,u) ≤ l (e^κ Σ_s γ⁺ − Σ_s γ⁻), and Σ_y l ≤ 1.
        """
        known, total = self.claim.proof.known, arb(0)
        if known is None:
            return total
        factor = arb(self.claim.epsilon_known).exp()
        for u in range(self.values):
            largest = arb(0)
            for rows in known:
                prices = [arb(row[u]) for row in rows]
                gained = sum((price for price in prices if price > 0), arb(0))
                largest = largest.max(factor * gained + sum((price for price in prices if price < 0), arb(0)))
            total += largest
        return total

    @property
    def _only_constants_are_private(self) -> bool:
        """Check the bound at ε = 0 over a set with interior: outputs cannot depend on secret or value."""
        return self.claim.epsilon == 0 and self.conditionals.have_interior and self.secrets > 1

    def _distribution(self) -> list[Balls]:
        given = self.claim.proof.distribution
        if given is None:
            return self._useful_centre
        if self.utility_region is None:
            raise _Unusable("under the estimate, the certificate's distribution must be null")
        total = sum((arb(p) for row in given for p in row), arb(0))
        if not total > 0:
            raise _Unusable("the certificate's distribution is zero")
        flat = [arb(p) / total for row in given for p in row]
        if not self.utility_region.contains([self._all_cells], [flat]):
            raise _Unusable("the certificate's distribution is not in the utility set")
        return [flat[s * self.values : (s + 1) * self.values] for s in range(self.secrets)]

    def _prices(self) -> list[list[Balls]]:
        """Return Σ z R over the constraints of each probability, as [y][s][u]."""
        prices = [[[arb(0)] * self.values for _ in range(self.secrets)] for _ in range(self.outputs)]
        exp = cache(lambda level: arb(level).exp())
        for y, t, z, members in self._weighted_members():
            level = self.claim.level(*self._pair(t))
            if math.isinf(level):
                raise _Unusable("at ε = ∞ every multiplier must be 0")
            for s, weight, member in zip(self._pair(t), (arb(z), -exp(level) * arb(z)), members, strict=True):
                row = prices[y][s]
                prices[y][s] = [price + weight * r for price, r in zip(row, member, strict=True)]
        return prices

    def _weighted_members(self) -> Iterator[tuple[int, int, float, list[Balls]]]:
        """Yield (y, t, z, members of the projected set) wherever z > 0."""
        proof = self.claim.proof
        for y, row in enumerate(proof.multipliers or []):
            for t, z in enumerate(row):
                if z == 0:
                    continue
                pair = self._pair(t)
                groups = [self.conditionals.groups[s] for s in pair]
                estimates = self.conditionals.are_estimates
                if estimates and not all(group.seen for group in groups):
                    raise _Unusable(f"multiplier [{y}][{t}] weighs a secret that was never seen")
                if proof.members is None:
                    yield y, t, z, [_estimate(group) for group in groups]
                    continue
                members = [_normalised(member) for member in proof.members[y][t]]
                if estimates or not self.conditionals.region(*pair).contains(groups, members):
                    raise _Unusable(f"members [{y}][{t}] are not in the privacy set")
                yield y, t, z, members

    def _secret(self, s: int) -> str:
        return shown(self.document.secrets[s])


class _Unusable(Exception):
    """A witness that proves nothing."""


def _bracket(region: Region, groups: Sequence[Group], x: Sequence[Balls], eta: Sequence[arb]) -> arb:
    """Return Σ η − G(η − x), an upper bound on the support function at x for any η ≥ max x."""
    raised = [given.max(_largest(row)) for given, row in zip(eta, x, strict=True)]
    p = [[(top - entry).nonnegative_part() for entry in row] for top, row in zip(raised, x, strict=True)]
    return (sum(raised, arb(0)) - region.mean(groups, p)).upper()


def _largest(balls: Sequence[arb]) -> arb:
    return reduce(arb.max, balls)


def _smallest(balls: Sequence[arb]) -> arb:
    return reduce(arb.min, balls)


def _estimate(group: Group) -> Balls:
    """Return the estimated conditional; uniform for a secret that was never seen."""
    return (
        list(group.conditional) if group.seen else [arb(1) / len(group.conditional)] * len(group.conditional)
    )


def _normalised(member: Sequence[float]) -> Balls:
    total = sum((arb(p) for p in member), arb(0))
    if not total > 0:
        raise _Unusable("a member of the privacy set is zero")
    return [arb(p) / total for p in member]
