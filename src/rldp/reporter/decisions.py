"""Decisions for the terminal: the frontier, the comparison, the plan, as tables, charts and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rldp._common.checks import printable
from rldp._common.digits import at_most
from rldp.adviser.compare import RIVAL, Compared, Comparison
from rldp.adviser.frontier import Frontier
from rldp.adviser.ladder import MEANINGS
from rldp.adviser.plan import Plan, PlanRow
from rldp.reporter.charts import NEGLIGIBLE
from rldp.reporter.drawing import spaced
from rldp.reporter.terminal import bullets, columns
from rldp.sets import name_of, prior_words

__all__ = [
    "comparison_report",
    "comparison_sentences",
    "frontier_report",
    "frontier_sentences",
    "line_chart",
    "plan_report",
    "plan_sentences",
]

MARKS = "●■▲◆○□△◇"
_MOST_ROWS = 12


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str, width: int = 72, height: int = 16
) -> RenderableType:
    """Draw points of several series on logarithmic axes, each with its own mark.

    Parameters
    ----------
    series : mapping from names to points (x, y)
        Points that are not positive and finite are left out, and so are those with a negligible y.
    x, y : str
        Labels of the axes.
    width, height : int
        Size of the field, in characters.
    """
    top = max((value for points in series.values() for _, value in points), default=0.0)
    shown = {
        name: [(a, b) for a, b in points if 0 < a < math.inf and b > NEGLIGIBLE * top]
        for name, points in series.items()
    }
    every = [point for points in shown.values() for point in points]
    if not every:
        return Text("Nothing to draw: every distortion is zero.")
    (left, right), (low, high) = (_range([point[axis] for point in every]) for axis in (0, 1))
    field = [[" "] * width for _ in range(height)]
    for mark, points in zip(_marks(len(shown)), shown.values(), strict=True):
        for a, b in points:
            column = round(_place(a, left, right) * (width - 1))
            row = round((1 - _place(b, low, high)) * (height - 1))
            field[row][column] = mark
    names = {0: high, (height - 1) // 2: math.sqrt(low * high), height - 1: low}
    lines = [f"{_short(names[i]) if i in names else '':>8} │{''.join(row)}" for i, row in enumerate(field)]
    middle = _short(math.sqrt(left * right))
    axis = f"{_short(left)}{middle:^{max(0, width - len(_short(left)) - len(_short(right)))}}{_short(right)}"
    key = "   ".join(
        f"{mark} {printable(name)}" for mark, name in zip(_marks(len(shown)), shown, strict=True)
    )
    return Text(
        "\n".join(
            [f"{y}   {key}", *lines, f"{'':>8} └{'─' * width}", f"{'':>10}{axis}", f"{x:>{10 + width}}"]
        )
    )


def frontier_report(frontier: Frontier, *, width: int) -> RenderableType:
    """Return a chart, a table of some levels, and an explanation."""
    series = {name: [(p.epsilon, p.promised) for p in frontier.of(name)] for name in frontier.promises}
    table = columns("Promised distortion", (), ("ε", *map(printable, frontier.promises)), box=SIMPLE_HEAD)
    shown, constant = spaced(len(frontier.epsilons), _MOST_ROWS), frontier.points[0].design.constant_objective
    lines = [frontier.of(name) for name in frontier.promises]
    for i in shown:
        amounts = (_amount(points[i].promised, constant) for points in lines)
        table.add_row(_short(frontier.epsilons[i]), *amounts)
    if len(shown) < len(frontier.epsilons):
        table.caption = f"{len(shown)} of {len(frontier.epsilons)} levels"
    chart = line_chart(series, x="ε", y="promised distortion", width=max(20, min(72, width - 12)))
    return Group(chart, Text(), table, bullets(frontier_sentences(frontier)))


def frontier_sentences(frontier: Frontier) -> list[str]:
    """Explain the lines, and give the distortion of a constant output."""
    constant = frontier.points[0].design.constant_objective
    about = [f"{name}: privacy for {MEANINGS[name]}." for name in frontier.promises if name in MEANINGS]
    return [
        f"The distortion is promised for {frontier.utility.scope}.",
        *about,
        f"An output that ignores the data has {constant:.4g}.",
    ]


def comparison_report(comparison: Comparison) -> RenderableType:
    """Return the table of protocols, and how to read it."""
    title = f"Protocols at ε = {comparison.epsilon:g}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0), pad_edge=False)
    table.add_column("", max_width=17)
    for heading in ("promised", "estimate", "re-read", "ε* 50%", "ε* 95%", "risk", "κ"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("proved", no_wrap=True)
    constant = max(row.promised for row in comparison.rows)
    for row in comparison.rows:
        table.add_row(
            Text(printable(row.name), style="bold" if row.kind == "design" else ""),
            *(_amount(x, constant) for x in (row.promised, row.estimate, row.relabelled)),
            *(_short(x) for x in (row.leakage_median, row.leakage_high)),
            _risk(row),
            _short(row.known_leakage),
            "nothing" if row.proved is None else name_of(row.proved),
        )
    return Group(table, bullets(comparison_sentences(comparison)))


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Explain the columns and rows of a comparison."""
    used = dict.fromkeys(name_of(row.proved) for row in comparison.rows if row.proved is not None)
    meanings = "; ".join(f"{name}: {MEANINGS[name]}" for name in used if name in MEANINGS)
    sentences = [
        f"promised: the largest expected distortion for {comparison.utility.scope}. estimate: that under the "
        "estimate. re-read: the same, after a reader who knows the sample replaces each output by the best "
        "label.",
        f"ε*: the leakage of the protocol, under the posterior distribution with the "
        f"{prior_words(comparison.prior)}: its median and its 95 % point. risk: the posterior probability "
        "that ε* exceeds ε.",
        f"proved: what privacy is proved for. {meanings}.",
        "κ: what the output adds to what the value itself reveals about the secret.",
        "without reading the secret: the first design again with κ = 0. as it is: the column unchanged, with "
        "the leakage that it has by itself.",
        "OptimPreproc's constraint: |P(y|s)/P(y|s′) − 1| ≤ e^ε − 1 under the estimate alone (Calmon et al., "
        "2017), here for the whole value. ε* and risk show how little this constraint guarantees.",
        "constant: the best output that ignores the data. all distributions: the best protocol that needs no "
        "sample. GRR: randomised response of the value. SRR: secret randomised response. independent: "
        "randomised response of secret and value.",
    ]
    return [
        each
        for each in sentences
        if any(row.name == RIVAL for row in comparison.rows) or not each.startswith(RIVAL)
    ]


