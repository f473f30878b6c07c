"""A release: a table, the columns to read and to keep, and one way to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Protocol as Interface, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, shown
from rldp.data.headers import column_name
from rldp.data.labels import NOT_A_LABEL, Alphabet, Codes, Faults, count_pairs
from rldp.data.readers import Columns, Part
from rldp.data.reading import Reading
from rldp.data.rows import Rows, joint_codes, rows_of
from rldp.data.wanted import reading_of_new_data
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.ids import Identified, Ids, ids_of, require_distinct
from rldp.releaser.keys import key_of
from rldp.releaser.options import ReleaseOptions
from rldp.releaser.stable_draws import StableDraws
from rldp.releaser.traces import Traces, people_in, trace_of
from rldp.theory.sampling import Randomness

__all__ = ["Drawn", "Guard", "Inspect", "ReleasedColumn", "Request", "Tally"]


class Guard(Interface):
    """Decides which columns may be kept; implemented in :mod:`rldp.gate.kept`."""

    def require_names(self, secret: Sequence[str], value: Sequence[str], kept: Mapping[str, str]) -> None:
        """Refuse columns that must not be kept; ``kept`` maps requested names to names in the table."""

    def require_rows(self, kept: Mapping[str, Any]) -> bool:
        """Refuse columns whose entries must not be kept; ``kept`` maps names to entries.

        Return whether there were enough rows to tell.
        """


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of rows while they are released.

    Attributes
    ----------
    pairs : int array (|S|, |U|)
        Released rows by secret and value; (1, |U|) if the secret is not read.
    absent : int array (|S|,)
        Rows left out because an entry is missing, by secret; (1,) if the secret is not read.
    faults : Faults
        Rows that cannot be released. If there are any, they and later rows are not counted otherwise.
    skipped : int
        Rows left out because an entry is missing.
    people : tuple of Identified
        The people of the rows, part by part, if they are identified.
    traces : tuple of Traces
        The evidence by which a ledger recognises the rows, part by part, if there is one.
    """

    pairs: NDArray[np.int64]
    absent: NDArray[np.int64]
    faults: Faults = field(default_factory=Faults)
    skipped: int = 0
    people: tuple[Identified, ...] = ()
    traces: tuple[Traces, ...] = ()

    @property
    def rows(self) -> int:
        """Number of released rows."""
        return self.faults.rows - self.skipped

    @property
    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of nonzero counts, first of pairs, then of absent rows; and these counts."""
        flat = np.concatenate([self.pairs.ravel(), self.absent])
        places = np.flatnonzero(flat)
        return places.astype(np.int64), flat[places].astype(np.int64)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.pairs + other.pairs,
            self.absent + other.absent,
            self.faults + other.faults,
            self.skipped + other.skipped,
            (*self.people, *other.people),
            (*self.traces, *other.traces),
        )


Inspect: TypeAlias = Callable[[Tally], object]
"""Checks all rows, and raises an error to refuse them."""


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A released column.

    Attributes
    ----------
    labels : tuple of labels
        Its labels.
    of_outputs : int32 array (|Y|,)
        The code of its label for each output of the protocol.
    """

    labels: tuple[Label, ...]
    of_outputs: Codes

    @classmethod
    def all_of(cls, outputs: Sequence[Label]) -> tuple[ReleasedColumn, ...]:
        """Return the released columns of a protocol: one, or one for each entry of tuple outputs."""
        columns = []
        for entries in zip(*(y if isinstance(y, tuple) else (y,) for y in outputs), strict=True):
            labels = tuple(dict.fromkeys(entries))
            codes = {label: code for code, label in enumerate(labels)}
            columns.append(cls(labels, np.array([codes[entry] for entry in entries], dtype=np.int32)))
        return tuple(columns)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The outputs of some rows.

    Attributes
    ----------
    codes : tuple of int32 array
        For each released column; empty if these or earlier rows have faults.
    used : bool array or None
        The rows with an output; None for all rows.
    tally : Tally
        The counts of these rows and all earlier ones.
    """

    codes: tuple[Codes, ...]
    used: NDArray[np.bool_] | None
    tally: Tally

    def among(self, column: Any) -> Any:
        """Return the entries of the rows with an output, of a pandas or Polars series or an Arrow array."""
        if self.used is None:
            return column
        return column[self.used] if hasattr(column, "loc") else column.filter(self.used)


@dataclass(frozen=True, eq=False)
class Request:
    """The table of a protocol, the columns it is applied to, and those to keep.

    It holds everything that a worker needs, and nothing else: no counts of the sample, no certificate.

    Attributes
    ----------
    protocol : Protocol
        The table and how columns are read, without a guarantee.
    columns : Columns
        The columns to read and to keep.
    options : ReleaseOptions
    unknown : int or None
        The code that replaces values unknown to the protocol; None refuses them.
    guard : Guard
    released : tuple of ReleasedColumn
        In the order of the reading's value columns.
    stable : StableDraws or None
        Draws the same output for the same person; None if every draw is new. Only this attribute holds the
        key.
    """

    protocol: Protocol
    columns: Columns
    options: ReleaseOptions
    unknown: int | None
    guard: Guard
    released: tuple[ReleasedColumn, ...]
    stable: StableDraws | None

    @classmethod
    def of(cls, protocol: Protocol, options: ReleaseOptions, guard: Guard) -> Request:
        """Return the request that the options of a release describe."""
        reading = reading_of_new_data(
            protocol.reading_of_rows,
            (protocol.secrets, protocol.values),
            secret=options.secret,
            value=options.value,
            as_secret=options.as_secret,
            as_value=options.as_value,
            reads_secret=protocol.reads_secret,
        )
        reading = _with_earlier(reading, protocol, options)
        if reading.secret and protocol.epsilon_known == 0 and not protocol.reads_secret:
            raise InvalidArgument(
                "secret must be left out: the protocol does not read the secret, and takes no column of it"
            )
        alone = protocol.alone() if reading.secret else protocol.without_secret()
        stable = None if options.key is None else StableDraws.of(protocol, key_of(options.key))
        if stable is not None and options.id in reading.names:
            raise InvalidArgument(
                f"id must be another column than those of secret and value, got {options.id!r}"
            )
        columns = Columns(reading, tuple(options.keep), None if stable is None else options.id)
        return cls(
            alone,
            columns,
            replace(options, key=None),
            _code_of_unknown(protocol, options),
            guard,
            ReleasedColumn.all_of(protocol.outputs),
            stable,
        )

    def released_names(self, called: Callable[[str], str]) -> tuple[str, ...]:
        """Return the names of the released columns, after the guard has accepted the kept ones.

        ``called`` maps requested columns to their names in the table.
        """
        reading = self.columns.reading
        secret, value, given = (
            [called(column) for column in names]
            for names in (reading.secret_names, reading.value_names, reading.given_names)
        )
        released = (*given, *self.options.names_of_released(value))
        for name in given:
            if released.count(name) > 1:
                raise InvalidArgument(f"released must not be {name!r}, which is published beside it")
        kept = {column: called(column) for column in self.columns.keep}
        names = list(kept.values())
        for name in names:
            if names.count(name) > 1:
                raise InvalidArgument(f"keep must name columns of different names, got two called {name!r}")
            if name in given:
                raise InvalidArgument(
                    f"keep must leave out {name!r}, which is published anyway, inside the promise"
                )
        self.guard.require_names(secret, value, kept)
        for name in released:
            if name in names:
                raise InvalidArgument(
                    f"the released column must not be called {name!r} like a kept column; "
                    "choose another name with released="
                )
        return released

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of values that rows can have."""
        return len(self.protocol.secrets), prod(len(column.labels) for column in self.columns.reading.row)

    def no_rows(self) -> Tally:
        """Return the tally of no rows."""
        pairs, absent = np.zeros(self.shape, dtype=np.int64), np.zeros(self.shape[0], dtype=np.int64)
        return Tally(pairs, absent, Faults(show_labels=self.options.show_labels))

    def tally_of(self, places: NDArray[np.int64], counts: NDArray[np.int64]) -> Tally:
        """Return the tally with these counts at these positions, which may be repeated."""
        flat = np.zeros((self.shape[1] + 1) * self.shape[0], dtype=np.int64)
        np.add.at(flat, places, counts)
        return Tally(flat[: -self.shape[0]].reshape(self.shape), flat[-self.shape[0] :])

    def without_kept(self) -> Request:
        """Return the request without the columns to keep, which suffices to count rows."""
        return replace(self, columns=replace(self.columns, keep=()))

    def draw(self, part: Part, before: Tally, words: Randomness, source: object) -> Drawn:
        """Draw an output for every row of a part; ``before`` is the tally of earlier rows.

        ``source`` is the name of the table in messages.
        """
        rows, ids = self._read(part, before.faults, source)
        before = replace(before, faults=rows.faults, skipped=before.skipped + rows.skipped)
        if rows.faults.at_fault:
            return Drawn((np.empty(0, dtype=np.int32),) * len(self.released), rows.used, before)
        tally = self._counted(part, rows, ids)
        by_row = None if self.stable is None or ids is None else self.stable.words(ids.among(rows.used))
        drawn = self.protocol.draw(rows.secrets, rows.values, words if by_row is None else by_row)
        released: tuple[Codes, ...] = (drawn,)
        if len(self.released) > 1:
            released = tuple(column.of_outputs[drawn] for column in self.released)
        if self.options.ledger is not None:
            tally = replace(tally, traces=(self._traces(part, rows, tally.people, released),))
        return Drawn(released, rows.used, before + tally)

    def tally(self, part: Part, source: object) -> Tally:
        """Count rows without drawing; raise an error if some cannot be released."""
        rows, ids = self._read(part, self.no_rows().faults, source)
        rows.faults.refuse("released")
        return self._counted(part, rows, ids)

    def require_sound(self, tally: Tally, inspect: Inspect | None = None, *, advice: str = "") -> None:
        """Refuse unusable rows, people with two rows, and rows that an inspection refuses."""
        tally.faults.refuse("released", advice=advice)
        require_distinct(str(self.columns.id), tally.people)
        if inspect is not None:
            inspect(tally)

    def _read(self, part: Part, before: Faults, source: object) -> tuple[Rows, Ids | None]:
        """Return the rows of a part, and who they are about."""
        ids = None if part.ids is None else ids_of(column_name(str(self.columns.id), source), part.ids)
        beside = () if ids is None else (ids.column,)
        return rows_of(self.columns.reading, part.columns, before, self.unknown, beside), ids

    def _counted(self, part: Part, rows: Rows, ids: Ids | None) -> Tally:
        secret, absent = self.columns.reading.secret, np.zeros(self.shape[0], dtype=np.int64)
        if not secret:
            absent[0] = rows.skipped
        elif rows.used is not None:
            joint = joint_codes(secret, [column.codes[~rows.used] for column in part.columns[: len(secret)]])
            absent = np.bincount(joint[joint >= 0], minlength=len(absent))
        people = () if ids is None else (ids.identified(rows.used),)
        return Tally(count_pairs(rows.secrets, rows.values, self.shape), absent, people=people)

    def _traces(
        self, part: Part, rows: Rows, people: Sequence[Identified], released: Sequence[Codes]
    ) -> Traces:
        drawn = list(zip(self.released, released, strict=True))[len(self.columns.reading.given) :]
        return Traces(
            tuple(trace_of(column.labels, column.codes) for column in part.columns),
            tuple(trace_of(column.labels, codes, rows.used) for column, codes in drawn),
            people_in(people[0], self.protocol.secrets, rows.secrets) if people else (),
        )

    def named(self, header: Sequence[str], source: str) -> Request:
        """Return the request for a frame with this header of unique names.

        Some columns of the frame then suffice, in any order.
        """
        return replace(self, columns=self.columns.named(header, self.columns.places(header, source)))


