"""Counting the pairs of two columns, in files and data frames."""

import collections
import datetime
import decimal
import gzip
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp.data.sources import HOW_TO_DECODE

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])


@pytest.fixture
def csv(tmp_path):
    """Write a CSV file and give its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def parquet(tmp_path):
    def write(table, name="data.parquet"):
        pq.write_table(table, tmp_path / name)
        return tmp_path / name

    return write


def count(data, secret="s", value="u", **alphabets):
    return rldp.Sample.from_data(data, secret=secret, value=value, **alphabets)


# What a CSV file says


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("s,u\na,1\nb,2\na,1\n", rldp.Sample([[2, 0], [0, 1]], ["a", "b"], [1, 2])),
        ("s,u\na,1\nb,2\na,1", rldp.Sample([[2, 0], [0, 1]], ["a", "b"], [1, 2])),
        ("s,u\r\na,1\r\nb,2\r\n", rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])),
        (b"\xef\xbb\xbfs,u\na,1\n", rldp.Sample([[1]], ["a"], [1])),
        ("s,u\n\na,1\n\n", rldp.Sample([[1]], ["a"], [1])),
        ("x,u,y,s\n0,1,,a\n", rldp.Sample([[1]], ["a"], [1])),
        ("x,s,u,x\n0,a,1,0\n", rldp.Sample([[1]], ["a"], [1])),
        ('s,u\n"a,b",1\n"c\nd",1\n"e ""f""",1\n', rldp.Sample([[1]] * 3, ["a,b", "c\nd", 'e "f"'], [1])),
        ('s,u\n"",1\na,1\n', rldp.Sample([[1], [1]], ["", "a"], [1])),
        ('s,u\n"NA",1\na,1\n', rldp.Sample([[1], [1]], ["NA", "a"], [1])),
        ("s,u\nÜ,1\n日本,2\n", rldp.Sample([[1, 0], [0, 1]], ["Ü", "日本"], [1, 2])),
        ("s,u\n a,1\na ,1\na,1\n", rldp.Sample([[1]] * 3, [" a", "a", "a "], [1])),
        ("s,u\na,1.5\na,2\n", rldp.Sample([[1, 1]], ["a"], [1.5, 2.0])),
        ("s,u\ntrue,1\nfalse,1\n", rldp.Sample([[1], [1]], [False, True], [1])),
        ("s,u\n2024-01-31,1\n", rldp.Sample([[1]], ["2024-01-31"], [1])),
        ("s,u\n12:30,2024-01-31T09:00\n", rldp.Sample([[1]], ["12:30"], ["2024-01-31T09:00"])),
        ("s,u\n10,x\n9,x\n", rldp.Sample([[1], [1]], [9, 10], ["x"])),
    ],
    ids=[
        "plain",
        "no last newline",
        "CRLF",
        "byte-order mark",
        "blank lines",
        "other columns",
        "other columns twice",
        "quotes",
        "quoted nothing",
        "quoted NA",
        "not ASCII",
        "spaces",
        "floats",
        "booleans",
        "dates",
        "times",
        "sorted as numbers",
    ],
)
def test_a_csv_file_is_counted_as_it_stands(csv, content, expected):
    found = count(csv(content))
    assert found == expected
    assert [type(x) for x in found.secrets] == [type(x) for x in expected.secrets]
    assert [type(x) for x in found.values] == [type(x) for x in expected.values]


def test_names_of_columns_are_taken_literally(csv):
    assert count(csv(" größe ,a b\nx,1\n"), " größe ", "a b").n == 1
    with pytest.raises(rldp.DataError, match=r"has no column 'größe'; it has ' größe ', 'a b'"):
        count(csv(" größe ,a b\nx,1\n"), "größe", "a b")


def test_text_far_down_a_column_of_numbers_makes_all_of_it_text(csv):
    found = count(csv("s,u\n" + "1,1\n" * 300_000 + "a,1\n"))
    assert found.secrets == ("1", "a")
    assert found.counts.tolist() == [[300_000], [1]]


