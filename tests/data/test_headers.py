"""Which columns are meant, and what is said, without showing data, where one is not there."""

import gzip
import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp

PERSON = "Maria Schmidt"


def count(data, secret="s", value="u", **options):
    return rldp.Sample.from_data(data, secret=secret, value=value, **options)


@pytest.fixture
def file(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def refused(path, **options):
    with pytest.raises(rldp.RldpError) as caught:
        count(path, **options)
    assert caught.value.__cause__ is None, "a traceback would show what caused it"
    message = str(caught.value)
    assert PERSON not in message
    assert message.isprintable()
    assert len(message) < 300 + len(str(path))
    return message.removeprefix(f"{path} ")


EXPECTED = rldp.Sample([[1, 0], [0, 2]], ["a", "b"], ["1,5", "x"])


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_the_mark_between_columns_is_the_one_under_which_they_are_there(file, mark):
    rows = [["s", "note", "u"], ["a", PERSON, "1,5"], ["b", "x,y", "x"], ["b", '"""', "x"]]
    path = file("".join(f"{mark.join(row)}\n" for row in rows[:3]) + f'b{mark}"{mark} ""q"""{mark}x\n')
    assert count(path) == count(path, delimiter=mark) == EXPECTED
    zipped = file(gzip.compress(path.read_bytes()), "data.csv.gz")
    assert count(zipped) == EXPECTED


def test_a_comma_file_stays_one_whatever_marks_are_in_it(file):
    path = file("s,u,x;s;u;y\na,1,;;;\nb,2,;;;\n")
    assert count(path) == rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])


def test_two_marks_that_would_both_do_are_not_chosen_between(file):
    path = file("s;u|z|s|u\na;1|x|b|2\n")
    assert count(path, secret="#1", value="#2", delimiter=";").secrets == ("a",)
    message = refused(path, secret="#1", value="#2")
    assert message == "has these columns with more than one delimiter; delimiter= chooses one"


def test_places_under_a_comma_do_not_make_a_file_one_with_commas(file):
    """The second column would be everything after the comma of a name."""
    path = file("Name, Vorname;s;u\nMeier, Anna;a;1\nHuber, Eva;b;2\n")
    assert refused(path, secret="#1", value="#2").startswith("has these columns with more than one delimiter")
    assert (
        count(path, secret="#2", value="#3")
        == count(path)
        == rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])
    )


def test_a_delimiter_that_is_given_is_not_second_guessed(file):
    message = refused(file("s,u\na,1\n"), delimiter=";")
    assert message == (
        "has no column 's': only one column was found; if another character separates the columns, "
        "delimiter=',' reads it"
    )


KINDS = {
    "JSON": (f'{{"name": "{PERSON}", "s": "a"}}\n', "JSON"),
    "a list in JSON": (f'[{{"name": "{PERSON}"}}]', "JSON"),
    "XML": (f"<people><name>{PERSON}</name></people>", "XML or HTML"),
    "Excel": (
        b"PK\x03\x04\x14\0" + PERSON.encode() * 9,
        "an Excel workbook, whose name must end in .xlsx, or a zip archive",
    ),
    "Parquet": (b"PAR1" + PERSON.encode(), "a Parquet file, whose name must end in .parquet"),
    "gzip": (gzip.compress(PERSON.encode()), "a gzip file, whose name must end in .gz"),
    "UTF-16": (
        f"s,u\n{PERSON},1\n".encode("utf-16"),
        "UTF-16 text; encoding='utf-16' reads it",
    ),
    "binary": (bytes(range(1, 256)) * 9, "a binary file, or text in an encoding such as UTF-16"),
}


@pytest.mark.parametrize(("content", "kind"), KINDS.values(), ids=KINDS)
def test_what_is_no_table_is_named_and_not_shown(file, content, kind):
    assert refused(file(content)) == f"must be a CSV or Parquet table, but it looks like {kind}"


WITHOUT_HEADER = {
    "an entry above numbers": f"{PERSON},female,unknown\nAnna,female,3\nEva,female,4\n",
    "one row and its end": f"{PERSON},female,ill\n",
    "all different": f"{PERSON},female,ill\nPeter,male,well\n",
    "numbers": f"{PERSON},47,ill\n{PERSON},48,well\n",
    "addresses": f"{PERSON},maria@example.org,ill\n",
    "repeated": f"{PERSON},female,ill\nAnna,female,well\n",
    "one column": f"{PERSON} is ill\nAnna is not\n",
    "semicolons": f"{PERSON};47;ill\nAnna;48;ill\n",
    "long": f"{PERSON * 9},a,b\n",
    "unprintable": f"{PERSON}\x1b[31m,a,b\n" + "x,y,z\n" * 100,
    "empty": f"{PERSON},,b\n",
    "dates": f"{PERSON},1977-03-01,b\n",
}


@pytest.mark.parametrize("content", WITHOUT_HEADER.values(), ids=WITHOUT_HEADER)
def test_the_first_row_of_a_file_without_header_is_not_shown(file, content):
    assert refused(file(content)).startswith("has no column 's'")


