"""Chains: protocols for several columns, drawn one after the other, each given what is already out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, counted
from rldp._common.memory import require_bytes
from rldp.data.reading import Reading
from rldp.errors import InvalidArgument
from rldp.protocol import Guarantee, Protocol
from rldp.sample import Sample
from rldp.sets import UncertaintySet
from rldp.theory import chains
from rldp.theory.dyadic import numerators, on_grid
from rldp.theory.sampling import Randomness, Sampler

__all__ = ["Chain", "ChainGuarantee", "ColumnProof", "Stage"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stage:
    """The table of one column.

    Attributes
    ----------
    column : str
        Its name.
    outputs : tuple of labels
    table : array of four dimensions
        Probabilities by context, secret, value and output. A context is the outputs of the stages before.
        Each probability is a multiple of 2^-52.
    """

    column: str
    outputs: tuple[Label, ...]
    table: Floats

    def __post_init__(self) -> None:
        table = on_grid(np.asarray(self.table, dtype=np.float64))
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @cached_property
    def sampler(self) -> Sampler:
        """Exact draws from its rows."""
        return Sampler(numerators(self.table).reshape(-1, len(self.outputs)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "sampler"}


@dataclass(frozen=True, eq=False)
class ColumnProof:
    """What a column adds to the distortion, and the multipliers that bound it from below.

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
    """What a chain claims of whole rows, about which sample, and the proof.

    Attributes
    ----------
    epsilon, sample, privacy, utility, objective, lower_bound
        As in :class:`rldp.Guarantee`; ``utility`` is about ``centre`` alone.
    columns : tuple of ColumnProof
        In the order of the stages.
    centre : int array (|S|, |U|)
        The posterior mean, over 2^52: the distribution of the objective and of the lower bound.
    order : tuple of int
        The number of each stage's column among the value columns.
    """

    columns: tuple[ColumnProof, ...]
    centre: NDArray[np.int64]
    order: tuple[int, ...]

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
    ) -> None:
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                object.__setattr__(self, name, value)

    @cached_property
    def distortion(self) -> Floats:
        """d(u, y) of whole rows, for alphabets whose product is small."""
        sizes = [proof.distortion.shape for proof in self.columns]
        _require_small("the distortions", prod(u for u, _ in sizes), prod(y for _, y in sizes), 1)
        total = np.zeros((1, 1))
        in_order = [self.columns[self.order.index(j)] for j in range(len(self.columns))]
        for proof in in_order:
            own = proof.weight * proof.distortion
            total = (total[:, None, :, None] + own[None, :, None, :]).reshape(
                total.shape[0] * own.shape[0], -1
            )
        return total


class Chain(Protocol):
    """A protocol for several columns: a stage for each reads the secret, its own value and what is out.

    It is used like any :class:`rldp.Protocol`. The table of whole rows, ``matrix``, is worked out only where
    it is asked for, and refused where it would be too large.

    Parameters
    ----------
    stages : sequence of Stage
        In the order in which they are drawn.
    secrets : sequence of labels
    reading : Reading
        Of the secret and of all value columns, whose order is that of values and outputs.
    guarantee : ChainGuarantee, optional
    """

    stages: tuple[Stage, ...]

    def __init__(
        self,
        stages: Sequence[Stage],
        secrets: Sequence[Label],
        reading: Reading,
        *,
        guarantee: ChainGuarantee | None = None,
    ) -> None:
        names = [stage.column for stage in stages]
        if sorted(names) != sorted(reading.value_names):
            raise InvalidArgument("stages must be about the value columns of the reading, one each")
        by_name = {stage.column: stage for stage in stages}
        outputs: Any = tuple(product(*(by_name[name].outputs for name in reading.value_names)))
        given = {
            "stages": tuple(stages),
            "secrets": tuple(secrets),
            "values": reading.values,
            "outputs": outputs,
            "guarantee": guarantee,
            "reading": reading,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def order(self) -> tuple[int, ...]:
        """The number of each stage's column among the value columns."""
        assert self.reading is not None
        return tuple(self.reading.value_names.index(stage.column) for stage in self.stages)

    @cached_property
    def matrix(self) -> Floats:
        """Q(y|s,u) of whole rows (|S|, |U|, |Y|), in floats."""
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

    @property
    def reads_secret(self) -> bool:
        """True: a chain is released with the secret of every row."""
        return True

    @property
    def sampler(self) -> Sampler:
        raise InvalidArgument("protocol must have one table, got a chain, which is drawn stage by stage")

    def draw(
        self, secrets: NDArray[np.integer], values: NDArray[np.integer], words: Randomness
    ) -> NDArray[np.int32]:
        sizes = [len(column.labels) for column in self._columns]
        own = np.unravel_index(np.asarray(values, dtype=np.int64), sizes)
        context = np.zeros(len(own[0]), dtype=np.int64)
        drawn: dict[int, NDArray[np.int64]] = {}
        for stage, j in zip(self.stages, self.order, strict=True):
            rows = (context * len(self.secrets) + secrets) * sizes[j] + own[j]
            drawn[j] = stage.sampler.draw(rows, words).astype(np.int64)
            context = context * len(stage.outputs) + drawn[j]
        widths = [len(self.stages[self.order.index(j)].outputs) for j in range(len(sizes))]
        joint = np.ravel_multi_index([drawn[j] for j in range(len(sizes))], widths)
        return np.asarray(joint, dtype=np.int32)

    def output_law(self, distribution: Floats) -> Floats:
        """P(y|s) of whole rows (|S|, |Y|) under P (|S|, |U|), outputs in the order of the stages."""
        sizes = [len(column.labels) for column in self._columns]
        whole = distribution.reshape(-1, *sizes).transpose(0, *(1 + j for j in self.order))
        flat = whole.reshape(len(whole), -1)
        masses = flat.sum(axis=1, keepdims=True)
        conditionals = np.divide(flat, masses, out=np.zeros_like(flat), where=masses > 0)
        return chains.output_law(conditionals, [stage.table for stage in self.stages])

    @property
    def words(self) -> int:
        """How many random words a row takes: one for each column, in the order of the stages."""
        return len(self.stages)

    @property
    def _columns(self) -> tuple[Any, ...]:
        assert self.reading is not None
        return self.reading.value

    def alone(self) -> Chain:
        return Chain(self.stages, self.secrets, self.reading)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        names = ", ".join(stage.column for stage in self.stages)
        return f"<Chain: {counted('secret', self.secrets)}; {names}; {self._claim()}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.secrets, self.values, self.outputs))

    def to_json(self) -> str:
        from rldp.protocol_file.chain_json import to_json

        return to_json(self)


def _require_small(what: str, values: int, outputs: int, secrets: int) -> None:
    require_bytes(
        f"{what} of whole rows, {values} values × {outputs} outputs,",
        8 * secrets * values * outputs * 2,
        "a chain is released and verified without it",
    )
