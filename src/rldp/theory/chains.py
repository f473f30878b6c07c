r"""Chains: several columns released one after the other, each given the outputs before it.

Column j has values :math:`U_j` and outputs :math:`Y_j`. Its table :math:`Q_j(y_j\,|\,s,u_j,c)` reads the
secret, the column's own value and the context :math:`c=(y_1,\dots,y_{j-1})`. The protocol of the whole row is

.. math:: Q(y\,|\,s,u)=\prod_jQ_j(y_j\,|\,s,u_j,y_{<j}),\qquad P(y\,|\,s)=\sum_uP(u\,|\,s)\,Q(y\,|\,s,u).

A table reads one value only, so that value is summed out as soon as its column is released. The law of the
outputs is computed stage by stage, and memory grows with the product of the alphabets, not its square. Values
and contexts are numbered in the order of :func:`itertools.product`. See ``docs/theory.md``, 'Chains'.

The first stages may be fixed: the table of a kept column is the identity, and that of a published output is
the table it was drawn from. See ``docs/theory.md``, 'Contexts'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from rldp.theory.arrays import ordered_pairs

__all__ = [
    "as_one_table",
    "contexts",
    "expected_distortions",
    "failures",
    "kept_as_it_is",
    "known_leakage",
    "leakages",
    "log_ratios",
    "output_law",
    "shape_of",
    "spread",
]

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_LARGEST_EXPONENT = 700.0  # a protocol that is private with a smaller ε is private
_VANISHING = 2.0**-900  # below, a sum of products may have lost digits to underflow
_AT_ONCE = 2**21  # numbers held at once for a part of the draws


def shape_of(tables: Sequence[Floats]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return |S|, and the numbers of values and of outputs of every column."""
    return len(tables[0][0]), tuple(t.shape[2] for t in tables), tuple(t.shape[3] for t in tables)


