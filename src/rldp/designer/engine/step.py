r"""One iteration: a direction, its correction, a step, and the Newton system.

The Newton system at an iterate is factorised once and solved twice: first for the direction to a smaller μ,
then with the second-order terms along that direction. These come from the products of slacks and multipliers
and from the curved constraints. If the correction shortens the step too much, only a share of it is used. In
large tables, where the factorisation is expensive, the point and the multipliers each use the share with the
longest step, and a short step is corrected once more by the second-order terms along itself. The point and
the multipliers have separate step lengths. See ``docs/theory.md``, 'Direction and corrections'.

The unknowns are Q, the η of privacy and of utility, and the multipliers ν of :math:`\sum_y Q = 1`. After
elimination of η, output y has a matrix :math:`H_y` of size |S||U|. The outputs are coupled only by
:math:`\sum_y Q` and :math:`v = \sum_y d_y Q_y`, so one Schur complement of size |S||U| completes the
elimination. Near the solution the curvatures in :math:`H_y` differ by a factor of 1e18, and elimination alone
loses digits. It then serves as the preconditioner of a residual-minimising iteration (GCR) on the full
system, whose products are accurate. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from rldp.designer.engine.reach import (
    Between,
    CurvedBetween,
    Lengths,
    farthest,
    reach_of_sigma,
    to_boundary,
)
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import (
    PrivacyCurvature,
    PrivacyTerm,
    SecondOrder,
    UtilityCurvature,
    UtilityTerm,
)
from rldp.designer.engine.terms.utility import expected
from rldp.theory.arrays import (
    Array,
    Constant,
    Layout,
    along,
    choose,
    flat,
    namespace,
    put_problems,
    reshape,
    take_problems,
)
from rldp.theory.nested_mean import Variation

__all__ = ["Iterate", "advance"]

Parts: TypeAlias = tuple[Array, ...]  # of Q, η, η of the utility, ν


@dataclass(frozen=True)
class Centre(Constant):
    """The layout of the slacks, and their products with the multipliers on the central path."""

    layout: Layout
    shares: Array  # (M,): in units of μ
    total: float

    @classmethod
    def of(cls, q: Array, privacy: PrivacyTerm, utility: UtilityTerm) -> Centre:
        xp, layout = namespace(q), Layout.of((q, *privacy.slacks, *utility.slacks))
        kinds = zip(layout.places, (privacy.cell_share, *privacy.shares, *utility.shares), strict=True)
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
    slacks: Array  # (K, M): all slacks, concatenated
    multipliers: Array  # (K, M)
    mu: Array  # (K,)
    ease: Array  # (K,): up to this ratio of multipliers to slacks, elimination is accurate
    rough: Array  # (K,): whether elimination was found to be inaccurate
    reached: Array  # (K,): the shorter of the two step lengths that led here

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
        """Build an iterate from ``multipliers`` (K, M) of all slacks, and terms that do not have them yet."""
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
    """A direction in all parts of an iterate; slacks and multipliers are concatenated."""

    unknowns: tuple[Array, ...]
    slacks: Array  # (K, M)
    multipliers: Array  # (K, M)
    variation: Variation | None  # of the privacy constraints, unless they are linear
    rough: Array  # (K,): where refinement was needed


@dataclass(frozen=True)
class NewtonModel:
    """An iterate and its Newton system."""

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
        """One minus the sums of Q: (K, |S|U)."""
        q = self.iterate.q
        return flat(1 - namespace(q).sum(q, axis=1))

    @property
    def _utility_from(self) -> int:
        """Index of the first slack of the utility in ``layout``."""
        return 1 + len(self.iterate.privacy.slacks)

    def direction(self, target: Array, guide: Direction | None = None, rough: Array = None) -> Direction:
        """Return the Newton direction towards products ``target`` (K,).

        If a ``guide`` is given, the second-order terms along it are included. Only ``rough`` (K,) problems
        are refined; by default, those that need it.
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
        """Return the second-order terms along a direction: of the products, and the inputs for ϱ and π."""
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
        """Return the step lengths that stay inside all boundaries, to second order."""
        it = self.iterate
        point = to_boundary(step.slacks / it.slacks, self.settings)
        multipliers = to_boundary(step.multipliers / it.multipliers, self.settings)
        if step.variation is not None:
            slope = self.layout.part(step.slacks, 1)
            point = self.reach_of_sigma(slope, step.variation.value_curvature, point)
        return Lengths(point, multipliers)

    def reach_of_sigma(self, slope: Array, curve: Array, most: Array) -> Array:
        """Return the step length, at most ``most`` (K,), that σ with this slope and curve allows."""
        return reach_of_sigma(self.iterate.privacy.sigma, slope, curve, most, self.settings)

    def _variation(self, slacks: Array) -> Variation | None:
        """Return the curvature of the privacy constraints along moves (K, M) of the slacks."""
        return self.iterate.privacy.along(self.layout.split(slacks)[1 : self._utility_from])

    def blended(
        self, one: Direction, other: Direction, short: Array, kept: tuple[float, Lengths]
    ) -> tuple[Direction, Lengths]:
        """Return the directions between ``one`` and ``other`` with the longest steps, and their lengths.

        This applies to ``short`` (K,) problems; others use the share ``kept`` and its lengths. The point and
        the multipliers choose separately, because a correction for nearly active constraints may lengthen the
        step of one and shorten that of the other.
        """
        xp, it, settings = namespace(short), self.iterate, self.settings
        linear = Between.of(it.slacks, one.slacks, other.slacks, settings)
        point: Between | CurvedBetween = linear
        if one.variation is not None and other.variation is not None:
            slopes = self.layout.part(one.slacks, 1), self.layout.part(other.slacks, 1)
            along_both = one.variation, other.variation
            point = CurvedBetween.of(linear, it.privacy.sigma, slopes, along_both)
        multipliers = Between.of(it.multipliers, one.multipliers, other.multipliers, settings)
        farthest_of_each = [farthest(ways.reach, settings) for ways in (point, multipliers)]
        share, lengths = kept
        shares = Lengths(*(xp.where(short, chosen, share) for chosen, _ in farthest_of_each))
        reached = choose(short, Lengths(*(length for _, length in farthest_of_each)), lengths)
        if bool(xp.all(shares.point == share) & xp.all(shares.multipliers == share)):
            return (other if share else one), reached
        return self._mixed(one, other, shares), reached

    def _mixed(self, one: Direction, other: Direction, shares: Lengths) -> Direction:
        """Return ``one`` plus shares of the way to ``other``, separate for the point and the multipliers."""

        def mixed(x: Array, y: Array, share: Array) -> Array:
            return x + along(share, x) * (y - x)

        *ways, turn = zip(one.unknowns, other.unknowns, strict=True)
        unknowns = *(mixed(*way, shares.point) for way in ways), mixed(*turn, shares.multipliers)
        slacks = mixed(one.slacks, other.slacks, shares.point)
        multipliers = mixed(one.multipliers, other.multipliers, shares.multipliers)
        return Direction(unknowns, slacks, multipliers, self._variation(slacks), other.rough)


