"""docs/reproduction.md: its tables and figures, and docs/reproduction.json, which says what made them.

``make reproduction`` computes everything anew, in a folder that is thrown away: parts of an older run could
come from older code. ``--folder`` takes up a folder that 'rldp reproduce all' made, where only figures or
words have changed since, and keeps the comparison of sets. The page is rendered from the record and from
nothing else, so that a test can hold the two together, and the record against what the code gives now.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import platform
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from page import write_section
from rldp.paper import FIGURES, Checked, Report, Settings, reproduce
from rldp.paper.claims import as_markdown, evidence
from rldp.paper.results import Results
from rldp.paper.settings import PROMISES
from rldp.paper.words import SCATTERS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, RECORD, PICTURES = DOCS / "reproduction.md", DOCS / "reproduction.json", DOCS / "figures"

SETS = {"chi2": 1.0, "cr": 2 / 3, "g": 0.0}
_SIZES = (15, 75, 450, 15_000)
_TRUTHS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="take up this folder, and keep the comparison of sets")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        report = reproduce(["all"], folder or Path(scratch) / "all", jobs=2)
        if folder:
            sets = json.loads(RECORD.read_text(encoding="utf-8"))["sets"]
        else:
            sets = {name: _compared(Path(scratch) / name, order) for name, order in SETS.items()}
        for name in FIGURES:
            shutil.copyfile(report.folder / f"{name}.png", _picture(name))
        record = _record(report, sets)
    RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for name, text in sections(record).items():
        write_section(name, text, PAGE)


def sections(record: dict) -> dict[str, str]:
    """The sections of the page that a record gives."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return {
        "versions": f"Written by `make reproduction` with {versions}; "
        "[reproduction.json](reproduction.json) is the record.",
        "claims": as_markdown([Checked(**claim) for claim in record["claims"]]),
        "sets": _sets_table(record["sets"]),
        "promises": _promises_table(record["promises"]),
    }


def digests() -> dict[str, str]:
    """Of the figures that lie beside the page."""
    return {name: hashlib.sha256(_picture(name).read_bytes()).hexdigest() for name in FIGURES}


def _picture(name: str) -> Path:
    return PICTURES / f"{name}.png"


def _record(report: Report, sets: dict) -> dict:
    packages = ("numpy", "scipy", "cvxpy", "clarabel", "matplotlib")
    versions = {name: importlib.metadata.version(name) for name in packages}
    manifest = Settings().manifest()
    return {
        "settings": asdict(Settings()),
        "versions": {"rldp": manifest["rldp"], "Python": platform.python_version(), **versions},
        "notes": report.notes,
        "claims": [asdict(claim) for claim in report.claims],
        "objectives": objectives(report.folder),
        "sets": sets,
        "promises": _promised(evidence(report.folder)["promises"]),
        "figures": digests(),
    }


def objectives(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Every design's objective in the two scatter plots: what an optimum determines, unlike its ε* and D*."""
    tables = {name: evidence(folder)[name].where(solver="rldp") for name in SCATTERS}
    return {
        name: {str(p): table.where(problem=p)["objective"].tolist() for p in dict.fromkeys(table["problem"])}
        for name, table in tables.items()
    }


def _compared(folder: Path, order: float) -> dict[str, list[float]]:
    """Coverage and mean D* of RURP at some n, for the sets of one order."""
    settings = Settings(lambda_=order, instances=_TRUTHS)
    reproduce(["leakage-vs-n"], folder, settings=settings, jobs=2)
    robust = evidence(folder)["vs-n"].where(problem="RURP")
    assert (robust["leakage"] <= settings.epsilon).all()
    return {
        "coverage": [float(np.mean(robust.where(n=n)["covered"])) for n in _SIZES],
        "distortion": [float(np.mean(robust.where(n=n)["distortion"])) for n in _SIZES],
    }


def _promised(table: Results) -> list[dict]:
    """Medians under the truth, as the figure has them, and the number of failures, for each n and promise."""

    def median(values: np.ndarray) -> float:
        return float(np.quantile(values, 0.5, method="inverted_cdf"))

    found = []
    for n in np.unique(table["n"]).tolist():
        row = {"n": int(n)}
        for promise in PROMISES:
            part = table.where(n=n, problem=promise)
            row[promise] = {
                "leakage": median(part["leakage"]),
                "distortion": median(part["distortion"]),
                "fails": int((part["leakage"] > Settings().epsilon).sum()),
            }
        found.append(row)
    return found


def _promises_table(rows: list[dict]) -> str:
    head = " | ".join(f"{name}: ε\\*, D\\*" for name in PROMISES)
    lines = [f"| n | {head} | credible with ε\\* > ε |", "|---:|" + "---|" * (len(PROMISES) + 1)]
    for row in rows:
        cells = [f"{row[name]['leakage']:.3f}, {row[name]['distortion']:.3f}" for name in PROMISES]
        lines.append(f"| {row['n']} | {' | '.join(cells)} | {row['credible']['fails']} |")
    return "\n".join(lines)


def _sets_table(sets: dict) -> str:
    rows = ["| set | P\\* ∈ F at n = 15, 75, 450, 15 000 | mean D\\* at the same n |", "|---|---|---|"]
    for name, found in sets.items():
        shares = ", ".join(f"{share:.3f}".lstrip("0") for share in found["coverage"])
        costs = ", ".join(f"{cost:.3f}" for cost in found["distortion"])
        rows.append(f"| `{name}` | {shares} | {costs} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
