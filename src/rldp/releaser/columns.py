"""Columns in, column out: a protocol applied to people's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rldp._checks import shown
from rldp.data.columns import Encoded, decode, encode, kind_of
from rldp.data.labels import Alphabet, is_label
from rldp.errors import DataError, InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.randomness import randomness

__all__ = ["Offence", "first_offence", "offending_rows", "release"]


def release(protocol: Protocol, secrets: Any, values: Any, *, seed: int | None = None) -> Any:
    """Draw an output for every row; see :meth:`rldp.Protocol.release`."""
    source = randomness(seed)
    for name, column in (("secrets", secrets), ("values", values)):
        kind_of(name, column)
    if len(secrets) != len(values):
        raise InvalidArgument(
            f"secrets and values must have the same length, got {len(secrets)} and {len(values)}"
        )
    _require_same_rows(secrets, values)
    s_labels, u_labels = Alphabet(protocol.secrets), Alphabet(protocol.values)
    s, u = encode("secrets", secrets, s_labels), encode("values", values, u_labels)
    offending = offending_rows(s, u)
    if offending:
        offence = first_offence(("secrets", s, s_labels), ("values", u, u_labels))
        raise offence.error(offending, len(u))
    decode(values[:0], u.codes[:0], protocol.outputs)  # fails where the kind of column cannot hold them
    codes = protocol.sampler.draw(s.codes * np.int32(len(protocol.values)) + u.codes, source)
    return decode(values, codes, protocol.outputs)


def _require_same_rows(secrets: Any, values: Any) -> None:
    """Two pandas series must name their rows alike: pairing them by place would mix people up."""
    both_pandas = kind_of("secrets", secrets) == kind_of("values", values) == "pandas"
    if both_pandas and not secrets.index.equals(values.index):
        raise InvalidArgument("secrets and values must have the same index, got two that differ")


@dataclass(frozen=True)
class Offence:
    """A row that cannot be released, counted from 1, and why."""

    row: int
    reason: str

    def error(self, offending: int, rows: int) -> DataError:
        """The one sentence about it and those like it."""
        return DataError(f"{self.reason}; {offending} of {rows} rows cannot be released")


def offending_rows(secrets: Encoded, values: Encoded) -> int:
    """How many rows have a secret or a value that the protocol does not know."""
    if not len(values) or (secrets.codes.min() >= 0 and values.codes.min() >= 0):
        return 0
    return int(np.count_nonzero((secrets.codes < 0) | (values.codes < 0)))


def first_offence(*columns: tuple[str, Encoded, Alphabet], before: int = 0) -> Offence:
    """The first row at fault in (name, column, alphabet); ``before``: rows that came earlier."""
    firsts = [int(np.argmax(column.codes < 0)) for _, column, _ in columns]
    at_fault = [(row, i) for i, row in enumerate(firsts) if columns[i][1].codes[row] < 0]
    row, which = min(at_fault)
    name, column, alphabet = columns[which]
    number = before + row + 1
    return Offence(number, _reason(name, column.entry(row), alphabet, number))


def _reason(name: str, entry: object, alphabet: Alphabet, row: int) -> str:
    plain = entry.item() if isinstance(entry, np.generic) else entry
    if _is_missing(plain):
        return f"{name} must hold no nulls, but row {row} has no value"
    if not is_label(type(plain)):
        found = f"{shown(plain)} of type {type(plain).__name__}"
        return f"{name} must hold strings, numbers or booleans, but row {row} has {found}"
    some = ", ".join(shown(label, 24) for label in alphabet.labels[:3])
    more = ", …" if len(alphabet.labels) > 3 else ""
    return f"{name} must hold labels of the protocol ({some}{more}), but row {row} has {shown(plain)}"


def _is_missing(entry: object) -> bool:
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))
