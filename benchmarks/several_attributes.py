"""Shares of several columns: our joint release beside SPL, SMP and RS+FD of multi-freq-ldpy, at equal ε.

They are mechanisms of local differential privacy: each row is private whatever its values are, every column
of it, and no sample is needed. Ours protects the secret alone. Called by benchmarks/preprocessing.py.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_ADP_Aggregator_MI, RSpFD_ADP_Client
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_ADP_Aggregator_MI, SMP_ADP_Client
from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_ADP_Aggregator_MI, SPL_ADP_Client

import rldp

EPSILONS = (0.5, 2.0)
SAMPLE, ROWS = 2000, 20_000
DRAWS = 5
SOLUTIONS = {
    "SPL": (SPL_ADP_Client, SPL_ADP_Aggregator_MI),
    "SMP": (SMP_ADP_Client, SMP_ADP_Aggregator_MI),
    "RS+FD": (RSpFD_ADP_Client, RSpFD_ADP_Aggregator_MI),
}


def errors(table, epsilon, seed, rows):
    """Root mean squared error of the shares in each published column, by solution."""
    rng = np.random.default_rng([seed, rows])
    sample = rldp.Sample(rng.multinomial(SAMPLE, table.truth.ravel()).reshape(2, -1))
    people = rng.multinomial(rows, table.truth.ravel()).reshape(2, -1)
    protocol = rldp.design(
        sample, epsilon, privacy="credible", utility="nominal", distortion="hamming", gap=1e-3
    ).protocol
    outputs = sum(
        rng.multinomial(count, row)
        for count, row in zip(people.ravel(), protocol.matrix.reshape(-1, len(protocol.outputs)), strict=True)
    )
    released = rldp.Released(outputs, protocol)
    found = {
        "ours, columns as they are": outputs / rows,
        "ours, estimate": rldp.estimate(released, sample=sample, min_agreement=0).values,
        "the public sample alone": sample.distribution.sum(axis=0),
    }
    truths = _shares(table, table.truth.sum(axis=0))
    found = {name: _shares(table, shares) for name, shares in found.items()}

    sizes = [*table.sizes, 2]  # they protect the secret as one column more
    secret, value = np.divmod(np.repeat(np.arange(people.size), people.ravel()), people.shape[1])
    tuples = np.column_stack([*table.codes[:, value], secret]).tolist()
    np.random.seed(seed)  # what multi-freq-ldpy draws from
    for name, (client, aggregator) in SOLUTIONS.items():
        reports = [client(each, sizes, len(sizes), epsilon) for each in tuples]
        found[name] = list(aggregator(reports, sizes, len(sizes), epsilon))[:-1]
    return {
        name: [
            float(np.sqrt(np.mean((np.asarray(one, dtype=float) - true) ** 2)))
            for one, true in zip(shares, truths, strict=True)
        ]
        for name, shares in found.items()
    }


def _shares(table, joint):
    """The shares in each column."""
    return [np.bincount(code, joint, size) for code, size in zip(table.codes, table.sizes, strict=True)]


def section(table, *, quick=False):
    """The table of errors, mean and standard deviation over draws."""
    draws, rows = (2, 500) if quick else (DRAWS, ROWS)
    lines = [
        "| ε | | " + " | ".join(table.columns) + " |",
        "|---|---|" + "---|" * len(table.columns),
    ]
    for epsilon in EPSILONS[:1] if quick else EPSILONS:
        cells = defaultdict(list)
        for seed in range(draws):
            for name, found in errors(table, epsilon, seed, rows).items():
                cells[name].append(found)
        for name, found in cells.items():
            mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
            shown = " | ".join(f"{a:.4f} ± {b:.4f}" for a, b in zip(mean, spread, strict=True))
            lines.append(f"| {epsilon:g} | {name} | {shown} |")
        print("several attributes, ε =", epsilon, flush=True)
    lines = "\n".join(lines)
    return f"""Root mean squared error of the shares of each column, {table.name}: a public sample of
{SAMPLE:,} rows, and {rows:,} rows of other people that are released. Mean ± standard deviation over
{draws} draws. SPL, SMP and RS+FD use the adaptive protocol, which is the better of k-ary randomised response
and optimised unary encoding. They treat the secret as one column more.

{lines}
"""
