"""How a protocol was found: the route, the steps, and why the solver stopped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

__all__ = ["BatchStatus", "Reason", "Route", "Status"]


class Route(StrEnum):
    """A route to a protocol; its name is shown to users."""

    SINGLE_OUTPUT = "single output"  # always the same one: distortions are too small to matter
    UNCONSTRAINED = "unconstrained"  # the best output for each value, and a trace of all others
    CONSTANT = "constant"  # ε = 0 over a set: the output ignores secret and value
    NEAR_ZERO = "near zero"  # ε too small for floats: solved beside it, made exact
    PAIRS = "pairs"  # the engine, with a constraint for each pair of secrets
    WINDOWS = "windows"  # the engine, with one window for each output


class Reason(StrEnum):
    """Why the solver stopped. Every member has a sentence of ``advice``.

    Examples
    --------
    >>> import rldp
    >>> rldp.Reason.TIME_LIMIT.advice
    'The time limit was reached; a larger max_seconds leaves a smaller gap.'
    """

    advice: str

    def __new__(cls, value: str, advice: str) -> Reason:
        member = str.__new__(cls, value)
        member._value_, member.advice = value, advice
        return member

    GAP_CLOSED = "gap closed", "The protocol is proved to be optimal to the requested gap."
    CLOSED_AMONG_WINDOWS = (
        "gap closed among windows",
        "The protocol is optimal among those that keep windows; without windows, a better one may exist.",
    )
    CHAINED = (
        "columns one by one",
        "The columns are designed one after the other; a joint design (chain=False) costs less distortion.",
    )
    NO_PROGRESS = (
        "no further progress",
        "The problem is too ill-conditioned for the gap; a larger gap can be reached.",
    )
    STEP_LIMIT = "step limit", "The solver ran out of steps; a larger Settings.most_steps allows more."
    TIME_LIMIT = "time limit", "The time limit was reached; a larger max_seconds leaves a smaller gap."
    ROUNDING = "rounding", "Rounding to exact probabilities cost more than the gap; ask for a larger gap."
    TINY_EPSILON = (
        "ε is too small for floats",
        "The protocol is private even at ε = 0; ε ≥ 1e-6 has a smaller gap, and so has ε = 0 over a set.",
    )


@dataclass(frozen=True)
class Status:
    """How a protocol was found.

    Attributes
    ----------
    route : str
        "pairs" or "windows" for the interior-point engine; else the special case that applied: "single
        output", "unconstrained", "constant", "near zero" (``docs/theory.md``, 'Special cases').
    steps : int
        Newton steps of all runs of the engine; 0 if it was not needed.
    reason : Reason, or None
        Why the solver stopped; ``reason.advice`` is a sentence of advice. None for a protocol from a file.
    seconds : float
        Elapsed time, including proofs.
    """

    route: str
    steps: int
    reason: Reason | None
    seconds: float


@dataclass(frozen=True, eq=False)
class BatchStatus:
    """How the protocols of a batch were found; see :class:`Status`.

    Attributes
    ----------
    route, reason : object array (K,)
    steps : int array (K,)
    seconds : float
        For all of them together.
    """

    route: NDArray[np.object_]
    steps: NDArray[np.int64]
    reason: NDArray[np.object_]
    seconds: float
