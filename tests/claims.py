"""What a protocol file claims, evaluated from the definitions; shares nothing with the library.

A set is what its definition says: joint distributions P with Σ P̂ [(P̂/P)^λ − 1] ≤ B. To refute a claim
about all of them, a worst member is searched for. Within a secret, the conditional that gains most at a
given cost is P̂_{u|s} (η − v_u)^{−1/(1+λ)} up to scale, with the rest on a cell never seen; so there is one
number per secret to find, such that the next grain of budget gains as much in either. What comes out is a
joint distribution whose divergence is evaluated by the definition, so a claim that it breaks is false,
however it was found. The search is in floats, what it finds is evaluated in 40 digits.

Posterior probabilities are counted with draws of their own; radii of pairs are held against exact tails under
some distributions.
"""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, permutations, product

import numpy as np
from mpmath import gammainc, mp, mpf, workdps
from scipy.optimize import brentq
from scipy.special import chdtri
from scipy.stats import dirichlet_multinomial

from multinomials import distributions, exact_tail, outcomes, probabilities, statistic

DENOMINATOR = 2**52
DIGITS = 40
HAIR = mpf(10) ** -28
DRAWS, CHANCE = 200_000, 1e-9
SLACK = math.sqrt(math.log(1 / CHANCE) / (2 * DRAWS))  # Hoeffding
ENUMERABLE = 40


# Sets


@dataclass(frozen=True)
class Set:
    """Order and radius; a radius of 0 is the estimate alone."""

    order: mpf
    radius: mpf

    @property
    def budget(self):
        """What the conditionals of a family of secrets may cost together."""
        return self.radius if self.order == 0 else (1 + self.radius) ** (1 / (1 + self.order)) - 1


@cache
def set_of(kind, order, alpha, radius, n, cells):
    with workdps(DIGITS):
        if kind == "nominal" or (radius is None and cells == 1):
            return Set(mpf(1), mpf(0))
        if radius is not None:
            return Set(mpf(order), mpf(radius))
        factor = mpf(order) * (mpf(order) + 1) / 2 if order > 0 else mpf(1) / 2
        return Set(mpf(order), factor * quantile(cells - 1, alpha) / n)


@cache
def quantile(freedom, alpha):
    """x with P(χ² > x) = α."""
    with workdps(60):

        def is_above(log_x):
            return gammainc(mpf(freedom) / 2, mp.exp(log_x) / 2, regularized=True) > alpha

        low = high = mp.log(freedom)
        while not is_above(low):
            low -= 1
        while is_above(high):
            high += 1
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if is_above(middle) else (low, middle)
        return mp.exp(low)


def divergence(weights, member, order):
    """Σ w [(w/r)^λ − 1], for λ = 0 Σ w log(w/r), over w > 0."""
    seen = [(w, r) for w, r in zip(weights, member, strict=True) if w > 0]
    if any(r <= 0 for _, r in seen):
        return mpf("inf")
    return sum((w * (mp.log(w / r) if order == 0 else (w / r) ** order - 1) for w, r in seen), mpf(0))


# The worst member


