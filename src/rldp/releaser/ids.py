"""Identifiers of people as texts that are the same in every file, frame and client.

An identifier is a text or a whole number. A text is normalised to Unicode's form NFC and stripped of blanks
(space, tab, carriage return, line feed) at both ends. A whole number is read as the text of its decimal
digits: entries of a CSV file have no type, and a person must be the same in every kind of file. The result
must not be empty.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.canonical import encoded_text
from rldp.data.columns import kind_of, listed
from rldp.data.labels import Alphabet, Encoded
from rldp.errors import DataError

__all__ = ["Identified", "Ids", "ids_of", "repeated_people", "require_distinct"]

_BLANKS = " \t\r\n"
_NEEDED = "texts or whole numbers that identify people"
_NO_LABELS = Alphabet(())


@dataclass(frozen=True, eq=False)
class Identified:
    """The people of some rows, as digests of 128 bits.

    Attributes
    ----------
    digests : uint64 array (m, 2)
        Digests of the used rows.
    used : bool array (n,) or None
        The used rows; None if all are used.
    """

    digests: NDArray[np.uint64]
    used: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class Ids:
    """The identifiers of some rows.

    Attributes
    ----------
    column : Encoded
        0 if the entry is an identifier, else −1: this finds unusable rows.
    items : list of bytes
        Each identifier in its canonical encoding (:mod:`rldp._common.canonical`).
    """

    column: Encoded
    items: list[bytes]

    def among(self, used: NDArray[np.bool_] | None) -> list[bytes]:
        """Return the identifiers of the used rows."""
        return self.items if used is None else list(compress(self.items, used.tolist()))

    def identified(self, used: NDArray[np.bool_] | None) -> Identified:
        """Return the people of the used rows."""
        digests = b"".join([blake2b(item, digest_size=16).digest() for item in self.among(used)])
        return Identified(np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2), used)


def ids_of(name: str, column: Any) -> Ids:
    """Return the identifiers in a column of any kind; ``name`` is its name in messages."""
    kind_of(name, column)
    entries = listed(column)
    items = _items(entries)
    codes = np.fromiter((-1 if item is None else 0 for item in items), np.int32, len(items))
    encoded = Encoded(name, codes, _NO_LABELS, lambda rows: [entries[row] for row in rows.tolist()], _NEEDED)
    return Ids(encoded, [b"" if item is None else item for item in items])


def _items(entries: Sequence[Any]) -> Sequence[bytes | None]:
    """Return the encoding of each entry's identifier; None for other entries."""
    kinds = set(map(type, entries))
    if kinds == {int}:
        return list(map(encoded_text, map(str, entries)))
    if kinds == {str} and all(map(str.isascii, entries)):
        stripped = list(map(str.strip, entries, repeat(_BLANKS)))
        if all(stripped):
            return [b"s%d:%b" % (len(text), text.encode("ascii")) for text in stripped]
    return list(map(_item, entries))


def _item(entry: Any) -> bytes | None:
    if isinstance(entry, np.integer):
        entry = int(entry)
    if type(entry) is int:
        return encoded_text(str(entry))
    if not isinstance(entry, str):
        return None
    text = unicodedata.normalize("NFC", entry).strip(_BLANKS)
    try:
        return encoded_text(text) if text else None
    except UnicodeEncodeError:  # half of a pair of surrogates
        return None


def require_distinct(column: str, parts: Sequence[Identified]) -> None:
    """Refuse two rows of one person, without naming the person, in the parts of a table.

    ``column`` is its name in messages.

    Raises
    ------
    DataError
        With the number of the first such row, from 1, and the number of such rows.
    """
    if not parts:
        return
    digests = np.concatenate([part.digests for part in parts])
    order = np.lexsort(digests.T)  # stable: a person's first row stays first
    same = (digests[order[1:]] == digests[order[:-1]]).all(axis=1)
    repeated = order[1:][same]
    if len(repeated):
        all_used = (np.full(len(part.digests), True) if part.used is None else part.used for part in parts)
        used = np.concatenate(list(all_used))
        number = np.flatnonzero(used)[repeated.min()] + 1
        raise repeated_people(column, f"row {number} has", len(repeated), len(used))


def repeated_people(column: str, which: str, repeated: int, total: int) -> DataError:
    """Word the error about two rows of one person, without naming the person."""
    return DataError(
        f"column {column!r} must identify people, each in one row, but {which} the entry of an earlier row; "
        f"{repeated} of {total} rows do"
    )