def test_names_that_may_be_names_are_shown(file):
    assert refused(file("sex,Größe (cm),Q1: was ist\nf,170,1\n")) == (
        "has no column 's'; it has 'sex', 'Größe (cm)', 'Q1: was ist'"
    )
    assert refused(file("sex;age\nf;170\n")) == "has no column 's'; it has 'sex', 'age'"


def test_rows_that_do_not_fit_a_comma_do_not_hide_a_misspelled_name(file):
    assert refused(file("sex;age\nf;1,5\nm;2\n")) == "has no column 's'; it has 'sex', 'age'"


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_a_row_that_does_not_fit_is_told_of_the_mark_that_does(file, mark):
    rows = [["s", "u", "name"], ["a", "1", f"{PERSON}, Dr."], ["b", "2"]]
    path = file("".join(mark.join(row) + "\n" for row in rows).replace(f"{PERSON}, Dr.", f'"{PERSON}, Dr."'))
    message = refused(path)
    assert message.endswith("it cannot be read: Row #3: Expected 3 columns, got 2")


# By place


def test_a_column_may_be_chosen_by_its_place(file, tmp_path):
    expected = rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])
    table = pa.table({"x": ["a", "b"], "y": [1, 2]})
    pq.write_table(table, tmp_path / "data.parquet")
    frames = (table, table.to_pandas(), pl.DataFrame(table.to_pandas()))
    for data in (
        file("x,y\na,1\nb,2\n"),
        file("x;y\na;1\nb;2\n", "b.csv"),
        tmp_path / "data.parquet",
        *frames,
    ):
        assert count(data, secret="#1", value="#2") == count(data, secret="x", value="#2") == expected


def test_a_name_comes_before_a_place(file):
    assert count(file("#2,#1\na,1\n"), secret="#2", value="#1").secrets == ("a",)


@pytest.mark.parametrize("place", ["#0", "#4", "#01", "#-1", "#", "#1 "])
def test_a_place_that_is_none_is_a_name_that_is_not_there(file, place):
    assert refused(file("s,u,v\na,1,1\n"), secret=place) == f"has no column {place!r}; it has 's', 'u', 'v'"


def test_two_names_of_one_column_are_refused(file):
    message = "columns must be distinct, got 's' and '#1', which are the same"
    assert refused(file("s,u\na,1\n"), value="#1") == message
    assert refused(pd.DataFrame({"s": ["a"], "u": [1]}), value="#1").endswith(message)


def test_columns_of_the_same_name_are_told_apart_by_place(file):
    path = file('\ufeffx,"x",x\r\n"a\n",1,A\r\nb,2,B\r\n')
    assert count(path, secret="#3", value="#2").secrets == ("A", "B")
    assert count(path, secret="#1", value="#3").secrets == ("a\n", "b")


@pytest.mark.parametrize("above", ["\n", "\r\n\r\n", "\ufeff\n", "\n" * 20_000])
def test_empty_lines_above_the_names_are_no_names(file, above):
    path = file(f"{above}x,x,u\na,1,A\nb,2,B\n")
    assert count(path, secret="#1", value="#2") == rldp.Sample([[1, 0], [0, 1]], ["a", "b"], [1, 2])
    assert count(path, secret="#3", value="#2").secrets == count(path, secret="u", value="#2").secrets


@pytest.mark.parametrize(
    "content",
    [
        f"ill,{PERSON},44\nwell,Anna,45\nill,Eva,46\n",
        f"ill;{PERSON};44,5\nwell;Anna;45,5\nill;Eva;46,5\n",
        f"anna,{PERSON},1977-03-01\neva,Anna,1978-04-02\n",
    ],
    ids=["a secret that stands further down", "semicolons", "a date"],
)
def test_a_first_line_with_somebody_s_data_does_not_become_names(file, content):
    """It would be lost as a row, and leave as a name: in the protocol and above what is released."""
    path = file(content)
    for options in ({}, {"bins": 2}):
        message = refused(path, secret="#1", value="#3", **options)
        assert "ill" not in message
        assert message.startswith("must have the names of its columns in the first line, but the text ")
        assert message.endswith("looks like an entry; add a line with names")


def test_a_name_may_be_missing_or_look_like_a_question_above_a_column_chosen_by_place(file):
    path = file("s,,How satisfied are you with the way in which your complaint was handled <1-5>?\na,x,1\n")
    assert count(path, secret="#2", value="#3").values == (1,)


# Standard input


@pytest.fixture
def given(monkeypatch, tmp_path):
    """What comes in on standard input; nothing of it stays."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))

    def give(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield give
    assert list((tmp_path / "scratch").iterdir()) == []


def test_standard_input_is_a_csv_table(given):
    given("s;u\né;1\n".encode("latin-1"))
    assert count("-", encoding="latin-1") == rldp.Sample([[1]], ["é"], [1])
    given(b"")
    with pytest.raises(rldp.DataError, match=r"^standard input must hold a table, got an empty file$"):
        count("-")
    given(b"s,u\n")
    with pytest.raises(rldp.DataError, match=r"^standard input must hold at least one row, got none$"):
        count("-")
    given(b"s,u\na,\n")
    with pytest.raises(rldp.DataError, match=r"^column 'u' of standard input must hold no nulls"):
        count("-")


def test_a_closed_standard_input_is_a_sentence(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(rldp.DataError, match=r"^standard input must be open to be read, but it is closed$"):
        count("-")
