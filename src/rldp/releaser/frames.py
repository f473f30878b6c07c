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
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import Drawn, Inspection, Request, Tally
from rldp.theory.sampling import Randomness

__all__ = ["PART", "release_frame", "released_batches", "released_part"]

PART = "a part of the data"
"""What messages call rows of which nobody knows how many others came before."""


def release_frame(request: Request, frame: Any, inspect: Inspection, *, seed: int | None = None) -> Any:
    """A frame of the same kind with a released column; see :meth:`rldp.Protocol.release_frame`.

    All rows are inspected before a frame in memory comes back, and at the end of a stream. Nobody sees all
    rows of a lazy frame.
    """
    words = randomness(seed)
    kind = _kind(frame)
    if kind == "polars.LazyFrame":
        return _of_lazy_polars(frame, request, words, in_parts=seed is None)
    return _KINDS[kind](frame, request, words, inspect)


def released_part(request: Request, frame: Any) -> Any:
    """Some rows of a larger frame, released: a frame of the same kind, drawn with secure randomness."""
    return _KINDS[_kind(frame)](frame, request, randomness(None), _uninspected, PART)


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

    @property
    def values(self) -> list[int]:
        """Where the columns are that are released."""
        return self.read[-len(self.released) :]

    @property
    def all(self) -> list[int]:
        """Each place once."""
        return list(dict.fromkeys([*self.read, *self.kept]))


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
    )


def _drawn(
    request: Request, columns: Sequence[Any], words: Randomness, source: str, before: Faults | None = None
) -> Drawn:
    """Outputs for all rows of these columns, or the sentence about those that cannot be released."""
    encoded = [
        encode(column_name(column.name, source), entries, alphabet_of(column))
        for column, entries in zip(request.columns.reading.columns, columns, strict=True)
    ]
    drawn = request.draw(encoded, before or request.no_faults(), words)
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
    drawn = _drawn(request, read, words, source)
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
    drawn = _drawn(request, read, words, source)
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
    schema = frame.collect_schema()
    at = _placed(request, schema.names())
    names = [schema.names()[place] for place in at.all]
    kept = {schema.names()[place]: schema.dtypes()[place] for place in at.kept}
    released = {
        name: polars_labels(column.labels, schema.dtypes()[place]).dtype
        for name, column, place in zip(at.released, request.released, at.values, strict=True)
    }
    return frame.select(names).map_batches(
        lambda part: _of_polars(part, request, words, _uninspected, PART if in_parts else "data"),
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
    inspect: Inspection = _uninspected,
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
    inspect : callable
        Sees what is counted of all rows, after the last of them.
    source : str
        What messages call the rows.
    """
    words = randomness(None) if words is None else words
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
        drawn = _drawn(request, [batch.column(place) for place in at.read], words, source, found)
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
