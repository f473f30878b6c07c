"""``rldp report``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

import rldp
from rldp.cli.app import ExitCode, Json, bar, command, is_quiet, progress, require_writable, say, warned
from rldp.cli.commands import is_on_command_line
from rldp.cli.counting import Counting, Measuring
from rldp.cli.decisions import levels_of
from rldp.cli.machine import picked, show_json
from rldp.cli.promising import PerhapsEpsilon, Promising
from rldp.data.atomic import require_other_file
from rldp.errors import InvalidArgument, NotProved
from rldp.protocol_file.json import read
from rldp.protocol_file.samples import begins_as_json, is_sample_file


@command(
    example="rldp report protocol.json --author 'Data office' --unit years -o report.html", on_sample=True
)
def report(
    command: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PROTOCOL|DATA|SAMPLE",
            help="Protocol file that 'rldp design' wrote; or, with --epsilon, the public sample: a CSV or "
            "Parquet file, with --secret and --value, or a file that 'rldp sample' wrote.",
        ),
    ],
    counting: Counting,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write (HTML).")],
    measuring: Measuring,
    promising: Promising,
    epsilon: PerhapsEpsilon = None,
    protocol: Annotated[
        Path | None,
        typer.Option("--protocol", help="With DATA: protocol file to write in addition to the page."),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…|LOW:HIGH:COUNT",
            help="Other privacy levels that readers can choose on the page.",
            show_default="about 20 around ε; fewer for large tables",
        ),
    ] = None,
    with_counts: Annotated[
        bool,
        typer.Option(
            "--with-counts",
            help="Include the counts of the sample, and complete protocol files that can be verified.",
        ),
    ] = False,
    author: Annotated[
        str | None,
        typer.Option(
            "--author", metavar="NAME", help="Person or office responsible for the report, shown on page one."
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="WORD", help="Unit of the published column, such as years."),
    ] = None,
    date: Annotated[
        str | None, typer.Option("--date", metavar="DATE", help="Date of the report.", show_default="today")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", metavar="en|de|fr", help="Language of page one.")
    ] = "en",
    as_json: Json = False,
) -> None:
    """Write a report: one page for people who decide, and an appendix for people who check.

    The report is one HTML file. Print it from a browser; page one fits on a sheet of A4. Exit code 3 means
    that the protocol is not proved: the page is written all the same, and its first line says so.
    """
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, source, "what the report is about")
    levels = None if epsilons is None else levels_of(epsilons)
    subject: rldp.Design | Path
    if _is_protocol(source, counting):
        _require_no_design(command)
        subject = _claiming(source)
    else:
        if epsilon is None:
            raise InvalidArgument("--epsilon must be given with DATA, got none")
        if protocol is not None:
            require_writable(protocol, "--protocol")
            require_other_file(protocol, source, "the data")
            if protocol.absolute() == output.absolute():
                raise InvalidArgument(f"--protocol must be another file than --output, got {str(protocol)!r}")
        counter = counting.counter(command, source)
        sample = counter.sample(epsilon, measuring.distortion, **promising.sets)
        measured = measuring.of(sample)
        with progress("Designing") as callback:
            subject = rldp.design(
                sample,
                epsilon,
                **promising.sets,
                **measured,
                callback=callback,
            )
        if protocol is not None:
            subject.protocol.save(protocol)
    with bar("Reporting") as moved:
        result = rldp.report(
            subject,
            output,
            with_counts=with_counts,
            epsilons=levels,
            author=author,
            unit=unit,
            date=date,
            language=language,
            callback=moved,
        )
    if as_json:
        show_json(_facts(output, result), indent=2)
    elif not is_quiet():
        if not result.with_counts:
            terminal.tell("The page does not contain the counts of the sample; --with-counts includes them.")
        terminal.say(f"{result.size:,} bytes written to {output}")
    if not result.verdict.ok:
        say(f"{source} is not proved, and the page says so: {result.verdict.reasons[0]}")
        raise typer.Exit(ExitCode.CLAIM)


def _claiming(path: Path) -> Path:
    """Read a protocol file, if it claims something to report on."""
    if read(path).document.guarantee is None:
        raise NotProved(f"{path} must claim a privacy level to be reported on, but it holds only a table")
    return path


def _is_protocol(source: Path, counting: Counting) -> bool:
    """Return whether a file is a protocol, or at least neither a table nor a sample."""
    if is_sample_file(source):
        return False
    return begins_as_json(source) or not (counting.secret or counting.value)


def _require_no_design(command: typer.Context) -> None:
    """Refuse options that only a design needs, unless a project file sets them for other commands."""
    for name in (*(field.name for field in fields(Counting)), "epsilon", "protocol"):
        if is_on_command_line(command, name):
            raise InvalidArgument(f"--{name.replace('_', '-')} must be given with DATA or SAMPLE only")


def _facts(output: Path, report: rldp.Report) -> dict[str, Any]:
    """Return what was written as JSON."""
    return {
        "report": output,
        "bytes": report.size,
        "sha256": report.sha256,
        "proved": report.verdict.ok,
        **picked(report.verdict, "epsilon", "promise"),
        "promised": report.promised,
        "estimate": report.worth.estimate,
        "constant": report.constant,
        "risk": report.law.risk,
        "associations": report.associations,
        "levels": [level.epsilon for level in report.levels],
        "with_counts": report.with_counts,
        "warnings": warned(),
    }
