"""Words as numbers, and figures shared by the criteria.

Statements in words need numbers before data can test them. Here *much* means a factor of two, *almost all*
nine in ten, *significant* and *not similar* ten per cent, and *small n* N ≤ 10. Means over n and α_p are
those shown in the figures. Elsewhere they are plain means over the instances with finite ε*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from rldp.paper.claims import Evidence
from rldp.paper.figures import over_n
from rldp.paper.results import Results, finite

MUCH = 2.0
ALMOST_ALL = 0.9
SIGNIFICANT = 0.1
SMALL_N = 10

PLAIN, ROBUST = ("NUNP", "RUNP"), ("NURP", "RURP")
SCATTERS = ("scatter-small", "scatter-large")


def means(table: Results, column: str, problems: tuple[str, ...]) -> list[float]:
    """Return plain means of the finite values of a column, one for each problem."""
    columns = [finite(table.where(problem=p)[column]) for p in problems]
    return [float(values.mean()) if len(values) else math.nan for values in columns]


def means_over_n(data: Evidence, column: str) -> dict[str, dict[float, float]]:
    """Return the means shown in the figures over n: by problem, then by N."""
    summaries = over_n(data["vs-n"], column, data.settings)
    return {problem: {m: s.mean for m, s in by_n.items()} for problem, by_n in summaries.items()}


def rise(before: float, after: float) -> float:
    """Return the relative increase from the first to the second."""
    if before == after:
        return 0.0
    return after / before - 1 if before else math.inf


def at_each_n(rows: Results, cells: int) -> dict[float, Results]:
    """Return the rows by N."""
    return {n / cells: rows.where(n=n) for n in np.unique(rows["n"]).tolist()}


def listed(by_n: Mapping[float, float], form: str) -> str:
    """Return a figure at each N, in words."""
    return "; ".join(f"N = {m:g}: {x:{form}}" for m, x in by_n.items())


def numbered(multiples: Iterable[float]) -> str:
    """Return some N, in words."""
    return "N = " + ", ".join(f"{m:g}" for m in multiples)
