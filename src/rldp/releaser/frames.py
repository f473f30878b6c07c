"""Release of data frames into frames of the same kind. Lazy frames and streams stay lazy.

The result holds the kept columns, then the released ones, and nothing else: no other column, no metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rldp._common.checks import kind_name
from rldp.data.columns import decode, encode, kind_among
from rldp.data.frames import WHOLE_FRAMES, header_of
from rldp.data.headers import column_name
from rldp.data.readers import Part
from rldp.errors import InvalidArgument, InvalidArgumentType, RldpError
from rldp.releaser.randomness import secure_words
from rldp.releaser.requests import Inspect, Request, Tally
from rldp.theory.sampling import Randomness

__all__ = ["release_frame", "released_batches", "released_part", "tally_of_part"]

_PART = "a part of the data"  # the number of earlier rows is unknown
_STREAMS = ("polars.LazyFrame", "pyarrow.RecordBatchReader", "duckdb.DuckDBPyRelation")
_CLUSTERS = {"pyspark": "spark", "dask": "dask"}


def release_frame(
    request: Request,
    frame: Any,
    words: Randomness,
    inspect: Inspect,
    *,
    record: Callable[[Tally, Sequence[Any]], None] | None = None,
    first: bool = False,
) -> Any:
    """Return a frame of the same kind with a released column; see :meth:`rldp.Protocol.release_frame`.

    All rows are inspected before a frame in memory is returned, and at the end of a stream. The rows of a
    lazy frame that is released in parts are counted ``first``, if requested, and then inspected. With a key,
    it is released in one piece, because each person must have one row.
    """
    kind = _kind(frame)
    if kind in WHOLE_FRAMES:
        released, names, tally = _released(request, frame, words, "data")
        request.require_sound(tally, inspect)
        if record is not None:
            record(tally, names)
        return released
    if record is not None:
        raise InvalidArgument(
            "ledger must be for files and for frames of pandas, Polars or Arrow that are in memory, got "
            f"{kind_name(frame)}, whose rows may be computed several times: write them to a "
            "Parquet file, and release that with rldp.release_file"
        )
    if kind == "polars.LazyFrame":
        in_parts = words is secure_words and request.stable is None
        if in_parts and first:
            inspect(_counted_lazily(frame, request))
        return _of_lazy_polars(frame, request, words, None if in_parts else inspect)
    stream = _of_reader if kind == "pyarrow.RecordBatchReader" else _of_duckdb
    return stream(frame, request, words, inspect)


def released_part(
    request: Request,
    frame: Any,
    words: Randomness = secure_words,
    source: str = _PART,
    inspect: Inspect | None = None,
) -> Any:
    """Release some rows of a larger frame as a frame of the same kind."""
    released, _, tally = _released(request, frame, words, source)
    request.require_sound(tally, inspect)
    return released


def tally_of_part(request: Request, frame: Any) -> Tally:
    """Count some rows of a larger frame and identify their people, without drawing.

    Some checks need all parts before any of them is released: whether a person is in two of them, and whether
    all rows come from the protocol's population.
    """
    *_, entries = _entries(request, frame, _PART)
    return request.tally(_part(request, entries, _PART), _PART)


def released_batches(
    request: Request,
    batches: Iterable[Any],
    words: Randomness = secure_words,
    source: str = _PART,
    inspect: Inspect | None = None,
) -> Iterator[Any]:
    """Release record batches one by one, and inspect the tally of all rows after the last one."""
    tally = request.no_rows()
    for batch in batches:
        released, _, tally = _released(request, batch, words, source, tally)
        yield released
    request.require_sound(tally, inspect)


def _kind(frame: object) -> str:
    kind = kind_among((*WHOLE_FRAMES, *_STREAMS), frame)
    if kind is not None:
        return kind
    home = type(frame).__module__.partition(".")[0]
    advice = (
        f"; rldp.{'spark' if home == 'pyspark' else 'dask'}.release takes it" if home in _CLUSTERS else ""
    )
    raise InvalidArgumentType(
        "frame must be a frame of pandas or Polars, an Arrow table, batch or reader, or a DuckDB relation, "
        f"got {kind_name(frame)}{advice}"
    )


# Frames in memory


def _released(
    request: Request, frame: Any, words: Randomness, source: str, before: Tally | None = None
) -> tuple[Any, tuple[Any, ...], Tally]:
    """Return released rows, the names of the released columns, and the counts including earlier rows.

    Or raise the error about rows that cannot be released.
    """
    before = before or request.no_rows()
    columns = request.columns
    header, places, entries = _entries(request, frame, source)
    names = request.released_names(lambda column: header[places[column]])
    if hasattr(frame, "index"):
        _require_harmless_index(frame.index, request)
    kept = {header[places[column]]: entries[column] for column in columns.keep}
    values = [entries[column] for column in columns.reading.row_names]
    if not before.faults.rows:
        request.guard.require_rows(kept)
    for like, each in zip(values, request.released, strict=True):  # fails if a type cannot hold them
        decode(like[:0], np.empty(0, dtype=np.int32), each.labels)
    drawn = request.draw(_part(request, entries, source), before, words, source)
    drawn.tally.faults.refuse("released")
    kept = {name: drawn.among(column) for name, column in kept.items()}
    released = {
        name: decode(drawn.among(like), codes, each.labels)
        for name, like, codes, each in zip(names, values, drawn.codes, request.released, strict=True)
    }
    whole = _together(frame, [places[column] for column in columns.keep], kept, released)
    return whole, names, drawn.tally


def _entries(request: Request, frame: Any, source: str) -> tuple[list[Any], dict[str, int], dict[str, Any]]:
    """Return the names of all columns, and the positions and entries of the requested ones."""
    kind = _kind(frame)
    header = header_of(frame)
    places = request.columns.places(header, source)
    return header, places, {column: WHOLE_FRAMES[kind](frame, place) for column, place in places.items()}


def _part(request: Request, entries: Mapping[str, Any], source: str) -> Part:
    columns = request.columns
    encoded = [encode(column_name(c, source), entries[c], a) for c, a in columns.alphabets.items()]
    return Part(encoded, [], 1.0, None if columns.id is None else entries[columns.id])


def _require_harmless_index(index: Any, request: Request) -> None:
    """Return the levels of the index as columns, since it is kept, except whole numbers without a name."""
    reading = request.columns.reading
    for place, name in enumerate(index.names):
        level = index.get_level_values(place)
        if name is None and level.inferred_type == "integer":
            continue
        kept = "(index)" if name is None else str(name)
        try:
            request.guard.require_names(reading.secret_names, reading.value_names, {kept: kept})
            request.guard.require_rows({kept: level})
        except InvalidArgument as error:
            raise InvalidArgument(
                f"the index of data is kept, and reset_index(drop=True) removes it: {error}"
            ) from None


def _together(frame: Any, places: Sequence[int], kept: Mapping[Any, Any], released: Mapping[Any, Any]) -> Any:
    """Return the columns as a frame of the same kind; ``places`` are those of kept columns in ``frame``."""
    columns = {**kept, **released}
    if hasattr(type(frame), "from_arrays"):
        import pyarrow

        fields = [frame.schema.field(place).remove_metadata() for place in places]
        fields += [pyarrow.field(name, column.type) for name, column in released.items()]
        return type(frame).from_arrays(list(columns.values()), schema=pyarrow.schema(fields))
    return type(frame)(columns)


# Lazy frames and streams


def _of_lazy_polars(frame: Any, request: Request, words: Randomness, inspect: Inspect | None) -> Any:
    """Release a lazy Polars frame; ``inspect`` checks all rows, which are then released in one piece."""
    import polars

    schema = frame.collect_schema()
    request = request.named(list(schema), "data")
    empty = released_part(request, polars.DataFrame(schema=schema), words, "data")
    source = _PART if inspect is None else "data"

    def release(part: Any) -> Any:
        return released_part(request, part, words, source, inspect)

    return _mapped(frame, request, release, in_parts=inspect is None, schema=empty.schema)


def _counted_lazily(frame: Any, request: Request) -> Tally:
    """Count a lazy frame part by part."""
    request = request.without_kept().named(list(frame.collect_schema()), "data")
    counted = [request.no_rows().counted]
    refused: list[RldpError] = []

    def count(part: Any) -> Any:
        try:
            counted.append(tally_of_part(request, part).counted)
        except RldpError as error:  # Polars raises an error of its own
            refused.append(error)
            raise
        return part.clear()

    try:
        _mapped(frame, request, count, in_parts=True).collect(engine="streaming")
    except Exception:
        if refused:
            raise refused[0] from None
        raise
    places, rows = map(np.concatenate, zip(*counted, strict=True))
    return request.tally_of(places, rows)


def _mapped(
    frame: Any, request: Request, function: Callable[[Any], Any], *, in_parts: bool, schema: Any = None
) -> Any:
    """Map the requested columns. Nothing is pushed below: a filter must not reach the true value."""
    return frame.select(request.columns.names).map_batches(
        function,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema=schema,
        streamable=in_parts,
    )


def _of_reader(reader: Any, request: Request, words: Randomness, inspect: Inspect) -> Any:
    import pyarrow

    schema = released_part(request, reader.schema.empty_table(), words, "data").schema
    released = released_batches(request, reader, words, "data", inspect)
    return pyarrow.RecordBatchReader.from_batches(schema, released)


def _of_duckdb(relation: Any, request: Request, words: Randomness, inspect: Inspect) -> Any:
    """Release a DuckDB relation at once: a lazy relation would draw again at each use."""
    if len(set(relation.columns)) == len(relation.columns):
        request = request.named(relation.columns, "data")
        quoted = ('"' + name.replace('"', '""') + '"' for name in request.columns.names)
        relation = relation.project(", ".join(quoted))
    rows = (
        relation.to_arrow_reader() if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader()
    )
    # DuckDB finds this variable by its name, which no user's table has.
    rldp_released_8c1f27d0 = _of_reader(rows, request, words, inspect).read_all()
    assert rldp_released_8c1f27d0 is not None
    return relation.query("rldp_original_8c1f27d0", "select * from rldp_released_8c1f27d0")
