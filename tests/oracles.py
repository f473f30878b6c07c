"""Slow, independent answers that the library's closed forms are held against.

Nothing here knows the support functions of the library. Suprema over a set are found by walking
through the joint distributions themselves, values of the nested mean in decimal arithmetic from the
formula as it is written down, and best protocols by cutting planes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.stats import chi2

TRACE = 1e-12  # mass of a secret that was never seen but whose conditional matters


def radius_of(order: float, counts: np.ndarray, alpha: float = 0.05) -> float:
    """Radius of the confidence set of a power-divergence test with χ² quantiles."""
    quantile = chi2.ppf(1 - alpha, counts.size - 1) / counts.sum()
    return quantile / 2 if order == 0 else order * (order + 1) / 2 * quantile


def divergence(estimate: np.ndarray, joint: np.ndarray, order: float) -> float:
    """Σ P̂ log(P̂/P) for order 0, Σ P̂ [(P̂/P)^λ − 1] otherwise; cells never seen cost nothing."""
    seen = estimate > 0
    p_hat, p = estimate[seen], joint[seen]
    if order == 0:
        return float(np.sum(p_hat * np.log(p_hat / p)))
    return float(np.sum(p_hat * np.expm1(order * np.log(p_hat / p))))


def assert_in_set(counts: np.ndarray, joint: np.ndarray, order: float, radius: float) -> None:
    assert (joint >= 0).all()
    assert abs(joint.sum() - 1) <= 1e-12
    assert divergence(counts / counts.sum(), joint, order) <= radius * (1 + 1e-12) + 1e-15


@dataclass(frozen=True)
class Maximum:
    """A value, and a member of the set that attains it."""

    value: float
    joint: np.ndarray


@dataclass(frozen=True)
class JointSet:
    """The distributions P on (secret, value) with divergence(P̂, P) ≤ radius, to be searched directly.

    A cell that was seen is moved by the logarithm of P/P̂, in units of √radius, so that every sample
    size looks alike; a cell that was not seen carries its probability itself, in units of the radius.
    """

    counts: np.ndarray
    order: float
    radius: float

    @property
    def estimate(self) -> np.ndarray:
        return self.counts / self.counts.sum()

    def largest_mean(self, v: np.ndarray) -> Maximum:
        """sup Σ P v."""
        return self._maximise(lambda p: (float((p * v).sum()), v), (), size=np.ptp(v))

    def largest_difference(self, first: int, second: int, a: np.ndarray, b: np.ndarray) -> Maximum:
        """sup Σ_u P(u|first) a_u − Σ_u P(u|second) b_u."""

        def difference(p: np.ndarray) -> tuple[float, np.ndarray]:
            (top, d_top), (bottom, d_bottom) = _given(p, first, a), _given(p, second, b)
            return top - bottom, d_top - d_bottom

        return self._maximise(difference, (first, second), size=max(np.ptp(a), np.ptp(b)))

    def largest_log_ratio(self, first: int, second: int, a: np.ndarray, b: np.ndarray) -> Maximum:
        """sup log Σ_u P(u|first) a_u − log Σ_u P(u|second) b_u."""

        def log_ratio(p: np.ndarray) -> tuple[float, np.ndarray]:
            (top, d_top), (bottom, d_bottom) = _given(p, first, a), _given(p, second, b)
            return math.log(top / bottom), d_top / top - d_bottom / bottom

        return self._maximise(log_ratio, (first, second), size=1.0)

    def _maximise(self, objective: Callable, conditioned: tuple[int, ...], size: float) -> Maximum:
        """Sequential quadratic programming from two starts; the best member that was reached.

        ``size`` is how much the objective can vary, up to a factor. A secret in ``conditioned`` that
        was never seen gets no more than a trace of mass: that is enough to give it any conditional
        at all, at next to no cost.
        """
        estimate, order, radius = self.estimate, self.order, self.radius
        flat = estimate.ravel()
        seen = flat > 0
        weight = flat[seen]
        step = min(math.sqrt(radius), 1.0)
        unit = step * size if size > 0 else 1.0
        scale = np.full(estimate.shape, step**2)
        traced = np.zeros(estimate.shape, dtype=bool)
        for secret in conditioned:
            if not self.counts[secret].any():
                scale[secret], traced[secret] = TRACE, True
        scale, traced = scale.ravel(), traced.ravel()

        def tilt(z: np.ndarray) -> np.ndarray:
            """Logarithm of P/P̂ over seen cells; the search may leap, but not so far that it overflows."""
            return np.clip(step * z[seen], -300, 300)

        def joint(z: np.ndarray) -> np.ndarray:
            p = scale * z
            p[seen] = weight * np.exp(tilt(z))
            return p

        def joint_slope(p: np.ndarray) -> np.ndarray:
            return np.where(seen, step * p, scale)

        def cost(z: np.ndarray) -> tuple[float, np.ndarray]:
            p = joint(z)
            value, slope = objective(p.reshape(estimate.shape))
            return -value / unit, -slope.ravel() * joint_slope(p) / unit

        def slack(z: np.ndarray) -> float:
            x = tilt(z)
            spent = -weight @ x if order == 0 else weight @ np.expm1(-order * x)
            return 1 - spent / radius

        def slack_slope(z: np.ndarray) -> np.ndarray:
            slope = np.zeros(flat.size)
            slope[seen] = step * weight * (1 if order == 0 else order * np.exp(-order * tilt(z)))
            return slope / radius

        constraints = [
            {
                "type": "eq",
                "fun": lambda z: (joint(z).sum() - 1) / step**2,
                "jac": lambda z: joint_slope(joint(z)) / step**2,
            },
            {"type": "ineq", "fun": slack, "jac": slack_slope},
        ]
        bounds = [
            (None, None) if was_seen else (0, 1 if trace else None)
            for was_seen, trace in zip(seen, traced, strict=True)
        ]
        rng = np.random.default_rng(0)
        found = []
        for start in range(2):  # to 1e-14 in units of the objective, for below that it is moved by rounding
            unseen = np.where(traced, 0.5, 0.01) if start == 0 else rng.uniform(0.01, 0.2, flat.size)
            z = np.where(seen, 0.5 * rng.normal(size=flat.size) * (start > 0), unseen)
            result = minimize(
                cost,
                z,
                jac=True,
                method="SLSQP",
                bounds=bounds,
                constraints=constraints,
                options={"ftol": 1e-14, "maxiter": 1000},
            )
            if np.isfinite(result.x).all():
                member = self._member(np.maximum(joint(result.x), 0).reshape(estimate.shape))
                found.append(Maximum(objective(member)[0], member))
        return max(found, key=lambda maximum: maximum.value)

    def _member(self, joint: np.ndarray) -> np.ndarray:
        """``joint`` scaled to one and moved towards the estimate until it is in the set, by convexity."""
        joint = joint / joint.sum()
        spent = divergence(self.estimate, joint, self.order)
        if spent > self.radius:
            share = min(1.0, (spent - self.radius * (1 - 1e-14)) / spent)
            joint = (1 - share) * joint + share * self.estimate
        assert_in_set(self.counts, joint, self.order, self.radius)
        return joint


def _given(p: np.ndarray, secret: int, a: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ_u P(u|secret) a_u, and its gradient in P; flat where a search has leapt to no mass at all."""
    mass, slope = p[secret].sum(), np.zeros_like(p)
    if mass == 0:
        return float(a.mean()), slope
    value = float(p[secret] @ a / mass)
    slope[secret] = (a - value) / mass
    return value, slope


