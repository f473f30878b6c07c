"""Measure the release of Spark frames, classic and Connect, on two local cores; a section of docs/clients.md.

Needs the extra ``spark`` and Java 17. Each session is a process of its own. Rates are rows per second of CPU
time of everything that runs, the JVM included, so that what else the machine does matters little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np
from pyspark.sql import SparkSession
from scipy.stats import chi2

import rldp
from page import PAGE, machine, write_section

SECRETS, VALUES = 2, 16
LABELS = [f"secret {i}" for i in range(SECRETS)], list(range(VALUES))
COLUMNS = {"secret": "secret", "value": "value"}
RISK = 1e-6


@dataclass(frozen=True)
class Measured:
    """Seconds on the clock and of CPU time; how far the counts of outputs are from what is expected."""

    kind: str
    rows: int
    wall: float
    cpu: float
    statistic: float
    freedom: int

    @property
    def consistent(self) -> bool:
        """Whether a χ² test at level 1e-6 lets them pass."""
        return bool(self.statistic < chi2.isf(RISK, self.freedom))


def protocol() -> rldp.Protocol:
    matrix = np.random.default_rng(1).dirichlet(np.full(VALUES, 3.0), size=(SECRETS, VALUES))
    return rldp.Protocol(matrix, *LABELS, LABELS[1])


def cpu_time(process: int) -> float:
    """Of a process and all below it that still run, and of those that they waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    total = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        total += sum(cpu_time(int(child)) for child in task.read_text().split())
    return total


def child(kind: str, folder: str, rows: int) -> None:
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    spark, applied = builder.getOrCreate(), protocol()
    source = f"{folder}/{kind}"
    drawn = "concat('secret ', cast(id % 2 as string)) as secret", "(id * 7 + id div 16) % 16 as value"
    spark.range(0, rows, 1, 8).selectExpr("id", *drawn).write.parquet(source)
    frame = spark.read.parquet(source)
    released = rldp.spark.release(applied, frame, **COLUMNS, keep=["id"])
    released.limit(1000).write.format("noop").mode("overwrite").save()
    wall, cpu = time.perf_counter(), cpu_time(os.getpid())
    released.write.format("noop").mode("overwrite").save()
    wall, cpu = time.perf_counter() - wall, cpu_time(os.getpid()) - cpu
    beside = rldp.spark.release(applied, frame, **COLUMNS, keep=["secret", "value"], released="y")
    counts = np.zeros((SECRETS, VALUES, VALUES))
    for secret, value, y, count in beside.groupBy("secret", "value", "y").count().collect():
        counts[LABELS[0].index(secret), value, y] = count
    assert counts.sum() == rows
    expected = counts.sum(axis=2, keepdims=True) * applied.matrix
    statistic = float(((counts - expected) ** 2 / expected).sum())
    print("\n" + json.dumps([kind, rows, wall, cpu, statistic, SECRETS * VALUES * (VALUES - 1)]))
    spark.stop()


def measured(kind: str, rows: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--child", kind, folder, str(rows)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=folder,
        )
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def section(found: list[Measured]) -> str:
    table = "\n".join(
        f"| {m.kind} | {m.rows:,} | {m.wall:.1f} s | {m.cpu:.1f} s | {m.rows / m.cpu / 1e6:.2f} million | "
        f"{m.statistic:.0f}, {m.freedom} degrees of freedom: {'consistent' if m.consistent else '**not**'} |"
        for m in found
    )
    return f"""### Measured

{machine("pyspark", "pyarrow", "numpy").replace("make bench", "benchmarks/spark.py")}

From Parquet through `rldp.spark.release` to nowhere (Spark's `noop`), on two local cores, with one kept
column; {SECRETS} secrets, {VALUES} values. CPU time is that of the JVM and of all Python workers; the time
on the clock is that of a machine that had other work as well. The last column is a χ² test at level 1e-6 of
all outputs, by secret and value, against the protocol.

| session | rows | time | CPU time | rows/s of a core | χ² |
|---|---|---|---|---|---|
{table}
"""


def main() -> None:
    """Run both and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--quick", action="store_true", help="a million rows, nothing written")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, folder, rows = options.child
        child(kind, folder, int(rows))
        return
    found = [measured(kind, 1_000_000 if options.quick else options.rows) for kind in ("classic", "connect")]
    text = section(found)
    print(text)
    if not all(each.consistent for each in found):
        sys.exit("the outputs do not have the probabilities of the protocol")
    if not options.quick:
        write_section("spark", text, PAGE.with_name("clients.md"))


if __name__ == "__main__":
    main()
