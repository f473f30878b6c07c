"""What a protocol is worth: each number against a count, a simulation or a design that does not know it."""

import dataclasses
import itertools

import numpy as np
import pytest

import rldp
from rldp.adviser import verdict
from rldp.adviser.verdict import Without, worth

pytestmark = pytest.mark.numerical

TABLE = [[60, 30, 15, 9], [12, 25, 40, 30], [20, 20, 20, 20]]
VALUES = (0, 1, 2, 5)
RARE = [[300, 200, 100], [250, 200, 150], [1, 0, 0]]
NAMES = ["a", "b", "rare"]


@pytest.fixture(scope="module")
def sample():
    return rldp.Sample(TABLE, values=VALUES)


@pytest.fixture(scope="module")
def designed(sample):
    return rldp.design(sample, 0.7)


def counted(sample, protocol, event):
    """The probability of ``event(u, y)`` under the estimate, cell by cell."""
    total = 0.0
    for s, u, y in itertools.product(*map(range, protocol.matrix.shape)):
        if event(protocol.values[u], protocol.outputs[y]):
            total += TABLE[s][u] / sample.n * protocol.matrix[s, u, y]
    return total


def test_the_share_of_changed_rows_is_that_of_a_count(sample, designed):
    expected = counted(sample, designed.protocol, lambda u, y: u != y)
    assert worth(sample, designed).changed == pytest.approx(expected, rel=1e-9)


def test_the_share_of_changed_rows_is_that_of_a_release(sample, designed):
    """By Hoeffding's inequality, off by more than 0.012 with probability 2 exp(−2·10⁵·0.012²) < 1e-12."""
    rows = 100_000
    draws = np.random.default_rng(0).choice(sample.counts.size, rows, p=sample.distribution.ravel())
    s, u = np.divmod(draws, len(VALUES))
    values = np.array(VALUES)[u]
    released = designed.protocol.release(s, values, seed=1)
    assert worth(sample, designed).changed == pytest.approx((released != values).mean(), abs=0.012)


def test_outputs_in_another_order_are_found_again(sample, designed):
    made = designed.protocol
    labels = made.secrets, made.values, made.outputs[::-1]
    turned = rldp.Protocol(made.matrix[..., ::-1], *labels, guarantee=made.guarantee)
    found = worth(sample, dataclasses.replace(designed, protocol=turned))
    assert found.changed == pytest.approx(worth(sample, designed).changed, rel=1e-12)


@pytest.mark.parametrize("rare", [None, 2])
def test_a_majority_that_never_changes_is_named_though_a_value_is_published_for_nobody(rare):
    """All rows of a value change if its output is not used; that tells nothing about the secret."""
    table = np.repeat(np.eye(3)[None], 2, axis=0)
    table[1, 0] = 0.25, 0.75, 0.0
    if rare is not None:
        table[:, rare] = 0.0, 1.0, 0.0
    sample = rldp.Sample([[900, 700, 40], [60, 90, 50]], secrets=["hs", "other"])
    made = rldp.design(sample, 0.7)

    def given_away():
        protocol = rldp.Protocol(table, sample.secrets, guarantee=made.protocol.guarantee)
        return worth(sample, dataclasses.replace(made, protocol=protocol)).gives_away

    assert given_away() == pytest.approx(("hs", "other", 0.75 * 60 / 200))
    table[0, 1] = 0.25, 0.75, 0.0
    assert given_away() is None


def test_where_outputs_are_no_values_nothing_is_said_of_changes(sample):
    assert worth(sample, rldp.design(sample, 0.7, outputs=[0.5, 3.5])).changed is None
    assert worth(sample, rldp.design(sample, 0.7, outputs=[0, 1, 2])).changed is None


def test_the_distortion_under_the_estimate_is_that_of_a_count(sample, designed):
    found, expected = worth(sample, designed), 0.0
    for u, y in itertools.product(VALUES, VALUES):
        expected += (u - y) ** 2 * counted(sample, designed.protocol, lambda a, b, u=u, y=y: (a, b) == (u, y))
    assert found.estimate == pytest.approx(expected, rel=1e-9)
    assert (found.promised, found.is_robust) == (designed.objective, True)
    assert not worth(sample, rldp.design(sample, 0.7, utility=rldp.Nominal())).is_robust


@pytest.mark.parametrize("outputs", [None, (0.5, 3.5), (7,)])
@pytest.mark.parametrize("utility", [rldp.ChiSquare(), rldp.Nominal()])
def test_no_privacy_is_what_a_design_without_privacy_promises(sample, outputs, utility):
    given = {"utility": utility, "outputs": outputs, "gap": 1e-6}
    free = rldp.design(sample, np.inf, **given)
    found = worth(sample, rldp.design(sample, 0.7, **given))
    assert free.lower_bound - 1e-9 <= found.unprotected <= free.objective + 1e-5 * max(1, free.objective)
    assert (found.unprotected == 0) == (outputs is None)


def test_a_constant_is_what_a_design_at_level_zero_promises(sample, designed):
    still = rldp.design(sample, 0.0)
    assert worth(sample, designed).constant == pytest.approx(still.objective, rel=1e-3)
    assert worth(sample, still).reach == pytest.approx(0.0, abs=1e-3)
    assert worth(sample, rldp.design(sample, np.inf)).reach == pytest.approx(1.0, abs=1e-5)


def test_reach_is_the_share_of_the_way_from_a_constant_to_no_privacy(sample, designed):
    found = dataclasses.replace(worth(sample, designed), constant=10.0, unprotected=2.0, promised=4.0)
    assert found.reach == 0.75
    assert dataclasses.replace(found, promised=11.0).reach == 0.0
    assert dataclasses.replace(found, constant=2.0).reach is None


