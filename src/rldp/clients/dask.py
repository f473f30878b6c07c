"""Release on Dask: ``pip install 'robust-ldp[dask]'``, here and on every worker; see ``docs/clients.md``."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from rldp.errors import InvalidArgumentType, needs
from rldp.gate.admission import Conditions, admitted_protocol
from rldp.protocol import Protocol
from rldp.releaser.frames import released_part
from rldp.releaser.requests import Request

with needs("rldp.dask", "Dask", install="robust-ldp[dask]"):
    import dask.dataframe

__all__ = ["release"]


def release(
    frame: Any,
    protocol: Protocol | str | PathLike[str],
    *,
    secret: str | Sequence[str] | None = None,
    value: str | None = None,
    as_secret: str | Sequence[str] | None = None,
    as_value: str | None = None,
    keep: Sequence[str] = (),
    released: str | None = None,
    unproved: bool = False,
    epsilon_at_most: float | None = None,
) -> Any:
    """Release a column of a Dask frame: a frame of the kept columns and the released one comes back.

    Partitions, order and index stay as they are. It is lazy, as all Dask frames are. **It draws anew whenever
    it is computed, and two draws of one row are two releases: write it once, or compute it once, and go on
    with that.**

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    protocol : path, or Protocol
        Verified here, before anything is computed, as :func:`rldp.release_file` does.
    secret, value, as_secret, as_value, keep, released
        As in :meth:`rldp.Protocol.release_frame`.
    unproved, epsilon_at_most
        As in :func:`rldp.release_file`.

    Raises
    ------
    NotProved
        If the protocol does not prove what is asked of it.
    DataError
        If a column is not there; when the frame is computed, if entries are missing or are no labels.
    InvalidArgument, InvalidArgumentType
        If it is no Dask frame, or the columns asked for cannot stand together.
    """
    if not isinstance(frame, dask.dataframe.DataFrame):
        raise InvalidArgumentType(f"frame must be a Dask data frame, got {type(frame).__name__}")
    request = Request.of(
        admitted_protocol(protocol, Conditions(unproved, epsilon_at_most)),
        secret=secret,
        value=value,
        as_secret=as_secret,
        as_value=as_value,
        keep=keep,
        name=released,
    )
    empty = released_part(request, frame._meta)  # refuses columns that are not there, and shows the types
    partitions: Any = frame
    return partitions.map_partitions(_part, request, meta=empty)


def _part(rows: Any, request: Request) -> Any:
    return released_part(request, rows)
