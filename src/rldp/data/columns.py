"""Columns of every kind ↔ codes: lists, NumPy arrays, pandas, Polars, Arrow.

A column becomes Arrow arrays, and Arrow numbers their distinct entries; these alone are then looked up in an
alphabet, by Python's own equality. Columns of Python objects, which may hold anything, are looked up entry by
entry. Codes become a column of the same kind, and of the same type where that holds all labels.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, kind_name
from rldp.data import arrow
from rldp.data.bins import Bins
from rldp.data.labels import NOT_A_LABEL, Alphabet, Codes, Encoded, is_label
from rldp.data.meaning import Kind, labels_read_as
from rldp.data.reading import MISSING
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType

__all__ = ["arrow_labels", "decode", "encode", "encode_texts", "is_column", "kind_among", "kind_of", "listed"]

_BLOCK = 2**16
_SERIES = ("pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray")
_DAYS = {datetime.date, datetime.datetime, type(None)}
_NOT_KNOWN_TO_ARROW = (np.longdouble, np.complexfloating, np.void, np.timedelta64)


def kind_of(name: str, column: object) -> str:
    """Return the kind of a column, or raise an error that lists all kinds."""
    kind = _kind(column)
    if kind is None:
        raise InvalidArgumentType(
            f"{name} must be a list, a NumPy array, a pandas or Polars series or an Arrow array, "
            f"got {kind_name(column)}"
        )
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise InvalidArgument(f"{name} must have one axis, got shape {column.shape}")
    return kind


def is_column(column: object) -> bool:
    """Return whether it is a column of a known kind."""
    return _kind(column) is not None


def _kind(column: object) -> str | None:
    if isinstance(column, list | tuple):
        return "tuple" if type(column) is tuple else "list"
    if isinstance(column, np.ndarray):
        return "numpy"
    kind = kind_among(_SERIES, column)
    return kind and kind.partition(".")[0]


def kind_among(kinds: Iterable[str], given: object) -> str | None:
    """Return the class of an object as ``library.name``, without importing any library."""
    for kind in kinds:
        library, name = kind.split(".")
        if library in sys.modules and isinstance(given, getattr(sys.modules[library], name)):
            return kind
    return None


# Columns → codes


def encode(name: str, column: Any, given: Alphabet | Kind | None = None) -> Encoded:
    """Return the codes of a column of any kind.

    Parameters
    ----------
    name : str
        What messages call the column.
    column : list, tuple, NumPy array, pandas or Polars series, Arrow array
    given : Alphabet or Kind, optional
        The labels, or the type that they must have; by default the labels that the column holds, sorted.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If it is not a column.
    DataError
        If the labels are to be found and there are too many, or they are of another type.

    Examples
    --------
    >>> encoded = encode("released", ["b", "a", None])
    >>> encoded.codes, encoded.alphabet.labels
    (array([ 1,  0, -1], dtype=int32), ('a', 'b'))
    """
    kind = kind_of(name, column)
    pieces = list(_PIECES[kind](column))
    if isinstance(given, Alphabet):
        alphabet = given
    else:
        pieces = [piece if isinstance(piece, list) else _numbered(piece) for piece in pieces]
        alphabet = Alphabet.inferred(name, chain.from_iterable(map(_distinct, pieces)))
        if given and any(isinstance(label, str) != (given == "text") for label in alphabet.labels):
            raise DataError(
                f"{name} must hold {'text' if given == 'text' else 'numbers'}, as asked for, but its entries "
                "are of another type"
            )
    codes = [_codes(piece, alphabet) for piece in pieces]
    return Encoded(name, _joined(codes), alphabet, partial(_entries, column))


def encode_texts(name: str, column: Any, given: Alphabet | Kind | None = None) -> Encoded:
    """Return the codes of entries of a CSV file: Arrow strings, read as the type of the labels.

    If the labels are not given, the whole column decides: it holds numbers if that loses nothing, else text.
    """
    chunks = [_numbered(chunk) for chunk in _chunks(column)]
    if isinstance(given, Alphabet):
        alphabet = given
    else:
        texts = {text for chunk in chunks for text in chunk.dictionary.to_pylist()}
        alphabet = Alphabet.inferred(name, labels_read_as(given, texts))
        others = (alphabet.of_texts(sorted(texts)) == NOT_A_LABEL).sum() if given == "number" else 0
        if others:
            raise DataError(
                f"{name} must hold numbers, as asked for, but {others} of its {len(texts)} distinct entries "
                "are not numbers"
            )
    codes = [_looked_up(chunk, alphabet.of_texts) for chunk in chunks]
    return Encoded(name, _joined(codes), alphabet, partial(_entries, column))


def _joined(parts: list[Codes]) -> Codes:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts])


def _codes(piece: Any, alphabet: Alphabet) -> Codes:
    if isinstance(piece, list):
        return alphabet.of_objects(piece)
    codes, are_numbers = None, arrow.types.is_integer(piece.type) or arrow.types.is_floating(piece.type)
    if are_numbers and (not piece.null_count or isinstance(alphabet, Bins)):
        codes = alphabet.of_numbers(piece.to_numpy(zero_copy_only=False))
    return _looked_up(_numbered(piece), alphabet.of_objects) if codes is None else codes


def _looked_up(numbered: Any, look_up: Callable[[Sequence[Any]], Codes]) -> Codes:
    """Return the codes of an Arrow array whose distinct entries are numbered; each is looked up once."""
    indices = numbered.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(-1)  # the last code
    table = np.append(look_up(numbered.dictionary.to_pylist()), np.int32(NOT_A_LABEL))
    codes: Codes = table.take(indices.to_numpy())
    return codes


def _numbered(chunk: Any) -> Any:
    """Return an Arrow array as positions in the list of its distinct entries."""
    return chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()


def _distinct(piece: Any) -> Iterable[object]:
    """Return every label of a piece at least once, possibly with other entries."""
    if isinstance(piece, list):
        # What is not a label may equal one, as Decimal(1) does, and must not stand for it.
        every = all(map(is_label, set(map(type, piece))))
        return dict.fromkeys(piece if every else (item for item in piece if is_label(type(item))))
    entries = piece.dictionary.to_pylist()
    counts = np.bincount(piece.indices.drop_null().cast("int64"))
    return [entries[place] for place in np.flatnonzero(counts).tolist()]


# Pieces of a column: Arrow arrays, or lists of Python objects


def _of_objects(items: Sequence[Any]) -> Iterable[Any]:
    first = next((item for item in items if item is not None), None)
    if isinstance(first, datetime.date) and set(map(type, items)) <= _DAYS:
        return _of_arrow(arrow.array(items))
    return [items if isinstance(items, list) else list(items)]


def _of_numpy(array: NDArray[Any]) -> Iterable[Any]:
    missing = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    if array.dtype.kind in "OT":
        if missing is not None:
            array = np.array(array, dtype=object)
            array[missing] = None
        blocks = (array[start : start + _BLOCK].tolist() for start in range(0, len(array), _BLOCK))
        return chain.from_iterable(map(_of_objects, blocks))
    if array.dtype.kind == "S" or issubclass(array.dtype.type, _NOT_KNOWN_TO_ARROW):
        return [_no_labels(array)]
    native = np.asarray(array).astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "U":
        return [_of_fixed_width(native, missing)]
    return _of_arrow(arrow.array(native, mask=missing))


def _of_fixed_width(array: NDArray[np.str_], missing: NDArray[np.bool_] | None) -> Any:
    """Return texts as positions in the list of their distinct entries; Arrow compares them as bytes."""
    width = array.dtype.itemsize
    buffers = [None, arrow.py_buffer(np.ascontiguousarray(array))]
    numbered = arrow.Array.from_buffers(arrow.binary(width), len(array), buffers).dictionary_encode()
    distinct = np.array(numbered.dictionary.to_pylist(), dtype=f"S{width}").view(array.dtype).tolist()
    try:
        return arrow.DictionaryArray.from_arrays(numbered.indices.to_numpy(), distinct, mask=missing)
    except UnicodeError:  # a character that UTF-8 lacks
        return np.ma.masked_array(array, False if missing is None else missing).tolist()


def _of_pandas(series: Any) -> Iterable[Any]:
    if isinstance(series.dtype, np.dtype):
        return _of_numpy(series.to_numpy())
    entries = getattr(series.dtype, "categories", None)
    if entries is None or entries.dtype != object:
        try:
            return _of_arrow(arrow.Array.from_pandas(series))
        except (arrow.ArrowException, TypeError):  # a type that Arrow lacks
            pass
    return [series.tolist()]


def _of_polars(series: Any) -> Iterable[Any]:
    if not series.dtype.is_object():
        try:
            return _of_arrow(series.to_arrow())
        except arrow.ArrowException:  # a type that Arrow lacks, such as integers of 128 bits
            pass
    return [series.to_list()]


def _of_arrow(column: Any) -> Iterable[Any]:
    return map(_as_labels, _chunks(column))


def _chunks(column: Any) -> list[Any]:
    chunks: list[Any] = getattr(column, "chunks", [column])
    return chunks


def _as_labels(chunk: Any) -> Any:
    """Return an Arrow array in a form whose distinct entries can be numbered and looked up."""
    if arrow.types.is_run_end_encoded(chunk.type):
        chunk = arrow.compute.run_end_decode(chunk)
    if arrow.types.is_dictionary(chunk.type):
        entries = _as_labels(chunk.dictionary)
        if isinstance(entries, list):
            return _no_labels(chunk)
        return arrow.DictionaryArray.from_arrays(chunk.indices, entries)
    if arrow.types.is_timestamp(chunk.type) and _are_days(chunk):  # in its time zone, if it has one
        chunk = (chunk if chunk.type.tz is None else arrow.compute.local_timestamp(chunk)).cast(
            arrow.date32()
        )
    if arrow.types.is_date(chunk.type):  # a day is the text that stands for it in a CSV file
        return chunk.cast(arrow.string())
    if arrow.types.is_string_view(chunk.type):
        return chunk.cast(arrow.large_string())
    if arrow.types.is_float16(chunk.type):  # older versions of Arrow cannot number these
        return chunk.cast(arrow.float32())
    is_extension = isinstance(chunk.type, arrow.BaseExtensionType)
    return _no_labels(chunk) if is_extension or arrow.types.is_nested(chunk.type) else chunk


def _no_labels(column: Any) -> list[object]:
    """Entries of a type that no label has, as many as the column has rows."""
    return [b""] * len(column)


def _are_days(chunk: Any) -> bool:
    whole = arrow.compute.equal(arrow.compute.floor_temporal(chunk, unit="day"), chunk)
    return arrow.compute.all(whole).as_py() is not False


_PIECES: dict[str, Callable[[Any], Iterable[Any]]] = {
    "list": _of_objects,
    "tuple": _of_objects,
    "numpy": _of_numpy,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}


def listed(column: Any) -> list[Any]:
    """Return the entries of a column of any kind as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _entries(column: Any, rows: NDArray[np.intp]) -> list[object]:
    """Return the entries that occur in some rows."""
    if isinstance(column, list | tuple):
        return [column[row] for row in rows.tolist()]
    if isinstance(column, np.ndarray):
        return [None if item is np.ma.masked else item for item in column[rows]]
    try:
        return listed(column.gather(rows) if hasattr(column, "gather") else column.take(rows))
    except NotImplementedError:  # of Arrow's views, and of run-end encoding
        return [column[row].as_py() for row in rows.tolist()]


