"""``rldp release``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.admission import Requirements
from rldp.cli.app import Json, bar, command, is_quiet, note, require_writable, say, warn, warned
from rldp.cli.columns import NewData, chosen
from rldp.cli.machine import show_json
from rldp.errors import InvalidArgument


@dataclass(frozen=True, kw_only=True)
class Releasing(NewData, Requirements):
    """The options of a release, named as in :class:`rldp.ReleaseOptions`."""

    as_earlier: Annotated[
        list[str] | None,
        typer.Option(
            help="Column with the outputs of an earlier release, for a protocol designed --after it; "
            "one for each."
        ),
    ] = None
    unknown: Annotated[
        str,
        typer.Option(
            metavar="refuse|value=LABEL",
            help="What to do with values that the protocol does not know: refuse the file, or read them "
            "as LABEL.",
        ),
    ] = "refuse"
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column to copy unchanged beside the released one; may be repeated."),
    ] = None
    released: Annotated[
        list[str] | None,
        typer.Option(
            "--released-name",
            "--as",
            help="Name of the released column, one for each; by default the name of the value column.",
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that identifies people. It must not be kept. Without --key, every draw is new.",
        ),
    ] = None
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help=(
                "File with a secret key, as 'rldp key' writes it. A person with the same secret and value "
                "then always gets the same output. Requires --id."
            ),
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="File that records releases. A second draw of the same people is refused.",
        ),
    ] = None
    again: Annotated[bool, typer.Option("--again", help="Release people again who are in the ledger.")] = (
        False
    )
    allow_original: Annotated[
        bool,
        typer.Option("--allow-original", help="Let --keep copy the secret or the value column."),
    ] = False
    allow_identifier: Annotated[
        bool,
        typer.Option("--allow-identifier", help="Let --keep copy a column that identifies people."),
    ] = False
    allow_drift: Annotated[
        bool,
        typer.Option("--allow-drift", help="Release rows that differ from the protocol's sample."),
    ] = False
    allow_absence: Annotated[
        bool,
        typer.Option(
            "--allow-absence",
            help="Leave out rows with missing entries, even if their absence reveals more than ε, or if "
            "nobody can tell because the secret is not read.",
        ),
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output file.")] = False


@command(example="rldp release protocol.json everyone.csv --keep region -o released.csv")
def release(
    protocol: Annotated[Path, typer.Argument(help="Protocol file that 'rldp design' wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file to release, or folder of Parquet files; - is standard input."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .csv.gz, .csv.zst, .parquet, .pq or .xlsx; - is standard output. "
            "If DATA is a folder, a new folder, whose name has no extension.",
        ),
    ],
    asked: Releasing,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of files of a folder to release in parallel.", show_default="one for each processor"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Reproducible draws, for tests only: whoever knows the seed can undo the randomisation."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Release a column of a file: draw an output for every row.

    The protocol is verified first. It is refused unless it proves a finite ε of at most 10, or at most
    --max-epsilon. ε covers the released column, not the columns that --keep copies beside it. Files are
    streamed, so memory stays constant.
    """
    from rldp.data.standard import STANDARD
    from rldp.releaser.files import Step
    from rldp.releaser.options import DRAWN_ONCE, ReleaseOptions
    from rldp.reporter import terminal

    options = ReleaseOptions(**chosen(asked))
    if as_json and str(output) == STANDARD:
        raise InvalidArgument("--json must not be given with -o -, because standard output holds the rows")
    if str(output) != STANDARD:
        require_writable(output)
    if seed is not None:
        warn("with --seed the release is reproducible, for tests only; it protects nobody")
    with bar("Releasing") as advance:

        def show(step: Step) -> None:
            advance(step.share, 1.0, f"{step.rows:,} rows")

        done = rldp.release_file(protocol, data, output, options=options, jobs=jobs, seed=seed, callback=show)
    if done.drift is not None:
        warn(f"the promise may not hold for these rows, which differ {done.drift}")
    verdict = done.verdict
    assert verdict is not None  # of a file there is one
    if as_json:
        show_json(
            {
                "output": output,
                "rows": done.rows,
                "skipped": done.skipped,
                "released": list(done.released),
                "kept": list(done.kept),
                "protocol": protocol,
                "sha256": done.sha256,
                "proved": verdict.ok,
                "epsilon": verdict.epsilon,
                "promise": verdict.promise,
                "covers": done.covers,
                "leakage": done.leakage,
                "absence": done.absence,
                "drift": done.drift,
                "key": done.key,
                "warnings": warned(),
            },
            indent=2,
        )
        return
    if is_quiet():
        return
    which = "these columns" if len(done.released) > 1 else "this column"
    alone = f"; {which} alone, released once{done.outside}" if verdict.epsilon not in (None, math.inf) else ""
    counted = f"{done.rows} row{'s' * (done.rows != 1)} released ({verdict.promise}{alone})"
    if done.skipped:
        counted += f", {done.skipped} left out for missing entries"
        if done.absence is not None:
            counted += f" (being left out has ε = {done.absence:.3g} among them all)"
    if str(output) == STANDARD:  # which holds the rows, and nothing else
        if done.key is not None:
            note(DRAWN_ONCE)
        say(counted)
    else:
        if done.key is not None:
            terminal.tell(DRAWN_ONCE)
        terminal.say(f"{counted}, written to {output}")