@dataclass(frozen=True)
class Path:
    """The conditionals of one seen secret that gain most, from the estimate (t = ∞) on (t = −∞).

    They gain costs v, given as (max v − v)/scale and the logarithm of that scale. ``m`` is the arithmetic,
    :mod:`math` or :data:`mpmath.mp`.
    """

    order: float
    mass: float
    conditional: tuple
    gaps: tuple
    log_scale: float

    @cached_property
    def seen(self):
        return [u for u, c in enumerate(self.conditional) if c > 0]

    @cached_property
    def unseen(self):
        """A cell never seen that has the largest v, if no cell that was seen has it."""
        return None if any(self.gaps[u] == 0 for u in self.seen) else self.gaps.index(0)

    @property
    def is_free(self):
        """Whether the estimate gains as much as anything."""
        return all(self.gaps[u] == 0 for u in self.seen)

    def _split(self, t, m):
        """Height of η over the largest v, and the share of the cells that were seen."""
        if self.unseen is None:
            return m.exp(t), 1
        return (m.expm1(t), 1) if t > 0 else (0, m.exp(t))

    def at(self, t, m):
        height, share = self._split(t, m)
        power = -1 / (1 + self.order)
        cells = zip(self.conditional, self.gaps, strict=True)
        raw = [c * (height + gap) ** power if c > 0 else 0 for c, gap in cells]
        total = sum(raw)
        member = [share * r / total for r in raw]
        if self.unseen is not None:
            member[self.unseen] += 1 - share
        return member

    def log_k(self, member, m):
        """Logarithm of Σ c (c/r)^λ; for λ = 0 Σ c log(c/r)."""
        logs = [(self.conditional[u], m.log(self.conditional[u] / member[u])) for u in self.seen]
        if self.order == 0:
            return sum(c * x for c, x in logs)
        largest = max(self.order * x for _, x in logs)
        return largest + m.log(sum(c * m.exp(self.order * x - largest) for c, x in logs))

    def cost(self, t, m):
        log_k = self.log_k(self.at(t, m), m)
        if self.order == 0:
            return self.mass * log_k
        return self.mass * m.expm1(min(log_k / (1 + self.order), 700))

    def log_price(self, t):
        """Logarithm of what the next grain of budget gains."""
        member = self.at(t, math)
        u = max(self.seen, key=lambda u: self.gaps[u])
        height = self._split(t, math)[0] + self.gaps[u]
        ratio = math.log(member[u] / self.conditional[u])
        rho = self.order / (1 + self.order)
        k = 0 if self.order == 0 else rho * self.log_k(member, math) - math.log(rho)
        return self.log_scale + math.log(height) + (1 + self.order) * ratio + k - math.log(self.mass)


FAR = 300.0


def root(f):
    """Where a decreasing function crosses 0, or the end that is nearest to it."""
    if f(FAR) >= 0:
        return FAR
    return -FAR if f(-FAR) <= 0 else brentq(f, -FAR, FAR, xtol=1e-14, rtol=1e-14)


def worst(region, groups):
    """Members that make Σ R·v about largest over a set; groups are (mass, conditional, v)."""
    members = [None] * len(groups)
    exact, rough = {}, {}
    for i, (mass, conditional, v) in enumerate(groups):
        top, scale = max(v), max(v) - min(v)
        if mass == 0:
            members[i] = [mpf(u == v.index(top)) for u in range(len(v))]
            continue
        gaps = tuple((top - x) / (scale or 1) for x in v)
        path = Path(region.order, mass, tuple(conditional), gaps, None)
        if path.is_free or region.radius == 0:
            members[i] = list(conditional)
            continue
        floats = (tuple(float(x) for x in row) for row in (conditional, gaps))
        exact[i] = path
        rough[i] = Path(float(region.order), float(mass), *floats, float(mp.log(scale)))
    if not exact:
        return members
    budget = float(region.budget)
    first, *rest = rough
    other = rest[0] if rest else None

    def matching(t):
        price = rough[first].log_price(t)
        return root(lambda x: price - rough[other].log_price(x))

    def left_over(t):
        spent = rough[first].cost(t, math) + (rough[other].cost(matching(t), math) if rest else 0)
        return spent - budget

    t = root(left_over)
    places = {first: mpf(t)} | ({other: mpf(matching(t))} if rest else {})

    def left(shift):
        return region.budget - sum(path.cost(places[i] + shift, mp) for i, path in exact.items())

    inside, outside = _bracket(left)
    for _ in range(8):  # chords: over so short a stretch it is all but a straight line
        if inside[1] <= HAIR**1.2 * region.budget:
            break
        shift = inside[0] + (outside[0] - inside[0]) * inside[1] / (inside[1] - outside[1])
        found = (shift, left(shift))
        inside, outside = (found, outside) if found[1] >= 0 else (inside, found)
    for i, path in exact.items():
        members[i] = path.at(places[i] + inside[0], mp)
    return members


def _bracket(left):
    """Two shifts, one that leaves budget and one that overspends, with what they leave."""
    step, ends = mpf(10) ** -12, {}
    for sign, wanted in ((1, lambda x: x >= 0), (-1, lambda x: x < 0)):
        shift, found = mpf(0), left(mpf(0))
        while not wanted(found) and abs(shift) < FAR:
            shift = 4 * shift + sign * step
            found = left(shift)
        ends[sign] = (shift, found)
    return ends[1], ends[-1]


