"""What is asked of the solver besides the problem itself, and what it answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rldp._common.checks import finite_number, real_number
from rldp.designer.certify import CertifiedBatch
from rldp.designer.devices import CPU, Device
from rldp.designer.engine import Progress, Settings
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sets import Credible, Nominal, Pairs, UncertaintySet
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.pair_sets import radii_of

__all__ = ["Promised", "SolveRequest", "SolveResult"]

Promised = Literal["privacy", "utility"]


@dataclass(frozen=True)
class SolveRequest:
    """How well, how and until when to solve.

    Attributes
    ----------
    gap : float
        Asked for: objective − lower bound ≤ gap·max(1, objective).
    settings : Settings
    windows : bool
        Keep robust privacy by windows.
    device : Device
        Where the engine's arrays are.
    callback : callable, optional
        Called with a :class:`Progress` after each step, or each chunk of a large batch.
    leaves_known_to_repair : bool
        Let the engine ignore κ, because a trace of all outputs pays for it afterwards.
    deadline : float
        When to stop, by :func:`time.perf_counter`.
    """

    gap: float
    settings: Settings
    windows: bool = False
    device: Device = CPU
    callback: Callable[[Progress], None] | None = None
    leaves_known_to_repair: bool = False
    deadline: float = math.inf

    @classmethod
    def of(
        cls,
        gap: float,
        settings: Settings | None,
        max_seconds: float | None,
        started: float,
        *,
        windows: bool = False,
        device: Device = CPU,
        callback: Callable[[Progress], None] | None = None,
    ) -> SolveRequest:
        """The arguments of a design that began at ``started``, checked."""
        tolerance = finite_number("gap", gap)
        if tolerance <= 0:
            raise InvalidArgument(f"gap must be greater than 0, got {gap!r}")
        if settings is not None and not isinstance(settings, Settings):
            raise InvalidArgumentType(f"settings must be an rldp.Settings, got {type(settings).__name__}")
        seconds = math.inf if max_seconds is None else real_number("max_seconds", max_seconds)
        if not seconds > 0:
            raise InvalidArgument(f"max_seconds must be greater than 0, got {max_seconds!r}")
        return cls(
            tolerance, settings or Settings(), bool(windows), device, callback, deadline=started + seconds
        )

    @property
    def seconds_left(self) -> float:
        """Until the deadline; infinite without one."""
        return self.deadline - time.perf_counter()


@dataclass(frozen=True)
class SolveResult:
    """Designs and the problems that they solve, with the radii (K,) of sets that were searched for."""

    problem: DesignProblem
    solved: CertifiedBatch
    radii: Mapping[Promised, Floats]

    def promise(self, about: Promised, given: UncertaintySet, i: int) -> UncertaintySet:
        """The promise that design ``i`` keeps, with the numbers that were found for it."""
        if isinstance(given, Pairs):
            return replace(given, radii=radii_of(given, self.problem.counts[i : i + 1])[0])
        centres = self.problem.centre_of_privacy if about == "privacy" else self.problem.centre_of_utility
        centre = None if centres is None else tuple(map(tuple, centres[i].tolist()))
        if isinstance(given, Credible):
            return replace(given, radius=float(self.radii[about][i]), centre=centre)
        return replace(given, centre=centre) if isinstance(given, Nominal) else given
