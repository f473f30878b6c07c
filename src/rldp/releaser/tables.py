"""Release of one table that lies in a file: part by part, in constant memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from rldp.data.headers import Located
from rldp.data.labels import Faults
from rldp.data.readers import read_parts
from rldp.data.writers import PARQUET, Maker
from rldp.releaser.requests import Request
from rldp.theory.sampling import Randomness

__all__ = ["Outcome", "Step", "release_table"]


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
