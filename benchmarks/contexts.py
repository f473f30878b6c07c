"""How often more is told of a true distribution than promised, with a kept column or after a release.

For each case many true distributions are drawn, a sample from each, and a design is made on the sample. It
fails if ε* of everything that is published is above ε under the truth: at most 5 % may. Run from the
repository's root; three minutes of one processor:

    python benchmarks/contexts.py [--samples 100]
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

import rldp
from rldp.data.reading import Column, Reading

SEXES = ("f", "m")
CASES = (
    # kind, contexts or values of the first column, values, rows, ε
    ("kept column", 2, 3, 800, 0.6),
    ("kept column", 4, 5, 4000, 0.5),
    ("kept column, given_known", 4, 5, 4000, 0.5),
    ("after a release at 0.25", 3, 4, 1500, 0.5),
    ("after a release at 0.25", 6, 4, 6000, 0.5),
)


def truth(rng: np.random.Generator, first: int, values: int, *, apart: float) -> np.ndarray:
    """P(s, k, u): the first column differs between secrets by ``apart`` in logarithms at most."""
    shares = rng.dirichlet(np.full(first, 20.0))
    by_secret = shares * np.exp(rng.uniform(-apart / 2, apart / 2, (len(SEXES), first)))
    by_secret /= by_secret.sum(axis=1, keepdims=True)
    return by_secret[..., None] * rng.dirichlet(np.full(values, 2.0), size=(len(SEXES), first)) / len(SEXES)


def sample(rng: np.random.Generator, p: np.ndarray, rows: int, *, kept: bool) -> rldp.Sample:
    """A sample of the truth, whose first column is kept or published."""
    flat = p.reshape(len(p), -1) * len(p)
    counts = np.stack([rng.multinomial(rows // len(p), law) for law in flat])
    first, second = (Column(name, tuple(range(size))) for name, size in zip("ku", p.shape[1:], strict=True))
    secret = (Column("s", SEXES),)
    given, value = ((first,), (second,)) if kept else ((), (first, second))
    labels = tuple(product(first.labels, second.labels))
    return rldp.Sample(counts, SEXES, labels, reading=Reading(secret, value, given=given))


def one(
    kind: str, first: int, values: int, rows: int, epsilon: float, seed: int
) -> tuple[float, float] | None:
    """ε* under the truth, and the distortion over that of nothing published; None where it is refused."""
    rng = np.random.default_rng([seed, rows, first])
    options = {"privacy": "credible", "utility": "nominal", "gap": 1e-3, "distortion": "hamming"}
    if kind.startswith("kept"):
        p = truth(rng, first, values, apart=0.2)
        drawn = sample(rng, p, rows, kept=True)
        known = kind.endswith("given_known")
        try:
            design = rldp.design(drawn, epsilon, given_known=known, **options)
        except rldp.InvalidArgument:
            return None
    else:
        known = False
        p = truth(rng, first, values, apart=2.0)
        drawn = sample(rng, p, rows, kept=False)
        margin = drawn.counts.reshape(len(SEXES), first, values).sum(axis=2)
        reading = Reading(drawn.reading.secret, drawn.reading.value[:1])
        alone = rldp.Sample(margin, SEXES, reading.values, reading=reading)
        before = rldp.design(alone, 0.25, **options)
        design = rldp.design(drawn, epsilon, after=[before], **options)
    if known:
        stage = design.protocol.stages[-1].table
        conditional = p / p.sum(axis=2, keepdims=True)
        law = np.einsum("sku,ksuy->sky", conditional, stage)
        leaked = float(np.log((law.max(axis=0) / law.min(axis=0)).max()))
    else:
        leaked = rldp.leakage(design.protocol, p)
    return leaked, design.objective / sum(column.constant for column in design.columns)


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    count = parser.parse_args().samples
    for kind, first, values, rows, epsilon in CASES:
        started = time.process_time()
        tried = [one(kind, first, values, rows, epsilon, seed) for seed in range(count)]
        found = [each for each in tried if each is not None]
        failed = sum(leaked > epsilon for leaked, _ in found)
        bound = 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
        print(
            f"{kind}: {first} × {values}, {rows} rows, ε = {epsilon}: {failed} of {len(found)} above ε "
            f"({failed / len(found):.3f}; 5 % and three standard errors are {bound:.3f}), "
            f"{count - len(found)} refused, distortion {np.mean([c for _, c in found]):.2f} of nothing's, "
            f"{time.process_time() - started:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
