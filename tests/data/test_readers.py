"""A file is read alike by all who read it: what is released is what is counted."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import rldp
from rldp import release_file
from rldp.data import csv_files
from rldp.data.frames import _read
from rldp.data.headers import located
from rldp.data.labels import Alphabet, faults
from rldp.data.readers import Columns, read_parts
from rldp.data.reading import Column, Reading
from rldp.data.sources import source_of


def encoded(path, readings):
    return _read(path, tuple(readings)).encoded(readings)


def by_parts(path, labels):
    """The codes of column u as a release reads them, or the sentence that refuses them."""
    try:
        reading = Reading((Column("s", ("a",)),), (Column("u", tuple(labels)),))
        columns = Columns(reading, ())
        parts = list(read_parts(located(source_of(path), columns.names), columns, typed=False)[1])
    except rldp.DataError as error:
        return str(error)
    return [code for part in parts for code in part.columns[-1].codes.tolist()]


def as_a_whole(path, labels, secrets=("a",)):
    """The same as a sample reads them."""
    alphabets = {"s": secrets and Alphabet(secrets), "u": Alphabet(labels)}
    try:
        return encoded(path, alphabets)[1].codes.tolist()
    except rldp.DataError as error:
        return str(error)


def write(path, texts):
    path.write_text("s,u\n" + "".join(f"a,{text}\n" for text in texts), encoding="utf-8", newline="")
    return path


DESIGNED = {
    "numbers and text": (("1", "2", "x"), ["1", "2"], [0, 1]),
    "text of numbers": (("1", "2"), ["2", "1", "2"], [1, 0, 1]),
    "leading zeros": (("01", "02", "x"), ["01", "02"], [0, 1]),
    "leading zeros before numbers": ((1, 2), ["01", "002"], [0, 1]),
    "leading zeros before text": (("1", "2"), ["01", "2"], [-1, 1]),
    "whole floats": ((1.0, 2.5), ["1", "1"], [0, 0]),
    "floats of whole numbers": ((1, 2), ["1.0", "2.0"], [0, 1]),
    "text of floats": (("1.0", "x"), ["1.0", "1"], [0, -1]),
    "booleans": ((False, True), ["true", "false"], [1, 0]),
    "booleans in digits": ((False, True), ["1", "0"], [1, 0]),
    "booleans in capitals": ((False, True), ["TRUE", "False"], [1, 0]),
    "text of booleans": (("true", "false", "maybe"), ["true", "false"], [0, 1]),
    "digits of booleans are no text": (("true", "false"), ["1", "0"], [-1, -1]),
    "dates": (("2024-01-31", "never"), ["2024-01-31"], [0]),
    "large integers": ((2**53 + 1, 2**53), ["9007199254740993", "9007199254740992"], [0, 1]),
    "nulls": (("1", "x"), ["1", "", "NA", "nan", '"NA"'], [0, -1, -1, -1, -1]),
    "quoted nulls": (("", "NA"), ['""', '"NA"', "NA"], [0, 1, -1]),
    "spaces": ((1, " 2"), [" 1", " 2"], [0, 1]),
    "unknown": ((1, 2), ["3", "x", "inf"], [-1, -1, -1]),
}


@pytest.mark.parametrize(("labels", "texts", "codes"), DESIGNED.values(), ids=DESIGNED)
def test_new_data_are_read_as_the_labels_that_are_known(tmp_path, labels, texts, codes):
    """Whatever type the column would have by itself."""
    path = write(tmp_path / "new.csv", texts)
    assert by_parts(path, labels) == codes
    assert as_a_whole(path, labels) == codes
    assert as_a_whole(path, labels, secrets=None) == codes


@given(
    labels=st.lists(
        st.one_of(
            st.integers(-12, 12),
            st.sampled_from([0.5, 1.0, 10.0, 1e22]),
            st.booleans(),
            st.sampled_from(["0", "1", "01", "1.0", "true", "x", "NA", "1e1", " 1"]),
        ),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    texts=st.lists(
        st.one_of(st.integers(-12, 12).map(str), st.sampled_from(["01", "1.0", "0.5", "1e1", "1e22", "true"]))
        | st.sampled_from(["False", "x", "NA", '"NA"', "", '""', " 1", "-0", "0x1", "2024-01-31", "12:30"]),
        min_size=1,
        max_size=6,
    ),
)
def test_any_file_is_read_alike_whole_and_in_parts(tmp_path_factory, labels, texts):
    path = write(tmp_path_factory.mktemp("read") / "new.csv", texts)
    assert as_a_whole(path, labels) == by_parts(path, labels)


@pytest.mark.parametrize("bad", ["3", "", "1.5"])
def test_what_cannot_be_released_cannot_be_counted_for_the_same_reason(tmp_path, bad):
    path = write(tmp_path / "new.csv", ["1", bad, "2"])
    protocol = rldp.Protocol([np.eye(2)], ["a"], [1, 2])
    sentences = []
    with pytest.raises(rldp.DataError) as caught:
        release_file(protocol, path, tmp_path / "out.csv", secret="s", value="u")
    sentences.append(str(caught.value))
    with pytest.raises(rldp.DataError) as caught:
        rldp.Sample.from_data(path, secret="s", value="u", secrets=["a"], values=[1, 2])
    sentences.append(str(caught.value))
    assert sentences[0].split("cannot be released")[0] == sentences[1].split("cannot be counted")[0]


def test_labels_that_a_file_cannot_tell_apart_are_refused_by_all(tmp_path):
    path = write(tmp_path / "new.csv", ["1"])
    told = "must have labels that differ in a CSV file, got a number and its text, in places 1 and 2"
    message = f"column 'u' of {path} {told}"
    assert by_parts(path, [1, "1"]) == as_a_whole(path, [1, "1"]) == message


def test_a_parquet_file_has_types_of_its_own(tmp_path):
    path = tmp_path / "new.parquet"
    for column, labels, codes in (
        (["1", "2"], (1, 2), [-1, -1]),
        (["1", "2"], ("1", "2"), [0, 1]),
        ([1, 2], ("1", "2"), [-1, -1]),
        ([1.0, 2.0], (1, 2), [0, 1]),
        ([True, False], (0, 1), [1, 0]),
    ):
        pq.write_table(pa.table({"s": ["a", "a"], "u": column}), path)
        assert by_parts(path, labels) == as_a_whole(path, labels) == codes


def test_long_files_are_read_alike(tmp_path, monkeypatch):
    """Numbers first, text far below, in many blocks and parts; the first row at fault is the same."""
    monkeypatch.setattr(csv_files, "_BYTES", 5000)
    texts = np.random.default_rng(0).choice(["1", "2", "02", "1.0"], 400_000).tolist() + ["x", "y"]
    path = write(tmp_path / "new.csv", texts)
    labels = (1, 2, "x")
    codes = [{"1": 0, "1.0": 0, "2": 1, "02": 1, "x": 2, "y": -1}[text] for text in texts]
    assert by_parts(path, labels) == as_a_whole(path, labels) == codes
    _, u = encoded(path, {"s": None, "u": Alphabet(labels)})
    assert faults(u, show_labels=True).first == (
        f"column 'u' of {path} must hold known labels (1, 2, 'x'), but row 400002 has 'y'"
    )


def test_other_columns_of_a_file_are_not_looked_at(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("s,name,u\na,José,1\n".encode("latin-1"))
    assert rldp.Sample.from_data(path, secret="s", value="u") == rldp.Sample([[1]], ["a"], [1])


NESTED = {
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("b", 2)]]),
    "list": (pa.list_(pa.int64()), [[1], [2]]),
    "large_list": (pa.large_list(pa.int64()), [[1], [2]]),
    "fixed_size_list": (pa.list_(pa.int64(), 1), [[1], [2]]),
    "struct": (pa.struct({"u": pa.int64()}), [{"u": 1}, {"u": 2}]),
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_nested_column_of_a_parquet_file_is_answered_in_one_sentence(tmp_path, kind):
    of_type, entries = NESTED[kind]
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"s": ["a", "b"], "u": pa.array(entries, of_type), "v": [1, 2]}), path)
    for columns in ({"secret": "s", "value": "u"}, {"secret": "u", "value": "v"}):
        with pytest.raises(
            rldp.DataError,
            match=rf"^column 'u' of .*data\.parquet must hold strings, numbers or booleans, "
            rf"got entries of type ['\"]{kind}<",
        ):
            rldp.Sample.from_data(path, **columns)
    assert rldp.Sample.from_data(path, secret="s", value="v").n == 2
