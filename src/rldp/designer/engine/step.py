r"""One iteration: a direction, its correction, a step.

Newton's system at an iterate is factorised once and solved twice: for the direction to a smaller μ, and
again with the second-order terms along that direction, those of the products of slacks and multipliers
and those of the constraints themselves. A correction that gets nowhere is taken in shares. In large tables,
whose factorisation is dear, a short step is corrected once more, by the second-order terms along itself. The
point and the multipliers each go as far as they can. See ``docs/theory.md``, 'Direction and corrections'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rldp.designer.engine.algebra.arrays import Constant, Layout, along, choose, flat, reshape
from rldp.designer.engine.newton import NewtonSystem
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import PrivacyTerm, SecondOrder, UtilityTerm
from rldp.designer.engine.terms.utility import expected
from rldp.theory.namespace import Array, namespace
from rldp.theory.nested_mean import Variation

__all__ = ["Iterate", "advance"]


@dataclass(frozen=True)
class Centre(Constant):
    """Where slacks lie side by side, and what their products with multipliers are on the central path."""

    layout: Layout
    shares: Array  # (M,): in units of μ
    total: float

    @classmethod
    def of(cls, q: Array, privacy: PrivacyTerm, utility: UtilityTerm) -> Centre:
        xp, layout = namespace(q), Layout.of((q, *privacy.slacks, *utility.slacks))
        kinds = zip(layout.places, (1.0, *privacy.shares, *utility.shares), strict=True)
        parts = [xp.full((place.stop - place.start,), share, dtype=q.dtype) for (place, _), share in kinds]
        shares = xp.concat(parts)
        return cls(layout, shares, float(xp.sum(shares)))


@dataclass(frozen=True)
class Iterate:
    """A strictly private point with its multipliers."""

    q: Array  # (K, Y, |S|, U)
    l: Array  # noqa: E741 — multipliers of Q > 0, as in docs/theory.md
    nu: Array  # (K, |S|U)
    privacy: PrivacyTerm
    utility: UtilityTerm
    centre: Centre
    slacks: Array  # (K, M): all of them side by side
    multipliers: Array  # (K, M)
    mu: Array  # (K,)
    ease: Array  # (K,): below this ratio of multipliers to slacks elimination misses no digits
    rough: Array  # (K,): whether it was found to
    reached: Array  # (K,): length of the step that led here, the shorter of its two

    @classmethod
    def of(
        cls,
        q: Array,
        multipliers: Array,
        nu: Array,
        privacy: PrivacyTerm,
        utility: UtilityTerm,
        centre: Centre,
        ease: Array,
        rough: Array,
        reached: Array,
    ) -> Iterate:
        """With ``multipliers`` (K, M) of all slacks; the terms know where they are, not yet those."""
        layout, end = centre.layout, 1 + len(privacy.slacks)
        slacks = layout.join((q, *privacy.slacks, *utility.slacks))
        mu = namespace(q).vecdot(slacks, multipliers) / centre.total
        parts = layout.split(multipliers)
        privacy, utility = privacy.with_multipliers(parts[1:end]), utility.with_multipliers(parts[end:])
        return cls(q, parts[0], nu, privacy, utility, centre, slacks, multipliers, mu, ease, rough, reached)

    @property
    def unknowns(self) -> tuple[Array, ...]:
        return self.q, self.privacy.eta, self.utility.eta, self.nu


@dataclass(frozen=True)
class Direction:
    """A direction in everything an iterate holds; slacks and multipliers side by side."""

    unknowns: tuple[Array, ...]
    slacks: Array  # (K, M)
    multipliers: Array  # (K, M)
    variation: Variation | None  # of the privacy constraints, unless they are linear
    rough: Array  # (K,): where refinement was needed to find it


@dataclass(frozen=True)
class Lengths:
    """How far a step goes: the point, which is Q and η with their slacks, and the multipliers."""

    point: Array  # (K,)
    multipliers: Array  # (K,)

    @property
    def least(self) -> Array:
        return namespace(self.point).minimum(self.point, self.multipliers)


@dataclass(frozen=True)
class NewtonModel:
    """An iterate and Newton's system there."""

    iterate: Iterate
    distortion: Array
    system: NewtonSystem
    settings: Settings

    @classmethod
    def at(cls, iterate: Iterate, distortion: Array, settings: Settings) -> NewtonModel:
        privacy, utility = iterate.privacy.curvature(settings), iterate.utility.curvature()
        barrier, layout = iterate.l / iterate.q, Layout.of(iterate.unknowns)
        system = NewtonSystem(barrier, distortion, privacy, utility, layout, settings)
        return cls(iterate, distortion, system, settings)

    @property
    def layout(self) -> Layout:
        return self.iterate.centre.layout

    @cached_property
    def _missing(self) -> Array:
        """From the sums of Q to one: (K, |S|U)."""
        q = self.iterate.q
        return flat(1 - namespace(q).sum(q, axis=1))

    @property
    def _utility_from(self) -> int:
        """Where the slacks of the utility begin, in the order of ``layout``."""
        return 1 + len(self.iterate.privacy.slacks)

    def direction(self, target: Array, guide: Direction | None = None, rough: Array = None) -> Direction:
        """Newton's direction towards products ``target`` (K,).

        With a ``guide``, the second-order terms along it are taken into account. Only ``rough`` (K,)
        problems are refined; if not given, those that need it.
        """
        it = self.iterate
        wanted, second_order, variation = target[:, None] * it.centre.shares, None, None
        if guide is not None:
            second, second_order, variation = self._second_order(guide)
            wanted = wanted - second
        aimed = wanted / it.slacks
        aims = self.layout.split(aimed)
        end = self._utility_from
        gq, geta = it.privacy.residual(aims[1:end], second_order)
        pi, geta_utility = it.utility.residual(aims[end:], variation)
        cells = (it.q.shape[0], 1, *it.q.shape[2:])
        rq = aims[0] + reshape(it.nu, cells) - (gq + self.distortion * reshape(pi, cells))
        rhs = (rq, -geta, -geta_utility, self._missing)
        x, rough = self.system.solve(rhs, self.settings.accuracy * it.mu, rough)
        dq, deta, deta_utility, _ = x
        privacy = it.privacy.moves(dq, deta)
        utility = it.utility.moves(self.distortion, dq, deta_utility)
        moves = self.layout.join((dq, *privacy, *utility))
        turns = aimed - it.multipliers * (1 + moves / it.slacks)
        return Direction(x, moves, turns, it.privacy.along(privacy), rough)

    def _second_order(self, guide: Direction) -> tuple[Array, SecondOrder | None, Variation | None]:
        """Second-order terms along a direction: of the products, and where ϱ and π find theirs."""
        privacy, second_order = self.iterate.privacy, None
        second = guide.slacks * guide.multipliers
        if guide.variation is not None:
            place, _ = self.layout.places[1]
            second[:, place] += flat(privacy.z * guide.variation.value_curvature)
            second_order = SecondOrder(guide.variation, self.layout.part(guide.multipliers, 1))
        places = range(self._utility_from, len(self.layout.places))
        moves = tuple(self.layout.part(guide.slacks, place) for place in places)
        return second, second_order, self.iterate.utility.along(moves)

    def reach(self, step: Direction) -> Lengths:
        """How far a step should go: inside all boundaries, as far as second order can tell."""
        point = self._to_boundary(self.iterate.slacks, step.slacks)
        multipliers = self._to_boundary(self.iterate.multipliers, step.multipliers)
        if step.variation is not None:
            slope = self.layout.part(step.slacks, 1)
            point = self.reach_of_sigma(slope, step.variation.value_curvature, point)
        return Lengths(point, multipliers)

    def _to_boundary(self, x: Array, dx: Array) -> Array:
        """How far positive ``x`` (K, M) may go along ``dx``, at most 1: (K,)."""
        xp = namespace(x)
        return 1 / xp.clip(xp.min(dx / x, axis=1) / -self.settings.boundary, min=1.0)

    def reach_of_sigma(self, slope: Array, curve: Array, most: Array) -> Array:
        """Where σ + t·slope + t²·curve has used up all but a share of σ, at ``most`` (K,)."""
        xp = namespace(slope)
        keep = (2 * self.settings.boundary - 1) * self.iterate.privacy.sigma
        inverse = (xp.sqrt(slope * slope - 4 * keep * curve) - slope) / (2 * keep)
        return 1 / xp.maximum(xp.max(flat(inverse), axis=1), 1 / most)

    def tempered(self, plain: Direction, corrected: Direction, lengths: Lengths) -> tuple[Direction, Lengths]:
        """The corrected direction, with less of its correction where it gets nowhere; and how far it goes."""
        xp, step = namespace(plain.slacks), corrected
        for share in (0.5, 0.0):
            lost = ~(lengths.least >= self.settings.near)
            if not bool(xp.any(lost)):
                break
            step, lengths = self.farther(step, lengths, self._between(plain, corrected, share), lost)
        return step, lengths

    def _between(self, one: Direction, other: Direction, share: float) -> Direction:
        """``one`` and a ``share`` of what leads to ``other``."""
        pairs = zip(one.unknowns, other.unknowns, strict=True)
        unknowns = tuple(x + share * (y - x) for x, y in pairs)
        slacks = one.slacks + share * (other.slacks - one.slacks)
        multipliers = one.multipliers + share * (other.multipliers - one.multipliers)
        return Direction(unknowns, slacks, multipliers, self._variation(slacks), other.rough)

    def _variation(self, slacks: Array) -> Variation | None:
        """How the privacy constraints are curved along moves (K, M) of the slacks."""
        return self.iterate.privacy.along(self.layout.split(slacks)[1 : self._utility_from])

    def farther(
        self, one: Direction, lengths: Lengths, other: Direction, short: Array
    ) -> tuple[Direction, Lengths]:
        """The direction that reaches farther, for ``short`` (K,) problems; ``one`` otherwise, and how far."""
        reached = self.reach(other)
        better = short & (reached.least > lengths.least)
        chosen = choose(better, other, one)
        if chosen is not one and chosen is not other:
            chosen = replace(chosen, variation=self._variation(chosen.slacks))
        return chosen, choose(better, reached, lengths)


