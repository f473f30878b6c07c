"""Drawings: axes, labels that do not overlap, heat maps that show every cell."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rldp
from rldp.reporter.page.charts import histogram
from rldp.reporter.page.heat import MOST_ACROSS, cut_sentence, heat_map
from rldp.reporter.page.law import Law
from rldp.reporter.page.svg import Axis, apart, element, number
from rldp.reporter.page.words import at_most, factor, per_cent


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_labels_keep_their_distance_and_their_order(wanted):
    found = apart(wanted, 10.0, 0.0, 100.0)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [found[i] for i in order]
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(places))


def test_labels_that_have_room_stay_where_they_are():
    assert apart([20.0, 50.0, 80.0], 10.0, 0.0, 100.0) == [20.0, 50.0, 80.0]


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.booleans())
def test_ticks_lie_on_the_axis_and_are_few(low, times, log):
    axis = Axis(low, low * times, 0, 100, log=log)
    ticks = axis.ticks(6)
    assert len(ticks) <= 8
    assert all(low * (1 - 1e-6) <= tick <= low * times * (1 + 1e-6) for tick in ticks)
    assert axis(low) == pytest.approx(0, abs=1e-9)
    assert axis(low * times) == pytest.approx(100)


def test_text_and_attributes_are_escaped():
    drawn = element("text", "<b>&", class_='"><script>', x=0.1 + 0.2)
    assert drawn == '<text class="&#34;&gt;&lt;script&gt;" x="0.3">&lt;b&gt;&amp;</text>'


def cells(drawn):
    """Shade by (row, column)."""
    found = {}
    for d, strength in re.findall(r'<path d="([^"]+)" fill-opacity="([^"]+)"', drawn):
        for y, u in re.findall(r"M(\d+) (\d+)h1v1h-1z", d):
            assert (int(u), int(y)) not in found
            found[int(u), int(y)] = float(strength)
    return found


def test_a_heat_map_shows_every_probability_from_half_a_per_cent_on():
    p = np.array([[0.5, 0.4951, 0.0049, 0.0], [1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]])
    drawn = heat_map(p, ["a", "b", "c"], [1, 2, 3, 4], "secret")
    shown = cells(drawn)
    assert set(shown) == {(int(u), int(y)) for u, y in np.argwhere(p >= 0.005)}
    for (u, y), strength in shown.items():
        assert p[u, y] <= strength <= p[u, y] + 0.05 + 1e-9
    numbers = re.findall(r'class="n[^>]*>(\d+)<', drawn)
    assert numbers == ["50", "50", "100", "10", "20", "30", "40"]


def test_only_what_is_certain_is_100_per_cent():
    drawn = heat_map(np.array([[1 - 1e-9, 1e-9]]), ["a"], [1, 2], "secret")
    assert re.findall(r'class="n[^>]*>(\d+)<', drawn) == ["99"]


def test_a_large_table_is_cut_and_said_to_be():
    values = MOST_ACROSS + 5
    protocol = rldp.Protocol(np.repeat(np.eye(values)[None], 2, axis=0))
    assert cut_sentence(protocol) == (
        f"The table is large; drawn are the first {MOST_ACROSS} of {values} values, {MOST_ACROSS} of "
        f"{values} outputs."
    )
    drawn = heat_map(protocol.matrix[0], protocol.values, protocol.outputs, "0")
    assert max(u for u, _ in cells(drawn)) == MOST_ACROSS - 1
    assert len(drawn) < 40_000
    assert cut_sentence(rldp.Protocol(np.full((2, 3, 3), 1 / 3))) == ""


def test_bars_beyond_the_promise_are_hollow():
    law = Law(1.0, 0.5, 1.2, (0.1, 0.2), (0.0, 0.5, 1.0, 1.5), (0.5, 0.4, 0.1), 0.0, 0.5, 1000)
    drawn = histogram(law, 700.0)
    assert re.findall(r'<rect class="([^"]+)"', drawn) == ["bar", "bar", "bar beyond"]
    heights = [float(h) for h in re.findall(r' height="([\d.]+)"></rect>', drawn)]
    assert heights[0] / heights[2] == pytest.approx(5, rel=0.01)


@given(st.floats(1e-12, 1e12))
def test_a_bound_is_rounded_up(x):
    shown = float(at_most(x).replace("\u202f", ""))
    assert x <= shown <= x * 1.011


def test_numbers_in_words():
    assert (number(None), number(float("inf")), number(0.0)) == ("–", "∞", "0")
    assert (factor(0.0), factor(0.5), factor(800.0)) == ("1", "1.65", "e^800")
    assert (per_cent(0.0), per_cent(0.00069054), per_cent(1.0)) == ("0 %", "0.07 %", "100 %")
