"""Which columns of a table are the secret and the value, and how their entries are read.

A :class:`Reading` is found where a sample is counted, and travels with the protocol that is designed on it:
every later file is then read in the same way, with the same columns, labels and treatment of missing entries.
Several columns may be one secret: its labels are then all combinations of theirs, seen or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from rldp._common.checks import Label, shown
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType

__all__ = ["MISSING", "TREATMENTS", "Column", "Reading", "checked_treatment"]

MISSING = "(missing)"
"""The label of entries that are missing, where they are a category."""

TREATMENTS = ("refuse", "skip", "category")
"""What may be done about missing entries."""

_MOST_COMBINATIONS = 2**31


@dataclass(frozen=True)
class Column:
    """A column by its name, and the labels that it may hold, in order.

    Where there are ``edges``, labels stand for ranges of numbers: the k-th for those from the k-th edge up to
    the next.
    """

    name: str
    labels: tuple[Label, ...]
    edges: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Reading:
    """The columns of a secret and a value.

    Attributes
    ----------
    secret : tuple of Column
        One, or several that are protected jointly.
    value : Column
    missing : str
        What is done about rows with missing entries: "refuse", "skip", or "category", where they have the
        label ``(missing)`` in every column whose labels hold it.

    Examples
    --------
    >>> sex, race = Column("sex", ("f", "m")), Column("race", ("black", "white"))
    >>> Reading((sex, race), Column("age", (1, 2))).secrets
    ('f, black', 'f, white', 'm, black', 'm, white')
    """

    secret: tuple[Column, ...]
    value: Column
    missing: str = "refuse"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the secret, then that of the value."""
        return (*self.secret, self.value)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def secrets(self) -> tuple[Label, ...]:
        """The labels of the secret: of its column, or all combinations of those of its columns."""
        return _combined([column.labels for column in self.secret])

    def renamed(self, secret: Sequence[str] | None, value: str | None) -> Reading:
        """The same reading of columns with other names; None keeps a name."""
        names = self.names[:-1] if secret is None else tuple(secret)
        if len(names) != len(self.secret):
            wanted = ", ".join(repr(column.name) for column in self.secret)
            raise InvalidArgument(
                f"secret must name a column for each of {wanted}, in this order, got {len(names)} in all"
            )
        columns = tuple(replace(old, name=name) for name, old in zip(names, self.secret, strict=True))
        return Reading(columns, replace(self.value, name=value or self.value.name), self.missing)


def _combined(labels: Sequence[Sequence[Label]]) -> tuple[Label, ...]:
    """All combinations of labels, each as one: the text of its parts, quoted where it could mean another."""
    if len(labels) == 1:
        return tuple(labels[0])
    if prod(map(len, labels)) >= _MOST_COMBINATIONS:
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
