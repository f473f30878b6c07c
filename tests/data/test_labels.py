"""Labels become integers in one way, whatever kind of column they come in, and in one set of sentences."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import rldp
from rldp.data.columns import encode
from rldp.data.labels import MOST_LABELS, Alphabet, Faults, faults

NAN, INF = math.nan, math.inf


# Kinds of columns; a kind that cannot hold entries, or changes them, gives None


def objects(entries):
    column = np.empty(len(entries), dtype=object)
    column[:] = entries
    return column


def array(entries):
    """A NumPy array of one type; nothing but floats may be missing in it."""
    if len({type(entry) for entry in entries if entry is not None}) != 1:
        return None
    if None in entries:
        return np.array(entries, dtype=float) if set(map(type, entries)) == {float, type(None)} else None
    column = np.array(entries)
    return column if column.tolist() == entries or NAN in entries else None


def arrow(entries):
    try:
        column = pa.array(entries)
    except (pa.ArrowException, OverflowError):
        return None
    return column if {type(a) for a in column.to_pylist()} == set(map(type, entries)) else None


def over_arrow(change):
    def kind(entries):
        column = arrow(entries)
        return None if column is None else change(column)

    return kind


def texts_only(make):
    return lambda entries: make(entries) if all(isinstance(x, str | None) for x in entries) else None


def masked(make):
    """What is missing is masked; beneath the mask lies a label."""

    def kind(entries):
        beneath = next((entry for entry in entries if entry is not None), "a")
        column = make([beneath if entry is None else entry for entry in entries])
        return None if column is None else np.ma.array(column, mask=[entry is None for entry in entries])

    return kind


def polars(entries):
    column = arrow(entries)
    return None if column is None else pl.Series("x", entries, strict=True)


def pandas_nullable(entries):
    kinds = {int: "Int64", float: "Float64", bool: "boolean", str: "string"}
    found = {type(entry) for entry in entries if entry is not None}
    if len(found) != 1:
        return None
    try:
        return pd.Series(entries, dtype=kinds[found.pop()])
    except OverflowError:
        return None


def pandas_categories(entries):
    try:
        column = pd.Series(pd.Categorical(entries))
    except TypeError:  # entries that cannot be sorted, which pandas takes to heart
        return None
    found = [None if isinstance(entry, float) and math.isnan(entry) else entry for entry in column.tolist()]
    same = all(a is None or (a == b and type(a) is type(b)) for a, b in zip(found, entries, strict=True))
    return column if same else None


KINDS = {
    "list": list,
    "tuple": tuple,
    "NumPy": array,
    "NumPy objects": objects,
    "NumPy masked": masked(array),
    "NumPy masked objects": masked(objects),
    "NumPy StringDType": texts_only(
        lambda entries: np.array(entries, dtype=np.dtypes.StringDType(na_object=None))
    ),
    "pandas": lambda entries: None if array(entries) is None else pd.Series(array(entries)),
    "pandas nullable": pandas_nullable,
    "pandas objects": lambda entries: pd.Series(objects(entries), dtype=object),
    "pandas categories": pandas_categories,
    "pandas Arrow": over_arrow(lambda column: pd.Series(pd.arrays.ArrowExtensionArray(column))),
    "pandas str": texts_only(lambda entries: pd.Series(entries, dtype="str")),
    "pandas string": texts_only(lambda entries: pd.Series(entries, dtype="string[python]")),
    "Polars": polars,
    "Polars categories": texts_only(lambda entries: pl.Series(entries, dtype=pl.Categorical)),
    "Arrow": arrow,
    "Arrow chunks": over_arrow(lambda column: pa.chunked_array([column[:1], column[1:1], column[1:]])),
    "Arrow dictionary": over_arrow(lambda column: column.dictionary_encode()),
    "Arrow dictionaries": over_arrow(
        lambda column: pa.chunked_array([column[:2].dictionary_encode(), column[2:].dictionary_encode()])
    ),
    "Arrow runs": over_arrow(lambda column: pa.compute.run_end_encode(column) if len(column) else None),
    "Arrow large text": texts_only(lambda entries: pa.array(entries, pa.large_string())),
    "Arrow views": texts_only(lambda entries: pa.array(entries, pa.string_view())),
}
KINDS_TABLE = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def columns(kind, entries):
    """The entries as a column of a kind, or none."""
    column = kind(entries)
    return [] if column is None else [column]


# What the codes must be, entry by entry


def expected_code(entry, labels):
    for code, label in enumerate(labels):
        if isinstance(entry, float) and isinstance(label, int) and abs(label) >= 2**53:
            continue
        if isinstance(label, str) == isinstance(entry, str) and label == entry:
            return code
    return -1


def expected_labels(entries):
    labels = []
    for entry in entries:
        is_number = isinstance(entry, int | float) and math.isfinite(entry)
        if (is_number or isinstance(entry, str)) and entry not in labels:
            labels.append(entry)
    numbers = sorted(label for label in labels if not isinstance(label, str))
    return numbers + sorted(label for label in labels if isinstance(label, str))


def assert_encoded(kind, entries, labels=None):
    for column in columns(kind, entries):
        found = encode("column", column, None if labels is None else Alphabet(labels))
        wanted = expected_labels(entries) if labels is None else list(labels)
        assert list(found.labels) == wanted
        assert [type(x) for x in found.labels] == [type(x) for x in wanted]
        assert found.codes.dtype == np.int32
        assert found.codes.tolist() == [expected_code(entry, wanted) for entry in entries]


CASES = {
    "text": ["b", "a", "b", "c"],
    "empty text": ["", "a", ""],
    "text that looks like something else": ["1", "01", "1.0", "True", "nan", "None"],
    "not ASCII": ["Ü", "日本", "🙂", "u"],
    "white space": [" a", "a ", "a", "a\n", "\t"],
    "letters after a null character": ["a\0b", "a", "b"],
    "integers": [10, 9, 10, -1],
    "integers far apart": [2**62, -(2**62), 0],
    "the largest integers": [2**63 - 1, -(2**63)],
    "integers that only unsigned ones hold": [2**64 - 1, 2**63, 1],
    "integers beyond 64 bits": [2**70, 1, -(2**70)],
    "integers beyond floats": [2**53, 2**53 + 1],
    "floats": [0.5, -0.5, 0.5, 1e300],
    "two zeros": [0.0, -0.0, 1.0],
    "small floats": [5e-324, 0.0, 1e-310],
    "booleans": [True, False, True],
    "one label": ["a", "a"],
    "one row": [7],
    "no rows": [],
    "numbers and text": [2, "a", 1.5, "2", "1.5"],
    "equal numbers of several types": [1, 1.0, True, 2],
    "missing text": ["b", None, "a", None],
    "missing integers": [2, None, 1],
    "missing floats": [2.5, None, 1.5],
    "missing booleans": [True, None, False],
    "NaN": [2.5, NAN, 1.5, NAN],
    "infinity": [2.5, INF, -INF],
    "nothing": [None, None],
}


@KINDS_TABLE
def test_the_cases_are_no_empty_words(kind):
    """A kind that could hold hardly any of them would pass whatever it did."""
    held = [name for name, entries in CASES.items() if columns(kind, entries)]
    assert "text" in held
    assert len(held) >= 9


@KINDS_TABLE
@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_labels_that_are_found_are_sorted_and_numbered(kind, entries):
    assert_encoded(kind, entries)


ALPHABETS = {
    "text": ("c", "a", "z", "", "1", "日本"),
    "integers": (10, -1, 0, 1, 2**62, 2**63 - 1),
    "integers far apart": (2**64 - 1, 1, -(2**63), 2**70),
    "floats": (0.5, 2.5, 1e300, 5e-324, 0.0),
    "whole floats": (1.0, 2.0, 9007199254740992.0),
    "booleans": (True, False),
    "several types": ("1", 2, 1.5, "True", True),
    "one": ("a",),
    "none that occurs": ("?",),
}


@KINDS_TABLE
@pytest.mark.parametrize("labels", ALPHABETS.values(), ids=ALPHABETS)
def test_labels_that_are_given_keep_their_order(kind, labels):
    for entries in CASES.values():
        assert_encoded(kind, entries, labels)


SOME_LABELS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([-0.0, 0.5, 1.0, 2.0**60, 1e300, -2.0]),
    st.booleans(),
    st.sampled_from(["", "a", "b", "1", "1.0", "True"]),
    st.integers(-(2**63), 2**63 - 1),
)
ENTRIES = st.one_of(
    st.lists(st.one_of(SOME_LABELS, st.none()), min_size=1, max_size=12),
    st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), min_size=1, max_size=12),
    st.lists(st.one_of(st.floats(width=64), st.none()), min_size=1, max_size=12),
    st.lists(st.one_of(st.text("ab\0é", max_size=3), st.none()), min_size=1, max_size=12),
)


@KINDS_TABLE
@given(entries=ENTRIES, labels=st.lists(SOME_LABELS, max_size=8))
def test_every_kind_of_column_says_what_a_list_says(kind, entries, labels):
    assert_encoded(kind, entries)
    assert_encoded(kind, entries, list(dict.fromkeys(labels)))


@pytest.mark.parametrize(
    "entries",
    [
        [decimal.Decimal(1), 1, 2],
        [1, decimal.Decimal(1), 2],
        [np.longdouble(1), 1, 2],
        [datetime.timedelta(0), 1, 2],
        [[1], 1, 2],
    ],
    ids=lambda entries: type(entries[0]).__name__ + " first" * (type(entries[0]) is not int),
)
def test_what_is_no_label_does_not_stand_for_one_that_it_equals(entries):
    for column in (entries, objects(entries), pd.Series(objects(entries))):
        found = encode("column", column)
        assert found.labels == (1, 2)
        assert found.codes.tolist() == [
            0 if type(x) is int and x == 1 else 1 if x == 2 else -1 for x in entries
        ]


@KINDS_TABLE
def test_a_long_column_is_coded_like_its_rows(kind):
    """Several blocks, with labels that only the last of them shows."""
    rng = np.random.default_rng(0)
    for labels in ([f"v{i}" for i in range(40)], list(range(40)), [i / 8 for i in range(40)]):
        codes = np.append(rng.integers(0, 30, 150_000), np.arange(40))
        for column in columns(kind, [labels[code] for code in codes]):
            found = encode("column", column)
            assert sorted(found.labels) == sorted(labels)
            order = np.array([found.labels.index(label) for label in labels])
            assert np.array_equal(found.codes, order[codes])
            assert np.array_equal(encode("column", column, Alphabet(labels)).codes, codes)


def test_categories_that_do_not_occur_are_no_labels():
    unused = pd.Categorical(["b"], categories=["a", "b", "c"])
    for column in (
        pd.Series(unused),
        pl.Series(["b"], dtype=pl.Enum(["a", "b", "c"])),
        pa.DictionaryArray.from_arrays([1], ["a", "b", "c"]),
    ):
        assert encode("column", column).labels == ("b",)


DAYS = [datetime.date(2024, 2, 1), None, datetime.date(2024, 1, 31)]


@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        tuple(DAYS),
        objects(DAYS),
        np.array(DAYS, dtype="datetime64[D]"),
        np.array(DAYS, dtype="datetime64[s]"),
        pd.Series(DAYS),
        pd.Series(pd.to_datetime(pd.Series(DAYS))),
        pd.Series(pd.to_datetime(pd.Series(DAYS)).dt.tz_localize("UTC")),
        pd.Series(pd.to_datetime(pd.Series(DAYS))).astype("category"),
        pd.Series(DAYS, dtype="date32[pyarrow]"),
        pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime),
        pa.array(DAYS),
        pa.array(DAYS).dictionary_encode(),
        pa.array(DAYS, pa.date64()),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_days_are_the_text_that_stands_for_them_in_a_csv_file(column):
    found = encode("column", column)
    assert found.labels == ("2024-01-31", "2024-02-01")
    assert found.codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">u2", ">f4", ">f8", ">U3", "<i4"])
def test_arrays_of_either_byte_order_hold_the_same(dtype):
    column = np.array([3, 1, 2], dtype=dtype)
    assert encode("column", column).codes.tolist() == [2, 0, 1]
    assert encode("column", column, Alphabet(column.tolist())).codes.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_a_float_does_not_stand_for_an_integer_that_it_may_have_been_rounded_to(kind):
    """2^53 + 1 as a float is 2^53: somebody would get the neighbour's law."""
    labels = [2**53 - 1, 2**53, 2**53 + 2, -(2**60)]
    entries = [float(label) for label in labels]
    assert encode("column", kind(entries), Alphabet(labels)).codes.tolist() == [0, -1, -1, -1]
    assert encode("column", kind(labels), Alphabet(labels)).codes.tolist() == [0, 1, 2, 3]
    assert encode("column", kind(entries), Alphabet(entries)).codes.tolist() == [0, 1, 2, 3]


