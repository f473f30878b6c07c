"""The experiments behind the figures: which designs, for which samples, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rldp.paper.settings import PROBLEMS, PROMISES, Settings

__all__ = ["BEYOND", "EXPERIMENTS", "Cell", "Experiment", "Task", "tasks"]

CHUNK = 100
"""Number of instances designed together; fixed, so that results do not depend on the number of jobs."""

MULTIPLES = (1, 2, 5, 10, 30, 100, 300, 1000, 3000, 10000)
"""N, the mean number of draws in a cell, in the figures over n."""

PRIVACY_LEVELS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
"""α_p in the figure ``alpha``."""

_UTILITY_LEVEL = 0.5  # α_d in that figure
_ALPHA_MULTIPLE = 50  # its N, which the paper does not state


@dataclass(frozen=True)
class Cell:
    """Designs that share everything but the instance.

    Attributes
    ----------
    multiple : int
        N; the samples have n = N·|S||U| draws.
    alpha_privacy : float or None
        Level of the privacy set; None if no problem in the cell has one.
    alpha_utility : float or None
        Level of the utility set; None if no problem of the cell has one.
    problems : tuple of str
        Names of the paper's problems; or promises, with nominal utility.
    solver : {"rldp", "Clarabel"}
    """

    multiple: int
    alpha_privacy: float | None
    alpha_utility: float | None
    problems: tuple[str, ...] = PROBLEMS
    solver: str = "rldp"


@dataclass(frozen=True)
class Experiment:
    """Draws and the designs made from them; its results fill one table.

    Attributes
    ----------
    name : str
        Name of the table, without extension.
    stream : int
        Number of its draws; the same number means the same draws.
    instances : int
        The paper's K, if the experiment is in the paper.
    cells : callable
        From the settings to the cells, in the order of the table.
    chunk : int
        Instances designed together.
    cost : float
        Cost of a design, relative to the others.
    short : bool
        Whether the number of instances is capped at the default, and half that of the others if it is chosen.
    """

    name: str
    stream: int
    instances: int
    cells: Callable[[Settings], list[Cell]]
    chunk: int = CHUNK
    cost: float = 1.0
    short: bool = False


@dataclass(frozen=True)
class Task:
    """A chunk of instances of one cell, the unit of computation, storage and resumption."""

    experiment: str
    stream: int
    number: int
    cell: Cell
    first: int
    count: int
    cost: float

    @property
    def rows(self) -> int:
        """Number of lines of its result."""
        return self.count * len(self.cell.problems)

    @property
    def file(self) -> str:
        """Name of its result below the folder of all parts."""
        return f"{self.experiment}-{self.number:02}-{self.first:06}.csv"


def _at(*multiples: int) -> Callable[[Settings], list[Cell]]:
    return lambda settings: [Cell(multiple, settings.alpha, settings.alpha) for multiple in multiples]


def _over_alpha(settings: Settings) -> list[Cell]:
    """Return the cells over α_p. Designs without robust privacy do not depend on it and are made once."""
    plain = Cell(_ALPHA_MULTIPLE, None, _UTILITY_LEVEL, ("NUNP", "RUNP"))
    return [plain] + [Cell(_ALPHA_MULTIPLE, a, _UTILITY_LEVEL, ("NURP", "RURP")) for a in PRIVACY_LEVELS]


def _clarabel(multiple: int) -> Callable[[Settings], list[Cell]]:
    return lambda settings: [Cell(multiple, settings.alpha, settings.alpha, ("NURP",), "Clarabel")]


def _promised(settings: Settings) -> list[Cell]:
    return [Cell(multiple, settings.alpha, None, PROMISES) for multiple in MULTIPLES]


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("scatter-small", 1, 30, _at(5)),
        Experiment("scatter-large", 2, 30, _at(1000)),
        Experiment("vs-n", 3, 1000, _at(*MULTIPLES)),
        Experiment("alpha", 4, 500, _over_alpha),
        Experiment("clarabel-small", 1, 30, _clarabel(5), chunk=5, cost=250, short=True),
        Experiment("clarabel-large", 2, 30, _clarabel(1000), chunk=5, cost=250, short=True),
        Experiment("promises", 5, 100, _promised, chunk=10, cost=50),
    )
}
"""All experiments by name. Two repeat NURP designs with another solver; the last is not in the paper."""


BEYOND = ("promises",)
"""Experiments that the paper does not have."""


def tasks(experiment: Experiment, settings: Settings) -> Iterator[Task]:
    """Return the tasks of an experiment, in the order of its table."""
    instances = experiment.instances if settings.instances is None else settings.instances
    if experiment.short and settings.instances is not None:
        instances = min(max(1, instances // 2), experiment.instances)
    for number, cell in enumerate(experiment.cells(settings)):
        for first in range(0, instances, experiment.chunk):
            count = min(experiment.chunk, instances - first)
            cost = experiment.cost * count * len(cell.problems)
            yield Task(experiment.name, experiment.stream, number, cell, first, count, cost)
