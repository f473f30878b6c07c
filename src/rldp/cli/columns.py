"""Options that say which columns are meant, for all commands that read data."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import rldp
from rldp.data.reading import Reading
from rldp.data.sources import Source
from rldp.data.wanted import reading_of_new_data

__all__ = [
    "AsSecret",
    "AsValue",
    "Missing",
    "NewSecret",
    "NewValue",
    "new_sample",
    "reading_for",
]

NewSecret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="Column that must not leak; by default the one the protocol names."),
]
NewValue = Annotated[
    list[str] | None,
    typer.Option("--value", help="Column to publish; by default those that the protocol names."),
]
AsSecret = Annotated[
    list[str] | None,
    typer.Option("--as-secret", help="Another column, read as if it were the protocol's secret."),
]
AsValue = Annotated[
    list[str] | None,
    typer.Option("--as-value", help="Another column, read as if it were the protocol's value."),
]


class Missing(StrEnum):
    """What is done about rows with missing entries."""

    refuse = "refuse"
    skip = "skip"
    category = "category"


def reading_for(
    protocol: rldp.Protocol,
    secret: Sequence[str] | None,
    value: Sequence[str] | None,
    as_secret: Sequence[str] | None,
    as_value: Sequence[str] | None,
) -> Reading:
    """How a file is read for a protocol."""
    return reading_of_new_data(
        protocol.reading,
        (protocol.secrets, protocol.values),
        secret=secret or None,
        value=value or None,
        as_secret=as_secret or None,
        as_value=as_value or None,
    )


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
    """A file that is counted as the sample was that the protocol was designed on."""
    return protocol.count(
        data,
        secret=secret or None,
        value=value or None,
        as_secret=as_secret or None,
        as_value=as_value or None,
        show_labels=show_labels,
    )
