"""Pictures of decisions, for files: the frontier and the plan, in the style of :mod:`rldp.reporter.plots`."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING

from rldp.sets import Nominal, UncertaintySet

if TYPE_CHECKING:
    from rldp.adviser.frontier import Frontier
    from rldp.adviser.plan import Plan

__all__ = ["draw_frontier", "draw_plan"]

NEGLIGIBLE = 1e-5
"""Share of the largest distortion below which points are left out of a logarithmic axis."""


def draw_frontier(frontier: Frontier, path: str | PathLike[str]) -> None:
    """Draw the promised distortion against ε: a line for each promise and one for a constant output."""
    from rldp.reporter import plots as _plots

    _plots.kind_of(path)
    constant = frontier.points[0].design.constant_objective
    figure, (axes,) = _plots.new_figure(
        title="What distortion can be promised at each ε",
        caption=_plots.facts(_promised_for(frontier.utility), n=frontier.sample.n),
        size=(_plots.WIDTH, 4.2),
    )
    for name, look in zip(frontier.promises, _plots.looks_of(frontier.promises), strict=True):
        shown = [
            point
            for point in frontier.of(name)
            if 0 < point.epsilon < math.inf and point.promised > NEGLIGIBLE * constant
        ]
        _plots.line(axes, [p.epsilon for p in shown], [p.promised for p in shown], look, label=name)
    _plots.log_axis(axes, "x")
    _plots.log_axis(axes, "y")
    if constant > 0:
        _plots.level(axes, constant, "an output that ignores the data", end="right")
    _plots.name_axes(axes, x="privacy level ε (smaller is more private)", y="expected distortion")
    _plots.label_lines(axes)
    _plots.save(figure, path)


def draw_plan(plan: Plan, path: str | PathLike[str]) -> None:
    """Draw the promised distortion against the size of the sample, with its band."""
    from rldp.reporter import plots as _plots

    _plots.kind_of(path)
    figure, (axes,) = _plots.new_figure(
        title="What a sample of another size would promise",
        caption=_plots.facts(
            f"median and 90 % band over samples that the present one of {_plots.number(plan.sample.n)} rows "
            "makes likely",
            _promised_for(plan.utility),
            epsilon=plan.epsilon,
            uncertainty=plan.privacy.scope,
        ),
        size=(_plots.WIDTH, 4.2),
    )
    sizes = [row.size for row in plan.rows]
    band = ([row.low for row in plan.rows], [row.high for row in plan.rows])
    look, own = _plots.LOOKS[:2]
    _plots.line(axes, sizes, [row.median for row in plan.rows], look, label="new samples", band=band)
    _plots.points(
        axes, [plan.sample.n], [plan.present], own, label="the present sample", hollow=True, size=90
    )
    _plots.log_axis(axes, "x")
    if min(band[0]) > NEGLIGIBLE * max(band[1]):
        _plots.log_axis(axes, "y")
    if plan.limit.median > NEGLIGIBLE * max(band[1]):
        _plots.level(axes, plan.limit.median, "the distribution known")
    _plots.name_axes(axes, x="rows", y="promised distortion")
    _plots.legend(axes, columns=2)
    _plots.save(figure, path)


def _promised_for(utility: UncertaintySet) -> str:
    who = "the estimate" if isinstance(utility, Nominal) else utility.scope
    return f"distortion promised for {who}"
