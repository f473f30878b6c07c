"""A protocol that does not read the secret is released from without it, by every client."""

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.csv
import pytest

import rldp
from commands import run_command

ROWS = pandas.DataFrame({"s": ["a"] * 60 + ["b"] * 50, "u": ([0, 1, 2] * 37)[:110], "k": [1, 2] * 55})
BLIND = ROWS.drop(columns="s")


@pytest.fixture(scope="module")
def protocol():
    sample = rldp.Sample.from_data(ROWS, secret="s", value="u")
    return rldp.design(sample, 0.5, utility="nominal", epsilon_known=0).protocol


@pytest.fixture(scope="module")
def reading():
    """A protocol that reads the secret."""
    return rldp.Protocol([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]], secrets=["a", "b"])


def test_a_column_of_values_is_enough(protocol):
    assert protocol.release(values=[0, 1, 2]) != []
    released = protocol.release(None, BLIND["u"])
    assert isinstance(released, pandas.Series)
    assert set(released) <= {0, 1, 2}


def test_draws_are_those_of_the_table(protocol):
    """100 000 rows of one value: each share is within five standard errors of its probability."""
    drawn = np.asarray(protocol.release(values=np.full(100_000, 1), seed=1))
    for y, p in enumerate(protocol.matrix[0, 1]):
        assert abs((drawn == y).mean() - p) <= 5 * (p * (1 - p) / 100_000) ** 0.5 + 1e-12


def test_a_secret_is_not_taken_where_none_is_read(protocol):
    with pytest.raises(
        rldp.InvalidArgument, match=r"secrets must be None: the protocol does not read the secret"
    ):
        protocol.release(["a"], [0])
    with pytest.raises(rldp.InvalidArgument, match=r"secret must be left out: the protocol does not read"):
        protocol.release_frame(ROWS, secret="s")


def test_where_the_secret_is_read_it_must_be_given(reading):
    with pytest.raises(rldp.InvalidArgumentType, match=r"secrets must be .*, got NoneType"):
        reading.release(values=[0, 1])
    with pytest.raises(rldp.InvalidArgument, match=r"secret must be given as one column"):
        reading.release_frame(BLIND, value="u")


@pytest.mark.parametrize(
    "frame",
    [BLIND, polars.DataFrame(BLIND), polars.LazyFrame(BLIND), pyarrow.table(BLIND), ROWS],
    ids=["pandas", "polars", "lazy", "arrow", "with a secret that is not read"],
)
def test_frames_need_no_secret_column(protocol, frame):
    released = protocol.release_frame(frame)
    assert type(released) is type(frame)
    table = released.collect() if isinstance(released, polars.LazyFrame) else released
    columns = table.column_names if isinstance(table, pyarrow.Table) else list(table.columns)
    assert columns == ["u"]
    assert len(table) == 110


def test_a_secret_that_is_missing_leaves_no_row_out():
    data = pandas.DataFrame({"s": ["a", "b"] * 20, "u": [0, 1] * 20})
    sample = rldp.Sample.from_data(data, secret="s", value="u", missing="skip")
    protocol = rldp.design(sample, 0.5, privacy="nominal", utility="nominal", epsilon_known=0).protocol
    data.loc[3, "s"] = None
    assert len(protocol.release_frame(data)) == 40


def test_the_secret_column_is_still_not_kept(protocol):
    with pytest.raises(rldp.InvalidArgument, match="keep must not name the secret column 's'"):
        protocol.release_frame(ROWS, keep=["s"])


