"""The matrices of pairs: never written out, and no digits lost beside stiff constraints."""

import numpy as np
import pytest

from rldp.designer.engine.algebra.bases import orthonormal, split_off
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.algebra.low_rank_pairs import LowRankPairs
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.terms.pair_index import PairIndex
from rldp.theory.arrays import ordered_pairs

pytestmark = pytest.mark.numerical

K, OUTPUTS, SECRETS, VALUES, RANKS = 2, 4, 3, 7, 2
CELLS = SECRETS * VALUES


def some_blocks(rng):
    """Blocks, and what they are written out: (K, Y, n, n)."""
    d = rng.uniform(1, 2, (K, OUTPUTS, SECRETS, VALUES))
    vectors = rng.normal(size=(K, OUTPUTS, SECRETS, VALUES, RANKS))
    roots = 0.5 * rng.normal(size=(K, OUTPUTS, SECRETS * RANKS, SECRETS * RANKS))
    kernel = roots @ roots.mT
    spread = np.zeros((K, OUTPUTS, CELLS, SECRETS * RANKS))
    for s in range(SECRETS):
        rows, columns = slice(s * VALUES, (s + 1) * VALUES), slice(s * RANKS, (s + 1) * RANKS)
        spread[:, :, rows, columns] = vectors[:, :, s]
    written = spread @ kernel @ spread.mT + d.reshape(K, OUTPUTS, CELLS, 1) * np.eye(CELLS)
    q = rng.uniform(0.1, 1, d.shape)
    image = np.matvec(written, q.reshape(K, OUTPUTS, CELLS))
    energy = np.vecdot(q.reshape(K, OUTPUTS, CELLS), image)
    model = LowRankModel(d, vectors, kernel, q, image.reshape(d.shape), energy, linked=True)
    return LowRankPairs.of(model, Settings()), written


def test_outputs_whose_secrets_are_linked_meet_as_if_they_were_written_out():
    rng = np.random.default_rng(5)
    blocks, written = some_blocks(rng)
    r, total = rng.normal(size=(K, OUTPUTS, CELLS)), rng.normal(size=(K, CELLS))
    q, nu = blocks.border(np.zeros((OUTPUTS, 1, VALUES)), None, Settings()).solve(r, total)
    np.testing.assert_allclose(np.matvec(written, q) - nu[:, None], r, atol=1e-9)
    np.testing.assert_allclose(q.sum(axis=1), total, atol=1e-9)


def test_their_inverses_are_added_up_with_weights():
    """Of A, which is the written matrix with Q stiffened: (D + Q's own)."""
    rng = np.random.default_rng(6)
    blocks, _ = some_blocks(rng)
    left, right = rng.normal(size=(2, K, OUTPUTS, 1, CELLS))
    unit = np.eye(CELLS)
    columns = [blocks.per_group(np.broadcast_to(e, left.shape).copy())[:, :, 0] for e in unit]
    inverses = np.stack(columns, axis=-1)
    expected = (left[:, :, 0, :, None] * inverses * right[:, :, 0, None, :]).sum(axis=1)
    np.testing.assert_allclose(blocks.total(left, right)[:, 0], expected, atol=1e-12)


def test_what_is_left_beside_a_basis_is_orthogonal_to_its_own_last_digit():
    """A vector that lies in the basis but for a part in 10¹²; the bound is that of two sums of 50 terms."""
    rng = np.random.default_rng(7)
    basis, _ = np.linalg.qr(rng.normal(size=(50, 4)))
    x = basis @ rng.normal(size=4) + 1e-12 * rng.normal(size=50)
    rest, seen = split_off(basis, x)
    assert 1e-12 < np.linalg.norm(rest) < 1e-10
    assert np.abs(basis.T @ rest).max() <= 100 * 2.0**-53 * np.linalg.norm(rest)
    np.testing.assert_allclose(rest + basis @ seen, x, atol=1e-14)


@pytest.mark.parametrize("columns", [1, 4, 12])
def test_a_basis_is_orthonormal_and_makes_the_columns(columns):
    """Column by column up to 8 of them; the last of four is the sum of two others, and gets no direction."""
    given = np.random.default_rng(10).normal(size=(2, 3, 30, columns))
    if columns == 4:
        given[..., 3] = given[..., 0] + given[..., 2]
    basis, rows = orthonormal(given, Settings())
    gram = basis.mT @ basis
    expected = np.diag([1.0, 1.0, 1.0, 0.0]) if columns == 4 else np.eye(columns)
    np.testing.assert_allclose(gram, np.broadcast_to(expected, gram.shape), atol=1e-14)
    np.testing.assert_allclose(basis @ rows, given, atol=1e-13)


@pytest.mark.parametrize("secrets", [2, 4])
def test_kernels_of_pairs_are_linked_through_the_secrets_they_share(secrets):
    """The quadratic form is the same, pair by pair and over all secrets."""
    rng = np.random.default_rng(8)
    pairs, ends = PairIndex.of(secrets, np, Settings()), 2 * (secrets - 1)
    kernel = rng.normal(size=(1, 1, pairs.count, 4, 4))
    of_ends = rng.normal(size=(1, 1, pairs.count, 2, 2))  # two numbers for each end
    expected = 0.0
    for t in range(pairs.count):
        numbers = of_ends[0, 0, t].T.ravel()  # those of the first kind first
        expected += numbers @ kernel[0, 0, t] @ numbers
    grouped = pairs.per_secret(of_ends)[0, 0]  # (S, ends, 2)
    assert grouped.shape == (secrets, ends, 2)
    numbers = grouped.swapaxes(1, 2).ravel()
    assert np.isclose(numbers @ pairs.links(kernel)[0, 0] @ numbers, expected)


@pytest.mark.parametrize("secrets", [3, 20])
def test_moves_are_the_same_by_gathers_and_by_products(secrets):
    rng = np.random.default_rng(9)
    pairs = PairIndex.of(secrets, np, Settings())
    table, ends = rng.normal(size=(1, 2, secrets, 3)), rng.normal(size=(1, 2, pairs.count, 2, 3))
    assert np.array_equal(pairs.ends_of(table), table[:, :, ordered_pairs(secrets)])
    expected = np.zeros_like(table)
    for t, two in enumerate(ordered_pairs(secrets)):
        for i, s in enumerate(two):
            expected[:, :, s] += ends[:, :, t, i]
    np.testing.assert_allclose(pairs.sum_per_secret(ends), expected, atol=1e-13)
    diagonal, off = rng.normal(size=(1, 2, secrets, 2, 2)), rng.normal(size=(1, 2, pairs.count // 2, 2, 2))
    matrix = pairs.block_matrix(diagonal, off).reshape(1, 2, secrets, 2, secrets, 2)
    two_secrets = [(a, b) for a, b in ordered_pairs(secrets) if a < b]
    for place, (a, b) in enumerate(two_secrets):
        assert np.array_equal(matrix[:, :, a, :, b], off[:, :, place])
        assert np.array_equal(matrix[:, :, b, :, a], off[:, :, place].mT)
    for s in range(secrets):
        assert np.array_equal(matrix[:, :, s, :, s], diagonal[:, :, s])
