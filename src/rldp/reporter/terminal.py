"""Tables, reports and bars for the terminal, with rich."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.box import HEAVY_HEAD, SIMPLE_HEAD, Box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rldp._common.checks import printable
from rldp._common.digits import at_least, at_most
from rldp.adviser.demo import Row
from rldp.adviser.ladder import LADDER, MEANINGS, under_estimate
from rldp.adviser.verdict import Worth, outputs_used
from rldp.auditor.confirmation import Confirmation
from rldp.auditor.new_data import Audit, Membership
from rldp.auditor.released_rows import ReleaseAudit
from rldp.data.reading import OTHER, Reading
from rldp.designer.designs import Design
from rldp.designer.status import Reason, Status
from rldp.measures.association import associations, basis_of, by_column
from rldp.protocol import Protocol
from rldp.reporter.drawing import heat_map
from rldp.reporter.words import association_sentences, level_sentences, noise_words, worth_sentences
from rldp.sample import Sample

if TYPE_CHECKING:
    from rldp.paper import Checked

__all__ = [
    "audit_report",
    "bar",
    "bullets",
    "columns",
    "comparison",
    "confirmation_in_short",
    "confirmation_report",
    "console",
    "counted",
    "facts",
    "heat_map",
    "protocol_report",
    "release_report",
    "say",
    "summary",
    "tell",
    "verdicts",
    "worth_report",
]

_WORTH = 0.99  # of the distortion: what is not worth naming otherwise


def facts(lines: Mapping[str, str | Text | None]) -> Table:
    """Return headings, and the text beside each; headings without a text are left out."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for heading, text in lines.items():
        if text is not None:
            table.add_row(Text(heading, style="bold"), Text(text) if isinstance(text, str) else text)
    return table


def columns(title: str | Text, left: Iterable[str], right: Iterable[str], *, box: Box = HEAVY_HEAD) -> Table:
    """Return an empty table with columns of texts and then of numbers, under a title."""
    table = Table(title=title, title_justify="left", box=box)
    for heading in left:
        table.add_column(heading)
    for heading in right:
        table.add_column(heading, justify="right")
    return table


def comparison(rows: Sequence[Row], epsilon: float) -> Table:
    """Return the table of the paper's four problems."""
    table = columns(
        f"The paper's four problems at ε = {epsilon:g}",
        ("problem", "private for"),
        ("largest ε", "distortion, estimate", "distortion, promised", "lower bound"),
    )
    for row in rows:
        robust = row.design.problem.endswith("RP")
        upper = row.worst_leakage[1]
        shown = "∞" if math.isinf(upper) else f"{upper:.4f}"
        kept = upper <= epsilon
        table.add_row(
            row.design.problem,
            "the set" if robust else "estimate",
            Text(f"{shown} {'✓' if kept else '✗'}", style="green" if kept else "red"),
            f"{row.nominal_distortion:.5f}",
            f"{row.design.objective:.5f}",
            f"{row.design.lower_bound:.5f}",
        )
    return table


def ladder(rungs: Mapping[str, Design], chosen: str | None = None) -> RenderableType:
    """Return the cost of the same ε under several promises."""
    order = [str(name) for name in LADDER]
    promised = any(designed.problem.startswith("RU") for designed in rungs.values())
    costs = ("promised", "estimate") if promised else ("distortion",)
    title = "Distortion at the same ε, by promise"
    table = columns(title, ("privacy", "holds for"), costs, box=SIMPLE_HEAD)
    for name in sorted(rungs, key=lambda name: order.index(name) if name in order else 2):
        style, mark = ("bold", "▸ ") if name == chosen else ("", "  ")
        numbers = (rungs[name].objective, under_estimate(rungs[name]))[: 1 + promised]
        table.add_row(mark + name, MEANINGS[name], *(f"{x:.4g}" for x in numbers), style=style)
    return Group(Text(), table, *map(Text, _cheaper(rungs, chosen)))


