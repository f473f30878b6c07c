"""Figures of the benchmarks, in the one style of :mod:`rldp.reporter.plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from page import PAGE
from rldp.reporter import plots as _plots
from rldp.reporter.plots import LOOKS, PROMISE_LOOKS, WIDTH, Axes, Figure

CONTENDERS = ("rldp", "literal", "tuned", "Clarabel", "two scalars", "HiGHS cuts", "SCS", "SCS 1e-6")
STYLES = dict(zip(CONTENDERS, LOOKS, strict=True))
"""How each contender looks."""

PROMISES = ("nominal", "credible", "pairs", "all")
"""Each promise but the one that all are compared with."""

_PRIVATE, _ENDLESS = 1e-12, 1e2  # where the scatter shows no leak at all, and one without bound
_LEAST_RATIO = 0.003
_FIXED = _plots.facts(epsilon=0.5, uncertainty="joint χ² set, α = 0.05")


@dataclass(frozen=True)
class Panel:
    """One sweep: what grows, and a line (x, y) for each contender."""

    x_label: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]


def save(figure: Figure, name: str) -> str:
    """Write docs/figures/NAME.png, and return what embeds it in a page."""
    _plots.save(figure, PAGE.parent / "figures" / f"{name}.png")
    return f"figures/{name}.png"


def times(rows: Mapping[str, Mapping[str, float]], limit: float) -> Figure:
    """Seconds per design: a row for each instance, a marker for each contender; hollow at the limit."""
    caption = f"{_FIXED} · median time of a design on one core · hollow: no answer within {limit:g} s"
    figure, axes = _rows(rows, "Seconds that a design takes", caption, 0.5)
    aside = np.linspace(-0.24, 0.24, len(STYLES))  # so that nobody hides another
    for off, (name, look) in zip(aside, STYLES.items(), strict=True):
        found = [(row[name], place + off) for place, row in enumerate(rows.values()) if name in row]
        if found:
            x, y = np.array(found).T
            late = np.isnan(x)
            _plots.points(axes, x[~late], y[~late], look, label=name, size=34)
            _plots.points(axes, np.full(late.sum(), limit), y[late], look, hollow=True, size=34)
    _plots.log_axis(axes, "x")
    _plots.level(axes, limit, f"{limit:g} s", axis="x")
    _plots.name_axes(axes, x="seconds per design")
    _plots.legend(axes, columns=4)
    return figure


def quality(points: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Leak against proved gap, a point for each contender and case."""
    figure, (axes,) = _plots.new_figure(
        title="What the answers of solvers are worth",
        caption=f"{_FIXED} · a point is a contender on a case: the largest leak and gap over its samples",
        size=(WIDTH, 4.6),
    )
    aside = _PRIVATE * np.geomspace(0.05, 20, len(STYLES))
    for private, (name, look) in zip(aside, STYLES.items(), strict=True):
        if points.get(name):
            leak, gap = np.array(points[name]).T
            x = np.where(leak > 0, np.clip(leak, 1e-10, _ENDLESS), private)
            _plots.points(axes, x, np.maximum(gap, 1e-10), look, label=name, size=32)
    _plots.log_axis(axes, "y")
    _plots.log_axis(axes, "x", ticks=(_PRIVATE, 1e-9, 1e-6, 1e-3, 1.0, _ENDLESS))
    words = ["private", *(_plots.number(x) for x in (1e-9, 1e-6, 1e-3, 1.0)), "∞"]
    with _plots.styled():
        axes.set_xticks(axes.get_xticks(), words)
    _plots.level(axes, 60 * _PRIVATE, axis="x")
    _plots.name_axes(axes, x="leak ε* − ε of what is returned", y="proved gap once made private")
    _plots.legend(axes, columns=4)
    return figure


def ratios(rows: Mapping[str, Mapping[str, float]]) -> Figure:
    """Distortion over that of the joint set: a row for each case, a marker for each promise."""
    caption = (
        "ε = 0.5 · α = 0.05 · mean distortion D* under the truth, over that of the joint χ² set · "
        f"hollow: below {_LEAST_RATIO:g}"
    )
    figure, axes = _rows(rows, "What each promise costs, beside the joint χ² set", caption, 0.185)
    for name in PROMISES:
        found = [(row[name], place) for place, row in enumerate(rows.values()) if name in row]
        if found:
            x, y = np.array(found).T
            low, look = x < _LEAST_RATIO, PROMISE_LOOKS[name]
            _plots.points(axes, x[~low], y[~low], look, label=name, size=24)
            _plots.points(axes, np.full(low.sum(), _LEAST_RATIO), y[low], look, hollow=True, size=24)
    _plots.log_axis(axes, "x", ticks=(0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10))
    _plots.level(axes, 1.0, axis="x")
    _plots.name_axes(axes, x="D* over that of the joint χ² set; left of 1 costs less")
    _plots.legend(axes, columns=4)
    return figure


def sweeps(panels: Sequence[Panel], y_label: str, title: str) -> Figure:
    """Four panels, two by two, logarithmic both ways."""
    figure, grid = _plots.new_figure(
        title=title,
        caption=f"RURP · {_FIXED} · one core",
        panels=(2, 2),
        size=(1.3 * WIDTH, 6.6),
    )
    for place, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        for name, (x, y) in panel.lines.items():
            _plots.line(axes, x, y, STYLES[name], label=name)
        sizes = sorted(set().union(*(x for x, _ in panel.lines.values())))
        _plots.log_axis(axes, "x", ticks=sizes if sizes[-1] < 100 * sizes[0] else None)
        _plots.log_axis(axes, "y")
        _plots.name_axes(axes, x=panel.x_label, y=y_label if place % 2 == 0 else "")
    for axes in grid:
        _plots.label_lines(axes)
    return figure


def _rows(rows: Mapping[str, object], title: str, caption: str, height: float) -> tuple[Figure, Axes]:
    """Axes with a named line for each row, the first on top."""
    figure, (axes,) = _plots.new_figure(title=title, caption=caption, size=(WIDTH, height * len(rows) + 1.7))
    with _plots.styled():
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    return figure, axes
