"""The posterior mean of shares: compared with enumeration and with integration, which do not use it.

Expectation propagation is an approximation. The tolerances here, in posterior standard deviations, are what
was measured over many draws, with some room; they are what the pages say of it.
"""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, roots_jacobi

from rldp.theory.share_posterior import ALPHAS, posterior
from rldp.theory.tallies import Tally

FEW_ROWS, SOME_ROWS = 0.25, 0.05


def response(values, epsilon):
    table = np.ones((values, values)) + (np.exp(epsilon) - 1) * np.eye(values)
    return table / table.sum(axis=1, keepdims=True)


def over_alpha(evidence, means, alphas):
    """Means weighed by evidence and prior: 1/(1 + 2α) has the law Beta(2, 2), on a grid of log α."""
    share = 1 / (1 + 2 * alphas)
    logs = evidence + np.log(share**2 * (1 - share) ** 2)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum() @ means, weights / weights.sum()


def enumerated(channel, rows, sample, alphas=ALPHAS):
    """Over all cells that the rows may come from: given them, the posterior is a Dirichlet law."""
    k = len(channel)
    evidence, means = np.zeros(len(alphas)), np.zeros((len(alphas), k))
    for cells in product(range(k), repeat=len(rows)):
        counts = np.bincount(cells, minlength=k) + sample
        chance = np.prod([channel[i, y] for i, y in zip(cells, rows, strict=True)])
        given = alphas[:, None] + counts
        logs = gammaln(k * alphas) - gammaln(given.sum(axis=1))
        logs += gammaln(given).sum(axis=1) - k * gammaln(alphas)
        evidence += chance * np.exp(logs)
        means += (chance * np.exp(logs) / given.sum(axis=1))[:, None] * given
    return over_alpha(np.log(evidence), means / evidence[:, None], alphas)


def integrated(tallies, alphas=ALPHAS, size=160):
    """For three values, over the first share and the part that the second has of the rest."""
    evidence, means, squares = [], [], []
    for alpha in alphas:
        x, w = roots_jacobi(size, 2 * alpha - 1, alpha - 1)
        y, v = roots_jacobi(size, alpha - 1, alpha - 1)
        x, y = np.meshgrid((x + 1) / 2, (y + 1) / 2, indexing="ij")
        p = np.stack([x, (1 - x) * y, (1 - x) * (1 - y)], axis=-1).reshape(-1, 3)
        logs = np.log(np.outer(w / w.sum(), v / v.sum()).ravel())
        logs += sum((tally.counts * np.log(tally.at(p))).sum(axis=1) for tally in tallies)
        weights = np.exp(logs - logs.max())
        evidence.append(logs.max() + np.log(weights.sum()))
        means.append(weights @ p / weights.sum())
        squares.append(weights @ p**2 / weights.sum())
    mean, weights = over_alpha(np.array(evidence), np.array(means), alphas)
    return mean, np.sqrt(weights @ np.array(squares) - mean**2), weights


@pytest.mark.numerical
@pytest.mark.parametrize(
    ("channel", "rows", "sample"),
    [
        (response(4, 1.0), [0, 0, 1, 3], [0, 0, 0, 0]),
        (response(4, 2.0), [2, 2, 2, 2, 1], [0, 1, 0, 2]),
        (np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.1, 0.9]]), [0, 0, 1, 0, 0], [1, 0, 0, 0]),
    ],
)
def test_of_few_rows_the_mean_is_that_of_all_cells_they_may_come_from(channel, rows, sample):
    counts = np.bincount(rows, minlength=channel.shape[1])
    tallies = [Tally.of_sample(np.array(sample)), Tally(channel, counts)]
    found = posterior(tallies)
    expected, weights = enumerated(channel, rows, np.array(sample))
    spread = np.sqrt(np.diag(found.covariance)).max()
    np.testing.assert_allclose(found.mean, expected, atol=FEW_ROWS * spread)
    assert found.prior_rows == pytest.approx(4 * float(weights @ ALPHAS), rel=0.2)


