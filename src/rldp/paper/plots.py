"""Figures out of numbers, in the paper's form. The only module that imports matplotlib.

The same numbers always give the same bytes: no dates in the files, no style of the user's.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.errors import needs

with needs("drawing figures", "matplotlib", install="robust-ldp[plots]"):
    import matplotlib
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

__all__ = ["Band", "Drawing", "Panel", "bands", "files", "scatter"]

_COLOURS = {"NUNP": "#ff8000", "NURP": "#bfbfbf", "RUNP": "#00ffff", "RURP": "#008080"}
"""The paper's orange, lightgray, cyan and teal."""

_MARKERS = {"NUNP": "s", "NURP": "D", "RUNP": "^", "RURP": "o"}
_SIZES = {"NUNP": 12, "NURP": 20, "RUNP": 18, "RURP": 14}
_NO_DATES = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Creator": None, "Producer": None}}

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """A line and what lies around it: x, centre, half the height."""

    x: Floats
    centre: Floats
    reach: Floats


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes: labels, and a band for each problem."""

    x_label: str
    y_label: str
    series: Mapping[str, Band]
    logarithmic: bool = False
    level: float | None = None


def scatter(
    points: Mapping[str, tuple[Floats, Floats]], *, x_label: str, y_label: str, title: str, level: float
) -> Drawing:
    """Points for each problem; a thin line at ``level`` on the horizontal axis."""
    figure, (axes,) = _figure(1)
    axes.axvline(level, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    for problem, (x, y) in points.items():
        style = {"color": _COLOURS[problem], "marker": _MARKERS[problem], "s": _SIZES[problem]}
        axes.scatter(x, y, label=problem, linewidths=0, **style)  # type: ignore[arg-type]
    _label(axes, x_label, y_label)
    axes.set_title(title, fontsize=8)
    return figure


def bands(panels: Sequence[Panel], *, title: str) -> Drawing:
    """A thick line with a band of plus and minus one standard deviation, for each problem."""
    figure, all_axes = _figure(len(panels))
    for axes, panel in zip(all_axes, panels, strict=True):
        if panel.logarithmic:
            axes.set_xscale("log")
        if panel.level is not None:
            axes.axhline(panel.level, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
        for problem, band in panel.series.items():
            colour = _COLOURS[problem]
            low, high = band.centre - band.reach, band.centre + band.reach
            axes.fill_between(band.x, low, high, color=colour, alpha=0.2, linewidth=0)
            for edge in (low, high):
                axes.plot(band.x, edge, color=colour, linewidth=0.6)
            axes.plot(band.x, band.centre, color=colour, linewidth=1.8, label=problem)
        _label(axes, panel.x_label, panel.y_label)
    figure.suptitle(title, fontsize=8)
    return figure


def files(figure: Drawing) -> dict[str, bytes]:
    """The figure as a PNG and as a PDF."""
    found = {}
    with matplotlib.style.context("default"):
        for kind, metadata in _NO_DATES.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
            found[kind] = buffer.getvalue()
    return found


def _figure(panels: int) -> tuple[Drawing, list[Axes]]:
    with matplotlib.style.context("default"):
        figure = Drawing(figsize=(4.5 * panels, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, panels, squeeze=False)
    return figure, list(axes[0])


def _label(axes: Axes, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label, fontsize=9)
    axes.set_ylabel(y_label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.legend(loc="upper right", fontsize=8)
