"""Checks of arguments that the clients share."""

from __future__ import annotations

from os import PathLike
from typing import Any

from rldp._common.deprecated import warn_deprecated
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.options import ReleaseOptions

__all__ = ["protocol_first", "require_no_ledger"]


def protocol_first(protocol: Any, frame: Any) -> tuple[Any, Any]:
    """Return protocol and frame, accepting the deprecated order with the frame first."""
    if isinstance(frame, Protocol | str | PathLike) and not isinstance(protocol, Protocol | str | PathLike):
        warn_deprecated("release(frame, protocol)", "release(protocol, frame)", stacklevel=4)
        return frame, protocol
    return protocol, frame


def require_no_ledger(options: ReleaseOptions) -> None:
    """Refuse a ledger for frames that a cluster may compute later and several times."""
    if options.ledger is not None:
        raise InvalidArgument(
            "ledger must be for files and for frames in memory, because a cluster may compute its rows "
            "several times: write them to Parquet files, and release these with rldp.release_file"
        )
