"""Files and data frames → counts of pairs. The only module that knows data-frame libraries."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._checks import Label, label, shown
from rldp.data.quotes import Watched
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType, needs

__all__ = ["NULLS", "columns", "is_parquet", "pair_counts", "reading", "require_columns", "table_file"]

_MOST_LABELS = 1000
_WITH_A_ROW = re.compile(r"(Expected \d+ columns, got \d+).*", re.DOTALL)  # nobody's row belongs in a message
NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]


def pair_counts(
    data: Any,
    *,
    secret: str,
    value: str,
    secrets: Sequence[Label] | None,
    values: Sequence[Label] | None,
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
    frame, source = _frame(data, (secret, value))
    if len(frame) == 0:
        raise DataError(f"{source} must hold at least one row, got none")
    for column in (secret, value):
        _refuse_nulls(frame, column, source)
    rows = [
        (_label(s, secret, source), _label(u, value, source), int(count))
        for s, u, count in _grouped(frame, secret, value, source)
    ]
    s_labels = _alphabet("secrets", secret, [(s, c) for s, _, c in rows], secrets)
    u_labels = _alphabet("values", value, [(u, c) for _, u, c in rows], values)
    s_index = {item: i for i, item in enumerate(s_labels)}
    u_index = {item: i for i, item in enumerate(u_labels)}
    counts = np.zeros((len(s_labels), len(u_labels)), dtype=np.int64)
    for s, u, count in rows:
        counts[s_index[s], u_index[u]] += count
    return counts, s_labels, u_labels


def columns(data: Any, names: tuple[str, ...]) -> list[Any]:
    """Columns of a CSV or Parquet file or of a data frame, as its library holds them."""
    if len(set(names)) < len(names):
        raise InvalidArgument(f"columns must be distinct, got {', '.join(map(repr, names))}")
    frame, _ = _frame(data, names)
    return [frame[name].to_native() for name in names]


def _frame(data: Any, columns: tuple[str, ...]) -> tuple[Any, str]:
    """The columns as a narwhals frame, and a name for the source."""
    with needs("reading data", "narwhals"):
        import narwhals.stable.v1 as nw

    source = "data"
    if isinstance(data, str | os.PathLike):
        source = str(Path(data))
        data = _read_file(Path(data), columns)
    if hasattr(data, "unify_dictionaries"):  # Arrow groups no chunks of different dictionaries
        data = data.unify_dictionaries()
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise InvalidArgumentType(
            f"data must be a path or a data frame, got {type(data).__name__}"
        ) from error
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{source} must have columns of distinct names, but: {reason}") from error
    require_columns(frame.columns, columns, source)
    return frame.select(list(columns)), source


def require_columns(present: list[str], wanted: Sequence[str], source: str) -> None:
    """Refuse a table in which a column that is wanted is missing or there twice."""
    for column in wanted:
        if column not in present:
            names = ", ".join(map(repr, present[:30])) + (", …" if len(present) > 30 else "")
            raise DataError(f"{source} has no column {column!r}; it has {names or 'no columns'}")
        if present.count(column) > 1:
            raise DataError(f"{source} must have one column {column!r}, got several")


def _read_file(path: Path, columns: tuple[str, ...]) -> Any:
    table_file(path)
    with reading(path):
        import pyarrow.parquet

        if is_parquet(path):
            present = pyarrow.parquet.read_schema(path).names
            require_columns(present, columns, str(path))
            return pyarrow.parquet.read_table(path, columns=list(columns))
        return _read_csv(path, columns)


def table_file(path: Path) -> int:
    """The size in bytes of a file that may hold a table, or one sentence about why it cannot."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise DataError(f"data must be a file that exists, got {shown(str(path))}") from error
    if not stat.S_ISREG(status.st_mode):
        kind = "the folder" if stat.S_ISDIR(status.st_mode) else "the device or pipe"
        raise DataError(f"data must be a CSV or Parquet file, got {kind} {str(path)!r}")
    if status.st_size == 0:
        raise DataError(f"{path} must hold a table, got an empty file")
    return status.st_size


