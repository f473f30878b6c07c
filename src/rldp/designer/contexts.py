"""Kept columns and outputs of earlier releases, which are published beside the designed columns.

Both are fixed first stages of a chain. A kept column has the identity as its table, an earlier output the
table of its protocol. See ``docs/theory.md``, 'Contexts'.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from rldp._common.checks import Label
from rldp.chain import Chain, Earlier, Stage
from rldp.data.reading import MISSING, OTHER, Column
from rldp.designer.chains import ChainProblem
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.protocol_file.chains import MOST_NUMBERS
from rldp.sample import Sample
from rldp.theory import chains
from rldp.theory.model import Floats

__all__ = ["After", "arranged", "earlier_names", "fixed_stages", "margin", "require_feasible"]

After = Sequence[Protocol] | Mapping[str, Protocol]
"""Earlier protocols, in the order of release; a mapping names the sample's column of each."""

_UNLINKED = "; without such rows, designs for single columns with privacy='all' add up, to the sum of their ε"


@dataclass(frozen=True)
class _Release:
    """One column of an earlier release, as in its protocol."""

    column: str
    known: Column
    outputs: tuple[Label, ...]
    table: Floats
    context: tuple[str, ...]
    sha256: str


def _releases(after: After) -> Iterator[_Release | Stage]:
    """Return the columns of earlier releases, including the kept ones."""
    if isinstance(after, Protocol | str) or not isinstance(after, Sequence | Mapping):
        raise InvalidArgumentType(f"after must be a list of protocols, got {type(after).__name__}")
    listed: Sequence[tuple[str | None, Any]] = (
        list(after.items()) if isinstance(after, Mapping) else [(None, protocol) for protocol in after]
    )
    drawn: set[str] = set()
    for name, given in listed:
        protocol = getattr(given, "protocol", given)
        if not isinstance(protocol, Protocol):
            raise InvalidArgumentType(f"after must hold protocols, got {type(given).__name__}")
        reading = protocol.reading
        if reading is None:
            raise InvalidArgument(
                "after must hold protocols that name their columns, as designs on Sample.from_data do"
            )
        if name is not None and len(reading.value) != 1:
            raise InvalidArgument(f"after[{name!r}] must be a protocol of one value column")
        for column in protocol.value_columns:
            if (name or column) in drawn:
                raise InvalidArgument(
                    f"after must hold one release of {name or column!r}, got two: two draws of one column "
                    "need two value columns of the sample, one for each"
                )
            drawn.add(name or column)
        digest = protocol.sha256 or hashlib.sha256(protocol.to_json().encode()).hexdigest()
        columns = {each.name: each for each in reading.row}
        if isinstance(protocol, Chain):
            before: list[str] = []
            for stage in protocol.stages:
                if stage.kept:
                    yield stage
                else:
                    out = stage.earlier
                    yield _Release(
                        name or stage.column,
                        columns[stage.column],
                        stage.outputs if out is None or not out.absent else stage.outputs[:-1],
                        stage.table if out is None else out.table,
                        tuple(before) if out is None else out.context,
                        digest if out is None or out.sha256 is None else out.sha256,
                    )
                before.append(stage.column if stage.kept else name or stage.column)
            continue
        if len(reading.value) != 1:
            raise InvalidArgument(
                "after must hold protocols of single columns or chains, got one of several columns in one "
                "table, whose columns were not drawn one after the other"
            )
        (own,) = reading.value
        yield _Release(name or own.name, own, protocol.outputs, protocol.matrix[None], (), digest)


def earlier_names(after: After) -> tuple[str, ...]:
    """Return the columns of the sample that are already published."""
    names = (each.column for each in _releases(after) if isinstance(each, _Release))
    return tuple(dict.fromkeys(names))


def arranged(sample: Sample, earlier: Sequence[str]) -> Sample:
    """Return the sample with the columns of earlier releases before the others.

    Raises
    ------
    InvalidArgument
        If the sample lacks one of them, or has no other.
    """
    reading = sample.reading
    names = () if reading is None else reading.value_names
    for name in earlier:
        if name not in names:
            raise InvalidArgument(
                f"after needs linked rows: {name!r} of the earlier release must be among the value columns "
                f"of the sample, got {', '.join(map(repr, names)) or 'none with names'}{_UNLINKED}"
            )
    assert reading is not None
    order = [*map(names.index, earlier), *(j for j, name in enumerate(names) if name not in earlier)]
    if len(order) == len(earlier):
        raise InvalidArgument(
            "value must name a column that is not yet published, besides those of the earlier releases, got "
            f"{', '.join(map(repr, names))}"
        )
    if order == sorted(order):
        return sample
    given = len(reading.given)
    places = np.arange(len(sample.values)).reshape([len(column.labels) for column in reading.row])
    places = places.transpose(*range(given), *(given + j for j in order)).ravel()
    moved = replace(reading, value=tuple(reading.value[j] for j in order))
    scales = tuple(sample.scales[j] for j in order) if sample.scales else ()
    return Sample(
        sample.counts[:, places],
        sample.secrets,
        moved.values,
        reading=moved,
        skipped=sample.skipped,
        scales=scales,
    )


def margin(sample: Sample, first: int) -> Sample:
    """Return the sample of the value columns from number ``first`` on, without given columns."""
    reading = sample.reading
    assert reading is not None
    own = replace(reading, value=reading.value[first:], given=())
    counts = sample.counts.reshape(len(sample.secrets), -1, prod(len(c.labels) for c in own.value))
    scales = sample.scales[first:] if sample.scales else ()
    return Sample(counts.sum(axis=1), sample.secrets, own.values, reading=own, scales=scales)


