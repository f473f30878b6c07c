"""The protocol file as a value: JSON text ↔ plain Python numbers, checked for type and shape.

The library and the judge share this reader. It knows the form of a file (``docs/file-format.md``), but not
the meaning of its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rldp._common.checks import Label, shown
from rldp._common.levels import largest, smallest
from rldp.data.reading import Reading
from rldp.errors import ProtocolFileError
from rldp.protocol_file.chains import FORMAT as CHAIN_FORMAT, ChainDocument, chain_in
from rldp.protocol_file.reader import (
    DENOMINATOR,
    MOST_SEEDS,
    Part,
    Wrong,
    as_denominator,
    as_generator,
    as_integer,
    as_level,
    as_non_negative,
    as_number,
    as_prior,
    as_risk,
    centre_in,
    counts_in,
    json_text,
    labels_in,
    needs_lists,
    noise_in,
    noise_keys,
    one_of,
    reading_in,
    tree_of,
    tree_of_noise,
    tree_of_reading,
)

__all__ = [
    "FORMAT",
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
    "document_of",
    "parsed",
    "text_of",
]

FORMAT = "rldp-protocol"
VERSIONS = (1, 2, 3)
"""The second knows the promises credible, pairs and all, and names columns; the third, values of several
columns, readers who know the value, the adaptive prior, sets that are not centred at the estimate, and levels
of pairs of secrets."""

_LARGEST_LAMBDA = 100.0
_SMALLEST_LAMBDA = 1e-6  # of what is credible, other than 0
_METHODS = ("A1", "A2")
_LABELS = ("secrets", "values", "outputs")
_NUMBERS = ("epsilon", "n", "counts", "distortion", "objective", "lower_bound")

Table = list[list[float]]
Integers = list[list[int]]


@dataclass(frozen=True)
class SetClaim:
    """A set of distributions around a centre, by default the estimate; the centre alone without ``lambda_``.

    Exactly one of ``alpha`` and ``radius`` is given for the others. The ``centre`` is in units of 1/2^52.
    """

    lambda_: float | None
    alpha: float | None = None
    radius: float | None = None
    centre: Integers | None = None


@dataclass(frozen=True)
class CredibleClaim:
    """The claim that a failure has posterior probability at most ``alpha``, and the set proved beside it."""

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
    """The claim of a file about its table.

    Where pairs of secrets have levels of their own, ``epsilon`` is the largest of them.
    """

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
    rows_a_person: int = 1
    levels: Table | None = None

    def level(self, first: int, second: int) -> float:
        """Return ε of an ordered pair of secrets; ∞ if it is not protected."""
        return self.epsilon if self.levels is None else self.levels[first][second]

    @property
    def least_level(self) -> float:
        """The smallest ε of any pair; ∞ if nothing is claimed about privacy."""
        return self.epsilon if self.levels is None else smallest(self.levels)

    @property
    def count_noise(self) -> float | None:
        """The level of the noise of each count; None without noise."""
        return None if self.noise is None else self.noise / self.rows_a_person


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
        """The first version of the format that can express the document."""
        claim = self.guarantee
        promises = () if claim is None else (claim.privacy, claim.utility)
        tuples = any(isinstance(label, tuple) for label in (*self.values, *self.outputs))
        lists = self.reading is not None and needs_lists(self.reading)
        if tuples or lists or (claim is not None and _is_third(claim)):
            return VERSIONS[2]
        old = self.reading is None and all(isinstance(promise, SetClaim) for promise in promises)
        return VERSIONS[0] if old else VERSIONS[1]

    @property
    def tree(self) -> dict[str, object]:
        """Return the file as JSON."""
        columns = {} if self.reading is None else {"columns": tree_of_reading(self.reading)}
        return {
            "format": FORMAT,
            "version": self.version,
            "generator": self.generator,
            "secrets": list(self.secrets),
            "values": list(self.values),
            "outputs": list(self.outputs),
            "denominator": DENOMINATOR,
            "numerators": self.numerators,
            "guarantee": None if self.guarantee is None else _claim_tree(self.guarantee),
            **columns,
        }


def _is_third(claim: Claim) -> bool:
    """Return whether only the third version of the format can express a claim."""
    if claim.levels is not None or claim.noise is not None or claim.epsilon_known < math.inf:
        return True
    promises = claim.privacy, claim.utility
    adaptive = any(isinstance(each, CredibleClaim) and each.prior == "adaptive" for each in promises)
    return adaptive or any(map(_centre_of, promises))


def _centre_of(promise: Promise) -> Integers | None:
    return promise.centre if isinstance(promise, CredibleClaim | SetClaim) else None


# Writing


def text_of(document: Document | ChainDocument) -> str:
    """The file's text: one line of JSON, keys in a fixed order, every number in full."""
    return json_text(document.tree) + "\n"


