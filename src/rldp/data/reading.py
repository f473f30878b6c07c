"""The columns of a secret and a value, and how their entries are read.

A :class:`Reading` is made when a sample is counted, and stored in the protocol designed on it. Every later
file is then read in the same way, with the same columns, labels and treatment of missing entries. The secret
or the value may consist of several columns: its labels are then all combinations, seen or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias, get_args

from rldp._common.checks import Label
from rldp.errors import DataError

__all__ = ["MISSING", "OTHER", "TREATMENTS", "Column", "Reading", "Treatment"]

MISSING = "(missing)"
"""The label of missing entries, if they are a category."""

OTHER = "(other)"
"""The label of entries of a given column without a label of their own."""

Treatment: TypeAlias = Literal["refuse", "skip", "category"]
"""The treatments of missing entries."""

TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)

_MOST_SECRETS = 2**31
_MOST_VALUES = 2**20
_FEWEST_BINS = 4  # that are still worth publishing


@dataclass(frozen=True)
class Column:
    """A column and its labels, in order.

    Attributes
    ----------
    name : str
        Or its position, such as ``#12``, if its name is not unique.
    labels : tuple
    edges : tuple of float or None
        If not None, labels stand for ranges of numbers: the k-th for those from the k-th edge up to the next.
        One more label may stand for missing entries.
    header : str or None
        The name above a column that is chosen by position.
    """

    name: str
    labels: tuple[Label, ...]
    edges: tuple[float, ...] | None = None
    header: str | None = None


@dataclass(frozen=True)
class Reading:
    """The columns of a secret and of a value.

    Attributes
    ----------
    secret : tuple of Column
        One, or several that are protected jointly; empty for a protocol that does not read the secret.
    value : tuple of Column
        One, or several that are published together.
    missing : str
        The treatment of missing entries: "refuse", "skip", or "category", which gives them the label
        ``(missing)`` in every column that has it.
    given : tuple of Column
        Columns that are published beside the value, inside the promise, unchanged except for entries that
        become ``(other)``.
    earlier : tuple of bool
        One for each of the last given columns, if these hold outputs of earlier releases: whether a missing
        entry means that the person was not in that release. If not, a row without an entry is unusable.

    Examples
    --------
    >>> sex, race = Column("sex", ("f", "m")), Column("race", ("black", "white"))
    >>> reading = Reading((sex, race), (Column("age", (1, 2)), Column("job", ("a", "b"))))
    >>> reading.secrets
    ('f, black', 'f, white', 'm, black', 'm, white')
    >>> reading.values
    ((1, 'a'), (1, 'b'), (2, 'a'), (2, 'b'))
    """

    secret: tuple[Column, ...]
    value: tuple[Column, ...]
    missing: str = "refuse"
    given: tuple[Column, ...] = ()
    earlier: tuple[bool, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the secret, then those of the row."""
        return (*self.secret, *self.row)

    @property
    def row(self) -> tuple[Column, ...]:
        """The columns that are published together: given ones, then those of the value."""
        return (*self.given, *self.value)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Of the columns of the secret."""
        return tuple(column.name for column in self.secret)

    @property
    def value_names(self) -> tuple[str, ...]:
        """Of the columns of the value."""
        return tuple(column.name for column in self.value)

    @property
    def given_names(self) -> tuple[str, ...]:
        """Of the given columns."""
        return tuple(column.name for column in self.given)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Of the given columns and of those of the value."""
        return tuple(column.name for column in self.row)

    @property
    def secrets(self) -> tuple[Label, ...]:
        """The labels of the secret: of its column, or texts for all combinations of several."""
        return _joint_texts([column.labels for column in self.secret])

    def coarser(self, most: int) -> str:
        """Say which bins leave at most ``most`` combinations in the row; return no text if none do."""
        bins = {column.name: len(column.labels) for column in self.row if _are_numbers(column)}
        others = prod(len(column.labels) for column in self.row if column.name not in bins)
        before = dict(bins)
        while bins and prod(bins.values()) * others > most and max(bins.values()) > _FEWEST_BINS:
            largest = max(bins, key=lambda name: bins[name])
            bins[largest] = -(-bins[largest] // 2)
        fewer = [f"{count} for {name!r}" for name, count in bins.items() if count < before[name]]
        return f", such as {' and '.join(fewer)}" if prod(bins.values()) * others <= most and fewer else ""

    @property
    def values(self) -> tuple[Label, ...]:
        """The labels of the row: of its only column, or tuples for all combinations of several."""
        if len(self.row) == 1:
            return self.row[0].labels
        listed: list[tuple[Any, ...]] = [column.labels for column in self.row]
        if prod(map(len, listed)) > _MOST_VALUES:
            raise DataError(
                f"the columns that are published must have at most 2^20 combinations of labels, got "
                f"{prod(map(len, listed))}; publish fewer columns together, or cut numbers into bins"
                f"{self.coarser(_MOST_VALUES)}"
            )
        return tuple(product(*listed))


def _are_numbers(column: Column) -> bool:
    return column.edges is not None or all(type(label) in (int, float) for label in column.labels)


def _joint_texts(labels: Sequence[Sequence[Label]]) -> tuple[Label, ...]:
    """Return a text for every combination of labels, quoted where it would be ambiguous."""
    if len(labels) == 1:
        return tuple(labels[0])
    if prod(map(len, labels)) >= _MOST_SECRETS:
        raise DataError("the columns of the secret must have fewer than 2^31 combinations of labels")
    for text in (str, repr):
        joint = [", ".join(map(text, parts)) for parts in product(*labels)]
        if len(set(joint)) == len(joint):
            break
    return tuple(joint)