def advance(iterate: Iterate, distortion: Array, gap_now: Array, settings: Settings) -> tuple[Iterate, Array]:
    """Run one iteration. Return the new iterate and the shorter of its two step lengths.

    μ stays above the share ``settings.lag`` of the gap per slack; a larger share is more careful.
    """
    xp, model = namespace(iterate.q), NewtonModel.at(iterate, distortion, settings)
    centred = 0.5 * (1 - iterate.reached) * iterate.mu
    target = xp.maximum(centred, settings.lag * gap_now / iterate.centre.total)
    target = xp.minimum(target, iterate.mu)
    plain = model.direction(target, rough=iterate.rough)
    stiff = xp.max(iterate.multipliers / iterate.slacks, axis=1) > iterate.ease
    step = model.direction(target, plain, None if bool(xp.any(stiff)) else iterate.rough)
    lengths = model.reach(step)
    large = iterate.nu.shape[1] >= settings.large
    enough = settings.far if large else settings.near
    if not bool(xp.all(lengths.least >= enough)):
        if bool(xp.any(step.rough & ~iterate.rough)):  # blends start from a refined direction
            plain = model.direction(target, rough=step.rough)
        step, lengths = model.blended(plain, step, ~(lengths.least >= enough), (1.0, lengths))
    if large and not bool(xp.all(lengths.least >= enough)):
        again = model.direction(target, step, step.rough)
        step, lengths = model.blended(step, again, ~(lengths.least >= enough), (0.0, lengths))
    return _moved(model, step, lengths)


def _moved(model: NewtonModel, step: Direction, lengths: Lengths) -> tuple[Iterate, Array]:
    """Return the iterate after the step, with the point's step shortened until curved slacks are positive."""
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


