"""The mark between columns and the encoding of a CSV file."""

import io

import pytest

import rldp
from rldp.data.dialects import Dialect, Recoded


@pytest.mark.parametrize(
    ("given", "read"), [(";", ";"), ("tab", "\t"), ("TAB", "\t"), ("\\t", "\t"), ("\t", "\t")]
)
def test_a_delimiter_may_be_spelled(given, read):
    assert Dialect(given).delimiter == read


@pytest.mark.parametrize("given", ["", ";;", '"', "\n", "\r", "\0", "é", "a", "7"])
def test_what_cannot_stand_between_columns_is_refused(given):
    with pytest.raises(rldp.InvalidArgument, match=r"^delimiter must be one character such as ';', no quote"):
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
@pytest.mark.parametrize("size", [1, 2, 3, 1000, None])
def test_a_stream_is_recoded_and_never_longer_than_asked_for(encoding, size):
    text = "größe,naïve\n" * 20 if encoding != "shift_jis" else "年齢,性別\n" * 20
    stream, pieces = Recoded(io.BytesIO(text.encode(encoding)), encoding), []
    while piece := stream.read(size):
        assert size is None or len(piece) <= size
        pieces.append(piece)
    assert b"".join(pieces).decode() == text
    assert stream.read(size) == b""


def test_bytes_of_another_encoding_are_not_replaced():
    with pytest.raises(UnicodeDecodeError):
        Recoded(io.BytesIO("é".encode()), "ascii").read(10)
