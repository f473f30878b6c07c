"""How often credible protocols fail under one truth: every sample of a small case, weighted exactly.

Two secrets, two values, ``rows`` rows of each secret. The rule publishes the value with probability 1 − t and
tosses a coin otherwise, with the least t whose posterior risk is at most α. Prints the numbers of the table
in the theory page, 'Credible privacy'.
"""

import math

import numpy as np
from scipy.stats import beta, binom

from rldp.theory.dirichlet import conditionals
from rldp.theory.posterior import failures

EPSILON, ALPHA, PRIOR, DRAWS, SEED = 0.5, 0.05, 0.5, 20_000, 1
GRID = np.concatenate([[1e-4, 1e-3, 3e-3], np.linspace(0.01, 0.99, 99)])
PUBLISH, COIN = np.tile(np.eye(2), (2, 1, 1)), np.full((2, 2, 2), 0.5)


def least_noise(counts, stream):
    """The least t, to 1/4096."""
    drawn = conditionals(np.array(counts), prior=PRIOR, draws=DRAWS, seed=SEED, stream=stream)
    low, high = 0.0, 1.0
    for _ in range(12):
        t = (low + high) / 2
        [failed] = failures(((1 - t) * PUBLISH + t * COIN)[None], EPSILON, drawn)
        low, high = (low, t) if failed <= ALPHA * DRAWS else (t, high)
    return high


def shares_that_fail(noise, truths):
    """For every pair of truths (b1, b2): probability of the samples whose protocol is not private."""
    rows = len(noise) - 1
    weights = binom.pmf(np.arange(rows + 1), rows, truths[:, None])
    given_secret = (1 - noise) * truths[:, None, None] + noise / 2  # P(y = 0), by truth and sample
    found = np.empty((len(truths), len(truths)))
    for i, j in np.ndindex(found.shape):
        p, q = given_secret[i], given_secret[j]
        leak = np.maximum.reduce([p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p)])
        found[i, j] = weights[i] @ (leak > math.exp(EPSILON)) @ weights[j]
    return found


def main():
    quantiles = (np.arange(100) + 0.5) / 100
    print(
        "| rows of each | mean over the prior | mean over the grid | 95 % of the grid below | worst truth |"
    )
    print("|---|---|---|---|---|")
    for rows in (10, 20, 50, 100):
        noise = np.empty((rows + 1, rows + 1))
        for i, j in np.ndindex(noise.shape):
            noise[i, j] = least_noise([[i, rows - i], [j, rows - j]], stream=i * (rows + 1) + j)
        prior = shares_that_fail(noise, np.clip(beta(PRIOR, PRIOR).ppf(quantiles), 1e-6, 1 - 1e-6)).mean()
        grid = shares_that_fail(noise, GRID)
        numbers = (prior, grid.mean(), np.quantile(grid, 0.95), grid.max())
        print(f"| {rows} |", " | ".join(f"{x:.3f}" for x in numbers), "|", flush=True)


if __name__ == "__main__":
    main()
