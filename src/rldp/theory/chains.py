r"""Chains: several columns, released one after the other, each given what is already out.

Column j has values :math:`U_j` and outputs :math:`Y_j`. Its table :math:`Q_j(y_j\,|\,s,u_j,c)` reads the
secret, the column's own value and the context :math:`c=(y_1,\dots,y_{j-1})`. The protocol of the whole row is

.. math:: Q(y\,|\,s,u)=\prod_jQ_j(y_j\,|\,s,u_j,y_{<j}),\qquad P(y\,|\,s)=\sum_uP(u\,|\,s)\,Q(y\,|\,s,u).

A table reads one value only, so that value can be summed out as soon as its column is released. The law of
the outputs follows stage by stage, and the product of the alphabets is held once, never squared. Values and
contexts are numbered in the order of :func:`itertools.product`. See ``docs/theory.md``, 'Chains'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "as_one_table",
    "contexts",
    "expected_distortions",
    "failures",
    "leakages",
    "output_law",
    "shape_of",
]

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_LARGEST_EXPONENT = 700.0  # what is private with a smaller ε is private
_VANISHING = 2.0**-900  # below, a sum of products may have lost digits to underflow
_AT_ONCE = 2**21  # numbers that are held for a piece of the draws


def shape_of(tables: Sequence[Floats]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """|S|, and the numbers of values and of outputs of every column."""
    return len(tables[0][0]), tuple(t.shape[2] for t in tables), tuple(t.shape[3] for t in tables)


def contexts(weights: Floats, tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    r"""Weights of contexts and of the values still to be released, after the stages in ``tables``.

    Parameters
    ----------
    weights : array (…, |S|, |U|)
        Of the values u of all columns, for instance :math:`P(u\,|\,s)`.
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
    found = weights.reshape(*lead, 1, -1)
    for j, table in enumerate(tables):
        count, _, _, outputs = table.shape
        rest = prod(values[j + 1 :])
        columns = np.ascontiguousarray(table.transpose(1, 0, 3, 2))  # (S, C, Y, U)
        found = columns @ found.reshape(*lead, count, values[j], rest)
        found = found.reshape(*lead, count * outputs, rest)
    return found


def output_law(conditionals: Floats, tables: Sequence[Floats]) -> Floats:
    """P(y|s) of the whole row: (…, |S|, |Y|), for conditionals P(u|s) (…, |S|, |U|)."""
    return contexts(conditionals, tables, shape_of(tables)[1])[..., 0]


def as_one_table(tables: Sequence[Floats]) -> Floats:
    """Q (|S|, |U|, |Y|) of the whole row, for alphabets whose product is small."""
    secrets, values, _ = shape_of(tables)
    cells = prod(values)
    every_value = np.broadcast_to(np.eye(cells)[:, None], (cells, secrets, cells))
    return np.ascontiguousarray(np.moveaxis(output_law(every_value, tables), 0, 1))


def failures(tables: Sequence[Floats], epsilon: float, conditionals: Floats) -> int:
    r"""Under how many draws the whole row is not ε-private, counted to the safe side.

    Parameters
    ----------
    tables : sequence of array (C_j, |S|, |U_j|, |Y_j|)
    epsilon : float
    conditionals : array (draws, |S|, |U|)

    Notes
    -----
    All terms are non-negative, so a computed P(y|s) is off by a factor of at most
    :math:`1\pm m2^{-52}`, :math:`m=|U|+2+\sum_j(|U_j|+1)`: the sum and the division that make a draw, then a
    sum of products for every stage. A draw fails unless it is private with twice that margin on either side.
    """
    least_e = float(np.exp(min(epsilon, _LARGEST_EXPONENT)) * (1 - _margin(tables)))
    never, failed = _never_given(tables), 0
    for law in _laws(tables, conditionals):
        high, low = law.max(axis=-2), law.min(axis=-2)
        private = ((high <= least_e * low) & (low >= _VANISHING)) | never
        failed += int((~private.all(axis=-1)).sum())
    return failed


def leakages(tables: Sequence[Floats], conditionals: Floats) -> Floats:
    """ε* of the whole row under every draw (draws,); ∞ where a probability is lost to underflow."""
    found = []
    for law in _laws(tables, conditionals):
        high, low = law.max(axis=-2), law.min(axis=-2)
        lost = low < _VANISHING
        ratio = np.where(lost, np.where(high > 0, np.inf, 1.0), high / np.where(lost, 1.0, low))
        found.append(np.log(ratio.max(axis=-1)))
    return np.concatenate(found)


def expected_distortions(
    tables: Sequence[Floats], distortions: Sequence[Floats], distribution: Floats
) -> Floats:
    """E d_j(U_j, Y_j) of every column (columns,) under P (|S|, |U|)."""
    _, values, _ = shape_of(tables)
    found = []
    for j, (table, d) in enumerate(zip(tables, distortions, strict=True)):
        weights = contexts(distribution, tables[:j], values)
        joint = weights.reshape(*weights.shape[:-1], values[j], -1).sum(axis=-1)  # (S, C, U_j)
        found.append(np.einsum("scu,csuy,uy->", joint, table, d, optimize=True))
    return np.array(found)


def _margin(tables: Sequence[Floats]) -> float:
    _, values, _ = shape_of(tables)
    return 4 * (prod(values) + sum(values) + len(values) + 4) * _UNIT


def _never_given(tables: Sequence[Floats]) -> NDArray[np.bool_]:
    """Which outputs of the whole row (|Y|,) no secret gives with any value."""
    found = np.zeros(1, dtype=bool)
    for table in tables:
        never = ~(table > 0).any(axis=(1, 2))  # (C, Y)
        found = (found[:, None] | never).ravel()
    return found


def _laws(tables: Sequence[Floats], conditionals: Floats) -> Iterator[Floats]:
    """P(y|s) under the draws, a piece at a time."""
    secrets, values, outputs = shape_of(tables)
    widest = max(prod(outputs[:j]) * prod(values[j:]) for j in range(len(values) + 1))
    piece = max(1, _AT_ONCE // (secrets * widest))
    return (
        output_law(conditionals[start : start + piece], tables)
        for start in range(0, len(conditionals), piece)
    )
