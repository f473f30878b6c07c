"""Options for reading files and naming columns, for all commands that read data."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import rldp
from rldp.cli.voice import note
from rldp.data.sources import Dialect, Source, opened

__all__ = [
    "AsSecret",
    "AsValue",
    "Delimiter",
    "Encoding",
    "Missing",
    "NewSecret",
    "NewValue",
    "ShowLabels",
    "given",
    "new_sample",
    "note_found_delimiter",
]

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
NewSecret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="Column that must not leak; by default the protocol's."),
]
NewValue = Annotated[
    list[str] | None,
    typer.Option("--value", help="Column to publish; by default the protocol's."),
]
AsSecret = Annotated[
    list[str] | None,
    typer.Option("--as-secret", help="Column to read in place of the protocol's secret column."),
]
AsValue = Annotated[
    list[str] | None,
    typer.Option("--as-value", help="Column to read in place of the protocol's value column."),
]


class Missing(StrEnum):
    """How missing entries are treated."""

    refuse = "refuse"
    skip = "skip"
    category = "category"


def new_sample(
    protocol: rldp.Protocol,
    data: Path | Source,
    secret: Sequence[str] | None,
    value: Sequence[str] | None,
    as_secret: Sequence[str] | None,
    as_value: Sequence[str] | None,
    *,
    show_labels: bool = False,
) -> rldp.Sample:
    """A file that is counted like the protocol's sample."""
    return protocol.count(
        data,
        secret=secret or None,
        value=value or None,
        as_secret=as_secret or None,
        as_value=as_value or None,
        show_labels=show_labels,
    )


def given(command: typer.Context, data: Path, delimiter: str | None, encoding: str | None) -> Source:
    """Open the data of a command; standard input can be read only once."""
    return command.with_resource(opened(data, Dialect(delimiter, encoding)))


def note_found_delimiter(source: Source, columns: Sequence[str]) -> None:
    """Print the delimiter, if it was not given and is not a comma."""
    from rldp.data.readers import located

    if source.parquet or source.dialect.delimiter is not None:
        return
    delimiter = located(source, columns).source.dialect.delimiter
    if delimiter != ",":
        note(f"{source} is read with the delimiter {delimiter!r}")
