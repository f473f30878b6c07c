"""The sample of a command: options for the columns of a file and how they are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypedDict, TypeVar, get_args

import typer

import rldp
from rldp._common.checks import Label
from rldp.adviser.binning import CANDIDATES, best, is_fine
from rldp.cli.app import note, progress, warn
from rldp.cli.columns import Delimiter, Encoding, ShowLabels
from rldp.cli.commands import is_on_command_line
from rldp.cli.tables import distortion_table, listed_labels, order_of, outputs_of
from rldp.data.reading import Treatment
from rldp.data.sources import Dialect, Source, opened
from rldp.distortions import Distortion, DistortionName
from rldp.errors import InvalidArgument
from rldp.protocol_file.samples import is_sample_file

__all__ = ["Counter", "Counting", "Data", "Measuring", "Noising"]

Data: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DATA|SAMPLE",
        help="CSV or Parquet file with the public sample (- is standard input), or a file that 'rldp sample' "
        "wrote.",
    ),
]


Number = TypeVar("Number", int, float)

DISTORTIONS: tuple[DistortionName, ...] = get_args(DistortionName)


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The columns of a file to count, and how to read their entries."""

    secret: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that must not leak; repeat it to protect several jointly. Required with DATA."
        ),
    ] = None
    value: Annotated[
        list[str] | None,
        typer.Option(help="Column to publish; repeat it to publish several together. Required with DATA."),
    ] = None
    given: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that is published unchanged beside the value and covered by the promise; may "
            "be repeated. Refused by frontier, compare and plan."
        ),
    ] = None
    rare: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Merge rare labels of --given columns into (other), until each was seen N times with "
            "every secret.",
        ),
    ] = 1
    missing: Annotated[
        Treatment,
        typer.Option(
            help="What to do with missing entries: refuse the file, skip such rows, or treat missing as "
            "a category."
        ),
    ] = "refuse"
    missing_distance: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            help="Distance of a missing entry from every other; by default the average distance of "
            "known entries from the best constant.",
        ),
    ] = None
    text: Annotated[
        list[str] | None, typer.Option(help="Column of a CSV file to read as text; may be repeated.")
    ] = None
    number: Annotated[list[str] | None, typer.Option(help="Column to read as numbers; may be repeated.")] = (
        None
    )
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="All labels of the secret, including those that the data lack; once for each --secret.",
        ),
    ] = None
    values: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="All labels of the value, including those that the data lack; once for each --value.",
        ),
    ] = None
    order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=A,B,…", help="Order of a column's labels. Distances are then differences of ranks."
        ),
    ] = None
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N|auto|COL=N",
            help="Cut a numeric value column into N bins with equal shares of the rows; COL=N for one "
            "of several columns.",
        ),
    ] = None
    bin_width: Annotated[
        list[str] | None,
        typer.Option(
            metavar="W|COL=W",
            help="Cut a numeric value column into bins of this width; COL=W for one of several columns.",
        ),
    ] = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    show_labels: ShowLabels = False

    def counter(
        self,
        command: typer.Context,
        data: Path,
        after: Sequence[rldp.Protocol] | dict[str, rldp.Protocol] = (),
    ) -> Counter:
        """Return an object that counts the rows of a file, or holds the counts of a sample file.

        Columns that the protocols in ``after`` published are read as these protocols read them.
        """
        if is_sample_file(data):
            sample = self._counted_before(command, data)
            return Counter(self, None, lambda: sample)
        for option, columns in (("--secret", self.secret), ("--value", self.value)):
            if not columns:
                raise typer.BadParameter("must be given with DATA", param_hint=option)
        assert self.secret is not None
        assert self.value is not None
        source = command.with_resource(opened(data, Dialect(self.delimiter, self.encoding)))
        count = partial(
            rldp.Sample.from_data,
            source,
            secret=self.secret,
            value=self.value,
            secrets=_alphabets("secret", self.secret, self.secrets),
            values=_alphabets("value", self.value, self.values),
            missing=self.missing,
            missing_distance=self.missing_distance,
            text=self.text or (),
            number=self.number or (),
            order=order_of(self.order),
            given=self.given or (),
            rare=self.rare,
            after=after,
            show_labels=self.show_labels,
        )
        return Counter(self, source, count)

    def _counted_before(self, command: typer.Context, path: Path) -> rldp.Sample:
        """Return the sample of a file; options for columns must agree with it, unless they are defaults."""
        sample = rldp.Sample.load(path)
        if sample.reading is not None:
            for option, columns, own in (
                ("--secret", self.secret, sample.reading.secret_names),
                ("--value", self.value, sample.reading.value_names),
                ("--given", self.given, sample.reading.given_names),
            ):
                if columns and tuple(columns) != own:
                    wanted = ", ".join(map(repr, own))
                    raise InvalidArgument(f"{option} must be what {path} holds, {wanted}, or not be given")
        for field in fields(self):
            if field.name not in ("secret", "value", "given") and is_on_command_line(command, field.name):
                option = f"--{field.name.replace('_', '-')}"
                raise InvalidArgument(
                    f"{option} must be given to 'rldp sample', since {path} is read already"
                )
        return sample


