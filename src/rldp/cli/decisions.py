"""Shared by ``rldp frontier``, ``compare`` and ``plan``: lists of numbers, tables in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from rldp.cli.app import require_writable
from rldp.data.atomic import replacing, require_other_file
from rldp.data.meaning import number_of_text
from rldp.errors import InvalidArgument

__all__ = ["Plot", "TableFile", "levels_of", "require_outputs", "sizes_of", "write_results"]

Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Picture to write, as PNG, SVG or PDF; requires matplotlib.")
]
TableFile: TypeAlias = Annotated[
    Path | None, typer.Option("--table", help="CSV file to write all numbers to.")
]
_MOST = 1000


def levels_of(text: str) -> list[float]:
    """Parse levels such as ``0.5,1,2``, or ``0.1:10:30`` for 30 of them from 0.1 to 10, evenly in logs."""
    if ":" not in text:
        return [_number("--epsilons", part) for part in text.split(",") if part.strip()]
    parts = [_number("--epsilons", part) for part in text.split(":")]
    match parts:
        case [low, high, count] if 0 < low <= high and count in range(1, _MOST + 1):
            levels: list[float] = np.geomspace(low, high, int(count)).tolist()
            return levels
    raise InvalidArgument(
        "--epsilons must be a list such as 0.5,1,2 or LOW:HIGH:COUNT such as 0.1:10:30, with at most "
        f"{_MOST} levels, got {text!r}"
    )


def sizes_of(text: str | None, rows: int) -> list[int]:
    """Parse sizes such as ``1000,10000``; by default from a quarter to sixteen times the present rows."""
    if text is None:
        return sorted({max(1, rows * factor // 4) for factor in (1, 2, 4, 8, 16, 32, 64)})
    numbers = [_number("--sizes", part) for part in text.split(",") if part.strip()]
    if any(number != int(number) for number in numbers):
        raise InvalidArgument(f"--sizes must be whole numbers, got {text!r}")
    return [int(number) for number in numbers]


def _number(option: str, text: str) -> float:
    number = number_of_text(text.strip())
    if number is None:
        raise InvalidArgument(f"{option} must be comma-separated numbers, got {text.strip()!r}")
    return float(number)


def require_outputs(plot: Path | None, table: Path | None, *inputs: Path) -> None:
    """Refuse early outputs that cannot be written or that are inputs."""
    if plot is not None:
        from rldp.reporter import plots as _plots

        _plots.kind_of(plot, "--plot")
    for option, output in (("--plot", plot), ("--table", table)):
        if output is not None:
            require_writable(output, option)
            for path in inputs:
                require_other_file(output, path, "what is read", option)


def write_results(results: Any, table: Path | None, plot: Path | None = None) -> None:
    """Write the result as a table and as a picture, if requested."""
    if table is not None:
        _write_table(results.table(), table)
    if plot is not None:
        results.plot(plot)


def _write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns as a CSV file that appears whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    with replacing(path, name="--table") as file:
        file.write(text.getvalue().encode())
