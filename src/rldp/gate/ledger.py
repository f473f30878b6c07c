"""The ledger: a file of earlier releases, one line of JSON each.

It records releases and nothing about people: the input (by its digest), the protocol, the promise, the
columns and the number of rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

from rldp.data.atomic import appears_as, checked_path, sync
from rldp.errors import FileError
from rldp.gate.lines import Line, require_no_second_draw

try:
    import fcntl
except ImportError:  # without file locks, only one process may write at a time
    fcntl = None  # type: ignore[assignment]

__all__ = ["read_ledger", "recording"]

FORMAT, VERSION = "rldp-ledger", 1

_KINDS: dict[Any, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, type(None)),
    "tuple[str, ...]": (list,),
    "int": (int,),
    "float | None": (int, float, type(None)),
    "bool": (bool,),
}
"""The types in JSON of a field, by its annotation."""


def read_ledger(path: str | PathLike[str]) -> tuple[Line, ...]:
    """Read the releases in a ledger, in order.

    Raises
    ------
    FileError
        If the ledger cannot be read, is damaged, or is not a ledger of a known version.
    """
    file = checked_path(path, "ledger")
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            f"ledger must be a file that can be read, but {str(path)!r} is not: {reason}"
        ) from None
    return _lines(content, file)


def _never() -> bool:
    return False


@contextmanager
def recording(path: Path, line: Line, appeared: Callable[[], bool] = _never) -> Iterator[None]:
    """Add a line to the ledger if the block, in which the release appears, succeeds.

    The ledger is locked before it is read and until the block ends, so that of two concurrent releases of one
    input one sees the other. The line is written to disk before the release appears: a killed process leaves
    one release too many in the ledger, never one too few.

    Parameters
    ----------
    path : Path
    line : Line
    appeared : callable
        If the block fails, tells whether the release appeared all the same. If not, the line is removed.

    Raises
    ------
    DataError
        If the input was released before, and the release neither repeats the same draw, nor was designed
        after it, nor is meant (``line.again``).
    FileError
        If the ledger cannot be read or written.
    """
    with _locked(path) as handle:
        with _of_ledger(path), open(handle, "rb", closefd=False) as file:
            content = file.read()
        if not line.again:
            require_no_second_draw(_lines(content, path), line, path)
        try:
            with _of_ledger(path):
                _write(handle, _text(line))
                if not content:  # a new ledger must outlast a power cut, too
                    sync(Path(os.path.realpath(path)).parent)
            yield
        except BaseException:
            if not appeared():
                with _of_ledger(path):
                    os.ftruncate(handle, len(content))
                    os.fsync(handle)
            raise


@contextmanager
def _of_ledger(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"ledger must be writable, but {str(path)!r} is not: {reason}") from error


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file, creating it for its owner alone if needed, with an exclusive lock."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    while True:
        with _of_ledger(path):
            handle = os.open(path, flags, 0o600)
        try:
            with _of_ledger(path):
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX)
                if not appears_as(os.fstat(handle), path)():
                    continue  # it was removed or replaced before it was locked
            yield handle
            return
        finally:
            os.close(handle)


def _write(handle: int, text: bytes) -> None:
    """Write all of a text to disk: without a buffer, nothing is left to be written later."""
    while text:
        text = text[os.write(handle, text) :]
    os.fsync(handle)


def _text(line: Line) -> bytes:
    document = {"format": FORMAT, "version": VERSION, **asdict(line)}
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def _lines(content: bytes, path: Path) -> tuple[Line, ...]:
    *whole, rest = content.split(b"\n")
    if rest:
        raise FileError(f"ledger {str(path)!r} must end with a whole line, but its last line is cut off")
    needed = f"ledger {str(path)!r} must hold a release in each line, but line"
    return tuple(_line(text, f"{needed} {number}") for number, text in enumerate(whole, 1))


def _line(text: bytes, needed: str) -> Line:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise FileError(f"{needed} is damaged or something else")
    if document.pop("version", None) != VERSION:
        raise FileError(f"{needed} is of another version")
    kinds = {field.name: _KINDS[field.type] for field in fields(Line)}
    if document.keys() != kinds.keys() or not all(_is_of(document[key], kinds[key]) for key in kinds):
        raise FileError(f"{needed} is damaged")
    given: dict[str, Any] = {k: tuple(x) if isinstance(x, list) else x for k, x in document.items()}
    return Line(**given)


def _is_of(item: Any, kinds: tuple[type, ...]) -> bool:
    return type(item) in kinds and (not isinstance(item, list) or all(isinstance(each, str) for each in item))
