"""The reproduction: from names of figures to a folder of tables, pictures, data files and claims."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from rldp._common.checks import shown, whole_number
from rldp._common.process import needs
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.paper.claims import Checked, Evidence, as_csv, as_markdown, check_claims, evidence
from rldp.paper.data_files import DATA_FILES
from rldp.paper.figures import FIGURES
from rldp.paper.plan import EXPERIMENTS, tasks
from rldp.paper.settings import PROMISES, Settings
from rldp.paper.store import Store
from rldp.paper.sweep import Advance, sweep

__all__ = ["Report", "reproduce"]

_LARGEST_REFERENCE = 20  # cells; beyond, the reference solver takes minutes per design
_DEFAULTS = Settings()


@dataclass(frozen=True)
class Report:
    """The result of a reproduction.

    Attributes
    ----------
    folder : Path
    claims : list of Checked
    notes : list of str
        Notes for readers: instances left out, comparisons not made.
    """

    folder: Path
    claims: list[Checked]
    notes: list[str]


def reproduce(
    figures: Iterable[str],
    out: str | PathLike[str],
    *,
    settings: Settings = _DEFAULTS,
    jobs: int | None = None,
    advance: Advance | None = None,
) -> Report:
    """Make figures of the paper, with the data behind them and the verdict on every claim.

    If it is interrupted, a call with the same arguments resumes the work. The files are identical to the byte
    for any number of jobs.

    Parameters
    ----------
    figures : iterable of str
        Names in :data:`rldp.paper.FIGURES`, or "all".
    out : path
        Folder to fill: a new one, or one from the same settings.
    settings : Settings
    jobs : int, optional
        Parallel processes. The default is that of :func:`joblib.parallel_config`, which also chooses the
        backend (processes, a Dask or Ray cluster); otherwise one.
    advance : callable, optional
        Called with the completed and the total work.

    Returns
    -------
    Report

    Raises
    ------
    InvalidArgument
        If an argument cannot be used; nothing is written then.
    MissingDependency
        If joblib or matplotlib is not installed; nothing is written then.
    """
    names = _checked_figures(figures)
    if jobs is not None:
        whole_number("jobs", jobs, 1, sys.maxsize)
    for promise in PROMISES if "promises" in names else ():
        settings.promise(promise)  # refuses a level that a promise does not support
    _require_libraries()
    store = Store.open(out, settings)
    experiments, notes = _experiments(names, settings)
    plan = {name: list(tasks(EXPERIMENTS[name], settings)) for name in experiments}
    sweep([task for part in plan.values() for task in part], store, jobs, advance)
    for name, part in plan.items():
        store.save_table(name, part)
    results = evidence(store.folder)
    _save_pictures(names, results, store)
    for file, (experiment, written) in DATA_FILES.items():
        if experiment in experiments:
            store.save(file, written(results[experiment], settings).encode())
    claims = check_claims(store.folder)
    store.save("claims.csv", as_csv(claims).encode())
    store.save("claims.md", as_markdown(claims).encode())
    return Report(store.folder, claims, _left_out(experiments, results) + notes)


def _checked_figures(figures: Iterable[str]) -> list[str]:
    """Return the names, each once, in the order of the registry."""
    if isinstance(figures, str) or not isinstance(figures, Iterable):
        raise InvalidArgumentType(f"figures must be a list of names, got {shown(figures)}")
    given = list(figures)
    for name in given:
        if name not in FIGURES and name != "all":
            known = ", ".join(FIGURES)
            raise InvalidArgument(f"figures must be among {known} or all, got {shown(name)}")
    if not given:
        raise InvalidArgument("figures must hold at least one name, got none")
    return [name for name in FIGURES if name in given or "all" in given]


def _require_libraries() -> None:
    """Raise an error for missing libraries before the work starts."""
    for library in ("joblib", "matplotlib"):
        with needs("reproducing the paper", library, install="robust-ldp[paper]"):
            importlib.import_module(library)


def _experiments(names: Sequence[str], settings: Settings) -> tuple[list[str], list[str]]:
    """Return the experiments behind the figures, each once, and a note if some are left out."""
    own = [FIGURES[name].experiment for name in names]
    beside = [name for figure in names for name in FIGURES[figure].beside]
    reason = _no_reference(settings)
    if beside and reason:
        return list(dict.fromkeys(own)), [f"The comparison with CVXPY and Clarabel is left out: {reason}."]
    return list(dict.fromkeys(own + beside)), []


def _no_reference(settings: Settings) -> str:
    """Return why the reference solver cannot solve the paper's program; empty if it can."""
    if settings.lambda_ != 1:
        return "its program is for the χ² set"
    if settings.cells > _LARGEST_REFERENCE:
        return f"it takes too long for more than {_LARGEST_REFERENCE} cells"
    missing = [name for name in ("cvxpy", "clarabel") if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed; pip install 'robust-ldp[paper]' installs both"
    return ""


def _save_pictures(names: Sequence[str], results: Evidence, store: Store) -> None:
    from rldp.paper import plots

    for name in names:
        drawn = FIGURES[name].draw(results[FIGURES[name].experiment], store.settings)
        for kind, content in plots.files(drawn).items():
            store.save(f"{name}.{kind}", content)


def _left_out(experiments: Sequence[str], results: Evidence) -> list[str]:
    """Return a line with the number of instances with ε* = ∞, for each experiment with points or means."""
    notes = []
    for name in experiments:
        table = results[name].where(solver="rldp")
        if len(table):
            infinite = int((table["leakage"] == math.inf).sum())
            draws = len(np.unique(table["instance"]))
            notes.append(f"{name}: {draws} instances, {len(table)} designs, {infinite} with ε* = ∞ left out.")
    return notes
