"""Matrices of the form diagonal plus low rank per secret, before factorisation."""

from __future__ import annotations

from dataclasses import dataclass

from rldp.theory.arrays import Array, namespace, reshape

__all__ = ["LowRankModel"]


@dataclass(frozen=True)
class LowRankModel:
    r""":math:`H = \mathrm{diag}(d) + V K V^\top`, less the effect of one more unknown if K is not linked.

    Attributes
    ----------
    d : array (K, Y, S, U)
    vectors : array (K, Y, S, U, m)
        V: columns over the cells of each secret.
    kernel : array (K, Y, Sm, Sm) if linked, otherwise (K, Y, S, m, m)
    free, image : array (K, Y, S, U)
        A direction along which H is nearly singular, and H times it.
    energy : array (K, Y)
        Energy of that direction.
    linked : bool
        Whether the kernel links secrets: true for pairs, false for windows.
    """

    d: Array
    vectors: Array
    kernel: Array
    free: Array
    image: Array
    energy: Array
    linked: bool

    @property
    def linked_kernel(self) -> Array:
        """Return the kernel as (K, Y, Sm, Sm), whether it links secrets or not."""
        if self.linked:
            return self.kernel
        xp, (k, outputs, secrets, m, _) = namespace(self.kernel), self.kernel.shape
        apart = reshape(xp.eye(secrets, dtype=self.d.dtype), (secrets, 1, secrets, 1))
        return reshape(self.kernel[:, :, :, :, None, :] * apart, (k, outputs, secrets * m, secrets * m))

    def shared(self) -> LowRankModel:
        """Return the model in the unknowns (K, Y, 1, U) of a row that all secrets share."""
        xp, (k, outputs, secrets, values, m) = namespace(self.d), self.vectors.shape
        moved = xp.permute_dims(self.vectors, (0, 1, 3, 2, 4))
        kernel = self.linked_kernel
        return LowRankModel(
            xp.sum(self.d, axis=2, keepdims=True),
            reshape(moved, (k, outputs, 1, values, secrets * m)),
            kernel if self.linked else kernel[:, :, None, ...],
            self.free[:, :, :1, :],
            xp.sum(self.image, axis=2, keepdims=True),
            self.energy,
            self.linked,
        )
