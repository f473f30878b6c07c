"""Pairs of secrets: what their ends add up to."""

import numpy as np
import pytest

from rldp.theory.pairs import ordered_pairs, summed_per_secret


@pytest.mark.parametrize("secrets", [1, 2, 5])
def test_ends_of_pairs_are_added_up_by_secret(secrets):
    pairs = ordered_pairs(secrets)
    table = np.random.default_rng(0).random((3, len(pairs), 2, 4))
    expected = np.zeros((3, secrets, 4))
    for t, ends in enumerate(pairs):
        for i, s in enumerate(ends):
            expected[:, s] += table[:, t, i]
    assert np.allclose(summed_per_secret(table), expected)
