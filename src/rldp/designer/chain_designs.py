"""A chain for a sample: from columns to a protocol with what is proved of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.chain import Chain, ChainGuarantee, ColumnProof, Stage
from rldp.designer.chains import ChainProblem, solve_chain
from rldp.designer.designs import ColumnCost, Design
from rldp.designer.request import SolveRequest
from rldp.designer.routes import solve_batch
from rldp.designer.status import Reason, Status
from rldp.distortions import ColumnDistortion
from rldp.errors import InvalidArgument
from rldp.protocol import Certificate
from rldp.sample import Sample
from rldp.sets import Credible, Nominal, UncertaintySet
from rldp.theory import chains
from rldp.theory.dirichlet import centre_counts
from rldp.theory.model import DesignProblem, Floats

__all__ = ["MOST_JOINT", "design_chain", "is_chained"]

MOST_JOINT = 1000
"""Combinations of values, above which several columns are chained unless a joint design is asked for."""

_UNIT = 2.0**-52
_BOUND_GAP = 1e-6  # of the lower bounds of single columns


def is_chained(sample: Sample, chain: bool | Sequence[str] | None, privacy: UncertaintySet) -> bool:
    """Whether columns are designed one after the other: because it is asked for, or they are too many."""
    several = sample.reading is not None and len(sample.reading.value) > 1
    if chain is None:
        return several and len(sample.values) > MOST_JOINT and isinstance(privacy, Credible)
    if chain is False:
        return False
    if not several:
        raise InvalidArgument("chain needs several named value columns; Sample.from_data names columns")
    return True


def design_chain(
    sample: Sample,
    epsilon: float,
    privacy: UncertaintySet,
    utility: UncertaintySet,
    columns: Sequence[ColumnDistortion],
    order: Sequence[str] | None,
    request: SolveRequest,
) -> Design:
    """A chain of the sample's value columns; see :func:`rldp.design`.

    Raises
    ------
    InvalidArgument
        If the promise is not credible, the distortion is not promised for the estimate alone, or the order is
        not one of the value columns.
    """
    started = time.perf_counter()
    if not isinstance(privacy, Credible):
        raise InvalidArgument(f"privacy must be 'credible' for a chain of columns, got {privacy}")
    if not isinstance(utility, Nominal):
        raise InvalidArgument(f"utility must be 'nominal' for a chain of columns, got {utility}")
    if not columns:
        raise InvalidArgument("distortion must be given by column for a chain, not for whole rows")
    names = [column.name for column in columns]
    if order is not None and sorted(order) != sorted(names):
        raise InvalidArgument(f"chain must name every value column once, {', '.join(map(repr, names))}")
    problem = ChainProblem(
        sample.counts,
        tuple(len(column.matrix) for column in columns),
        tuple(column.weight * column.matrix for column in columns),
        epsilon,
        privacy,
    )

    def solve(part: DesignProblem, gap: float) -> Any:
        return solve_batch(part, replace(request, gap=gap, callback=None))

    found = solve_chain(
        problem, request.gap, solve, None if order is None else [names.index(n) for n in order]
    )
    in_order = [columns[j] for j in found.plan.order]
    stages = [
        Stage(column.name, column.labels, table) for column, table in zip(in_order, found.tables, strict=True)
    ]
    centre = centre_counts(sample.counts, privacy.prior)
    objective, costs = _objective(found.plan.order, stages, columns, centre)
    bounds = [_column_bound(column, j, problem, centre, epsilon, request) for j, column in enumerate(columns)]
    lower = sum(bound for bound, _ in bounds)
    proofs = tuple(ColumnProof(columns[j].weight, columns[j].matrix, bounds[j][1]) for j in found.plan.order)
    assert sample.reading is not None
    guarantee = ChainGuarantee(
        epsilon=epsilon,
        sample=sample,
        privacy=privacy,
        utility=utility,
        objective=objective,
        lower_bound=min(lower, objective),
        columns=proofs,
        centre=centre,
        order=found.plan.order,
    )
    protocol = Chain(stages, sample.secrets, sample.reading, guarantee=guarantee)
    seconds = time.perf_counter() - started
    status = Status("chain", 0, Reason.CHAINED, seconds)
    return Design(
        "NURP",
        protocol,
        objective,
        guarantee.lower_bound,
        Certificate(None, None, None, None, None),
        status,
        columns=costs,
    )


def _objective(
    order: Sequence[int],
    stages: Sequence[Stage],
    columns: Sequence[ColumnDistortion],
    centre: NDArray[np.int64],
) -> tuple[float, tuple[ColumnCost, ...]]:
    """The expected distortion of rows at the centre, rounded up, and what each column loses there."""
    sizes = [len(column.matrix) for column in columns]
    law = centre * _UNIT
    arranged = np.moveaxis(law.reshape(-1, *sizes), [1 + j for j in order], range(1, 1 + len(sizes)))
    tables = [stage.table for stage in stages]
    found = chains.expected_distortions(
        tables, [columns[j].matrix for j in order], np.ascontiguousarray(arranged).reshape(len(centre), -1)
    )
    terms = centre.size + sum(sizes) + sum(table.size for table in tables) + 8
    costs = dict(zip(order, found.tolist(), strict=True))
    total = sum(column.weight * costs[j] for j, column in enumerate(columns)) * (1 + 16 * terms * _UNIT)
    return total, tuple(
        ColumnCost(
            column.name,
            column.weight,
            distortion=costs[j],
            constant=float((_margin(law, sizes, j).sum(axis=0) @ column.matrix).min()),
        )
        for j, column in enumerate(columns)
    )


def _column_bound(
    column: ColumnDistortion,
    j: int,
    problem: ChainProblem,
    centre: NDArray[np.int64],
    epsilon: float,
    request: SolveRequest,
) -> tuple[float, Floats]:
    """What the column costs at least, by itself under the centre, times its weight; multipliers (Y, T)."""
    counts = _margin(centre, problem.values, j)
    alone = DesignProblem.of(counts[None], np.array([epsilon]), column.matrix, Nominal(), Nominal())
    solved = solve_batch(alone, replace(request, gap=_BOUND_GAP, callback=None))
    multipliers = np.zeros((column.matrix.shape[1], len(counts) * (len(counts) - 1)))
    multipliers[...] = solved.z[0]
    return column.weight * float(solved.lower_bound[0]) * (1 - 1e-12), multipliers


def _margin(table: NDArray[Any], sizes: Sequence[int], j: int) -> NDArray[Any]:
    """Of column j: (|S|, |U_j|)."""
    whole = table.reshape(len(table), *sizes)
    margin: NDArray[Any] = whole.sum(axis=tuple(1 + i for i in range(len(sizes)) if i != j))
    return margin
