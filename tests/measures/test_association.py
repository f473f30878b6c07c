"""Tables of single columns and associations between them, against rows that are written out."""

from itertools import product

import numpy as np
import pytest
from scipy.stats.contingency import association

import rldp
from rldp.chain import Chain, Stage
from rldp.data.reading import Column, Reading
from rldp.measures.association import by_column

AGES, PAYS, SEXES = (20, 40, 60), (1.0, 3.0), ("f", "m")
READING = Reading((Column("sex", SEXES),), (Column("age", AGES), Column("pay", PAYS)))
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(12)).reshape(2, 6)


def chain(order=("pay", "age")):
    """The second column of the reading is drawn first, and into other labels."""
    sizes, outputs = {"age": 3, "pay": 2}, {"age": (25, 50), "pay": (0, 2, 4)}
    stages, contexts = [], 1
    for name in order:
        shape = (contexts, 2, sizes[name], len(outputs[name]))
        stages.append(Stage(name, outputs[name], RNG.dirichlet(np.ones(shape[-1]), shape[:-1])))
        contexts *= len(outputs[name])
    return Chain(stages, SEXES, READING)


def as_table(protocol):
    return rldp.Protocol(
        protocol.matrix, protocol.secrets, protocol.values, protocol.outputs, reading=protocol.reading
    )


@pytest.mark.parametrize("order", [("pay", "age"), ("age", "pay")])
def test_a_chain_and_its_table_have_the_same_columns_and_associations(order):
    given = chain(order)
    table = as_table(given)
    for name, column in by_column(given, P).items():
        np.testing.assert_allclose(column.matrix, by_column(table, P)[name].matrix, atol=1e-9)
        assert column.outputs == by_column(table, P)[name].outputs
    (one,), (other,) = rldp.associations(given, P), rldp.associations(table, P)
    assert (one.columns, one.measure) == (other.columns, other.measure) == (("age", "pay"), "correlation")
    assert (one.before, one.after) == pytest.approx((other.before, other.after))


def test_a_column_by_itself_is_the_sum_over_the_others():
    table = as_table(chain())
    found = by_column(table, P)["pay"]
    for s, (j, pay), (k, output) in product(range(2), enumerate(PAYS), enumerate((0, 2, 4))):
        own = [u for u, value in enumerate(table.values) if value[1] == pay]
        wanted = sum(
            P[s, u] * table.matrix[s, u, y]
            for u in own
            for y, to in enumerate(table.outputs)
            if to[1] == output
        )
        assert found.matrix[s, j, k] == pytest.approx(wanted / P[s, own].sum(), abs=1e-9)


def test_correlations_are_those_of_weighted_rows():
    table = as_table(chain())
    (found,) = rldp.associations(table, P)
    released = np.einsum("su,suy->y", P, table.matrix)
    for labels, weights, wanted in (
        (table.values, P.sum(axis=0), found.before),
        (table.outputs, released, found.after),
    ):
        c = np.cov(*np.array(labels, dtype=float).T, aweights=weights, ddof=0)
        assert wanted == pytest.approx(c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]))


def test_of_texts_it_is_cramers_v():
    counts = np.array([[30, 2, 5, 20, 9, 14], [8, 12, 30, 4, 7, 19]])
    reading = Reading((Column("sex", SEXES),), (Column("age", AGES), Column("job", ("a", "b"))))
    sample = rldp.Sample(counts, SEXES, reading.values, reading=reading)
    identity = rldp.Protocol([np.eye(6)] * 2, SEXES, reading.values, reading.values, reading=reading)
    (found,) = rldp.associations(identity, sample.distribution)
    wanted = association(counts.sum(axis=0).reshape(3, 2), method="cramer")
    assert found.measure == "Cramér's V"
    assert (found.before, found.after) == pytest.approx((wanted, wanted))
    constant = rldp.Protocol(np.ones((2, 6, 1)), SEXES, reading.values, [(20, "a")], reading=reading)
    assert rldp.associations(constant, sample.distribution)[0].after is None


def test_a_single_column_has_none():
    assert rldp.associations(rldp.Protocol([[[1.0]]]), [[1.0]]) == ()
