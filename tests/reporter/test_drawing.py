"""Heat maps in the terminal: the numbers of the table, within its width, readable without colour."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

import rldp
from rldp.reporter.drawing import heat_map


def drawn(protocol, width=80, **options):
    """The lines of a picture in a terminal without colour."""
    console = Console(width=width, file=io.StringIO(), **options)
    console.print(heat_map(protocol, width=width))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def random_protocol(s, u, y, **labels):
    table = np.random.default_rng(0).dirichlet(np.full(y, 0.3), (s, u))
    return rldp.Protocol(table, **labels)


SMALL = rldp.Protocol(
    [[[1, 0, 0], [0.25, 0.7495, 0.0005]], [[0.1, 0.3, 0.6], [0, 0.004, 0.996]]],
    secrets=["ill", "well"],
    values=["no", "yes"],
    outputs=["a", "b", "c"],
)


def test_a_small_table_has_its_numbers():
    assert drawn(SMALL) == [
        "P(y | ill, u)",
        "u \\ y      a      b      c",
        "   no █    1",
        "  yes ▒ 0.25 ▓ 0.75",
        "",
        "P(y | well, u)",
        "u \\ y      a      b      c",
        "   no ░ 0.10 ▒ 0.30 ▓ 0.60",
        "  yes        ·<0.01 █>0.99",
        "",
        "Blank: at most 0.001.",
    ]


def test_a_larger_table_has_shades_for_the_same_numbers():
    protocol = random_protocol(2, 9, 20)
    lines = drawn(protocol)
    limits = dict(zip(" ·░▒▓█", (0.001, 0.05, 0.2, 0.5, 0.8, 1.0), strict=True))
    start = lines.index("P(y | 1, u)") + 2
    for u in range(9):
        shown = lines[start + u].ljust(80)[len("u \\ y ") :]
        for y in range(20):
            shade = shown[3 * y : 3 * y + 2].strip() or " "
            below = max((limit for limit in limits.values() if limit < limits[shade[0]]), default=-1)
            assert below < protocol.matrix[1, u, y] <= limits[shade[0]]
    assert lines[-1].startswith("Shades: '  ' ≤ 0.001  '··' ≤ 0.05")


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 15, 15), (2, 60, 60), (9, 200, 7), (2, 3, 300), (1, 1, 1)])
def test_no_line_is_longer_than_the_terminal_is_wide(shape, width):
    lines = drawn(random_protocol(*shape), width)
    assert max(map(len, lines)) <= width


def test_long_and_wide_labels_are_cut():
    labels = {"secrets": ["s" * 99], "values": ["v" * 99, "字" * 40], "outputs": ["o" * 99, "字" * 40]}
    lines = drawn(random_protocol(1, 2, 2, **labels))
    assert max(map(len, lines)) <= 80
    assert any("vvvvvvvvvvv…" in line for line in lines)


def test_what_is_cut_is_told_and_the_ends_are_shown():
    lines = drawn(random_protocol(9, 60, 60))
    assert lines[-1] == "Shown: 6 of 9 secrets, 24 of 60 values, 24 of 60 outputs."
    heads = lines[1].split()[3:]
    assert (heads[0], heads[-1], len(heads)) == ("0", "59", 24)
    assert [line.split()[0] for line in lines[2:26]] == heads


def test_the_same_places_are_cut_so_that_a_diagonal_stays_one():
    same = rldp.Protocol(np.eye(60)[None])
    rows = drawn(same)[2:26]
    places = [re.search("██", row).start() for row in rows]
    assert places == [6 + 3 * i for i in range(24)]


def test_no_colour_is_needed_and_none_is_lost():
    plain = drawn(SMALL)
    coloured = "\n".join(drawn(SMALL, force_terminal=True, color_system="truecolor"))
    assert "\x1b[" in coloured
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured).split("\n")
    assert [line.rstrip() for line in bare] == plain