# Too many labels


@pytest.mark.parametrize(
    "column",
    [
        [f"v{i}" for i in range(1001)],
        list(range(1001)),
        np.arange(1001),
        np.arange(1001) * 2**40,
        np.arange(1001) / 8,
        np.arange(1001).astype(str),
        pd.Series(np.arange(1001)).astype("category"),
        pl.Series([f"v{i}" for i in range(1001)]),
        pa.array(np.arange(1001) / 8),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_more_than_a_thousand_labels_are_not_found(column):
    assert MOST_LABELS == 1000
    assert len(encode("column", column[:1000]).labels) == 1000
    with pytest.raises(rldp.DataError) as caught:
        encode("column", column)
    message = "column must have at most 1000 distinct labels, got 1001; group or round them first"
    assert str(caught.value) == message


def test_very_many_labels_are_counted():
    column = np.random.default_rng(0).normal(size=200_000)
    with pytest.raises(rldp.DataError, match=r"^column must have at most 1000 distinct labels, got 200000;"):
        encode("column", column)


def test_given_labels_may_be_more():
    labels = np.random.default_rng(0).permutation(5000) / 4
    for column in (labels, labels.tolist(), pa.array(labels)):
        assert encode("column", column, Alphabet(labels.tolist())).codes.tolist() == list(range(5000))


# The sentences


LETTER = Alphabet(["a", "b"])
NUMBER = Alphabet([1, 2, 3, 4, 5])


@KINDS_TABLE
@pytest.mark.parametrize(
    ("entries", "alphabet", "message"),
    [
        (["a", None, "b", None], None, "column must hold no nulls, but row 2 has no value"),
        (["a", None, "b", None], LETTER, "column must hold no nulls, but row 2 has no value"),
        ([1, None, 2, None], None, "column must hold no nulls, but row 2 has no value"),
        ([1, None, 2, None], NUMBER, "column must hold no nulls, but row 2 has no value"),
        ([1.0, NAN, 2.0, NAN], None, "column must hold no nulls, but row 2 has no value"),
        ([1.0, NAN, 2.0, NAN], NUMBER, "column must hold no nulls, but row 2 has no value"),
        ([1.0, INF, 2.0, -INF], None, "column must hold finite labels, but row 2 has another entry"),
        ([1.0, INF, 2.0, -INF], NUMBER, "column must hold finite labels, but row 2 has another entry"),
        (["a", "c", "b", "d"], LETTER, "column must hold known labels, but row 2 has another entry"),
        ([1, 6, 2, 7], NUMBER, "column must hold known labels, but row 2 has another entry"),
        ([1.0, 1.5, 2.0, 2.5], NUMBER, "column must hold known labels, but row 2 has another entry"),
        (["1", "2", "a", "b"], LETTER, "column must hold known labels, but row 1 has another entry"),
        ([6, 7, 1, 2], LETTER, "column must hold known labels, but row 1 has another entry"),
    ],
    ids=str,
)
def test_rows_at_fault_are_told_alike_whatever_the_column(kind, entries, alphabet, message):
    for column in columns(kind, entries):
        with pytest.raises(rldp.DataError) as caught:
            faults(encode("column", column, alphabet)).refuse()
        count = 4 if alphabet is LETTER and isinstance(entries[0], int) else 2
        assert str(caught.value) == f"{message}; {count} of 4 rows cannot be counted"


@pytest.mark.parametrize("alphabet", [None, NUMBER], ids=["found", "given"])
@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([1, [2], 1], "list"),
        ([1, {"name": "Ada"}, 1], "dict"),
        ([1, b"Ada", 1], "bytes"),
        ([1, decimal.Decimal(2), 1], "Decimal"),
        ([1, datetime.date(1815, 12, 10), 1], "date"),
        ([1, 2j, 1], "complex"),
        ([1, np.longdouble(2), 1], "longdouble"),
        ([1, np.timedelta64(2, "D"), 1], "timedelta64"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_entries_of_other_types_are_named_but_not_shown(entries, found, alphabet):
    for column in (entries, tuple(entries), objects(entries), pd.Series(objects(entries), dtype=object)):
        with pytest.raises(rldp.DataError) as caught:
            faults(encode("column", column, alphabet)).refuse()
        assert str(caught.value) == (
            f"column must hold strings, numbers or booleans, but row 2 has an entry of type {found}; "
            "1 of 3 rows cannot be counted"
        )


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 2], dtype="datetime64[ns]"),
        np.array([1, 2], dtype=complex),
        np.array([b"a", b"b"]),
        pd.Series(pd.to_datetime(["2024-01-31 10:00"] * 2)),
        pd.Series(pd.period_range("2024", periods=2)),
        pl.Series([decimal.Decimal(1)] * 2),
        pl.Series([[1], [2]]),
        pa.array([b"a", b"b"]),
        pa.array([datetime.time(10)] * 2).dictionary_encode(),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_columns_of_other_types_hold_no_labels(column):
    for alphabet in (None, NUMBER):
        with pytest.raises(
            rldp.DataError, match=r"^c must hold strings, numbers or booleans, but row 1 has an"
        ):
            faults(encode("c", column, alphabet)).refuse()


def test_text_that_is_half_a_character_is_no_label():
    with pytest.raises(rldp.DataError) as caught:
        faults(encode("column", ["a", "\ud800"])).refuse()
    assert str(caught.value) == (
        "column must hold labels of valid Unicode, but row 2 has another entry; 1 of 2 rows cannot be counted"
    )


SHOWN = {
    ("a", "c", "b", "d"): (LETTER, "column must hold known labels ('a', 'b'), but row 2 has 'c'; 2 of 4"),
    (1.0, 1.5, 2.0): (NUMBER, "column must hold known labels (1, 2, 3, …), but row 2 has 1.5; 1 of 3"),
    (1.0, INF): (None, "column must hold finite labels, but row 2 has inf; 1 of 2"),
}


@pytest.mark.parametrize("entries", SHOWN)
def test_entries_are_shown_to_those_who_ask_and_to_nobody_else(entries):
    alphabet, message = SHOWN[entries]
    column = encode("column", list(entries), alphabet)
    with pytest.raises(rldp.DataError) as caught:
        faults(column, show_labels=True).refuse(advice="this shows it")
    assert str(caught.value) == f"{message} rows cannot be counted"
    with pytest.raises(rldp.DataError, match=r"row 2 has another entry; .* counted; this shows it$"):
        faults(column).refuse(advice="this shows it")


def test_a_missing_entry_needs_no_advice_about_showing_it():
    with pytest.raises(rldp.DataError, match=r"has no value; 1 of 1 rows cannot be counted$"):
        faults(encode("column", [None], LETTER)).refuse(advice="this shows it")


def test_long_entries_and_labels_are_cut_short():
    with pytest.raises(rldp.DataError) as caught:
        faults(encode("column", ["y" * 500], Alphabet(["x" * 500])), show_labels=True).refuse("released")
    assert str(caught.value) == (
        f"column must hold known labels ('{'x' * 22}…), but row 1 has '{'y' * 78}…; "
        "1 of 1 rows cannot be released"
    )


def test_rows_count_once_and_the_first_is_told_whichever_column_it_is_in():
    s, u = encode("s", ["a", "x", "y", "a"], LETTER), encode("u", [6, 1, 6, 1], NUMBER)
    assert faults(s, u) == Faults(4, 3, "u must hold known labels, but row 1 has another entry")
    assert faults(s) == Faults(4, 2, "s must hold known labels, but row 2 has another entry")
    same = encode("t", ["x"], LETTER), encode("u", [6], NUMBER)
    assert faults(*same).first == "t must hold known labels, but row 1 has another entry"


def test_rows_are_counted_through_all_parts():
    good, bad = encode("s", ["a", "b"], LETTER), encode("s", ["a", "x", "y"], LETTER)
    assert faults(good) == Faults(2, 0, None)
    both = faults(good).and_in(bad).and_in(bad)
    assert both == Faults(8, 4, "s must hold known labels, but row 4 has another entry")
    faults(good).refuse()


def test_no_rows_are_no_fault():
    faults(encode("s", [], LETTER), encode("u", [])).refuse()


# Text of CSV files


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        ((1, 2), {"1": 0, "2": 1, "01": 0, "1.0": 0, " 2 ": 1, "+1": 0, "2e0": 1, "0x1": 0}),
        ((1, 2), {"3": -1, "": -1, "x": -1, "true": -1, "1_0": -1, "١": -1, "inf": -1, "nan": -1}),
        ((1, 2, "x"), {"1": 0, "2": 1, "x": 2, "01": 0, "X": -1}),
        (("1", "2", "x"), {"1": 0, "2": 1, "x": 2, "01": -1, "1.0": -1}),
        (("01", "1", "1.0"), {"01": 0, "1": 1, "1.0": 2, "1.": -1}),
        ((1.0, 2.5), {"1": 0, "1.0": 0, "2.5": 1, "25e-1": 1, ".25e1": 1, "2": -1}),
        ((False, True), {"true": 1, "False": 0, "TRUE": 1, "1": 1, "0": 0, "tRUE": -1, "01": -1, "yes": -1}),
        (("true", "false"), {"true": 0, "false": 1, "True": -1, "1": -1}),
        ((2**53 + 1, 2**53), {"9007199254740993": 0, "9007199254740992": 1, "9007199254740994": -1}),
        ((9007199254740992.0,), {"9007199254740993": 0, "9007199254740992": 0}),
        ((2**70,), {str(2**70): 0, str(2**70 + 1): -1}),
        (("", "NA"), {"": 0, "NA": 1}),
        ((1, "1", 2.0, "2.0"), {"1": 1, "01": 0, "2": 2, "2.0": 3}),
    ],
    ids=str,
)
def test_text_is_read_as_the_type_of_the_labels(labels, texts):
    assert Alphabet(labels).of_texts([*texts, None]).tolist() == [*texts.values(), -1]


