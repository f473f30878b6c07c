"""``rldp design``."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.adviser.ladder import LADDER, PROMISES, Rung, rungs
from rldp.cli.app import ALPHA_HELP, app, progress, require_writable, say
from rldp.cli.files import Delimiter, Encoding, ShowLabels

_LARGE = 50_000  # probabilities, from which a design may take minutes
_NO_BETTER = 0.99  # of the distortion of an output that ignores the data
_COMPARED = 1e-3  # gap of designs that are made for comparing
_QUICK = 2.0  # seconds, up to which other promises are tried without being asked for
_MANY_CELLS = 50  # from which pairs may cost less than one set for the whole table


_PRIVACY_HELP = (
    "What privacy is promised for: chi2 (the paper's set), g (G-test), cr (Cressie-Read), pairs (a set for "
    "each pair of secrets, valid at every sample size), credible (all but a posterior probability of ALPHA), "
    "all (every distribution), or nominal (the estimate only)."
)
_ALPHA_HELP = (
    f"{ALPHA_HELP} For pairs it is at most this at every size, and for credible a posterior probability."
)


class PrivacyName(StrEnum):
    """The promises about privacy that the command line names."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    pairs = "pairs"
    credible = "credible"
    all = "all"
    nominal = "nominal"


class UtilityName(StrEnum):
    """The promises about the distortion."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    credible = "credible"
    nominal = "nominal"


class DistortionName(StrEnum):
    """The distortions that the command line names."""

    squared = "squared"
    absolute = "absolute"
    hamming = "hamming"


@app.command()
def design(
    data: Annotated[
        Path, typer.Argument(help="CSV or Parquet file with the public sample; - is standard input.")
    ],
    secret: Annotated[str, typer.Option(help="Column that must not leak.")],
    value: Annotated[str, typer.Option(help="Column to publish.")],
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more; smaller is more private.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Protocol file to write (JSON).")],
    privacy: Annotated[PrivacyName, typer.Option(help=_PRIVACY_HELP)] = PrivacyName.chi2,
    utility: Annotated[
        UtilityName, typer.Option(help="What the distortion is promised for; the same names.")
    ] = UtilityName.chi2,
    alpha: Annotated[float, typer.Option(help=_ALPHA_HELP)] = 0.05,
    prior: Annotated[
        float, typer.Option(help="Prior of credible promises, Dirichlet(PRIOR) on the cells; ½ is Jeffreys'.")
    ] = 0.5,
    distortion: Annotated[
        DistortionName, typer.Option(help="How far an output is from the value.")
    ] = DistortionName.squared,
    gap: Annotated[float, typer.Option(help="Relative gap to the best possible protocol.")] = 1e-6,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    show_labels: ShowLabels = False,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows",
            help="Keep privacy by a stronger, quicker constraint; it can cost much utility.",
        ),
    ] = False,
    others: Annotated[
        bool | None,
        typer.Option(
            "--others/--no-others",
            help="Show what other promises would cost.",
            show_default="shown where that takes seconds",
        ),
    ] = None,
) -> None:
    """Design a protocol from a public sample and write it, with its proof, to a file."""
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, data, "the data")
    sample = rldp.Sample.from_data(
        data, secret=secret, value=value, delimiter=delimiter, encoding=encoding, show_labels=show_labels
    )
    if sample.counts.size * len(sample.values) > _LARGE:
        secrets, values = sample.counts.shape
        say(f"{secrets} secrets × {values} values may take minutes; a larger --gap, such as 1e-3, takes less")
    promised = PROMISES[utility.value](alpha, prior)
    with progress("Designing") as callback:
        designed = rldp.design(
            sample,
            epsilon,
            privacy=PROMISES[privacy.value](alpha, prior),
            utility=promised,
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
    names = _others(privacy, designed, others)
    if names:
        with progress("Trying other promises"), warnings.catch_warnings():
            warnings.simplefilter("ignore", rldp.RldpWarning)
            found = list(
                rungs(
                    sample,
                    epsilon,
                    names,
                    alpha=alpha,
                    prior=prior,
                    utility=promised,
                    distortion=distortion.value,
                    gap=max(gap, _COMPARED),
                )
            )
        terminal.console().print(terminal.ladder([*found, Rung.of(privacy.value, designed)], privacy.value))
    terminal.say(f"written to {output}")


def _others(chosen: PrivacyName, designed: rldp.Design, asked: bool | None) -> list[str]:
    """The promises that the chosen one is compared with: all if asked for, otherwise those that are quick."""
    others = [name for name in LADDER if name != chosen.value]
    if asked is not None:
        return others if asked else []
    quick = designed.status.seconds <= _QUICK and designed.status.route != "windows"
    few = designed.protocol.matrix[..., 0].size < _MANY_CELLS
    return [name for name in others if not (few and name == "pairs")] if quick else []
