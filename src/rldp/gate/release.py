"""Release files and frames: every release passes the same checks, with the same options."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, Unpack

from rldp._common.deprecated import renamed
from rldp.data.atomic import checked_path, require_new_folder, require_other_file
from rldp.data.standard import STANDARD
from rldp.data.writers import writer_for
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.gate.admission import Admitted, admitted_protocol
from rldp.gate.inspection import Inspection
from rldp.gate.kept import KeptColumns, warn_of_kept
from rldp.gate.recorder import Recorder, given_to_readers
from rldp.protocol import Protocol
from rldp.releaser.files import Step, release_one
from rldp.releaser.folders import is_folder, release_folder
from rldp.releaser.frames import release_frame as release_rows
from rldp.releaser.options import Asked, ReleaseOptions, ReleaseResult, asked_for
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import Request

__all__ = ["release_file", "release_frame", "requested"]

_Frame = TypeVar("_Frame")
_log = logging.getLogger(__name__)


def requested(protocol: Protocol | str | PathLike[str], options: ReleaseOptions) -> tuple[Request, Admitted]:
    """Return the request of a release, and the admitted protocol."""
    admitted = admitted_protocol(protocol, options)
    return Request.of(admitted.protocol, options, KeptColumns.of(admitted.protocol, options)), admitted


def release_frame(
    protocol: Protocol, frame: _Frame, options: ReleaseOptions, *, seed: int | None = None
) -> _Frame:
    """Release a column as a frame of the same kind; see :meth:`rldp.Protocol.release_frame`."""
    words = randomness(seed, options.key)
    request, admitted = requested(protocol, options)
    inspect, recorder = Inspection(protocol, options), Recorder.of(request, admitted)
    record = None if recorder is None else recorder.frame
    released: _Frame = release_rows(request, frame, words, inspect, record=record, first=inspect.is_due)
    warn_of_kept(request)
    return released


def release_file(
    protocol: Protocol | str | PathLike[str],
    data: str | PathLike[str] | None = None,
    output: str | PathLike[str] | None = None,
    *,
    options: ReleaseOptions | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    callback: Callable[[Step], None] | None = None,
    source: str | PathLike[str] | None = None,
    target: str | PathLike[str] | None = None,
    **keywords: Unpack[Asked],
) -> ReleaseResult:
    """Release one column of a file into another file, row by row in the same order: ``rldp release``.

    The new file holds the kept columns and then the released one, and nothing else. It appears whole or not
    at all: after an error, an interruption or a kill, ``output`` is unchanged. ε covers the released
    column alone, not the kept ones.

    A protocol file is verified before any row is read, on the very bytes that are used for the release: it
    must prove its claim, with a finite ε of at most 10 or ``epsilon_at_most``. A protocol in memory with a
    claim is verified in the same way. One without a claim, such as a table of your own, is accepted as it is,
    as in :meth:`rldp.Protocol.release`.

    Parameters
    ----------
    protocol : path, or Protocol
    data : path
        Parquet if the name ends in ``.parquet`` or ``.pq``, a workbook if it ends in ``.xlsx`` or the like,
        else CSV. A folder or a pattern such as ``rows/*.parquet`` stands for Parquet files with one schema,
        "-" for a CSV table on standard input.
    output : path
        Its ending sets the format: ``.csv``, ``.csv.gz``, ``.csv.zst``, ``.parquet``, ``.pq`` or
        ``.xlsx``; "-" writes CSV to standard output after all rows are released. If ``data`` is a folder, a
        name without an ending is a new folder: it gets a Parquet file for each file of ``data``, in the same
        partitions (``region=N``), which ``keep`` must name. An existing file is replaced only with
        ``force=True``.
    options : ReleaseOptions, optional
        Options of the release. Its fields may be given as keyword arguments instead.
    jobs : int, optional
        Number of files of a folder released at a time; by default the number of processors.
    seed : int, optional
        **For tests only**, see :meth:`rldp.Protocol.release`.
    callback : callable, optional
        Called with the progress after each batch: ``.rows`` released so far, the ``.share`` of the input
        read, rows ``.skipped`` because of a missing entry.
    source, target : path
        Deprecated names of ``data`` and ``output``.
    **keywords
        The fields of :class:`rldp.ReleaseOptions`.

    Returns
    -------
    ReleaseResult
        Numbers of released and skipped rows, columns, the verdict on the protocol and SHA-256 of its file.

    Raises
    ------
    NotProved
        If the protocol does not prove what is required of it.
    DataError
        If a file cannot be read or written, or if rows hold nulls or unknown labels, with the first such row
        (counted from 1, without the header) and how many there are.
    InvalidArgument, InvalidArgumentType
        If the requested columns cannot be written together.
    """
    started = time.perf_counter()
    given = _renamed("data", data, "source", source)
    path = checked_path(_renamed("output", output, "target", target), "output")
    asked = asked_for(options, keywords)
    words = randomness(seed, asked.key)
    to_folder = is_folder(checked_path(given, "data"), path)
    _require_free(path, to_folder, protocol, asked)
    request, admitted = requested(protocol, asked)
    inspect, recorder = Inspection(admitted.protocol, asked), Recorder.of(request, admitted)
    releasing = (
        release_folder(request, Path(given), path, words, callback, jobs)
        if to_folder
        else release_one(request, given, path, words, callback)
    )
    with ExitStack() as recording, releasing as outcome:
        inspect(outcome.tally)
        if recorder is not None:
            recording.enter_context(recorder.files(outcome))
    seconds = time.perf_counter() - started
    _log.info("released %d rows of %s into %s, %.2g s", outcome.tally.rows, given, path, seconds)
    files = () if isinstance(protocol, Protocol) else (protocol, given)
    warn_of_kept(request, outcome.released, outcome.kept, *files)
    return ReleaseResult(
        rows=outcome.tally.rows,
        skipped=outcome.tally.skipped,
        released=outcome.released,
        kept=outcome.kept,
        verdict=admitted.verdict,
        sha256=admitted.sha256,
        leakage=inspect.leakage,
        absence=inspect.absence,
        drift=inspect.drift,
        known=given_to_readers(admitted.protocol),
        key=None if request.stable is None else request.stable.fingerprint,
    )


def _renamed(name: str, given: Any, old_name: str, old: Any) -> Any:
    """Return the value of an argument, given under its present or its deprecated name."""
    if given is not None and old is not None:
        raise InvalidArgumentType(f"{name} must be given once, got {old_name}, its old name, as well")
    return renamed(old_name, old, name, given, stacklevel=5)


def _require_free(
    output: Path, to_folder: bool, protocol: Protocol | str | PathLike[str], options: ReleaseOptions
) -> None:
    """Refuse an unusable output before any work."""
    if options.ledger is not None:
        require_other_file(output, Path(options.ledger), "the ledger")
    if to_folder:
        require_new_folder(output, "output")
        return
    if isinstance(protocol, str | PathLike):
        require_other_file(output, Path(protocol), "the protocol")
    writer_for(output)
    if str(output) != STANDARD and output.is_file() and not options.force:
        raise InvalidArgument(
            f"output must be a new file, got {str(output)!r}, which exists; force=True replaces it"
        )
