"""Every client does the same: the same twelve tables, options and sentences, and one law."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import rldp
from clients.twelve import TWELVE, is_said, random_case, statistic
from commands import run_command
from rldp.data.reading import Column, Reading

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")


def csv(protocol, table, options):
    pa.csv.write_csv(table, "rows.csv")
    rldp.release_file(protocol, "rows.csv", "out.csv", options=options)
    return pa.csv.read_csv("out.csv", convert_options=pa.csv.ConvertOptions(null_values=["(missing)"]))


def parquet(protocol, table, options):
    pq.write_table(table, "rows.parquet")
    rldp.release_file(protocol, "rows.parquet", "out.parquet", options=options)
    return pq.read_table("out.parquet")


def folder(protocol, table, options):
    pq.write_table(table, "rows/all.parquet")
    rldp.release_file(protocol, "rows", "out", options=options)
    return pq.read_table("out")


def arrow(protocol, table, options):
    return protocol.release_frame(table, options=options)


def reader(protocol, table, options):
    return protocol.release_frame(table.to_reader(), options=options).read_all()


def pandas(protocol, table, options):
    return pa.Table.from_pandas(
        protocol.release_frame(table.to_pandas(), options=options), preserve_index=False
    )


def polars(protocol, table, options):
    return protocol.release_frame(pl.from_arrow(table), options=options).to_arrow()


def lazy(protocol, table, options):
    return protocol.release_frame(pl.from_arrow(table).lazy(), options=options).collect().to_arrow()


def relation(protocol, table, options):
    connection = duckdb.connect()
    return protocol.release_frame(connection.from_arrow(table), options=options).to_arrow_table()


def dask(protocol, table, options):
    parts = frames.from_pandas(table.to_pandas(), npartitions=1)
    found = rldp.dask.release(protocol, parts, options=options).compute(scheduler="synchronous")
    return pa.Table.from_pandas(found, preserve_index=False)


KEY = bytes(range(32))
CLIENTS = [csv, parquet, folder, arrow, reader, pandas, polars, lazy, relation, dask]


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def client(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    return request.param


@pytest.mark.parametrize("name", TWELVE)
def test_twelve_tables_leave_alike_or_are_refused_with_the_same_sentence(client, name):
    rows, protocol, options, expected = TWELVE[name]
    asked = rldp.ReleaseOptions(**options)
    if isinstance(expected, dict):
        assert client(protocol, pa.table(rows), asked).to_pydict() == expected
        return
    with pytest.raises(Exception) as caught:  # noqa: PT011, Polars wraps ours in its own
        client(protocol, pa.table(rows), asked)
    said = str(caught.value)
    assert is_said(expected, said), said
    assert "SECRET" not in said


@pytest.mark.parametrize("name", TWELVE)
def test_the_command_does_the_same_with_its_options(tmp_path, monkeypatch, capsys, name):
    rows, protocol, options, expected = TWELVE[name]
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(rows), "rows.parquet")
    protocol.save("protocol.json")
    given = ["--unproved"]  # its protocols claim nothing
    for option, value in options.items():
        written = {"released": "released-name"}.get(option, option.replace("_", "-"))
        for each in value if isinstance(value, list) else [value]:
            given += [
                f"--{written}",
                *([] if each is True else [f"value={each}" if option == "unknown" else each]),
            ]
    run = ["release", "protocol.json", "rows.parquet", "-o", "out.parquet", *given]
    code, _, said = run_command(monkeypatch, capsys, *run)
    if isinstance(expected, dict):
        assert (code, pq.read_table("out.parquet").to_pydict()) == (0, expected)
    else:
        assert code == 1
        assert is_said(expected.replace("allow_original=True", "--allow-original"), said), said


def test_the_law_is_that_of_the_table_with_bins_two_secrets_and_a_missing_category(client):
    """χ² with secure randomness, wrong with probability 1e-6."""
    rows, cells, protocol = random_case()
    drawn = client(protocol, pa.table(rows), rldp.ReleaseOptions()).column("age").to_pylist()
    assert statistic(drawn, cells, protocol) < chi2.isf(1e-6, df=24)


def test_with_a_key_every_client_gives_a_person_the_same_output(client):
    """Integers in frames and Parquet files, digits in CSV files."""
    rows, _, protocol = random_case()
    rows = {name: column[:3000] for name, column in rows.items()}
    table = pa.table({**rows, "pid": list(range(len(rows["age"])))})
    secrets = list(zip(rows["sex"], rows["region"], strict=True))
    wanted = protocol.release(secrets, rows["age"], ids=table["pid"], key=KEY)
    options = rldp.ReleaseOptions(id="pid", key=KEY)
    assert client(protocol, table, options).column("age").to_pylist() == wanted


def in_two_files(protocol, table, options):
    """A folder, whose files are released by processes of their own."""
    for i in range(2):
        pq.write_table(table.slice(3 * i, 3), f"rows/{i}.parquet")
    rldp.release_file(protocol, "rows", "out", options=options, jobs=2)


def streamed(protocol, table, options):
    parts = pl.concat([pl.from_arrow(table.slice(3 * i, 3)).lazy() for i in range(2)])
    protocol.release_frame(parts, options=options).collect(engine="streaming")


def in_two_partitions(protocol, table, options):
    parts = frames.from_pandas(table.to_pandas(), npartitions=2)
    rldp.dask.release(protocol, parts, options=options)


@pytest.mark.parametrize(
    "parts", [csv, in_two_files, reader, streamed, in_two_partitions], ids=lambda client: client.__name__
)
def test_a_person_with_rows_in_two_parts_is_refused_with_the_same_sentence(tmp_path, monkeypatch, parts):
    """However the identifiers are written: they are compared as they are drawn with."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    reading = Reading((Column("sex", ("f", "m")),), (Column("age", (10, 20)),))
    protocol = rldp.Protocol(np.full((2, 2, 2), 0.5), ("f", "m"), (10, 20), reading=reading)
    table = pa.table(
        {"pid": ["Zo\u00eb", "b", "c", "d", " b ", "Zoe\u0308"], "sex": ["f", "m"] * 3, "age": [10, 20] * 3}
    )
    with pytest.raises(rldp.DataError) as caught:
        parts(protocol, table, rldp.ReleaseOptions(id="pid", key=KEY))
    assert str(caught.value) == (
        "column 'pid' must identify people, each in one row, but row 5 has the entry of an earlier row; "
        "2 of 6 rows do"
    )
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.csv").exists()
    parts(
        protocol, table.set_column(0, "pid", pa.array(list("abcdef"))), rldp.ReleaseOptions(id="pid", key=KEY)
    )


def test_columns_have_the_same_law():
    rows, cells, protocol = random_case()
    secrets = list(zip(rows["sex"], rows["region"], strict=True))
    assert statistic(protocol.release(secrets, rows["age"]), cells, protocol) < chi2.isf(1e-6, df=24)
    series = pd.Series(rows["age"])
    assert statistic(protocol.release(secrets, series).tolist(), cells, protocol) < chi2.isf(1e-6, df=24)
    texts = [f"{sex}, {region}" for sex, region in secrets]
    one_by_one = [
        protocol.output_for(s, u, w) for s, u, w in zip(texts, rows["age"], words(3000), strict=False)
    ]
    assert one_by_one == [
        protocol.output_for(s, u, w) for s, u, w in zip(secrets, rows["age"], words(3000), strict=False)
    ]


def words(count):
    return np.random.default_rng(1).integers(0, 2**52, count).tolist()
