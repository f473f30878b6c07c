"""``rldp release``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rldp._common.checks import Label
from rldp.cli.admission import Conditions, EpsilonAtMost, ExpectSha256, Unproved, admitted
from rldp.cli.app import Json, bar, command, is_quiet, require_writable, say, warn, warned
from rldp.cli.columns import AsSecret, AsValue, NewSecret, NewValue, reading_for
from rldp.cli.files import Delimiter, Encoding, ShowLabels
from rldp.cli.machine import show_json
from rldp.data.labels import NOT_A_LABEL, Alphabet
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
        str | None,
        typer.Option("--released-name", "--as", help="Name of the released column; by default the value's."),
    ] = None,
    allow_original: Annotated[
        bool,
        typer.Option("--allow-original", help="Let --keep copy the secret or the value column as it is."),
    ] = False,
    unproved: Unproved = False,
    epsilon_at_most: EpsilonAtMost = None,
    expect_sha256: ExpectSha256 = None,
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
    --epsilon-at-most says). Its ε covers the released column alone, not what --keep copies beside it.
    """
    from rldp.data.atomic import require_new_folder, require_other_file
    from rldp.data.standard import STANDARD
    from rldp.data.writers import writer_for
    from rldp.releaser.files import release_file
    from rldp.releaser.folders import is_folder
    from rldp.releaser.tables import Step
    from rldp.reporter import terminal

    conditions = Conditions(unproved, epsilon_at_most, expect_sha256)
    if as_json and str(output) == STANDARD:
        raise InvalidArgument("--json must not be given with -o -, where standard output holds the rows")
    if str(output) != STANDARD:
        require_writable(output)
        require_other_file(output, protocol, "the protocol")
    if is_folder(data, output):
        require_new_folder(output, "output")
    else:
        writer_for(output)  # refuses other endings, before the work
    file, verdict = admitted(protocol, conditions)
    if seed is not None:
        warn("with --seed the release is reproducible, for tests only; it protects nobody")
    skipped = 0
    with bar("Releasing") as advance:

        def show(step: Step) -> None:
            nonlocal skipped
            skipped = step.skipped
            advance(step.share, 1.0, f"{step.rows:,} rows")

        rows = release_file(
            file.protocol,
            data,
            output,
            secret=secret or None,
            value=value,
            as_secret=as_secret or None,
            as_value=as_value,
            unknown=_mapped(unknown, file.protocol.values),
            keep=keep or (),
            allow_original=allow_original,
            name=name,
            delimiter=delimiter,
            encoding=encoding,
            show_labels=show_labels,
            jobs=jobs,
            seed=seed,
            callback=show,
        )
    reading = reading_for(file.protocol, secret, value, as_secret, as_value)
    dialect = [
        f"--{option}={given}" for option, given in (("delimiter", delimiter), ("encoding", encoding)) if given
    ]
    _warn_of_kept([str(data), *dialect], reading.secret_names, keep or ())
    if as_json:
        show_json(
            {
                "output": output,
                "rows": rows,
                "skipped": skipped,
                "released": " and ".join(reading.value_names) if name is None else name,
                "kept": keep or [],
                "protocol": protocol,
                "sha256": file.sha256,
                "proved": verdict.ok,
                "epsilon": verdict.epsilon,
                "promise": verdict.promise,
                "warnings": warned(),
            },
            indent=2,
        )
        return
    if is_quiet():
        return
    counted = f"{rows} row{'s' * (rows != 1)} released ({verdict.promise})"
    if skipped:
        counted += f", {skipped} left out for missing entries"
    if str(output) == STANDARD:
        say(counted)  # standard output holds the rows, and nothing else
    else:
        terminal.say(f"{counted}, written to {output}")


def _warn_of_kept(data: Sequence[str], secret: Sequence[str], keep: Sequence[str]) -> None:
    """What a kept column means, with the command that measures it: on the data, where the secrets stand."""
    kept = [column for column in keep if column not in secret]
    if not kept:
        return
    line = shlex.join(["rldp", "audit-release", *data, f"--secret={secret[0]}", f"--released={kept[0]}"])
    others = "" if len(kept) == 1 else ", and the same with each other kept column"
    if len(secret) > 1:
        others += ", and with each other column of the secret"
    warn(
        "ε is that of the released column alone; kept columns are copied as they are and can tell the "
        f"secret. This measures how much {kept[0]!r} tells: {line}{others}"
    )


def _mapped(unknown: str, values: tuple[Label, ...]) -> Label | None:
    """The label that values stand for which the protocol does not know; None if they are refused."""
    if unknown == "refuse":
        return None
    given = unknown.removeprefix("value=")
    code = int(Alphabet(values).of_texts([given])[0])
    if given == unknown or code == NOT_A_LABEL:
        raise InvalidArgument(
            f"--unknown must be refuse or value=LABEL, with a value of the protocol, got {unknown!r}"
        )
    return values[code]