def largest_privacy_excess(joint_set: JointSet, matrix: np.ndarray, epsilon: float) -> float:
    """sup over the set, the outputs and the pairs of P(y|s1) − e^ε P(y|s2)."""
    return max(
        joint_set.largest_difference(s1, s2, matrix[s1, :, y], math.exp(epsilon) * matrix[s2, :, y]).value
        for y in range(matrix.shape[2])
        for s1, s2 in permutations(range(len(matrix)), 2)
    )


def largest_leakage(joint_set: JointSet, matrix: np.ndarray) -> float:
    """sup over the set, the outputs and the pairs of log P(y|s1)/P(y|s2), for positive protocols."""
    return max(
        joint_set.largest_log_ratio(s1, s2, matrix[s1, :, y], matrix[s2, :, y]).value
        for y in range(matrix.shape[2])
        for s1, s2 in permutations(range(len(matrix)), 2)
    )


def nominal_privacy_excess(counts: np.ndarray, matrix: np.ndarray, epsilon: float) -> Fraction:
    """Largest P(y|s1) − e^ε P(y|s2) under the estimate, over the secrets that were seen; exactly."""
    e = Fraction(math.exp(epsilon))
    outputs = [
        [
            sum(
                Fraction(int(c), int(row.sum())) * Fraction(float(q))
                for c, q in zip(row, column, strict=True)
            )
            for column in table.T
        ]
        for row, table in zip(counts, matrix, strict=True)
        if row.any()
    ]
    return max(
        p1 - e * p2 for one, other in permutations(outputs, 2) for p1, p2 in zip(one, other, strict=True)
    )