@dataclass(frozen=True)
class Counter:
    """Counts the rows of a file in a given number of bins; without a source, they were counted before."""

    options: Counting
    source: Source | None
    count: Callable[..., rldp.Sample]

    def sample(
        self, epsilon: float | None = None, distortion: str = "squared", **promises: Any
    ) -> rldp.Sample:
        """Return the sample; ``--bins auto`` compares several numbers of bins at ``epsilon``."""
        sample = self._sample(epsilon, distortion, **promises)
        if len(sample.secrets) == 1:
            warn(
                "the secret has a single label, so there is nothing to protect; perhaps it is another column"
            )
        return sample

    def advise_bins(self, sample: rldp.Sample, distortion: str) -> None:
        """Warn before the work if a table is too fine to be worth designing for."""
        if self.is_fine(sample, distortion):
            warn(
                f"{len(sample.values)} values are many for {sample.n} rows: --bins 8, or another number, is "
                "quicker and promises less distortion"
            )

    def is_fine(self, sample: rldp.Sample, distortion: str) -> bool:
        """Return whether a sample has many numbers as values, and no option says how to read them."""
        if self.source is None or not is_fine(sample, distortion):
            return False
        given, value = self.options, self.options.value or ()
        told = {*(given.text or ()), *(given.number or ()), *order_of(given.order)}
        return not given.values and len(value) == 1 and value[0] not in told

    def _sample(self, epsilon: float | None, distortion: str, **promises: Any) -> rldp.Sample:
        if self.source is None:
            return self.count()
        if self.options.bins == ["auto"]:
            if epsilon is None:
                raise InvalidArgument("--bins must be a number here, since auto needs one ε, got auto")
            with progress("Trying bins"):
                cut = best(lambda bins: self.count(bins=bins), epsilon, distortion=distortion, **promises)
            note(f"{cut.bins} bins promise the smallest distortion of {', '.join(map(str, CANDIDATES))}")
            counted = cut.sample
        else:
            counted = self.count(
                bins=_numbers("--bins", self.options.bins, int),
                bin_width=_numbers("--bin-width", self.options.bin_width, float),
            )
        self._note_delimiter(self.source)
        return counted

    def _note_delimiter(self, source: Source) -> None:
        """Print the delimiter, if it was not given and is not a comma."""
        from rldp.data.headers import located

        if source.parquet or source.dialect.delimiter is not None:
            return
        columns = [*(self.options.secret or ()), *(self.options.given or ()), *(self.options.value or ())]
        delimiter = located(source, columns).source.dialect.delimiter
        if delimiter != ",":
            note(f"{source} is read with the delimiter {delimiter!r}")


@dataclass(frozen=True, kw_only=True)
class Noising:
    """Noise on the counts of a confidential table."""

    noise: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            help="Add discrete Laplace noise to every count, once. The noisy counts of a confidential table "
            "are then E-differentially private, and you may publish them.",
        ),
    ] = None
    rows_a_person: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            help="With --noise: the largest number of rows of one person. The noise is M times as large.",
            show_default="1",
        ),
    ] = None

    def sample(self, count: Callable[[], rldp.Sample], counting: Counting) -> rldp.Sample:
        """Return the counts with the requested noise; warn of labels that were found in the table."""
        if self.noise is None:
            if self.rows_a_person is not None:
                raise InvalidArgument("--rows-a-person must be given with --noise, got no --noise")
            return count()
        if counting.bins:
            raise InvalidArgument("--bins must be left out with --noise, since they depend on exact counts")
        if not counting.secrets or counting.values is None:
            warn(
                "labels that occur in a confidential table are facts about people: give --secrets and "
                "--values, unless all labels are public"
            )
        try:
            return count().noisy(
                self.noise, rows_a_person=1 if self.rows_a_person is None else self.rows_a_person
            )
        except InvalidArgument as error:  # the library's name of the level is that of --epsilon here
            raise InvalidArgument(str(error).replace("epsilon must", "--noise must", 1)) from None


