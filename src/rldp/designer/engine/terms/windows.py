r"""Privacy terms for windows: the probability of an output lies in the same interval for every secret.

For pairs, two secrets share a budget. Here every secret s has all of it: with
:math:`\Delta_s = \Delta/\hat P_s` its conditional lies in a separate ball, and :math:`P(y|s)` is kept in a
window :math:`[a_y/E, a_y]` that is the same for all secrets. A row is a secret and a side of the window,

.. math:: x = Q[s,:,y],\ o = 1 \text{ (upper)};\qquad x = -E\,Q[s,:,y],\ o = -1 \text{ (lower)};

with the constraint :math:`\sigma = o\,a_y - \eta + g(p) > 0` for :math:`p = \eta - x > 0`, where g is the
power mean of the ball. Under the estimate alone, windows are equivalent to privacy, and
:math:`\sigma = o\,a_y - \hat P_{\cdot|s}\cdot x > 0`. There are 2|S| rows per output instead of |S|(|S|−1)
pairs. Each row involves one secret, and rows are coupled by :math:`a_y` only. See ``docs/theory.md``,
'Windows'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rldp.designer.engine.algebra.interface import Blocks
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.algebra.low_rank_windows import LowRankWindows
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import LinearTerm, RobustTerm, SecondOrder, Start
from rldp.theory.arrays import Array, namespace, on_path, per_secret, reshape, row_sum, updated
from rldp.theory.nested_mean import MeanPoint, NestedMean


class Windows:
    """What all windows share: the level a, and the weights of rows, upper sides of all secrets first."""

    offset: Array  # (K, 1, 2S): o
    z: Array  # (K, Y, 2S)

    def level_of(self, z: Array) -> Array:
        """Map multipliers ``z`` of σ > 0 to a: (K, Y, 1)."""
        return -row_sum(self.offset * z)[..., None]

    def weights(self) -> Array:
        """Return z, scaled down so that both sides of an output have the same weight.

        The bound must hold for every a, which requires equal weights.
        """
        xp, z = namespace(self.z), self.offset**2 * self.z
        half = z.shape[-1] // 2
        upper, lower = z[..., :half], z[..., half:]
        above, below = row_sum(upper)[..., None], row_sum(lower)[..., None]
        least = xp.minimum(above, below)
        return xp.concat([upper * (least / above), lower * (least / below)], axis=-1)


@dataclass(frozen=True)
class NominalWindows(Windows, LinearTerm):
    """Linear rows under the estimate; rows of an unseen secret are satisfied by definition. ``eta`` is a."""

    sign: Array  # (K, 1, 2S): 1 and −E
    offset: Array  # (K, 1, 2S): 0 in rows that are satisfied by definition
    conditionals: Array  # (K, 1, S, U): also 0 there
    q: Array  # (K, Y, S, U)
    eta: Array  # (K, Y, 1)
    sigma: Array  # (K, Y, 2S)
    z: Array  # (K, Y, 2S)

    @classmethod
    def start(cls, at: Start) -> NominalWindows:
        """Return the term at the start of the path, in the middle of its windows."""
        seen, _, conditionals = _per_secret(at.private_centre)
        sign, offset, level = _middle(at, seen)
        offset, unset = offset * _both_sides(seen)[:, None, :], offset[..., :0]
        term = cls(sign, offset, conditionals[:, None, ...], at.q, level, unset, unset).at(at.q, level)
        return updated(term, z=on_path(at.mu, term.sigma))

    def at(self, q: Array, eta: Array) -> NominalWindows:
        sigma = self.moves(q, eta)[0] + (1 - self.offset**2)
        return updated(self, q=q, eta=eta, sigma=sigma)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        return (self.offset * deta - self.seen_by_rows(dq),)

    def seen_by_rows(self, q: Array) -> Array:
        """Return the mean of x under the estimate: (K, Y, 2S)."""
        mean = namespace(q).vecdot(self.conditionals, q)
        return self.sign * _both_sides(mean, axis=2)

    def cost_of(self, z: Array) -> Array:
        """Return the contribution of multipliers ``z`` to the cost of Q: (K, Y, |S|, U)."""
        return _summed_sides(self.sign * z)[..., None] * self.conditionals

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q and in a, for the given multipliers."""
        return self.cost_of(multipliers[0]), self.level_of(multipliers[0])

    def curvature(self, settings: Settings) -> NominalWindowsCurvature:
        return NominalWindowsCurvature(self)

    def members(self) -> Array:
        """Return the only member of the projected set, the estimated conditionals: (K, Y, 2S, 1, U)."""
        both = _both_sides(self.conditionals, axis=2)[..., None, :]
        return namespace(both).broadcast_to(both, (*self.z.shape, 1, both.shape[-1]))

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the weighted ``members`` to the cost of Q: (K, Y, |S|, U)."""
        return self.cost_of(self.weights())


@dataclass(frozen=True)
class NominalWindowsCurvature:
    """Newton's quadratic model of the linear rows, with a eliminated analytically."""

    term: NominalWindows

    @cached_property
    def _weight(self) -> Array:
        return self.term.z / self.term.sigma

    @cached_property
    def _level(self) -> Array:
        """Curvature in a: (K, Y, 1)."""
        return row_sum(self.term.offset**2 * self._weight)[..., None]

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, S, U) of Q > 0."""
        return LowRankWindows.of(self.low_rank(barrier), settings)

    def low_rank(self, barrier: Array) -> LowRankModel:
        """Return the same before factorisation."""
        term = self.term
        kernel = _summed_sides(term.sign**2 * self._weight)[..., None, None]
        vectors = term.conditionals[..., None]
        products = row_sum(term.offset**2 * term.z * term.sigma)
        scaling = _scaling(term, barrier, term.privacy_cost(), products)
        return LowRankModel(barrier, vectors, kernel, *scaling, linked=False)

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step: the full Hessian, without elimination."""
        return self.term.residual((-self._weight * self.term.moves(dq, deta)[0],))

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate a: return the effect of its residual on Q, and the step in a at dQ = 0."""
        eta0 = -geta / self._level
        return -self.term.cost_of(self._weight * self.term.offset * eta0), eta0

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the step in a that corresponds to ``dq``."""
        return eta0 - self.term.level_of(self._weight * self.term.seen_by_rows(dq)) / self._level


