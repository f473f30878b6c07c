"""Measure rldp against the paper's formulation in CVXPY + Clarabel, a section of docs/performance.md.

All sides solve the same samples in one run. CVXPY's time includes modelling; Clarabel runs with one
thread, and its own solver time is shown too. Times are medians; compare the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from contenders import LITERAL, TUNED, Contender, ours, ours_together
from draws import drawn
from instances import Instance
from page import machine, write_section


@dataclass(frozen=True)
class Run:
    """Seconds with modelling, seconds in the solver, objective."""

    total: float
    solver: float
    objective: float

    @classmethod
    def of(cls, contender: Contender, instance: Instance) -> Run:
        start = time.perf_counter()
        answer = contender.design(instance)
        return cls(time.perf_counter() - start, answer.solver_seconds, answer.objective)


@dataclass(frozen=True)
class Result:
    """One row of the table: seconds per design of each side."""

    name: str
    ours: float
    objectives: list[float]
    literal: list[Run]
    tuned: list[Run]

    @property
    def row(self) -> str:
        cells = [self.name, f"{1e3 * self.ours:.3g} ms"]
        for runs in (self.literal, self.tuned):
            total = statistics.median(run.total for run in runs)
            solver = statistics.median(run.solver for run in runs)
            pairs = zip(self.objectives, runs, strict=False)
            apart = max(abs(a - run.objective) / max(1, abs(a)) for a, run in pairs)
            cells.append(f"{total:.3g} s ({solver:.2g} s)")
            cells.append(f"**{total / self.ours:.0f}×** ({solver / self.ours:.1f}×)")
            cells.append(f"{apart:.0e}")
        return f"| {' | '.join(cells)} |"


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall-clock time of ``work``, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def against_the_paper(name: str, seconds: float, instances: list[Instance]) -> Result:
    """Our time beside CVXPY's on the same instances, after a first model that warms it up."""
    LITERAL.design(drawn("RURP", (3, 5), 750, seed=1)[0])
    return Result(
        name,
        seconds,
        [ours(instance).objective for instance in instances],
        [Run.of(LITERAL, instance) for instance in instances],
        [Run.of(TUNED, instance) for instance in instances],
    )


def one_design(repeats: int) -> Result:
    """A single RURP design, 3×5."""
    instances = drawn("RURP", (3, 5), 750, seed=1, samples=5)
    time_of_ours = statistics.median(seconds(lambda i=i: ours(i), repeats) for i in instances)
    return against_the_paper("one RURP, 3×5, n = 750", time_of_ours, instances)


def batch(size: int) -> Result:
    """Many RURP designs at once, 3×5."""
    instances = drawn("RURP", (3, 5), 750, seed=2, samples=size)
    time_of_ours = seconds(lambda: ours_together(instances), 3) / size
    name = f"{size} RURP in one batch, 3×5, n = 750, per design"
    return against_the_paper(name, time_of_ours, instances[:5])


def larger() -> Result:
    """One NURP design, 5×20, to a gap of 1e-5."""
    instances = drawn("NURP", (5, 20), 2000, seed=3, gap=1e-5)
    time_of_ours = seconds(lambda: ours(instances[0]), 3)
    return against_the_paper("one NURP, 5×20, n = 2000, gap 1e-5", time_of_ours, instances)


def section(results: list[Result]) -> str:
    """The section of the page."""
    rows = "\n".join(result.row for result in results)
    return f"""## Designs

{machine("numpy", "scipy", "cvxpy", "clarabel")}

The rival is the paper's formulation in CVXPY with Clarabel (one thread, default tolerances), twice:
*literal*, in CVXPY's own atoms (`benchmarks/literal.py`), and *tuned*, with the cones written by hand
(`rldp.paper.reference`). Its time includes modelling, because each sample needs a new model; the time in
the solver alone, and the ratio to it, are in parentheses. All samples are drawn from Dirichlet(½) truths; ε
= 0.5, squared distortion, Pearson's set at α = 0.05. Ours closes a proved relative gap of 1e-6 (1e-5 where
stated), and its time includes repair and proof. Times are medians per design.

| | rldp | literal | ratio | differs by | tuned | ratio | differs by |
|---|---|---|---|---|---|---|---|
{rows}

*Differs by*: the largest relative difference between the rival's objective and ours, whose gap is proved.
Clarabel stops at its own tolerance, and its result is not strictly private. The literal form squares small
probabilities, which costs accuracy.
"""


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller batch, nothing written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for work in (
        lambda: one_design(3 if options.quick else 11),
        lambda: batch(200 if options.quick else 1000),
        larger,
    ):
        results.append(work())
        print(results[-1].row, flush=True)
    if not options.quick:
        write_section("designs", section(results))


if __name__ == "__main__":
    main()
