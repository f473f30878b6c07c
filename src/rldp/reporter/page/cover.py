"""Page one of a report: for a board, on one sheet of paper, in the reader's language.

Its words are in ``cover.toml``.
"""

from __future__ import annotations

import datetime
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from rldp._common.checks import Label, printable
from rldp.data.reading import Column, Reading
from rldp.measures.leakage import distortion
from rldp.reporter.page.asked import LANGUAGES, Cover
from rldp.reporter.page.svg import number, short
from rldp.reporter.page.words import at_most, factor
from rldp.reporter.words import shares_by_secret
from rldp.sets import AllDistributions, Credible, Nominal, Pairs, PowerDivergence, UncertaintySet
from rldp.theory.model import Floats

if TYPE_CHECKING:
    from rldp.reporter.page.facts import Report

__all__ = ["LANGUAGES", "Cover", "cover", "measure", "ranges_of"]

_SURE = math.log(1000)  # a reader who can change odds by more can become practically certain
_LIKELY = 0.1  # a risk that is worth a word beside the verdict
_LONGEST = 30  # letters of a label
_MOST_RANGES = 12  # bins that are listed on page one
_EXACT = 1e-9  # relative; up to which a table of distances is that of a formula
_ROUNDED = 1e-3  # relative; more than the rounding of a bin's label


@cache
def _words(language: str) -> dict[str, str]:
    text = files("rldp.reporter.page").joinpath("cover.toml").read_text(encoding="utf-8")
    words: dict[str, str] = tomllib.loads(text)[language]
    return words


def cover(report: Report) -> dict[str, Any]:
    """Page one, as the template uses it."""
    return _Cover(report, _words(report.cover.language)).parts()


