"""Options about files that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = ["ShowLabels"]

ShowLabels: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--show-labels",
        help="Let a message show the entry that is no label; it is somebody's.",
    ),
]
