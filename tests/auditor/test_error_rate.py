"""How often a confirmation is wrong, added up over all samples and all orders of their rows: no simulation.

Rows are enumerated in the order of their arrival. Given the counts, every order is equally likely; so this is
the probability over the rows and over the order that ``confirm`` draws.
"""

from itertools import combinations, count, product

import numpy as np
import pytest
from scipy.stats import binom

import rldp
from games import in_order
from rldp._common import checks
from rldp.auditor import confirmation
from rldp.theory.betting import Triples
from rldp.theory.leakage_bounds import ratio_bounds


def worst_triples(tables, laws):
    """That triple of each protocol whose ε is the largest: scores (I, 2, U), secrets (I, 2), and ε (I,)."""
    given = np.einsum("isu,isuy->iys", np.broadcast_to(laws, tables.shape[:3]), tables)
    ratios = (given / given[..., ::-1]).reshape(len(tables), 4)
    y, first = np.divmod(ratios.argmax(axis=1), 2)
    pairs = np.stack([first, 1 - first], axis=1)
    scores = tables[np.arange(len(tables))[:, None], pairs, :, y[:, None]]
    return scores, pairs, np.log(ratios.max(axis=1))


def games_of(arrivals, monkeypatch):
    """Blocks (G, 2, B, 2) and what is known before (G, 2, 2), as ``confirm`` makes them of each arrival."""
    protocol, games, known = rldp.Protocol(np.full((2, 2, 2), 0.5)), [], []
    for each in arrivals:
        with monkeypatch.context() as patch:
            patch.setattr(confirmation, "split", in_order(*each))
            counts = [np.bincount(values, minlength=2) for values in each]
            blocks, before = confirmation._game(protocol, rldp.Sample(counts), None, 0)
        games.append(blocks)
        known.append(before)
    games = np.array(games)
    return games[:, :, games.any(axis=(0, 1, 3))], np.array(known)


def too_small(tables, laws, games, known, alpha):
    """Whether the bound is below the truth: (I, G). The worst triple's bound is no larger than the whole."""
    scores, pairs, epsilon = worst_triples(tables, laws)
    triples = Triples(
        np.repeat(scores, len(games), axis=0),
        games[:, pairs].swapaxes(0, 1).reshape(-1, *games.shape[1:]).astype(float),
        known[:, pairs].swapaxes(0, 1).reshape(-1, *known.shape[1:]),
    )
    bounds = ratio_bounds(triples, alpha).reshape(len(tables), len(games))
    return bounds < epsilon[:, None] * (1 - 1e-12)


def tables_of(count, draw):
    first = np.rint(draw(size=(count, 2, 2)) * 2**20) / 2**20
    return np.stack([first, 1 - first], axis=-1)


@pytest.mark.parametrize("alpha", [0.1, 0.4, 0.8])
def test_of_200_small_protocols_no_bound_is_too_small_more_often_than_alpha(alpha, monkeypatch):
    """All arrivals of three rows of either secret."""
    rng, rows = np.random.default_rng(0), 3
    tables = tables_of(200, lambda size: rng.beta(0.6, 0.6, size))
    laws = rng.dirichlet([0.7, 0.7], size=(200, 2))
    arrivals = [(each[:rows], each[rows:]) for each in product(range(2), repeat=2 * rows)]
    games, known = games_of(arrivals, monkeypatch)
    chance = np.exp(np.einsum("gsbu,isu->ig", games, np.log(laws)))
    np.testing.assert_allclose(chance.sum(axis=1), 1, atol=1e-12)
    wrong = (chance * too_small(tables, laws, games, known, alpha)).sum(axis=1)
    assert wrong.max() <= alpha
    assert (wrong > 0.1 * alpha).sum() > 15  # or nothing would have been tested


@pytest.mark.parametrize("alpha", [0.2, 0.3])
def test_of_200_protocols_with_a_rare_value_no_bound_is_too_small_more_often_than_alpha(alpha, monkeypatch):
    """Ten rows of one secret, each with the rare value with probability 0.05, and three of the other.

    Samples with two such rows or more are counted as wrong. In one order of the rows, always the same, some
    of these protocols are wrong more often than α: so the order must be drawn at random.
    """
    rng, n, rare = np.random.default_rng(0), 10, 0.05
    tables = tables_of(200, lambda size: rng.uniform(0.05, 0.95, size))
    laws = np.array([[1 - rare, rare], [1.0, 0.0]])
    arrivals = [([0] * n, [0] * 3), *(([*[0] * i, 1, *[0] * (n - 1 - i)], [0] * 3) for i in range(n))]
    games, known = games_of(arrivals, monkeypatch)
    wrong = too_small(tables, laws, games, known, alpha)
    none, one = binom.pmf([0, 1], n, rare)
    assert (none * wrong[:, 0] + one * wrong[:, 1:].mean(axis=1)).max() + (1 - none - one) <= alpha
    assert (none * wrong[:, 0] + one * wrong[:, 1:].max(axis=1)).max() > alpha


# --- the case in which a fixed seed was wrong in 32 % ----------------------------------------------

PROTOCOL = rldp.Protocol([[[0.82, 0.18], [0.76, 0.24]], [[0.77, 0.23], [0.91, 0.09]]])
LAWS = np.array([[0.996, 0.004], [1.0, 0.0]])
TRUTH = rldp.leakage(PROTOCOL, LAWS / 2)


def rows_with(rare):
    return rldp.Sample([[100 - rare, rare], [20, 0]])


def test_one_seed_for_all_samples_would_be_wrong_in_a_third():
    wrong = [rldp.confirm(PROTOCOL, rows_with(rare), seed=0).epsilon < TRUTH for rare in range(4)]
    assert binom.pmf(range(4), 100, 0.004) @ wrong > 0.3


def test_over_all_orders_it_is_wrong_in_two_percent_at_most(monkeypatch):
    """Of one or two rare rows, all places among the 100; three or more are counted as wrong."""
    wrong = binom.sf(2, 100, 0.004)
    for rare in range(3):
        placed = list(combinations(range(100), rare))
        arrivals = [
            (np.bincount(places, minlength=100) if rare else [0] * 100, [0] * 20) for places in placed
        ]
        games, known = games_of(arrivals, monkeypatch)
        alike, times = np.unique(games, axis=0, return_counts=True, return_index=True)[1:]
        found = too_small(PROTOCOL.matrix[None], LAWS, games[alike], known[alike], 0.05)[0]
        wrong += binom.pmf(rare, 100, 0.004) * (times @ found) / times.sum()
    assert 0.005 < wrong < 0.02


def test_without_a_seed_every_call_draws_an_order_of_its_own(monkeypatch):
    """With one rare row, one order in fifty is wrong: of 40 calls, more than six with probability 1e-5."""
    numbers = count(1)
    monkeypatch.setattr(checks.secrets, "randbits", lambda bits: next(numbers))
    found = [rldp.confirm(PROTOCOL, rows_with(1)) for _ in range(40)]
    assert [each.seed for each in found] == list(range(1, 41))
    assert sum(each.epsilon < TRUTH for each in found) <= 6
