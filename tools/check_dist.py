"""Is the distribution fit to be published? ``python tools/check_dist.py dist`` says what is wrong with it.

The wheel must hold the package, all of it and nothing else; the source distribution whatever it takes to work
on it. Their page must not point to files that are not there. Then the wheel is installed in a fresh
environment, without extras, and has to run outside the source tree.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from email.message import Message
from email.parser import Parser
from pathlib import Path

__all__ = [
    "installed_faults",
    "metadata_faults",
    "page_faults",
    "sdist_faults",
    "version_faults",
    "wheel_faults",
]

ROOT = Path(__file__).parents[1]

PACKAGE_DATA = (
    "rldp/py.typed",
    "rldp/protocol_file/protocol.schema.json",
    "rldp/protocol_file/vectors.json",
    "rldp/adviser/adult_sex_education.csv",
    "rldp/reporter/page/cover.toml",
    "rldp/reporter/page/page.css",
    "rldp/reporter/page/page.html",
    "rldp/reporter/page/page.js",
)
FOLDERS = (".ci", ".github", "benchmarks", "clients", "docs", "examples", "src", "tests", "tools")
FILES = (
    ".dockerignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
)
LEFT_BEHIND = {"__pycache__", ".ruff_cache", "node_modules", "api", "gallery"}  # the last two by make docs
ADDED = {".gitignore", "PKG-INFO"}  # to the source distribution, by what builds it
EXTRAS = ("plots", "report", "excel", "paper", "dask", "spark", "sklearn", "cuda", "cupy")
NOT_CORE = ("matplotlib", "joblib", "cvxpy", "clarabel", "dask", "pandas", "polars", "pyspark", "sklearn")

_LINKS = re.compile(r"\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*(\S+)|(?:href|src)=[\"']([^\"']+)", re.MULTILINE)


def wheel_faults(wheel: Path, root: Path = ROOT) -> list[str]:
    """What the wheel lacks or should not have."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    information = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    expected = set(PACKAGE_DATA) | set(_tree(root / "src", ["rldp"]))
    faults = _differences("wheel", names - information, expected)
    inside = {name.partition("/")[2] for name in information}
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        if name not in inside:
            faults.append(f"the wheel must hold {name}, but it does not")
    return faults


def sdist_faults(sdist: Path, root: Path = ROOT) -> list[str]:
    """What the source distribution lacks or should not have."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    expected = set(FILES) | set(_tree(root, FOLDERS))
    faults = _differences("source distribution", names - ADDED, expected)
    for folder in FOLDERS:
        if not any(name.startswith(f"{folder}/") for name in names):
            faults.append(f"the source distribution must hold the folder {folder}, but it does not")
    return faults


def metadata_faults(metadata: Message) -> list[str]:
    """What a package page would lack."""
    faults = [
        f"the metadata must have {field}, but they do not"
        for field in ("Author", "Classifier", "Keywords", "License-Expression", "Requires-Python", "Summary")
        if not metadata.get_all(field)
    ]
    if metadata.get("Description-Content-Type", "").split(";")[0] != "text/markdown":
        faults.append("the description must be Markdown, but the metadata do not say so")
    extras = metadata.get_all("Provides-Extra") or []
    faults += [f"there must be an extra {name}, but there is none" for name in EXTRAS if name not in extras]
    return faults + page_faults(str(metadata.get_payload()))


def page_faults(page: str) -> list[str]:
    """Links of a page that stands alone: to a file beside it, there is none."""
    targets = [next(filter(None, groups)) for groups in _LINKS.findall(page)]
    return [
        f"the page must have no link to a file beside it, got {target!r}"
        for target in targets
        if not target.startswith(("https://", "http://", "mailto:", "#"))
    ]


def version_faults(version: str, root: Path = ROOT) -> list[str]:
    """Places that name another version than the metadata."""
    citation = re.search(
        r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    faults = []
    if citation is None or citation[1] != version:
        faults.append(f"CITATION.cff must name version {version}, got {citation and citation[1]}")
    heading = "Unreleased" if ".dev" in version else version
    if f"\n## [{heading}]" not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        faults.append(f"CHANGELOG.md must have a section [{heading}], but it has none")
    return faults


def installed_faults(wheel: Path, version: str) -> list[str]:
    """What goes wrong when the wheel is installed where there is nothing else, and run."""
    with tempfile.TemporaryDirectory() as folder:
        environment, elsewhere = Path(folder, "environment"), Path(folder, "elsewhere")
        elsewhere.mkdir()
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        _run([sys.executable, "-m", "venv", str(environment)], elsewhere)
        _run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel.absolute())], elsewhere)
        faults = []
        said = _run([str(programs / "rldp"), "--version"], elsewhere)
        if said.split() != ["rldp", version]:
            faults.append(f"rldp --version must say 'rldp {version}', got {said!r}")
        if "RURP" not in _run([str(programs / "rldp"), "demo"], elsewhere):
            faults.append("rldp demo must show the problem RURP, but it does not")
        code = f"import importlib.util as u; print(*(n for n in {NOT_CORE!r} if u.find_spec(n)))"
        if brought := _run([str(programs / "python"), "-c", code], elsewhere).split():
            faults.append(f"the core must not bring {', '.join(brought)}")
        return faults


def _tree(root: Path, folders: Iterable[str]) -> Iterable[str]:
    """The files below some folders, as archives name them, without what Python and npm leave there."""
    for folder in folders:
        for path in (root / folder).rglob("*"):
            place = path.relative_to(root)
            if path.is_file() and not LEFT_BEHIND & set(place.parts):
                yield place.as_posix()


def _differences(archive: str, found: set[str], expected: set[str]) -> list[str]:
    return [f"the {archive} must hold {name}, but it does not" for name in sorted(expected - found)] + [
        f"the {archive} must not hold {name}, but it does" for name in sorted(found - expected)
    ]


def _run(command: list[str], folder: Path) -> str:
    """What a command prints, in a folder and an environment that know nothing of this tree."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONPATH")}
    done = subprocess.run(
        command, cwd=folder, env={**variables, "PYTHONUTF8": "1"}, stdout=subprocess.PIPE, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} must succeed, but it ended with {done.returncode}")
    return done.stdout


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} must hold one file {pattern}, got {len(found)}")
    return found[0]


def main() -> None:
    """Check the folder that is named on the command line."""
    folder = Path(sys.argv[1])
    wheel, sdist = _only(folder, "*.whl"), _only(folder, "*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    version = metadata["Version"]
    faults = wheel_faults(wheel) + sdist_faults(sdist) + metadata_faults(metadata) + version_faults(version)
    faults += installed_faults(wheel, version)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"{wheel.name} and {sdist.name} are complete, and the wheel runs in a fresh environment.")


if __name__ == "__main__":
    main()