def test_an_output_of_less_than_a_millionth_is_not_used(sample):
    tables = np.zeros((3, 4, 4))
    tables[..., 0], tables[..., 1], tables[..., 2] = 1 - 2.5e-6, 2e-6, 0.5e-6
    made = rldp.design(sample, np.inf)
    labels = made.protocol.secrets, VALUES, VALUES
    protocol = rldp.Protocol(tables, *labels, guarantee=made.protocol.guarantee)
    found = worth(sample, dataclasses.replace(made, protocol=protocol))
    assert (found.outputs_used, found.outputs) == (2, 4)


# Rare secrets


def quick(designed):
    """The same design, found in no time: machines may be slow."""
    return dataclasses.replace(designed, status=dataclasses.replace(designed.status, seconds=0.0))


@pytest.mark.parametrize(
    "privacy", [rldp.ChiSquare(), rldp.Pairs(), rldp.Credible(0.1)], ids=["chi2", "pairs", "credible"]
)
def test_a_rare_secret_that_drives_the_cost_is_named_with_what_a_design_without_it_promises(privacy):
    sample = rldp.Sample(RARE, NAMES)
    found = worth(sample, quick(rldp.design(sample, 0.5, privacy=privacy)))
    again = rldp.design(rldp.Sample(RARE[:2], NAMES[:2]), 0.5, privacy=privacy, gap=1e-3)
    assert found.without == Without(("rare",), 1, pytest.approx(again.objective, rel=5e-3))
    assert found.without.promised <= 0.9 * found.promised


def test_a_rare_secret_is_named_where_costs_are_counted_under_the_posterior_mean():
    """The mean is a table with all the secrets, which a design without one of them cannot have."""
    sample, promises = rldp.Sample(RARE, NAMES), {"privacy": "credible", "utility": "nominal"}
    found = worth(sample, quick(rldp.design(sample, 0.5, **promises))).without
    again = rldp.design(rldp.Sample(RARE[:2], NAMES[:2]), 0.5, **promises, gap=1e-3)
    assert found == Without(("rare",), 1, pytest.approx(again.objective, rel=0.05))


def test_two_rare_secrets_are_named_together_where_each_costs_much():
    """Without one of them 0.74 of the distortion could be promised, without both 0.40."""
    sample = rldp.Sample([*RARE, [1, 0, 0]], [*NAMES, "rare too"])
    found = worth(sample, quick(rldp.design(sample, 0.5))).without
    again = rldp.design(rldp.Sample(RARE[:2], NAMES[:2]), 0.5, gap=1e-3)
    assert found == Without(("rare", "rare too"), 2, pytest.approx(again.objective, rel=5e-3))


@pytest.mark.parametrize(
    ("shares", "named"),
    [
        ([0.95, 0.93, 0.91], None),
        ([0.90, 0.82, 0.82], 1),
        ([0.80, 0.71, 0.70], 2),
        ([0.80, 0.79, 0.50], 3),
        ([0.95, 0.89, 0.89], 2),
    ],
)
def test_a_further_secret_is_named_only_if_it_adds_a_tenth(monkeypatch, shares, named):
    sample = rldp.Sample([*RARE, [1, 0, 0], [1, 1, 0], [9, 9, 9]], ["a", "b", "c", "d", "e", "f"])
    designed = quick(rldp.design(sample, 0.5))
    promises = iter(shares)
    monkeypatch.setattr(verdict, "_designed_for", lambda *_: next(promises) * designed.objective)
    found = worth(sample, designed).without
    assert (found and found.secrets) == (None if named is None else ("c", "d", "e")[:named])


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([[120, 60, 30], [1, 0, 0]], "one secret alone would be left"),
        ([[120, 60, 30], [30, 60, 120], [9, 9, 9]], "more than a twentieth of the rows are not rare"),
        ([[12000, 6000, 3000], [3000, 6000, 12000], [200, 200, 200]], "it costs next to nothing"),
    ],
    ids=["two secrets", "not rare", "not costly"],
)
def test_otherwise_no_secret_is_named(counts, why):
    sample = rldp.Sample(counts)
    assert worth(sample, quick(rldp.design(sample, 0.5))).without is None, why


def test_designs_that_took_long_are_not_made_again(monkeypatch):
    sample = rldp.Sample(RARE, NAMES)
    designed = rldp.design(sample, 0.5)
    monkeypatch.setattr(verdict, "design", lambda *_, **__: pytest.fail("designed again"))
    slow = dataclasses.replace(designed.status, seconds=2.1)
    assert worth(sample, dataclasses.replace(designed, status=slow)).without is None


# Tiny samples


@pytest.mark.parametrize(
    ("counts", "privacy", "tiny"),
    [
        ([[5, 4], [5, 5]], rldp.Nominal(), True),
        ([[5, 5], [5, 5]], rldp.Nominal(), False),
        ([[1, 3], [2, 5]], rldp.Pairs(), True),
        ([[1, 3], [2, 5]], rldp.ChiSquare(), False),
    ],
    ids=["19 rows", "20 rows", "pairs", "the sparse table is told otherwise"],
)
def test_fewer_than_five_rows_a_cell_are_tiny_unless_another_warning_says_so(counts, privacy, tiny):
    sample = rldp.Sample(counts)
    found = worth(sample, rldp.design(sample, 0.5, privacy=privacy, utility=rldp.Nominal()))
    assert found.is_tiny is tiny
