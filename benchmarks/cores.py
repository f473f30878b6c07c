"""Batches on a machine of many cores, by the largest number of threads that solve them or make their draws.

The threads of a batch of small tables call NumPy so often that they mostly wait for Python's lock. Seconds
for a whole batch; utility under the estimate, squared distortion, ε = ½; samples are drawn from Dirichlet(½)
truths. ``python benchmarks/cores.py`` prints the rows of a section of docs/performance.md, after a first
batch that loads libraries.
"""

from __future__ import annotations

import time
import warnings
from os import sched_getaffinity

import rldp
from accelerator import draws
from rldp.designer.engine.settings import Settings

BATCHES = {
    "600 of 3×5, n = 750": ((3, 5), 750, 600, 1e-6, "chi2"),
    "600 credible of 3×5, n = 750": ((3, 5), 750, 600, 1e-6, "credible"),
    "32 of 5×20, n = 2000": ((5, 20), 2000, 32, 1e-4, "chi2"),
    "16 of 2×100, n = 3000": ((2, 100), 3000, 16, 1e-3, "chi2"),
}
THREADS = (1, 2, 3, 4, 8, 16)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{len(sched_getaffinity(0))} cores")
    for name, (shape, n, many, gap, privacy) in BATCHES.items():
        counts = draws(many, shape, n)
        rldp.design_batch(counts[:2], 0.5, gap=gap, privacy=privacy, utility="nominal")
        seconds = []
        for threads in THREADS:
            started = time.perf_counter()
            settings = Settings(most_threads=threads)
            rldp.design_batch(counts, 0.5, gap=gap, privacy=privacy, utility="nominal", settings=settings)
            seconds.append(time.perf_counter() - started)
        print(f"| {name} | {' | '.join(f'{each:.3g} s' for each in seconds)} |", flush=True)


if __name__ == "__main__":
    main()
