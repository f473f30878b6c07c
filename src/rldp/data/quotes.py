"""Follow the quotes of a CSV file while it is read.

A quote that is never closed makes one entry of everything below it, and the parser does not report it: three
rows become one. Nor does it report text after a closing quote, which shows that a quote closed another one by
mistake. A quote opens an entry only at the entry's beginning; elsewhere it is an ordinary character.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.errors import DataFileError

__all__ = ["Quotes", "Watched"]

_QUOTE = ord('"')
_ENOUGH = 2**20
_MARK = b"\xef\xbb\xbf"
_Bytes = NDArray[np.uint8]


def _among(letters: bytes) -> NDArray[np.bool_]:
    table = np.zeros(256, dtype=bool)
    table[list(letters)] = True
    return table


class Quotes:
    """Check whether quotes are balanced; ``trouble`` says what is wrong, or is None.

    Parameters
    ----------
    delimiter : str
        The character between two entries.

    Examples
    --------
    >>> quotes = Quotes()
    >>> quotes.feed(b'a,b' + bytes([10]) + b'1,"2')
    >>> quotes.end()
    >>> quotes.trouble
    'the quote that opens on line 2 is never closed'
    """

    def __init__(self, delimiter: str = ",") -> None:
        self.trouble: str | None = None
        ends = delimiter.encode() + b"\n\r"
        self._ends = _among(ends)
        self._beside = _among(ends + b'"')  # a quote beside it: the two stand for one in an entry
        self._inside = False
        self._opened = 0  # the line of the quote that is open
        self._lines = 0  # ended so far
        self._last = ord("\n")
        self._begun = False
        self._held = b""  # quotes at the end of a piece, until it is known what follows

    @property
    def open(self) -> bool:
        """Whether a quoted entry is open."""
        return self._inside

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the file."""
        content = self._held + piece
        if not self._begun:
            if _MARK.startswith(content[:3]) and len(content) < 3:
                self._held = content
                return
            self._begun, content = True, content.removeprefix(_MARK)
        settled = content.rstrip(b'"')
        self._held = content[len(settled) :]
        self._follow(settled)

    def end(self) -> None:
        """Take note of the end of the file."""
        self._follow(self._held)
        if self._inside and self.trouble is None:
            self.trouble = f"the quote that opens on line {self._opened} is never closed"

    def _follow(self, content: bytes) -> None:
        if not content or self.trouble is not None:
            return
        if b'"' in content:
            letters = np.frombuffer(content, dtype=np.uint8)
            places = np.flatnonzero(letters == _QUOTE)
            before = np.where(places > 0, letters[places - 1], self._last)
            after = np.where(places + 1 < len(letters), letters[(places + 1) % len(letters)], ord("\n"))
            if not self._all_in_turn(content, places, before, after):
                self._one_by_one(content, places, before, after)
        self._lines += content.count(b"\n")
        self._last = content[-1]

    def _all_in_turn(self, content: bytes, places: NDArray[np.int64], before: _Bytes, after: _Bytes) -> bool:
        """Match opening and closing quotes; return False, and decide nothing, if one is neither."""
        opening = (np.arange(len(places)) % 2 == 0) != self._inside
        if not self._beside[before[opening]].all():
            return False
        astray = ~opening & ~self._beside[after]
        if astray.any():
            self._refuse(content, int(places[astray][0]))
            return True
        first = places[opening & (before != _QUOTE)]
        if len(first):
            self._opened = self._line(content, int(first[-1]))
        self._inside ^= len(places) % 2 == 1
        return True

    def _one_by_one(self, content: bytes, places: NDArray[np.int64], before: _Bytes, after: _Bytes) -> None:
        doubled = opened = -1
        for place, left, right in zip(places.tolist(), before.tolist(), after.tolist(), strict=True):
            if place == doubled:
                continue
            if not self._inside:
                if self._ends[left]:
                    self._inside, opened = True, place
            elif right == _QUOTE:
                doubled = place + 1
            else:
                self._inside = False
                if not self._ends[right]:
                    self._refuse(content, place)
                    return
        if opened >= 0:
            self._opened = self._line(content, opened)

    def _refuse(self, content: bytes, place: int) -> None:
        self.trouble = f"the quote that closes on line {self._line(content, place)} is followed by text"

    def _line(self, content: bytes, place: int) -> int:
        return self._lines + content.count(b"\n", 0, place) + 1


class Watched(io.RawIOBase):
    """A file whose quotes are followed while it is read."""

    def __init__(self, file: Any, delimiter: str = ",") -> None:
        super().__init__()
        self._file = file
        self._quotes = Quotes(delimiter)
        self._ended = False

    @contextmanager
    def parsed(self, path: object) -> Iterator[None]:
        """Parse the file in the block, and report unbalanced quotes instead of other errors.

        Raises
        ------
        DataError
            Instead of whatever else the block raises because of such quotes.
        """
        try:
            yield
        except Exception:
            with suppress(Exception):
                while self._quotes.open and self.read(_ENOUGH):
                    pass  # an entry without end may be what was too much: see whether it has one
            self._require_order(path)
            raise
        self._require_order(path)

    def _require_order(self, path: object) -> None:
        if self._quotes.trouble is not None:
            raise DataFileError(f"{path} must be a CSV table, but {self._quotes.trouble}")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self._file.read(None if size < 0 else size)
        if piece:
            self._quotes.feed(piece)
        if not self._ended and (size < 0 or (size > 0 and not piece)):
            self._ended = True
            self._quotes.end()
        return piece
