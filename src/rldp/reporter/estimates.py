"""Estimates in a terminal: a table with a chart of the intervals, and sentences."""

from __future__ import annotations

import math

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rldp._common.checks import printable
from rldp.estimator.estimates import Estimate
from rldp.reporter.terminal import bullets
from rldp.theory.model import Floats

__all__ = ["estimate_report"]

_MOST = 40  # functionals of one group
_MOST_GROUPS = 12
_NARROWEST, _WIDEST = 12, 40  # of the chart, in letters
_BESIDE = 62  # letters that the other columns need


def estimate_report(estimate: Estimate, *, width: int = 80) -> RenderableType:
    """Return estimates and intervals in numbers and as a chart, the uncorrected shares, and the sentences.

    Parameters
    ----------
    estimate : Estimate
    width : int
        Width of the terminal, in characters.
    """
    whole, secrets = estimate if estimate.overall is None else estimate.overall, estimate.secrets or ()
    parts: list[RenderableType] = [_table(whole, None, "All people", width)]
    for row, secret in enumerate(secrets[:_MOST_GROUPS]):
        parts.append(_table(estimate, row, f"Secret {printable(secret)}", width))
    notes = ["● estimate, ├┤ interval, ○ the uncorrected share in the released column"]
    if len(secrets) > _MOST_GROUPS:
        notes.insert(0, f"shown: {_MOST_GROUPS} of {len(secrets)} secrets")
    return Group(*parts, *(Text(note, style="dim") for note in notes), Text(), bullets(estimate.sentences))


def _table(estimate: Estimate, row: int | None, title: str, width: int) -> Table:
    which = ... if row is None else row
    values, lower, upper = (array[which] for array in (estimate.values, estimate.lower, estimate.upper))
    naive = None if estimate.naive is None else estimate.naive[which]
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("", overflow="ellipsis", max_width=16)
    for heading in ("estimate", f"{100 * (1 - estimate.alpha):g} % interval", "uncorrected"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    size = min(max(width - _BESIDE, _NARROWEST), _WIDEST)
    left, right = _scale(values, lower, upper, naive)
    for place, label in enumerate(estimate.labels[:_MOST]):
        own = math.nan if naive is None else float(naive[place])
        numbers = float(values[place]), float(lower[place]), float(upper[place])
        chart = _drawn(*numbers, own, left, right, size)
        value, low, high, uncorrected = map(_number, (*numbers, own))
        cells = value, f"{low} … {high}", uncorrected
        table.add_row(Text(printable(label)), *cells, Text(chart, style="cyan"))
    if len(estimate.labels) > _MOST:
        table.caption = f"first {_MOST} of {len(estimate.labels)} shown"
    return table


def _number(number: float) -> str:
    return "–" if math.isnan(number) else f"{number:.4g}" if abs(number) >= 1 else f"{number:.4f}"


def _scale(*arrays: Floats | None) -> tuple[float, float]:
    numbers = [
        float(x) for array in arrays if array is not None for x in array[:_MOST] if math.isfinite(float(x))
    ]
    return min(numbers), max(numbers)


def _drawn(
    value: float, lower: float, upper: float, naive: float, left: float, right: float, size: int
) -> str:
    """Draw the interval as a line from ├ to ┤, with ● for the estimate and ○ for the uncorrected share."""

    def place(number: float) -> int:
        share = (number - left) / (right - left) if right > left else 0.5
        return round(share * (size - 1))

    letters = [" "] * size
    for spot in range(place(lower), place(upper) + 1):
        letters[spot] = "─"
    letters[place(lower)], letters[place(upper)] = "├", "┤"
    if not math.isnan(naive):
        letters[place(naive)] = "○"
    if not math.isnan(value):
        letters[place(value)] = "●"
    return "".join(letters)