def _with_earlier(reading: Reading, protocol: Protocol, options: ReleaseOptions) -> Reading:
    """Return the reading, with the names that columns of earlier outputs have in the rows."""
    kept = len(reading.given) - len(reading.earlier)
    earlier = reading.given[kept:]
    asked = options.as_earlier
    names = () if asked is None else (asked,) if isinstance(asked, str) else tuple(asked)
    if len(names) != len(earlier):
        if not earlier:
            raise InvalidArgument("as_earlier must be left out: the protocol follows no earlier release")
        wanted = ", ".join(repr(column.name) for column in earlier)
        raise InvalidArgument(
            f"as_earlier must name a column for each of {wanted}, in this order, got {len(names)}; it holds "
            "what the earlier release published, not what people have"
        )
    for name in names:
        if name in (*reading.secret_names, *reading.value_names, *protocol.given_columns):
            raise InvalidArgument(
                f"as_earlier must name columns of earlier outputs, got {name!r}, which is read already"
            )
    columns = [replace(column, name=name) for column, name in zip(earlier, names, strict=True)]
    return replace(reading, given=(*reading.given[:kept], *columns))


def _code_of_unknown(protocol: Protocol, options: ReleaseOptions) -> int | None:
    given = options.unknown
    if given is None or given == "refuse":
        return None
    if protocol.reading_of_rows is not None and protocol.reading_of_rows.given:
        raise InvalidArgument(
            "unknown= must be refuse for a protocol with given columns or earlier releases, got another value"
        )
    if given in protocol.values:
        return protocol.values.index(given)
    code = NOT_A_LABEL
    if isinstance(given, str) and given.startswith("value="):
        code = int(Alphabet(protocol.values).of_texts([given.removeprefix("value=")])[0])
    if code == NOT_A_LABEL:
        raise InvalidArgument(
            f"unknown= must be refuse or value=LABEL, with a value of the protocol, got {shown(given)}"
        )
    return code