def test_files_need_no_secret_column(protocol, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    protocol.save("protocol.json")
    BLIND.to_csv("rows.csv", index=False)
    assert rldp.release_file("protocol.json", "rows.csv", "released.csv").rows == 110
    code, _, errors = run_command(
        monkeypatch, capsys, "release", "protocol.json", "rows.csv", "-o", "again.csv"
    )
    assert code == 0, errors
    assert pyarrow.csv.read_csv("again.csv").column_names == ["u"]
    code, _, errors = run_command(
        monkeypatch, capsys, "release", "protocol.json", "rows.csv", "--secret", "s", "-o", "no.csv"
    )
    assert code == 1
    assert "secret must be left out" in errors


def test_the_exported_table_needs_none_either(protocol, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    protocol.save("protocol.json")
    assert run_command(monkeypatch, capsys, "export", "protocol.json", "-o", "table.json")[0] == 0
    table = rldp.load("table.json")
    assert not table.reads_secret
    assert len(table.release(values=[0, 1, 2])) == 3
    assert len(table.release_frame(BLIND, value="u")) == 110
    assert table.output_for(None, 1, 0) == table.output_for("a", 1, 0)


def test_dask_needs_no_secret_column(protocol):
    dask = pytest.importorskip("dask.dataframe")
    import rldp.dask

    released = rldp.dask.release(protocol, dask.from_pandas(BLIND, npartitions=2)).compute()
    assert list(released.columns) == ["u"]
    assert len(released) == 110


def test_shares_are_estimated_from_such_rows():
    sample = rldp.Sample([[300, 100, 60], [120, 200, 280]])
    protocol = rldp.design(sample, 1.0, privacy="nominal", utility="nominal", epsilon_known=0).protocol
    values = np.random.default_rng(3).choice(3, size=20_000, p=sample.distribution.sum(axis=0))
    found = rldp.estimate(list(protocol.release(values=values, seed=4)), protocol)
    assert found.identifiable.all()
    assert np.abs(found.values - sample.distribution.sum(axis=0)).max() < 0.03


# What cannot be tested without the secret


RNG = np.random.default_rng(0)
ILL = RNG.choice(["yes", "no"], 3000)
AGE = np.where(
    ILL == "yes", RNG.choice([20, 40, 60], 3000, p=[0.1, 0.3, 0.6]), RNG.choice([20, 40, 60], 3000)
)
PEOPLE = pyarrow.table({"ill": ILL, "age": AGE, "job": RNG.choice(["a", "b"], 3000)})
QUICK = {"privacy": "credible", "utility": "nominal", "gap": 1e-3, "epsilon_known": 0}


def designed(privacy="credible", **columns):
    sample = rldp.Sample.from_data(PEOPLE, secret="ill", value="age", **columns)
    return rldp.design(sample, 0.5, **(QUICK | {"privacy": privacy})).protocol


def test_rows_whose_values_are_others_are_refused():
    others = pyarrow.table({"age": [20] * 2000 + [60] * 100})
    with pytest.raises(
        rldp.DataError, match=r"differ from the sample in their values .* \(p < 1e-9\), and with"
    ):
        designed().release_frame(others)
    assert designed().release_frame(others, allow_drift=True).num_rows == 2100
    assert designed().release_frame(PEOPLE.select(["age"])[:200]).num_rows == 200
    assert designed("all").release_frame(others).num_rows == 2100  # private whatever they are


def test_rows_are_not_left_out_where_nobody_can_tell_what_that_reveals():
    protocol = designed(missing="skip")
    some = pyarrow.table({"age": [20, None, 40, 60]})
    with pytest.raises(rldp.DataError, match=r"must not be left out if the secret is not read"):
        protocol.release_frame(some)
    with pytest.raises(rldp.DataError, match=r"must not be left out if the secret is not read"):
        protocol.release_frame(polars.LazyFrame({"age": [20, None]})).collect()
    assert protocol.release_frame(some, allow_absence=True).num_rows == 3
    assert protocol.release_frame(some[:1]).num_rows == 1


def test_after_an_earlier_release_the_ledger_refuses_true_values(tmp_path):
    first = designed()
    linked = rldp.Sample.from_data(PEOPLE, secret="ill", value=["age", "job"], after=[first])
    second = rldp.design(linked, 1.0, after=[first], distortion="hamming", **QUICK).protocol
    ledger = tmp_path / "ledger.jsonl"
    out = first.release_frame(PEOPLE, ledger=ledger)["age"]
    rows = PEOPLE.append_column("out", out)
    options = {"ledger": ledger, "allow_drift": True}
    with pytest.raises(rldp.DataError, match=r"takes other outputs than theirs"):
        second.release_frame(rows, as_earlier="age", **options)
    assert second.release_frame(rows, as_earlier="out", **options).column_names == ["out", "job"]
    with pytest.raises(rldp.DataError, match=r"differ from the sample in their values"):
        second.release_frame(rows, as_earlier="age")
