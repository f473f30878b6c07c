"""Types of kept columns: decided from all entries, and never at the price of one."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp import release_file
from rldp.data import csv_files
from rldp.data.kinds import FittingType

DAY = datetime.date(2024, 2, 29)

COLUMNS = {
    "integers": (["1", "-25", "0", None], pa.int64(), [1, -25, 0, None]),
    "fifteen digits": (
        ["999999999999999", "-999999999999999"],
        pa.int64(),
        [999999999999999, -999999999999999],
    ),
    "floats": (["1.5", "2", "-0.25", "1.50"], pa.float64(), [1.5, 2.0, -0.25, 1.5]),
    "booleans": (["true", "FALSE", "True", None], pa.bool_(), [True, False, True, None]),
    "dates": (["2024-02-29", None], pa.date32(), [DAY, None]),
    "nothing": ([None, None], pa.string(), [None, None]),
}
TEXT = {
    "leading zeros": ["007", "1"],
    "leading zeros of floats": ["00.5", "1.5"],
    "sixteen digits": ["1234567890123456"],
    "sixteen digits of floats": ["1.234567890123456"],
    "exponents": ["1e5"],
    "signs": ["+5"],
    "minus nothing": ["-0"] * 2 + ["x"],
    "spaces": [" 5"],
    "half a float": ["5."],
    "half a float, too": [".5"],
    "other digits": ["٣"],
    "hexadecimal": ["0x10"],
    "not a number": ["1.5", "NaN"],
    "infinity": ["1.5", "inf"],
    "empty text": ["1", ""],
    "line ends": ["1\n", "2"],
    "no such day": ["2024-02-30"],
    "times": ["2024-02-29 12:00:00"],
    "numbers and truths": ["1", "true"],
    "yes and no": ["yes", "no"],
}


def kind_of(entries):
    kind = FittingType()
    for entry in entries:
        kind.see(pa.array([entry], pa.string()))
    whole = FittingType()
    whole.see(pa.array(entries, pa.string()))
    assert whole.type == kind.type, "parts must not matter"
    return kind.type


@pytest.mark.parametrize(("entries", "kind", "read"), COLUMNS.values(), ids=COLUMNS)
def test_entries_that_lose_nothing_have_a_type(entries, kind, read):
    assert kind_of(entries) == kind
    assert pa.array(entries, pa.string()).cast(kind).to_pylist() == read


@pytest.mark.parametrize("entries", TEXT.values(), ids=TEXT)
def test_entries_that_would_lose_something_stay_text(entries):
    assert kind_of(entries) == pa.string()


def test_a_column_has_the_type_of_its_last_entry_too(tmp_path, monkeypatch):
    """Decided from the first part, a release would fail, or lose the zeros, far down."""
    monkeypatch.setattr(csv_files, "_BYTES", 2000)
    protocol = rldp.Protocol([np.eye(2)], ["a"], [1, 2], [1, 2])
    count = 5000
    columns = {
        "id": [*range(count - 1), "007"],
        "n": [*range(count - 1), 0.5],
        "i": ["", *range(count - 1)],
        "day": ["2024-02-29"] * count,
    }
    rows = "".join(f"a,1,{','.join(map(str, row))}\n" for row in zip(*columns.values(), strict=True))
    (tmp_path / "data.csv").write_text("s,u,id,n,i,day\n" + rows)
    arguments = {"secret": "s", "value": "u", "keep": list(columns), "allow_identifier": True}
    assert release_file(protocol, tmp_path / "data.csv", tmp_path / "out.parquet", **arguments) == count
    table = pq.read_table(tmp_path / "out.parquet")
    kinds = [pa.string(), pa.float64(), pa.int64(), pa.date32(), pa.int64()]
    assert table.schema.types == kinds
    assert table["id"].to_pylist() == [str(entry) for entry in columns["id"]]
    assert table["n"].to_pylist() == columns["n"]
    assert table["i"].to_pylist() == [None, *range(count - 1)]
    assert set(table["day"].to_pylist()) == {DAY}
