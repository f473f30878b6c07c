"""``rldp design``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import rldp
from rldp._common import digits as _digits
from rldp._common.process import silenced
from rldp.adviser.binning import coarser
from rldp.adviser.ladder import others_than, rungs, under_estimate
from rldp.adviser.verdict import Worth, is_hardly_better, may_take_minutes, worth
from rldp.cli.app import Json, command, is_quiet, note, progress, require_writable, warn, warned
from rldp.cli.commands import is_on_command_line
from rldp.cli.counting import Counter, Counting, Data, Measured, Measuring, Noising
from rldp.cli.machine import plain, show_json
from rldp.cli.promising import Levels, Promises, Promising
from rldp.errors import InvalidArgument


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
    levels: Levels,
    noising: Noising,
    max_distortion: Annotated[
        float | None,
        typer.Option(
            "--max-distortion",
            "--at-most",
            metavar="D",
            help="Instead of --epsilon: use the smallest ε with a promised distortion of at most D.",
        ),
    ] = None,
    gap: Annotated[float, typer.Option(help="Largest relative gap to the proved optimum.")] = 1e-6,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows",
            help="Design faster, for hundreds of values, under a stronger constraint. This can increase "
            "the distortion considerably.",
        ),
    ] = False,
    chain: Annotated[
        bool | None,
        typer.Option(
            "--chain/--joint",
            help="Draw several columns one after the other, each depending on those already drawn, or "
            "all at once.",
            show_default="--chain above 1000 combinations, with --privacy credible",
        ),
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|COL=FILE",
            help="Protocol of an earlier release of the same people; may be repeated, in the order of "
            "release. --epsilon is then the total. Use COL=FILE if the value column has another "
            "name in DATA.",
        ),
    ] = None,
    given_known: Annotated[
        bool,
        typer.Option(
            "--given-known",
            help="Promise ε to readers who know the --given columns, instead of for whole rows.",
        ),
    ] = False,
    max_seconds: Annotated[
        float | None,
        typer.Option(metavar="T", help="Stop after T seconds and return the best private protocol found."),
    ] = None,
    others: Annotated[
        bool | None,
        typer.Option(
            "--others/--no-others",
            help="Show the distortion of other promises.",
            show_default="shown where that takes seconds",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Design a protocol from a public sample, and write it with its proof to a file."""
    from rldp.data.atomic import require_other_file
    from rldp.reporter import terminal
    from rldp.reporter.words import gives_away

    require_writable(output)
    require_other_file(output, data, "the data")
    promises = promising.sets
    if is_on_command_line(command, "max_distortion") and not is_on_command_line(command, "epsilon"):
        levels = replace(levels, epsilon=None)  # overrides the project file
    _require_one_goal(
        levels,
        max_distortion,
        {
            "--windows": windows,
            "--max-seconds": max_seconds is not None,
            "--after": bool(after),
            "--given-known": given_known,
        },
    )
    before = _released_before(after)
    counter = counting.counter(command, data, before)
    count = partial(counter.sample, levels.one, measuring.distortion, **promises)
    sample = noising.sample(count, counting)
    others = False if sample.noise is not None else others
    measured = measuring.of(sample)
    if max_seconds is None and may_take_minutes(sample):
        rows, columns = sample.counts.shape
        note(
            f"{rows} secrets × {columns} values may take minutes; a larger --gap, such as 1e-3, "
            "--max-seconds, or --bins for numbers takes less"
        )
    designed: rldp.Design
    if max_distortion is not None:
        designed = _least(sample, max_distortion, promises, measured)
    else:
        with progress("Designing") as callback:
            designed = rldp.design(
                sample,
                levels.of(sample),
                **promises,
                **measured,
                gap=gap,
                windows=windows,
                chain=chain,
                after=before,
                given_known=given_known,
                callback=callback,
                max_seconds=max_seconds,
            )
    if is_hardly_better(designed):
        warn(
            "this protocol is hardly better than an output that ignores the data; "
            "a larger --epsilon, more data, or fewer values may help"
        )
    claim = designed.protocol.guarantee
    assert claim is not None
    if noising.noise is None and claim.levels is None and (as_json or not is_quiet()):
        _advise_bins(counter, designed, sample, measuring.distortion, promises)
    designed.protocol.save(output)
    if is_quiet() and not as_json:
        return
    tried: dict[str, rldp.Design] = {}
    judged = None
    is_chain = isinstance(designed.protocol, rldp.Chain)
    if not is_chain:
        names = [] if claim.levels is not None else others_than(promising.privacy, designed, others)
        if names:
            with progress("Trying other promises"), silenced(rldp.RldpWarning):
                tried = rungs(
                    sample,
                    designed.epsilon,
                    names,
                    alpha=promising.alpha,
                    prior=promising.prior,
                    utility=promises["utility"],
                    **measured,
                    epsilon_known=promising.epsilon_known,
                )
        with progress("Looking for what drives the cost"):
            judged = worth(sample, designed)
        away = gives_away(judged)
        if away is not None:
            warn(f"{away}; --epsilon-known bounds what such readers learn")
    if as_json:
        show_json(_facts(output, designed, judged, tried), indent=2)
        return
    screen = terminal.console()
    screen.print(terminal.summary(designed))
    if tried:
        screen.print(terminal.ladder({**tried, promising.privacy: designed}, promising.privacy))
    if judged is not None:
        screen.print(terminal.worth_report(judged))
    _tell_who_may_see(sample, beside=is_chain and bool(before or sample.given_columns))
    terminal.say(f"written to {output}")