def joint_of(region, counts, conditionals):
    """A joint distribution with the given conditionals of some secrets, of least divergence.

    A secret that was never seen has mass 0 in it: an arbitrarily small one costs arbitrarily little.
    """
    n = sum(map(sum, counts))
    rows, masses = [], []
    for s, row in enumerate(counts):
        total = sum(row)
        estimate = [mpf(c) / total for c in row] if total else [mpf(0)] * len(row)
        member = conditionals.get(s, estimate)
        k = 1 + divergence(estimate, member, region.order)
        masses.append(mpf(total) / n * (1 if region.order == 0 else k ** (1 / (1 + region.order))))
        rows.append(member)
    whole = sum(masses)
    return [[mass / whole * r for r in row] for mass, row in zip(masses, rows, strict=True)]


def in_set(region, counts, joint):
    n = sum(map(sum, counts))
    flat = [mpf(c) / n for row in counts for c in row]
    spent = divergence(flat, [p for row in joint for p in row], region.order)
    return spent <= region.radius * (1 + HAIR)


# Claims


class File:
    """A protocol file, read once more and on its own."""

    def __init__(self, content):
        tree = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_never)
        self.claim = claim = tree["guarantee"]
        self.secrets, self.values, self.outputs = (len(tree[key]) for key in ("secrets", "values", "outputs"))
        self.k, self.counts = tree["numerators"], claim["counts"]
        self.n = sum(map(sum, self.counts))
        self.centres = {name: claim[name].get("centre", self.counts) for name in ("privacy", "utility")}
        self.centre = self.centres["privacy"]
        self.whole = sum(map(sum, self.centre))
        given, secrets = claim["epsilon"], range(self.secrets)
        has_levels = isinstance(given, list)
        self.levels = [[_level(given[s][t] if has_levels else given) for t in secrets] for s in secrets]
        pairs = list(permutations(secrets, 2))
        self.epsilon = min((self.levels[s][t] for s, t in pairs), default=self.levels[0][0])
        if has_levels:
            assert len({self.levels[s][t] for s, t in pairs}) > 1
            assert not any(self.levels[s][s] for s in secrets)
            assert all(len(row) == self.secrets for row in given)
            assert len(given) == self.secrets
        self.proof = claim["certificate"]
        assert tree["format"] == "rldp-protocol"
        kinds = {claim[name]["kind"] for name in ("privacy", "utility")}
        self.kappa = claim.get("epsilon_known", math.inf)
        news = [claim[name].get("prior") == "adaptive" or "centre" in claim[name] for name in self.centres]
        needed = (
            3
            if "epsilon_known" in claim or any(news) or has_levels
            else 2
            if kinds & {"credible", "pairs", "all"}
            else 1
        )
        assert tree["version"] == needed
        assert ("known" in self.proof) == ("epsilon_known" in claim)
        assert tree["denominator"] == DENOMINATOR
        for names in (tree["secrets"], tree["values"], tree["outputs"]):
            assert len(set(names)) == len(names) > 0
        shape = (self.secrets, self.values, self.outputs)
        assert all(type(k) is int and k >= 0 for k in _flat(self.k, shape))
        assert all(type(c) is int and c >= 0 for c in _flat(self.counts, shape[:2]))
        assert all(d >= 0 for d in _flat(claim["distortion"], shape[1:]))
        assert self.n == claim["n"] > 0
        assert self.epsilon >= 0
        assert self.kappa >= 0
        for name, centre in self.centres.items():
            assert all(type(c) is int and c >= 0 for c in _flat(centre, shape[:2]))
            assert "centre" not in claim[name] or sum(map(sum, centre)) == DENOMINATOR

    def region(self, name):
        claim = self.claim[name]
        fields = (claim.get(key) for key in ("lambda", "alpha", "radius"))
        return set_of(claim["kind"], *fields, self.n, self.secrets * self.values)

    def pair_region(self, s1, s2):
        """The set of the conditionals of two secrets."""
        claim = self.claim["privacy"]
        if claim["kind"] == "all":
            return Set(mpf(0), mpf("inf"))
        if claim["kind"] == "pairs":
            place = list(combinations(range(self.secrets), 2)).index((min(s1, s2), max(s1, s2)))
            return Set(mpf(0), mpf(claim["radii"][place]) / self.n)
        return self.region("privacy")

    def contains(self, s1, s2, r1, r2):
        """Whether conditionals of two secrets belong to the claim."""
        kind, region = self.claim["privacy"]["kind"], self.pair_region(s1, s2)
        if kind == "all":
            return True
        if kind == "pairs":
            masses = [mpf(sum(self.counts[s])) / self.n for s in (s1, s2)]
            spent = [
                m * divergence(self.estimate(s), r, 0)
                for m, s, r in zip(masses, (s1, s2), (r1, r2), strict=True)
                if m
            ]
            return sum(spent, mpf(0)) <= region.radius * (1 + HAIR)
        return in_set(region, self.centre, joint_of(region, self.centre, {s1: r1, s2: r2}))

    @property
    def problem(self):
        """All but the proof and the bounds: what decides which claims are true."""
        parts = {key: value for key, value in self.claim.items() if key not in ("certificate", "lower_bound")}
        return json.dumps([self.k, parts], sort_keys=True)

    def estimate(self, s):
        """The conditional of a secret at the centre of the privacy set."""
        total = sum(self.centre[s])
        return [mpf(c) / total if total else mpf(0) for c in self.centre[s]]

    # Each gives True or False; the numbers in between are for messages.

    def rows_hold(self):
        return all(sum(row) == DENOMINATOR for rows in self.k for row in rows)

    def privacy_excess(self, y, s1, s2):
        """P(y|s1) − e^ε P(y|s2) under about the worst member of the set; None where there is no claim."""
        kind, region, e = self.claim["privacy"]["kind"], self.pair_region(s1, s2), mp.exp(self.levels[s1][s2])
        if math.isinf(self.levels[s1][s2]):
            return None
        x1, x2 = ([mpf(row[y]) / DENOMINATOR for row in self.k[s]] for s in (s1, s2))
        masses = [mpf(0 if kind == "all" else sum(self.centre[s])) / self.whole for s in (s1, s2)]
        if region.radius == 0 and kind != "pairs":
            if 0 in masses:
                return None
            terms = [
                sum(
                    Fraction(c, sum(self.centre[s])) * row[y]
                    for c, row in zip(self.centre[s], self.k[s], strict=True)
                )
                for s in (s1, s2)
            ]
            if terms[0] <= terms[1]:
                return mpf(0)
            one, other = (mpf(t.numerator) / t.denominator / DENOMINATOR for t in terms)
            return one - e * other
        if max(x1) <= min(x2):  # at every ε and for every distribution
            return mpf(0)
        groups = [(masses[0], self.estimate(s1), x1), (masses[1], self.estimate(s2), [-e * x for x in x2])]
        r1, r2 = worst(region, groups)
        assert self.contains(s1, s2, r1, r2)
        return _dot(r1, x1) - e * _dot(r2, x2)

    def failing_triples(self):
        if math.isinf(self.epsilon):
            return []
        with workdps(DIGITS):
            triples = product(range(self.outputs), permutations(range(self.secrets), 2))
            found = [(y, s1, s2, self.privacy_excess(y, s1, s2)) for y, (s1, s2) in triples]
            return [(y, s1, s2) for y, s1, s2, excess in found if excess is not None and excess > HAIR]

    def known_holds(self):
        """Whether no secret gives an output more than e^κ times as often as another, at the same value."""
        if math.isinf(self.kappa):
            return True
        with workdps(DIGITS):
            factor = mp.exp(mpf(self.kappa))
            cells = product(range(self.values), range(self.outputs), permutations(self.k, 2))
            return all(one[u][y] <= max(1, factor) * other[u][y] for u, y, (one, other) in cells)

    def worst_distortion(self):
        """About the largest expected distortion over the utility set."""
        with workdps(DIGITS):
            region = self.region("utility")
            costs = [
                _dot([mpf(k) / DENOMINATOR for k in row], [mpf(d) for d in distances])
                for rows in self.k
                for row, distances in zip(rows, self.claim["distortion"], strict=True)
            ]
            flat = [p for row in self._useful_centre() for p in row]
            (member,) = worst(region, [(mpf(1), flat, costs)])
            assert divergence(flat, member, region.order) <= region.radius * (1 + HAIR)
            return _dot(member, costs)

    def objective_holds(self):
        reached = self.worst_distortion()
        return reached <= self.claim["objective"] + HAIR * reached

    def proved_lower_bound(self):
        """The bound that the certificate proves, by weak duality; None if a witness is not one."""
        with workdps(DIGITS):
            proof, distortion = self.proof, self.claim["distortion"]
            pairs = permutations(range(self.secrets), 2)
            wide = self.secrets > 1 and all(self.pair_region(*pair).radius > 0 for pair in pairs)
            distribution = self._witness_distribution()
            if distribution is None:
                return None
            if proof["multipliers"] is None and not any(map(any, self.levels)) and wide:
                masses = [sum(column) for column in zip(*distribution, strict=True)]
                return min(_dot(masses, [row[y] for row in distortion]) for y in range(self.outputs))
            cost = [
                [[distribution[s][u] * mpf(d) for d in distortion[u]] for u in range(self.values)]
                for s in range(self.secrets)
            ]
            pairs = [
                (s, (s + 1 + shift) % self.secrets)
                for s in range(self.secrets)
                for shift in range(self.secrets - 1)
            ]
            for y, weights in enumerate(proof["multipliers"] or []):
                for t, z in enumerate(weights):
                    members = self._witness_members(y, t, *pairs[t]) if z else []
                    s1, s2 = pairs[t]
                    level = self.levels[s1][s2]
                    if members is None or z < 0 or (z and math.isinf(level)):
                        return None
                    for s, sign, member in zip(pairs[t], (1, -mp.exp(level)), members, strict=False):
                        for u in range(self.values):
                            cost[s][u][y] += z * sign * member[u]
            return self._least(cost)

    def _least(self, cost):
        """Σ min over the outputs, of a protocol that keeps κ."""
        prices, factor = self.proof.get("known"), mp.exp(mpf(min(self.kappa, 1e9)))
        if self.kappa == 0 and prices is None:
            return sum(min(map(sum, zip(*rows, strict=True))) for rows in zip(*cost, strict=True))
        taken = mpf(0)
        if prices is not None:
            for u in range(self.values):
                gains = []
                for y, rows in enumerate(prices):
                    ours = [mpf(row[u]) for row in rows]
                    for s, price in enumerate(ours):
                        cost[s][u][y] += price
                    gains.append(factor * sum(p for p in ours if p > 0) + sum(p for p in ours if p < 0))
                taken += max(0, *gains)
        return sum(min(cell) for row in cost for cell in row) - taken

    def _witness_distribution(self):
        given, region = self.proof["distribution"], self.region("utility")
        if given is None:
            return self._useful_centre()
        total = sum((mpf(p) for row in given for p in row), mpf(0))
        if total <= 0 or any(p < 0 for row in given for p in row):
            return None
        joint = [[mpf(p) / total for p in row] for row in given]
        return joint if in_set(region, self.centres["utility"], joint) else None

    def _useful_centre(self):
        whole = sum(map(sum, self.centres["utility"]))
        return [[mpf(c) / whole for c in row] for row in self.centres["utility"]]

    def _witness_members(self, y, t, s1, s2):
        region, given = self.pair_region(s1, s2), self.proof["members"]
        everything = self.claim["privacy"]["kind"] == "all"
        seen = [any(self.centre[s]) and not everything for s in (s1, s2)]
        if region.radius == 0 and not all(seen):
            return None
        if given is None:
            uniform = [mpf(1) / self.values] * self.values
            return [self.estimate(s) if was else uniform for s, was in zip((s1, s2), seen, strict=True)]
        sums = [sum(map(mpf, member), mpf(0)) for member in given[y][t]]
        if min(sums) <= 0 or any(r < 0 for member in given[y][t] for r in member):
            return None
        members = [[mpf(r) / total for r in member] for member, total in zip(given[y][t], sums, strict=True)]
        return members if self.contains(s1, s2, *members) else None

    def risks_hold(self):
        """Whether the posterior probabilities are at most what is claimed, as far as draws can tell."""
        found = {"privacy": self._share_not_private, "utility": self._share_exceeded}
        return all(
            found[name](self._drawn(self.claim[name]["prior"])) <= self.claim[name]["alpha"] + SLACK
            for name in found
            if self.claim[name]["kind"] == "credible"
        )

    def _drawn(self, prior):
        """Joint distributions from the posterior: (|S|, |U|, draws), up to a factor for each draw."""
        rng = np.random.default_rng(len(self.problem))
        counts, size = np.array(self.counts, dtype=float)[:, :, None], (self.secrets, self.values, DRAWS)
        a = rng.choice(self._grid(), size=DRAWS, p=self._evidence()) if prior == "adaptive" else prior
        shapes = np.maximum(counts + a, 1e-300)
        logs = np.log(rng.gamma(shapes + 1, size=size)) + np.log1p(-rng.random(size)) / shapes
        within = np.exp(logs - logs.max(axis=1, keepdims=True))
        if prior == "adaptive":
            shares = rng.dirichlet(counts[..., 0].sum(axis=1) + 0.5, DRAWS).T
            return shares[:, None] * within / within.sum(axis=1, keepdims=True), within
        return np.exp(logs - logs.max(axis=(0, 1))), within

    def _grid(self):
        """The a of the adaptive prior."""
        return [0.01, *(a for a in (0.02, 0.05, 0.1, 0.2, 0.5) if round(100 * a) * self.values <= 800)]

    def _evidence(self):
        """How likely each a of the adaptive prior is: what Dirichlet-multinomial laws give to the counts."""
        logs = np.zeros(len(self._grid()))
        for row in self.counts:
            for i, a in enumerate(self._grid()):
                logs[i] += dirichlet_multinomial([a] * len(row), sum(row)).logpmf(row) if any(row) else 0.0
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()

    def _share_not_private(self, drawn):
        if math.isinf(self.epsilon):
            return 0.0
        table = np.array(self.k) / DENOMINATOR
        given = np.einsum("suy,sum->sym", table, drawn[1]) / drawn[1].sum(axis=1)[:, None]
        failed = np.zeros(given.shape[2], dtype=bool)
        for s, t in permutations(range(self.secrets), 2):
            if math.isfinite(self.levels[s][t]):
                limit = math.exp(min(self.levels[s][t], 700)) * (1 + 1e-12) * given[t]
                failed |= (given[s] > limit).any(axis=0)
        return float(failed.mean())

    def _share_exceeded(self, drawn):
        costs = np.einsum("suy,uy->su", np.array(self.k) / DENOMINATOR, np.array(self.claim["distortion"]))
        spent = np.einsum("su,sum->m", costs, drawn[0]) / drawn[0].sum(axis=(0, 1))
        return float((spent > self.claim["objective"] * (1 + 1e-12)).mean())

    def radii_hold(self):
        """Whether no distribution of some has a larger tail than the level of its pair; ε = ∞ claims none."""
        claim = self.claim["privacy"]
        if claim["kind"] != "pairs" or self.values == 1 or math.isinf(self.epsilon):
            return True
        level = claim["alpha"] / max(math.comb(self.secrets, 2), 1)
        rows = [sum(row) for row in self.counts]
        pairs = zip(combinations(rows, 2), claim["radii"], strict=True)
        return all(largest_tail(*sorted(sizes), self.values, x) <= level * (1 + 1e-9) for sizes, x in pairs)

    def lower_bound_holds(self):
        """Whether the file proves it (0 needs no proof)."""
        proved = self.proved_lower_bound() if self.claim["lower_bound"] > 0 else mpf(0)
        return proved is not None and proved >= self.claim["lower_bound"] - HAIR * abs(proved)


