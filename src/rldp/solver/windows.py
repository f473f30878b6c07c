r"""Decoupled privacy terms: one window for the probability of an output, whatever the secret.

Instead of two secrets that share a budget, every secret s has all of it: with
:math:`\Delta_s = \Delta/\hat P_s` its conditional lies in a ball of its own, and :math:`P(y|s)` is kept
in one window :math:`[a_y/E, a_y]`, the same for all secrets. A row is a secret and a side of the window,

.. math:: x = Q[s,:,y],\ o = 1 \text{ (upper)};\qquad x = -E\,Q[s,:,y],\ o = -1 \text{ (lower)};

it asks :math:`\sigma = o\,a_y - \eta + g(p) > 0` with :math:`p = \eta - x > 0`, g the power mean of the
ball. There are 2|S| rows per output instead of |S|(|S|−1) pairs, each touches one secret only, and they
meet in :math:`a_y` alone. See ``docs/theory.md``, 'Windows'.
"""

from __future__ import annotations

from dataclasses import dataclass

from rldp.solver.arrays import updated
from rldp.solver.blocks import SeparateBlocks
from rldp.solver.robust import Bend, RobustTerm
from rldp.support import Array, MeanPoint, NestedMean, namespace, row_sum


@dataclass(frozen=True)
class WindowPrivacy(RobustTerm):
    """The rows of every output, upper sides first; ``eta`` holds their η and, last, the output's a."""

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
    def start(
        cls, estimate: Array, e: Array, order: float, budget: Array, q: Array, mu: Array
    ) -> WindowPrivacy:
        """At the uniform protocol ``q``, in the middle of its windows, centred at ``mu``."""
        xp = namespace(q)
        masses = row_sum(estimate)
        seen = xp.astype(masses > 0, masses.dtype)
        known = masses + (1 - seen)
        mean = NestedMean(
            order,
            _both_sides(seen)[:, None, :, None],
            _both_sides(estimate / known[..., None])[:, None, :, None, :],
            _both_sides(budget[:, None] / known)[:, None, :],
        )
        ones = xp.ones_like(masses)
        sign = xp.concat([ones, -e[:, None] * ones], axis=1)[:, None, :, None, None]
        offset = xp.concat([ones, -ones], axis=1)[:, None, :]
        level = (xp.sqrt(e)[:, None] * q[:, :, 0, 0])[..., None]
        shell = cls(sign, offset, mean, q, None, None, None, None, None)  # type: ignore[arg-type]
        top = xp.max(shell._x(q), axis=(-2, -1))
        room = offset * level - top
        excess = xp.minimum(0.5 * room / mean.deficit, mean.deficit**-0.5)
        excess = xp.where(mean.masses[..., 0] > 0, excess, 0.2 * room)
        shell = shell.at(q, xp.concat([top + excess, level], axis=-1))
        return shell.centred(mu)

    def at(self, q: Array, eta: Array) -> WindowPrivacy:
        rows, level = eta[..., :-1], eta[..., -1:]
        point = self.mean.at(rows[..., None, None] - self._x(q))
        return updated(self, q=q, eta=eta, point=point, sigma=self.offset * level - rows + point.value)

    def _x(self, q: Array) -> Array:
        return self.sign * _both_sides(q, axis=2)[..., None, :]

    def to_q(self, rho: Array) -> Array:
        """What entries (K, Y, 2S, 1, U) of the rows mean for Q: (K, Y, S, U)."""
        signed = (self.sign * rho)[..., 0, :]
        half = signed.shape[2] // 2
        return signed[:, :, :half, :] + signed[:, :, half:, :]

    def residual(self, multipliers: tuple[Array, ...], bend: Bend | None = None) -> tuple[Array, Array]:
        """Gradient of the Lagrangian in Q and in (η, a), for the given multipliers.

        With a ``bend``, half its second derivative along that step is added.
        """
        z, rho = multipliers[0], self.rho(multipliers, bend)
        return self.to_q(rho), self.with_level(z - row_sum(rho)[..., 0], z)

    def with_level(self, rows: Array, z: Array) -> Array:
        """Entries of the rows and, last, what multipliers ``z`` of σ > 0 ask of a."""
        return namespace(z).concat([rows, -row_sum(self.offset * z)[..., None]], axis=-1)

    def curvature(self) -> WindowCurvature:
        return WindowCurvature.of(self)

    def moves(self, dq: Array, deta: Array) -> tuple[Array, ...]:
        """Change of the slacks along a step."""
        xp = namespace(dq)
        rows, level = deta[..., :-1], deta[..., -1:]
        dp = rows[..., None, None] - self._x(dq)
        return self.offset * level - rows + xp.vecdot(self.point.gradient, dp)[..., 0], dp

    def weights(self) -> Array:
        """z, scaled down where one side of an output outweighs the other.

        A bound must hold for every a, so both sides have to weigh the same.
        """
        xp = namespace(self.z)
        half = self.z.shape[-1] // 2
        upper, lower = self.z[..., :half], self.z[..., half:]
        above, below = row_sum(upper)[..., None], row_sum(lower)[..., None]
        least = xp.minimum(above, below)
        return xp.concat([upper * (least / above), lower * (least / below)], axis=-1)

    def reduced_cost(self, members: Array) -> Array:
        """What the multipliers add to the cost of each cell and output: (K, Y, |S|, U)."""
        return self.to_q(self.weights()[..., None, None] * members)


