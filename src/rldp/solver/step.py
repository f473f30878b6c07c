r"""One iteration: predictor, corrector, step.

Newton's system at an iterate is factorised once and solved twice or more: for the affine direction,
which shows how far μ can fall, and for the direction taken, which carries Mehrotra's second-order
terms of the products and those of the constraints themselves. A step that their curvature cuts short
is corrected once more, by the second-order terms along itself. See ``docs/theory.md``, 'Predictor and
corrector'.
"""

from __future__ import annotations

from dataclasses import dataclass

from rldp.solver.arrays import Layout, TermStep, along, choose, flat, longest_step, reshape
from rldp.solver.newton import NewtonSystem
from rldp.solver.privacy import PrivacyTerm
from rldp.solver.utility import UtilityTerm
from rldp.support import Array, namespace

__all__ = ["Iterate", "advance"]

_BOUNDARY = 0.99  # share of the way to the boundary that a step may go
_SIGMA_KEPT = 1e-3  # share of σ that a step must leave; σ is curved, so this is checked
_LEAST_CENTRING = 0.02  # μ falls at most by this factor
_LAG = 0.02  # μ stays above this share of the gap that the dual point has proved so far
_CORRECTIONS = 1  # how often a step that falls short is corrected by its own second-order terms
_FAR = 0.9  # a step that goes this far needs no further correction
_LARGE = 40  # cells from which a factorisation costs more than several corrections: twice as many
_DELICATE = 1e-4  # μ, below which Newton's systems are refined: rounding errors grow like μ^(−2)


@dataclass(frozen=True)
class Iterate:
    """A strictly private point with its multipliers."""

    q: Array  # (K, Y, |S|, U)
    l: Array  # noqa: E741 — multipliers of Q > 0, as in docs/theory.md
    nu: Array  # (K, |S|U)
    privacy: PrivacyTerm
    utility: UtilityTerm

    @property
    def slacks(self) -> tuple[Array, ...]:
        return self.q, *self.privacy.slacks, *self.utility.slacks

    @property
    def multipliers(self) -> tuple[Array, ...]:
        return self.l, *self.privacy.multipliers, *self.utility.multipliers

    @property
    def unknowns(self) -> tuple[Array, ...]:
        return self.q, self.privacy.eta, self.utility.eta, self.nu


@dataclass(frozen=True)
class Direction:
    """A direction in everything an iterate holds."""

    unknowns: tuple[Array, ...]  # as in Iterate
    privacy: TermStep
    utility: TermStep
    slacks: Array  # (K, M), joined
    multipliers: Array  # (K, M), joined


@dataclass(frozen=True)
class Local:
    """What an iteration needs of its iterate: the slacks and multipliers side by side, the system."""

    iterate: Iterate
    distortion: Array
    layout: Layout
    slacks: Array  # (K, M)
    multipliers: Array  # (K, M)
    mu: Array  # (K,)
    system: NewtonSystem
    delicate: bool  # curvatures of order μ and 1/μ meet: elimination alone may miss digits

    @classmethod
    def at(cls, iterate: Iterate, distortion: Array) -> Local:
        layout = Layout.of(iterate.slacks)
        slacks, multipliers = layout.join(iterate.slacks), layout.join(iterate.multipliers)
        mu = namespace(slacks).vecdot(slacks, multipliers) / slacks.shape[1]
        privacy, utility = iterate.privacy.curvature(), iterate.utility.curvature()
        system = NewtonSystem(
            iterate.l / iterate.q, distortion, privacy, utility, Layout.of(iterate.unknowns)
        )
        delicate = bool(namespace(mu).any(mu < _DELICATE))
        return cls(iterate, distortion, layout, slacks, multipliers, mu, system, delicate)

    def direction(self, target: Array, guide: Direction | None = None, weight: Array = None) -> Direction:
        """Newton's direction towards products ``target``.

        With a ``guide``, ``weight`` (K,) of the second-order terms along it are taken into account.
        """
        it, xp = self.iterate, namespace(self.mu)
        wanted, bend, bend_utility = target[:, None], 0.0, 0.0
        if guide is not None:
            second, bend, bend_utility = self._second_order(guide)
            wanted = wanted - weight[:, None] * second
            bend = weight[:, None, None, None, None] * bend
            bend_utility = weight[:, None, None] * bend_utility
        aimed = wanted / self.slacks
        aims = self.layout.split(aimed)
        end = 1 + len(it.privacy.slacks)
        gq, geta = it.privacy.residual(aims[1:end], bend)
        pi, geta_utility = it.utility.residual(aims[end:], bend_utility)
        cells = (it.q.shape[0], 1, *it.q.shape[2:])
        gq = gq + self.distortion * reshape(pi, cells) - aims[0] - reshape(it.nu, cells)
        missing = xp.sum(it.q, axis=1) - 1
        rhs = -self.system.layout.join((gq, geta, geta_utility, missing))
        accuracy = 100.0 if guide is None else 1.0  # the predictor only looks ahead
        x = self.system.layout.split(self.system.solve(rhs, accuracy * self.mu, refine=self.delicate))
        privacy = it.privacy.step(x[0], x[1])
        utility = it.utility.step(flat(xp.sum(self.distortion * x[0], axis=1)), x[2])
        moves = self.layout.join((x[0], *privacy.slacks, *utility.slacks))
        turns = aimed - self.multipliers - self.multipliers / self.slacks * moves
        parts = self.layout.split(turns)
        privacy = TermStep(x[1], privacy.slacks, parts[1:end])
        utility = TermStep(x[2], utility.slacks, parts[end:])
        return Direction(x, privacy, utility, moves, turns)

    def _second_order(self, guide: Direction) -> tuple[Array, Array, Array]:
        """Second-order terms along a direction: of the products, of ϱ and of π."""
        it = self.iterate
        curved, bend = it.privacy.second_order(guide.privacy)
        curved_utility, bend_utility = it.utility.second_order(guide.utility)
        curves = self.layout.join((0 * it.q, *curved, *curved_utility))
        return guide.slacks * guide.multipliers + self.multipliers * curves, bend, bend_utility

    def reach(self, step: Direction) -> Array:
        """How far a step should go: inside all boundaries, as far as second order can tell."""
        xp = namespace(self.mu)
        length = xp.clip(_BOUNDARY * self.longest(step), max=1.0)
        return xp.minimum(length, _predicted_length(self.iterate.privacy, step.privacy))

    def longest(self, step: Direction) -> Array:
        """How far a step can go before a slack or a multiplier vanishes."""
        slacks = longest_step(self.slacks, step.slacks)
        return namespace(slacks).minimum(slacks, longest_step(self.multipliers, step.multipliers))


