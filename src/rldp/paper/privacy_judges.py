"""Criteria for the paper's statements about privacy; see :mod:`rldp.paper.words`."""

from __future__ import annotations

import math

import numpy as np

from rldp.paper.claims import Evidence, Finding
from rldp.paper.results import Results, finite, outliers
from rldp.paper.words import (
    ALMOST_ALL,
    MUCH,
    PLAIN,
    ROBUST,
    SCATTERS,
    SMALL_N,
    at_each_n,
    listed,
    means_over_n,
    numbered,
)
from rldp.theory.model import Floats

__all__ = [
    "conservative",
    "coverage",
    "leaks",
    "leaks_over_n",
    "many_outliers",
    "more_outliers",
    "not_always_private",
    "private_over_the_set",
    "share_against_level",
    "small_sample_artefacts",
]

_STANDARD_ERRORS = 3.0


def private_over_the_set(data: Evidence) -> Finding:
    """Holds if no robust design leaks more than ε where the truth lies in the set."""
    inside = exceeding = 0
    for table in data.tables.values():
        rows = table.rows(np.isin(table["problem"], ROBUST) & (table["solver"] == "rldp"))
        covered = rows["covered"] == 1
        inside += int(covered.sum())
        exceeding += int((rows["leakage"][covered] > data.settings.epsilon).sum())
    measured = f"P* in the set for {inside} robust designs, of which {exceeding} have ε* > ε"
    return Finding(measured, exceeding == 0)


def _leaks(rows: Results, epsilon: float) -> tuple[float, float]:
    """Return the share with ε* > ε, and the median of ε*/ε."""
    return float((rows["leakage"] > epsilon).mean()), float(np.median(rows["leakage"])) / epsilon


def leaks(data: Evidence, table: str) -> Finding:
    """Holds if almost all NUNP and RUNP designs exceed ε, in the median by a factor of two."""
    shares = {p: _leaks(data[table].where(problem=p), data.settings.epsilon) for p in PLAIN}
    measured = "; ".join(
        f"{p}: {share:.0%} have ε* > ε, median ε* = {ratio:.2f} ε" for p, (share, ratio) in shares.items()
    )
    exceed = min(share for share, _ in shares.values()) >= ALMOST_ALL
    factor = min(ratio for _, ratio in shares.values())
    correction = f"almost all exceed ε, but by a factor of {factor:.2f} only" if exceed else ""
    return Finding(measured, exceed and factor >= MUCH, correction)


def leaks_over_n(data: Evidence) -> Finding:
    """Holds if NUNP and RUNP exceed ε by a factor of two in the median, at every n."""
    ratios = {
        m: min(_leaks(rows.where(problem=p), data.settings.epsilon)[1] for p in PLAIN)
        for m, rows in at_each_n(data["vs-n"], data.settings.cells).items()
    }
    measured = "median ε*/ε, the smaller of NUNP and RUNP: " + listed(ratios, ".2f")
    much = [m for m, ratio in ratios.items() if ratio >= MUCH]
    correction = f"by a factor of two or more at {numbered(much)} only" if much else ""
    return Finding(measured, len(much) == len(ratios), correction)


def conservative(data: Evidence) -> Finding:
    """Holds if the mean ε* of RURP is at most half of ε at every small n."""
    ratios = {m: x / data.settings.epsilon for m, x in means_over_n(data, "leakage")["RURP"].items()}
    low = [m for m, x in ratios.items() if x <= 1 / MUCH]
    correction = f"at most half of ε at {numbered(low)}" if low else ""
    return Finding(
        f"mean ε*/ε of RURP: {listed(ratios, '.2f')}",
        all(m in low for m in ratios if m <= SMALL_N),
        correction,
    )


def not_always_private(data: Evidence) -> Finding:
    """Holds if some robust design in the scatter plots leaks more than ε."""
    counts, failures, missed = [], 0, 0
    for table in SCATTERS:
        for problem in ROBUST:
            rows = data[table].where(problem=problem)
            exceed = rows["leakage"] > data.settings.epsilon
            counts.append(f"{problem} {(~exceed).sum()} of {len(rows)} at n = {rows['n'][0]:.0f}")
            failures += int(exceed.sum())
            missed += int((rows["covered"] == 0).sum())
    measured = f"ε* ≤ ε: {', '.join(counts)}; the set missed P* for {missed} of these designs"
    correction = "strictly private designs kept ε* ≤ ε in every case"
    correction += ", also where the set missed P*" if missed else ""
    return Finding(measured, failures > 0, correction)


