"""The sample file: counts, labels and reading of a table.

JSON in the strict form of the protocol file (:mod:`rldp.protocol_file.reader`): keys in a fixed order, none
missing, none unknown, every number in full.
"""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._version import __version__
from rldp.data.atomic import checked_path, replacing
from rldp.data.meaning import Scale
from rldp.errors import DataFileError, ProtocolFileError, RldpError
from rldp.protocol_file.reader import (
    MOST_DRAWS,
    Part,
    as_generator,
    as_integer,
    as_non_negative,
    as_number,
    counts_in,
    json_text,
    labels_in,
    noise_in,
    noise_keys,
    reading_in,
    tree_of,
    tree_of_noise,
    tree_of_reading,
)
from rldp.sample import Sample

__all__ = ["FORMAT", "LARGEST", "VERSION", "begins_as_json", "is_sample_file", "load", "save"]

FORMAT = "rldp-sample"
VERSION = 1
LARGEST = 2**28
"""Bytes: a larger file is not read."""
_BEGINNING = f'{{"format":"{FORMAT}"'.encode()


def is_sample_file(path: str | PathLike[str]) -> bool:
    """Return whether a file begins like a sample file; False if it cannot be read."""
    return _begins(path, _BEGINNING)


def begins_as_json(path: str | PathLike[str]) -> bool:
    """Return whether a file begins like a protocol file, as no table does."""
    return _begins(path, b"{")


def _begins(path: str | PathLike[str], wanted: bytes) -> bool:
    source = checked_path(path)
    try:
        if not source.is_file():  # standard input, a pipe, a folder
            return False
        with source.open("rb") as file:
            return file.read(len(wanted)) == wanted
    except OSError:
        return False


def save(sample: Sample, path: str | PathLike[str]) -> None:
    """Write ``sample`` to ``path``; the file appears whole or not at all."""
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "generator": f"rldp {__version__}",
        "secrets": list(sample.secrets),
        "values": list(sample.values),
        "counts": sample.observed.tolist(),
        **tree_of_noise(sample.noise, sample.rows_a_person),
        "skipped": sample.skipped,
        "columns": None if sample.reading is None else tree_of_reading(sample.reading),
        "scales": [None if scale is None else _scale_tree(scale) for scale in sample.scales],
    }
    with replacing(path, error=DataFileError) as file:
        file.write((json_text(tree) + "\n").encode())


def load(path: str | PathLike[str]) -> Sample:
    """Read a sample that :func:`save` wrote.

    Raises
    ------
    DataFileError
        If the file is missing or too large, is not a sample, or has a version that this library does not
        know.
    """
    source = checked_path(path)
    try:
        with source.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise DataFileError(
            f"{source} must be a sample file, but it cannot be read: {error.strerror or error}"
        ) from error
    if len(content) > LARGEST:
        raise DataFileError(f"{source} must be a sample file of at most {LARGEST} bytes, but it is larger")
    try:
        return _sample(Part("", _tree(content)))
    except RldpError as error:
        raise DataFileError(f"{source} must be a sample file, but {error}") from error


def _tree(content: bytes) -> dict[str, Any]:
    tree = tree_of(content)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise ProtocolFileError("it holds other JSON")
    if type(tree.get("version")) is not int or tree["version"] != VERSION:
        raise ProtocolFileError(f"its version must be {VERSION}, got {tree.get('version')!r}")
    return tree


def _sample(part: Part) -> Sample:
    names = ("format", "version", "generator", "secrets", "values", "counts", "skipped", "columns", "scales")
    fields = part.fields(*names, optional=noise_keys(part))
    noise, rows_a_person = noise_in(fields)
    fields["generator"].read(as_generator)
    secrets, values = labels_in(fields["secrets"]), labels_in(fields["values"], of_columns=True)
    columns, scales = fields["columns"], fields["scales"]
    reading = None if columns.tree is None else reading_in(columns, secrets, values, with_given=True)
    parts = scales.entries(needed="a list")
    lengths = [len(values)] if reading is None else [len(column.labels) for column in reading.value]
    if parts and len(parts) != len(lengths):
        raise scales.fail(f"a list of {len(lengths)}, one for each column of the value, or an empty one")
    return Sample(
        counts_in(fields, (len(secrets), len(values))),
        secrets,
        values,
        reading=reading,
        skipped=fields["skipped"].read(as_integer(MOST_DRAWS)),
        noise=noise,
        rows_a_person=rows_a_person,
        scales=tuple(
            None if each.tree is None else _scale(each, labels)
            for each, labels in zip(parts, lengths, strict=False)
        ),
    )


def _scale_tree(scale: Scale) -> dict[str, Any]:
    return {
        "numbers": [None if math.isnan(number) else number for number in scale.numbers],
        "points": [[numbers.tolist(), counts.tolist()] for numbers, counts in scale.points],
        "counts": list(scale.counts),
        "missing": scale.missing,
    }


def _scale(part: Part, labels: int) -> Scale:
    """Read the numbers of labels; one without a number is the label of missing entries."""
    fields = part.fields("numbers", "points", "counts", "missing")
    counts, missing = fields["counts"], fields["missing"]
    numbers = fields["numbers"].array((labels,), lambda item: math.nan if item is None else as_number(item))
    points = tuple(map(_points, fields["points"].entries(labels)))
    if [math.isnan(number) for number in numbers] != [not len(each) for each, _ in points]:
        raise fields["points"].fail("numbers for each label that stands for a number, and none for others")
    return Scale(
        tuple(numbers),
        points,
        tuple(counts.array((labels if counts.tree else 0,), as_integer(MOST_DRAWS))),
        None if missing.tree is None else missing.read(as_non_negative),
    )


def _points(part: Part) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the numbers that a label stands for, and how often each was seen."""
    needed = "a list of numbers and a list of their counts"
    numbers, counts = part.entries(2, needed)
    if not isinstance(numbers.tree, list):
        raise part.fail(needed)
    shape = (len(numbers.tree),)
    weights = counts.array(shape, as_integer(MOST_DRAWS))
    if shape[0] and not any(weights):
        raise counts.fail("counts that are not all 0")
    return np.array(numbers.array(shape, as_number), dtype=np.float64), np.array(weights, dtype=np.int64)
