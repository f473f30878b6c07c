"""The command: arguments → one library call → exit code.

Exit codes: 0 success, 1 a mistake that one sentence explains, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.errors import InvalidArgument, RldpError, RldpWarning

__all__ = ["app", "main"]

_INTERRUPTED = 130

app = typer.Typer(
    name="rldp",
    help="Publish one column without leaking another.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class SetName(StrEnum):
    """The sets that the command line names."""

    chi2 = "chi2"
    g = "g"
    cr = "cr"
    nominal = "nominal"


class DistortionName(StrEnum):
    """The distortions that the command line names."""

    squared = "squared"
    absolute = "absolute"
    hamming = "hamming"


_SETS: dict[SetName, Callable[[float], rldp.UncertaintySet]] = {
    SetName.chi2: rldp.ChiSquare,
    SetName.g: rldp.GTest,
    SetName.cr: rldp.CressieRead,
    SetName.nominal: lambda alpha: rldp.Nominal(),
}

_SET_HELP = "chi2 (the paper's), g (G-test), cr (Cressie-Read), or nominal (trust the estimate)"


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"rldp {rldp.__version__}")
        raise typer.Exit


@app.command()
def design(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with the public sample.")],
    secret: Annotated[str, typer.Option(help="Column that must not leak.")],
    value: Annotated[str, typer.Option(help="Column to publish.")],
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more; smaller is more private.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Protocol file to write (JSON).")],
    privacy: Annotated[SetName, typer.Option(help=f"Set privacy must hold on: {_SET_HELP}.")] = SetName.chi2,
    utility: Annotated[
        SetName, typer.Option(help="Set utility must hold on; the same names.")
    ] = SetName.chi2,
    alpha: Annotated[float, typer.Option(help="The sets miss the truth with this probability.")] = 0.05,
    distortion: Annotated[
        DistortionName, typer.Option(help="How far an output is from the value.")
    ] = DistortionName.squared,
    gap: Annotated[float, typer.Option(help="Relative gap to the best possible protocol.")] = 1e-6,
) -> None:
    """Design a protocol from a public sample and write it, with its proof, to a file."""
    from rldp import render

    _require_writable(output)
    sample = rldp.Sample.from_data(data, secret=secret, value=value)
    with _progress("Designing") as callback:
        designed = rldp.design(
            sample,
            epsilon,
            privacy=_SETS[privacy](alpha),
            utility=_SETS[utility](alpha),
            distortion=distortion.value,
            gap=gap,
            callback=callback,
        )
    designed.protocol.save(output)
    screen = render.console()
    screen.print(render.summary(designed))
    screen.print(f"written to {output}", soft_wrap=True, markup=False, emoji=False)


def _require_writable(output: Path) -> None:
    """Refuse early what would only fail after the work."""
    try:
        if not output.absolute().parent.is_dir():
            raise InvalidArgument(f"--output must lie in a folder that exists, got {str(output)!r}")
        if output.is_dir():
            raise InvalidArgument(f"--output must be a file, got the folder {str(output)!r}")
    except OSError as error:
        raise InvalidArgument(f"--output must be a file that can be written, but: {error}") from error


@app.command()
def demo(
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more.")] = 0.5,
    rows: Annotated[int, typer.Option(help="Size of the public sample, in the table's proportions.")] = 2000,
) -> None:
    """Design all four problems on a small table inside the package and show what each promises."""
    from rldp import render
    from rldp.demo import adult, compare

    if not 1 <= rows <= 10**9:
        raise InvalidArgument(f"--rows must lie between 1 and 1000000000, got {rows}")
    sample = adult(rows)
    screen = render.console()
    screen.print(
        "Secret: sex. To be published: years of education. Public sample: "
        f"{sample.n} rows in the proportions of the UCI Adult data set (Becker and Kohavi, CC BY 4.0).\n"
    )
    with _progress("Designing"):
        found = compare(sample, epsilon)
    screen.print(render.comparison(found, epsilon))
    screen.print(
        "\nThe first letter pair says whether utility (N/R: for the estimate / for the whole set), the "
        "second whether privacy is robust.\nThe set holds every distribution that the sample does not "
        "rule out at level 95 %. ✗: some of them break the promised ε.\n"
    )
    screen.print("The RURP protocol:\n")
    screen.print(render.heat_map(found[-1].design.protocol))
    screen.print(
        "\nNext, on a table of your own:\n"
        "  rldp design DATA.csv --secret COLUMN --value COLUMN --epsilon 0.5 -o protocol.json",
        soft_wrap=True,
    )


@contextmanager
def _progress(title: str) -> Iterator[Callable[[rldp.Progress], None]]:
    """A status line on standard error while the work runs, if someone is watching."""
    from rldp import render

    with render.console(stderr=True).status(f"{title} …") as status:

        def show(progress: rldp.Progress) -> None:
            status.update(f"{title} … step {progress.iteration}, gap {progress.worst_gap:.1e}")

        yield show


def main() -> None:
    """Run the command; a library error becomes one line and exit code 1."""
    warnings.showwarning = _one_line_warning
    warnings.simplefilter("always", RldpWarning)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ε shows ? in its place
            stream.reconfigure(errors="replace")
    try:
        app()
    except RldpError as error:
        _say(str(error))
        sys.exit(1)
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            _say("interrupted")
        raise
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(_INTERRUPTED)


def _one_line_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"warning: {message}")


def _say(message: str) -> None:
    print("rldp:", " ".join(message.split()), file=sys.stderr)
