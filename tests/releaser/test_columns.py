"""Columns in, column out: the same kind, exact labels, one sentence for what cannot be released."""

import datetime
import decimal
import fractions
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rldp
from rldp._common.checks import kind_name
from rldp.data.columns import encode
from rldp.data.reading import Column, Reading

SECRETS, VALUES = ("f", "m"), (10, 20, 30)


def swap(secrets=SECRETS, values=VALUES, outputs=None):
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(len(values)), i, axis=1) for i in range(len(secrets))])
    return rldp.Protocol(matrix, secrets, values, values if outputs is None else outputs)


def expected(protocol, secrets, values):
    """What a protocol without chance gives, row by row, straight from its matrix."""
    return [
        protocol.outputs[protocol.matrix[protocol.secrets.index(s), protocol.values.index(u)].argmax()]
        for s, u in zip(secrets, values, strict=True)
    ]


S = ["f", "m", "m", "f", "m"]
U = [10, 10, 30, 20, 20]
Y = [10, 20, 10, 20, 30]


def test_the_example_is_what_the_matrix_says():
    assert expected(swap(), S, U) == Y


# Kinds of columns


@pytest.mark.parametrize("kind", [list, tuple], ids=["list", "tuple"])
def test_lists_and_tuples(kind):
    released = swap().release(kind(S), kind(U))
    assert released == kind(Y)
    assert all(type(y) is int for y in released)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "int32", ">i4", "int64", "uint64", "float32", "float64", object]
)
def test_numpy_numbers(dtype):
    released = swap().release(np.array(S), np.array(U, dtype=dtype))
    assert isinstance(released, np.ndarray)
    assert released.dtype == np.dtype(dtype)
    assert released.tolist() == Y


@pytest.mark.parametrize("dtype", ["U1", "U5", ">U2", object, np.dtypes.StringDType()], ids=str)
def test_numpy_text(dtype):
    protocol = swap(values=("x", "y", "z"))
    values = np.array(["x", "x", "z", "y", "y"], dtype=dtype)
    released = protocol.release(np.array(S, dtype=dtype), values)
    assert released.dtype == values.dtype
    assert released.tolist() == ["x", "y", "x", "y", "z"]


def test_values_of_several_columns_are_tuples():
    values = ((1, "a"), (1, "b"), (2, "a"), (2, "b"))
    protocol = swap(["s", "t"], values)
    released = protocol.release(["s", "t", "t"], [(1, "b"), (1.0, "b"), (np.int8(2), "b")])
    assert released == [(1, "b"), (2, "a"), (1, "a")]
    assert protocol.output_for("t", (2, "a"), 0) == (2, "b")
    with pytest.raises(rldp.DataError, match=r"^values must hold known labels, but row 1 has another entry"):
        protocol.release(["s"], [(3, "a")])
    with pytest.raises(rldp.DataError, match=r"^values must hold strings, numbers or booleans, but row 1"):
        protocol.release(["s"], [(decimal.Decimal(1), "a")])


def test_numpy_views_need_not_be_contiguous():
    values = np.array(U + [0] * 5).reshape(2, 5).T[:, 0]
    assert swap().release(np.repeat(S, 2)[::2], values).tolist() == Y


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(U),
        pd.Series(U, dtype="int8"),
        pd.Series(U, dtype="Int64"),
        pd.Series(U, dtype="Float32"),
        pd.Series(U, dtype="int16[pyarrow]"),
        pd.Series(U, dtype="category"),
        pd.Series(U, dtype=object),
        pd.Series(pd.arrays.SparseArray(U)),
    ],
    ids=lambda column: str(column.dtype),
)
def test_pandas_keeps_index_name_and_type(column):
    values = column.set_axis(list("abcab")).rename("age")
    released = swap().release(pd.Series(S, index=values.index), values)
    expected = pd.Series(Y, index=list("abcab"), name="age", dtype=column.dtype)
    pd.testing.assert_series_equal(released, expected)


