"""Open CSV files as UTF-8, follow their quotes, and parse them with Arrow.

A quote that is never closed makes one entry of everything below it, and Arrow does not report it: three rows
become one. Nor does it report text after a closing quote, which shows that a quote closed another one by
mistake. A quote opens an entry only at the entry's beginning; elsewhere it is an ordinary character.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.data import arrow
from rldp.data.sources import Source
from rldp.errors import DataFileError

__all__ = ["NULLS", "CsvFile", "Quotes", "head", "open_csv", "read_csv"]

NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]
_BYTES = 2**20  # in one part
_HEAD = 2**14  # bytes that show what kind of file it is
_QUOTE = ord('"')
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
        self.open = False  # whether a quoted entry is open
        self._opened = 0  # the line of the quote that is open
        self._lines = 0  # ended so far
        self._last = ord("\n")
        self._begun = False
        self._held = b""  # quotes at the end of a piece, until it is known what follows

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
        if self.open and self.trouble is None:
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
        opening = (np.arange(len(places)) % 2 == 0) != self.open
        if not self._beside[before[opening]].all():
            return False
        astray = ~opening & ~self._beside[after]
        if astray.any():
            self._refuse(content, int(places[astray][0]))
            return True
        first = places[opening & (before != _QUOTE)]
        if len(first):
            self._opened = self._line(content, int(first[-1]))
        self.open ^= len(places) % 2 == 1
        return True

    def _one_by_one(self, content: bytes, places: NDArray[np.int64], before: _Bytes, after: _Bytes) -> None:
        doubled = opened = -1
        for place, left, right in zip(places.tolist(), before.tolist(), after.tolist(), strict=True):
            if place == doubled:
                continue
            if not self.open:
                if self._ends[left]:
                    self.open, opened = True, place
            elif right == _QUOTE:
                doubled = place + 1
            else:
                self.open = False
                if not self._ends[right]:
                    self._refuse(content, place)
                    return
        if opened >= 0:
            self._opened = self._line(content, opened)

    def _refuse(self, content: bytes, place: int) -> None:
        self.trouble = f"the quote that closes on line {self._line(content, place)} is followed by text"

    def _line(self, content: bytes, place: int) -> int:
        return self._lines + content.count(b"\n", 0, place) + 1


class CsvFile(io.RawIOBase):
    """A CSV file as UTF-8, from its first entry on; its quotes are followed while it is read."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        raw = arrow.OSFile(str(source.path))
        file = raw if source.codec is None else arrow.CompressedInputStream(raw, source.codec)
        if source.dialect.encoding is not None:
            file = arrow.transcoding_input_stream(file, source.dialect.encoding, "utf-8")
        self._source, self._file = source, file
        self._quotes = Quotes(source.dialect.delimiter or ",")
        self._begun = self._ended = False
        self.position: Callable[[], int] = raw.tell
        """Return how many bytes of the file on disk have been read."""

    @contextmanager
    def parsed(self) -> Iterator[None]:
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
                while self._quotes.open and self.read(_BYTES):
                    pass  # an entry without end may be what was too much: see whether it has one
            self._require_order()
            raise
        self._require_order()

    def _require_order(self) -> None:
        if self._quotes.trouble is not None:
            raise DataFileError(f"{self._source} must be a CSV table, but {self._quotes.trouble}")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._followed(size)
        while piece and not self._begun:  # Arrow would skip the first empty line in place of the names
            piece = piece.removeprefix(_MARK).lstrip(b"\r\n")
            self._begun = bool(piece)
            piece = piece or self._followed(size)
        return piece

    def _followed(self, size: int) -> bytes:
        piece: bytes = self._file.read(None if size < 0 else size)
        if piece:
            self._quotes.feed(piece)
        if not self._ended and (size < 0 or (size > 0 and not piece)):
            self._ended = True
            self._quotes.end()
        return piece


def head(source: Source) -> bytes:
    """Return the first bytes of a CSV file."""
    return CsvFile(source).read(_HEAD)


def read_csv(source: Source, types: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the columns in ``types`` as a table; see :func:`open_csv`."""
    return _parsed(arrow.csv.read_csv, CsvFile(source), source, types, names)


def open_csv(
    source: Source,
    types: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    nulls: Sequence[str] = NULLS,
) -> tuple[Any, CsvFile]:
    """Return a stream of the columns in ``types``, of all columns if None, and the file it reads.

    A quoted entry is never null and may contain line breaks. ``names`` stand for those in the first line.
    """
    file = CsvFile(source)
    block = {"block_size": _BYTES, "use_threads": False}  # threads would read ahead
    return _parsed(arrow.csv.open_csv, file, source, types, names, nulls, **block), file


def _parsed(
    read: Callable[..., Any],
    file: CsvFile,
    source: Source,
    types: Mapping[str, Any] | None,
    names: Sequence[str] | None,
    nulls: Sequence[str] = NULLS,
    **options: Any,
) -> Any:
    if names is not None:
        options |= {"column_names": names, "skip_rows_after_names": 1}
    with file.parsed():
        return read(
            file,
            read_options=arrow.csv.ReadOptions(**options),
            parse_options=arrow.csv.ParseOptions(
                delimiter=source.dialect.delimiter or ",", newlines_in_values=True
            ),
            convert_options=arrow.csv.ConvertOptions(
                include_columns=None if types is None else list(types),
                column_types=types,
                null_values=nulls,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