def advance(iterate: Iterate, distortion: Array, gap_now: Array) -> tuple[Iterate, Array]:
    """One predictor–corrector iteration; the new iterate and the length of its step."""
    xp = namespace(iterate.q)
    local = Local.at(iterate, distortion)
    mu, count = local.mu, local.slacks.shape[1]
    affine = local.direction(0 * mu)
    reach = xp.clip(local.longest(affine), max=1.0)
    slacks = local.slacks + reach[:, None] * affine.slacks
    multipliers = local.multipliers + reach[:, None] * affine.multipliers
    centring = xp.clip((xp.vecdot(slacks, multipliers) / (mu * count)) ** 3, min=_LEAST_CENTRING)
    target = xp.minimum(xp.maximum(centring * mu, _LAG * gap_now / count), mu)
    step = local.direction(target, affine, reach * (1 - target / mu) ** 2)
    length = local.reach(step)
    for _ in range(_CORRECTIONS if iterate.nu.shape[1] < _LARGE else 2 * _CORRECTIONS):
        if bool(xp.all(length >= _FAR)):
            break
        again = local.direction(target, step, xp.ones_like(mu))
        reached = local.reach(again)
        step = choose(reached > length, again, step)
        length = xp.maximum(reached, length)
    return _moved(local, step, length)


def _moved(local: Local, step: Direction, length: Array) -> tuple[Iterate, Array]:
    """The iterate after the step, shortened until the curved slacks stay positive."""
    xp = namespace(length)
    iterate = local.iterate
    sigma = iterate.privacy.slacks[0]
    for _ in range(60):
        q, eta, eta_utility, nu = (
            x + along(length, x) * dx for x, dx in zip(iterate.unknowns, step.unknowns, strict=True)
        )
        privacy = iterate.privacy.at(q, eta)
        short = ~xp.all(flat(privacy.slacks[0] > _SIGMA_KEPT * sigma), axis=1)
        if not bool(xp.any(short)):
            break
        length = xp.where(short, 0.9 * length, length)
    else:
        length = xp.where(short, 0.0, length)
    utility = iterate.utility.at(flat(xp.sum(local.distortion * q, axis=1)), eta_utility)
    multipliers = local.layout.split(local.multipliers + length[:, None] * step.multipliers)
    end = 1 + len(privacy.slacks)
    privacy = privacy.with_multipliers(multipliers[1:end])
    utility = utility.with_multipliers(multipliers[end:])
    return Iterate(q, multipliers[0], nu, privacy, utility), length


def _predicted_length(term: PrivacyTerm, step: TermStep) -> Array:
    """Where the second-order expansion of σ says that a step must end: (K,), about 1 if nowhere.

    σ + t·dσ + t²·c keeps a share of σ up to the positive root of a concave quadratic.
    """
    xp = namespace(term.slacks[0])
    keep, slope = (1 - 2 * _SIGMA_KEPT) * term.slacks[0], step.slacks[0]
    curve = term.sigma_curvature(step)
    root = 2 * keep / (xp.sqrt(slope**2 - 4 * curve * keep) - slope + 1e-300)
    root = xp.where(root > 0, root, 1.0)
    return xp.clip(xp.min(flat(root), axis=1), max=1.0)
