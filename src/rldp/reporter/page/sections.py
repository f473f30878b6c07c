"""The facts as the template uses them: words, tables of words, and drawings, section by section."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldp._common.checks import printable
from rldp.reporter.page import words
from rldp.reporter.page.beside import and_of
from rldp.reporter.page.charts import (
    NARROW,
    WIDE,
    bars,
    chances,
    frontier_chart,
    histogram,
    shares_chart,
)
from rldp.reporter.page.cover import cover, ranges_of
from rldp.reporter.page.facts import OWN, Report
from rldp.reporter.page.heat import cut_sentence, heat_maps
from rldp.reporter.page.payload import packed
from rldp.reporter.page.svg import number, short
from rldp.reporter.words import association_sentences, noise_words
from rldp.sets import prior_words

__all__ = ["sections"]

_MOST_NUMBERS = 10_000
"""The largest number of probabilities, or counts, written out on the page."""


def sections(report: Report) -> dict[str, Any]:
    """Return every name that the template uses, except style, script and versions."""
    return {
        "report": report,
        "verdict": report.verdict,
        "ok": report.verdict.ok,
        "cover": cover(report),
        "reason": _sentence(report.verdict.reasons[0]) if report.verdict.reasons else "",
        "proved": [words.in_few_digits(each) for each in report.verdict.proved],
        "assumptions": [words.in_few_digits(each) for each in report.verdict.assumptions],
        "reasons": [_sentence(words.in_few_digits(reason)) for reason in report.verdict.reasons],
        "cards": _cards(report),
        "promise": words.promise_sentences(report),
        "worth": words.worth_of(report),
        "comparison": None if report.beside else _comparison(report),
        "frontier": _frontier(report),
        "law": _law(report),
        "protocol": _protocol(report),
        "worst": _worst(report),
        "sample": _sample(report),
        "conclusions": words.conclusions(report),
        "payload": packed(report),
        "own_level": next(i for i, level in enumerate(report.levels) if level.is_own),
    }


def _sentence(clause: str) -> str:
    """Return a clause with a capital letter and a full stop."""
    return clause[:1].upper() + clause[1:].removesuffix(".") + "."


def _both(draw: Any, *arguments: Any) -> dict[str, Any]:
    """Return a drawing for wide and one for narrow screens."""
    first, *rest = arguments
    return {"wide": draw(first, WIDE, *rest), "narrow": draw(first, NARROW, *rest)}


def _cards(report: Report) -> list[tuple[str, str, str]]:
    """Return the cards: a heading, the number, what it means."""
    proved = report.verdict.epsilon is not None
    kept = and_of(report.beside.kept)
    knowing = f", among people with the same {kept}" if report.beside.is_known else ""
    reach = report.worth.reach
    way = "" if reach is None else f", {100 * reach:.0f} % of the way from ignoring the data to no privacy"
    about, noisy = ("", "") if report.sample.noise is None else ("about ", ", counted with noise")
    return [
        (
            "Privacy level" if proved else "Privacy level, claimed only",
            f"ε = {report.epsilon:g}",
            f"{'' if proved else 'not proved: '}no output is more than {words.factor(report.epsilon)} times "
            f"as likely for one entry of {words.secret_of(report)} as for another{knowing}",
        ),
        (
            "Distortion",
            f"at most {words.at_most(report.promised)}",
            f"{number(report.worth.estimate)} under the estimate{way}",
        ),
        (
            "Risk",
            f"at most {words.per_cent(report.law.risk[1])}",
            f"the probability, given sample and prior, that more than ε = {report.epsilon:g} leaks",
        ),
        ("Readers who know the value", *words.known_reader(report)),
        (
            "Sample",
            f"{about}{number(report.sample.n)} rows",
            f"{len(report.sample.secrets)} secrets × {len(report.sample.values)} values{noisy}",
        ),
    ]


def _comparison(report: Report) -> dict[str, Any]:
    names = words.mechanism_names(report)
    rows = [
        {
            "name": names[row.name],
            "own": row.name == OWN,
            "cells": [
                words.at_most(row.promised),
                number(row.estimate),
                number(row.relabelled),
                number(row.leakage_median),
                number(row.leakage_high),
                words.per_cent(row.risk[1]),
            ],
            "proved_for": row.proved_for or "nothing: not even the estimate",
        }
        for row in report.compared
    ]
    return {"chart": _both(bars, report, names), "rows": rows, "constant": number(report.constant)}


def _frontier(report: Report) -> dict[str, Any] | None:
    frontier = report.frontier
    if frontier is None:
        return None
    names = words.promise_names(report)
    columns = [frontier.of(name) for name in frontier.promises]
    rows = [
        (f"{points[0].epsilon:g}", points[0].epsilon == report.epsilon, [number(p.promised) for p in points])
        for points in zip(*columns, strict=True)
    ]
    return {
        "chart": _both(frontier_chart, report, names) if max(frontier.epsilons) > 0 else None,
        "names": list(names.values()),
        "meanings": words.promise_meanings(report),
        "rows": rows,
        "utility": report.claim.utility_scope,
    }


def _law(report: Report) -> dict[str, Any]:
    law = report.law
    bins = zip(law.edges, law.edges[1:], law.shares, strict=False)
    return {
        "chart": _both(histogram, law),
        "median": number(law.median),
        "high": number(law.high),
        "low_risk": words.per_cent(law.risk[0]) if law.risk[0] > 0 else None,
        "risk": words.per_cent(law.risk[1]),
        "prior": prior_words(law.prior),
        "draws": number(law.draws),
        "bins": [(f"{low:.3g} – {high:.3g}", f"{100 * share:.2g} %") for low, high, share in bins if share],
        "beyond": f"{100 * law.beyond:.2g} %" if law.beyond else None,
        "last": f"{law.edges[-1]:.3g}",
    }


def _protocol(report: Report) -> dict[str, Any]:
    protocol = report.protocol
    tables = []
    if protocol.matrix.size <= _MOST_NUMBERS:
        tables = [
            (
                short(secret, 60),
                [
                    (short(v, 40), [_probability(p) for p in row])
                    for v, row in zip(protocol.values, rows, strict=True)
                ],
            )
            for secret, rows in zip(protocol.secrets, protocol.matrix.tolist(), strict=True)
        ]
    return {
        "maps": [(short(secret, 60), drawn) for secret, drawn in heat_maps(protocol)],
        "cut": cut_sentence(protocol),
        "columns": [
            (short(name, 60), [(short(secret, 60), drawn) for secret, drawn in heat_maps(column)])
            for name, column in report.by_column.items()
        ],
        "associations": association_sentences(report.associations),
        "outputs": [short(output, 40) for output in protocol.outputs],
        "tables": tables,
        "bins": [
            (printable(column.name), [(short(label, 40), text) for label, text in ranges_of(column)])
            for column in (() if protocol.reading is None else protocol.reading.value)
            if column.edges
        ],
    }


def _probability(p: float) -> str:
    """Return a probability in three digits; only certainty is written as 0 or 1."""
    if p in (0, 1):
        return f"{p:.0f}"
    return ">0.999" if p > 0.999 else f"{p:.3f}" if p >= 1e-3 else "<0.001"


def _worst(report: Report) -> dict[str, Any]:
    """Return only the output that reveals most: the whole distribution nearly reveals the counts."""
    worst, protocol = report.worst, report.protocol
    if worst is None:
        return {"sentences": words.worst_sentences(report), "chart": None, "output": "", "shares": []}
    y = protocol.outputs.index(worst.output)
    given = worst.distribution
    rows = []
    for secret in dict.fromkeys(worst.secrets):
        s = protocol.secrets.index(secret)
        mass = float(given[s].sum())
        if mass > 0:
            rows.append((s, secret, float(given[s] @ protocol.matrix[s, :, y]) / mass))
    ratios = [(f"if the secret is “{short(secret, 40)}”", p) for _, secret, p in rows]
    shares = [_shares(report, s) for s, _, _ in rows] if report.with_counts else []
    return {
        "sentences": words.worst_sentences(report),
        "chart": _both(chances, ratios) if ratios else None,
        "output": short(worst.output, 60),
        "shares": [each for each in shares if each],
    }


def _shares(report: Report, s: int) -> dict[str, Any] | None:
    """Return P(u | s) under the estimate and under the worst distribution."""
    assert report.worst is not None
    seen, bad = report.sample.distribution[s], report.worst.distribution[s]
    if not seen.sum() > 0:
        return None
    estimate, worst = ((p / p.sum()).tolist() for p in (np.asarray(seen), np.asarray(bad)))
    values = report.sample.values
    return {
        "secret": short(report.sample.secrets[s], 60),
        "wide": shares_chart(values, estimate, worst, WIDE),
        "narrow": shares_chart(values, estimate, worst, NARROW),
        "rows": [
            (short(value, 40), f"{a:.3f}", f"{b:.3f}")
            for value, a, b in zip(values, estimate, worst, strict=True)
        ],
    }


def _sample(report: Report) -> dict[str, Any]:
    sample = report.sample
    reading = report.protocol.reading
    cells = sample.counts.size
    facts = [
        ("Rows", number(sample.n) if sample.noise is None else f"about {number(sample.n)}"),
        ("Secrets", number(len(sample.secrets))),
        ("Values", number(len(sample.values))),
        ("Outputs", number(len(report.protocol.outputs))),
        ("Rows for each pair of secret and value, on average", number(sample.n / cells)),
    ]
    if reading is not None:
        facts.append(("Column of the secret", ", ".join(printable(c.name) for c in reading.secret)))
        facts.append(("Column of the value", ", ".join(map(printable, report.beside.drawn))))
        if report.beside.kept:
            facts.append(("Columns kept as they are", ", ".join(map(printable, report.beside.kept))))
        if report.beside.earlier:
            earlier = ", ".join(map(printable, report.beside.earlier_names))
            facts.append(("Columns of earlier releases", earlier))
        facts.append(("Rows with missing entries", reading.missing))
    noise = noise_words(sample)
    if noise is not None:
        facts.append(("Noise on the counts", noise))
    counts = None
    published = sample.observed
    if report.with_counts and cells <= _MOST_NUMBERS:
        totals = published.sum(axis=1).tolist()
        counts = {
            "caption": "Counts" if sample.noise is None else "Noisy counts, which may be published",
            "values": [short(value, 30) for value in sample.values],
            "rows": [
                (short(secret, 40), [number(c) for c in row], number(total))
                for secret, row, total in zip(sample.secrets, published.tolist(), totals, strict=True)
            ],
        }
    return {"facts": facts, "counts": counts}
