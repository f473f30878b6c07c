"""The request when a table is read: columns, labels and types, from the caller or from a protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from rldp._common.checks import Label, choice, finite_number, labels, shown, whole_number
from rldp.data.bins import BinCount, Binning, alphabet_of
from rldp.data.labels import Alphabet
from rldp.data.meaning import Kind
from rldp.data.reading import TREATMENTS, Column, Reading, Treatment
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["Alphabets", "Wanted", "reading_of_new_data"]

T = TypeVar("T")
Alphabets: TypeAlias = Sequence[Label] | Mapping[str, Sequence[Label]] | None
"""The labels of a column, or a mapping from several columns to labels."""


@dataclass(frozen=True)
class Wanted:
    """The columns to count, and what is known about each.

    Attributes
    ----------
    secret, value : tuple of str
        Names of columns.
    readings : mapping
        Column → its alphabet, or the type of its labels, or how it is to be cut into bins, or None if its
        labels are to be found. First the columns of the secret, then given ones, then those of the value.
    missing : str
        One of :data:`rldp.data.reading.TREATMENTS`.
    ordered : frozenset of str
        The columns whose labels have a given order.
    missing_distance : float or None
        Distance of a missing entry from every other, in the unit of the distortion.
    known : tuple of Column
        The columns of a protocol, if the request is for these: there are no other labels, not even one for
        missing entries.
    given : tuple of str
        Names of the columns kept beside the value, inside the promise.
    rare : int
        Labels of given columns are merged until each was seen this often with every secret.
    """

    secret: tuple[str, ...]
    value: tuple[str, ...]
    readings: Mapping[str, Alphabet | Kind | Binning | None]
    missing: str = "refuse"
    ordered: frozenset[str] = frozenset()
    missing_distance: float | None = None
    known: tuple[Column, ...] = ()
    given: tuple[str, ...] = ()
    rare: int = 0

    @classmethod
    def of(
        cls,
        secret: str | Sequence[str],
        value: str | Sequence[str],
        *,
        secrets: Alphabets = None,
        values: Alphabets = None,
        text: Sequence[str] = (),
        number: Sequence[str] = (),
        missing: Treatment = "refuse",
        missing_distance: float | None = None,
        order: Mapping[str, Sequence[Label]] | None = None,
        bins: BinCount | Mapping[str, BinCount] | None = None,
        bin_width: float | Mapping[str, float] | None = None,
        kept: str | Sequence[str] = (),
        rare: int = 1,
        known: Mapping[str, Column] | None = None,
    ) -> Wanted:
        """Make the request of :meth:`rldp.Sample.from_data`; ``kept`` are given, ``known`` are read."""
        secret, value = _listed("secret", secret), _listed("value", value)
        beside = _listed("given", kept) if kept else ()
        names = (*secret, *beside, *value)
        _require_distinct(names, "secret, given and value" if beside else "secret and value")
        asked: dict[str, Alphabet | Kind | Binning] = {
            **_alphabets("secret", secret, secrets),
            **_alphabets("value", value, values, others=beside),
        }
        for column, read in (known or {}).items():
            if column in asked:
                raise InvalidArgument(
                    f"values must leave out {column!r}, whose labels are those of the earlier release"
                )
            asked[column] = alphabet_of(read)
        asked |= _orders(names, asked, order or {})
        asked |= _kinds(names, asked, text=text, number=number)
        if bins is not None or bin_width is not None:
            widths = _by_column("bin_width", value, bin_width)
            binnings = Binning.asked(_by_column("bins", value, bins), widths)
            if binnings.keys() & asked.keys():
                raise InvalidArgument("bins must not be given together with labels or a type of the value")
            asked |= binnings
        if missing_distance is not None:
            missing_distance = finite_number("missing_distance", missing_distance, at_least=0.0)
        return cls(
            secret,
            value,
            {name: asked.get(name) for name in names},
            choice("missing", missing, TREATMENTS),
            frozenset(order or ()),
            missing_distance,
            given=beside,
            rare=whole_number("rare", rare, 0, 2**31),
        )

    @classmethod
    def like(cls, reading: Reading) -> Wanted:
        """Make the request for a protocol's own columns."""
        alphabets = {column.name: alphabet_of(column) for column in reading.columns}
        return cls(
            reading.secret_names,
            reading.value_names,
            alphabets,
            reading.missing,
            known=reading.columns,
            given=reading.given_names,
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.readings)

    @property
    def chooses_bins(self) -> bool:
        """Whether the number of bins is to be chosen."""
        return Binning() in self.readings.values()

    def with_bins(self, count: int) -> Wanted:
        """Return the request with this number of bins where it is to be chosen."""
        chosen = {name: Binning(count) if r == Binning() else r for name, r in self.readings.items()}
        return replace(self, readings=chosen)


def _listed(role: str, columns: object) -> tuple[str, ...]:
    names = [columns] if isinstance(columns, str | int) else columns
    if not isinstance(names, list | tuple) or not names:
        raise InvalidArgumentType(
            f"{role} must be the name of a column, or a list of them, got {shown(columns)}"
        )
    for column in names:
        if not isinstance(column, str | int) or isinstance(column, bool):
            raise InvalidArgumentType(f"{role} must be the name of a column, got {shown(column)}")
    return tuple(map(str, names))  # some frames number their columns


