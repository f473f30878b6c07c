r"""Kept columns and outputs of earlier releases, which are published beside the columns that a chain draws.

They are the first stages of the chain. A kept column has the identity as its table. An earlier output has the
table of its protocol, which may depend on some of the columns before it. See ``docs/theory.md``, 'Contexts'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import shown
from rldp.protocol_file.chains import ChainDocument, EarlierTable
from rldp.protocol_file.reader import DENOMINATOR

__all__ = ["Integers", "context_masses", "promised", "whole_tables"]

Integers = NDArray[np.int64]


def whole_tables(document: ChainDocument) -> list[Integers]:
    """Return the integers of every stage, [context][s][u][y], for all contexts, values and outputs."""
    tables: list[Integers] = []
    before: dict[str, int] = {}  # how many outputs each column has
    for stage in document.stages:
        if stage.kept:
            same = DENOMINATOR * np.eye(len(stage.outputs), dtype=np.int64)
            shape = math.prod(before.values()), len(document.secrets), *same.shape
            table = np.broadcast_to(same, shape)
        else:
            table = np.array(stage.numerators, dtype=np.int64)
        if stage.earlier is not None:
            table = _in_all_contexts(table, stage.earlier, before)
        tables.append(table)
        before[stage.column] = len(stage.outputs)
    return tables


def _in_all_contexts(table: Integers, earlier: EarlierTable, before: dict[str, int]) -> Integers:
    """Return the table of an earlier release for all contexts of this one."""
    if earlier.absent:  # people who were not in it have "(missing)"
        table = np.pad(table, ((0, 0), (0, 0), (0, 1), (0, 1)))
        table[:, :, -1, -1] = DENOMINATOR
    own = [size if name in earlier.context else 1 for name, size in before.items()]
    places = np.broadcast_to(np.arange(len(table)).reshape(own), list(before.values()))
    return np.asarray(table[places.ravel()])


def context_masses(stages: Sequence[Integers], centre: Integers, fixed: int, j: int) -> list[list[list[int]]]:
    """P(s, c, u_j) [context][s][u] for the contexts of fixed stages, over 2^52 to the power 1 + ``fixed``."""
    sizes = [stage.shape[2] for stage in stages]
    whole = centre.astype(object).reshape(len(centre), *sizes)  # integers of any length
    law = whole.sum(axis=tuple(1 + i for i in range(fixed, len(sizes)) if i != fixed + j))
    for stage in stages[:fixed]:
        contexts, secrets, values, outputs = stage.shape
        law = law.reshape(secrets, contexts, values, -1)
        summed = np.zeros((secrets, contexts, outputs, law.shape[3]), dtype=object)
        for c, s, u in np.ndindex(contexts, secrets, values):
            given = np.flatnonzero(stage[c, s, u])  # few in the table of a kept column
            summed[s, c, given] += np.multiply.outer(stage[c, s, u, given].astype(object), law[s, c, u])
        law = summed
    listed: list[list[list[int]]] = law.reshape(len(centre), -1, sizes[fixed + j]).swapaxes(0, 1).tolist()
    return listed


def promised(document: ChainDocument) -> str:
    """Name the subject of the promise."""
    if document.guarantee is None or not document.guarantee.given_known:
        return "whole rows"
    kept = " and ".join(shown(stage.column) for stage in document.stages if stage.kept)
    return f"rows, to readers who know {kept},"
