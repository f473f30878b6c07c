"""The file of a chain: a table for every stage and context, and what is claimed of the whole row.

JSON in the strict form of the protocol file (:mod:`rldp.protocol_file.format`); see ``docs/file-format.md``.
Columns, values and counts stand in the order of the reading, stages in the order in which they are drawn.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rldp._common.checks import Label
from rldp.data.reading import Reading
from rldp.errors import ProtocolFileError
from rldp.protocol_file.format import (
    DENOMINATOR,
    Document,
    _columns,
    _denominator,
    _generator,
    _integer,
    _labels,
    _name,
    _non_negative,
    _number,
    _Part,
    _positive,
    _reading_tree,
    _risk,
    _treatment,
    _Wrong,
    parsed as parsed_table,
    tree_of,
)

__all__ = [
    "FORMAT",
    "VERSION",
    "ChainClaim",
    "ChainDocument",
    "ColumnClaim",
    "StageTable",
    "parsed",
    "text_of",
]

FORMAT = "rldp-chain"
VERSION = 1
_MOST_DRAWS = 2**53
_MOST_SEEDS = 2**128 - 1
_MOST_VALUES = 2**20

Prior: TypeAlias = float | Literal["adaptive"]
Table = list[list[float]]
Integers = list[list[int]]


@dataclass(frozen=True)
class StageTable:
    """The table of one column: integers over 2^52, [context][secret][value][output].

    Contexts are the outputs of the stages before, numbered in the order of :func:`itertools.product`.
    """

    column: str
    outputs: tuple[Label, ...]
    numerators: list[list[list[list[int]]]]


@dataclass(frozen=True)
class ColumnClaim:
    """What one column adds to the distortion, and the proof of a lower bound for it alone."""

    weight: float
    distortion: Table
    multipliers: Table


@dataclass(frozen=True)
class ChainClaim:
    """What is claimed of a chain.

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
        In the order of the stages.
    objective, lower_bound : float
    """

    epsilon: float
    n: int
    counts: Integers
    alpha: float
    prior: Prior
    seed: int
    centre: Integers
    columns: tuple[ColumnClaim, ...]
    objective: float
    lower_bound: float


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
        return tuple(self.reading.value_names.index(stage.column) for stage in self.stages)


def text_of(document: ChainDocument) -> str:
    """The file's text: one line of JSON, keys in a fixed order, every number in full."""
    claim = document.guarantee
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "generator": document.generator,
        "secrets": list(document.secrets),
        "columns": _reading_tree(document.reading),
        "denominator": DENOMINATOR,
        "stages": [vars(stage) for stage in document.stages],
        "guarantee": None if claim is None else {**vars(claim), "columns": [vars(c) for c in claim.columns]},
    }
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def parsed(content: bytes) -> Document | ChainDocument:
    """The document in the bytes of a protocol file, of either kind.

    Raises
    ------
    ProtocolFileError
        If the bytes are no protocol file of a known version, with the place where that shows.
    """
    tree = tree_of(content)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        return parsed_table(content)
    version = tree.get("version")
    if type(version) is not int or version != VERSION:
        raise ProtocolFileError(f"its version must be {VERSION}, got {version!r}")
    keys = ("format", "version", "generator", "secrets", "columns", "denominator", "stages", "guarantee")
    fields = _Part("", tree).fields(*keys)
    fields["denominator"].read(_denominator)
    secrets = _labels(fields["secrets"])
    reading = _chain_reading(fields["columns"], secrets)
    stages = _stages(fields["stages"], len(secrets), reading)
    claim = fields["guarantee"]
    return ChainDocument(
        generator=fields["generator"].read(_generator),
        secrets=secrets,
        reading=reading,
        stages=stages,
        guarantee=None if claim.tree is None else _claim(claim, len(secrets), reading, stages),
    )


