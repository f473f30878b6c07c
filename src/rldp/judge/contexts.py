r"""Kept columns and outputs of earlier releases, which are published beside the columns that a chain draws.

They are the first stages of the chain. A kept column has the identity as its table. An earlier output has the
table of its protocol, which may depend on some of the columns before it. See ``docs/theory.md``, 'Contexts'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import shown
from rldp.protocol_file.chains import ChainDocument, StageTable
from rldp.protocol_file.reader import DENOMINATOR

__all__ = ["Stage", "context_masses", "promised", "whole_tables"]

Stage = Sequence[Sequence[Sequence[Sequence[int]]]]  # [context][s][u][y]


def whole_tables(document: ChainDocument) -> list[Stage]:
    """Return the integers of every stage for all contexts, values and outputs."""
    tables: list[Stage] = []
    contexts: list[tuple[int, ...]] = [()]  # the outputs of the stages before, by number
    names: list[str] = []
    secrets = len(document.secrets)
    for stage in document.stages:
        if stage.kept:
            size = len(stage.outputs)
            same = [[DENOMINATOR if y == u else 0 for y in range(size)] for u in range(size)]
            tables.append([[same] * secrets] * len(contexts))
        elif stage.earlier is None:
            tables.append(stage.numerators)
        else:
            tables.append(_in_all_contexts(stage, contexts, names, document))
        contexts = [(*context, y) for context in contexts for y in range(len(stage.outputs))]
        names.append(stage.column)
    return tables


def _in_all_contexts(
    stage: StageTable, contexts: Sequence[tuple[int, ...]], names: Sequence[str], document: ChainDocument
) -> Stage:
    """Return the table of an earlier release for all contexts of this one."""
    earlier = stage.earlier
    assert earlier is not None
    sizes = {each.column: len(each.outputs) for each in document.stages}
    tables: Any = stage.numerators
    if earlier.absent:  # people who were not in it have "(missing)"
        none = [0] * (len(stage.outputs) - 1) + [DENOMINATOR]
        tables = [[[*([*row, 0] for row in rows), none] for rows in table] for table in tables]
    repeated = []
    for context in contexts:
        place = 0
        for name in earlier.context:
            place = place * sizes[name] + context[names.index(name)]
        repeated.append(tables[place])
    return repeated


def context_masses(
    stages: Sequence[Stage], centre: NDArray[np.int64], fixed: int, j: int
) -> list[list[list[int]]]:
    """P(s, c, u_j) [context][s][u] for the contexts of fixed stages, over 2^52 to the power 1 + ``fixed``."""
    sizes = [len(table[0][0]) for table in stages]
    whole = centre.astype(object).reshape(len(centre), *sizes)
    others = tuple(1 + fixed + i for i in range(len(sizes) - fixed) if i != j)
    law = whole.sum(axis=others).reshape(len(centre), 1, -1)
    for table, count in zip(stages[:fixed], sizes, strict=False):
        numbers = np.array(table, dtype=object)  # (C, S, U, Y)
        law = law.reshape(len(centre), law.shape[1], count, -1)
        law = np.stack([_summed(law[s], numbers[:, s]) for s in range(len(centre))])
    return [[[int(x) for x in row] for row in rows] for rows in law.transpose(1, 0, 2)]


def _summed(law: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Σ_u law[c, u, r]·numbers[c, u, y], in integers: (C·Y, R)."""
    rows = [
        [
            sum(int(k) * part for k, part in zip(numbers[c, :, y], law[c], strict=True) if k)
            for y in range(numbers.shape[2])
        ]
        for c in range(len(law))
    ]
    zero = np.zeros(law.shape[2], dtype=object)
    return np.array([[zero + entry for entry in row] for row in rows], dtype=object).reshape(-1, law.shape[2])


def promised(document: ChainDocument) -> str:
    """Name the subject of the promise."""
    if document.known == 1 and not (document.guarantee and document.guarantee.given_known):
        return "whole rows"
    kept = " and ".join(shown(stage.column) for stage in document.stages if stage.kept)
    return f"rows, to readers who know {kept},"