def is_parquet(path: Path) -> bool:
    """Whether the name is that of a Parquet file; all others are CSV."""
    return path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """The block reads ``path`` with pyarrow; what goes wrong becomes one sentence."""
    with needs("reading files", "pyarrow"):
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(f"{path} must be UTF-8 text, got other bytes in the header") from error
    except (pyarrow.ArrowException, OSError) as error:
        said = _WITH_A_ROW.sub(r"\1", str(error)).split("\n")[0]
        reason = "".join(c if c.isprintable() else "?" for c in said)
        raise DataError(f"{path} must be a CSV or Parquet table, but it cannot be read: {reason}") from error


def _read_csv(path: Path, columns: tuple[str, ...]) -> Any:
    import pyarrow.csv

    def read(types: dict[str, Any]) -> Any:
        file = Watched(pyarrow.input_stream(str(path), compression="detect"))
        with file.parsed(path):
            return pyarrow.csv.read_csv(
                file,
                parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                convert_options=pyarrow.csv.ConvertOptions(
                    strings_can_be_null=True,
                    null_values=NULLS,
                    quoted_strings_can_be_null=False,
                    column_types=types,
                ),
            )

    table = read({})
    require_columns(table.column_names, columns, str(path))
    types = {column: table.schema.field(column).type for column in columns}
    for column, kind in types.items():
        if pyarrow.types.is_binary(kind):
            raise DataError(f"column {column!r} of {path} must be UTF-8 text, got other bytes")
    dates = {column: pyarrow.string() for column, kind in types.items() if pyarrow.types.is_temporal(kind)}
    if dates:  # a label is the text that stands there
        table = read(dates)
    return table.select(list(columns))


def _label(item: object, column: str, source: str) -> Label:
    try:
        return label(f"column {column!r} of {source}", item)
    except (InvalidArgument, InvalidArgumentType) as error:
        raise DataError(str(error)) from None


def _refuse_nulls(frame: Any, column: str, source: str) -> None:
    series = frame[column]
    missing = int(series.null_count())
    if series.dtype.is_float():
        missing += int(series.drop_nulls().is_nan().sum())
    if missing:
        rows = "row" if missing == 1 else "rows"
        raise DataError(
            f"column {column!r} of {source} must hold no nulls, got {missing} {rows} of {len(frame)} "
            "without a value"
        )


def _grouped(frame: Any, secret: str, value: str, source: str) -> list[tuple[Any, Any, int]]:
    import narwhals.stable.v1 as nw

    for column in (secret, value):
        if frame[column].dtype.is_nested():
            raise DataError(
                f"column {column!r} of {source} must hold strings, numbers or booleans, got lists or records"
            )
    count = "count"
    while count in (secret, value):
        count += "_"
    try:
        pairs = frame.group_by([secret, value]).agg(nw.len().alias(count))
    except TypeError as error:  # objects that cannot be told apart, such as lists
        raise DataError(
            f"columns {secret!r} and {value!r} of {source} must hold strings, numbers or booleans, "
            f"but they cannot be grouped: {error}"
        ) from error
    return [(row[0], row[1], row[2]) for row in pairs.select([secret, value, count]).rows()]


def _alphabet(
    name: str, column: str, seen: list[tuple[Label, int]], given: Sequence[Label] | None
) -> tuple[Label, ...]:
    """The labels of a column: the given ones if they cover it, else those seen, sorted."""
    found = {item for item, _ in seen}
    if given is not None:
        unknown = found.difference(given)
        if unknown:
            rows = sum(count for item, count in seen if item in unknown)
            first = sorted(unknown, key=_sort_key)[0]
            such = f"{len(unknown)} such label{'s' * (len(unknown) > 1)} in {rows} row{'s' * (rows > 1)}"
            raise DataError(
                f"{name} must list every label of column {column!r}, but {first!r} is not in it ({such})"
            )
        return tuple(given)
    if len(found) > _MOST_LABELS:
        raise DataError(
            f"column {column!r} must have at most {_MOST_LABELS} distinct labels, got {len(found)}; "
            "group or round them first"
        )
    return tuple(sorted(found, key=_sort_key))


def _sort_key(item: Label) -> tuple[int, Any]:
    return (1, item) if isinstance(item, str) else (0, item)