@pytest.mark.parametrize(
    ("values", "outputs", "kind"),
    [
        (pd.Series(U, dtype="int8"), (10, 20, 1000), "int64"),
        (pd.Series(U, dtype="int8"), (10, 20, 2.5), "float64"),
        (pd.Series(U, dtype="Int64"), (10, 20, 2.5), "float64"),
        (pd.Series(U, dtype="int16[pyarrow]"), (10, 20, 10**6), "int64"),
        (np.array(U, dtype=np.float16), (10, 20, 2049), "int64"),
        (pl.Series(U, dtype=pl.Int8), (10, 20, 1000), "Int64"),
        (pa.array(U, pa.int8()), (10, 20, 1000), "int64"),
        (pa.array(U, pa.float32()), (10, 20, 0.1), "double"),
        (pa.array(U, pa.int8()), ("10", "20", "30"), "string"),
    ],
    ids=str,
)
def test_a_type_that_does_not_hold_all_outputs_gives_way(values, outputs, kind):
    released = swap(outputs=outputs).release(S, values)
    assert str(getattr(released, "dtype", None) or released.type) == kind
    assert list(pd.Series(released)) == [outputs[VALUES.index(y)] for y in Y]


def test_categories_of_other_outputs_are_those_outputs():
    released = swap(outputs=("x", "y", "z")).release(S, pd.Series(U, dtype="category"))
    assert released.tolist() == ["x", "y", "x", "y", "z"]
    assert released.cat.categories.tolist() == ["x", "y", "z"]


def test_days_come_back_as_days():
    days = [datetime.date(2024, 1, i) for i in (1, 2, 3)]
    protocol = swap(values=[day.isoformat() for day in days])
    column = [days[VALUES.index(u)] for u in U]
    expected = [days[VALUES.index(y)] for y in Y]
    for values in (
        pa.array(column),
        pl.Series(column),
        pd.Series(pd.to_datetime(column)),
        pd.Series(column, dtype="date32[pyarrow]"),
        np.array(column, dtype="datetime64[D]"),
    ):
        released = protocol.release(S, values)
        kinds = [str(getattr(c, "dtype", None) or c.type) for c in (released, values)]
        assert kinds[0] == kinds[1]
        assert [str(day)[:10] for day in list(pd.Series(released))] == list(map(str, expected))


def test_pandas_series_of_different_rows_are_not_paired():
    secrets, values = pd.Series(S, index=[4, 3, 2, 1, 0]), pd.Series(U)
    with pytest.raises(
        rldp.InvalidArgument, match=r"^secrets and values must have the same index, got two that differ$"
    ):
        swap().release(secrets, values)


@pytest.mark.parametrize(
    "dtype", ["str", "string", "string[python]", "string[pyarrow]", "category", object], ids=str
)
def test_pandas_text(dtype):
    released = swap(outputs=("x", "y", "z")).release(pd.Series(S, dtype=dtype), pd.Series(U))
    pd.testing.assert_series_equal(released, pd.Series(["x", "y", "x", "y", "z"]))


def test_categories_in_any_order_and_more_than_there_are():
    secrets = pd.Series(pd.Categorical(S, categories=["other", "m", "f"]))
    values = pd.Series(pd.Categorical(U, categories=[99, 30, 20, 10]))
    assert swap().release(secrets, values).tolist() == Y


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Int128], ids=str)
def test_polars_keeps_the_name(dtype):
    released = swap().release(pl.Series(S), pl.Series("age", U, dtype=dtype))
    assert released.equals(pl.Series("age", Y, dtype=dtype), check_names=True, check_dtypes=True)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["z", "m", "f"])], ids=str)