@pytest.mark.numerical
@pytest.mark.parametrize(
    ("epsilon", "counts", "tolerance"),
    [
        (1.0, [50, 30, 20], SOME_ROWS),
        (1.0, [204, 228, 568], SOME_ROWS),
        (1.0, [5, 11, 4], FEW_ROWS),
        (3.0, [93, 1, 6], FEW_ROWS),
    ],
)
def test_mean_and_spread_are_those_of_integration(epsilon, counts, tolerance):
    tallies = [Tally(response(3, epsilon), np.array(counts))]
    found = posterior(tallies)
    mean, spread, _ = integrated(tallies)
    np.testing.assert_allclose(found.mean, mean, atol=tolerance * spread.max())
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), spread, rtol=tolerance + 0.05)


@pytest.mark.numerical
def test_outputs_that_do_not_tell_the_cells_leave_the_prior():
    """Two outputs for three values: the mean is that of integration along what stays open, too."""
    tallies = [Tally(np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]]), np.array([140, 60]))]
    mean, spread, _ = integrated(tallies)
    np.testing.assert_allclose(posterior(tallies).mean, mean, atol=FEW_ROWS * spread.max())


@pytest.mark.numerical
@pytest.mark.parametrize("alpha", [0.5, 1.0, 5.0])
def test_a_sample_alone_has_the_posterior_of_the_textbook(alpha):
    counts = np.array([14, 3, 0, 8, 1])
    given = counts + alpha
    found = posterior([Tally.of_sample(counts)], np.array([alpha]))
    spread = np.sqrt(given * (given.sum() - given) / (given.sum() + 1)) / given.sum()
    np.testing.assert_allclose(found.mean, given / given.sum(), atol=SOME_ROWS * spread.max())
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), spread, rtol=0.1)
    assert found.prior_rows == pytest.approx(5 * alpha)


def test_the_weight_of_the_prior_follows_the_truth():
    """Even shares make it heavy, a few large ones light."""
    channel = response(20, 2.0)
    even, uneven = np.full(20, 0.05), np.concatenate([[0.6, 0.3, 0.1], np.zeros(17)])
    heavy, light = (
        posterior([Tally(channel, np.rint(1e5 * p @ channel))]).prior_rows for p in (even, uneven)
    )
    assert light < 20 * 0.3
    assert heavy > 20 * 5


def test_many_rows_leave_the_truth_alone():
    truth = np.array([0.5, 0.2, 0.2, 0.1])
    for rows in (1e6, 1e9, 1e12):
        found = posterior([Tally(response(4, 1.0), np.rint(rows * truth @ response(4, 1.0)))])
        np.testing.assert_allclose(found.mean, truth, atol=20 / min(rows, 1e8))


def test_relabelled_cells_have_relabelled_means():
    rng = np.random.default_rng(3)
    channel, counts, order = rng.dirichlet(np.ones(3), 6), np.array([70, 20, 30]), rng.permutation(6)
    sample = rng.integers(0, 9, 6)
    one = posterior([Tally.of_sample(sample), Tally(channel, counts)]).mean
    other = posterior([Tally.of_sample(sample[order]), Tally(channel[order], counts)]).mean
    np.testing.assert_allclose(other, one[order], atol=2e-3)


def test_tallies_that_contradict_one_another_still_have_a_distribution():
    ends = [np.array([9 * 10**9, 1]), np.array([1, 9 * 10**9])]
    found = posterior([Tally(response(2, 6.0), counts) for counts in ends])
    assert found.mean.sum() == pytest.approx(1)
    assert (found.mean >= 0).all()
    assert np.isfinite(found.covariance).all()


def test_one_cell_has_all_people():
    assert posterior([Tally(np.ones((1, 1)), np.array([7]))]).mean.tolist() == [1.0]


def test_an_outcome_that_tells_nothing_changes_nothing():
    constant = Tally(np.full((3, 2), 0.5), np.array([400, 600]))
    sample = Tally.of_sample(np.array([4, 1, 2]))
    np.testing.assert_allclose(posterior([sample, constant]).mean, posterior([sample]).mean, atol=1e-3)
