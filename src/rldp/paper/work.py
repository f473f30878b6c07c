"""One task: draw, design, evaluate under the truth, record. A pure function of task and settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp._common.process import one_blas_thread, silenced
from rldp.designer.api import design_batch
from rldp.errors import GapWarning, SparseTableWarning, UnseenSecretWarning
from rldp.measures.leakage import distortions, leakages
from rldp.paper.draws import Draws, draw
from rldp.paper.plan import Cell, Task
from rldp.paper.settings import PROMISES, Settings
from rldp.sample import Sample
from rldp.sets import UncertaintySet
from rldp.theory.model import Floats

__all__ = ["COLUMNS", "header", "lines"]

COLUMNS = (
    "n",
    "alpha_privacy",
    "alpha_utility",
    "instance",
    "problem",
    "solver",
    "objective",
    "lower_bound",
    "leakage",
    "distortion",
    "covered",
)
"""Columns of the tables; the truth and the sample follow, cell by cell."""


_NO_BALL = ("pairs", "credible")
"""Promises whose set is not the ball of ``covered``."""


@dataclass(frozen=True, eq=False)
class _Designed:
    """Protocols with their bounds; NaN if a solver gave up."""

    matrices: Floats
    objective: Floats
    lower_bound: Floats


def header(settings: Settings) -> str:
    """Return the first line of every table."""
    cells = [f"{s}_{u}" for s in range(settings.secrets) for u in range(settings.values)]
    return ",".join([*COLUMNS, *(f"truth_{c}" for c in cells), *(f"count_{c}" for c in cells)]) + "\n"


def lines(task: Task, settings: Settings) -> str:
    """Return the rows of the table that belong to ``task``, ordered by problem or promise, then by instance.

    Linear algebra runs on one thread: the number of threads would change the last digits.
    """
    cell = task.cell
    n = cell.multiple * settings.cells
    draws = draw(settings, task.stream, n, task.first, task.count)
    draws_text = [_joined([*t.ravel(), *c.ravel()]) for t, c in zip(draws.truths, draws.counts, strict=True)]
    covered = _covered(draws, cell, settings)
    text = []
    expected = (UnseenSecretWarning, SparseTableWarning, GapWarning)  # the table has this information
    with one_blas_thread(), silenced(*expected):
        for problem in cell.problems:
            designed = _designed(problem, draws, cell, settings)
            failed = np.isnan(designed.objective)
            columns = zip(
                range(task.first, task.first + task.count),
                designed.objective,
                designed.lower_bound,
                np.where(failed, np.nan, leakages(designed.matrices, draws.truths)),
                distortions(designed.matrices, draws.truths, settings.distortion),
                covered if problem not in _NO_BALL else np.full_like(covered, np.nan),
                draws_text,
                strict=True,
            )
            front = _joined([n, cell.alpha_privacy, cell.alpha_utility])
            for instance, *numbers, rest in columns:
                text.append(f"{front},{instance},{problem},{cell.solver},{_joined(numbers)},{rest}\n")
    return "".join(text)


def _designed(problem: str, draws: Draws, cell: Cell, settings: Settings) -> _Designed:
    if cell.solver == "Clarabel":
        return _by_clarabel(problem, draws, cell, settings)
    batch = design_batch(
        draws.counts,
        settings.epsilon,
        privacy=_privacy(problem, cell, settings),
        utility=settings.uncertainty(cell.alpha_utility if problem.startswith("RU") else None),
        distortion=settings.distortion,
    )
    return _Designed(batch.matrices, batch.objective, batch.lower_bound)


def _privacy(problem: str, cell: Cell, settings: Settings) -> UncertaintySet:
    if problem in PROMISES:
        return settings.promise(problem)
    return settings.uncertainty(cell.alpha_privacy if problem.endswith("RP") else None)


def _by_clarabel(problem: str, draws: Draws, cell: Cell, settings: Settings) -> _Designed:
    """Solve the paper's program, then clip negative numbers and normalise rows, as a user must."""
    from rldp.paper.reference import SolverError, reference_design

    assert cell.alpha_privacy is not None
    d = settings.distortion
    matrices = np.full((*draws.counts.shape, len(d)), np.nan)
    objective = np.full(len(draws.counts), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        for i, counts in enumerate(draws.counts):
            try:
                reference = reference_design(
                    counts, settings.epsilon, problem, cell.alpha_privacy, d, max_threads=1
                )
            except SolverError:
                continue
            clipped = np.maximum(reference.matrix, 0)
            matrices[i] = clipped / clipped.sum(axis=2, keepdims=True)
            objective[i] = reference.objective
    return _Designed(matrices, objective, np.full_like(objective, np.nan))


def _covered(draws: Draws, cell: Cell, settings: Settings) -> NDArray[np.float64]:
    """Return whether the truth lies in the privacy set: 1, 0, or NaN if the cell has none."""
    if cell.alpha_privacy is None:
        return np.full(len(draws.counts), np.nan)
    uncertainty = settings.uncertainty(cell.alpha_privacy)
    pairs = zip(draws.counts, draws.truths, strict=True)
    return np.array([float(uncertainty.contains(Sample(c), t)) for c, t in pairs])


def _joined(items: Iterable[object]) -> str:
    return ",".join(_written(item) for item in items)


def _written(item: object) -> str:
    """Format a number with all digits, so that it round-trips exactly; empty if there is none."""
    if item is None:
        return ""
    number = float(item)  # type: ignore[arg-type]
    if np.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
