"""Release on Dask: ``pip install 'robust-ldp[dask]'``, here and on every worker; see ``docs/clients.md``."""

from __future__ import annotations

from os import PathLike
from typing import Any, Unpack

from rldp._common.process import needs
from rldp.clients._arguments import prepared
from rldp.gate.kept import warn_of_kept
from rldp.protocol import Protocol
from rldp.releaser.frames import released_part, tally_of_part
from rldp.releaser.options import Asked, ReleaseOptions
from rldp.releaser.requests import Request

with needs("rldp.dask", "Dask", install="robust-ldp[dask]"):
    import dask.dataframe
    from dask.base import compute
    from dask.delayed import delayed

__all__ = ["release"]


def release(
    protocol: Protocol | str | PathLike[str],
    frame: Any,
    *,
    options: ReleaseOptions | None = None,
    **keywords: Unpack[Asked],
) -> Any:
    """Release a column of a Dask frame as a new, lazy frame of the kept columns and the released one.

    Partitions, order and index are preserved. **The frame draws anew whenever it is computed, and two draws
    of one row are two releases: write or compute it once, and continue with the result.** With ``id`` and
    ``key`` each person's output stays the same instead. Workers receive the table of the protocol, how
    columns are read, and the key, and nothing else.

    The rows are read once when this function is called: they are refused if they do not come from the
    protocol's population, if being left out reveals too much or, with a key, if a person has two rows, in
    whichever partitions they are. ``allow_drift=True`` skips this, unless there is a key or rows may be left
    out.

    Parameters
    ----------
    protocol : path, or Protocol
        Verified before anything is computed, as :func:`rldp.release_file` does.
    frame : dask.dataframe.DataFrame
    options : ReleaseOptions, optional
        Options of the release. Its fields may be given as keyword arguments instead.
    **keywords
        The fields of :class:`rldp.ReleaseOptions`.

    Raises
    ------
    NotProved
        If the protocol does not prove what is required of it.
    DataError
        If a column does not exist or, when the frame is computed, if entries are missing or not labels. With
        ``id`` and ``key``, if a person has two rows.
    InvalidArgument, InvalidArgumentType
        If ``frame`` is not a Dask frame, or the requested columns contradict each other.
    """
    kind = dask.dataframe.DataFrame
    partitions, request, inspect = prepared(protocol, frame, kind, "Dask", options, keywords)
    empty = released_part(request, partitions._meta)  # refuses missing columns, and yields the types
    if inspect.is_due or request.stable is not None:
        count = delayed(tally_of_part)
        parts = [count(request.without_kept(), part) for part in partitions.to_delayed()]
        tallies: Any = compute(*parts)  # type: ignore[no-untyped-call]
        request.require_sound(sum(tallies, start=request.no_rows()), inspect)
    warn_of_kept(request)
    return partitions.map_partitions(_part, request, meta=empty)


def _part(rows: Any, request: Request) -> Any:
    return released_part(request, rows)
