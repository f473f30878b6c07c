"""Frames in, frames out: the same kind, the same order, no column that was not asked for."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chi2

import rldp
from rldp.data.reading import Column, Reading
from rldp.gate.release import requested

try:
    import duckdb
except ImportError:
    duckdb = None
needs_duckdb = pytest.mark.skipif(duckdb is None, reason="DuckDB is not installed")

SECRETS, VALUES = ("f", "m"), (10, 20, 30)
DATA = {
    "id": [5, 4, 3, 2, 1],
    "sex": ["f", "m", "m", "f", "m"],
    "age": [10, 10, 30, 20, 20],
    "note": ["v", "w", "x", None, "z"],
}
RELEASED = [10, 20, 10, 20, 30]
COLUMNS = {"secret": "sex", "value": "age"}


def swap(secrets=SECRETS, values=VALUES, outputs=None, **options):
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(len(values)), i, axis=1) for i in range(len(secrets))])
    return rldp.Protocol(matrix, secrets, values, values if outputs is None else outputs, **options)


def in_batches(data):
    table = pa.table(data)
    rows = max(2, len(table) // 10)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))


def relation(data):
    held = pa.table(data)
    return duckdb.connect().from_arrow(held)


KINDS = {
    "pandas": (pd.DataFrame, lambda frame: frame.replace({np.nan: None}).to_dict("list"), pd.DataFrame),
    "polars": (pl.DataFrame, lambda frame: frame.to_dict(as_series=False), pl.DataFrame),
    "lazy": (pl.LazyFrame, lambda frame: frame.collect().to_dict(as_series=False), pl.LazyFrame),
    "streamed": (
        pl.LazyFrame,
        lambda frame: frame.collect(engine="streaming").to_dict(as_series=False),
        pl.LazyFrame,
    ),
    "table": (pa.table, lambda table: table.to_pydict(), pa.Table),
    "batch": (pa.RecordBatch.from_pydict, lambda batch: batch.to_pydict(), pa.RecordBatch),
    "reader": (in_batches, lambda reader: reader.read_all().to_pydict(), pa.RecordBatchReader),
    "duckdb": (
        relation,
        lambda found: found.pl().to_dict(as_series=False),
        duckdb and duckdb.DuckDBPyRelation,
    ),
}
MARKED = [pytest.param(name, marks=needs_duckdb) if name == "duckdb" else name for name in KINDS]


@pytest.fixture(params=MARKED)
def kind(request):
    return KINDS[request.param]


def test_the_same_kind_comes_back_with_what_was_asked_for_in_order(kind):
    make, read, of = kind
    released = swap().release_frame(make(DATA), **COLUMNS, keep=["note", "id"])
    assert isinstance(released, of)
    found = read(released)
    assert found == {"note": DATA["note"], "id": DATA["id"], "age": RELEASED}
    assert list(found) == ["note", "id", "age"]


def test_nothing_but_the_released_column_is_there_by_default(kind):
    make, read, _ = kind
    assert read(swap().release_frame(make(DATA), **COLUMNS)) == {"age": RELEASED}


def test_columns_may_be_named_by_their_places(kind):
    make, read, _ = kind
    released = swap().release_frame(make(DATA), secret="#2", value="#3", keep=["#1"])
    assert read(released) == {"id": DATA["id"], "age": RELEASED}


def test_the_originals_are_kept_if_they_are_asked_for(kind):
    make, read, _ = kind
    released = swap().release_frame(
        make(DATA), **COLUMNS, keep=["sex", "age"], released="shown", allow_original=True
    )
    assert read(released) == {"sex": DATA["sex"], "age": DATA["age"], "shown": RELEASED}


def test_outputs_may_be_of_another_type(kind):
    make, read, _ = kind
    protocol = swap(outputs=("young", "middle", "old"))
    assert read(protocol.release_frame(make(DATA), **COLUMNS))["age"] == [
        "young",
        "middle",
        "young",
        "middle",
        "old",
    ]


def test_a_frame_without_rows_stays_one(kind):
    make, read, _ = kind
    typed = pa.table(DATA)
    empty = {name: typed[name][:0].combine_chunks() for name in DATA}
    assert read(swap().release_frame(make(empty), **COLUMNS, keep=["note"])) == {"note": [], "age": []}


TYPED = {
    "pandas int8": (pd.DataFrame(DATA).astype({"age": "int8"}), "int8"),
    "pandas Int64": (pd.DataFrame(DATA).astype({"age": "Int64"}), "Int64"),
    "pandas category": (pd.DataFrame(DATA).astype({"age": "category"}), "category"),
    "pandas Arrow": (pd.DataFrame(DATA).astype({"age": "int16[pyarrow]"}), "int16[pyarrow]"),
    "Polars": (pl.DataFrame(DATA, schema_overrides={"age": pl.Int8}), "Int8"),
    "Polars lazy": (pl.LazyFrame(DATA, schema_overrides={"age": pl.Float32}), "Float32"),
    "Arrow": (pa.table(DATA).set_column(2, "age", pa.array(DATA["age"], pa.uint8())), "uint8"),
    "Arrow dictionary": (
        pa.table(DATA).set_column(2, "age", pa.array(DATA["age"]).dictionary_encode()),
        "dictionary<values=int64, indices=int32, ordered=0>",
    ),
}


@pytest.mark.parametrize(("frame", "dtype"), TYPED.values(), ids=TYPED)
def test_the_released_column_has_the_type_of_the_value(frame, dtype):
    released = swap().release_frame(frame, **COLUMNS)
    if isinstance(released, pl.LazyFrame):
        assert released.collect_schema()["age"] == pl.Float32
        released = released.collect()
    column = released["age"]
    assert str(getattr(column, "dtype", None) or column.type) == dtype
    assert list(column.to_pylist() if isinstance(released, pa.Table) else column) == RELEASED


# How columns are read


def joint():
    """Sex and region are one secret; ages stand in bins; rows with missing entries are left out."""
    reading = Reading(
        (Column("sex", ("f", "m")), Column("region", (1, 2))),
        (Column("age", (5, 15, 25), edges=(10.0, 20.0)),),
        "skip",
    )
    return swap(reading.secrets, (5, 15, 25), reading=reading)


JOINT = {
    "age": [3.5, None, 10.0, 19.0, 1.0, 80.0],
    "region": [1, 1, 2, 1, None, 2],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "id": [1, 2, 3, 4, 5, 6],
}


def test_several_secrets_bins_and_missing_entries_are_read_as_the_protocol_says(kind):
    make, read, of = kind
    if of is pd.DataFrame:
        make = lambda data: pa.table(data).to_pandas()  # noqa: E731
    released = read(joint().release_frame(make(JOINT), keep=["id"]))
    # Secrets 0, 1, 2, 3 shift the bins 0, 1, 1, 2 by 0, 1, 2 and 3 ≡ 0.
    assert released == {"id": [1, 3, 4, 6], "age": [5, 25, 5, 25]}


def test_columns_of_other_names_can_stand_for_the_protocols_own(kind):
    make, read, _ = kind
    reading = Reading((Column("sex", SECRETS),), (Column("age", VALUES),))
    frame = make({"gender": DATA["sex"], "years": DATA["age"]})
    released = swap(reading=reading).release_frame(frame, as_secret="gender", as_value="years")
    assert read(released) == {"years": RELEASED}


def test_columns_that_the_protocol_is_not_for_are_refused(kind):
    make, _, _ = kind
    reading = Reading((Column("sex", SECRETS),), (Column("age", VALUES),))
    with pytest.raises(rldp.InvalidArgument, match="value must be what the protocol is for, 'age', got 'id'"):
        swap(reading=reading).release_frame(make(DATA), secret="sex", value="id")


# What is refused


BAD = {
    "an unknown label": ("sex", ["f", "m", "x", "f", "m"], "known labels, but row . has another entry"),
    "a null": ("sex", ["f", "m", None, "f", "m"], "no nulls, but row . has no value"),
    "another type": ("age", ["10", "10", "30", "20", "20"], "known labels, but row . has another entry"),
    "lists": ("age", [[1], [1], [3], [2], [2]], "an entry of type"),
    "NaN": ("age", [10.0, 10.0, float("nan"), 20.0, 20.0], "no nulls, but row . has no value"),
}


@pytest.mark.parametrize("fault", BAD)
def test_rows_that_cannot_be_released_are_refused_in_one_sentence_without_their_entry(kind, fault):
    make, read, _ = kind
    column, entries, sentence = BAD[fault]
    with pytest.raises(rldp.DataError, match=sentence) as caught:
        read(swap().release_frame(make({**DATA, column: entries}), **COLUMNS))
    said = str(caught.value)
    assert f"column '{column}' of " in said
    assert "\n" not in said
    assert "'x'" not in said


def test_a_reader_counts_its_rows_through_all_batches():
    reader = in_batches({**DATA, "sex": ["f", "m", "m", "f", "x"]})
    with pytest.raises(rldp.DataError, match="of data must hold known labels, but row 5 has another entry"):
        swap().release_frame(reader, **COLUMNS).read_all()


def test_no_batch_with_a_bad_row_is_handed_on():
    reader = swap().release_frame(in_batches({**DATA, "sex": ["f", "m", "m", "x", "f"]}), **COLUMNS)
    assert reader.read_next_batch().to_pydict() == {"age": RELEASED[:2]}
    with pytest.raises(rldp.DataError, match="row 4"):
        reader.read_next_batch()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"value": "height"}, "data has no column 'height'"),
        ({"keep": ["nothing"]}, "data has no column 'nothing'"),
        ({"keep": "id"}, "keep must be a list of names of columns, got 'id'"),
        ({"keep": ["id", "id"]}, "keep must name each column once, got 'id' more than once"),
        (
            {"keep": ["age"], "allow_original": True},
            "must not be called 'age' like a kept column; choose another name",
        ),
        ({"keep": ["id"], "released": "id"}, "must not be called 'id' like a kept column"),
        ({"released": 3}, "released must be the name of a column, got 3"),
        ({"secret": "age"}, "secret and value must be different columns"),
        ({"secret": ["sex", "note"]}, "secret must be given as one column"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_asked_for(kind, options, sentence):
    make, _, _ = kind
    with pytest.raises(rldp.RldpError, match=sentence):
        swap().release_frame(make(DATA), **{**COLUMNS, **options})


@pytest.mark.parametrize("frame", [DATA, [1], None, "data.csv", pd.Series([1])], ids=repr)
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(rldp.InvalidArgumentType, match="frame must be a frame of pandas or Polars"):
        swap().release_frame(frame, **COLUMNS)


def test_outputs_of_several_types_stand_in_pandas_alone(kind):
    make, read, of = kind
    protocol = swap(outputs=(1, "two", 3))
    if of is pd.DataFrame:
        assert read(protocol.release_frame(make(DATA), **COLUMNS))["age"] == [1, "two", 1, "two", 3]
    else:
        with pytest.raises(rldp.DataError, match="outputs of the protocol must be of one type"):
            protocol.release_frame(make(DATA), **COLUMNS)


# pandas


def test_a_pandas_frame_keeps_its_index_though_labels_repeat_in_it():
    frame = pd.DataFrame(DATA, index=pd.Index(["c", "a", "a", "b", "c"], name="who"))
    released = swap().release_frame(frame, **COLUMNS, keep=["id"])
    pd.testing.assert_index_equal(released.index, frame.index)
    assert released["age"].tolist() == RELEASED
    assert list(frame.columns) == list(DATA)


def test_an_index_that_holds_the_secret_is_refused():
    frame = pd.DataFrame(DATA).set_index("sex", drop=False)
    with pytest.raises(
        rldp.InvalidArgument, match=r"the index of data is kept.* keep must not name the secret column 'sex'"
    ):
        swap().release_frame(frame, **COLUMNS)
    assert swap().release_frame(frame, **COLUMNS, keep=["sex"], allow_original=True).index.name == "sex"


@pytest.mark.parametrize(
    ("names", "id"), [(["who"], None), (["n", "who"], None), ([None], None), (["who"], "who")]
)
def test_an_index_that_identifies_people_is_refused_like_a_kept_column(names, id):
    rows = 100 if id is None else 4
    frame = pd.DataFrame({"sex": ["f", "m"] * (rows // 2), "age": [10, 20] * (rows // 2)})
    levels = {"n": [0] * rows, "who": [f"person {i}" for i in range(rows)]}
    frame.index = pd.MultiIndex.from_arrays([levels[name or "who"] for name in names], names=names)
    if len(names) == 1:
        frame.index = frame.index.get_level_values(0)
    options = {**COLUMNS, "id": id}
    with pytest.raises(rldp.InvalidArgument, match=r"the index of data is kept.* identif.* people"):
        swap().release_frame(frame, **options)
    allowed = swap().release_frame(frame, **options, allow_identifier=True)
    pd.testing.assert_index_equal(allowed.index, frame.index)
    assert len(swap().release_frame(frame.reset_index(drop=True), **options)) == rows


NAMES = [f"person {i}" for i in range(100)]


@pytest.mark.parametrize(
    ("index", "passes"),
    [
        (pd.CategoricalIndex(NAMES), False),
        (pd.Index([*NAMES[1:], None], dtype=object), False),
        (pd.Index([*NAMES[1:], 7], dtype=object), False),
        (pd.date_range("2024-01-01", periods=100), False),
        (pd.Index(range(7, 107)), True),
    ],
    ids=["categories", "a null", "a number", "days", "whole numbers"],
)
def test_an_index_without_a_name_is_kept_only_if_it_may_count_rows(index, passes):
    frame = pd.DataFrame({"sex": ["f", "m"] * 50, "age": [10, 20] * 50}, index=index)
    if passes:
        assert len(swap().release_frame(frame, **COLUMNS)) == 100
    else:
        with pytest.raises(rldp.InvalidArgument, match=r"the index of data is kept.* identif.* people"):
            swap().release_frame(frame, **COLUMNS)


def test_what_is_noted_on_a_frame_is_not_passed_on():
    frame = pd.DataFrame(DATA)
    frame.attrs["sex"] = DATA["sex"]
    assert swap().release_frame(frame, **COLUMNS, keep=["id"]).attrs == {}
    table = pa.table(DATA).replace_schema_metadata({"sex": "f, m, m, f, m"})
    assert swap().release_frame(table, **COLUMNS, keep=["id"]).schema.metadata is None


# Lazy and streaming


def test_a_lazy_frame_reads_nothing_before_it_is_collected():
    def source(part):
        raise AssertionError("read")

    lazy = pl.LazyFrame(DATA).map_batches(source, schema=pl.LazyFrame(DATA).collect_schema())
    swap().release_frame(lazy, **COLUMNS)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_filter_on_the_released_column_sees_what_was_released(engine):
    """Were it pushed below the release, it would choose rows by the true value, and show it."""
    released = swap().release_frame(pl.LazyFrame(DATA), **COLUMNS, keep=["id"])
    kept = released.filter(pl.col("age") == 10).collect(engine=engine)
    assert kept.to_dict(as_series=False) == {"id": [5, 3], "age": [10, 10]}


def test_a_streaming_engine_keeps_the_order_of_many_parts():
    rows = 400_000
    ids = np.arange(rows)
    frame = pl.LazyFrame({"id": ids, "sex": np.where(ids % 2, "m", "f"), "age": 10 * (ids % 3 + 1)})
    released = swap().release_frame(frame, **COLUMNS, keep=["id"], allow_identifier=True)
    found = released.collect(engine="streaming")
    assert (found["id"].to_numpy() == ids).all()
    assert (found["age"].to_numpy() == 10 * ((ids % 3 + ids % 2) % 3 + 1)).all()


def test_a_reader_is_read_no_further_than_its_result():
    read = []

    def batches():
        for batch in pa.table(DATA).to_batches(max_chunksize=1):
            read.append(batch)
            yield batch

    reader = pa.RecordBatchReader.from_batches(pa.table(DATA).schema, batches())
    released = swap().release_frame(reader, **COLUMNS)
    assert read == []
    released.read_next_batch()
    assert len(read) == 1


@needs_duckdb
def test_a_duckdb_relation_draws_once_however_often_it_is_read():
    coin = rldp.Protocol(np.full((2, 3, 2), 0.5), SECRETS, VALUES)
    frame = relation({name: column * 200 for name, column in DATA.items()})
    released = coin.release_frame(frame, **COLUMNS)
    assert released.fetchall() == released.fetchall()


@needs_duckdb
def test_a_duckdb_relation_stays_in_its_database():
    connection = duckdb.connect()
    connection.execute("create table people as select 'f' as sex, 10 as age, 1 as id")
    released = swap().release_frame(connection.table("people"), **COLUMNS, keep=["id"])  # noqa: F841
    assert connection.sql("select p.sex, r.age from people p join released r using (id)").fetchall() == [
        ("f", 10)
    ]
    assert connection.execute("select view_name from duckdb_views() where not internal").fetchall() == []


# Draws


def test_outputs_have_the_probabilities_of_the_protocol(kind):
    """χ² with secure randomness, wrong with probability 1e-6 for each kind."""
    make, read, _ = kind
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.full(4, 3.0), size=(2, 3))
    protocol = rldp.Protocol(matrix, SECRETS, VALUES)
    cells = rng.integers(0, 6, 60_000)
    frame = {"sex": np.array(SECRETS)[cells // 3].tolist(), "age": np.array(VALUES)[cells % 3].tolist()}
    drawn = np.array(read(protocol.release_frame(make(frame), **COLUMNS))["age"])
    counts = np.bincount(cells * 4 + drawn, minlength=24).reshape(6, 4)
    expected = counts.sum(axis=1, keepdims=True) * protocol.matrix.reshape(6, 4)
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-6, df=6 * 3)


def test_a_seed_gives_the_same_draws_in_every_kind():
    matrix = np.full((2, 3, 5), 0.2)
    protocol = rldp.Protocol(matrix, SECRETS, VALUES)
    data = {name: column * 50 for name, column in DATA.items()}
    drawn = [
        read(protocol.release_frame(make(data), **COLUMNS, seed=7))["age"]
        for make, read, of in KINDS.values()
        if of
    ]
    assert all(column == drawn[0] for column in drawn)
    assert drawn[0] == protocol.release(data["sex"], data["age"], seed=7)


def test_columns_whose_names_are_no_text_are_not_told():
    frame = pd.DataFrame([["a", 1]], columns=pd.MultiIndex.from_tuples([("s", ""), ("v", "")]))
    protocol = rldp.Protocol([[[1.0], [1.0]]], ["a"], [1, 2])
    with pytest.raises(rldp.DataError, match="data has no column 's'"):
        protocol.release_frame(frame, secret="s", value="v")


def test_what_is_sent_to_workers_is_the_table_and_how_columns_are_read():
    """Neither counts of the sample nor the certificate; and no second copy of the table."""
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], SECRETS, VALUES)
    protocol = rldp.design(sample, 0.5).protocol
    request, _ = requested(protocol, rldp.ReleaseOptions(**COLUMNS))
    request.protocol.sampler  # noqa: B018
    sent = pickle.loads(pickle.dumps(request))
    assert sent.protocol.guarantee is None
    assert not {"sampler", "_verdict"} & vars(sent.protocol).keys()
    assert (sent.protocol.matrix == protocol.matrix).all()
