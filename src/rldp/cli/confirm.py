"""``rldp confirm``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.app import ExitCode, Json, Seed, command, progress
from rldp.cli.columns import NewData, chosen
from rldp.cli.machine import picked, show_json
from rldp.errors import InvalidArgument


@command(example="rldp confirm protocol.json fresh.csv")
def confirm(
    protocol: Annotated[Path, typer.Argument(help="Protocol file (JSON).")],
    fresh: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file with rows that were not used for the design; - is standard input."
        ),
    ],
    columns: NewData,
    alpha: Annotated[float, typer.Option(help="Probability that a confirmation is wrong, at most.")] = 0.05,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Privacy level to confirm; by default the protocol's. inf gives only a bound."),
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Confirm an ε from fresh rows, for every distribution and every number of rows.

    Decide how many rows to collect before you look at them. Every further attempt, with more rows or another
    seed, has its own risk of error: divide --alpha by the number of attempts that you plan.

    Exit code 0 means that the protocol's ε is confirmed; 3 that it is not, which does not disprove it.
    """
    from rldp.reporter import terminal

    loaded = rldp.load(protocol)
    if loaded.guarantee is None and epsilon is None:
        raise InvalidArgument(f"--epsilon must be given, as {protocol} claims no ε; inf gives only a bound")
    sample = loaded.count(fresh, **chosen(columns))
    with progress("Confirming"):
        confirmation = rldp.confirm(loaded, sample, alpha=alpha, epsilon=epsilon, seed=seed)
    if as_json:
        facts = picked(confirmation, "confirmed", "claim", "epsilon", "alpha", "leakage", "output", "secrets")
        facts |= picked(confirmation, "unseen", "used_before", "seed")
        show_json(facts | {"rows": confirmation.sample.n, "sentences": confirmation.sentences})
    else:
        terminal.console().print(terminal.confirmation_report(confirmation))
    if not confirmation.confirmed:
        raise typer.Exit(ExitCode.CLAIM)
