"""How time and memory grow with the alphabets, the batch and the sample; a section of docs/performance.md.

Every point is a process of its own on one core. A contender stops growing once a point takes too long. The
figures are drawn from docs/growth.json, which a measurement writes; ``--redraw`` draws them again.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import charts
from child import Outcome, run
from contenders import CLARABEL, HIGHS, LITERAL, OURS, TUNED, Contender
from draws import drawn
from instances import Instance
from page import PAGE, machine, write_section

RECORD = PAGE.parent / "growth.json"
CONTENDERS = (OURS, LITERAL, TUNED, CLARABEL, HIGHS)
LIMIT = 60
"""Seconds that one point may take."""

ENOUGH = 12
"""Seconds of a point after which a contender grows no further: the next one would not fit the limit."""


SMALLEST = 1e-3
"""Of a second or a megabyte: less cannot be told from nothing."""


@dataclass(frozen=True)
class Sweep:
    """What grows, through which sizes, and the instances of a size."""

    what: str
    label: str
    sizes: Sequence[int]
    instances: Callable[[int], list[Instance]]
    together: bool = False
    largest_of_rivals: float = math.inf


def _one(shape: tuple[int, int], n: int, gap: float) -> list[Instance]:
    return drawn("RURP", shape, n, seed=7, gap=gap)


SWEEPS = (
    Sweep(
        "secrets", "secrets |S|, with |U| = 8", (2, 3, 4, 6, 8, 12), lambda size: _one((size, 8), 2000, 1e-4)
    ),
    Sweep(
        "values",
        "values |U|, with |S| = 3",
        (4, 6, 8, 12, 16, 24, 32, 48),
        lambda size: _one((3, size), 2000, 1e-4),
    ),
    Sweep(
        "batch",
        "samples K in a batch, 3×5",
        (1, 3, 10, 30, 100, 300, 1000, 3000),
        lambda size: drawn("RURP", (3, 5), 750, seed=7, samples=size),
        together=True,
        largest_of_rivals=10,
    ),
    Sweep(
        "draws", "draws n in the sample, 3×5", [10**k for k in range(2, 10)], lambda n: _one((3, 5), n, 1e-6)
    ),
)


@dataclass(frozen=True)
class Line:
    """What one contender took along a sweep; the sizes it reached."""

    sizes: list[int]
    outcomes: list[Outcome]
    ended: str = ""

    def values(self, kind: str) -> list[float]:
        return [getattr(outcome, kind) for outcome in self.outcomes]

    @property
    def steps(self) -> list[int]:
        return [outcome.answer.steps for outcome in self.outcomes if outcome.answer is not None]

    def exponent(self, values: Sequence[float]) -> float:
        """Slope of the least-squares line in logarithms, over the upper half of at least three sizes."""
        if len(self.sizes) < 3:
            return math.nan
        upper = slice(len(self.sizes) // 2, None)
        logarithms = np.log(np.maximum(values[upper], SMALLEST))
        slope = np.polyfit(np.log(self.sizes[upper]), logarithms, 1)[0]
        return round(float(slope), 1) + 0.0  # no negative zeros on the page


def line(sweep: Sweep, contender: Contender, sizes: Sequence[int]) -> Line:
    """Grow until the sizes are through, or a point fails or takes too long."""
    reached, outcomes, ended = [], [], ""
    for size in sizes:
        if contender != OURS and size > sweep.largest_of_rivals:
            break
        (outcome,) = run(
            contender.name, sweep.instances(size), limit=LIMIT, repeats=3, together=sweep.together
        )
        print(
            f"{sweep.what} = {size}, {contender.name}: "
            + (outcome.failure or f"{outcome.seconds:.3g} s, {outcome.memory:.1f} MB"),
            flush=True,
        )
        if outcome.failure:
            ended = f"{outcome.failure} at {size}"
            break
        reached.append(size)
        outcomes.append(outcome)
        if outcome.seconds > ENOUGH:
            break
    return Line(reached, outcomes, ended)


Grid = dict[str, dict[str, Line]]
"""Of each sweep, of each contender."""


def cell(found: Line, kind: str, unit: str) -> str:
    """Exponent, and what the largest size took."""
    if not found.sizes:
        return found.ended
    values = found.values(kind)
    slope = found.exponent(values)
    amount = f"{values[-1]:,.0f}" if values[-1] >= 100 else f"{values[-1]:.2g}"
    largest = f"{amount} {unit} at {found.sizes[-1]:,}"
    ended = f", {found.ended}" if found.ended else ""
    return f"{largest}{ended}" if math.isnan(slope) else f"**{slope:.1f}** ({largest}{ended})"


def table(grid: Grid, kind: str, unit: str) -> str:
    head = f"| | {' | '.join(sweep.what for sweep in SWEEPS)} |\n|---|{'---|' * len(SWEEPS)}"
    rows = [
        f"| {each.name} | {' | '.join(cell(grid[sweep.what][each.name], kind, unit) for sweep in SWEEPS)} |"
        for each in CONTENDERS
    ]
    return "\n".join([head, *rows])


def newton_steps(grid: Grid) -> str:
    """From the smallest to the largest size, of the sweeps whose points are single designs."""
    lines = {sweep.what: grid[sweep.what][OURS.name] for sweep in SWEEPS if not sweep.together}
    return "; ".join(
        f"as {what} grow {', '.join(map(str, found.steps))} (exponent {found.exponent(found.steps):.1f})"
        for what, found in lines.items()
    )


def recorded(grid: Grid) -> dict:
    """What the figures are drawn from, as JSON knows it."""
    sweeps = {
        what: {
            name: {
                "sizes": list(found.sizes),
                "seconds": found.values("seconds"),
                "memory": found.values("memory"),
                "steps": found.steps,
            }
            for name, found in lines.items()
        }
        for what, lines in grid.items()
    }
    return {"source": "measured", "sweeps": sweeps}


def figure(record: dict, kind: str, label: str, title: str) -> str:
    panels = [
        charts.Panel(
            sweep.label,
            {name: (found["sizes"], found[kind]) for name, found in record["sweeps"][sweep.what].items()},
        )
        for sweep in SWEEPS
    ]
    drawn = charts.sweeps(panels, label, title)
    return charts.save(drawn, f"growth-{'time' if kind == 'seconds' else kind}")


def draw(record: dict) -> tuple[str, str]:
    """The figures of time and of memory, as a page embeds them."""
    time = figure(record, "seconds", "seconds", "How time grows with what is asked")
    return time, figure(record, "memory", "MB", "How memory grows with what is asked")


def section(grid: Grid) -> str:
    """The section of the page; its figures are written beside it."""
    who = "\n".join(f"- *{each.name}*: {each.what}" for each in CONTENDERS)
    time, memory = draw(recorded(grid))
    return f"""## How cost grows

