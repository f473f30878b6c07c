"""The key of permanent draws: secret bytes that are never shown and leave the process only to draw."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from rldp._common.checks import kind_name
from rldp.data.atomic import checked_path, replacing
from rldp.errors import FileError, InvalidArgument, InvalidArgumentType, KeyFileWarning

__all__ = ["KEY_BYTES", "Key", "key_of", "write_new_key"]

KEY_BYTES = 32
"""Number of bytes of a new key."""

_FEWEST, _MOST = 16, 1024  # a longer file is something else, given by mistake
_LABEL = b"rldp-key-1"  # no message of a draw begins so


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A secret key. Its representation and its pickle do not contain it; equal keys have equal fingerprints.

    Examples
    --------
    >>> Key(b"an example that is no secret, 32")
    <Key with fingerprint bd2607365fd8d518>
    """

    material: bytes

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that distinguish keys and reveal nothing else about them."""
        return hmac.digest(self.material, _LABEL, "sha256").hex()[:16]

    def __repr__(self) -> str:
        return f"<Key with fingerprint {self.fingerprint}>"

    def __deepcopy__(self, memo: Any) -> Key:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidArgumentType("key must be the path of its file to be pickled, got its bytes")


def write_new_key(path: str | PathLike[str]) -> str:
    """Write 32 bytes of the system's secure randomness to a new file; return the key's fingerprint.

    The file appears whole or not at all. Its owner alone may read and write it.

    Raises
    ------
    InvalidArgument
        If the file exists: a key that is lost cannot be made again.
    FileError
        If it cannot be written.
    """
    key = Key(secrets.token_bytes(KEY_BYTES))
    with replacing(path, name="output", error=FileError, new=True) as file:
        file.write(key.material)
    return key.fingerprint


def key_of(given: Key | bytes | str | PathLike[str]) -> Key:
    """Return the key that is given as bytes or as the path of a file.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If it is too short to be secret, or too long to be a key.
    FileError
        If the file cannot be read.
    """
    if isinstance(given, Key):
        return given
    if isinstance(given, bytes | bytearray):
        return Key(_checked(bytes(given), "key"))
    if not isinstance(given, str | PathLike):
        raise InvalidArgumentType(f"key must be the path of a file or bytes, got {kind_name(given)}")
    path = checked_path(given, "key")
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            material = file.read(_MOST + 1)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"key must be a file that can be read, but {str(path)!r} is not: {reason}") from None
    key = Key(_checked(material, f"the key in {str(path)!r}"))
    _warn_if_open(path, mode)
    return key


def _checked(material: bytes, name: str) -> bytes:
    if not _FEWEST <= len(material) <= _MOST:
        size = f"{len(material)} bytes" if len(material) <= _MOST else "more"
        raise InvalidArgument(
            f"{name} must have {_FEWEST} to {_MOST} bytes, of which 'rldp key' writes {KEY_BYTES}, got {size}"
        )
    return material


def _warn_if_open(path: Path, mode: int) -> None:
    """Warn if others can read the file. Do not refuse it: a container's group may have to read it."""
    if os.name == "posix" and stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        warnings.warn(
            f"the key in {str(path)!r} can be read by others than its owner, and whoever reads it can undo "
            "every draw; chmod 600 changes that",
            KeyFileWarning,
            stacklevel=4,
        )
