"""``rldp design``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import rldp
from rldp._common import digits as _digits
from rldp._common.warnings import silenced
from rldp.adviser.binning import CANDIDATES, best
from rldp.adviser.ladder import LADDER, Rung, rungs
from rldp.adviser.verdict import Worth, worth
from rldp.cli.app import Json, command, is_quiet, note, progress, require_writable, warn, warned
from rldp.cli.counting import Counting, Data, Measuring
from rldp.cli.machine import plain, show_json
from rldp.cli.promising import PerhapsEpsilon, Promises, Promising
from rldp.errors import InvalidArgument
from rldp.sets import SetName

_LARGE = 50_000  # probabilities, from which a design may take minutes
_NO_BETTER = 0.99  # of the distortion of an output that ignores the data
_COMPARED = 1e-3  # gap of designs that are made for comparing
_COARSER = 0.9  # of the distortion, from which a coarser table is worth a word
_QUICK = 2.0  # seconds, up to which other promises are tried without being asked for
_MANY_CELLS = 50  # from which pairs may cost less than one set for the whole table


@command(
    example="rldp design people.csv --secret diagnosis --value age --epsilon 0.5 -o protocol.json",
    on_sample=True,
)
def design(
    command: typer.Context,
    data: Data,
    counting: Counting,
    output: Annotated[Path, typer.Option("--output", "-o", help="Protocol file to write (JSON).")],
    measuring: Measuring,
    promising: Promising,
    epsilon: PerhapsEpsilon = None,
    max_distortion: Annotated[
        float | None,
        typer.Option(
            "--max-distortion",
            "--at-most",
            metavar="D",
            help="Instead of --epsilon: the smallest ε whose promised distortion is at most D.",
        ),
    ] = None,
    gap: Annotated[float, typer.Option(help="Relative gap to the best possible protocol.")] = 1e-6,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows",
            help="Keep privacy by a stronger, quicker constraint; it can cost much utility.",
        ),
    ] = False,
    others: Annotated[
        bool | None,
        typer.Option(
            "--others/--no-others",
            help="Show what other promises would cost.",
            show_default="shown where that takes seconds",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Design a protocol from a public sample and write it, with its proof, to a file."""
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, data, "the data")
    promises = promising.sets
    _require_one_goal(epsilon, max_distortion, windows)
    counter = counting.counter(command, data)
    sample = counter.sample(epsilon, measuring.distortion, **promises)
    measure, published = measuring.of(sample)
    if sample.counts.size * len(sample.values) > _LARGE:
        rows, columns = sample.counts.shape
        note(
            f"{rows} secrets × {columns} values may take minutes; a larger --gap, such as 1e-3, or --bins "
            "for numbers takes less"
        )
    designed: rldp.Design
    if max_distortion is not None:
        designed = _least(sample, max_distortion, **promises, measure=measure, outputs=published)
        epsilon = designed.epsilon
    else:
        assert epsilon is not None
        with progress("Designing") as callback:
            designed = rldp.design(
                sample,
                epsilon,
                **promises,
                distortion=measure,
                outputs=published,
                gap=gap,
                windows=windows,
                callback=callback,
            )
    if designed.objective >= _NO_BETTER * designed.constant_objective > 0:
        warn(
            "this protocol is hardly better than an output that ignores the data; "
            "a larger --epsilon, more data, or fewer values may help"
        )
    if counter.counted and counting.takes_values_as_found and (as_json or not is_quiet()):
        _advise_bins(counter.counted, epsilon, designed, sample, measuring.distortion, promises)
    designed.protocol.save(output)
    if is_quiet() and not as_json:
        return
    names = _others(promising.privacy, designed, others)
    found: list[Rung] = []
    if names:
        with progress("Trying other promises"), silenced(rldp.RldpWarning):
            found = list(
                rungs(
                    sample,
                    epsilon,
                    names,
                    alpha=promising.alpha,
                    prior=promising.prior,
                    utility=promises["utility"],
                    distortion=measure,
                    outputs=published,
                    gap=max(gap, _COMPARED),
                )
            )
    with progress("Looking for what drives the cost"):
        judged = worth(sample, designed)
    if as_json:
        show_json(_facts(output, designed, judged, found), indent=2)
        return
    screen = terminal.console()
    screen.print(terminal.summary(designed))
    if found:
        screen.print(terminal.ladder([*found, Rung.of(promising.privacy, designed)], promising.privacy))
    screen.print(terminal.worth_report(judged))
    terminal.tell("The protocol file holds the counts of your sample; rldp export writes the table alone.")
    terminal.say(f"written to {output}")


