"""``rldp compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.app import Json, bar, command
from rldp.cli.counting import Counting, Data, Measuring
from rldp.cli.decisions import TableFile, require_outputs, write_results
from rldp.cli.machine import show_json
from rldp.cli.promising import Epsilon, PromisingSeveral
from rldp.errors import InvalidArgument


@command(example="rldp compare people.csv --secret diagnosis --value age --epsilon 0.5", on_sample=True)
def compare(
    command: typer.Context,
    data: Data,
    counting: Counting,
    epsilon: Epsilon,
    measuring: Measuring,
    promising: PromisingSeveral,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="Protocol file to include in the comparison; may be repeated."
        ),
    ] = None,
    table: TableFile = None,
    as_json: Json = False,
) -> None:
    """Compare designs with simple mechanisms at one ε."""
    from rldp.reporter import decisions, terminal

    files = _files(protocol or ())
    require_outputs(None, table, data, *files.values())
    own = {name: rldp.load(path) for name, path in files.items()}
    promised = promising.useful
    counter = counting.counter(command, data)
    sample = counter.sample(
        epsilon, measuring.distortion, utility=promised or rldp.ChiSquare(promising.alpha)
    )
    counter.advise_bins(sample, measuring.distortion)
    measured = measuring.of(sample)
    with bar("Comparing") as moved:
        comparison = rldp.compare(
            sample,
            epsilon,
            privacy=promising.names,
            protocols=own,
            utility=promised,
            **measured,
            epsilon_known=promising.epsilon_known,
            alpha=promising.alpha,
            prior=promising.prior,
            callback=moved,
        )
    write_results(comparison, table)
    if as_json:
        show_json(
            {
                "epsilon": comparison.epsilon,
                "rows": sample.n,
                "utility": comparison.utility.scope,
                "prior": comparison.prior,
                "comparison": comparison.table(),
            }
        )
        return
    terminal.console().print(decisions.comparison_report(comparison))


def _files(given: Sequence[str]) -> dict[str, Path]:
    """Read protocol files such as ``mine=protocol.json``, by name."""
    files: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals) or name in files:
            raise InvalidArgument(f"--protocol must be NAME=FILE, each name once, got {text!r}")
        files[name] = Path(path)
    return files
