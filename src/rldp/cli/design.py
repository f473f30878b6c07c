"""``rldp design``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.app import ALPHA_HELP, SET_HELP, SETS, SetName, app, progress, require_writable, say

_LARGE = 50_000  # probabilities, from which a design may take minutes
_NO_BETTER = 0.99  # of the distortion of an output that ignores the data


class DistortionName(StrEnum):
    """The distortions that the command line names."""

    squared = "squared"
    absolute = "absolute"
    hamming = "hamming"


@app.command()
def design(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with the public sample.")],
    secret: Annotated[str, typer.Option(help="Column that must not leak.")],
    value: Annotated[str, typer.Option(help="Column to publish.")],
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more; smaller is more private.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Protocol file to write (JSON).")],
    privacy: Annotated[SetName, typer.Option(help=f"Set privacy must hold on: {SET_HELP}.")] = SetName.chi2,
    utility: Annotated[
        SetName, typer.Option(help="Set utility must hold on; the same names.")
    ] = SetName.chi2,
    alpha: Annotated[float, typer.Option(help=ALPHA_HELP)] = 0.05,
    distortion: Annotated[
        DistortionName, typer.Option(help="How far an output is from the value.")
    ] = DistortionName.squared,
    gap: Annotated[float, typer.Option(help="Relative gap to the best possible protocol.")] = 1e-6,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows",
            help="Keep privacy by a stronger, quicker constraint; it can cost much utility.",
        ),
    ] = False,
) -> None:
    """Design a protocol from a public sample and write it, with its proof, to a file."""
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, data, "the data")
    sample = rldp.Sample.from_data(data, secret=secret, value=value)
    if sample.counts.size * len(sample.values) > _LARGE:
        secrets, values = sample.counts.shape
        say(f"{secrets} secrets × {values} values may take minutes; a larger --gap, such as 1e-3, takes less")
    with progress("Designing") as callback:
        designed = rldp.design(
            sample,
            epsilon,
            privacy=SETS[privacy](alpha),
            utility=SETS[utility](alpha),
            distortion=distortion.value,
            gap=gap,
            windows=windows,
            callback=callback,
        )
    if designed.objective >= _NO_BETTER * designed.constant_objective > 0:
        say(
            "warning: this protocol is hardly better than an output that ignores the data; "
            "a larger --epsilon, more data, or fewer values may help"
        )
    designed.protocol.save(output)
    terminal.console().print(terminal.summary(designed))
    terminal.say(f"written to {output}")