def advance(iterate: Iterate, distortion: Array, gap_now: Array, settings: Settings) -> tuple[Iterate, Array]:
    """One iteration; the new iterate and the length of its step, the shorter of its two.

    μ stays above the share ``settings.lag`` of the gap, per slack: the more, the more careful.
    """
    xp, model = namespace(iterate.q), NewtonModel.at(iterate, distortion, settings)
    centring = xp.clip(0.5 * (1 - iterate.reached), min=settings.centring)
    target = xp.maximum(centring * iterate.mu, settings.lag * gap_now / iterate.centre.total)
    target = xp.minimum(target, iterate.mu)
    plain = model.direction(target, rough=iterate.rough)
    stiff = xp.max(iterate.multipliers / iterate.slacks, axis=1) > iterate.ease
    step = model.direction(target, plain, None if bool(xp.any(stiff)) else iterate.rough)
    lengths = model.reach(step)
    if not bool(xp.all(lengths.least >= settings.near)):
        if bool(xp.any(step.rough & ~iterate.rough)):  # shares of a correction start from a refined direction
            plain = model.direction(target, rough=step.rough)
        step, lengths = model.tempered(plain, step, lengths)
    if iterate.nu.shape[1] >= settings.large and not bool(xp.all(lengths.least >= settings.far)):
        short = ~(lengths.least >= settings.far)
        step, lengths = model.farther(step, lengths, model.direction(target, step, step.rough), short)
    return _moved(model, step, lengths)


