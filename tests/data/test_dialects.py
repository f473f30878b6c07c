"""The delimiter and the encoding of a CSV file."""

import pytest

import rldp
from rldp.data.sources import Dialect


@pytest.mark.parametrize(
    ("given", "read"), [(";", ";"), ("tab", "\t"), ("TAB", "\t"), ("\\t", "\t"), ("\t", "\t")]
)
def test_a_delimiter_may_be_spelled(given, read):
    assert Dialect(given).delimiter == read


@pytest.mark.parametrize("given", ["", ";;", '"', "\n", "\r", "\0", "é", "a", "7"])
def test_what_cannot_stand_between_columns_is_refused(given):
    with pytest.raises(rldp.InvalidArgument, match=r"^delimiter must be one character such as ';', but no"):
        Dialect(given)


@pytest.mark.parametrize("given", ["klingon", "", "a\0b", "rot13", "zlib", "idna", "unicode_escape", "utf-7"])
def test_what_is_no_encoding_of_tables_is_refused(given):
    """Two texts that are read as one would be one label."""
    with pytest.raises(rldp.InvalidArgument, match=r"^encoding must be one "):
        Dialect(encoding=given)


def test_other_types_are_refused():
    with pytest.raises(rldp.InvalidArgumentType, match=r"^delimiter must be a character, got 5$"):
        Dialect(5)
    with pytest.raises(
        rldp.InvalidArgumentType, match=r"^encoding must be the name of an encoding, got b'a'$"
    ):
        Dialect(encoding=b"a")


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf_8_sig"])
def test_utf_8_is_what_is_read_anyway(name):
    assert Dialect(encoding=name) == Dialect()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32", "cp1252", "shift_jis"])
@pytest.mark.parametrize("rows", [20, 200_000])
def test_a_file_of_another_encoding_is_read(tmp_path, encoding, rows):
    secret, value = ("größe", "naïve") if encoding != "shift_jis" else ("年齢", "性別")
    path = tmp_path / "data.csv"
    path.write_bytes((f"s,{secret}\n" + f"{value},{secret}\n" * rows).encode(encoding))
    sample = rldp.Sample.from_data(path, secret="s", value=secret, encoding=encoding)
    assert (sample.secrets, sample.values, sample.n) == ((value,), (secret,), rows)


@pytest.mark.parametrize(("encoding", "cut"), [("ascii", None), ("utf-16", -1), ("shift_jis", -1)])
def test_bytes_of_another_encoding_are_not_replaced(tmp_path, encoding, cut):
    """Bytes that are none, or a letter that breaks off at the end."""
    path = tmp_path / "data.csv"
    text = "s,u\na,é" if encoding != "shift_jis" else "s,u\na,年"
    path.write_bytes(text.encode("utf-8" if cut is None else encoding)[:cut])
    with pytest.raises(rldp.DataError, match=r"must be text in .*, got other bytes$"):
        rldp.Sample.from_data(path, secret="s", value="u", encoding=encoding)
