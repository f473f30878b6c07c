"""What may leave beside the released column: the same guard for files and for frames of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rldp
from rldp.data.reading import Column, Reading

READING = Reading((Column("sex", ("f", "m")),), (Column("age", (10, 20, 30)),))
ROWS = {
    "sex": ["f", "m"] * 60,
    "age": [10, 20, 30, 10] * 30,
    "region": ["N", "S", "W", "N", "S"] * 24,
    "name": [f"person {i}" for i in range(120)],
}


def swap():
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(3), i, axis=1) for i in range(2)])
    return rldp.Protocol(matrix, READING.secrets, READING.values, READING.values, reading=READING)


@pytest.fixture(params=["csv", "parquet", "pandas", "polars", "lazy", "arrow", "reader", "dask"])
def client(request, tmp_path, monkeypatch):
    """One function for every client: rows and options → released columns."""
    monkeypatch.chdir(tmp_path)

    def release(rows=ROWS, protocol=None, **options):
        protocol = swap() if protocol is None else protocol
        frame = pd.DataFrame(rows)
        match request.param:
            case "csv" | "parquet" as kind:
                data, output = f"rows.{kind}", f"out.{kind}"
                frame.to_csv(data, index=False) if kind == "csv" else frame.to_parquet(data)
                rldp.release_file(protocol, data, output, force=True, **options)
                found = pd.read_csv(output) if kind == "csv" else pd.read_parquet(output)
            case "pandas":
                found = protocol.release_frame(frame, **options)
            case "polars":
                found = protocol.release_frame(pl.from_pandas(frame), **options).to_pandas()
            case "lazy":
                found = protocol.release_frame(pl.from_pandas(frame).lazy(), **options).collect().to_pandas()
            case "arrow":
                found = protocol.release_frame(pa.table(rows), **options).to_pandas()
            case "reader":
                found = protocol.release_frame(pa.table(rows).to_reader(), **options).read_pandas()
            case "dask":
                frames = pytest.importorskip("dask.dataframe")
                parts = frames.from_pandas(frame, npartitions=1)
                found = rldp.dask.release(protocol, parts, **options).compute(scheduler="synchronous")
        return {name: found[name].tolist() for name in found.columns}

    return release


def refused(client, sentence, **options):
    with pytest.raises(Exception, match=sentence):  # Polars wraps ours in its own
        client(**options)


def test_the_secret_and_the_value_are_kept_only_on_purpose(client):
    sentence = r"keep must not name the {} column '{}', which would be written as it is; allow that with "
    refused(client, sentence.format("secret", "sex"), keep=["sex"])
    refused(client, sentence.format("value", "age"), keep=["age"], released="shown")
    found = client(keep=["sex", "age"], released="shown", allow_original=True)
    assert list(found) == ["sex", "age", "shown"]


def test_a_column_that_the_protocol_calls_its_value_is_not_kept_beside_another_that_is_read(client):
    rows = {**ROWS, "years": ROWS["age"], "gender": ROWS["sex"]}
    options = {"as_value": "years", "as_secret": "gender", "rows": rows}
    refused(client, "keep must not name the value column 'age'", keep=["age"], **options)
    refused(client, "keep must not name the secret column 'sex'", keep=["sex"], **options)
    assert list(client(keep=["age"], allow_original=True, **options)) == ["age", "years"]


def test_a_column_that_is_nearly_unique_is_kept_only_on_purpose(client):
    sentence = "keep must not name 'name', whose entries are nearly unique and identify people"
    refused(client, sentence, keep=["region", "name"])
    some = [None if i % 3 else f"person {i}" for i in range(360)]
    refused(client, sentence, keep=["name"], rows={key: ROWS[key] * 3 for key in ROWS} | {"name": some})
    assert list(client(keep=["region", "name"], allow_identifier=True)) == ["region", "name", "age"]


def test_few_rows_or_entries_that_come_twice_do_not_make_an_identifier(client):
    assert list(client(keep=["name"], rows={key: entries[:49] for key, entries in ROWS.items()}))
    assert list(client(keep=["name"], rows={**ROWS, "name": [ROWS["name"][i // 2] for i in range(120)]}))


@pytest.mark.parametrize("kind", ["str", "category"])
def test_small_files_are_tested_together_until_they_tell(kind, tmp_path):
    for i in range(6):
        part = pd.DataFrame({key: entries[20 * i : 20 * (i + 1)] for key, entries in ROWS.items()})
        part.astype({"name": kind}).to_parquet(tmp_path / f"{i}.parquet")
    options = {"data": tmp_path, "output": tmp_path.parent / f"{tmp_path.name}.csv"}
    with pytest.raises(rldp.InvalidArgument, match="'name', whose entries are nearly unique"):
        rldp.release_file(swap(), keep=["region", "name"], **options)
    assert not options["output"].exists()
    assert rldp.release_file(swap(), keep=["region"], **options) == 120


def test_a_column_that_is_named_as_identifier_is_kept_only_on_purpose(client):
    refused(
        client, r"keep must not name 'region', which identifies people \(id=\)", keep=["region"], id="region"
    )
    assert list(client(keep=["region"], id="name")) == ["region", "age"]
    assert list(client(keep=["region"], id="region", allow_identifier=True)) == ["region", "age"]


def test_kept_columns_are_warned_of(client):
    with pytest.warns(rldp.KeptColumnsWarning, match="ε covers only the released columns"):
        client(keep=["region"])


def test_the_protocol_passes_the_same_gate_everywhere(client):
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], READING.secrets, READING.values)
    proved = rldp.design(sample, 0.5).protocol
    names = {"secret": "sex", "value": "age", "allow_drift": True}
    assert list(client(protocol=proved, epsilon_at_most=0.5, **names)) == ["age"]
    sentence = "protocol must prove a privacy level of at most 0.4, but it proves ε = 0.5"
    refused(client, sentence, protocol=proved, epsilon_at_most=0.4, **names)
    refused(client, "protocol must promise all, as require= asks", protocol=proved, require="all", **names)
    identity = np.broadcast_to(np.eye(3), (2, 3, 3))
    labels = READING.secrets, READING.values, READING.values
    tampered = rldp.Protocol(identity, *labels, guarantee=proved.guarantee)
    refused(client, "protocol must prove what it claims", protocol=tampered, **names)
    assert client(protocol=tampered, unproved=True, **names) == {"age": ROWS["age"]}


def test_options_are_one_value_or_keywords_and_not_both(client):
    options = rldp.ReleaseOptions(keep=["region"], released="shown")
    with pytest.raises(rldp.InvalidArgument, match="options must not be given together with single ones"):
        client(options=options, keep=["region"])
