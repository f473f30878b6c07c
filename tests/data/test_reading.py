"""Columns become a secret and a value: labels that lose nothing, joint secrets, missing entries, bins."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import rldp
from rldp.data.bins import Binning, Bins
from rldp.data.columns import encode
from rldp.data.labels import Alphabet
from rldp.data.reading import MISSING, Column, Reading
from rldp.data.wanted import reading_of_new_data


@pytest.fixture
def csv(tmp_path):
    def write(text):
        (tmp_path / "data.csv").write_text(text)
        return tmp_path / "data.csv"

    return write


def column(*entries):
    """A CSV table with these values beside two secrets."""
    return "s,u\n" + "".join(f"{'ab'[i % 2]},{entry}\n" for i, entry in enumerate(entries))


def values(path, **options):
    return rldp.Sample.from_data(path, secret="s", value="u", **options).values


# Text stays text where reading it as numbers would lose anything


@pytest.mark.parametrize(
    ("entries", "labels"),
    [
        (["7", "10"], (7, 10)),
        (["-1", "0"], (-1, 0)),
        (["1.5", "2"], (1.5, 2.0)),
        (["2.50", "3.25"], (2.5, 3.25)),
        ([" 7", "10 "], (7, 10)),
        (["true", "false"], (False, True)),
        (["007", "10"], ("007", "10")),
        (["1E2", "100"], ("100", "1E2")),
        (["1e2", "2e2"], ("1e2", "2e2")),
        (["1", "1.0"], ("1", "1.0")),
        (["0.1", ".1"], (".1", "0.1")),
        (["-0", "1"], ("-0", "1")),
        (["+1", "2"], ("+1", "2")),
        (["0x10", "16"], ("0x10", "16")),
        (["1 ", "1"], ("1", "1 ")),
        (["123456789012345", "2"], (2, 123456789012345)),
        (["12345678901234567890", "12345678901234567891"], ("12345678901234567890", "12345678901234567891")),
        (["0.1234567890123456", "0.1234567890123457"], ("0.1234567890123456", "0.1234567890123457")),
        (["true", "True"], ("True", "true")),
        (["1", "x"], ("1", "x")),
        (["1_000", "2"], ("1_000", "2")),
        (["١", "٢"], ("١", "٢")),
    ],
    ids=lambda given: ",".join(map(str, given)),
)
def test_entries_are_numbers_where_that_loses_nothing(csv, entries, labels):
    found = values(csv(column(*entries)))
    assert found == labels
    assert list(map(type, found)) == list(map(type, labels))


def test_who_knows_better_says_so(csv):
    path = csv(column("007", "1E2", "100", "7"))
    assert values(path, number=["u"]) == (7.0, 100.0)
    path = csv(column("7", "10"))
    assert values(path, text=["u"]) == ("10", "7")
    assert rldp.Sample.from_data(path, secret="u", value="s", text=["u", "s"]).secrets == ("10", "7")


def test_a_kind_that_entries_do_not_have_is_refused_without_showing_them(csv, tmp_path):
    with pytest.raises(rldp.DataError) as caught:
        values(csv(column("1", "Meier", "2")), number=["u"])
    assert str(caught.value).endswith(
        "must hold numbers, as asked for, but 1 of its 3 distinct entries are not numbers"
    )
    frame = pd.DataFrame({"s": ["a", "b"], "u": [1, 2]})
    with pytest.raises(
        rldp.DataError, match=r"must hold text, as asked for, but its entries are of another type"
    ):
        values(frame, text=["u"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": ["x"]}, "text must name columns of secret or value"),
        ({"text": ["u"], "number": ["u"]}, "number must name columns of secret or value, each once"),
        ({"text": ["u"], "values": [1]}, "whose labels are not given, got 'u'"),
        ({"text": "u"}, "text must be a list of names of columns, got 'u'"),
        ({"missing": "drop"}, "missing must be one of refuse, skip, category, got 'drop'"),
        ({"missing": None}, "missing must be one of refuse, skip, category, got None"),
        ({"order": {"x": ["a"]}}, "order must be about columns of secret or value"),
        ({"order": ["a"]}, "order must be a mapping from columns to labels"),
        ({"secrets": {"x": ["a"]}}, "secrets must be about columns of the secret, got 'x'"),
        ({"bins": 0}, "bins must be at least 1, got 0"),
        ({"bins": 2.5}, "bins must be a whole number, got 2.5"),
        ({"bins": "many"}, "bins must be a whole number or 'auto', got 'many'"),
        ({"bin_width": 0}, "bin_width must be positive, got 0"),
        ({"bins": 2, "bin_width": 1.0}, "bins and bin_width must not be given together"),
        ({"bins": 2, "values": [1]}, "bins must not be given together with labels"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for(csv, options, message):
    with pytest.raises((rldp.InvalidArgument, rldp.InvalidArgumentType), match=message):
        values(csv(column("1", "2")), **options)


# Several columns are one secret


TWO = "sex,race,u\nf,x,1\nf,y,2\nm,x,2\nm,x,1\n"


def test_columns_of_a_secret_are_protected_jointly(csv):
    sample = rldp.Sample.from_data(csv(TWO), secret=["sex", "race"], value="u")
    assert sample.secrets == ("f, x", "f, y", "m, x", "m, y")
    assert sample.counts.tolist() == [[1, 0], [0, 1], [1, 1], [0, 0]]
    assert sample.reading == Reading(
        (Column("sex", ("f", "m")), Column("race", ("x", "y"))), (Column("u", (1, 2)),)
    )


def test_the_order_of_the_columns_is_that_of_the_labels(csv):
    sample = rldp.Sample.from_data(csv(TWO), secret=["race", "sex"], value="u")
    assert sample.secrets == ("x, f", "x, m", "y, f", "y, m")
    assert sample.counts.tolist() == [[1, 0], [1, 1], [0, 1], [0, 0]]


def test_labels_of_each_column_may_be_given(csv):
    given = {"race": ["y", "x", "z"]}
    sample = rldp.Sample.from_data(csv(TWO), secret=["sex", "race"], value="u", secrets=given)
    assert sample.secrets == ("f, y", "f, x", "f, z", "m, y", "m, x", "m, z")
    with pytest.raises(rldp.InvalidArgument, match="secrets must be a mapping from columns"):
        rldp.Sample.from_data(csv(TWO), secret=["sex", "race"], value="u", secrets=["f"])


def test_combinations_that_would_look_alike_are_quoted():
    reading = Reading((Column("a", ("x", "x, y")), Column("b", ("y, z", "z"))), (Column("u", (1,)),))
    assert len(set(reading.secrets)) == 4
    assert reading.secrets[0] == "'x', 'y, z'"


def test_one_column_in_a_list_is_that_column(csv):
    path = csv(TWO)
    assert rldp.Sample.from_data(path, secret=["sex"], value="u") == rldp.Sample.from_data(
        path, secret="sex", value="u"
    )


@pytest.mark.parametrize("secret", [["sex", "sex"], ["sex", "u"]])
def test_no_column_is_taken_twice(csv, secret):
    with pytest.raises(
        rldp.InvalidArgument, match=r"must be different columns, got '(sex|u)' more than once"
    ):
        rldp.Sample.from_data(csv(TWO), secret=secret, value="u")


# Missing entries


HOLES = "s,u\na,1\nb,2\n,1\na,\nb,1\n"


def test_rows_with_missing_entries_may_be_left_out(csv):
    sample = rldp.Sample.from_data(csv(HOLES), secret="s", value="u", missing="skip")
    assert sample.counts.tolist() == [[1, 0], [1, 1]]
    assert sample.skipped == 2


def test_missing_entries_may_be_a_label(csv):
    sample = rldp.Sample.from_data(csv(HOLES), secret="s", value="u", missing="category")
    assert sample.secrets == ("a", "b", MISSING)
    assert sample.values == (1, 2, MISSING)
    assert sample.counts.tolist() == [[1, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert sample.skipped == 0


def test_a_column_without_missing_entries_gets_no_label_for_them(csv):
    sample = rldp.Sample.from_data(csv("s,u\na,1\nb,\n"), secret="s", value="u", missing="category")
    assert (sample.secrets, sample.values) == (("a", "b"), (1, MISSING))


def test_the_text_of_that_label_is_not_taken_for_missing(csv):
    with pytest.raises(rldp.DataError, match=r"must not hold the text '\(missing\)' beside missing entries"):
        rldp.Sample.from_data(csv("s,u\na,1\n(missing),2\n,1\n"), secret="s", value="u", missing="category")


def test_skipping_excuses_no_unknown_label(csv):
    with pytest.raises(rldp.DataError, match="but row 5"):
        rldp.Sample.from_data(
            csv("s,u\n,1\na,\n,\na,1\na,3\n"), secret="s", value="u", values=[1, 2], missing="skip"
        )


def test_nothing_but_missing_entries_is_refused(csv):
    with pytest.raises(rldp.DataError, match="must hold a row without missing entries, got none"):
        rldp.Sample.from_data(csv("s,u\n,1\na,\n"), secret="s", value="u", missing="skip")


@pytest.mark.parametrize("missing", ["skip", "category"])
def test_files_and_frames_are_read_alike(csv, missing):
    frame = pd.DataFrame({"s": ["a", "b", None, "a", "b"], "u": [1, 2, 1, None, 1]})
    options = {"secret": "s", "value": "u", "missing": missing}
    assert rldp.Sample.from_data(frame, **options) == rldp.Sample.from_data(csv(HOLES), **options)


# Bins


def test_bins_have_equal_shares_and_never_look_at_the_secret():
    numbers = np.random.default_rng(0).normal(size=1000).round(6)
    bins = Binning(count=8).inferred("u", numbers)
    codes = bins.of_numbers(numbers)
    assert np.bincount(codes).tolist() == [125] * 8
    means = [numbers[codes == code].mean() for code in range(8)]
    assert np.allclose(bins.labels, means, rtol=1e-3)
    assert bins.scale.numbers == bins.labels


def test_ties_stay_together():
    bins = Binning(count=4).inferred("u", np.array([1.0] * 7 + [2.0]))
    assert (bins.labels, tuple(bins.edges)) == ((1.0, 2.0), (2.0,))


def test_bins_of_a_width_begin_at_its_multiples_and_none_is_empty():
    bins = Binning(width=5).inferred("u", np.array([-3.0, 1.0, 4.0, 5.0, 27.0]))
    assert (bins.labels, tuple(bins.edges)) == ((-3.0, 2.5, 5.0, 27.0), (0.0, 5.0, 25.0))


def test_an_edge_belongs_to_the_bin_above():
    bins = Bins([0.0, 10.0], [-5, 5, 20])
    assert bins.of_numbers(np.array([-1e-300, 0.0, 9.999, 10.0, np.inf, np.nan])).tolist() == [
        0,
        1,
        1,
        2,
        -1,
        -1,
    ]
    assert bins.of_texts(["0", "1e1", " 9.9 ", "x", None, "0x0B"]).tolist() == [1, 2, 1, -1, -1, 2]
    assert bins.of_objects([True, "3", 3, np.float32(10), 10**400]).tolist() == [-1, -1, 1, 2, -1]
    assert encode("column", np.array(["1"]), bins).codes.tolist() == [-1]
    assert encode("column", np.array([9, 10]), bins).codes.tolist() == [1, 2]
    assert encode("column", pd.Series([9, 10], dtype="category"), bins).codes.tolist() == [1, 2]


def test_the_distortion_counts_what_binning_loses(csv):
    """By hand: the bins are {0, 2} and {10, 14}, with means 1 and 12."""
    sample = rldp.Sample.from_data(csv(column(0, 10, 2, 14)), secret="s", value="u", bins=2)
    assert sample.values == (1.0, 12.0)
    squared = rldp.design(sample, 1.0).protocol.guarantee.distortion
    assert squared.tolist() == [[1.0, 122.0], [(81 + 169) / 2, 4.0]]
    absolute = rldp.design(sample, 1.0, distortion="absolute").protocol.guarantee.distortion
    assert absolute.tolist() == [[1.0, 11.0], [11.0, 2.0]]


def test_files_of_every_kind_give_the_same_bins(csv, tmp_path):
    path = csv(column(*range(40)))
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "data.parquet")
    for data in (frame, tmp_path / "data.parquet"):
        found = rldp.Sample.from_data(data, secret="s", value="u", bins=5)
        assert found == rldp.Sample.from_data(path, secret="s", value="u", bins=5)
        assert found.reading.value[0].edges == (8.0, 16.0, 24.0, 32.0)


def test_what_is_no_number_is_in_no_bin(csv):
    with pytest.raises(rldp.DataError, match=r"but row 2 .*1 of 3 rows cannot be counted; show_labels=True"):
        values(csv(column(1, "x", 2)), bins=2)
    with pytest.raises(rldp.DataError, match="must hold numbers to be cut into bins, got none"):
        values(csv(column("x", "y")), bins=2)
    with pytest.raises(rldp.DataError, match=r"must have at most 1000 bins, got 2001 of width 1.0"):
        values(csv(column(0, 2000)), bin_width=1.0)


def test_fewer_bins_than_asked_for_are_told(csv):
    path = csv(column(*[0] * 10, *range(1, 6)))
    with pytest.warns(rldp.FewerBinsWarning, match="column 'u' is cut into 4 bins, not into 8, since some"):
        assert len(values(path, bins=8)) == 4


@pytest.mark.parametrize(("rows", "bins"), [(2000, 32), (250, 16), (110, 8), (20, 4)])
def test_as_many_bins_as_the_rows_allow(csv, rows, bins):
    """With 32 bins and two secrets, 250 rows leave about four rows a cell."""
    numbers = np.random.default_rng(0).normal(size=rows).round(6).tolist()
    sample = rldp.Sample.from_data(csv(column(*numbers)), secret="s", value="u", bins="auto")
    assert len(sample.values) == bins
    rare = (sample.counts < 5).mean()
    assert rare <= 0.2 or bins == 4


# Orders and dates


def test_ordered_categories_count_ranks(csv):
    path = csv(column("40-64", "5-17", "18-39"))
    order = {"u": ["5-17", "18-39", "40-64"]}
    sample = rldp.Sample.from_data(path, secret="s", value="u", order=order)
    assert sample.values == ("5-17", "18-39", "40-64")
    found = rldp.design(sample, 1.0).protocol.guarantee.distortion
    assert found.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]


def test_dates_count_days(csv):
    sample = rldp.Sample.from_data(csv(column("2024-03-01", "2024-02-28")), secret="s", value="u")
    found = rldp.design(sample, 1.0, distortion="absolute").protocol.guarantee.distortion
    assert found.tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize("odd", ["2024-02-30", "soon", "2024-1-1"])
def test_what_is_no_date_has_no_number(csv, odd):
    sample = rldp.Sample.from_data(csv(column("2024-03-01", odd)), secret="s", value="u")
    with pytest.raises(rldp.InvalidArgument, match="distortion 'squared' needs values that are numbers"):
        rldp.design(sample, 1.0)


def distances(sample, distortion="squared", **options):
    return rldp.design(sample, 1.0, distortion=distortion, **options).protocol.guarantee.distortion.tolist()


def test_missing_entries_are_as_far_from_all_others_as_the_best_constant(csv):
    """Known entries 0, 0, 0, 4: squared from 0 they are 4 away in the mean, from 4 they are 12 away."""
    path = csv(column("0", "0", "0", "4", "", ""))
    sample = rldp.Sample.from_data(path, secret="s", value="u", missing="category")
    assert sample.values == (0, 4, MISSING)
    assert distances(sample) == [[0, 16, 4], [16, 0, 4], [4, 4, 0]]
    assert distances(sample, "absolute") == [[0, 4, 1], [4, 0, 1], [1, 1, 0]]
    assert distances(sample, outputs=[0, 4]) == [[0, 16], [16, 0], [4, 4]]


def test_the_distance_of_missing_entries_may_be_given(csv):
    path = csv(column("0", "0", "0", "4", ""))
    options = {"secret": "s", "value": "u", "missing": "category"}
    sample = rldp.Sample.from_data(path, **options, missing_distance=2.5)
    assert distances(sample) == [[0, 16, 2.5], [16, 0, 2.5], [2.5, 2.5, 0]]
    with pytest.raises(rldp.InvalidArgument, match="missing_distance must be at least 0, got -1"):
        rldp.Sample.from_data(path, **options, missing_distance=-1)


def test_ranks_and_bins_have_missing_entries_too(csv):
    order = {"u": ["low", "high"]}
    path = csv(column("low", "high", "high", ""))
    sample = rldp.Sample.from_data(path, secret="s", value="u", order=order, missing="category")
    assert distances(sample)[2] == [1 / 3, 1 / 3, 0]
    path = csv(column("1", "3", "10", "10", "10", ""))
    sample = rldp.Sample.from_data(path, secret="s", value="u", bins=2, missing="category")
    assert sample.values == (2.0, 10.0, MISSING)
    assert distances(sample) == [[1, 65, 26], [64, 0, 26], [26, 26, 0]]


# Several columns are published together


SEVERAL = "s,job,age,pay\nf,x,31,low\nf,y,20,high\nm,x,44,high\nm,x,,low\nf,y,59,low\nm,y,20,\n"


def test_several_columns_are_one_value(csv):
    sample = rldp.Sample.from_data(
        csv(SEVERAL),
        secret="s",
        value=["job", "age", "pay"],
        bins={"age": 2},
        order={"pay": ["low", "high"]},
        missing="category",
    )
    ages, pays = (20.0, 44.67, MISSING), ("low", "high", MISSING)
    assert sample.values == tuple(product(("x", "y"), ages, pays))
    assert sample.reading.value_names == ("job", "age", "pay")
    assert sample.reading.value[1].edges == (31.0,)
    seen = [("f", "x", 44.67, "low"), ("f", "y", 20.0, "high"), ("m", "x", 44.67, "high")]
    seen += [("m", "x", MISSING, "low"), ("f", "y", 44.67, "low"), ("m", "y", 20.0, MISSING)]
    counts = [[seen.count((secret, *value)) for value in sample.values] for secret in sample.secrets]
    assert sample.counts.tolist() == counts
    job, age, pay = sample.scales
    assert job is None
    assert age.numbers[:2] == ages[:2]
    assert pay.numbers[:2] == (0.0, 1.0)
    assert sample.scale is None


def test_labels_of_several_columns_are_given_by_column(csv):
    given = {"job": ["y", "x", "z"]}
    options = {"secret": "s", "value": ["job", "pay"], "missing": "skip"}
    sample = rldp.Sample.from_data(csv(SEVERAL), **options, values=given)
    assert sample.values == tuple(product(("y", "x", "z"), ("high", "low")))
    for name, wrong in (("values", ["x", "y"]), ("bins", 2), ("bin_width", 1.0)):
        with pytest.raises(
            rldp.InvalidArgument, match=f"{name} must be a mapping from columns, as in {{'job'"
        ):
            rldp.Sample.from_data(csv(SEVERAL), **options, **{name: wrong})
    with pytest.raises(rldp.InvalidArgument, match="bins must be about columns of the value, got 's'"):
        rldp.Sample.from_data(csv(SEVERAL), **options, bins={"s": 2})


@pytest.mark.parametrize(
    "columns", [("job", ["age", "age"]), (["s", "job"], ["age", "job"]), (["s", "s"], "job")]
)
def test_no_column_is_there_twice(csv, columns):
    secret, value = columns
    with pytest.raises(rldp.InvalidArgument, match=r"must be different columns, got '.*' more than once"):
        rldp.Sample.from_data(csv(SEVERAL), secret=secret, value=value)


def test_too_many_combinations_are_refused_in_one_sentence(csv):
    values = {"a": range(2000), "b": range(2000)}
    with pytest.raises(rldp.DataError, match=r"at most 2\^20 combinations of labels, got 4000000"):
        rldp.Sample.from_data(csv("s,a,b\nx,1,2\n"), secret="s", value=["a", "b"], values=values)


def test_a_protocol_of_several_columns_reads_new_data_as_its_own(csv, tmp_path):
    options = {"bins": {"age": 2}, "missing": "category"}
    sample = rldp.Sample.from_data(csv(SEVERAL), secret="s", value=["job", "age"], **options)
    designed = rldp.design(sample, 1.0, distortion="hamming").protocol
    assert designed.value_columns == ("job", "age")
    designed.save(tmp_path / "protocol.json")
    protocol = rldp.load(tmp_path / "protocol.json")
    assert protocol.values == protocol.outputs == sample.values
    assert protocol.reading == sample.reading
    assert protocol.count(csv(SEVERAL)) == sample
    assert protocol.to_json() == designed.to_json()
    assert rldp.verify(tmp_path / "protocol.json").ok
    new = protocol.count(csv("s,job,age\nf,x,100\nm,y,\n"))
    assert new.counts[0].tolist() == [0, 1, 0, 0, 0, 0]
    assert new.counts[1].tolist() == [0, 0, 0, 0, 0, 1]
    with pytest.raises(
        rldp.InvalidArgument, match="value must be what the protocol is for, 'job', 'age', got 'job'"
    ):
        protocol.count(csv(SEVERAL), value="job")
    renamed = "s,a,b\nf,x,100\nm,y,\n"
    assert protocol.count(csv(renamed), as_value=["a", "b"]) == new
    with pytest.raises(
        rldp.DataError, match=r"column 'job' of .* must hold known labels, but row 1 has another entry"
    ):
        protocol.count(csv("s,job,age\nf,z,100\n"))


# Columns that are found by their place


TWICE = "s,u,u\na,1,5\nb,2,6\n"


def test_a_column_by_its_place_remembers_the_name_above_it(csv, tmp_path):
    sample = rldp.Sample.from_data(csv(TWICE), secret="s", value="#3")
    assert sample.reading.value[0].name == "#3"
    assert sample.reading.value[0].header == "u"
    assert rldp.Sample.from_data(csv(TWICE), secret="#1", value="#2").reading.secret[0].header is None
    protocol = rldp.Protocol([np.eye(2)] * 2, ["a", "b"], [5, 6], [5, 6], reading=sample.reading)
    protocol.save(tmp_path / "protocol.json")
    assert rldp.load(tmp_path / "protocol.json").reading == sample.reading
    assert protocol.count(csv("s,x,u\na,1,5\nb,2,6\n")) == sample


@pytest.mark.parametrize(
    "read",
    [
        lambda protocol, path: protocol.count(path),
        lambda protocol, path: rldp.release_file(protocol, path, path.with_name("out.csv")),
        lambda protocol, path: protocol.release_frame(pd.read_csv(path).rename(columns={"u.1": "v"})),
    ],
    ids=["counted", "released", "frame"],
)
def test_another_name_at_that_place_is_refused(csv, read):
    """Another column would be published, at the same ε."""
    sample = rldp.Sample.from_data(csv(TWICE), secret="s", value="#3")
    protocol = rldp.Protocol([np.eye(2)] * 2, ["a", "b"], [5, 6], [5, 6], reading=sample.reading)
    path = csv("s,u,wage,u\na,1,5,5\nb,2,6,6\n")
    sentence = r"must have the name 'u' above its column '#3', as .*, got another$"
    with pytest.raises(rldp.DataError, match=sentence):
        read(protocol, path)
    assert protocol.count(path, as_value="#4").counts.tolist() == sample.counts.tolist()


# New data are read as the protocol's own


OWN = Reading((Column("sex", ("f", "m")), Column("race", ("x", "y"))), (Column("u", (1, 2)),), "skip")
LABELS = (OWN.secrets, OWN.values)


def test_a_protocol_names_its_columns():
    assert reading_of_new_data(OWN, LABELS) is not None
    assert reading_of_new_data(OWN, LABELS) == OWN
    assert reading_of_new_data(OWN, LABELS, secret=["sex", "race"], value="u") == OWN


@pytest.mark.parametrize(
    "names",
    [{"secret": "sex"}, {"secret": ["race", "sex"]}, {"value": "v"}, {"secret": ["u"], "value": "sex"}],
)
def test_other_columns_are_refused(names):
    with pytest.raises(
        rldp.InvalidArgument, match=r"must be what the protocol is for, .*as_(secret|value)= reads"
    ):
        reading_of_new_data(OWN, LABELS, **names)


def test_other_columns_may_be_read_on_purpose():
    found = reading_of_new_data(OWN, LABELS, as_secret=["a", "b"], as_value="c")
    assert found.names == ("a", "b", "c")
    assert found.secrets == OWN.secrets
    with pytest.raises(
        rldp.InvalidArgument, match="a column for each of 'sex', 'race', in this order, got 1 in"
    ):
        reading_of_new_data(OWN, LABELS, as_secret=["a"])
    with pytest.raises(rldp.InvalidArgument, match="different columns, got 'u' more than once"):
        reading_of_new_data(OWN, LABELS, as_secret=["a", "u"])


def test_a_protocol_without_columns_needs_their_names():
    labels = ("f", "m"), (1, 2)
    assert reading_of_new_data(None, labels, secret="s", value="u").names == ("s", "u")
    for names in ({}, {"secret": "s"}, {"value": "u"}, {"secret": ["a", "b"], "value": "u"}):
        with pytest.raises(
            rldp.InvalidArgument, match="must be given as one column, since the protocol does not"
        ):
            reading_of_new_data(None, labels, **names)


def test_what_is_counted_again_is_counted_alike(csv):
    path = csv(HOLES)
    sample = rldp.Sample.from_data(path, secret="s", value="u", missing="category")
    assert rldp.Sample.like(path, sample.reading) == sample
    binned = rldp.Sample.from_data(csv(column(*range(10))), secret="s", value="u", bins=3)
    assert rldp.Sample.like(csv(column(*range(10))), binned.reading) == binned


def test_a_protocol_takes_no_reading_of_other_labels():
    with pytest.raises(rldp.InvalidArgument, match="reading must have the protocol's secrets and values"):
        rldp.Protocol([[[1.0]]], ["a"], [1], reading=Reading((Column("s", ("b",)),), (Column("u", (1,)),)))


def test_one_more_label():
    assert Alphabet(["a"]).and_label("b").labels == ("a", "b")


def test_numbers_of_all_forms_may_be_asked_for(csv):
    assert values(csv(column("0x10", "1.5", "007")), number=["u"]) == (1.5, 7.0, 16.0)
    assert values(csv(column("0x10", "007")), number=["u"]) == (7, 16)
    with pytest.raises(rldp.DataError, match="but 1 of its 2 distinct entries are not numbers"):
        values(csv(column("1e999", "1")), number=["u"])
