"""Released rows as a larger sample: never worth less than the sample, never more than they can be."""

import numpy as np
import pytest

import rldp

MATRIX = np.array([[[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]] * 2)
PROTOCOL = rldp.Protocol(MATRIX, secrets=["a", "b"])
SAMPLE = rldp.Sample([[20, 10, 10], [5, 15, 20]], ["a", "b"])
TRUTH = SAMPLE.distribution


def released(rows, matrix=MATRIX):
    law = np.einsum("su,suy->sy", TRUTH, matrix)
    counts = np.rint(rows * law).astype(np.int64)
    return rldp.Released(counts, rldp.Protocol(matrix, secrets=["a", "b"]))


@pytest.mark.numerical
def test_rows_that_show_the_value_are_worth_themselves():
    same = released(800, np.broadcast_to(np.eye(3), (2, 3, 3)))
    np.testing.assert_allclose(rldp.sharpen(SAMPLE, same).counts, SAMPLE.counts + same.counts, atol=1)


@pytest.mark.numerical
def test_rows_that_show_nothing_are_worth_nothing():
    nothing = released(900, np.full((2, 3, 3), 1 / 3))
    assert rldp.sharpen(SAMPLE, nothing).counts.tolist() == SAMPLE.counts.tolist()


@pytest.mark.numerical
def test_a_sample_of_that_size_tells_nothing_better():
    """Fisher's information of both sources, by finite differences, against that of a sample."""
    rows = released(100_000)
    found = rldp.sharpen(SAMPLE, rows)
    for s in range(2):
        p, n = TRUTH[s] / TRUTH[s].sum(), int(found.counts[s].sum())
        assert 40 < n < 40 + int(rows.counts[s].sum())
        step, moves = 1e-4, np.array([[1.0, -1, 0], [0, 1, -1]])

        def curvature(counts, channel, p=p, step=step, moves=moves):
            def value(x):
                return float(counts @ np.log((p + x @ moves) @ channel))

            grid = step * np.eye(2)
            pairs = [[(a, b) for b in grid] for a in grid]
            return -np.array(
                [
                    [
                        (value(a + b) - value(a - b) - value(b - a) + value(-a - b)) / (4 * step**2)
                        for a, b in row
                    ]
                    for row in pairs
                ]
            )

        both = curvature(40 * p, np.eye(3)) + curvature(rows.counts[s].sum() * (p @ MATRIX[s]), MATRIX[s])
        ratio = np.linalg.eigvals(np.linalg.solve(curvature(p, np.eye(3)), both)).real.min()
        assert n == pytest.approx(ratio, rel=0.01)


def test_a_design_on_the_sharpened_sample_costs_less():
    sharper = rldp.sharpen(SAMPLE, released(20_000))
    before, after = (rldp.design(sample, 0.5).objective for sample in (SAMPLE, sharper))
    assert after < 0.8 * before


def test_what_cannot_be_sharpened():
    with pytest.raises(rldp.InvalidArgument, match="released must have the secrets of its rows"):
        rldp.sharpen(SAMPLE, rldp.Released([1, 2, 3], PROTOCOL))
    with pytest.raises(rldp.InvalidArgumentType, match=r"released must be an rldp\.Released, got list"):
        rldp.sharpen(SAMPLE, [1, 2])
    with pytest.raises(rldp.InvalidArgument, match="sample must have the protocol's secrets"):
        rldp.sharpen(rldp.Sample([[1, 2, 3]]), released(100))


def test_a_secret_without_released_rows_keeps_its_counts():
    counts = released(1000).counts.copy()
    counts[1] = 0
    found = rldp.sharpen(SAMPLE, rldp.Released(counts, PROTOCOL))
    assert found.counts[1].tolist() == SAMPLE.counts[1].tolist()
    assert found.counts[0].sum() > 40
