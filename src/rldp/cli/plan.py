"""``rldp plan``."""

from __future__ import annotations

from typing import Annotated

import typer

import rldp
from rldp.cli.app import Json, bar, command
from rldp.cli.counting import Counting, Data, Measuring
from rldp.cli.decisions import Plot, TableFile, require_outputs, sizes_of, write_results
from rldp.cli.machine import show_json
from rldp.cli.promising import Alpha, Prior, Privacy, Utility
from rldp.sets import NAMED


@command()
def plan(
    command: typer.Context,
    data: Data,
    counting: Counting,
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more; smaller is more private.")],
    measuring: Measuring,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,…",
            help="Numbers of rows to try.",
            show_default="a quarter of the present rows to 16 times them",
        ),
    ] = None,
    at_most: Annotated[
        float | None, typer.Option(metavar="D", help="Say how many rows promise a distortion of at most D.")
    ] = None,
    privacy: Privacy = "chi2",
    utility: Utility = "chi2",
    alpha: Alpha = 0.05,
    prior: Prior = 0.5,
    draws: Annotated[int, typer.Option(help="Samples of each size.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed gives the same samples.")] = 0,
    plot: Plot = None,
    table: TableFile = None,
    as_json: Json = False,
) -> None:
    """Predict what samples of other sizes would promise."""
    from rldp.reporter import decisions, terminal

    require_outputs(plot, table, data)
    promises = {
        "privacy": NAMED[privacy](alpha, prior),
        "utility": NAMED[utility](alpha, prior),
    }
    sample = counting.counter(command, data).sample(epsilon, measuring.distortion, **promises)
    measure, published = measuring.of(sample)
    with bar("Planning") as moved:
        found = rldp.plan(
            sample,
            epsilon,
            sizes_of(sizes, sample.n),
            privacy=promises["privacy"],
            utility=promises["utility"],
            distortion=measure,
            outputs=published,
            prior=prior,
            draws=draws,
            seed=seed,
            callback=moved,
        )
    write_results(found, table, plot)
    if as_json:
        show_json(
            {
                "epsilon": found.epsilon,
                "privacy": found.privacy.scope,
                "utility": found.utility.scope,
                "rows": sample.n,
                "present": found.present,
                "plan": found.table(),
                "at_most": at_most,
                "size": None if at_most is None else found.size_for(at_most),
                "sentences": decisions.plan_sentences(found, at_most),
            }
        )
        return
    screen = terminal.console()
    screen.print(decisions.plan_report(found, width=screen.width, wanted=at_most))
