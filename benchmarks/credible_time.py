"""What a credible design takes, over a plain one: single designs and batches, in turns in one run.

Both have privacy over a set and utility under the estimate, squared distortion, ε = ½ and a gap of 1e-6;
samples are drawn from Dirichlet(½) truths. A credible design consists of a search for its radius, a
design, and the draws that prove it. ``python benchmarks/credible_time.py`` writes its section of
docs/performance.md.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

import rldp
from draws import drawn
from page import machine, write_section

SINGLE = {"3×5, n = 750": ((3, 5), 750), "5×10, n = 500": ((5, 10), 500), "5×20, n = 2000": ((5, 20), 2000)}
BATCH = {"3×5, n = 75": ((3, 5), 75), "3×5, n = 750": ((3, 5), 750), "5×10, n = 500": ((5, 10), 500)}
SAMPLES, IN_BATCH = 9, 200
PROMISES = {"plain": rldp.ChiSquare(), "credible": rldp.Credible()}


def main() -> None:
    warnings.simplefilter("ignore", rldp.RldpWarning)
    rows = [("one design", name, *_single(*case)) for name, case in SINGLE.items()]
    rows += [(f"batch of {IN_BATCH}, per design", name, *_batch(*case)) for name, case in BATCH.items()]
    lines = ["| | table | plain | credible | ratio |", "|---|---|---:|---:|---:|"]
    lines += [
        f"| {kind} | {name} | {1e3 * plain:.3g} ms | {1e3 * credible:.3g} ms | {credible / plain:.1f} |"
        for kind, name, plain, credible in rows
    ]
    text = "\n".join(
        ["### Credible designs", "", __doc__.split("\n\n")[1].rsplit(" ``", 1)[0].strip(), "", *lines, ""]
    )
    write_section("credible", f"{text}\n{machine('numpy', 'scipy')}")
    print("\n".join(lines))


def _single(shape: tuple[int, int], n: int) -> tuple[float, float]:
    """Median seconds over samples, the two promises in turns."""
    samples = [rldp.Sample(each.counts) for each in drawn("NURP", shape, n, seed=1, samples=1 + SAMPLES)]
    spent: dict[str, list[float]] = {name: [] for name in PROMISES}
    for sample in samples:
        for name, promise in PROMISES.items():
            spent[name].append(
                _seconds(lambda s=sample, p=promise: rldp.design(s, 0.5, privacy=p, utility=rldp.Nominal()))
            )
    return tuple(statistics.median(times[1:]) for times in spent.values())  # the first fills caches


def _batch(shape: tuple[int, int], n: int) -> tuple[float, float]:
    """Median seconds per design over three batches."""
    counts = np.array([each.counts for each in drawn("NURP", shape, n, seed=2, samples=IN_BATCH)])
    spent: dict[str, list[float]] = {name: [] for name in PROMISES}
    for _ in range(3):
        for name, promise in PROMISES.items():
            spent[name].append(
                _seconds(lambda p=promise: rldp.design_batch(counts, 0.5, privacy=p, utility=rldp.Nominal()))
            )
    return tuple(statistics.median(times) / IN_BATCH for times in spent.values())


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
