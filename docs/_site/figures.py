"""One look for the figures of all examples: colours that everybody can tell apart, and nothing idle."""

from __future__ import annotations

from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Of Okabe and Ito."""
STYLE = {
    "figure.figsize": (7.0, 4.0),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "font.size": 10.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "image.cmap": "Blues",
}


def apply(gallery: dict[str, Any], example: str) -> None:
    """Called before each example."""
    import matplotlib
    from cycler import cycler

    matplotlib.rcParams.update(STYLE)
    matplotlib.rcParams["axes.prop_cycle"] = cycler(color=COLOURS) + cycler(
        linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
    )
