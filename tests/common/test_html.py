"""Tables for notebooks, and what a protocol and a sample are shown as."""

import html.parser

import numpy as np
import pytest

import rldp

NASTY = ["<script>alert(1)</script>", 'a"b&c', "x\x1b[2J\u202e", "y" * 500]


class Reader(html.parser.HTMLParser):
    """The tables of a page: rows of texts, and every tag that was used."""

    def __init__(self):
        super().__init__()
        self.tables, self.tags, self.outside, self._cell = [], set(), [], False

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self._cell:
            self.tables[-1][-1][-1] += data
        else:
            self.outside.append(data)


def read(thing):
    reader = Reader()
    reader.feed(thing._repr_html_())
    reader.close()
    return reader


def uniform(secrets, values, outputs):
    return rldp.Protocol(np.full((secrets, values, outputs), 1 / outputs))


def test_a_sample_is_a_table_of_counts():
    found = read(rldp.Sample([[30, 10], [5, 55]], ["ill", "well"], [0, 1.5]))
    assert found.tables == [[["", "0", "1.5"], ["ill", "30", "10"], ["well", "5", "55"]]]
    assert "100 draws" in "".join(found.outside)


def test_a_protocol_is_a_heat_map_for_each_secret():
    matrix = [[[1, 0, 0], [0.25, 0.75, 0]], [[0.998, 0.002, 0], [1 / 3, 1 / 3, 1 / 3]]]
    found = read(rldp.Protocol(matrix, ["ill", "well"], [0, 1], ["a", "b", "c"]))
    assert found.tables == [
        [["u \\ y", "a", "b", "c"], ["0", "1", "0", "0"], ["1", "0.25", "0.75", "0"]],
        [["u \\ y", "a", "b", "c"], ["0", ">0.99", "<0.01", "0"], ["1", "0.33", "0.33", "0.33"]],
    ]
    text = "".join(found.outside)
    assert "P(y | ill, u)" in text
    assert "P(y | well, u)" in text
    assert "it claims nothing" in text


def test_the_promise_stands_above_the_heat_maps():
    protocol = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), 0.5).protocol
    assert protocol.guarantee.promise in "".join(read(protocol).outside)


def test_labels_stay_text():
    counts = np.arange(1, 17).reshape(4, 4)
    sample = rldp.Sample(counts, NASTY, NASTY)
    protocol = rldp.Protocol(np.broadcast_to(np.eye(4), (4, 4, 4)), NASTY, NASTY, NASTY)
    for thing in (sample, protocol):
        page, found = thing._repr_html_(), read(thing)
        assert found.tags <= {"div", "table", "caption", "tr", "td", "th", "p"}
        assert [c for c in page if not c.isprintable()] == []
        shown = found.tables[0][0][1:]
        assert shown[:3] == [NASTY[0], NASTY[1], "x\\x1b[2J\\u202e"]
        assert len(shown[3]) <= 40
        assert max(map(len, found.outside)) < 80


def test_large_tables_are_cut_and_say_so():
    found = read(uniform(30, 100, 90))
    assert len(found.tables) == 10
    assert {len(table) for table in found.tables} == {41}
    assert {len(row) for table in found.tables for row in table} == {41}
    note = "Shown: 10 of 30 secrets, 40 of 100 values, 40 of 90 outputs."
    assert note in "".join(found.outside)
    assert len(uniform(30, 100, 90)._repr_html_()) < 2_000_000
    sample = read(rldp.Sample(np.ones((50, 60), dtype=int)))
    assert "Shown: 40 of 50 secrets, 40 of 60 values." in "".join(sample.outside)
    assert "Shown:" not in "".join(read(uniform(2, 40, 40)).outside)


# repr


def test_what_is_shown_fits_in_a_few_lines():
    assert repr(rldp.Sample([[30, 10], [5, 55]], ["ill", "well"])) == (
        "<Sample of 100 draws: 2 secrets ('ill', 'well') × 2 values (0, 1)>"
    )
    assert repr(uniform(1, 20, 3)) == (
        "<Protocol: 1 secret (0) × 20 values (0, 1, 2, …) → 3 outputs (0, 1, 2); it claims nothing>"
    )
    protocol = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), 0.5).protocol
    scope = "for every distribution that a χ² test at level 0.05 does not reject"
    assert repr(protocol).endswith(f"; claims ε = 0.5 {scope}>")
    promised = f"expected distortion at most {protocol.guarantee.objective!r} {scope}"
    assert repr(protocol.guarantee) == f"<Guarantee: ε = 0.5 {scope}; {promised}>"


@pytest.mark.parametrize("size", [2, 60])
def test_what_is_shown_stays_short_whatever_the_labels(size):
    names = [name * 9 for name in NASTY] + [f"{i}" * 99 for i in range(size)]
    sample = rldp.Sample(np.ones((len(names), len(names)), dtype=int), names, names)
    protocol = rldp.Protocol(np.full((len(names),) * 3, 1 / len(names)), names, names, names)
    for thing in (sample, protocol):
        assert len(repr(thing)) < 500
        assert repr(thing).isprintable()
