"""Questions about the values: shares, means, linear functionals of P, and functions of moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rldp._common.checks import Label, number_array, shown
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.theory.derived import Correlation, Derived, GroupDifferences, GroupMeans, Line
from rldp.theory.model import Floats

__all__ = ["Asked", "Functionals", "asked"]

_LARGEST = 1e100  # squares of larger numbers overflow
_SHARES_OF, _MEAN_OF = "shares of ", "mean of "

Asked: TypeAlias = str | ArrayLike | Mapping[str, str | ArrayLike]
"""'shares', 'mean', a vector, a table, or several of these by name.

For columns released together, 'shares of age' and 'mean of age' refer to one of them. These refer to two:
'mean of pay by job', 'difference of pay by job', 'slope of pay on age', 'regression of pay on age',
'correlation of pay and age', 'moments of pay and age'.
"""


@dataclass(frozen=True)
class Functionals:
    """Linear functionals of P, and functions of them.

    Attributes
    ----------
    a : array (|S|, |U|, k)
        The k-th functional is Σ P(s, u) a(s, u, k).
    labels : tuple
        Labels of the functionals or, if there are functions of them, of these.
    are_shares : bool
        Whether the functionals are the shares of all values.
    derived : Derived or None
        The requested functions, if the linear functionals are only moments for them.
    """

    a: Floats
    labels: tuple[Label, ...]
    are_shares: bool = False
    derived: Derived | None = None

    def naive(self, protocol: Protocol) -> Floats | None:
        """Return the functionals of outputs taken as values, (|S|, |Y|, m), if all outputs are values."""
        places = {value: u for u, value in enumerate(protocol.values)}
        if not all(output in places for output in protocol.outputs):
            return None
        return self.a[:, [places[output] for output in protocol.outputs]]


def asked(of: Asked, protocol: Protocol) -> Functionals:
    """Return the functionals that ``of`` names.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If ``of`` is not one of :data:`Asked`, or its shape does not fit the protocol's labels.
    """
    secrets, values = protocol.matrix.shape[:2]
    if isinstance(of, str) and (of_two := _of_two(of, protocol)) is not None:
        return of_two
    if isinstance(of, str) and of.startswith(_SHARES_OF):
        entries = _entries("of", of.removeprefix(_SHARES_OF), protocol)
        labels = tuple(dict.fromkeys(entries))
        own = np.array([[entry == label for label in labels] for entry in entries], dtype=np.float64)
        return Functionals(np.broadcast_to(own, (secrets, *own.shape)), labels)
    if isinstance(of, str) and of == "shares":
        shares = np.broadcast_to(np.eye(values), (secrets, values, values))
        return Functionals(shares, protocol.values, are_shares=True)
    if isinstance(of, Mapping):
        if not of:
            raise InvalidArgument("of must name at least one functional, got none")
        tables = [_table(f"of[{name!r}]", each, protocol) for name, each in of.items()]
        return Functionals(np.stack(tables, axis=-1), tuple(map(str, of)))
    name = of if isinstance(of, str) else "functional"
    return Functionals(_table("of", of, protocol)[..., None], (name,))


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


def _of_two(of: str, protocol: Protocol) -> Functionals | None:
    """Return the functionals of a question about two columns, or None for other questions."""
    columns = protocol.value_columns
    for head, joint in _TWO:
        if not of.startswith(head) or (joint == " by " and of.removeprefix(head) in columns):
            continue
        rest = of.removeprefix(head)
        cuts = (i for i in range(len(rest)) if rest.startswith(joint, i))
        named = [(rest[:i], rest[i + len(joint) :]) for i in cuts]
        for one, other in named:
            if one in columns and other in columns:
                if one == other:
                    raise InvalidArgument(f"of must name two different columns, got {shown(one)} twice")
                return _about_two(head, one, other, protocol)
        if named or joint != " by ":
            known = ", ".join(map(repr, columns)) if columns else "none that have names"
            raise InvalidArgument(
                f"of must be '{head}A{joint}B' for two value columns ({known}), got {shown(of)}"
            )
    return None


def _about_two(head: str, one: str, other: str, protocol: Protocol) -> Functionals:
    y, by = (_entries("of", column, protocol) for column in (one, other))
    numbers = _column_numbers(one, y)
    derived: Derived | None = None
    if head in ("mean of ", "difference of "):
        groups = tuple(dict.fromkeys(by))
        inside = np.array([[entry == group for group in groups] for entry in by], dtype=np.float64)
        labels: tuple[Label, ...] = groups
        derived = means = GroupMeans(numbers, inside)
        if head == "difference of ":
            if len(groups) < 2:
                raise InvalidArgument(f"of must compare groups, but {shown(other)} has a single label")
            derived = GroupDifferences(means)
            labels = tuple(f"{group} less {groups[0]}" for group in groups[1:])
        return _functions(derived, labels, protocol)
    x = _column_numbers(other, by)
    if head == "moments of ":
        table = np.stack([numbers, x, numbers**2, x**2, numbers * x], axis=-1)
        labels = (one, other, f"{one}²", f"{other}²", f"{one} × {other}")
        return Functionals(np.broadcast_to(table, (len(protocol.secrets), *table.shape)), labels)
    for column, given in ((one, numbers), (other, x)):
        if len(np.unique(given)) < 2:
            raise InvalidArgument(
                f"of must be about columns with two values or more, {shown(column)} has one"
            )
    if head == "correlation of ":
        return _functions(Correlation(x, numbers), (f"correlation of {one} and {other}",), protocol)
    line = _functions(Line(x, numbers), (f"slope of {one} on {other}", f"intercept of {one}"), protocol)
    return line if head == "regression of " else replace(line, labels=line.labels[:1])


_TWO = (
    ("mean of ", " by "),
    ("difference of ", " by "),
    ("slope of ", " on "),
    ("regression of ", " on "),
    ("correlation of ", " and "),
    ("moments of ", " and "),
)
"""The beginning of each question about two columns, and the word between their names."""


def _functions(derived: Derived, labels: tuple[Label, ...], protocol: Protocol) -> Functionals:
    a = np.broadcast_to(derived.moments, (len(protocol.secrets), *derived.moments.shape))
    return Functionals(a, labels, derived=derived)


def _entries(name: str, column: str, protocol: Protocol) -> tuple[Label, ...]:
    """Return the entry of one column in each value of the protocol."""
    columns = protocol.value_columns
    if column not in columns:
        known = ", ".join(map(repr, columns)) if columns else "none that have names"
        raise InvalidArgument(f"{name} must be about a value column ({known}), got {shown(column)}")
    if len(columns) == 1:
        return protocol.values
    j = columns.index(column)
    return tuple(value[j] for value in protocol.values if isinstance(value, tuple))


def _column_numbers(column: str, entries: Sequence[Label]) -> Floats:
    if any(isinstance(entry, str) for entry in entries):
        raise InvalidArgument(f"of must be about numbers, but {shown(column)} has labels that are texts")
    return np.array([float(entry) for entry in entries if not isinstance(entry, tuple)])


def _numbers(name: str, values: Sequence[Label]) -> Floats:
    """Return the values as numbers."""
    numbers = []
    for value in values:
        if isinstance(value, str | tuple):
            raise InvalidArgument(
                f"{name} may be 'mean' where all values are numbers, got others; "
                "give a number for every value instead"
            )
        numbers.append(float(value))
    return np.array(numbers)
