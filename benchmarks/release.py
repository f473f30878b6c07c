"""Measure release against per-row calls of OpenDP and multi-freq-ldpy; a section of docs/performance.md.

Everyone randomises the same column of 16 values in one run, on one thread. Times are CPU seconds, so that
what else the machine does matters little; the best of several runs counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
import opendp.prelude as dp  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client  # noqa: E402

import rldp  # noqa: E402
from page import machine, write_section  # noqa: E402

SECRETS, VALUES, EPSILON = 2, 16, 1.0


@dataclass(frozen=True)
class Result:
    """Rows per second of CPU time."""

    name: str
    rows: int
    rate: float


def best(name: str, rows: int, work: Callable[[], object], repeats: int) -> Result:
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return Result(name, rows, rows / min(times))


def columns(rows: int) -> dict[str, tuple[object, object]]:
    """The same rows as columns of every kind; numbers, or text of about eight letters."""
    rng = np.random.default_rng(0)
    secrets, values = rng.integers(0, SECRETS, rows), rng.integers(0, VALUES, rows)
    texts = tuple(np.array(labels)[codes] for labels, codes in zip(LABELS, (secrets, values), strict=True))
    arrow = tuple(pa.array(column.astype(object)) for column in texts)
    return {
        "NumPy integers": (secrets, values),
        "NumPy text": texts,
        "lists of integers": (secrets.tolist(), values.tolist()),
        "lists of text": (texts[0].tolist(), texts[1].tolist()),
        "Arrow integers": (pa.array(secrets), pa.array(values)),
        "Arrow text": arrow,
        "Arrow dictionaries": tuple(column.dictionary_encode() for column in arrow),
        "pandas integers": (pd.Series(secrets), pd.Series(values)),
        "pandas text": tuple(pd.Series(column.astype(object)).astype("str") for column in texts),
        "pandas categories": tuple(pd.Series(column).astype("category") for column in texts),
        "Polars integers": (pl.Series(secrets), pl.Series(values)),
        "Polars text": tuple(pl.Series(column) for column in arrow),
        "Polars categories": tuple(pl.Series(column).cast(pl.Categorical) for column in arrow),
    }


LABELS = [f"secret {i}" for i in range(SECRETS)], [f"value {i}" for i in range(VALUES)]


def ours(rows: int, repeats: int) -> list[Result]:
    matrix = np.random.default_rng(1).dirichlet(np.ones(VALUES), size=(SECRETS, VALUES))
    numbers, texts = rldp.Protocol(matrix), rldp.Protocol(matrix, *LABELS, LABELS[1])
    found = []
    for name, (secrets, values) in columns(rows).items():
        protocol = numbers if "integers" in name else texts
        found.append(best(name, rows, lambda p=protocol, s=secrets, u=values: p.release(s, u), repeats))
    return found


def rivals(repeats: int) -> list[Result]:
    """Each is called once a row on Python integers, its set-up and compilation left out."""
    values = np.random.default_rng(0).integers(0, VALUES, 500_000).tolist()
    few = values[:10_000]
    dp.enable_features("contrib")
    response = dp.m.make_randomized_response(categories=list(range(VALUES)), prob=0.5)
    return [
        best("OpenDP, randomized response", len(few), lambda: [response(u) for u in few], repeats),
        best(
            "multi-freq-ldpy, GRR client",
            len(values),
            lambda: [GRR_Client(u, VALUES, EPSILON) for u in values],
            repeats,
        ),
    ]


def byte_of_randomness(repeats: int) -> float:
    """Nanoseconds that one byte of the operating system's randomness costs."""
    size = 2**22
    return 1e9 / best("randomness", size, lambda: os.urandom(size), repeats).rate


def section(measured: list[Result], others: list[Result], byte: float, repeats: int) -> str:
    packages = ("numpy", "pyarrow", "pandas", "polars", "opendp", "multi-freq-ldpy", "numba")
    head = " | ".join(f"ratio to {other.name.split(',')[0]}" for other in others)
    rows = [
        f"| `release`, {r.name} | {r.rows:,} | {r.rate / 1e6:.1f} million | "
        + " | ".join(f"**{r.rate / other.rate:,.0f}×**" for other in others)
        + " |"
        for r in measured
    ]
    rows += [f"| {r.name} | {r.rows:,} | {r.rate / 1e6:.3g} million |{' |' * len(others)}" for r in others]
    table = "\n".join(rows)
    return f"""## Release

{machine(*packages)}

{SECRETS} secrets × {VALUES} values, {VALUES} outputs; one thread; rows per second of CPU time, best of
{repeats} runs.
Ours is the whole call `protocol.release(secrets, values)`: labels are looked up, each row takes 8 bytes of
the operating system's secure randomness, and probabilities are exact. The rivals are called once for each
row, on Python integers; their set-up and compilation are not counted. They randomise only the value and
ignore the secret. OpenDP's randomized response also draws exactly and securely. The GRR client is compiled by
numba and uses floating-point probabilities and a statistical generator: one call takes
{1e9 / others[1].rate:.0f} ns. Secure randomness alone costs about {byte:.0f} ns per byte here.

| | rows | rows per second | {head} |
|---|---|---|{"---|" * len(others)}
{table}
"""


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats, nothing written")
    options = parser.parse_args()
    pa.set_cpu_count(1)
    repeats = 2 if options.quick else 7
    measured = ours(500_000 if options.quick else 5_000_000, repeats)
    text = section(measured, rivals(repeats), byte_of_randomness(repeats), repeats)
    print(text)
    if not options.quick:
        write_section("release", text)


if __name__ == "__main__":
    main()
