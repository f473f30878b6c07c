"""The figures: which experiment each shows, and how. To add one, add an entry to ``FIGURES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rldp.paper.results import Results, Summary, summary
from rldp.paper.settings import PROBLEMS, Settings

if TYPE_CHECKING:
    from rldp.paper.plots import Drawing, Panel

__all__ = ["FIGURES", "Figure", "over_alpha", "over_n"]

_LEAKAGE, _DISTORTION = r"$\varepsilon^*$", "$D^*$"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes
    ----------
    experiment : str
        Whose table it shows; see :mod:`rldp.paper.plan`.
    beside : tuple of str
        Experiments that claims about this figure are compared with.
    draw : callable
        From the table and the settings to a matplotlib figure.
    """

    experiment: str
    beside: tuple[str, ...]
    draw: Callable[[Results, Settings], Drawing]


def over_n(results: Results, column: str, settings: Settings) -> dict[str, dict[float, Summary]]:
    """For each problem, the statistics of a column at every N."""
    multiples = (np.unique(results["n"]) / settings.cells).tolist()
    return {
        problem: {m: summary(results.where(problem=problem, n=m * settings.cells)[column]) for m in multiples}
        for problem in PROBLEMS
    }


def over_alpha(results: Results, column: str) -> dict[str, dict[float, Summary]]:
    """For each problem, the statistics of a column at every α_p; constant without robust privacy."""
    levels = np.unique(results["alpha_privacy"][~np.isnan(results["alpha_privacy"])])
    found = {}
    for problem in PROBLEMS:
        rows = results.where(problem=problem)
        if problem.endswith("NP"):
            found[problem] = dict.fromkeys(levels.tolist(), summary(rows[column]))
        else:
            found[problem] = {a: summary(rows.where(alpha_privacy=a)[column]) for a in levels.tolist()}
    return found


def _scatter(results: Results, settings: Settings) -> Drawing:
    from rldp.paper import plots

    rows = {problem: results.where(problem=problem) for problem in PROBLEMS}
    finite = {problem: part.rows(np.isfinite(part["leakage"])) for problem, part in rows.items()}
    omitted = len(results) - sum(len(part) for part in finite.values())
    instances, n = len(np.unique(results["instance"])), f"{int(results['n'][0]):,}".replace(",", " ")
    return plots.scatter(
        {problem: (part["leakage"], part["distortion"]) for problem, part in finite.items()},
        x_label=_LEAKAGE,
        y_label=_DISTORTION,
        title=f"K = {instances}, n = {n}; {omitted} with ε* = ∞ left out",
        level=settings.epsilon,
    )


def _against_n(column: str, label: str) -> Callable[[Results, Settings], Drawing]:
    def draw(results: Results, settings: Settings) -> Drawing:
        from rldp.paper import plots

        found = over_n(results, column, settings)
        level = settings.epsilon if column == "leakage" else None
        panel = _panel("$N$", label, found, logarithmic=True, level=level)
        return plots.bands([panel], title=_bands_title(results))

    return draw


def _against_alpha(results: Results, settings: Settings) -> Drawing:
    from rldp.paper import plots

    leakage, distortion = (over_alpha(results, column) for column in ("leakage", "distortion"))
    panels = [
        _panel(r"$\alpha_p$", _LEAKAGE, leakage, level=settings.epsilon),
        _panel(r"$\alpha_p$", _DISTORTION, distortion),
    ]
    level, n = results["alpha_utility"][0], int(results["n"][0])
    return plots.bands(panels, title=f"{_bands_title(results)}; $\\alpha_d$ = {level:g}, n = {n}")


def _panel(
    x_label: str,
    y_label: str,
    found: dict[str, dict[float, Summary]],
    *,
    logarithmic: bool = False,
    level: float | None = None,
) -> Panel:
    from rldp.paper.plots import Band, Panel

    series = {
        problem: Band(
            np.array(list(by_x), dtype=float),
            np.array([s.mean for s in by_x.values()]),
            np.array([s.deviation for s in by_x.values()]),
        )
        for problem, by_x in found.items()
    }
    return Panel(x_label, y_label, series, logarithmic, level)


def _bands_title(results: Results) -> str:
    instances = len(np.unique(results["instance"]))
    return f"mean ± standard deviation of K = {instances}, after the 1.5·IQR rule"


FIGURES = {
    "scatter-small": Figure("scatter-small", ("clarabel-small",), _scatter),
    "scatter-large": Figure("scatter-large", ("clarabel-large",), _scatter),
    "leakage-vs-n": Figure("vs-n", (), _against_n("leakage", _LEAKAGE)),
    "distortion-vs-n": Figure("vs-n", (), _against_n("distortion", _DISTORTION)),
    "alpha": Figure("alpha", (), _against_alpha),
}
"""The figures by their names on the command line."""