def _tell_who_may_see(sample: rldp.Sample, *, beside: bool) -> None:
    """Say whether the file may be published, since it holds the counts of the sample.

    With columns ``beside``, given or released before, the counts cannot have noise.
    """
    from rldp.reporter import terminal

    if sample.noise is None:
        terminal.tell(
            "The protocol file holds the counts of your sample; rldp export writes the table alone."
        )
        noise = "--noise E adds noise to the counts before the design"
        only = "keep the file to yourself: designs with --given or --after have no --noise"
        terminal.tell(f"Are these rows public? If not, {only if beside else noise}.")
    else:
        terminal.tell("The protocol file holds only the noisy counts, so you may publish it.")


def _released_before(files: Sequence[str] | None) -> list[rldp.Protocol] | dict[str, rldp.Protocol]:
    """Return the protocols of earlier releases, by columns of the data if these are named."""
    named, plain = {}, []
    for text in files or ():
        column, equals, path = text.partition("=")
        if equals and not Path(text).exists():
            named[column] = rldp.load(path)
        else:
            plain.append(rldp.load(text))
    if named and plain:
        raise InvalidArgument("--after must be COL=FILE for all files or for none, got both")
    return named or plain


def _require_one_goal(levels: Levels, max_distortion: float | None, of_epsilon: Mapping[str, bool]) -> None:
    """Require either ε or the distortion; options ``of_epsilon`` do not go with the distortion."""
    epsilon = levels.one
    if epsilon is not None and math.isinf(epsilon) and not levels.between:
        raise InvalidArgument(
            f"--epsilon must be finite, got {epsilon:g}: a design without a level would protect nobody"
        )
    if not levels.is_given and max_distortion is None:
        raise typer.BadParameter("must be given, or --max-distortion in its place", param_hint="--epsilon")
    if (levels.is_given or levels.between) and max_distortion is not None:
        raise InvalidArgument("--epsilon must be left out where --max-distortion is given, got both")
    for option, is_given in of_epsilon.items():
        if max_distortion is not None and is_given:
            raise InvalidArgument(f"{option} must be left out where --max-distortion is given, got both")


def _least(sample: rldp.Sample, most: float, promises: Promises, measured: Measured) -> rldp.LeastDesign:
    """Return the design for the smallest sufficient ε, after a line about it."""
    with progress("Looking for the smallest ε"):
        least = rldp.least_epsilon(
            sample,
            most,
            **promises,
            measure=measured["distortion"],
            weights=measured["weights"],
            outputs=measured["outputs"],
        )
    less = ""
    if least.too_small is not None:
        less = f"; at ε = {_digits.at_least(least.too_small, 6)} no protocol promises so small a distortion"
    note(f"ε = {_digits.at_most(least.epsilon, 6)} promises a distortion of at most {most:g}{less}")
    return least


def _facts(
    output: Path,
    designed: rldp.Design,
    judged: Worth | None,
    others: Mapping[str, rldp.Design],
) -> dict[str, Any]:
    """Return a design as JSON."""
    from rldp.reporter.words import worth_sentences

    claim = designed.protocol.guarantee
    assert claim is not None
    return {
        "protocol": output,
        "problem": designed.problem,
        "epsilon": claim.epsilon,
        "levels": claim.levels,
        "epsilon_known": claim.epsilon_known,
        "known_leakage": None if judged is None else judged.known_leakage,
        "promise": claim.promise,
        "objective": designed.objective,
        "lower_bound": designed.lower_bound,
        "columns": plain(designed.columns),
        "given": list(designed.protocol.given_columns),
        "given_known": getattr(claim, "given_known", False),
        "earlier": list(getattr(designed.protocol, "earlier_columns", ())),
        "too_small": getattr(designed, "too_small", None),
        "status": plain(designed.status),
        "verdict": None
        if judged is None
        else {**plain(judged), "reach": judged.reach, "sentences": worth_sentences(judged)},
        "others": [
            {"privacy": name, "promised": other.objective, "estimate": under_estimate(other)}
            for name, other in others.items()
        ],
        "warnings": warned(),
    }


def _advise_bins(
    counter: Counter,
    designed: rldp.Design,
    sample: rldp.Sample,
    distortion: str,
    promises: Promises,
) -> None:
    """Warn if a coarser table would promise much less distortion."""
    if not counter.is_fine(sample, distortion):
        return
    with progress("Trying bins"):
        cut = coarser(lambda bins: counter.count(bins=bins), designed, distortion=distortion, **promises)
    if cut is not None:
        warn(
            f"{len(sample.values)} values are many for {sample.n} rows: with --bins {cut.bins} the "
            f"promised distortion would be {cut.objective:.4g} instead of {designed.objective:.4g}"
        )
