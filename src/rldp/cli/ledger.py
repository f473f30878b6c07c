"""``rldp ledger``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldp.cli.app import Json, command
from rldp.cli.machine import show_json


@command(example="rldp ledger releases.jsonl")
def ledger(
    file: Annotated[Path, typer.Argument(help="Ledger file that 'rldp release --ledger' wrote.")],
    as_json: Json = False,
) -> None:
    """List the releases in a ledger, with the promise of each and the totals that are proved.

    Releases of the same people with the same key, table and columns are one draw. A protocol that was
    designed after the others has the total in its file. Other draws of the same people have no proved total,
    unless each holds for every distribution.
    """
    from rldp.gate.ledger import read_ledger
    from rldp.gate.lines import totals
    from rldp.reporter import terminal
    from rldp.reporter.ledgers import ledger_report

    lines = read_ledger(file)
    sums = totals(lines)
    if as_json:
        show_json({"ledger": file, "releases": list(lines), "totals": list(sums)}, indent=2)
    else:
        terminal.console().print(ledger_report(lines, sums))
