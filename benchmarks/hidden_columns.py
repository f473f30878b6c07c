"""Several columns under a hidden truth: what joint designs and chains cost, and how often they fail.

``python benchmarks/hidden_columns.py adult.csv --out FOLDER --jobs 16`` takes the whole table of
UCI Adult for the truth (columns sex, race, income, age, education_num, hours_per_week; age and
hours in bins of equal width), draws samples of 2 000 and 20 000 rows from it, and designs at ε = ½
and α = .05 with credible privacy, jointly and as a chain. Each protocol is judged by the truth: the
sum of its columns' squared distortions, in places of their labels and divided by the variance of
the column, and whether ε* exceeds ½. Every design is a file in the folder, so that a run that was
stopped goes on where it was; at the end the table of all that is there is printed. ``--samples``
says how many of each row, ``--only`` which rows.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
from multiprocessing import Value
from pathlib import Path

import numpy as np
import pandas as pd

import rldp
from credible_prior import on_one_core
from rldp.distortions import distortion_of

EPSILON, GAP = 0.5, 1e-3
ROWS = {
    "race; education, hours (5×80)": ("race", ("education_num", "hours_per_week"), {"hours_per_week": 5}),
    "sex; education, age (2×128)": ("sex", ("education_num", "age"), {"age": 8}),
    "income; education, hours (2×80)": ("income", ("education_num", "hours_per_week"), {"hours_per_week": 5}),
    "sex; age, hours (2×40)": ("sex", ("age", "hours_per_week"), {"age": 8, "hours_per_week": 5}),
}
SIZES = (2000, 20_000)
KINDS = ("joint", "chain")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path, help="the table that is the truth, as CSV")
    parser.add_argument("--out", type=Path, default=os.environ.get("OUT"), help="folder of what was found")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one core each")
    parser.add_argument("--samples", type=int, default=12, help="of each row and size")
    parser.add_argument("--only", default="", help="rows whose names contain this")
    options = parser.parse_args()
    if options.out is None:
        parser.error("--out must name a folder")
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in ROWS if options.only in name]
    cases = [(name, n, kind) for n in reversed(SIZES) for name in names for kind in KINDS]
    work = [(options.table, folder, *case, i) for i in range(options.samples) for case in cases]
    work = [item for item in work if not _path(*item[1:]).exists()]
    number = Value("i", 0)
    with ProcessPoolExecutor(options.jobs, initializer=on_one_core, initargs=(number,)) as pool:
        for _ in pool.map(_measured, work):
            pass
    _print_table(folder)


def _path(folder: Path, name: str, n: int, kind: str, i: int) -> Path:
    return folder / f"{list(ROWS).index(name)}-{n}-{kind}-{i}.json"


@lru_cache(maxsize=4)
def _truth(table: Path, name: str) -> rldp.Sample:
    secret, value, bins = ROWS[name]
    frame = pd.read_csv(table, skipinitialspace=True)[[secret, *value]]
    for column, count in bins.items():
        frame[column] = pd.cut(frame[column], count, labels=False)
    values = {column: range(count) for column, count in bins.items()}
    return rldp.Sample.from_data(frame, secret=secret, value=list(value), values=values)


def _measured(work: tuple[Path, Path, str, int, str, int]) -> None:
    """One design and what it is under the truth; its sample follows from row, n and i."""
    table, folder, name, n, kind, i = work
    truth = _truth(table, name)
    law = truth.counts / truth.n
    rng = np.random.default_rng([i, n, *name.encode()])
    sample = replace(truth, counts=rng.multinomial(n, law.ravel()).reshape(law.shape))
    distortion, weights = _measure(truth)
    matrix_of_rows = distortion_of(truth, distortion, None, weights).matrix
    before, clock = time.process_time(), time.perf_counter()
    promises = {"privacy": rldp.Credible(), "utility": rldp.Nominal()}
    design = rldp.design(
        sample, EPSILON, **promises, distortion=distortion, weights=weights, gap=GAP, chain=kind == "chain"
    )
    matrix = design.protocol.matrix
    found = {
        "row": name,
        "n": n,
        "kind": kind,
        "sample": i,
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - before,
        "shape": list(truth.counts.shape),
        "constant": float((law.sum(axis=0) @ matrix_of_rows).min()),
        "distortion": float(np.einsum("su,suy,uy->", law, matrix, matrix_of_rows, optimize=True)),
        "leakage": float(rldp.leakage(rldp.Protocol(matrix), law)),
    }
    path = _path(folder, name, n, kind, i)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def _measure(truth: rldp.Sample) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Squared distances of the columns' places, and one over their variances."""
    law, distortions, weights = truth.counts.sum(axis=0) / truth.n, {}, {}
    for column in distortion_of(truth, "hamming").columns:
        places = np.arange(len(column.labels))
        shares = np.bincount(column.values, weights=law)
        distortions[column.name] = np.subtract.outer(places, places) ** 2.0
        weights[column.name] = 1 / float(shares @ places**2 - (shares @ places) ** 2)
    return distortions, weights


def _print_table(folder: Path) -> None:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    print("| secret; columns | n | kind | samples | distortion ± s.e. | above ε | largest ε* | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ROWS:
        for n in SIZES:
            for kind in KINDS:
                own = [f for f in found if (f["row"], f["n"], f["kind"]) == (name, n, kind)]
                if not own:
                    continue
                costs, leakages = (np.array([f[key] for f in own]) for key in ("distortion", "leakage"))
                error = costs.std(ddof=1) / len(own) ** 0.5 if len(own) > 1 else float("nan")
                seconds = np.mean([f["processor"] for f in own])
                above = int((leakages > EPSILON * (1 + 1e-12)).sum())
                print(
                    f"| {name} | {n} | {kind} | {len(own)} | {costs.mean():.3f} ± {error:.3f} | {above} "
                    f"| {leakages.max():.3f} | {seconds:.1f} |"
                )


if __name__ == "__main__":
    main()
