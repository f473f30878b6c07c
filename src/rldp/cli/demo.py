"""``rldp demo``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from rldp._common.process import silenced
from rldp.adviser.demo import Row, Story, adult, four_problems, story
from rldp.adviser.ladder import rungs, under_estimate
from rldp.cli.app import Json, command, progress
from rldp.cli.machine import picked, show_json
from rldp.designer.designs import Design
from rldp.errors import InvalidArgument, SparseTableWarning


@command(example="rldp demo --epsilon 0.5")
def demo(
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more.")] = 0.5,
    rows: Annotated[int, typer.Option(help="Number of rows in the public sample.")] = 2000,
    as_json: Json = False,
) -> None:
    """Show with an example what is published, how close it is, and what is promised."""
    from rldp.reporter import terminal
    from rldp.reporter.words import story_lines

    if not 10 <= rows <= 10**9:
        raise InvalidArgument(f"--rows must lie between 10 and 1000000000, got {rows}")
    if math.isinf(epsilon):
        raise InvalidArgument("--epsilon must be finite, got inf: such a protocol would promise nothing")
    sample = adult(rows)
    with progress("Designing"):
        problems = four_problems(sample, epsilon)
        with silenced(SparseTableWarning):  # about the four problems
            steps = rungs(sample, epsilon)
    told = story(sample, problems[-1].design)
    if as_json:
        show_json(_facts(sample.n, epsilon, told, problems, steps), indent=2)
        return
    screen = terminal.console()
    screen.print(terminal.facts(story_lines(told, epsilon, sample.n)))
    screen.print(terminal.ladder(steps))
    screen.print(
        "The distortion is the mean squared error. A stronger promise costs more. The default is chi2. "
        "'rldp verify' lists what a protocol promises and what it does not.\n"
    )
    screen.print(
        "The paper behind this (Goseling and Lopuhaä-Zwakenberg, 2022) asks for utility (U) and privacy (P) "
        "either for the estimate (N, nominal) or for every distribution that a χ² test at level 0.05 does "
        "not reject on this sample (R, robust). So RURP is robust in both and NUNP in neither. A ✓ marks a "
        "protocol whose largest ε over that set is at most the requested ε.\n"
    )
    screen.print(terminal.comparison(problems, epsilon))
    screen.print("\nThe RURP protocol: how likely each output is, for each sex and number of years.\n")
    screen.print(terminal.heat_map(problems[-1].design.protocol, width=screen.width))
    screen.print(
        "\nThe sample has the proportions of the UCI Adult data set (Becker and Kohavi, CC BY 4.0). Next, "
        "on a table of your own:"
    )
    screen.print(
        "  rldp design DATA.csv --secret COLUMN --value COLUMN --epsilon 0.5 -o protocol.json", soft_wrap=True
    )


def _facts(
    rows: int, epsilon: float, told: Story, problems: Sequence[Row], steps: Mapping[str, Design]
) -> dict[str, Any]:
    return {
        "rows": rows,
        "epsilon": epsilon,
        "story": picked(told, "raw_leakage", "raw_value", "unchanged", "error"),
        "problems": [
            {
                "problem": row.design.problem,
                "worst_leakage": row.worst_leakage,
                "promised": row.design.objective,
                "lower_bound": row.design.lower_bound,
                "estimate": row.nominal_distortion,
            }
            for row in problems
        ],
        "promises": [
            {"privacy": name, "promised": designed.objective, "estimate": under_estimate(designed)}
            for name, designed in steps.items()
        ],
    }
