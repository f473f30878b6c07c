"""Unfinished files and folders: locked while they grow, cleared away when who wrote them is gone."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # where files cannot be locked, nothing is cleared away
    fcntl = None  # type: ignore[assignment]

__all__ = ["clear_abandoned", "growing", "growing_folder"]

_UNFINISHED = ".unfinished"
_LONGEST = 40  # characters of a target's name in that of its scratch file


@contextmanager
def growing(folder: Path, name: str, *, private: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """A new hidden file in ``folder`` for a target called ``name``, and its path.

    It is locked until the block ends, and then taken away if it is still there. Its permissions are
    those of a new file under the umask; if ``private``, its owner alone may read and write it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = _scratch_path(folder, name)
        lock = None
        try:  # from before there is a file: an interruption may come while the system makes it
            with os.fdopen(os.open(path, flags, 0o600 if private else 0o666), "w+b") as file:
                if _claimed(file.fileno()):
                    lock = os.dup(file.fileno()) if fcntl else None  # outlasts the file object
                    yield file, path
                    return
        finally:
            path.unlink(missing_ok=True)
            if lock is not None:
                os.close(lock)


@contextmanager
def growing_folder(folder: Path, name: str) -> Iterator[tuple[Path, int | None]]:
    """A new hidden folder in ``folder`` for a target called ``name``, and the handle that locks it, if any.

    As :func:`growing`. A process that inherits the handle keeps the folder locked until it ends, too.
    """
    while True:
        path = _scratch_path(folder, name)
        lock, claimed = None, False
        try:
            path.mkdir()
            with suppress(FileNotFoundError):  # cleared away before the lock was there
                lock = os.open(path, os.O_RDONLY) if fcntl else None
                claimed = lock is None or _claimed(lock)
            if claimed:
                yield path, lock
                return
        finally:
            shutil.rmtree(path, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _scratch_path(folder: Path, name: str) -> Path:
    return folder / f".{name[:_LONGEST]}.{secrets.token_hex(8)}{_UNFINISHED}"


def clear_abandoned(folder: Path, name: str, *, folders: bool = False) -> None:
    """Take away the scratch files, or folders, for ``name`` that no process is writing any more.

    A process that is killed cannot take its file away, but its lock goes with it. What is locked stays,
    as does whatever is no regular file, or no folder, of ours with just the name that we give.
    """
    if fcntl is None:
        return
    ours = re.compile(rf"\.{re.escape(name[:_LONGEST])}\.[0-9a-f]{{16}}{re.escape(_UNFINISHED)}")
    remove = _remove_unlocked_folder if folders else _remove_unlocked
    with suppress(OSError):  # a folder that may be written but not listed
        for found in folder.iterdir():
            if ours.fullmatch(found.name):
                with suppress(OSError):  # locked, gone by now, or not ours
                    remove(found)


def _claimed(handle: int) -> bool:
    """Lock a file that was just made; False if someone cleared it away before the lock was there."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is cleared away either
        return True
    return os.fstat(handle).st_nlink > 0


def _remove_unlocked(path: Path) -> None:
    with _locked(path, os.O_RDWR) as status:
        if stat.S_ISREG(status.st_mode):
            path.unlink()


def _remove_unlocked_folder(path: Path) -> None:
    with _locked(path, os.O_RDONLY | os.O_DIRECTORY):
        shutil.rmtree(path)


@contextmanager
def _locked(path: Path, access: int) -> Iterator[os.stat_result]:
    """What is at ``path``, locked while the block runs; OSError if another process holds the lock."""
    handle = os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(handle)
        if not os.path.samestat(status, os.lstat(path)):
            raise FileNotFoundError(path)
        yield status
    finally:
        os.close(handle)
