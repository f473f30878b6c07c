"""Sampling is exact: of all random integers, exactly as many give an output as its numerator says."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2

import rldp
from rldp.theory.sampling import Sampler

pytestmark = pytest.mark.numerical


@st.composite
def integer_rows(draw):
    """Rows of non-negative integers that sum to 2^bits: many outputs, few, one; zeros anywhere."""
    bits = draw(st.integers(0, 10))
    outputs = draw(st.integers(1, 20))
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        cuts = draw(st.lists(st.integers(0, 2**bits), min_size=outputs - 1, max_size=outputs - 1))
        rows.append(np.diff([0, *sorted(cuts), 2**bits]))
    return np.array(rows), bits


def all_outputs(sampler, row):
    """What each integer from 0 to 2^bits − 1 gives in a row."""
    integers = np.arange(2**sampler.bits)
    return sampler.outputs(np.full(len(integers), row), integers)


def assert_enumerated(numerators, bits):
    sampler = Sampler(numerators, bits)
    for row, expected in enumerate(numerators):
        found = np.bincount(all_outputs(sampler, row), minlength=len(expected))
        assert found.tolist() == list(expected)


# Every integer of a small denominator


@given(integer_rows())
def test_every_output_is_given_by_as_many_integers_as_its_numerator(rows):
    assert_enumerated(*rows)


@pytest.mark.parametrize(
    ("row", "bits"),
    [
        ([1], 0),
        ([8], 3),
        ([0, 8], 3),
        ([8, 0], 3),
        ([0, 0, 8, 0, 0], 3),
        ([0, 1, 0], 0),
        ([1] * 8, 3),
        ([1, 0] * 8, 3),
        ([0, 1] * 8, 3),
        ([1] + [0] * 98 + [7], 3),
        ([7, 1], 3),
        ([1, 7], 3),
        ([1, 2, 1], 2),
        ([3, 5, 1, 4, 3], 4),
    ],
    ids=str,
)
def test_odd_rows_are_exact_too(row, bits):
    assert_enumerated([row], bits)


def test_integers_are_cut_into_intervals_in_the_order_of_the_outputs():
    assert all_outputs(Sampler([[3, 0, 1, 4]], 3), 0).tolist() == [0, 0, 0, 2, 3, 3, 3, 3]


def test_the_ends_of_every_interval_of_a_full_grid_are_where_they_should_be():
    rng = np.random.default_rng(5)
    rows = rng.multinomial(2**52, rng.dirichlet(np.full(13, 0.3)), size=20)
    rows[:, [0, 6, 12]] = 0
    rows[:, 3] += 2**52 - rows.sum(axis=1)
    sampler = Sampler(rows)
    for i, row in enumerate(rows):
        last = 0
        for y, numerator in enumerate(row):
            if numerator:
                first, last = last, last + int(numerator)
                ends = np.array([first, last - 1])
                assert sampler.outputs(np.array([i, i]), ends).tolist() == [y, y]
        assert last == 2**52


def test_what_has_probability_zero_is_never_drawn():
    sampler = Sampler([[0, 2**52, 0]])
    extreme = np.array([0, 1, 2**51, 2**52 - 1])
    assert sampler.outputs(np.zeros(4, dtype=np.int64), extreme).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("row", [[2, 1], [5, 0], [-1, 5], [0, 0]], ids=str)
def test_rows_that_do_not_sum_to_the_denominator_are_refused(row):
    with pytest.raises(
        rldp.InvalidArgument, match=r"^numerators must be non-negative rows that sum to 2\^2$"
    ):
        Sampler([[2, 2], row], bits=2)


# Words → integers → outputs


def test_the_highest_bits_of_one_word_a_row_are_used():
    words = np.array([0, 2**61 - 1, 2**61, 2**62, 2**64 - 1], dtype=np.uint64)
    asked = []

    def source(count):
        asked.append(count)
        return words[:count]

    drawn = Sampler([[1] * 8], bits=3).draw(np.zeros(5, dtype=np.int32), source)
    assert drawn.tolist() == [0, 0, 1, 2, 7]
    assert asked == [5]


def test_blocks_follow_each_other():
    """The same words, whether drawn in one go or in pieces of any size, and each row its own word."""
    sampler = Sampler(np.full((3, 64), 2**46))
    rows = np.random.default_rng(0).integers(0, 3, 100_000)
    words = np.random.PCG64(9).random_raw(100_000)
    expected = sampler.outputs(rows, (words >> np.uint64(12)).view(np.int64))
    assert np.array_equal(sampler.draw(rows, np.random.PCG64(9).random_raw), expected)
    source = np.random.PCG64(9).random_raw
    pieces = [sampler.draw(part, source) for part in np.split(rows, [1, 77, 40_000])]
    assert np.array_equal(np.concatenate(pieces), expected)


def test_no_rows_need_no_randomness():
    def source(count):
        raise AssertionError("asked for randomness")

    assert Sampler([[1]], 0).draw(np.zeros(0, dtype=np.int32), source).tolist() == []


def test_the_protocol_samples_from_its_numerators():
    protocol = rldp.Protocol(np.random.default_rng(2).dirichlet(np.ones(5), size=(2, 3)))
    sampler = protocol.sampler
    assert sampler.bits == 52
    assert protocol.denominator == 2**52
    ends = sampler.ends.reshape(6, 8)
    assert np.array_equal(np.diff(ends[:, :5], prepend=0).reshape(2, 3, 5), protocol.numerators)
    assert (ends[:, 4:] == 2**52).all()
    assert protocol.sampler is sampler


# Statistics


def chi_square_level(numerators, rows, drawn):
    """The smallest p-value over the rows of a table."""
    levels = []
    for row, expected in enumerate(numerators):
        seen = np.bincount(drawn[rows == row], minlength=len(expected))
        probable = expected > 0
        assert seen[~probable].sum() == 0
        wanted = expected[probable] / expected.sum() * seen.sum()
        statistic = ((seen[probable] - wanted) ** 2 / wanted).sum()
        levels.append(chi2.sf(statistic, max(1, probable.sum() - 1)))
    return min(levels)


def random_protocol():
    matrix = np.random.default_rng(4).dirichlet(np.full(16, 0.7), size=(3, 16))
    matrix[:, ::3, 5] = 0
    matrix /= matrix.sum(axis=2, keepdims=True)
    return rldp.Protocol(matrix)


def ten_million_draws(seed):
    protocol = random_protocol()
    rng = np.random.default_rng(7)
    secrets, values = rng.integers(0, 3, 10**7), rng.integers(0, 16, 10**7)
    drawn = protocol.release(secrets, values, seed=seed)
    return protocol.numerators.reshape(48, 16), secrets * 16 + values, drawn


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, None], ids=["seeded", "secure"])
def test_ten_million_draws_follow_every_row(seed):
    assert chi_square_level(*ten_million_draws(seed)) > 1e-6


@pytest.mark.slow
def test_the_statistic_sees_a_fiftieth_of_one_row_moved():
    numerators, rows, drawn = ten_million_draws(11)
    wrong = numerators.copy()
    row = 17
    largest = wrong[row].argmax()
    moved = np.int64(2**52 // 50)
    wrong[row, largest] -= moved
    wrong[row, (largest + 1) % 16] += moved
    assert chi_square_level(wrong, rows, drawn) < 1e-6
