"""Codes → a column: labels in a list, a NumPy array, a pandas or Polars series or an Arrow array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label
from rldp.data.columns import kind_of
from rldp.data.labels import Codes
from rldp.errors import DataError

__all__ = ["arrow_labels", "decode"]


def decode(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    """The labels that ``codes`` stand for, as a column of the kind of ``like``."""
    return _DECODERS[kind_of("values", like)](like, codes, outputs)


def _label_array(outputs: Sequence[Label]) -> NDArray[Any]:
    """The labels in the type they share: integers, floats, booleans, text; else objects."""
    kinds = {type(label) for label in outputs}
    array: NDArray[Any] = np.empty(len(outputs), dtype=object)
    array[:] = outputs
    if kinds <= {int, float} and all(-(2**63) <= label < 2**63 for label in array):
        return array.astype(np.int64 if kinds == {int} else np.float64)
    if kinds == {bool}:
        return array.astype(np.bool_)
    return array


def _decode_list(like: Any, codes: Codes, outputs: Sequence[Label]) -> list[Label]:
    table: NDArray[Any] = np.empty(len(outputs), dtype=object)
    table[:] = outputs
    listed: list[Label] = table[codes].tolist()
    return listed


def _decode_tuple(like: Any, codes: Codes, outputs: Sequence[Label]) -> tuple[Label, ...]:
    return tuple(_decode_list(like, codes, outputs))


def _decode_numpy(like: Any, codes: Codes, outputs: Sequence[Label]) -> NDArray[Any]:
    table = _label_array(outputs)
    if all(isinstance(label, str) for label in outputs):
        table = table.astype(np.str_)
    return table[codes]


def _decode_pandas(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    import pandas

    labels = pandas.Series(_label_array(outputs)).infer_objects()
    return pandas.Series(labels.array.take(codes), index=like.index, name=like.name)


def _decode_polars(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    import polars

    return polars.Series(like.name, arrow_labels(outputs)).gather(codes)


def _decode_arrow(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    import pyarrow

    column = arrow_labels(outputs).take(pyarrow.array(codes))
    return pyarrow.chunked_array([column]) if isinstance(like, pyarrow.ChunkedArray) else column


def arrow_labels(outputs: Sequence[Label]) -> Any:
    """The labels as an Arrow array, which holds one type only."""
    import pyarrow

    array = _label_array(outputs)
    if array.dtype == object and not all(isinstance(label, str) for label in outputs):
        raise DataError(
            "outputs of the protocol must be of one type, and integers of 64 bits, to stand in an Arrow, "
            "Parquet or Polars column"
        )
    return pyarrow.array(array)


_DECODERS: dict[str, Callable[[Any, Codes, Sequence[Label]], Any]] = {
    "list": _decode_list,
    "tuple": _decode_tuple,
    "numpy": _decode_numpy,
    "pandas": _decode_pandas,
    "polars": _decode_polars,
    "pyarrow": _decode_arrow,
}
