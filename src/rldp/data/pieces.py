"""Pieces of columns: the few forms in which entries come, each with its labels and its codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rldp.data.labels import MOST_LABELS, NOT_A_LABEL, Alphabet, Codes, is_label

__all__ = [
    "Array",
    "ArrowText",
    "NoLabels",
    "Objects",
    "Piece",
    "Places",
    "numbered",
    "places_of",
    "taken",
]

_BLOCK = 2**15
_DENSE = 2**22  # integers that span less than this are found by counting


class Piece(Protocol):
    """Some rows of a column."""

    def codes(self, alphabet: Alphabet) -> Codes:
        """The place of every entry in an alphabet, −1 where it has none."""

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        """Every label in it at least once, perhaps with other entries, and the rows, ready to be coded."""


@dataclass(frozen=True, eq=False)
class Objects:
    """Python objects."""

    items: Sequence[Any]

    def codes(self, alphabet: Alphabet) -> Codes:
        return alphabet.of_objects(self.items)

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        if all(map(is_label, set(map(type, self.items)))):
            return dict.fromkeys(self.items), self
        # What is no label may equal one, as Decimal(1) does, and must not stand for it.
        return dict.fromkeys(item for item in self.items if is_label(type(item))), self


@dataclass(frozen=True, eq=False)
class Array:
    """Booleans, integers, floats of at most 64 bits or text of fixed width; ``missing``: a mask or None."""

    entries: NDArray[Any]
    missing: NDArray[np.bool_] | None = None

    def codes(self, alphabet: Alphabet) -> Codes:
        codes = alphabet.of_array(self.entries)
        if self.missing is not None:
            codes[self.missing] = NOT_A_LABEL
        return codes

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        return _distinct(self.entries if self.missing is None else self.entries[~self.missing]), self


@dataclass(frozen=True, eq=False)
class Places:
    """Places in a list of entries; −1 where there is none."""

    places: NDArray[np.integer]
    entries: Sequence[Any]

    def codes(self, alphabet: Alphabet) -> Codes:
        return taken(alphabet.of_objects(self.entries), self.places)

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        return [self.entries[place] for place in _distinct(self.places) if place >= 0], self


@dataclass(frozen=True, eq=False)
class ArrowText:
    """Arrow strings."""

    chunk: Any

    def codes(self, alphabet: Alphabet) -> Codes:
        import pyarrow
        import pyarrow.compute

        texts = [label for label in alphabet.labels if isinstance(label, str)]
        known = pyarrow.array(texts, self.chunk.type)
        places = pyarrow.compute.index_in(self.chunk, value_set=known)
        return taken(alphabet.of_objects(texts), places_of(places))

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        places = numbered(self.chunk)
        return places.entries, places


@dataclass(frozen=True, eq=False)
class NoLabels:
    """Rows of a type that no label has."""

    rows: int

    def codes(self, alphabet: Alphabet) -> Codes:
        return np.full(self.rows, NOT_A_LABEL, dtype=np.int32)

    def with_labels(self) -> tuple[Iterable[object], Piece]:
        return (), self


def numbered(chunk: Any) -> Places:
    """An Arrow array as places in the list of its distinct entries."""
    encoded = chunk.dictionary_encode()
    return Places(places_of(encoded.indices), encoded.dictionary.to_pylist())


def places_of(indices: Any) -> NDArray[np.integer]:
    """Arrow indices as an array, −1 where there is none."""
    if indices.null_count:
        indices = indices.cast("int64").fill_null(-1)
    places: NDArray[np.integer] = indices.to_numpy()
    return places


def taken(table: Codes, places: NDArray[np.integer]) -> Codes:
    """``table`` at ``places``; at −1 there is no label."""
    codes: Codes = np.append(table, np.int32(NOT_A_LABEL))[places]
    return codes


def _distinct(entries: NDArray[Any]) -> list[Any]:
    """Every label of an array at least once: what an alphabet does not know yet is added, block by block."""
    if entries.dtype.kind == "f":
        entries = entries if np.isfinite(entries).all() else entries[np.isfinite(entries)]
    if entries.dtype.kind in "iu" and entries.size:
        least, most = int(entries.min()), int(entries.max())
        if most - least < _DENSE and most < 2**63:
            counts = np.bincount(entries.astype(np.int64) - least)
            return [least + step for step in np.flatnonzero(counts).tolist()]
    found: list[Any] = []
    find = Alphabet(found).finder(entries.dtype)
    for start in range(0, len(entries), _BLOCK):
        block = entries[start : start + _BLOCK]
        new = block[find(block) < 0]
        if new.size:
            found += np.unique(new).tolist()
            if len(found) > MOST_LABELS:  # too many, whose number is asked for
                everything: list[Any] = np.unique(entries).tolist()
                return everything
            find = Alphabet(found).finder(entries.dtype)
    return found
