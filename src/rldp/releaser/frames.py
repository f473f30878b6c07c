"""Release of data frames: the kind that goes in comes out. Lazy frames and streams stay what they are.

The result holds the kept columns and then the released ones, nothing else: no other column, no metadata.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.data.bins import alphabet_of
from rldp.data.columns import arrow_labels, decode, encode, polars_labels
from rldp.data.headers import column_name, require_columns, require_distinct, require_headers
from rldp.data.labels import Faults
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.releaser.ids import ids_of
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import Drawn, Inspection, Recorder, Request, Tally
from rldp.theory.sampling import Randomness

__all__ = ["PART", "release_frame", "released_batches", "released_part"]

PART = "a part of the data"
"""What messages call rows of which nobody knows how many others came before."""


def release_frame(
    request: Request,
    frame: Any,
    inspect: Inspection,
    *,
    seed: int | None = None,
    recorder: Recorder | None = None,
) -> Any:
    """A frame of the same kind with a released column; see :meth:`rldp.Protocol.release_frame`.

    All rows are inspected before a frame in memory comes back, and at the end of a stream. Nobody sees all
    rows of a lazy frame.
    """
    words, inspect = randomness(seed), request.with_people(inspect)
    kind = _kind(frame)
    if recorder is not None:
        return _recorded(frame, kind, request, words, inspect, recorder)
    if kind == "polars.LazyFrame":
        return _of_lazy_polars(frame, request, words, in_parts=seed is None)
    return _KINDS[kind](frame, request, words, inspect)


def _recorded(
    frame: Any,
    kind: str,
    request: Request,
    words: Randomness,
    inspect: Inspection,
    recorder: Recorder,
) -> Any:
    """A frame in memory, released and recorded before it comes back."""
    if kind not in _IN_MEMORY:
        raise InvalidArgument(
            "ledger must be for files and for frames of pandas, Polars or Arrow that are in memory, got "
            f"{type(frame).__name__}: nobody sees all of its rows before some are out"
        )
    header, column = _IN_MEMORY[kind](frame)
    at = _placed(request, header)
    released = _KINDS[kind](frame, request, words, inspect)
    read = [(str(header[place]), column(place)) for place in at.read]
    ids = [] if at.id is None else [(str(header[at.id]), column(at.id))]
    recorder.frame(read, ids, len(released), len(frame) - len(released), at.released)
    return released


_IN_MEMORY: dict[str, Callable[[Any], tuple[Sequence[Any], Callable[[int], Any]]]] = {
    "pandas.DataFrame": lambda frame: (list(frame.columns), lambda place: frame.iloc[:, place]),
    "polars.DataFrame": lambda frame: (frame.columns, frame.to_series),
    "pyarrow.Table": lambda table: (table.schema.names, table.column),
    "pyarrow.RecordBatch": lambda batch: (batch.schema.names, batch.column),
}
"""Frames whose rows are all there: names of their columns, and what gives a column by its place."""


def released_part(request: Request, frame: Any) -> Any:
    """Some rows of a larger frame, released: a frame of the same kind, drawn with secure randomness."""
    inspect = request.with_people(_uninspected)
    return _KINDS[_kind(frame)](frame, request, randomness(None), inspect, PART)


def _uninspected(tally: Tally) -> None:
    """Let some rows pass: what is to be said of all rows cannot be said of them."""


def _kind(frame: object) -> str:
    for kind in (*_KINDS, "polars.LazyFrame"):
        library, name = kind.split(".")
        module = sys.modules.get(library)
        if module is not None and isinstance(frame, getattr(module, name)):
            return kind
    home = type(frame).__module__.partition(".")[0]
    advice = f"; rldp.{'spark' if home == 'pyspark' else 'dask'}.release" if home in _CLUSTERS else ""
    raise InvalidArgumentType(
        "frame must be a frame of pandas or Polars, an Arrow table, batch or reader, or a DuckDB relation, "
        f"got {type(frame).__name__}{advice + ' takes it' if advice else ''}"
    )


_CLUSTERS = ("pyspark", "dask")


@dataclass(frozen=True)
class _Places:
    """Where the columns of a frame are that are read, in order, and those that are kept; and new names."""

    read: list[int]
    kept: list[int]
    released: tuple[Any, ...]
    id: int | None

    @property
    def values(self) -> list[int]:
        """Where the columns are that are released."""
        return self.read[-len(self.released) :]

    @property
    def all(self) -> list[int]:
        """Each place once."""
        return list(dict.fromkeys([*self.read, *self.kept, *([] if self.id is None else [self.id])]))


def _placed(request: Request, header: Sequence[Any], source: str = "data") -> _Places:
    columns = request.columns
    places = require_columns(list(header), columns.names, source)
    require_distinct(places)
    headers = {column.name: column.header for column in columns.reading.columns}
    require_headers(headers, lambda column: str(header[places[column]]), source)
    return _Places(
        [places[name] for name in columns.reading.names],
        [places[name] for name in columns.keep],
        request.released_names(lambda column: header[places[column]]),
        None if columns.id is None else places[columns.id],
    )


def _drawn(
    request: Request,
    columns: Sequence[Any],
    ids: Any,
    words: Randomness,
    source: str,
    before: Faults | None = None,
) -> Drawn:
    """Outputs for all rows of these columns, or the sentence about those that cannot be released.

    ``ids``: the column that identifies people, if there is one.
    """
    encoded = [
        encode(column_name(column.name, source), entries, alphabet_of(column))
        for column, entries in zip(request.columns.reading.columns, columns, strict=True)
    ]
    people = None if ids is None else ids_of(column_name(str(request.columns.id), source), ids)
    drawn = request.draw(encoded, before or request.no_faults(), words, people)
    drawn.faults.refuse("released")
    return drawn


# Frames in memory


def _of_pandas(
    frame: Any, request: Request, words: Randomness, inspect: Inspection, source: str = "data"
) -> Any:
    at = _placed(request, list(frame.columns), source)
    _require_harmless_index(frame, request)
    read = [frame.iloc[:, place] for place in at.read]
    kept, values = frame.iloc[:, at.kept], read[-len(at.released) :]
    request.guard.require_rows({name: kept.iloc[:, i] for i, name in enumerate(kept.columns)})
    for column, like in zip(request.released, values, strict=True):
        decode(like.iloc[:0], np.empty(0, dtype=np.int32), column.labels)
    ids = None if at.id is None else frame.iloc[:, at.id]
    drawn = _drawn(request, read, ids, words, source)
    inspect(drawn.tally)
    if drawn.used is not None:
        kept, values = kept[drawn.used], [like[drawn.used] for like in values]
    released = kept.copy()
    released.attrs = {}  # which may say anything about the rows
    for name, column, like, codes in zip(at.released, request.released, values, drawn.codes, strict=True):
        released[name] = decode(like, codes, column.labels).array
    return released


def _require_harmless_index(frame: Any, request: Request) -> None:
    """The index is kept: it must not be the secret or the value, unless that is asked for."""
    for name in request.columns.reading.names:
        if name in frame.index.names and name not in request.columns.keep:
            raise InvalidArgument(
                f"the index of data, which is kept, must not be called {name!r} like a column that is not; "
                "reset_index(drop=True) makes a new one"
            )


def _of_polars(
    frame: Any, request: Request, words: Randomness, inspect: Inspection, source: str = "data"
) -> Any:
    import polars

    at = _placed(request, frame.columns, source)
    read = [frame.to_series(place) for place in at.read]
    labels = [
        polars_labels(column.labels, like.dtype).alias(name)
        for name, column, like in zip(at.released, request.released, read[-len(at.released) :], strict=True)
    ]
    kept = [frame.to_series(place) for place in at.kept]
    request.guard.require_rows({column.name: column for column in kept})
    ids = None if at.id is None else frame.to_series(at.id)
    drawn = _drawn(request, read, ids, words, source)
    inspect(drawn.tally)
    if drawn.used is not None:
        used = polars.Series(drawn.used)
        kept = [column.filter(used) for column in kept]
    released = [column.gather(codes) for column, codes in zip(labels, drawn.codes, strict=True)]
    return polars.DataFrame([*kept, *released])


def _of_table(
    table: Any, request: Request, words: Randomness, inspect: Inspection, source: str = "data"
) -> Any:
    batches = released_batches(request, [table], table.schema, words, inspect, source=source)
    (released,) = list(batches)
    return released


# Lazy frames and streams


def _of_lazy_polars(frame: Any, request: Request, words: Randomness, *, in_parts: bool) -> Any:
    """A filter on a released column must not reach the value of the same name: nothing is pushed down."""
    schema, inspect = frame.collect_schema(), request.with_people(_uninspected)
    at = _placed(request, schema.names())
    names = [schema.names()[place] for place in at.all]
    kept = {schema.names()[place]: schema.dtypes()[place] for place in at.kept}
    released = {
        name: polars_labels(column.labels, schema.dtypes()[place]).dtype
        for name, column, place in zip(at.released, request.released, at.values, strict=True)
    }
    return frame.select(names).map_batches(
        lambda part: _of_polars(part, request, words, inspect, PART if in_parts else "data"),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema={**kept, **released},
        streamable=in_parts,
    )


def _of_reader(reader: Any, request: Request, words: Randomness, inspect: Inspection) -> Any:
    import pyarrow

    _, schema = _arrow_plan(request, reader.schema, "data")
    return pyarrow.RecordBatchReader.from_batches(
        schema, released_batches(request, reader, reader.schema, words, inspect, source="data")
    )


def released_batches(
    request: Request,
    batches: Any,
    schema: Any,
    words: Randomness | None = None,
    inspect: Inspection | None = None,
    *,
    source: str = PART,
) -> Iterator[Any]:
    """Record batches or tables, released one by one.

    Parameters
    ----------
    request : Request
    batches : iterable of pyarrow.RecordBatch
    schema : pyarrow.Schema
        Theirs.
    words : callable, optional
        By default the operating system's secure randomness.
    inspect : callable, optional
        Sees what is counted of all rows, after the last of them; by default, nothing but whether each person
        has one row.
    source : str
        What messages call the rows.
    """
    words = randomness(None) if words is None else words
    inspect = request.with_people(_uninspected) if inspect is None else inspect
    at, released = _arrow_plan(request, schema, source)
    names = [schema.field(place).name for place in at.kept]
    labels = [
        arrow_labels(column.labels, kind)
        for column, kind in zip(request.released, released.types[-len(at.released) :], strict=True)
    ]
    found, tally = request.no_faults(), request.no_rows()
    for batch in batches:
        kept = [batch.column(place) for place in at.kept]
        if not found.rows:
            request.guard.require_rows(dict(zip(names, kept, strict=True)))
        read = [batch.column(place) for place in at.read]
        ids = None if at.id is None else batch.column(at.id)
        drawn = _drawn(request, read, ids, words, source, found)
        found, tally = drawn.faults, tally + drawn.tally
        yield _arrow_rows(type(batch), kept, released, labels, drawn)
    inspect(tally)


def _arrow_plan(request: Request, schema: Any, source: str) -> tuple[_Places, Any]:
    import pyarrow

    at = _placed(request, schema.names, source)
    kept = [schema.field(place).remove_metadata() for place in at.kept]
    released = [
        pyarrow.field(name, arrow_labels(column.labels, schema.field(place).type).type)
        for name, column, place in zip(at.released, request.released, at.values, strict=True)
    ]
    return at, pyarrow.schema([*kept, *released])


def _arrow_rows(kind: Any, kept: Sequence[Any], schema: Any, labels: Sequence[Any], drawn: Drawn) -> Any:
    import pyarrow

    if drawn.used is not None:
        used: NDArray[np.bool_] = drawn.used
        kept = [column.filter(pyarrow.array(used)) for column in kept]
    released = [each.take(pyarrow.array(codes)) for each, codes in zip(labels, drawn.codes, strict=True)]
    return kind.from_arrays([*kept, *released], schema=schema)


def _of_duckdb(relation: Any, request: Request, words: Randomness, inspect: Inspection) -> Any:
    """The rows are drawn here and now, once: a relation that drew them when it is read would draw again."""
    names = relation.columns
    at = _placed(request, names)
    if len(set(names)) == len(names):
        quoted = ('"' + names[place].replace('"', '""') + '"' for place in at.all)
        relation = relation.project(", ".join(quoted))
    rows = (
        relation.to_arrow_reader() if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader()
    )
    # DuckDB finds this variable by its name, which no table of anybody's has.
    rldp_released_8c1f27d0 = _of_reader(rows, request, words, inspect).read_all()
    assert rldp_released_8c1f27d0 is not None
    return relation.query("rldp_original_8c1f27d0", "select * from rldp_released_8c1f27d0")


_KINDS: dict[str, Callable[..., Any]] = {
    "pandas.DataFrame": _of_pandas,
    "polars.DataFrame": _of_polars,
    "pyarrow.Table": _of_table,
    "pyarrow.RecordBatch": _of_table,
    "pyarrow.RecordBatchReader": _of_reader,
    "duckdb.DuckDBPyRelation": _of_duckdb,
}
