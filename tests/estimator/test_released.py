"""Released rows are counted alike, wherever they come from, and refused in one sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import rldp

PROTOCOL = rldp.Protocol(
    np.array([[[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], [[0.2, 0.5, 0.3], [0.3, 0.4, 0.3]]]),
    secrets=["ill", "well"],
    values=[10, 20],
    outputs=[10, 15, 20],
)
ROWS = [10, 20, 20, 15, 10, 10]
SECRETS = ["ill", "ill", "well", "well", "well", "ill"]
COUNTS = [3, 1, 2]
TABLE = [[2, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "kind",
    [list, tuple, np.array, pd.Series, pl.Series, pa.array, lambda rows: pd.Series(rows).astype("category")],
)
def test_every_kind_of_column_is_counted_alike(kind):
    assert rldp.Released.from_columns(kind(ROWS), PROTOCOL).counts.tolist() == COUNTS
    found = rldp.Released.from_columns(kind(ROWS), PROTOCOL, secrets=kind(SECRETS))
    assert found.counts.tolist() == TABLE


def sources(folder):
    frame = pd.DataFrame({"s": SECRETS, "y": ROWS})
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_csv(folder / "rows.csv.gz", index=False)
    frame.to_parquet(folder / "rows.parquet")
    yield from (folder / name for name in ("rows.csv", "rows.csv.gz", "rows.parquet"))
    yield from (frame, pl.DataFrame(frame), pa.table({"s": SECRETS, "y": ROWS}))


def test_files_and_frames_are_counted_alike(tmp_path):
    for data in sources(tmp_path):
        assert rldp.Released.from_data(data, PROTOCOL, released="y").counts.tolist() == COUNTS
        found = rldp.Released.from_data(data, PROTOCOL, released="y", secret="s")
        assert found.counts.tolist() == TABLE


def test_a_file_of_many_parts_is_counted_whole(tmp_path):
    rows = 300_000
    with (tmp_path / "rows.csv").open("w") as file:
        file.write("y\n" + "10\n15\n20\n20\n" * (rows // 4))
    found = rldp.Released.from_data(tmp_path / "rows.csv", PROTOCOL, released="y")
    assert found.counts.tolist() == [rows // 4, rows // 4, rows // 2]


def test_the_column_is_called_like_the_value_that_the_protocol_names(tmp_path):
    people = pd.DataFrame({"health": ["ill", "well"] * 20, "age": [1, 2, 2, 1] * 10})
    protocol = rldp.design(rldp.Sample.from_data(people, secret="health", value="age"), 1.0).protocol
    assert rldp.Released.from_data(people, protocol).n == 40
    assert rldp.Released.from_data(people, protocol, secret="health").knows_secrets


def test_parts_of_a_stream_are_added_up():
    parts = [rldp.Released.from_columns(ROWS[i : i + 2], PROTOCOL) for i in (0, 2, 4)]
    assert (parts[0] + parts[1] + parts[2]).counts.tolist() == COUNTS
    assert (parts[0] + rldp.Released({20: 7}, PROTOCOL)).n == 9


def test_rows_of_two_protocols_are_not_added_up():
    other = rldp.Protocol(PROTOCOL.matrix[::-1], PROTOCOL.secrets, PROTOCOL.values, PROTOCOL.outputs)
    with pytest.raises(rldp.InvalidArgument, match="must be of one protocol to be added up"):
        rldp.Released(COUNTS, PROTOCOL) + rldp.Released(COUNTS, other)
    with pytest.raises(rldp.InvalidArgument, match="must both have secrets, or neither"):
        rldp.Released(COUNTS, PROTOCOL) + rldp.Released(TABLE, PROTOCOL)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ([1, 2], rldp.InvalidArgument, r"counts must have shape \(3,\) or \(2, 3\).* got \(2,\)"),
        ([1, 2, -1], rldp.InvalidArgument, "non-negative integers"),
        ([1, 2, 0.5], rldp.InvalidArgument, "non-negative integers"),
        ([0, 0, 0], rldp.InvalidArgument, "from 1 to 2\\^53 - 1 rows, got 0"),
        (["a", "b", "c"], rldp.InvalidArgumentType, "non-negative integers"),
        ({30: 5}, rldp.InvalidArgument, "outputs of the protocol, got 30"),
    ],
)
def test_counts_that_are_none(counts, error, message):
    with pytest.raises(error, match=message):
        rldp.Released(counts, PROTOCOL)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "released must hold at least one row, got none"),
        ([10, None, 20], "released must hold no nulls, but row 2 has no value; 1 of 3 rows"),
        ([10, 99, 98], "released must hold known labels, but row 2 has another entry; 2 of 3 rows"),
        (["10", "20"], "released must hold known labels"),
    ],
)
def test_rows_that_are_none_of_the_protocol(rows, message):
    with pytest.raises(rldp.DataError, match=message):
        rldp.Released.from_columns(rows, PROTOCOL)


def test_rows_and_secrets_of_two_lengths():
    with pytest.raises(rldp.DataError, match="secrets must have as many rows as released, 6, got 5"):
        rldp.Released.from_columns(ROWS, PROTOCOL, secrets=SECRETS[:5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y\n", "rows.csv must hold at least one row, got none"),
        ("y,z\n10,1\n,2\n", "column 'y' of .*rows.csv must hold no nulls, but row 2 has no value"),
        (
            "y\n10\n11\n",
            "column 'y' of .*rows.csv must hold known labels, but row 2 has another entry.*another may "
            "have released",
        ),
        ("z,x\n10,1\n", "rows.csv has no column 'y'; it has 'z', 'x'"),
    ],
)
def test_files_that_are_none_of_the_protocol(tmp_path, text, message):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(rldp.DataError, match=message):
        rldp.Released.from_data(tmp_path / "rows.csv", PROTOCOL, released="y")


def test_columns_must_be_named():
    with pytest.raises(rldp.InvalidArgument, match="released must name the column of outputs"):
        rldp.Released.from_data(pd.DataFrame({"y": ROWS}), PROTOCOL)
    with pytest.raises(rldp.InvalidArgument, match="must be different columns, got 'y' for both"):
        rldp.Released.from_data(pd.DataFrame({"y": ROWS}), PROTOCOL, released="y", secret="y")
    with pytest.raises(rldp.InvalidArgument, match="secret must name 1 columns, one for each"):
        rldp.Released.from_data(pd.DataFrame({"y": ROWS}), PROTOCOL, released="y", secret=["a", "b"])
