"""The sample file: what comes back is what was counted, and nothing else is taken for a sample."""

import json

import numpy as np
import pyarrow as pa
import pytest

import rldp
from rldp.protocol_file import samples

ROWS = pa.table(
    {
        "sex": ["f", "m", "f", "m", "f", "m", "m"] * 10,
        "race": ["a", "b", "b", "a", "a", "a", "b"] * 10,
        "age": [31, 42, 53, 64, 35, 46, None] * 10,
        "size": ["S", "M", "L", "S", "M", "L", "L"] * 10,
        "day": ["2024-01-31", "2024-02-01", "2024-03-05"] * 23 + ["2024-01-31"],
    }
)
READ = {
    "plain": {"secret": "sex", "value": "size"},
    "joint": {"secret": ["sex", "race"], "value": "size"},
    "bins": {"secret": "sex", "value": "age", "bins": 3, "missing": "skip"},
    "category": {"secret": "sex", "value": "age", "bins": 3, "missing": "category"},
    "order": {"secret": "sex", "value": "size", "order": {"size": ["S", "M", "L"]}},
    "days": {"secret": "sex", "value": "day"},
    "several": {"secret": "sex", "value": ["size", "age"], "bins": {"age": 2}, "missing": "skip"},
}


@pytest.fixture
def saved(tmp_path):
    """Save a sample, and read it with some parts of its tree replaced."""

    def run(sample, **changes):
        sample.save(tmp_path / "sample.json")
        tree = json.loads((tmp_path / "sample.json").read_text()) | changes
        (tmp_path / "sample.json").write_text(
            json.dumps({key: part for key, part in tree.items() if part is not ...})
        )
        return rldp.Sample.load(tmp_path / "sample.json")

    return run


@pytest.mark.parametrize("name", READ)
def test_what_was_counted_comes_back(saved, name):
    sample = rldp.Sample.from_data(ROWS, **READ[name])
    again = saved(sample)
    assert again == sample
    assert (again.reading, again.skipped) == (sample.reading, sample.skipped)
    assert len(again.scales) == len(sample.scales)
    for one, other in zip(again.scales, sample.scales, strict=True):
        if other is None:
            assert one is None
            continue
        np.testing.assert_array_equal(one.numbers, other.numbers)
        assert (one.counts, one.missing) == (other.counts, other.missing)
        for mine, theirs in zip(one.points, other.points, strict=True):
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])


@pytest.mark.parametrize("name", ["bins", "order", "days"])
def test_a_design_on_the_file_is_that_on_the_table(saved, name):
    sample = rldp.Sample.from_data(ROWS, **READ[name])
    assert rldp.design(saved(sample), 0.5).protocol == rldp.design(sample, 0.5).protocol


def test_a_sample_without_columns_comes_back(saved):
    sample = rldp.Sample([[3, 1], [0, 2]], ["a", 2])
    assert saved(sample) == sample
    assert saved(sample).reading is None


SCALE = {"numbers": [1, 2], "points": [[[1], [3]], [[2], [1]]], "counts": [], "missing": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "rldp-protocol"}, "it holds other JSON"),
        ({"version": 2}, "its version must be 1, got 2"),
        ({"version": True}, "its version must be 1, got True"),
        ({"more": 1}, "'more' is not a key of this format"),
        ({"skipped": ...}, "skipped is missing"),
        ({"skipped": -1}, "skipped must be an integer from 0 to"),
        ({"generator": 1}, "generator must be the name and version"),
        ({"counts": [[3, 1]]}, "counts must be a list of 2"),
        ({"counts": [[3, 1], [0, 1.5]]}, r"counts\[1\]\[1\] must be an integer"),
        ({"counts": [[0, 0], [0, 0]]}, "counts must hold at least one observation"),
        ({"secrets": ["a", "a"]}, "secrets must"),
        ({"columns": {}}, "columns.secret is missing"),
        ({"scales": {}}, "scales must be a list"),
        ({"scales": [None, None]}, "scales must be a list of 1, one for each column of the value"),
        ({"scales": [SCALE | {"numbers": [1]}]}, r"scales\[0\]\.numbers must be a list of 2"),
        ({"scales": [SCALE | {"numbers": [1, None]}]}, r"scales\[0\]\.points must be numbers for each label"),
        ({"scales": [SCALE | {"points": [[[1], [0]], [[2], [1]]]}]}, "counts that are not all 0"),
        ({"scales": [SCALE | {"points": [[1], [2]]}]}, "a list of numbers and a list of their counts"),
        ({"scales": [SCALE | {"missing": -1}]}, "missing must be a number that is not negative"),
        ({"scales": [SCALE | {"counts": [1]}]}, "counts must be a list of 2"),
    ],
)
def test_what_is_no_sample_is_refused(saved, changes, message):
    with pytest.raises(rldp.DataFileError, match=rf"sample\.json must be a sample file, but .*{message}"):
        saved(rldp.Sample([[3, 1], [0, 2]]), **changes)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b'{"format":"rldp-sample","format":1}', b"[" * 100_000]
)
def test_what_is_no_json_is_refused(tmp_path, content):
    (tmp_path / "sample.json").write_bytes(content)
    with pytest.raises(rldp.DataFileError, match=r"sample\.json must be a sample file, but it"):
        rldp.Sample.load(tmp_path / "sample.json")


def test_a_missing_file_and_one_that_is_too_large_are_refused(tmp_path, monkeypatch):
    with pytest.raises(rldp.DataFileError, match="it cannot be read: No such file"):
        rldp.Sample.load(tmp_path / "none.json")
    monkeypatch.setattr(samples, "LARGEST", 10)
    rldp.Sample([[3, 1]]).save(tmp_path / "sample.json")
    with pytest.raises(rldp.DataFileError, match="a sample file of at most 10 bytes, but it is larger"):
        rldp.Sample.load(tmp_path / "sample.json")
