"""Random designs by the thousand: how many miss their gap, and what kind they are.

24 000 problems over four kinds, six orders λ, ten alphabets, ε from 0.001 to 12 and samples of 5 to 10⁹
draws, zero counts and unseen secrets among them. Every protocol is private whatever is printed here; a
*miss* is a design whose proved gap is larger than the one asked for, 1e-6.

    python benchmarks/stress.py                       all of it, a few minutes on two cores
    python benchmarks/stress.py --designs 2400        a tenth
    python benchmarks/stress.py --with lag=0.1        with another setting of the engine
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

import rldp

GAP = 1e-6
PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")
ORDERS = (0.0, 0.5, 2 / 3, 1.0, 2.0, 5.0)
SHAPES = ((2, 2), (2, 3), (3, 3), (2, 5), (3, 5), (4, 4), (5, 3), (4, 8), (2, 12), (6, 6))
DISTORTIONS = ("squared", "absolute", "hamming")
EACH = 100


@dataclass
class Tally:
    """What a run found."""

    designs: int = 0
    steps: int = 0
    seconds: float = 0.0
    misses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    worst: float = 0.0
    longest: int = 0  # steps of a design that closed its gap

    @property
    def missed(self) -> int:
        return sum(self.reasons.values())

    def add(self, problem: str, order: float, shape: tuple[int, int], batch: rldp.Batch) -> None:
        gaps = (batch.objective - batch.lower_bound) / np.maximum(1, batch.objective)
        missed = ~(gaps <= GAP)
        self.designs += len(gaps)
        self.steps += int(batch.status.steps.sum())
        self.longest = max(self.longest, int(batch.status.steps[~missed].max(initial=0)))
        self.seconds += batch.status.seconds
        self.routes.update(batch.status.route.tolist())
        if missed.any():
            self.worst = max(self.worst, float(gaps.max()))
            self.reasons.update(batch.status.reason[missed].tolist())
            for kind in (problem, f"λ = {order:.3g}", f"{shape[0]}×{shape[1]}"):
                self.misses[kind] += int(missed.sum())


def draws(rng: np.random.Generator, shape: tuple[int, int], count: int) -> np.ndarray:
    """Counts of samples of very different sizes from sparse and even truths."""
    cells = shape[0] * shape[1]
    sizes = np.floor(10 ** rng.uniform(np.log10(5), 9, size=count)).astype(int)
    truths = np.stack([rng.dirichlet(np.full(cells, a)) for a in rng.choice([0.1, 0.5, 1.0], size=count)])
    return rng.multinomial(sizes, truths).reshape(count, *shape)


def run(each: int = EACH, settings: rldp.Settings | None = None) -> Tally:
    """Design ``each`` problems of every kind."""
    tally = Tally()
    for place, (problem, order, shape) in enumerate(
        (p, o, s) for p in PROBLEMS for o in ORDERS for s in SHAPES
    ):
        rng = np.random.default_rng(place)
        counts = draws(rng, shape, each)
        robust = rldp.PowerDivergence(order)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rldp.RldpWarning)
            batch = rldp.design_batch(
                counts,
                10 ** rng.uniform(-3, np.log10(12), size=each),
                utility=robust if problem[0] == "R" else rldp.Nominal(),
                privacy=robust if problem[2] == "R" else rldp.Nominal(),
                distortion=DISTORTIONS[place % 3],
                gap=GAP,
                settings=settings,
            )
        tally.add(problem, order, shape, batch)
    return tally


def changed(*changes: str) -> rldp.Settings:
    """The settings with other values of some fields, each 'name=value'."""
    settings = rldp.Settings()
    for change in changes:
        name, _, value = change.partition("=")
        kind = type(getattr(settings, name))
        parsed = tuple(map(float, value.split(","))) if value and kind is tuple else kind(value or 0)
        settings = replace(settings, **{name: parsed})
    return settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--designs", type=int, default=len(PROBLEMS) * len(ORDERS) * len(SHAPES) * EACH)
    parser.add_argument("--with", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    started = time.perf_counter()
    tally = run(
        max(1, arguments.designs // (len(PROBLEMS) * len(ORDERS) * len(SHAPES))), changed(*arguments.settings)
    )
    print(
        f"{tally.designs} designs, {tally.missed} missed the gap (the worst by {tally.worst:.1e}), "
        f"{tally.steps / tally.designs:.2f} steps each and {tally.longest} at most where it was closed, "
        f"{time.perf_counter() - started:.0f} s"
    )
    for title, found in (("misses", tally.misses), ("reasons", tally.reasons), ("routes", tally.routes)):
        print(f"{title}: " + ("; ".join(f"{kind} {n}" for kind, n in found.most_common()) or "none"))


if __name__ == "__main__":
    main()
