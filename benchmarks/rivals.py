"""Rivals and us on the same instances: time, leak, proved gap; a section of docs/performance.md.

Every contender runs in a process of its own on one core, with one thread, within a limit of time. What it
returns is judged here, by the library's bounds, which know no solver.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median

import charts
from child import Outcome, run
from contenders import CONTENDERS, TIGHT_SCS
from draws import drawn
from instances import Instance
from judged import Judgement, judged, proved_bound
from page import machine, read_section, write_section


@dataclass(frozen=True)
class Case:
    """Samples of one kind."""

    problem: str
    shape: tuple[int, int]
    n: int
    seed: int
    samples: int = 1
    gap: float = 1e-6

    @property
    def name(self) -> str:
        return f"{self.problem} {self.shape[0]}×{self.shape[1]}, n = {self.n}"

    @property
    def instances(self) -> list[Instance]:
        return drawn(self.problem, self.shape, self.n, seed=self.seed, samples=self.samples, gap=self.gap)

    @property
    def contenders(self) -> list[str]:
        """SCS to 1e-6 is left out where it would take its limit and say nothing new."""
        return [name for name in CONTENDERS if self.shape == (3, 5) or name != TIGHT_SCS.name]


SMALL = [Case(problem, (3, 5), 750, seed=1, samples=5) for problem in ("NUNP", "NURP", "RUNP", "RURP")]
CASES = [
    *SMALL,
    Case("RURP", (3, 5), 75, seed=1, samples=5),
    Case("RURP", (3, 5), 15_000, seed=1, samples=5),
    Case("RURP", (4, 10), 2000, seed=3),
    Case("NURP", (5, 20), 2000, seed=3, gap=1e-5),
    Case("RURP", (5, 20), 2000, seed=3, gap=1e-5),
]


LIMIT = 80
"""Seconds that one design may take."""


@dataclass(frozen=True)
class Entry:
    """One contender on the samples of one case; judgements of the samples it answered."""

    name: str
    outcomes: list[Outcome]
    judgements: list[Judgement]

    @property
    def answered(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.answer is not None]

    @property
    def failures(self) -> str:
        total = len(self.outcomes)
        counted = Counter(outcome.failure for outcome in self.outcomes if outcome.failure)
        return "; ".join(
            why if many == total else f"{many} of {total} {why}" for why, many in counted.items()
        )

    @property
    def seconds(self) -> float:
        """Median of the samples it answered; NaN if there are none."""
        return median([outcome.seconds for outcome in self.answered] or [math.nan])

    def row(self, ours: float) -> str:
        if not self.answered:
            return f"| {self.name} | {self.failures} | | | | | |"
        answers = [outcome.answer for outcome in self.answered]
        inside = [answer.solver_seconds for answer in answers if answer.solver_seconds is not None]
        cells = [
            _duration(self.seconds) + (f" ({self.failures})" if self.failures else ""),
            f"{self.seconds / ours:.3g}×",
            _duration(median(inside)) if inside else "",
            f"{median(answer.objective for answer in answers):.7g}",
            _leak(max(judgement.leak for judgement in self.judgements)),
            _gaps(self.judgements),
        ]
        return f"| {self.name} | {' | '.join(cells)} |"


def _duration(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _leak(excess: float) -> str:
    if excess <= 0:
        return "none"
    return f"{excess:.0e}" if math.isfinite(excess) else "∞"


def _gaps(judgements: list[Judgement]) -> str:
    own = [judgement.own_gap for judgement in judgements if judgement.own_gap is not None]
    return f"{max(j.gap for j in judgements):.0e}" + (f" ({max(own):.0e})" if own else "")


def entries(case: Case, limit: float) -> list[Entry]:
    """Every contender on one case, us first."""
    instances = case.instances
    lower = [proved_bound(instance) for instance in instances]
    found: list[Entry] = []
    for name in case.contenders:
        outcomes = run(name, instances, limit=limit, repeats=3 if case.samples == 1 else 1)
        judgements = [
            judged(instance, outcome.answer, bound)
            for instance, outcome, bound in zip(instances, outcomes, lower, strict=True)
            if outcome.answer is not None
        ]
        found.append(Entry(name, outcomes, judgements))
        print(case.name, found[-1].row(found[0].seconds), flush=True)
    return found


Cell = tuple[float, float, float]
"""Median seconds, largest leak (0: none) and largest gap of a contender on a case; NaN without an answer."""


def drawn_from(tables: str) -> dict[str, dict[str, Cell]]:
    """What the tables of the section say, by case and contender: the figures show these numbers."""
    found: dict[str, dict[str, Cell]] = {}
    for line in tables.splitlines():
        if line.startswith("**"):
            rows = found.setdefault(line.removeprefix("**").partition("**")[0], {})
        elif found and line.startswith("| ") and not line.startswith("| |"):
            name, time, *_, leak, gap = (cell.strip() for cell in line.strip("|\n").split("|"))
            rows[name] = _cell(time, leak, gap)
    return found


def _cell(time: str, leak: str, gap: str) -> Cell:
    if not leak:
        return math.nan, math.nan, math.nan
    amount, unit = time.split()[:2]
    seconds = float(amount) * (1e-3 if unit == "ms" else 1.0)
    leaked = {"none": 0.0, "∞": math.inf}.get(leak)
    return seconds, float(leak) if leaked is None else leaked, float(gap.split()[0])


def draw(tables: str, limit: float) -> tuple[str, str]:
    """Time by contender and case, and leak against gap; the files, as a page embeds them."""
    found = drawn_from(tables)
    seconds = {case: {name: cell[0] for name, cell in rows.items()} for case, rows in found.items()}
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTENDERS}
    for name, (_, leak, gap) in chain.from_iterable(rows.items() for rows in found.values()):
        points[name] += [] if math.isnan(gap) else [(leak, gap)]
    times, quality = charts.times(seconds, limit), charts.quality(points)
    return charts.save(times, "rivals-time"), charts.save(quality, "rivals-quality")


def section(table: dict[Case, list[Entry]], limit: float) -> str:
    """The section of the page; its figures are written beside it."""
    who = "\n".join(f"- *{each.name}*: {each.what}" for each in CONTENDERS.values())
    tables = "\n\n".join(
        f"**{case.name}**, {f'{case.samples} samples' if case.samples > 1 else 'one sample'}, "
        f"gap asked of rldp {case.gap:.0e}\n\n"
        "| | time | ÷ rldp | in the solver | objective claimed | leak | proved gap |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(entry.row(found[0].seconds) for entry in found)
        for case, found in table.items()
    )
    times, quality = draw(tables, limit)
    return f"""## Rivals

