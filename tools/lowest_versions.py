"""Print pip constraints that hold every package pyproject.toml names to the lowest version it allows.

Usage: python tools/lowest_versions.py '.[EXTRA,...]' [GROUP ...] > constraints.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
FORM = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\]|>=(?P<lowest>\d[\w.]*))")


def lowest_versions(pyproject: dict[str, Any], extras: list[str], groups: list[str]) -> dict[str, str]:
    """Lowest version of each package that a project, some of its extras and some groups ask for.

    Parameters
    ----------
    pyproject : dict
        A pyproject.toml.
    extras, groups : list of str
        Optional dependencies, and dependency groups.
    """
    project = pyproject["project"]
    asked = [*project["dependencies"]]
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    for group in groups:
        asked += [entry for entry in pyproject["dependency-groups"][group] if isinstance(entry, str)]
    versions: dict[str, str] = {}
    for requirement in asked:
        found = FORM.fullmatch(requirement)
        if found is None:
            raise SystemExit(f"pyproject.toml must ask for packages as 'name>=version', got {requirement!r}")
        if found["name"] == project["name"]:
            versions |= lowest_versions(pyproject, found["extras"].split(","), [])
        elif found["lowest"] is None:
            raise SystemExit(f"pyproject.toml must say the lowest version, got {requirement!r}")
        else:
            versions[found["name"]] = found["lowest"]
    return versions


if __name__ == "__main__":
    first, *named = sys.argv[1:]
    table = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    for name, version in lowest_versions(table, first.strip(".[]").split(","), named).items():
        print(f"{name}=={version}")
