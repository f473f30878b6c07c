"""The figures and their experiments. To add a figure, add an entry to ``FIGURES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rldp.paper.results import Results, Summary, summary
from rldp.paper.settings import PROBLEMS, PROMISES, Settings
from rldp.theory.model import Floats

if TYPE_CHECKING:
    from rldp.paper.plots import Across, Band, Drawing

__all__ = ["FIGURES", "Figure", "over_alpha", "over_n"]

_LEAKAGE, _DISTORTION = "leakage ε* under the truth", "distortion D* under the truth"
_MEANS = "mean ± standard deviation after the 1.5·IQR rule"
_SHARES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99)
_PROMISES = (
    "pairs: a set for each pair of secrets, valid at every n · credible: fails with posterior probability "
    "at most α · the aim of all three: least distortion under the estimate"
)
_LETTERS = "R: robust, over the set · N: nominal, for the estimate alone · U: utility · P: privacy"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or beyond it.

    Attributes
    ----------
    experiment : str
        The experiment whose table it shows; see :mod:`rldp.paper.plan`.
    beside : tuple of str
        Further experiments that claims about this figure need.
    draw : callable
        From the table and the settings to a matplotlib figure.
    """

    experiment: str
    beside: tuple[str, ...]
    draw: Callable[[Results, Settings], Drawing]


def over_n(results: Results, column: str, settings: Settings) -> dict[str, dict[float, Summary]]:
    """Return the statistics of a column at every N, for each problem."""
    multiples = (np.unique(results["n"]) / settings.cells).tolist()
    return {
        problem: {m: summary(results.where(problem=problem, n=m * settings.cells)[column]) for m in multiples}
        for problem in PROBLEMS
    }


def over_alpha(results: Results, column: str) -> dict[str, dict[float, Summary]]:
    """Return the statistics of a column at every α_p, for each problem; constant for nominal privacy."""
    levels = np.unique(results["alpha_privacy"][~np.isnan(results["alpha_privacy"])])
    summaries = {}
    for problem in PROBLEMS:
        rows = results.where(problem=problem)
        if problem.endswith("NP"):
            summaries[problem] = dict.fromkeys(levels.tolist(), summary(rows[column]))
        else:
            summaries[problem] = {a: summary(rows.where(alpha_privacy=a)[column]) for a in levels.tolist()}
    return summaries


def _scatter(results: Results, settings: Settings) -> Drawing:
    from rldp.paper import plots

    rows = {problem: results.where(problem=problem) for problem in PROBLEMS}
    finite = {problem: part.rows(np.isfinite(part["leakage"])) for problem, part in rows.items()}
    omitted = len(results) - sum(len(part) for part in finite.values())
    n = int(results["n"][0])
    left_out = f"{omitted} designs with ε* = ∞ left out" if omitted else "no design has ε* = ∞"
    return plots.scatter(
        {problem: (part["leakage"], part["distortion"]) for problem, part in finite.items()},
        x_label=_LEAKAGE,
        y_label=_DISTORTION,
        title=f"Who keeps ε, and what it costs, with n = {_plain(n)} rows",
        caption=_caption(results, settings, left_out, n=n),
        level=settings.epsilon,
    )


def _against_n(column: str, label: str, title: str) -> Callable[[Results, Settings], Drawing]:
    def draw(results: Results, settings: Settings) -> Drawing:
        from rldp.paper import plots

        leakage = column == "leakage"
        by_multiple = over_n(results, column, settings)
        series = {
            problem: {m * settings.cells: s for m, s in by_n.items()} for problem, by_n in by_multiple.items()
        }
        level = settings.epsilon if leakage else None
        panel = plots.Panel(label, _series(series), level=level, logarithmic=leakage)
        caption = _caption(results, settings, _MEANS)
        return plots.bands([panel], _along_n(settings), title=title, caption=caption)

    return draw


def _along_n(settings: Settings) -> Across:
    from rldp.paper.plots import Across

    return Across(f"n, rows of the sample (n = {settings.cells}·N)", "log")


def _against_alpha(results: Results, settings: Settings) -> Drawing:
    from rldp.paper import plots

    leakage, distortion = (over_alpha(results, column) for column in ("leakage", "distortion"))
    across = plots.Across("$α_p$ (the larger, the smaller the privacy set)", "logit", _SHARES)
    panels = [
        plots.Panel(_LEAKAGE, _series(leakage), level=settings.epsilon),
        plots.Panel(_DISTORTION, _series(distortion)),
    ]
    level, n = results["alpha_utility"][0], int(results["n"][0])
    caption = _caption(results, settings, _MEANS, n=n, levels=f"$α_d$ = {level:g}, $α_p$ as shown")
    return plots.bands(
        panels, across, title="A smaller privacy set leaks more and costs less", caption=caption
    )


def _promises(results: Results, settings: Settings) -> Drawing:
    """Plot ε* and D* of three promises against n: medians, and bands from the 5 % to the 95 % point."""
    from rldp.paper import plots

    sizes = np.unique(results["n"])
    panels = [
        plots.Panel(label, _quantiles(results, column, sizes), level=level, logarithmic=True)
        for label, column, level in (
            (_LEAKAGE, "leakage", settings.epsilon),
            (_DISTORTION, "distortion", None),
        )
    ]
    return plots.bands(
        panels,
        _along_n(settings),
        title="What a promise keeps, and what it costs",
        caption=_caption(
            results, settings, "median; bands from the 5 % to the 95 % point", meaning=_PROMISES
        ),
        names={"joint": f"joint {_set_name(settings)}"},
    )


def _quantiles(results: Results, column: str, sizes: Floats) -> dict[str, Band]:
    from rldp.paper.plots import Band

    bands = {}
    for promise in PROMISES:
        rows = results.where(problem=promise)
        by_size = [rows.where(n=n)[column] for n in sizes]
        low, middle, high = np.array(
            [np.quantile(values, (0.05, 0.5, 0.95), method="inverted_cdf") for values in by_size]
        ).T
        bands[promise] = Band(sizes, middle, low, high)
    return bands


def _series(summaries: dict[str, dict[float, Summary]]) -> dict[str, Band]:
    from rldp.paper.plots import Band

    series = {}
    for problem, by_x in summaries.items():
        mean = np.array([s.mean for s in by_x.values()])
        reach = np.array([s.deviation for s in by_x.values()])
        series[problem] = Band(np.array(list(by_x), dtype=float), mean, mean - reach, mean + reach)
    return series


def _caption(
    results: Results,
    settings: Settings,
    *more: str,
    n: int | None = None,
    levels: str | None = None,
    meaning: str = _LETTERS,
) -> str:
    """Return ε, the set, n and the number of truths, followed by the meaning of the line names."""
    from rldp.reporter.plots import facts

    instances = len(np.unique(results["instance"]))
    drawn = f"{_plain(instances)} truths of {settings.secrets} secrets × {settings.values} values"
    alpha = f"α = {settings.alpha:g}" if levels is None else levels
    known = facts(
        drawn, *more, epsilon=settings.epsilon, uncertainty=f"joint {_set_name(settings)}, {alpha}", n=n
    )
    return f"{known}\n{meaning}"


def _set_name(settings: Settings) -> str:
    known = {1.0: "χ² set", 0.0: "G-test set", 2 / 3: "Cressie–Read set"}
    return known.get(settings.lambda_, f"set of λ = {settings.lambda_:g}")


def _plain(count: int) -> str:
    from rldp.reporter.plots import number

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
    "promises": Figure("promises", (), _promises),
}
"""The figures by their names on the command line."""
