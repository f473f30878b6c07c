"""Tables for notebooks: self-contained HTML in which labels are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rldp._common.checks import printable

__all__ = ["MOST_COLUMNS", "MOST_TABLES", "grid", "paragraph", "probability", "shade", "short", "shown_of"]

MOST_COLUMNS = 40
"""The largest number of rows and columns of a table."""
MOST_TABLES = 10
_LONGEST = 40
_CELL = "padding:1px 6px;text-align:right"


def grid(
    title: str,
    corner: str,
    columns: Sequence[object],
    rows: Sequence[object],
    cells: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str]] | None = None,
) -> str:
    """Return a table with a title, headings for rows and columns, and optional styles of cells.

    Headings are shortened, and unprintable characters are spelled out.
    """
    head = "".join(f"<th style='{_CELL}'>{escape(short(name))}</th>" for name in columns)
    body = "".join(
        f"<tr><th style='{_CELL}'>{escape(short(name))}</th>{_row(texts, styles[i] if styles else None)}</tr>"
        for i, (name, texts) in enumerate(zip(rows, cells, strict=True))
    )
    caption = f"<caption style='text-align:left'>{escape(printable(title))}</caption>"
    corner = f"<th style='{_CELL}'>{escape(corner)}</th>"
    return f"<table style='border-collapse:collapse'>{caption}<tr>{corner}{head}</tr>{body}</table>"


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escape(printable(text))}</p>"


def probability(p: float) -> str:
    """Return a probability in a few characters; only certainty is written as 0 or 1."""
    if p in (0, 1):
        return f"{p:.0f}"
    return "<0.01" if p < 0.005 else ">0.99" if p > 0.995 else f"{p:.2f}"


def shade(p: float) -> str:
    """Return the style of a cell: the likelier, the darker."""
    return f"background:rgba(66,133,244,{0.75 * p:.2f})"


def shown_of(*axes: tuple[str, int, int]) -> str:
    """Return a note on the axes (name, shown, present) that were cut; empty if none was."""
    if all(shown == present for _, shown, present in axes):
        return ""
    parts = ", ".join(f"{shown} of {present} {name}" for name, shown, present in axes if shown < present)
    return paragraph(f"Shown: {parts}.")


def _row(texts: Sequence[str], styles: Sequence[str] | None) -> str:
    chosen = [f"{_CELL};{style}" for style in styles] if styles else [_CELL] * len(texts)
    return "".join(
        f"<td style='{style}'>{escape(text)}</td>" for style, text in zip(chosen, texts, strict=True)
    )


def short(name: object) -> str:
    """Return a label, shortened, with printable characters only."""
    text = printable(name)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