class NewtonSystem:
    """The Newton system at one iterate, factorised once and solved for several right-hand sides.

    Parameters
    ----------
    barrier : array (K, Y, |S|, U)
        l/Q, the curvature of Q > 0.
    distortion : array (Y, 1, U)
    privacy, utility
        The curvatures of the two terms; None for a linear utility.
    layout : Layout
        Of the vectors (Q, η, η of the utility, ν) that the system acts on.
    settings : Settings
    """

    def __init__(
        self,
        barrier: Array,
        distortion: Array,
        privacy: PrivacyCurvature,
        utility: UtilityCurvature | None,
        layout: Layout,
        settings: Settings,
    ) -> None:
        self.barrier, self.distortion = barrier, distortion
        self.privacy, self.utility = privacy, utility
        self.layout, self.settings = layout, settings
        self.border = privacy.blocks(barrier, settings).border(distortion, utility, settings)

    def apply(self, x: Array) -> Array:
        """Multiply the system by ``x`` (K, N), without elimination."""
        return self._applied(self.layout.split(x))

    def _applied(self, parts: Parts) -> Array:
        dq, eta, eta_utility, nu = parts
        gq, geta = self.privacy.apply(dq, eta)
        gq = gq + self.barrier * dq - self._per_cell(nu)
        if self.utility is not None:
            pi, eta_utility = self.utility.apply(expected(self.distortion, dq), eta_utility)
            gq = gq + self.distortion * self._per_cell(pi)
        return self.layout.join((gq, geta, eta_utility, namespace(dq).sum(dq, axis=1)))

    def solve(self, rhs: Parts, tolerance: Array, rough: Array = None) -> tuple[Parts, Array]:
        """Solve to ``tolerance`` (K,), if refinement can reach it.

        Problems that are not ``rough`` (K,) are solved by elimination alone. If ``rough`` is None, it is
        determined here. It is returned with the solution.
        """
        xp, layout = namespace(tolerance), self.layout
        solution, image = self._eliminate(rhs), None
        if rough is None:
            image = self._applied(solution)
            rough = _largest(layout.join(rhs) - image) > tolerance
        if not bool(xp.any(rough)):
            return solution, rough
        which, joined = xp.nonzero(rough)[0], (layout.join(rhs), tolerance, layout.join(solution))
        if 2 * which.shape[0] > tolerance.shape[0]:
            return layout.split(self._refined(*joined, image)), rough
        refined = self._of(which)._refined(*take_problems(joined, which))
        return layout.split(put_problems(joined[2], rough, refined)), rough

    def _of(self, problems: Array) -> NewtonSystem:
        """Return the system restricted to some of the problems."""
        some = copy(self)
        names = ("barrier", "privacy", "utility", "border")
        parts = take_problems(tuple(getattr(self, name) for name in names), problems)
        vars(some).update(zip(names, parts, strict=True))
        return some

    def _refined(self, rhs: Array, tolerance: Array, direction: Array, image: Array = None) -> Array:
        """Refine a solution by generalised conjugate residuals; the residual never grows.

        ``direction`` is the solution by elimination, and ``image`` the system times it, if known. Each step
        adds the multiple of a new direction that minimises the residual.
        """
        xp = namespace(rhs)
        residual, x = rhs, 0 * rhs
        history: list[tuple[Array, Array, Array]] = []
        for _ in range(self.settings.refinements):
            image = self.apply(direction) if image is None else image
            for old, old_image, norm in history:
                factor = (xp.vecdot(image, old_image) / norm)[:, None]
                direction, image = direction - factor * old, image - factor * old_image
            norm = xp.clip(xp.vecdot(image, image), min=1e-300)
            length = (xp.vecdot(residual, image) / norm)[:, None]
            x, residual = x + length * direction, residual - length * image
            if bool(xp.all(_largest(residual) <= tolerance)):
                break
            history.append((direction, image, norm))
            direction, image = self.layout.join(self._eliminate(self.layout.split(residual))), None
        return x

    def _eliminate(self, rhs: Parts) -> Parts:
        """Solve by block elimination; the result may lose digits."""
        rq, reta, reta_utility, rnu = rhs
        k, outputs = rq.shape[:2]
        from_eta, eta0 = self.privacy.reduce(-reta)
        r = rq - from_eta
        if self.utility is not None:
            from_eta_utility, eta_utility0 = self.utility.reduce(-reta_utility)
            r = r - self.distortion * self._per_cell(from_eta_utility)
        q, nu = self.border.solve(reshape(r, (k, outputs, -1)), rnu)
        dq = reshape(q, rq.shape)
        if self.utility is not None:
            reta_utility = self.utility.expand(expected(self.distortion, dq), eta_utility0)
        return dq, self.privacy.expand(dq, eta0), reta_utility, nu

    def _per_cell(self, x: Array) -> Array:
        """Reshape (K, |S|U) → (K, 1, |S|, U)."""
        return reshape(x, (x.shape[0], 1, *self.barrier.shape[2:]))


def _largest(x: Array) -> Array:
    """Return the largest absolute value of an entry, per problem."""
    xp = namespace(x)
    return xp.max(xp.abs(x), axis=1)
