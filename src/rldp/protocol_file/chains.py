"""The file of a chain: a table for every stage and context, and the claim about whole rows.

JSON in the strict form of the protocol file (:mod:`rldp.protocol_file.reader`); see ``docs/file-format.md``.
Columns, values and counts are in the order of the reading, stages in the order in which they are drawn.
The first stages may be kept columns, which have no table, and outputs of earlier releases.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rldp._common.checks import Label
from rldp.data.reading import MISSING, Column, Reading
from rldp.errors import ProtocolFileError
from rldp.protocol_file.reader import (
    DENOMINATOR,
    MOST_SEEDS,
    Integers,
    Part,
    Wrong,
    as_denominator,
    as_generator,
    as_integer,
    as_name,
    as_non_negative,
    as_number,
    as_positive,
    as_prior,
    as_risk,
    centre_in,
    columns_in,
    counts_in,
    json_text,
    labels_in,
    noise_in,
    noise_keys,
    require_labels,
    tree_of_noise,
    tree_of_reading,
)

__all__ = [
    "FORMAT",
    "MOST_NUMBERS",
    "VERSION",
    "ChainClaim",
    "ChainDocument",
    "ColumnClaim",
    "EarlierTable",
    "StageTable",
    "chain_in",
    "table_digest",
]

FORMAT = "rldp-chain"
VERSION = 1
_MOST_VALUES = 2**20
MOST_NUMBERS = 2**25  # in the table of a stage that is not drawn, for all outputs before it
_CLAIM = ("epsilon", "n", "counts", "alpha", "prior", "seed", "centre", "columns", "objective", "lower_bound")


@dataclass(frozen=True)
class EarlierTable:
    """The source of a stage's outputs, if these are already published.

    Attributes
    ----------
    sha256 : str or None
        The digest of its protocol's file.
    digest : str
        That of the table, :func:`table_digest`.
    context : tuple of str
        The columns that make up the contexts of its table.
    absent : bool
        Whether there is one more value and output, ``(missing)``, for people who were not in that release.
    """

    sha256: str | None
    digest: str
    context: tuple[str, ...]
    absent: bool


@dataclass(frozen=True)
class StageTable:
    """The table of one column: integers over 2^52, [context][secret][value][output].

    Contexts are the outputs of the stages before, numbered in the order of :func:`itertools.product`. A kept
    column has no numerators: its outputs are its values. An earlier one has those of its own contexts, values
    and outputs; ``outputs`` has ``(missing)`` as well where people may have been absent.
    """

    column: str
    outputs: tuple[Label, ...]
    numerators: list[list[list[list[int]]]]
    kept: bool = False
    earlier: EarlierTable | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether a release draws the column."""
        return not self.kept and self.earlier is None

    @property
    def tree(self) -> dict[str, object]:
        """Return the stage as JSON."""
        if self.kept:
            return {"column": self.column, "kept": True}
        tree: dict[str, object] = {"column": self.column, "outputs": list(self.outputs)}
        if self.earlier is not None:
            tree["earlier"] = {**vars(self.earlier), "context": list(self.earlier.context)}
        return {**tree, "numerators": self.numerators}


def table_digest(
    secrets: Sequence[Label],
    values: Sequence[Label],
    outputs: Sequence[Label],
    numerators: list[list[list[list[int]]]],
    context: Sequence[tuple[str, Sequence[Label]]] = (),
) -> str:
    """Return the SHA-256 of a table with its labels, which anybody who has the table can check.

    ``context`` holds the columns that its contexts are made of, with their outputs.
    """
    content: list[object] = [list(secrets), list(values), list(outputs), numerators]
    if context:
        content.append([[name, list(labels)] for name, labels in context])
    return hashlib.sha256(json_text(content).encode()).hexdigest()


@dataclass(frozen=True)
class ColumnClaim:
    """The share of one column in the distortion, and the proof of its own lower bound."""

    weight: float
    distortion: list[list[float]]
    multipliers: Any  # [output][pair], or [context][output][pair] behind fixed stages


@dataclass(frozen=True)
class ChainClaim:
    """The claim of a chain.

    Attributes
    ----------
    epsilon : float
        Of the whole row.
    n, counts
        The sample [secret][value].
    alpha, prior, seed
        Of the credible promise.
    centre : [secret][value]
        The distribution of the objective and of the lower bound, over 2^52.
    columns : tuple of ColumnClaim
        Claims of the drawn stages, in their order.
    objective, lower_bound : float
    given_known : bool
        Whether ε refers to readers who know the kept columns.
    epsilon_known : float
        κ of whole rows; ∞, which is not written, if nothing is claimed.
    noise, rows_a_person
        ε of the noise on the counts, if any, and the largest number of rows of a person.
    """

    epsilon: float
    n: int
    counts: Integers
    alpha: float
    prior: float | Literal["adaptive"]
    seed: int
    centre: Integers
    columns: tuple[ColumnClaim, ...]
    objective: float
    lower_bound: float
    given_known: bool = False
    epsilon_known: float = math.inf
    noise: float | None = None
    rows_a_person: int = 1

    @property
    def count_noise(self) -> float | None:
        """The level of the noise of each count; None without noise."""
        return None if self.noise is None else self.noise / self.rows_a_person

    @property
    def tree(self) -> dict[str, object]:
        """Return the claim as JSON, without what is not claimed."""
        tree = {**vars(self), "columns": [vars(column) for column in self.columns]}
        for optional in ("given_known", "epsilon_known", "noise", "rows_a_person"):
            del tree[optional]
        about = {"given_known": True} if self.given_known else {}
        known = {} if math.isinf(self.epsilon_known) else {"epsilon_known": self.epsilon_known}
        return tree | about | known | tree_of_noise(self.noise, self.rows_a_person)


