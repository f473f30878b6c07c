"""Release of whole files: CSV and Parquet of any size, part by part, in constant memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from rldp._common.checks import Label
from rldp.data.atomic import checked_path, replacing
from rldp.data.dialects import Dialect
from rldp.data.labels import HOW_TO_SHOW
from rldp.data.readers import located
from rldp.data.sources import opened, require_apart
from rldp.data.standard import STANDARD, printing
from rldp.data.writers import writer_for
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.folders import is_folder, release_folder
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import Request
from rldp.releaser.tables import Outcome, Step, release_table

__all__ = ["release_file"]

_log = logging.getLogger(__name__)


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
    jobs: int | None = None,
    seed: int | None = None,
    callback: Callable[[Step], None] | None = None,
) -> int:
    """Release one column of a file into another, from a protocol that may be released from.

    :func:`rldp.release_file` explains the arguments, and sees to that.
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
    if is_folder(checked_path(data, "data"), target):
        outcome = release_folder(request, Path(data), target, jobs=jobs, seed=seed, callback=callback)
    else:
        outcome = _release_one(request, data, target, Dialect(delimiter, encoding), seed, callback)
    _log.info(
        "released %d rows of %s into %s, %.2g s", outcome.rows, data, output, time.perf_counter() - started
    )
    return outcome.rows


def _release_one(
    request: Request,
    data: str | PathLike[str],
    target: Path,
    dialect: Dialect,
    seed: int | None,
    callback: Callable[[Step], None] | None,
) -> Outcome:
    make_writer = writer_for(target)
    words = randomness(seed)
    with opened(checked_path(data, "data"), dialect) as source:
        require_apart(target, source)
        table = located(source, request.columns.names)
        with printing() if str(target) == STANDARD else replacing(target, name="output") as file:
            outcome = release_table(request, table, file, make_writer, words, callback)
            outcome.faults.refuse("released", advice=HOW_TO_SHOW)
    return outcome


def _require_leave(request: Request, allow_original: bool) -> None:
    """Refuse to write the secret or the value as it is, unless that is meant."""
    reading = request.columns.reading
    roles = [("secret", reading.secret_names), ("value", reading.value_names)]
    for role, column in [(role, column) for role, columns in roles for column in columns]:
        if column in request.columns.keep and not allow_original:
            raise InvalidArgument(
                f"keep must not name the {role} column {column!r}, which would be written as it is; "
                "allow that with --allow-original (allow_original=True) if it is meant"
            )
