"""Posterior risks of protocols, by draws: how many fail, and whether this proves that α is kept.

See ``docs/theory.md``, 'Monte Carlo'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rldp._common.process import on_every_core
from rldp.designer.certify import CertifiedBatch
from rldp.designer.engine.settings import Settings
from rldp.designer.request import CPU, Device, Promised
from rldp.sets import Credible, Prior
from rldp.theory.arrays import Array
from rldp.theory.binomial import lower_probability, tail_probability
from rldp.theory.dirichlet import BLOCK, conditional_parts, mass_parts, mixture
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.posterior import can_fail, excesses, failures

__all__ = ["Risk", "by_looks", "checkable", "estimated", "proved"]

_ERROR = 1e-6  # probability that a risk above α is accepted, over all trials of a design
_TIMES_PLANNED = 4  # a design that is not accepted after so many times the planned draws is given up
_MOST_DRAWS = 2**20  # of a look, however small α is
_ON_DEVICE = 2  # tells the draws of an accelerator from the processor's
_LEAST_PRIOR = 1 / 16  # whose gamma variables do not underflow; less is drawn by logarithms
_LEAST_WEIGHT = 2.0**-1022  # of a gamma variable that underflowed against all odds

# Somebody else will count again, with other draws, and has to be convinced too: see :func:`checkable`.
_CHECKS = 100_000 * 4.0 ** np.arange(4)  # draws that a check may make
_CHECKED_NUMBERS = 5e8  # cells times draws that it can afford
_CHECK_ERROR, _CHECK_MISSES = 1e-10, 1e-6


_Task: TypeAlias = tuple[list[int], NDArray[np.int64], Callable[[], Floats], Callable[[], Floats]]
"""Promises, protocols of one sample, and functions that return a block of draws."""


@dataclass(frozen=True)
class Risk:
    """A credible promise, and what may fail: privacy, or the promised distortion."""

    about: Promised
    promise: Credible
    cells: int
    settings: Settings = field(default_factory=Settings)

    @property
    def level(self) -> float:
        """The risk to prove: α, or enough less that a check with other draws confirms α."""
        return checkable(self.promise.alpha, self.cells)

    @property
    def look(self) -> int:
        """The number of draws from one look at a proof to the next, in whole blocks."""
        settings = self.settings
        hits = max(
            min(settings.credible_hits_a_cell * self.cells, settings.credible_most_hits),
            settings.credible_least_hits,
        )
        blocks = math.ceil(hits / self.promise.alpha / settings.credible_looks / BLOCK)
        return min(blocks * BLOCK, _MOST_DRAWS)

    @property
    def most_looks(self) -> int:
        """The number of looks after which a design is given up."""
        return _TIMES_PLANNED * self.settings.credible_looks

    @property
    def target(self) -> float:
        """The normal quantile of 1 − π that a design should aim for: the looks then mostly accept it."""
        draws, error = self.look * self.settings.credible_looks, _share(0, self.most_looks)
        return float(_quantile(max(_most_hits(draws, self.level, error), 0), draws))

    @property
    def source(self) -> tuple[Prior, int]:
        """Risks of one prior and seed are counted with the same draws."""
        return self.promise.prior, self.promise.seed

    def may_fail(self, problem: DesignProblem, solved: CertifiedBatch, k: int) -> bool:
        """Return whether protocol k could fail under any draw."""
        return self.about == "utility" or can_fail(solved.matrix[k], problem.pair_epsilon[k])

    def failing(
        self, problem: DesignProblem, solved: CertifiedBatch, k: int, block: Floats, masses: Floats
    ) -> int:
        """Return under how many draws of a block protocol k fails."""
        if self.about == "privacy":
            return int(failures(solved.matrix[k : k + 1], problem.pair_epsilon[k : k + 1], block)[0])
        return excesses(solved.matrix[k], problem.distortion, float(solved.objective[k]), block, masses)


def estimated(
    risks: Sequence[Risk], problem: DesignProblem, solved: CertifiedBatch, device: Device = CPU
) -> Floats:
    """Return normal quantiles of 1 − π from as many draws as for a look: (risks, J·K) for J·K problems."""
    draws = max(risk.look for risk in risks)
    return np.asarray(_quantile(_count(risks, problem, solved, draws, 0, device), draws))


def proved(
    risks: Sequence[Risk], problem: DesignProblem, solved: CertifiedBatch, trial: int, device: Device = CPU
) -> tuple[NDArray[np.bool_], Floats]:
    """Return whether fresh draws confirm each promise: (risks, K); and quantiles of 1 − π.

    Parameters
    ----------
    trial : int
        Number of designs that were tried before for the same sample.
    device : Device
        Where draws are made, if possible; an accelerator's draws differ from the CPU's.
    """

    def count(left: NDArray[np.int64], draws: int, stream: int) -> NDArray[np.int64]:
        return _count(risks, problem.subset(left), solved.subset(left), draws, stream, device)

    return by_looks(risks, len(problem.counts), count, trial)


def by_looks(
    risks: Sequence[Risk],
    protocols: int,
    count: Callable[[NDArray[np.int64], int, int], NDArray[np.int64]],
    trial: int,
) -> tuple[NDArray[np.bool_], Floats]:
    """Use more and more fresh draws, until they prove the promises or clearly cannot.

    Every look at them may accept with a probability of at most its share of the error, by exact binomial
    tails.

    Parameters
    ----------
    risks : sequence of Risk
    protocols : int
        K, how many there are.
    count : callable (numbers of protocols, draws, stream) → int array (risks, protocols)
        Under how many draws of a stream they fail.
    trial : int
        As in :func:`proved`, and so is what is returned.
    """
    level = np.array([[risk.level] for risk in risks])
    accepted = np.zeros((len(risks), protocols), dtype=bool)
    hits, quantile = np.zeros(accepted.shape, dtype=np.int64), np.zeros(accepted.shape)
    left, draws = np.arange(protocols), 0
    more, looks = max(risk.look for risk in risks), risks[0].most_looks
    for look in range(looks):
        stream, draws = 1 + looks * trial + look, draws + more
        hits[:, left] += count(left, more, stream)
        accepted[:, left] |= tail_probability(hits[:, left], draws, level) <= _share(trial, looks)
        quantile[:, left] = _quantile(hits[:, left], draws)
        hopeful = (accepted[:, left] | (hits[:, left] <= _hopeless(level, draws))).all(axis=0)
        left = left[hopeful & ~accepted[:, left].all(axis=0)]
        if len(left) == 0:
            break
    return accepted, quantile


@lru_cache(maxsize=256)
def checkable(alpha: float, cells: int) -> float:
    """A risk that a check confirms to be at most α, all but certainly; 0 if it never can.

    A check makes N draws, as many as it can afford, and confirms if so few of them fail that this would have
    a probability below 1e-10 with any risk above α. With the risk that is returned, that fails in one check
    of a million.
    """
    affordable = _CHECKED_NUMBERS // cells
    draws = int(_CHECKS[affordable >= _CHECKS].max(initial=min(affordable, _CHECKS[0])))
    most = _most_hits(draws, alpha, _CHECK_ERROR)
    return float(lower_probability(most + 1, draws, _CHECK_MISSES)) if most >= 0 else 0.0


def _most_hits(draws: int, level: float, error: float) -> int:
    """Return the largest number of failures that has a probability of at most ``error``; −1 if none does.

    It is that of so many failures or fewer, if each of the draws fails with probability ``level``.
    """
    low, high = -1, draws
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if tail_probability(middle, draws, level) <= error else (low, middle)
    return low


def _share(trial: int, looks: int) -> float:
    """Of the error, for one look of one trial; all of them add up to less than ``_ERROR``."""
    return _ERROR * 0.5 ** (trial + 1) / looks


def _hopeless(level: Floats, draws: int) -> Floats:
    """Return a number of failures from which more draws hardly help."""
    return np.asarray(level * draws + 2 * np.sqrt(level * draws))


def _quantile(hits: Any, draws: int) -> Any:
    """Return the normal quantile of 1 − π, with half a hit added."""
    return -ndtri((hits + 0.5) / (draws + 1))


def _count(
    risks: Sequence[Risk],
    problem: DesignProblem,
    solved: CertifiedBatch,
    draws: int,
    stream: int,
    device: Device = CPU,
) -> NDArray[np.int64]:
    """Return under how many draws each protocol fails: (risks, K)."""
    hits = None if device.is_cpu else _count_on_device(risks, problem, solved, draws, stream, device)
    return _count_on_cpu(risks, problem, solved, draws, stream) if hits is None else hits


def _count_on_device(
    risks: Sequence[Risk],
    problem: DesignProblem,
    solved: CertifiedBatch,
    draws: int,
    stream: int,
    device: Device,
) -> NDArray[np.int64] | None:
    """Count on an accelerator, all protocols together; None if it cannot."""
    (risk, *others) = risks
    if others or risk.about == "utility" or problem.noise is not None:
        return None
    secrets, values, outputs = problem.shape
    chunk = max(1, device.bytes // (8 * 8 * secrets * max(values, outputs) * draws))
    hits = np.zeros((1, len(problem.counts)), dtype=np.int64)
    for number, start in enumerate(range(0, len(problem.counts), chunk)):
        part = slice(start, start + chunk)
        key = np.random.SeedSequence(risk.promise.seed, spawn_key=(stream, _ON_DEVICE, number))
        with device.working():
            drawn = _conditionals_there(problem.counts[part], risk.promise.prior, draws, key, device)
            if drawn is None:
                return None
            hits[0, part] = failures(solved.matrix[part], problem.epsilon[part], drawn)
    return hits


def _conditionals_there(
    counts: NDArray[np.int64], prior: Prior, draws: int, key: np.random.SeedSequence, device: Device
) -> Array | None:
    """Draws (K, |S|, |U|, draws) from the posteriors of K samples, on an accelerator.

    Which component of a mixture a draw is from is drawn in memory. Where shapes are small, a gamma variable
    is that of a shape larger by one, times a power of a uniform, in logarithms.
    """
    xp = device.xp
    first, second, third = (int(word >> 1) for word in key.generate_state(3, np.uint64))
    generator = np.random.default_rng(third)
    a = np.stack([_components_drawn(each, prior, draws, generator) for each in counts])
    shapes = xp.asarray(counts.astype(np.float64))[..., None] + xp.asarray(a)[:, None, None, :]
    small = float(a.min()) < _LEAST_PRIOR
    weights = device.gammas(shapes + 1 if small else shapes, first)
    if weights is None:
        return None
    if small:
        tails = device.gammas(xp.ones_like(shapes), second)
        logs = xp.log(xp.maximum(weights, xp.asarray(_LEAST_WEIGHT))) - tails / shapes
        weights = xp.exp(logs - xp.max(logs, axis=2, keepdims=True))
    return weights / xp.sum(weights, axis=2, keepdims=True)


def _components_drawn(
    counts: NDArray[np.int64], prior: Prior, draws: int, generator: np.random.Generator
) -> Floats:
    """The a of every draw: (draws,)."""
    components, weights = mixture(counts, prior)
    return np.asarray(generator.choice(components, size=draws, p=weights))


def _count_on_cpu(
    risks: Sequence[Risk], problem: DesignProblem, solved: CertifiedBatch, draws: int, stream: int
) -> NDArray[np.int64]:
    """Count on every core, block by block; equal samples share their draws."""
    shape, noise = problem.counts.shape[1:], problem.noise
    tables, sample = np.unique(
        problem.published.reshape(len(problem.counts), -1), axis=0, return_inverse=True
    )
    tasks: list[_Task] = []
    for number, table in enumerate(tables):
        alike, counts = np.flatnonzero(sample == number), table.reshape(shape)
        for prior, seed in dict.fromkeys(risk.source for risk in risks):
            own = [
                i
                for i, risk in enumerate(risks)
                if risk.source == (prior, seed) and any(risk.may_fail(problem, solved, int(k)) for k in alike)
            ]
            if not own:
                continue  # private whatever the distribution: there is nothing to count
            drawn = (counts, prior, draws, (seed, stream), noise)
            with_masses = any(risks[i].about == "utility" for i in own)
            masses = mass_parts(*drawn) if with_masses else repeat(lambda: np.empty((1, 0)))
            parts = zip(conditional_parts(*drawn), masses, strict=False)
            tasks += [(own, alike, part, mass) for part, mass in parts]

    hits = np.zeros((len(risks), len(problem.counts)), dtype=np.int64)
    counted: list[tuple[Any, Any]] = []

    def count(task: _Task) -> None:
        own, alike, part, mass = task
        block, (masses,) = part(), mass()
        failing = [[risks[i].failing(problem, solved, int(k), block, masses) for k in alike] for i in own]
        counted.append((np.ix_(np.array(own), alike), failing))

    settings = risks[0].settings
    on_every_core(count, tasks, most=max(settings.most_threads, math.prod(shape) // settings.cells_a_thread))
    for where, failing in counted:
        hits[where] += failing
    return hits
