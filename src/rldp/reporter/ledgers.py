"""A ledger in the terminal: the promise of each release, and the totals of releases of one input."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rldp._common.checks import printable
from rldp.gate.lines import Line, Total

__all__ = ["ledger_report"]

_DIGITS = 8  # of a digest, which tell the inputs of a ledger apart


def ledger_report(lines: Sequence[Line], totals: Sequence[Total]) -> RenderableType:
    """Return the releases, and the total for each input with several."""
    if not lines:
        return Text("The ledger is empty.")
    table = Table(box=SIMPLE_HEAD)
    table.add_column("#", justify="right")
    for heading in ("when", "input", "released", "promise"):
        table.add_column(heading, overflow="fold")
    for number, line in enumerate(lines, 1):
        when = line.when[:16].replace("T", " ")  # to the minute
        table.add_row(str(number), when, line.input[:_DIGITS], _released(line), printable(line.promise))
    return Group(table, *(Text(f"{_sentence(total)}\n") for total in totals))


def _released(line: Line) -> str:
    parts = [", ".join(line.released)]
    if line.kept:
        parts.append(f"beside {', '.join(line.kept)}")
    parts.append(f"{line.rows:,} rows")
    if line.key is not None:
        parts.append(f"key {line.key[:_DIGITS]}")
    if line.again:
        parts.append("again")
    return printable("; ".join(parts))


def _sentence(total: Total) -> str:
    one = len(total.releases) == 1
    which = f"release{'' if one else 's'} {', '.join(map(str, total.releases))}"
    level = "" if total.epsilon is None else f"ε = {total.epsilon!r}: "
    return f"Input {total.input[:_DIGITS]} ({which}): {level}{total.reason}."
