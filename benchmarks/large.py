"""Large alphabets: time, memory, proved gap and verdict of one design each; a section of docs/performance.md.

Every design runs in a process of its own, so that its largest memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import rldp
from page import machine, write_section

CASES = {
    "RURP 10×50": {"shape": (10, 50), "n": 20_000, "gap": 1e-4},
    "RURP 10×100": {"shape": (10, 100), "n": 50_000, "gap": 1e-3},
    "NURP 10×100, windows": {"shape": (10, 100), "n": 50_000, "gap": 1e-3, "windows": True},
    "NURP 10×300, windows": {
        "shape": (10, 300),
        "n": 200_000,
        "gap": 1e-3,
        "windows": True,
    },
    "RURP 10×300, windows": {
        "shape": (10, 300),
        "n": 200_000,
        "gap": 1e-3,
        "windows": True,
    },
    "NUNP 10×300": {"shape": (10, 300), "n": 200_000, "gap": 1e-3},
    "RUNP 10×300": {"shape": (10, 300), "n": 200_000, "gap": 1e-3},
}


def measured(name: str) -> dict[str, object]:
    """One design, its file and its verdict."""
    case = CASES[name]
    rng = np.random.default_rng(0)
    secrets, values = case["shape"]
    truth = rng.dirichlet(np.full(secrets * values, 0.5))
    sample = rldp.Sample(rng.multinomial(case["n"], truth).reshape(secrets, values))
    utility, privacy = (rldp.Nominal() if kind == "N" else rldp.ChiSquare() for kind in (name[0], name[2]))
    start = time.perf_counter()
    designed = rldp.design(
        sample,
        0.5,
        utility=utility,
        privacy=privacy,
        gap=case["gap"],
        windows=case.get("windows", False),
    )
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "protocol.json"
        designed.protocol.save(path)
        size = path.stat().st_size / 1e6
        start = time.perf_counter()
        verdict = rldp.verify(path)
    judged = time.perf_counter() - start
    return {
        "seconds": seconds,
        "memory": memory,
        "objective": designed.objective,
        "lower_bound": designed.lower_bound,
        "size": size,
        "judged": judged,
        "ok": verdict.ok,
    }


def row(name: str, found: dict[str, object]) -> str:
    verdict = "proved" if found["ok"] else "REFUSED"
    return (
        f"| {name}, n = {CASES[name]['n']:,} | {found['seconds']:.0f} s | {found['memory']:.1f} GB | "
        f"{found['objective']:.6g} | {found['lower_bound']:.6g} | "
        f"{verdict} in {found['judged']:.1f} s | {found['size']:.0f} MB |"
    )


def main() -> None:
    """Run every case in a process of its own, and write the section."""
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(measured(sys.argv[1])))
        return
    rows = []
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        rows.append(row(name, json.loads(done.stdout)))
        print(rows[-1], flush=True)
    table = "\n".join(rows)
    write_section(
        "large",
        f"""## Large alphabets

{machine("numpy", "scipy", "python-flint")}

One design each, ε = 0.5, squared distortion, Pearson's set at α = 0.05, a sample from a
Dirichlet(½) truth. Gaps asked for: 1e-4 at 10×50, 1e-3 elsewhere. Designs with *windows* keep a stronger
constraint ([theory](theory.md#windows)); their lower bound holds for all private protocols.

| | time | memory | objective | lower bound | judge | file |
|---|---|---|---|---|---|---|
{table}
""",
    )


if __name__ == "__main__":
    main()