def test_lines_may_break_anywhere_in_a_long_file(csv):
    found = count(csv("s,u\n" + '"one\n\n\ntwo",1\n' * 150_000))
    assert found == rldp.Sample([[150_000]], ["one\n\n\ntwo"], [1])


def test_a_path_may_be_a_string(csv):
    assert count(str(csv("s,u\na,1\n"))).n == 1


def test_a_compressed_csv_file_is_read(csv):
    assert count(csv(gzip.compress(b"s,u\na,1\n"), "data.csv.gz")).n == 1


@pytest.mark.parametrize("name", ["data.parquet", "data.pq", "DATA.PARQUET"])
def test_a_parquet_file_is_read(parquet, name):
    path = parquet(pa.table({"s": ["a", "b"], "x": [0, 0], "u": [1.5, 2.5]}), name)
    assert count(path) == rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1.5, 2.5])


# What a data frame says


@FRAMES
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([10, 9, 10], (9, 10)),
        ([0.5, -0.5, 0.5], (-0.5, 0.5)),
        ([True, False, True], (False, True)),
    ],
    ids=["strings", "integers", "floats", "booleans"],
)
def test_columns_of_every_kind_of_label(frame, column, expected):
    found = count(frame({"s": column, "u": [7, 7, 7]}))
    assert found.counts.tolist() == [[1], [2]]
    assert found.secrets == expected
    assert type(found.secrets[0]) is type(expected[0])


@FRAMES
def test_pairs_are_counted_as_one_by_one(frame):
    rng = np.random.default_rng(0)
    rows = list(
        zip(rng.choice(list("cab"), 70_000).tolist(), rng.integers(-3, 9, 70_000).tolist(), strict=True)
    )
    expected = collections.Counter(rows)
    found = count(frame({"s": [s for s, _ in rows], "u": [u for _, u in rows]}))
    assert (found.secrets, found.values) == (("a", "b", "c"), tuple(range(-3, 9)))
    pairs = {
        (s, u): found.counts[i, j] for i, s in enumerate(found.secrets) for j, u in enumerate(found.values)
    }
    assert pairs == expected


@FRAMES
def test_the_two_zeros_are_one_label(frame):
    assert count(frame({"s": [0.0, -0.0], "u": [1, 1]})).counts.tolist() == [[2]]


@FRAMES
@pytest.mark.parametrize("name", ["count", "rldp_count", "len", "index"])
def test_any_name_of_a_column_will_do(frame, name):
    assert count(frame({name: ["a", "a"], "u": [1, 1]}), secret=name).counts.tolist() == [[2]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["b", "a"], categories=["z", "b", "a"])),
        pd.Series(["b", "a"], dtype="string"),
        pd.Series(["b", "a"], dtype=object),
    ],
    ids=["categorical", "string", "object"],
)
def test_pandas_has_many_kinds_of_text(column):
    assert count(pd.DataFrame({"s": column, "u": [1, 2]})) == rldp.Sample(
        [[0, 1], [1, 0]], ["a", "b"], [1, 2]
    )


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.array([2, 1], dtype="Int64"), (1, 2)),
        (pd.array([2, 1], dtype="int8"), (1, 2)),
        (pd.array([True, False], dtype="boolean"), (False, True)),
        (pd.Categorical([2, 1]), (1, 2)),
    ],
    ids=["Int64", "int8", "boolean", "categorical"],
)
def test_pandas_has_many_kinds_of_numbers(column, expected):
    found = count(pd.DataFrame({"s": column, "u": [1, 1]}))
    assert found.secrets == expected
    assert type(found.secrets[0]) is type(expected[0])


def test_an_index_of_the_same_name_does_not_matter():
    assert count(pd.DataFrame({"s": ["a"], "u": [1]}).set_index("s", drop=False)).n == 1


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["z", "b", "a"])], ids=["Categorical", "Enum"])
def test_categories_of_polars(kind):
    frame = pl.DataFrame({"s": pl.Series(["b", "a"], dtype=kind), "u": [1, 1]})
    assert count(frame).secrets == ("a", "b")


