"""Release on Spark 4: ``pip install 'robust-ldp[spark]'``, here and on every worker.

Rows pass through Python in Arrow batches (``mapInArrow``), on classic sessions and on Spark Connect alike.
See ``docs/clients.md`` for clusters, retries and the recomputation of Spark frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack

import numpy as np

from rldp._common.checks import Label
from rldp._common.process import needs
from rldp.clients._arguments import prepared
from rldp.data.columns import arrow_labels
from rldp.data.readers import Columns
from rldp.gate.kept import warn_of_kept
from rldp.protocol import Protocol
from rldp.releaser.frames import released_batches, tally_of_part
from rldp.releaser.ids import repeated_people
from rldp.releaser.options import Asked, ReleaseOptions
from rldp.releaser.requests import Request, Tally

with needs("rldp.spark", "PySpark", install="robust-ldp[spark]"):
    import pyspark.sql
    from pyspark.sql import types
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

__all__ = ["release"]


def release(
    protocol: Protocol | str | PathLike[str],
    frame: Any,
    *,
    options: ReleaseOptions | None = None,
    **keywords: Unpack[Asked],
) -> Any:
    """Release a column of a Spark frame as a new, lazy frame of the kept columns and the released one.

    **The frame draws anew whenever it is computed, and two draws of one row are two releases: write it once,
    and continue with what was written.** The order of rows may change. Workers receive the table of the
    protocol and how columns are read, and nothing else of it.

    A job reads the rows once when this function is called: they are refused if they do not come from the
    protocol's population, or if being left out reveals too much. ``allow_drift=True`` skips this job, unless
    rows may be left out.

    With ``id`` and ``key`` each person's output stays the same, however often it is computed. Workers then
    receive the key, too. A job refuses a person with two rows, in whichever partitions they are.

    A task that is retried or runs twice by speculation draws anew. Spark discards the output of the other
    attempt as long as the output is committed task by task, as Spark's writers do.

    Parameters
    ----------
    protocol : path, or Protocol
        Verified before a job starts, as :func:`rldp.release_file` does.
    frame : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    options : ReleaseOptions, optional
        Options of the release. Its fields may be given as keyword arguments instead.
    **keywords
        The fields of :class:`rldp.ReleaseOptions`.

    Raises
    ------
    NotProved
        If the protocol does not prove what is required of it.
    DataError
        If a column does not exist, if all rows together are refused or, with ``id`` and ``key``, if a person
        has two rows. Rows with nulls or
        unknown labels fail the job with Spark's ``PythonException``, which quotes a sentence about the first
        of them and shows no entry.
    InvalidArgument, InvalidArgumentType
        If ``frame`` is not a Spark frame, or the requested columns contradict each other.
    """
    kind = pyspark.sql.DataFrame
    frame, request, inspect = prepared(protocol, frame, kind, "Spark", options, keywords)
    request = request.named(frame.schema.names, "the frame")
    fields = {field.name: field for field in frame.schema.fields}
    names = request.columns.names
    needed = [
        frame["`" + name.replace("`", "``") + "`"].alias(f"c{i}")  # mapInArrow takes no dots in names
        for i, name in enumerate(names)
    ]
    kept = [
        types.StructField(name, fields[name].dataType, fields[name].nullable) for name in request.columns.keep
    ]
    likes = [fields[name].dataType for name in request.columns.reading.row_names]
    announced = [
        _spark_type(column.labels, like) for column, like in zip(request.released, likes, strict=True)
    ]
    released = [
        types.StructField(name, each, nullable=True)
        for name, each in zip(request.released_names(str), announced, strict=True)
    ]
    arrow = list(map(to_arrow_type, announced))

    def in_batches(batches: Iterator[Any]) -> Iterator[Any]:
        named = (batch.rename_columns(names) for batch in batches)
        return (_as_announced(batch, arrow) for batch in released_batches(request, named))

    rows = frame.select(*needed)
    if inspect.is_due:
        inspect(_counted(request, rows))
    if request.stable is not None:
        _require_distinct(request, rows)
    warn_of_kept(request)
    return rows.mapInArrow(in_batches, types.StructType([*kept, *released]))


def _counted(request: Request, rows: Any) -> Tally:
    """What is counted of all rows, in one job: a few numbers for each task."""
    asked = request.columns.names
    request = replace(request, columns=Columns(request.columns.reading, ()), stable=None)
    columns = request.columns.names

    def counts(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        tally = request.no_rows()
        for batch in batches:
            tally += tally_of_part(request, batch.rename_columns(columns))
        yield pyarrow.RecordBatch.from_arrays(
            list(map(pyarrow.array, tally.counted)), names=["place", "rows"]
        )

    read = rows.select(*(f"c{asked.index(name)}" for name in columns))
    collected = read.mapInArrow(counts, "place long, rows long").collect()
    place, count = (np.array([row[i] for row in collected], dtype=np.int64) for i in range(2))
    return request.tally_of(place, count)


def _require_distinct(request: Request, rows: Any) -> None:
    """Refuse people with two rows, wherever these are: Spark counts digests of identifiers."""

    def digests(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            (people,) = tally_of_part(request, batch.rename_columns(request.columns.names)).people
            values = iter(people.digests)
            used = [True] * len(people.digests) if people.used is None else people.used.tolist()
            column = pyarrow.array(
                [next(values).tobytes() if each else None for each in used], pyarrow.binary()
            )
            yield pyarrow.RecordBatch.from_arrays([column], names=["person"])

    person = types.StructType([types.StructField("person", types.BinaryType())])
    counts = rows.mapInArrow(digests, person).groupBy("person").count()
    sums = "sum(count) as total", "sum(if(person is null, 0, count - 1)) as repeated"
    (totals,) = counts.selectExpr(*sums).collect()
    if totals.repeated:
        raise repeated_people(str(request.columns.id), "some rows have", totals.repeated, totals.total)


def _as_announced(batch: Any, kinds: Sequence[Any]) -> Any:
    """Return the batch with its last columns in the types announced to Spark."""
    kept, released = batch.columns[: -len(kinds)], batch.columns[-len(kinds) :]
    columns = [*kept, *(column.cast(kind) for column, kind in zip(released, kinds, strict=True))]
    return type(batch).from_arrays(columns, names=batch.schema.names)


def _spark_type(labels: Sequence[Label], like: Any) -> Any:
    """Return the type of the value column if it holds all labels, else the one that they share."""
    try:
        wanted = to_arrow_type(like)
    except TypeError:  # a type that Arrow lacks; its entries are no labels
        wanted = None
    held = arrow_labels(labels, wanted).type
    return like if held == wanted else from_arrow_type(held)
