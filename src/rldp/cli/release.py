"""``rldp release``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.cli.admission import EpsilonAtMost, ExpectSha256, Require, Unproved
from rldp.cli.app import Json, bar, command, is_quiet, note, require_writable, say, warn, warned
from rldp.cli.columns import AsSecret, AsValue, Delimiter, Encoding, NewSecret, NewValue, ShowLabels
from rldp.cli.machine import show_json
from rldp.errors import InvalidArgument


@command(example="rldp release protocol.json everyone.csv --keep region -o released.csv")
def release(
    protocol: Annotated[Path, typer.Argument(help="Protocol file that 'rldp design' wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file, or folder of Parquet files, to release; - is standard input."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .csv.gz, .csv.zst, .parquet or .pq; - is standard output. A folder is "
            "released into a new folder, whose name has no ending.",
        ),
    ],
    secret: NewSecret = None,
    value: NewValue = None,
    as_secret: AsSecret = None,
    as_value: AsValue = None,
    as_earlier: Annotated[
        list[str] | None,
        typer.Option(
            help="For a protocol designed --after others: column that holds their output; one for each."
        ),
    ] = None,
    unknown: Annotated[
        str,
        typer.Option(
            metavar="refuse|value=LABEL",
            help="Values that the protocol does not know: refuse the file, or read them as LABEL.",
        ),
    ] = "refuse",
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to copy beside the released one; may be repeated.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--released-name",
            "--as",
            help="Name of the released column, one for each; by default the values'.",
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Column that identifies people, which must not be kept.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="File of a secret key ('rldp key'): each person's output stays as long as secret and value "
            "stay. Needs --id.",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="File to which the release adds a line. A second draw of the same input is then refused.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Release an input that the ledger shows as released before.")
    ] = False,
    allow_original: Annotated[
        bool,
        typer.Option("--allow-original", help="Let --keep copy the secret or the value column as it is."),
    ] = False,
    allow_identifier: Annotated[
        bool,
        typer.Option("--allow-identifier", help="Let --keep copy a column that identifies people."),
    ] = False,
    allow_drift: Annotated[
        bool,
        typer.Option("--allow-drift", help="Release rows that differ from what the protocol was made for."),
    ] = False,
    allow_absence: Annotated[
        bool,
        typer.Option(
            "--allow-absence", help="Leave rows with missing entries out, even if that tells more than ε."
        ),
    ] = False,
    unproved: Unproved = False,
    epsilon_at_most: EpsilonAtMost = None,
    require: Require = None,
    expect_sha256: ExpectSha256 = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output file that exists.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    show_labels: ShowLabels = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Files of a folder that are released at a time.", show_default="as many as processors"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="For tests only: reproducible draws, which whoever knows the seed can undo."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Release a column of a file: draw an output for every row, in constant memory.

    The protocol is verified first, and refused unless it proves a finite ε of at most 10 (or what
    --max-epsilon says). Its ε covers the released column alone, not what --keep copies beside it.
    """
    from rldp.data.standard import STANDARD
    from rldp.releaser.files import Step
    from rldp.releaser.options import DRAWN_ONCE, ReleaseOptions
    from rldp.reporter import terminal

    options = ReleaseOptions(
        secret=secret or None,
        value=value or None,
        as_secret=as_secret or None,
        as_value=as_value or None,
        as_earlier=as_earlier or None,
        unknown=unknown,
        keep=keep or (),
        released=name or None,
        id=id,
        key=key,
        ledger=ledger,
        again=again,
        allow_original=allow_original,
        allow_identifier=allow_identifier,
        allow_drift=allow_drift,
        allow_absence=allow_absence,
        unproved=unproved,
        epsilon_at_most=epsilon_at_most,
        require=require or (),
        expect_sha256=expect_sha256,
        delimiter=delimiter,
        encoding=encoding,
        show_labels=show_labels,
        force=force,
    )
    if as_json and str(output) == STANDARD:
        raise InvalidArgument("--json must not be given with -o -, where standard output holds the rows")
    if str(output) != STANDARD:
        require_writable(output)
    if seed is not None:
        warn("with --seed the release is reproducible, for tests only; it protects nobody")
    with bar("Releasing") as advance:

        def show(step: Step) -> None:
            advance(step.share, 1.0, f"{step.rows:,} rows")

        done = rldp.release_file(protocol, data, output, options=options, jobs=jobs, seed=seed, callback=show)
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
