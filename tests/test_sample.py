"""A sample holds counts with labels, and never changes."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rldp

COUNTS = [[30, 10, 5], [5, 25, 25]]


def test_counts_come_back_as_integers():
    sample = rldp.Sample(COUNTS)
    assert sample.counts.tolist() == COUNTS
    assert sample.counts.dtype == np.int64


def test_n_is_the_number_of_draws():
    assert rldp.Sample(COUNTS).n == 100
    assert isinstance(rldp.Sample(COUNTS).n, int)


def test_distribution_is_the_share_of_each_pair():
    expected = [[0.30, 0.10, 0.05], [0.05, 0.25, 0.25]]
    assert rldp.Sample(COUNTS).distribution.tolist() == expected


def test_labels_count_up_from_zero_by_default():
    sample = rldp.Sample(COUNTS)
    assert sample.secrets == (0, 1)
    assert sample.values == (0, 1, 2)


@pytest.mark.parametrize(
    "given",
    [["ill", "well"], ("ill", "well"), np.array(["ill", "well"]), iter(["ill", "well"])],
    ids=["list", "tuple", "array", "iterator"],
)
def test_labels_are_a_tuple_whatever_they_came_in(given):
    assert rldp.Sample(COUNTS, secrets=given).secrets == ("ill", "well")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.array([3, 1]), int),
        (np.array([0.5, 1.5]), float),
        (np.array([True, False]), bool),
        (np.array(["a", "b"]), str),
        ([True, "b"], bool),
    ],
)
def test_labels_become_plain_python_objects(given, kind):
    assert type(rldp.Sample(COUNTS, secrets=given).secrets[0]) is kind


def test_labels_keep_the_order_given():
    assert rldp.Sample(COUNTS, values=["c", "a", "b"]).values == ("c", "a", "b")


@pytest.mark.parametrize("label", ["", " ", "a\nb", 'say "hi"', "größe", "日本", "🙂", -1, 0.0, 1e300])
def test_any_string_or_finite_number_is_a_label(label):
    assert rldp.Sample([[1], [2]], secrets=[label, "other"]).secrets == (label, "other")


@pytest.mark.parametrize(
    "counts",
    [
        np.array(COUNTS, dtype=np.int8),
        np.array(COUNTS, dtype=np.uint64),
        np.array(COUNTS, dtype=np.float16),
        np.array(COUNTS, dtype=np.float32),
        np.array(COUNTS, dtype=float),
        np.array(COUNTS, dtype=object),
        np.asfortranarray(COUNTS),
        [[30.0, 10, 5], [5, 25.0, 25]],
        [[np.int64(30), np.float64(10.0), 5], [5, 25, 25]],
        tuple(map(tuple, COUNTS)),
    ],
    ids=["int8", "uint64", "float16", "float32", "float64", "object", "fortran", "floats", "numpy", "tuples"],
)
def test_whole_numbers_of_any_type_are_counts(counts):
    assert rldp.Sample(counts) == rldp.Sample(COUNTS)


def test_counts_may_be_huge():
    sample = rldp.Sample([[2**53 - 2, 1]])
    assert sample.n == 2**53 - 1
    assert sample.counts.tolist() == [[2**53 - 2, 1]]


@pytest.mark.parametrize(
    "counts",
    [
        [[2**53 - 1, 1]],
        [[2**63 - 1, 0]],
        [[2**64 - 1, 0]],
        [[2**70, 0]],
        [[1e300, 0]],
        np.full((32, 32), 2**53),  # the sum is no 64-bit integer
        np.full((64, 64), 2**53),
    ],
    ids=["2^53", "int64", "uint64", "object", "float", "overflow", "overflow to 0"],
)
def test_counts_beyond_exact_floats_are_refused(counts):
    with pytest.raises(
        rldp.InvalidArgument, match=r"^counts must hold integers that sum to less than 2\^53, got "
    ):
        rldp.Sample(counts)


def test_the_caller_keeps_its_array():
    mine = np.array(COUNTS)
    sample = rldp.Sample(mine)
    mine[0, 0] = 0
    assert sample.counts[0, 0] == 30


def test_nothing_in_a_sample_can_be_changed():
    sample = rldp.Sample(COUNTS)
    with pytest.raises(ValueError, match=r"read-only"):
        sample.counts[0, 0] = 1
    for name in ("counts", "secrets", "values", "n", "distribution"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(sample, name, None)


def test_equal_samples_have_equal_hashes():
    one, other = rldp.Sample(COUNTS, ["a", "b"]), rldp.Sample(np.array(COUNTS), ("a", "b"))
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    "other",
    [
        rldp.Sample([[30, 10, 5], [5, 25, 24]], ["a", "b"]),
        rldp.Sample(COUNTS, ["b", "a"]),
        rldp.Sample(COUNTS, ["a", "b"], ["x", "y", "z"]),
        rldp.Sample([[30, 10, 5]], ["a"]),
        COUNTS,
        None,
    ],
    ids=["counts", "secrets", "values", "shape", "no sample", "None"],
)
def test_samples_that_differ_are_not_equal(other):
    assert rldp.Sample(COUNTS, ["a", "b"]) != other


def test_the_same_counts_in_another_shape_are_another_sample():
    assert rldp.Sample([[1, 2]]) != rldp.Sample([[1], [2]])


def test_a_sample_survives_pickling():
    sample = rldp.Sample(COUNTS, ["a", "b"])
    assert pickle.loads(pickle.dumps(sample)) == sample


@pytest.mark.parametrize(
    "table",
    [
        pd.crosstab(
            pd.Series(["ill", "well", "well", "ill", "ill"], name="health"),
            pd.Series([1, 2, 4, 1, 4], name="years"),
        ),
        pl.DataFrame({"health": ["ill", "well"], "1": [2, 0], "2": [0, 1], "4": [1, 1]}),
        pa.table({"health": ["ill", "well"], "1": [2, 0], "2": [0, 1], "4": [1, 1]}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_contingency_table_keeps_its_labels(table):
    sample = rldp.Sample(table)
    assert sample == rldp.Sample([[2, 0, 1], [0, 1, 1]], ["ill", "well"], [1, 2, 4])
    assert {type(label) for label in sample.values} == {int}
    assert rldp.Sample(table, ["a", "b"]).secrets == ("a", "b")


def test_a_frame_of_numbers_alone_has_labels_for_its_columns():
    assert rldp.Sample(pl.DataFrame({"a": [2, 0], "b": [0, 1]})) == rldp.Sample(
        [[2, 0], [0, 1]], [0, 1], ["a", "b"]
    )


@pytest.mark.parametrize("options", [{"bins": 2, "missing": "skip"}, {"missing": "category"}])
def test_noise_is_refused_where_distances_would_show_exact_counts(options):
    rows = pa.table({"s": ["a", "b"] * 20, "u": [1, 2, 3, None] * 10})
    sample = rldp.Sample.from_data(rows, secret="s", value="u", **options)
    with pytest.raises(rldp.InvalidArgument, match="depend on exact counts"):
        sample.noisy(1.0)
