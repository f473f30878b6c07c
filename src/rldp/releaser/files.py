"""Release of whole files: CSV and Parquet of any size, part by part, in constant memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from typing import BinaryIO

from rldp._checks import Label
from rldp.data.atomic import checked_path, replacing
from rldp.data.dialects import Dialect
from rldp.data.headers import Located
from rldp.data.labels import HOW_TO_SHOW, Faults
from rldp.data.readers import located, read_parts
from rldp.data.sources import opened, require_apart
from rldp.data.standard import STANDARD, printing
from rldp.data.writers import PARQUET, Maker, writer_for
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import Request
from rldp.theory.sampling import Randomness

__all__ = ["Outcome", "Step", "release_file", "release_table"]

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
    request = Request.of(
        protocol,
        secret=secret,
        value=value,
        as_secret=as_secret,
        as_value=as_value,
        keep=keep,
        name=name,
        unknown=unknown,
        show_labels=show_labels,
    )
    _require_leave(request, allow_original)
    make_writer = writer_for(target)
    words = randomness(seed)
    with opened(checked_path(data, "data"), Dialect(delimiter, encoding)) as source:
        require_apart(target, source)
        table = located(source, request.columns.names)
        with printing() if str(target) == STANDARD else replacing(target, name="output") as file:
            outcome = release_table(request, table, file, make_writer, words, callback)
            outcome.faults.refuse("released", advice=HOW_TO_SHOW)
    _log.info(
        "released %d rows of %s into %s, %.2g s", outcome.rows, data, output, time.perf_counter() - started
    )
    return outcome.rows


@dataclass(frozen=True)
class Outcome:
    """What was found in a table: faults, for which nothing of it may be released, and rows left out."""

    faults: Faults
    skipped: int

    @property
    def rows(self) -> int:
        """How many were released."""
        return self.faults.rows - self.skipped


def release_table(
    request: Request,
    table: Located,
    file: BinaryIO,
    make_writer: Maker,
    words: Randomness,
    callback: Callable[[Step], None] | None = None,
) -> Outcome:
    """Write what is released from a table to an open file, part by part.

    After a row at fault nothing more is written, but all rows are looked at, to say how many are.
    """
    parts = read_parts(table, request.columns, typed=make_writer is PARQUET)
    name = request.released_name(table.name)
    found, skipped = request.no_faults(), 0
    with closing(make_writer(file, parts.kept, name, request.protocol.outputs)) as writer:
        for part in parts:
            drawn = request.draw(part.columns, found, words)
            found, skipped = drawn.faults, skipped + drawn.skipped
            if not found.at_fault:
                kept = part.kept if drawn.used is None else [c.filter(drawn.used) for c in part.kept]
                writer.write(kept, drawn.codes)
            if callback is not None:
                callback(Step(found.rows - skipped, part.share, skipped))
    return Outcome(found, skipped)


def _require_leave(request: Request, allow_original: bool) -> None:
    """Refuse to write the secret or the value as it is, unless that is meant."""
    *secret, value = request.columns.reading.names
    for role, column in [*(("secret", column) for column in secret), ("value", value)]:
        if column in request.columns.keep and not allow_original:
            raise InvalidArgument(
                f"keep must not name the {role} column {column!r}, which would be written as it is; "
                "allow that with --allow-original (allow_original=True) if it is meant"
            )
