"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from rldp._common.checks import kind_name, shown
from rldp.errors import DataFileError, InvalidArgument, InvalidArgumentType, RldpError

try:
    import fcntl
except ImportError:  # where files cannot be locked, none is removed
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "appears_as",
    "checked_path",
    "clear_abandoned",
    "growing",
    "growing_folder",
    "new_folder",
    "replacing",
    "require_new_folder",
    "require_other_file",
    "sync",
    "whole",
]

_UNFINISHED = ".unfinished"
_LONGEST = 40  # characters of a target's name in that of its scratch file


@contextmanager
def replacing(
    path: str | PathLike[str],
    *,
    name: str = "path",
    error: type[RldpError] = DataFileError,
    new: bool = False,
) -> Iterator[BinaryIO]:
    """Write a new binary file that replaces ``path`` when the block succeeds.

    Until then, a hidden file beside it, whose name says that it is unfinished, grows, and ``path`` is
    unchanged. Any exception, including an interruption, removes the hidden file. If a process is killed, the
    next one that writes ``path`` removes what it left. A new file has the permissions that the umask leaves.
    A file that replaces another keeps its permissions, and its owner and group where possible.

    Parameters
    ----------
    path : path
        A symbolic link is followed; its target is replaced.
    name : str
        What an error message calls the path.
    error : type of RldpError
        Raised if the file cannot be written, in the block or at its end.
    new : bool
        Whether ``path`` must not exist, neither at first nor when the block ends. Only its owner may then
        read it.
    """
    target = Path(os.path.realpath(checked_path(path, name)))
    if new and os.path.lexists(target):
        raise _exists(name, "file", path)
    with _writable(path, name, error):
        _require_regular(target)
        with whole(target, new=new) as file:
            yield file


def _exists(name: str, kind: str, path: object) -> InvalidArgument:
    return InvalidArgument(f"{name} must be a new {kind}, got {str(path)!r}, which exists")


@contextmanager
def _writable(path: object, name: str, error: type[RldpError]) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise _exists(name, "file", path) from None
    except OSError as failure:
        reason = failure.strerror or failure
        raise error(f"{name} must be writable, but {str(path)!r} is not: {reason}") from failure


@contextmanager
def whole(target: Path, *, scratch_folder: Path | None = None, new: bool = False) -> Iterator[BinaryIO]:
    """Do the same as :func:`replacing` for a checked path, but raise OSError.

    The file grows in ``scratch_folder``, on the same disk; by default beside the target.
    """
    folder = scratch_folder or target.parent
    with growing(folder, target.name, private=new or target.exists()) as (file, scratch):
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        if new:
            _take_name(scratch, target)
            sync(target.parent)
            return
        if target.exists():
            _take_permissions(scratch, target.stat())
        os.replace(scratch, target)


def _take_name(scratch: Path, target: Path) -> None:
    """Give a file a name that no other file has. Without hard links, check for the name just before."""
    try:
        os.link(scratch, target)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        scratch.rename(target)


@contextmanager
def new_folder(path: str | PathLike[str], *, name: str = "path") -> Iterator[Path]:
    """Fill a hidden folder that becomes ``path`` when the block succeeds.

    ``path`` must not exist. Any exception removes the hidden folder and its content. If a process is killed,
    the next one that writes ``path`` removes what it left.
    """
    target = Path(os.path.realpath(checked_path(path, name)))
    require_new_folder(target, name)
    with _writable(path, name, DataFileError), growing_folder(target.parent, target.name) as scratch:
        yield scratch
        for folder, _, files in os.walk(scratch):
            for each in [folder, *(str(Path(folder) / file) for file in files)]:
                sync(each)
        scratch.rename(target)
        sync(target.parent)


def require_new_folder(target: Path, name: str = "path") -> None:
    """Refuse a folder that exists: it could not be replaced in one step."""
    if os.path.lexists(target):
        raise _exists(name, "folder", target)


