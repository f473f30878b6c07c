"""Write a report as one self-contained file."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from os import PathLike
from typing import Any

from rldp._common.process import needs
from rldp._version import __version__
from rldp.data.atomic import checked_path, replacing
from rldp.designer.designs import Design
from rldp.errors import FileError, InvalidArgumentType, ProtocolFileError
from rldp.protocol import Protocol
from rldp.protocol_file.json import read
from rldp.protocol_file.reader import content_of
from rldp.reporter.page.asked import Cover
from rldp.reporter.page.facts import DRAWS, Report, Told, gathered

__all__ = ["page", "report"]


def report(
    protocol: Protocol | Design | str | PathLike[str],
    path: str | PathLike[str],
    *,
    with_counts: bool = False,
    epsilons: Iterable[float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    author: str | None = None,
    unit: str | None = None,
    date: str | None = None,
    language: str = "en",
    callback: Told | None = None,
) -> Report:
    """Write a report on a protocol: one HTML file, for people who decide and for people who check.

    Page one fits on a sheet of paper and is for people who decide. It says what is published, about whom, who
    is protected from what, how close the output is, and what may not be concluded. The appendix has the
    proof, the distortion of other mechanisms and at other ε, the posterior distribution of the leakage, the
    protocol, and how to check everything. The page loads no other files. If a protocol is not proved, the
    first line of its page says so.

    Parameters
    ----------
    protocol : Protocol, Design, or path of a protocol file
        It must claim a finite ε.
    path : path
        The file to write; it appears whole or not at all.
    with_counts : bool
        Whether the page contains the counts of the sample and what reveals them: the worst distribution
        beside the estimate, and complete protocol files, which can be verified. By default, the page offers
        only tables, as ``rldp export`` writes them.
    epsilons : iterable of float, optional
        Other privacy levels that readers can choose on the page; by default about twenty from an
        eighth of ε to eight times ε, fewer for large tables, and none for very large ones. Refused for a
        protocol with given columns or earlier releases, whose page has neither other levels nor other
        mechanisms.
    draws, seed : int
        Draws from the posterior distribution of the leakage, and their seed; see :func:`rldp.posterior`.
    author : str, optional
        The person or office responsible for the report, shown on page one.
    unit : str, optional
        The unit of the published column, such as ``"years"``.
    date : str, optional
        The date of the report; by default today.
    language : {"en", "de", "fr"}
        The language of page one; the appendix is in English.
    callback : callable (done, total, what), optional
        Called to report progress.

    Returns
    -------
    Report
        The content of the page; ``.verdict.ok`` is whether the protocol is proved.

    Raises
    ------
    MissingDependency
        If Jinja is not installed.
    InvalidArgument, InvalidArgumentType
        If an argument cannot be used, or the protocol claims no ε.
    FileError
        If a file cannot be read or written.
    """
    with needs("a report", "Jinja2", install="robust-ldp[report]"):
        import jinja2 as jinja2

    target = checked_path(path)
    on_cover = Cover(author=author, unit=unit, date=date, language=language)
    given, text = _given(protocol)
    result = gathered(
        given,
        text=text,
        with_counts=with_counts,
        epsilons=epsilons,
        draws=draws,
        seed=seed,
        cover=on_cover,
        callback=callback,
    )
    content = page(result).encode("utf-8")
    with replacing(target, error=FileError) as file:
        file.write(content)
    return replace(result, size=len(content))


def _given(protocol: object) -> tuple[Protocol, str | None]:
    """Return the protocol, and the text of the file it was read from."""
    match protocol:
        case Protocol():
            return protocol, None
        case Design():
            return protocol.protocol, None
        case str() | PathLike():
            file, content = read(protocol), content_of(protocol)
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise ProtocolFileError(f"{file.path} must not change while it is read, but it did")
            return file.protocol, content.decode("utf-8")
    raise InvalidArgumentType(
        f"protocol must be an rldp.Protocol, an rldp.Design or a path, got {type(protocol).__name__}"
    )


def page(report: Report) -> str:
    """Return the HTML text of a page."""
    import jinja2

    from rldp.reporter.page.sections import sections

    room = files("rldp.reporter.page")
    style, script, template = (
        room.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "page.html")
    )
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tied,
    )
    return environment.from_string(template).render(
        **sections(report),
        style=style,
        script=script,
        policy=_policy(style, script),
        versions=_versions(report),
    )


def _tied(text: Any) -> Any:
    """Keep units on the line of their numbers; markup and digests are unchanged."""
    return text.replace(" %", "\u00a0%").replace("ε = ", "ε\u00a0=\u00a0") if type(text) is str else text


def _policy(style: str, script: str) -> str:
    """Return the content security policy: nothing is loaded, and only this script runs."""
    return (
        f"default-src 'none'; style-src '{_hashed(style)}'; script-src '{_hashed(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _versions(report: Report) -> list[tuple[str, Any]]:
    return [
        ("Page written by", f"rldp {__version__}"),
        ("Protocol file written by", report.generator),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in ("numpy", "scipy", "python-flint")),
        ("Draws from the posterior", f"{report.law.draws}, seed {report.seed}"),
    ]
