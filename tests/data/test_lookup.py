"""Every way of finding entries in an array finds what is there and nothing else."""

import numpy as np
import pytest

from rldp.data import lookup
from rldp.data.lookup import among_neighbours, among_numbers, among_texts


def expected(codes, block):
    return [codes.get(entry, -1) for entry in block.tolist()]


@pytest.fixture(params=["hashed", "bisected"])
def way(request, monkeypatch):
    """Numbers in either way, however many there are."""
    monkeypatch.setattr(lookup, "_MOST_HASHED", 2**14 if request.param == "hashed" else 0)
    return request.param


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64, 65, 1000])
def test_numbers_anywhere_are_found(way, dtype, count):
    rng = np.random.default_rng(count)
    numbers = np.unique(rng.integers(0, 2**62, 2 * count).astype(dtype))
    rng.shuffle(numbers)
    known, others = numbers[:count], numbers[count:]
    codes = {number: code for code, number in enumerate(known.tolist())}
    block = rng.permutation(np.concatenate([known, others, known[:1]]))
    assert among_numbers(codes, np.dtype(dtype))(block).tolist() == expected(codes, block)


def test_more_numbers_than_are_hashed():
    codes = {i / 3: i for i in range(3000)}
    block = np.arange(-10, 3010) / 3
    assert len(codes) > lookup._MOST_HASHED
    assert among_numbers(codes, np.dtype(float))(block).tolist() == expected(codes, block)


def test_numbers_that_share_the_slots_of_known_ones_are_not_taken_for_them(way):
    """With two known numbers there are eight slots: of a thousand others, most share one."""
    block = np.random.default_rng(0).integers(-(2**63), 2**63, 1000)
    assert set(among_numbers({5: 0, 7: 1}, np.dtype(np.int64))(block).tolist()) == {-1}


def test_odd_floats(way):
    codes = {0.0: 0, 5e-324: 1, 1.7e308: 2, -1.0: 3}
    block = np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308, -1.0, 1.0])
    assert among_numbers(codes, np.dtype(float))(block).tolist() == [0, 0, -1, -1, -1, 1, -1, 2, 3, -1]


def test_the_ends_of_integers(way):
    ends = {-(2**63): 0, 2**63 - 1: 1, 0: 2, -1: 3}
    block = np.array([2**63 - 1, 0, -1, -(2**63), 1, 2**63 - 2])
    assert among_numbers(ends, np.dtype(np.int64))(block).tolist() == [1, 2, 3, 0, -1, -1]
    ends = {2**64 - 1: 0, 0: 1}
    block = np.array([0, 2**64 - 1, 2**63], dtype=np.uint64)
    assert among_numbers(ends, np.dtype(np.uint64))(block).tolist() == [1, 0, -1]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.bool_])
def test_neighbours_are_found_in_a_table(dtype):
    codes = {1: 0, 0: 1, 100: 2}
    block = np.array([0, 1, 1, 0], dtype=dtype)
    assert among_neighbours(codes)(block).tolist() == [1, 0, 0, 1]
    ends = np.iinfo(dtype) if dtype != np.bool_ else None
    if ends is not None:
        block = np.array([ends.min, ends.max, 100, 101, 99], dtype=dtype)
        assert among_neighbours(codes)(block).tolist() == [codes.get(int(x), -1) for x in block]


def test_texts_are_compared_in_full():
    letters = [a + b + c for a in "abcdé" for b in "abcdé" for c in "abcd\u65e5"]
    codes = {text: code for code, text in enumerate(letters[::2])}
    block = np.array([*letters, "", "a", "abcd"])
    assert among_texts(codes, block.dtype)(block).tolist() == expected(codes, block)


def test_nothing_is_found_where_nothing_is_known():
    assert among_numbers({}, np.dtype(float))(np.zeros(2)).tolist() == [-1, -1]
    assert among_texts({"too long": 0}, np.dtype("U3"))(np.array(["too"])).tolist() == [-1]
