"""What each number that steers the engine is worth: the same designs with one of them changed at a time.

    python benchmarks/settings.py                     every change, on all cores
    python benchmarks/settings.py lag boundary        only these
    python benchmarks/settings.py --designs 2400      on a tenth of the stress set
    python benchmarks/settings.py --windows           windows against pairs under the estimate
    python benchmarks/settings.py --inverses          one matrix at a time against all in one call

A change is what comes closest to having no such number at all. The table gives, for each, what it does to
the stress set (designs that missed their gap, the worst gap, steps and processor time) and to the
processor time of two of the designs that ``benchmarks/run.py`` times: many RURP of 3×5 in one batch, and one
NURP of 5×20. Steps and times are relative to the settings as they are. A number whose change shows in
none of them does not earn its place.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

import stress
from contenders import ours, ours_together
from draws import drawn
from rldp.designer import routes
from rldp.designer.batches import solve_by_engine
from rldp.designer.engine import Settings
from rldp.designer.engine.algebra.dense import scaled_inverse
from rldp.designer.request import SolveRequest
from rldp.designer.status import Route

CHANGES: dict[str, tuple[str, ...]] = {
    "small_objective": ("1e9",),
    "least_allowed": ("0",),
    "start_unseen": ("0.5",),
    "start_spread": ("0.001", "1"),
    "worth_proving": ("1", "1e9"),
    "lag": ("0", "0.1"),
    "careful_lag": ("0.02",),
    "patience": ("8", "48"),
    "boundary": ("0.9", "0.999"),
    "most_shortenings": ("10",),
    "near": ("0",),
    "large": ("0", "1000000"),
    "far": ("0", "1"),
    "accuracy": ("1000",),
    "ease": ("0", "1e9"),
    "refinements": ("3",),
    "jitter": ("0", "1e-9"),
    "schur_jitter": ("0",),
    "least_energy": ("0",),
    "few_secrets": ("0", "100"),
    "cholesky_rows": ("0", "1000000"),
    "part_bytes": ("65536", "1073741824"),
    "folding_budget": ("0",),
    "rare": ("0",),
    "repairs": ("4",),
    "chunk_bytes": ("131072", "33554432"),
    "chunk_problems": ("16",),
}
FALLBACKS = tuple(f"without {attempt}" for attempt in ("single output", "unconstrained", "pairs"))
SHAPES = ((3, 10), (5, 12), (5, 20), (5, 40), (10, 30))
GAPS = (1e-4, 1e-5, 1e-6, 1e-7)


@dataclass(frozen=True)
class Found:
    """What one change did: the stress set, and seconds of the processor."""

    tally: stress.Tally
    stress: float
    batch: float
    larger: float


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, on all cores: the least of three."""
    spent = []
    for _ in range(3):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def measured(job: tuple[str, int]) -> tuple[str, Found]:
    """Everything with one change."""
    warnings.simplefilter("ignore")
    name, each = job
    if name.startswith("without "):
        dropped, all_ways = Route(name.removeprefix("without ")), routes.attempts
        routes.attempts = lambda _, taken, *a: (
            way for i, way in enumerate(all_ways(_, taken, *a)) if i == 0 or way[0] is not dropped
        )
    settings = stress.changed(*([name] if "=" in name else []))
    started = time.process_time()
    tally = stress.run(each, settings)
    spent = time.process_time() - started
    small = drawn("RURP", (3, 5), 750, seed=2, samples=200)
    (large,) = drawn("NURP", (5, 20), 2000, seed=3, gap=1e-5)
    batch, larger = seconds(lambda: ours_together(small, settings)), seconds(lambda: ours(large, settings))
    return name, Found(tally, spent, batch, larger)


def row(name: str, found: Found, plain: Found) -> str:
    steps = found.tally.steps / plain.tally.steps
    times = " | ".join(
        f"{getattr(found, work) / getattr(plain, work):.2f}" for work in ("stress", "batch", "larger")
    )
    return f"| {name} | {found.tally.missed} | {found.tally.worst:.1e} | {steps:.3f} | {times} |"


def all_changes(names: list[str], designs: int) -> None:
    each = max(1, designs // 240)
    jobs = ["", *(f"{name}={value}" for name in names or CHANGES for value in CHANGES[name])]
    jobs += [] if names else FALLBACKS
    with get_context("spawn").Pool(maxtasksperchild=1) as pool:
        found = pool.imap(measured, [(job, each) for job in jobs])
        _, plain = next(found)
        tally = plain.tally
        print(f"as it is: {tally.missed} of {tally.designs} missed, the worst by {tally.worst:.1e}")
        print("| change | missed | worst | steps | time | time 3×5 | time 5×20 |")
        print("|---|---|---|---|---|---|---|")
        for name, changed in found:
            print(row(name, changed, plain), flush=True)


def windows_against_pairs() -> None:
    """Under the estimate: times of both at a gap of 1e-4, and at which gaps windows alone close it."""
    print("| | cells | pairs | windows | ratio | windows close, of 10 samples |\n|---|---|---|---|---|---|")
    for problem in ("NUNP", "RUNP"):
        for shape in SHAPES:
            samples = drawn(problem, shape, 20 * shape[0] * shape[1], seed=4, samples=10, gap=1e-4)
            times = []
            for kind in ("1000000000", "0"):
                settings = stress.changed(f"windows_cells={kind}", "windows_gap=0", "windows_robust_gap=0")
                times.append(statistics.median(seconds(lambda i=i, s=settings: ours(i, s)) for i in samples))
            closed = ", ".join(f"{gap:.0e}: {sum(_close(i, gap) for i in samples)}" for gap in GAPS)
            print(
                f"| {problem} {shape[0]}×{shape[1]} | {shape[0] * shape[1]} | {1e3 * times[0]:.0f} ms "
                f"| {1e3 * times[1]:.0f} ms | {times[1] / times[0]:.2f} | {closed} |",
                flush=True,
            )


def inverses() -> None:
    """One call of Cholesky for each matrix against one call for all: microseconds a matrix."""
    print("| rows | in one call | Cholesky, one by one | ratio |\n|---|---|---|---|")
    rng = np.random.default_rng(0)
    for rows in (10, 20, 30, 40, 50, 60, 100):
        factors = rng.normal(size=(max(4, 80_000 // rows**2), rows, 2 * rows))
        blocks = factors @ factors.swapaxes(1, 2)
        times = []
        for least in (rows + 1, rows):
            settings = Settings(cholesky_rows=least)
            spent = min(
                seconds(lambda b=blocks, s=settings: scaled_inverse(b.copy(), s.jitter, s)) for _ in range(8)
            )
            times.append(1e6 * spent / len(blocks))
        print(f"| {rows} | {times[0]:.1f} | {times[1]:.1f} | {times[1] / times[0]:.2f} |", flush=True)


def _close(instance: object, gap: float) -> bool:
    """Whether windows close a gap, with nothing else to fall back on."""
    found = solve_by_engine(instance.as_problem, Route.WINDOWS, SolveRequest(gap, Settings()))
    return bool(found.closes(gap).all()) and found.route[0] == routes.Route.WINDOWS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="settings to change; all by default")
    parser.add_argument("--designs", type=int, default=24_000)
    parser.add_argument("--windows", action="store_true", help="windows against pairs instead")
    parser.add_argument("--inverses", action="store_true", help="Cholesky one by one instead")
    arguments = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    if arguments.inverses:
        inverses()
    elif arguments.windows:
        routes.attempts = lambda problem, route, request: [(route, request)]
        windows_against_pairs()
    else:
        all_changes(arguments.names, arguments.designs)


if __name__ == "__main__":
    main()
