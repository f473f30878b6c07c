"""All outcomes of small multinomial samples, and the exact tails of their likelihood-ratio statistic."""

import math
from itertools import combinations, pairwise

import numpy as np


def outcomes(n: int, cells: int) -> np.ndarray:
    """All counts of n rows in ``cells`` cells: (outcomes, cells)."""
    cuts = combinations(range(n + cells - 1), cells - 1)
    return np.array([[b - a - 1 for a, b in pairwise((-1, *cut, n + cells - 1))] for cut in cuts])


def probabilities(counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Multinomial probabilities of outcomes under ``p``, right to about 1e-12 of themselves."""
    factorials = np.array([math.lgamma(i + 1) for i in range(counts.max() + 1)])
    n = int(counts[0].sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(counts > 0, counts * np.log(p), 0.0)
    return np.exp(math.lgamma(n + 1) - factorials[counts].sum(axis=1) + logs.sum(axis=1))


def statistic(counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """n·KL(P̂‖P) of outcomes; infinite where an impossible cell was hit."""
    n = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = counts / np.maximum(n, 1) / p
        return np.where(counts > 0, counts * np.log(np.where(counts > 0, ratios, 1.0)), 0.0).sum(axis=-1)


def exact_tail(values: np.ndarray, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Pr(value ≥ x) for every x; values within 1e-9 below x are left out, so that it is never too large."""
    order = np.argsort(values)
    above = np.concatenate([np.cumsum(weights[order][::-1])[::-1], [0.0]])
    return above[np.searchsorted(values[order], x + 1e-9)]


def distributions(cells: int, count: int, seed: int) -> np.ndarray:
    """Even, uneven and nearly degenerate distributions with full support: (about 3·count, cells)."""
    rng = np.random.default_rng(seed)
    spread = 10 ** rng.uniform(-5, 0, size=(count, cells))
    even = [
        np.full((1, cells), 1 / cells),
        rng.dirichlet(np.ones(cells), count),
        rng.dirichlet(np.full(cells, 10), count),
    ]
    return np.concatenate([*even, spread / spread.sum(axis=1, keepdims=True)])