def _claim_tree(claim: Claim) -> dict[str, Any]:
    to_those_who_know = claim.epsilon_known < math.inf
    certificate = {
        key: item for key, item in vars(claim.proof).items() if to_those_who_know or key != "known"
    }
    return {
        "epsilon": _level_tree(claim.epsilon)
        if claim.levels is None
        else [list(map(_level_tree, row)) for row in claim.levels],
        **({"epsilon_known": claim.epsilon_known} if to_those_who_know else {}),
        "n": claim.n,
        **tree_of_noise(claim.noise, claim.rows_a_person),
        "counts": claim.counts,
        "privacy": _set_tree(claim.privacy),
        "utility": _set_tree(claim.utility),
        "distortion": claim.distortion,
        "objective": claim.objective,
        "lower_bound": claim.lower_bound,
        "certificate": certificate,
    }


def _level_tree(level: float) -> float | str:
    return "infinity" if level == math.inf else level


def _set_tree(claim: Promise) -> dict[str, Any]:
    centre = {} if _centre_of(claim) is None else {"centre": _centre_of(claim)}
    match claim:
        case CredibleClaim(alpha, prior, lambda_, radius, seed):
            searched = {"radius": radius, "seed": seed, **centre}
            return {"kind": "credible", "alpha": alpha, "prior": prior, "lambda": lambda_, **searched}
        case PairsClaim(alpha, radii, methods):
            return {"kind": "pairs", "alpha": alpha, "radii": list(radii), "methods": list(methods)}
        case EverythingClaim():
            return {"kind": "all"}
        case SetClaim(None):
            return {"kind": "nominal", **centre}
    size = {"alpha": claim.alpha} if claim.radius is None else {"radius": claim.radius}
    return {"kind": "power-divergence", "lambda": claim.lambda_, **size, **centre}


# Reading


def parsed(content: bytes) -> Document:
    """Return the document in the bytes of a file with a single table.

    Raises
    ------
    ProtocolFileError
        If the bytes are not a protocol file of a known version; the message names the place.
    """
    return _table_in(tree_of(content))


def document_of(content: bytes) -> Document | ChainDocument:
    """Return the document in the bytes of a protocol file, of a table or of a chain; see :func:`parsed`."""
    tree = tree_of(content)
    if isinstance(tree, dict) and tree.get("format") == CHAIN_FORMAT:
        return chain_in(tree)
    return _table_in(tree)


def _table_in(tree: Any) -> Document:
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise ProtocolFileError("it holds other JSON")
    version = tree.get("version")
    if type(version) is not int or version not in VERSIONS:
        known = "1, 2 or 3"
        raise ProtocolFileError(f"its version must be {known}, got {shown(version)}")
    document = _document(Part("", tree))
    if document.version != version:
        raise ProtocolFileError(f"its version must be {document.version} for what it claims, got {version}")
    return document


def _lambda(item: Any) -> float:
    lambda_ = as_non_negative(item)
    if lambda_ > _LARGEST_LAMBDA:
        raise Wrong(f"at most {_LARGEST_LAMBDA:g}")
    return lambda_


def _credible_lambda(item: Any) -> float:
    lambda_ = _lambda(item)
    if 0 < lambda_ < _SMALLEST_LAMBDA:
        raise Wrong(f"0 or at least {_SMALLEST_LAMBDA:g}")
    return lambda_


def _epsilon(item: Any) -> float:
    return math.inf if item == "infinity" else as_non_negative(item)


def _levels(part: Part, secrets: int) -> Table | None:
    """Read the levels of pairs of secrets, |S|×|S| with zeros on the diagonal; None for one level."""
    if not isinstance(part.tree, list):
        return None
    levels: Table = part.array((secrets, secrets), _epsilon)
    if any(levels[s][s] != 0 for s in range(secrets)):
        raise ProtocolFileError(f"{part.path} must have zeros on its diagonal")
    if smallest(levels) >= largest(levels):
        raise ProtocolFileError(f"{part.path} must be one number where all pairs of secrets have the same")
    return levels


def _document(part: Part) -> Document:
    keys = ("format", "version", "generator", *_LABELS, "denominator", "numerators", "guarantee")
    fields = part.fields(*keys, optional=("columns",))
    fields["denominator"].read(as_denominator)
    secrets, values, outputs = (labels_in(fields[name], of_columns=name != "secrets") for name in _LABELS)
    shape = len(secrets), len(values), len(outputs)
    return Document(
        generator=fields["generator"].read(as_generator),
        secrets=secrets,
        values=values,
        outputs=outputs,
        numerators=fields["numerators"].array(shape, as_integer(DENOMINATOR)),
        guarantee=None if fields["guarantee"].tree is None else _claim(fields["guarantee"], *shape),
        reading=reading_in(fields["columns"], secrets, values) if "columns" in fields else None,
    )


