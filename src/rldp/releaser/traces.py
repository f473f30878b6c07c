"""Evidence that two inputs are about the same people: digests of columns in the order of their rows.

Labels are digested, not entries, so a frame and a file of the same rows have the same digest. The traces of
two parts add up to the trace of both, however the rows are divided and whichever process reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import add

import numpy as np
from numpy.typing import NDArray

from rldp._common.canonical import Item, digest_of, encoded
from rldp._common.checks import Label
from rldp.data.labels import Codes
from rldp.releaser.ids import Identified

__all__ = ["Trace", "Traces", "people_in", "trace_of"]

_PRIME = 2**128 - 159
_LANE = 2**64


@dataclass(frozen=True)
class Trace:
    """The entries of a column, in the order of its rows.

    Attributes
    ----------
    rows : int
    number : int
        Σ h(entry i)·2^(64(rows − i)), modulo a prime of 128 bits, with random-like h.
    least, most : int
        Of the numbers h: equal if and only if all entries are the same.
    """

    rows: int
    number: int
    least: int
    most: int

    def __add__(self, other: Trace) -> Trace:
        shifted = self.number * pow(_LANE, other.rows, _PRIME) + other.number
        least, most = min(self.least, other.least), max(self.most, other.most)
        return Trace(self.rows + other.rows, shifted % _PRIME, least, most)

    @property
    def varies(self) -> bool:
        """Whether two entries differ; if not, columns of different people may be equal."""
        return self.least < self.most

    @property
    def digest(self) -> str:
        """SHA-256 of the trace; the number itself could be solved for a few unknown entries."""
        return digest_of(["rldp-rows-1", self.rows, str(self.number)]).hex()


@dataclass(frozen=True)
class Traces:
    """The traces of some rows.

    Attributes
    ----------
    read : tuple of Trace
        Of the columns that were read, in the order of the reading's names.
    released : tuple of Trace
        Of the drawn columns; a row that is left out has no entry.
    people : tuple of int
        Sums of digests of the people, two, and of the people with their secrets, two; they do not depend on
        the order. Empty without identifiers.
    """

    read: tuple[Trace, ...]
    released: tuple[Trace, ...]
    people: tuple[int, ...]

    def __add__(self, other: Traces) -> Traces:
        people = tuple((a + b) % _LANE for a, b in zip(self.people, other.people, strict=True))
        return Traces(
            tuple(map(add, self.read, other.read)), tuple(map(add, self.released, other.released)), people
        )


def trace_of(labels: Sequence[Label], codes: Codes, used: NDArray[np.bool_] | None = None) -> Trace:
    """Return the trace of a column of labels; a negative code is not an entry.

    Parameters
    ----------
    labels : sequence of labels
    codes : int32 array
    used : bool array, optional
        The rows that the codes belong to; by default all.

    Examples
    --------
    >>> codes = np.array([0, 1, 1, -1], dtype=np.int32)
    >>> whole = trace_of(["f", "m"], codes)
    >>> whole == trace_of(["f", "m"], codes[:1]) + trace_of(["m", "f"], np.array([0, 0, -1]))
    True
    """
    if used is not None:
        whole = np.full(len(used), -1, dtype=np.int32)
        whole[used] = codes
        codes = whole
    hashes = _hashes(labels)[np.maximum(codes, -1)]
    number = int.from_bytes(hashes.astype(">u8").tobytes(), "big") % _PRIME
    least, most = (int(hashes.min()), int(hashes.max())) if len(hashes) else (_LANE, -1)
    return Trace(len(hashes), number, least, most)


def people_in(ids: Identified, secrets: Sequence[Label], codes: Codes) -> tuple[int, ...]:
    """Return sums of digests of the people, alone and with their secrets, independent of the order."""
    mixed = ids.digests ^ _hashes(secrets)[codes][:, None]
    return tuple(np.hstack([ids.digests, mixed]).sum(axis=0, dtype=np.uint64).tolist())


def _hashes(labels: Sequence[Label]) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each label, and a last one for no entry."""
    encodings = [*(encoded(_as_text(label)) for label in labels), encoded(None)]
    numbers = [int.from_bytes(blake2b(each, digest_size=8).digest(), "big") for each in encodings]
    return np.array(numbers, dtype=np.uint64)


def _as_text(label: Label) -> Item:
    """Return the same for a number and for the text of its digits: a table may hold either."""
    if isinstance(label, tuple):
        return [_as_text(entry) for entry in label]
    if isinstance(label, str) or (isinstance(label, float) and not label.is_integer()):
        return str(label)
    return str(int(label))
