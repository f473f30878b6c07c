"""The protocol file as a value: JSON text ↔ plain Python numbers, each checked for type and shape.

This is the one reading of the file that the library and the judge share. It knows what a file looks
like (``docs/file-format.md``), and nothing of what the numbers in it mean.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeVar

from rldp._common.checks import Label, labels, shown
from rldp.data.atomic import checked_path
from rldp.data.reading import MISSING, TREATMENTS, Column, Reading
from rldp.errors import ProtocolFileError, RldpError

__all__ = [
    "DENOMINATOR",
    "FORMAT",
    "MOST_BYTES",
    "TOO_LARGE",
    "VERSIONS",
    "Claim",
    "CredibleClaim",
    "Document",
    "EverythingClaim",
    "PairsClaim",
    "Promise",
    "Proof",
    "SetClaim",
    "Table",
    "content_of",
    "parsed",
    "text_of",
    "tree_of",
]

FORMAT = "rldp-protocol"
VERSIONS = (1, 2, 3)
"""The second knows the promises credible, pairs and all, and names columns; the third, values of several
columns, readers who know the value, the adaptive prior and sets that are not centred at the estimate."""

DENOMINATOR = 2**52
_MOST_DRAWS = 2**53
_LARGEST_LAMBDA = 100.0
_SMALLEST_LAMBDA = 1e-6  # of what is credible, other than 0
_SMALLEST_LEVEL = 1e-300
_SMALLEST_RISK = 1e-5
_MOST_SEEDS = 2**128 - 1
MOST_BYTES = 500_000_000  # of a file; a string in JavaScript holds hardly more
_PART = 2**20
TOO_LARGE = f"has more than {MOST_BYTES // 10**6} MB"
_METHODS = ("A1", "A2")
_LEAST_NOISE, _MOST_NOISE = 1e-3, 1e3

Table = list[list[float]]
Integers = list[list[int]]
T = TypeVar("T")


@dataclass(frozen=True)
class SetClaim:
    """A set of distributions around a centre, by default the estimate; ``lambda_`` None is the centre alone.

    Exactly one of ``alpha`` and ``radius`` is given for the others. The ``centre`` is in units of 1/2^52.
    """

    lambda_: float | None
    alpha: float | None = None
    radius: float | None = None
    centre: Integers | None = None


@dataclass(frozen=True)
class CredibleClaim:
    """That the posterior probability of a failure is at most ``alpha``, and of which set it is proved too."""

    alpha: float
    prior: float | Literal["adaptive"]
    lambda_: float
    radius: float
    seed: int
    centre: Integers | None = None

    @property
    def proved_set(self) -> SetClaim:
        """The set of that radius."""
        return SetClaim(self.lambda_, radius=self.radius, centre=self.centre)


@dataclass(frozen=True)
class PairsClaim:
    """KL sets of the pairs of secrets (0, 1), (0, 2), …: radii, and the theorem that proves each."""

    alpha: float
    radii: tuple[float, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True)
class EverythingClaim:
    """Every distribution."""


Promise: TypeAlias = SetClaim | CredibleClaim | PairsClaim | EverythingClaim


@dataclass(frozen=True)
class Proof:
    """Witnesses, nested lists; see :class:`rldp.Certificate` for their shapes."""

    eta: list[list[list[float]]] | None
    eta_utility: float | None
    multipliers: list[list[float]] | None
    members: list[list[list[list[float]]]] | None
    distribution: Table | None
    known: list[list[list[float]]] | None = None


@dataclass(frozen=True)
class Claim:
    """What a file says is true of its table."""

    epsilon: float
    n: int
    counts: list[list[int]]
    privacy: Promise
    utility: SetClaim | CredibleClaim
    distortion: Table
    objective: float
    lower_bound: float
    proof: Proof
    epsilon_known: float = math.inf
    noise: float | None = None


@dataclass(frozen=True)
class Document:
    """A protocol file."""

    generator: str
    secrets: tuple[Label, ...]
    values: tuple[Label, ...]
    outputs: tuple[Label, ...]
    numerators: list[list[list[int]]]
    guarantee: Claim | None
    reading: Reading | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of secrets, values and outputs."""
        return len(self.secrets), len(self.values), len(self.outputs)

    @property
    def version(self) -> int:
        """The first version of the format that has words for what it says."""
        claim = self.guarantee
        promises = () if claim is None else (claim.privacy, claim.utility)
        tuples = any(isinstance(label, tuple) for label in (*self.values, *self.outputs))
        to_those_who_know = claim is not None and claim.epsilon_known < math.inf
        noisy = claim is not None and claim.noise is not None
        if tuples or noisy or to_those_who_know or (self.reading is not None and _needs_lists(self.reading)):
            return VERSIONS[2]
        if any(map(_is_third, promises)):
            return VERSIONS[2]
        old = self.reading is None and all(isinstance(promise, SetClaim) for promise in promises)
        return VERSIONS[0] if old else VERSIONS[1]