def _claim(part: Part, secrets: int, values: int, outputs: int) -> Claim:
    fields = part.fields(
        *_NUMBERS, "privacy", "utility", "certificate", optional=("epsilon_known", *noise_keys(part))
    )
    to_those_who_know = "epsilon_known" in fields
    counts = counts_in(fields, (secrets, values))
    if "noise" in fields:
        _require_known_noise(fields, secrets, values)
    noise, rows_a_person = noise_in(fields)
    levels = _levels(fields["epsilon"], secrets)
    return Claim(
        levels=levels,
        noise=noise,
        rows_a_person=rows_a_person,
        epsilon=fields["epsilon"].read(_epsilon) if levels is None else largest(levels),
        n=fields["n"].tree,
        counts=counts,
        privacy=_privacy(fields["privacy"], secrets, values),
        utility=_set(fields["utility"], secrets, values),
        distortion=fields["distortion"].array((values, outputs), as_non_negative),
        objective=fields["objective"].read(as_number),
        lower_bound=fields["lower_bound"].read(as_number),
        proof=_proof(fields["certificate"], secrets, values, outputs, to_those_who_know),
        epsilon_known=fields["epsilon_known"].read(as_non_negative) if to_those_who_know else math.inf,
    )


def _require_known_noise(fields: Mapping[str, Part], secrets: int, values: int) -> None:
    """Check promises for noisy counts: these are not an estimate, so sets must have their own centres."""
    known = {"privacy": (CredibleClaim, EverythingClaim), "utility": (CredibleClaim, SetClaim)}
    for name, kinds in known.items():
        promise = _privacy(fields[name], secrets, values)
        centred = isinstance(promise, EverythingClaim) or _centre_of(promise) is not None
        tested = isinstance(promise, SetClaim) and promise.lambda_ is not None
        if not isinstance(promise, kinds) or not centred or tested:
            raise fields[name].fail("a promise that knows the noise, with a centre")


def _privacy(part: Part, secrets: int, values: int) -> Promise:
    kind = part.tree.get("kind") if isinstance(part.tree, dict) else None
    if kind == "all":
        part.fields("kind")
        return EverythingClaim()
    if kind != "pairs":
        return _set(part, secrets, values)
    fields = part.fields("kind", "alpha", "radii", "methods")
    pairs = (secrets * (secrets - 1) // 2,)
    return PairsClaim(
        alpha=fields["alpha"].read(as_level),
        radii=tuple(fields["radii"].array(pairs, as_non_negative)),
        methods=tuple(fields["methods"].array(pairs, one_of(_METHODS))),
    )


def _set(part: Part, secrets: int, values: int) -> SetClaim | CredibleClaim:
    if not isinstance(part.tree, dict):
        raise part.fail("an object")
    kind = part.tree.get("kind")
    shape = secrets, values
    if kind == "nominal":
        return SetClaim(None, centre=_centre(part.fields("kind", optional=("centre",)), shape))
    if kind == "credible":
        names = ("kind", "alpha", "prior", "lambda", "radius", "seed")
        fields = part.fields(*names, optional=("centre",))
        return CredibleClaim(
            centre=_centre(fields, shape),
            alpha=fields["alpha"].read(as_risk),
            prior=fields["prior"].read(as_prior),
            lambda_=fields["lambda"].read(_credible_lambda),
            radius=fields["radius"].read(as_non_negative),
            seed=fields["seed"].read(as_integer(MOST_SEEDS)),
        )
    if kind != "power-divergence":
        raise Part(f"{part.path}.kind", kind).fail(
            '"nominal", "power-divergence", "credible" or, for privacy, "pairs" or "all"'
        )
    if "radius" not in part.tree:
        fields = part.fields("kind", "lambda", "alpha")
        return SetClaim(fields["lambda"].read(_lambda), alpha=fields["alpha"].read(as_level))
    fields = part.fields("kind", "lambda", "radius", optional=("centre",))
    lambda_, centre = fields["lambda"].read(_lambda), _centre(fields, shape)
    return SetClaim(lambda_, radius=fields["radius"].read(as_non_negative), centre=centre)


def _centre(fields: Mapping[str, Part], shape: tuple[int, int]) -> Integers | None:
    return centre_in(fields, shape) if "centre" in fields else None


def _proof(part: Part, secrets: int, values: int, outputs: int, to_those_who_know: bool) -> Proof:
    names = ("eta", "eta_utility", "multipliers", "members", "distribution")
    fields = part.fields(*names, *(("known",) if to_those_who_know else ()))
    pairs = secrets * (secrets - 1)

    def array(name: str, shape: Sequence[int], reader: Callable[[Any], float]) -> Any:
        return None if fields[name].tree is None else fields[name].array(shape, reader)

    scalar = fields["eta_utility"]
    return Proof(
        eta=array("eta", (outputs, pairs, 2), as_number),
        eta_utility=None if scalar.tree is None else scalar.read(as_number),
        multipliers=array("multipliers", (outputs, pairs), as_non_negative),
        members=array("members", (outputs, pairs, 2, values), as_non_negative),
        distribution=array("distribution", (secrets, values), as_non_negative),
        known=array("known", (outputs, secrets, values), as_number) if to_those_who_know else None,
    )