def test_polars_text(dtype):
    released = swap(outputs=("x", "y", "z")).release(pl.Series(S, dtype=dtype), pl.Series(U))
    assert released.equals(pl.Series(["x", "y", "x", "y", "z"]), check_dtypes=True)


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint16(), pa.int64(), pa.float16(), pa.float64()],
    ids=str,
)
def test_arrow_numbers(kind):
    released = swap().release(pa.array(S), pa.array(U).cast(kind))
    assert released.equals(pa.array(Y).cast(kind))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.uint32(), pa.int64()], ids=str)
def test_arrow_dictionaries(kind):
    places = pa.array([3, 3, 0, 1, 1], kind)
    values = pa.DictionaryArray.from_arrays(places, pa.array([30, 20, 99, 10], pa.int16()))
    released = swap().release(pa.array(S), values)
    assert released.type == values.type
    assert released.to_pylist() == Y


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_arrow_text(kind):
    released = swap(outputs=("x", "y", "z")).release(pa.array(S, kind), pa.array(U))
    assert released.equals(pa.array(["x", "y", "x", "y", "z"]))


def test_arrow_in_chunks_and_slices():
    secrets = pa.chunked_array([pa.array(["m", "f", "m"])[1:], ["m", "f"], [], ["m"]])
    values = pa.chunked_array([pa.array(U[:2]).dictionary_encode(), pa.array(U[2:]).dictionary_encode()])
    released = swap().release(secrets, values)
    assert isinstance(released, pa.ChunkedArray)
    assert released.to_pylist() == Y


def test_the_kind_returned_is_that_of_the_values():
    kinds = [S, tuple(S), np.array(S), pd.Series(S), pl.Series(S), pa.array(S)]
    columns = [U, tuple(U), np.array(U), pd.Series(U), pl.Series(U), pa.array(U)]
    for secrets in kinds:
        for values in columns:
            assert type(swap().release(secrets, values)) is type(values)