@dataclass(frozen=True)
class WindowCurvature:
    r"""Newton's quadratic model of the rows, with η and then a eliminated by hand.

    With :math:`b = \beta\cdot x`, a row contributes :math:`\mathrm{diag}(D)` plus a quadratic form in b and
    :math:`A\cdot x`; a meets x through the same two numbers.
    """

    term: WindowPrivacy
    a: Array  # (K, Y, 2S, U): A
    diagonal: Array  # (K, Y, 2S, U): D
    within: Array  # (K, Y, 2S): curvature of g that is taken back along β
    variance: Array  # (K, Y, 2S): curvature in η without that of σ
    ratio: Array  # (K, Y, 2S): z/σ
    c: Array  # (K, Y, 2S): ∂σ/∂η
    stiffness: Array  # (K, Y, 2S): curvature in η
    level: Array  # (K, Y): curvature in a, once η is eliminated

    @classmethod
    def of(cls, term: WindowPrivacy) -> WindowCurvature:
        point = term.point
        within = term.z * point.value * (1 - point.rho)
        pull = within[..., None, None] * point.beta
        push = term.w * point.inverse
        r = row_sum(point.beta)
        deviation = point.inverse - r[..., None]
        variance = row_sum(pull * point.p * deviation**2 + push)[..., 0]
        ratio = term.z / term.sigma
        c = point.value * r[..., 0] - 1
        stiffness = variance + ratio * c**2
        return cls(
            term,
            (pull * deviation + push)[..., 0, :],
            (pull * point.inverse + push)[..., 0, :],
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

    def blocks(self, barrier: Array) -> SeparateBlocks:
        """The model in Q, with the curvature ``barrier`` (K, Y, S, U) of Q > 0 added."""
        term, xp, half = self.term, namespace(barrier), barrier.shape[2]
        beta, sign = term.point.beta[..., 0, :], term.sign[..., 0, :]
        vectors = xp.stack([sign * beta, sign * self.a], axis=-1)
        bb = self._slope * term.point.value * self.variance / self.stiffness - self.within
        ab, aa = -self._slope * self.c / self.stiffness, -1 / self.stiffness
        kernels = xp.stack([xp.stack([bb, ab], axis=-1), xp.stack([ab, aa], axis=-1)], axis=-2)
        return SeparateBlocks.of(
            barrier + term.to_q(term.sign * self.diagonal[..., None, :]),
            xp.concat([vectors[:, :, :half, ...], vectors[:, :, half:, ...]], axis=-1),
            _block_diagonal(kernels[:, :, :half, ...], kernels[:, :, half:, ...]),
            *self._scaling(barrier),
        )

    def _scaling(self, barrier: Array) -> tuple[Array, Array, Array]:
        """An output with all that belongs to it, scaled up: its Q, the forces that meets, its energy.

        The rows are homogeneous, so σ and p scale along; what they meet is the multipliers themselves.
        In units of a, and with η eliminated.
        """
        term, xp = self.term, namespace(barrier)
        level, multiplier = term.eta[..., -1], barrier * term.q
        charge, slope = term.residual(term.multipliers)
        rows = slope[..., :-1] / self.stiffness
        image = multiplier - charge + self._forces(rows, 0.0)
        products = row_sum(term.z * term.sigma - slope[..., :-1] * rows)
        products = products + xp.sum(term.w * term.point.p, axis=(2, 3, 4))
        products = products + xp.sum(multiplier * term.q, axis=(2, 3))
        unit = level[..., None, None]
        return term.q / unit, image / unit, products / level**2

    def apply(self, dq: Array, deta: Array) -> tuple[Array, Array]:
        """Change of the residual along a step: the model's Hessian without any elimination."""
        term = self.term
        dsigma, dp = term.moves(dq, deta)
        dz = -self.ratio * dsigma
        slope = term.z[..., None, None] * term.point.along(dp).log_gradient_slope + dz[..., None, None]
        rho = term.point.gradient * slope - term.w * term.point.inverse * dp
        return term.to_q(rho), term.with_level(dz - row_sum(rho)[..., 0], dz)

    def reduce(self, geta: Array) -> tuple[Array, Array]:
        """Eliminate (η, a): what a residual in them means for Q, and the step it asks for by itself."""
        eta0 = -self._solved(geta)
        rows, level = eta0[..., :-1], eta0[..., -1:]
        return self._forces(rows, level), eta0

    def _forces(self, rows: Array, level: Array | float) -> Array:
        """What a step in (η, a) means for Q."""
        weight_b = self._slope * (self.c * rows + self.term.offset * level)
        rho = -(weight_b[..., None] * self.term.point.beta[..., 0, :] + rows[..., None] * self.a)
        return self.term.to_q(rho[..., None, :])

    def expand(self, dq: Array, eta0: Array) -> Array:
        """The step in (η, a) that belongs to ``dq``."""
        xp = namespace(dq)
        x = self.term._x(dq)
        pull = self._slope * xp.vecdot(self.term.point.beta, x)[..., 0]
        rows = xp.vecdot(self.a, x[..., 0, :]) + self.c * pull
        level = row_sum(self.term.offset * pull)[..., None]
        return eta0 + self._solved(xp.concat([rows, level], axis=-1))

    def _solved(self, rhs: Array) -> Array:
        """The Hessian in (η, a), an arrow, inverted on ``rhs`` (K, Y, 2S + 1)."""
        rows, level = rhs[..., :-1], rhs[..., -1]
        cross = self.ratio * self.c * self.term.offset
        da = ((level - row_sum(cross * rows / self.stiffness)) / self.level)[..., None]
        return namespace(rhs).concat([(rows - cross * da) / self.stiffness, da], axis=-1)


def _both_sides(x: Array, axis: int = 1) -> Array:
    return namespace(x).concat([x, x], axis=axis)


def _block_diagonal(one: Array, other: Array) -> Array:
    """(..., m, m) twice → (..., 2m, 2m)."""
    xp = namespace(one)
    zero = 0 * one
    return xp.concat([xp.concat([one, zero], axis=-1), xp.concat([zero, other], axis=-1)], axis=-2)
