"""``rldp audit`` and ``rldp audit-release``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rldp
from rldp.cli.app import ExitCode, Json, Seed, command, progress, say
from rldp.cli.columns import Delimiter, Encoding, NewData, chosen
from rldp.cli.machine import picked, plain, show_json
from rldp.distortions import DistortionName

Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 3 if the audit finds a problem.")]


@command(example="rldp audit protocol.json new.csv")
def audit(
    protocol: Annotated[Path, typer.Argument(help="Protocol file (JSON).")],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with new data; - is standard input.")],
    columns: NewData,
    distortion: Annotated[
        DistortionName | None,
        typer.Option(help="Distance of an output from the value, if it differs from the design's."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the test for drift.")] = 0.01,
    seed: Seed = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Audit a protocol on new data: its leakage and distortion there, and whether people have drifted."""
    from rldp.reporter import terminal

    loaded = rldp.load(protocol)
    sample = loaded.count(data, **chosen(columns))
    with progress("Auditing"):
        result = rldp.audit(loaded, sample, distortion=distortion, alpha=alpha, seed=seed)
        claim = None if result.excess is None else math.inf  # levels of pairs are not a single claim
        confirmed = rldp.confirm(loaded, sample, epsilon=claim, seed=result.seed)
    facts = {
        **picked(result, "private", "useful", "drifted", "sound"),
        "confirmation": picked(confirmed, "epsilon", "alpha", "confirmed", "seed", "sentences"),
    }
    _show(result, facts, as_json, terminal.audit_report)
    if not as_json:
        terminal.console().print(terminal.confirmation_in_short(confirmed))
    troubles = {
        result.sentences[0]: result.drifted,
        "the new data leak more than was promised": result.private is False,
        "the protocol breaks its own promise": result.sound is False,
    }
    if strict and any(troubles.values()):
        say("; ".join(trouble for trouble, seen in troubles.items() if seen))
        raise typer.Exit(ExitCode.CLAIM)


@command(
    "audit-release",
    example="rldp audit-release rows.csv --secret diagnosis --released shown --epsilon 0.5",
)
def audit_release(
    data: Annotated[
        Path,
        typer.Argument(help="CSV or Parquet file with secrets and released outputs; - is standard input."),
    ],
    secret: Annotated[str, typer.Option(help="Column that must not leak.")],
    released: Annotated[
        list[str],
        typer.Option(help="Released or kept column. Repeat it to test several columns together."),
    ],
    value: Annotated[str | None, typer.Option(help="Column with the true values, if you know them.")] = None,
    missing: Annotated[
        Literal["refuse", "category"],
        typer.Option(
            help="What to do with missing entries of released columns: refuse them, or count them as an "
            "output of its own."
        ),
    ] = "refuse",
    epsilon: Annotated[float | None, typer.Option(help="Claimed privacy level.")] = None,
    alpha: Annotated[
        float, typer.Option(help="The lower bound is wrong with at most this probability.")
    ] = 0.01,
    seed: Seed = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Audit released rows: a lower bound on their ε, and whether their randomness repeats."""
    from rldp.data.frames import columns
    from rldp.data.sources import Dialect
    from rldp.reporter import terminal

    names = (secret, *dict.fromkeys(released), *(() if value is None else (value,)))
    read = dict(zip(names, columns(data, names, dialect=Dialect(delimiter, encoding)), strict=True))
    with progress("Auditing"):
        result = rldp.audit_release(
            read[secret],
            read[released[0]] if len(released) == 1 else {name: read[name] for name in released},
            values=None if value is None else read[value],
            epsilon=epsilon,
            alpha=alpha,
            missing=missing,
            seed=seed,
        )
    _show(result, {"ok": result.ok}, as_json, terminal.release_report)
    if strict and (result.ok is False or result.repeats is not None):
        say("the released rows contradict what is claimed of them")
        raise typer.Exit(ExitCode.CLAIM)


def _show(result: Any, facts: dict[str, Any], as_json: bool, report: Any) -> None:
    from rldp.reporter import terminal

    if not as_json:
        terminal.console().print(report(result))
        return
    show_json({**facts, **plain(result), "sentences": list(result.sentences)})