def sync(path: str | Path) -> None:
    """Flush a file or folder to disk; some systems cannot open folders."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _take_permissions(scratch: Path, replaced: os.stat_result) -> None:
    """Set the permissions of the replaced file, without those of a group that cannot be kept."""
    mode = stat.S_IMODE(replaced.st_mode) & 0o777
    if hasattr(os, "chown"):
        try:
            os.chown(scratch, replaced.st_uid, replaced.st_gid)
        except OSError:
            try:
                os.chown(scratch, -1, replaced.st_gid)
            except OSError:
                mode &= ~0o070
    os.chmod(scratch, mode)


def checked_path(path: str | PathLike[str], name: str = "path") -> Path:
    """Return ``path`` as a path, if it is one."""
    if not isinstance(path, str | PathLike):
        given = kind_name(path) if isinstance(path, Collection) else shown(path)  # it may hold rows
        raise InvalidArgumentType(f"{name} must be a path, got {given}")
    if "\0" in str(path):
        raise InvalidArgument(f"{name} must not hold a null character, got {shown(path)}")
    return Path(path)


def appears_as(grown: os.stat_result, target: Path) -> Callable[[], bool]:
    """Return a function that tells whether this file or folder is at ``target``; true if unsure."""

    def appeared() -> bool:
        try:
            return os.path.samestat(grown, target.stat())
        except FileNotFoundError:
            return False
        except OSError:
            return True

    return appeared


def require_other_file(output: Path, path: Path, what: str, name: str = "output") -> None:
    """Refuse to overwrite a file that is still needed or will be written."""
    try:
        same = output.samefile(path)
    except OSError:  # one of them does not exist
        same = os.path.realpath(output) == os.path.realpath(path)
    if same:
        raise InvalidArgument(f"{name} must be another file than {what}, got {str(output)!r}")


def _require_regular(target: Path) -> None:
    """Refuse to replace a device or a pipe, which would be lost."""
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        kind = "a folder" if target.is_dir() else "a device or pipe"
        raise OSError(None, f"it is {kind}")


# Unfinished files: locked while they grow, removed if their writer was killed


@contextmanager
def growing(folder: Path, name: str, *, private: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """Make a hidden file in ``folder`` for a target called ``name``; yield it and its path.

    It is locked until the block ends, and then removed if it still exists; first, files that killed processes
    left for that target are removed. Its permissions are those of a new file under the umask; if ``private``,
    only its owner may read and write it.
    """
    clear_abandoned(folder, name)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = _scratch_path(folder, name)
        lock = None
        try:  # set before the file exists: an interruption may come while the system creates it
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
def growing_folder(folder: Path, name: str) -> Iterator[Path]:
    """Make a hidden folder in ``folder`` for a target called ``name``, as :func:`growing` does for files."""
    clear_abandoned(folder, name, folders=True)
    while True:
        path = _scratch_path(folder, name)
        lock, claimed = None, False
        try:
            path.mkdir()
            with suppress(FileNotFoundError):  # removed before it was locked
                lock = os.open(path, os.O_RDONLY) if fcntl else None
                claimed = lock is None or _claimed(lock)
            if claimed:
                yield path
                return
        finally:
            shutil.rmtree(path, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _scratch_path(folder: Path, name: str) -> Path:
    return folder / f".{name[:_LONGEST]}.{secrets.token_hex(8)}{_UNFINISHED}"


def clear_abandoned(folder: Path, name: str, *, folders: bool = False) -> None:
    """Remove scratch files or folders for ``name`` that no process is writing any more.

    A killed process cannot remove its file, but its lock ends with it. Locked files stay, and so does
    everything that is not a regular file or folder with exactly a name that we give.
    """
    if fcntl is None:
        return
    ours = re.compile(rf"\.{re.escape(name[:_LONGEST])}\.[0-9a-f]{{16}}{re.escape(_UNFINISHED)}")
    with suppress(OSError):  # a folder that may be written but not listed
        for path in folder.iterdir():
            if ours.fullmatch(path.name):
                with suppress(OSError):  # locked, gone by now, or not ours
                    _remove_unlocked(path, os.O_DIRECTORY if folders else os.O_RDWR)


def _claimed(handle: int) -> bool:
    """Lock a file that was just made; return False if another process removed it before it was locked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where no file is removed either
        return True
    return os.fstat(handle).st_nlink > 0


def _remove_unlocked(path: Path, access: int) -> None:
    """Remove a file or a folder; raise OSError if another process holds its lock."""
    handle = os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(handle)
        if not os.path.samestat(status, os.lstat(path)):
            raise FileNotFoundError(path)
        if stat.S_ISDIR(status.st_mode):
            shutil.rmtree(path)
        elif stat.S_ISREG(status.st_mode):
            path.unlink()
    finally:
        os.close(handle)
