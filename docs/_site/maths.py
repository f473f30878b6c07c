"""Mathematics without a request to anybody: MathJax lies beside the pages."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from shutil import copy2, copytree
from typing import Any

PACKAGE = "sphinx-mathjax-offline"
PROGRAM = "tex-chtml.js"
PARTS = ("output/chtml/fonts/woff-v2", "input/tex/extensions")
"""What the program may load later: fonts, and commands of TeX that are seldom used."""


def copy_mathjax(app: Any, failure: Exception | None) -> None:
    """Put the program and its fonts into the site; the package has much more than pages need."""
    if failure is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "mathjax"
        target.mkdir(parents=True, exist_ok=True)
        with as_file(files(PACKAGE) / "static" / "mathjax") as source:
            copy2(source / PROGRAM, target)
            for part in PARTS:
                copytree(source / part, target / part, dirs_exist_ok=True)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.config.mathjax_path = f"mathjax/{PROGRAM}"
    app.config.mathjax3_config = {"chtml": {"mtextInheritFont": True}, "options": {"enableMenu": False}}
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
