"""What is asked of a release: which columns are read, which are kept, and one way to draw for their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, shown
from rldp.data.labels import Codes, Encoded, Faults
from rldp.data.readers import Columns
from rldp.data.rows import rows_of
from rldp.data.wanted import reading_of_new_data
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.theory.sampling import Randomness

__all__ = ["Drawn", "Request", "draw_pairs"]


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn for some rows.

    Attributes
    ----------
    codes : int32 array
        Of the outputs; of no row if there are faults, in these rows or earlier ones.
    used : bool array or None
        Which rows have one; None where it is all of them.
    faults : Faults
        Of these rows and all earlier ones.
    """

    codes: Codes
    used: NDArray[np.bool_] | None
    faults: Faults

    @property
    def skipped(self) -> int:
        """How many rows are left out because an entry is missing."""
        return 0 if self.used is None else int(np.count_nonzero(~self.used))


@dataclass(frozen=True, eq=False)
class Request:
    """A protocol, the columns that it is applied to, and those to keep beside the released one.

    Attributes
    ----------
    protocol : Protocol
    columns : Columns
        Those that are read, and those to keep.
    name : str or None
        Of the released column; None is that of the value.
    unknown : int or None
        The code that stands for values that the protocol does not know; None refuses them.
    show_labels : bool
        Whether a message about an entry that is no label may show it.
    """

    protocol: Protocol
    columns: Columns
    name: str | None = None
    unknown: int | None = None
    show_labels: bool = False

    @classmethod
    def of(
        cls,
        protocol: Protocol,
        *,
        secret: str | Sequence[str] | None,
        value: str | None,
        as_secret: str | Sequence[str] | None = None,
        as_value: str | None = None,
        keep: Sequence[str] = (),
        name: str | None = None,
        unknown: Label | None = None,
        show_labels: bool = False,
    ) -> Request:
        """What the arguments of a release ask for, as :func:`rldp.release_file` explains them."""
        reading = reading_of_new_data(
            protocol.reading,
            (protocol.secrets, protocol.values),
            secret=secret,
            value=value,
            as_secret=as_secret,
            as_value=as_value,
        )
        if len(reading.value) > 1:
            raise InvalidArgument(
                f"protocol must publish one column to be released from here, got {len(reading.value)}"
            )
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidArgumentType(f"the name of the released column must be text, got {shown(name)}")
        columns = Columns(reading, tuple(_checked_names(keep)))
        return cls(protocol, columns, name, _code_of_unknown(protocol, unknown), show_labels)

    def released_name(self, called: Callable[[str], str]) -> str:
        """What the released column is called, unlike all that are kept.

        ``called``: column as it is asked for → its name in the table.
        """
        released = called(self.columns.reading.value_names[0]) if self.name is None else self.name
        kept = [called(column) for column in self.columns.keep]
        for column in kept:
            if kept.count(column) > 1:
                raise InvalidArgument(f"keep must name columns of different names, got two called {column!r}")
        if released in kept:
            raise InvalidArgument(
                f"the released column must not be called {released!r} like a column that is kept; "
                "name it otherwise with --as (released=)"
            )
        return released

    def no_faults(self) -> Faults:
        """What is wrong with no rows at all."""
        return Faults(show_labels=self.show_labels)

    def draw(self, columns: Sequence[Encoded], before: Faults, words: Randomness) -> Drawn:
        """An output for every row of the columns, which come in the order of the reading's names."""
        rows = rows_of(self.columns.reading, columns, before, self.unknown)
        if rows.faults.at_fault:
            return Drawn(np.empty(0, dtype=np.int32), rows.used, rows.faults)
        return Drawn(draw_pairs(self.protocol, rows.secrets, rows.values, words), rows.used, rows.faults)


def draw_pairs(protocol: Protocol, secrets: Codes, values: Codes, words: Randomness) -> Codes:
    """The code of an output for each pair of a secret's and a value's code."""
    return protocol.sampler.draw(secrets * np.int32(len(protocol.values)) + values, words)


def _code_of_unknown(protocol: Protocol, label: Label | None) -> int | None:
    if label is None:
        return None
    if label not in protocol.values:
        raise InvalidArgument(f"unknown must be a value of the protocol, got {shown(label)}")
    return protocol.values.index(label)


def _checked_names(keep: Sequence[str]) -> Sequence[str]:
    if isinstance(keep, str) or not isinstance(keep, Sequence):
        raise InvalidArgumentType(f"keep must be a list of names of columns, got {shown(keep)}")
    for column in keep:
        if not isinstance(column, str):
            raise InvalidArgumentType(f"keep must be the name of a column, got {shown(column)}")
    for column in keep:
        if keep.count(column) > 1:
            raise InvalidArgument(f"keep must name each column once, got {column!r} more than once")
    return keep