# Codes → columns


def decode(like: Any, codes: Codes, outputs: Sequence[Label]) -> Any:
    """Return the labels of ``codes`` as a column of the kind of ``like``.

    It has the type of ``like`` if that can hold all labels, else their common type. Beside numbers or
    booleans, ``(missing)`` becomes a missing entry, unless the column holds Python objects.
    """
    kind = kind_of("values", like)
    if kind in ("list", "tuple"):
        listed = _objects(outputs)[codes].tolist()
        return listed if kind == "list" else tuple(listed)
    if kind == "numpy":
        table = _label_array(outputs)
        if all(isinstance(label, str) for label in outputs):
            table = table.astype(np.str_)
        return _as_it_was(table, lambda: table.astype(like.dtype), outputs)[codes]
    if kind == "pandas":
        import pandas

        labels = pandas.Series(_label_array(outputs)).infer_objects()
        labels = _as_it_was(labels, lambda: _as_pandas(outputs, labels, like.dtype), outputs)
        array = labels.array.take(codes)
        return pandas.Series(array, index=like.index, name=like.name, dtype=labels.dtype)
    if kind == "polars":
        import polars

        labels = polars.Series(arrow_labels(outputs))
        labels = _as_it_was(labels, lambda: _as_polars(outputs, like), outputs)
        return labels.alias(like.name).gather(codes)
    column = arrow_labels(outputs, like.type).take(arrow.array(codes))
    return arrow.chunked_array([column]) if isinstance(like, arrow.ChunkedArray) else column


