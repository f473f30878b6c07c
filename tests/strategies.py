"""Random samples and protocols, for hypothesis and for seeded draws."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import rldp
from problems import DISTORTIONS
from rldp.theory.model import DesignProblem

EPSILONS = (0.1, 0.5, 1.0, 2.0)
ORDERS = (0.0, 2 / 3, 1.0, 2.0)


@st.composite
def samples(draw, secrets=(2, 3), values=(2, 4)):
    """Small samples with zero counts, skewed rows and sizes from a handful to a million."""
    shape = (draw(st.integers(*secrets)), draw(st.integers(*values)))
    size = draw(st.sampled_from((5, 40, 1000, 10**6)))
    seed = draw(st.integers(0, 2**32 - 1))
    return rldp.Sample(jeffreys_counts(np.random.default_rng(seed), 1, shape, size)[0])


def jeffreys_counts(rng, count, shape, n):
    """Counts (count, |S|, |U|) of n draws each from Dirichlet(½) truths."""
    return jeffreys(rng, count, shape, n)[0]


def jeffreys(rng, count, shape, n):
    """Counts and the truths they were drawn from."""
    truths = rng.dirichlet(np.full(shape[0] * shape[1], 0.5), size=count)
    counts = np.stack([rng.multinomial(n, truth) for truth in truths])
    return counts.reshape(count, *shape), truths.reshape(count, *shape)


def sets_of(problem, order=1.0):
    """Keyword arguments of design() for one of the four problems."""
    robust = rldp.PowerDivergence(order)
    return {
        "utility": robust if problem[0] == "R" else rldp.Nominal(),
        "privacy": robust if problem[2] == "R" else rldp.Nominal(),
    }


def a_problem(
    sets="RURP",
    order=1.0,
    *,
    counts=None,
    count=3,
    shape=(3, 4),
    n=60,
    epsilon=0.5,
    distortion="squared",
    seed=0,
):
    """A batch of problems as the engine sees it: of samples ``counts`` (K, |S|, |U|), or of random ones.

    ``sets`` is the name of one of the four problems, whatever stands behind it, or a dictionary of the sets.
    """
    if counts is None:
        counts = jeffreys_counts(np.random.default_rng(seed), count, shape, n)
    counts = np.asarray(counts)
    return DesignProblem.of(
        counts,
        np.full(len(counts), epsilon),
        DISTORTIONS[distortion](counts.shape[2]),
        **(sets_of(sets, order) if isinstance(sets, str) else sets),
    )