{machine("numpy", "scipy", "cvxpy", "clarabel", "scs", "highspy")}

All contenders solve the same samples, each in a process of its own, on one core with one thread, after a
warm-up on a 2×2 sample. A design may take {limit:g} s; the table shows where a contender took longer. All
samples are drawn from Dirichlet(½) truths; ε = 0.5, squared distortion, Pearson's set at α = 0.05. Unless
stated otherwise, tolerances and limits on iterations are each solver's defaults.

{who}

![Seconds per design]({times})

![Leak and proved gap, the largest of each contender and case]({quality})

- *Time*: median over the samples, from the counts to the table Q, building the program included; *in the
  solver* is the solver's own part. Ours includes repair and proofs. If there is only one sample, it is
  solved three times, unless that takes more than two seconds.
- *Objective claimed*: as the contender reports it; median over the samples.
- *Leak*: ε* − ε of what it returns, rows clipped at 0 and scaled to sum to one. ε* is the largest leakage
  over the privacy set (under the estimate, if privacy is nominal). The table shows the largest over the
  samples. *None*: proved private. ∞: an output is impossible under one secret and not under another.
- *Proved gap*: the returned table is mixed with the smallest share of uniform output that lets the library
  prove it private; (its proved objective − a proved lower bound) / max(1, objective), the largest over the
  samples. The bound comes from a certificate of ours with a gap a hundred times smaller, which is not part
  of the timings. The gap to the bound that the contender itself proves is in parentheses.

A large leak with a small gap comes from outputs that are hardly used: their probabilities are numerical
noise, and so is the ratio of two of them, although every constraint holds to the solver's tolerance. Once
noticed, a tiny share of uniform output repairs it. Cutting planes spend their time outside the solver on
the search for cuts.

{observations(table)}

{tables}
"""


def observations(table: dict[Case, list[Entry]]) -> str:
    """Who was quicker than us on what, and whose answers are not private; as measured."""
    quicker = []
    answers, leaking = Counter(), Counter()
    for case, found in table.items():
        names = [entry.name for entry in found if entry.seconds < found[0].seconds]
        quicker += [f"{case.name} ({', '.join(names)})"] if names else []
        for entry in found:
            answers[entry.name] += len(entry.judgements)
            leaking[entry.name] += sum(judgement.leak > 0 for judgement in entry.judgements)
    leaks = ", ".join(f"{name} {leaking[name]} of {answers[name]}" for name in answers)
    return (
        f"Faster than rldp on a single design: {'; '.join(quicker) or 'nobody'}.\n"
        f"Answers that are not private: {leaks}."
    )


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small cases, one sample each, nothing written")
    parser.add_argument(
        "--redraw", action="store_true", help="the figures alone, from the tables on the page"
    )
    options = parser.parse_args()
    if options.redraw:
        draw(read_section("rivals"), LIMIT)
        return
    warnings.simplefilter("ignore")
    cases = [replace(case, samples=1) for case in CASES if case.shape == (3, 5)] if options.quick else CASES
    limit = 20 if options.quick else LIMIT
    table = {case: entries(case, limit) for case in cases}
    if not options.quick:
        write_section("rivals", section(table, limit))


if __name__ == "__main__":
    main()
