"""Instances with random samples, drawn as in the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from instances import Instance

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from strategies import jeffreys_counts


def drawn(
    problem: str, shape: tuple[int, int], n: int, *, seed: int, samples: int = 1, gap: float = 1e-6
) -> list[Instance]:
    """Instances with samples of n draws each from Dirichlet(½) truths."""
    counts = jeffreys_counts(np.random.default_rng(seed), samples, shape, n)
    return [Instance(problem, each, gap=gap) for each in counts]