def largest_difference_by_cones(
    counts: np.ndarray, order: float, radius: float, first: int, second: int, a: np.ndarray, b: np.ndarray
) -> float:
    """As :meth:`JointSet.largest_difference`, by a conic solver over the pairs of conditionals.

    A pair (R1, R2) comes from a member of the set iff
    Σ_i P̂_i [(Σ_u P̂_{u|i} (P̂_{u|i}/R_iu)^λ)^{1/(1+λ)} − 1] ≤ (1 + B)^{1/(1+λ)} − 1, and for λ = 0 iff
    Σ_i P̂_i KL(P̂_{·|i} ‖ R_i) ≤ r. Both secrets must have been seen.
    """
    import cvxpy as cp

    estimate = counts / counts.sum()
    parts, members = [], []
    for secret in (first, second):
        mass = estimate[secret].sum()
        conditional = estimate[secret] / mass
        seen = conditional > 0
        member = cp.Variable(len(conditional), nonneg=True)
        if order == 0:
            shift = conditional[seen] - member[seen]  # kl_div(x, y) is x log(x/y) − x + y
            parts.append(mass * cp.sum(cp.kl_div(conditional[seen], member[seen]) + shift))
        else:
            powers = cp.power(member[seen], -order / (1 + order))
            norm = cp.pnorm(cp.multiply(conditional[seen], powers), 1 + order)
            parts.append(mass * (norm - 1))
        members.append(member)
    budget = radius if order == 0 else (1 + radius) ** (1 / (1 + order)) - 1
    problem = cp.Problem(
        cp.Maximize(members[0] @ a - members[1] @ b),
        [cp.sum(parts) <= budget, cp.sum(members[0]) == 1, cp.sum(members[1]) == 1],
    )
    return float(problem.solve(solver=cp.CLARABEL))


def exactly(x: float | Fraction) -> Decimal:
    """A float as it is, a fraction to the digits of the context."""
    return Decimal(x.numerator) / x.denominator if isinstance(x, Fraction) else Decimal(float(x))


def exact_mean(
    order: float,
    masses: np.ndarray,
    conditionals: np.ndarray,
    budget: float,
    p: list[list[Decimal]] | np.ndarray,
    digits: int = 60,
) -> Decimal:
    """The nested mean G(p) as its formula is written, in decimal arithmetic.

    G = T^{1/θ} C^{1−1/θ}, T = Σ_i P_i^{1−θ} M_i^θ, M_i = (Σ_u P_{u|i} p_iu^ρ)^{1/ρ}, C = Δ + Σ_i P_i; for
    order 0 it is P̄ e^{−r/P̄} Π_i (GM_i/P_i)^{P_i/P̄} with geometric means GM_i and P̄ = Σ_i P_i.
    """
    with localcontext() as context:
        context.prec = digits
        context.Emin, context.Emax = -(10**9), 10**9
        lam = Decimal(float(order))
        groups = []
        for mass, row, values in zip(masses, conditionals, p, strict=True):
            cells = [(exactly(w), Decimal(x)) for w, x in zip(row, values, strict=True) if w > 0]
            if mass > 0:
                groups.append((exactly(mass), cells))
        total = sum((mass for mass, _ in groups), Decimal(0))
        if not groups:
            return total
        budget = Decimal(float(budget))
        if order == 0:
            logarithm = sum(mass * (sum(w * x.ln() for w, x in cells) - mass.ln()) for mass, cells in groups)
            return total * ((logarithm - budget) / total).exp()
        rho, theta = lam / (1 + lam), lam / (1 + 2 * lam)
        means = [(mass, sum(w * x**rho for w, x in cells) ** (1 / rho)) for mass, cells in groups]
        t = sum(mass ** (1 - theta) * mean**theta for mass, mean in means)
        return t ** (1 / theta) * (budget + total) ** (1 - 1 / theta)


