"""Estimates about several columns that were released together."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import multinomial

import rldp
from rldp.data.reading import Column, Reading

AGES, JOBS = (20, 40, 60), ("a", "b")
ROWS = tuple(product(AGES, JOBS))
READING = Reading((Column("sex", ("f", "m")),), (Column("age", AGES), Column("job", JOBS)))
TRUTH = np.array([[0.1, 0.05, 0.15, 0.1, 0.05, 0.05], [0.02, 0.08, 0.1, 0.1, 0.05, 0.15]])


@pytest.fixture(scope="module")
def released():
    """Half of the rows as they are, the other half anything."""
    matrix = np.broadcast_to(0.5 * np.eye(6) + 0.5 / 6, (2, 6, 6))
    protocol = rldp.Protocol(matrix, ("f", "m"), ROWS, ROWS, reading=READING)
    counts = np.random.default_rng(5).multinomial(200_000, TRUTH.sum(axis=0) @ matrix[0])
    return rldp.Released(counts, protocol)


def test_shares_are_those_of_the_cross_table(released):
    found = rldp.estimate(released)
    assert found.labels == ROWS
    np.testing.assert_allclose(found.values, TRUTH.sum(axis=0), atol=0.01)


def test_shares_of_one_column(released):
    found = rldp.estimate(released, of="shares of age")
    assert found.labels == AGES
    np.testing.assert_allclose(found.values, TRUTH.sum(axis=0).reshape(3, 2).sum(axis=1), atol=0.01)
    assert ((found.lower < found.values) & (found.values < found.upper)).all()


def test_means_of_one_column_and_differences_between_groups_of_another(released):
    mean = rldp.estimate(released, of="mean of age")
    wanted = TRUTH.sum(axis=0) @ np.repeat(AGES, 2)
    assert mean.values[0] == pytest.approx(wanted, abs=0.5)
    difference = [1.0 if job == "a" else -1.0 for _, job in ROWS]
    found = rldp.estimate(released, of={"a less b": difference, "age": "mean of age"})
    assert found.values[0] == pytest.approx(TRUTH.sum(axis=0) @ difference, abs=0.02)
    assert found.values[1] == pytest.approx(mean.values[0])


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("shares of wage", r"of must be about a value column \('age', 'job'\), got 'wage'"),
        ("mean of job", "of may be 'mean' where all values are numbers"),
        ("mean", "of may be 'mean' where all values are numbers"),
    ],
)
def test_a_wrong_question_is_refused(released, of, message):
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.estimate(released, of=of)


# Questions about two columns

PAY = np.array([10.0, 14.0])
PAID = Reading((Column("sex", ("f", "m")),), (Column("age", AGES), Column("pay", (10, 14))))
CELLS = tuple(product(AGES, (10, 14)))


def response(kept, secrets=2):
    """Rows stay as they are with probability ``kept``; otherwise they become anything."""
    matrix = np.broadcast_to(kept * np.eye(6) + (1 - kept) / 6, (secrets, 6, 6))
    return rldp.Protocol(matrix, ("f", "m")[:secrets], CELLS, CELLS, reading=PAID if secrets == 2 else None)


def weighted(law):
    """Slope, correlation and the mean pay by age of people with these weights."""
    age, pay = np.repeat(AGES, 2).astype(float), np.tile(PAY, 3)
    slope, intercept = np.polyfit(age, pay, 1, w=np.sqrt(law))
    c = np.cov(age, pay, aweights=law, ddof=0)
    means = [np.average(pay[age == a], weights=law[age == a]) for a in AGES]
    return slope, intercept, c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]), means


def test_slopes_correlations_and_means_of_groups():
    law = TRUTH.sum(axis=0)
    protocol = response(0.6)
    counts = np.random.default_rng(6).multinomial(10**7, law @ protocol.matrix[0])
    slope, intercept, correlation, means = weighted(law)
    for of, wanted, labels in (
        ("slope of pay on age", [slope], ("slope of pay on age",)),
        ("regression of pay on age", [slope, intercept], ("slope of pay on age", "intercept of pay")),
        ("correlation of pay and age", [correlation], ("correlation of pay and age",)),
        ("mean of pay by age", means, AGES),
        (
            "difference of pay by age",
            [means[1] - means[0], means[2] - means[0]],
            ("40 less 20", "60 less 20"),
        ),
    ):
        found = rldp.estimate(rldp.Released(counts, protocol), of=of)
        assert found.labels == labels
        np.testing.assert_allclose(found.values, wanted, atol=0.02)
        assert ((found.lower < wanted) & (wanted < found.upper)).all()
        assert "delta method" in " ".join(found.sentences)
        proved = rldp.estimate(rldp.Released(counts, protocol), of=of, interval="betting", seed=0)
        assert ((proved.lower <= found.lower) & (found.upper <= proved.upper)).all()
        assert "conservative" in " ".join(proved.sentences)


def test_by_secret_and_of_what_the_rows_do_not_determine():
    protocol = response(0.6)
    counts = np.stack(
        [np.random.default_rng(s).multinomial(10**6, TRUTH[s] * 2 @ protocol.matrix[s]) for s in (0, 1)]
    )
    found = rldp.estimate(rldp.Released(counts, protocol), of="slope of pay on age")
    for s in (0, 1):
        assert found.values[s, 0] == pytest.approx(weighted(2 * TRUTH[s])[0], abs=0.01)
    constant = rldp.Protocol(np.ones((2, 6, 1)), ("f", "m"), CELLS, [CELLS[0]], reading=PAID)
    nothing = rldp.estimate(rldp.Released([1000], constant), of="slope of pay on age")
    assert not nothing.identifiable.any()
    assert np.isnan(nothing.values).all()
    assert (nothing.lower[0], nothing.upper[0]) == pytest.approx((-0.2, 0.2))


def test_the_moments_have_the_truth_as_their_expectation():
    """Over all counts of three rows, with their exact probabilities."""
    protocol = rldp.Protocol(
        response(0.6).matrix[:1],
        ("all",),
        CELLS,
        CELLS,
        reading=Reading((Column("s", ("all",)),), PAID.value),
    )
    law = TRUTH.sum(axis=0) @ protocol.matrix[0]
    mean = np.zeros(5)
    for rows in combinations_with_replacement(range(6), 3):
        counts = np.bincount(rows, minlength=6)
        found = rldp.estimate(rldp.Released(counts, protocol), of="moments of pay and age", sample=None)
        mean += multinomial.pmf(counts, 3, law) * found.values
    age, pay = np.repeat(AGES, 2), np.tile(PAY, 3)
    wanted = np.stack([pay, age, pay**2, age**2, pay * age]) @ TRUTH.sum(axis=0)
    np.testing.assert_allclose(mean, wanted, rtol=1e-9)


def test_intervals_of_slopes_hold_as_often_as_they_say():
    """Over 60 releases: fewer than 49 of them have probability below 1e-4 at a level of 0.95."""
    protocol, law = response(0.7), TRUTH.sum(axis=0)
    slope, rng, held = weighted(law)[0], np.random.default_rng(8), {"normal": 0, "betting": 0}
    for seed in range(60):
        rows = rldp.Released(rng.multinomial(3000, law @ protocol.matrix[0]), protocol)
        for interval in ("normal", "betting") if seed < 5 else ("normal",):
            found = rldp.estimate(rows, of="slope of pay on age", interval=interval, seed=seed)
            held[interval] += bool(found.lower[0] <= slope <= found.upper[0])
    assert held["normal"] >= 49
    assert held["betting"] == 5


def test_files_and_frames_of_several_columns_are_counted(tmp_path):
    protocol = response(0.6)
    rows = [CELLS[y] for y in np.random.default_rng(9).integers(0, 6, 500)]
    (tmp_path / "rows.csv").write_text("pay2,age\n" + "".join(f"{pay},{age}\n" for age, pay in rows))
    found = rldp.Released.from_data(tmp_path / "rows.csv", protocol, released=["age", "pay2"])
    assert found.counts.tolist() == rldp.Released.from_columns(rows, protocol).counts.tolist()
    frame = {"age": [age for age, _ in rows], "pay": [pay for _, pay in rows], "sex": ["f", "m"] * 250}
    import pyarrow

    beside = rldp.Released.from_data(pyarrow.table(frame), protocol, secret="sex")
    assert beside.counts.sum(axis=0).tolist() == found.counts.tolist()
    few = rldp.Protocol(np.full((2, 6, 2), 0.5), ("f", "m"), CELLS, [CELLS[0], CELLS[3]], reading=PAID)
    with pytest.raises(rldp.DataError, match="combinations that are no output of it"):
        rldp.Released.from_data(pyarrow.table({"age": [20, 20], "pay": [10, 14]}), few)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("slope of pay on wage", r"of must be 'slope of A on B' for two value columns \('age', 'job'\)"),
        ("slope of age on age", "of must name two different columns, got 'age' twice"),
        ("slope of job on age", "of must be about numbers, but 'job' has labels that are texts"),
        ("difference of job by age", "of must be about numbers, but 'job'"),
        ("correlation of age", "of must be 'correlation of A and B' for two value columns"),
        ("mean of age by wage", "of must be 'mean of A by B' for two value columns"),
    ],
)
def test_a_wrong_question_about_two_columns_is_refused(released, of, message):
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.estimate(released, of=of)