def _require_one_goal(epsilon: float | None, max_distortion: float | None, windows: bool) -> None:
    if epsilon is None and max_distortion is None:
        raise typer.BadParameter("must be given, or --max-distortion in its place", param_hint="--epsilon")
    if epsilon is not None and max_distortion is not None:
        raise InvalidArgument("--epsilon must be left out where --max-distortion is given, got both")
    if max_distortion is not None and windows:
        raise InvalidArgument("--windows must be left out where --max-distortion is given, got both")


def _least(sample: rldp.Sample, most: float, **options: Any) -> rldp.LeastDesign:
    """The design for the smallest ε that does, and a line that says what was found."""
    with progress("Looking for the smallest ε"):
        found = rldp.least_epsilon(sample, most, **options)
    less = ""
    if found.too_small is not None:
        less = f"; at ε = {_digits.at_least(found.too_small, 6)} no protocol promises so little"
    note(f"ε = {_digits.at_most(found.epsilon, 6)} promises a distortion of at most {most:g}{less}")
    return found


def _facts(output: Path, designed: rldp.Design, judged: Worth, others: Sequence[Rung]) -> dict[str, Any]:
    """What a design is, for machines."""
    from rldp.reporter.words import worth_sentences

    claim = designed.protocol.guarantee
    assert claim is not None
    return {
        "protocol": output,
        "problem": designed.problem,
        "epsilon": claim.epsilon,
        "promise": claim.promise,
        "objective": designed.objective,
        "lower_bound": designed.lower_bound,
        "too_small": getattr(designed, "too_small", None),
        "status": plain(designed.status),
        "verdict": {**plain(judged), "reach": judged.reach, "sentences": worth_sentences(judged)},
        "others": [
            {"privacy": rung.name, "promised": rung.design.objective, "estimate": rung.estimate}
            for rung in others
        ],
        "warnings": warned(),
    }


def _advise_bins(
    counted: Callable[..., rldp.Sample],
    epsilon: float,
    designed: rldp.Design,
    sample: rldp.Sample,
    distortion: str,
    promises: Promises,
) -> None:
    """Say so where a coarser table would promise much less distortion."""
    numbers = sample.scale is None and not any(isinstance(value, str | bool) for value in sample.values)
    if not numbers or len(sample.values) <= CANDIDATES[-1] or distortion not in ("squared", "absolute"):
        return
    with progress("Trying bins"):
        cut = best(lambda count: counted(bins=count), epsilon, distortion=distortion, **promises)
    if cut.objective < _COARSER * designed.objective:
        warn(
            f"{len(sample.values)} values are many for {sample.n} rows: with --bins {cut.bins} the "
            f"promised distortion would be {cut.objective:.4g}, and it is {designed.objective:.4g}"
        )


def _others(chosen: SetName, designed: rldp.Design, asked: bool | None) -> list[SetName]:
    """The promises that the chosen one is compared with: all if asked for, otherwise those that are quick."""
    others = [name for name in LADDER if name != chosen]
    if asked is not None:
        return others if asked else []
    quick = designed.status.seconds <= _QUICK and designed.status.route != "windows"
    few = designed.protocol.matrix[..., 0].size < _MANY_CELLS
    return [name for name in others if not (few and name == "pairs")] if quick else []
