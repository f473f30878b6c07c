r"""One Newton system: an independent dense block per output, one Schur complement, refinement.

The unknowns are Q, the η of privacy and of utility, and the multipliers ν of :math:`\sum_y Q = 1`.
With η eliminated, output y has a dense matrix :math:`H_y` of size |S||U|; the outputs meet only in
:math:`\sum_y Q` and in :math:`v = \sum_y d_y Q_y`, so one Schur complement of size |S||U| finishes
the elimination. Near the end :math:`H_y` mixes curvatures 1e18 apart and elimination alone loses
digits; it serves as the preconditioner of a residual-minimising iteration (GCR) on the system that
was never eliminated, whose products lose none. See ``docs/theory.md``, 'The engine'.
"""

from __future__ import annotations

from dataclasses import dataclass


from rldp.solver.arrays import along, apply, diagonal_matrix, dot, flat
from rldp.solver.privacy import PrivacyCurvature
from rldp.solver.utility import UtilityCurvature
from rldp.support import Array, namespace

_JITTER = 1e-11  # relative ridge on the scaled blocks, so that rounding cannot make them singular
_SCHUR_JITTER = 1e-15
_REFINEMENTS = 20


@dataclass(frozen=True)
class Vector:
    """A point of the space the system lives in, or a residual in it."""

    q: Array  # (K, Y, |S|, U)
    eta: Array  # (K, ...)
    eta_utility: Array  # (K, 0 or 1)
    nu: Array  # (K, |S|U)

    def parts(self) -> tuple[Array, ...]:
        return self.q, self.eta, self.eta_utility, self.nu

    def plus(self, factor: Array, other: Vector) -> Vector:
        """self + factor·other, with one factor per problem."""
        pairs = zip(self.parts(), other.parts(), strict=True)
        return Vector(*(x + along(factor, y) * y for x, y in pairs))

    def dot(self, other: Vector) -> Array:
        return sum(dot(x, y) for x, y in zip(self.parts(), other.parts(), strict=True))