def test_arrow_tables_may_be_encoded_and_in_chunks():
    column = pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()])
    assert count(pa.table({"s": column, "u": pa.chunked_array([[1], [2]])})).secrets == ("a", "b")


# Alphabets of one's own


def test_given_labels_keep_their_order_and_get_zero_where_unseen(csv):
    path = csv("s,u\na,1\nb,2\nb,2\n")
    found = count(path, secrets=["c", "b", "a"], values=[2, 5, 1])
    assert found == rldp.Sample([[0, 0, 0], [2, 0, 0], [0, 0, 1]], ["c", "b", "a"], [2, 5, 1])


def test_one_alphabet_may_be_given_and_the_other_not(csv):
    assert count(csv("s,u\nb,2\na,1\n"), secrets=["b", "a"]).values == (1, 2)


def test_equal_numbers_are_the_same_label(csv):
    assert count(csv("s,u\na,1\na,2\n"), values=[2.0, 1.0]).counts.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("secrets", "such"),
    [
        (["a", "c"], "('a', 'c'), but row 2 has 'b'; 2 of 4 rows cannot be counted"),
        (["a"], "('a'), but row 2 has 'b'; 3 of 4 rows cannot be counted"),
    ],
)
def test_labels_that_are_not_listed_are_named_and_counted(csv, secrets, such):
    path = csv("s,u\na,1\nb,2\nb,2\nc,2\n")
    with pytest.raises(rldp.DataError) as caught:
        count(path, secrets=secrets, show_labels=True)
    assert str(caught.value) == f"column 's' of {path} must hold known labels {such}"
    with pytest.raises(rldp.DataError) as caught:
        count(path, secrets=secrets)
    hidden = re.sub(r"^\(.*\), but row 2 has 'b'", "but row 2 has another entry", such)
    assert str(caught.value) == (
        f"column 's' of {path} must hold known labels, {hidden}; show_labels=True shows it"
    )


@FRAMES
def test_a_number_in_a_frame_is_not_the_text_of_it(frame):
    with pytest.raises(
        rldp.DataError, match=r"^column 'u' of data must hold known labels, but row 1 has another entry;"
    ):
        count(frame({"s": ["a"], "u": [1]}), values=["1"])
    with pytest.raises(
        rldp.DataError, match=r"^column 'u' of data must hold known labels, but row 1 has another entry;"
    ):
        count(frame({"s": ["a"], "u": ["1"]}), values=[1])


@pytest.mark.parametrize("name", ["secrets", "values"])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], rldp.InvalidArgument, "must hold at least one label, got none"),
        (["a", "a"], rldp.InvalidArgument, "must hold distinct labels, got 'a' more than once"),
        (["a", None], rldp.InvalidArgumentType, "must hold strings, numbers or booleans, got None"),
        ("ab", rldp.InvalidArgumentType, "must be a list of labels, got 'ab'"),
    ],
)
def test_bad_alphabets_are_refused(csv, name, given, error, message):
    with pytest.raises(error, match=f"^{name} {message}"):
        count(csv("s,u\na,1\n"), **{name: given})


def test_given_labels_say_how_the_text_of_a_file_is_read(csv):
    path = csv("s,u\na,01\na,2\n")
    assert count(path).values == ("01", "2")
    assert count(path, values=["01", "2", "x"]).counts.tolist() == [[1, 1, 0]]
    assert count(path, values=[2.0, 1.0]).counts.tolist() == [[1, 1]]
    assert count(csv("s,u\n1,true\n0,1\n"), secrets=["0", "1"], values=[True]).counts.tolist() == [[1], [1]]


