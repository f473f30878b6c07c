"""The strict reader of this library's files: bytes → JSON → parts with precise errors.

Each object must have exactly the expected keys, and each entry is read by a function such as
:func:`as_number`, which refuses everything else. A file that cannot be read raises a
:class:`ProtocolFileError` that names the place. The entries of each kind of file are defined in its own
module.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any, Literal, TypeVar

from rldp._common.checks import Label, labels, shown
from rldp.data.atomic import checked_path
from rldp.data.reading import MISSING, TREATMENTS, Column, Reading
from rldp.errors import ProtocolFileError, RldpError

__all__ = [
    "DENOMINATOR",
    "MOST_BYTES",
    "MOST_DRAWS",
    "MOST_SEEDS",
    "TOO_LARGE",
    "Part",
    "Wrong",
    "as_denominator",
    "as_generator",
    "as_integer",
    "as_level",
    "as_name",
    "as_non_negative",
    "as_number",
    "as_positive",
    "as_prior",
    "as_risk",
    "centre_in",
    "columns_in",
    "content_of",
    "counts_in",
    "json_text",
    "labels_in",
    "needs_lists",
    "noise_in",
    "noise_keys",
    "one_of",
    "reading_in",
    "require_labels",
    "tree_of",
    "tree_of_noise",
    "tree_of_reading",
]

DENOMINATOR = 2**52
MOST_DRAWS = 2**53
MOST_SEEDS = 2**128 - 1
MOST_BYTES = 500_000_000  # of a file; strings in JavaScript are hardly longer
TOO_LARGE = f"has more than {MOST_BYTES // 10**6} MB"
_PART = 2**20
_SMALLEST_LEVEL = 1e-300
_SMALLEST_RISK = 1e-5
_LEAST_NOISE, _MOST_NOISE = 1e-3, 1e3
_MOST_ROWS = 10**6

T = TypeVar("T")
Integers = list[list[int]]


def content_of(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that should be a protocol."""
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
    """Parse the JSON in a file's bytes strictly: no repeated keys, only numbers that JSON allows."""
    if len(content) > MOST_BYTES:
        raise ProtocolFileError(f"it {TOO_LARGE}")
    try:
        return json.loads(
            content.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_distinct_keys
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolFileError(f"it cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Say why bytes are not JSON without showing any: the file may be a key or a table, given by mistake."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON (line {error.lineno}, column {error.colno})"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a valid JSON number")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        raise ValueError("an object holds a key twice")
    return tree


def json_text(tree: object) -> str:
    """Return a tree as JSON without spaces, every number in full."""
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# Parts of the tree


class Wrong(Exception):
    """An entry is not what it must be."""


@dataclass(frozen=True)
class Part:
    """A part of the tree and the path to it, for messages."""

    path: str
    tree: Any

    def fail(self, needed: str) -> ProtocolFileError:
        return ProtocolFileError(f"{self.path} must be {needed}, got {shown(self.tree)}")

    def fields(self, *names: str, optional: Sequence[str] = ()) -> Mapping[str, Part]:
        """Return the parts of an object that must have exactly these keys, and may have ``optional`` ones."""
        if not isinstance(self.tree, dict):
            raise self.fail("an object")
        names += tuple(key for key in optional if key in self.tree)
        prefix = f"{self.path}." if self.path else ""
        for name in names:
            if name not in self.tree:
                raise ProtocolFileError(f"{prefix}{name} is missing")
        for key in self.tree:
            if key not in names:
                raise ProtocolFileError(f"{prefix}{shown(key)} is not a key of this format")
        return {name: Part(prefix + name, self.tree[name]) for name in names}

    def read(self, reader: Callable[[Any], T]) -> T:
        try:
            return reader(self.tree)
        except Wrong as error:
            raise self.fail(str(error)) from None

    def entries(self, count: int | None = None, needed: str | None = None) -> list[Part]:
        """Return the parts of a list, which must have ``count`` entries unless that is None."""
        if not isinstance(self.tree, list) or count not in (None, len(self.tree)):
            raise self.fail(needed or f"a list of {count}")
        return [Part(f"{self.path}[{i}]", item) for i, item in enumerate(self.tree)]

    def array(self, shape: Sequence[int], reader: Callable[[Any], T]) -> Any:
        """Return nested lists of the given shape, with every entry read by ``reader``."""
        if not isinstance(self.tree, list) or len(self.tree) != shape[0]:
            raise self.fail(f"a list of {shape[0]}")
        if len(shape) > 1:
            return [entry.array(shape[1:], reader) for entry in self.entries()]
        try:
            return [reader(item) for item in self.tree]
        except Wrong:
            return [entry.read(reader) for entry in self.entries()]


# Entries


def as_number(item: Any) -> float:
    """Read a finite number."""
    if type(item) is not float and type(item) is not int:
        raise Wrong("a number")
    try:
        number = float(item)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Wrong("a number that a float can hold")
    return number


def as_non_negative(item: Any) -> float:
    """Read a number ≥ 0."""
    number = as_number(item)
    if number < 0:
        raise Wrong("a number that is not negative")
    return number


def as_positive(item: Any) -> float:
    """Read a number > 0."""
    number = as_number(item)
    if number <= 0:
        raise Wrong("a positive number")
    return number


def as_integer(most: int, least: int = 0) -> Callable[[Any], int]:
    """Read an integer from ``least`` to ``most``."""

    def read(item: Any) -> int:
        if type(item) is not int or not least <= item <= most:
            raise Wrong(f"an integer from {least} to {most}")
        return item

    return read


def counts_in(fields: Mapping[str, Part], shape: Sequence[int]) -> Integers:
    """Read counts, of which noisy ones may be negative; n, if it is there, must be their sum."""
    least = -MOST_DRAWS if "noise" in fields else 0
    counts: Integers = fields["counts"].array(shape, as_integer(MOST_DRAWS, least))
    if "n" in fields:
        n = fields["n"].read(as_integer(MOST_DRAWS))
        if n != sum(map(sum, counts)) or not 0 < n < MOST_DRAWS:
            raise fields["n"].fail("the sum of the counts, positive and below 2^53")
    return counts


def centre_in(fields: Mapping[str, Part], shape: Sequence[int]) -> Integers:
    """Read a distribution over 2^52."""
    centre: Integers = fields["centre"].array(shape, as_integer(DENOMINATOR))
    if sum(map(sum, centre)) != DENOMINATOR:
        raise fields["centre"].fail("integers that sum to 2^52")
    return centre


def noise_keys(part: Part) -> tuple[str, ...]:
    """Return the keys about noise that an object has."""
    present = part.tree if isinstance(part.tree, dict) and "noise" in part.tree else ()
    return tuple(key for key in ("noise", "rows_a_person") if key in present)


def noise_in(fields: Mapping[str, Part]) -> tuple[float | None, int]:
    """Read ε of the noise, and the largest number of rows of a person, which is written unless it is 1."""
    if "noise" not in fields:
        return None, 1
    level = fields["noise"].read(as_positive)
    if not _LEAST_NOISE <= level <= _MOST_NOISE:
        raise fields["noise"].fail(f"from {_LEAST_NOISE:g} to {_MOST_NOISE:g}")
    if "rows_a_person" not in fields:
        return level, 1
    most = fields["rows_a_person"].read(as_integer(_MOST_ROWS))
    if most < 2 or level / most < _LEAST_NOISE:
        raise fields["rows_a_person"].fail(f"at least 2, and noise / rows_a_person at least {_LEAST_NOISE:g}")
    return level, most


def tree_of_noise(noise: float | None, rows_a_person: int) -> dict[str, float]:
    """Return the keys about noise: none without noise, one if each person has one row."""
    if noise is None:
        return {}
    return {"noise": noise, **({} if rows_a_person == 1 else {"rows_a_person": rows_a_person})}


def as_level(item: Any) -> float:
    """Read a probability of failure."""
    level = as_number(item)
    if not 0 < level < 1:
        raise Wrong("a number between 0 and 1")
    if level < _SMALLEST_LEVEL:
        raise Wrong(f"at least {_SMALLEST_LEVEL:g}")
    return level


def as_risk(item: Any) -> float:
    """Read a posterior probability of failure large enough to be checked by draws."""
    level = as_level(item)
    if level < _SMALLEST_RISK:
        raise Wrong(f"at least {_SMALLEST_RISK:g}")
    return level


def as_prior(item: Any) -> float | Literal["adaptive"]:
    """Read the prior: counts added to each cell, or "adaptive"."""
    if type(item) is str:
        if item != "adaptive":
            raise Wrong('a positive number or "adaptive"')
        return "adaptive"
    return as_positive(item)


def as_generator(item: Any) -> str:
    """Read the name of the program that wrote the file."""
    if not isinstance(item, str):
        raise Wrong("the name and version of what wrote the file")
    return item


def as_denominator(item: Any) -> int:
    """Read the denominator of every table."""
    if type(item) is not int or item != DENOMINATOR:
        raise Wrong(f"2^52 = {DENOMINATOR}")
    return item


def as_name(item: Any) -> str:
    """Read a column's name."""
    if not isinstance(item, str):
        raise Wrong("the name of a column")
    return item


def one_of(names: Sequence[str]) -> Callable[[Any], str]:
    """Read one of some names."""

    def read(item: Any) -> str:
        if item not in names:
            raise Wrong(f"one of {', '.join(names)}")
        return str(item)

    return read


# Labels and columns


def labels_in(part: Part, *, of_columns: bool = False) -> Any:
    """Read distinct labels; with ``of_columns``, a list in the file is a tuple of labels."""
    if not isinstance(part.tree, list):
        raise part.fail("a list of labels")
    given = [tuple(item) if of_columns and isinstance(item, list) else item for item in part.tree]
    try:
        return labels(part.path, given, of_columns=of_columns)
    except RldpError as error:
        raise ProtocolFileError(str(error)) from error


def reading_in(
    part: Part, secrets: tuple[Label, ...], values: tuple[Label, ...], *, with_given: bool = False
) -> Reading:
    """Read a reading whose labels combine to ``secrets`` and ``values``."""
    fields, reading = columns_in(part, values, with_given=with_given)
    value = fields["value"]
    if len(set(reading.names)) < len(reading.names):
        raise part.fail("about columns of distinct names")
    several = isinstance(value.tree, list)
    if several != needs_lists(reading):
        needed = "an object, where a single column is found by its name" if several else "a list of columns"
        raise value.fail(needed)
    require_labels(fields["secret"], reading, secrets)
    if math.prod(len(column.labels) for column in reading.row) != len(values) or reading.values != values:
        raise value.fail("columns whose labels combine to the values")
    return reading


def require_labels(part: Part, reading: Reading, secrets: tuple[Label, ...]) -> None:
    """Refuse columns of the secret, read from ``part``, whose labels do not combine to ``secrets``."""
    combinations = math.prod(len(column.labels) for column in reading.secret)
    if combinations != len(secrets) or reading.secrets != secrets:
        raise part.fail("columns whose labels combine to the secrets")


def columns_in(
    part: Part, values: tuple[Label, ...] | None = None, *, with_given: bool = True
) -> tuple[Mapping[str, Part], Reading]:
    """Read the columns of a reading, whose labels may not fit together, and return the parts that hold them.

    A file of version 2 has a single value column without labels, which are the ``values`` of the table.
    """
    fields = part.fields("secret", "value", "missing", optional=("given",) if with_given else ())
    missing, value = fields["missing"].read(one_of(TREATMENTS)), fields["value"]
    secret = _columns(fields["secret"], missing, "header")
    if values is None or isinstance(value.tree, list):
        row = _columns(value, missing, "header", "edges")
    else:
        row = (_column(value, missing, ("edges",), values),)
    given = _columns(fields["given"], missing, "header") if "given" in fields else ()
    return fields, Reading(secret, row, missing, given=given)


def _columns(part: Part, missing: str, *optional: str) -> tuple[Column, ...]:
    if part.tree == []:
        raise part.fail("a list of columns")
    return tuple(_column(each, missing, optional) for each in part.entries(needed="a list of columns"))


def _column(
    part: Part, missing: str, optional: Sequence[str], listed: tuple[Label, ...] | None = None
) -> Column:
    fields = part.fields("name", *(("labels",) if listed is None else ()), optional=optional)
    if listed is None:
        listed = labels_in(fields["labels"])
    elif isinstance(listed[0], tuple):
        raise part.fail("a list of columns")
    return Column(
        fields["name"].read(as_name),
        listed,
        _edges(fields["edges"], listed, missing) if "edges" in fields else None,
        fields["header"].read(as_name) if "header" in fields else None,
    )


def _edges(part: Part, listed: tuple[Label, ...], missing: str) -> tuple[float, ...]:
    bins = len(listed) - (missing == "category" and listed[-1] == MISSING)
    edges = part.array((bins - 1,), as_number)
    if any(one >= other for one, other in pairwise(edges)):
        raise part.fail("numbers that increase")
    return tuple(edges)


def needs_lists(reading: Reading) -> bool:
    """Return whether version 2 cannot express these columns."""
    return len(reading.row) > 1 or any(column.header is not None for column in reading.columns)


def tree_of_reading(reading: Reading) -> dict[str, Any]:
    """Return a reading as JSON."""
    secret = [_column_tree(column) for column in reading.secret]
    value: Any = [_column_tree(column) for column in reading.value]
    if not needs_lists(reading):
        (value,) = value
        del value["labels"]
    given = {"given": [_column_tree(column) for column in reading.given]} if reading.given else {}
    return {"secret": secret, **given, "value": value, "missing": reading.missing}


def _column_tree(column: Column) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": column.name, "labels": list(column.labels)}
    if column.header is not None:
        tree["header"] = column.header
    if column.edges is not None:
        tree["edges"] = list(column.edges)
    return tree
