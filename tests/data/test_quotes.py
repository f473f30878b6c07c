"""Quotes of CSV files: the one that is never closed swallows rows."""

import csv
import gzip
import io
import itertools

import pytest
from hypothesis import given, strategies as st

import rldp
from rldp import release_file
from rldp.data import csv_files, headers, readers
from rldp.data.csv_files import Quotes


def trouble(pieces):
    """What is wrong with the quotes of a file that comes in pieces; None if nothing is."""
    quotes = Quotes()
    for piece in pieces:
        quotes.feed(piece)
    quotes.end()
    return quotes.trouble


def strictly_read(text):
    """Whether Python's csv module reads the text without complaint."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@given(st.text(alphabet='",\n\ra', max_size=14), st.lists(st.integers(0, 14), max_size=4))
def test_quotes_are_judged_as_the_csv_module_judges_them(text, cuts):
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b].encode() for a, b in itertools.pairwise(places)]
    assert (trouble(pieces) is None) == strictly_read(text)


@given(
    st.lists(st.sampled_from(['"', '""', '"""', ",", "\n", "x", 'x"', '"x"', '"x\n"', "\r\n"]), max_size=30)
)
def test_longer_texts_too(words):
    text = "".join(words)
    assert (trouble([text.encode()]) is None) == strictly_read(text)
    assert (trouble([bytes([byte]) for byte in text.encode()]) is None) == strictly_read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('a,b\n1,"2\n3,4\n', "the quote that opens on line 2 is never closed"),
        ('a,b\n1,"2"\n3,"4""\n\n5,6', "the quote that opens on line 3 is never closed"),
        ('"', "the quote that opens on line 1 is never closed"),
        ('a,b\n1,"x\n""y\n', "the quote that opens on line 2 is never closed"),
        ('\ufeff"a,b\n', "the quote that opens on line 1 is never closed"),
        ('a,b\n1,"2\n3,"4"\n', "the quote that closes on line 3 is followed by text"),
        ('a,b\n"1" ,2\n', "the quote that closes on line 2 is followed by text"),
    ],
)
def test_the_line_is_told(text, said):
    for size in (1, 2, 3, 1000):
        content = text.encode()
        pieces = [content[i : i + size] for i in range(0, len(content), size)]
        assert trouble(pieces) == said


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n5" pipe,6"\n',
        'a,b\n"x","y"\n',
        'a,b\n"x ""y""","line\nline"\n',
        'a,b\r\n"x","y"\r\n',
        '\ufeff"a","b"\n',
        'a,b\n1, "2"\n',
        "",
    ],
)
def test_quotes_that_are_in_order(text):
    assert trouble([text.encode()]) is None


# In files

BROKEN = {
    "never closed": (
        'sex,age,note\nf,10,"x\nm,10,y\nm,10,z\n',
        "the quote that opens on line 2 is never closed",
    ),
    "closed by another": (
        'sex,age,note\nf,10,"x\nm,10,y\nm,10,"z"\n',
        "the quote that closes on line 4 is followed by text",
    ),
    "of a value": ('sex,age,note\nf,"10\nm,10,y\nm,10,z\n', "the quote that opens on line 2 is never closed"),
}


def coin():
    return rldp.Protocol([[[0.5, 0.5], [0.5, 0.5]]] * 2, ["f", "m"], [10, 20])


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("block", [100, 2**20])
@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_file_with_a_broken_quote_is_not_released(tmp_path, monkeypatch, text, said, block, name):
    """Three rows would become one, and nobody would know."""
    monkeypatch.setattr(csv_files, "_BYTES", block)
    content = text.encode() + b"m,20,w\n" * 100
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    for keep in ([], ["note"]):
        with pytest.raises(rldp.DataError, match=rf"data\.csv.* must be a CSV table, but {said}$"):
            release_file(coin(), tmp_path / name, tmp_path / "out.csv", secret="sex", value="age", keep=keep)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_file_with_a_broken_quote_is_no_sample(tmp_path, text, said, name):
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(rldp.DataError, match=rf"data\.csv.* must be a CSV table, but {said}$"):
        rldp.Sample.from_data(tmp_path / name, secret="sex", value="age")


def test_a_file_that_is_swapped_while_it_is_read_is_not_released(tmp_path, monkeypatch):
    """Released values would stand beside the kept columns of other people."""
    (tmp_path / "data.csv").write_text("sex,age,id\n" + "f,10,1\n" * 3)
    (tmp_path / "other.csv").write_text("sex,age,id\n" + "m,20,2\n" * 3)
    opened, opens = csv_files.open_csv, []

    def swapping(path, *arguments, **options):
        opens.append(path)
        if len(opens) == 3:  # the header, the two columns, and now the columns to keep
            (tmp_path / "other.csv").replace(tmp_path / "data.csv")
        return opened(path, *arguments, **options)

    for module in (headers, readers):
        monkeypatch.setattr(module, "open_csv", swapping)
    with pytest.raises(rldp.DataError, match=r"data\.csv must not change while it is read, but it did$"):
        release_file(
            coin(), tmp_path / "data.csv", tmp_path / "out.csv", secret="sex", value="age", keep=["id"]
        )
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_shrinks_while_it_is_read_is_not_released(tmp_path, monkeypatch):
    """The columns to keep end before the others do."""
    (tmp_path / "data.csv").write_text("sex,age,id\n" + "f,10,1\n" * 3)
    monkeypatch.setattr(readers, "_kept", lambda *_: iter(()))
    with pytest.raises(rldp.DataError, match=r"data\.csv must not change while it is read, but it did$"):
        release_file(
            coin(), tmp_path / "data.csv", tmp_path / "out.csv", secret="sex", value="age", keep=["id"]
        )
    assert not (tmp_path / "out.csv").exists()
