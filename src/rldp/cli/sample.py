"""``rldp sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldp.cli.app import Json, command, is_quiet, require_writable, warned
from rldp.cli.counting import Counting, Noising
from rldp.cli.machine import picked, show_json
from rldp.errors import InvalidArgument
from rldp.protocol_file.samples import is_sample_file


@command(example="rldp sample people.csv --secret diagnosis --value age -o sample.json", on_sample=True)
def sample(
    command: typer.Context,
    data: Annotated[
        Path, typer.Argument(help="CSV or Parquet file with the public sample; - is standard input.")
    ],
    counting: Counting,
    output: Annotated[Path, typer.Option("--output", "-o", help="Sample file to write (JSON).")],
    noising: Noising,
    as_json: Json = False,
) -> None:
    """Count the columns of a table once, and save the counts and labels in a file.

    The file takes the place of the table in design, frontier, compare, plan and report. It holds how often
    each combination of secret and value was seen, and no rows.
    """
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, data, "the data")
    if is_sample_file(data):
        raise InvalidArgument(f"data must be a table, got {str(data)!r}, which is a sample file already")
    counted = noising.sample(counting.counter(command, data).sample, counting)
    counted.save(output)
    if as_json:
        facts = {
            "sample": output,
            "rows": counted.n,
            **picked(counted, "skipped", "noise", "rows_a_person"),
            "secrets": len(counted.secrets),
            "values": len(counted.values),
            "warnings": warned(),
        }
        show_json(facts, indent=2)
    elif not is_quiet():
        terminal.say(f"{terminal.counted(counted)}, written to {output}")
        terminal.tell(
            "The file holds exact counts. Publish it only if these rows are public."
            if counted.noise is None
            else "The file holds only the noisy counts, so you may publish it."
        )
