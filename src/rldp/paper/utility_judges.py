"""Criteria for the paper's statements about utility and cost; see :mod:`rldp.paper.words`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rldp.paper.claims import Evidence, Finding
from rldp.paper.figures import over_alpha
from rldp.paper.words import (
    MUCH,
    PLAIN,
    ROBUST,
    SIGNIFICANT,
    listed,
    means,
    means_over_n,
    numbered,
    rise,
)

__all__ = [
    "cost_against_benefit",
    "cost_over_n",
    "costs",
    "growth",
    "less_impact_at_larger_alpha",
    "little_impact_over_n",
    "program_size",
    "proved_optimal",
    "similar",
]

_GAP = 1e-6


def proved_optimal(data: Evidence) -> Finding:
    """Holds if every proved gap is at most a millionth."""
    gaps = [
        (rows["objective"] - rows["lower_bound"]) / np.maximum(1, rows["objective"])
        for rows in (table.where(solver="rldp") for table in data.tables.values())
    ]
    worst, designs = max(float(gap.max()) for gap in gaps if len(gap)), sum(map(len, gaps))
    return Finding(f"largest proved relative gap of {designs} designs: {worst:.1e}", worst <= _GAP)


def costs(data: Evidence, table: str) -> Finding:
    """Holds if robust privacy raises the mean D* by ten per cent, for either utility."""
    before, after = (means(data[table], "distortion", problems) for problems in (PLAIN, ROBUST))
    rises = [rise(a, b) for a, b in zip(before, after, strict=True)]
    measured = (
        f"mean D* rises by {rises[0]:.0%} (NUNP {before[0]:.3f} → NURP {after[0]:.3f}) and "
        f"{rises[1]:.0%} (RUNP {before[1]:.3f} → RURP {after[1]:.3f})"
    )
    return Finding(measured, min(rises) >= SIGNIFICANT)


def cost_over_n(data: Evidence) -> Finding:
    """Holds if RURP has a mean D* ten per cent above that of RUNP at every n."""
    means = means_over_n(data, "distortion")
    rises = {m: rise(means["RUNP"][m], means["RURP"][m]) for m in means["RURP"]}
    large = [m for m, cost in rises.items() if cost >= SIGNIFICANT]
    correction = f"significant at {numbered(large)} only" if large else ""
    return Finding(
        f"mean D* of RURP above that of RUNP: {listed(rises, '.0%')}", len(large) == len(rises), correction
    )


def similar(data: Evidence, table: str) -> Finding:
    """Holds if the means of D* and of ε* of NURP and RURP are within ten per cent."""
    distortion, leakage = (means(data[table], column, ROBUST) for column in ("distortion", "leakage"))
    rises = rise(*distortion), rise(*leakage)
    apart = [abs(each) for each in rises]
    measured = (
        f"mean D* {distortion[0]:.3f} and {distortion[1]:.3f} ({apart[0]:.1%} apart), "
        f"mean ε* {leakage[0]:.3f} and {leakage[1]:.3f} ({apart[1]:.1%} apart)"
    )
    correction = f"robust utility changes mean D* by {rises[0]:+.0%} and mean ε* by {rises[1]:+.0%} here"
    return Finding(measured, max(apart) <= SIGNIFICANT, correction)


def cost_against_benefit(data: Evidence, table: str) -> Finding:
    """Holds if the cost of robust privacy is at least twice the gain of robust utility."""
    plain, private, useful = means(data[table], "distortion", ("NUNP", "NURP", "RUNP"))
    cost, benefit = private - plain, plain - useful
    measured = f"mean D*: NURP − NUNP = {cost:.4f}, NUNP − RUNP = {benefit:.4f}"
    return Finding(measured, cost > 0 and cost >= MUCH * benefit)


def little_impact_over_n(data: Evidence) -> Finding:
    """Holds if robust utility changes the mean D* by at most ten per cent at every n."""
    means = means_over_n(data, "distortion")
    without, under = (
        {m: rise(means[nominal][m], means[robust][m]) for m in means[nominal]}
        for nominal, robust in (("NUNP", "RUNP"), ("NURP", "RURP"))
    )
    measured = f"mean D* changes from NUNP to RUNP: {listed(without, '+.1%')}"
    measured += f"; from NURP to RURP: {listed(under, '+.1%')}"
    large = [m for m in under if max(abs(without[m]), abs(under[m])) > SIGNIFICANT]
    small = [m for m in under if m not in large]
    correction = f"by more than 10 % at {numbered(large)}, little at {numbered(small)}" if small else ""
    return Finding(measured, not large, correction)


def less_impact_at_larger_alpha(data: Evidence) -> Finding:
    """Holds if the mean D* of NURP and RURP never rises with α_p."""
    summaries = over_alpha(data["alpha"], "distortion")
    leakage = over_alpha(data["alpha"], "leakage")
    steps = {p: [s.mean for s in summaries[p].values()] for p in ROBUST}
    levels = list(summaries["RURP"])
    first, last = levels[0], levels[-1]
    measured = "; ".join(
        f"{p}: mean D* {values[0]:.3f} → {values[-1]:.3f}, mean ε* {leakage[p][first].mean:.3f} → "
        f"{leakage[p][last].mean:.3f}"
        for p, values in steps.items()
    )
    falls = all(a >= b for values in steps.values() for a, b in pairwise(values))
    return Finding(f"α_p from {first:g} to {last:g}: {measured}", falls)


def program_size(secrets: int, values: int) -> tuple[int, int]:
    """Return the numbers of robust constraints and of variables of RURP as the paper states it.

    One constraint for each output and ordered pair of secrets, with vectors w₁, w₂ and a scalar c; one
    for utility, with a vector w and a scalar c; and the protocol itself.

    Examples
    --------
    >>> program_size(3, 5)
    (31, 421)
    """
    pairs = values * secrets * (secrets - 1)
    variables = secrets * values * values + pairs * (2 * values + 1) + secrets * values + 1
    return pairs + 1, variables


def growth(data: Evidence) -> Finding:
    """Holds if each doubling of the alphabets multiplies the variables by an increasing factor."""
    s, u = data.settings.secrets, data.settings.values
    sizes = [program_size(s * 2**i, u * 2**i) for i in range(7)]
    factors = [b[1] / a[1] for a, b in pairwise(sizes)]
    multiples = ", ".join(f"{f:.1f}" for f in factors)
    measured = (
        f"RURP at {s}×{u}: {sizes[0][0]} robust constraints, {sizes[0][1]} variables; each doubling of both "
        f"alphabets multiplies the variables by {multiples}"
    )
    correction = (
        "it grows polynomially: |U||S|(|S|−1) + 1 robust constraints, and variables of the order |S|²|U|²"
    )
    return Finding(measured, factors[-1] > MUCH * factors[0], correction)
