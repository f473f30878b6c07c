"""Release of files, CSV and Parquet of any size: part by part, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from rldp.data.atomic import appears_as, checked_path, replacing
from rldp.data.headers import Located, column_name
from rldp.data.labels import HOW_TO_SHOW
from rldp.data.readers import located, read_parts, types_of
from rldp.data.sources import Dialect, opened, require_apart
from rldp.data.standard import STANDARD, printing
from rldp.data.writers import TYPED, Maker, writer_for
from rldp.releaser.ids import ids_of
from rldp.releaser.requests import Inspection, Recorder, Request, Tally
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
    """The counts of a table, and the names of the released and the kept columns."""

    tally: Tally
    released: tuple[str, ...]
    kept: tuple[str, ...]

    def __add__(self, other: Outcome) -> Outcome:
        return replace(self, tally=self.tally + other.tally)

    def require_sound(self, inspect: Inspection) -> None:
        """Refuse unusable rows, and rows that fail the inspection of all rows."""
        self.tally.faults.refuse("released", advice=HOW_TO_SHOW)
        inspect(self.tally)


def release_one(
    request: Request,
    data: str | PathLike[str],
    target: Path,
    words: Randomness,
    inspect: Inspection,
    callback: Callable[[Step], None] | None = None,
    recorder: Recorder | None = None,
) -> Outcome:
    """Release a file, or a folder of files, into one file."""
    make_writer = writer_for(target)
    dialect = Dialect(request.options.delimiter, request.options.encoding)
    printed = str(target) == STANDARD
    with opened(checked_path(data, "data"), dialect) as source, ExitStack() as appearing:
        require_apart(target, source)
        table = located(source, request.columns.names)
        if recorder is not None:
            recorder.begin(source.paths)
        with printing() if printed else replacing(target, name="output") as file:
            outcome = release_table(request, table, file, make_writer, words, callback)
            outcome.require_sound(request.with_people(inspect))
            if recorder is not None:
                appeared = (lambda: True) if printed else appears_as(os.fstat(file.fileno()), target)
                appearing.enter_context(recorder.files(outcome, [file], appeared))
    return outcome


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
    likes = types_of(table, columns.reading.row_names)
    labels = [column.labels for column in request.released]
    columns_out = dict(zip(released, zip(labels, likes, strict=True), strict=True))
    with closing(make_writer(file, fields, columns_out)) as writer:
        for part in parts:
            if not tally.faults.rows:
                request.guard.require_rows(dict(zip(names, part.kept, strict=True)))
            ids = None if part.ids is None else ids_of(column_name(str(columns.id), table.source), part.ids)
            drawn = request.draw(part.columns, tally, words, ids)
            tally = drawn.tally
            if not tally.faults.at_fault:
                writer.write(list(map(drawn.among, part.kept)), drawn.codes)
            if callback is not None:
                callback(Step(tally.rows, part.share, tally.skipped))
    return Outcome(tally, released, names)
