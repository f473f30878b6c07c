"""Merge rare labels of a given column into ``(other)``. NumPy only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldp.data.labels import Alphabet, Codes, Encoded, count_pairs
from rldp.data.reading import MISSING, OTHER
from rldp.errors import DataError

__all__ = ["merged"]


def merged(column: Encoded, secrets: Codes, count: int, rare: int) -> Encoded:
    """Merge the rarest labels of a column, until each was seen ``rare`` times with every secret.

    A label never seen with some secret may rule that secret out. Secrets that were never seen do not count,
    and missing entries keep their label.

    Parameters
    ----------
    column : Encoded
    secrets : int32 array (n,)
        Codes of the secret in the same rows, negative where there is none.
    count : int
        |S|.
    rare : int

    Raises
    ------
    DataError
        If no label is left.
    """
    used = (column.codes >= 0) & (secrets >= 0)
    table = count_pairs(secrets[used], column.codes[used], (count, len(column.labels)))
    table = table[table.any(axis=1)]
    if len(table) == 0:
        return column
    least, gone = table.min(axis=0), np.zeros(len(column.labels), dtype=np.bool_)
    for code in np.argsort(least, kind="stable").tolist():
        if column.labels[code] == MISSING:
            continue
        together = int(table[:, gone].sum(axis=1).min()) if gone.any() else rare
        if least[code] >= rare and together >= rare:
            break
        gone[code] = True
    if not gone.any():
        return column
    if OTHER in column.alphabet.index:
        gone[column.alphabet.index[OTHER]] = True
    kept = [label for label, is_gone in zip(column.labels, gone.tolist(), strict=True) if not is_gone]
    if not kept:
        times = f"{rare} time{'s' * (rare != 1)}"
        raise DataError(
            f"{column.name} must have labels that were seen at least {times} under every secret to be given, "
            "got none; leave it out, or publish it as a value column"
        )
    codes = np.full(len(gone) + 1, len(kept), dtype=np.int32)
    codes[np.flatnonzero(~gone)] = np.arange(len(kept), dtype=np.int32)
    codes[-1] = -1  # what is not a label stays none
    new = np.where(column.codes < 0, column.codes, codes[column.codes]).astype(np.int32)
    return replace(column, codes=new, alphabet=Alphabet((*kept, OTHER)))
