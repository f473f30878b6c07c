"""``rldp plan``."""

from __future__ import annotations

from typing import Annotated

import typer

import rldp
from rldp.cli.app import Json, bar, command
from rldp.cli.counting import Counting, Data, Measuring
from rldp.cli.decisions import Plot, TableFile, require_outputs, sizes_of, write_results
from rldp.cli.machine import show_json
from rldp.cli.promising import Epsilon, Promising


@command(
    example="rldp plan people.csv --secret diagnosis --value age --epsilon 0.5 --sizes 1000,10000",
    on_sample=True,
)
def plan(
    command: typer.Context,
    data: Data,
    counting: Counting,
    epsilon: Epsilon,
    measuring: Measuring,
    promising: Promising,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,…",
            help="Sample sizes to try.",
            show_default="a quarter of the present rows to 16 times them",
        ),
    ] = None,
    max_distortion: Annotated[
        float | None,
        typer.Option(
            "--max-distortion",
            "--at-most",
            metavar="D",
            help="Also report how many rows promise a distortion of at most D.",
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Number of samples of each size.")] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    plot: Plot = None,
    table: TableFile = None,
    as_json: Json = False,
) -> None:
    """Predict the distortion that samples of other sizes would promise."""
    from rldp.reporter import decisions, terminal

    require_outputs(plot, table, data)
    promises = promising.sets
    counter = counting.counter(command, data)
    sample = counter.sample(epsilon, measuring.distortion, **promises)
    counter.advise_bins(sample, measuring.distortion)
    measured = measuring.of(sample)
    with bar("Planning") as moved:
        result = rldp.plan(
            sample,
            epsilon,
            sizes_of(sizes, sample.n),
            **promises,
            **measured,
            prior=promising.prior,
            draws=draws,
            seed=seed,
            callback=moved,
        )
    write_results(result, table, plot)
    if as_json:
        show_json(
            {
                "epsilon": result.epsilon,
                "privacy": result.privacy.scope,
                "utility": result.utility.scope,
                "rows": sample.n,
                "present": result.present,
                "plan": result.table(),
                "at_most": max_distortion,
                "size": None if max_distortion is None else result.size_for(max_distortion),
                "sentences": decisions.plan_sentences(result, max_distortion),
            }
        )
        return
    screen = terminal.console()
    screen.print(decisions.plan_report(result, width=screen.width, wanted=max_distortion))
