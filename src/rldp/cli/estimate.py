"""``rldp estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rldp
from rldp.cli.app import Json, Seed, command, progress
from rldp.cli.columns import Delimiter, Encoding, ShowLabels
from rldp.cli.machine import picked, show_json
from rldp.cli.tables import functional_table
from rldp.errors import InvalidArgument
from rldp.estimator.estimates import Interval, Method


@command(example="rldp estimate protocol.json released.csv")
def estimate(
    protocol: Annotated[Path, typer.Argument(help="Protocol file (JSON) that the rows were released with.")],
    data: Annotated[
        Path,
        typer.Argument(metavar="RELEASED", help="CSV or Parquet file of released rows; - is standard input."),
    ],
    released: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of released outputs; repeat it if several were released together.",
            show_default="the protocol's value columns",
        ),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(help="Column of the secret, if you know it. Estimates are then given for each secret."),
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            metavar="shares|mean|…|TABLE",
            help="What to estimate: shares or mean; of released columns A and B 'shares of A', 'mean of A', "
            "'mean of A by B', 'difference of A by B', 'slope of A on B', 'regression of A on B', "
            "'correlation of A and B' or 'moments of A and B'. TABLE: a CSV file with a number for every "
            "value in each named column.",
        ),
    ] = "shares",
    sample: Annotated[
        Path | None,
        typer.Option(help="Public sample to use.", show_default="the protocol's own sample"),
    ] = None,
    no_sample: Annotated[
        bool, typer.Option("--no-sample", help="Use only the released rows, without a sample.")
    ] = False,
    min_agreement: Annotated[
        float,
        typer.Option(
            help="Leave the sample out if rows from one distribution differ as much with a smaller "
            "probability than this; 0 always uses it."
        ),
    ] = 0.05,
    alpha: Annotated[float, typer.Option(help="Probability that an interval misses the truth.")] = 0.05,
    method: Annotated[
        Method,
        typer.Option(
            help=(
                "unbiased: no bias; projected, shrunk and likelihood: no negative shares; posterior: "
                "smallest error on average; bayes: iterative Bayesian update, for comparison."
            )
        ),
    ] = "unbiased",
    interval: Annotated[
        Interval, typer.Option(help="normal: for many rows; betting: proved for every number of rows.")
    ] = "normal",
    seed: Seed = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    show_labels: ShowLabels = False,
    as_json: Json = False,
) -> None:
    """Estimate shares or means of the values from released rows, with error bars.

    The sample must come from the same distribution as the released rows. If the rows contradict this, the
    sample is left out. The estimate corrects for the randomness of the protocol; the uncorrected answer is
    shown for comparison.
    """
    loaded = rldp.load(protocol)
    asked = of if _is_named(of) else functional_table(_existing(of), loaded.values)
    known = _sample(loaded, sample, no_sample, show_labels)
    with progress("Estimating"):
        rows = rldp.Released.from_data(
            data,
            loaded,
            released=released or None,
            secret=secret or None,
            delimiter=delimiter,
            encoding=encoding,
            show_labels=show_labels,
        )
        result = rldp.estimate(
            rows,
            sample=known,
            of=asked,
            alpha=alpha,
            method=method,
            interval=interval,
            min_agreement=min_agreement,
            seed=seed,
        )
    if as_json:
        show_json(_facts(result))
        return
    from rldp.reporter import terminal
    from rldp.reporter.estimates import estimate_report

    screen = terminal.console()
    screen.print(estimate_report(result, width=screen.width))


def _is_named(of: str) -> bool:
    """Return whether it is a question in words, such as 'slope of pay on age', rather than a file."""
    return of in ("shares", "mean") or (" of " in of and not Path(of).is_file())


def _existing(of: str) -> Path:
    path = Path(of)
    if not path.is_file():
        raise InvalidArgument(f"--of must be shares, mean or a file that exists, got {of!r}")
    return path


def _sample(
    protocol: rldp.Protocol, path: Path | None, no_sample: bool, show_labels: bool
) -> rldp.Sample | Literal["protocol"] | None:
    if path is not None:
        if no_sample:
            raise InvalidArgument("--sample must not be given beside --no-sample")
        return protocol.count(path, show_labels=show_labels)
    return None if no_sample else "protocol"


def _facts(estimate: rldp.Estimate) -> dict[str, Any]:
    groups = () if estimate.secrets is None else estimate.secrets
    return {
        **picked(estimate, "rows", "sample_rows", "sample_rejected"),
        **picked(estimate, "method", "interval", "of_moments", "alpha", "seed", "gap"),
        **picked(estimate, "prior_rows", "agreement", "min_agreement"),
        "estimates": _lines(estimate if estimate.overall is None else estimate.overall),
        "by_secret": [
            {"secret": secret, "estimates": _lines(estimate, row)} for row, secret in enumerate(groups)
        ],
        "sentences": estimate.sentences,
    }


def _lines(estimate: rldp.Estimate, row: int | None = None) -> list[dict[str, Any]]:
    """Return an object for each functional; for one secret, if ``row`` is given."""
    arrays = {
        "value": estimate.values,
        "lower": estimate.lower,
        "upper": estimate.upper,
        "standard_error": estimate.standard_errors,
        "identifiable": estimate.identifiable,
        "least": estimate.least,
        "most": estimate.most,
        "naive": estimate.naive,
    }

    def number(array: Any, place: int) -> Any:
        entry = None if array is None else array[place if row is None else (row, place)].item()
        return entry if entry == entry else None  # NaN is not JSON

    return [
        {"label": label, **{name: number(array, place) for name, array in arrays.items()}}
        for place, label in enumerate(estimate.labels)
    ]
