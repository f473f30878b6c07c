"""``rldp demo``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from rldp.adviser.demo import Row, adult, four_problems
from rldp.adviser.ladder import Rung, rungs
from rldp.cli.app import Json, command, progress
from rldp.cli.machine import show_json
from rldp.errors import InvalidArgument


@command(example="rldp demo --epsilon 0.5")
def demo(
    epsilon: Annotated[float, typer.Option(help="Privacy level, 0 or more.")] = 0.5,
    rows: Annotated[int, typer.Option(help="Size of the public sample, in the table's proportions.")] = 2000,
    as_json: Json = False,
) -> None:
    """Design on a small table inside the package and show what each promise costs."""
    from rldp.reporter import terminal

    if not 1 <= rows <= 10**9:
        raise InvalidArgument(f"--rows must lie between 1 and 1000000000, got {rows}")
    sample = adult(rows)
    with progress("Designing"):
        found = four_problems(sample, epsilon)
        steps = list(rungs(sample, epsilon))
    if as_json:
        show_json(_facts(sample.n, epsilon, found, steps), indent=2)
        return
    screen = terminal.console()
    screen.print(
        "Secret: sex. To be published: years of education. Public sample: "
        f"{sample.n} rows in the proportions of the UCI Adult data set (Becker and Kohavi, CC BY 4.0).\n"
    )
    screen.print(terminal.comparison(found, epsilon))
    screen.print(
        "\nIn a problem's name R is robust and N is nominal: RU and NU say whether the promised distortion "
        "holds for every distribution of the set or for the estimate only, RP and NP say the same of ε.\n"
        "The set: every distribution that a χ² test at level 0.05 does not reject on this sample.\n"
        "✓: ε holds for all of them. ✗: under some of them more leaks.\n"
    )
    screen.print(terminal.ladder(steps))
    screen.print(
        "From the strongest promise to none, with the distortion of the estimate; chi2 is the paper's set "
        "and the default. docs/promises.md has the sentences that each promise lets you say.\n"
    )
    screen.print("The RURP protocol:\n")
    screen.print(terminal.heat_map(found[-1].design.protocol, width=screen.width))
    screen.print(
        "\nNext, on a table of your own:\n"
        "  rldp design DATA.csv --secret COLUMN --value COLUMN --epsilon 0.5 -o protocol.json",
        soft_wrap=True,
    )


def _facts(rows: int, epsilon: float, problems: Sequence[Row], steps: Sequence[Rung]) -> dict[str, Any]:
    return {
        "rows": rows,
        "epsilon": epsilon,
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
            {"privacy": rung.name, "promised": rung.design.objective, "estimate": rung.estimate}
            for rung in steps
        ],
    }