def _cheaper(rungs: Mapping[str, Design], chosen: str | None) -> list[str]:
    """Return a line about the cheapest promise, if it costs less than the chosen one."""
    costs = {name: designed.objective for name, designed in rungs.items() if name != "nominal"}
    best = min(costs, key=costs.__getitem__)
    if chosen not in costs or costs[best] >= _WORTH * costs[chosen]:
        return []
    return [
        f"--privacy {best} promises {costs[best]:.4g} instead of {costs[chosen]:.4g}. "
        "It is a different promise: 'rldp verify' lists what a protocol proves, assumes and does not promise."
    ]


def summary(designed: Design) -> Table:
    """Return what a design promises, line by line."""
    guarantee = designed.protocol.guarantee
    assert guarantee is not None
    sample = guarantee.sample
    by_column = (
        f"{each.name} {each.distortion:.3g} (nothing published: {each.constant:.3g})"
        for each in designed.columns
    )
    return facts(
        {
            "sample": counted(sample),
            "merged": _merged(sample.reading),
            "noise": noise_words(sample),
            "privacy": guarantee.promise,
            "pairs": _levels(designed.protocol),
            "distortion": f"at most {at_most(designed.objective, 6)} for {guarantee.utility_scope}",
            "known value": _known(guarantee.epsilon_known),
            "optimality": f"no private protocol has less than {at_least(designed.lower_bound, 6)}",
            "method": _way(designed.status),
            "by column": "; ".join(by_column) or None,
        }
    )


def _levels(protocol: Protocol) -> str | None:
    """Return what is claimed about pairs of secrets with levels of their own."""
    return "\n".join(map(printable, level_sentences(protocol))) or None


def _known(kappa: float) -> str | None:
    """Return what is promised to readers who know the value."""
    if math.isinf(kappa):
        return None
    if kappa == 0:
        return "the protocol does not read the secret"
    return f"to a reader who knows the value, the output reveals at most {kappa!r} more about the secret"


def protocol_report(protocol: Protocol, *, width: int) -> RenderableType:
    """Return what a protocol claims, line by line, and its table as heat maps."""
    claim, reading = protocol.guarantee, protocol.reading
    secrets, values, outputs = (
        f"{len(names)} {what}{'s' * (len(names) != 1)}"
        for what, names in (
            ("secret", protocol.secrets),
            ("value", protocol.values),
            ("output", protocol.outputs),
        )
    )
    used = f"{outputs_used(protocol)} of {len(protocol.outputs)}"
    earlier = getattr(protocol, "earlier_columns", ())
    lines = {
        "table": f"{secrets} × {values} → {outputs}",
        "columns": None if reading is None else printable(_columns(reading, earlier)),
        "merged": _merged(reading),
    }
    if claim is None:
        lines |= {"claims": "nothing", "outputs used": f"{used} are possible"}
    else:
        lines |= {
            "claims": claim.promise,
            "pairs": _levels(protocol),
            "distortion": f"at most {at_most(claim.objective, 6)} for {claim.utility_scope}",
            "sample": _held(claim.sample),
            "noise": noise_words(claim.sample),
            "outputs used": f"{used}, under the estimate",
        }
    alone = by_column(protocol, basis_of(protocol))
    maps = _several(protocol, width) if alone else [heat_map(protocol, width=width)]
    return Group(facts(lines), Text(), *maps)


def _several(protocol: Protocol, width: int) -> Iterator[RenderableType]:
    """Yield each of several columns separately, and the association that remains between them."""
    p = basis_of(protocol)
    under = "the estimate" if protocol.guarantee is not None else "equal shares of all combinations"
    for name, column in by_column(protocol, p).items():
        yield Text(f"{printable(name)}: P(y | s, u) of this column alone, under {under}", style="bold")
        yield heat_map(column, width=width)
        yield Text()
    if protocol.guarantee is not None:
        yield bullets(association_sentences(associations(protocol, p)))


def worth_report(worth: Worth) -> RenderableType:
    """Return the sentences of "Is it any good?"."""
    return Group(Text(), Text("Is it any good?", style="bold"), bullets(worth_sentences(worth)), Text())


def bullets(sentences: Iterable[str]) -> Table:
    """Return sentences as a list; further lines of a sentence are indented."""
    table = Table(show_header=False, box=None, padding=(0, 1, 0, 0))
    for sentence in sentences:
        table.add_row("•", Text(sentence))
    return table