{machine("numpy", "scipy", "cvxpy", "clarabel", "highspy")}

RURP, ε = 0.5, squared distortion, as many outputs as values, Pearson's set at α = 0.05, samples from
Dirichlet(½) truths: of 2000 draws and with a gap of 1e-4 for rldp where alphabets grow, of 750 draws and
with 1e-6
elsewhere. Each point is a process of its own, on one core with one thread, and the median of three runs if
a run
takes less than two seconds. A contender stops once a point has taken {ENOUGH} s, or more than {LIMIT} s. A
batch is
one call for rldp; rivals solve its samples one by one, in linear time, and are measured up to
{SWEEPS[2].largest_of_rivals}.

{who}

The **exponent** (bold) is the slope of the least-squares line through the logarithms, over the upper half
of the sizes that the contender reached; the largest measurement is in parentheses.

Time of the whole call:

{table(grid, "seconds", "s")}

![Time by size]({time})

Memory: the peak of the resident set, minus its peak after the imports and a warm-up on a 2×2 sample:

{table(grid, "memory", "MB")}

![Memory by size]({memory})

Newton steps of rldp: {newton_steps(grid)}.

In theory, a Newton step of rldp factors a dense block of |S||U| rows for each of |Y| = |U| outputs: it takes
|Y|(|S||U|)³ operations and |Y|(|S||U|)² numbers. So time eventually grows as |S|³ and |U|⁴, and memory as
|S|²
and |U|³; the time is multiplied by the number of steps. At these sizes, the |Y||S|²|U| operations on pairs of
secrets and the fixed cost of calls to NumPy still matter, so the exponents of time are smaller. A batch takes
linear time, and memory for one chunk and for all results. Draws change the numbers but not the sizes; cutting
planes need fewer rounds when the set is small. With many values and few secrets (2×24, 3×30 and more),
low-rank
forms replace the blocks, and time grows as |U|³. The conic programs have about |Y||S|²|U| = |S|²|U|² cones,
whose
sparse factors fill in; CVXPY also compiles |Y||S|² expressions. Cutting planes solve one linear program per
round, and both its rows and the number of rounds grow.
"""


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes, nothing written")
    parser.add_argument("--redraw", action="store_true", help="the figures alone, from the record")
    options = parser.parse_args()
    if options.redraw:
        draw(json.loads(RECORD.read_text(encoding="utf-8")))
        return
    warnings.simplefilter("ignore")
    grid: Grid = {
        sweep.what: {
            each.name: line(sweep, each, sweep.sizes[: 3 if options.quick else None]) for each in CONTENDERS
        }
        for sweep in SWEEPS
    }
    if options.quick:
        print(table(grid, "seconds", "s"), table(grid, "memory", "MB"), newton_steps(grid), sep="\n\n")
    else:
        RECORD.write_text(json.dumps(recorded(grid), indent=1) + "\n", encoding="utf-8")
        write_section("growth", section(grid))


if __name__ == "__main__":
    main()