def test_a_column_of_a_library_that_is_not_known_comes_over_arrow(monkeypatch):
    monkeypatch.setattr("rldp.data.columns._SERIES", ("pyarrow.Array", "pyarrow.ChunkedArray"))
    monkeypatch.setattr("rldp.data.frames.WHOLE_FRAMES", {})
    for frame in (pd.DataFrame, pl.DataFrame):
        found = count(frame({"s": ["b", "a", "b"], "u": [1.5, 2.5, 1.5]}))
        assert found == rldp.Sample([[0, 1], [2, 0]], ["a", "b"], [1.5, 2.5])


# What is missing


@FRAMES
@pytest.mark.parametrize(
    ("u", "missing"),
    [
        ([1.0, None, 3.0], "but row 2 has no value; 1 of 3"),
        ([1.0, float("nan"), float("nan")], "but row 2 has no value; 2 of 3"),
        ([None, float("nan"), 1.0], "but row 1 has no value; 2 of 3"),
    ],
    ids=["null", "NaN", "both"],
)
def test_missing_numbers_are_counted(frame, u, missing):
    with pytest.raises(
        rldp.DataError, match=f"^column 'u' of data must hold no nulls, {missing} rows cannot be counted; in"
    ):
        count(frame({"s": ["a", "b", "a"], "u": u}))


@FRAMES
def test_missing_text_is_counted(frame):
    with pytest.raises(
        rldp.DataError, match=r"^column 's' of data must hold no nulls, but row 2 has no value; 1 of 2 rows"
    ):
        count(frame({"s": ["a", None], "u": [1, 2]}))


@pytest.mark.parametrize(
    "column",
    [pd.Categorical(["a", None]), pd.array([1, None], dtype="Int64"), pd.array(["a", None], dtype="string")],
    ids=["categorical", "Int64", "string"],
)
def test_missing_values_of_pandas_are_counted(column):
    with pytest.raises(rldp.DataError, match=r"but row 2 has no value; 1 of 2 rows cannot be counted; in 1 "):
        count(pd.DataFrame({"s": column, "u": [1, 2]}))


@pytest.mark.parametrize("nothing", ["", "NA", "N/A", "NaN", "nan", "null", "NULL"])
def test_missing_entries_of_a_file_are_counted(csv, nothing):
    path = csv(f"s,u\na,1\n{nothing},2\n{nothing},{nothing}\n")
    with pytest.raises(rldp.DataError) as caught:
        count(path)
    assert str(caught.value) == (
        f"column 's' of {path} must hold no nulls, but row 2 has no value; 2 of 3 rows cannot be counted; "
        "in 2 an entry is missing: missing='skip' leaves such rows out, "
        "missing='category' gives them a label of their own"
    )


def test_a_column_of_nothing_is_refused(csv):
    with pytest.raises(rldp.DataError, match=r"must hold no nulls, but row 1 has no value; 2 of 2 rows"):
        count(csv("s,u\n,1\n,2\n"))


@FRAMES
def test_a_frame_without_rows_is_refused(frame):
    with pytest.raises(rldp.DataError, match=r"^data must hold at least one row, got none$"):
        count(frame({"s": [], "u": []}))


# Columns


@FRAMES
def test_a_missing_column_is_named_beside_those_there_are(frame):
    with pytest.raises(rldp.DataError, match=r"^data has no column 'u'; it has 's', 'U'$"):
        count(frame({"s": ["a"], "U": [1]}))


@FRAMES
def test_a_frame_without_columns_is_refused(frame):
    with pytest.raises(rldp.DataError, match=r"^data has no column 's'; it has no columns$"):
        count(frame({}))


def test_only_the_first_of_very_many_columns_are_listed():
    frame = pd.DataFrame({f"c{i}": [i] for i in range(100)})
    with pytest.raises(rldp.DataError, match=r"it has 'c0', .*'c29', …$"):
        count(frame)


def test_a_missing_column_of_a_file_is_named(csv, parquet):
    for path in (csv("a,b\n1,2\n"), parquet(pa.table({"a": [1], "b": [2]}))):
        with pytest.raises(rldp.DataError) as caught:
            count(path)
        assert str(caught.value) == f"{path} has no column 's'; it has 'a', 'b'"


