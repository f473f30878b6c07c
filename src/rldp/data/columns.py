"""Columns of every kind → codes: lists, NumPy arrays, pandas, Polars, Arrow.

A column is taken apart into pieces of a few forms; a piece knows its distinct entries, and its codes in an
alphabet. Lists and NumPy arrays need nothing but NumPy; a data-frame library is imported where its own
column comes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.data.labels import Alphabet, Codes, Encoded
from rldp.data.pieces import Array, ArrowText, NoLabels, Objects, Piece, Places, numbered, places_of, taken
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["encode", "encode_texts", "is_column", "kind_of"]

_BLOCK = 2**16
_LIBRARIES = (("pandas", ("Series",)), ("polars", ("Series",)), ("pyarrow", ("Array", "ChunkedArray")))


def kind_of(name: str, column: object) -> str:
    """Which kind of column it is, or an error that lists the kinds there are."""
    kind = _kind(column)
    if kind is None:
        raise InvalidArgumentType(
            f"{name} must be a list, a NumPy array, a pandas or Polars series or an Arrow array, "
            f"got {type(column).__name__}"
        )
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise InvalidArgument(f"{name} must have one axis, got shape {column.shape}")
    return kind


def is_column(column: object) -> bool:
    """Whether it is a column of one of the kinds there are."""
    return _kind(column) is not None


def _kind(column: object) -> str | None:
    if isinstance(column, list | tuple):
        return "tuple" if type(column) is tuple else "list"
    if isinstance(column, np.ndarray):
        return "numpy"
    for library, classes in _LIBRARIES:
        module = sys.modules.get(library)
        if module is not None and isinstance(column, tuple(getattr(module, c) for c in classes)):
            return library
    return None


def encode(name: str, column: Any, alphabet: Alphabet | None = None) -> Encoded:
    """The codes of a column of any kind.

    Parameters
    ----------
    name : str
        What messages call the column.
    column : list, tuple, NumPy array, pandas or Polars series, Arrow array
    alphabet : Alphabet, optional
        By default the labels that the column holds, sorted.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If it is no column.
    DataError
        If the labels are to be found and there are too many.

    Examples
    --------
    >>> found = encode("released", ["b", "a", None])
    >>> found.codes, found.alphabet.labels
    (array([ 1,  0, -1], dtype=int32), ('a', 'b'))
    """
    kind = kind_of(name, column)
    pieces, entry = _PIECES[kind](column), _ENTRY[kind]
    if alphabet is None:
        found = [piece.with_labels() for piece in pieces]
        alphabet = Alphabet.found(name, chain.from_iterable(labels for labels, _ in found))
        pieces = [piece for _, piece in found]
    codes = _joined([piece.codes(alphabet) for piece in pieces])
    return Encoded(name, codes, alphabet, lambda row: entry(column, row))


def encode_texts(name: str, column: Any, alphabet: Alphabet) -> Encoded:
    """The codes of entries of a CSV file, Arrow strings that are read as the type of the labels."""
    pieces = [numbered(chunk) for chunk in _chunks(column)]
    codes = [taken(alphabet.of_texts(piece.entries), piece.places) for piece in pieces]
    return Encoded(name, _joined(codes), alphabet, lambda row: column[row].as_py())


def _joined(parts: list[Codes]) -> Codes:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts])


# Columns → pieces


def _of_objects(items: Sequence[object]) -> Iterator[Piece]:
    yield Objects(items)


def _of_numpy(array: NDArray[Any]) -> Iterator[Piece]:
    missing = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    if array.dtype.kind in "biuU" or array.dtype in (np.float16, np.float32, np.float64):
        yield Array(np.asarray(array), missing)
    elif array.dtype.kind in "OT":
        if missing is not None:
            array = np.array(array, dtype=object)
            array[missing] = None
        for start in range(0, len(array), _BLOCK):
            yield Objects(array[start : start + _BLOCK].tolist())
    else:
        yield NoLabels(len(array))


def _of_pandas(series: Any) -> Iterator[Piece]:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        yield from _of_numpy(series.to_numpy())
    elif hasattr(dtype, "categories"):
        yield Places(series.cat.codes.to_numpy(), list(dtype.categories))
    elif hasattr(series.array, "__arrow_array__") and (arrow := _arrow()) is not None:
        yield from _of_arrow(arrow.array(series.array))
    else:
        yield Objects(series.tolist())


def _of_polars(series: Any) -> Iterator[Piece]:
    arrow = _arrow()
    if arrow is not None and not series.dtype.is_object():
        try:
            column = series.to_arrow()
        except arrow.ArrowException:  # a type that Arrow lacks, such as integers of 128 bits
            pass
        else:
            yield from _of_arrow(column)
            return
    yield Objects(series.to_list())


def _of_arrow(column: Any) -> Iterator[Piece]:
    yield from map(_of_chunk, _chunks(column))


def _chunks(column: Any) -> list[Any]:
    chunks: list[Any] = getattr(column, "chunks", [column])
    return chunks


def _of_chunk(chunk: Any) -> Piece:
    import pyarrow.compute
    import pyarrow.types as kinds

    if kinds.is_run_end_encoded(chunk.type):
        chunk = pyarrow.compute.run_end_decode(chunk)
    if kinds.is_date(chunk.type):  # a day is the text that stands for it in a CSV file
        chunk = chunk.cast(pyarrow.string())
    encoded = kinds.is_dictionary(chunk.type)
    kind = chunk.type.value_type if encoded else chunk.type
    text = kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)
    if not (text or kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
        return NoLabels(len(chunk))
    if encoded:
        return Places(places_of(chunk.indices), chunk.dictionary.to_pylist())
    if text:
        return ArrowText(chunk.cast(pyarrow.large_string()) if kinds.is_string_view(kind) else chunk)
    if not chunk.null_count:
        return Array(chunk.to_numpy(zero_copy_only=False))
    filled = chunk.fill_null(False if kinds.is_boolean(kind) else 0)
    return Array(filled.to_numpy(zero_copy_only=False), chunk.is_null().to_numpy(zero_copy_only=False))


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


_PIECES: dict[str, Callable[[Any], Iterable[Piece]]] = {
    "list": _of_objects,
    "tuple": _of_objects,
    "numpy": _of_numpy,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}

_ENTRY: dict[str, Callable[[Any, int], object]] = {
    "list": lambda items, row: items[row],
    "tuple": lambda items, row: items[row],
    "numpy": lambda array, row: None if array[row] is np.ma.masked else array[row],
    "pandas": lambda series, row: series.iloc[row],
    "polars": lambda series, row: series[row],
    "pyarrow": lambda column, row: column[row].as_py(),
}
