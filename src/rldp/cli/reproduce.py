"""``rldp reproduce``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from rldp._common.process import needs
from rldp.cli.app import Json, bar, command, is_quiet
from rldp.cli.machine import plain, show_json
from rldp.cli.start import is_command

LAMBDAS = {"chi2": 1.0, "g": 0.0, "cr": 2 / 3}
"""The orders of the sets for which figures can be made."""


@command(example="rldp reproduce leakage-vs-n --instances 10 --out figures")
def reproduce(
    figures: Annotated[
        list[str],
        typer.Argument(
            help="scatter-small, scatter-large, leakage-vs-n, distortion-vs-n, alpha, promises, or all.",
            metavar="FIGURE",
            show_default=False,
        ),
    ],
    instances: Annotated[
        int | None,
        typer.Option(
            help="Number of true distributions drawn for each figure; by default as in the paper, and "
            "100 for promises."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the results. If it exists, the computation resumes.")
    ] = Path("reproduction"),
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of processes; by default one for each core. It does not affect the results."
        ),
    ] = None,
    set_: Annotated[
        Literal["chi2", "g", "cr"],
        typer.Option("--set", help="chi2 (the paper's), g (G-test) or cr (Cressie-Read)."),
    ] = "chi2",
    epsilon: Annotated[float, typer.Option(help="Privacy level to design for.")] = 0.5,
    alpha: Annotated[
        float, typer.Option(help="Level α of the robust sets, in all figures except 'alpha'.")
    ] = 0.05,
    secrets: Annotated[int, typer.Option(help="Number of secrets.")] = 3,
    values: Annotated[int, typer.Option(help="Number of values.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    as_json: Json = False,
) -> None:
    """Reproduce the paper's figures, with their data and a verdict on every claim."""
    with needs("reproducing the paper", "joblib", install="robust-ldp[paper]"):
        import joblib

    from rldp.paper import Settings, reproduce as reproduce_figures
    from rldp.reporter import terminal

    if is_command():
        os.environ["PYTHONWARNINGS"] = without_tracker_warnings(os.environ.get("PYTHONWARNINGS", ""))
    settings = Settings(
        instances=instances,
        seed=seed,
        lambda_=LAMBDAS[set_],
        epsilon=epsilon,
        alpha=alpha,
        secrets=secrets,
        values=values,
    )
    with bar("Designing") as advance:
        report = reproduce_figures(
            figures,
            out,
            settings=settings,
            jobs=joblib.cpu_count() if jobs is None else jobs,
            advance=advance,
        )
    if as_json:
        claims = [plain(claim) for claim in report.claims]
        show_json({"folder": report.folder, "claims": claims, "notes": report.notes}, indent=2)
        return
    if is_quiet():
        return
    terminal.console().print(terminal.verdicts(report.claims))
    for note in (*report.notes, f"written to {report.folder}"):
        terminal.say(note)


def without_tracker_warnings(filters: str) -> str:
    """Extend ``PYTHONWARNINGS``, so that the process that cleans up after joblib's workers does so silently.

    It removes the semaphores that an interrupted command leaves behind, which is what it is for, and warns of
    them. The command cannot give them back itself: joblib may still be starting workers in another thread.
    """
    return ",".join(filter(None, (filters, "ignore:resource_tracker:UserWarning")))