def _require_distinct(names: Sequence[str], roles: str = "secret and value") -> None:
    for column in names:
        if names.count(column) > 1:
            raise InvalidArgument(f"{roles} must be different columns, got {column!r} more than once")


def _by_column(
    name: str,
    columns: tuple[str, ...],
    given: T | Mapping[str, T] | None,
    *,
    role: str = "value",
    others: tuple[str, ...] = (),
) -> dict[str, T]:
    """Return the argument for each column: a mapping by name, or the argument itself for a single column."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if len(columns) > 1:
            raise InvalidArgument(
                f"{name} must be a mapping from columns, as in {{{columns[0]!r}: …}}, where the {role} has "
                "several"
            )
        return {columns[0]: given}
    for column in given:
        if column not in (*columns, *others):
            raise InvalidArgument(f"{name} must be about columns of the {role}, got {shown(column)}")
    return dict(given)


def _alphabets(
    role: str, columns: tuple[str, ...], given: Alphabets, *, others: tuple[str, ...] = ()
) -> dict[str, Alphabet]:
    name = f"{role}s"
    listed = _by_column(name, columns, given, role=role, others=others)
    return {column: Alphabet(labels(name, each)) for column, each in listed.items()}


def _orders(
    names: Sequence[str], given: Mapping[str, object], order: Mapping[str, Sequence[Label]]
) -> dict[str, Alphabet]:
    if not isinstance(order, Mapping):
        raise InvalidArgumentType(f"order must be a mapping from columns to labels, got {shown(order)}")
    for column in order:
        if column not in names or column in given:
            raise InvalidArgument(
                "order must be about columns of secret or value whose labels are not given, "
                f"got {shown(column)}"
            )
    return {column: Alphabet(labels("order", listed)) for column, listed in order.items()}


def _kinds(names: Sequence[str], given: Mapping[str, object], **asked: Sequence[str]) -> dict[str, Kind]:
    chosen: dict[str, Kind] = {}
    for kind, columns in asked.items():
        if isinstance(columns, str) or not isinstance(columns, Sequence):
            raise InvalidArgumentType(f"{kind} must be a list of names of columns, got {shown(columns)}")
        for column in columns:
            if column not in names or column in given or column in chosen:
                raise InvalidArgument(
                    f"{kind} must name columns of secret or value, each once, whose labels are not given, "
                    f"got {shown(column)}"
                )
            chosen[column] = "text" if kind == "text" else "number"
    return chosen


def reading_of_new_data(
    own: Reading | None,
    labels: tuple[tuple[Label, ...], tuple[Label, ...]],
    *,
    secret: str | Sequence[str] | None = None,
    value: str | Sequence[str] | None = None,
    as_secret: str | Sequence[str] | None = None,
    as_value: str | Sequence[str] | None = None,
    reads_secret: bool = True,
) -> Reading:
    """Return how new data are read for a protocol: like the data it was designed on.

    Parameters
    ----------
    own : Reading or None
        The protocol's own columns, if it names any.
    labels : tuple
        Its secrets and its values.
    secret, value : str, optional
        Names of columns: those of the protocol. Needed only if it names none.
    as_secret, as_value : str, optional
        Names of the same columns in the new data.
    reads_secret : bool
        Whether the secret is needed. If not, and no column is named for it, it is not read.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If names are needed, or differ from the protocol's.
    """
    given = _given("secret", secret), _given("value", value)
    others = _given("as_secret", as_secret), _given("as_value", as_value)
    blind = not reads_secret and given[0] is None and others[0] is None
    if own is None:
        secrets = () if blind else _single_column("secret", labels[0], others[0] or given[0])
        reading = Reading(secrets, _single_column("value", labels[1], others[1] or given[1]))
    else:
        secrets = _renamed("secret", own.secret, given[0], others[0])
        reading = replace(own, secret=secrets, value=_renamed("value", own.value, given[1], others[1]))
    _require_distinct(reading.names)
    return replace(reading, secret=()) if blind else reading


def _given(name: str, columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return None if columns is None or columns == [] else _listed(name, columns)


def _renamed(
    role: str, columns: tuple[Column, ...], given: tuple[str, ...] | None, other: tuple[str, ...] | None
) -> tuple[Column, ...]:
    """Return a protocol's own columns, the only ones that may be ``given``, under their ``other`` names."""
    wanted = tuple(column.name for column in columns)
    if given is not None and given != wanted:
        raise InvalidArgument(
            f"{role} must be what the protocol is for, {_quoted(wanted)}, got {_quoted(given)}; "
            f"as_{role}= reads another column as if it were that one"
        )
    if other is None:
        return columns
    if len(other) != len(columns):
        raise InvalidArgument(
            f"{role} must name a column for each of {_quoted(wanted)}, in this order, got {len(other)} in all"
        )
    return tuple(replace(old, name=name, header=None) for name, old in zip(other, columns, strict=True))


def _single_column(role: str, labels: tuple[Label, ...], names: tuple[str, ...] | None) -> tuple[Column, ...]:
    scalars = tuple(label for label in labels if not isinstance(label, tuple))
    if names is None or len(names) != 1 or len(scalars) < len(labels):
        raise InvalidArgument(
            f"{role} must be given as one column, since the protocol does not name its columns, "
            f"got {'none' if names is None else _quoted(names)}"
        )
    return (Column(names[0], scalars),)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