@dataclass(frozen=True)
class ChainDocument:
    """The file of a chain."""

    generator: str
    secrets: tuple[Label, ...]
    reading: Reading
    stages: tuple[StageTable, ...]
    guarantee: ChainClaim | None

    @property
    def order(self) -> tuple[int, ...]:
        """The number of each stage's column in the reading."""
        return tuple(self.reading.row_names.index(stage.column) for stage in self.stages)

    @property
    def fixed(self) -> int:
        """The number of first stages that are kept columns or earlier releases."""
        return sum(not stage.is_drawn for stage in self.stages)

    @property
    def known(self) -> int:
        """Number of combinations of kept columns that readers are assumed to know; 1 if none."""
        if self.guarantee is None or not self.guarantee.given_known:
            return 1
        return math.prod(len(stage.outputs) for stage in self.stages if stage.kept)

    @property
    def tree(self) -> dict[str, object]:
        """Return the file as JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "generator": self.generator,
            "secrets": list(self.secrets),
            "columns": tree_of_reading(self.reading),
            "denominator": DENOMINATOR,
            "stages": [stage.tree for stage in self.stages],
            "guarantee": None if self.guarantee is None else self.guarantee.tree,
        }


def chain_in(tree: dict[str, Any]) -> ChainDocument:
    """Return the document in the JSON of a chain's file.

    Raises
    ------
    ProtocolFileError
        If the version is unknown or the form is wrong; the message names the place.
    """
    version = tree.get("version")
    if type(version) is not int or version != VERSION:
        raise ProtocolFileError(f"its version must be {VERSION}, got {version!r}")
    keys = ("format", "version", "generator", "secrets", "columns", "denominator", "stages", "guarantee")
    fields = Part("", tree).fields(*keys)
    fields["denominator"].read(as_denominator)
    secrets = labels_in(fields["secrets"])
    reading = _chain_reading(fields["columns"], secrets)
    stages = _stages(fields["stages"], secrets, reading)
    claim = fields["guarantee"]
    return ChainDocument(
        generator=fields["generator"].read(as_generator),
        secrets=secrets,
        reading=reading,
        stages=stages,
        guarantee=None if claim.tree is None else _claim(claim, len(secrets), reading, stages),
    )


def _chain_reading(part: Part, secrets: tuple[Label, ...]) -> Reading:
    fields, reading = columns_in(part)
    if len(reading.row) < 2 or len(set(reading.names)) < len(reading.names):
        raise part.fail("about two value columns or more, and columns of distinct names")
    if math.prod(len(column.labels) for column in reading.row) > _MOST_VALUES:
        raise ProtocolFileError(f"{part.path} must have at most 2^20 combinations of values")
    require_labels(fields["secret"], reading, secrets)
    return reading


def _stages(part: Part, secrets: tuple[Label, ...], reading: Reading) -> tuple[StageTable, ...]:
    needed = f"a list of {len(reading.row)}, a stage for each value column"
    left = {column.name: column for column in reading.value}
    stages: list[StageTable] = []
    for i, each in enumerate(part.entries(len(reading.row), needed)):
        if i < len(reading.given):
            stage, values = _kept(each, reading.given[i]), len(reading.given[i].labels)
        else:
            stage, values = _stage(each, stages, left, secrets)
            if stage.earlier is not None and stages and stages[-1].is_drawn:
                raise each.fail("drawn, behind a stage that is drawn")
        stages.append(stage)
        contexts = math.prod(len(stage.outputs) for stage in stages)
        if contexts > _MOST_VALUES:
            raise ProtocolFileError(f"{part.path} must have at most 2^20 combinations of outputs")
        if not stage.is_drawn and contexts * values * len(secrets) > MOST_NUMBERS:
            raise ProtocolFileError(f"{each.path} must have fewer labels: its table would be too large")
    if not stages[-1].is_drawn:
        raise part.fail("stages of which the last is drawn")
    earlier = [stage.column for stage in stages if stage.earlier is not None]
    if list(reading.value_names[: len(earlier)]) != earlier:
        raise part.fail(
            "about columns of earlier releases in the order of columns.value, where they come first"
        )
    return tuple(stages)


def _kept(part: Part, column: Column) -> StageTable:
    """Return the stage of a given column, which has no table."""
    fields = part.fields("column", "kept")
    if fields["column"].read(as_name) != column.name:
        raise fields["column"].fail(f"the given column {column.name!r}: given columns come first")
    if fields["kept"].tree is not True:
        raise fields["kept"].fail("true")
    return StageTable(column.name, column.labels, [], kept=True)


def _stage(
    part: Part, before: Sequence[StageTable], left: dict[str, Column], secrets: tuple[Label, ...]
) -> tuple[StageTable, int]:
    """Return the stage of a value column among those in ``left``, and how many values that has."""
    fields = part.fields("column", "outputs", "numerators", optional=("earlier",))
    column, outputs = fields["column"].read(as_name), labels_in(fields["outputs"])
    if column not in left:
        raise fields["column"].fail("a value column that no other stage is about")
    values = left.pop(column).labels
    if "earlier" not in fields:
        return StageTable(column, outputs, _numerators(fields, before, secrets, values, outputs)), len(values)
    earlier = _earlier(fields["earlier"], before)
    if earlier.absent and not (values[-1] == outputs[-1] == MISSING and len(outputs) > 1 < len(values)):
        raise fields["outputs"].fail(f"labels of which the last is {MISSING!r}, as that of the values is")
    known = [stage for stage in before if stage.column in earlier.context]
    own = values[: len(values) - earlier.absent], outputs[: len(outputs) - earlier.absent]
    numerators = _numerators(fields, known, secrets, *own)
    context = [(stage.column, stage.outputs) for stage in known]
    if table_digest(secrets, *own, numerators, context) != earlier.digest:
        raise fields["earlier"].fail("about the table in the file, which has another digest")
    return StageTable(column, outputs, numerators, earlier=earlier), len(values)


def _numerators(fields: Mapping[str, Part], before: Sequence[StageTable], *labels: tuple[Label, ...]) -> Any:
    """Read a table [context][secret][value][output] for contexts made of the outputs ``before``."""
    contexts = math.prod(len(stage.outputs) for stage in before)
    return fields["numerators"].array((contexts, *map(len, labels)), as_integer(DENOMINATOR))


def _earlier(part: Part, before: Sequence[StageTable]) -> EarlierTable:
    fields = part.fields("sha256", "digest", "context", "absent")
    names = [stage.column for stage in before]
    context, absent = fields["context"].tree, fields["absent"].tree
    if not isinstance(context, list) or context != [name for name in names if name in context]:
        raise fields["context"].fail("a list of columns before it, in their order")
    if type(absent) is not bool:
        raise fields["absent"].fail("true or false")
    file = fields["sha256"]
    return EarlierTable(
        None if file.tree is None else file.read(_as_digest),
        fields["digest"].read(_as_digest),
        tuple(context),
        absent,
    )


def _as_digest(item: Any) -> str:
    if not isinstance(item, str) or not re.fullmatch("[0-9a-f]{64}", item):
        raise Wrong("64 hexadecimal digits")
    return item


def _claim(part: Part, secrets: int, reading: Reading, stages: tuple[StageTable, ...]) -> ChainClaim:
    fields = part.fields(*_CLAIM, optional=("given_known", "epsilon_known", *noise_keys(part)))
    known = "given_known" in fields
    if known and (fields["given_known"].tree is not True or not reading.given):
        raise fields["given_known"].fail("true, where columns are given, or be left out")
    noise, rows_a_person = noise_in(fields)
    drawn = [stage for stage in stages if stage.is_drawn]
    fixed = [stage for stage in stages if not stage.is_drawn]
    contexts = (math.prod(len(stage.outputs) for stage in fixed),) if fixed else ()
    shape = (secrets, math.prod(len(column.labels) for column in reading.row))
    counts, centre = counts_in(fields, shape), centre_in(fields, shape)
    columns = fields["columns"].entries(len(drawn))
    return ChainClaim(
        epsilon=fields["epsilon"].read(as_non_negative),
        n=fields["n"].tree,
        counts=counts,
        alpha=fields["alpha"].read(as_risk),
        prior=fields["prior"].read(as_prior),
        seed=fields["seed"].read(as_integer(MOST_SEEDS)),
        centre=centre,
        columns=tuple(
            _column(each, secrets, stage, contexts) for each, stage in zip(columns, drawn, strict=True)
        ),
        objective=fields["objective"].read(as_number),
        lower_bound=fields["lower_bound"].read(as_number),
        given_known=known,
        epsilon_known=fields["epsilon_known"].read(as_non_negative)
        if "epsilon_known" in fields
        else math.inf,
        noise=noise,
        rows_a_person=rows_a_person,
    )


def _column(part: Part, secrets: int, stage: StageTable, contexts: tuple[int, ...]) -> ColumnClaim:
    values, outputs = len(stage.numerators[0][0]), len(stage.outputs)
    fields = part.fields("weight", "distortion", "multipliers")
    return ColumnClaim(
        weight=fields["weight"].read(as_positive),
        distortion=fields["distortion"].array((values, outputs), as_non_negative),
        multipliers=fields["multipliers"].array(
            (*contexts, outputs, secrets * (secrets - 1)), as_non_negative
        ),
    )
