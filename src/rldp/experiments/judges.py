"""What would make each statement of the paper true, as functions of the data.

Words need numbers before data can judge them. Here *much* is a factor of two, *almost all* is nine in
ten, *significant* and *not similar* is ten per cent, and *small n* is N ≤ 10. Means over n and α_p are those
that the figures show; elsewhere they are plain means over the instances with finite ε*.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from rldp.experiments.claims import Evidence, Finding, Judge
from rldp.experiments.figures import over_alpha, over_n
from rldp.experiments.results import Results, finite, outliers
from rldp.problem import Floats

__all__ = [
    "conservative",
    "cost_against_benefit",
    "cost_over_n",
    "costs",
    "coverage",
    "growth",
    "leaks",
    "leaks_over_n",
    "less_impact_at_larger_alpha",
    "little_impact_over_n",
    "many_outliers",
    "more_outliers",
    "not_always_private",
    "private_over_the_set",
    "program_size",
    "proved_optimal",
    "share_against_level",
    "similar",
    "small_sample_artefacts",
]

_MUCH = 2.0
_ALMOST_ALL = 0.9
_SIGNIFICANT = 0.1
_STANDARD_ERRORS = 3.0
_SMALL = 10
_GAP = 1e-6

_PLAIN, _ROBUST = ("NUNP", "RUNP"), ("NURP", "RURP")


def private_over_the_set(data: Evidence) -> Finding:
    inside = exceeding = 0
    for table in data.tables.values():
        rows = table.rows(np.isin(table["problem"], _ROBUST) & (table["solver"] == "rldp"))
        covered = rows["covered"] == 1
        inside += int(covered.sum())
        exceeding += int((rows["leakage"][covered] > data.settings.epsilon).sum())
    measured = f"P* in the set for {inside} robust designs, of which {exceeding} have ε* > ε"
    return Finding(measured, exceeding == 0)


def proved_optimal(data: Evidence) -> Finding:
    gaps = [
        (rows["objective"] - rows["lower_bound"]) / np.maximum(1, rows["objective"])
        for rows in (table.where(solver="rldp") for table in data.tables.values())
    ]
    worst, designs = max(float(gap.max()) for gap in gaps if len(gap)), sum(map(len, gaps))
    return Finding(f"largest proved relative gap of {designs} designs: {worst:.1e}", worst <= _GAP)


def _leaks(rows: Results, epsilon: float) -> tuple[float, float]:
    """Share with ε* > ε, and the median of ε*/ε."""
    return float((rows["leakage"] > epsilon).mean()), float(np.median(rows["leakage"])) / epsilon


def leaks(table: str) -> Judge:
    def judge(data: Evidence) -> Finding:
        found = {p: _leaks(data[table].where(problem=p), data.settings.epsilon) for p in _PLAIN}
        measured = "; ".join(
            f"{p}: {share:.0%} have ε* > ε, median ε* = {ratio:.2f} ε" for p, (share, ratio) in found.items()
        )
        exceed = min(share for share, _ in found.values()) >= _ALMOST_ALL
        factor = min(ratio for _, ratio in found.values())
        correction = f"almost all exceed ε, but by a factor of {factor:.2f} only" if exceed else ""
        return Finding(measured, exceed and factor >= _MUCH, correction)

    return judge


def leaks_over_n(data: Evidence) -> Finding:
    table, epsilon, k = data["vs-n"], data.settings.epsilon, data.settings.cells
    sizes = np.unique(table["n"]).tolist()
    ratios = [min(_leaks(table.where(problem=p, n=n), epsilon)[1] for p in _PLAIN) for n in sizes]
    measured = "median ε*/ε, the smaller of NUNP and RUNP: " + _listed(sizes, k, ratios)
    much = [n / k for n, ratio in zip(sizes, ratios, strict=True) if ratio >= _MUCH]
    correction = f"by a factor of two or more only for N ≤ {max(much):g}" if much else ""
    return Finding(measured, len(much) == len(sizes), correction)


def _means(table: Results, column: str, problems: tuple[str, ...]) -> list[float]:
    found = [finite(table.where(problem=p)[column]) for p in problems]
    return [float(values.mean()) if len(values) else math.nan for values in found]


def _rise(before: float, after: float) -> float:
    """How much larger the second is, relative to the first."""
    if before == after:
        return 0.0
    return after / before - 1 if before else math.inf


def costs(table: str) -> Judge:
    def judge(data: Evidence) -> Finding:
        before = _means(data[table], "distortion", _PLAIN)
        after = _means(data[table], "distortion", _ROBUST)
        costs = [_rise(a, b) for a, b in zip(before, after, strict=True)]
        measured = (
            f"mean D* rises by {costs[0]:.0%} (NUNP {before[0]:.3f} → NURP {after[0]:.3f}) and "
            f"{costs[1]:.0%} (RUNP {before[1]:.3f} → RURP {after[1]:.3f})"
        )
        return Finding(measured, min(costs) >= _SIGNIFICANT)

    return judge


def cost_over_n(data: Evidence) -> Finding:
    means = _means_over_n(data, "distortion")
    costs = {m: _rise(means["RUNP"][m], means["RURP"][m]) for m in means["RURP"]}
    measured = "D* of RURP above that of RUNP: " + "; ".join(f"N = {m:g}: {c:.0%}" for m, c in costs.items())
    large = [m for m, cost in costs.items() if cost >= _SIGNIFICANT]
    correction = f"significant for N ≤ {max(large):g}; it vanishes as n grows" if large else ""
    return Finding(measured, len(large) == len(costs), correction)


def _means_over_n(data: Evidence, column: str) -> dict[str, dict[float, float]]:
    found = over_n(data["vs-n"], column, data.settings)
    return {problem: {m: s.mean for m, s in by_n.items()} for problem, by_n in found.items()}


def similar(table: str) -> Judge:
    def judge(data: Evidence) -> Finding:
        distortion = _means(data[table], "distortion", _ROBUST)
        leakage = _means(data[table], "leakage", _ROBUST)
        rise = _rise(*distortion)
        apart = [abs(rise), abs(_rise(*leakage))]
        measured = (
            f"mean D* {distortion[0]:.3f} and {distortion[1]:.3f} ({apart[0]:.1%} apart), "
            f"mean ε* {leakage[0]:.3f} and {leakage[1]:.3f} ({apart[1]:.1%} apart)"
        )
        correction = f"robust utility changes mean D* by {rise:+.0%} here"
        return Finding(measured, max(apart) <= _SIGNIFICANT, correction)

    return judge


def cost_against_benefit(table: str) -> Judge:
    def judge(data: Evidence) -> Finding:
        plain, private, useful = _means(data[table], "distortion", ("NUNP", "NURP", "RUNP"))
        cost, benefit = private - plain, plain - useful
        measured = f"mean D*: NURP − NUNP = {cost:.4f}, NUNP − RUNP = {benefit:.4f}"
        return Finding(measured, cost > 0 and cost >= _MUCH * benefit)

    return judge


def little_impact_over_n(data: Evidence) -> Finding:
    means = _means_over_n(data, "distortion")
    apart = {
        m: max(abs(_rise(means[p][m], means[r][m])) for p, r in (("NUNP", "RUNP"), ("NURP", "RURP")))
        for m in means["NUNP"]
    }
    listed = "; ".join(f"N = {m:g}: {a:.1%}" for m, a in apart.items())
    measured = f"larger change of mean D* by robust utility (NUNP → RUNP, NURP → RURP): {listed}"
    large = [m for m, a in apart.items() if a > _SIGNIFICANT]
    small = [m for m in apart if m > max(large, default=0)]
    correction = f"little from N = {min(small):g} on; more than 10 % below" if large and small else ""
    return Finding(measured, not large, correction)


def conservative(data: Evidence) -> Finding:
    ratios = {m: x / data.settings.epsilon for m, x in _means_over_n(data, "leakage")["RURP"].items()}
    measured = "mean ε*/ε of RURP: " + "; ".join(f"N = {m:g}: {x:.2f}" for m, x in ratios.items())
    low = [m for m, x in ratios.items() if x <= 1 / _MUCH]
    correction = f"at most half of ε for N = {', '.join(f'{m:g}' for m in low)}" if low else ""
    return Finding(measured, all(m in low for m in ratios if m <= _SMALL), correction)


def not_always_private(data: Evidence) -> Finding:
    counts, failures, missed = [], 0, 0
    for table in ("scatter-small", "scatter-large"):
        for problem in _ROBUST:
            rows = data[table].where(problem=problem)
            exceed = rows["leakage"] > data.settings.epsilon
            counts.append(f"{problem} {(~exceed).sum()} of {len(rows)} at n = {rows['n'][0]:.0f}")
            failures += int(exceed.sum())
            missed += int((rows["covered"] == 0).sum())
    measured = f"ε* ≤ ε: {', '.join(counts)}; the set missed P* for {missed} of these designs"
    correction = "strictly private designs kept ε* ≤ ε in every case, also where the set missed P*"
    return Finding(measured, failures > 0, correction)


def share_against_level(data: Evidence) -> Finding:
    table, wanted, k = data["vs-n"], 1 - data.settings.alpha, data.settings.cells
    rows = table.rows(np.isin(table["problem"], _ROBUST))
    sizes = np.unique(rows["n"]).tolist()
    shares = [
        min(1 - _leaks(rows.where(n=n, problem=p), data.settings.epsilon)[0] for p in _ROBUST) for n in sizes
    ]
    measured = f"share with ε* ≤ ε, the smaller of NURP and RURP: {_listed(sizes, k, shares, 3)}"
    slack = _STANDARD_ERRORS * _standard_error(data, rows)
    return Finding(f"{measured}; 1 − α = {wanted:g}", min(shares) >= wanted - slack)


def coverage(data: Evidence) -> Finding:
    wanted, k = 1 - data.settings.alpha, data.settings.cells
    rows = data["vs-n"].where(problem="RURP")
    sizes = np.unique(rows["n"]).tolist()
    shares = [float(rows.where(n=n)["covered"].mean()) for n in sizes]
    slack = _STANDARD_ERRORS * _standard_error(data, rows)
    far = [abs(share - wanted) > slack for share in shares]
    correction = "the share agrees with 1 − α at every n within the error of the experiment"
    return Finding(
        f"share with P* in the set: {_listed(sizes, k, shares, 3)}; 1 − α = {wanted:g} ± {slack:.3f}",
        any(far) and not far[-1],
        "" if any(far) else correction,
    )


def _standard_error(data: Evidence, rows: Results) -> float:
    alpha = data.settings.alpha
    return math.sqrt(alpha * (1 - alpha) / len(np.unique(rows["instance"])))


def more_outliers(data: Evidence) -> Finding:
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
    epsilon = data.settings.epsilon
    tables = [data[name].where(problem="NURP")["leakage"] for name in ("scatter-small", "scatter-large")]
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
    """ε* wherever the other solver came back with an answer; nothing if it was not asked."""
    if name not in data.tables:
        return np.zeros(0)
    leakage: Floats = data[name]["leakage"]
    return leakage[~np.isnan(leakage)]


def many_outliers(data: Evidence) -> Finding:
    counts = {}
    for table in ("scatter-small", "scatter-large"):
        for column in ("leakage", "distortion"):
            parts = [finite(data[table].where(problem=p)[column]) for p in _PLAIN + _ROBUST]
            counts[table, column] = sum(int(outliers(part).sum()) for part in parts)
    small, large = (
        (counts[t, "leakage"], counts[t, "distortion"]) for t in ("scatter-small", "scatter-large")
    )
    measured = f"outliers by the 1.5·IQR rule, in ε* and D*: {small[0]} and {small[1]} (small n), "
    measured += f"{large[0]} and {large[1]} (large n)"
    holds = min(small[0], large[0]) > 0 and small[0] > small[1] and large[0] > large[1]
    correction = "outliers in both figures, though not more of them in ε* in each"
    return Finding(measured, holds, correction if min(sum(small), sum(large)) > 0 else "")


def less_impact_at_larger_alpha(data: Evidence) -> Finding:
    found = over_alpha(data["alpha"], "distortion")
    leakage = over_alpha(data["alpha"], "leakage")
    steps = {p: [s.mean for s in found[p].values()] for p in _ROBUST}
    levels = list(found["RURP"])
    first, last = levels[0], levels[-1]
    measured = "; ".join(
        f"{p}: mean D* {values[0]:.3f} → {values[-1]:.3f}, mean ε* {leakage[p][first].mean:.3f} → "
        f"{leakage[p][last].mean:.3f}"
        for p, values in steps.items()
    )
    falls = all(a >= b for values in steps.values() for a, b in pairwise(values))
    return Finding(f"α_p from {first:g} to {last:g}: {measured}", falls)


def program_size(secrets: int, values: int) -> tuple[int, int]:
    """Robust constraints, and variables, of RURP as the paper states it.

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
    s, u = data.settings.secrets, data.settings.values
    sizes = [program_size(s * 2**i, u * 2**i) for i in range(7)]
    factors = [b[1] / a[1] for a, b in pairwise(sizes)]
    listed = ", ".join(f"{f:.1f}" for f in factors)
    measured = (
        f"RURP at {s}×{u}: {sizes[0][0]} robust constraints, {sizes[0][1]} variables; each doubling of both "
        f"alphabets multiplies the variables by {listed}"
    )
    correction = (
        "it grows polynomially: |U||S|(|S|−1) + 1 robust constraints, and variables of the order |S|²|U|²"
    )
    return Finding(measured, factors[-1] > factors[0], correction)


def _listed(sizes: list[float], cells: int, numbers: list[float], digits: int = 2) -> str:
    return "; ".join(f"N = {n / cells:g}: {x:.{digits}f}" for n, x in zip(sizes, numbers, strict=True))