def counted(sample: Sample) -> str:
    """Describe the counted sample."""
    about = "" if sample.noise is None else "about "
    text = f"{about}{sample.n} rows, {len(sample.secrets)} secrets × {len(sample.values)} values"
    if sample.reading is None:
        return text
    text += f": {_columns(sample.reading)}"
    if len(sample.reading.secret) > 1:
        never = int((sample.counts.sum(axis=1) == 0).sum())
        unseen = f", {never} of them never seen" if never and sample.noise is None else ""
        text += f" jointly ({len(sample.secrets)} combinations{unseen})"
    if any(column.edges is not None for column in sample.reading.value):
        text += "; in bins, with the distances inside a bin taken from the sample"
    if sample.skipped:
        text += f"; {sample.skipped} row{'s' * (sample.skipped != 1)} left out for missing entries"
    return text


def _held(sample: Sample) -> str:
    if sample.noise is None:
        return f"{sample.n} rows, whose counts the file holds"
    return f"about {sample.n} rows, whose noisy counts the file holds: it may be published"


def _columns(reading: Reading, earlier: Sequence[str] = ()) -> str:
    drawn = [name for name in reading.value_names if name not in earlier]
    secret, value = (" and ".join(map(repr, names)) for names in (reading.secret_names, drawn))
    beside = f" beside {' and '.join(map(repr, reading.given_names))}" if reading.given else ""
    after = f" after the earlier release of {' and '.join(map(repr, earlier))}" if earlier else ""
    return f"{value}{beside}{after}, with the secret {secret}"


def _merged(reading: Reading | None) -> str | None:
    """Return what becomes of rare labels of given columns."""
    given = () if reading is None else reading.given
    said = [
        f"all labels of {column.name!r} but {len(column.labels) - 1} are published as {OTHER!r}"
        for column in given
        if OTHER in column.labels
    ]
    return printable("; ".join(said)) or None


_ROUTES = {"pairs": "a constraint for each pair of secrets", "windows": "a window for each output"}
_REASONS = {
    Reason.GAP_CLOSED: "optimal to the requested gap",
    Reason.CLOSED_AMONG_WINDOWS: "optimal to the requested gap among protocols that keep windows",
}


def _way(status: Status) -> str:
    """Describe how a protocol was found."""
    steps = f", {status.steps} step{'s' * (status.steps != 1)}" if status.steps else ""
    reason = status.reason if status.reason is None else _REASONS.get(status.reason, str(status.reason))
    return f"{_ROUTES.get(status.route, status.route)}{steps}, {status.seconds:.2g} s; {reason}"


def audit_report(audit: Audit, *, widest: int = 40) -> RenderableType:
    """Return the findings of an audit: promised and observed numbers, distributions, and sentences."""
    parts: list[RenderableType] = [_promises(audit), Text()]
    if audit.worst is not None and audit.design is not None:
        parts += [_distributions(audit, widest), Text()]
    return Group(*parts, bullets(audit.sentences))


def _promises(audit: Audit) -> Table:
    headings = ("promised", "on the new data", "worst in the set", "divergence", "radius")
    table = columns(Text(f"New data: {audit.sample.n} rows"), ("",), headings)
    worst = "–" if audit.worst is None else _number(audit.worst.upper)
    table.add_row(
        "ε",
        _number(audit.epsilon),
        _judged(audit.leakage, audit.private),
        worst,
        *_distances(audit.privacy, audit.drifted),
    )
    table.add_row(
        "distortion",
        _number(audit.objective),
        _judged(audit.distortion, audit.useful),
        "–" if audit.utility is None else _number(audit.objective),
        *_distances(audit.utility, audit.drifted),
    )
    return table


def _distributions(audit: Audit, widest: int) -> Table:
    """Return P(u | s) of the two secrets that the worst distribution distinguishes best."""
    assert audit.worst is not None
    assert audit.design is not None
    title = f"P(u | s): the secrets that output {printable(audit.worst.output)} tells apart best"
    table = columns(Text(title), ("s", "u"), ("designed on", "new data", "worst in the set"))
    sources = (audit.design.distribution, audit.sample.distribution, audit.worst.distribution)
    for secret in dict.fromkeys(audit.worst.secrets):
        s = audit.design.secrets.index(secret)
        for u, value in enumerate(audit.design.values[:widest]):
            shares = (_number(p[s, u] / p[s].sum()) if p[s].sum() > 0 else "–" for p in sources)
            table.add_row(Text(printable(secret)), Text(printable(value)), *shares)
    if len(audit.design.values) > widest:
        table.caption = f"first {widest} values shown"
    return table


