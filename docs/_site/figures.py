"""The look of the figures of all examples: that of the library's own figures, at the size of a page."""

from __future__ import annotations

from typing import Any

PAGE = {"figure.dpi": 110, "savefig.dpi": 150, "figure.constrained_layout.use": True, "image.cmap": "Blues"}


def apply(gallery: dict[str, Any], example: str) -> None:
    """Called before each example."""
    import matplotlib
    from cycler import cycler

    from rldp.reporter import plots as _plots

    with _plots.styled():
        style = dict(matplotlib.rcParams)
    backend = {"backend", "backend_fallback", "interactive"}
    matplotlib.rcParams.update({name: value for name, value in style.items() if name not in backend} | PAGE)
    matplotlib.rcParams["axes.prop_cycle"] = cycler(
        color=[look.colour for look in _plots.LOOKS], linestyle=[look.style for look in _plots.LOOKS]
    )