def fixed_stages(sample: Sample, after: After) -> tuple[Stage, ...]:
    """Return kept columns and earlier releases as stages, for an arranged sample.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If the labels of an earlier release differ from the sample's, or its contexts are unknown.
    """
    reading = sample.reading
    assert reading is not None
    secrets, contexts = len(sample.secrets), 1
    stages: list[Stage] = []
    for column in reading.given:
        size = len(column.labels)
        _require_numbers(column.name, contexts * secrets * size**2)
        table = chains.kept_as_it_is(contexts, secrets, size)
        stages.append(Stage(column.name, column.labels, table, kept=True))
        contexts *= size
    columns = {column.name: column for column in reading.value}
    _require_secrets(sample, after)
    for each in _releases(after):
        fixed = next((stage for stage in stages if stage.column == each.column), None)
        if isinstance(each, Stage):
            if fixed is None or not fixed.kept or fixed.outputs != each.outputs:
                raise InvalidArgument(
                    f"given must name {each.column!r}, which an earlier release kept, with the labels that "
                    "it had there"
                )
        elif fixed is None:
            stages.append(_earlier_stage(each, columns[each.column], stages, secrets))
        elif fixed.earlier is None or not np.array_equal(fixed.earlier.table, each.table):
            raise InvalidArgument(
                f"after must hold one release of {each.column!r}, got two that differ: an earlier release "
                "that rests on another must be listed after it"
            )
    return tuple(stages)


def _require_secrets(sample: Sample, after: After) -> None:
    for given in after.values() if isinstance(after, Mapping) else after:
        protocol = getattr(given, "protocol", given)
        if protocol.secrets != sample.secrets:
            raise InvalidArgument(
                f"the sample must have the {len(protocol.secrets)} secrets of the earlier release, in their "
                f"order, got {len(sample.secrets)} others; secrets= gives them"
            )
        assert protocol.reading is not None
        assert sample.reading is not None
        then, now = protocol.reading.secret_names, sample.reading.secret_names
        if then != now:
            raise InvalidArgument(
                f"the secret of the sample must be that of the earlier release, {_quoted(then)}, got "
                f"{_quoted(now)}; if it is the same under another name, rename the column"
            )


def _require_numbers(name: str, numbers: int) -> None:
    """Refuse a table that files may not have."""
    if numbers > MOST_NUMBERS:
        raise InvalidArgument(
            f"given and after must have fewer combinations of labels: the table of {name!r} would have "
            f"{numbers} numbers, more than 2^25; rare= merges labels of a given column"
        )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _earlier_stage(release: _Release, column: Column, before: Sequence[Stage], secrets: int) -> Stage:
    """Return the stage of an earlier release, in the contexts of this one."""
    own = release.known
    absent = column.labels == (*own.labels, MISSING) and MISSING not in release.outputs
    if OTHER in release.outputs:
        raise InvalidArgument(
            f"after must hold releases without the label {OTHER!r}, got one of {release.column!r}"
        )
    if column.edges != own.edges or (column.labels != own.labels and not absent):
        raise InvalidArgument(
            f"column {release.column!r} of the sample must have the labels and bins of the earlier release, "
            "got others; Sample.from_data(after=…) reads it in this way"
        )
    names = [stage.column for stage in before]
    missing = [name for name in release.context if name not in names]
    sizes = [len(stage.outputs) for stage in before]
    places = [names.index(name) for name in release.context if name in names]
    if missing or len(release.table) != prod(sizes[i] for i in places):
        wanted = ", ".join(map(repr, missing or release.context))
        raise InvalidArgument(
            f"after must list the releases that {release.column!r} was drawn given, with all that they "
            f"could give, before it: {wanted}"
        )
    earlier = Earlier(release.table, release.context, absent, release.sha256)
    outputs = (*release.outputs, MISSING) if absent else release.outputs
    _require_numbers(release.column, prod(sizes) * secrets * len(column.labels) * len(outputs))
    return Stage(release.column, outputs, earlier.spread(names, sizes), earlier=earlier)


def require_feasible(problem: ChainProblem, stages: Sequence[Stage], risk: float) -> None:
    """Refuse contexts that alone reveal more than ε with a posterior probability above ``risk``.

    Raises
    ------
    InvalidArgument
        With their ε* under the posterior mean and the posterior's quantile.
    """
    rest = prod(problem.values[len(stages) :])
    summed = problem.search_draws.reshape(*problem.search_draws.shape[:2], -1, rest).sum(axis=-1)
    tables = list(problem.fixed)
    leakages = chains.leakages(tables, summed, problem.known)
    quantile = float(np.quantile(leakages, 1 - risk, method="higher"))
    if quantile <= problem.epsilon:
        return
    mean = problem.conditional_mean.reshape(1, len(problem.mean), -1, rest).sum(axis=-1)
    estimate = float(chains.leakages(tables, mean, problem.known)[0])
    kept = [stage.column for stage in stages if stage.kept]
    names = ", ".join(repr(stage.column) for stage in stages)
    what = "given columns" if len(kept) == len(stages) else "the published columns"
    advice = (
        "publish it as a value column, make its labels coarser (rare=), leave it out, or promise "
        "to readers who know it (given_known=True)"
        if kept
        else "a larger ε, or a sample with more rows, is needed"
    )
    raise InvalidArgument(
        f"{what} {names} must reveal less than ε = {problem.epsilon:g} about the secret, but ε* is about "
        f"{estimate:.3g} for them alone under the posterior mean, and above {problem.epsilon:g} with "
        f"posterior probability {float((leakages > problem.epsilon).mean()):.2g}; {advice}"
    )
