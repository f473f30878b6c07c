"""Figures of the benchmarks, in the style and with the determinism of :mod:`rldp.paper.plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from page import PAGE
from rldp.paper.plots import files

STYLES = {
    "rldp": ("#008080", "o"),
    "literal": ("#ff8000", "s"),
    "tuned": ("#c04000", "D"),
    "two scalars": ("#9060c0", "^"),
    "Clarabel": ("#2060c0", "v"),
    "HiGHS cuts": ("#707070", "P"),
    "SCS": ("#c0a000", "X"),
    "SCS 1e-6": ("#806000", "*"),
}
"""A colour and a marker for each contender."""

_PRIVATE, _ENDLESS = 1e-12, 1e2  # where the scatter shows no leak at all, and one without bound


@dataclass(frozen=True)
class Panel:
    """One sweep: what grows, and a line (x, y) for each contender."""

    x_label: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]


def save(figure: Figure, name: str) -> str:
    """Write docs/figures/NAME.png, and return what embeds it in a page."""
    path = PAGE.parent / "figures" / f"{name}.png"
    path.write_bytes(files(figure)["png"])
    return f"figures/{name}.png"


def times(rows: Mapping[str, Mapping[str, float]], limit: float) -> Figure:
    """Seconds per design: a row for each instance, a marker for each contender; hollow at the limit."""
    figure, ((axes,),) = _figure(1, 1, (7.5, 0.5 * len(rows) + 1.6))
    axes.set_xscale("log")
    axes.axvline(limit, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    for name, (colour, marker) in STYLES.items():
        found = [(row[name], place) for place, row in enumerate(rows.values()) if name in row]
        if not found:
            continue
        x, y = np.array(found).T
        late = np.isnan(x)
        shape = {"s": 36, "marker": marker, "edgecolors": colour}
        axes.scatter(x[~late], y[~late], facecolors=colour, label=name, **shape)
        axes.scatter(np.full(late.sum(), limit), y[late], facecolors="none", **shape)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="y", linewidth=0.3)
    _finish(axes, "seconds per design (hollow: no answer within the limit)", "")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def quality(points: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Leak against proved gap, a point for each contender and sample."""
    figure, ((axes,),) = _figure(1, 1, (6.5, 4.0))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axvline(20 * _PRIVATE, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    aside = _PRIVATE * np.geomspace(0.1, 10, len(STYLES))  # so that nobody hides another
    for private, (name, (colour, marker)) in zip(aside, STYLES.items(), strict=True):
        if points.get(name):
            leak, gap = np.array(points[name]).T
            x = np.where(leak > 0, np.clip(leak, 1e-10, _ENDLESS), private)
            axes.scatter(x, np.maximum(gap, 1e-10), s=20, marker=marker, color=colour, label=name, alpha=0.7)
    ticks = {_PRIVATE: "private", **{10.0**k: f"$10^{{{k}}}$" for k in range(-9, 1, 3)}, _ENDLESS: "∞"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    _finish(axes, "leak ε* − ε of what is returned", "proved gap once made private")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


PROMISES = {
    "nominal": ("#b0b0b0", "x"),
    "credible": ("#008080", "o"),
    "pairs": ("#2060c0", "D"),
    "all": ("#c04000", "s"),
}
"""A colour and a marker for each promise but the one that all are compared with."""


def ratios(rows: Mapping[str, Mapping[str, float]]) -> Figure:
    """Distortion over that of the joint set: a row for each case, a marker for each promise."""
    figure, ((axes,),) = _figure(1, 1, (7.5, 0.27 * len(rows) + 1.4))
    axes.set_xscale("log")
    axes.axvline(1.0, color="0.6", linewidth=0.8, zorder=0)
    for name, (colour, marker) in PROMISES.items():
        found = [(row[name], place) for place, row in enumerate(rows.values()) if name in row]
        if found:
            axes.scatter(*zip(*found, strict=True), s=26, marker=marker, color=colour, label=name)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)
    ticks = [0.01, 0.03, 0.1, 0.3, 1, 3, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    _finish(axes, "distortion under the truth, over that of the joint χ² set", "")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def sweeps(panels: Sequence[Panel], y_label: str) -> Figure:
    """Four panels, two by two, logarithmic both ways."""
    figure, grid = _figure(2, 2, (9.0, 6.4))
    for axes, panel in zip(grid.ravel(), panels, strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for name, (x, y) in panel.lines.items():
            colour, marker = STYLES[name]
            axes.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=1.2, label=name)
        sizes = sorted(set().union(*(x for x, _ in panel.lines.values())))
        if sizes[-1] < 100 * sizes[0]:
            axes.set_xticks(sizes, list(map(str, sizes)))
            axes.set_xticks([], minor=True)
        axes.grid(linewidth=0.3)
        _finish(axes, panel.x_label, y_label)
    grid[0, 0].legend(loc="upper left", fontsize=8)
    return figure


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, np.ndarray]:
    with matplotlib.style.context("default"):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(rows, columns, squeeze=False)


def _finish(axes: Axes, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label, fontsize=9)
    axes.set_ylabel(y_label, fontsize=9)
    axes.tick_params(labelsize=8)
