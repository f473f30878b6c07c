"""Estimates about several columns that were released together."""

from itertools import product

import numpy as np
import pytest

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
