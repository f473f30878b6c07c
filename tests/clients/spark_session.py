"""What test_spark.py asks of Spark, in a process of its own: ``classic|connect FOLDER ROWS`` → JSON.

A process has one kind of session only.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession, functions
from twelve import TWELVE, random_case, statistic

import rldp
from rldp.data.reading import Column, Reading

COLUMNS = {"secret": "sex", "value": "age"}
LABELS = ["f", "m"], [10, 20, 30]


def session(kind):
    if kind == "connect":
        return SparkSession.builder.remote("local[2]").getOrCreate()
    return SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()


def swap(outputs=(10, 20, 30)):
    """A protocol without chance: secret i shifts the values by i."""
    return rldp.Protocol(np.stack([np.roll(np.eye(3), i, axis=1) for i in range(2)]), *LABELS, outputs)


def joint():
    """Sex and region are one secret; ages stand in bins; rows with missing entries are left out."""
    sex, region = Column("sex", ("f", "m")), Column("region", (1, 2))
    reading = Reading((sex, region), (Column("age", (5, 15), edges=(10.0,)),), "skip")
    matrix = np.stack([np.roll(np.eye(2), i, axis=1) for i in range(4)])
    return rldp.Protocol(matrix, reading.secrets, (5, 15), (5, 15), reading=reading)


def answer(frame, protocol, *, to=None, **options):
    """What comes of a release, computed or written: the name of the error and its message, if any."""
    try:
        released = rldp.spark.release(protocol, frame, **{**COLUMNS, **options})
        if to is None:
            released.collect()
        else:
            released.write.parquet(to)
    except Exception as error:
        return type(error).__name__, str(error)
    return "nothing", ""


def tuples(frame):
    return sorted(tuple(row) for row in frame.collect())


def small(spark):
    rows = [(i, "fm"[i % 2], 10 * (i % 3 + 1), None if i % 5 == 0 else f"n{i}") for i in range(1000)]
    return spark.createDataFrame(rows, "id long, sex string, age int, `a.note` string").repartition(3)


def what_is_released(spark):
    frame = small(spark)
    kept = {"keep": ["a.note", "id"], "allow_identifier": True}
    released = rldp.spark.release(swap(), frame, **COLUMNS, **kept)
    yield "same kind", type(released) is type(frame)
    yield "columns", [(field.name, field.dataType.simpleString()) for field in released.schema.fields]
    yield "rows", tuples(released.select("id", "age", "`a.note`"))
    texts = rldp.spark.release(swap(["a", "b", "c"]), frame, **COLUMNS, released="shown")
    yield "texts", tuples(texts.groupBy("shown").count())
    people = [(1, "f", 1, 3.5), (2, "f", 2, 3.5), (3, "m", 1, 99.0), (4, "m", 2, 99.0), (5, "f", None, 1.0)]
    people = spark.createDataFrame(people, "id long, sex string, region int, age double")
    yield "joint", tuples(rldp.spark.release(joint(), people, keep=["id"]))
    blind = rldp.Protocol(np.stack([np.roll(np.eye(3), 1, axis=1)] * 2), *LABELS, (10, 20, 30))
    unread = rldp.spark.release(blind, frame.drop("sex"), value="age", keep=["id"], allow_identifier=True)
    yield "without the secret", tuples(unread.select("id", "age"))
    reading = Reading((Column("sex", ("f", "m")),), (Column("age", (10, 20, 30)),))
    table = rldp.Protocol(np.full((2, 3, 3), 1 / 3), *LABELS, LABELS[1], reading=reading)
    key = bytes(range(32))
    once = rldp.spark.release(table, frame, id="id", key=key, keep=["id"], allow_identifier=True)
    first = tuples(once.select("id", "age"))
    ids, secrets, values = zip(*tuples(frame.select("id", "sex", "age")), strict=True)
    alone = table.release(list(secrets), list(values), ids=list(ids), key=key)
    yield "once", [first == tuples(once.select("id", "age")), first == list(zip(ids, alone, strict=True))]
    twice = frame.selectExpr("if(id = 999, ' 0 ', cast(id as string)) as id", "sex", "age")
    yield "twice", answer(twice, table, id="id", key=key)


def what_is_refused(spark, folder):
    frame = small(spark)

    def with_one(name, entry):
        other = functions.when(functions.col("id") == 500, entry).otherwise(functions.col(name))
        return frame.withColumn(name, other)

    label = with_one("sex", functions.lit("SECRET"))
    yield "label", answer(label, swap())
    yield "null", answer(with_one("sex", functions.lit(None).cast("string")), swap())
    yield "number", answer(with_one("age", functions.lit(11)), swap())
    yield "type", answer(frame.withColumn("age", functions.array("age")), swap())
    yield "text", answer(frame.withColumn("age", functions.col("age").cast("string")), swap())
    yield "no column", answer(frame, swap(), value="height")
    yield "kept", answer(frame, swap(), keep=["age"], allow_original=True)
    yield "original", answer(frame, swap(), keep=["age"])
    yield "identifier", answer(frame, swap(), keep=["id"])
    yield "frame", answer(frame.collect(), swap())
    target = folder / "out"
    yield "write", answer(label, swap(), to=str(target))
    yield "written", [path.name for path in target.rglob("*") if path.is_file()]


def what_is_proved(spark, folder):
    frame = small(spark)
    protocol = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]], *LABELS), 0.5).protocol
    identity = np.broadcast_to(np.eye(3), (2, 3, 3))
    tampered = rldp.Protocol(identity, *LABELS, protocol.outputs, guarantee=protocol.guarantee)
    for name, each in (("proved", protocol), ("tampered", tampered), ("claimless", swap())):
        each.save(folder / f"{name}.json")
    for name in ("proved", "tampered", "claimless", "missing"):
        yield name, answer(frame, folder / f"{name}.json", allow_drift=True)
    yield "loaded", answer(frame, rldp.load(folder / "tampered.json"))
    yield "limit", answer(frame, folder / "proved.json", epsilon_at_most=0.1)
    yield "drift", answer(frame, protocol)
    reading = Reading((Column("sex", ("f", "m")),), (Column("age", (10, 20, 30)),), "skip")
    counts = rldp.Sample([[100, 90, 95], [95, 100, 90]], *LABELS, reading=reading)
    skipping = rldp.design(counts, 0.5, privacy="pairs", distortion="hamming").protocol
    left_out = frame.selectExpr("sex", "if(sex = 'f' and id % 10 < 4, null, age) as age")
    yield "absence", answer(left_out, skipping, secret=None, value=None)
    yield "same", answer(frame, skipping, secret=None, value=None)
    yield "unproved", answer(frame, folder / "claimless.json", unproved=True)


def what_is_drawn(spark, rows):
    matrix = np.random.default_rng(0).dirichlet(np.full(4, 3.0), size=(2, 3))
    protocol = rldp.Protocol(matrix, *LABELS)
    many = spark.range(0, rows, 1, 4).selectExpr(
        "case when id % 2 = 0 then 'f' else 'm' end as sex", "10 * (id % 3 + 1) as age"
    )
    drawn = rldp.spark.release(
        protocol, many, **COLUMNS, keep=["sex", "age"], released="y", allow_original=True
    )
    yield "matrix", protocol.matrix.tolist()
    yield "counts", tuples(drawn.groupBy("sex", "age", "y").count())
    coin = rldp.Protocol(np.full((2, 3, 2), 0.5), *LABELS)
    alike = spark.range(0, 400, 1, 4).selectExpr("id", "'f' as sex", "10 as age")
    tossed = rldp.spark.release(coin, alike, **COLUMNS, keep=["id"], allow_identifier=True)
    for name in ("first", "second"):
        yield name, [age for _, age in tuples(tossed)]


def what_twelve_tables_give(spark):
    """What becomes of each, computed in one task: columns, or what was said."""

    def released(rows, protocol, options):
        frame = spark.createDataFrame(pa.table(rows)).coalesce(1)
        return rldp.spark.release(protocol, frame, options=rldp.ReleaseOptions(**options)).toArrow()

    found = {}
    for name, (rows, protocol, options, _) in TWELVE.items():
        try:
            found[name] = released(rows, protocol, options).to_pydict()
        except Exception as error:
            found[name] = str(error)
    yield "twelve", found
    rows, cells, protocol = random_case()
    drawn = released(rows, protocol, {}).column("age").to_pylist()
    yield "statistic", statistic(drawn, cells, protocol)


def main():
    kind, folder, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    spark = session(kind)
    print("RESULTS", end=" ")
    found = [
        *what_is_released(spark),
        *what_is_refused(spark, folder),
        *what_is_proved(spark, folder),
        *what_is_drawn(spark, rows),
        *what_twelve_tables_give(spark),
    ]
    print(json.dumps(dict(found)))
    spark.stop()


if __name__ == "__main__":
    main()