def share_against_level(data: Evidence) -> Finding:
    """Holds if the share with ε* ≤ ε is nowhere below 1 − α by three standard errors."""
    wanted = 1 - data.settings.alpha
    shares = {
        m: 1 - max(_leaks(rows.where(problem=p), data.settings.epsilon)[0] for p in ROBUST)
        for m, rows in at_each_n(data["vs-n"], data.settings.cells).items()
    }
    measured = f"share with ε* ≤ ε, the smaller of NURP and RURP: {listed(shares, '.3f')}"
    return Finding(f"{measured}; 1 − α = {wanted:g}", min(shares.values()) >= wanted - _slack(data))


def coverage(data: Evidence) -> Finding:
    """Holds if coverage is off by three standard errors at some n, but not at the largest."""
    wanted, slack = 1 - data.settings.alpha, _slack(data)
    by_n = at_each_n(data["vs-n"].where(problem="RURP"), data.settings.cells)
    shares = {m: float(rows["covered"].mean()) for m, rows in by_n.items()}
    far = [abs(share - wanted) > slack for share in shares.values()]
    correction = "the share agrees with 1 − α at every n within the error of the experiment"
    return Finding(
        f"share with P* in the set: {listed(shares, '.3f')}; 1 − α = {wanted:g} ± {slack:.3f}",
        any(far) and not far[-1],
        "" if any(far) else correction,
    )


def _slack(data: Evidence) -> float:
    """Return three standard errors of a share of the instances with mean 1 − α."""
    alpha, instances = data.settings.alpha, len(np.unique(data["vs-n"]["instance"]))
    return _STANDARD_ERRORS * math.sqrt(alpha * (1 - alpha) / instances)


def more_outliers(data: Evidence) -> Finding:
    """Holds if more than a share α of the NURP designs leaks more than ε."""
    rows, epsilon = data["scatter-small"].where(problem="NURP"), data.settings.epsilon
    above = int((rows["leakage"] > epsilon).sum())
    missed = int((rows["covered"] == 0).sum())
    expected = data.settings.alpha * len(rows)
    measured = f"NURP with ε* > ε: {above} of {len(rows)} (expected {expected:g}); P* outside F: {missed}"
    correction = "no more than expected when designs are strictly private"
    theirs = _solved(data, "clarabel-small")
    if len(theirs):
        worse = int((theirs > epsilon).sum())
        measured += f"; CVXPY + Clarabel on the same draws: {worse} of {len(theirs)}"
        if worse > data.settings.alpha * len(theirs):
            correction += "; the excess is the solver's tolerance, not the set"
    return Finding(measured, above > expected, correction)


def small_sample_artefacts(data: Evidence) -> Finding:
    """Holds if NURP leaks more than ε somewhere at small n, and less at large n."""
    epsilon = data.settings.epsilon
    tables = [data[name].where(problem="NURP")["leakage"] for name in SCATTERS]
    small, large = (float(leakage.max()) for leakage in tables)
    measured = f"largest ε* of NURP: {small:.3f} (small n), {large:.3f} (large n)"
    correction = "strictly private designs have no such values" if small <= epsilon else ""
    theirs = [_solved(data, name) for name in ("clarabel-small", "clarabel-large")]
    if all(len(leakage) for leakage in theirs):
        shown = ", ".join(f"{x.max():.3g} ({(x > epsilon).mean():.0%} above ε)" for x in theirs)
        measured += f"; CVXPY + Clarabel: {shown}"
        if correction and (theirs[0] > epsilon).any():
            correction += "; they are the solver's"
    return Finding(measured, small > epsilon and large < small, correction)


def _solved(data: Evidence, name: str) -> Floats:
    """Return ε* of the designs that the other solver solved; empty if it was not used."""
    if name not in data.tables:
        return np.zeros(0)
    leakage: Floats = data[name]["leakage"]
    return leakage[~np.isnan(leakage)]


def many_outliers(data: Evidence) -> Finding:
    """Holds if both scatter plots have outliers, and more of them in ε* than in D*."""
    counts = {}
    for table in SCATTERS:
        for column in ("leakage", "distortion"):
            parts = [finite(data[table].where(problem=p)[column]) for p in PLAIN + ROBUST]
            counts[table, column] = sum(int(outliers(part).sum()) for part in parts)
    small, large = ((counts[t, "leakage"], counts[t, "distortion"]) for t in SCATTERS)
    measured = f"outliers by the 1.5·IQR rule, in ε* and D*: {small[0]} and {small[1]} (small n), "
    measured += f"{large[0]} and {large[1]} (large n)"
    holds = min(small[0], large[0]) > 0 and small[0] > small[1] and large[0] > large[1]
    correction = "outliers in both figures, though not more of them in ε* in each"
    return Finding(measured, holds, correction if min(sum(small), sum(large)) > 0 else "")
