"""The figures: which experiment each shows, and how. To add one, add an entry to ``FIGURES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rldp.paper.results import Results, Summary, summary
from rldp.paper.settings import PROBLEMS, Settings

if TYPE_CHECKING:
    from rldp.paper.plots import Band, Drawing

__all__ = ["FIGURES", "Figure", "over_alpha", "over_n"]

_LEAKAGE, _DISTORTION = "leakage ε* under the truth", "distortion D* under the truth"
_MEANS = "mean ± standard deviation after the 1.5·IQR rule"
_LETTERS = "R: robust, over the set · N: nominal, for the estimate alone · U: utility · P: privacy"


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
    n = int(results["n"][0])
    return plots.scatter(
        {problem: (part["leakage"], part["distortion"]) for problem, part in finite.items()},
        x_label=_LEAKAGE,
        y_label=_DISTORTION,
        title=f"Who keeps ε, and what it costs, with n = {_plain(n)} rows",
        caption=_caption(results, settings, f"{omitted} designs with ε* = ∞ left out", n=n),
        level=settings.epsilon,
    )


def _against_n(column: str, label: str, title: str) -> Callable[[Results, Settings], Drawing]:
    def draw(results: Results, settings: Settings) -> Drawing:
        from rldp.paper import plots

        by_multiple = over_n(results, column, settings)
        found = {
            problem: {m * settings.cells: s for m, s in by_n.items()} for problem, by_n in by_multiple.items()
        }
        panel = plots.Panel(
            f"n, rows of the sample (n = {settings.cells}·N)",
            label,
            _series(found),
            logarithmic="x",
            level=settings.epsilon if column == "leakage" else None,
        )
        return plots.bands([panel], title=title, caption=_caption(results, settings, _MEANS))

    return draw


def _against_alpha(results: Results, settings: Settings) -> Drawing:
    from rldp.paper import plots

    leakage, distortion = (over_alpha(results, column) for column in ("leakage", "distortion"))
    x_label = "α_p, level of the privacy set"
    panels = [
        plots.Panel(x_label, _LEAKAGE, _series(leakage), level=settings.epsilon),
        plots.Panel(x_label, _DISTORTION, _series(distortion)),
    ]
    level, n = results["alpha_utility"][0], int(results["n"][0])
    caption = _caption(results, settings, _MEANS, n=n, levels=f"α_d = {level:g}, α_p as shown")
    return plots.bands(panels, title="A smaller privacy set leaks more and costs less", caption=caption)


def _series(found: dict[str, dict[float, Summary]]) -> dict[str, Band]:
    from rldp.paper.plots import Band

    series = {}
    for problem, by_x in found.items():
        mean = np.array([s.mean for s in by_x.values()])
        reach = np.array([s.deviation for s in by_x.values()])
        series[problem] = Band(np.array(list(by_x), dtype=float), mean, mean - reach, mean + reach)
    return series


def _caption(
    results: Results, settings: Settings, *more: str, n: int | None = None, levels: str | None = None
) -> str:
    """ε, the set, n, the number of truths, and what the four letters of a problem mean."""
    from rldp._plots import facts

    instances = len(np.unique(results["instance"]))
    drawn = f"{_plain(instances)} truths, {settings.secrets} secrets × {settings.values} values"
    alpha = f"α = {settings.alpha:g}" if levels is None else levels
    known = facts(drawn, *more, epsilon=settings.epsilon, uncertainty=f"{_set_name(settings)}, {alpha}", n=n)
    return f"{known}\n{_LETTERS}"


def _set_name(settings: Settings) -> str:
    known = {1.0: "joint χ² set", 0.0: "joint G-test set", 2 / 3: "joint Cressie–Read set"}
    return known.get(settings.lambda_, f"joint set of λ = {settings.lambda_:g}")


def _plain(count: int) -> str:
    from rldp._plots import number

    return number(count)


FIGURES = {
    "scatter-small": Figure("scatter-small", ("clarabel-small",), _scatter),
    "scatter-large": Figure("scatter-large", ("clarabel-large",), _scatter),
    "leakage-vs-n": Figure(
        "vs-n", (), _against_n("leakage", _LEAKAGE, "Only robust privacy keeps ε on small samples")
    ),
    "distortion-vs-n": Figure(
        "vs-n",
        (),
        _against_n("distortion", _DISTORTION, "Robust privacy costs little once samples are large"),
    ),
    "alpha": Figure("alpha", (), _against_alpha),
}
"""The figures by their names on the command line."""
