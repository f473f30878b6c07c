"""Measure rldp against the paper's formulation in CVXPY + Clarabel, a section of docs/performance.md.

All sides solve the same samples in one run. CVXPY's time includes modelling; Clarabel runs with one
thread, and its own solver time is shown beside. Times are medians; ratios are what counts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import numpy as np  # noqa: E402

import rldp  # noqa: E402
from literal import literal_design  # noqa: E402
from page import machine, write_section  # noqa: E402
from reference import reference_design  # noqa: E402
from strategies import jeffreys_counts, sets_of  # noqa: E402

EPSILON, ALPHA = 0.5, 0.05


@dataclass(frozen=True)
class Run:
    """Seconds with modelling, seconds in the solver, objective."""

    total: float
    solver: float
    objective: float


@dataclass(frozen=True)
class Result:
    """One row of the table: seconds per design of each side."""

    name: str
    wanted: int
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
        return f"| {' | '.join(cells)} | ≥ {self.wanted}× |"


def squared(values: int) -> np.ndarray:
    """Squared distortion on 0, …, values − 1."""
    return np.subtract.outer(np.arange(values), np.arange(values)) ** 2.0


def literal(counts: np.ndarray, problem: str) -> Run:
    return Run(*literal_design(counts, EPSILON, problem, ALPHA, squared(counts.shape[1])))


def tuned(counts: np.ndarray, problem: str) -> Run:
    start = time.perf_counter()
    found = reference_design(counts, EPSILON, problem, ALPHA, squared(counts.shape[1]), max_threads=1)
    return Run(time.perf_counter() - start, found.solver_seconds or 0.0, found.objective)


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall-clock time of ``work``, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def one_design(repeats: int) -> Result:
    """A single RURP design, 3×5."""
    samples = jeffreys_counts(np.random.default_rng(1), 5, (3, 5), 750)
    literal(samples[0], "RURP")
    ours = [seconds(lambda c=c: rldp.design(rldp.Sample(c), EPSILON), repeats) for c in samples]
    return Result(
        "one RURP, 3×5, n = 750",
        20,
        statistics.median(ours),
        [rldp.design(rldp.Sample(c), EPSILON).objective for c in samples],
        [literal(c, "RURP") for c in samples],
        [tuned(c, "RURP") for c in samples],
    )


def batch(size: int) -> Result:
    """Many RURP designs at once, 3×5."""
    samples = jeffreys_counts(np.random.default_rng(2), size, (3, 5), 750)
    return Result(
        f"{size} RURP in one batch, 3×5, n = 750, per design",
        100,
        seconds(lambda: rldp.design_batch(samples, EPSILON), 3) / size,
        list(rldp.design_batch(samples[:5], EPSILON).objective),
        [literal(c, "RURP") for c in samples[:5]],
        [tuned(c, "RURP") for c in samples[:5]],
    )


def larger() -> Result:
    """One NURP design, 5×20, to a gap of 1e-5."""
    counts = jeffreys_counts(np.random.default_rng(3), 1, (5, 20), 2000)[0]
    options = {**sets_of("NURP"), "gap": 1e-5}
    return Result(
        "one NURP, 5×20, n = 2000, gap 1e-5",
        30,
        seconds(lambda: rldp.design(rldp.Sample(counts), EPSILON, **options), 3),
        [rldp.design(rldp.Sample(counts), EPSILON, **options).objective],
        [literal(counts, "NURP")],
        [tuned(counts, "NURP")],
    )


def section(results: list[Result]) -> str:
    """The section of the page."""
    rows = "\n".join(result.row for result in results)
    return f"""## Designs

{machine("numpy", "scipy", "cvxpy", "clarabel")}

The rival is the paper's formulation in CVXPY with Clarabel (one thread, default tolerances), twice:
*literal*, in CVXPY's own atoms (`benchmarks/literal.py`), and *tuned*, with the cones written by hand
(`rldp.experiments.reference`). Its time includes modelling, since each sample needs a new model; the time in
the solver alone stands in parentheses, and so does the ratio to it. All samples are drawn from
Dirichlet(½) truths; ε = 0.5, squared distortion, Pearson's set at α = 0.05. Ours closes a proved
relative gap of 1e-6 (1e-5 where it says so) and includes repair and proof. Times are medians per design.

| | rldp | literal | ratio | differs by | tuned | ratio | differs by | wanted |
|---|---|---|---|---|---|---|---|---|
{rows}

*Differs by*: the largest relative difference between the rival's objective and ours, whose gap is
proved. Clarabel stops at its own tolerance, and what it returns is not strictly private; the literal
form squares small probabilities, which costs it accuracy.
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
