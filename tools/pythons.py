"""Find the interpreters of every Python version that the classifiers of pyproject.toml name.

They are looked for on the path and among the builds of pyenv, which nox and uv do not search.

Usage: python tools/pythons.py           a line for each version: its number, its interpreter and the virtual
                                         environment to test it in; '.' for the version this runs on, and
                                         '-' where there is none
       python tools/pythons.py lowest    the interpreter of the lowest version; status 1 if there is none
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
CLASSIFIER = re.compile(r"Programming Language :: Python :: (\d+\.\d+)")


def versions() -> list[str]:
    """The versions that the project says it runs on, as it lists them."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    return [found[1] for text in project["classifiers"] if (found := CLASSIFIER.fullmatch(text))]


def interpreter(version: str) -> str | None:
    """A working interpreter of a version, or None."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = shutil.which(f"python{version}")
    builds = [str(path) for path in sorted(root.glob(f"versions/{version}.*/bin/python"))]
    for candidate in (sys.executable, *([on_path] if on_path else []), *reversed(builds)):
        if _version_of(candidate) == version:
            return Path(candidate).as_posix()  # for shells, also on Windows
    return None


def _version_of(candidate: str) -> str:
    """The version an interpreter says it is; '' if it does not start, as shims of pyenv may not."""
    code = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def main(arguments: list[str]) -> None:
    """Print what was asked for."""
    if arguments == ["lowest"]:
        lowest = versions()[0]
        found = interpreter(lowest)
        if found is None:
            raise SystemExit(f"Python {lowest} is not at hand")
        print(found)
        return
    own = _version_of(sys.executable)
    for version in versions():
        print(version, "." if version == own else interpreter(version) or "-", f".venv-{version}")


if __name__ == "__main__":
    main(sys.argv[1:])
