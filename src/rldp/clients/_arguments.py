"""What the clients for clusters do before they release: the same checks, in the same order."""

from __future__ import annotations

from os import PathLike
from typing import Any

from rldp._common.checks import kind_name
from rldp._common.deprecated import warn_deprecated
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.gate.inspection import Inspection
from rldp.gate.release import requested
from rldp.protocol import Protocol
from rldp.releaser.options import Asked, ReleaseOptions, asked_for
from rldp.releaser.requests import Request

__all__ = ["prepared"]


def prepared(
    protocol: Any, frame: Any, kind: type, library: str, options: ReleaseOptions | None, keywords: Asked
) -> tuple[Any, Request, Inspection]:
    """Return the frame, the request of its release, and the inspection of its rows.

    ``kind`` is the class of the library's frames. The deprecated order with the frame first is accepted.
    """
    if isinstance(frame, Protocol | str | PathLike) and not isinstance(protocol, Protocol | str | PathLike):
        warn_deprecated("release(frame, protocol)", "release(protocol, frame)", stacklevel=4)
        protocol, frame = frame, protocol
    if not isinstance(frame, kind):
        raise InvalidArgumentType(f"frame must be a {library} data frame, got {kind_name(frame)}")
    asked = asked_for(options, keywords)
    if asked.ledger is not None:
        raise InvalidArgument(
            "ledger must be for files and for frames in memory, because a cluster may compute its rows "
            "several times: write them to Parquet files, and release these with rldp.release_file"
        )
    request, admitted = requested(protocol, asked)
    return frame, request, Inspection(admitted.protocol, asked)
