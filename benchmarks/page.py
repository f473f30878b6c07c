"""Pages of docs, section by section: each measurement writes its own and leaves the rest alone."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import rldp

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"


def machine(*packages: str, command: str = "make bench") -> str:
    """What was measured on what, in a sentence."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    system = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return (
        f"Written by `{command}`. Machine: {system};\n"
        f"Python {platform.python_version()}, rldp {rldp.__version__}, {versions}."
    )


def write_section(name: str, text: str, page: Path = PAGE) -> None:
    """Put ``text`` between the marks of its section; a new section comes last."""
    start, end = _marks(name)
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2] if rest else ""
    page.write_text(before.rstrip("\n") + f"\n\n{start}{text.strip()}\n{end}" + after, encoding="utf-8")


def read_section(name: str, page: Path = PAGE) -> str:
    """What stands between the marks of a section."""
    start, end = _marks(name)
    return page.read_text(encoding="utf-8").partition(start)[2].partition(end)[0].strip()


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
