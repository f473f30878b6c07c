"""Designs at random over all that is allowed, the far ends above all; each follows from a seed and a number.

ε from 0 to ∞, α from 1e-300 to 1 − 2⁻⁵³, λ from 0 to 100, radii from 5e-324 to 1e308, counts from 0 to
10¹⁵, distortions from 1e-80 to 1e80; alphabets from 1×1 on; secrets and values that were never seen; outputs
of one's own; windows or not; all four problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import rldp

MOST_DRAWS = 2**53 - 1
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-300, 0.5
PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")

Rng = np.random.Generator


@dataclass(frozen=True)
class OddDesign:
    """The arguments of one design."""

    sample: rldp.Sample
    epsilon: float
    privacy: rldp.UncertaintySet
    utility: rldp.UncertaintySet
    distortion: str | np.ndarray
    outputs: tuple[int, ...] | None
    gap: float
    windows: bool

    @property
    def problem(self) -> str:
        robust = ["N" if isinstance(s, rldp.Nominal) else "R" for s in (self.utility, self.privacy)]
        return f"{robust[0]}U{robust[1]}P"

    def __str__(self) -> str:
        given = self.distortion
        distortion = repr(given if isinstance(given, str) else given.tolist())
        return (
            f"rldp.design(rldp.Sample({self.sample.counts.tolist()!r}, values={self.sample.values!r}), "
            f"{self.epsilon!r}, privacy=rldp.{self.privacy!r}, utility=rldp.{self.utility!r}, "
            f"distortion={distortion}, outputs={self.outputs!r}, gap={self.gap!r}, windows={self.windows!r})"
        )

    def run(self) -> rldp.Design:
        return rldp.design(
            self.sample,
            self.epsilon,
            privacy=self.privacy,
            utility=self.utility,
            distortion=self.distortion,
            outputs=self.outputs,
            gap=self.gap,
            windows=self.windows,
        )


def odd_design(seed: int, number: int, *, cells: int = 60) -> OddDesign:
    """The design of this number; alphabets of at most ``cells`` cells."""
    rng = np.random.default_rng((seed, number))
    shape = _shape(rng, cells)
    problem = PROBLEMS[number % len(PROBLEMS)]
    outputs = None if rng.random() < 0.7 else tuple(range(int(rng.integers(1, shape[1] + 4))))
    one = _set(rng)
    other = one if rng.random() < 0.5 else _set(rng)
    return OddDesign(
        sample=_sample(rng, shape),
        epsilon=_epsilon(rng),
        privacy=one if problem[2] == "R" else rldp.Nominal(),
        utility=other if problem[0] == "R" else rldp.Nominal(),
        distortion=_distortion(rng, shape[1], shape[1] if outputs is None else len(outputs)),
        outputs=outputs,
        gap=1e-6 if rng.random() < 0.7 else _power_of_ten(rng, -12, 0),
        windows=bool(rng.random() < 0.3),
    )


def _one_of(rng: Rng, *ways: tuple[float, Callable[[], float]]) -> float:
    """A number found in one of several ways, each with its weight."""
    weights = np.array([weight for weight, _ in ways])
    return float(ways[rng.choice(len(ways), p=weights / weights.sum())][1]())


def _power_of_ten(rng: Rng, low: float, high: float) -> float:
    return float(10 ** rng.uniform(low, high))


def _shape(rng: Rng, cells: int) -> tuple[int, int]:
    secrets = int(rng.choice([1, 2, 3, 4, 5, 8, 12], p=[0.06, 0.34, 0.25, 0.15, 0.1, 0.06, 0.04]))
    values = int(rng.choice([1, 2, 3, 4, 5, 8, 12, 20], p=[0.05, 0.2, 0.2, 0.15, 0.15, 0.12, 0.08, 0.05]))
    return secrets, max(1, min(values, cells // secrets))


def _sample(rng: Rng, shape: tuple[int, int]) -> rldp.Sample:
    counts = _counts(rng, shape)
    if rng.random() < 0.15:
        counts[rng.integers(shape[0])] = 0
    if rng.random() < 0.1:
        counts[:, rng.integers(shape[1])] = 0
    if not counts.any():
        counts.flat[rng.integers(counts.size)] = 1
    return rldp.Sample(counts, values=_values(rng, shape[1]))


def _counts(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
    cells = shape[0] * shape[1]
    kind = rng.random()
    if kind < 0.5:  # drawn from a truth, sparse or even
        truth = rng.dirichlet(np.full(cells, rng.choice([0.05, 0.5, 1.0, 50.0])))
        counts = rng.multinomial(int(_power_of_ten(rng, 0, 9)), truth)
    elif kind < 0.85:  # of every size in one table
        counts = np.floor(10 ** rng.uniform(-1, 15, size=cells)).astype(np.int64)
    elif kind < 0.95:  # all the same
        counts = np.full(cells, int(_power_of_ten(rng, 0, 13)))
    else:  # hardly anything seen
        counts = rng.integers(0, 2, size=cells)
    return counts.reshape(shape) if counts.sum() < MOST_DRAWS else counts.reshape(shape) // cells


def _values(rng: Rng, count: int) -> tuple[float, ...]:
    kind = rng.random()
    if kind < 0.5:
        return tuple(range(count))
    if kind < 0.75:
        unit = _power_of_ten(rng, -40, 40)
        return tuple(unit * i for i in range(count))
    return tuple(sorted(set(rng.normal(size=count).tolist())))


def _epsilon(rng: Rng) -> float:
    return _one_of(
        rng,
        (8, lambda: 0.0),
        (5, lambda: np.inf),
        (45, lambda: _power_of_ten(rng, -3, 1)),
        (20, lambda: _power_of_ten(rng, -9, -3)),
        (7, lambda: _power_of_ten(rng, -323, -9)),
        (12, lambda: _power_of_ten(rng, 1, 3)),
        (3, lambda: _power_of_ten(rng, 3, 308)),
    )


def _set(rng: Rng) -> rldp.PowerDivergence:
    lambda_ = _one_of(
        rng,
        (20, lambda: 0.0),
        (25, lambda: 1.0),
        (15, lambda: 2 / 3),
        (5, lambda: 100.0),
        (20, lambda: _power_of_ten(rng, -2, 2)),
        (10, lambda: _power_of_ten(rng, -15, -2)),
        (5, lambda: _power_of_ten(rng, -320, -15)),
    )
    if rng.random() < 0.25:
        radius = _one_of(
            rng,
            (10, lambda: 0.0),
            (50, lambda: _power_of_ten(rng, -6, 3)),
            (20, lambda: _power_of_ten(rng, -323, -6)),
            (20, lambda: _power_of_ten(rng, 3, 308)),
        )
        return rldp.PowerDivergence(lambda_, radius=radius)
    alpha = _one_of(
        rng,
        (50, lambda: 0.05),
        (20, lambda: rng.uniform(0.001, LARGEST_ALPHA)),
        (10, lambda: max(SMALLEST_ALPHA, _power_of_ten(rng, -300, -3))),
        (10, lambda: LARGEST_ALPHA * (1 - _power_of_ten(rng, -15.9, -3))),
        (5, lambda: SMALLEST_ALPHA),
        (5, lambda: LARGEST_ALPHA),
    )
    return rldp.PowerDivergence(lambda_, alpha=alpha)


def _distortion(rng: Rng, values: int, outputs: int) -> str | np.ndarray:
    kind = rng.random()
    if kind < 0.5:
        return str(rng.choice(["squared", "absolute", "hamming"]))
    table = rng.random((values, outputs))
    if kind < 0.6:  # every size in one table
        return 10 ** rng.uniform(-80, 80, size=table.shape)
    if kind < 0.7:
        table = np.where(table < 0.5, 0.0, table)
    return np.asarray(table * _power_of_ten(rng, -80, 80))
