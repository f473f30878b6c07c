"""Release of whole files: CSV and Parquet of any size, part by part, in constant memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike

import numpy as np

from rldp._checks import Label, shown
from rldp.data.atomic import checked_path, replacing
from rldp.data.dialects import Dialect
from rldp.data.headers import Located
from rldp.data.labels import HOW_TO_SHOW, Faults
from rldp.data.readers import Columns, located, read_parts
from rldp.data.rows import rows_of
from rldp.data.sources import is_parquet, opened, require_apart
from rldp.data.standard import STANDARD, printing
from rldp.data.wanted import reading_of_new_data
from rldp.data.writers import writer_for
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.releaser.randomness import randomness

__all__ = ["Step", "release_file"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """How far the release of a file has come.

    Attributes
    ----------
    rows : int
        Released so far.
    share : float
        Of the input that is read.
    skipped : int
        Rows that were left out because an entry is missing.
    """

    rows: int
    share: float
    skipped: int = 0


def release_file(
    protocol: Protocol,
    data: str | PathLike[str],
    output: str | PathLike[str],
    *,
    secret: str | Sequence[str] | None = None,
    value: str | None = None,
    as_secret: str | Sequence[str] | None = None,
    as_value: str | None = None,
    unknown: Label | None = None,
    keep: Sequence[str] = (),
    allow_original: bool = False,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    show_labels: bool = False,
    seed: int | None = None,
    callback: Callable[[Step], None] | None = None,
) -> int:
    """Release one column of a file into another file, row by row in the same order.

    The new file holds the kept columns and then the released one, nothing else. It appears whole or
    not at all: after an error, an interruption or a kill, ``output`` is what it was before.

    Parameters
    ----------
    protocol : Protocol
    data : path
        Parquet where the name ends in ``.parquet`` or ``.pq``, else CSV. A folder or a pattern such as
        ``rows/*.parquet`` stands for Parquet files of one schema, "-" for a CSV table on standard input.
    output : path
        Its name says what is written: ``.csv``, ``.csv.gz``, ``.csv.zst``, ``.parquet`` or ``.pq``; "-" is
        CSV on standard output, which nothing reaches before all rows are released.
    secret, value : str, optional
        Names of the columns of ``data``; needed only where the protocol does not name them. ``"#2"`` is the
        second column, if none is called so.
    as_secret, as_value : str, optional
        Other names than the protocol's, of columns that hold the same.
    unknown : label, optional
        The value that stands for all values that the protocol does not know; by default they are refused.
    keep : sequence of str
        Columns to copy, by name or place. From one CSV file to another they are copied as they stand;
        in a Parquet file they get the type that fits all of their entries: integers, floats, booleans or
        dates where nothing is lost by it, else text.
    allow_original : bool
        Whether ``keep`` may name the secret or the value column, which are then written as they are.
    name : str, optional
        Name of the released column; that of the value column by default.
    delimiter, encoding : str, optional
        Of ``data`` if it is CSV, see :meth:`rldp.Sample.from_data`.
    show_labels : bool
        Whether a message about an entry that is no label may show it.
    seed : int, optional
        **For tests only**, see :meth:`rldp.Protocol.release`.
    callback : callable, optional
        Called with a :class:`Step` after each part.

    Returns
    -------
    int
        How many rows were released.

    Raises
    ------
    DataError
        If a file cannot be read or written, or if rows hold nulls or unknown labels, with the first
        such row (counted from 1, without the header) and how many there are.
    InvalidArgument, InvalidArgumentType
        If the columns asked for cannot be written together.
    """
    started = time.perf_counter()
    target = checked_path(output, "output")
    reading = reading_of_new_data(
        protocol.reading,
        (protocol.secrets, protocol.values),
        secret=secret,
        value=value,
        as_secret=as_secret,
        as_value=as_value,
    )
    columns = Columns(reading, tuple(_checked_names(keep)))
    _require_leave(columns, name, allow_original)
    mapped = _code_of_unknown(protocol, unknown)
    make_writer = writer_for(target)
    words = randomness(seed)
    with opened(checked_path(data, "data"), Dialect(delimiter, encoding)) as source:
        require_apart(target, source)
        table = located(source, columns.names)
        released = _released_name(table, columns, name)
        parts = read_parts(table, columns, typed=is_parquet(target))
        found, skipped = Faults(show_labels=show_labels), 0
        with printing() if str(target) == STANDARD else replacing(target, name="output") as file:
            with closing(make_writer(file, parts.kept, released, protocol.outputs)) as writer:
                for part in parts:
                    rows = rows_of(reading, part.columns, found, mapped)
                    found, skipped = rows.faults, skipped + rows.skipped
                    if not found.at_fault:
                        pairs = rows.secrets * np.int32(len(protocol.values)) + rows.values
                        kept = part.kept if rows.used is None else [c.filter(rows.used) for c in part.kept]
                        writer.write(kept, protocol.sampler.draw(pairs, words))
                    if callback is not None:
                        callback(Step(found.rows - skipped, part.share, skipped))
            found.refuse("released", advice=HOW_TO_SHOW)
    released_rows = found.rows - skipped
    _log.info(
        "released %d rows of %s into %s, %.2g s", released_rows, data, output, time.perf_counter() - started
    )
    return released_rows


def _code_of_unknown(protocol: Protocol, label: Label | None) -> int | None:
    if label is None:
        return None
    if label not in protocol.values:
        raise InvalidArgument(f"unknown must be a value of the protocol, got {shown(label)}")
    return protocol.values.index(label)


def _checked_names(keep: Sequence[str]) -> Sequence[str]:
    if isinstance(keep, str) or not isinstance(keep, Sequence):
        raise InvalidArgumentType(f"keep must be a list of names of columns, got {shown(keep)}")
    for column in keep:
        if not isinstance(column, str):
            raise InvalidArgumentType(f"keep must be the name of a column, got {shown(column)}")
    for column in keep:
        if keep.count(column) > 1:
            raise InvalidArgument(f"keep must name each column once, got {column!r} more than once")
    return keep


def _require_leave(columns: Columns, name: str | None, allow_original: bool) -> None:
    """Refuse to write the secret or the value as it is, unless that is meant."""
    if name is not None and (not isinstance(name, str) or not name):
        raise InvalidArgumentType(f"the name of the released column must be text, got {shown(name)}")
    *secret, value = columns.reading.names
    for role, column in [*(("secret", column) for column in secret), ("value", value)]:
        if column in columns.keep and not allow_original:
            raise InvalidArgument(
                f"keep must not name the {role} column {column!r}, which would be written as it is; "
                "allow that with --allow-original (allow_original=True) if it is meant"
            )


def _released_name(table: Located, columns: Columns, name: str | None) -> str:
    """What the released column is called, unlike all that are kept."""
    released = table.name(columns.reading.names[-1]) if name is None else name
    kept = [table.name(column) for column in columns.keep]
    for column in kept:
        if kept.count(column) > 1:
            raise InvalidArgument(f"keep must name columns of different names, got two called {column!r}")
    if released in kept:
        raise InvalidArgument(
            f"the released column must not be called {released!r} like a column that is kept; "
            "name it otherwise with --as (name=)"
        )
    return released
