"""``rldp frontier``."""

from __future__ import annotations

from typing import Annotated

import typer

import rldp
from rldp.cli.app import Json, bar, command
from rldp.cli.counting import Counting, Data, Measuring
from rldp.cli.decisions import Plot, TableFile, levels_of, require_outputs, write_results
from rldp.cli.machine import show_json
from rldp.cli.promising import PromisingSeveral


@command(
    example="rldp frontier people.csv --secret diagnosis --value age --plot frontier.png", on_sample=True
)
def frontier(
    command: typer.Context,
    data: Data,
    counting: Counting,
    measuring: Measuring,
    promising: PromisingSeveral,
    epsilons: Annotated[
        str,
        typer.Option(
            metavar="E,E,…|LOW:HIGH:COUNT",
            help="Privacy levels: a list, or COUNT levels evenly spaced on a logarithmic scale.",
        ),
    ] = "0.1:10:30",
    plot: Plot = None,
    table: TableFile = None,
    as_json: Json = False,
) -> None:
    """Show the distortion that each promise costs, at many ε."""
    from rldp.reporter import decisions, terminal

    levels = levels_of(epsilons)
    require_outputs(plot, table, data)
    counter = counting.counter(command, data)
    sample = counter.sample()
    counter.advise_bins(sample, measuring.distortion)
    measured = measuring.of(sample)
    with bar("Designing") as moved:
        result = rldp.frontier(
            sample,
            levels,
            privacy=promising.names,
            utility=promising.useful,
            **measured,
            epsilon_known=promising.epsilon_known,
            alpha=promising.alpha,
            prior=promising.prior,
            callback=moved,
        )
    write_results(result, table, plot)
    if as_json:
        show_json({"rows": sample.n, "utility": result.utility.scope, "frontier": result.table()})
        return
    screen = terminal.console()
    screen.print(decisions.frontier_report(result, width=screen.width))
