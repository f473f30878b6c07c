"""Confirmation on fresh data: what it says of a protocol, the chain, and what it refuses."""

import dataclasses
import math
import re
from functools import partial

import numpy as np
import pytest

import rldp

COUNTS = np.array([[520, 310, 170], [140, 380, 480]])
SAMPLE = rldp.Sample(COUNTS, secrets=["ill", "well"])
confirm, confirm_chain = partial(rldp.confirm, seed=0), partial(rldp.confirm_chain, seed=0)


@pytest.fixture(scope="module")
def protocol():
    return rldp.design(SAMPLE, 0.5).protocol


def fresh(n, seed, counts=COUNTS):
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, counts.ravel() / counts.sum()).reshape(counts.shape)
    return rldp.Sample(drawn, secrets=["ill", "well"])


def bare(matrix, **labels):
    return rldp.Protocol(matrix, **labels)


def one_column(*columns):
    """A protocol of two outputs on three values: Q(0|s,u) for each secret."""
    table = np.array(columns, dtype=float)
    return bare(np.stack([table, 1 - table], axis=2))


# --- the bound -------------------------------------------------------------------------------------


def test_enough_fresh_rows_confirm_a_private_protocol(protocol):
    found = confirm(protocol, fresh(20_000, 1))
    assert found.confirmed
    assert found.holds(0.5)
    assert found.leakage < found.epsilon <= 0.5
    assert not found.holds(found.leakage)
    assert (found.claim, found.alpha, found.unseen, found.used_before) == (0.5, 0.05, (), False)
    assert found.output in protocol.outputs
    assert sorted(found.secrets) == ["ill", "well"]
    assert found.sentences[0] == "Confirmed: the protocol is 0.5-private for the people the rows come from."
    assert found.sentences[1].startswith("ε* is at most 0.")
    assert found.sentences[1].endswith(
        "too small with probability 0.05 at most, for every distribution and every number of rows that was "
        "fixed before the rows were seen."
    )


def test_few_rows_confirm_little_and_say_that_another_attempt_must_be_planned(protocol):
    found = confirm(protocol, fresh(40, 2))
    assert not found.confirmed
    assert found.epsilon > 0.5
    assert found.sentences[0].startswith("Not confirmed: in the fresh rows themselves ε* is ")
    assert found.sentences[0].endswith("at most 0.5 for the people they come from.")
    assert found.sentences[1] == (
        "A larger sample may show it. Each attempt is wrong with probability up to 0.05: decide beforehand "
        "how many rows to collect and how many attempts to make, and divide alpha by the number of attempts."
    )


def test_a_protocol_that_leaks_is_not_confirmed():
    identity = bare(np.broadcast_to(np.eye(3), (2, 3, 3)), secrets=["ill", "well"])
    found = confirm(identity, fresh(3000, 3), epsilon=0.5)
    truth = rldp.leakage(identity, SAMPLE.distribution)
    assert not found.confirmed
    assert found.epsilon > truth > 1
    assert re.fullmatch(
        r"Not confirmed: in the fresh rows themselves ε\* is 1\.\d+, which is more than 0\.5\.",
        found.sentences[0],
    )


def test_the_bound_narrows_with_the_number_of_rows(protocol):
    bounds = [confirm(protocol, fresh(n, 1)).epsilon for n in (100, 1000, 10_000, 100_000)]
    truth = rldp.leakage(protocol, SAMPLE.distribution)
    assert bounds == sorted(bounds, reverse=True)
    assert truth < bounds[-1] < truth + 0.03


def test_the_printed_bound_is_no_smaller_than_the_bound(protocol):
    for seed in range(5, 9):
        found = confirm(protocol, fresh(500, seed))
        printed = float(re.search(r"ε\* is at most (\S+)\. ", " ".join(found.sentences)).group(1))
        assert found.epsilon <= printed <= found.epsilon * 1.0001


