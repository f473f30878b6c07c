"""Sentences about what a protocol is worth: the right one in the right place, and none twice."""

import dataclasses
import math

import pytest

from rldp.adviser.verdict import Without, Worth
from rldp.reporter.words import gives_away, known_sentence, percent, worth_sentences

PLAIN = Worth(
    promised=2.5,
    is_robust=True,
    estimate=1.25,
    constant=10.0,
    estimate_constant=5.0,
    unprotected=0.0,
    estimate_unprotected=0.0,
    binned=False,
    changed=0.484,
    outputs_used=12,
    outputs=16,
    without=None,
    secrets=2,
    values=16,
    rows=500,
    is_tiny=False,
    changed_of=(("well", 0.2), ("ill", 0.9)),
    known_leakage=2.0,
)


def told(**changes):
    return worth_sentences(dataclasses.replace(PLAIN, **changes))


def test_an_ordinary_protocol():
    assert told() == [
        "The promised distortion is at most 2.5. For the same distributions, the best output that ignores "
        "the data has 10, and no privacy at all has 0.",
        "Under the estimate, the expected distortion is 1.25. The best output that ignores the data has 5; "
        "no privacy at all has 0.",
        "So on a scale from 0 % (ignores the data) to 100 % (no privacy) it is promised to reach 75 %.",
        "About 48 % of the rows are expected to change.",
        "By secret: 20 % of the rows with 'well', 90 % of the rows with 'ill'.",
        "12 of 16 outputs are used; the others occur less than once in a million rows.",
        "To a reader who knows the value, the output reveals up to κ = 2 more about the secret: it can "
        "change "
        "the odds by a factor of 7.39.",
    ]


def test_what_somebody_learns_who_knows_the_value():
    assert "reveals nothing more about the secret" in known_sentence(0.0)
    assert known_sentence(math.inf).startswith("Somebody who knows the value can learn the secret")
    assert known_sentence(math.log(2)).endswith("it can change the odds by a factor of 2.")
    assert known_sentence(11.82).endswith("by a factor of 136\u00a0000.")


def test_one_number_for_all_does_not_hide_that_only_some_rows_change():
    found = dataclasses.replace(PLAIN, gives_away=("hs", "other", 0.67))
    assert gives_away(found).startswith(
        "67 % of the rows with 'other' get an output that rows with the most frequent secret, 'hs', and the "
        "same value hardly ever get"
    )
    assert gives_away(PLAIN) is None
    few = (("hs", 6e-10), ("other", 0.0088))
    assert (
        told(changed_of=few)[4]
        == "By secret: less than 0.01 % of the rows with 'hs', 0.88 % of the rows with 'other'."
    )
    many = tuple((f"s{i}", i / 10) for i in range(9))
    assert (
        told(changed_of=many)[4] == "By secret: from 0 % of the rows with 's0' to 80 % of the rows with 's8'."
    )


def test_where_only_the_estimate_counts_nothing_more_is_promised():
    first, second = told(is_robust=False, promised=1.25, estimate=1.25, constant=5.0)[:2]
    assert first == (
        "Under the estimate, the expected distortion is 1.25. The best output that ignores the data has 5; "
        "no privacy at all has 0. For other distributions, nothing is promised."
    )
    assert second.endswith("it reaches 75 %.")


def test_where_no_row_changes_it_says_so():
    assert told(changed=0.0)[3] == "No row is expected to change."


def test_few_rows_are_not_about_less_than_one_percent():
    assert told(changed=0.001)[3] == "Less than 1 % of the rows are expected to change."
    assert told(changed=0.999)[3] == "More than 99 % of the rows are expected to change."


def test_in_bins_no_raw_number_survives():
    assert told(binned=True)[3:5] == [
        "No raw number is published: each becomes the label of a bin.",
        "About 48 % of the rows are expected to get the label of another bin.",
    ]


def test_what_does_not_apply_is_not_said():
    told_of_one = told(changed=None, outputs_used=16, constant=0.0, promised=0.0, secrets=1)
    assert told_of_one[2] == "16 of 16 outputs are used."
    assert not any("knows the value" in sentence for sentence in told_of_one)


@pytest.mark.parametrize(
    ("without", "start"),
    [
        (Without(("Other",), 1, 1.5), "A rare secret drives the cost: without 'Other' (1 row of 500) the "),
        (
            Without(("x", 7), 3, 1.5),
            "Rare secrets drive the cost: without 'x' and '7' (3 rows of 500) the ",
        ),
    ],
)
def test_rare_secrets_are_named_with_their_rows(without, start):
    sentence = told(without=without)[-1]
    assert sentence.startswith(f"{start}distortion would be at most 1.5. If ")
    assert sentence.endswith(
        "cannot be released; if merged with another secret, nothing is promised about telling them apart."
    )


def test_a_label_does_not_command_the_terminal():
    assert "\x1b" not in told(without=Without(("\x1b[2J",), 1, 1.5))[-1]


def test_one_secret_is_nothing_to_protect():
    assert told(secrets=1)[-1] == "There is only one secret, so there is nothing to protect."
    assert told(secrets=1, is_tiny=True) == told(secrets=1)


def test_a_tiny_sample_is_told_with_its_size():
    assert told(is_tiny=True, rows=45)[-1].startswith(
        "The sample is tiny: 45 rows for 32 cells (secrets × values). Below 5 rows a cell, about half"
    )


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-9, "less than 1 %"),
        (0.0099, "less than 1 %"),
        (0.01, "1 %"),
        (0.5, "50 %"),
        (0.99, "99 %"),
        (0.999, "more than 99 %"),
        (1.0, "100 %"),
    ],
)
def test_only_what_is_certain_is_none_or_all(share, text):
    assert percent(share) == text
