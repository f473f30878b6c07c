"""Release of files, CSV and Parquet of any size: part by part, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from rldp.data import arrow
from rldp.data.atomic import appears_as, checked_path, replacing
from rldp.data.headers import Located, located
from rldp.data.labels import HOW_TO_SHOW
from rldp.data.readers import read_parts
from rldp.data.sources import Dialect, opened, require_apart
from rldp.data.standard import STANDARD, printing
from rldp.data.writers import TYPED, Maker, writer_for
from rldp.releaser.requests import Request, Tally
from rldp.theory.sampling import Randomness

__all__ = ["Outcome", "Step", "release_one", "release_table"]


@dataclass(frozen=True)
class Step:
    """The progress of the release of a file.

    Attributes
    ----------
    rows : int
        Released so far.
    share : float
        Share of the input that has been read.
    skipped : int
        Rows left out because an entry is missing.
    """

    rows: int
    share: float
    skipped: int = 0


@dataclass(frozen=True, eq=False)
class Outcome:
    """A release whose rows are all drawn, and which is about to appear.

    Attributes
    ----------
    tally : Tally
    released, kept : tuple of str
        Names of the columns.
    read : sequence of path
        The files of the data.
    written : sequence of open files and paths
        The files to appear.
    appeared : callable
        Returns whether they have appeared.
    """

    tally: Tally
    released: tuple[str, ...]
    kept: tuple[str, ...]
    read: Sequence[Path] = ()
    written: Sequence[BinaryIO | Path] = ()
    appeared: Callable[[], bool] = field(default=lambda: False)

    def __add__(self, other: Outcome) -> Outcome:
        return replace(self, tally=self.tally + other.tally)


@contextmanager
def release_one(
    request: Request,
    data: str | PathLike[str],
    target: Path,
    words: Randomness,
    callback: Callable[[Step], None] | None = None,
) -> Iterator[Outcome]:
    """Release a file, or a folder of files, into one file, which appears if the block succeeds."""
    make_writer = writer_for(target)
    dialect = Dialect(request.options.delimiter, request.options.encoding)
    printed = str(target) == STANDARD
    with opened(checked_path(data, "data"), dialect) as source:
        require_apart(target, source)
        table = located(source, request.columns.names)
        with printing() if printed else replacing(target, name="output") as file:
            outcome = release_table(request, table, file, make_writer, words, callback)
            request.require_sound(outcome.tally, advice=HOW_TO_SHOW)
            appeared = (lambda: True) if printed else appears_as(os.fstat(file.fileno()), target)
            yield replace(outcome, read=source.paths, written=[file], appeared=appeared)


def release_table(
    request: Request,
    table: Located,
    file: BinaryIO,
    make_writer: Maker,
    words: Randomness,
    callback: Callable[[Step], None] | None = None,
) -> Outcome:
    """Write the release of a table to an open file, part by part.

    After an unusable row nothing more is written, but all rows are read to count the unusable ones.
    """
    columns = request.columns
    released = request.released_names(table.name)
    fields, parts = read_parts(table, columns, typed=make_writer in TYPED)
    names = tuple(field.name for field in fields)
    tally = request.no_rows()
    likes = table.types(columns.reading.row_names)
    labels = [column.labels for column in request.released]
    columns_out = dict(zip(released, zip(labels, likes, strict=True), strict=True))
    first: list[list[Any]] = []  # parts whose kept columns are tested together: a small one shows little
    told = False
    with closing(make_writer(file, fields, columns_out)) as writer:
        for part in parts:
            if not told:
                first.append(part.kept)
                kept = map(arrow.chunked_array, zip(*first, strict=True))
                told = request.guard.require_rows(dict(zip(names, kept, strict=True)))
            drawn = request.draw(part, tally, words, table.source)
            tally = drawn.tally
            if not tally.faults.at_fault:
                writer.write(list(map(drawn.among, part.kept)), drawn.codes)
            if callback is not None:
                callback(Step(tally.rows, part.share, tally.skipped))
    return Outcome(tally, released, names)