def _distances(place: Membership | None, drifted: bool | None) -> tuple[Text, str]:
    """Return divergence and radius; outside the set by chance is not a fault."""
    if place is None:
        return Text("–"), "–"
    if not place.inside and not drifted:
        return Text(f"{_number(place.divergence)} (chance)", style="yellow"), _number(place.radius)
    return _judged(place.divergence, place.inside), _number(place.radius)


def _judged(number: float | None, good: bool | None) -> Text:
    if good is None:
        return Text(_number(number))
    return Text(f"{_number(number)} {'✓' if good else '✗'}", style="green" if good else "red")


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    return "∞" if math.isinf(number) else f"{number:.5g}"


_VERDICTS = {
    None: "no ε was claimed",
    True: "nothing contradicts the claim",
    False: "the claim is contradicted",
}


def release_report(audit: ReleaseAudit) -> RenderableType:
    """Return what released rows show, line by line."""
    claimed = "" if audit.claim is None else f" (claimed: {_number(audit.claim)})"
    lines = {
        "rows": f"{audit.rows}",
        "ε at least": f"{audit.epsilon:.5g}{claimed}, wrong with probability {audit.alpha:g} at most",
        "repeats": "not seen" if audit.repeats is None else f"every {audit.repeats} rows",
        "verdict": _VERDICTS[audit.ok],
    }
    return Group(facts(lines), Text(), bullets(audit.sentences))


_COLOURS = {None: "default", True: "green", False: "red"}


def confirmation_report(confirmation: Confirmation) -> RenderableType:
    """Return what fresh data confirm, line by line."""
    lines: dict[str, str | Text] = {
        "fresh rows": f"{confirmation.sample.n}",
        "ε to confirm": _number(confirmation.claim),
        "ε* of these rows": _number(confirmation.leakage),
        "ε* at most": Text(at_most(confirmation.epsilon), style=_COLOURS[confirmation.confirmed]),
        "may be wrong": f"with probability {confirmation.alpha:g}",
    }
    return Group(facts(lines), Text(), bullets(confirmation.sentences))


def confirmation_in_short(confirmation: Confirmation) -> RenderableType:
    """Return the sentences of a confirmation, to follow an audit."""
    heading = Text("The new data as fresh rows, for the people they come from:")
    return Group(Text(), heading, bullets(confirmation.sentences))


_VERDICT_COLOURS = {"holds": "green", "corrected": "yellow", "fails": "red"}


def verdicts(claims: Sequence[Checked]) -> Table:
    """Return the paper's claims, with measurements and verdicts."""
    table = Table(title="Claims of the paper", title_justify="left", show_lines=True)
    for heading in ("place", "claim", "measured", "verdict"):
        table.add_column(heading, overflow="fold")
    for claim in claims:
        verdict = Text(claim.verdict, style=_VERDICT_COLOURS[claim.verdict])
        if claim.correction:
            verdict.append(f": {claim.correction}", style="default")
        table.add_row(Text(claim.place), Text(claim.text), Text(claim.measured), verdict)
    return table


@contextmanager
def bar(title: str) -> Iterator[Callable[..., None]]:
    """Show a bar with the remaining time on standard error, if it is a terminal.

    Call it with the work done, the total, and an optional note.
    """
    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(title, total=None, note="")

        def advance(done: float, total: float, note: str = "") -> None:
            if progress.tasks[0].total is None:  # work done by an earlier run says nothing about the speed
                progress.reset(task, total=total, completed=int(done))
            progress.update(task, total=total, completed=done, note=note)

        yield advance


def tell(text: str) -> None:
    """Print a sentence, wrapped."""
    console().print(Text(printable(text)))


def say(text: str) -> None:
    """Print a line, unwrapped."""
    console().print(printable(text), soft_wrap=True, markup=False, emoji=False)


def console(*, stderr: bool = False) -> Console:
    """Return a console that falls back to plain text where the terminal does."""
    return Console(stderr=stderr, highlight=False)
