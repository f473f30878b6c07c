"""The paper's figures out of numbers, in the style of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp import _plots
from rldp._plots import LOOKS, Axes, Figure as Drawing

__all__ = ["Band", "Drawing", "Panel", "bands", "files", "scatter"]

_LOOKS = {"NUNP": LOOKS[1], "NURP": LOOKS[0], "RUNP": LOOKS[5], "RURP": LOOKS[2]}
"""Warm where privacy is nominal, cold where it is robust."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """A line and what lies around it: x, the middle, and the edges below and above."""

    x: Floats
    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes: labels, and a band for each name.

    Attributes
    ----------
    logarithmic : str
        Which axes are: "", "x", "y" or "xy".
    ticks : sequence of float, optional
        Of the horizontal axis.
    level : float, optional
        The ε that was designed for, where the vertical axis shows leakage.
    """

    x_label: str
    y_label: str
    series: Mapping[str, Band]
    logarithmic: str = ""
    ticks: Sequence[float] | None = None
    level: float | None = None


def scatter(
    points: Mapping[str, tuple[Floats, Floats]],
    *,
    x_label: str,
    y_label: str,
    title: str,
    caption: str,
    level: float,
) -> Drawing:
    """Points for each problem on logarithmic axes; a dotted line at ``level`` on the horizontal one."""
    figure, (axes,) = _plots.new_figure(title=title, caption=caption)
    for problem, (x, y) in points.items():
        _plots.points(axes, x, y, _LOOKS[problem], label=problem)
    _plots.log_axis(axes, "x")
    _plots.log_axis(axes, "y")
    _plots.level(axes, level, f"ε = {level:g}", axis="x")
    _plots.name_axes(axes, x=x_label, y=y_label)
    _plots.legend(axes)
    return figure


def bands(panels: Sequence[Panel], *, title: str, caption: str) -> Drawing:
    """A line with a band around it for each name, named at its end; panels side by side."""
    size = (_plots.WIDTH, 4.0) if len(panels) == 1 else (1.4 * _plots.WIDTH, 4.2)
    figure, all_axes = _plots.new_figure(title=title, caption=caption, panels=(1, len(panels)), size=size)
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw(axes, panel)
    for axes in all_axes:
        _plots.label_lines(axes)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    for name, band in panel.series.items():
        _plots.line(axes, band.x, band.middle, _LOOKS[name], label=name, band=(band.low, band.high))
    if "x" in panel.logarithmic:
        _plots.log_axis(axes, "x", ticks=panel.ticks)
    if "y" in panel.logarithmic:
        _plots.log_axis(axes, "y")
    if panel.level is not None:
        _plots.level(axes, panel.level, f"ε = {panel.level:g}")
    _plots.name_axes(axes, x=panel.x_label, y=panel.y_label)


def files(figure: Drawing) -> dict[str, bytes]:
    """The figure as a PNG and as a PDF."""
    return {kind: _plots.content(figure, kind) for kind in ("png", "pdf")}