def test_secret_and_value_are_two_columns(csv):
    with pytest.raises(
        rldp.InvalidArgument, match=r"^secret and value must be different columns, got 's' more than once$"
    ):
        count(csv("s,u\na,1\n"), value="s")


@pytest.mark.parametrize("column", [None, 0.5, [None], True, {"s"}, b"s"])
@pytest.mark.parametrize("name", ["secret", "value"])
def test_a_column_is_named_by_a_string(name, column):
    with pytest.raises(
        rldp.InvalidArgumentType, match=f"^{name} must be the name of a column(, or a list of them)?, got "
    ):
        count(pd.DataFrame({"s": ["a"], "u": [1]}), **{name: column})


def test_a_column_that_is_there_twice_is_refused(csv, parquet):
    twice = pa.table([["a"], [1], ["b"]], names=["s", "u", "s"])
    frame = pd.DataFrame([["a", 1, "b"]], columns=["s", "u", "s"])
    for data in (csv("s,u,s\na,1,b\n"), parquet(twice), twice, frame):
        with pytest.raises(
            rldp.DataError,
            match=r"must have one column 's', got several; choose one by its place, '#1' or '#3'$",
        ):
            count(data)
        sample = count(data, secret="#3")
        assert sample == rldp.Sample([[1]], ["b"], [1])
        assert sample.reading.names == ("#3", "u")
        assert count(data, secret="#1", value="#2") == rldp.Sample([[1]], ["a"], [1])


def test_other_columns_may_be_repeated(parquet):
    table = pa.table([["a"], [1], [0], [0]], names=["s", "u", "x", "x"])
    assert count(parquet(table)).n == count(table).n == 1


@FRAMES
@pytest.mark.parametrize(
    "item",
    [datetime.time(12, 30), decimal.Decimal("1.5"), b"a", [1, 2], {"a": 1}],
    ids=["time", "decimal", "bytes", "list", "record"],
)
def test_a_column_of_other_things_is_refused_without_showing_them(frame, item):
    with pytest.raises(rldp.DataError) as caught:
        count(frame({"s": [item], "u": [1]}))
    assert re.fullmatch(
        r"column 's' of data must hold strings, numbers or booleans, "
        r"but row 1 has an entry of type \w+; 1 of 1 rows cannot be counted",
        str(caught.value),
    )