def test_a_smaller_alpha_asks_for_more(protocol):
    bounds = [confirm(protocol, fresh(1000, 5), alpha=alpha).epsilon for alpha in (0.2, 0.05, 0.001)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[2]


def test_bets_need_no_sample_of_the_design(protocol):
    rows = fresh(5000, 6)
    alone = confirm(bare(protocol.matrix, secrets=["ill", "well"]), rows, epsilon=0.5)
    assert alone.confirmed
    told = confirm(bare(protocol.matrix, secrets=["ill", "well"]), rows, planned=SAMPLE, epsilon=0.5)
    assert told.epsilon == confirm(protocol, rows).epsilon
    assert told.epsilon != alone.epsilon


def test_a_misleading_plan_costs_width_and_nothing_else(protocol):
    rows = fresh(5000, 7)
    misled = confirm(protocol, rows, planned=rldp.Sample(COUNTS[::-1], secrets=["ill", "well"]))
    assert confirm(protocol, rows).epsilon < misled.epsilon < math.inf
    assert misled.epsilon > rldp.leakage(protocol, SAMPLE.distribution)


def test_without_a_seed_the_order_is_drawn_anew_and_told(protocol):
    rows = fresh(1000, 8)
    found = [rldp.confirm(protocol, rows) for _ in range(2)]
    assert found[0].seed != found[1].seed
    assert f"with seed {found[0].seed}; the same seed repeats this result." in found[0].sentences[-1]
    again = rldp.confirm(protocol, rows, seed=found[0].seed)
    assert (again.epsilon, again.sentences) == (found[0].epsilon, found[0].sentences)
    assert len({rldp.confirm(protocol, rows, seed=seed).epsilon for seed in range(5)}) > 1


def test_a_chain_draws_one_order_and_tells_it(protocol):
    rows = fresh(30_000, 8)
    found = [rldp.confirm_chain([protocol], rows) for _ in range(2)]
    assert found[0].seed != found[1].seed
    assert rldp.confirm_chain([protocol], rows, seed=5).seed == 5


# --- what the table alone says ---------------------------------------------------------------------


def test_outputs_that_ignore_the_value_need_no_rows():
    flip = one_column([0.75] * 3, [0.25] * 3)
    found = confirm(flip, rldp.Sample([[1, 0, 0], [0, 0, 1]]))
    assert math.log(3) <= found.epsilon <= math.log(3) * (1 + 1e-13)
    assert confirm(flip, rldp.Sample([[1, 0, 0], [0, 0, 1]]), epsilon=1.1).confirmed


def test_outputs_that_ignore_everything_leak_nothing():
    found = confirm(one_column([0.3] * 3, [0.3] * 3), rldp.Sample([[1, 0, 0], [0, 1, 0]]))
    assert (found.epsilon, found.output, found.secrets) == (0.0, None, None)
    assert found.holds(0)
    assert found.sentences[1].startswith("ε* is at most 0. ")


def test_an_output_that_nobody_gets_is_no_obstacle():
    table = np.zeros((2, 3, 3))
    table[..., 0], table[..., 1] = 0.5, 0.5
    assert confirm(bare(table), rldp.Sample([[1, 2, 3], [3, 2, 1]])).epsilon == 0


def test_one_secret_has_nothing_to_hide():
    assert confirm(bare(np.eye(3)[None]), rldp.Sample([[1, 2, 3]])).epsilon == 0


def test_a_table_bounds_what_rows_cannot():
    careful = one_column([0.4, 0.5, 0.6], [0.5, 0.5, 0.5])
    found = confirm(careful, rldp.Sample([[1, 0, 0], [0, 0, 1]]))
    assert found.epsilon <= math.log(0.5 / 0.4) * (1 + 1e-13)


# --- secrets without rows, rows used before --------------------------------------------------------


def test_without_rows_of_a_secret_nothing_bounds_the_leakage(protocol):
    found = confirm(protocol, rldp.Sample([[50, 30, 20], [0, 0, 0]], secrets=["ill", "well"]))
    assert found.epsilon == math.inf
    assert found.confirmed is False
    assert found.unseen == ("well",)
    assert "The fresh rows give no upper bound on ε*." in found.sentences
    assert found.sentences[-2] == ("No fresh row has secret 'well'. The rows therefore do not bound ε*.")


def test_without_rows_of_a_secret_the_table_may_still_bound_the_leakage():
    careful = one_column([0.4, 0.5, 0.6], [0.5, 0.4, 0.5])
    rows = rldp.Sample([[500, 300, 200], [0, 0, 0]])
    found = confirm(careful, rows, epsilon=0.5)
    assert found.epsilon == pytest.approx(math.log(0.6 / 0.4), rel=1e-13)
    assert (found.output, found.secrets) == (0, (0, 1))
    assert (
        found.sentences[-2] == "No fresh row has secret 1: statements about it follow from the table alone."
    )
    assert confirm(careful, rows, epsilon=0.4).epsilon == math.inf
    assert confirm_chain([careful], rows, epsilon=0.5) is not None
    assert confirm_chain([careful], rows, epsilon=0.4) is None


def test_an_unseen_secret_whose_table_leaks_no_more_than_others_changes_nothing():
    table = one_column([0.05] * 3, [0.3] * 3, [0.1, 0.1, 0.2])
    found = confirm(table, rldp.Sample([[5, 3, 2], [2, 3, 5], [0, 0, 0]]))
    assert found.epsilon == pytest.approx(math.log(6), rel=1e-13)
    assert found.secrets == (1, 0)


@pytest.mark.parametrize("planned", [False, True])
def test_rows_that_the_design_has_seen_confirm_nothing(protocol, planned):
    rows = fresh(20_000, 9)
    other = bare(protocol.matrix, secrets=["ill", "well"])
    found = confirm(other, rows, planned=rows) if planned else confirm(protocol, SAMPLE)
    assert found.used_before
    assert found.epsilon == math.inf
    assert found.sentences[0].startswith(
        "Not confirmed: the fresh sample equals the one that the protocol was"
    )


# --- claims ----------------------------------------------------------------------------------------


def test_a_claim_of_infinity_needs_no_confirmation(protocol):
    found = confirm(protocol, fresh(20, 10), epsilon=math.inf)
    assert found.confirmed
    assert found.sentences[0] == "The file claims no privacy (ε = ∞), so there is nothing to confirm."
    open_table = rldp.design(SAMPLE, math.inf).protocol
    assert confirm(open_table, fresh(20, 10)).confirmed


def test_a_table_without_a_guarantee_claims_nothing(protocol):
    found = confirm(bare(protocol.matrix, secrets=["ill", "well"]), fresh(500, 11))
    assert (found.claim, found.confirmed) == (None, None)
    assert found.sentences[0].startswith("The protocol carries no guarantee and no ε was named")
    assert math.isfinite(found.epsilon)


def test_a_confirmation_is_frozen_and_fits_on_a_line(protocol):
    found = confirm(protocol, fresh(100, 12))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.epsilon = 0.0
    assert "\n" not in repr(found)
    assert len(repr(found)) < 250


# --- the chain -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain():
    """From careful to bold; the third does not keep ε = 0.5."""
    levels = (0.01, 0.3)
    careful = [rldp.design(SAMPLE, 0.5, privacy=rldp.ChiSquare(level)).protocol for level in levels]
    return [*careful, rldp.design(SAMPLE, 1.5, privacy=rldp.Nominal()).protocol]


def test_the_boldest_protocol_confirmed_is_chosen(chain):
    found = confirm_chain(chain, fresh(30_000, 13), epsilon=0.5)
    assert found.protocol is chain[1]
    assert found.confirmed
    assert found.claim == 0.5


def test_a_chain_ends_at_the_first_failure(chain):
    first, second, leaks = chain
    rows = fresh(30_000, 13)
    assert confirm(second, rows).confirmed
    found = confirm_chain([first, leaks, second], rows, epsilon=0.5)
    assert found.protocol is first
    assert confirm_chain([leaks, first, second], rows, epsilon=0.5) is None


def test_each_protocol_is_tested_at_its_own_epsilon(chain):
    rows = fresh(60_000, 14)
    found = confirm_chain(chain, rows)
    assert (found.protocol, found.epsilon) == (chain[2], 1.5)
    assert confirm_chain(chain, rows, epsilon=0.5).protocol is chain[1]


def test_a_chain_confirms_nothing_smaller_than_what_was_tested(chain):
    rows = fresh(30_000, 13)
    found = confirm_chain(chain[:1], rows)
    assert confirm(chain[0], rows).epsilon < 0.5
    assert (found.epsilon, found.output) == (0.5, None)
    assert found.holds(0.5)
    assert not found.holds(0.4999)


def test_a_chain_agrees_with_its_links(chain):
    for n in (100, 400, 1600, 6400):
        rows = fresh(n, 15)
        alone = confirm(chain[0], rows).confirmed
        assert (confirm_chain(chain[:1], rows) is not None) == alone


def test_rows_that_the_design_has_seen_confirm_no_chain(chain):
    assert confirm_chain(chain, SAMPLE) is None


# --- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [confirm, lambda p, s, **options: confirm_chain([p], s, **options)])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must lie strictly between 0 and 1, got 0.0"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1, got 1.0"),
        ({"alpha": math.nan}, "alpha must be a number, got NaN"),
        ({"alpha": "5%"}, "alpha must be a number, got '5%'"),
        ({"epsilon": -0.1}, "epsilon must be at least 0, got -0.1"),
        ({"epsilon": math.nan}, "epsilon must be a number, got NaN"),
        ({"seed": -1}, "seed must lie between 0 and 2^128 - 1, got -1"),
        ({"seed": 0.5}, "seed must be an integer or None, got 0.5"),
        ({"planned": COUNTS}, "planned must be an rldp.Sample, got ndarray"),
        (
            {"planned": rldp.Sample(COUNTS)},
            "planned must have the protocol's secrets, got another in place 1; "
            "protocol.count(data) reads data with the protocol's labels and bins",
        ),
    ],
)
def test_options_that_cannot_be_used_are_named(protocol, verb, options, message):
    with pytest.raises(rldp.RldpError, match=re.escape(message)):
        verb(protocol, fresh(50, 16), **options)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (rldp.Sample(COUNTS), "sample must have the protocol's secrets, got another in place 1"),
        (
            rldp.Sample(COUNTS[:, :2], secrets=["ill", "well"]),
            "sample must have the protocol's values, got 2 instead of 3",
        ),
        (COUNTS, "sample must be an rldp.Sample, got ndarray"),
    ],
)
def test_a_fresh_sample_with_other_labels_is_refused(protocol, sample, message):
    for verb in (confirm, lambda p, s: confirm_chain([p], s)):
        with pytest.raises(rldp.RldpError, match=re.escape(message)):
            verb(protocol, sample)


