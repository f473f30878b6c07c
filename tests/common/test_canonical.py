"""The canonical encoding: other items have other bytes, equal labels have the same."""

import itertools
import struct

import pytest
from hypothesis import given, strategies as st

from rldp._common.canonical import digest_of, encoded

LEAVES = [
    "",
    "n",
    "1",
    "i1;",
    "s1:1",
    "l0:",
    "é",
    "e\u0301",
    b"",
    b"1",
    0,
    1,
    -1,
    0.5,
    -0.5,
    2**60,
    1e300,
    None,
]
ITEMS = st.recursive(st.sampled_from(LEAVES), lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(ITEMS, ITEMS)
def test_items_have_the_same_encoding_only_if_they_are_equal(one, other):
    assert (encoded(one) == encoded(other)) == (one == other)


def test_items_that_look_alike_have_different_encodings():
    near = [
        *LEAVES,
        [],
        [[]],
        [None],
        ["1"],
        [1],
        ["1", "1"],
        ["11"],
        ["1", ["1"]],
        [["1"], "1"],
        [["1", "1"]],
        [[], "1"],
        [b"1"],
    ]
    for one, other in itertools.combinations(near, 2):
        assert encoded(one) != encoded(other), (one, other)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, -0.0), (2**53, float(2**53))])
def test_equal_labels_have_the_same_encoding(one, other):
    assert encoded(one) == encoded(other)


def test_a_tuple_is_a_list():
    assert encoded(("a", (1, None))) == encoded(["a", [1, None]]) == b"l2:s1:al2:i1;n"


def test_encodings_are_those_of_the_specification():
    assert encoded("größe") == b"s7:gr\xc3\xb6\xc3\x9fe"
    assert encoded(-(10**30)) == b"i-1000000000000000000000000000000;"
    assert encoded(0.1) == b"f" + struct.pack("!d", 0.1)
    assert encoded(bytes([0, 255])) == b"b2:\x00\xff"
    assert digest_of(None).hex() == "1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9"
