"""Where many cells are rare, the level of a test is only a rough guide, and people are told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rldp

DENSE = [[30, 10, 5], [5, 25, 25]]
SPARSE = [[30, 10, 4], [4, 25, 25]]  # two of six cells, more than a fifth


def heard(call):
    """The warnings of sparse tables that a call gives."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in found if w.category is rldp.SparseTableWarning]


@pytest.mark.parametrize(
    "uncertainty",
    [rldp.ChiSquare(), rldp.GTest(), rldp.CressieRead(), rldp.PowerDivergence(3.0, alpha=0.2)],
)
def test_a_sparse_table_is_told_of_once_with_what_to_do(uncertainty):
    (message,) = heard(
        lambda: rldp.design(rldp.Sample(SPARSE), 0.5, privacy=uncertainty, utility=uncertainty)
    )
    assert message.startswith("the table is sparse: 2 of 6 cells were seen fewer than 5 times")
    assert "far more often than its alpha says" in message
    assert "privacy='pairs' keeps its level" in message
    assert "utility='credible'" in message


def test_a_credible_promise_wants_as_many_rows_as_there_are_cells():
    few, enough = np.array([[2, 0, 1], [1, 1, 0]]), np.array([[2, 0, 1], [1, 1, 1]])
    credible = {"privacy": rldp.Credible(), "utility": rldp.Nominal()}
    (message,) = heard(lambda: rldp.design(rldp.Sample(few), 0.5, **credible))
    assert message.startswith("the sample is small: a table of 6 cells needs at least as many rows")
    assert "got 5 rows" in message
    (message,) = heard(lambda: rldp.design_batch([few, enough, few], 0.5, **credible))
    assert "got fewer in 2 of 3 samples" in message
    assert heard(lambda: rldp.design(rldp.Sample(enough), 0.5, **credible)) == []


@pytest.mark.parametrize("kept", ["privacy", "utility"])
def test_one_set_that_rests_on_alpha_is_enough(kept):
    sets = {"privacy": rldp.Nominal(), "utility": rldp.Nominal(), kept: rldp.ChiSquare()}
    (message,) = heard(lambda: rldp.design(rldp.Sample(SPARSE), 0.5, **sets))
    assert f"outside the set for {kept} far more often" in message
    assert f"{kept}='" in message


@pytest.mark.parametrize(
    ("counts", "uncertainty"),
    [
        (DENSE, rldp.ChiSquare()),
        ([[30, 10, 4, 7, 9], [5, 25, 25, 4, 9]], rldp.ChiSquare()),  # a fifth of the cells, not more
        (SPARSE, rldp.Nominal()),
        (SPARSE, rldp.PowerDivergence(1.0, radius=0.3)),
        ([[3]], rldp.ChiSquare()),  # one cell: the truth is known
    ],
)
def test_no_word_where_the_level_is_not_in_doubt(counts, uncertainty):
    sets = {"privacy": uncertainty, "utility": uncertainty}
    assert heard(lambda: rldp.design(rldp.Sample(counts), 0.5, **sets)) == []


def test_a_batch_is_told_of_once():
    batch = [DENSE, SPARSE, SPARSE]
    (message,) = heard(lambda: rldp.design_batch(batch, 0.5))
    assert message.startswith(
        "the table is sparse: in 2 of 3 samples more than a fifth of the cells were seen"
    )


def test_the_judge_says_it_of_sparse_tables_only():
    sparse, dense = (rldp.verify(rldp.design(rldp.Sample(c), 0.5).protocol) for c in (SPARSE, DENSE))
    assert "probability 0.95 in the limit of many rows, and may be less" in dense.assumptions[1]
    assert "seen fewer than 5 times" not in " ".join(dense.assumptions)
    said = "Here 2 of 6 cells were seen fewer than 5 times, and it can be far less."
    assert sparse.assumptions[1].endswith(said)


def test_rare_cells_break_the_level_as_the_page_says():
    """99 of 100 cells expected 0.008 times: χ² covers under half; Cressie and Read's set comes close.

    They were .451 and .952 over 20 000 draws. With 4000, a share is off by more than 0.045 with probability
    2·exp(−2·4000·0.045²) < 2e-7.
    """
    n, rare = 10_000, 0.008
    truth = np.full((1, 100), rare / n)
    truth[0, 0] = 1 - 99 * rare / n
    samples = [rldp.Sample(c[None]) for c in np.random.default_rng(1).multinomial(n, truth[0], size=4000)]
    shares = [
        np.mean([s.contains(x, truth) for x in samples]) for s in (rldp.ChiSquare(), rldp.CressieRead())
    ]
    assert shares[0] < 0.5
    assert shares[1] > 0.9
