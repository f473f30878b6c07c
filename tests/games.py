"""Triples to bet on: laws of the values, tables, and rows drawn from them."""

import numpy as np

from rldp.theory.betting import Triples, block_shares

# q₁, q₂, P(u|s₁), P(u|s₂)
KINDS = {
    "coin": ([0.2, 0.8], [0.2, 0.8], [0.4, 0.6], [0.6, 0.4]),
    "five values": (
        [0.1, 0.2, 0.4, 0.6, 0.7],
        [0.15, 0.2, 0.3, 0.5, 0.6],
        [0.1, 0.1, 0.2, 0.3, 0.3],
        [0.3, 0.3, 0.2, 0.1, 0.1],
    ),
    "many zeros": (
        [0, 0, 0.3, 1, 1],
        [0, 0, 0.2, 0.9, 1],
        [0.3, 0.3, 0.2, 0.15, 0.05],
        [0.4, 0.3, 0.2, 0.08, 0.02],
    ),
    "one value": ([0, 0, 0, 1], [0, 0, 0, 0.8], [0.5, 0.3, 0.12, 0.08], [0.6, 0.3, 0.04, 0.06]),
    "nearly always": ([1, 1, 1, 0.2], [1, 1, 0.5, 0], [0.6, 0.3, 0.05, 0.05], [0.6, 0.2, 0.1, 0.1]),
}


def laws(kind):
    """Scores q (2, U), the law of the values (2, U), and the true ln P(y|s₁)/P(y|s₂)."""
    q1, q2, p1, p2 = (np.array(part, dtype=float) for part in KINDS[kind])
    return np.stack([q1, q2]), np.stack([p1, p2]), float(np.log(p1 @ q1 / (p2 @ q2)))


def drawn(kind, n, runs, seed):
    """``runs`` games of n fresh rows of either secret, after n earlier ones: triples (T, 2, …)."""
    q, p, _ = laws(kind)
    rng = np.random.default_rng(seed)
    earlier = np.stack([rng.multinomial(n, law, size=runs) for law in p], axis=1)
    sizes = np.diff(np.rint(block_shares() * n).astype(int), prepend=0)
    rows = np.stack([rng.multinomial(sizes, law, size=(runs, len(sizes))) for law in p], axis=1)
    return Triples(np.broadcast_to(q, earlier.shape), rows.astype(float), earlier + 0.5 / q.shape[1])


def in_order(*arrivals):
    """What stands for ``split`` if rows arrive like this: for every row of its counts, a list of values."""
    waiting = iter(arrivals)

    def split(counts, shares, rng):
        blocks = np.zeros((len(counts), len(shares), counts.shape[1]), dtype=np.int64)
        for row, total in zip(blocks, counts, strict=True):
            values = np.array(next(waiting), dtype=int)
            ends = np.rint(shares * len(values)).astype(int)
            np.add.at(row, (np.searchsorted(ends, np.arange(len(values)), side="right"), values), 1)
            np.testing.assert_array_equal(row.sum(axis=0), total)
        return blocks

    return split