@pytest.mark.parametrize(
    "empty",
    [[], (), np.array([]), np.array([], int), pd.Series([], dtype=int), pl.Series([]), pa.array([])],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_no_rows_give_no_rows(empty):
    released = swap().release(empty, empty)
    assert len(released) == 0
    assert type(released) is type(empty) or isinstance(empty, pa.Array)


# Types of outputs


@pytest.mark.parametrize(
    ("outputs", "numpy", "pandas", "polars", "arrow"),
    [
        ((1, 2), np.int64, "int64", pl.Int64, pa.int64()),
        ((1.5, 2.0), np.float64, "float64", pl.Float64, pa.float64()),
        ((1, 2.5), np.float64, "float64", pl.Float64, pa.float64()),
        ((False, True), np.bool_, "bool", pl.Boolean, pa.bool_()),
        (("a", "größer"), np.dtype("U6"), "string", pl.String, pa.string()),
    ],
    ids=["integers", "floats", "numbers", "booleans", "text"],
)
def test_the_type_of_the_column_is_that_of_the_outputs(outputs, numpy, pandas, polars, arrow):
    protocol = swap(["s"], ["a", "b"], outputs)
    secrets, values = ["s", "s"], ["b", "a"]
    labels = [outputs[1], outputs[0]]
    assert protocol.release(secrets, values) == labels
    assert [type(y) for y in protocol.release(secrets, values)] == [type(y) for y in labels]
    found = protocol.release(secrets, np.array(values))
    assert (found.dtype, found.tolist()) == (numpy, labels)
    found = protocol.release(secrets, pd.Series(values, dtype="string"))
    assert (found.dtype, found.tolist()) == (pandas, labels)
    found = protocol.release(secrets, pl.Series(values))
    assert (found.dtype, found.to_list()) == (polars, labels)
    found = protocol.release(secrets, pa.array(values))
    assert (found.type, found.to_pylist()) == (arrow, labels)


@pytest.mark.parametrize("outputs", [(1, "1"), (True, 2), (1.5, "a"), (1, 2**70)], ids=str)
def test_outputs_of_several_types_stand_in_lists_numpy_and_pandas(outputs):
    protocol = swap(["s"], ["a", "b"], outputs)
    labels = [outputs[1], outputs[0]]
    for values in (["b", "a"], np.array(["b", "a"]), pd.Series(["b", "a"])):
        found = list(protocol.release(["s", "s"], values))
        assert found == labels
        assert [type(y) for y in found] == [type(y) for y in labels]
    message = (
        "^outputs of the protocol must be of one type, and integers of 64 bits, to be written to an Arrow, "
    )
    for values in (pl.Series(["b", "a"]), pa.array(["b", "a"])):
        with pytest.raises(rldp.DataError, match=message):
            protocol.release(["s", "s"], values)


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        ((20, 30, "(missing)"), pa.array([20, None, 30], pa.int8())),
        ((20, 30, "(missing)"), pl.Series([20, None, 30], dtype=pl.Int16)),
        ((20, 30, "(missing)"), pd.Series([20, None, 30], dtype="Int8")),
        ((20, 30, "(missing)"), pd.Series([20, None, 30], dtype="category")),
        ((2.5, 30, "(missing)"), np.array([2.5, np.nan, 30])),
        ((False, True, "(missing)"), pa.array([False, None, True])),
        ((20, 30, "(missing)"), pd.Series([20, None, 30], dtype=object)),
        ((20, 30, "(missing)"), [20, None, 30]),
    ],
    ids=str,
)
def test_beside_numbers_the_label_of_missing_entries_is_a_missing_entry(labels, column):
    """The type of the column stays; lists and objects hold the label itself. Both are counted."""
    reading = Reading((Column("s", ("s",)),), (Column("u", labels),), "category")
    protocol = rldp.Protocol(np.eye(3)[None], ["s"], labels, labels, reading=reading)
    found = protocol.release(["s"] * 3, column)
    assert getattr(found, "dtype", None) == getattr(column, "dtype", None)
    assert getattr(found, "type", None) == getattr(column, "type", None)
    one, gone, other = found.tolist() if hasattr(found, "tolist") else list(found)
    assert (one, other) == labels[:2]
    is_object = isinstance(column, list) or getattr(column, "dtype", None) == np.object_
    assert gone == "(missing)" if is_object else pd.isna(gone) or gone.as_py() is None
    assert rldp.Released.from_columns(found, protocol).counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_a_midnight_is_a_day_of_its_time_zone(kind, zone):
    series = pd.Series(pd.to_datetime(["2020-01-01", "2020-07-02"]).tz_localize(zone), name="u")
    column = {"pandas": series, "polars": pl.from_pandas(series), "arrow": pa.array(series)}[kind]
    days = ("2020-01-01", "2020-07-02")
    assert encode("u", column).labels == days
    found = swap(["s"], days).release(["s", "s"], column)
    assert found.to_pylist() == column.to_pylist() if kind == "arrow" else (found == column).all()
    assert getattr(found, "dtype", None) == getattr(column, "dtype", None)


def test_types_that_arrow_cannot_draw_from_give_way():
    column = pa.array(["a", "b"], pa.string_view())
    assert swap(["s"], ["a", "b"]).release(["s", "s"], column).to_pylist() == ["a", "b"]


# What counts as the same label


@pytest.mark.parametrize(
    ("labels", "column", "codes"),
    [
        ((1, 2), [1.0, 2.0], [0, 1]),
        ((1.0, 2.5), [1, 1], [0, 0]),
        ((0, 1), [True, False], [1, 0]),
        ((False, True), [1, 0], [1, 0]),
        ((0.0, 1.0), [-0.0, 1.0], [0, 1]),
        ((-5, 10**6, 2**62), [2**62, -5, 10**6], [2, 0, 1]),
        ((-(2**63), 2**63 - 1), [2**63 - 1, -(2**63)], [1, 0]),
        ((2**53, 2**53 + 1), [2**53 + 1, 2**53], [1, 0]),
        ((70_000, 0), [0, 70_000], [1, 0]),
        ((0.1, 0.25, 1e300), [1e300, 0.1, 0.25], [2, 0, 1]),
        (("", "a"), ["a", ""], [1, 0]),
        (("1", "True", "nan"), ["nan", "1", "True"], [2, 0, 1]),
        (("Ü", "日本", "a\nb"), ["a\nb", "Ü", "日本"], [2, 0, 1]),
    ],
    ids=str,
)
def test_equal_labels_are_the_same(labels, column, codes):
    protocol = swap(["s"], labels, range(len(labels)))
    secrets = ["s"] * len(column)
    for values in (column, np.array(column), pd.Series(column), pl.Series(column), pa.array(column)):
        assert list(pd.Series(protocol.release(secrets, values))) == codes


