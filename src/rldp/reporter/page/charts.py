"""Drawings of decisions: the frontier, the law of ε*, mechanisms side by side, shares of a distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from rldp._common.checks import Label
from rldp.reporter.page.facts import OWN, Report
from rldp.reporter.page.law import Law
from rldp.reporter.page.svg import (
    Axis,
    apart,
    bar,
    element,
    letters,
    number,
    path,
    picture,
    short,
    width_of,
    words,
)

__all__ = ["NARROW", "WIDE", "bars", "chances", "frontier_chart", "histogram", "marker", "shares_chart"]

WIDE, NARROW = 760.0, 340.0
"""Widths of drawings for wide and for narrow screens, so that their text remains readable."""

_NEGLIGIBLE = 1e-5
"""Share of a constant output's distortion below which points are left out of a logarithmic axis."""
_DECADES = 4
_LINE = 17.0


# The frontier


def frontier_chart(report: Report, width: float, names: dict[str, str]) -> Markup:
    """Draw the promised distortion against ε: a line for each promise, and a mark for this protocol.

    ``names`` are the names of the lines.
    """
    frontier = report.frontier
    assert frontier is not None
    x, y = _axes(report, width, names)
    lines = {
        name: _line([(p.epsilon, p.promised) for p in frontier.of(name)], x, y) for name in frontier.promises
    }
    drawn = {name: places for name, places in lines.items() if places}
    # A line that ends early counts as going on below: the earlier it ends, the lower its name.
    wanted = [at_y + (x.end - at_x) for at_x, at_y in (places[-1] for places in drawn.values())]
    ends = apart(wanted, _LINE, y.end, y.start)
    parts = [_grid(x, y, "privacy level ε (smaller is more private)", width)]
    if y.low < report.constant <= y.high:
        at = y(report.constant)
        parts += [
            path(f"M{x.start:g} {at:.1f}H{x.end:g}", "level"),
            words(x.end - 4, at - 6, "an output that ignores the data", "quiet", anchor="end"),
        ]
    for i, (name, places) in enumerate(drawn.items()):
        look = f"l{i % 6}{' own' if name == report.promise else ''}"
        (last_x, last_y), label_y = places[-1], ends[i]
        parts += [
            path("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places), f"line {look}"),
            path(f"M{last_x + 3:.1f} {last_y:.1f}L{x.end + 8:.1f} {label_y:.1f}", f"hair {look}"),
            words(x.end + 12, label_y + 4, names[name], f"name {look}"),
        ]
    parts += [element("g", class_="shown-marker"), _own_mark(report, x, y)]
    label = f"Promised distortion against ε for {len(drawn)} promises; the numbers are in the table below."
    return picture(width, _height(width), label, *parts, class_="chart frontier")


def _line(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> list[tuple[float, float]]:
    """Return the positions of points within the axes, and where the line to the next one leaves them."""
    inside = [(epsilon, value) for epsilon, value in points if epsilon > 0 and value >= y.low]
    places = [(x(epsilon), y(value)) for epsilon, value in inside]
    below = [point for point in points if inside and point[0] > inside[-1][0]]
    if below:
        (at, high), (after, low) = inside[-1], (below[0][0], max(below[0][1], y.low * y.low / y.high))
        share = math.log(high / y.low) / math.log(high / low)
        places.append((x(at) + share * (x(after) - x(at)), y.start))
    return places


def marker(report: Report, epsilon: float, promised: float, width: float, names: dict[str, str]) -> Markup:
    """Draw the mark of the protocol for another ε on the frontier; empty if it has none."""
    x, y = _axes(report, width, names)
    if epsilon <= 0:
        return Markup("")
    at = y(max(promised, y.low))
    return element("circle", class_="shown", cx=x(epsilon), cy=at, r=6.5)


def _height(width: float) -> float:
    return 380.0 if width > 500 else 330.0


def _axes(report: Report, width: float, names: dict[str, str]) -> tuple[Axis, Axis]:
    frontier = report.frontier
    assert frontier is not None
    positive = [level for level in frontier.epsilons if level > 0]
    top = max([report.constant, report.promised, *(point.promised for point in frontier.points)]) or 1.0
    floor = max(top * _NEGLIGIBLE, top * 10.0**-_DECADES)
    seen = [point.promised for point in frontier.points if point.promised >= floor]
    low = min([*seen, report.promised if report.promised >= floor else top])
    right = 20 + max(width_of(name) for name in names.values())
    x = Axis(min(positive), max(positive), 56, width - right, log=True)
    return x, Axis(low / 1.15, top * 1.3, _height(width) - 48, 12, log=True)


def _own_mark(report: Report, x: Axis, y: Axis) -> Markup:
    if not (x.low <= report.epsilon <= x.high):
        return Markup("")
    at_x, at_y = x(report.epsilon), y(max(report.promised, y.low))
    left = at_x > x.start + 0.7 * (x.end - x.start)
    return element(
        "g",
        path(f"M{at_x:.1f} {at_y:.1f}V{y.start:g}", "drop"),
        element("circle", class_="mark", cx=at_x, cy=at_y, r=5.5),
        _beside(at_x, 10, left, at_y - 11, f"ε = {report.epsilon:g}", "strong halo"),
    )


def _beside(x: float, gap: float, left: bool, y: float, text: str, class_: str) -> Markup:
    """Return text that ends on the left of ``x`` or begins on its right."""
    return words(x - gap if left else x + gap, y, text, class_, anchor="end" if left else None)


def _grid(x: Axis, y: Axis, name: str, width: float) -> Markup:
    across = [
        _tick(path(f"M{x(tick):.1f} {y.start:g}V{y.end:g}", "grid"), x(tick), y.start + 17, tick, "middle")
        for tick in x.ticks(_most_across(width))
    ]
    up = [
        _tick(path(f"M{x.start:g} {y(tick):.1f}H{x.end:g}", "grid"), x.start - 7, y(tick) + 4, tick, "end")
        for tick in y.ticks(7)
    ]
    return element("g", *across, *up, _name_below(x, y, name))


def _tick(line: Markup, x: float, y: float, value: float, anchor: str) -> Markup:
    return element("g", line, words(x, y, number(value), "tick", anchor=anchor))


def _most_across(width: float) -> int:
    return 5 if width < 500 else 9


def _name_below(x: Axis, y: Axis, name: str) -> Markup:
    return words((x.start + x.end) / 2, y.start + 38, name, "axis", anchor="middle")


# The law of the leakage


def histogram(law: Law, width: float) -> Markup:
    """Draw the posterior distribution of ε*; bars beyond ε are hollow."""
    height = 240.0
    x = Axis(0.0, law.edges[-1], 14, width - 14)
    tallest = max(law.shares) or 1.0
    y = Axis(0.0, tallest, height - 46, 34)
    bars = [
        bar(
            "bar beyond" if right > law.epsilon else "bar",
            x(left) + 0.5,
            y(share),
            x(right) - x(left) - 1.0,
            y.start - y(share),
        )
        for left, right, share in zip(law.edges, law.edges[1:], law.shares, strict=False)
        if share > 0
    ]
    ticks = [
        _tick(path(f"M{x(tick):.1f} {y.start:g}v5", "axis-tick"), x(tick), y.start + 18, tick, "middle")
        for tick in x.ticks(_most_across(width))
    ]
    at = x(law.epsilon)
    left = at > width / 2
    parts = [
        *bars,
        path(f"M{x.start:g} {y.start:g}H{x.end:g}", "base"),
        *ticks,
        path(f"M{at:.1f} {y.start:g}V14", "promised"),
        _beside(at, 7, left, 24, f"promised: ε = {law.epsilon:g}", "strong"),
        _name_below(x, y, "leakage ε*"),
    ]
    if law.beyond > 0:
        beyond = f"{100 * law.beyond:.2g} % beyond →"
        parts.append(words(x.end, y.start + 38, beyond, "quiet", anchor="end"))
    label = f"Histogram of the leakage: median {number(law.median)}, 95 % point {number(law.high)}."
    return picture(width, height, label, *parts, class_="chart histogram")


# Mechanisms side by side


def bars(report: Report, width: float, names: dict[str, str]) -> Markup:
    """Draw the promised distortion of each mechanism as a bar, with a tick at that under the estimate."""
    step, left, right = 44.0, 2.0, 64.0
    cap = 1.25 * max(report.constant, report.promised)
    longest = max(row.promised for row in report.compared)
    cap = longest if longest <= 1.6 * cap else cap
    x = Axis(0.0, cap or 1.0, left, width - right)
    parts = []
    for i, row in enumerate(report.compared):
        top = step * i + 4
        end = x(min(row.promised, cap))
        kind = "own" if row.name == OWN else row.kind
        hollow = "" if row.proved_for else " hollow"
        broken = row.promised > cap
        parts += [
            words(
                left, top + 12, short(names[row.name], letters(width)), "strong" if row.name == OWN else ""
            ),
            bar(f"bar {kind}{hollow}", left, top + 18, max(end - left, 1.5), 14.0),
            words(end + 6, top + 30, ("→ " if broken else "") + number(row.promised, 3), "value"),
        ]
        if row.estimate < cap:
            at = x(row.estimate)
            parts.append(path(f"M{at:.1f} {top + 15:g}v20", "estimate"))
    label = f"Promised distortion of {len(report.compared)} mechanisms; the numbers are in the table below."
    return picture(width, step * len(report.compared) + 4, label, *parts, class_="chart bars")


# Chances and shares


def chances(rows: Sequence[tuple[str, float]], width: float) -> Markup:
    """Draw two or more probabilities as bars."""
    step = 40.0
    x = Axis(0.0, max(p for _, p in rows) or 1.0, 2, width - 70)
    parts = []
    for i, (name, p) in enumerate(rows):
        parts += [
            words(2, step * i + 13, short(name, letters(width))),
            bar("bar own", 2.0, step * i + 18, max(x(p) - 2, 1.0), 12.0),
            words(x(p) + 6, step * i + 29, number(p, 3), "value"),
        ]
    label = "; ".join(f"{name}: {number(p, 3)}" for name, p in rows)
    return picture(width, step * len(rows), label, *parts, class_="chart bars")


def shares_chart(
    values: Sequence[Label], estimate: Sequence[float], worst: Sequence[float], width: float
) -> Markup:
    """Draw P(u | s) under the estimate (outlined) and under the worst distribution (filled)."""
    height, count = 190.0, len(values)
    x = Axis(0.0, float(count), 34, width - 4)
    top = max([*estimate, *worst]) or 1.0
    y = Axis(0.0, top, height - 34, 10)
    slot = (x.end - x.start) / count
    every = math.ceil(max(width_of(short(value, 8)) + 8 for value in values) / slot)
    parts = []
    for tick in y.ticks(4):
        parts += [
            path(f"M{x.start:g} {y(tick):.1f}H{x.end:g}", "grid"),
            words(x.start - 5, y(tick) + 4, number(tick), "tick", anchor="end"),
        ]
    for u, (seen, bad) in enumerate(zip(estimate, worst, strict=True)):
        parts += [
            bar("bar own", x(u) + 0.18 * slot, y(bad), 0.64 * slot, y.start - y(bad)),
            path(f"M{x(u) + 0.06 * slot:.1f} {y(seen):.1f}h{0.88 * slot:.1f}", "seen"),
        ]
        if u % every == 0:
            parts.append(words(x(u + 0.5), y.start + 16, short(values[u], 8), "tick", anchor="middle"))
    label = f"Shares of {count} values under the estimate and under the worst distribution."
    return picture(width, height, label, *parts, class_="chart shares")
