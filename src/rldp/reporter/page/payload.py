"""The data of the page's script: the protocol of every ε, drawn and as a file, compressed."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

from rldp.protocol import Protocol
from rldp.protocol_file.export import table_of
from rldp.protocol_file.format import parsed
from rldp.protocol_file.json import ProtocolFile
from rldp.reporter.page.charts import NARROW, WIDE, histogram, marker
from rldp.reporter.page.facts import Level, Report
from rldp.reporter.page.heat import heat_maps
from rldp.reporter.page.svg import short
from rldp.reporter.page.words import level_figures, promise_names

__all__ = ["ROOM", "carried_file", "packed"]

ROOM = 2_000_000
"""The largest size of the script's data, in bytes."""


def packed(report: Report, *, room: int = ROOM) -> str:
    """Return all levels as base64 of zlib of JSON; if too large, files are left out, the farthest first.

    The report's own protocol comes first; if even its drawings do not fit, nothing is returned.
    """
    own = next(i for i, level in enumerate(report.levels) if level.is_own)
    nearest = sorted(range(len(report.levels)), key=lambda i: (abs(i - own), i))
    kept = [_level(report, level) for level in report.levels]
    for i in nearest if report.worst is not None else ():  # the page draws from tables, not from chains
        file = carried_file(report, report.levels[i])
        kept[i]["file"] = file
        if len(_packed(report, kept, own)) > room:
            kept[i]["file"] = None
            break
    while len(text := _packed(report, kept, own)) > room and len(kept) > 1:
        kept, own = [kept[own]], 0
    return text if len(text) <= room else ""


def carried_file(report: Report, level: Level) -> dict[str, str]:
    """Return the downloadable file of a protocol: its name, digest and text.

    With counts it is the whole protocol file, which can be verified; without, only the table, as ``rldp
    export`` writes it.
    """
    whole = report.text if level.is_own else level.protocol.to_json()
    text = whole if report.with_counts else _table(level.protocol, whole)
    name = f"{'protocol' if report.with_counts else 'table'}-epsilon-{level.epsilon:g}.json"
    return {"name": name, "sha256": _digest(text), "text": text}


def _table(protocol: Protocol, whole: str) -> str:
    content = whole.encode("utf-8")
    return table_of(ProtocolFile("", _digest(whole), parsed(content), protocol))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _level(report: Report, level: Level) -> dict[str, Any]:
    """Return how a level is shown, as markup or text made here."""
    names = promise_names(report)
    sizes = {"wide": WIDE, "narrow": NARROW}
    on_frontier = report.frontier is not None
    return {
        "epsilon": f"{level.epsilon:g}",
        "own": level.is_own,
        "proved": level.proved,
        "figures": level_figures(report, level),
        "histogram": {size: histogram(level.law, width) for size, width in sizes.items()},
        "marker": {
            size: marker(report, level.epsilon, level.promised, width, names) if on_frontier else ""
            for size, width in sizes.items()
        },
        "heat": [drawn for _, drawn in heat_maps(level.protocol, level=f" at ε = {level.epsilon:g}")],
        "file": None,
    }


def _packed(report: Report, levels: list[dict[str, Any]], own: int) -> str:
    protocol = report.protocol
    document = {
        "levels": levels,
        "own": own,
        "secrets": [short(label, 60) for label in protocol.secrets],
        "values": [short(label, 60) for label in protocol.values],
        "outputs": [short(label, 60) for label in protocol.outputs],
    }
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