@cache
def largest_tail(n1, n2, cells, x):
    """The largest Pr(n₁KL₁ + n₂KL₂ ≥ x) among some distributions; a guess where there are many rows."""
    if n2 == 0:
        return 0.0 if x > 0 else 1.0
    if max(math.comb(n + cells - 1, cells - 1) for n in (n1, n2)) > 1000 or n2 > ENUMERABLE:
        freedom = (cells - 1) * (1 + (n1 > 0))
        return 1.0 if x < 0.9 * chdtri(freedom, 0.9) / 2 else 0.0
    counts = [outcomes(n, cells) for n in (n1, n2)]
    candidates, found = distributions(cells, 6, seed=1), 0.0
    for p, q in product(candidates, candidates):
        values = np.add.outer(statistic(counts[0], p), statistic(counts[1], q)).ravel()
        weights = np.outer(probabilities(counts[0], p), probabilities(counts[1], q)).ravel()
        found = max(found, float(exact_tail(values, weights, np.array([x]))[0]))
    return found


def _dot(one, other):
    return sum((a * b for a, b in zip(one, other, strict=True)), mpf(0))


def _flat(nested, shape):
    assert type(nested) is list
    assert len(nested) == shape[0]
    return nested if len(shape) == 1 else [x for part in nested for x in _flat(part, shape[1:])]


def _once(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def _never(name):
    raise AssertionError(f"{name} in a file that was said to be fine")


def _level(given):
    return math.inf if given == "infinity" else given
