"""Arguments of clients that earlier versions took in another order."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

from rldp.protocol import Protocol

__all__ = ["protocol_first"]


def protocol_first(protocol: Any, frame: Any) -> tuple[Any, Any]:
    """Protocol and frame, also where they come in the order of earlier versions: the frame first."""
    if isinstance(frame, Protocol | str | PathLike) and not isinstance(protocol, Protocol | str | PathLike):
        warnings.warn("release takes the protocol before the frame", DeprecationWarning, stacklevel=3)
        return frame, protocol
    return protocol, frame
