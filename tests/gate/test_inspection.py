"""Drift and absence: rows to which a promise does not apply do not leave, and others do."""

import dataclasses
import itertools
import math
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import hypergeom

import rldp
from rldp.data.reading import Column, Reading
from rldp.gate import inspection
from rldp.gate.inspection import LEVEL, Inspection, absence, p_value
from rldp.releaser.requests import Tally

SECRETS, VALUES = ("f", "m"), (10, 20, 30)
TRUTH = np.array([[0.3, 0.1, 0.05], [0.1, 0.2, 0.25]])
OPTIONS = rldp.ReleaseOptions()


@pytest.fixture(scope="module")
def protocol():
    return designed(rldp.Sample(rng().multinomial(400, TRUTH.ravel()).reshape(2, 3), SECRETS, VALUES))


def rng(seed=0):
    return np.random.default_rng(seed)


def designed(sample, missing="refuse", epsilon=0.5, **options):
    reading = Reading((Column("sex", SECRETS),), (Column("age", VALUES),), missing)
    sample = rldp.Sample(sample.counts, SECRETS, VALUES, reading=reading)
    return rldp.design(sample, epsilon, **options).protocol


def rows(counts, **more):
    """People in these numbers, in no order."""
    cells = rng().permutation(np.repeat(np.arange(6), np.ravel(counts)))
    people = {"sex": np.array(SECRETS)[cells // 3], "age": np.array(VALUES)[cells % 3]}
    return pd.DataFrame({**people, **more})


def tally(counts):
    return Tally(np.asarray(counts), np.zeros(2, dtype=np.int64))


# Every client that sees all rows


def csv(protocol, people, **options):
    people.to_csv("rows.csv", index=False)
    return rldp.release_file(protocol, "rows.csv", "out.csv", force=True, **options).rows


def parquet_folder(protocol, people, **options):
    for i, part in enumerate((people[:100], people[100:])):
        part.to_parquet(f"rows/{i}.parquet")
    return rldp.release_file(protocol, "rows", f"out{len(list(Path().iterdir()))}", **options).rows


def pandas(protocol, people, **options):
    return len(protocol.release_frame(people, **options))


def polars(protocol, people, **options):
    return len(protocol.release_frame(pl.from_pandas(people), **options))


def arrow(protocol, people, **options):
    return len(protocol.release_frame(pa.Table.from_pandas(people), **options))


def reader(protocol, people, **options):
    table = pa.Table.from_pandas(people)
    return len(protocol.release_frame(table.to_reader(max_chunksize=50), **options).read_all())


def lazy(protocol, people, **options):
    frame = pl.concat([pl.from_pandas(part).lazy() for part in (people[:100], people[100:])])
    return len(protocol.release_frame(frame, **options).collect())


def dask(protocol, people, **options):
    frame = pytest.importorskip("dask.dataframe").from_pandas(people, npartitions=2)
    return len(rldp.dask.release(protocol, frame, **options).compute(scheduler="synchronous"))


@pytest.fixture(params=[csv, parquet_folder, pandas, polars, arrow, reader, lazy, dask])
def client(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    return request.param


def test_rows_of_another_population_are_refused_before_anything_appears(client, protocol, tmp_path):
    tripled = rows([[0, 10, 200], [0, 5, 285]])
    sentence = (
        r"data must come from the population that the protocol was designed for, but its rows differ from "
        r"the sample more than chance explains \(p .*\), and ε\* among them is .* where 0\.5 is promised; "
        r"allow_drift=True releases them anyway"
    )
    with pytest.raises(rldp.DataError, match=sentence):
        client(protocol, tripled)
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == []
    assert client(protocol, tripled, allow_drift=True) == 500


@pytest.mark.parametrize("kind", ["lazy", "dask"])
def test_rows_that_are_computed_later_are_refused_before_there_is_a_frame(protocol, kind):
    """Their counts are those of all parts: in neither part alone would anything be seen."""
    tripled = rows([[0, 10, 200], [0, 5, 285]])
    options = {"lazy": pl.from_pandas(tripled).lazy()}
    if kind == "dask":
        options["dask"] = pytest.importorskip("dask.dataframe").from_pandas(tripled, npartitions=5)
    release = protocol.release_frame if kind == "lazy" else partial(rldp.dask.release, protocol)
    with pytest.raises(rldp.DataError, match="more than chance explains"):
        release(options[kind])


def test_an_entry_that_is_no_label_is_told_in_our_words_while_lazy_rows_are_counted(protocol):
    people = rows([[30, 20, 10], [10, 20, 30]])
    people.loc[7, "age"] = 918273
    with pytest.raises(rldp.DataError, match="must hold known labels, but row 8 has another entry") as caught:
        protocol.release_frame(pl.from_pandas(people).lazy())
    assert "918273" not in str(caught.value)


def test_rows_that_cannot_be_refused_are_not_counted_beforehand(protocol):
    """One pass of a lazy frame is enough then."""
    people = pl.from_pandas(rows([[30, 20, 10], [10, 20, 30]]))
    passes = []
    watched = people.lazy().map_batches(lambda part: passes.append(len(part)) or part, schema=people.schema)
    protocol.release_frame(watched, allow_drift=True)
    assert not passes
    protocol.release_frame(watched)
    assert sum(passes) == 120


def test_rows_of_the_same_population_are_released(client, protocol):
    assert client(protocol, rows(rng(1).multinomial(500, TRUTH.ravel()))) == 500


def test_a_release_says_what_leaks_on_its_very_rows(protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = rows([[30, 20, 10], [10, 20, 30]])
    people.to_csv("rows.csv", index=False)
    done = rldp.release_file(protocol, "rows.csv", "out.csv")
    assert done.leakage == rldp.leakage(protocol, np.array([[30, 20, 10], [10, 20, 30]]) / 120)
    assert done.absence is None


def test_how_frequent_secrets_are_does_not_matter(protocol):
    """ε* depends on the distribution of values given the secret, and on nothing else."""
    given = TRUTH / TRUTH.sum(axis=1, keepdims=True)
    counts = np.rint(given * np.array([[10_000], [100]])).astype(int)
    Inspection(protocol, OPTIONS)(tally(counts))
    with pytest.raises(rldp.DataError, match="more than chance explains"):
        Inspection(protocol, OPTIONS)(tally(counts[:, ::-1]))


@pytest.mark.filterwarnings("ignore::rldp.errors.RldpWarning")
@pytest.mark.parametrize("privacy", ["nominal", "chi2"])
def test_a_secret_that_the_sample_lacks_is_refused_where_it_is_not_protected(privacy):
    """A set around the estimate protects it, whatever its values are; the estimate alone does not."""
    made = designed(rldp.Sample([[120, 40, 20], [0, 0, 0]]), privacy=privacy)
    Inspection(made, OPTIONS)(tally([[120, 40, 20], [0, 0, 1]]))
    inspect = Inspection(made, OPTIONS)
    with nullcontext() if privacy == "chi2" else pytest.raises(rldp.DataError, match="more than chance"):
        inspect(tally([[120, 40, 20], [0, 0, 30]]))
    assert (inspect.leakage > 0.5) == (privacy == "nominal")


def test_what_promises_every_distribution_is_not_refused_for_drift():
    everywhere = designed(rldp.Sample([[120, 40, 20], [40, 80, 100]]), privacy="all")
    Inspection(everywhere, OPTIONS)(tally([[0, 10, 200], [0, 5, 285]]))


@pytest.mark.parametrize("privacy", ["chi2", "nominal"])
def test_releases_from_the_same_population_are_refused_at_most_once_in_a_thousand(privacy, monkeypatch):
    """2000 of them, each with a sample of its own. At LEVEL, one would be refused in the mean."""
    monkeypatch.setattr(inspection, "p_value", partial(p_value, seed=0))
    draws, refusals = rng(7), 0
    made = designed(rldp.Sample([[120, 40, 20], [40, 80, 100]]), privacy=privacy)
    labels = made.secrets, made.values, made.outputs
    for i in range(2000):
        sample = rldp.Sample(draws.multinomial(300, TRUTH.ravel()).reshape(2, 3), SECRETS, VALUES)
        claim = dataclasses.replace(made.guarantee, sample=sample)
        new = draws.multinomial((50, 1000)[i % 2], TRUTH.ravel()).reshape(2, 3)
        try:
            Inspection(rldp.Protocol(made.matrix, *labels, guarantee=claim), OPTIONS)(tally(new))
        except rldp.DataError:
            refusals += 1
    assert refusals <= 2


def test_the_p_value_is_that_of_all_divisions_of_the_pooled_rows():
    """Against enumeration: the shares of 1999 divisions differ by no more than chance (five σ)."""
    first, second = np.array([[5, 3], [2, 9]]), np.array([[1, 6], [4, 4]])
    pooled, n = first + second, second.sum(axis=1)

    def statistic(b):
        expected = pooled * (n / pooled.sum(axis=1))[:, None]
        return (((b - expected) ** 2 / expected).sum(axis=1) * pooled.sum(axis=1) / first.sum(axis=1)).sum()

    exact, observed = 0.0, statistic(second)
    for b0, b1 in itertools.product(range(n[0] + 1), range(n[1] + 1)):
        b = np.array([[b0, n[0] - b0], [b1, n[1] - b1]])
        if (b <= pooled).all() and statistic(b) >= observed * (1 - 1e-9):
            exact += math.prod(hypergeom.pmf(b[s, 0], pooled[s].sum(), pooled[s, 0], n[s]) for s in (0, 1))
    assert abs(p_value(first, second, seed=1) - exact) < 5 * math.sqrt(exact * (1 - exact) / 1999)
    assert p_value(first, first) == 1.0


def test_rare_values_of_large_tables_are_put_together_and_drift_is_still_seen():
    truth = rng().dirichlet(np.ones(3000)).reshape(2, 1500)
    first, second, other = (rng(i).multinomial(20_000, truth.ravel()).reshape(2, 1500) for i in range(3))
    assert p_value(first, second) > LEVEL
    assert p_value(first, np.roll(other, 700, axis=1)) <= 1e-9
    assert p_value(first, np.zeros_like(second)) == 1.0


# Absence


def people_with_gaps(absent):
    """100 people of each sex, of whom so many miss their age."""
    ages = [[None] * k + [10, 20, 30] * 33 + [10] for k in absent]
    data = {
        "sex": ["f"] * 100 + ["m"] * 100,
        "age": pd.array([*ages[0][:100], *ages[1][:100]], dtype="Int64"),
    }
    return pd.DataFrame(data)


def test_being_left_out_must_not_tell_more_than_the_protocol(client):
    protocol = designed(rldp.Sample([[60, 50, 50], [60, 50, 50]]), missing="skip")
    sentence = (
        r"rows with missing entries must not reveal more by being left out than the protocol's ε = 0\.5, but "
        r"the ε of being left out is 1\.39 among these rows; a design with missing='category' publishes "
        r"them, and allow_absence=True leaves them out anyway"
    )
    with pytest.raises(rldp.DataError, match=sentence):
        client(protocol, people_with_gaps((20, 5)))
    assert client(protocol, people_with_gaps((20, 5)), allow_absence=True) == 175
    assert client(protocol, people_with_gaps((12, 10))) == 178
    assert client(protocol, people_with_gaps((0, 0))) == 200


def test_the_epsilon_of_being_left_out_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    protocol = designed(rldp.Sample([[60, 50, 50], [60, 50, 50]]), missing="skip")
    people_with_gaps((12, 10)).to_csv("rows.csv", index=False)
    done = rldp.release_file(protocol, "rows.csv", "out.csv")
    assert (done.rows, done.skipped) == (178, 22)
    assert done.absence == pytest.approx(math.log(1.2))


@pytest.mark.parametrize(
    ("present", "absent", "expected"),
    [
        ([80, 95], [20, 5], math.log(4)),
        ([5, 20], [95, 80], math.log(4)),
        ([100, 99], [0, 1], math.inf),
        ([100, 0], [0, 3], math.inf),
        ([90, 0], [10, 0], 0.0),
        ([50, 50], [50, 50], 0.0),
    ],
)
def test_the_epsilon_of_being_left_out_is_the_largest_ratio_of_shares(present, absent, expected):
    found = absence(Tally(np.array(present)[:, None], np.array(absent)))
    assert found == pytest.approx(expected)
