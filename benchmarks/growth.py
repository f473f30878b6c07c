"""How time and memory grow with the alphabets, the batch and the sample; a section of docs/performance.md.

Every point is a process of its own on one core. A contender stops growing once a point takes too long.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import charts
from child import Outcome, run
from contenders import CLARABEL, HIGHS, LITERAL, OURS, TUNED, Contender
from draws import drawn
from instances import Instance
from page import machine, write_section

CONTENDERS = (OURS, LITERAL, TUNED, CLARABEL, HIGHS)
LIMIT = 60
"""Seconds that one point may take."""

ENOUGH = 12
"""Seconds of a point after which a contender grows no further: the next one would not fit the limit."""


@dataclass(frozen=True)
class Sweep:
    """What grows, through which sizes, and the instances of a size."""

    what: str
    label: str
    sizes: Sequence[int]
    instances: Callable[[int], list[Instance]]
    together: bool = False
    largest_of_rivals: float = math.inf


def _one(shape: tuple[int, int], n: int, gap: float) -> list[Instance]:
    return drawn("RURP", shape, n, seed=7, gap=gap)


SWEEPS = (
    Sweep("|S|", "secrets, |U| = 8", (2, 3, 4, 6, 8, 12), lambda size: _one((size, 8), 2000, 1e-4)),
    Sweep("|U|", "values, |S| = 3", (4, 6, 8, 12, 16, 24, 32, 48), lambda size: _one((3, size), 2000, 1e-4)),
    Sweep(
        "K",
        "samples in a batch, 3×5",
        (1, 3, 10, 30, 100, 300, 1000, 3000),
        lambda size: drawn("RURP", (3, 5), 750, seed=7, samples=size),
        together=True,
        largest_of_rivals=10,
    ),
    Sweep("n", "draws in the sample, 3×5", [10**k for k in range(2, 10)], lambda n: _one((3, 5), n, 1e-6)),
)


@dataclass(frozen=True)
class Line:
    """What one contender took along a sweep; the sizes it reached."""

    sizes: list[int]
    outcomes: list[Outcome]
    ended: str = ""

    def values(self, kind: str) -> list[float]:
        return [getattr(outcome, kind) for outcome in self.outcomes]

    @property
    def steps(self) -> list[int]:
        return [outcome.answer.steps for outcome in self.outcomes if outcome.answer is not None]

    def exponent(self, values: Sequence[float]) -> float:
        """Slope of the least-squares line in logarithms, over the upper half of the sizes; NaN below three."""
        upper = slice(len(self.sizes) // 2, None)
        if len(self.sizes[upper]) < 2 or len(self.sizes) < 3:
            return math.nan
        return float(np.polyfit(np.log(self.sizes[upper]), np.log(np.maximum(values[upper], 1e-3)), 1)[0])


def line(sweep: Sweep, contender: Contender, sizes: Sequence[int]) -> Line:
    """Grow until the sizes are through, or a point fails or takes too long."""
    reached, outcomes, ended = [], [], ""
    for size in sizes:
        if contender != OURS and size > sweep.largest_of_rivals:
            break
        (outcome,) = run(
            contender.name, sweep.instances(size), limit=LIMIT, repeats=3, together=sweep.together
        )
        print(
            f"{sweep.what} = {size}, {contender.name}: "
            + (outcome.failure or f"{outcome.seconds:.3g} s, {outcome.memory:.1f} MB"),
            flush=True,
        )
        if outcome.failure:
            ended = f"{outcome.failure} at {size}"
            break
        reached.append(size)
        outcomes.append(outcome)
        if outcome.seconds > ENOUGH:
            break
    return Line(reached, outcomes, ended)