def test_labels_of_several_types_in_one_column():
    protocol = swap(["s"], [1, "1", 2.5, "a"], [0, 1, 2, 3])
    column = ["a", 1, "1", 2.5, 1.0, np.str_("a"), np.int8(1)]
    for values in (column, np.array(column, dtype=object), pd.Series(column, dtype=object)):
        assert list(protocol.release(["s"] * 7, values)) == [3, 0, 1, 2, 0, 3, 0]


@pytest.mark.parametrize(
    ("labels", "entry"),
    [
        ((1, 2), "1"),
        (("1", "2"), 1),
        (("True",), True),
        ((1, 2), 1.0000001),
        ((1, 2.5), 2),
        ((1, 2), 2**64 + 1),
        ((2**53, 1), float(2**53 + 2)),
        ((-1, 0), 2**64 - 1),
        ((2**64 - 1,), -1),
        ((10**30, 1), 1e300),
        (("a",), "A"),
        (("a",), "a "),
        (("a",), "a\0"),
        (("a\0", "b"), "a"),
    ],
    ids=str,
)
def test_unequal_labels_are_not(labels, entry):
    protocol = swap(["s"], labels)
    for values in ([entry], (entry,), np.array([entry]), pd.Series([entry], dtype=object)):
        if isinstance(values, np.ndarray) and values.tolist() != [entry]:
            continue  # NumPy itself changed the entry
        with pytest.raises(rldp.DataError, match=r"^values must hold known labels, but row 1 has an"):
            protocol.release(["s"], values)


# What cannot be released


def refused(message, secrets, values, error=rldp.DataError, protocol=None):
    with pytest.raises(rldp.RldpError) as caught:
        (protocol or swap()).release(secrets, values)
    assert type(caught.value) is error
    assert str(caught.value) == message


UNKNOWN = "must hold known labels"


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_unknown_labels_are_named_and_counted(kind):
    refused(
        f"values {UNKNOWN}, but row 2 has another entry; 2 of 4 rows cannot be released",
        kind(["f"] * 4),
        kind([10, 11, 20, -10]),
    )
    refused(
        f"secrets {UNKNOWN}, but row 3 has another entry; 1 of 4 rows cannot be released",
        kind(["f", "m", "x", "f"]),
        kind([10] * 4),
    )


def test_rows_count_once_and_the_first_is_reported_whichever_column_it_is_in():
    refused(
        f"values {UNKNOWN}, but row 1 has another entry; 3 of 4 rows cannot be released",
        ["f", "x", "x", "f"],
        [1, 10, 1, 10],
    )
    refused(
        f"secrets {UNKNOWN}, but row 2 has another entry; 1 of 2 rows cannot be released",
        ["f", "x"],
        [10, 11],
    )


def test_many_labels_and_long_entries_are_cut_short():
    refused(
        f"values {UNKNOWN}, but row 1 has another entry; 1 of 1 rows cannot be released",
        ["s"],
        ["y" * 500],
        protocol=swap(["s"], range(50)),
    )


def test_far_down_a_long_column():
    values = np.full(300_000, 10)
    values[[200_000, 250_000]] = 40
    refused(
        f"values {UNKNOWN}, but row 200001 has another entry; 2 of 300000 rows cannot be released",
        np.full(300_000, "f"),
        values,
    )


