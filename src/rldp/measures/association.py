r"""Several published columns under a known distribution: the table of each, and their association.

The table of one column, :math:`P(y_j\,|\,s,u_j)`, is not part of a protocol for several columns: it depends
on the distribution of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import Label, distribution_table
from rldp.chain import Chain
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.theory import chains
from rldp.theory.model import Floats

__all__ = ["Association", "associations", "basis_of", "by_column"]

_EVERYWHERE = 1e-12  # share of the mass spread evenly, so that unseen values get rows, too


@dataclass(frozen=True)
class Association:
    """The association of two published columns, before and after the release.

    Attributes
    ----------
    columns : (str, str)
    measure : str
        "correlation" if all labels are numbers, else "Cramér's V".
    before, after : float or None
        The association of the values and of the released columns; None if a column has only one label.
    """

    columns: tuple[str, str]
    measure: str
    before: float | None
    after: float | None


def associations(protocol: Protocol, distribution: ArrayLike) -> tuple[Association, ...]:
    """Measure the association between published columns, before and after, under a known distribution.

    Parameters
    ----------
    protocol : Protocol
        A protocol that publishes several columns, by one table or by a chain.
    distribution : array_like (|S|, |U|)
        For example ``sample.distribution``.

    Returns
    -------
    tuple of Association
        One for each pair of columns, including given ones and those of earlier releases, of which at least
        one is drawn; empty for a protocol of a single column.

    Examples
    --------
    >>> import rldp
    >>> people = {"ill": ["y", "n"] * 50, "age": [1, 2] * 50, "pay": [1, 1, 2, 2] * 25}
    >>> import pyarrow
    >>> sample = rldp.Sample.from_data(pyarrow.table(people), secret="ill", value=["age", "pay"])
    >>> found = rldp.associations(rldp.design(sample, 1.0).protocol, sample.distribution)[0]
    >>> found.columns, found.measure, found.before
    (('age', 'pay'), 'correlation', 0.0)
    """
    p = distribution_table(distribution, (len(protocol.secrets), len(protocol.values)))
    names = _names(protocol)
    if len(names) < 2:
        return ()
    values, outputs = _by_column(protocol.values), _by_column(protocol.outputs)
    before = _as_grid(p.sum(axis=0), values)
    after = _released(protocol, p, outputs)
    results = []
    for i, j in combinations(range(len(names)), 2):
        if not {names[i], names[j]} & set(protocol.value_columns):
            continue  # both are published unchanged
        sides = [
            (_pair(grid, i, j), tuple(dict.fromkeys(columns[i])), tuple(dict.fromkeys(columns[j])))
            for grid, columns in ((before, values), (after, outputs))
        ]
        are_numbers = not any(isinstance(label, str) for _, *both in sides for label in chain(*both))
        strengths = [_correlation(*side) if are_numbers else _cramer(side[0]) for side in sides]
        measure = "correlation" if are_numbers else "Cramér's V"
        results.append(Association((names[i], names[j]), measure, *strengths))
    return tuple(results)


def basis_of(protocol: Protocol) -> Floats:
    """Return the estimated distribution of the protocol's sample, or equal shares without a sample."""
    if protocol.guarantee is not None:
        return protocol.guarantee.sample.distribution
    shape = len(protocol.secrets), len(protocol.values)
    return np.full(shape, 1.0 / (shape[0] * shape[1]))


def by_column(protocol: Protocol, distribution: ArrayLike) -> dict[str, Protocol]:
    """Return the table P(y_j | s, u_j) of each drawn column, under a distribution (|S|, |U|).

    None if it is the only column of the row. If a value never occurs with a secret, the values of the other
    columns are weighted equally.
    """
    p = distribution_table(distribution, (len(protocol.secrets), len(protocol.values)))
    names = _names(protocol)
    if len(names) < 2:
        return {}
    p = (1 - _EVERYWHERE) * p + _EVERYWHERE / p.size
    values, outputs = _by_column(protocol.values), _by_column(protocol.outputs)
    if isinstance(protocol, Chain):
        tables = _of_stages(protocol, p)
    else:
        joint = p[:, :, None] * protocol.matrix
        tables = [_of_column(joint, *own) for own in zip(values, outputs, strict=True)]
    return {
        name: Protocol(table, protocol.secrets, dict.fromkeys(own), dict.fromkeys(out))
        for name, table, own, out in zip(names, tables, values, outputs, strict=True)
        if name in protocol.value_columns
    }


