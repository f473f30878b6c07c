"""Everyone who designs protocols in the benchmarks: us and our rivals, each a function of an instance."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import rldp
from instances import Answer, GaveUp, Instance


@dataclass(frozen=True)
class Contender:
    """A name for tables, what it is, and where it lives: imported only by the process that runs it."""

    name: str
    what: str
    module: str
    function: str
    packages: tuple[str, ...] = ()

    @property
    def design(self) -> Callable[[Instance], Answer]:
        return getattr(importlib.import_module(self.module), self.function)


def ours(instance: Instance, settings: rldp.Settings | None = None) -> Answer:
    """The library, proofs included; its answer's objective and bound are proved."""
    steps = []
    found = rldp.design(
        rldp.Sample(instance.counts),
        instance.epsilon,
        gap=instance.gap,
        callback=lambda progress: steps.append(progress.iteration),
        settings=settings,
        **instance.sets,
    )
    last = steps[-1] if steps else 0
    return Answer(found.protocol.matrix, found.objective, bound=found.lower_bound, steps=last)


def ours_together(instances: Sequence[Instance], settings: rldp.Settings | None = None) -> rldp.Batch:
    """The library on samples of one shape, in one call."""
    first = instances[0]
    counts = np.stack([instance.counts for instance in instances])
    return rldp.design_batch(counts, first.epsilon, gap=first.gap, settings=settings, **first.sets)


def tuned(instance: Instance) -> Answer:
    """The paper's formulation with its cones written by hand."""
    from rldp.paper.reference import SolverError, reference_design

    try:
        found = reference_design(
            instance.counts,
            instance.epsilon,
            instance.problem,
            instance.alpha,
            instance.distortion,
            max_threads=1,
        )
    except SolverError as error:
        raise GaveUp(str(error)) from error
    return Answer(found.matrix, found.objective, found.solver_seconds)


OURS = Contender("rldp", "`rldp.design`, its proofs included", "contenders", "ours")
LITERAL = Contender(
    "literal",
    "the paper's theorems in CVXPY's own atoms, Clarabel (`benchmarks/literal.py`)",
    "literal",
    "literal_design",
    ("cvxpy", "clarabel"),
)
TUNED = Contender(
    "tuned",
    "the paper's theorems in CVXPY with the cones written by hand, Clarabel (`rldp.paper.reference`)",
    "contenders",
    "tuned",
    ("cvxpy", "clarabel"),
)
TWO_SCALAR = Contender(
    "two scalars",
    "the form with two scalars for each output and pair ([theory](theory.md#special-forms)) in CVXPY, over "
    "whole arrays, Clarabel (`benchmarks/two_scalar.py`)",
    "two_scalar",
    "two_scalar_design",
    ("cvxpy", "clarabel"),
)
CLARABEL = Contender(
    "Clarabel",
    "the form with two scalars given to Clarabel as arrays, without CVXPY (`benchmarks/conic.py`)",
    "conic",
    "by_clarabel",
    ("clarabel",),
)
HIGHS = Contender(
    "HiGHS cuts",
    "linear programs in HiGHS, warm-started, with cuts from the closed form, until no constraint is "
    "violated by more than 1e-7 (`benchmarks/cutting_planes.py`)",
    "cutting_planes",
    "cutting_plane_design",
    ("highspy",),
)
SCS = Contender(
    "SCS", "the same arrays given to SCS at its own tolerances (1e-4)", "conic", "by_scs", ("scs",)
)
TIGHT_SCS = Contender("SCS 1e-6", "the same at tolerances of 1e-6; 3×5 alone", "conic", "by_tight_scs")

CONTENDERS = {each.name: each for each in (OURS, LITERAL, TUNED, TWO_SCALAR, CLARABEL, HIGHS, SCS, TIGHT_SCS)}