def _moved(model: NewtonModel, step: Direction, lengths: Lengths) -> tuple[Iterate, Array]:
    """The iterate after the step, its point held back until the curved slacks stay positive."""
    iterate, sigma, length = model.iterate, model.iterate.privacy.sigma, lengths.point
    settings = model.settings
    xp, (*unknowns, nu), (*moves, dnu) = namespace(length), iterate.unknowns, step.unknowns
    for _ in range(settings.most_shortenings):
        ways = zip(unknowns, moves, strict=True)
        q, eta, eta_utility = (x + along(length, x) * dx for x, dx in ways)
        privacy = iterate.privacy.at(q, eta)
        inside = privacy.sigma > (1 - settings.boundary) * sigma
        if bool(xp.all(inside)):
            break
        short = ~xp.all(flat(inside), axis=1)
        slope = model.layout.part(step.slacks, 1)
        curve = ((privacy.sigma - sigma) / along(length, sigma) - slope) / along(length, sigma)
        fitting = settings.boundary * model.reach_of_sigma(slope, xp.clip(curve, max=0.0), length)
        length = xp.where(short, fitting, length)
    else:
        length = xp.where(short, 0.0, length)
    utility = iterate.utility.at(expected(model.distortion, q), eta_utility)
    turn = lengths.multipliers[:, None]
    multipliers, nu = iterate.multipliers + turn * step.multipliers, nu + turn * dnu
    least = xp.minimum(length, lengths.multipliers)
    kept = (iterate.centre, iterate.ease)
    return Iterate.of(q, multipliers, nu, privacy, utility, *kept, step.rough, least), least
