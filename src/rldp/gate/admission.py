"""Whether a protocol may be released from: decided on the bytes that were read, before any row is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from rldp._common.checks import Label, real_number, shown
from rldp.errors import InvalidArgument, InvalidArgumentType, NotProved
from rldp.judge import Verdict, judged, verify
from rldp.protocol import Protocol
from rldp.protocol_file.json import ProtocolFile, read

if TYPE_CHECKING:
    from rldp.releaser.tables import Step

__all__ = ["LARGEST_EPSILON", "Conditions", "admitted", "admitted_protocol", "release_file"]

LARGEST_EPSILON = 10.0
"""Above this, an output may be twenty thousand times as likely under one secret as under another."""

_RELEASES = "--unproved (unproved=True) releases"


@dataclass(frozen=True)
class Conditions:
    """What a protocol file must meet.

    Attributes
    ----------
    unproved : bool
        Whether it need not prove anything.
    epsilon_at_most : float or None
        The largest ε that it may prove; :data:`LARGEST_EPSILON` by default.
    sha256 : str or None
        The digest that its bytes must have.
    """

    unproved: bool = False
    epsilon_at_most: float | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if self.epsilon_at_most is not None:
            limit = real_number("--epsilon-at-most", self.epsilon_at_most)
            if limit < 0:
                raise InvalidArgument(f"--epsilon-at-most must be at least 0, got {limit!r}")
            if self.unproved:
                raise InvalidArgument(
                    "--epsilon-at-most and --unproved must not be given together: what is unproved has no ε"
                )
        if self.sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", self.sha256):
            raise InvalidArgument(f"--expect-sha256 must be 64 hexadecimal digits, got {shown(self.sha256)}")


def admitted(
    path: str | PathLike[str],
    conditions: Conditions,
    *,
    all_the_same: str = _RELEASES,
    verifying: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> tuple[ProtocolFile, Verdict]:
    """A protocol file, and what is proved of it, if it meets the conditions.

    The file is read once: what is returned is what was judged.

    Parameters
    ----------
    path : path
    conditions : Conditions
    all_the_same : str
        What lets a file that proves nothing pass.
    verifying : callable
        Gives a block in which the judge works.

    Raises
    ------
    NotProved
        If it does not meet them.
    ProtocolFileError
        If it is no protocol file.
    """
    file = read(path)
    _require_digest(file, conditions)
    with verifying():
        verdict = judged(file.document)
    if not conditions.unproved:
        claims = file.document.guarantee is not None
        _require_proof(file.path, claims, verdict, all_the_same)
        _require_level(file.path, verdict, conditions)
    return file, verdict


def admitted_protocol(protocol: Protocol | str | PathLike[str], conditions: Conditions) -> Protocol:
    """The protocol to release from, if it meets the conditions.

    A file must prove what it claims, as for ``rldp release``. So must a protocol in memory that claims
    something; one that claims nothing is its maker's own affair, as in :meth:`rldp.Protocol.release`.
    """
    if not isinstance(protocol, Protocol):
        if not isinstance(protocol, str | PathLike):
            raise InvalidArgumentType(
                f"protocol must be an rldp.Protocol or the path of a file, got {shown(protocol)}"
            )
        return admitted(protocol, conditions)[0].protocol
    if conditions.sha256 is not None:
        raise InvalidArgument("--expect-sha256 is for protocol files, got a protocol in memory")
    if protocol.guarantee is not None and not conditions.unproved:
        verdict = verify(protocol)
        _require_proof("protocol", True, verdict, _RELEASES)
        _require_level("protocol", verdict, conditions)
    elif conditions.epsilon_at_most is not None:
        raise NotProved("protocol must prove a privacy level, but it claims none")
    return protocol


def _require_digest(file: ProtocolFile, conditions: Conditions) -> None:
    wanted = conditions.sha256
    if wanted is not None and file.sha256 != wanted.lower():
        raise NotProved(
            f"{file.path} must be the file with SHA-256 {wanted.lower()}, but it has {file.sha256}"
        )


def _require_proof(name: str, claims: bool, verdict: Verdict, all_the_same: str) -> None:
    if not claims:
        needed, reason = "a privacy level", verdict.reasons[0]
    elif not verdict.ok:
        needed, reason = "what it claims", verdict.reasons[0]
    elif verdict.epsilon is None or math.isinf(verdict.epsilon):
        needed, reason = "a privacy level", "it claims none (ε = ∞)"
    else:
        return
    raise NotProved(f"{name} must prove {needed}, but {reason}; {all_the_same} all the same")


def _require_level(name: str, verdict: Verdict, conditions: Conditions) -> None:
    limit = LARGEST_EPSILON if conditions.epsilon_at_most is None else conditions.epsilon_at_most
    if verdict.epsilon is None or not verdict.epsilon <= limit:
        raise NotProved(
            f"{name} must prove a privacy level of at most {limit!r}, but it proves {verdict.promise}; "
            "--epsilon-at-most (epsilon_at_most=) says what is expected"
        )


def release_file(
    protocol: Protocol | str | PathLike[str],
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    secret: str | Sequence[str] | None = None,
    value: str | None = None,
    as_secret: str | Sequence[str] | None = None,
    as_value: str | None = None,
    unknown: Label | None = None,
    keep: Sequence[str] = (),
    allow_original: bool = False,
    released: str | None = None,
    unproved: bool = False,
    epsilon_at_most: float | None = None,
    expect_sha256: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    show_labels: bool = False,
    jobs: int | None = None,
    seed: int | None = None,
    callback: Callable[[Step], None] | None = None,
) -> int:
    """Release one column of a file into another file, row by row in the same order: ``rldp release``.

    The new file holds the kept columns and then the released one, nothing else. It appears whole or
    not at all: after an error, an interruption or a kill, ``target`` is what it was before. ε is that of
    the released column alone, not of what is kept beside it.

    A protocol file is verified before any row is read, as ``rldp release`` does, on the very bytes that are
    released from: it must prove what it claims, and a finite ε of at most 10 unless ``epsilon_at_most`` says
    otherwise. A protocol in memory that claims something is verified in the same way; one that claims
    nothing, such as a table of your own, is taken as it is, as in :meth:`rldp.Protocol.release`.

    Parameters
    ----------
    protocol : path, or Protocol
    source : path
        Parquet where the name ends in ``.parquet`` or ``.pq``, else CSV. A folder or a pattern such as
        ``rows/*.parquet`` stands for Parquet files of one schema, "-" for a CSV table on standard input.
    target : path
        Its name says what is written: ``.csv``, ``.csv.gz``, ``.csv.zst``, ``.parquet`` or ``.pq``; "-" is
        CSV on standard output, which nothing reaches before all rows are released. A name without an ending
        is a new folder, if ``source`` is one: a Parquet file for each of its files, in the same
        partitions (``region=N``), which ``keep`` must name.
    secret, value : str, optional
        Names of the columns of ``source``; needed only where the protocol does not name them. ``"#2"`` is the
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
    released : str, optional
        Name of the released column; that of the value column by default.
    unproved : bool
        Whether to release from a protocol that does not prove what it claims, or claims nothing.
    epsilon_at_most : float, optional
        The largest ε that the protocol may prove.
    expect_sha256 : str, optional
        The digest that the protocol file must have.
    delimiter, encoding : str, optional
        Of ``source`` if it is CSV, see :meth:`rldp.Sample.from_data`.
    show_labels : bool
        Whether a message about an entry that is no label may show it.
    jobs : int, optional
        How many files of a folder are released at a time; by default as many as there are processors.
    seed : int, optional
        **For tests only**, see :meth:`rldp.Protocol.release`.
    callback : callable, optional
        Called with the progress after each part: ``.rows`` released so far, the ``.share`` of the input that
        is read, rows ``.skipped`` because an entry is missing.

    Returns
    -------
    int
        How many rows were released.

    Raises
    ------
    NotProved
        If the protocol does not prove what is asked of it.
    DataError
        If a file cannot be read or written, or if rows hold nulls or unknown labels, with the first
        such row (counted from 1, without the header) and how many there are.
    InvalidArgument, InvalidArgumentType
        If the columns asked for cannot be written together.
    """
    from rldp.releaser.files import release_file as release_from

    return release_from(
        admitted_protocol(protocol, Conditions(unproved, epsilon_at_most, expect_sha256)),
        source,
        target,
        secret=secret,
        value=value,
        as_secret=as_secret,
        as_value=as_value,
        unknown=unknown,
        keep=keep,
        allow_original=allow_original,
        name=released,
        delimiter=delimiter,
        encoding=encoding,
        show_labels=show_labels,
        jobs=jobs,
        seed=seed,
        callback=callback,
    )