@dataclass(frozen=True)
class _Cover:
    report: Report
    words: dict[str, str]

    def parts(self) -> dict[str, Any]:
        words, asked = self.words, self.report.cover
        rows = {
            "what": self.published(),
            "whom": self.whom(),
            "protected": self.protected(),
            "holds": self.holds(),
            "cost": self.cost(),
            "known": self.known(),
        }
        facts = [
            (words["date"], asked.date or datetime.date.today().isoformat()),
            *([(words["author"], asked.author)] if asked.author else []),
        ]
        return {
            "language": asked.language,
            "title": self.say("title_columns" if len(self.columns) > 1 else "title"),
            "ruling": words["proved" if self.report.verdict.ok else "unproved"],
            "ruling_more": self.ruling(),
            "narrow": self.is_narrow,
            "rows": [(words[key], list(sentences)) for key, sentences in rows.items()],
            "not": words["not"],
            "not_rows": list(self.not_concluded()),
            "facts": facts,
            "file": words["file"],
            "check": words["check"],
            "appendix": words["appendix"],
        }

    # Words

    @property
    def value(self) -> Markup:
        return self.noun([column.name for column in self.columns], "value")

    @property
    def secret(self) -> Markup:
        return self.noun([] if self.reading is None else self.reading.secret_names, "secret")

    @property
    def reading(self) -> Reading | None:
        return self.report.protocol.reading

    @property
    def columns(self) -> tuple[Column, ...]:
        """The drawn columns, if their names are known."""
        drawn = self.report.beside.drawn
        return () if self.reading is None else tuple(c for c in self.reading.value if c.name in drawn)

    def noun(self, names: Sequence[str], otherwise: str) -> Markup:
        """Return names of columns, or a word if there are none, in quotes and either writing direction."""
        quote = Markup(self.words["quote"])
        shown = [printable(name) for name in names] or [self.words[otherwise]]
        quoted = [quote.format(Markup("<bdi>{}</bdi>").format(name)) for name in shown]
        return Markup(self.words["and"]).join(quoted)

    def say(self, key: str, **more: str) -> Markup:
        """Return a sentence with its gaps filled; inserted texts are escaped."""
        beside = self.report.beside
        nouns = {
            "value": self.value,
            "secret": self.secret,
            "kept": self.noun(beside.kept, "value"),
            "earlier": self.noun(beside.earlier_names, "value"),
        }
        said = Markup(self.words[key]).format(**(nouns | more))
        return (
            said.replace(" %", "\u00a0%").replace("ε = ", "ε\u00a0=\u00a0").replace("κ = ", "κ\u00a0=\u00a0")
        )

    def localised(self, text: str) -> str:
        return text.replace(".", self.words["decimal"])

    def at_most(self, x: float) -> str:
        return self.localised(at_most(x))

    def about(self, x: float) -> str:
        return self.localised(number(x))

    def share(self, share: float) -> str:
        per_cent = 100 * share
        text = "<\u00a01" if 0 < per_cent < 1 else ">\u00a099" if 99 < per_cent < 100 else f"{per_cent:.0f}"
        return f"{text} %"

    def at_least(self, share: float) -> str:
        return f"{math.floor(100 * share)} %"

    def compared_share(self, share: float) -> str:
        """Return a share with two digits below 1 %."""
        if not 0 < share < 0.01:
            return self.share(share)
        return (
            "<\u00a0" + self.localised("0.01 %") if share < 1e-4 else self.localised(f"{100 * share:.2g} %")
        )

    def factor(self, level: float) -> str:
        return self.localised(factor(level))

    # Sentences

    def ruling(self) -> str:
        if not self.report.verdict.ok:
            return self.words["unproved_then"]
        if not self.is_narrow:
            return self.words["proved_how"]
        little = self.say("little", epsilon=self.epsilon, share=self.at_least(self.report.law.risk[0]))
        return Markup("{} {}").format(self.words["proved_how"], little)

    @property
    def is_narrow(self) -> bool:
        """Whether more leaks with a notable probability."""
        return self.report.law.risk[0] > _LIKELY

    @property
    def epsilon(self) -> str:
        return self.localised(f"{self.report.epsilon:g}")

    def published(self) -> Iterator[str]:
        columns = self.columns
        yield self.say("what_columns" if len(columns) > 1 else "what_column")
        if len(columns) == 1 and columns[0].edges is not None and len(columns[0].labels) <= _MOST_RANGES:
            ranges = [text for _, text in ranges_of(columns[0], self.report.cover.language)]
            yield self.say("what_bins", count=str(len(ranges)), ranges="; ".join(map(self.localised, ranges)))
        changed = self.report.worth.changed
        if changed is not None:
            yield self.say("changed", share=self.share(changed)) if changed else self.say("unchanged")
        shares = shares_by_secret(self.report.worth) if changed else []
        if shares:
            parts = [
                self.say("share_of", entry=short(s, _LONGEST), share=self.compared_share(x))
                for s, x in shares
            ]
            all_of_them = len(shares) == len(self.report.worth.changed_of or ())
            yield self.say("changed_of" if all_of_them else "changed_from", shares=Markup(", ").join(parts))
        if self.report.beside.kept:
            yield self.say("beside_kept")
        if self.report.beside.earlier:
            yield self.say("beside_earlier")

    def whom(self) -> Iterator[str]:
        sample = self.report.sample
        yield self.say("whom_sample" if sample.noise is None else "whom_table", rows=number(sample.n))

    def protected(self) -> Iterator[str]:
        epsilon = self.report.epsilon
        if self.report.verdict.epsilon is None:
            yield self.say("claimed")
        beside, counted = self.report.beside, self.noun(self.report.beside.counted, "value")
        who = "_beside" if beside.is_known else ""
        ratio = {"factor": self.factor(epsilon), "epsilon": self.epsilon}
        yield self.say(f"protected_ratio{who}", value=counted, **ratio)
        sure = 100 / (1 + math.exp(-epsilon)) * (1 + 1e-15)
        yield self.say(f"protected_odds{who}", value=counted, sure=f"{self.at_most(sure)} %")
        if self.report.claim.levels is not None:
            yield self.say("own_levels")
        if beside.kept and not beside.is_known:
            yield self.say("total_kept", epsilon=self.epsilon)
        if beside.earlier:
            yield self.say("total_earlier", epsilon=self.epsilon)

    def holds(self) -> Iterator[str]:
        privacy: UncertaintySet = self.report.claim.privacy
        alpha = getattr(privacy, "alpha", 0.0)
        numbers = {
            "alpha": self.localised(f"{100 * alpha:.3g} %"),
            "sure": self.localised(f"{100 - 100 * alpha:.6g} %"),
        }
        match privacy:
            case AllDistributions():
                yield self.say("holds_all")
            case Nominal() | PowerDivergence(radius=0.0, centre=None):
                yield self.say("holds_nominal")
            case Credible():
                yield self.say("holds_credible", **numbers)
            case Pairs():
                yield self.say("holds_pairs", **numbers)
            case PowerDivergence(radius=None):
                yield self.say("holds_test", **numbers)
            case _:
                yield self.say("holds_near")

    def cost(self) -> Iterator[str]:
        columns = self.columns
        if self.report.by_column:
            yield from self.cost_of_columns()
            return
        report, worth = self.report, self.report.worth
        unit = f" {report.cover.unit}" if report.cover.unit else ""
        binned = bool(columns) and columns[0].edges is not None
        values, outputs = report.protocol.values, report.protocol.outputs
        by = measure(report.claim.distortion, values, outputs, binned=binned)
        off, constant = report.promised, worth.constant
        if by == "squared":
            off, constant = math.sqrt(off), math.sqrt(constant)
        shown = self.at_most(off), self.about(constant)
        if by == "hamming":
            shown = f"{self.at_most(100 * off)} %", f"{self.at_most(100 * constant)} %"
        yield self.say(f"cost_{by or 'other'}", off=shown[0], constant=shown[1], unit=unit)
        near = "cost_sample" if getattr(report.claim.utility, "centre", None) is None else "cost_near"
        yield self.say("cost_set" if worth.is_robust else near)

    def cost_of_columns(self) -> Iterator[str]:
        """Say how close each column is, in its own unit, under the estimate."""
        report = self.report
        assert self.reading is not None
        for name, column in report.by_column.items():
            j = self.reading.row_names.index(name)
            own = np.array([column.values.index(label) for label in _of_column(report.protocol.values, j)])
            masses = report.sample.distribution @ np.eye(len(column.values))[own]  # P(s, u_j)
            noun = self.noun([name], "value")
            if all(map(_is_number, (*column.values, *column.outputs))):
                off = math.sqrt(distortion(column, masses, "squared"))
                yield self.say("column_off", column=noun, off=self.about(off))
            else:
                changed = distortion(column, masses, "hamming")
                yield self.say("column_changed", column=noun, off=self.share(changed))

    def known(self) -> Iterator[str]:
        level, promised = self.report.worth.known_leakage, self.report.claim.epsilon_known
        if self.report.verdict.epsilon_known is None:  # what is not proved bounds nothing
            promised = math.inf
        beside = self.report.beside
        names = (*beside.kept, *beside.earlier_names, *beside.drawn)
        value = {"value": self.noun(names, "value")}
        if level == 0:
            yield self.say("known_nothing", **value)
        elif level > _SURE and math.isinf(promised):
            yield self.say("known_sure", kappa=self.at_most(level), **value)
        else:
            proved = not math.isinf(promised)
            bound = promised if proved else level
            yield self.say("known_factor", factor=self.factor(bound), kappa=self.at_most(bound), **value)
            if proved and self.report.verdict.ok:
                yield self.say("known_promised")

    def not_concluded(self) -> Iterator[str]:
        beside = self.report.beside
        yield self.words["not_further" if beside else "not_beside"]
        if beside.is_known:
            yield self.say("not_kept")
        if beside.earlier:
            yield self.say("not_other_earlier")
        if len(self.columns) > 1:
            yield self.words["not_some"]
        yield self.words["not_sample" if self.report.sample.noise is None else "not_table"]
        yield self.words["not_harm"]


