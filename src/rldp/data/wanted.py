"""What is asked for when a table is read: columns, labels, kinds, and whether they are a protocol's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rldp._common.checks import Label, labels, shown
from rldp.data.bins import Binning, alphabet_of
from rldp.data.labels import Alphabet
from rldp.data.reading import Column, Reading, checked_treatment
from rldp.data.texts import Kind
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["Alphabets", "Wanted", "reading_of_new_data"]

Alphabets: TypeAlias = Sequence[Label] | Mapping[str, Sequence[Label]] | None
"""The labels of a secret: of its column, or by column where it has several."""


@dataclass(frozen=True)
class Wanted:
    """The columns to count, and what is known of each.

    Attributes
    ----------
    readings : mapping
        Column → its alphabet, or the kind of its labels, or None if they are to be found. First those of the
        secret, then that of the value.
    missing : str
        One of :data:`rldp.data.reading.TREATMENTS`.
    binning : Binning or None
        How the value is to be cut into bins.
    ordered : bool
        Whether the labels of the value have an order that is given.
    has_all_labels : bool
        Whether there is no other label, not even one for what is missing.
    """

    readings: Mapping[str, Alphabet | Kind | None]
    missing: str = "refuse"
    binning: Binning | None = None
    ordered: bool = False
    has_all_labels: bool = False

    @classmethod
    def of(
        cls,
        secret: str | Sequence[str],
        value: str,
        *,
        secrets: Alphabets = None,
        values: Sequence[Label] | None = None,
        text: Sequence[str] = (),
        number: Sequence[str] = (),
        missing: str = "refuse",
        order: Mapping[str, Sequence[Label]] | None = None,
        bins: int | None = None,
        bin_width: float | None = None,
    ) -> Wanted:
        """As :meth:`rldp.Sample.from_data` is asked."""
        names = _names(secret, value)
        given = _alphabets(names, secrets, values)
        given |= _orders(names, given, order or {})
        kinds = _kinds(names, given, text=text, number=number)
        binning = Binning.asked(bins, bin_width)
        if binning is not None and (value in given or value in kinds):
            raise InvalidArgument(
                "bins must not be asked for where the labels of the value, or their kind, are given"
            )
        readings = {name: given.get(name) or kinds.get(name) for name in names}
        return cls(readings, checked_treatment(missing), binning, value in (order or {}))

    @classmethod
    def like(cls, reading: Reading) -> Wanted:
        """What a protocol's own columns are."""
        alphabets = {column.name: alphabet_of(column) for column in reading.columns}
        return cls(alphabets, reading.missing, has_all_labels=True)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.readings)


def _names(secret: str | Sequence[str], value: str) -> tuple[str, ...]:
    secrets = [secret] if isinstance(secret, str) else secret
    if not isinstance(secrets, list | tuple) or not secrets:
        raise InvalidArgumentType(
            f"secret must be the name of a column, or a list of them, got {shown(secret)}"
        )
    for name, column in [*(("secret", column) for column in secrets), ("value", value)]:
        if not isinstance(column, str):
            raise InvalidArgumentType(f"{name} must be the name of a column, got {shown(column)}")
    names = (*secrets, value)
    _require_distinct(names)
    return names


def _require_distinct(names: Sequence[str]) -> None:
    for column in names:
        if names.count(column) > 1:
            raise InvalidArgument(
                f"secret and value must be different columns, got {column!r} more than once"
            )


def _alphabets(
    names: Sequence[str], secrets: Alphabets, values: Sequence[Label] | None
) -> dict[str, Alphabet]:
    *secret, value = names
    found = {} if values is None else {value: Alphabet(labels("values", values))}
    if secrets is None:
        return found
    if not isinstance(secrets, Mapping):
        if len(secret) > 1:
            raise InvalidArgument(
                f"secrets must name the labels of each column, as in {{{secret[0]!r}: [...]}}, where the "
                "secret has several"
            )
        return found | {secret[0]: Alphabet(labels("secrets", secrets))}
    for column in secrets:
        if column not in secret:
            raise InvalidArgument(f"secrets must be about columns of the secret, got {shown(column)}")
    return found | {column: Alphabet(labels("secrets", given)) for column, given in secrets.items()}


def _orders(
    names: Sequence[str], given: Mapping[str, Alphabet], order: Mapping[str, Sequence[Label]]
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


def _kinds(names: Sequence[str], given: Mapping[str, Alphabet], **asked: Sequence[str]) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for kind, columns in asked.items():
        if isinstance(columns, str) or not isinstance(columns, Sequence):
            raise InvalidArgumentType(f"{kind} must be a list of names of columns, got {shown(columns)}")
        for column in columns:
            if column not in names or column in given or column in found:
                raise InvalidArgument(
                    f"{kind} must name columns of secret or value, each once, whose labels are not given, "
                    f"got {shown(column)}"
                )
            found[column] = "text" if kind == "text" else "number"
    return found


def reading_of_new_data(
    own: Reading | None,
    labels: tuple[tuple[Label, ...], tuple[Label, ...]],
    *,
    secret: str | Sequence[str] | None = None,
    value: str | None = None,
    as_secret: str | Sequence[str] | None = None,
    as_value: str | None = None,
) -> Reading:
    """How new data are read for a protocol: as the data that it was designed on.

    Parameters
    ----------
    own : Reading or None
        What the protocol says of its columns, if anything.
    labels : tuple
        Its secrets and its values.
    secret, value : str, optional
        Names of columns: those that the protocol names, if it names any. If not, they are needed.
    as_secret, as_value : str, optional
        Other names, of columns that hold the same.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If names are needed, or are others than the protocol's.
    """
    secret, as_secret = _listed("secret", secret), _listed("as_secret", as_secret)
    values, as_values = _listed("value", value), _listed("as_value", as_value)
    if own is None:
        return _distinct(_of_one_secret(labels, as_secret or secret, as_values or values))
    for role, given, wanted in (("secret", secret, own.names[:-1]), ("value", values, own.names[-1:])):
        if given is not None and given != wanted:
            raise InvalidArgument(
                f"{role} must be what the protocol is for, {_quoted(wanted)}, got {_quoted(given)}; "
                f"--as-{role} (as_{role}=) reads another column as if it were that one"
            )
    return _distinct(own.renamed(as_secret, as_value))


def _of_one_secret(
    labels: tuple[tuple[Label, ...], tuple[Label, ...]],
    secret: tuple[str, ...] | None,
    value: tuple[str, ...] | None,
) -> Reading:
    columns = []
    for name, given, known in zip(("secret", "value"), (secret, value), labels, strict=True):
        if given is None or len(given) != 1:
            raise InvalidArgument(
                f"{name} must be given as one column, since the protocol does not name its columns, "
                f"got {'none' if given is None else _quoted(given)}"
            )
        columns.append(Column(given[0], known))
    return Reading((columns[0],), columns[1])


def _distinct(reading: Reading) -> Reading:
    _require_distinct(reading.names)
    return reading


def _listed(name: str, given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(column, str) for column in names):
        raise InvalidArgumentType(f"{name} must be the name of a column, got {shown(given)}")
    return tuple(names) or None


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