@pytest.mark.parametrize("labels", [(1, "1"), ("07", 7.0), (True, "true"), ("0x10", 16)], ids=str)
def test_labels_that_look_alike_as_text_are_refused(labels):
    with pytest.raises(rldp.DataError, match=r"^column 'u' must have labels that differ in a CSV file, got "):
        Alphabet(labels).require_readable("column 'u'")


@pytest.mark.parametrize("labels", [(1, "a"), ("1", "01"), (1, "true"), (True, "yes"), (1.5, "1")], ids=str)
def test_labels_that_do_not_look_alike_are_read(labels):
    Alphabet(labels).require_readable("column 'u'")


# Integers by their place


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64"])
@pytest.mark.parametrize("labels", [[3], [-2, 0, 5], [90, -128, 127, 7], [2**31 - 2, 2**31 + 3]])
def test_integers_are_looked_up_by_their_place_as_one_by_one(labels, dtype):
    """Those at the ends of their type, too, whose difference from the smallest label overflows."""
    limits = np.iinfo(dtype)
    near = [label + step for label in labels for step in (-1, 0, 1)]
    numbers = [n for n in [*near, limits.min, limits.max, 0] if limits.min <= n <= limits.max]
    alphabet = Alphabet(labels)
    expected = [labels.index(n) if n in labels else -1 for n in numbers]
    assert alphabet.of_objects(numbers).tolist() == expected
    assert alphabet.of_numbers(np.array(numbers, dtype)).tolist() == expected
    assert encode("values", np.array(numbers * 2**14, dtype), alphabet).codes.tolist() == expected * 2**14


@pytest.mark.parametrize("labels", [[1.0, 2], [True, 2], ["1", 2], [0, 2**40], [2**60, 2**60 + 1]])
def test_labels_that_are_no_integers_of_a_small_range_have_no_table(labels):
    assert Alphabet(labels).of_numbers(np.array([1, 2])) is None


def test_texts_of_an_array_that_no_file_could_hold_are_no_labels():
    """A null character within a text, and half of a pair of surrogates."""
    alphabet = Alphabet(["a", "b"])
    for text in ("a\0b", "a\udc80"):
        column = np.ma.masked_array([text, "a", "b", "b"], [0, 0, 0, 1])
        assert encode("values", column, alphabet).codes.tolist() == [-1, 0, 1, -1]


def test_integers_above_those_of_the_table_do_not_wrap_around():
    numbers = np.array([2**64 - 2, 1], dtype=np.uint64)
    assert encode("values", numbers, Alphabet([-2, 1])).codes.tolist() == [-1, 1]
