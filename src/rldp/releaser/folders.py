"""Release of folders of Parquet files into new folders: as a whole, several files at a time.

Names of folders are data, too: ``region=N`` shows the region of every row in it. So partitions are kept only
if ``keep`` names their columns, and files are numbered, whatever their original names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from threading import Event

from rldp._common.checks import whole_number
from rldp._common.process import core_count
from rldp.data.atomic import appears_as, new_folder
from rldp.data.headers import Located, located
from rldp.data.labels import HOW_TO_SHOW
from rldp.data.sources import Source, source_of
from rldp.data.writers import PARQUET
from rldp.errors import InvalidArgument
from rldp.releaser.files import Outcome, Step, release_table
from rldp.releaser.randomness import secure_words
from rldp.releaser.requests import Request
from rldp.theory.sampling import Randomness

__all__ = ["is_folder", "release_folder"]

_MOST_JOBS = 256


def is_folder(data: Path, target: Path) -> bool:
    """Return whether a folder is to be released into a folder: the output has no extension."""
    return not target.suffix and target.name != "-" and data.is_dir()


@contextmanager
def release_folder(
    request: Request,
    data: Path,
    target: Path,
    words: Randomness,
    callback: Callable[[Step], None] | None = None,
    jobs: int | None = None,
) -> Iterator[Outcome]:
    """Release all files of a folder into a new one, which appears if the block succeeds."""
    if jobs is not None:
        whole_number("jobs", jobs, 1, _MOST_JOBS)
    source = source_of(data)
    if target.resolve().is_relative_to(data.resolve()):
        raise InvalidArgument(f"output must not lie among the files of the data, got {str(target)!r}")
    partitions = _partitions(data, source.paths)
    whole, request = request, _without_partitions(request, partitions)
    table = located(source, request.columns.names)
    whole.released_names(lambda column: table.name(column) if column in table.places else column)
    with new_folder(target, name="output") as scratch:
        alone = (
            Source(str(path), (path,), (identity,), parquet=True)
            for path, identity in zip(source.paths, source.identities, strict=True)
        )
        tables = [replace(table, source=one) for one in alone]
        written = [scratch / at / f"part-{i:05d}.parquet" for i, at in enumerate(partitions)]
        for folder in {path.parent for path in written}:
            folder.mkdir(parents=True, exist_ok=True)
        threads = min(jobs or core_count(), len(tables)) if words is secure_words else 1
        outcome = _released(request, tables, written, threads, words, callback)
        request.require_sound(outcome.tally, advice=HOW_TO_SHOW)
        appeared = appears_as(scratch.stat(), target)
        kept = whole.columns.keep  # partitions are kept beside
        yield replace(outcome, kept=kept, read=source.paths, written=written, appeared=appeared)


def _released(
    request: Request,
    tables: Sequence[Located],
    targets: Sequence[Path],
    threads: int,
    words: Randomness,
    callback: Callable[[Step], None] | None,
) -> Outcome:
    """Release the files, several at a time in threads, and return the combined result.

    Nearly all work is done by libraries that let other threads run. After a failure or an interruption, the
    other threads stop at their next part.
    """
    rows = skipped = 0
    stopped = Event()

    def go_on(_: Step) -> None:
        if stopped.is_set():
            raise CancelledError

    def release(table: Located, target: Path) -> Outcome:
        with target.open("wb") as file:
            return release_table(request, table, file, PARQUET, words, go_on)

    with ThreadPoolExecutor(threads) as pool:
        releases = [pool.submit(release, *piece) for piece in zip(tables, targets, strict=True)]
        try:
            for done, ended in enumerate(as_completed(releases), 1):
                rows += ended.result().tally.rows
                skipped += ended.result().tally.skipped
                if callback is not None:
                    callback(Step(rows, done / len(releases), skipped))
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
    return reduce(add, (each.result() for each in releases))


# Partitions


def _partitions(data: Path, files: Sequence[Path]) -> list[Path]:
    """Return the partitions of the files: folders ``column=value``, with the same columns for all files."""
    below = [file.relative_to(data).parent for file in files]
    keys = [tuple(part.partition("=")[0] for part in at.parts if part.find("=") > 0) for at in below]
    for at, columns in zip(below, keys, strict=True):
        if len(columns) != len(at.parts) or len(set(columns)) < len(columns) or columns != keys[0]:
            raise InvalidArgument(
                "data must have folders that are called column=value, with the same columns for all files, "
                "to be released into a folder, got others; a single output file takes them all"
            )
    return below


def _without_partitions(request: Request, partitions: Sequence[Path]) -> Request:
    """Return the request for the files, if everything that the folders' names show may be published."""
    columns = [part.partition("=")[0] for part in partitions[0].parts]
    reading, keep = request.columns.reading, request.columns.keep
    for column in columns:
        if column in reading.names:
            raise InvalidArgument(
                f"secret and value must be columns of the files, got {column!r}, which is in the names of "
                "their folders only"
            )
        if column not in keep:
            raise InvalidArgument(
                f"keep must name {column!r}, because the names of the output folders show it; a single "
                "output file does not need it"
            )
    kept = tuple(column for column in keep if column not in columns)
    return replace(request, columns=replace(request.columns, keep=kept))