def _is_third(promise: Promise) -> bool:
    """Whether only the third version of the format has words for a promise."""
    if isinstance(promise, CredibleClaim) and promise.prior == "adaptive":
        return True
    return isinstance(promise, CredibleClaim | SetClaim) and promise.centre is not None


# Writing


def text_of(document: Document) -> str:
    """The file's text: one line of JSON, keys in a fixed order, every number in full."""
    claim = document.guarantee
    tree = {
        "format": FORMAT,
        "version": document.version,
        "generator": document.generator,
        "secrets": list(document.secrets),
        "values": list(document.values),
        "outputs": list(document.outputs),
        "denominator": DENOMINATOR,
        "numerators": document.numerators,
        "guarantee": None if claim is None else _claim_tree(claim),
    }
    if document.reading is not None:
        tree["columns"] = _reading_tree(document.reading)
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _needs_lists(reading: Reading) -> bool:
    """Whether the second version has no words for these columns."""
    return len(reading.value) > 1 or any(column.header is not None for column in reading.columns)


def _reading_tree(reading: Reading) -> dict[str, Any]:
    secret = [_column_tree(column) for column in reading.secret]
    value: Any = [_column_tree(column) for column in reading.value]
    if not _needs_lists(reading):
        (value,) = value
        del value["labels"]
    return {"secret": secret, "value": value, "missing": reading.missing}


def _column_tree(column: Column) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": column.name, "labels": list(column.labels)}
    if column.header is not None:
        tree["header"] = column.header
    if column.edges is not None:
        tree["edges"] = list(column.edges)
    return tree


def _claim_tree(claim: Claim) -> dict[str, Any]:
    to_those_who_know = claim.epsilon_known < math.inf
    certificate = {
        key: item for key, item in vars(claim.proof).items() if to_those_who_know or key != "known"
    }
    return {
        "epsilon": "infinity" if claim.epsilon == math.inf else claim.epsilon,
        **({"epsilon_known": claim.epsilon_known} if to_those_who_know else {}),
        "n": claim.n,
        **({} if claim.noise is None else {"noise": claim.noise}),
        "counts": claim.counts,
        "privacy": _set_tree(claim.privacy),
        "utility": _set_tree(claim.utility),
        "distortion": claim.distortion,
        "objective": claim.objective,
        "lower_bound": claim.lower_bound,
        "certificate": certificate,
    }


def _set_tree(claim: Promise) -> dict[str, Any]:
    centre = {}
    if isinstance(claim, CredibleClaim | SetClaim) and claim.centre is not None:
        centre = {"centre": claim.centre}
    match claim:
        case CredibleClaim(alpha, prior, lambda_, radius, seed):
            found = {"radius": radius, "seed": seed, **centre}
            return {"kind": "credible", "alpha": alpha, "prior": prior, "lambda": lambda_, **found}
        case PairsClaim(alpha, radii, methods):
            return {"kind": "pairs", "alpha": alpha, "radii": list(radii), "methods": list(methods)}
        case EverythingClaim():
            return {"kind": "all"}
        case SetClaim(None):
            return {"kind": "nominal", **centre}
    size = {"alpha": claim.alpha} if claim.radius is None else {"radius": claim.radius}
    return {"kind": "power-divergence", "lambda": claim.lambda_, **size, **centre}


# Reading


