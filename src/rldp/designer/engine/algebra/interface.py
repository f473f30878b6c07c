"""The interfaces between the linear algebra and a Newton step.

Shapes: K problems, Y outputs, and n = |S|U cells of each output.
"""

from __future__ import annotations

from typing import Protocol

from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array

__all__ = ["Blocks", "Border", "Coupling"]


class Coupling(Protocol):
    r"""The curvature K that couples all outputs through :math:`v = \sum_y d_y Q_y`: F = Kv."""

    def times(self, matrix: Array) -> Array:
        """Return K times ``matrix`` (K, n, ·)."""

    def compliance(self) -> tuple[Array, Array, Array]:
        """Return the response of v to forces, 1/D, β/D (K, n) and δ (K,): ``docs/theory.md``, 'Windows'."""


class Blocks(Protocol):
    """The factorised matrices of the outputs, each of size n."""

    def border(self, distortion: Array, coupling: Coupling | None, settings: Settings) -> Border:
        """Return the coupled system for ``distortion`` (Y, 1, U); a linear utility has no ``coupling``."""


class Border(Protocol):
    """The coupled system of the outputs: their sum is given, and a coupling also links them through v."""

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """Solve for q (K, Y, n) and ν (K, n), given forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
