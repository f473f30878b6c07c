"""The numbers that prove what a protocol claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Certificate"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """Witnesses of privacy over the whole set, of the objective and of the lower bound.

    Pairs of secrets are numbered as in :func:`rldp.theory.model.ordered_pairs`.

    Attributes
    ----------
    eta : array (Y, T, 2), or None for nominal privacy
        Scalars that prove every privacy constraint.
    eta_utility : float, or None for nominal utility
        Scalar that proves the objective.
    multipliers : array (Y, T), or None
        Weights z of the lower bound. None where the bound rests on the fact that only protocols
        that ignore secret and value are private (ε = 0 over a set).
    members : array (Y, T, 2, U), or None
        Members of the projected privacy sets that the multipliers weigh; None stands for the
        estimated conditionals, which are in every set.
    distribution : array (|S|, |U|), or None
        Member of the utility set in the lower bound; None stands for the estimate.
    """

    eta: NDArray[np.float64] | None
    eta_utility: float | None
    multipliers: NDArray[np.float64] | None
    members: NDArray[np.float64] | None
    distribution: NDArray[np.float64] | None

    def __post_init__(self) -> None:
        for array in (self.eta, self.multipliers, self.members, self.distribution):
            if array is not None:
                array.setflags(write=False)