def _risk(row: Compared) -> str:
    lower, upper = row.risk
    if upper == 0:
        return "0"
    return f"≤ {at_most(max(upper, 0.001), 2)}" if upper < 0.01 else _short((lower + upper) / 2)


def plan_report(plan: Plan, *, width: int, wanted: float | None = None) -> RenderableType:
    """Return a chart, a table, and an explanation."""
    series = {
        name: [(row.size, getattr(row, name)) for row in plan.rows] for name in ("high", "median", "low")
    }
    headings = ("rows", "median", "5 % of samples below", "95 % below")
    table = columns(f"Promised distortion at ε = {plan.epsilon:g}", (), headings, box=SIMPLE_HEAD)
    for row in (*plan.rows, plan.limit):
        table.add_row(_size(row), *(_amount(x, plan.rows[0].high) for x in (row.median, row.low, row.high)))
    chart = line_chart(series, x="rows", y="promised distortion", width=max(20, min(72, width - 12)))
    return Group(chart, Text(), table, bullets(plan_sentences(plan, wanted)))


def plan_sentences(plan: Plan, wanted: float | None = None) -> list[str]:
    """Say what is predicted, what it rests on, and how many rows reach the wanted distortion."""
    sentences = [
        f"The present sample of {plan.sample.n} rows promises {plan.present:.4g}; if the distribution were "
        f"known, {plan.limit.median:.4g} would be possible.",
        f"Privacy for {plan.privacy.scope}.",
        "These are predictions: samples are drawn from distributions that the present sample makes likely.",
    ]
    if wanted is None:
        return sentences
    size, largest = plan.size_for(wanted), int(plan.rows[-1].size)
    if size is not None:
        least = "no more than " if size == plan.rows[0].size else "about "
        reached = f"Half of the samples promise {wanted:g} or less from {least}{size} rows on."
    elif wanted < plan.limit.low:
        reached = (
            f"No sample is likely to promise {wanted:g}, which is less than a known distribution allows."
        )
    else:
        reached = f"{largest} rows are not enough to promise {wanted:g}."
    return [reached, *sentences]


def _size(row: PlanRow) -> str:
    return "unlimited" if math.isinf(row.size) else f"{row.size:.0f}"


def _marks(count: int) -> list[str]:
    return [MARKS[i % len(MARKS)] for i in range(count)]


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low / 2, high * 2)


def _place(value: float, low: float, high: float) -> float:
    """Return the position of a number between two others, in logarithms: 0 to 1."""
    return math.log(value / low) / math.log(high / low)


def _amount(number: float, whole: float) -> str:
    """Return a distortion in words; a millionth of the whole is written as about 0."""
    return "≈ 0" if number < 1e-6 * whole else at_most(number, 3)


def _short(number: float) -> str:
    if math.isinf(number):
        return "∞"
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"
