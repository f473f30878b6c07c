"""Heat maps of protocols for the terminal, readable without colour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text

from rldp._common import html as _html
from rldp._common.checks import Label, printable
from rldp.protocol import Protocol

__all__ = ["heat_map", "spaced"]

MOST_SECRETS = 6
MOST_ROWS = 40
_LONGEST = 12  # letters of a label
_NUMBER = 7  # letters of a cell with shade and number
_SHADES = " ·░▒▓█"
_LIMITS = (0.001, 0.05, 0.2, 0.5, 0.8, 1.0)
_COLOURS = ("grey30", "blue", "cyan", "green", "yellow", "red")
_CORNER = "u \\ y"


def heat_map(protocol: Protocol, *, width: int = 80) -> RenderableType:
    """Draw P(y | s, u) for every secret: rows are values, columns are outputs, darker is likelier.

    Numbers stand beside the shades if they fit. Large tables are cut: evenly spaced values and outputs, and
    the first six secrets, are shown, and a line says so.

    Parameters
    ----------
    protocol : Protocol
    width : int
        Width of the terminal, in characters.
    """
    names = [_name(value) for value in protocol.values]
    margin = max(map(cell_len, [_CORNER, *names])) + 1
    heads = [_name(output) for output in protocol.outputs]
    numbers = margin + _NUMBER * len(heads) <= width
    cell = _NUMBER if numbers else max(3, 1 + max(cell_len(head[:4]) for head in heads))
    columns = spaced(len(heads), (width - margin) // cell)
    same = protocol.values == protocol.outputs
    rows = columns if same and len(columns) < len(heads) else spaced(len(names), MOST_ROWS)
    rows = rows[:: -(-len(rows) // MOST_ROWS)]
    secrets = protocol.secrets[:MOST_SECRETS]
    parts: list[RenderableType] = []
    for s, secret in enumerate(secrets):
        parts.append(Text(f"P(y | {_html.short(secret)}, u)", style="bold"))
        parts.append(_line(_CORNER, margin, [Text(_right(heads[y], cell - 1)) for y in columns]))
        for u in rows:
            cells = [_cell(protocol.matrix[s, u, y], cell - 1, numbers) for y in columns]
            parts.append(_line(names[u], margin, cells))
        parts.append(Text())
    shown = {
        "secrets": (len(secrets), len(protocol.secrets)),
        "values": (len(rows), len(names)),
        "outputs": (len(columns), len(heads)),
    }
    return Group(*parts, *_notes(numbers, shown))


def _name(label: Label) -> str:
    text = printable(label)
    return text if cell_len(text) <= _LONGEST else set_cell_size(text, _LONGEST - 1) + "…"


def _right(text: str, width: int) -> str:
    """Cut a text, or pad it on the left, to ``width`` characters of the terminal."""
    cut = text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
    return " " * (width - cell_len(cut)) + cut


def spaced(count: int, most: int) -> list[int]:
    """Return at most ``most`` of ``count`` positions, evenly spaced, including the first and the last."""
    if count <= most:
        return list(range(count))
    return [int(place) for place in np.linspace(0, count - 1, max(most, 1))]


def _line(name: str, margin: int, cells: Sequence[Text]) -> Text:
    return Text(" ").join([Text(_right(name, margin - 1), style="dim"), *cells])


def _cell(probability: float, width: int, numbers: bool) -> Text:
    level = next(i for i, limit in enumerate(_LIMITS) if probability <= limit + 1e-12)
    shade = _SHADES[level] * (1 if numbers else 2)
    number = _html.probability(probability) if level and numbers else ""
    return Text(f"{shade}{number:>{width - 1}}" if numbers else f"{shade:>{width}}", style=_COLOURS[level])


def _notes(numbers: bool, shown: dict[str, tuple[int, int]]) -> list[Text]:
    steps = [f"'{shade * 2}' ≤ {limit:g}" for shade, limit in zip(_SHADES, _LIMITS, strict=True)]
    notes = ["Blank: at most 0.001." if numbers else "Shades: " + "  ".join(steps)]
    cut = [f"{some} of {all_} {what}" for what, (some, all_) in shown.items() if some < all_]
    if cut:
        notes.append(f"Shown: {', '.join(cut)}.")
    return [Text(note, style="dim") for note in notes]