def _null(outputs: Sequence[Label]) -> int | None:
    """Return the place of ``(missing)`` if all other labels are numbers or booleans."""
    texts = [place for place, label in enumerate(outputs) if isinstance(label, str)]
    one = len(outputs) > 1 and len(texts) == 1 and outputs[texts[0]] == MISSING
    return texts[0] if one else None


def _label_array(outputs: Sequence[Label]) -> NDArray[Any]:
    """Return the labels in their common type: integers, floats, booleans or text; else as objects."""
    null = _null(outputs)
    array = _objects(outputs)
    if null is not None:
        array[null] = math.nan
    kinds = set(map(type, array))
    if kinds <= {int, float} and not any(label < -(2**63) or label >= 2**63 for label in array):
        return array.astype(np.int64 if kinds == {int} else np.float64)
    if kinds == {bool}:
        return array.astype(np.bool_)
    return array


def _objects(outputs: Sequence[Label]) -> NDArray[Any]:
    array: NDArray[Any] = np.empty(len(outputs), dtype=object)
    array[:] = outputs
    return array


def arrow_labels(outputs: Sequence[Label], like: Any = None) -> Any:
    """Return the labels as an Arrow array, of the type ``like`` if that can hold all of them."""
    known = np.arange(len(outputs)) != _null(outputs)
    array = _label_array([label for label, is_known in zip(outputs, known, strict=True) if is_known])
    if array.dtype == object and not all(isinstance(label, str) for label in array):
        raise DataError(
            "outputs of the protocol must be of one type, and integers of 64 bits, to be written to an "
            "Arrow, Parquet or Polars column"
        )
    labels = arrow.array(array)
    if not known.all():
        labels = labels.take(arrow.array(np.cumsum(known) - 1, mask=~known))
    if like is None or like == labels.type:
        return labels
    return _as_it_was(labels, lambda: _as_arrow(labels, like), outputs)


