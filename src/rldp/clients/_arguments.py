"""Arguments of clients: those that earlier versions took in another order, and those that make no sense."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.options import ReleaseOptions

__all__ = ["protocol_first", "require_no_ledger"]


def protocol_first(protocol: Any, frame: Any) -> tuple[Any, Any]:
    """Protocol and frame, also where they come in the order of earlier versions: the frame first."""
    if isinstance(frame, Protocol | str | PathLike) and not isinstance(protocol, Protocol | str | PathLike):
        warnings.warn("release takes the protocol before the frame", DeprecationWarning, stacklevel=3)
        return frame, protocol
    return protocol, frame


def require_no_ledger(options: ReleaseOptions) -> None:
    """Refuse a ledger where rows are computed later, elsewhere, and as often as somebody asks for them."""
    if options.ledger is not None:
        raise InvalidArgument(
            "ledger must be for files and for frames in memory: nobody knows when, and how often, a cluster "
            "computes its rows"
        )