@dataclass(frozen=True)
class RobustWindows(Windows, RobustTerm):
    """The rows of every output, upper sides first; ``eta`` holds the rows' η followed by the output's a."""

    sign: Array  # (K, 1, 2S, 1, 1): 1 and −E
    offset: Array  # (K, 1, 2S): o
    mean: NestedMean  # of the balls: (K, 1, 2S, 1, U)
    q: Array  # (K, Y, S, U)
    eta: Array  # (K, Y, 2S + 1)
    point: MeanPoint  # at p (K, Y, 2S, 1, U)
    sigma: Array  # (K, Y, 2S)
    z: Array  # (K, Y, 2S)
    w: Array  # (K, Y, 2S, 1, U)

    @classmethod
    def start(cls, at: Start) -> RobustWindows:
        """Return the term at the start of the path, in the middle of its windows."""
        xp, q, ball = namespace(at.q), at.q, at.problem.privacy
        assert ball is not None
        seen, known, conditionals = _per_secret(at.private_centre)
        mean = NestedMean(
            ball.lambda_,
            _both_sides(seen)[:, None, :, None],
            _both_sides(conditionals)[:, None, :, None, :],
            _both_sides(_per_secret_budget(at.budget(ball), known))[:, None, :],
        )
        sign, offset, level = _middle(at, seen)
        sign = sign[..., None, None]
        x = _seen(sign, q)
        top = xp.max(x, axis=(-2, -1))
        room = offset * level - top
        excess = xp.minimum(0.5 * room / mean.deficit, mean.deficit**-0.5)
        excess = xp.where(mean.masses[..., 0] > 0, excess, at.settings.start_unseen * room)
        point = mean.at((top + excess)[..., None, None] - x)
        sigma = offset * level - (top + excess) + point.value
        eta, z, w = _join(top + excess, level), on_path(at.mu, sigma), on_path(at.mu, point.p)
        return cls(sign, offset, mean, q, eta, point, sigma, z, w)

    def x_of(self, q: Array) -> Array:
        """Return x for every row: (K, Y, 2S, 1, U)."""
        return _seen(self.sign, q)

    def to_q(self, varrho: Array) -> Array:
        """Map entries (K, Y, 2S, 1, U) of the rows to Q: (K, Y, S, U)."""
        return _summed_sides((self.sign * varrho)[..., 0, :])

    def reduced_cost(self, members: Array) -> Array:
        """Return the contribution of the weighted ``members`` to the cost of Q: (K, Y, |S|, U)."""
        return self.to_q(self.weights()[..., None, None] * members)

    def at(self, q: Array, eta: Array) -> RobustWindows:
        rows, level = eta[..., :-1], eta[..., -1:]
        point = self.mean.at(rows[..., None, None] - self.x_of(q))
        return updated(self, q=q, eta=eta, point=point, sigma=self.offset * level - rows + point.value)

    def residual(
        self, multipliers: tuple[Array, ...], second_order: SecondOrder | None = None
    ) -> tuple[Array, Array]:
        """Return the gradient of the Lagrangian in Q and in (η, a), for the given multipliers.

        If ``second_order`` is given, half the second derivative along that step is added.
        """
        z, varrho = multipliers[0], self.varrho(multipliers, second_order)
        return self.to_q(varrho), _join(z - row_sum(varrho)[..., 0], self.level_of(z))

    def curvature(self, settings: Settings) -> RobustWindowsCurvature:
        return RobustWindowsCurvature.of(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Return the change of the slacks along a step."""
        xp = namespace(dq)
        rows, level = deta[..., :-1], deta[..., -1:]
        dp = rows[..., None, None] - self.x_of(dq)
        return self.offset * level - rows + xp.vecdot(self.point.gradient, dp)[..., 0], dp


@dataclass(frozen=True)
class RobustWindowsCurvature:
    r"""Newton's quadratic model of the rows, with η and then a eliminated analytically.

    With :math:`b = \beta\cdot x`, a row contributes :math:`\mathrm{diag}(D)` plus a quadratic form in b and
    :math:`a\cdot x`; the level :math:`a_y` meets x through the same two numbers.
    """

    term: RobustWindows
    a: Array  # (K, Y, 2S, U): a
    diagonal: Array  # (K, Y, 2S, U): D
    within: Array  # (K, Y, 2S): A, the curvature of g to subtract along β
    variance: Array  # (K, Y, 2S): V, the curvature in η without that of σ
    ratio: Array  # (K, Y, 2S): z/σ
    c: Array  # (K, Y, 2S): ∂σ/∂η
    stiffness: Array  # (K, Y, 2S): curvature in η
    level: Array  # (K, Y): curvature in a, after elimination of η

    @classmethod
    def of(cls, term: RobustWindows) -> RobustWindowsCurvature:
        point = term.point
        within = term.z * point.value * (1 - point.rho)
        a_beta = within[..., None, None] * point.beta
        w_over_p = term.w * point.inverse
        r = row_sum(point.beta)
        deviation = point.inverse - r[..., None]
        variance = row_sum(a_beta * point.p * deviation**2 + w_over_p)[..., 0]
        ratio = term.z / term.sigma
        c = point.value * r[..., 0] - 1
        stiffness = variance + ratio * c**2
        return cls(
            term,
            (a_beta * deviation + w_over_p)[..., 0, :],
            (a_beta * point.inverse + w_over_p)[..., 0, :],
            within,
            variance,
            ratio,
            c,
            stiffness,
            row_sum(ratio * variance / stiffness),
        )

    @property
    def _slope(self) -> Array:
        """∂σ/∂b times z/σ."""
        return self.ratio * self.term.point.value

    def blocks(self, barrier: Array, settings: Settings) -> Blocks:
        """Return the model in Q, plus the curvature ``barrier`` (K, Y, S, U) of Q > 0."""
        return LowRankWindows.of(self.low_rank(barrier), settings)

    def low_rank(self, barrier: Array) -> LowRankModel:
        """Return the same before factorisation."""
        term, xp, half = self.term, namespace(barrier), barrier.shape[2]
        beta, sign = term.point.beta[..., 0, :], term.sign[..., 0, :]
        vectors = xp.stack([sign * beta, sign * self.a], axis=-1)
        bb = self._slope * term.point.value * self.variance / self.stiffness - self.within
        ab, aa = -self._slope * self.c / self.stiffness, -1 / self.stiffness
        kernels = xp.stack([xp.stack([bb, ab], axis=-1), xp.stack([ab, aa], axis=-1)], axis=-2)
        return LowRankModel(
            barrier + term.to_q(term.sign * self.diagonal[..., None, :]),
            xp.concat([vectors[:, :, :half, ...], vectors[:, :, half:, ...]], axis=-1),
            _block_diagonal(kernels[:, :, :half, ...], kernels[:, :, half:, ...]),
            *self._scaling(barrier),
            linked=False,
        )

    def _scaling(self, barrier: Array) -> tuple[Array, Array, Array]:
        term = self.term
        gradient, slope = term.residual(term.multipliers)
        slope = slope[..., :-1]
        rows = slope / self.stiffness
        products = row_sum(term.z * term.sigma - slope * rows) + row_sum(
            row_sum(term.w * term.point.p)[..., 0]
        )
        return _scaling(term, barrier, gradient - self._forces(rows, 0.0), products)

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Return the change of the residual along a step: the full Hessian, without elimination."""
        term = self.term
        dsigma, dp = term.moves(dq, deta)
        dz = -self.ratio * dsigma
        slope = term.z[..., None, None] * term.point.along(dp).log_gradient_slope + dz[..., None, None]
        dvarrho = term.point.gradient * slope - term.w * term.point.inverse * dp
        return term.to_q(dvarrho), _join(dz - row_sum(dvarrho)[..., 0], term.level_of(dz))

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate (η, a): return the effect of their residual on Q, and the step in (η, a) at dQ = 0."""
        eta0 = -self._solved(geta)
        rows, level = eta0[..., :-1], eta0[..., -1:]
        return self._forces(rows, level), eta0

    def _forces(self, rows: Array, level: Array | float) -> Array:
        """Map a step in (η, a) to Q."""
        weight_b = self._slope * (self.c * rows + self.term.offset * level)
        dvarrho = -(weight_b[..., None] * self.term.point.beta[..., 0, :] + rows[..., None] * self.a)
        return self.term.to_q(dvarrho[..., None, :])

    def expand(self, dq: Array, eta0: Array) -> Array:
        """Return the step in (η, a) that corresponds to ``dq``."""
        xp = namespace(dq)
        x = self.term.x_of(dq)
        weight_b = self._slope * xp.vecdot(self.term.point.beta, x)[..., 0]
        rows = xp.vecdot(self.a, x[..., 0, :]) + self.c * weight_b
        level = row_sum(self.term.offset * weight_b)[..., None]
        return eta0 + self._solved(_join(rows, level))

    def _solved(self, rhs: Array) -> Array:
        """Solve with the Hessian in (η, a), an arrowhead matrix, for ``rhs`` (K, Y, 2S + 1)."""
        rows, level = rhs[..., :-1], rhs[..., -1]
        cross = self.ratio * self.c * self.term.offset
        da = ((level - row_sum(cross * rows / self.stiffness)) / self.level)[..., None]
        return _join((rows - cross * da) / self.stiffness, da)


def _scaling(
    term: NominalWindows | RobustWindows, barrier: Array, gradient: Array, products: Array
) -> tuple[Array, Array, Array]:
    """Return Q, the forces and the energy of the direction that scales an output up.

    The rows are homogeneous, so their slacks scale too, and the forces are the multipliers: ``gradient`` in
    Q, and ``products`` with the slacks. Everything is in units of a; parts eliminated before a are left out.
    """
    level, multiplier = term.eta[..., -1], barrier * term.q
    energy = products + namespace(barrier).sum(multiplier * term.q, axis=(2, 3))
    unit = level[..., None, None]
    return term.q / unit, (multiplier - gradient) / unit, energy / level**2


def _per_secret(estimate: Array) -> tuple[Array, Array, Array]:
    """Return whether secrets were seen (0 or 1), masses (1 if unseen) and conditionals: (K, S[, U])."""
    masses, conditionals = per_secret(estimate)
    seen = namespace(estimate).astype(masses > 0, masses.dtype)
    return seen, masses + (1 - seen), conditionals


def _per_secret_budget(budget: Array, known: Array) -> Array:
    """Return the budgets (K, |S|) of the secrets' balls, from those of the pairs: (K, 1) or (K, T).

    Either end of a pair gets the pair's whole budget, which is the same for (s1, s2) and (s2, s1).
    """
    if budget.shape[1] > 1:
        budget = namespace(budget).max(reshape(budget, (*known.shape, -1)), axis=2)
    return budget / known


def _seen(sign: Array, q: Array) -> Array:
    """Return x (K, Y, 2S, 1, U): ``q`` with the signs of the rows."""
    return sign * _both_sides(q, axis=2)[..., None, :]


def _middle(at: Start, seen: Array) -> tuple[Array, Array, Array]:
    """Return the rows' signs and offsets, and the a (K, Y, 1) that centres the uniform protocol."""
    xp, q, ones = namespace(at.q), at.q, namespace(at.q).ones_like(seen)
    e = xp.min(at.e, axis=1)
    sign = xp.concat([ones, -e[:, None] * ones], axis=1)[:, None, :]
    offset = xp.concat([ones, -ones], axis=1)[:, None, :]
    return sign, offset, (xp.sqrt(e)[:, None] * q[:, :, 0, 0])[..., None]


def _join(rows: Array, level: Array) -> Array:
    """Append the entry of a to those of the rows."""
    return namespace(rows).concat([rows, level], axis=-1)


def _both_sides(x: Array, axis: int = 1) -> Array:
    return namespace(x).concat([x, x], axis=axis)


def _summed_sides(x: Array) -> Array:
    """Sum over the sides of the windows: (K, Y, 2S, …) → (K, Y, S, …)."""
    half = x.shape[2] // 2
    return x[:, :, :half, ...] + x[:, :, half:, ...]


def _block_diagonal(one: Array, other: Array) -> Array:
    """Return the block diagonal (..., 2m, 2m) of two matrices (..., m, m)."""
    xp = namespace(one)
    zero = 0 * one
    return xp.concat([xp.concat([one, zero], axis=-1), xp.concat([zero, other], axis=-1)], axis=-2)
