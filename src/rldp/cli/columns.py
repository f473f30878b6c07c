"""Options for reading files and naming columns, for all commands that read data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import typer

__all__ = ["Delimiter", "Encoding", "NewData", "ShowLabels", "chosen"]

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


@dataclass(frozen=True, kw_only=True)
class NewData:
    """New data, whose columns are read as a protocol reads them."""

    secret: Annotated[
        list[str] | None, typer.Option(help="Column that must not leak; by default the protocol's.")
    ] = None
    value: Annotated[list[str] | None, typer.Option(help="Column to publish; by default the protocol's.")] = (
        None
    )
    as_secret: Annotated[
        list[str] | None, typer.Option(help="Column to read in place of the protocol's secret column.")
    ] = None
    as_value: Annotated[
        list[str] | None, typer.Option(help="Column to read in place of the protocol's value column.")
    ] = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    show_labels: ShowLabels = False


def chosen(options: object) -> dict[str, Any]:
    """Return the options of a group that were set; for the others, the library has defaults."""
    return {name: value for name, value in vars(options).items() if value not in (None, [])}
