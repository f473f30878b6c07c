"""Designs on counts with noise: what the noise costs, how often protocols fail, and the law of the noise.

``python benchmarks/noise.py --jobs 16 --out noise.json`` draws samples from tables that are taken for the
truth, adds noise of several levels, designs at ε = ½ and α = .05 with credible privacy, and judges each
protocol by the truth: its distortion D* and whether it is ½-private. ``--law 10000000`` draws so much noise
with the secure source and tests its law by χ².
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import Value
from pathlib import Path
from secrets import randbelow

import numpy as np
from scipy.stats import chi2

import rldp
from credible_prior import TABLES, on_one_core
from rldp._common.discrete_laplace import discrete_laplace
from rldp.adviser.demo import adult

EPSILON, GAP = 0.5, 1e-3
# ProPublica's COMPAS data (compas-scores-two-years.csv, 2016): prior counts, 12 and more as one,
# by recidivism.
PRIORS = [
    [1520, 896, 471, 273, 183, 147, 92, 79, 65, 47, 26, 30, 134],
    [630, 501, 369, 295, 218, 187, 150, 131, 122, 102, 84, 68, 394],
]
TRUTHS = {
    "sex × education": adult().counts,
    "race × education": np.array(TABLES["race × education"]),
    "recidivism × priors": np.array(PRIORS),
}
CASES = [(name, n, noise) for name in TRUTHS for n in (2000, 20_000) for noise in (None, 1.0, 0.3, 0.1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one core each")
    parser.add_argument("--samples", type=int, default=40, help="of each case")
    parser.add_argument("--out", type=Path, help="where to write what was found, as JSON")
    parser.add_argument("--law", type=int, help="test the law of so many draws instead")
    parser.add_argument("--ignored", action="store_true", help="take the noisy counts for exact ones")
    options = parser.parse_args()
    if options.law:
        print(*(_law(level, options.law // 2) for level in (1.0, 0.3)), sep="\n")
        return
    work = [(*case, i, options.ignored) for case in reversed(CASES) for i in range(options.samples)]
    started, number = time.perf_counter(), Value("i", 0)
    with ProcessPoolExecutor(options.jobs, initializer=on_one_core, initargs=(number,)) as pool:
        found = dict(zip(work, pool.map(_measured, work, chunksize=2), strict=True))
    rows = []
    for name, n, noise in CASES:
        own = np.array([found[name, n, noise, i, options.ignored] for i in range(options.samples)])
        facts = {"truth": name, "n": n, "noise": noise, "samples": options.samples}
        rows.append({**facts, "distortion": float(own[:, 0].mean()), "fails": float(own[:, 1].mean())})
        print(rows[-1])
    print(f"{time.perf_counter() - started:.0f} s")
    if options.out:
        options.out.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _measured(work: tuple[str, int, float | None, int, bool]) -> tuple[float, bool]:
    """D* under the truth, and whether the protocol fails there; its sample follows from truth, n and i."""
    name, n, noise, i, ignored = work
    truth = TRUTHS[name] / TRUTHS[name].sum()
    rng = np.random.default_rng([i, n, *name.encode()])
    counts = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
    if noise is not None:
        ratio = math.exp(-noise)
        counts = counts + rng.geometric(1 - ratio, truth.shape) - rng.geometric(1 - ratio, truth.shape)
    sample = rldp.Sample(np.maximum(counts, 0)) if ignored else rldp.Sample(counts, noise=noise)
    promises = {"privacy": rldp.Credible(), "utility": rldp.Nominal()}
    matrix = rldp.design(sample, EPSILON, **promises, gap=GAP).protocol.matrix
    given = np.einsum("su,suy->sy", truth / truth.sum(axis=1, keepdims=True), matrix)
    d = np.subtract.outer(np.arange(truth.shape[1]), np.arange(truth.shape[1])) ** 2.0
    fails = bool((given.max(axis=0) > math.exp(EPSILON) * (1 + 1e-13) * given.min(axis=0)).any())
    return float(np.einsum("su,suy,uy->", truth, matrix, d)), fails


def _law(level: float, draws: int) -> str:
    exact, ratio = Fraction(level), math.exp(-level)
    found = Counter(discrete_laplace(exact, randbelow) for _ in range(draws))
    law = {z: draws * (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-400, 401)}
    cells = [z for z, expected in law.items() if expected >= 10]
    rest = draws - sum(law[z] for z in cells)
    statistic = sum((found[z] - law[z]) ** 2 / law[z] for z in cells)
    statistic += (draws - sum(found[z] for z in cells) - rest) ** 2 / rest
    p = chi2.sf(statistic, len(cells))
    return f"ε = {level}: {draws} draws, χ² = {statistic:.1f} on {len(cells)} degrees, p = {p:.3f}"


if __name__ == "__main__":
    main()
