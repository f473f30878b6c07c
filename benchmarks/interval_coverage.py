"""How often normal intervals of estimates hold the truth: many draws, in all processes there are.

    python benchmarks/interval_coverage.py --draws 1280

Each draw is a truth (uniform on all distributions), a public sample, a protocol designed on it (ε = 1) and
released rows; the sample that is used is the one of the design, or a fresh one. Prints shares of intervals
that hold the truth and root mean square errors; also those of iterative Bayesian update from the sample.
"""

from __future__ import annotations

import argparse
import os
import warnings
from multiprocessing import Pool

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import rldp
from rldp.theory.likelihood import iterative_bayesian_update

ALPHABETS = ((2, 3, 75), (3, 5, 300), (5, 10, 1000))  # secrets, values, rows of the public sample
ROWS = (1000, 3000, 30_000, 300_000)
WAYS = ("sample of the design", "fresh sample", "iterative Bayesian update")


def drawn(job):
    """For each number of rows and way: how many of the intervals hold the truth, and the squared error."""
    (secrets, values, n), seed = job
    rng = np.random.default_rng([seed, secrets, values])
    truth = rng.dirichlet(np.ones(secrets * values))
    own, fresh = (rldp.Sample(rng.multinomial(n, truth).reshape(secrets, values)) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.RldpWarning)
        protocol = rldp.design(own, 1.0, gap=1e-4).protocol
    channel, shares = (
        protocol.matrix.reshape(secrets * values, -1),
        truth.reshape(secrets, values).sum(axis=0),
    )
    found = np.zeros((len(ROWS), len(WAYS), 2))
    for i, rows in enumerate(ROWS):
        counts = rng.multinomial(rows, truth @ channel)
        for j, sample in enumerate((own, fresh)):
            estimate = rldp.estimate(rldp.Released(counts, protocol), sample=sample, min_agreement=0)
            held = (estimate.lower <= shares) & (shares <= estimate.upper)
            found[i, j] = held.sum(), np.square(estimate.values - shares).sum()
        start = (own.counts.ravel() + 0.5) / (n + 0.5 * truth.size)
        updated = iterative_bayesian_update(channel, counts.astype(float), start=start)[0]
        found[i, 2] = np.nan, np.square(updated.reshape(secrets, values).sum(axis=0) - shares).sum()
    return found / values


def main() -> None:
    """Run all draws and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=1280)
    draws = parser.parse_args().draws
    with Pool() as pool:
        for alphabet in ALPHABETS:
            mean = np.mean(pool.map(drawn, [(alphabet, seed) for seed in range(draws)], chunksize=4), axis=0)
            for rows, per_way in zip(ROWS, mean, strict=True):
                told = (
                    f"{way}: {error**0.5:.4f}" + ("" if np.isnan(held) else f", holds {held:.4f}")
                    for way, (held, error) in zip(WAYS, per_way, strict=True)
                )
                print(f"{alphabet} N = {rows:,}; " + "; ".join(told), flush=True)


if __name__ == "__main__":
    main()
