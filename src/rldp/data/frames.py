"""Files and data frames → counts of pairs. The only module that knows data frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._checks import Label, shown
from rldp.data.columns import encode, is_column
from rldp.data.dialects import Dialect
from rldp.data.headers import column_name, require_columns, require_distinct
from rldp.data.labels import HOW_TO_SHOW, Alphabet, Encoded, count_pairs, faults
from rldp.data.readers import read_encoded, read_table
from rldp.data.sources import opened
from rldp.data.standard import STANDARD
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType, needs

__all__ = ["columns", "pair_counts"]


def pair_counts(
    data: Any,
    *,
    secret: str,
    value: str,
    secrets: Sequence[Label] | None,
    values: Sequence[Label] | None,
    dialect: Dialect | None = None,
    show_labels: bool = False,
) -> tuple[NDArray[np.int64], tuple[Label, ...], tuple[Label, ...]]:
    """How often each pair of labels stands in two columns of ``data``.

    Returns
    -------
    counts : int array (|S|, |U|)
    secrets, values : tuple of labels
    """
    for name, column in (("secret", secret), ("value", value)):
        if not isinstance(column, str):
            raise InvalidArgumentType(f"{name} must be the name of a column, got {shown(column)}")
    if secret == value:
        raise InvalidArgument(f"secret and value must be two columns, got {secret!r} for both")
    alphabets = (None if given is None else Alphabet(given) for given in (secrets, values))
    s, u = _encoded(data, dict(zip((secret, value), alphabets, strict=True)), dialect)
    if len(s) == 0:
        raise DataError(f"{_source(data)} must hold at least one row, got none")
    faults(s, u, show_labels=show_labels).refuse(advice=HOW_TO_SHOW)
    return count_pairs(s, u), s.labels, u.labels


def columns(data: Any, names: tuple[str, ...], *, dialect: Dialect | None = None) -> list[Any]:
    """Columns of a CSV or Parquet file or of a data frame, as its library holds them."""
    if len(set(names)) < len(names):
        raise InvalidArgument(f"columns must be distinct, got {', '.join(map(repr, names))}")
    if isinstance(data, str | os.PathLike):
        with opened(data, dialect) as source:
            return list(read_table(source, names).columns)
    return _columns_of_frame(data, names)


def _encoded(data: Any, alphabets: Mapping[str, Alphabet | None], dialect: Dialect | None) -> list[Encoded]:
    if isinstance(data, str | os.PathLike):
        with opened(data, dialect) as source:
            return read_encoded(source, alphabets)
    found = _columns_of_frame(data, tuple(alphabets))
    return [
        encode(column_name(name, _source(data)), column, alphabet)
        for (name, alphabet), column in zip(alphabets.items(), found, strict=True)
    ]


def _source(data: Any) -> str:
    """What messages call the data."""
    if not isinstance(data, str | os.PathLike):
        return "data"
    return "standard input" if os.fspath(data) == STANDARD else str(Path(data))


def _columns_of_frame(data: Any, names: tuple[str, ...]) -> list[Any]:
    with needs("reading data frames", "narwhals"):
        import narwhals.stable.v1 as nw
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise InvalidArgumentType(
            f"data must be a path or a data frame, got {type(data).__name__}"
        ) from error
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"data must have columns of distinct names, but: {reason}") from error
    places = require_columns(frame.columns, names, "data")
    require_distinct(places)
    series = [frame[frame.columns[place]] for place in places.values()]
    # A column of a library that we do not know comes over Arrow.
    return [s.to_native() if is_column(s.to_native()) else s.to_arrow() for s in series]
