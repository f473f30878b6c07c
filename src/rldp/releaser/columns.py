"""Apply a protocol to columns of people's data, read as the protocol reads its columns."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, whole_number
from rldp.data.bins import alphabet_of
from rldp.data.columns import decode, encode, kind_of, listed
from rldp.data.labels import NOT_A_LABEL, Alphabet, Encoded, faults
from rldp.data.reading import Column, Reading
from rldp.data.rows import joint_codes, labelled
from rldp.errors import DataError, InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.ids import ids_of, require_distinct
from rldp.releaser.keys import Key, key_of
from rldp.releaser.randomness import randomness
from rldp.releaser.stable_draws import StableDraws
from rldp.theory.sampling import Randomness, RowWords

__all__ = ["output_for", "release"]

_UNUSED_BITS = 12  # of a word of 64, of which a draw takes the first 52


def release(
    protocol: Protocol,
    secrets: Any,
    values: Any,
    *,
    ids: Any = None,
    key: str | PathLike[str] | bytes | Key | None = None,
    seed: int | None = None,
) -> Any:
    """Draw an output for every row; see :meth:`rldp.Protocol.release`."""
    source: Randomness | RowWords = randomness(seed, key)
    if (ids is None) != (key is None):
        raise InvalidArgument("ids and key must be given together, got one of them")
    blind = secrets is None and not protocol.reads_secret
    if not blind and protocol.epsilon_known == 0 and not protocol.reads_secret:
        raise InvalidArgument("secrets must be None: the protocol does not read the secret")
    beside = {} if blind else {"secrets": secrets}
    if key is not None:
        beside["ids"] = ids
    for name, column in {**beside, "values": values}.items():
        kind_of(name, column)
    for name, column in beside.items():
        if len(column) != len(values):
            raise InvalidArgument(
                f"{name} and values must have the same length, got {len(column)} and {len(values)}"
            )
        _require_same_rows(name, column, values)
    u = _values(protocol, "values", values)
    s = None if blind else _secrets(protocol, "secrets", secrets)
    read = [u] if s is None else [s, u]
    if key is None:
        faults(*read).refuse("released")
    else:
        people = ids_of("ids", ids)
        faults(*read, people.column).refuse("released")
        require_distinct("ids", [people.identified(None)])
        source = StableDraws.of(protocol, key_of(key)).words(people.items)
    decode(values[:0], u.codes[:0], protocol.outputs)  # fails if the kind of column cannot hold them
    codes = np.zeros_like(u.codes) if s is None else s.codes
    return decode(values, protocol.draw(codes, u.codes, source), protocol.outputs)


def output_for(protocol: Protocol, secret: Any, value: Label | None, word: int | Sequence[int]) -> Label:
    """Return the output that a word stands for; see :meth:`rldp.Protocol.output_for`."""
    given = [word] if protocol.words == 1 else list(word) if isinstance(word, Sequence) else [word]
    if len(given) != protocol.words:
        raise InvalidArgument(f"word must hold {protocol.words} words, one for each column, got {len(given)}")
    integers = [whole_number("word", each, 0, protocol.denominator - 1) for each in given]
    if secret is None and not protocol.reads_secret:
        secret = protocol.secrets[0]
    s, u = _secrets(protocol, "secret", [secret]), _values(protocol, "value", [value])
    for name, index in (("secret", s), ("value", u)):
        if index.codes[0] < 0:  # an entry is personal data, and is not shown
            count = len(index.labels)
            raise DataError(f"{name} must be one of the protocol's {count} {name}s, got another entry")
    left = (np.array([integer << _UNUSED_BITS], dtype=np.uint64) for integer in integers)
    return protocol.outputs[int(protocol.draw(s.codes, u.codes, lambda _: next(left))[0])]


# Reading entries: by the protocol's reading, or as its own labels


def _secrets(protocol: Protocol, name: str, column: Any) -> Encoded:
    reading = protocol.reading
    return _coded(name, column, protocol.secrets, None if reading is None else reading.secret, reading)


def _values(protocol: Protocol, name: str, column: Any) -> Encoded:
    reading = protocol.reading_of_rows
    values = protocol.values if reading is None or not reading.given else reading.values
    return _coded(name, column, values, None if reading is None else reading.row, reading)


def _coded(
    name: str, column: Any, labels: Sequence[Label], wanted: Sequence[Column] | None, reading: Reading | None
) -> Encoded:
    """Return the codes of entries, which are tuples if several columns are one.

    Labels of the protocol stand for themselves, unless they are read otherwise.
    """
    plain = encode(name, column, Alphabet(labels))
    if wanted is None or reading is None:
        return plain
    shown = plain.entries
    if len(wanted) == 1:
        parts = [_read(reading, wanted, 0, name, column)]
    elif not isinstance(labels[0], tuple) and (plain.codes != NOT_A_LABEL).all():
        return plain
    else:
        entries = [
            each if isinstance(each, tuple | list) and len(each) == len(wanted) else None
            for each in listed(column)
        ]
        parts = [
            _read(reading, wanted, i, name, [_NO_LABEL if each is None else each[i] for each in entries])
            for i in range(len(wanted))
        ]

        def shown(rows: NDArray[np.intp]) -> list[object]:
            """Return the first part of an entry that is not a label."""
            return [_at_fault([plain] if entries[row] is None else parts, row) for row in rows.tolist()]

    joint = joint_codes(wanted, [part.codes for part in parts])
    return Encoded(name, np.where(joint < 0, plain.codes, joint), plain.alphabet, shown)


def _at_fault(parts: Sequence[Encoded], row: int) -> object:
    return next((part.entries(np.array([row]))[0] for part in parts if part.codes[row] == NOT_A_LABEL), None)


_NO_LABEL = object()


def _read(reading: Reading, wanted: Sequence[Column], i: int, name: str, column: Any) -> Encoded:
    """Return the codes of a column's entries; missing ones have a code if they are a category."""
    encoded = encode(name, column, alphabet_of(wanted[i]))
    return labelled(reading, encoded, i - len(wanted) if wanted == reading.secret else i)


def _require_same_rows(name: str, column: Any, values: Any) -> None:
    """Refuse two pandas series with different indices: pairing them by position would mix people up."""
    both_pandas = kind_of(name, column) == kind_of("values", values) == "pandas"
    if both_pandas and not column.index.equals(values.index):
        raise InvalidArgument(f"{name} and values must have the same index, got two that differ")
