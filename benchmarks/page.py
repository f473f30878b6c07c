"""docs/performance.md, section by section: each benchmark writes its own and leaves the rest alone."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import rldp

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"


def machine(*packages: str) -> str:
    """What was measured on what, in a sentence."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    system = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return (
        f"Written by `make bench`. Machine: {system};\n"
        f"Python {platform.python_version()}, rldp {rldp.__version__}, {versions}."
    )


def write_section(name: str, text: str) -> None:
    """Put ``text`` between the marks of its section; a new section comes last."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(start)
    after = rest.partition(end)[2] if rest else ""
    PAGE.write_text(before.rstrip("\n") + f"\n\n{start}{text.strip()}\n{end}" + after, encoding="utf-8")