def best_distortion_by_cutting_planes(
    counts: np.ndarray,
    epsilon: float,
    distortion: np.ndarray,
    privacy: JointSet | None = None,
    utility: JointSet | None = None,
    tolerance: float = 1e-6,
    rounds: int = 200,
) -> float:
    """Smallest (worst) expected distortion of a private protocol; a set of ``None`` is the estimate.

    Every cut is the constraint for one member of a set, found by the direct search, so that the
    linear program's value never exceeds the optimum; it stops once the protocol that the program
    proposes breaks no constraint by more than ``tolerance``. Without sets it is one linear program.
    """
    shape = (*counts.shape, distortion.shape[1])
    cells, size = counts.size, counts.size * shape[2]
    e = math.exp(epsilon)

    def privacy_cut(joint: np.ndarray, y: int, s1: int, s2: int) -> np.ndarray:
        row = np.zeros(shape)
        row[s1, :, y] = joint[s1] / joint[s1].sum()
        row[s2, :, y] = -e * joint[s2] / joint[s2].sum()
        return np.append(row, 0.0)

    def utility_cut(joint: np.ndarray) -> np.ndarray:
        return np.append(joint[:, :, None] * distortion, -1.0)

    estimate = counts / counts.sum()
    seen = counts.any(axis=1)
    triples = [(y, s1, s2) for y in range(shape[2]) for s1, s2 in permutations(range(shape[0]), 2)]
    cuts = [privacy_cut(estimate, y, s1, s2) for y, s1, s2 in triples if seen[s1] and seen[s2]]
    cuts.append(utility_cut(estimate))
    row_sums = np.hstack([np.kron(np.eye(cells), np.ones(shape[2])), np.zeros((cells, 1))])
    for _ in range(rounds):
        program = linprog(
            np.append(np.zeros(size), 1.0),
            A_ub=np.array(cuts),
            b_ub=np.zeros(len(cuts)),
            A_eq=row_sums,
            b_eq=np.ones(cells),
            bounds=[(0, 1)] * size + [(0, None)],
        )
        matrix, bound = program.x[:size].reshape(shape), program.x[size]
        worst = 0.0
        if privacy is not None:
            for y, s1, s2 in triples:
                found = privacy.largest_difference(s1, s2, matrix[s1, :, y], e * matrix[s2, :, y])
                cuts.append(privacy_cut(found.joint, y, s1, s2))
                worst = max(worst, found.value)
        if utility is not None:
            found = utility.largest_mean((matrix * distortion).sum(axis=2))
            cuts.append(utility_cut(found.joint))
            worst = max(worst, found.value - bound)
        if worst <= tolerance:
            return float(bound)
    raise AssertionError(f"cutting planes are still violated by {worst:g} after {rounds} rounds")


@dataclass(frozen=True)
class PairSets:
    """A set of its own for each pair of secrets, {n₁KL(P̂₁‖P₁) + n₂KL(P̂₂‖P₂) ≤ x}, to be searched directly.

    KL(P̂‖P) is that of the secrets and the P̂_s-weighted ones of the conditionals. So the joint distributions
    with n·KL(P̂‖P) ≤ x have just these conditionals of the pair: the others can be left at their estimates.
    """

    counts: np.ndarray
    radii: dict[tuple[int, int], float]

    def _of(self, first: int, second: int) -> JointSet:
        radius = self.radii[min(first, second), max(first, second)]
        return JointSet(self.counts, 0.0, radius / self.counts.sum())

    def largest_difference(self, first: int, second: int, a: np.ndarray, b: np.ndarray) -> Maximum:
        return self._of(first, second).largest_difference(first, second, a, b)

    def largest_log_ratio(self, first: int, second: int, a: np.ndarray, b: np.ndarray) -> Maximum:
        return self._of(first, second).largest_log_ratio(first, second, a, b)

    def assert_holds(self, joint: np.ndarray) -> None:
        """``joint`` lies in the sets of all pairs of secrets that it gives mass to."""
        spent = {}
        for secret, (row, p) in enumerate(zip(self.counts, joint, strict=True)):
            if p.sum() > 0:
                seen = row > 0
                spent[secret] = float(row[seen] @ np.log(row[seen] / row.sum() / (p[seen] / p.sum())))
        for (first, second), radius in self.radii.items():
            if first in spent and second in spent:
                assert spent[first] + spent[second] <= radius * (1 + 1e-12)


@dataclass(frozen=True)
class Everything:
    """Every distribution: what hurts most are point masses."""

    shape: tuple[int, int]

    def largest_difference(self, first: int, second: int, a: np.ndarray, b: np.ndarray) -> Maximum:
        joint = np.full(self.shape, 1.0)
        joint[first], joint[second] = 0.0, 0.0
        joint[first, a.argmax()], joint[second, b.argmin()] = 1.0, 1.0
        return Maximum(float(a.max() - b.min()), joint / joint.sum())


def best_distortion_for_every_distribution(
    weights: np.ndarray, epsilon: float, distortion: np.ndarray
) -> float:
    """Smallest Σ w d Q with Q[s1,u1,y] ≤ e^ε Q[s2,u2,y] for all s1 ≠ s2, u1, u2, y: the program as it is."""
    secrets, values = weights.shape
    outputs = distortion.shape[1]
    index = np.arange(secrets * values * outputs).reshape(secrets, values, outputs)
    rows = []
    for s1, s2 in permutations(range(secrets), 2):
        for u1 in range(values):
            for u2 in range(values):
                for y in range(outputs):
                    row = np.zeros(index.size)
                    row[index[s1, u1, y]], row[index[s2, u2, y]] = 1.0, -math.exp(epsilon)
                    rows.append(row)
    program = linprog(
        (weights[:, :, None] * distortion).ravel(),
        A_ub=np.array(rows) if rows else None,
        b_ub=np.zeros(len(rows)) if rows else None,
        A_eq=np.kron(np.eye(weights.size), np.ones(outputs)),
        b_eq=np.ones(weights.size),
        bounds=(0, 1),
    )
    return float(program.fun)
