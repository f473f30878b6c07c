r"""One Newton system: an independent block per output, one Schur complement, refinement.

The unknowns are Q, the η of privacy and of utility, and the multipliers ν of :math:`\sum_y Q = 1`.
With η eliminated, output y has a matrix :math:`H_y` of size |S||U|; the outputs meet only in
:math:`\sum_y Q` and in :math:`v = \sum_y d_y Q_y`, so one Schur complement of size |S||U| finishes
the elimination. Near the end :math:`H_y` mixes curvatures 1e18 apart and elimination alone loses
digits; it serves as the preconditioner of a residual-minimising iteration (GCR) on the system that
was never eliminated, whose products lose none. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from copy import copy
from typing import TypeAlias

from rldp.designer.engine.algebra.arrays import Layout, put_problems, reshape, take_problems
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.interface import PrivacyCurvature, UtilityCurvature
from rldp.designer.engine.terms.utility import expected
from rldp.theory.namespace import Array, namespace

Parts: TypeAlias = tuple[Array, ...]  # of Q, η, η of the utility, ν


class NewtonSystem:
    """The system at one iterate, factorised once and solved for several right-hand sides.

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
        """The system times ``x`` (K, N), without any elimination."""
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
        """Solve to ``tolerance`` (K,), where refinement reaches it.

        Elimination is good enough except for problems that are ``rough`` (K,); if that is not known,
        it is found out. Returned along with the solution.
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
        """The systems of some of the problems."""
        some = copy(self)
        names = ("barrier", "privacy", "utility", "border")
        parts = take_problems(tuple(getattr(self, name) for name in names), problems)
        vars(some).update(zip(names, parts, strict=True))
        return some

    def _refined(self, rhs: Array, tolerance: Array, direction: Array, image: Array = None) -> Array:
        """Generalised conjugate residuals; the residual never grows.

        ``direction`` is the eliminated solution, and ``image`` what the system makes of it, if known.
        Each step adds the multiple of a new direction that leaves the smallest residual.
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
        """Solve by block elimination; the answer may miss digits."""
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
        """(K, |S|U) → (K, 1, |S|, U)."""
        return reshape(x, (x.shape[0], 1, *self.barrier.shape[2:]))


def _largest(x: Array) -> Array:
    """Largest size of an entry, per problem."""
    xp = namespace(x)
    return xp.max(xp.abs(x), axis=1)
