"""Design a chain for a sample: from columns to a protocol with its proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from rldp._common.process import warn
from rldp.chain import Chain, ChainGuarantee, ColumnProof, Stage
from rldp.designer.certify import CertifiedBatch
from rldp.designer.chain_bounds import column_bound, column_margin
from rldp.designer.chains import ChainProblem, solve_chain
from rldp.designer.contexts import After, arranged, earlier_names, fixed_stages, margin, require_feasible
from rldp.designer.designs import ColumnCost, Design
from rldp.designer.request import SolveRequest
from rldp.designer.routes import solve_batch
from rldp.designer.status import Reason, Status
from rldp.distortions import ColumnDistortion, SampleDistortion
from rldp.errors import GapWarning, InvalidArgument
from rldp.protocol import Certificate
from rldp.sample import Sample
from rldp.sets import AllDistributions, Credible, Nominal, UncertaintySet
from rldp.theory import chains
from rldp.theory.dirichlet import centre_counts
from rldp.theory.model import DesignProblem, Floats

__all__ = ["design_chain"]

_UNIT = 2.0**-52


def design_chain(
    sample: Sample,
    epsilon: float,
    privacy: UncertaintySet,
    utility: UncertaintySet,
    measure: Callable[[Sample], SampleDistortion],
    order: Sequence[str] | None,
    request: SolveRequest,
    *,
    after: After = (),
    given_known: bool = False,
    epsilon_known: float = math.inf,
) -> Design:
    """Design a chain of the sample's value columns; see :func:`rldp.design`.

    Parameters
    ----------
    measure : callable
        Returns the distortion for a sample of the designed columns.

    Raises
    ------
    InvalidArgument
        If the promise is not credible, the distortion is not promised for the estimate alone, or the order is
        not one of the value columns.
    """
    started = time.perf_counter()
    if isinstance(privacy, AllDistributions) and given_known and not after:
        raise InvalidArgument(
            "given must be left out of the sample for privacy='all': a protocol for every distribution "
            "keeps its promise to readers who know any other column, whatever it is"
        )
    promise = _credible(privacy, utility, beside=bool(after or sample.given_columns))
    if given_known and not sample.given_columns:
        raise InvalidArgument("given_known must be False where the sample has no given columns")
    sample = arranged(sample, earlier_names(after))
    fixed = fixed_stages(sample, after)
    columns = _measured(sample, len(fixed) - len(sample.given_columns), measure)
    names = [column.name for column in columns]
    if order is not None and sorted(order) != sorted(names):
        raise InvalidArgument(f"chain must name every value column once, {', '.join(map(repr, names))}")
    tables = tuple(stage.table for stage in fixed)
    problem = ChainProblem(
        sample.counts,
        (*(table.shape[2] for table in tables), *(len(column.matrix) for column in columns)),
        (*(np.zeros(table.shape[2:]) for table in tables), *(c.weight * c.matrix for c in columns)),
        epsilon,
        promise,
        tables,
        prod(len(stage.outputs) for stage in fixed if stage.kept) if given_known else 1,
        noise=sample.count_noise,
        noisy_counts=sample.noisy_counts,
        epsilon_known=_left_of_known(epsilon_known, tables),
        settings=request.settings,
    )
    if fixed:
        require_feasible(problem, fixed, promise.alpha)

    steps = 0

    def solve(part: DesignProblem, gap: float) -> CertifiedBatch:
        nonlocal steps
        solved = solve_batch(part, replace(request, gap=gap, callback=None))
        steps += int(solved.steps.sum())
        return solved

    first = len(fixed)
    wanted = None if order is None else [*range(first), *(first + names.index(n) for n in order)]
    result = solve_chain(problem, request.gap, solve, wanted)
    drawn = [j - first for j in result.plan.order[first:]]
    stages = [
        *fixed,
        *(
            Stage(columns[j].name, columns[j].labels, table)
            for j, table in zip(drawn, result.tables[first:], strict=True)
        ),
    ]
    centre = centre_counts(problem.published, promise.prior, problem.noise)
    objective, costs = _objective(result.plan.order, stages, columns, problem, centre)
    bounds = [column_bound(problem, centre, columns[j], first + j, solve) for j in range(len(columns))]
    lower = sum(bound for bound, _ in bounds)
    proofs = tuple(ColumnProof(columns[j].weight, columns[j].matrix, bounds[j][1]) for j in drawn)
    assert sample.reading is not None
    guarantee = ChainGuarantee(
        epsilon=epsilon,
        sample=sample,
        privacy=promise,
        utility=utility,
        objective=objective,
        lower_bound=max(0.0, min(lower, objective)),
        columns=proofs,
        centre=centre,
        order=result.plan.order,
        given_known=given_known,
        epsilon_known=epsilon_known,
    )
    protocol = Chain(stages, sample.secrets, sample.reading, guarantee=guarantee)
    seconds = time.perf_counter() - started
    reason = Reason.TIME_LIMIT if request.seconds_left < 0 else Reason.CHAINED
    status = Status("chain", steps, reason, seconds)
    if reason is Reason.TIME_LIMIT:
        warn(f"the columns are private, but not the best chain: {reason.advice}", GapWarning, stacklevel=3)
    return Design(
        "NURP",
        protocol,
        objective,
        guarantee.lower_bound,
        Certificate(None, None, None, None, None),
        status,
        columns=costs,
    )


def _credible(privacy: UncertaintySet, utility: UncertaintySet, *, beside: bool) -> Credible:
    """The promise of privacy; utility must be promised for the estimate alone."""
    wrong = {
        f"{role} must be {name!r}": given
        for role, name, given, kind in (
            ("privacy", "credible", privacy, Credible),
            ("utility", "nominal", utility, Nominal),
        )
        if not isinstance(given, kind)
    }
    if wrong or not isinstance(privacy, Credible):
        what = "beside given columns or earlier releases" if beside else "for a chain of columns"
        got = " and ".join(map(str, wrong.values()))
        raise InvalidArgument(f"{' and '.join(wrong)} {what}, got {got}")
    return privacy


def _measured(
    sample: Sample, earlier: int, measure: Callable[[Sample], SampleDistortion]
) -> tuple[ColumnDistortion, ...]:
    """Return the distortions of the designed columns; a single one counts in its own unit."""
    own = margin(sample, earlier) if earlier or sample.given_columns else sample
    measured = measure(own)
    if measured.columns:
        return measured.columns
    assert own.reading is not None
    if len(own.reading.value) > 1:
        raise InvalidArgument("distortion must be given by column for a chain, not for whole rows")
    places = np.arange(len(own.values)), np.arange(len(measured.outputs))
    return (ColumnDistortion(own.reading.value[0].name, 1.0, measured.matrix, measured.outputs, *places),)


def _left_of_known(epsilon_known: float, tables: Sequence[Floats]) -> float:
    """Return the part of κ, which is about whole rows, that earlier releases leave."""
    if not tables or math.isinf(epsilon_known):
        return epsilon_known
    told = chains.known_leakage(tables)
    if told > epsilon_known:
        raise InvalidArgument(
            f"epsilon_known must be at least {told:.6g}, which earlier releases reveal to readers who know "
            f"the values, got {epsilon_known!r}"
        )
    return epsilon_known - told


def _objective(
    order: Sequence[int],
    stages: Sequence[Stage],
    columns: Sequence[ColumnDistortion],
    problem: ChainProblem,
    centre: NDArray[np.int64],
) -> tuple[float, tuple[ColumnCost, ...]]:
    """Return the expected distortion of rows at the centre, rounded up, and that of each column."""
    sizes, first = problem.values, len(problem.fixed)
    law = centre * _UNIT
    arranged = np.moveaxis(law.reshape(-1, *sizes), [1 + j for j in order], range(1, 1 + len(sizes)))
    tables = [stage.table for stage in stages]
    unweighted = [*problem.distortions[:first], *(columns[j - first].matrix for j in order[first:])]
    distortions = chains.expected_distortions(
        tables, unweighted, np.ascontiguousarray(arranged).reshape(len(centre), -1)
    )
    terms = centre.size + sum(sizes) + sum(table.size for table in tables) + 8
    costs = dict(zip(order, distortions.tolist(), strict=True))
    total = sum(column.weight * costs[first + j] for j, column in enumerate(columns))
    return total * (1 + 16 * terms * _UNIT), tuple(
        ColumnCost(
            column.name,
            column.weight,
            distortion=costs[first + j],
            constant=float((column_margin(law, sizes, first + j).sum(axis=0) @ column.matrix).min()),
        )
        for j, column in enumerate(columns)
    )
