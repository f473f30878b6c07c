"""Where a table lies: files, folders, patterns; encodings; what libraries say about them is not passed on."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp import release_file
from rldp.data.sources import Source, reading, source_of

PROTOCOL = rldp.Protocol(np.stack([np.eye(2), np.eye(2)[::-1]]), ["a", "b"], [1, 2], [1, 2])


def count(data, **options):
    return rldp.Sample.from_data(data, secret="s", value="u", **options)


def released(data, folder, keep=(), **options):
    options |= {"keep": keep, "force": True}
    release_file(PROTOCOL, data, folder / "released.csv", secret="s", value="u", **options)
    return (folder / "released.csv").read_text(encoding="utf-8")


@pytest.fixture
def many(tmp_path):
    """Three rows in three Parquet files, one of them empty, and what is beside them in such folders."""
    folder = tmp_path / "rows"
    (folder / "deeper").mkdir(parents=True)
    table = pa.table({"id": [7, 8, 9], "s": ["a", "b", "b"], "u": [1, 2, 1]})
    for name, rows in (("a.parquet", table[:1]), ("b.pq", table[:0]), ("deeper/c.parquet", table[1:])):
        pq.write_table(rows, folder / name)
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.parquet").write_text("nothing")
    (folder / "_metadata.parquet").write_text("nothing")
    return folder


def test_a_folder_of_parquet_files_is_one_table(many, tmp_path):
    assert count(many) == rldp.Sample([[1, 0], [1, 1]], ["a", "b"], [1, 2])
    assert count(many, secrets=["b", "a"]).counts.tolist() == [[1, 1], [1, 0]]
    assert released(many, tmp_path, ["id"]) == "id,u\n7,1\n8,1\n9,2\n"


def test_a_pattern_of_parquet_files_is_one_table(many, tmp_path):
    assert count(many / "[a-z]*.parquet").n == 1
    assert count(many / "**" / "[a-z]*.parquet").n == 3
    assert released(str(many / "**" / "[ac].parquet"), tmp_path) == "u\n1\n1\n2\n"


def test_rows_of_many_files_are_counted_through(many, tmp_path):
    pq.write_table(pa.table({"id": [1], "s": ["c"], "u": [1]}), many / "z.parquet")
    with pytest.raises(rldp.DataError, match=r"but row 4 has another entry; 1 of 4 rows cannot be released"):
        released(many, tmp_path)


def test_files_of_different_schemas_are_refused(many, tmp_path):
    pq.write_table(pa.table({"id": [7.5], "s": ["a"], "u": [1]}), many / "z.parquet")
    message = "must hold Parquet files of one schema, but z.parquet has another than a.parquet"
    for call in (count, lambda data: released(data, tmp_path)):
        with pytest.raises(rldp.DataError) as caught:
            call(many)
        assert str(caught.value) == f"{many} {message}"


def test_a_release_is_not_written_where_it_would_be_data(many):
    for data in (many, many / "*.parquet"):
        with pytest.raises(
            rldp.InvalidArgument, match=r"^output must not lie among the files of the data, got"
        ):
            release_file(PROTOCOL, data, many / "out.parquet", secret="s", value="u")
    with pytest.raises(rldp.InvalidArgument, match=r"^output must be another file than the data"):
        release_file(PROTOCOL, many, many / "a.parquet", secret="s", value="u", force=True)


def test_other_folders_and_patterns_are_refused(tmp_path):
    (tmp_path / "data.csv").write_text("s,u\na,1\n")
    (tmp_path / "more.csv").write_text("s,u\na,1\n")
    with pytest.raises(rldp.DataError, match=r"got the folder '.*' without any Parquet files$"):
        count(tmp_path)
    with pytest.raises(rldp.DataError, match=r"got the pattern '.*' without any Parquet files$"):
        count(tmp_path / "*.parquet")
    with pytest.raises(rldp.DataError, match=r"^data must be one CSV file or Parquet files, got the pattern"):
        count(tmp_path / "*.csv")
    (tmp_path / "data[1].csv").write_text("s,u\nb,1\n")
    assert count(tmp_path / "data[1].csv").secrets == ("b",)


def test_a_dialect_is_for_csv_files(many):
    with pytest.raises(
        rldp.InvalidArgument, match=r"^delimiter and encoding are for CSV files, got the Parqu"
    ):
        count(many / "a.parquet", delimiter=";")


# Encodings


def test_a_file_in_another_encoding_is_read_if_that_is_said(tmp_path):
    for encoding in ("latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes("s;näme;u\r\na;Zoë;1\r\nb;é;2\r\n".encode(encoding))
        assert count(path, encoding=encoding).counts.tolist() == [[1, 0], [0, 1]]
        assert released(path, tmp_path, ["näme"], encoding=encoding) == "näme,u\nZoë,1\né,1\n"


def test_a_wrong_encoding_never_merges_labels(tmp_path):
    """Every byte that is read is read as something of its own, or refused."""
    path = tmp_path / "data.csv"
    letters = [bytes([byte]) for byte in range(128, 256)]
    path.write_bytes(b"s,u\n" + b"".join(letter + b",1\n" for letter in letters))
    for encoding in ("latin-1", "cp437", "iso8859-15", "mac-roman", "koi8-r"):
        assert len(count(path, encoding=encoding).secrets) == 128
    for encoding in (None, "utf-8", "cp1252", "ascii", "utf-16", "shift_jis"):
        with pytest.raises(rldp.DataError, match=r"must be|has no column") as caught:
            count(path, encoding=encoding)
        assert caught.value.__cause__ is None


def test_kept_columns_of_other_bytes_are_told_what_helps(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("s,näme,u\na,Zoë,1\n".replace("näme", "name").encode("latin-1"))
    with pytest.raises(
        rldp.DataError, match=r"must be UTF-8 text, got other bytes; if they are latin-1, encoding="
    ):
        release_file(PROTOCOL, path, tmp_path / "out.parquet", secret="s", value="u", keep=["name"])
    options = {"secret": "s", "value": "u", "keep": ["name"], "encoding": "latin-1"}
    release_file(PROTOCOL, path, tmp_path / "out.parquet", **options)
    assert pq.read_table(tmp_path / "out.parquet")["name"].to_pylist() == ["Zoë"]


# By place


def test_a_column_that_must_not_be_kept_is_not_kept_by_its_place(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("s,u,x,x\na,1,p,q\n")
    for place in ("#1", "#2"):
        with pytest.raises(rldp.InvalidArgument, match=r"^columns must be distinct, got '[su]' and '#[12]'"):
            released(path, tmp_path, [place])
    assert released(path, tmp_path, ["#4"]) == "x,u\nq,1\n"
    with pytest.raises(
        rldp.InvalidArgument, match=r"^keep must name columns of different names, got two call"
    ):
        released(path, tmp_path, ["#3", "#4"])


def test_a_column_released_by_its_place_keeps_its_name(tmp_path):
    path, target = tmp_path / "data.csv", tmp_path / "out.csv"
    path.write_text("s,u,u\na,7,1\nb,7,1\n")
    release_file(PROTOCOL, path, target, secret="#1", value="#3")
    assert target.read_text() == "u\n1\n2\n"
    options = {"keep": ["#2"], "allow_original": True, "force": True}
    with pytest.raises(
        rldp.InvalidArgument, match=r"^the released column must not be called 'u' like a kept column"
    ):
        release_file(PROTOCOL, path, target, secret="#1", value="#3", **options)


def test_parquet_columns_of_the_same_name_are_told_apart_by_place(tmp_path):
    path, target = tmp_path / "data.parquet", tmp_path / "out.csv"
    table = pa.table([["x"], [1], ["a"], ["y"], [2]], names=["s", "u", "s", "k", "u"])
    pq.write_table(table, path)
    options = {"secret": "#3", "value": "#5", "keep": ["k", "#1"]}
    with pytest.raises(rldp.InvalidArgument, match=r"^keep must not name the secret column 's'"):
        release_file(PROTOCOL, path, target, **options)
    release_file(PROTOCOL, path, target, **options, allow_original=True)
    assert target.read_text() == "k,s,u\ny,x,2\n"


# What libraries say


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "CSV parse error: Row #3: Expected 2 columns, got 3: Mary,47,ill",
            "Row #3: Expected 2 columns, got 3",
        ),
        ("CSV parse error: Expected 2 columns, got 1: Mary", "Expected 2 columns, got 1"),
        (
            "In CSV column #0: CSV conversion error to int64: invalid value 'Mary'",
            "it is damaged, or its format",
        ),
        ("Mary", "it is damaged, or its format is unknown (ArrowInvalid)"),
        ("straddling object straddles two block boundaries", "a row is longer than what is read at once"),
        ("Parquet magic bytes not found in footer. Mary", "it is not a Parquet file, or it is truncated"),
        ("zlib inflate failed: Mary", "its compression is damaged"),
    ],
)
def test_nothing_that_a_library_says_is_passed_on_but_what_is_known(tmp_path, said, told):
    with pytest.raises(rldp.DataError) as caught, reading("data.csv"):
        raise pa.ArrowInvalid(said)
    assert str(caught.value).startswith(
        f"data.csv must be a CSV or Parquet table, but it cannot be read: {told}"
    )
    assert caught.value.__suppress_context__
    with (
        pytest.raises(rldp.DataError, match=r"but it cannot be read: Permission denied$"),
        reading("data.csv"),
    ):
        raise OSError(13, "Mary")


def test_a_source_is_made_once(tmp_path):
    (tmp_path / "data.csv.gz").write_bytes(b"x")
    source = source_of(tmp_path / "data.csv.gz")
    assert isinstance(source, Source)
    assert source_of(source) is source
    assert (source.codec, source.size, str(source)) == ("gzip", 1, os.fspath(tmp_path / "data.csv.gz"))


# The same rows twice


def test_a_file_that_is_there_twice_by_a_link_is_refused(many, tmp_path):
    for link in (os.symlink, os.link):
        link(many / "a.parquet", many / "again.parquet")
        for call in (count, lambda data: released(data, tmp_path)):
            with pytest.raises(rldp.DataFileError, match="data must hold each file once, got the folder"):
                call(many)
        (many / "again.parquet").unlink()
    assert count(many).n == 3


def test_a_result_below_the_folder_that_is_read_is_refused(many):
    (many / "new").mkdir()
    with pytest.raises(rldp.InvalidArgument, match=r"^output must not lie among the files of the data, got"):
        release_file(PROTOCOL, many, many / "new" / "out.parquet", secret="s", value="u")