class NewtonSystem:
    """The system at one iterate, factorised once and solved for several right-hand sides.

    Parameters
    ----------
    barrier : array (K, Y, |S|, U)
        l/Q, the curvature of Q > 0.
    distortion : array (Y, 1, U)
    privacy, utility
        The curvatures of the two terms; None for a linear utility.
    """

    def __init__(
        self,
        barrier: Array,
        distortion: Array,
        privacy: PrivacyCurvature,
        utility: UtilityCurvature | None,
    ) -> None:
        self.barrier, self.distortion = barrier, distortion
        self.privacy, self.utility = privacy, utility
        self._factorise()

    def _factorise(self) -> None:
        xp = namespace(self.barrier)
        k, outputs, secrets, values = self.barrier.shape
        n = secrets * values
        matrix = self.privacy.matrix()
        matrix = matrix + diagonal_matrix(xp.reshape(self.barrier, (k, outputs, n)))
        self._inverse = _scaled_inverse(matrix, _JITTER)
        self._schur = _scaled_inverse(xp.sum(self._inverse, axis=1), _SCHUR_JITTER)
        if self.utility is None:
            return
        # v moves with Q through d, and a shift of d that is the same for every output is absorbed
        # by ν. Measured from the outputs that are free to move, the couplings below do not cancel.
        d = xp.reshape(xp.broadcast_to(self.distortion, (outputs, secrets, values)), (1, outputs, n))
        freedom = xp.linalg.diagonal(self._inverse)
        self._centre = xp.sum(freedom * d, axis=1) / xp.sum(freedom, axis=1)
        self._centred = d - self._centre[:, None, :]
        right = self._inverse * self._centred[:, :, None, :]
        self._coupling = xp.sum(right, axis=1)
        compliance = xp.sum(self._centred[..., None] * right, axis=1)
        coupled = xp.matmul(self._schur, self._coupling)
        compliance = compliance - xp.matmul(xp.matrix_transpose(self._coupling), coupled)
        self._stiffness = self.utility.matrix()
        system = xp.eye(n, dtype=d.dtype) + xp.matmul(compliance, self._stiffness)
        self._row_scale = 1 / xp.max(xp.abs(system), axis=-1)
        self._utility_system = system * self._row_scale[..., None]

    def apply(self, x: Vector) -> Vector:
        """The system times ``x``, without any elimination."""
        xp = namespace(x.q)
        gq, geta = self.privacy.apply(x.q, x.eta)
        gq = gq + self.barrier * x.q - xp.reshape(x.nu, (x.q.shape[0], 1, *x.q.shape[2:]))
        geta_utility = x.eta_utility
        if self.utility is not None:
            pi, geta_utility = self.utility.apply(self._v(x.q), x.eta_utility)
            gq = gq + self._from_v(pi, x.q)
        return Vector(gq, geta, geta_utility, flat(xp.sum(x.q, axis=1)))

    def solve(self, rhs: Vector, gradient_tolerance: Array, primal_tolerance: float) -> Vector:
        """Solve to the tolerances where refinement reaches them; the residual never grows."""
        xp = namespace(rhs.q)
        residual, x = rhs, None
        history: list[tuple[Vector, Vector, Array]] = []
        for _ in range(_REFINEMENTS):
            direction = self._eliminate(residual)
            image = self.apply(direction)
            for old, old_image, norm in history:
                factor = -image.dot(old_image) / norm
                direction, image = direction.plus(factor, old), image.plus(factor, old_image)
            norm = xp.clip(image.dot(image), min=1e-300)
            length = residual.dot(image) / norm
            zero = xp.zeros_like(length)
            x = direction.plus(length - 1, direction) if x is None else x.plus(length, direction)
            residual = residual.plus(zero - length, image)
            history.append((direction, image, norm))
            gradient = xp.max(xp.abs(flat(residual.q)), axis=1)
            primal = xp.max(xp.abs(residual.nu), axis=1)
            if bool(xp.all((gradient <= gradient_tolerance) & (primal <= primal_tolerance))):
                break
        assert x is not None
        return x

    def _eliminate(self, rhs: Vector) -> Vector:
        """Solve by block elimination; the answer may miss digits."""
        xp = namespace(rhs.q)
        k, outputs = rhs.q.shape[:2]
        from_eta, eta0 = self.privacy.reduce(-rhs.eta)
        r = rhs.q - from_eta
        if self.utility is not None:
            from_eta_utility, eta_utility0 = self.utility.reduce(-rhs.eta_utility)
            r = r - self._from_v(from_eta_utility, rhs.q)
        r = xp.reshape(r, (k, outputs, -1))
        moved = apply(self._inverse, r)
        needed = rhs.nu - xp.sum(moved, axis=1)
        if self.utility is None:
            nu = apply(self._schur, needed)
            dq = moved + apply(self._inverse, nu[:, None, :])
            dq = xp.reshape(dq, rhs.q.shape)
            return Vector(dq, self.privacy.expand(dq, eta0), rhs.eta_utility, nu)
        reached = xp.sum(self._centred * moved, axis=1) + self._centre * rhs.nu
        reached = reached + apply(xp.matrix_transpose(self._coupling), apply(self._schur, needed))
        dv = xp.linalg.solve(self._utility_system, (self._row_scale * reached)[..., None])[..., 0]
        force = apply(self._stiffness, dv)
        nu = apply(self._schur, needed + apply(self._coupling, force))
        pushed = nu[:, None, :] - self._centred * force[:, None, :]
        dq = xp.reshape(moved + apply(self._inverse, pushed), rhs.q.shape)
        eta_utility = self.utility.expand(self._v(dq), eta_utility0)
        return Vector(dq, self.privacy.expand(dq, eta0), eta_utility, nu + self._centre * force)

    def _v(self, dq: Array) -> Array:
        xp = namespace(dq)
        return flat(xp.sum(self.distortion * dq, axis=1))

    def _from_v(self, force: Array, like: Array) -> Array:
        xp = namespace(force)
        return self.distortion * xp.reshape(force, (like.shape[0], 1, *like.shape[2:]))


def _scaled_inverse(matrix: Array, jitter: float) -> Array:
    """Inverse of symmetric positive matrices after scaling their diagonals to one."""
    xp = namespace(matrix)
    scale = xp.linalg.diagonal(matrix) ** -0.5
    scale = scale[..., :, None] * scale[..., None, :]
    ridge = jitter * xp.eye(matrix.shape[-1], dtype=matrix.dtype)
    return xp.linalg.inv(matrix * scale + ridge) * scale
