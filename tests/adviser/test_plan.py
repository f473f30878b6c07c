"""What samples of other sizes would promise."""

import math

import numpy as np
import pytest

import rldp
from rldp.adviser import plan as module
from rldp.adviser.demo import adult

SAMPLE = rldp.Sample([[30, 10], [5, 25]])


@pytest.fixture(scope="module")
def found():
    return rldp.plan(SAMPLE, 1.0, [700, 70, 7000], draws=20)


def test_larger_samples_promise_less_distortion(found):
    assert [row.size for row in found.rows] == [70, 700, 7000]
    medians = [row.median for row in found.rows]
    assert medians == sorted(medians, reverse=True)
    for row in (*found.rows, found.limit):
        assert row.low <= row.median <= row.high
        assert len(row.promised) == 20
    assert found.limit.median <= medians[-1]


def test_the_present_sample_promises_what_its_design_does(found):
    assert found.present == pytest.approx(rldp.design(SAMPLE, 1.0).objective, abs=2e-4)


def test_the_same_seed_gives_the_same_plan(found):
    again = rldp.plan(SAMPLE, 1.0, [70, 700, 7000], draws=20)
    assert again.table() == found.table()
    other = rldp.plan(SAMPLE, 1.0, [70], draws=20, seed=1)
    assert other.rows[0].median != found.rows[0].median


def test_one_size_does_not_depend_on_the_others(found):
    alone = rldp.plan(SAMPLE, 1.0, [700], draws=20)
    assert alone.rows[0].median == found.rows[1].median


def test_what_is_promised_for_every_distribution_stays_so_if_the_distribution_is_known():
    found = rldp.plan(SAMPLE, 1.0, [10**12], privacy="all", draws=10)
    assert found.limit.median == pytest.approx(found.rows[0].median, rel=1e-2)
    assert found.limit.median > 2 * rldp.plan(SAMPLE, 1.0, [100], draws=10).limit.median


def rows(*medians):
    pairs = zip((100, 1000, 10_000), medians, strict=True)
    return tuple(module.PlanRow(size, m, m, m, np.array([m])) for size, m in pairs)


def planned(*medians):
    limit = module.PlanRow(math.inf, 0.0, 0.0, 0.0, np.zeros(1))
    return module.Plan(rows(*medians), limit, 1.0, SAMPLE, 1.0, rldp.ChiSquare(), rldp.ChiSquare())


@pytest.mark.parametrize(
    ("wanted", "size"),
    [
        (10.0, 100),  # does already
        (1.0, 100),
        (0.1, 1000),
        (math.sqrt(0.1), 317),  # halfway in logarithms, rounded up
        (0.001, 10_000),
        (0.0001, None),
        (0.0, None),
    ],
)
def test_the_size_for_a_distortion_is_read_off_the_medians(wanted, size):
    assert planned(1.0, 0.1, 0.001).size_for(wanted) == size


def test_a_median_of_zero_is_reached_at_its_size():
    assert planned(1.0, 0.5, 0.0).size_for(0.0) == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("present", [300, 3000])
def test_the_band_covers_what_samples_of_a_real_table_promise(present):
    """Of new samples of the census table, at least two thirds promise what a nine-in-ten band foretells.

    A band is right on average over tables, not for every one and every present sample.
    """
    truth, rng = adult(), np.random.default_rng(1)
    values = np.array(truth.values)
    inside = []
    for _ in range(2):
        counts = rng.multinomial(present, truth.distribution.ravel()).reshape(truth.counts.shape)
        sizes = [present, 5 * present]
        found = rldp.plan(rldp.Sample(counts, truth.secrets, truth.values), 1.0, sizes, draws=40)
        for row in found.rows:
            drawn = rng.multinomial(row.size, truth.distribution.ravel(), size=10)
            new = rldp.design_batch(
                drawn.reshape(10, *counts.shape), 1.0, distortion=np.subtract.outer(values, values) ** 2
            )
            inside.append((row.low <= new.objective) & (new.objective <= row.high))
    assert np.mean(inside) >= 2 / 3


@pytest.mark.slow
def test_a_plan_can_be_drawn(found, tmp_path):
    found.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1000


def test_a_callback_hears_of_every_size():
    heard = []
    rldp.plan(SAMPLE, 1.0, [50, 60], draws=10, privacy="nominal", callback=lambda *news: heard.append(news))
    assert heard == [(0, 3, "50 rows"), (1, 3, "60 rows"), (2, 3, "known distribution")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": []}, "sizes must hold at least one number of rows, got none"),
        ({"sizes": [0]}, "sizes must be at least 1, got 0"),
        ({"sizes": [-5]}, "sizes must be at least 1, got -5"),
        ({"sizes": 100}, "sizes must be a list of whole numbers, got int"),
        ({"sizes": [1.5]}, "sizes must be a whole number"),
        ({"draws": 1}, "draws must be at least 10, got 1"),
        ({"prior": 0.0}, "prior must be greater than 0, got 0.0"),
        ({"privacy": "best"}, "privacy must be a set or one of"),
        ({"epsilon": -1.0}, "epsilon must be at least 0, got -1.0"),
        ({"utility": rldp.Pairs()}, "can stand for privacy only"),
        ({"sample": [[1]]}, "sample must be an rldp.Sample, got list"),
    ],
)
def test_bad_arguments(options, message):
    given = {"sample": SAMPLE, "sizes": [100], "epsilon": 1.0, "draws": 10, **options}
    first = [given.pop(name) for name in ("sample", "epsilon", "sizes")]
    with pytest.raises(rldp.RldpError, match=message):
        rldp.plan(*first, **given)


@pytest.mark.parametrize(("rest", "named"), [((1.0,), {}), ((), {"epsilon": 1.0})])
def test_the_old_order_works_and_warns(rest, named):
    new = rldp.plan(SAMPLE, 1.0, [70], draws=10)
    with pytest.warns(DeprecationWarning, match=r"use plan\(sample, epsilon, sizes\)") as heard:
        old = rldp.plan(SAMPLE, [70], *rest, draws=10, **named)
    assert (old.epsilon, old.table()) == (new.epsilon, new.table())
    assert heard[0].filename == __file__


def test_the_old_name_of_privacy_works_and_warns():
    with pytest.warns(DeprecationWarning, match="promise= is deprecated .*; use privacy=") as heard:
        found = rldp.plan(SAMPLE, 1.0, [70], promise="nominal", draws=10)
    assert heard[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"use Plan\.privacy"):
        assert found.promise == found.privacy == rldp.Nominal()


def test_a_wanted_distortion_is_a_number():
    with pytest.raises(rldp.InvalidArgument, match="distortion must be at least 0"):
        planned(1.0, 0.1, 0.01).size_for(-1.0)
