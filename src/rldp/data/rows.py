"""Combine columns of codes into rows of a secret and a value, following a reading. NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rldp.data.labels import NOT_A_LABEL, Alphabet, Codes, Encoded, Faults, count_pairs
from rldp.data.reading import MISSING, OTHER, Column, Reading
from rldp.errors import DataError

__all__ = ["Rows", "joint_codes", "labelled", "merged", "rows_of", "with_category", "with_missing_labelled"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table as codes.

    Attributes
    ----------
    secrets, values : int32 array (n,)
        Codes of the used rows; secrets are 0 if the secret is not read.
    used : bool array or None
        The used rows; None if all are used.
    faults : Faults
        Rows that can be neither used nor skipped, including earlier ones.
    """

    secrets: Codes
    values: Codes
    used: NDArray[np.bool_] | None
    faults: Faults

    @property
    def skipped(self) -> int:
        """Number of rows left out because an entry is missing."""
        return 0 if self.used is None else int(np.count_nonzero(~self.used))


def rows_of(
    reading: Reading,
    columns: Sequence[Encoded],
    before: Faults | None = None,
    unknown: int | None = None,
    beside: Sequence[Encoded] = (),
) -> Rows:
    """Return the rows that the columns, in the order of ``reading.names``, stand for.

    An entry of a given column that is not a label becomes ``(other)``, if the column has that label. Outputs
    of earlier releases are read as labels, and no row is skipped because one is missing.

    Parameters
    ----------
    reading : Reading
    columns : sequence of Encoded
    before : Faults, optional
        Faults of earlier rows.
    unknown : int, optional
        The code of the value that replaces unknown entries; by default, rows with such entries are unusable.
    beside : sequence of Encoded
        Other columns, in which used rows must not have an unusable entry.
    """
    secrets, before_value = len(reading.secret), len(reading.secret) + len(reading.given)
    columns = [labelled(reading, column, i - secrets) for i, column in enumerate(columns)]
    if unknown is not None:
        codes = np.unravel_index(unknown, [len(column.labels) for column in reading.value])
        columns = [*columns[:before_value], *map(_with_unknown_labelled, columns[before_value:], codes)]
    used = None
    if reading.missing == "skip":
        used = _complete([*columns[: before_value - len(reading.earlier)], *columns[before_value:]])
    faults = (before or Faults()).and_in(*columns, *beside, among=used)
    codes_used = [column.codes if used is None else column.codes[used] for column in columns]
    values = joint_codes(reading.row, codes_used[secrets:])
    joint = joint_codes(reading.secret, codes_used[:secrets]) if secrets else np.zeros_like(values)
    return Rows(joint, values, used, faults)


def joint_codes(columns: Sequence[Column | Encoded], codes: Sequence[Codes]) -> Codes:
    """Return codes of combinations of labels; negative if one of them is not a label."""
    joint, *others = codes
    for column, further in zip(columns[1:], others, strict=True):
        joint = np.where(further < 0, np.int32(NOT_A_LABEL), joint * np.int32(len(column.labels)) + further)
    return joint


def with_category(column: Encoded) -> Encoded:
    """Return the column with the label of missing entries added to its alphabet, if there are any."""
    if not column.missing().any():
        return column
    if MISSING in column.alphabet.index:
        raise DataError(
            f"{column.name} must not hold the text {MISSING!r} beside missing entries, which get this label"
        )
    return replace(column, alphabet=column.alphabet.and_label(MISSING))


def labelled(reading: Reading, column: Encoded, place: int) -> Encoded:
    """Label the missing and unknown entries of a column; ``place`` in the row is negative for the secret."""
    out = place - len(reading.given) + len(reading.earlier)
    if 0 <= out < len(reading.earlier):
        return with_missing_labelled(column) if reading.earlier[out] else column
    if reading.missing == "category":
        column = with_missing_labelled(column)
    return with_others_labelled(column) if 0 <= place < len(reading.given) else column


def with_missing_labelled(column: Encoded) -> Encoded:
    """Label missing entries, if the alphabet has the label for them."""
    code = column.alphabet.index.get(MISSING)
    if code is None or (column.codes != NOT_A_LABEL).all():
        return column
    return replace(column, codes=np.where(column.missing(), np.int32(code), column.codes))


def with_others_labelled(column: Encoded) -> Encoded:
    """Replace entries that are not labels by ``(other)``, if the alphabet has this label."""
    code = column.alphabet.index.get(OTHER)
    return column if code is None else _with_unknown_labelled(column, np.intp(code))


def _with_unknown_labelled(column: Encoded, code: np.intp) -> Encoded:
    if (column.codes != NOT_A_LABEL).all():
        return column
    unknown = (column.codes == NOT_A_LABEL) & ~column.missing()
    return replace(column, codes=np.where(unknown, np.int32(code), column.codes))


def _complete(columns: Sequence[Encoded]) -> NDArray[np.bool_] | None:
    """Return which rows have all entries; None for all rows."""
    if all((column.codes != NOT_A_LABEL).all() for column in columns):
        return None
    complete: NDArray[np.bool_] = ~np.logical_or.reduce([column.missing() for column in columns])
    return None if complete.all() else complete


def merged(column: Encoded, secrets: Codes, count: int, rare: int) -> Encoded:
    """Merge the rarest labels of a column, until each was seen ``rare`` times with every secret.

    They become ``(other)``. A label never seen with some secret may rule that secret out. Secrets that were
    never seen do not count, and missing entries keep their label.

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
    kept = np.flatnonzero(~gone)
    if not len(kept):
        times = f"{rare} time{'s' * (rare != 1)}"
        raise DataError(
            f"{column.name} must have labels that were seen at least {times} under every secret to be given, "
            "got none; leave it out, or publish it as a value column"
        )
    codes = np.full(len(gone) + 1, len(kept), dtype=np.int32)
    codes[kept] = np.arange(len(kept))
    codes[-1] = NOT_A_LABEL  # what is not a label stays none
    labels = [column.labels[code] for code in kept.tolist()]
    return replace(column, codes=codes[column.codes], alphabet=Alphabet((*labels, OTHER)))
