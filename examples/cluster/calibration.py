"""A calibration study in tasks: how often do protocols leak more than ε under a truth that they never saw?

A task is one sample size and one seed: it draws samples from the truth, designs a protocol for each with
``design_batch``, and counts those that leak more than ε under the truth. Tasks know nothing of each other, so
that anything that maps a function over a list can run the study: ``sweep_joblib.py``, ``sweep_dask.py`` and
``sweep_spark.py`` beside this file do.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

import rldp

TRUTH = np.array([[0.18, 0.12, 0.06, 0.04], [0.06, 0.12, 0.18, 0.24]])
EPSILON = 0.5


@dataclass(frozen=True)
class Task:
    """Samples of n rows each, drawn with a seed of their own."""

    n: int
    seed: int
    samples: int


@dataclass(frozen=True)
class Found:
    """How many protocols were designed for samples of n rows, how many failed, and what they promised."""

    n: int
    designed: int
    failed: int
    promised: float


def tasks(sizes: list[int], parts: int, samples: int) -> list[Task]:
    """``parts`` tasks for each size; every seed is another one."""
    return [Task(n, 1000 * i + part, samples) for i, n in enumerate(sizes) for part in range(parts)]


def run(task: Task) -> Found:
    """The work of one task, on one thread: a worker runs one on each of its cores."""
    rng = np.random.default_rng(task.seed)
    counts = rng.multinomial(task.n, TRUTH.ravel(), size=task.samples).reshape(-1, *TRUTH.shape)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.RldpWarning)  # small samples are what is studied
        batch = rldp.design_batch(counts, EPSILON, privacy=rldp.ChiSquare(alpha=0.05))
    leaked = [rldp.leakage(rldp.Protocol(matrix), TRUTH) for matrix in batch.matrices]
    return Found(
        task.n,
        len(leaked),
        sum(each > EPSILON for each in leaked),
        float(batch.objective.sum()),
    )


def report(found: list[Found]) -> str:
    """A line for each sample size; 5 % is what a set at level 0.05 may fail for large samples."""
    lines = [f"{'rows':>6} {'designs':>8} {'failed':>8} {'promised distortion':>20}"]
    for n in sorted({each.n for each in found}):
        of_size = [each for each in found if each.n == n]
        designed, failed = (
            sum(each.designed for each in of_size),
            sum(each.failed for each in of_size),
        )
        promised = sum(each.promised for each in of_size) / designed
        lines.append(f"{n:>6} {designed:>8} {failed / designed:>8.1%} {promised:>20.4f}")
    return "\n".join(lines)


def study() -> list[Task]:
    """The study of the examples: a few seconds on one core."""
    return tasks([100, 300, 1000], parts=4, samples=25)
