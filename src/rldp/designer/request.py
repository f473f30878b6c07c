"""What is asked of the solver, besides the problem itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from rldp.designer.devices import CPU, Device
from rldp.designer.engine import Progress, Settings

__all__ = ["SolveRequest"]


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

    @property
    def seconds_left(self) -> float:
        """Until the deadline; infinite without one."""
        return self.deadline - time.perf_counter()
