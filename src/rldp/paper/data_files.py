"""The three data files that the paper's TeX source reads, column for column.

Its plots say ``header=false`` and name columns by number, with pgfplots' ordinary separator, a space.
Problems are in the order NUNP, NURP, RUNP, RURP throughout.

``data_fig1.csv``, ``data_fig2.csv``
    One row an instance; columns 2i and 2i + 1 are ε* and D* of problem i. pgfplots leaves out ``inf``.
``data_fig3.csv``
    One row a sample size; column 0 is N, then four columns each: mean ε*, mean D*, ε* one standard
    deviation up, D* up, ε* down, D* down.
"""

from __future__ import annotations

from collections.abc import Iterable

from rldp.paper.figures import over_n
from rldp.paper.results import Results
from rldp.paper.settings import PROBLEMS, Settings

__all__ = ["DATA_FILES", "bands_data", "scatter_data"]


def scatter_data(results: Results, settings: Settings) -> str:
    """Return ``data_fig1.csv`` or ``data_fig2.csv``: 8 columns."""
    columns = []
    for problem in PROBLEMS:
        rows = results.where(problem=problem)
        columns += [rows["leakage"], rows["distortion"]]
    return _lines(zip(*columns, strict=True))


def bands_data(results: Results, settings: Settings) -> str:
    """Return ``data_fig3.csv``: 25 columns."""
    leakage, distortion = (over_n(results, column, settings) for column in ("leakage", "distortion"))
    rows = []
    for multiple in leakage[PROBLEMS[0]]:
        row: list[float] = [multiple]
        for sign in (0, 1, -1):
            for measure in (leakage, distortion):
                each = [measure[problem][multiple] for problem in PROBLEMS]
                row += [s.mean + sign * s.deviation for s in each]
        rows.append(row)
    return _lines(rows)


def _lines(rows: Iterable[Iterable[float]]) -> str:
    return "".join(" ".join(f"{x:.10g}" for x in row) + "\n" for row in rows)


DATA_FILES = {
    "data_fig1.csv": ("scatter-small", scatter_data),
    "data_fig2.csv": ("scatter-large", scatter_data),
    "data_fig3.csv": ("vs-n", bands_data),
}
"""The experiment behind each file."""
