"""SVG for a page: elements with escaped labels, axes, and names beside lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from rldp._common.checks import printable

__all__ = [
    "Axis",
    "apart",
    "bar",
    "element",
    "letters",
    "number",
    "path",
    "picture",
    "short",
    "width_of",
    "words",
]

_LETTER = 6.8
"""Average width of a character in the charts, in the units of the drawings."""


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Return an element; text and attributes are escaped, elements are kept.

    A name's last underscore is dropped and others become hyphens; attributes that are None are left out.

    >>> element("text", "a < b", class_="name", text_anchor="end", x=1.0)
    Markup('<text class="name" text-anchor="end" x="1">a &lt; b</text>')
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup(given), Markup("").join(children))


def _plain(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else printable(value)


def words(x: float, y: float, text: object, class_: str = "", *, anchor: str | None = None) -> Markup:
    """Return text in a drawing; ``anchor`` is "middle" or "end" if it does not start at ``x``."""
    return element("text", printable(text), class_=class_ or None, x=x, y=y, text_anchor=anchor)


def path(d: str, class_: str) -> Markup:
    """Return lines along the path ``d``."""
    return element("path", class_=class_, d=d)


def bar(class_: str, x: float, y: float, width: float, height: float) -> Markup:
    """Return a rectangle."""
    return element("rect", class_=class_, x=x, y=y, width=width, height=height)


def picture(width: float, height: float, label: str, *children: str, class_: str = "chart") -> Markup:
    """Return a drawing with the accessible name ``label``."""
    return element(
        "svg",
        *children,
        class_=class_,
        viewBox=f"0 0 {width:g} {height:g}",
        width=float(width),
        height=float(height),
        role="img",
        aria_label=label,
        focusable="false",
    )


def short(label: object, most: int = 14) -> str:
    """Return a label, shortened, with printable characters only."""
    text = printable(label)
    return text if len(text) <= most else text[: most - 1] + "…"


def width_of(text: str) -> float:
    """Return the approximate width of a text."""
    return _LETTER * len(text)


def letters(width: float) -> int:
    """Return how many characters fit into a width."""
    return int(width / _LETTER)


def number(x: float | None, digits: int = 3) -> str:
    """Return a number as people write it; ∞ if infinite, and – if unknown. Whole numbers keep all digits.

    >>> number(0.037440051869), number(48842), number(48842.7), number(float("inf"))
    ('0.0374', '48\u202f842', '48\u202f800', '∞')
    """
    if x is None:
        return "–"
    if math.isinf(x):
        return "∞"
    if x == int(x) and abs(x) < 1e15:
        return f"{int(x):,}".replace(",", "\u202f")
    short = float(f"{x:.{digits}g}")
    return f"{short:.{digits}g}" if abs(short) < 10**digits or abs(short) >= 1e15 else number(short)


@dataclass(frozen=True)
class Axis:
    """Maps numbers from ``low`` to ``high`` to positions from ``start`` to ``end``, maybe by logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(x) if self.log else x for x in (self.low, self.high, value))
        return self.start + (self.end - self.start) * ((at - low) / (high - low) if high > low else 0.5)

    def ticks(self, most: int) -> list[float]:
        """Return round numbers on the axis."""
        return (_log_ticks if self.log else _linear_ticks)(self.low, self.high, most)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.10g}") for k in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        ticks = [float(f"{part}e{power}") for power in powers for part in parts]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(inside) <= most:
            break
    return inside[:: math.ceil(len(inside) / most)] if inside else []


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted ones, in order, at least ``gap`` apart if there is room.

    >>> apart([10.0, 11.0, 50.0], 8.0, 0.0, 60.0)
    [10.0, 18.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    places = [0.0] * len(wanted)
    last = low - gap
    for i in order:
        last = places[i] = max(wanted[i], last + gap, low)
    last = high + gap
    for i in reversed(order):
        last = places[i] = min(places[i], last - gap)
    return places