def content_of(path: str | PathLike[str]) -> bytes:
    """The bytes of a file that should be a protocol."""
    source = checked_path(path)
    content = bytearray()
    try:
        with source.open("rb") as file:
            is_larger = os.fstat(file.fileno()).st_size > MOST_BYTES
            while not is_larger and (part := file.read(_PART)):  # a pipe does not know its size
                content += part
                is_larger = len(content) > MOST_BYTES
    except FileNotFoundError as error:
        raise ProtocolFileError(f"path must be a protocol file, but {str(source)!r} is missing") from error
    except OSError as error:
        raise ProtocolFileError(
            f"{source} must be a protocol file, but it cannot be read: {error.strerror or error}"
        ) from error
    if is_larger:
        raise ProtocolFileError(f"path must be a protocol file, but {str(source)!r} {TOO_LARGE}")
    return bytes(content)


def tree_of(content: bytes) -> Any:
    """The JSON in a file's bytes, read strictly: no key twice, no number that JSON does not know."""
    if len(content) > MOST_BYTES:
        raise ProtocolFileError(f"it {TOO_LARGE}")
    try:
        return json.loads(
            content.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_distinct_keys
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolFileError(f"it cannot be read: {' '.join(str(error).split())}") from error


def parsed(content: bytes) -> Document:
    """The document in a file's bytes.

    Raises
    ------
    ProtocolFileError
        If the bytes are no protocol file of a known version, with the place where that shows.
    """
    tree = tree_of(content)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise ProtocolFileError("it holds other JSON")
    version = tree.get("version")
    if type(version) is not int or version not in VERSIONS:
        known = "1, 2 or 3"
        raise ProtocolFileError(f"its version must be {known}, got {shown(version)}")
    document = _document(_Part("", tree))
    if document.version != version:
        raise ProtocolFileError(f"its version must be {document.version} for what it claims, got {version}")
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON knows")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        raise ValueError("an object holds a key twice")
    return tree


class _Wrong(Exception):
    """What an entry had to be and is not."""


@dataclass(frozen=True)
class _Part:
    """A part of the tree and the path to it, for messages."""

    path: str
    tree: Any

    def fail(self, needed: str) -> ProtocolFileError:
        return ProtocolFileError(f"{self.path} must be {needed}, got {shown(self.tree)}")

    def fields(self, *names: str) -> Mapping[str, _Part]:
        """The parts of an object that has just these keys."""
        if not isinstance(self.tree, dict):
            raise self.fail("an object")
        prefix = f"{self.path}." if self.path else ""
        for name in names:
            if name not in self.tree:
                raise ProtocolFileError(f"{prefix}{name} is missing")
        for key in self.tree:
            if key not in names:
                raise ProtocolFileError(f"{prefix}{shown(key)} is not a key of this format")
        return {name: _Part(prefix + name, self.tree[name]) for name in names}

    def read(self, reader: Callable[[Any], T]) -> T:
        try:
            return reader(self.tree)
        except _Wrong as error:
            raise self.fail(str(error)) from None

    def array(self, shape: Sequence[int], reader: Callable[[Any], T]) -> Any:
        """Nested lists of the given shape, with every entry read by ``reader``."""
        if not isinstance(self.tree, list) or len(self.tree) != shape[0]:
            raise self.fail(f"a list of {shape[0]}")
        entries = (_Part(f"{self.path}[{i}]", item) for i, item in enumerate(self.tree))
        if len(shape) > 1:
            return [entry.array(shape[1:], reader) for entry in entries]
        try:
            return [reader(item) for item in self.tree]
        except _Wrong:
            return [entry.read(reader) for entry in entries]


def _number(item: Any) -> float:
    if type(item) is not float and type(item) is not int:
        raise _Wrong("a number")
    try:
        number = float(item)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _Wrong("a number that a float can hold")
    return number


def _non_negative(item: Any) -> float:
    number = _number(item)
    if number < 0:
        raise _Wrong("a number that is not negative")
    return number


def _integer(most: int) -> Callable[[Any], int]:
    def read(item: Any) -> int:
        if type(item) is not int or not 0 <= item <= most:
            raise _Wrong(f"an integer from 0 to {most}")
        return item

    return read


def _lambda(item: Any) -> float:
    lambda_ = _non_negative(item)
    if lambda_ > _LARGEST_LAMBDA:
        raise _Wrong(f"at most {_LARGEST_LAMBDA:g}")
    return lambda_


def _credible_lambda(item: Any) -> float:
    lambda_ = _lambda(item)
    if 0 < lambda_ < _SMALLEST_LAMBDA:
        raise _Wrong(f"0 or at least {_SMALLEST_LAMBDA:g}")
    return lambda_


def _noisy(item: Any) -> int:
    if type(item) is not int or not -_MOST_DRAWS <= item <= _MOST_DRAWS:
        raise _Wrong(f"an integer from {-_MOST_DRAWS} to {_MOST_DRAWS}")
    return item


def _noise_level(item: Any) -> float:
    level = _positive(item)
    if not _LEAST_NOISE <= level <= _MOST_NOISE:
        raise _Wrong(f"from {_LEAST_NOISE:g} to {_MOST_NOISE:g}")
    return level


def _prior(item: Any) -> float | Literal["adaptive"]:
    if type(item) is str:
        if item != "adaptive":
            raise _Wrong('a positive number or "adaptive"')
        return "adaptive"
    return _positive(item)


def _level(item: Any) -> float:
    level = _number(item)
    if not 0 < level < 1:
        raise _Wrong("a number between 0 and 1")
    if level < _SMALLEST_LEVEL:
        raise _Wrong(f"at least {_SMALLEST_LEVEL:g}")
    return level


def _risk(item: Any) -> float:
    level = _level(item)
    if level < _SMALLEST_RISK:
        raise _Wrong(f"at least {_SMALLEST_RISK:g}")
    return level


def _positive(item: Any) -> float:
    number = _number(item)
    if number <= 0:
        raise _Wrong("a positive number")
    return number


def _method(item: Any) -> str:
    if item not in _METHODS:
        raise _Wrong(f"one of {', '.join(_METHODS)}")
    return str(item)


def _epsilon(item: Any) -> float:
    return math.inf if item == "infinity" else _non_negative(item)


def _generator(item: Any) -> str:
    if not isinstance(item, str):
        raise _Wrong("the name and version of what wrote the file")
    return item


def _denominator(item: Any) -> int:
    if type(item) is not int or item != DENOMINATOR:
        raise _Wrong(f"2^52 = {DENOMINATOR}")
    return item


def _document(part: _Part) -> Document:
    fields = part.fields(
        *(("columns",) if "columns" in part.tree else ()),
        "format",
        "version",
        "generator",
        "secrets",
        "values",
        "outputs",
        "denominator",
        "numerators",
        "guarantee",
    )
    fields["denominator"].read(_denominator)
    names = {"secrets": _labels(fields["secrets"])} | {
        name: _labels(fields[name], of_columns=True) for name in ("values", "outputs")
    }
    shape = tuple(len(names[name]) for name in ("secrets", "values", "outputs"))
    return Document(
        generator=fields["generator"].read(_generator),
        **names,
        numerators=fields["numerators"].array(shape, _integer(DENOMINATOR)),
        guarantee=None if fields["guarantee"].tree is None else _claim(fields["guarantee"], *shape),
        reading=_reading(fields["columns"], **names) if "columns" in fields else None,
    )


def _reading(part: _Part, *, secrets: tuple[Label, ...], values: tuple[Label, ...], **_: object) -> Reading:
    fields = part.fields("secret", "value", "missing")
    missing = fields["missing"].read(_treatment)
    value = fields["value"]
    several = isinstance(value.tree, list)
    reading = Reading(
        _columns(fields["secret"], missing, "header"),
        _columns(value, missing, "header", "edges") if several else (_value_column(value, values, missing),),
        missing,
    )
    if len(set(reading.names)) < len(reading.names):
        raise part.fail("about columns of distinct names")
    if several != _needs_lists(reading):
        needed = "an object, where a single column is found by its name" if several else "a list of columns"
        raise value.fail(needed)
    for listed, columns, wanted in (
        (fields["secret"], reading.secret, secrets),
        (value, reading.value, values),
    ):
        combinations = math.prod(len(column.labels) for column in columns)
        found = reading.secrets if columns is reading.secret else reading.values
        if combinations != len(wanted) or found != wanted:
            what = "secrets" if columns is reading.secret else "values"
            raise listed.fail(f"columns whose labels combine to the {what}")
    return reading


def _columns(part: _Part, missing: str, *optional: str) -> tuple[Column, ...]:
    if not isinstance(part.tree, list) or not part.tree:
        raise part.fail("a list of columns")
    parts = (_Part(f"{part.path}[{i}]", item) for i, item in enumerate(part.tree))
    return tuple(_column(each, missing, optional) for each in parts)


def _column(part: _Part, missing: str, optional: Sequence[str]) -> Column:
    tree = part.tree if isinstance(part.tree, dict) else {}
    fields = part.fields("name", "labels", *(key for key in optional if key in tree))
    listed = _labels(fields["labels"])
    return Column(
        fields["name"].read(_name),
        listed,
        _edges(fields["edges"], listed, missing) if "edges" in fields else None,
        fields["header"].read(_name) if "header" in fields else None,
    )


def _value_column(part: _Part, values: tuple[Label, ...], missing: str) -> Column:
    """The one column of the value in a file of the second version, which has the labels of the table."""
    tree = part.tree if isinstance(part.tree, dict) else {}
    fields = part.fields("name", *(("edges",) if "edges" in tree else ()))
    listed = tuple(label for label in values if not isinstance(label, tuple))
    if len(listed) < len(values):
        raise part.fail("a list of columns")
    edges = _edges(fields["edges"], listed, missing) if "edges" in fields else None
    return Column(fields["name"].read(_name), listed, edges)


def _edges(part: _Part, listed: tuple[Label, ...], missing: str) -> tuple[float, ...]:
    bins = len(listed) - (missing == "category" and listed[-1] == MISSING)
    edges = part.array((bins - 1,), _number)
    if any(one >= other for one, other in pairwise(edges)):
        raise part.fail("numbers that increase")
    return tuple(edges)


def _name(item: Any) -> str:
    if not isinstance(item, str):
        raise _Wrong("the name of a column")
    return item


def _treatment(item: Any) -> str:
    if item not in TREATMENTS:
        raise _Wrong(f"one of {', '.join(TREATMENTS)}")
    return str(item)


def _labels(part: _Part, *, of_columns: bool = False) -> Any:
    """Distinct labels; ``of_columns``: a list of labels in the file is a tuple of them."""
    if not isinstance(part.tree, list):
        raise part.fail("a list of labels")
    given = (
        [tuple(item) if isinstance(item, list) else item for item in part.tree] if of_columns else part.tree
    )
    try:
        return labels(part.path, given, of_columns=of_columns)
    except RldpError as error:
        raise ProtocolFileError(str(error)) from error


def _claim(part: _Part, secrets: int, values: int, outputs: int) -> Claim:
    to_those_who_know = isinstance(part.tree, dict) and "epsilon_known" in part.tree
    noisy = isinstance(part.tree, dict) and "noise" in part.tree
    fields = part.fields(
        *(("epsilon_known",) if to_those_who_know else ()),
        *(("noise",) if noisy else ()),
        "epsilon",
        "n",
        "counts",
        "privacy",
        "utility",
        "distortion",
        "objective",
        "lower_bound",
        "certificate",
    )
    counts = fields["counts"].array((secrets, values), _noisy if noisy else _integer(_MOST_DRAWS))
    n = fields["n"].read(_integer(_MOST_DRAWS))
    if n != sum(map(sum, counts)) or not 0 < n < _MOST_DRAWS:
        raise fields["n"].fail("the sum of the counts, positive and below 2^53")
    if noisy:
        _require_known_noise(fields, secrets, values)
    return Claim(
        noise=fields["noise"].read(_noise_level) if noisy else None,
        epsilon=fields["epsilon"].read(_epsilon),
        n=n,
        counts=counts,
        privacy=_privacy(fields["privacy"], secrets, values),
        utility=_set(fields["utility"], secrets, values),
        distortion=fields["distortion"].array((values, outputs), _non_negative),
        objective=fields["objective"].read(_number),
        lower_bound=fields["lower_bound"].read(_number),
        proof=_proof(fields["certificate"], secrets, values, outputs, to_those_who_know),
        epsilon_known=fields["epsilon_known"].read(_non_negative) if to_those_who_know else math.inf,
    )


def _require_known_noise(fields: Mapping[str, _Part], secrets: int, values: int) -> None:
    """Counts with noise are no estimate: promises must know the noise, and sets have centres of their own."""
    known = {"privacy": (CredibleClaim, EverythingClaim), "utility": (CredibleClaim, SetClaim)}
    for name, kinds in known.items():
        promise = _privacy(fields[name], secrets, values)
        centred = isinstance(promise, EverythingClaim) or getattr(promise, "centre", None) is not None
        tested = isinstance(promise, SetClaim) and promise.lambda_ is not None
        if not isinstance(promise, kinds) or not centred or tested:
            raise fields[name].fail("a promise that knows the noise, with a centre")


def _privacy(part: _Part, secrets: int, values: int) -> Promise:
    kind = part.tree.get("kind") if isinstance(part.tree, dict) else None
    if kind == "all":
        part.fields("kind")
        return EverythingClaim()
    if kind != "pairs":
        return _set(part, secrets, values)
    fields = part.fields("kind", "alpha", "radii", "methods")
    pairs = (secrets * (secrets - 1) // 2,)
    return PairsClaim(
        alpha=fields["alpha"].read(_level),
        radii=tuple(fields["radii"].array(pairs, _non_negative)),
        methods=tuple(fields["methods"].array(pairs, _method)),
    )


def _set(part: _Part, secrets: int, values: int) -> SetClaim | CredibleClaim:
    if not isinstance(part.tree, dict):
        raise part.fail("an object")
    kind = part.tree.get("kind")
    centred = ("centre",) if "centre" in part.tree else ()
    if kind == "nominal":
        return SetClaim(None, centre=_centre(part.fields("kind", *centred), secrets, values))
    if kind == "credible":
        fields = part.fields("kind", "alpha", "prior", "lambda", "radius", "seed", *centred)
        return CredibleClaim(
            centre=_centre(fields, secrets, values),
            alpha=fields["alpha"].read(_risk),
            prior=fields["prior"].read(_prior),
            lambda_=fields["lambda"].read(_credible_lambda),
            radius=fields["radius"].read(_non_negative),
            seed=fields["seed"].read(_integer(_MOST_SEEDS)),
        )
    if kind != "power-divergence":
        raise _Part(f"{part.path}.kind", kind).fail(
            '"nominal", "power-divergence", "credible" or, for privacy, "pairs" or "all"'
        )
    size = ("radius", *centred) if "radius" in part.tree else ("alpha",)
    fields = part.fields("kind", "lambda", *size)
    lambda_ = fields["lambda"].read(_lambda)
    if "radius" in fields:
        centre = _centre(fields, secrets, values)
        return SetClaim(lambda_, radius=fields["radius"].read(_non_negative), centre=centre)
    return SetClaim(lambda_, alpha=fields["alpha"].read(_level))


def _centre(fields: Mapping[str, _Part], secrets: int, values: int) -> Integers | None:
    if "centre" not in fields:
        return None
    centre: Integers = fields["centre"].array((secrets, values), _integer(DENOMINATOR))
    if sum(map(sum, centre)) != DENOMINATOR:
        raise fields["centre"].fail("integers that sum to 2^52")
    return centre


def _proof(part: _Part, secrets: int, values: int, outputs: int, to_those_who_know: bool) -> Proof:
    known = ("known",) if to_those_who_know else ()
    fields = part.fields("eta", "eta_utility", "multipliers", "members", "distribution", *known)
    pairs = secrets * (secrets - 1)

    def array(name: str, shape: Sequence[int], reader: Callable[[Any], float]) -> Any:
        return None if fields[name].tree is None else fields[name].array(shape, reader)

    scalar = fields["eta_utility"]
    return Proof(
        eta=array("eta", (outputs, pairs, 2), _number),
        eta_utility=None if scalar.tree is None else scalar.read(_number),
        multipliers=array("multipliers", (outputs, pairs), _non_negative),
        members=array("members", (outputs, pairs, 2, values), _non_negative),
        distribution=array("distribution", (secrets, values), _non_negative),
        known=array("known", (outputs, secrets, values), _number) if to_those_who_know else None,
    )
