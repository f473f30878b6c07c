"""Chains against the product of their stages, written out."""

from itertools import product

import numpy as np
import pytest

from rldp.theory.chains import (
    as_one_table,
    contexts,
    expected_distortions,
    failures,
    leakages,
    output_law,
)

pytestmark = pytest.mark.numerical

SECRETS, VALUES, OUTPUTS = 3, (2, 3, 2), (2, 2, 3)


def tables(seed=0):
    """Random stages, one with an output that nobody gets."""
    generator = np.random.default_rng(seed)
    found, count = [], 1
    for values, outputs in zip(VALUES, OUTPUTS, strict=True):
        found.append(generator.dirichlet(np.ones(outputs), size=(count, SECRETS, values)))
        count *= outputs
    return found


def laws(draws, seed=1):
    return np.random.default_rng(seed).dirichlet(np.ones(np.prod(VALUES)), size=(draws, SECRETS))


def written_out(stages):
    """Q(y|s,u) as the product of its stages, entry by entry."""
    whole = np.empty((SECRETS, np.prod(VALUES), np.prod(OUTPUTS)))
    for s in range(SECRETS):
        for i, u in enumerate(product(*map(range, VALUES))):
            for k, y in enumerate(product(*map(range, OUTPUTS))):
                factors = [
                    stages[j][np.ravel_multi_index(y[:j], OUTPUTS[:j]) if j else 0, s, u[j], y[j]]
                    for j in range(len(VALUES))
                ]
                whole[s, i, k] = np.prod(factors)
    return whole


def test_a_chain_is_the_product_of_its_stages():
    np.testing.assert_allclose(as_one_table(tables()), written_out(tables()), atol=1e-15)


def test_the_law_of_the_outputs_is_that_of_the_product():
    conditionals = laws(5)
    wanted = np.einsum("msu,suy->msy", conditionals, written_out(tables()))
    np.testing.assert_allclose(output_law(conditionals, tables()), wanted, atol=1e-14)


def test_contexts_keep_what_is_still_to_be_released():
    (conditionals,) = laws(1)
    first, *_ = tables()
    wanted = np.einsum("sur,suy->syr", conditionals.reshape(SECRETS, VALUES[0], -1), first[0])
    np.testing.assert_allclose(contexts(conditionals, [first], VALUES), wanted, atol=1e-15)


def test_leakage_is_that_of_the_whole_row():
    conditionals = laws(7)
    law = np.einsum("msu,suy->msy", conditionals, written_out(tables()))
    wanted = np.log((law.max(axis=1) / law.min(axis=1)).max(axis=1))
    np.testing.assert_allclose(leakages(tables(), conditionals), wanted, rtol=1e-12)


def test_failures_are_the_draws_that_leak_more():
    conditionals = laws(400)
    leaked = leakages(tables(), conditionals)
    for epsilon in np.quantile(leaked, [0.1, 0.5, 0.9]) + 1e-9:
        assert failures(tables(), epsilon, conditionals) == (leaked > epsilon).sum()


def test_a_draw_at_the_very_level_fails():
    stages = [np.array([[[[0.75, 0.25]], [[0.25, 0.75]]]])]
    certain = np.ones((1, 2, 1))
    assert failures(stages, np.log(3), certain) == 1
    assert failures(stages, np.log(3) + 1e-12, certain) == 0


def test_an_output_that_nobody_gets_leaks_nothing():
    stages = [np.array([[[[0.5, 0.5, 0.0]], [[0.5, 0.5, 0.0]]]])]
    certain = np.ones((1, 2, 1))
    assert failures(stages, 0.1, certain) == 0
    assert leakages(stages, certain) == 0


def test_an_output_that_one_secret_cannot_give_fails():
    stages = [np.array([[[[1.0, 0.0]], [[0.5, 0.5]]]])]
    assert failures(stages, 600.0, np.ones((1, 2, 1))) == 1


def test_distortions_are_told_column_by_column():
    (distribution,) = laws(1) / SECRETS
    d = [np.abs(np.subtract.outer(np.arange(u), np.arange(y))) for u, y in zip(VALUES, OUTPUTS, strict=True)]
    whole = np.einsum("su,suy->uy", distribution, written_out(tables())).reshape(*VALUES, *OUTPUTS)
    wanted = [np.einsum("abcxyz,ax->", whole, d[0]), np.einsum("abcxyz,by->", whole, d[1])]
    wanted.append(np.einsum("abcxyz,cz->", whole, d[2]))
    np.testing.assert_allclose(expected_distortions(tables(), d, distribution), wanted, rtol=1e-12)


def test_stages_with_their_own_levels_add_up():
    """If every context keeps its stage's ratio, the whole row keeps the product."""
    stages, (law,) = tables(), laws(1)
    total = 0.0
    for j, stage in enumerate(stages):
        weights = contexts(law, stages[:j], VALUES)
        given = weights.reshape(SECRETS, len(stage), VALUES[j], -1).sum(axis=-1)
        given = np.einsum("scu,csuy->csy", given / given.sum(axis=-1, keepdims=True), stage)
        total += np.log((given.max(axis=1) / given.min(axis=1)).max())
    assert leakages(stages, law[None])[0] <= total + 1e-12