def _names(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the columns of a whole row; those of a chain may be given or already published."""
    if isinstance(protocol, Chain) and protocol.reading is not None:
        return protocol.reading.row_names
    return protocol.value_columns


# Laws


def _of_column(joint: Floats, values: Sequence[Label], outputs: Sequence[Label]) -> Floats:
    """Compute P(y_j | s, u_j) from P(s, u, y), for the entry of column j in every value and output."""
    own = np.einsum("suy,ui,yk->sik", joint, _indicators(values), _indicators(outputs), optimize=True)
    return np.asarray(own / own.sum(axis=-1, keepdims=True))


def _of_stages(protocol: Chain, p: Floats) -> list[Floats]:
    """Compute the joint distributions stage by stage, without squaring the product of all columns."""
    order, tables = protocol.order, [stage.table for stage in protocol.stages]
    sizes = [len(column.labels) for column in protocol.reading.row]
    whole = p.reshape(len(p), *sizes).transpose(0, *(1 + j for j in order)).reshape(len(p), -1)
    in_order = [sizes[j] for j in order]
    laws: dict[int, Floats] = {}
    for i, (j, table) in enumerate(zip(order, tables, strict=True)):
        weights = chains.contexts(whole, tables[:i], in_order)
        mass = weights.reshape(*weights.shape[:-1], sizes[j], -1).sum(axis=-1)  # (S, C, U_j)
        own = np.einsum("scu,csuy->suy", mass, table, optimize=True)
        laws[j] = own / own.sum(axis=-1, keepdims=True)
    return [laws[j] for j in range(len(sizes))]


def _released(protocol: Protocol, p: Floats, outputs: Sequence[tuple[Label, ...]]) -> Floats:
    """Return P(y₁, …, y_d) as a grid."""
    if not isinstance(protocol, Chain):
        return _as_grid(np.einsum("su,suy->y", p, protocol.matrix), outputs)
    law = p.sum(axis=1) @ protocol.output_law(p)  # in the order of the stages
    widths = [len(stage.outputs) for stage in protocol.stages]
    return np.asarray(law.reshape(widths).transpose(np.argsort(protocol.order)))


# Columns of labels


def _by_column(labels: Sequence[Label]) -> list[tuple[Label, ...]]:
    rows = [label for label in labels if isinstance(label, tuple)]
    if len(rows) < len(labels):
        raise InvalidArgument(
            "protocol must publish an entry for each of its value columns, got single labels"
        )
    return list(zip(*rows, strict=True))


def _codes(column: Sequence[Label]) -> NDArray[np.int64]:
    places = {label: k for k, label in enumerate(dict.fromkeys(column))}
    return np.array([places[label] for label in column])


def _indicators(column: Sequence[Label]) -> Floats:
    codes = _codes(column)
    return np.eye(int(codes.max()) + 1)[codes]


def _as_grid(masses: Floats, columns: Sequence[Sequence[Label]]) -> Floats:
    codes = [_codes(column) for column in columns]
    grid = np.zeros([int(each.max()) + 1 for each in codes])
    np.add.at(grid, tuple(codes), masses)
    return grid


def _pair(grid: Floats, i: int, j: int) -> Floats:
    return np.asarray(grid.sum(axis=tuple(k for k in range(grid.ndim) if k not in (i, j))))


def _correlation(pair: Floats, one: Sequence[Label], other: Sequence[Label]) -> float | None:
    x, y = (np.array([float(x) for x in side if not isinstance(x, tuple)]) for side in (one, other))
    p, q = pair.sum(axis=1), pair.sum(axis=0)
    x, y = x - p @ x, y - q @ y
    spread = np.sqrt((p @ x**2) * (q @ y**2))
    return float(x @ pair @ y / spread) if spread > 0 else None


def _cramer(pair: Floats) -> float | None:
    pair = pair[pair.sum(axis=1) > 0][:, pair.sum(axis=0) > 0]
    fewer = min(pair.shape) - 1
    if fewer < 1:
        return None
    expected = np.outer(pair.sum(axis=1), pair.sum(axis=0))
    return float(np.sqrt(((pair - expected) ** 2 / expected).sum() / fewer))