class Measured(TypedDict):
    """The distortion, as :func:`rldp.design` accepts it."""

    distortion: Distortion | dict[str, Distortion]
    weights: dict[str, float] | None
    outputs: list[Label] | dict[str, list[Label]] | None


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """The outputs, and their distances from values."""

    distortions: Annotated[
        list[str] | None,
        typer.Option(
            "--distortion",
            metavar="squared|absolute|hamming|FILE|COL=…",
            help="Distance of an output from the value. FILE is a CSV table with a row for each value "
            "and a column for each output; COL=absolute sets it for one of several columns.",
            show_default="squared",
        ),
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=W",
            help="Weight of one of several columns in the distortion; by default all columns count equally.",
        ),
    ] = None
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…|FILE|COL=…", help="Labels that may be published (in COL); by default the values."
        ),
    ] = None

    @property
    def distortion(self) -> str:
        """Return the distortion of all columns without their own."""
        plain = [text for column, text in _by_column(self.distortions) if not column]
        if len(plain) > 1:
            raise InvalidArgument(f"--distortion must be given once for all columns, got {len(plain)}")
        return plain[0] if plain else "squared"

    def of(self, sample: rldp.Sample) -> Measured:
        """Return the requested distortion and outputs; a table in a file sets both."""
        published = self._outputs()
        weights = _numbers("--weight", self.weight, float)
        if weights is not None and not isinstance(weights, dict):
            raise InvalidArgument(f"--weight must be COL=W, got {weights!r}")
        own: dict[str, Distortion] = {
            column: _named(text) for column, text in _by_column(self.distortions) if column
        }
        if own:
            others = () if sample.reading is None else sample.reading.value_names
            rest: dict[str, Distortion] = {name: _named(self.distortion) for name in others}
            return {"distortion": rest | own, "weights": weights, "outputs": published}
        if self.distortion in DISTORTIONS:
            return {"distortion": self.distortion, "weights": weights, "outputs": published}
        if not Path(self.distortion).exists():
            names = ", ".join(DISTORTIONS)
            raise InvalidArgument(
                f"--distortion must be {names} or a file that exists, got {self.distortion!r}"
            )
        listed, table = distortion_table(Path(self.distortion), sample.values)
        if published not in (None, listed):
            raise InvalidArgument("--outputs must be those of the table of distortions, or not be given")
        return {"distortion": table, "weights": weights, "outputs": listed}

    def _outputs(self) -> list[Label] | dict[str, list[Label]] | None:
        listed = {column: outputs_of(text) for column, text in _by_column(self.outputs)}
        if "" in listed and len(self.outputs or ()) > 1:
            raise InvalidArgument("--outputs must be given once, or as COL=A,B,… for each column")
        return listed.get("", listed) if listed else None


def _by_column(given: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split options such as ``age=6`` into columns and texts; the column is empty if the text is for all."""
    parts = [(text, *text.partition("=")) for text in given or ()]
    return [
        (column, rest) if equals and not Path(text).exists() else ("", text)
        for text, column, equals, rest in parts
    ]


def _named(text: str) -> DistortionName:
    for name in DISTORTIONS:
        if text == name:
            return name
    raise InvalidArgument(f"--distortion COL=… must be one of {', '.join(DISTORTIONS)}, got {text!r}")


def _alphabets(
    role: str, columns: Sequence[str], listed: Sequence[str] | None
) -> dict[str, list[Label]] | None:
    if not listed:
        return None
    if len(listed) != len(columns):
        raise InvalidArgument(
            f"--{role}s must be given once for each --{role}, got {len(listed)} for {len(columns)}"
        )
    return {name: listed_labels(f"--{role}s", text) for name, text in zip(columns, listed, strict=True)}


def _numbers(
    option: str, given: Sequence[str] | None, kind: type[Number]
) -> Number | dict[str, Number] | None:
    """Parse a number such as ``6``, or numbers by column such as ``age=6``."""
    if not given:
        return None
    needed = "a whole number or auto" if kind is int else "a number"
    numbers = {}
    for column, text in _by_column(given):
        try:
            numbers[column] = kind(text)
        except ValueError as error:
            raise InvalidArgument(f"{option} must be {needed}, got {text!r}") from error
    if len(numbers) < len(given) or ("" in numbers and len(numbers) > 1):
        raise InvalidArgument(f"{option} must be given once, or as COL=… once for each column")
    return numbers.get("", numbers)
