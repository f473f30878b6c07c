"""Options about files that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rldp.cli.voice import note
from rldp.data.dialects import Dialect
from rldp.data.sources import Source, opened

__all__ = ["Delimiter", "Encoding", "ShowLabels", "given", "note_found_delimiter"]

Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="C",
        help="Column separator of a CSV file; 'tab' for tabs.",
        show_default="comma, semicolon, tab or |, whichever fits",
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="E", help="Encoding of a CSV file, such as latin-1.", show_default="UTF-8"),
]

ShowLabels: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--show-labels",
        help="Show offending values in error messages. They may contain personal data.",
    ),
]


def given(command: typer.Context, data: Path, delimiter: str | None, encoding: str | None) -> Source:
    """Open the data of a command until it ends; standard input can be read only once."""
    return command.with_resource(opened(data, Dialect(delimiter, encoding)))


def note_found_delimiter(source: Source, columns: Sequence[str]) -> None:
    """Say which mark stands between the columns, where it is none that was given and no comma."""
    from rldp.data.readers import located

    if source.parquet or source.dialect.delimiter is not None:
        return
    found = located(source, columns).source.dialect.delimiter
    if found != ",":
        note(f"{source} is read with {found!r} between its columns")