def nothing(row, count, total, name="values"):
    return (
        f"{name} must hold no nulls, but row {row} has no value; {count} of {total} rows cannot be released"
    )


@pytest.mark.parametrize(
    "values",
    [
        [10, None, float("nan")],
        (10, np.nan, None),
        [10, pd.NA, pd.NaT],
        np.array([10, np.nan, np.nan]),
        np.array([10, np.nan, np.nan], dtype=np.float16),
        np.array([10, None, pd.NA], dtype=object),
        np.ma.array([10, 20, 30], mask=[False, True, True]),
        pd.Series([10, None, np.nan]),
        pd.Series([10, None, None], dtype="Int64"),
        pd.Series([10, None, None], dtype="category"),
        pd.Series([10, None, None], dtype="int64[pyarrow]"),
        pd.Series([10, None, None], dtype=object),
        pl.Series([10, None, None]),
        pl.Series([10, None, float("nan")], strict=False),
        pa.array([10, None, None]),
        pa.array([10.0, None, float("nan")]),
        pa.array([10, None, None]).dictionary_encode(),
        pa.chunked_array([[10, None], [None]]),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_missing_numbers_are_counted(values):
    refused(nothing(2, 2, 3), ["f"] * 3, values)


@pytest.mark.parametrize(
    "secrets",
    [
        ["m", None, "f"],
        np.array(["m", None, "f"], dtype=object),
        np.ma.array(["m", "f", "f"], mask=[False, True, False]),
        pd.Series(["m", None, "f"], dtype="str"),
        pd.Series(["m", None, "f"], dtype="string[python]"),
        pd.Series(["m", None, "f"], dtype="category"),
        pd.Series(["m", None, "f"], dtype=object),
        pl.Series(["m", None, "f"]),
        pl.Series(["m", None, "f"], dtype=pl.Categorical),
        pa.array(["m", None, "f"]),
        pa.array(["m", None, "f"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays([0, 1, 2], ["m", None, "f"]),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_missing_text_is_counted(secrets):
    refused(nothing(2, 1, 3, "secrets"), secrets, [10, 20, 30])


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (0.0, 1.0), ("", "a")], ids=str)
def test_nothing_is_not_zero(labels):
    protocol = swap(["s"], labels)
    column = [labels[1], None, labels[0]]
    for values in (column, pd.Series(column, dtype=object), pl.Series(column), pa.array(column)):
        refused(nothing(2, 1, 3), ["s"] * 3, values, protocol=protocol)


def test_columns_of_nothing():
    for values in ([None], np.array([None]), pd.Series([None]), pl.Series([None]), pa.nulls(1)):
        refused(nothing(1, 1, 1), ["f"], values)


@pytest.mark.parametrize(
    "entry",
    [
        datetime.date(2024, 1, 31),
        decimal.Decimal(10),
        fractions.Fraction(10),
        10 + 0j,
        b"f",
        [10],
        {"a": 10},
        object,
    ],
    ids=lambda x: type(x).__name__,
)
def test_entries_of_other_types(entry):
    found = f"an entry of type {type(entry).__name__}"
    message = f"must hold strings, numbers or booleans, but row 2 has {found}; 1 of 3 rows cannot be released"
    array = np.empty(3, dtype=object)
    array[:] = 10, entry, 20
    for values in ([10, entry, 20], array, pd.Series(array)):
        refused(f"values {message}", ["f"] * 3, values)
    array[[0, 2]] = "m"
    for secrets in (["m", entry, "m"], array, pd.Series(array)):
        refused(f"secrets {message}", secrets, [10] * 3)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["2024-01-31"] * 2, dtype="datetime64[D]"),
        np.array([10, 20], dtype="timedelta64[s]"),
        np.array([10, 20], dtype=complex),
        np.array([10, 20], dtype=np.longdouble),
        np.array([b"10", b"20"]),
        np.array([(10,), (20,)], dtype=[("a", int)]),
        pd.Series(pd.to_datetime(["2024-01-31"] * 2)),
        pd.Series(pd.to_datetime(["2024-01-31"] * 2).tz_localize("UTC")),
        pd.Series(pd.period_range("2024", periods=2)),
        pl.Series([datetime.date(2024, 1, 31)] * 2),
        pl.Series([decimal.Decimal(10)] * 2),
        pl.Series([[10], [20]]),
        pl.Series([{"a": 1}, {"a": 2}]),
        pl.Series([object(), object()], dtype=pl.Object),
        pl.Series([b"10", b"20"]),
        pa.array([decimal.Decimal(10)] * 2),
        pa.array([b"10", b"20"]),
        pa.array([[10], [20]]),
        pa.array([datetime.time(10)] * 2),
        pa.array([datetime.date(2024, 1, 31)] * 2).dictionary_encode(),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_columns_of_other_types(values):
    with pytest.raises(
        rldp.DataError,
        match=r"^values must hold strings, numbers or booleans, "
        r"but row 1 has an entry of type \w+; 2 of 2 rows cannot be released$",
    ):
        swap().release(["f"] * 2, values)


def test_columns_of_different_length():
    message = "secrets and values must have the same length, got 1 and 2"
    for kind in (list, np.array, pd.Series, pl.Series, pa.array):
        refused(message, kind(["f"]), kind([10, 20]), rldp.InvalidArgument)


@pytest.mark.parametrize("values", [np.array(10), np.array([[10, 20]]), np.zeros((2, 0))])
def test_columns_have_one_axis(values):
    refused(f"values must have one axis, got shape {values.shape}", ["f"], values, rldp.InvalidArgument)


@pytest.mark.parametrize(
    "column",
    [
        None,
        10,
        "f",
        b"f",
        {"f": 10},
        {"f"},
        iter(["f"]),
        range(3),
        pd.DataFrame({"a": [10]}),
        pl.DataFrame({"a": [10]}),
        pa.table({"a": [10]}),
        pa.scalar(10),
        pd.Index([10]),
    ],
    ids=lambda column: type(column).__name__,
)
@pytest.mark.parametrize("name", ["secrets", "values"])
def test_what_is_no_column(name, column):
    columns = {"secrets": ["f"], "values": [10], name: column}
    refused(
        f"{name} must be a list, a NumPy array, a pandas or Polars series or an Arrow array, "
        f"got {kind_name(column)}",
        **columns,
        error=rldp.InvalidArgumentType,
    )


# Chance


def test_the_secret_and_the_value_choose_the_row():
    """Frequencies of every pair of labels, against the matrix."""
    rng = np.random.default_rng(0)
    protocol = rldp.Protocol(rng.dirichlet(np.ones(4), size=(3, 2)), ["a", "b", "c"], [7, 8], list("wxyz"))
    secrets, values = rng.choice(protocol.secrets, 120_000), rng.choice(protocol.values, 120_000)
    released = protocol.release(secrets, values, seed=1)
    for i, s in enumerate(protocol.secrets):
        for j, u in enumerate(protocol.values):
            of_pair = released[(secrets == s) & (values == u)]
            found = [(of_pair == y).mean() for y in protocol.outputs]
            assert found == pytest.approx(protocol.matrix[i, j], abs=0.02)


def test_a_seed_gives_the_same_column_of_every_kind():
    rng = np.random.default_rng(0)
    protocol = rldp.Protocol(rng.dirichlet(np.ones(5), size=(2, 5)))
    secrets, values = rng.integers(0, 2, 70_000), rng.integers(0, 5, 70_000)
    first = protocol.release(secrets, values, seed=8)
    assert np.array_equal(protocol.release(secrets, values, seed=8), first)
    for kind in (list, pd.Series, pl.Series, pa.array):
        released = protocol.release(kind(secrets), kind(values), seed=8)
        assert np.array_equal(np.asarray(released), first)
    assert not np.array_equal(protocol.release(secrets, values, seed=9), first)
    assert not np.array_equal(protocol.release(secrets, values), first)


def test_the_input_stays_as_it_was():
    secrets, values = np.array(S), np.array(U)
    values.setflags(write=False)
    swap().release(secrets, values)
    assert (secrets.tolist(), values.tolist()) == (S, U)


def test_the_outputs_may_be_others_than_the_values():
    protocol = rldp.Protocol([[[0, 0, 1], [0, 1, 0]]], outputs=["low", "middle", "high"])
    assert protocol.release([0, 0, 0], [0, 1, 0]) == ["high", "middle", "high"]


def test_lists_need_no_other_library():
    code = """
        import sys
        from importlib.abc import MetaPathFinder

        class Blocked(MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in {"pyarrow", "narwhals", "pandas", "polars", "rich", "typer"}:
                    raise ImportError(name)

        sys.meta_path.insert(0, Blocked())
        import rldp

        swap = rldp.Protocol([[[0, 1], [1, 0]]], ["s"], ["a", "b"], ["x", "y"])
        print(*swap.release(["s", "s"], ["a", "b"]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.stdout.split(), done.stderr) == (["y", "x"], "")


# One word


def test_a_word_gives_what_release_draws_with_it():
    """A release with a seed takes the upper 52 bits of PCG64's words, one a row, in order."""
    rng = np.random.default_rng(0)
    protocol = rldp.Protocol(rng.dirichlet(np.full(5, 0.3), size=(2, 3)), SECRETS, VALUES)
    secrets, values = rng.choice(SECRETS, 500), rng.choice(VALUES, 500)
    words = (np.random.PCG64(7).random_raw(500) >> np.uint64(12)).tolist()
    rows = zip(secrets.tolist(), values.tolist(), words, strict=True)
    released = protocol.release(secrets, values, seed=7).tolist()
    assert [protocol.output_for(*row) for row in rows] == released


def test_a_word_gives_the_first_output_whose_sum_is_above_it():
    """On a row with empty intervals at both ends and inside, at every boundary and beside it."""
    numerators = [0, 1, 0, 2**51, 0, 2**51 - 1, 0]
    protocol = rldp.Protocol([[[k / 2**52 for k in numerators]]])
    sums = np.cumsum(numerators).tolist()
    words = {word for end in sums for word in (end - 1, end, end + 1) if 0 <= word < 2**52}
    assert len(words) == 7
    for word in words:
        assert protocol.output_for(0, 0, word) == next(y for y, end in enumerate(sums) if end > word)


@pytest.mark.parametrize(("secret", "value"), [("m", 20), (np.str_("m"), 20.0), ("m", np.int8(20))])
def test_a_label_may_be_any_equal_entry(secret, value):
    assert swap().output_for(secret, value, 0) == 30


@pytest.mark.parametrize("entry", ["x", 1, None, float("nan"), ["f"], "F"], ids=str)
def test_an_entry_that_is_no_label_is_refused_and_not_shown(entry):
    sentence = r"must be one of the protocol's {} {}s, got another entry$"
    with pytest.raises(rldp.DataError, match="^secret " + sentence.format(2, "secret")):
        swap().output_for(entry, 10, 0)
    with pytest.raises(rldp.DataError, match="^value " + sentence.format(3, "value")):
        swap().output_for("f", entry, 0)


@pytest.mark.parametrize("word", [-1, 2**52, 2**64])
def test_a_word_has_52_bits(word):
    with pytest.raises(rldp.InvalidArgument, match=r"^word must be at "):
        swap().output_for("f", 10, word)


@pytest.mark.parametrize("word", [0.0, True, "0", None], ids=str)
def test_a_word_is_an_integer(word):
    with pytest.raises(rldp.InvalidArgumentType, match=r"^word must be a whole number, got"):
        swap().output_for("f", 10, word)
