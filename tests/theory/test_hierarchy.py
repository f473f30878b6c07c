"""Distributions that a sample makes likely."""

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from rldp.theory import hierarchy

COUNTS = np.array([[30, 10, 0], [5, 20, 40]])


def drawn(draw, counts, draws=4000, prior=0.5):
    return draw(np.asarray(counts), prior, draws, np.random.default_rng(0))


@pytest.mark.parametrize("draw", [hierarchy.cells_apart, hierarchy.alike_secrets])
@pytest.mark.parametrize("counts", [COUNTS, [[0, 0], [3, 1]], [[7]], [[10**9, 1], [5, 10**9]]])
def test_draws_are_distributions_in_which_every_cell_is_possible(draw, counts):
    found = drawn(draw, counts, draws=50)
    assert found.sum(axis=(1, 2)) == pytest.approx(np.ones(50))
    assert (found > 0).all()


def test_cells_apart_have_the_mean_of_their_dirichlet_law():
    found = drawn(hierarchy.cells_apart, COUNTS)
    weights = COUNTS + 0.5
    mean = weights / weights.sum()
    error = np.sqrt(mean * (1 - mean) / (weights.sum() + 1) / len(found))
    assert (np.abs(found.mean(axis=0) - mean) < 6 * error).all()  # wrong with probability below 1e-7


def test_the_likelihood_of_kappa_is_that_of_the_rows_of_every_secret():
    common, kappa = np.array([[0.2, 0.3, 0.5]]), [3.0, 40.0]
    ours = [hierarchy._log_likelihood(COUNTS, k, common)[0] for k in kappa]
    theirs = [
        sum(dirichlet_multinomial.logpmf(row, k * common[0], row.sum()) for row in COUNTS) for k in kappa
    ]
    assert ours[1] - ours[0] == pytest.approx(theirs[1] - theirs[0], rel=1e-9)


def test_secrets_that_look_alike_are_taken_to_be_more_alike():
    """Where both secrets show the same shares, half of κ's law lies far above where they differ."""
    same = np.array([[100, 50, 50], [100, 50, 50]])
    other = np.array([[100, 50, 50], [50, 50, 100]])

    def spread(counts, draw):
        found = drawn(draw, counts, draws=500)
        conditionals = found / found.sum(axis=2, keepdims=True)
        return np.abs(conditionals[:, 0] - conditionals[:, 1]).sum(axis=1).mean()

    assert spread(same, hierarchy.alike_secrets) < 0.6 * spread(same, hierarchy.cells_apart)
    assert spread(other, hierarchy.alike_secrets) > 0.8 * spread(other, hierarchy.cells_apart)
