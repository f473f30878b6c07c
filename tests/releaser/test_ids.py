"""Who a row is about: the same person is the same text in every kind of column, and in one row."""

import datetime
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rldp
from rldp.releaser.ids import Identified, ids_of, require_distinct

WHOLE = [3, -1, 2**62, 0]
COLUMNS = {
    "list": WHOLE,
    "texts": [str(x) for x in WHOLE],
    "tuple": tuple(WHOLE),
    "numpy": np.array(WHOLE),
    "objects": np.array(WHOLE, dtype=object),
    "numpy texts": np.array([str(x) for x in WHOLE]),
    "masked": np.ma.MaskedArray(WHOLE, mask=False),
    "NumPy integers": [np.int64(x) for x in WHOLE],
    "pandas": pd.Series(WHOLE),
    "nullable": pd.Series(WHOLE, dtype="Int64"),
    "category": pd.Series([str(x) for x in WHOLE], dtype="category"),
    "polars": pl.Series(WHOLE),
    "arrow": pa.array(WHOLE),
    "chunks": pa.chunked_array([WHOLE[:1], WHOLE[1:]]),
    "dictionary": pa.array([str(x) for x in WHOLE]).dictionary_encode(),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_whole_numbers_are_the_texts_of_their_digits_in_every_kind_of_column(column):
    found = ids_of("column 'pid'", column)
    assert found.items == [b"s1:3", b"s2:-1", b"s19:4611686018427387904", b"s1:0"]
    assert found.column.codes.tolist() == [0, 0, 0, 0]


def test_texts_are_normalised_and_nothing_else_is():
    texts = ["Zoe\u0308", " Zo\u00eb\t", "zo\u00eb", "07", "7", "7.0", "\u00a0x", "a b", "x\0y"]
    found = ids_of("ids", texts).items
    assert found[0] == found[1] == b"s4:Zo\xc3\xab"
    assert len(set(found)) == len(texts) - 1


@pytest.mark.parametrize(
    "entry",
    [
        "",
        " \t\r\n",
        "\ud800",
        1.5,
        2.0,
        True,
        Decimal(1),
        uuid.UUID(int=1),
        datetime.date(2020, 1, 1),
        [1],
        b"a",
    ],
    ids=repr,
)
def test_what_identifies_nobody_is_a_fault_and_is_not_shown(entry):
    found = ids_of("column 'pid' of data", ["ok", entry])
    assert found.column.codes.tolist() == [0, -1]
    kind = "" if isinstance(entry, str) else f" of type {type(entry).__name__}"
    with pytest.raises(rldp.DataError) as caught:
        rldp.data.labels.faults(found.column, show_labels=True).refuse("released")
    assert str(caught.value) == (
        "column 'pid' of data must hold texts or whole numbers that identify people, but row 2 has another "
        f"entry{kind}; 1 of 2 rows cannot be released"
    )


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_a_missing_identifier_is_told_as_missing(nothing):
    found = ids_of("column 'pid' of data", [nothing, 5])
    with pytest.raises(
        rldp.DataError, match="must hold no nulls, but row 1 has no value; 1 of 2 rows cannot"
    ):
        rldp.data.labels.faults(found.column).refuse("released")


def identified(ids, used=None):
    return ids_of("pid", ids).identified(used)


def test_people_with_two_rows_are_refused_with_the_number_of_the_first():
    used = np.array([True, False, True])
    parts = [identified([1, 2]), identified([3, 1, 4], used), identified([5, "1", 2, " 5"])]
    require_distinct("pid", parts[:2])
    with pytest.raises(rldp.DataError) as caught:
        require_distinct("pid", parts)
    assert str(caught.value) == (
        "column 'pid' must identify people, each in one row, but row 7 has the entry of an earlier row; "
        "3 of 9 rows do"
    )


def test_a_row_that_is_left_out_may_repeat_an_identifier():
    require_distinct("pid", [identified(["a", "a", "b"], np.array([False, True, True]))])
    with pytest.raises(rldp.DataError, match="row 4 has the entry"):
        require_distinct("pid", [identified(["a", "a", "b", "b"], np.array([False, True, True, True]))])


def test_digests_that_share_half_of_their_bits_are_not_the_same_person():
    one = Identified(np.array([[1, 2], [1, 3], [4, 2], [1, 4]], dtype=np.uint64), None)
    require_distinct("pid", [one])
    with pytest.raises(rldp.DataError, match="row 5 has the entry of an earlier row; 1 of 5 rows"):
        require_distinct("pid", [one, Identified(np.array([[1, 3]], dtype=np.uint64), None)])


def test_many_people_are_distinct():
    require_distinct("pid", [identified(np.arange(k, k + 1000)) for k in range(0, 20_000, 1000)])
    require_distinct("pid", [])
