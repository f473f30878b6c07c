"""Several columns leave together, with the joint law of the table, through every door."""

from itertools import product

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy.stats import chi2

import rldp
from rldp.data.reading import Column, Reading

AGES, JOBS = (20, 40, 60), ("a", "b")
SEXES = ("f", "m")
READING = Reading((Column("sex", SEXES),), (Column("age", AGES), Column("job", JOBS)))


def protocol():
    """A table without structure: columns of the output depend on each other."""
    matrix = np.random.default_rng(0).dirichlet(np.ones(6), size=(2, 6))
    rows = tuple(product(AGES, JOBS))
    return rldp.Protocol(matrix, SEXES, rows, rows, reading=READING)


def without_chance():
    """Ages turn round, and jobs change for men."""
    rows = list(product(AGES, JOBS))
    matrix = np.zeros((2, 6, 6))
    for s, (u, (age, job)) in product(range(2), enumerate(rows)):
        turned = JOBS[(JOBS.index(job) + s) % 2]
        matrix[s, u, rows.index((AGES[2 - AGES.index(age)], turned))] = 1
    return rldp.Protocol(matrix, SEXES, rows, rows, reading=READING)


ROWS = {
    "sex": ["f", "m", "m", "f"],
    "age": [20, 20, 60, 40],
    "job": ["a", "a", "b", "b"],
    "id": [1, 2, 3, 4],
}
WANTED = {"id": [1, 2, 3, 4], "age": [60, 60, 20, 40], "job": ["a", "b", "a", "b"]}
KEEP = {"keep": ["id"], "allow_identifier": True}


def plain(frame):
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    return frame.to_dict(as_series=False) if hasattr(frame, "lazy") else frame.to_dict("list")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "lazy", "duckdb"])
def test_frames_of_every_kind_get_all_columns(kind):
    table = pyarrow.table(ROWS)
    if kind == "pyarrow":
        released = without_chance().release_frame(table, **KEEP)
    elif kind == "pandas":
        released = without_chance().release_frame(table.to_pandas(), **KEEP)
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        released = without_chance().release_frame(duckdb.from_arrow(table), **KEEP).to_arrow_table()
    else:
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(ROWS)
        released = without_chance().release_frame(frame.lazy() if kind == "lazy" else frame, **KEEP)
        released = released.collect() if kind == "lazy" else released
    assert plain(released) == WANTED


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_files_get_all_columns(tmp_path, ending):
    pyarrow.csv.write_csv(pyarrow.table(ROWS), tmp_path / "rows.csv")
    target = tmp_path / f"released.{ending}"
    done = rldp.release_file(without_chance(), tmp_path / "rows.csv", target, unproved=True, **KEEP)
    read = pyarrow.parquet.read_table if ending == "parquet" else pyarrow.csv.read_csv
    assert read(target).to_pydict() == WANTED
    assert done.released == ("age", "job")


def test_rows_are_released_as_tuples():
    released = without_chance().release(["f", "m"], [(20, "a"), (20, "a")])
    assert released == [(60, "a"), (60, "b")]


def test_the_joint_law_is_that_of_the_table(tmp_path):
    """Columns drawn one by one would keep their margins and lose what they have to do with each other."""
    n, table = 200_000, protocol()
    rng = np.random.default_rng(1)
    s, u = rng.integers(0, 2, n), rng.integers(0, 6, n)
    frame = pyarrow.table(
        {
            "sex": np.array(SEXES)[s],
            "age": np.array(AGES)[u // 2],
            "job": np.array(JOBS)[u % 2],
        }
    )
    released = table.release_frame(frame, seed=7)
    ages = np.searchsorted(AGES, released["age"].to_numpy())
    jobs = np.searchsorted(JOBS, released["job"].to_numpy())
    seen = np.zeros((2, 6, 6))
    np.add.at(seen, (s, u, ages * 2 + jobs), 1)
    expected = seen.sum(axis=2, keepdims=True) * table.matrix
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert chi2(2 * 6 * 5).sf(statistic) > 1e-6


def test_columns_may_get_other_names():
    released = without_chance().release_frame(pyarrow.table(ROWS), released=["years", "work"])
    assert released.column_names == ["years", "work"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"released": "years"}, "released must name 2 columns, got 1"),
        ({"released": ["x", "x"]}, "released must name columns differently"),
        ({"released": ["id", "job"], **KEEP}, "must not be called 'id' like a kept column"),
        ({"keep": ["job"]}, "job"),
    ],
)
def test_wrong_names_are_refused(options, message):
    with pytest.raises(rldp.InvalidArgument, match=message):
        without_chance().release_frame(pyarrow.table(ROWS), **options)


def test_a_row_with_an_unknown_entry_is_refused_without_showing_it():
    rows = pyarrow.table({**ROWS, "job": ["a", "secret job", "b", "b"]})
    with pytest.raises(rldp.DataError, match="job") as caught:
        without_chance().release_frame(rows)
    assert "secret job" not in str(caught.value)
