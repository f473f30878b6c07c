"""Options about files that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = ["Delimiter", "Encoding", "ShowLabels"]

Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="C",
        help="Mark between the columns of a CSV file, also 'tab'.",
        show_default="the one of , ; tab | under which the columns are there",
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
        help="Let a message show the entry that is no label; it is somebody's.",
    ),
]