def contexts(weights: Floats, tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    r"""Return weights of contexts and of the values still to be released, after the stages in ``tables``.

    Parameters
    ----------
    weights : array (…, |S|, |U|)
        Weights of the values u of all columns, for instance :math:`P(u\,|\,s)`.
    tables : sequence of array (C_j, |S|, |U_j|, |Y_j|)
        The first stages, with :math:`C_j=\prod_{i<j}|Y_i|`; may be empty.
    values : sequence of int
        :math:`|U_j|` of all columns.

    Returns
    -------
    array (…, |S|, C, R)
        :math:`\sum_{u_1\dots u_j}P(u\,|\,s)\prod_{i\le j}Q_i(y_i\,|\,s,u_i,y_{<i})` for every context y and
        all values R of the other columns.
    """
    lead = weights.shape[:-1]
    reached = weights.reshape(*lead, 1, -1)
    for j, table in enumerate(tables):
        count, _, _, outputs = table.shape
        rest = prod(values[j + 1 :])
        columns = np.ascontiguousarray(table.transpose(1, 0, 3, 2))  # (S, C, Y, U)
        reached = columns @ reached.reshape(*lead, count, values[j], rest)
        reached = reached.reshape(*lead, count * outputs, rest)
    return reached


def output_law(conditionals: Floats, tables: Sequence[Floats]) -> Floats:
    """Return P(y|s) of the whole row: (…, |S|, |Y|), for conditionals P(u|s) (…, |S|, |U|)."""
    return contexts(conditionals, tables, shape_of(tables)[1])[..., 0]


def as_one_table(tables: Sequence[Floats]) -> Floats:
    """Return Q (|S|, |U|, |Y|) of the whole row, for alphabets with a small product."""
    secrets, values, _ = shape_of(tables)
    cells = prod(values)
    every_value = np.broadcast_to(np.eye(cells)[:, None], (cells, secrets, cells))
    return np.ascontiguousarray(np.moveaxis(output_law(every_value, tables), 0, 1))


def kept_as_it_is(contexts: int, secrets: int, labels: int) -> Floats:
    """Return the table of a kept column, the identity: (contexts, |S|, labels, labels)."""
    return np.broadcast_to(np.eye(labels), (contexts, secrets, labels, labels))


def spread(table: Floats, own: Sequence[int], sizes: Sequence[int]) -> Floats:
    """Expand a table for contexts of some earlier columns to all contexts.

    Parameters
    ----------
    table : array (C, |S|, |U_j|, |Y_j|)
        For contexts made of the columns ``own``, in order.
    own : sequence of int
        Numbers of columns, increasing.
    sizes : sequence of int
        Numbers of outputs of all columns before.
    """
    codes = np.unravel_index(np.arange(prod(sizes)), sizes) if sizes else ()
    place = np.zeros(prod(sizes), dtype=np.int64)
    for j in own:
        place = place * sizes[j] + codes[j]
    return np.asarray(table[place])


def failures(tables: Sequence[Floats], epsilon: float, conditionals: Floats, known: int = 1) -> int:
    r"""Count the draws under which the whole row is not ε-private, on the safe side.

    Parameters
    ----------
    tables : sequence of array (C_j, |S|, |U_j|, |Y_j|)
    epsilon : float
    conditionals : array (draws, |S|, |U|)
    known : int
        Number of combinations k of the first columns, which are kept and known to readers. The ratio is then
        that of P(y|s, k).

    Notes
    -----
    All terms are non-negative, so a computed P(y|s) is off by a factor of at most
    :math:`1\pm m2^{-52}`, :math:`m=|U|+2+\sum_j(|U_j|+1)`: the sum and the division that make a draw, then a
    sum of products for every stage. P(y|s, k) takes one more sum, of at most |Y| terms, and a division. A
    draw fails unless it is private with twice that margin on either side.
    """
    margin = _margin(tables) + (4 * (prod(shape_of(tables)[2]) + 2) * _UNIT if known > 1 else 0.0)
    least_e = float(np.exp(min(epsilon, _LARGEST_EXPONENT)) * (1 - margin))
    never, failed = _never_given(tables), 0
    for law in _laws(tables, conditionals):
        lost = law.min(axis=-2) < _VANISHING
        law = _given_known(law, known)
        private = ((law.max(axis=-2) <= least_e * law.min(axis=-2)) & ~lost) | never
        failed += int((~private.all(axis=-1)).sum())
    return failed


def leakages(tables: Sequence[Floats], conditionals: Floats, known: int = 1) -> Floats:
    """Return ε* of the whole row under every draw (draws,); ∞ if a probability underflows."""
    leaked = []
    for law in _laws(tables, conditionals):
        lost = law.min(axis=-2) < _VANISHING
        law = _given_known(law, known)
        high, low = law.max(axis=-2), law.min(axis=-2)
        ratio = np.where(lost, np.where(high > 0, np.inf, 1.0), high / np.where(lost, 1.0, low))
        leaked.append(np.log(ratio.max(axis=-1)))
    return np.concatenate(leaked)


def _given_known(law: Floats, known: int) -> Floats:
    """Return P(y|s, k) from P(k, y|s) (…, |S|, |Y|), k first; zeros if k has probability 0."""
    if known == 1:
        return law
    by_known = law.reshape(*law.shape[:-1], known, -1)
    masses = by_known.sum(axis=-1, keepdims=True)
    given = np.divide(by_known, masses, out=np.zeros_like(by_known), where=masses > 0)
    return np.asarray(given.reshape(law.shape))


def log_ratios(law: Floats, known: int = 1) -> Floats:
    """Return log P(c|s1)/P(c|s2) for every output c and ordered pair (C, T), from P(c|s) (|S|, C).

    With ``known``, use P(c|s, k). If a probability is zero, the ratio counts as one.
    """
    given = _given_known(law, known)
    logs = np.log(given, out=np.zeros_like(given), where=given > 0)
    first, second = ordered_pairs(len(law)).T
    apart = logs[first] - logs[second]
    return np.asarray(np.where((given[first] > 0) & (given[second] > 0), apart, 0.0).T)


def known_leakage(tables: Sequence[Floats]) -> float:
    r"""Return what a row reveals about the secret to a reader who knows all values, for any distribution.

    .. math:: \kappa^*=\max_{s,s'}\max_{y,u}\sum_j
        \log\frac{Q_j(y_j\,|\,s,u_j,y_{<j})}{Q_j(y_j\,|\,s',u_j,y_{<j})}

    over the rows that s can give. The recursion starts at the last stage, as a stage reads only its own
    value.
    """
    contexts, secrets = len(tables[-1]) * tables[-1].shape[3], tables[-1].shape[1]
    ahead = np.zeros((contexts, secrets, secrets))
    for table in reversed(tables):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(table)
            ratios = logs[:, :, None] - logs[:, None]  # (C, S, S, U, Y)
        ratios[np.broadcast_to((table == 0)[:, :, None], ratios.shape)] = -np.inf
        own = np.moveaxis(ratios.max(axis=3), -1, 1)  # (C, Y, S, S)
        whole = np.full(own.shape, -np.inf)  # for outputs that s never gives, whatever follows
        np.add(own, ahead.reshape(own.shape), out=whole, where=own > -np.inf)
        ahead = whole.max(axis=1)
    return max(float(ahead.max()), 0.0)


def expected_distortions(
    tables: Sequence[Floats], distortions: Sequence[Floats], distribution: Floats
) -> Floats:
    """Return E d_j(U_j, Y_j) of every column (columns,) under P (|S|, |U|)."""
    _, values, _ = shape_of(tables)
    costs = []
    for j, (table, d) in enumerate(zip(tables, distortions, strict=True)):
        weights = contexts(distribution, tables[:j], values)
        joint = weights.reshape(*weights.shape[:-1], values[j], -1).sum(axis=-1)  # (S, C, U_j)
        costs.append(np.einsum("scu,csuy,uy->", joint, table, d, optimize=True))
    return np.array(costs)


def _margin(tables: Sequence[Floats]) -> float:
    _, values, _ = shape_of(tables)
    return 4 * (prod(values) + sum(values) + len(values) + 4) * _UNIT


def _never_given(tables: Sequence[Floats]) -> NDArray[np.bool_]:
    """Return the mask of outputs of the whole row (|Y|,) that have probability 0 for all cells."""
    unreachable = np.zeros(1, dtype=bool)
    for table in tables:
        never = ~(table > 0).any(axis=(1, 2))  # (C, Y)
        unreachable = (unreachable[:, None] | never).ravel()
    return unreachable


def _laws(tables: Sequence[Floats], conditionals: Floats) -> Iterator[Floats]:
    """Yield P(y|s) under the draws, a part at a time."""
    secrets, values, outputs = shape_of(tables)
    widest = max(prod(outputs[:j]) * prod(values[j:]) for j in range(len(values) + 1))
    piece = max(1, _AT_ONCE // (secrets * widest))
    return (
        output_law(conditionals[start : start + piece], tables)
        for start in range(0, len(conditionals), piece)
    )
