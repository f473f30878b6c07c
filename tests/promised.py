"""Files that make the promises of version 2, built by hand: from a design over a set of a chosen radius,
from theorem A1 or A2, or by a linear program."""

import json
from itertools import permutations, product

import numpy as np
from scipy.optimize import linprog

import rldp
from rldp.theory.radii import moment_radius, pair_level, pair_radii, recursion_radius

G = "guarantee"


def credible_claim(radius, alpha=0.05, prior=0.5, lambda_=1.0, seed=0):
    sizes = {"lambda": lambda_, "radius": radius, "seed": seed}
    return {"kind": "credible", "alpha": alpha, "prior": prior, **sizes}


def credible_file(counts, epsilon, *, privacy=None, utility=None, secrets=None):
    """A design over the sets that credible claims prove; None is the estimate, which stays what it is."""
    sets = {
        name: rldp.Nominal()
        if claim is None
        else rldp.PowerDivergence(claim["lambda"], radius=claim["radius"])
        for name, claim in (("privacy", privacy), ("utility", utility))
    }
    document = json.loads(rldp.design(rldp.Sample(counts, secrets), epsilon, **sets).protocol.to_json())
    claims = {"privacy": privacy, "utility": utility}
    document[G] |= {name: dict(claim) for name, claim in claims.items() if claim is not None}
    document["version"] = 2
    return document


def pairs_file(counts, epsilon, *, alpha=0.05, method="A2", secrets=None):
    """A design over the KL set whose projections are at least those of the pairs.

    Where all secrets have as many rows they are the same, and the lower bound is proved too.
    """
    rows, cells, many = np.sum(counts, axis=1).tolist(), len(counts[0]), len(counts)
    level = pair_level(alpha, many)
    named = [(n1, n2) for s, n1 in enumerate(rows) for n2 in rows[s + 1 :]]
    if method == "A1":
        radii = [moment_radius(sizes, cells, level) for sizes in named]
    else:
        rarest = min((n for n in rows if n > 0), default=0)
        radii = [recursion_radius([min(n, rarest) for n in sizes], cells, level) for sizes in named]
    n, largest = sum(rows), max(radii, default=0.0)
    region = rldp.PowerDivergence(0.0, radius=largest / n)
    designed = rldp.design(rldp.Sample(counts, secrets), epsilon, privacy=region, utility=rldp.ChiSquare())
    document = json.loads(designed.protocol.to_json())
    radii = [x * (1 + 1e-13) for x in radii]  # so that members of the other set are in these
    methods = [method] * len(radii)
    document[G]["privacy"] = {"kind": "pairs", "alpha": alpha, "radii": radii, "methods": methods}
    if min(radii, default=0.0) < largest * (1 - 1e-12):
        document[G]["lower_bound"] = 0.0
    document["version"] = 2
    return document


def everything_file(counts, epsilon, *, distortion=None, secrets=None):
    """The best protocol for every distribution, by a linear program; its dual proves the lower bound."""
    counts = np.asarray(counts)
    many, values = counts.shape
    if distortion is None:
        distortion = np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(float)
    outputs, e = distortion.shape[1], np.exp(epsilon * (1 - 1e-9))
    estimate = counts / counts.sum()
    place = np.arange(many * values * outputs).reshape(many, values, outputs)
    rows = list(product(range(outputs), permutations(range(many), 2), range(values), range(values)))
    a = np.zeros((len(rows), place.size))
    for i, (y, (s1, s2), u1, u2) in enumerate(rows):
        a[i, place[s1, u1, y]], a[i, place[s2, u2, y]] = 1, -e
    sums = np.zeros((many * values, place.size))
    for i, cell in enumerate(place.reshape(-1, outputs)):
        sums[i, cell] = 1
    cost = (estimate[:, :, None] * distortion).ravel()
    found = linprog(cost, a, np.zeros(len(rows)), sums, np.ones(many * values), method="highs")
    table = np.maximum(found.x.reshape(place.shape), 0) * (1 - 1e-8) + 1e-8 / outputs
    table /= table.sum(axis=2, keepdims=True)
    pairs = [(s, (s + 1 + shift) % many) for s in range(many) for shift in range(many - 1)]
    z = np.zeros((outputs, len(pairs)))
    members = np.zeros((outputs, len(pairs), 2, values))
    for (y, pair, u1, u2), price in zip(rows, -found.ineqlin.marginals, strict=True):
        t = pairs.index(pair)
        z[y, t] += max(price, 0)
        members[y, t, 0, u1] += max(price, 0)
        members[y, t, 1, u2] += max(price, 0)
    members[z == 0] = 1
    protocol = rldp.Protocol(table, secrets)
    objective = float((estimate[:, :, None] * distortion * protocol.matrix).sum()) * (1 + 1e-12)
    guarantee = rldp.Guarantee(
        epsilon,
        rldp.Sample(counts, secrets),
        rldp.AllDistributions(),
        rldp.Nominal(),
        distortion,
        objective,
        max(0.0, found.fun * (1 - 1e-6)),
        rldp.Certificate(None, None, z, members, None),
    )
    return json.loads(rldp.Protocol(protocol.matrix, secrets, guarantee=guarantee).to_json())


def pair_radius(n1, n2, cells, alpha):
    """The radius of a table of two secrets."""
    return pair_radii([(n1, n2)], cells, alpha)[0]