def _of_column(labels: Sequence[Label], j: int) -> list[Label]:
    """Return the labels of the j-th of several columns."""
    return [label[j] for label in labels if isinstance(label, tuple)]


def _is_number(label: Label) -> bool:
    return isinstance(label, int | float) and not isinstance(label, bool)


def measure(
    table: Floats, values: Sequence[Label], outputs: Sequence[Label], *, binned: bool = False
) -> str | None:
    """Recognise a table of distances: "squared", "absolute" or "hamming"; None for others.

    A bin has a label that is the mean of its numbers, rounded. Its mean squared distance from y is then
    (u − y)², the variance in the bin, and little more; its mean distance from the other labels is |u − y|.

    >>> measure(np.array([[0.0, 25.0], [25.0, 0.0]]), (0, 5), (0, 5))
    'squared'
    """
    if (table == [[float(u != y) for y in outputs] for u in values]).all():
        return "hamming"
    if not all(_is_number(label) for label in (*values, *outputs)):
        return None
    u, y = np.array(values, dtype=float)[:, None], np.array(outputs, dtype=float)[None, :]
    off = np.abs(u - y)
    room = _EXACT * float(table.max()) + (_ROUNDED * np.abs(u) if binned else 0.0)
    spread = table - off**2
    if binned:
        spread = spread - spread.mean(axis=1, keepdims=True)
    if (np.abs(spread) <= room * (1 + 2 * off.max() * binned)).all():
        return "squared"
    outside = off > 0 if binned else off >= 0
    return "absolute" if (np.abs(table - off) <= room)[outside].all() else None


def ranges_of(column: Column, language: str = "en") -> list[tuple[Label, str]]:
    """Return the label of each bin of a column, and its range in words.

    >>> ranges_of(Column("age", (25, 45, 70), (30.0, 60.0)))
    [(25, 'below 30'), (45, '30 to below 60'), (70, '60 or more')]
    """
    words, edges = _words(language), column.edges or ()
    if not edges:
        return []
    texts = [
        words["below"].format(f"{edges[0]:g}"),
        *(words["between"].format(f"{a:g}", f"{b:g}") for a, b in pairwise(edges)),
        words["above"].format(f"{edges[-1]:g}"),
    ]
    return list(zip(column.labels, texts, strict=False))
