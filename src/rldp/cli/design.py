"""``rldp design``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import rldp
from rldp._checks import Label
from rldp.adviser.binning import CANDIDATES, best
from rldp.adviser.ladder import LADDER, PROMISES, Rung, rungs
from rldp.adviser.verdict import Worth, worth
from rldp.cli.app import ALPHA_HELP, Json, command, is_quiet, note, progress, require_writable, warn, warned
from rldp.cli.columns import Missing
from rldp.cli.files import Delimiter, Encoding, ShowLabels, given, note_found_delimiter
from rldp.cli.machine import plain, show_json
from rldp.cli.tables import distortion_table, listed_labels, order_of, outputs_of
from rldp.distortions import Distortion
from rldp.errors import InvalidArgument

_LARGE = 50_000  # probabilities, from which a design may take minutes
_NO_BETTER = 0.99  # of the distortion of an output that ignores the data
_COMPARED = 1e-3  # gap of designs that are made for comparing
_COARSER = 0.9  # of the distortion, from which a coarser table is worth a word
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


@command()
def design(
    command: typer.Context,
    data: Annotated[
        Path, typer.Argument(help="CSV or Parquet file with the public sample; - is standard input.")
    ],
    secret: Annotated[
        list[str], typer.Option(help="Column that must not leak; several are protected jointly.")
    ],
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
        str,
        typer.Option(
            metavar="squared|absolute|hamming|FILE",
            help="How far an output is from the value; a FILE is a CSV table of values by outputs.",
        ),
    ] = DistortionName.squared.value,
    outputs: Annotated[
        str | None,
        typer.Option(metavar="A,B,…|FILE", help="What may be published; by default the values."),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="Rows with missing entries: refuse the file, skip them, or make a category of them."
        ),
    ] = Missing.refuse,
    text: Annotated[
        list[str] | None, typer.Option(help="Column of a CSV file whose entries are text; may be repeated.")
    ] = None,
    number: Annotated[
        list[str] | None, typer.Option(help="Column whose entries are numbers; may be repeated.")
    ] = None,
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="All labels of the secret, also those the data lack; once for each --secret.",
        ),
    ] = None,
    values: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="All labels of the value, also those the data lack.")
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=A,B,…", help="Order of a column's labels; distances then count ranks."),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(metavar="N|auto", help="Cut the value, a column of numbers, into bins of equal shares."),
    ] = None,
    bin_width: Annotated[
        float | None, typer.Option(metavar="W", help="Cut the value into bins of this width.")
    ] = None,
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
    as_json: Json = False,
) -> None:
    """Design a protocol from a public sample and write it, with its proof, to a file."""
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, data, "the data")
    promises = {
        "privacy": PROMISES[privacy.value](alpha, prior),
        "utility": PROMISES[utility.value](alpha, prior),
    }
    source = given(command, data, delimiter, encoding)
    counted = partial(
        rldp.Sample.from_data,
        source,
        secret=secret,
        value=value,
        secrets=_alphabets(secret, secrets),
        values=None if values is None else listed_labels("--values", values),
        missing=missing.value,
        text=text or (),
        number=number or (),
        order=order_of(order),
        show_labels=show_labels,
    )
    if bins == "auto":
        with progress("Trying bins"):
            cut = best(lambda count: counted(bins=count), epsilon, distortion=distortion, **promises)
        note(f"{cut.bins} bins promise the smallest distortion of {', '.join(map(str, CANDIDATES))}")
        sample = cut.sample
    else:
        sample = counted(bins=_whole("--bins", bins), bin_width=bin_width)
    note_found_delimiter(source, [*secret, value])
    measure, published = _measured(distortion, outputs, sample)
    if sample.counts.size * len(sample.values) > _LARGE:
        rows, columns = sample.counts.shape
        note(
            f"{rows} secrets × {columns} values may take minutes; a larger --gap, such as 1e-3, or --bins "
            "for numbers takes less"
        )
    with progress("Designing") as callback:
        designed = rldp.design(
            sample,
            epsilon,
            **promises,
            distortion=measure,
            outputs=published,
            gap=gap,
            windows=windows,
            callback=callback,
        )
    if designed.objective >= _NO_BETTER * designed.constant_objective > 0:
        warn(
            "this protocol is hardly better than an output that ignores the data; "
            "a larger --epsilon, more data, or fewer values may help"
        )
    as_found = values is None and value not in [*(text or ()), *(number or ()), *order_of(order)]
    if as_found and (as_json or not is_quiet()):
        _advise_bins(counted, epsilon, designed, sample, distortion, promises)
    designed.protocol.save(output)
    if is_quiet() and not as_json:
        return
    names = _others(privacy, designed, others)
    found: list[Rung] = []
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
                    utility=promises["utility"],
                    distortion=measure,
                    outputs=published,
                    gap=max(gap, _COMPARED),
                )
            )
    with progress("Looking for what drives the cost"):
        judged = worth(sample, designed)
    if as_json:
        show_json(_facts(output, designed, judged, found), indent=2)
        return
    screen = terminal.console()
    screen.print(terminal.summary(designed))
    if found:
        screen.print(terminal.ladder([*found, Rung.of(privacy.value, designed)], privacy.value))
    screen.print(terminal.worth_report(judged))
    terminal.tell("The protocol file holds the counts of your sample; rldp export writes the table alone.")
    terminal.say(f"written to {output}")


def _facts(output: Path, designed: rldp.Design, judged: Worth, others: Sequence[Rung]) -> dict[str, Any]:
    """What a design is, for machines."""
    from rldp.reporter.words import worth_sentences

    claim = designed.protocol.guarantee
    assert claim is not None
    return {
        "protocol": output,
        "problem": designed.problem,
        "epsilon": claim.epsilon,
        "promise": claim.promise,
        "objective": designed.objective,
        "lower_bound": designed.lower_bound,
        "status": plain(designed.status),
        "verdict": {**plain(judged), "reach": judged.reach, "sentences": worth_sentences(judged)},
        "others": [
            {"privacy": rung.name, "promised": rung.design.objective, "estimate": rung.estimate}
            for rung in others
        ],
        "warnings": warned(),
    }


def _advise_bins(
    counted: Callable[..., rldp.Sample],
    epsilon: float,
    designed: rldp.Design,
    sample: rldp.Sample,
    distortion: str,
    promises: dict[str, rldp.UncertaintySet],
) -> None:
    """Say so where a coarser table would promise much less distortion."""
    numbers = sample.scale is None and not any(isinstance(value, str | bool) for value in sample.values)
    if not numbers or len(sample.values) <= CANDIDATES[-1] or distortion not in ("squared", "absolute"):
        return
    with progress("Trying bins"):
        cut = best(lambda count: counted(bins=count), epsilon, distortion=distortion, **promises)
    if cut.objective < _COARSER * designed.objective:
        warn(
            f"{len(sample.values)} values are many for {sample.n} rows: with --bins {cut.bins} the "
            f"promised distortion would be {cut.objective:.4g}, and it is {designed.objective:.4g}"
        )


def _whole(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError as error:
        raise InvalidArgument(f"{option} must be a whole number or auto, got {text!r}") from error


def _measured(
    distortion: str, outputs: str | None, sample: rldp.Sample
) -> tuple[Distortion, list[Label] | None]:
    """The distortion and the outputs that are asked for; a table in a file says both."""
    published = outputs_of(outputs)
    if distortion in set(DistortionName):
        return distortion, published
    if not Path(distortion).exists():
        names = ", ".join(DistortionName)
        raise InvalidArgument(f"--distortion must be {names} or a file that exists, got {distortion!r}")
    listed, table = distortion_table(Path(distortion), sample.values)
    if published not in (None, listed):
        raise InvalidArgument("--outputs must be those of the table of distortions, or not be given")
    return table, listed


def _alphabets(secret: list[str], listed: list[str] | None) -> dict[str, list[Label]] | None:
    if not listed:
        return None
    if len(listed) != len(secret):
        raise InvalidArgument(
            f"--secrets must be given once for each --secret, got {len(listed)} for {len(secret)}"
        )
    return {name: listed_labels("--secrets", text) for name, text in zip(secret, listed, strict=True)}


def _others(chosen: PrivacyName, designed: rldp.Design, asked: bool | None) -> list[str]:
    """The promises that the chosen one is compared with: all if asked for, otherwise those that are quick."""
    others = [name for name in LADDER if name != chosen.value]
    if asked is not None:
        return others if asked else []
    quick = designed.status.seconds <= _QUICK and designed.status.route != "windows"
    few = designed.protocol.matrix[..., 0].size < _MANY_CELLS
    return [name for name in others if not (few and name == "pairs")] if quick else []
