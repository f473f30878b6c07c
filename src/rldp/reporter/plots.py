"""The common style of all figures. The only module that imports matplotlib.

Lines differ by colour, marker and dashes, so that figures are readable in grey and by people with colour
blindness. Lines are labelled at their ends, not in a box, and the fixed parameters (ε, the set, n) are below
the axes. The same calls always give the same bytes: files have no dates, and neither the user's settings nor
the state of :mod:`matplotlib.pyplot` is used. Several threads may draw at the same time.

>>> from rldp.reporter import plots as _plots
>>> figure, (axes,) = _plots.new_figure(title="Less is more", caption=_plots.facts(epsilon=0.5, n=15_000))
>>> _plots.line(axes, [1, 2, 3], [3, 2, 1], _plots.LOOKS[0], label="ours")
>>> _plots.name_axes(axes, x="ε", y="distortion")
>>> _plots.label_lines(axes)  # last, when all lines are there
>>> _plots.content(figure, "svg")[:5]
b'<?xml'
"""

from __future__ import annotations

import io
import math
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import chain, cycle
from os import PathLike
from typing import Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from rldp._common.checks import shown
from rldp._common.process import needs
from rldp.data.atomic import checked_path, replacing
from rldp.errors import FileError, InvalidArgument

with needs("drawing figures", "matplotlib", install="robust-ldp[plots]"):
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Annotation, Text
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
    from matplotlib.transforms import Bbox

__all__ = [
    "LOOKS",
    "PROMISE_LOOKS",
    "WIDTH",
    "Axes",
    "Figure",
    "Look",
    "content",
    "facts",
    "kind_of",
    "label_lines",
    "legend",
    "level",
    "line",
    "log_axis",
    "looks_of",
    "name_axes",
    "new_figure",
    "number",
    "points",
    "save",
    "share_axis",
    "styled",
]

WIDTH = 6.4
"""Width in inches. With ``_DPI`` a figure is 1600 pixels wide, and its text is readable at 400."""

_DPI = 250
_INK, _QUIET, _GRID = "#222222", "#595959", "#dddddd"
_STYLE = {
    "figure.dpi": _DPI,
    "savefig.dpi": _DPI,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _QUIET,
    "axes.linewidth": 0.8,
    "axes.labelsize": 9.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.xmargin": 0.02,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "xtick.color": _QUIET,
    "ytick.color": _QUIET,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
    "pdf.fonttype": 42,
    "svg.hashsalt": "rldp",
}
_CAPTION_SIZE, _TITLE_SIZE = 8.0, 10.5
_MOST_LETTERS = 22.0  # of a caption per inch: an upper bound
_NO_DATES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_AREAS = {"D": 0.8, "P": 1.25, "X": 1.25, "*": 1.9}  # so that markers appear equal in size
_AIR = 1.12  # height of a label with the space above it, over its height
_MOST_MARKERS = 12
_CONTRAST = 4.5  # of text on white, as required by WCAG

_one_at_a_time = threading.RLock()  # matplotlib's settings are shared by all threads

Floats = NDArray[np.float64]
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Look:
    """The style of a line or a cloud of points; each attribute alone distinguishes it.

    Attributes
    ----------
    colour : str
    marker : str
    dashes : tuple of float
        Alternating lengths of dashes and gaps, in line widths; empty for a solid line.
    """

    colour: str
    marker: str
    dashes: tuple[float, ...] = ()

    @property
    def style(self) -> Literal["solid"] | tuple[float, tuple[float, ...]]:
        """The dashes in matplotlib's format."""
        return (0, self.dashes) if self.dashes else "solid"


LOOKS = (
    Look("#0072B2", "o"),  # blue
    Look("#D55E00", "s", (5, 1.5)),  # vermilion
    Look("#009E73", "^", (1.5, 1.2)),  # bluish green
    Look("#000000", "D", (6, 1.5, 1.2, 1.5)),  # black
    Look("#CC79A7", "v", (3, 1.2)),  # reddish purple
    Look("#E69F00", "P", (4, 1.2, 1.2, 1.2, 1.2, 1.2)),  # orange
    Look("#56B4E9", "X", (8, 2)),  # sky blue
    Look("#882255", "*", (2, 2)),  # wine
)
"""Okabe and Ito's colours, with wine instead of yellow, which is hard to see on white."""


