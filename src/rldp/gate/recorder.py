"""Record a release in the ledger: digests of its input and output, and its promise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from math import isinf
from operator import add
from pathlib import Path
from typing import Any, BinaryIO

from rldp._common.canonical import digest_of
from rldp.chain import Chain
from rldp.errors import DataError, DataFileError
from rldp.gate.admission import Admitted
from rldp.gate.ledger import read_ledger, recording
from rldp.gate.lines import Line
from rldp.protocol import Protocol
from rldp.protocol_file.chain_json import digest_of_stage
from rldp.protocol_file.chains import table_digest
from rldp.releaser.files import Outcome
from rldp.releaser.requests import Request, Tally
from rldp.releaser.traces import Trace, Traces
from rldp.sets import name_of

__all__ = ["Recorder", "given_to_readers"]


@dataclass(frozen=True)
class Recorder:
    """Adds a release to the ledger named in its options, just before it appears."""

    request: Request
    admitted: Admitted
    path: Path

    @classmethod
    def of(cls, request: Request, admitted: Admitted) -> Recorder | None:
        """Return a recorder if there is a ledger, which is read immediately so that damage is found early."""
        if request.options.ledger is None:
            return None
        path = Path(request.options.ledger)
        if path.exists():
            read_ledger(path)
        return cls(request, admitted, path)

    def files(self, outcome: Outcome) -> AbstractContextManager[None]:
        """Enter a block in which files appear."""
        try:
            given = _digest_of_files(outcome.read)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DataFileError(f"data must be readable to the end, but they are not: {reason}") from error
        line = self._line(given, _digest_of_files(outcome.written), outcome.tally, outcome.released)
        return recording(self.path, line, outcome.appeared)

    def frame(self, tally: Tally, released: Sequence[Any]) -> None:
        """Record a frame in memory: its input is the columns that were read.

        Identifiers are not part of the input: it is the same with a key or without.
        """
        given = _digest_of_read(_traces(tally), self.request)
        line = self._line(given, None, tally, tuple(map(str, released)))
        with recording(self.path, line):
            pass

    def _line(
        self,
        given: str,
        written: str | None,
        tally: Tally,
        released: tuple[str, ...],
    ) -> Line:
        protocol, stable, options = self.admitted.protocol, self.request.stable, self.request.options
        verdict, claim = self.admitted.verdict, protocol.guarantee
        if verdict is None or claim is None or not verdict.ok or verdict.epsilon is None:
            verdict = claim = None
        epsilon = None if verdict is None else verdict.epsilon
        own, read = protocol.reading, self.request.columns.reading
        traces, earlier = _traces(tally), _earlier(protocol)
        of_secret, others = traces.read[: len(read.secret)], traces.read[len(read.secret) :]
        of_earlier = others[len(read.given) - len(earlier) : len(read.given)]
        people, with_secrets = _people(traces, tally.rows)
        return Line(
            when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            input=given,
            output=written,
            protocol=self.admitted.sha256 or hashlib.sha256(protocol.to_json().encode()).hexdigest(),
            table=protocol.table_sha256,
            epsilon=None if epsilon is None or isinf(epsilon) else epsilon,
            promise="nothing proved" if verdict is None else verdict.promise,
            privacy=None if claim is None else name_of(claim.privacy),
            alpha=None if claim is None else getattr(claim.privacy, "alpha", None),
            secret=read.secret_names if own is None else own.secret_names,
            secrets=digest_of(protocol.secrets).hex(),
            columns=protocol.value_columns or read.value_names,
            read=(*read.names, *([] if self.request.columns.id is None else [self.request.columns.id])),
            unknown=str(options.unknown),
            released=released,
            kept=tuple(options.keep),
            rows=tally.rows,
            skipped=tally.skipped,
            known=given_to_readers(protocol),
            key=None if stable is None else stable.fingerprint,
            secret_rows=_digest_of_varying(of_secret),
            read_rows=tuple(trace.digest for trace in traces.read if trace.varies),
            people=people,
            people_with_secrets=with_secrets,
            drawn=_drawn(protocol, len(traces.released)),
            drawn_rows=tuple(trace.digest for trace in traces.released),
            after=earlier,
            after_rows=tuple(trace.digest for trace in of_earlier),
            again=options.again,
        )


def given_to_readers(protocol: Protocol) -> tuple[str, ...]:
    """Return the given columns, if the promise is only to readers who know them."""
    return protocol.given_columns if getattr(protocol.guarantee, "given_known", False) else ()


def _traces(tally: Tally) -> Traces:
    if not tally.traces:
        raise DataError("data must hold at least one row to be in a ledger, got none")
    return reduce(add, tally.traces)


def _people(traces: Traces, rows: int) -> tuple[str | None, str | None]:
    """Digests of the identifiers, in any order, alone and each with its secret."""
    if not traces.people:
        return None, None
    lanes = list(map(str, traces.people))
    return digest_of([rows, lanes[:2]]).hex(), digest_of([rows, lanes]).hex()


def _drawn(protocol: Protocol, columns: int) -> tuple[str, ...]:
    """Digests of the tables of the columns that are drawn, as a later protocol has them in its file.

    Columns of one table were not drawn one after the other; no protocol follows them, and there is none.
    """
    if isinstance(protocol, Chain):
        stages = {stage.column: stage for stage in protocol.stages}
        return tuple(digest_of_stage(stages[name], protocol) for name in protocol.value_columns)
    if columns > 1:
        return ()
    labels = protocol.secrets, protocol.values, protocol.outputs
    return (table_digest(*labels, protocol.numerators[None].tolist()),)


def _earlier(protocol: Protocol) -> tuple[str, ...]:
    """Those of the tables after which this one was designed."""
    if not isinstance(protocol, Chain):
        return ()
    return tuple(digest_of_stage(each, protocol) for each in protocol.stages if each.earlier is not None)


def _digest_of_varying(traces: Sequence[Trace]) -> str | None:
    """Of columns together, in the order of their rows; None if no row differs from another."""
    if not any(trace.varies for trace in traces):
        return None
    return digest_of([trace.digest for trace in traces]).hex()


def _digest_of_read(traces: Traces, request: Request) -> str:
    """Of the columns of a frame that are read, with their names."""
    names = request.columns.reading.names
    return digest_of([[name, each.digest] for name, each in zip(names, traces.read, strict=True)]).hex()


def _digest_of_files(files: Iterable[BinaryIO | Path]) -> str:
    """Return SHA-256 of a file, or of those of several in any order."""
    digests = sorted(_digest_of_file(file) for file in files)
    return digests[0] if len(digests) == 1 else digest_of(digests).hex()


def _digest_of_file(file: BinaryIO | Path) -> str:
    if isinstance(file, Path):
        with file.open("rb") as opened:
            return _digest_of_file(opened)
    file.flush()
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
