"""What is asked about the values: shares, means, any linear functional of P, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rldp._common.checks import Label, number_array, shown
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.theory.model import Floats

__all__ = ["Asked", "Functionals", "asked"]

_LARGEST = 1e100  # of which squares are floats
_SHARES_OF, _MEAN_OF = "shares of ", "mean of "

Asked: TypeAlias = str | ArrayLike | Mapping[str, str | ArrayLike]
"""'shares', 'mean', a vector, a table, or several of them by name.

Where several columns were released together, 'shares of age' and 'mean of age' are about one of them.
"""


@dataclass(frozen=True)
class Functionals:
    """Linear functionals of P.

    Attributes
    ----------
    a : array (|S|, |U|, m)
        The m-th is Σ P(s, u) a(s, u, m).
    labels : tuple
        What they are called.
    are_shares : bool
        Whether they are the shares of all values.
    """

    a: Floats
    labels: tuple[Label, ...]
    are_shares: bool

    def naive(self, protocol: Protocol) -> Floats | None:
        """The same functionals of outputs taken for values: (|S|, |Y|, m); None if an output is no value."""
        places = {value: u for u, value in enumerate(protocol.values)}
        if not all(output in places for output in protocol.outputs):
            return None
        return self.a[:, [places[output] for output in protocol.outputs]]


def asked(of: Asked, protocol: Protocol) -> Functionals:
    """The functionals that ``of`` names.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If it is none of :data:`Asked`, or of another shape than the protocol's labels.
    """
    secrets, values = protocol.matrix.shape[:2]
    if isinstance(of, str) and of.startswith(_SHARES_OF):
        entries = _entries("of", of.removeprefix(_SHARES_OF), protocol)
        labels = tuple(dict.fromkeys(entries))
        own = np.array([[entry == label for label in labels] for entry in entries], dtype=np.float64)
        return Functionals(np.broadcast_to(own, (secrets, *own.shape)), labels, are_shares=False)
    if isinstance(of, str) and of == "shares":
        shares = np.broadcast_to(np.eye(values), (secrets, values, values))
        return Functionals(shares, protocol.values, are_shares=True)
    if isinstance(of, Mapping):
        if not of:
            raise InvalidArgument("of must name at least one functional, got none")
        tables = [_table(f"of[{name!r}]", each, protocol) for name, each in of.items()]
        return Functionals(np.stack(tables, axis=-1), tuple(map(str, of)), are_shares=False)
    name = of if isinstance(of, str) else "functional"
    return Functionals(_table("of", of, protocol)[..., None], (name,), are_shares=False)


def _table(name: str, of: object, protocol: Protocol) -> Floats:
    secrets, values = protocol.matrix.shape[:2]
    if isinstance(of, str):
        if of.startswith(_MEAN_OF):
            entries = _entries(name, of.removeprefix(_MEAN_OF), protocol)
            return np.broadcast_to(_numbers(name, entries), (secrets, values))
        if of != "mean":
            raise InvalidArgument(f"{name} must be 'shares', 'mean' or numbers, got {shown(of)}")
        return np.broadcast_to(_numbers(name, protocol.values), (secrets, values))
    if of is None:
        raise InvalidArgumentType(f"{name} must be 'shares', 'mean' or numbers, got None")
    table = number_array(name, "'shares', 'mean' or numbers", of)
    if table.shape not in ((values,), (secrets, values)):
        raise InvalidArgument(
            f"{name} must have shape ({values},) or ({secrets}, {values}), a number for every value, "
            f"got {table.shape}"
        )
    if not (np.abs(table) <= _LARGEST).all():
        raise InvalidArgument(f"{name} must hold numbers of at most {_LARGEST:g} in size, got others")
    return np.broadcast_to(table, (secrets, values))


def _entries(name: str, column: str, protocol: Protocol) -> tuple[Label, ...]:
    """The entry of one column in each value of the protocol."""
    columns = protocol.value_columns
    if column not in columns:
        known = ", ".join(map(repr, columns)) if columns else "none that have names"
        raise InvalidArgument(f"{name} must be about a value column ({known}), got {shown(column)}")
    if len(columns) == 1:
        return protocol.values
    j = columns.index(column)
    return tuple(value[j] for value in protocol.values if isinstance(value, tuple))


def _numbers(name: str, values: Sequence[Label]) -> Floats:
    """The values as numbers."""
    numbers = []
    for value in values:
        if isinstance(value, str | tuple):
            raise InvalidArgument(
                f"{name} may be 'mean' where all values are numbers, got others; "
                "give a number for every value instead"
            )
        numbers.append(float(value))
    return np.array(numbers)
