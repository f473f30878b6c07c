"""Record a release in the ledger: digests of its input and output, and its promise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isinf
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

from rldp._common.canonical import digest_of, encoded
from rldp.chain import Chain
from rldp.errors import DataFileError
from rldp.gate.admission import Admitted
from rldp.gate.ledger import Line, read_ledger, recording
from rldp.protocol import Protocol
from rldp.releaser.ids import listed
from rldp.releaser.options import ReleaseOptions
from rldp.releaser.requests import Request
from rldp.sets import name_of

__all__ = ["Recorder"]


@dataclass(eq=False)
class Recorder:
    """Adds a release to the ledger named in its options, just before it appears.

    Files are digested in a thread during the release, so that a large input does not delay it.
    """

    request: Request
    admitted: Admitted
    options: ReleaseOptions
    path: Path
    _input: Future[str] | None = field(default=None, init=False)
    _ended: Event = field(default_factory=Event, init=False)

    @classmethod
    def of(cls, request: Request, admitted: Admitted, options: ReleaseOptions) -> Recorder | None:
        """Return a recorder if there is a ledger, which is read immediately so that damage is found early."""
        if options.ledger is None:
            return None
        path = Path(options.ledger)
        if path.exists():
            read_ledger(path)
        return cls(request, admitted, options, path)

    def begin(self, paths: Sequence[Path]) -> None:
        """Start to digest the input."""
        pool = ThreadPoolExecutor(1)
        self._input = pool.submit(_digest_of_files, paths, self._ended)
        pool.shutdown(wait=False)

    def end(self) -> None:
        """Stop digesting: a failed release does not wait for it."""
        self._ended.set()

    def files(
        self, outcome: Any, written: Sequence[BinaryIO | Path], *, undone: bool = True
    ) -> AbstractContextManager[None]:
        """Enter a block in which files appear; ``written`` are these files, open or closed."""
        assert self._input is not None
        try:
            given = self._input.result()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DataFileError(f"data must be readable to the end, but they are not: {reason}") from error
        done = _digest_of_files(written)
        line = self._line(given, done, outcome.rows, outcome.skipped, outcome.released)
        return recording(self.path, line, undone=undone)

    def frame(
        self,
        columns: Sequence[tuple[str, Any]],
        ids: Sequence[tuple[str, Any]],
        rows: int,
        skipped: int,
        released: Sequence[Any],
    ) -> None:
        """Record a frame in memory; ``columns`` has names and entries of all that was read of it but ``ids``.

        Identifiers are not part of the input: it is the same with a key or without.
        """
        people = _digest_of_columns(ids) if ids else None
        line = self._line(_digest_of_columns(columns), None, rows, skipped, tuple(map(str, released)), people)
        with recording(self.path, line):
            pass

    def _line(
        self,
        given: str,
        written: str | None,
        rows: int,
        skipped: int,
        released: tuple[str, ...],
        people: str | None = None,
    ) -> Line:
        protocol, verdict, stable = self.admitted.protocol, self.admitted.verdict, self.request.stable
        claim = protocol.guarantee
        proved = verdict is not None and verdict.ok and verdict.epsilon is not None and claim is not None
        epsilon = verdict.epsilon if proved and verdict is not None else None
        own, read = protocol.reading, self.request.columns.reading
        return Line(
            when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            input=given,
            output=written,
            protocol=self.admitted.sha256 or hashlib.sha256(protocol.to_json().encode()).hexdigest(),
            table=protocol.table_sha256,
            epsilon=None if epsilon is None or isinf(epsilon) else epsilon,
            promise=verdict.promise if proved and verdict is not None else "nothing proved",
            privacy=name_of(claim.privacy) if proved and claim is not None else None,
            alpha=getattr(claim.privacy, "alpha", None) if proved and claim is not None else None,
            secret=read.secret_names if own is None else own.secret_names,
            secrets=digest_of(protocol.secrets).hex(),
            columns=protocol.value_columns or read.value_names,
            read=(*read.names, *([] if self.request.columns.id is None else [self.request.columns.id])),
            unknown=str(self.options.unknown),
            released=released,
            kept=tuple(self.options.keep),
            rows=rows,
            skipped=skipped,
            key=None if stable is None else stable.fingerprint,
            people=people,
            after=tuple(_earlier(protocol)),
            again=self.options.again,
        )


def _earlier(protocol: Protocol) -> Iterator[str]:
    """Yield SHA-256 of the files of the protocols after which this one was designed."""
    for stage in protocol.stages if isinstance(protocol, Chain) else ():
        if stage.earlier is not None and stage.earlier.sha256 is not None:
            yield stage.earlier.sha256


def _digest_of_files(files: Iterable[BinaryIO | Path], ended: Event | None = None) -> str:
    """Return SHA-256 of a file, or of the digests of several; something else if it ``ended`` early."""
    digests = [_digest_of_file(file, ended) for file in files]
    return digests[0] if len(digests) == 1 else digest_of(digests).hex()


def _digest_of_file(file: BinaryIO | Path, ended: Event | None) -> str:
    if isinstance(file, Path):
        with file.open("rb") as opened:
            return _digest_of_file(opened, ended)
    file.flush()
    file.seek(0)
    digest = hashlib.sha256()
    while (ended is None or not ended.is_set()) and (block := file.read(2**20)):
        digest.update(block)
    return digest.hexdigest()


def _digest_of_columns(columns: Sequence[tuple[str, Any]]) -> str:
    digest = hashlib.sha256()
    for name, column in columns:
        digest.update(encoded(name))
        digest.update(b"".join(map(_entry, listed(column))))
    return digest.hexdigest()


def _entry(entry: Any) -> bytes:
    """Encode a label as itself, a missing entry as nothing, and anything else as its text."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType") or entry != entry:
        return encoded(None)
    if isinstance(entry, str | int | float):
        return encoded(entry)
    return encoded(str(entry))
