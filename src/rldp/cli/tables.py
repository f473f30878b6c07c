"""Small tables in hand-written files: distortions, functionals, lists of labels."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label
from rldp.data.labels import NOT_A_LABEL, Alphabet
from rldp.data.meaning import labels_of_texts, number_of_text
from rldp.errors import DataError, DataFileError, InvalidArgument

__all__ = ["distortion_table", "functional_table", "listed_labels", "order_of", "outputs_of"]


def listed_labels(option: str, text: str) -> list[Label]:
    """Parse the labels in a list such as ``a,b,"c, d"``: as numbers where that loses nothing."""
    try:
        (entries,) = csv.reader([text], strict=True)
    except (csv.Error, ValueError) as error:
        raise InvalidArgument(f"{option} must be a list such as a,b,c, got {text!r}") from error
    return _labels(option, [entry.strip() for entry in entries])


def order_of(given: Sequence[str] | None) -> dict[str, list[Label]]:
    """Parse orders such as ``size=S,M,L``, by column."""
    orders = {}
    for text in given or ():
        column, equals, listed = text.partition("=")
        if not equals or column in orders:
            raise InvalidArgument(f"--order must be COLUMN=a,b,c, once for a column, got {text!r}")
        orders[column] = listed_labels("--order", listed)
    return orders


def outputs_of(given: str) -> list[Label]:
    """Return the outputs in a list, or in a file with one on every line."""
    path = Path(given)
    if not path.is_file():
        return listed_labels("--outputs", given)
    return _labels("--outputs", [line for line in _text(path, "--outputs").splitlines() if line])


def distortion_table(path: Path, values: Sequence[Label]) -> tuple[list[Label], NDArray[np.float64]]:
    """Read outputs, and the distortion d(u, y) of each value and output: (|U|, |Y|).

    The file is a CSV table: outputs in the first row, from the second entry on, and a value before the
    numbers of each other row. Values may come in any order; each must be there once.
    """
    heads, numbers = _table(path, values, "--distortion", "outputs")
    return _labels("--distortion", heads), numbers


def functional_table(path: Path, values: Sequence[Label]) -> dict[str, NDArray[np.float64]]:
    """Read functionals by name: a number a(u) for each value, (|U|,).

    The file is a CSV table: names in the first row, from the second entry on, and a value before the numbers
    of each other row. Values may come in any order; each must be there once.
    """
    names, numbers = _table(path, values, "--of", "names")
    if not all(names) or len(set(names)) < len(names):
        raise DataError(f"{path} must have distinct names in its first row, got one twice or an empty one")
    return dict(zip(names, numbers.T, strict=True))


def _table(
    path: Path, values: Sequence[Label], option: str, heads: str
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names in the first row, and the numbers of each value."""
    try:
        rows = [row for row in csv.reader(_text(path, option).splitlines()) if row]
    except csv.Error:  # an entry of more than 131 072 characters
        rows = []
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise DataError(
            f"{path} must be a table with {heads} in the first row and a value before each other row, got "
            "rows that do not fit"
        )
    places = Alphabet(values).of_texts([row[0] for row in rows[1:]])
    if sorted(places.tolist()) != list(range(len(values))) or NOT_A_LABEL in places:
        raise DataError(f"{path} must have a row for each of the {len(values)} values, once, got others")
    numbers = [[number_of_text(entry) for entry in row[1:]] for row in rows[1:]]
    if any(number is None for row in numbers for number in row):
        raise DataError(f"{path} must hold numbers after the first row and column, got something else")
    return rows[0][1:], np.array(numbers, dtype=np.float64)[np.argsort(places)]


def _labels(option: str, texts: Sequence[str]) -> list[Label]:
    if not texts or not all(texts):
        raise InvalidArgument(f"{option} must hold labels that are not empty, got one that is")
    if len(set(texts)) < len(texts):
        raise InvalidArgument(f"{option} must hold distinct labels, got one more than once")
    return list(labels_of_texts(texts))


def _text(path: Path, option: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise DataFileError(
            f"{option} must be a file that can be read, but {str(path)!r} cannot: {reason}"
        ) from error
