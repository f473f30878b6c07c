"""Check the paper's statements against the tables in a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import astuple, dataclass
from os import PathLike
from pathlib import Path

from rldp.errors import DataFileError, RldpError
from rldp.paper.plan import BEYOND, EXPERIMENTS
from rldp.paper.results import Results, read
from rldp.paper.settings import Settings
from rldp.paper.store import MANIFEST

__all__ = [
    "Checked",
    "Claim",
    "Evidence",
    "Finding",
    "as_csv",
    "as_markdown",
    "check_claims",
    "evidence",
]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The content of a folder: the settings, and the tables by experiment."""

    settings: Settings
    tables: dict[str, Results]

    def __getitem__(self, name: str) -> Results:
        return self.tables[name]


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim.

    Attributes
    ----------
    measured : str
        The figures.
    holds : bool
    correction : str
        The corrected statement, if the data support one.
    """

    measured: str
    holds: bool
    correction: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and how it is judged.

    Attributes
    ----------
    place : str
        Where the paper makes it.
    text : str
        The statement, in our words.
    needs : tuple of str
        Tables without which it cannot be judged.
    judge : callable
        From the evidence to the finding.
    """

    place: str
    text: str
    needs: tuple[str, ...]
    judge: Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Checked:
    """A claim with its verdict: "holds", "corrected" or "fails"."""

    place: str
    text: str
    measured: str
    verdict: str
    correction: str


def check_claims(folder: str | PathLike[str]) -> list[Checked]:
    """Judge every claim for which the folder has data, from these data alone.

    Experiments beyond the paper are ignored.

    Parameters
    ----------
    folder : path
        A folder filled by :func:`rldp.paper.reproduce`.

    Raises
    ------
    DataError
        If the folder was not filled by it, or a table cannot be read.
    """
    from rldp.paper.statements import CLAIMS

    everything = evidence(Path(folder))
    tables = {name: table for name, table in everything.tables.items() if name not in BEYOND}
    data = Evidence(everything.settings, tables)
    if not tables:
        return []
    return [_checked(claim, data) for claim in CLAIMS if all(name in data.tables for name in claim.needs)]


def evidence(folder: Path) -> Evidence:
    """Read all tables of a folder."""
    try:
        settings = Settings.from_manifest((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, RldpError) as error:
        raise DataFileError(f"{folder} must be a folder that reproduce made, but: {error}") from error
    paths = {name: folder / f"{name}.csv" for name in EXPERIMENTS}
    return Evidence(settings, {name: read(path) for name, path in paths.items() if path.exists()})


def _checked(claim: Claim, evidence: Evidence) -> Checked:
    finding = claim.judge(evidence)
    verdict = "holds" if finding.holds else "corrected" if finding.correction else "fails"
    correction = "" if finding.holds else finding.correction
    return Checked(claim.place, claim.text, finding.measured, verdict, correction)


def as_csv(checked: list[Checked]) -> str:
    """Return the table of claims as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("place", "claim", "measured", "verdict", "correction"))
    writer.writerows(map(astuple, checked))
    return text.getvalue()


def as_markdown(checked: list[Checked]) -> str:
    """Return the table of claims as Markdown."""
    rows = ["| place | claim | measured | verdict |", "|---|---|---|---|"]
    for c in checked:
        verdict = f"**{c.verdict}**" + (f": {c.correction}" if c.correction else "")
        cells = [cell.replace("|", "\\|") for cell in (c.place, c.text, c.measured, verdict)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"
