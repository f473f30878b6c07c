"""The calibration study on Spark: ``python examples/cluster/sweep_spark.py [sc://host:15002 | connect]``.

``pip install 'robust-ldp[spark]'``, here and on the executors. Without an address, a classic Spark is started
on two cores of this machine; with ``connect``, a local server of Spark Connect. Tasks are the rows of a
frame, one in each partition, and go through ``mapInArrow``: no RDDs, so that both kinds of session can do it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from calibration import Found, Task, report, run, study


def session() -> SparkSession:
    """Of the kind that is asked for; executors elsewhere get the module with the tasks first."""
    builder = SparkSession.builder
    if len(sys.argv) < 2:
        spark = builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    else:
        spark = builder.remote("local[2]" if sys.argv[1] == "connect" else sys.argv[1]).getOrCreate()
    spark.addArtifacts(str(Path(__file__).with_name("calibration.py")), pyfile=True)
    return spark


def in_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that say what to do → rows that say what was found."""
    for batch in batches:
        found = [asdict(run(Task(**row))) for row in batch.to_pylist()]
        if found:
            yield pa.RecordBatch.from_pylist(found)


def main() -> None:
    """Run it."""
    spark, work = session(), study()
    rows = [(task.n, task.seed, task.samples) for task in work]
    frame = spark.createDataFrame(rows, "n long, seed long, samples long").repartition(len(work))
    done = frame.mapInArrow(in_batches, "n long, designed long, failed long, promised double").collect()
    print(report([Found(**row.asDict()) for row in done]))
    spark.stop()


if __name__ == "__main__":
    main()
