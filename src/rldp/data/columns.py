"""Columns of every kind → codes, and codes → a column of the same kind.

Lists and NumPy arrays need nothing but NumPy; a data-frame library is imported where its own column comes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._checks import Label
from rldp.data.labels import NOT_A_LABEL, Alphabet, Codes
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType

__all__ = ["Encoded", "arrow_labels", "decode", "encode", "encode_arrow", "kind_of", "through"]

_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as codes, −1 where an entry is no label, and a way to see an entry."""

    codes: Codes
    entry: Callable[[int], object]

    def __len__(self) -> int:
        return len(self.codes)


def kind_of(name: str, column: object) -> str:
    """Which kind of column it is, or an error that lists the kinds there are."""
    if isinstance(column, list | tuple):
        return type(column).__name__ if type(column) in (list, tuple) else "list"
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InvalidArgument(f"{name} must have one axis, got shape {column.shape}")
        return "numpy"
    for library, classes in (
        ("pandas", ("Series",)),
        ("polars", ("Series",)),
        ("pyarrow", ("Array", "ChunkedArray")),
    ):
        module = sys.modules.get(library)
        if module is not None and isinstance(column, tuple(getattr(module, c) for c in classes)):
            return library
    raise InvalidArgumentType(
        f"{name} must be a list, a NumPy array, a pandas or Polars series or an Arrow array, "
        f"got {type(column).__name__}"
    )


def encode(name: str, column: Any, alphabet: Alphabet) -> Encoded:
    """The codes of a column of any kind."""
    return _ENCODERS[kind_of(name, column)](column, alphabet)


def decode(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    """The labels that ``codes`` stand for, as a column of the kind of ``like``."""
    return _DECODERS[kind_of("values", like)](like, codes, outputs)


# Columns → codes


def _encode_objects(items: Sequence[object], alphabet: Alphabet) -> Encoded:
    return Encoded(alphabet.of_objects(items), items.__getitem__)


def _encode_numpy(array: NDArray[Any], alphabet: Alphabet) -> Encoded:
    kind = array.dtype.kind
    if kind in "biuU" or array.dtype in (np.float16, np.float32, np.float64):
        codes = alphabet.of_array(np.asarray(array))
    elif kind in "OT":
        codes = np.empty(len(array), dtype=np.int32)
        for start in range(0, len(array), _BLOCK):
            items = np.asarray(array[start : start + _BLOCK]).tolist()
            codes[start : start + _BLOCK] = alphabet.of_objects(items)
    else:
        codes = _nothing(len(array))
    if isinstance(array, np.ma.MaskedArray):
        codes[np.ma.getmaskarray(array)] = NOT_A_LABEL
    return Encoded(codes, lambda row: None if array[row] is np.ma.masked else array[row])


def _encode_pandas(series: Any, alphabet: Alphabet) -> Encoded:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        codes = _encode_numpy(series.to_numpy(), alphabet).codes
    elif hasattr(dtype, "categories"):
        codes = _through(series.cat.codes.to_numpy(), alphabet.of_objects(list(dtype.categories)))
    elif hasattr(series.array, "__arrow_array__") and (arrow := _arrow()) is not None:
        codes = encode_arrow(arrow.array(series.array), alphabet).codes
    else:
        codes = alphabet.of_objects(series.tolist())
    return Encoded(codes, lambda row: series.iloc[row])


def _encode_polars(series: Any, alphabet: Alphabet) -> Encoded:
    arrow = _arrow()
    if arrow is not None and not series.dtype.is_object():
        try:
            column = series.to_arrow()
        except arrow.ArrowException:  # a type that Arrow lacks, such as integers of 128 bits
            pass
        else:
            return Encoded(encode_arrow(column, alphabet).codes, series.__getitem__)
    return _encode_objects(series.to_list(), alphabet)


def encode_arrow(column: Any, alphabet: Alphabet) -> Encoded:
    """The codes of an Arrow array, in chunks or not."""
    chunks = getattr(column, "chunks", [column])
    parts = [_chunk_codes(chunk, alphabet) for chunk in chunks]
    codes = parts[0] if len(parts) == 1 else np.concatenate([_nothing(0), *parts])
    return Encoded(codes, lambda row: column[row].as_py())


def _chunk_codes(chunk: Any, alphabet: Alphabet) -> Codes:
    import pyarrow.types as kinds

    kind = chunk.type
    if kinds.is_dictionary(kind):
        return through(chunk.indices, _chunk_codes(chunk.dictionary, alphabet))
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return _string_codes(chunk, alphabet)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind):
        if not chunk.null_count:
            return alphabet.of_array(chunk.to_numpy(zero_copy_only=False))
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        filled = chunk.fill_null(False if kinds.is_boolean(kind) else 0)
        codes = alphabet.of_array(filled.to_numpy(zero_copy_only=False))
        codes[missing] = NOT_A_LABEL
        return codes
    return _nothing(len(chunk))


def _string_codes(chunk: Any, alphabet: Alphabet) -> Codes:
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_string_view(chunk.type):
        chunk = chunk.cast(pyarrow.large_string())
    strings = [label for label in alphabet.labels if isinstance(label, str)]
    known = pyarrow.array(strings, chunk.type)
    places = pyarrow.compute.index_in(chunk, value_set=known)
    return through(places, alphabet.of_objects(strings))


def through(places: Any, table: Codes) -> Codes:
    """``table`` at Arrow indices; where there is none, there is no label."""
    if places.null_count:
        places = places.cast("int64").fill_null(NOT_A_LABEL)
    return _through(places.to_numpy(), table)


def _through(places: NDArray[Any], table: Codes) -> Codes:
    """``table`` at ``places``; at −1 there is no label."""
    codes: Codes = np.append(table, np.int32(NOT_A_LABEL))[places]
    return codes


def _nothing(count: int) -> Codes:
    return np.full(count, NOT_A_LABEL, dtype=np.int32)


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


_ENCODERS: dict[str, Callable[[Any, Alphabet], Encoded]] = {
    "list": _encode_objects,
    "tuple": _encode_objects,
    "numpy": _encode_numpy,
    "pandas": _encode_pandas,
    "polars": _encode_polars,
    "pyarrow": encode_arrow,
}


# Codes → columns


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