def test_no_rows_at_all_are_no_sample():
    with pytest.raises(
        rldp.InvalidArgument, match="counts must hold at least one observation, got all zeros"
    ):
        rldp.Sample(np.zeros((2, 3), dtype=int))


@pytest.mark.parametrize(
    ("protocols", "message"),
    [
        ([], "protocols must hold at least one rldp.Protocol, got none"),
        (7, "protocols must be a list of rldp.Protocol, got 7"),
        ("ab", "protocols must be a list of rldp.Protocol, got 'ab'"),
        ([7], "protocol must be an rldp.Protocol, got int"),
    ],
)
def test_what_is_no_chain_is_refused(protocols, message):
    with pytest.raises(rldp.RldpError, match=re.escape(message)):
        confirm_chain(protocols, fresh(50, 17))


def test_a_chain_needs_an_epsilon_for_every_protocol(protocol):
    table = bare(protocol.matrix, secrets=["ill", "well"])
    with pytest.raises(
        rldp.InvalidArgument, match=r"epsilon must be given, as protocol 2 of the chain carries no guarantee"
    ):
        confirm_chain([protocol, table], fresh(50, 18))


def test_a_confirmation_is_asked_for_numbers(protocol):
    found = confirm(protocol, fresh(50, 19))
    with pytest.raises(rldp.InvalidArgument, match=r"epsilon must be at least 0, got -1\.0"):
        found.holds(-1)
    with pytest.raises(rldp.InvalidArgumentType, match="epsilon must be a number, got 'half'"):
        found.holds("half")
