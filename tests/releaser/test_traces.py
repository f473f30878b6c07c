"""Traces of columns: of parts they add up, of other rows or another order they differ."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from rldp.releaser.ids import ids_of
from rldp.releaser.traces import people_in, trace_of

LABELS = ("f", "m", 7)
CODES = np.random.default_rng(0).integers(-1, 3, 500).astype(np.int32)


@pytest.mark.parametrize("cuts", [[], [0], [500], [1, 2], [3, 64, 65, 499]], ids=repr)
def test_parts_add_up_however_rows_are_divided(cuts):
    parts = [trace_of(LABELS, part) for part in np.split(CODES, cuts)]
    assert reduce(add, parts) == trace_of(LABELS, CODES)


def test_labels_count_and_not_their_codes():
    other = np.array([2, 0, 1, -1], dtype=np.int32)[CODES]
    assert trace_of(("m", 7.0, "f"), other).digest == trace_of(LABELS, CODES).digest


@pytest.mark.parametrize("rows", [[1, 0], [0, 0], [0], [0, 1, -1], [-1, 1]], ids=repr)
def test_another_order_other_entries_and_more_rows_have_another_digest(rows):
    column = np.array([0, 1], dtype=np.int32)
    assert trace_of(LABELS, np.array(rows, dtype=np.int32)).digest != trace_of(LABELS, column).digest


def test_no_pair_of_rows_may_change_places():
    """The weights of all places differ."""
    found = set()
    for place in range(1000):
        codes = np.zeros(1000, dtype=np.int32)
        codes[place] = 1
        found.add(trace_of(LABELS, codes).digest)
    assert len(found) == 1000


def test_a_column_varies_if_two_entries_differ():
    assert not trace_of(LABELS, np.zeros(0, dtype=np.int32)).varies
    assert not trace_of(LABELS, np.zeros(9, dtype=np.int32)).varies
    assert trace_of(LABELS, np.array([0, 0, -1], dtype=np.int32)).varies


def test_rows_that_are_left_out_have_no_entry():
    used = np.array([True, False, True])
    drawn = np.array([0, 1], dtype=np.int32)
    assert trace_of(LABELS, drawn, used) == trace_of(LABELS, np.array([0, -1, 1], dtype=np.int32))


def test_people_are_the_same_in_any_order_but_not_with_the_secrets_of_others():
    secrets = CODES % 2

    def people(order, codes):
        return people_in(ids_of("pid", np.arange(500)[order]).identified(None), LABELS, codes)

    order = np.random.default_rng(1).permutation(500)
    assert people(order, secrets[order]) == people(np.arange(500), secrets)
    first, other = people(np.arange(500), secrets), people(order, secrets)
    assert first[:2] == other[:2]
    assert first[2:] != other[2:]
