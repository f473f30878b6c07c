"""Several columns in one release: the problem of one column, on product alphabets."""

from itertools import product

import numpy as np
import pytest

import rldp
from rldp.data.reading import Column, Reading
from rldp.distortions import distortion_of

AGES, JOBS = (20, 40, 60), ("a", "b")
ROWS = [
    (sex, age, job)
    for sex, counts in {"f": (5, 2, 8, 1, 3, 9), "m": (2, 7, 3, 3, 6, 1)}.items()
    for (age, job), count in zip(product(AGES, JOBS), counts, strict=True)
    for _ in range(count)
]


@pytest.fixture
def sample():
    pyarrow = pytest.importorskip("pyarrow")
    sex, age, job = zip(*ROWS, strict=True)
    table = pyarrow.table({"sex": sex, "age": age, "job": job})
    return rldp.Sample.from_data(table, secret="sex", value=["age", "job"])


MEASURE = {"age": "absolute", "job": "hamming"}


def test_the_distortion_of_a_row_is_the_weighted_sum_over_its_columns(sample):
    found = distortion_of(sample, MEASURE, weights={"age": 0.5, "job": 3})
    for i, (age, job) in enumerate(sample.values):
        for k, (shown_age, shown_job) in enumerate(found.outputs):
            assert found.matrix[i, k] == 0.5 * abs(age - shown_age) + 3 * (job != shown_job)


def test_by_default_publishing_nothing_costs_one_for_every_column(sample):
    found = distortion_of(sample, MEASURE)
    seen = sample.distribution.sum(axis=0)
    for column in found.columns:
        assert column.weight * (seen @ column.of_rows).min() == pytest.approx(1)
    assert (seen @ found.matrix).min() == pytest.approx(2)


def test_a_joint_design_is_the_design_of_the_product(sample):
    designed = rldp.design(sample, 0.5, utility="nominal", distortion=MEASURE)
    plain = rldp.Sample(sample.counts)
    wanted = rldp.design(plain, 0.5, utility="nominal", distortion=distortion_of(sample, MEASURE).matrix)
    assert designed.objective == wanted.objective
    assert designed.protocol.value_columns == ("age", "job")
    assert designed.protocol.outputs == tuple(product(AGES, JOBS))
    assert rldp.verify(designed.protocol).ok


def test_the_leakage_of_the_row_is_promised_not_that_of_its_columns(sample):
    designed = rldp.design(sample, 0.5, privacy="nominal", utility="nominal", distortion=MEASURE)
    told = rldp.leakage(designed.protocol, sample.distribution)
    assert told <= 0.5
    sizes = [len(column.labels) for column in sample.reading.value]
    assert rldp.leakage(designed.protocol, sample.distribution.reshape(-1, *sizes)) == told


def test_what_each_column_loses_is_told_in_its_own_unit(sample):
    designed = rldp.design(sample, 0.5, utility="nominal", distortion=MEASURE)
    assert [column.name for column in designed.columns] == ["age", "job"]
    joint = np.einsum("su,suy->uy", sample.distribution, designed.protocol.matrix)
    years = np.array([[abs(u[0] - y[0]) for y in sample.values] for u in sample.values])
    assert designed.columns[0].distortion == pytest.approx((joint * years).sum())
    total = sum(column.weight * column.distortion for column in designed.columns)
    assert total == pytest.approx(designed.objective)
    assert all(column.distortion <= column.constant for column in designed.columns)


def test_a_file_of_several_columns_comes_back(sample, tmp_path):
    protocol = rldp.design(sample, 0.5, distortion=MEASURE).protocol
    protocol.save(tmp_path / "rows.json")
    loaded = rldp.load(tmp_path / "rows.json")
    assert loaded.outputs == protocol.outputs
    assert loaded.value_columns == ("age", "job")
    assert rldp.verify(tmp_path / "rows.json").ok


def test_fewer_outputs_can_be_asked_for_by_column(sample):
    designed = rldp.design(sample, 0.5, distortion=MEASURE, outputs={"age": [30, 50]})
    assert designed.protocol.outputs == tuple(product((30, 50), JOBS))


def test_a_function_for_several_columns_is_about_rows(sample):
    designed = rldp.design(sample, 0.5, distortion=lambda u, y: float(u != y))
    assert designed.columns == ()
    assert designed.objective < 1


def test_advice_takes_several_columns(sample):
    options = {"distortion": MEASURE, "weights": {"age": 1, "job": 10}, "utility": "nominal"}
    found = rldp.frontier(sample, [0.5], privacy=["chi2"], **options)
    wanted = rldp.design(sample, 0.5, **options)
    assert found.points[0].promised == pytest.approx(wanted.objective, rel=1e-3)
    compared = rldp.compare(sample, 0.5, privacy=["chi2"], draws=100, **options)
    assert compared["chi2"].promised == pytest.approx(wanted.objective, rel=1e-3)
    rows = rldp.plan(sample, 0.5, [500], privacy="chi2", draws=10, **options).rows
    assert rows[0].median < wanted.objective


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distortion": {"wage": "hamming"}}, r"distortion must be about value columns .*, got 'wage'"),
        ({"distortion": MEASURE, "weights": {"wage": 1}}, "weights must be about value columns"),
        ({"distortion": MEASURE, "weights": {"age": 0}}, r"weights\['age'\] must be greater than 0, got 0"),
        ({"distortion": MEASURE, "outputs": {"wage": [1]}}, "outputs must be about value columns"),
        ({"distortion": MEASURE, "outputs": [20, 40]}, "outputs must be tuples of 2 entries"),
        ({}, "column 'job': distortion 'squared' needs values that are numbers"),
        ({"distortion": "hamming", "weights": {"age": float("nan")}}, r"weights\['age'\] must be"),
        ({"distortion": np.ones((6, 6)), "weights": {"age": 1}}, "weights must be None unless"),
    ],
)  # fmt: skip
def test_wrong_columns_are_refused_in_a_sentence(sample, options, message):
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.design(sample, 0.5, **options)


def test_too_many_combinations_are_refused_with_bins_that_fit(monkeypatch):
    secret = (Column("sex", ("f", "m")),)
    age, pay = (Column(name, tuple(range(200))) for name in ("age", "pay"))
    job = Column("job", tuple(map(str, range(40))))
    with pytest.raises(rldp.DataError, match=r"into bins, such as 100 for 'age'$"):
        _ = Reading(secret, (age, pay, job)).values
    reading = Reading(secret, (age, pay))
    many = rldp.Sample(np.ones((2, 40_000), dtype=int), ("f", "m"), reading.values, reading=reading)
    monkeypatch.setattr("rldp._common.process.available_bytes", lambda: 2**30)
    with pytest.raises(rldp.NotEnoughMemory, match=r"a chain .* such as 13 for 'age' and 13 for 'pay'$"):
        rldp.design(many, 0.5, privacy="pairs")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"weights": [1, 2]}, "weights must be a mapping"), ({"chain": 3}, "chain must be True, False, None")],
)
def test_columns_in_another_form_are_refused(sample, options, message):
    with pytest.raises(rldp.InvalidArgumentType, match=message):
        rldp.design(sample, 0.5, distortion=MEASURE, **options)


def test_a_column_of_one_value_is_refused_unless_it_has_a_weight():
    sample = rldp.Sample([[3, 4], [5, 2]], values=[(1, "a"), (2, "a")])
    with pytest.raises(rldp.InvalidArgument, match="column 'column 2' must have two values or more"):
        rldp.design(sample, 0.5, distortion="hamming")
