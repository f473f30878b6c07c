"""Heat maps of a protocol, one for each secret: a row for each value, a column for each output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from rldp._common.checks import Label
from rldp.protocol import Protocol
from rldp.reporter.page.svg import bar, element, picture, short, width_of, words
from rldp.theory.model import Floats

__all__ = ["MOST_ACROSS", "MOST_SECRETS", "cut_sentence", "heat_map", "heat_maps"]

MOST_SECRETS, MOST_ACROSS = 12, 120
"""The largest number of heat maps, and of rows and columns of each."""
_NUMBERED = 20  # columns up to which cells have room for numbers
_SHADES = 20
_LEAST = 0.005  # a smaller probability is left blank
_CELL, _WIDEST = 23.0, 360.0


def heat_maps(protocol: Protocol, *, level: str = "") -> list[tuple[Label, Markup]]:
    """Return each secret with its drawing."""
    drawn = protocol.secrets[:MOST_SECRETS]
    return [
        (secret, heat_map(protocol.matrix[s], protocol.values, protocol.outputs, secret, level=level))
        for s, secret in enumerate(drawn)
    ]


def cut_sentence(protocol: Protocol) -> str:
    """Say which parts of a large table are not drawn; empty for other tables."""
    parts = [
        f"{most} of {len(names)} {what}"
        for what, names, most in (
            ("secrets", protocol.secrets, MOST_SECRETS),
            ("values", protocol.values, MOST_ACROSS),
            ("outputs", protocol.outputs, MOST_ACROSS),
        )
        if len(names) > most
    ]
    return f"The table is large; drawn are the first {', '.join(parts)}." if parts else ""


def heat_map(
    table: Floats, values: Sequence[Label], outputs: Sequence[Label], secret: Label, *, level: str = ""
) -> Markup:
    """Draw P(y | s, u) of one secret: the likelier, the stronger the colour; numbers in per cent."""
    p = table[:MOST_ACROSS, :MOST_ACROSS]
    rows, columns = p.shape
    cell = min(_CELL, _WIDEST / max(columns, rows)) if max(rows, columns) > _NUMBERED else _CELL
    named_rows, named_columns = (
        [short(x, 12) for x in names] for names in (values[:rows], outputs[:columns])
    )
    left = 12 + max(map(width_of, named_rows))
    upright = max(map(width_of, named_columns)) > cell
    top = 8 + (max(map(width_of, named_columns)) if upright else 14)
    every = next(step for step in (1, 2, 5, 10, 20, 50) if step * cell >= 14)
    parts = [bar("ground", left, top, cell * columns, cell * rows)]
    parts += [
        element(
            "g", *_shades(p), class_="cells", transform=f"translate({left:.1f} {top:.1f}) scale({cell:.3f})"
        )
    ]
    if columns <= _NUMBERED:
        parts += _numbers(p, left, top, cell)
    parts += [
        words(left - 6, top + cell * (u + 0.5) + 4, name, "tick", anchor="end")
        for u, name in enumerate(named_rows)
        if u % every == 0
    ]
    parts += [
        _column_name(name, left + cell * (y + 0.5), top - 6, upright)
        for y, name in enumerate(named_columns)
        if y % every == 0
    ]
    label = f"Heat map for the secret {short(secret, 40)}{level}: {rows} values by {columns} outputs."
    size = max(left + cell * columns, 60.0) + 2, top + cell * rows + 2
    return picture(*size, label, *parts, class_="chart heat")


def _column_name(name: str, x: float, y: float, upright: bool) -> Markup:
    if not upright:
        return words(x, y, name, "tick", anchor="middle")
    return element("text", name, class_="tick", transform=f"translate({x + 4:.1f} {y:.1f}) rotate(-90)")


def _shades(p: Floats) -> list[Markup]:
    """Draw all cells of one shade as one path, in units of a cell."""
    shade = np.where(p >= _LEAST, np.clip(np.ceil(p * _SHADES), 1, _SHADES), 0).astype(int)
    paths = []
    for strength in range(1, _SHADES + 1):
        places = np.argwhere(shade == strength)
        if len(places):
            d = "".join(f"M{y} {u}h1v1h-1z" for u, y in places.tolist())
            paths.append(element("path", d=d, fill_opacity=strength / _SHADES))
    return paths


def _numbers(p: Floats, left: float, top: float, cell: float) -> list[Markup]:
    return [
        words(
            left + cell * (y + 0.5),
            top + cell * (u + 0.5) + 4,
            _per_cent(float(p[u, y])),
            "n c" if p[u, y] > 0.72 else "n b" if p[u, y] > 0.55 else "n",
            anchor="middle",
        )
        for u, y in np.argwhere(p >= _LEAST).tolist()
    ]


def _per_cent(p: float) -> str:
    """Return a probability in per cent; only certainty is written as 100."""
    return "100" if p == 1 else f"{min(round(100 * p), 99)}"
