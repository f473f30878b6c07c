"""Truths and samples, each determined by the seed and its number alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.paper.settings import Settings
from rldp.theory.model import Floats

__all__ = ["Draws", "draw"]

_TRUTH, _SAMPLE = 0, 1


@dataclass(frozen=True, eq=False)
class Draws:
    """Consecutive instances of an experiment.

    Attributes
    ----------
    truths : array (K, |S|, |U|)
        P*, from the Dirichlet distribution with all parameters ½ (Jeffreys' prior).
    counts : int array (K, |S|, |U|)
        A sample of n draws from each.
    """

    truths: Floats
    counts: NDArray[np.int64]


def draw(settings: Settings, stream: int, n: int, first: int, count: int) -> Draws:
    """Draw the instances ``first``, ``first`` + 1, … of an experiment at sample size n.

    Every instance has separate generators, seeded by (seed, stream, instance) for the truth and by (seed,
    stream, instance, n) for the sample. A truth is therefore the same at every n, more instances do not
    change the first ones, and the order of the work does not matter.

    Parameters
    ----------
    stream : int
        Number of the experiment; different numbers give independent draws.
    """
    shape = (settings.secrets, settings.values)
    truths, counts = [], []
    for instance in range(first, first + count):
        truth = _generator(settings.seed, stream, instance, _TRUTH).dirichlet(np.full(settings.cells, 0.5))
        sample = _generator(settings.seed, stream, instance, _SAMPLE, n).multinomial(n, truth)
        truths.append(truth.reshape(shape))
        counts.append(sample.reshape(shape))
    return Draws(np.stack(truths), np.stack(counts))


def _generator(seed: int, *place: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place)))
