"""Names for what the theme and the gallery leave nameless: folds of the sidebar, links over thumbnails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FOLD = '<summary><span class="toctree-toggle"'
NAMED_FOLD = FOLD.replace("<summary>", '<summary aria-label="Pages of this section">')
THUMBNAIL = re.compile(
    r'(<a class="reference internal" href="[^"]*")(><span class="doc">)([^<]*)'
    r'(?=</span></a></p>\s*<div class="sphx-glr-thumbnail-title">)'
)


def named(page: str) -> str:
    """The page, with a name for each of them."""
    return THUMBNAIL.sub(r'\1 aria-label="\3"\2\3', page.replace(FOLD, NAMED_FOLD))


def _name_all(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            before = path.read_text(encoding="utf-8")
            after = named(before)
            if after != before:
                path.write_text(after, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("build-finished", _name_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
