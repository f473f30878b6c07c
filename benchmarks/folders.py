"""Measure the release of whole files on one core and on two; a section of docs/performance.md.

A folder of Parquet files is released on one core and on two in the same run, and a CSV file on one core. Each
release is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import rldp
from page import machine, write_section

SECRETS, VALUES, FILES = 2, 16, 20
BUSY = 1.15  # the clock over the CPU time of each core, where others wanted the cores, too
LABELS = [f"secret {i}" for i in range(SECRETS)], list(range(VALUES))


@dataclass(frozen=True)
class Measured:
    """Seconds on the clock, seconds of CPU time, memory in MB at most."""

    rows: int
    wall: float
    cpu: float
    memory: float


def table(rows: int, seed: int) -> pa.Table:
    """People: a secret in words, a number to release, a number to keep."""
    rng = np.random.default_rng(seed)
    secrets = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, SECRETS, rows)), LABELS[0])
    columns = {
        "secret": secrets.cast(pa.string()),
        "value": rng.integers(0, VALUES, rows),
        "kept": rng.integers(0, 1000, rows),
    }
    return pa.table(columns)


def write(folder: Path, rows: int, csv_rows: int) -> None:
    (folder / "rows").mkdir()
    for i in range(FILES):
        pq.write_table(table(rows // FILES, i), folder / "rows" / f"{i:02d}.parquet")
    pa.csv.write_csv(table(csv_rows, FILES), folder / "rows.csv")
    matrix = np.random.default_rng(1).dirichlet(np.ones(VALUES), size=(SECRETS, VALUES))
    rldp.Protocol(matrix, *LABELS, LABELS[1]).save(folder / "protocol.json")


def measured(folder: Path, source: str, target: str, cores: int) -> Measured:
    """A release in a process of its own, on so many cores."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(folder), source, target, str(cores)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Measured(**json.loads(done.stdout))


def child(folder: Path, source: str, target: str, cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    start = time.perf_counter()
    done = rldp.release_file(
        folder / "protocol.json",
        folder / source,
        folder / target,
        secret="secret",
        value="value",
        keep=["kept"],
        unproved=True,
        jobs=cores,
    )
    wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3
    print(json.dumps({"rows": done.rows, "wall": wall, "cpu": cpu, "memory": memory}))


def section(one: Measured, two: Measured, csv: Measured) -> str:
    rows = [
        f"| {name} | {m.rows:,} | {m.wall:.1f} s | {m.cpu:.1f} s | {m.rows / m.wall / 1e6:.2f} million | "
        f"{m.memory:,.0f} MB |"
        for name, m in (("Parquet, one core", one), ("Parquet, two cores", two), ("CSV, one core", csv))
    ]
    table = "\n".join(rows)
    return f"""## Release of files

{machine("numpy", "pyarrow")}

`rldp.release_file` from files to files, with a text column as the secret, a column of {VALUES} numbers to
release, and one kept column: {FILES} Parquet files in a folder, on one core and then on two in the same run;
and one CSV file. Memory is the largest that was resident.

| what | rows | time | CPU time | rows/s | memory |
|---|---|---|---|---|---|
{table}

{comparison(one, two)}
"""


def comparison(one: Measured, two: Measured) -> str:
    """By the clock, if nobody else wanted the cores."""
    if max(one.wall / one.cpu, two.wall / (two.cpu / 2)) < BUSY:
        return f"Two cores are **{one.wall / two.wall:.2f}×** as fast as one."
    return (
        "Others wanted the cores as well, so that times on the clock cannot be compared. Two at a time took\n"
        f"{two.cpu / one.cpu - 1:.0%} more CPU time than one by one: cores of their own would make them\n"
        f"{2 * one.cpu / two.cpu:.2f}× as fast, if they shared it equally."
    )


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the rows, nothing written")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        folder, source, target, cores = options.child
        child(Path(folder), source, target, int(cores))
        return
    rows, csv_rows = (2_000_000, 200_000) if options.quick else (100_000_000, 10_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows, csv_rows)
        one = measured(folder, "rows", "one", 1)
        two = measured(folder, "rows", "two", 2)
        text = section(one, two, measured(folder, "rows.csv", "out.csv", 1))
    print(text)
    if not options.quick:
        write_section("release of files", text)


if __name__ == "__main__":
    main()
