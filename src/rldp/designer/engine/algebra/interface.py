"""What the linear algebra offers to a Newton step, and the one thing that it asks for.

Shapes: K problems, Y outputs, and n = |S|U cells of each output.
"""

from __future__ import annotations

from typing import Protocol

from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import Array

__all__ = ["Blocks", "Border", "Coupling"]


class Coupling(Protocol):
    r"""The curvature K through which all outputs meet in :math:`v = \sum_y d_y Q_y`: F = Kv."""

    def times(self, matrix: Array) -> Array:
        """K times ``matrix`` (K, n, ·)."""

    def compliance(self) -> tuple[Array, Array, Array]:
        """How v gives way to forces: 1/D and β/D (K, n), and δ (K,); see ``docs/theory.md``, 'Windows'."""


class Blocks(Protocol):
    """The matrices of the outputs, each of size n, factorised."""

    def border(self, distortion: Array, coupling: Coupling | None, settings: Settings) -> Border:
        """How the outputs meet, for a ``distortion`` (Y, 1, U); ``coupling`` is None if not in v."""


class Border(Protocol):
    """The outputs together: their sum is given, and with a coupling they meet in v too."""

    def solve(self, r: Array, total: Array) -> tuple[Array, Array]:
        """The q (K, Y, n) and ν (K, n) for forces ``r`` (K, Y, n) and sums ``total`` (K, n)."""
