"""The nominal problem with a constraint on readers who know the value, as a linear program in HiGHS.

    min Σ P̂ d Q   s.t.   Σ_u P̂_{u|s1} Q[s1,u,y] ≤ e^ε Σ_u P̂_{u|s2} Q[s2,u,y],   Q[s1,u,y] ≤ e^κ Q[s2,u,y]

It knows nothing of the library but the classes that a file is made of.
"""

import json
import math
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

import rldp


@dataclass(frozen=True)
class Optimum:
    value: float
    table: np.ndarray  # (|S|, |U|, |Y|)
    z: np.ndarray  # (|Y|, T)
    gamma: np.ndarray  # (|Y|, |S|, |U|)


def codes(values):
    """Squared distortion between places."""
    return np.subtract.outer(np.arange(values), np.arange(values)).astype(float) ** 2


def nominal_optimum(counts, epsilon, kappa, distortion=None):
    """By the program above, pair by pair; κ = 0 as equations."""
    counts = np.asarray(counts)
    secrets, values = counts.shape
    distortion = codes(values) if distortion is None else np.asarray(distortion)
    outputs, estimate = distortion.shape[1], counts / counts.sum()
    given = estimate / estimate.sum(axis=1, keepdims=True)
    place = np.arange(secrets * values * outputs).reshape(secrets, values, outputs)
    pairs = [(s, (s + 1 + shift) % secrets) for s in range(secrets) for shift in range(secrets - 1)]
    ours = [] if math.isinf(epsilon) else list(product(range(outputs), pairs))
    theirs = (
        []
        if math.isinf(kappa)
        else list(product(range(values), range(outputs), permutations(range(secrets), 2)))
    )
    entries = []  # of the matrix: row, column, number
    for i, (y, (s1, s2)) in enumerate(ours):
        entries += [(i, place[s1, u, y], given[s1, u]) for u in range(values)]
        entries += [(i, place[s2, u, y], -math.exp(epsilon) * given[s2, u]) for u in range(values)]
    for i, (u, y, (s1, s2)) in enumerate(theirs, len(ours)):
        entries += [(i, place[s1, u, y], 1.0), (i, place[s2, u, y], -math.exp(kappa))]
    rows = len(ours) + len(theirs)
    sums = [(i, column, 1.0) for i, cell in enumerate(place.reshape(-1, outputs)) for column in cell]
    found = linprog(
        (estimate[:, :, None] * distortion).ravel(),
        _matrix(entries, (rows, place.size)) if rows else None,
        np.zeros(rows) if rows else None,
        _matrix(sums, (secrets * values, place.size)),
        np.ones(secrets * values),
        method="highs",
    )
    assert found.status == 0, found.message
    prices = -found.ineqlin.marginals if rows else np.zeros(0)
    z, gamma = np.zeros((outputs, len(pairs))), np.zeros((outputs, secrets, values))
    for (y, pair), price in zip(ours, prices[: len(ours)], strict=True):
        z[y, pairs.index(pair)] = max(price, 0)
    for (u, y, (s1, s2)), price in zip(theirs, prices[len(ours) :], strict=True):
        gamma[y, s1, u] += max(price, 0)
        gamma[y, s2, u] -= math.exp(kappa) * max(price, 0)
    return Optimum(found.fun, np.maximum(found.x.reshape(place.shape), 0), z, gamma)


def _matrix(entries, shape):
    rows, columns, numbers = zip(*entries, strict=True)
    return coo_array((numbers, (rows, columns)), shape=shape).tocsr()


def known_file(counts, epsilon, kappa, *, prices=True):
    """A file of such an optimum, under the estimate, mixed with a trace of uniform output."""
    counts = np.asarray(counts)
    best = nominal_optimum(counts, epsilon, kappa)
    outputs = best.table.shape[2]
    table = best.table.mean(axis=0, keepdims=True).repeat(len(counts), axis=0) if kappa == 0 else best.table
    table = table / table.sum(axis=2, keepdims=True) * (1 - 1e-6) + 1e-6 / outputs
    protocol = rldp.Protocol(table)
    distortion = codes(counts.shape[1])
    objective = float((counts[:, :, None] / counts.sum() * distortion * protocol.matrix).sum())
    guarantee = rldp.Guarantee(
        epsilon,
        rldp.Sample(counts),
        rldp.Nominal(),
        rldp.Nominal(),
        distortion,
        objective * (1 + 1e-12),
        best.value * (1 - 1e-6),
        rldp.Certificate(None, None, best.z, None, None, best.gamma if prices else None),
        epsilon_known=kappa,
    )
    return json.loads(rldp.Protocol(protocol.matrix, guarantee=guarantee).to_json())
