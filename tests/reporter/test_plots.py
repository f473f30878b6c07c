"""The one style of figures: files, labels that do not overlap, colours that everybody tells apart."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rldp
from commands import python
from rldp.reporter import plots as _plots
from rldp.reporter.plots import LOOKS

HEADS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def crowded(lines=5, *, close=1e-3, size=(_plots.WIDTH, 4.0)):
    """Lines that all but end in one point."""
    figure, (axes,) = _plots.new_figure(title="crowded", caption=_plots.facts(epsilon=0.5), size=size)
    x = np.arange(1.0, 6.0)
    for i in range(lines):
        _plots.line(axes, x, 1 / x + close * i, LOOKS[i], label=f"line {i}", band=(1 / x - 0.1, 1 / x + 0.1))
    _plots.name_axes(axes, x="n", y="D*")
    _plots.label_lines(axes)
    return figure, axes


def small():
    """A figure that is quickly drawn."""
    return crowded(2, size=(2.5, 2.0))[0]


def boxes(figure, texts):
    figure.draw_without_rendering()
    return [_plots._text_box(text) for text in texts]


# Files


@pytest.mark.parametrize("kind", HEADS)
def test_a_figure_is_written_as_its_name_says_and_the_same_each_time(tmp_path, kind):
    paths = [tmp_path / f"{name}.{kind.upper() if name == 'b' else kind}" for name in "ab"]
    for path in paths:
        _plots.save(small(), path)
    first, second = (path.read_bytes() for path in paths)
    assert first.startswith(HEADS[kind])
    assert first == second
    assert b"Date" not in first
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@pytest.mark.parametrize("name", ["a.gif", "a", "png", ".png"])
def test_another_ending_is_refused_and_nothing_is_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        rldp.InvalidArgument, match=rf"^path must end in one of .png, .svg, .pdf, got '{name}'$"
    ):
        _plots.save(_plots.new_figure()[0], name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(rldp.FileError, match=r"^path must be writable, but .* is not: No such file"):
        _plots.save(_plots.new_figure()[0], tmp_path / "nowhere" / "a.png")


def test_a_png_is_wide_enough_to_print():
    width = int.from_bytes(_plots.content(crowded()[0], "png")[16:20])
    assert width >= 1200


def test_neither_the_users_settings_nor_other_threads_change_a_figure():
    import matplotlib

    alone = _plots.content(small(), "png")
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9}):
        assert _plots.content(small(), "png") == alone
        with ThreadPoolExecutor(2) as threads:
            drawn = list(threads.map(lambda _: _plots.content(small(), "png"), range(2)))
        assert matplotlib.rcParams["font.size"] == 30
    assert set(drawn) == {alone}


def test_drawing_leaves_pyplot_alone():
    code = """
        import sys
        from rldp.reporter import plots as _plots
        _plots.content(_plots.new_figure(title="t")[0], "png")
        assert "matplotlib.pyplot" not in sys.modules
    """
    python(code)


# Labels


@pytest.mark.parametrize(("lines", "close"), [(2, 0.0), (5, 1e-3), (8, 0.02), (8, -0.02), (3, 0.5)])
def test_labels_of_lines_do_not_cover_each_other(lines, close):
    figure, axes = crowded(lines, close=close)
    assert [text.get_text() for text in axes.texts] == [f"line {i}" for i in range(lines)]
    found = boxes(figure, axes.texts)
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other)
    inside = axes.get_window_extent()
    right = figure.get_window_extent().x1
    assert all(inside.x1 < box.x0 and box.x1 <= right for box in found)
    assert all(inside.y0 - 1 <= box.y0 and box.y1 <= inside.y1 + 1 for box in found)


def test_a_label_that_nothing_crowds_stands_at_the_end_of_its_line():
    figure, axes = crowded(3, close=0.5)
    named = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    for line, box in zip(named, boxes(figure, axes.texts), strict=True):
        end = axes.transData.transform(line.get_xydata()[-1])[1]
        assert (box.y0 + box.y1) / 2 == pytest.approx(end, abs=0.1 * box.height)


@pytest.mark.parametrize("seed", range(5))
def test_labels_move_as_little_as_can_be(seed):
    """Against a search: no other order-preserving places without overlap are nearer."""
    rng = np.random.default_rng(seed)
    wanted, heights = rng.uniform(0, 10, 4), rng.uniform(1, 3, 4)
    found = _plots._apart(wanted, heights, 0.0, 20.0)
    order = np.argsort(wanted)
    gaps = np.diff(found[order]) - (heights[order][1:] + heights[order][:-1]) / 2
    assert (gaps >= -1e-12).all()
    cost = ((found - wanted) ** 2).sum()
    for other in found + rng.normal(0, 0.3, (20_000, 4)):
        if (np.diff(other[order]) >= (heights[order][1:] + heights[order][:-1]) / 2).all():
            inside = (other - heights / 2 >= 0).all() and (other + heights / 2 <= 20).all()
            assert not inside or ((other - wanted) ** 2).sum() >= cost - 1e-9


def test_labels_for_which_there_is_no_room_share_what_is_missing():
    found = _plots._apart(np.array([5.0, 5.0, 5.0]), np.full(3, 4.0), 0.0, 10.0)
    np.testing.assert_allclose(found, [1.0, 5.0, 9.0])


def test_lines_without_a_name_or_a_finite_point_get_no_label():
    _, (axes,) = _plots.new_figure()
    _plots.label_lines(axes)
    _plots.line(axes, [1, 2], [math.nan, math.inf], LOOKS[0], label="nowhere")
    _plots.line(axes, [1, 2], [1, 2], LOOKS[1])
    _plots.line(axes, [1, 2, 3], [1, 2, math.nan], LOOKS[2], label="ends at 2")
    _plots.label_lines(axes)
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("ends at 2", (2.0, 2.0))]


def test_the_caption_stands_below_the_axes_and_within_the_figure():
    caption = _plots.facts("word " * 60, epsilon=0.5, uncertainty="χ² set, α = 0.05", n=15_000)
    figure, (axes,) = _plots.new_figure(title="t", caption=caption)
    _plots.name_axes(axes, x="n", y="D*")
    figure.draw_without_rendering()
    text = next(text for text in figure.texts if text.get_text().startswith("ε\u00a0=\u00a00.5\u00a0·"))
    box, page = text.get_window_extent(), figure.get_window_extent()
    assert box.x0 >= page.x0
    assert box.x1 <= page.x1
    assert box.y0 >= page.y0
    assert box.y1 < axes.xaxis.get_tightbbox().y0


@pytest.mark.parametrize(
    ("axis", "value", "end"),
    [("x", 0.02, "left"), ("x", 80.0, "left"), ("y", 1.5, "left"), ("y", 1.5, "right")],
)
def test_the_words_beside_a_level_stay_inside_the_axes(axis, value, end):
    figure, (axes,) = _plots.new_figure()
    _plots.points(axes, [0.01, 100.0], [1.0, 2.0], LOOKS[0])
    _plots.log_axis(axes, "x")
    _plots.level(axes, value, "a limit", axis=axis, end=end)
    (box,), inside = boxes(figure, axes.texts), axes.get_window_extent()
    assert inside.x0 <= box.x0
    assert box.x1 <= inside.x1
    assert box.y1 <= inside.y1


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (750, "750"),
        (15_000, "15\u202f000"),
        (-0.5, "−0.5"),
        (-1500, "−1\u202f500"),
        (1e6, "10⁶"),
        (2.5e7, "2.5·10⁷"),
        (1e-5, "10⁻⁵"),
    ],
)
def test_numbers_are_written_as_people_write_them(x, text):
    assert _plots.number(x) == text


@pytest.mark.parametrize(
    ("span", "labels"), [((1, 30), {"2", "5", "20"}), ((1, 1e5), {"1", "10", "100\u202f000"})]
)
def test_a_logarithmic_axis_has_ticks_that_can_be_read(span, labels):
    figure, (axes,) = _plots.new_figure()
    _plots.line(axes, span, span, LOOKS[0])
    _plots.log_axis(axes, "x")
    figure.draw_without_rendering()
    assert labels <= {tick.get_text() for tick in axes.get_xticklabels()}


# Colours, as people see them who lack a kind of cone (Machado, Oliveira and Fernandes 2009, severity 1)

SIGHTS = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = TO_XYZ @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart_without_a_kind_of_cone(sight):
    """A distance of 2.3 in CIELAB is just noticed; red and green of the same lightness fall below it."""
    seen = [lab(SIGHTS[sight] @ linear(look.colour)) for look in (*LOOKS,)]
    seen.append(lab(np.ones(3)))  # paper
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15


def test_lines_are_told_apart_without_any_colour():
    assert len({look.marker for look in LOOKS}) == len({look.dashes for look in LOOKS}) == len(LOOKS)


def test_a_promise_looks_the_same_beside_whatever_else():
    alone, both = _plots.looks_of(["pairs"]), _plots.looks_of(["my own set", "pairs", "another"])
    assert both[1] == alone[0] == _plots.PROMISE_LOOKS["pairs"]
    assert len(set(both)) == 3
    assert len(set(_plots.looks_of(_plots.PROMISE_LOOKS))) == len(_plots.PROMISE_LOOKS)
    assert len(_plots.looks_of(map(str, range(20)))) == 20


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.colour)
def test_a_label_in_the_colour_of_its_line_can_be_read(look):
    """WCAG 2: a contrast of 4.5 against white."""
    found = "#" + "".join(f"{round(255 * c):02x}" for c in _plots._readable(look.colour))
    assert 1.05 / ((TO_XYZ @ linear(found))[1] + 0.05) >= 4.45
