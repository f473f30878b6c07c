"""Old spellings: each works for one more version, with a DeprecationWarning that names the new one."""

from __future__ import annotations

import warnings
from typing import TypeVar

__all__ = ["renamed", "warn_deprecated"]

T = TypeVar("T")


def warn_deprecated(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn the caller's caller that ``old`` is deprecated, and name its replacement."""
    warnings.warn(
        f"{old} is deprecated and will go with the next version; use {new}",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def renamed(old: str, given: T | None, new: str, now: T, *, stacklevel: int = 4) -> T:
    """Return the value of a renamed argument, under whichever of its names it was given.

    Parameters
    ----------
    old : str
        The deprecated name; ``given`` is its value, None where it was not used.
    new : str
        The name that took its place; ``now`` is its value.
    stacklevel : int
        Stack level of the warning; the default is for a function that calls this one directly.
    """
    if given is None:
        return now
    warn_deprecated(f"{old}=", f"{new}=", stacklevel=stacklevel)
    return given