def test_days_are_the_text_that_stands_for_them(csv, parquet):
    days = [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
    table = pa.table({"s": ["a", "b"], "u": days})
    for data in (table, pl.from_arrow(table), parquet(table), csv("s,u\na,2024-02-29\nb,2024-03-01\n")):
        found = count(data)
        assert found.values == ("2024-02-29", "2024-03-01")
        assert rldp.design(found, 1.0).protocol.guarantee.distortion.tolist() == [[0, 1], [1, 0]]


@FRAMES
def test_infinity_is_no_label(frame):
    with pytest.raises(
        rldp.DataError,
        match=r"^column 'u' of data must hold finite labels, but row 1 has another entry",
    ):
        count(frame({"s": ["a"], "u": [float("inf")]}))


def test_a_thousand_labels_are_enough(csv):
    rows = [f"a,v{i}\n" for i in range(1001)]
    assert count(csv("s,u\n" + "".join(rows[:1000]))).counts.shape == (1, 1000)
    path = csv("s,u\n" + "".join(rows))
    with pytest.raises(rldp.DataError) as caught:
        count(path)
    assert str(caught.value) == (
        f"column 'u' of {path} must have at most 1000 distinct labels, got 1001; group or round them first"
    )
    assert count(path, values=[f"v{i}" for i in range(1001)]).counts.shape == (1, 1001)
    numbers = csv("s,u\n" + "".join(f"a,{i / 7!r}\n" for i in range(1001)))
    with pytest.raises(
        rldp.DataError, match=r"them first, or cut those of a value column into bins \(bins=\)$"
    ):
        count(numbers)


# What is no table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must hold a table, got an empty file"),
        (b"s,u\n", "must hold at least one row, got none"),
        (b"s,u", "must be a CSV or Parquet table, but it cannot be read: "),
        (b"\n\n", "must be a CSV or Parquet table, but it cannot be read: "),
        (b"s,u\na,1\nb\n", "must be a CSV or Parquet table, but it cannot be read: "),
        (b"s,u\na,1,2\n", "must be a CSV or Parquet table, but it cannot be read: "),
        (b's,u\n"a,1\nb,2\n', "must be a CSV table, but the quote that opens on line 2 is never closed"),
        (bytes(range(256)) * 10, "must be a CSV or Parquet table, but it looks like a binary file"),
        (
            "s,u\na,1\n".encode("utf-16"),
            "must be a CSV or Parquet table, but it looks like UTF-16 text; encoding=",
        ),
        (
            "é,u\na,1\n".encode("latin-1"),
            "must be UTF-8 text, got other bytes; if they are latin-1, encoding=",
        ),
    ],
    ids=[
        "empty",
        "header",
        "header, no newline",
        "blank",
        "short row",
        "long row",
        "open quote",
        "garbage",
        "UTF-16",
        "Latin-1 header",
    ],
)
def test_a_file_that_is_no_table_is_refused(csv, content, message):
    path = csv(content)
    with pytest.raises(rldp.DataError) as caught:
        count(path)
    text = str(caught.value)
    assert text.startswith(f"{path} {message}")
    assert text.isprintable()


def test_text_that_is_not_utf_8_is_refused(csv):
    path = csv("s,u\ncafé,1\n".encode("latin-1"))
    with pytest.raises(rldp.DataError) as caught:
        count(path)
    assert str(caught.value) == f"{path} must be UTF-8 text, got other bytes; {HOW_TO_DECODE}"


@pytest.mark.parametrize(
    "content",
    [b"garbage", b"PAR1" + b"\0" * 50 + b"PAR1", b"s,u\na,1\n" * 10],
    ids=["short", "marked", "CSV"],
)
def test_a_parquet_file_that_is_none_is_refused(csv, content):
    path = csv(content, "data.parquet")
    with pytest.raises(
        rldp.DataError, match=r"must be a CSV or Parquet table, but it cannot be read: "
    ) as caught:
        count(path)
    assert str(caught.value).isprintable()


def test_a_parquet_file_without_rows_is_refused(parquet):
    empty = pa.table({"s": pa.array([], pa.string()), "u": pa.array([], pa.int64())})
    with pytest.raises(rldp.DataError, match=r"must hold at least one row, got none$"):
        count(parquet(empty))


@pytest.mark.parametrize("name", ["none.csv", "no/such/folder.csv", "x" * 300, "a\0b"])
def test_a_file_that_is_not_there_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rldp.DataError, match=r"^data must be a file that exists, got '"):
        count(name)


@pytest.mark.parametrize("name", ["folder", "folder.parquet"])
def test_a_folder_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(rldp.DataError, match=r"^data must be a CSV or Parquet file, got the folder '"):
        count(tmp_path / name)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (None, "NoneType"),
        (5, "int"),
        ({"s": ["a"], "u": [1]}, "dict"),
        ([["a", 1]], "list"),
        (np.zeros((2, 2)), "ndarray of numpy"),
        (b"data.csv", "bytes"),
        (pd.Series(["a"]), "Series of pandas"),
        (pl.Series(["a"]), "Series of polars"),
        (pl.LazyFrame, "type"),
    ],
)
def test_what_is_neither_path_nor_frame_is_refused(data, kind):
    with pytest.raises(rldp.InvalidArgumentType, match=f"^data must be a path or a data frame, got {kind}$"):
        count(data)


