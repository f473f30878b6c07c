"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from rldp._checks import shown
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType, RldpError

__all__ = ["checked_path", "replacing", "require_other_file", "whole"]

_UNFINISHED = ".unfinished"


@contextmanager
def replacing(
    path: str | PathLike[str], *, name: str = "path", error: type[RldpError] = DataError
) -> Iterator[BinaryIO]:
    """A new binary file that takes the place of ``path`` when the block ends well.

    Until then it is a hidden file beside it whose name says that it is unfinished, and ``path`` is what
    it was. Any exception, an interruption too, takes the hidden file away; a killed process leaves it.

    Parameters
    ----------
    path : path
        A symbolic link is followed; its target is replaced.
    name : str
        What an error message calls the path.
    error : type of RldpError
        What is raised where the file cannot be written, in the block or at its end.
    """
    target = Path(os.path.realpath(checked_path(path, name)))
    try:
        _require_regular(target)
        with whole(target) as file:
            yield file
    except OSError as failure:
        reason = failure.strerror or failure
        raise error(f"{name} must be writable, but {str(path)!r} is not: {reason}") from failure


@contextmanager
def whole(target: Path, *, scratch_folder: Path | None = None) -> Iterator[BinaryIO]:
    """As :func:`replacing`, for a path that is known to be one; raises OSError.

    The file grows in ``scratch_folder``, on the same disk; by default beside the target.
    """
    handle, scratch = tempfile.mkstemp(
        dir=scratch_folder or target.parent, prefix=f".{target.name[:40]}.", suffix=_UNFINISHED
    )
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(scratch, 0o644)
        os.replace(scratch, target)
    finally:
        Path(scratch).unlink(missing_ok=True)


def checked_path(path: str | PathLike[str], name: str = "path") -> Path:
    """``path`` as a path, if it is one."""
    if not isinstance(path, str | PathLike):
        raise InvalidArgumentType(f"{name} must be a path, got {shown(path)}")
    if "\0" in str(path):
        raise InvalidArgument(f"{name} must not hold a null character, got {shown(path)}")
    return Path(path)


def require_other_file(output: Path, path: Path, what: str) -> None:
    """Refuse to write over a file that is still needed."""
    try:
        same = output.samefile(path)
    except OSError:
        return  # one of them does not exist
    if same:
        raise InvalidArgument(f"output must be another file than {what}, got {str(output)!r}")


def _require_regular(target: Path) -> None:
    """Devices and pipes cannot be replaced: they would be gone."""
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        kind = "a folder" if target.is_dir() else "a device or pipe"
        raise OSError(None, f"it is {kind}")