PROMISE_LOOKS = {
    "credible": LOOKS[0],
    "pairs": LOOKS[1],
    "chi2": LOOKS[3],
    "all": LOOKS[2],
    "nominal": LOOKS[5],
    "cr": LOOKS[4],
    "g": LOOKS[6],
}
"""The look of each promise in every figure, by its name on the command line."""


def looks_of(promises: Iterable[str]) -> list[Look]:
    """Return a look for each name: that of a known promise, or an unused one for other names."""
    names = list(promises)
    taken = [PROMISE_LOOKS[name] for name in names if name in PROMISE_LOOKS]
    left = cycle([look for look in LOOKS if look not in taken] or LOOKS)
    return [PROMISE_LOOKS[name] if name in PROMISE_LOOKS else next(left) for name in names]


@contextmanager
def styled() -> Iterator[None]:
    """Apply the settings of this module instead of the user's, for direct calls of matplotlib methods."""
    with _one_at_a_time, matplotlib.style.context(["default", _STYLE]):
        yield


def _in_style(draw: Callable[_P, _R]) -> Callable[_P, _R]:
    @wraps(draw)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with styled():
            return draw(*args, **kwargs)

    return drawn


@_in_style
def new_figure(
    *,
    title: str = "",
    caption: str = "",
    panels: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (WIDTH, 4.0),
    share_y: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with its axes, row by row.

    Parameters
    ----------
    title : str
        The content of the figure, in one line.
    caption : str
        Fixed parameters and counts, see :func:`facts`. It is wrapped and placed below the axes.
    panels : (int, int)
        Rows and columns of axes.
    size : (float, float)
        Inches; a figure of the usual width is 1600 pixels wide as a PNG.
    share_y : bool
        Whether all axes share one vertical scale.
    """
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(*panels, squeeze=False, sharey=share_y)
    edge = 0.05 / size[0]
    if title:
        figure.suptitle(title, x=edge, ha="left", fontsize=_TITLE_SIZE, fontweight="bold")
    if caption:
        _write_caption(figure, caption, edge)
    return figure, list(axes.ravel())


def _write_caption(figure: Figure, caption: str, edge: float) -> None:
    """Write the caption below the axes, wrapped to the width of the figure."""
    text = figure.supxlabel("", x=edge, ha="left", fontsize=_CAPTION_SIZE, color=_QUIET, linespacing=1.35)
    room = (1 - 2 * edge) * figure.bbox.width
    most = int(_MOST_LETTERS * figure.get_figwidth())
    lines = [_kept_together(part, most // 2) for part in caption.split("\n")]
    for letters in range(most, 0, -1):
        broken = chain.from_iterable(textwrap.wrap(part, letters, break_on_hyphens=False) for part in lines)
        text.set_text("\n".join(line.rstrip("\u00a0· ") for line in broken))
        if text.get_window_extent().width <= room:
            return


def _kept_together(line: str, longest: int) -> str:
    """Return the line with breakable spaces only between facts, and within long ones."""
    parts = [part if len(part) > longest else part.replace(" ", "\u00a0") for part in line.split(" · ")]
    return "\u00a0· ".join(parts)


def facts(*more: str, epsilon: float | None = None, uncertainty: str = "", n: int | None = None) -> str:
    """Return a caption with the fixed parameters.

    >>> facts("median and middle half of 30 truths", epsilon=0.5, uncertainty="χ² set, α = 0.05", n=15_000)
    'ε = 0.5 · χ² set, α = 0.05 · n = 15\u202f000 · median and middle half of 30 truths'
    """
    known = [
        "" if epsilon is None else f"ε = {epsilon:g}",
        uncertainty,
        "" if n is None else f"n = {number(n)}",
        *more,
    ]
    return " · ".join(part for part in known if part)


def number(x: float) -> str:
    """Format a number compactly: 0.05, 750, 15 000, and powers of ten from 10⁶ on."""
    sign, size = "−" if x < 0 else "", abs(x)
    if size == 0 or 1e-3 <= size < 1e6:
        whole, _, part = f"{size:.6g}".partition(".")
        return sign + f"{int(whole):,}".replace(",", "\u202f") + (f".{part}" if part else "")
    power = math.floor(math.log10(size))
    lead = f"{size / 10.0**power:.3g}"
    small = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return sign + ("" if lead == "1" else f"{lead}·") + f"10{small}"


@_in_style
def line(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    look: Look,
    *,
    label: str = "",
    band: tuple[ArrayLike, ArrayLike] | None = None,
) -> None:
    """Draw a line with markers, and a band from ``band[0]`` to ``band[1]`` around it.

    :func:`label_lines` and :func:`legend` show the ``label``.
    """
    xs = np.asarray(x, dtype=float)
    if band is not None:
        axes.fill_between(xs, *band, color=look.colour, alpha=0.1, linewidth=0, zorder=1.5)
        for edge in band:
            axes.plot(xs, edge, color=look.colour, alpha=0.7, linewidth=0.7, linestyle=look.style, label="_")
    axes.plot(
        xs,
        y,
        color=look.colour,
        marker=look.marker,
        markevery=max(1, math.ceil(len(xs) / _MOST_MARKERS)),
        markeredgecolor="white",
        markeredgewidth=0.5,
        linestyle=look.style,
        label=label or "_",
    )


@_in_style
def points(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    look: Look,
    *,
    label: str = "",
    hollow: bool = False,
    size: float = 26,
) -> None:
    """Draw points; use hollow ones for limits that are not measurements, or below other points."""
    face, edge, width = ("none", look.colour, 1.0) if hollow else (look.colour, "white", 0.4)
    axes.scatter(
        x,
        y,
        s=size * _AREAS.get(look.marker, 1.0),
        marker=look.marker,
        facecolors=face,
        edgecolors=edge,
        linewidths=width,
        label=label or "_",
    )


@_in_style
def level(
    axes: Axes,
    value: float,
    text: str = "",
    *,
    axis: Literal["x", "y"] = "y",
    end: Literal["left", "right"] = "left",
) -> None:
    """Draw a thin dotted line across the axes at ``value``, with a label inside the axes.

    Call it after the data and the scale of the axes are set. The label of a horizontal line is at its left or
    right ``end``.
    """
    quiet = {"color": _QUIET, "linewidth": 1.0, "linestyle": (0, (1, 1.5)), "zorder": 1.2}
    if axis == "y":
        axes.axhline(value, **quiet)  # type: ignore[arg-type]
        where, at = axes.get_yaxis_transform(), (float(end == "right"), value)
        side, beside = end, (4 if end == "left" else -4, 2)
    else:
        axes.axvline(value, **quiet)  # type: ignore[arg-type]
        axes.get_xlim()  # updates the limits from the data
        along = axes.transAxes.inverted().transform(axes.transData.transform((value, 1.0)))[0]
        where, at = axes.get_xaxis_transform(), (value, 1.0)
        side, beside = ("left", (3, -9)) if along < 0.8 else ("right", (-3, -9))
    words = axes.annotate(text, at, xycoords=where, xytext=beside, textcoords="offset points", ha=side)
    words.set(color=_QUIET, fontsize=8, in_layout=False)
    words.set_path_effects([withStroke(linewidth=2, foreground="white")])


@_in_style
def log_axis(axes: Axes, axis: Literal["x", "y"], *, ticks: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic, with plain numbers as tick labels."""
    chosen = _scaled(axes, axis, "log", ticks)
    if ticks is None:
        chosen.set_major_locator(_LogTicks())
    else:
        chosen.set_minor_locator(NullLocator())
    chosen.set_minor_formatter(NullFormatter())


@_in_style
def share_axis(axes: Axes, axis: Literal["x", "y"], *, ticks: Sequence[float] | None = None) -> None:
    """Give an axis for shares between 0 and 1, both excluded, equal room near 0 and near 1 (logit)."""
    _scaled(axes, axis, "logit", ticks).set_minor_locator(NullLocator())


def _scaled(axes: Axes, axis: Literal["x", "y"], scale: str, ticks: Sequence[float] | None) -> Axis:
    (axes.set_xscale if axis == "x" else axes.set_yscale)(scale)
    chosen = axes.xaxis if axis == "x" else axes.yaxis
    if ticks is not None:
        chosen.set_ticks(list(ticks))
    chosen.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    return chosen


class _LogTicks(LogLocator):
    """Ticks at powers of ten, plus multiples by 2 and 5 if these are few."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        few = math.log10(max(vmax / max(vmin, 1e-300), 1.0)) < 2.5
        self.set_params(subs=(1.0, 2.0, 5.0) if few else (1.0,))
        return super().tick_values(vmin, vmax)


@_in_style
def name_axes(axes: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Set the axis labels, and a title for one panel among several."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title)


@_in_style
def legend(axes: Axes, *, columns: int = 1) -> None:
    """Add a legend right of the axes, or above them in columns, for points, which cannot be labelled."""
    if columns == 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, handletextpad=0.3)
    else:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            ncols=columns,
            handletextpad=0.4,
            columnspacing=1.2,
        )


@_in_style
def label_lines(axes: Axes) -> None:
    """Label every line at its end, without overlaps. Call it last.

    Labels are to the right of the axes in the order of the line ends, as near to them as their heights allow
    (constrained least squares, an isotonic regression), and are joined to the lines by dots. Lines without a
    name or a finite point are not labelled.
    """
    ends = [place for each in axes.get_lines() if (place := _end(each)) is not None]
    if not ends:
        return
    written = [_written(axes, *end) for end in ends]
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # no subfigures here
    box = axes.get_window_extent()
    heights = np.array([_text_box(text).height for text in written]) * _AIR
    wanted = np.array([axes.transData.transform((x, y))[1] for _, _, x, y in ends])
    for text, at in zip(written, _apart(wanted, heights, box.y0, box.y1), strict=True):
        text.set_y((at - box.y0) / box.height)


def _end(drawn: Line2D) -> tuple[str, str, float, float] | None:
    """Return name, colour and last finite point of a line."""
    label, xy = str(drawn.get_label()), np.asarray(drawn.get_xydata())
    finite = xy[np.isfinite(xy).all(axis=1)]
    if label.startswith("_") or not len(finite):
        return None
    x, y = finite[-1]
    return label, str(drawn.get_color()), float(x), float(y)


def _written(axes: Axes, label: str, colour: str, x: float, y: float) -> Annotation:
    dots = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": (0, (1, 1.5))}
    return axes.annotate(
        label,
        (x, y),
        xytext=(1.045, 0.5),
        textcoords="axes fraction",
        color=_readable(colour),
        fontsize=8.5,
        va="center",
        arrowprops={**dots, "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)},
        annotation_clip=False,
    )


def _text_box(text: Text) -> Bbox:
    """Return the bounding box of the text, without the dots that join it to a line."""
    return Text.get_window_extent(text)


def _apart(wanted: Floats, heights: Floats, low: float, high: float) -> Floats:
    """Return the centres nearest to ``wanted`` at which labels of these heights do not overlap.

    They stay between ``low`` and ``high`` if there is room; otherwise both sides overflow equally.
    """
    order = np.argsort(wanted, kind="stable")
    tall = heights[order]
    offset = np.cumsum(tall) - tall / 2  # centre of each in a stack that starts at 0
    bottom = isotonic_regression(wanted[order] - offset).x
    spare = high - low - tall.sum()
    bottom = np.clip(bottom, low, low + spare) if spare >= 0 else np.full_like(bottom, low + spare / 2)
    places: Floats = np.empty_like(wanted)
    places[order] = bottom + offset
    return places


def _readable(colour: str) -> tuple[float, float, float]:
    """Return the colour, darkened until text in it can be read on white."""
    rgb = np.array(to_rgb(colour))
    while 1.05 / (_luminance(rgb) + 0.05) < _CONTRAST:
        rgb = rgb * 0.95
    return float(rgb[0]), float(rgb[1]), float(rgb[2])


def _luminance(rgb: Floats) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@_in_style
def content(figure: Figure, kind: str) -> bytes:
    """Return the figure as the bytes of a file: "png", "svg" or "pdf"."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata=_NO_DATES[kind])
    return buffer.getvalue()


def kind_of(path: str | PathLike[str], name: str = "path") -> str:
    """Return the file type given by the name. Call it before the work whose result is drawn."""
    suffix = checked_path(path).suffix.lower().removeprefix(".")
    if suffix not in _NO_DATES:
        known = ", ".join(f".{kind}" for kind in _NO_DATES)
        raise InvalidArgument(f"{name} must end in one of {known}, got {shown(str(path))}")
    return suffix


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write the figure atomically, in the format given by the file extension.

    Raises
    ------
    InvalidArgument
        If the extension is not supported.
    FileError
        If the file cannot be written.
    """
    drawn = content(figure, kind_of(path))
    with replacing(path, error=FileError) as file:
        file.write(drawn)