def _as_arrow(labels: Any, kind: Any) -> Any:
    if getattr(kind, "tz", None) is not None:
        return arrow.compute.assume_timezone(labels.cast(arrow.timestamp(kind.unit)), kind.tz)
    if not arrow.types.is_dictionary(kind):
        cast = labels.cast(kind)
        cast.take(arrow.array([0]))  # fails for types in which Arrow holds labels and draws none, as views
        return cast
    entries = labels.cast(kind.value_type)
    places = arrow.array(range(len(labels)), kind.index_type)
    return arrow.DictionaryArray.from_arrays(places, entries, ordered=kind.ordered)


def _as_polars(outputs: Sequence[Label], like: Any) -> Any:
    kind = like.clear().to_arrow().type if like.dtype.is_temporal() else None  # texts become days in Arrow
    return type(like)(arrow_labels(outputs, kind)).cast(like.dtype)


def _as_pandas(outputs: Sequence[Label], labels: Any, dtype: Any) -> Any:
    if dtype == np.object_:
        return type(labels)(_objects(outputs), dtype=object)
    if not hasattr(dtype, "categories"):
        return labels.astype(dtype)
    known = set(dtype.categories)
    return labels.astype(dtype if all(label in known for label in labels.dropna()) else "category")


def _as_it_was(labels: Any, cast: Callable[[], Any], outputs: Sequence[Label]) -> Any:
    """Return the labels in another type, if each is still read as itself, or as missing."""
    try:
        with np.errstate(invalid="ignore"):  # NaN is not an integer
            restored = cast()
        read = encode("outputs", restored, Alphabet(outputs))
    except Exception:  # libraries raise many exceptions if a type cannot hold them
        return labels
    same = read.codes == np.arange(len(outputs))
    if (null := _null(outputs)) is not None:
        same[null] |= read.missing()[null]
    return restored if same.all() else labels
