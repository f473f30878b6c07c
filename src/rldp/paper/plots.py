"""The paper's figures, in the style of :mod:`rldp.reporter.plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rldp.reporter import plots as _plots
from rldp.reporter.plots import LOOKS, PROMISE_LOOKS, Axes, Figure as Drawing

__all__ = ["Across", "Band", "Drawing", "Panel", "bands", "files", "scatter"]

_LOOKS = {
    "NUNP": LOOKS[1],
    "NURP": LOOKS[0],
    "RUNP": LOOKS[5],
    "RURP": LOOKS[2],
    "joint": PROMISE_LOOKS["chi2"],
    "pairs": PROMISE_LOOKS["pairs"],
    "credible": PROMISE_LOOKS["credible"],
}
"""Warm colours for nominal privacy, cold colours for robust privacy."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """A line with a band: x, the middle, and the lower and upper edges."""

    x: Floats
    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    y_label : str
    series : mapping
        A band for each name, in :data:`_LOOKS`.
    level : float, optional
        The ε of the designs, if the vertical axis shows leakage.
    logarithmic : bool
        Whether the vertical axis is logarithmic. A band that reaches 0 then ends at the axis limit.
    """

    y_label: str
    series: Mapping[str, Band]
    level: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Across:
    """The horizontal axis shared by all panels: its label, its scale, and optional ticks."""

    label: str
    scale: Literal["log", "logit"]
    ticks: tuple[float, ...] | None = None


def scatter(
    points: Mapping[str, tuple[Floats, Floats]],
    *,
    x_label: str,
    y_label: str,
    title: str,
    caption: str,
    level: float,
) -> Drawing:
    """Plot points of each problem on logarithmic axes, with a dotted line at ``level`` on the x axis.

    Markers are large and hollow for nominal utility, small and filled for robust utility, so that both are
    visible where they overlap.
    """
    figure, (axes,) = _plots.new_figure(title=title, caption=caption)
    for problem, (x, y) in points.items():
        nominal = problem.startswith("NU")
        size = 42 if nominal else 20
        _plots.points(axes, x, y, _LOOKS[problem], label=problem, hollow=nominal, size=size)
    _plots.log_axis(axes, "x")
    _plots.log_axis(axes, "y")
    _plots.level(axes, level, f"ε = {level:g}", axis="x")
    _plots.name_axes(axes, x=x_label, y=y_label)
    _plots.legend(axes)
    return figure


def bands(
    panels: Sequence[Panel],
    across: Across,
    *,
    title: str,
    caption: str,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Drawing:
    """Plot lines with bands, labelled at their ends, in panels below each other.

    ``names`` gives labels that differ from the name of the series.
    """
    size = (_plots.WIDTH, 1.4 + 2.6 * len(panels))
    figure, all_axes = _plots.new_figure(title=title, caption=caption, panels=(len(panels), 1), size=size)
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw(axes, panel, across, names)
        _plots.name_axes(axes, x=across.label if axes is all_axes[-1] else "", y=panel.y_label)
    for axes in all_axes:
        _plots.label_lines(axes)
    return figure


def _draw(axes: Axes, panel: Panel, across: Across, names: Mapping[str, str]) -> None:
    floor = _floor(panel) if panel.logarithmic else -np.inf
    for name, band in panel.series.items():
        edges = (np.maximum(band.low, floor), np.maximum(band.high, floor))
        _plots.line(axes, band.x, band.middle, _LOOKS[name], label=names.get(name, name), band=edges)
    if across.scale == "log":
        _plots.log_axis(axes, "x", ticks=across.ticks)
    else:
        _plots.share_axis(axes, "x", ticks=across.ticks)
    if panel.logarithmic:
        _plots.log_axis(axes, "y")
    if panel.level is not None:
        _plots.level(axes, panel.level, f"ε = {panel.level:g}")


def _floor(panel: Panel) -> float:
    """Return the smallest positive number that a logarithmic axis has to show."""
    shown = np.concatenate([np.concatenate([band.middle, band.low]) for band in panel.series.values()])
    positive = shown[shown > 0]
    return float(positive.min()) if len(positive) else 1.0


def files(figure: Drawing) -> dict[str, bytes]:
    """Return the figure as a PNG and as a PDF."""
    return {kind: _plots.content(figure, kind) for kind in ("png", "pdf")}
