"""Which columns of a table are the secret and the value, and how their entries are read.

A :class:`Reading` is found where a sample is counted, and travels with the protocol that is designed on it:
every later file is then read in the same way, with the same columns, labels and treatment of missing entries.
Several columns may be one secret, and several one value: the labels are then all combinations, seen or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias, get_args

from rldp._common.checks import Label, shown
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType

__all__ = ["MISSING", "OTHER", "TREATMENTS", "Column", "Reading", "Treatment", "checked_treatment"]

MISSING = "(missing)"
"""The label of entries that are missing, where they are a category."""

OTHER = "(other)"
"""The label of a given column's entries that have none of their own."""

Treatment: TypeAlias = Literal["refuse", "skip", "category"]
"""What may be done about missing entries."""

TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)

_MOST_SECRETS = 2**31
_MOST_VALUES = 2**20


@dataclass(frozen=True)
class Column:
    """A column by its name, and the labels that it may hold, in order.

    Attributes
    ----------
    name : str
        Or its place, such as ``#12``, where no name tells it apart.
    labels : tuple
    edges : tuple of float or None
        Where there are any, labels stand for ranges of numbers: the k-th for those from the k-th edge up to
        the next. One more label may stand for missing entries.
    header : str or None
        The name that stands above a column that is chosen by its place.
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
        One, or several that are protected jointly. None where new data are read for a protocol that does not
        read the secret.
    value : tuple of Column
        One, or several that are published together.
    missing : str
        What is done about rows with missing entries: "refuse", "skip", or "category", where they have the
        label ``(missing)`` in every column whose labels hold it.
    given : tuple of Column
        Columns that leave beside the value and are inside the promise: they are kept as they are, but for
        entries that become ``(other)``.
    earlier : tuple of bool
        One for each of the last given columns, if these hold outputs of earlier releases: whether a missing
        entry is that of somebody who had no part in it. If not, a row without an entry is unusable.

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
        """Those of the secret, then those of the row."""
        return (*self.secret, *self.row)

    @property
    def row(self) -> tuple[Column, ...]:
        """The columns that leave together: given ones, then those of the value."""
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
        """The labels of the secret: of its column, or the texts of all combinations of several."""
        return _joint_texts([column.labels for column in self.secret])

    @property
    def values(self) -> tuple[Label, ...]:
        """The labels of the row: of its one column, or all combinations of several, as tuples."""
        if len(self.row) == 1:
            return self.row[0].labels
        listed: list[tuple[Any, ...]] = [column.labels for column in self.row]
        if prod(map(len, listed)) > _MOST_VALUES:
            raise DataError(
                f"the columns that are published must have at most 2^20 combinations of labels, got "
                f"{prod(map(len, listed))}; publish fewer columns together, or cut numbers into bins"
            )
        return tuple(product(*listed))


def _joint_texts(labels: Sequence[Sequence[Label]]) -> tuple[Label, ...]:
    """All combinations of labels, each as one: the text of its parts, quoted where it could mean another."""
    if len(labels) == 1:
        return tuple(labels[0])
    if prod(map(len, labels)) >= _MOST_SECRETS:
        raise DataError("the columns of the secret must have fewer than 2^31 combinations of labels")
    for text in (str, repr):
        joint = [", ".join(map(text, parts)) for parts in product(*labels)]
        if len(set(joint)) == len(joint):
            break
    return tuple(joint)


def checked_treatment(missing: object) -> str:
    """``missing`` if it is one of :data:`TREATMENTS`."""
    if not isinstance(missing, str):
        raise InvalidArgumentType(f"missing must be one of {', '.join(TREATMENTS)}, got {shown(missing)}")
    if missing not in TREATMENTS:
        raise InvalidArgument(f"missing must be one of {', '.join(TREATMENTS)}, got {missing!r}")
    return missing
