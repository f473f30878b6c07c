"""Chains: protocols for several columns, drawn one after the other, each given the outputs so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.canonical import digest_of
from rldp._common.checks import Label, counted
from rldp._common.process import require_bytes
from rldp.data.reading import Column, Reading
from rldp.errors import InvalidArgument
from rldp.protocol import Guarantee, Protocol, table_bytes
from rldp.sample import Sample
from rldp.sets import Nominal, UncertaintySet
from rldp.theory import chains
from rldp.theory.arrays import numerators, on_grid
from rldp.theory.sampling import Randomness, RowWords, Sampler, words_of_stage

__all__ = ["Chain", "ChainGuarantee", "ColumnProof", "Earlier", "Stage"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Earlier:
    """The earlier release that a column's outputs come from.

    Attributes
    ----------
    table : array of four dimensions
        The table of its protocol, for that protocol's contexts, values and outputs.
    context : tuple of str
        The columns that make up its contexts.
    absent : bool
        Whether people may have been absent: they have the value and the output ``(missing)``.
    sha256 : str or None
        SHA-256 of its protocol file, if it has one.
    """

    table: Floats
    context: tuple[str, ...] = ()
    absent: bool = False
    sha256: str | None = None

    def spread(self, names: Sequence[str], sizes: Sequence[int]) -> Floats:
        """Return the table for all contexts made by the columns ``names``, which have so many outputs."""
        table = self.table
        if self.absent:
            table = np.pad(table, ((0, 0), (0, 0), (0, 1), (0, 1)))
            table[:, :, -1, -1] = 1.0
        return chains.spread(table, [names.index(name) for name in self.context], sizes)


@dataclass(frozen=True, eq=False)
class Stage:
    """The table of one column.

    Attributes
    ----------
    column : str
        Its name.
    outputs : tuple of labels
    table : array of four dimensions
        Probabilities by context, secret, value and output. A context is a combination of outputs of the
        earlier stages. Each probability is a multiple of 2^-52.
    kept : bool
        Whether the column is published unchanged: its outputs are its values.
    earlier : Earlier or None
        Set if the outputs are already published and not drawn again.
    """

    column: str
    outputs: tuple[Label, ...]
    table: Floats
    kept: bool = False
    earlier: Earlier | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether a release draws the column, which is neither kept nor already published."""
        return not self.kept and self.earlier is None

    def __post_init__(self) -> None:
        table = on_grid(np.asarray(self.table, dtype=np.float64))
        table.setflags(write=False)
        vars(self).update(table=table)

    @cached_property
    def sampler(self) -> Sampler:
        """Sampler of exact draws from its rows."""
        return Sampler(numerators(self.table).reshape(-1, len(self.outputs)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "sampler"}


@dataclass(frozen=True, eq=False)
class ColumnProof:
    """A column's share of the distortion, and the multipliers that bound it from below.

    Attributes
    ----------
    weight : float
    distortion : array (|U_j|, |Y_j|)
        In the column's own unit.
    multipliers : array (|Y_j|, T)
    """

    weight: float
    distortion: Floats
    multipliers: Floats


class ChainGuarantee(Guarantee):
    """The claim of a chain about whole rows, the sample it refers to, and the proof.

    Attributes
    ----------
    epsilon, sample, privacy, utility, objective, lower_bound
        As in :class:`rldp.Guarantee`; ``utility`` refers to ``centre`` alone.
    columns : tuple of ColumnProof
        In the order of the stages; fixed stages have none.
    centre : int array (|S|, |U|)
        The posterior mean, over 2^52: the distribution of the objective and of the lower bound.
    order : tuple of int
        The position of each stage's column among the columns of the row.
    given_known : bool
        Whether the promise is to readers who know the kept columns: ε then bounds the ratios of P(y|s, k)
        instead of P(k, y|s).
    epsilon_known : float
        κ of whole rows, for readers who know all values; ∞ if nothing is claimed.
    """

    columns: tuple[ColumnProof, ...]
    centre: NDArray[np.int64]
    order: tuple[int, ...]
    given_known: bool

    def __init__(
        self,
        *,
        epsilon: float,
        sample: Sample,
        privacy: UncertaintySet,
        utility: UncertaintySet,
        objective: float,
        lower_bound: float,
        columns: tuple[ColumnProof, ...],
        centre: NDArray[np.int64],
        order: tuple[int, ...],
        given_known: bool = False,
        epsilon_known: float = math.inf,
    ) -> None:
        given = locals()
        vars(self).update({name: given[name] for name in given if name not in ("self", "__class__")})

    @property
    def utility_scope(self) -> str:
        """The centre, which is the posterior mean, in words."""
        return Nominal(centre=self.centre.tolist()).scope

    @property
    def promise(self) -> str:
        """The claim in words: ε, the distributions and the columns it covers."""
        kept, earlier = (" and ".join(map(repr, names)) for names in (self._kept, self.earlier_columns))
        words = super().promise
        if kept:
            words += (
                f", to readers who know {kept}"
                if self.given_known
                else f", together with {kept}, kept as it is"
            )
        return words + (f", as the total with the earlier release of {earlier}" if earlier else "")

    @property
    def earlier_columns(self) -> tuple[str, ...]:
        """Names of the columns whose outputs are already published."""
        return self._reading.value_names[: len(self.order) - len(self.columns) - len(self._kept)]

    @property
    def _kept(self) -> tuple[str, ...]:
        return self._reading.given_names

    @property
    def _reading(self) -> Reading:
        assert self.sample.reading is not None
        return self.sample.reading

    @cached_property
    def distortion(self) -> Floats:
        """The distortion d(u, y) of whole rows, for alphabets with a small product."""
        if self.earlier_columns:
            raise InvalidArgument("protocol must follow no earlier release for a distortion of whole rows")
        kept = [np.zeros((len(column.labels),) * 2) for column in self._reading.given]  # they lose nothing
        by_stage = [*kept, *(proof.weight * proof.distortion for proof in self.columns)]
        sizes = [own.shape for own in by_stage]
        _require_small("the distortions", prod(u for u, _ in sizes), prod(y for _, y in sizes), 1)
        total = np.zeros((1, 1))
        for own in (by_stage[self.order.index(j)] for j in range(len(by_stage))):
            total = (total[:, None, :, None] + own[None, :, None, :]).reshape(
                total.shape[0] * own.shape[0], -1
            )
        return total


class Chain(Protocol):
    """A protocol for several columns: each stage reads the secret, its value and the outputs so far.

    It is used like any :class:`rldp.Protocol`. The table of whole rows, ``matrix``, is computed only on
    demand, and refused if it would be too large.

    Parameters
    ----------
    stages : sequence of Stage
        In the order in which they are drawn.
    secrets : sequence of labels
    reading : Reading
        Reading of the secret and the columns of a row; values and outputs have the order of its columns.
    guarantee : ChainGuarantee, optional
    """

    stages: tuple[Stage, ...]
    reading: Reading

    def __init__(
        self,
        stages: Sequence[Stage],
        secrets: Sequence[Label],
        reading: Reading,
        *,
        guarantee: ChainGuarantee | None = None,
    ) -> None:
        names = [stage.column for stage in stages]
        if sorted(names) != sorted(reading.row_names):
            raise InvalidArgument("stages must be about the columns of the reading's row, one each")
        by_name = {stage.column: stage for stage in stages}
        outputs: Any = tuple(product(*(by_name[name].outputs for name in reading.row_names)))
        vars(self).update(
            stages=tuple(stages),
            secrets=tuple(secrets),
            values=reading.values,
            outputs=outputs,
            guarantee=guarantee,
            reading=reading,
        )

    @property
    def order(self) -> tuple[int, ...]:
        """The position of each stage's column among the columns of the row."""
        return tuple(self.reading.row_names.index(stage.column) for stage in self.stages)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """Names of the drawn columns."""
        return self.reading_of_rows.value_names

    @property
    def given_columns(self) -> tuple[str, ...]:
        """Names of the columns published unchanged, inside the promise."""
        return self.reading.given_names

    @property
    def earlier_columns(self) -> tuple[str, ...]:
        """Names of the columns whose outputs are already published, in order."""
        return tuple(stage.column for stage in self.stages if stage.earlier is not None)

    @cached_property
    def reading_of_rows(self) -> Reading:
        """How the rows of a release are read: with earlier outputs in place of their values."""
        earlier = {stage.column: stage.outputs for stage in self.stages if stage.earlier is not None}
        by_name = {column.name: column for column in self.reading.value}
        out = tuple(Column(name, outputs) for name, outputs in earlier.items())
        drawn = tuple(column for name, column in by_name.items() if name not in earlier)
        absent = tuple(stage.earlier.absent for stage in self.stages if stage.earlier is not None)
        return replace(self.reading, given=(*self.reading.given, *out), value=drawn, earlier=absent)

    @cached_property
    def matrix(self) -> Floats:
        """Q(y|s,u) of whole rows in floats, shape (|S|, |U|, |Y|)."""
        _require_small("the table", len(self.values), len(self.outputs), len(self.secrets))
        table = chains.as_one_table([stage.table for stage in self.stages])
        by_stage = [stage.table.shape[2] for stage in self.stages], [len(s.outputs) for s in self.stages]
        u, y = (
            np.arange(prod(sizes)).reshape(sizes).transpose(np.argsort(self.order)).ravel()
            for sizes in by_stage
        )
        return np.ascontiguousarray(table[:, u][:, :, y])

    @property
    def numerators(self) -> NDArray[np.int64]:
        raise InvalidArgument("protocol must have one table, got a chain, which has a table for every stage")

    @cached_property
    def reads_secret(self) -> bool:
        """Whether a probability of any stage depends on the secret."""
        return any(bool((stage.table != stage.table[:, :1]).any()) for stage in self.stages)

    @property
    def sampler(self) -> Sampler:
        raise InvalidArgument("protocol must have one table, got a chain, which is drawn stage by stage")

    @cached_property
    def table_sha256(self) -> str:
        """SHA-256 of the tables of all stages, in order."""
        labels = {column.name: column.labels for column in self.reading.row}
        stages = [
            [stage.column, labels[stage.column], stage.outputs, table_bytes(numerators(stage.table))]
            for stage in self.stages
        ]
        return digest_of(["rldp-chain-1", self.secrets, stages]).hex()

    def draw(
        self,
        secrets: NDArray[np.integer],
        values: NDArray[np.integer],
        words: Randomness | RowWords,
    ) -> NDArray[np.int32]:
        values, own, joint = np.asarray(values), *self._places
        largest = max(stage.table.size for stage in self.stages)
        kind = np.promote_types(np.int32, np.min_scalar_type(-largest))
        context = np.zeros(len(values), dtype=kind)
        drawn: list[NDArray[np.int32]] = []
        for number, (stage, places) in enumerate(zip(self.stages, own, strict=True)):
            output = places[values]
            if stage.is_drawn:
                rows = context * len(self.secrets)
                rows += secrets
                rows *= stage.table.shape[2]
                rows += output
                output = stage.sampler.draw(rows, words_of_stage(words, number, secrets, output, drawn))
            drawn.append(output)
            context *= len(stage.outputs)
            context += output
        return joint[context]

    @cached_property
    def _places(self) -> tuple[list[NDArray[np.int32]], NDArray[np.int32]]:
        """For each value its place in every stage's column; the code of outputs in the order of stages."""
        reading, widths = self.reading_of_rows, [len(stage.outputs) for stage in self.stages]
        sizes = [len(column.labels) for column in reading.row]
        order = self.order
        own = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1)
        codes = np.arange(prod(widths), dtype=np.int32)
        by_column = codes.reshape([widths[k] for k in np.argsort(order)]).transpose(order)
        return [own[j] for j in order], by_column.reshape(-1)

    def output_law(self, distribution: Floats) -> Floats:
        """Return P(y|s) of whole rows (|S|, |Y|) under P (|S|, |U|), outputs in the order of the stages."""
        return self._law(distribution, self.reading.row, [stage.table for stage in self.stages])

    def law_of_rows(self, distribution: Floats) -> Floats:
        """Return the same for rows of a release, which hold the outputs of earlier releases."""
        tables = [
            stage.table
            if stage.earlier is None
            else chains.kept_as_it_is(len(stage.table), len(self.secrets), len(stage.outputs))
            for stage in self.stages
        ]
        return self._law(distribution, self.reading_of_rows.row, tables)

    def with_earlier_drawn(
        self, counts: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Count rows by secret and content, with an earlier output drawn for each person."""
        sizes = [len(column.labels) for column in self.reading.row]
        fixed = [stage for stage in self.stages if not stage.is_drawn]
        drawn = np.asarray(counts).reshape(len(counts), 1, -1)  # axes: secret, outputs so far, columns left
        for stage, size in zip(fixed, sizes, strict=False):
            left = drawn.reshape(len(counts), len(stage.table), size, -1)
            out = np.stack(
                [
                    generator.multinomial(left[s, c].T, stage.table[c, s])  # (left, values, outputs)
                    for s in range(len(counts))
                    for c in range(len(stage.table))
                ]
            )
            summed = out.sum(axis=2).transpose(0, 2, 1)
            drawn = summed.reshape(len(counts), len(stage.table) * len(stage.outputs), -1)
        return np.ascontiguousarray(drawn.reshape(len(counts), -1))

    def _law(self, distribution: Floats, columns: Sequence[Column], tables: Sequence[Floats]) -> Floats:
        flat = self._in_stage_order(distribution, columns)
        masses = flat.sum(axis=1, keepdims=True)
        conditionals = np.divide(flat, masses, out=np.zeros_like(flat), where=masses > 0)
        return chains.output_law(conditionals, tables)

    def _in_stage_order(self, distribution: Floats, columns: Sequence[Column]) -> Floats:
        """Return P (|S|, |U|) of rows of these columns, with the columns in the order of the stages."""
        names = [column.name for column in columns]
        order = [names.index(stage.column) for stage in self.stages]
        whole = distribution.reshape(-1, *(len(column.labels) for column in columns))
        return whole.transpose(0, *(1 + j for j in order)).reshape(len(whole), -1)

    def expected_distortion(self, distribution: Floats) -> float:
        """Return the weighted sum of the drawn columns' distortions under P (|S|, |U|)."""
        whole = self._in_stage_order(distribution, self.reading.row)
        tables = [stage.table for stage in self.stages]
        return float(chains.expected_distortions(tables, self.distortions, whole).sum())

    @property
    def distortions(self) -> list[Floats]:
        """The weighted distortion d(u, y) of each stage; columns that are not drawn lose nothing."""
        assert isinstance(self.guarantee, ChainGuarantee)
        proofs = iter(self.guarantee.columns)
        by_stage = []
        for stage in self.stages:
            own = next(proofs) if stage.is_drawn else None
            by_stage.append(np.zeros(stage.table.shape[2:]) if own is None else own.weight * own.distortion)
        return by_stage

    @property
    def words(self) -> int:
        """Number of random words a row needs: one for each drawn column, in the order of the stages."""
        return sum(stage.is_drawn for stage in self.stages)

    def alone(self) -> Chain:
        return Chain(self.stages, self.secrets, self.reading)

    def without_secret(self) -> Chain:
        """Return the stages for the first secret: earlier outputs are still read and not drawn again."""
        stages = [replace(stage, table=stage.table[:, :1]) for stage in self.stages]
        return Chain(stages, self.secrets[:1], self.reading)

    def __repr__(self) -> str:
        names = ", ".join(stage.column for stage in self.stages)
        return f"<Chain: {counted('secret', self.secrets)}; {names}; {self._claim()}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.secrets, self.values, self.outputs))


def _require_small(what: str, values: int, outputs: int, secrets: int) -> None:
    require_bytes(
        f"{what} of whole rows, {values} values × {outputs} outputs,",
        8 * secrets * values * outputs * 2,
        "a chain is released and verified without it",
    )