DATA = {"s": ["a", "b", "a"], "x": [0, 0, 0], "u": [1, 1, 2]}


def relation():
    duckdb = pytest.importorskip("duckdb")
    held = pa.table(DATA)
    return duckdb.connect().from_arrow(held)


def batches():
    table = pa.table(DATA)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(DATA),
        lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
        lambda: pl.DataFrame(DATA),
        lambda: pl.LazyFrame(DATA),
        lambda: pa.table(DATA),
        lambda: pa.RecordBatch.from_pydict(DATA),
        batches,
        relation,
    ],
    ids=["pandas", "pandas Arrow", "Polars", "lazy", "table", "batch", "reader", "DuckDB"],
)
def test_every_frame_that_can_be_released_is_a_sample_too(make):
    expected = rldp.Sample([[1, 1], [1, 0]], ["a", "b"], [1, 2])
    assert rldp.Sample.from_data(make(), secret="s", value="u") == expected
    protocol = rldp.Protocol([[[0.5, 0.5]] * 2] * 2, ["a", "b"], [1, 2], [1, 2])
    assert rldp.Released.from_data(make(), protocol, released="u", secret="s").counts.tolist() == [
        [1, 1],
        [1, 0],
    ]


def test_a_lazy_frame_is_read_as_far_as_it_is_needed():
    def fail(series):
        raise AssertionError("a column that nobody asked for")

    frame = pl.LazyFrame(DATA).with_columns(pl.col("x").map_batches(fail, return_dtype=pl.Int64))
    assert count(frame).n == 3


def test_frames_that_number_their_columns():
    frame = pd.DataFrame([["a", 1], ["b", 2]])
    sample = rldp.Sample.from_data(frame, secret=0, value=1)
    assert sample == rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])
    assert sample.reading.names == ("0", "1")
    protocol = rldp.Protocol([[[0, 1], [1, 0]]] * 2, ["a", "b"], [1, 2], [1, 2], reading=sample.reading)
    assert protocol.release_frame(frame)[1].tolist() == [2, 1]
    with pytest.raises(rldp.DataError, match="data has no column '2'"):
        rldp.Sample.from_data(frame, secret=0, value=2)


@pytest.mark.parametrize("text", ["s,u\nill,1\nill,47,Mary Smith\n", "s,u,name\nill,1,x\nMary Smith\n"])
def test_a_row_that_does_not_fit_is_not_shown(tmp_path, text):
    """A message may end in a log; nobody's row belongs there."""
    (tmp_path / "data.csv").write_text(text)
    message = r"data\.csv must be a CSV or Parquet table, .*: Expected \d columns, got \d$"
    with pytest.raises(rldp.DataError, match=message):
        rldp.Sample.from_data(tmp_path / "data.csv", secret="s", value="u")


def test_a_frame_in_place_of_a_path_is_not_shown():
    """Its entries are somebody's."""
    protocol = rldp.Protocol(np.full((1, 2, 2), 0.5))
    for frame in (
        [["SECRET"]],
        pd.DataFrame({"s": ["SECRET"]}),
        pl.DataFrame({"s": ["SECRET"]}),
        pa.table({"s": ["SECRET"]}),
    ):
        with pytest.raises(rldp.InvalidArgumentType) as caught:
            rldp.release_file(protocol, frame, "out.csv")
        assert "SECRET" not in str(caught.value)


def test_names_of_several_levels_are_listed_if_one_is_missing_and_are_found_by_their_text():
    frame = pd.DataFrame([["f", 1]], columns=pd.MultiIndex.from_tuples([("who", "sex"), ("pay", "year")]))
    with pytest.raises(rldp.DataError) as caught:
        rldp.Sample.from_data(frame, secret="sex", value="pay")
    assert str(caught.value) == "data has no column 'sex'; it has ('who', 'sex'), ('pay', 'year')"
    sample = rldp.Sample.from_data(frame, secret="('who', 'sex')", value="('pay', 'year')")
    assert sample.secrets == ("f",)