def _chain_reading(part: _Part, secrets: tuple[Label, ...]) -> Reading:
    fields = part.fields("secret", "value", "missing")
    missing = fields["missing"].read(_treatment)
    reading = Reading(
        _columns(fields["secret"], missing, "header"),
        _columns(fields["value"], missing, "header", "edges"),
        missing,
    )
    if len(reading.value) < 2 or len(set(reading.names)) < len(reading.names):
        raise part.fail("about two value columns or more, and columns of distinct names")
    if math.prod(len(column.labels) for column in reading.value) > _MOST_VALUES:
        raise ProtocolFileError(f"{part.path} must have at most 2^20 combinations of values")
    combinations = math.prod(len(column.labels) for column in reading.secret)
    if combinations != len(secrets) or reading.secrets != secrets:
        raise fields["secret"].fail("columns whose labels combine to the secrets")
    return reading


def _stages(part: _Part, secrets: int, reading: Reading) -> tuple[StageTable, ...]:
    if not isinstance(part.tree, list) or len(part.tree) != len(reading.value):
        raise part.fail(f"a list of {len(reading.value)}, a stage for each value column")
    sizes = {column.name: len(column.labels) for column in reading.value}
    found: list[StageTable] = []
    contexts = 1
    for i, item in enumerate(part.tree):
        fields = _Part(f"{part.path}[{i}]", item).fields("column", "outputs", "numerators")
        column, outputs = fields["column"].read(_name), _labels(fields["outputs"])
        if column not in sizes:
            raise fields["column"].fail("a value column that no other stage is about")
        shape = (contexts, secrets, sizes.pop(column), len(outputs))
        found.append(StageTable(column, outputs, fields["numerators"].array(shape, _integer(DENOMINATOR))))
        contexts *= len(outputs)
        if contexts > _MOST_VALUES:
            raise ProtocolFileError(f"{part.path} must have at most 2^20 combinations of outputs")
    return tuple(found)


def _claim(part: _Part, secrets: int, reading: Reading, stages: tuple[StageTable, ...]) -> ChainClaim:
    keys = (
        "epsilon",
        "n",
        "counts",
        "alpha",
        "prior",
        "seed",
        "centre",
        "columns",
        "objective",
        "lower_bound",
    )
    fields = part.fields(*keys)
    shape = (secrets, math.prod(len(column.labels) for column in reading.value))
    counts = fields["counts"].array(shape, _integer(_MOST_DRAWS))
    n = fields["n"].read(_integer(_MOST_DRAWS))
    if n != sum(map(sum, counts)) or not 0 < n < _MOST_DRAWS:
        raise fields["n"].fail("the sum of the counts, positive and below 2^53")
    centre = fields["centre"].array(shape, _integer(DENOMINATOR))
    if sum(map(sum, centre)) != DENOMINATOR:
        raise fields["centre"].fail("integers that sum to 2^52")
    columns = fields["columns"]
    if not isinstance(columns.tree, list) or len(columns.tree) != len(stages):
        raise columns.fail(f"a list of {len(stages)}")
    return ChainClaim(
        epsilon=fields["epsilon"].read(_non_negative),
        n=n,
        counts=counts,
        alpha=fields["alpha"].read(_risk),
        prior=fields["prior"].read(_prior),
        seed=fields["seed"].read(_integer(_MOST_SEEDS)),
        centre=centre,
        columns=tuple(
            _column(_Part(f"{columns.path}[{i}]", item), secrets, stage)
            for i, (item, stage) in enumerate(zip(columns.tree, stages, strict=True))
        ),
        objective=fields["objective"].read(_number),
        lower_bound=fields["lower_bound"].read(_number),
    )


def _column(part: _Part, secrets: int, stage: StageTable) -> ColumnClaim:
    values, outputs = len(stage.numerators[0][0]), len(stage.outputs)
    fields = part.fields("weight", "distortion", "multipliers")
    return ColumnClaim(
        weight=fields["weight"].read(_positive),
        distortion=fields["distortion"].array((values, outputs), _non_negative),
        multipliers=fields["multipliers"].array((outputs, secrets * (secrets - 1)), _non_negative),
    )


def _prior(item: Any) -> Prior:
    if item == "adaptive":
        return "adaptive"
    if isinstance(item, str):
        raise _Wrong('a positive number or "adaptive"')
    return _positive(item)
