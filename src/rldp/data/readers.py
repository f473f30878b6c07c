"""CSV and Parquet files → columns as codes: whole, or part by part beside the columns to keep.

An entry of a CSV file has no type. Where the labels are known, it is read as what they are, never as what the
rest of the column looks like: every file is then read alike, by whoever reads it, from its first row to its
last. Where they are not, all of the column decides: it holds numbers where that loses nothing, else text.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rldp._checks import shown
from rldp.data.bins import alphabet_of
from rldp.data.columns import encode, encode_texts
from rldp.data.labels import NOT_A_LABEL, Alphabet, Encoded, Kind
from rldp.data.quotes import Watched
from rldp.data.reading import Reading
from rldp.errors import DataError, DataFileError, needs

__all__ = [
    "NULLS",
    "Columns",
    "Part",
    "Parts",
    "column_name",
    "is_parquet",
    "read_encoded",
    "read_parts",
    "read_table",
    "require_columns",
    "typed",
]

NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]
_BYTES = 2**20  # of a CSV file, in one part
_ROWS = 2**16  # of a Parquet file
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".lz4": "lz4", ".zst": "zstd"}


# What a file is


def is_parquet(path: Path) -> bool:
    """Whether the name is that of a Parquet file; all others are CSV."""
    return path.suffix.lower() in (".parquet", ".pq")


def column_name(column: str, source: str | Path) -> str:
    """What messages call a column of a file or data frame."""
    return f"column {column!r} of {source}"


def require_columns(present: Sequence[str], wanted: Sequence[str], source: str | Path) -> None:
    """Refuse a table in which a column that is wanted is missing or there twice."""
    for column in wanted:
        if column not in present:
            names = ", ".join(map(repr, present[:30])) + (", …" if len(present) > 30 else "")
            raise DataError(f"{source} has no column {column!r}; it has {names or 'no columns'}")
        if present.count(column) > 1:
            raise DataError(f"{source} must have one column {column!r}, got several")


def _table_file(path: Path) -> int:
    """The size in bytes of a file that may hold a table, or one sentence about why it cannot."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise DataFileError(f"data must be a file that exists, got {shown(str(path))}") from error
    if not stat.S_ISREG(status.st_mode):
        kind = "the folder" if stat.S_ISDIR(status.st_mode) else "the device or pipe"
        raise DataFileError(f"data must be a CSV or Parquet file, got {kind} {str(path)!r}")
    if status.st_size == 0:
        raise DataFileError(f"{path} must hold a table, got an empty file")
    return status.st_size


_WITH_A_ROW = re.compile(r"(Expected \d+ columns, got \d+).*", re.DOTALL)  # nobody's row belongs in a message


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """The block reads ``path`` with pyarrow; what goes wrong becomes one sentence."""
    with needs("reading files", "pyarrow"):
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} must be UTF-8 text, got other bytes in the header") from error
    except (pyarrow.ArrowException, OSError) as error:
        if "invalid UTF8" in str(error):
            raise DataFileError(f"{path} must be UTF-8 text, got other bytes") from error
        said = _WITH_A_ROW.sub(r"\1", str(error)).split("\n")[0]
        reason = "".join(c if c.isprintable() else "?" for c in said)
        raise DataFileError(
            f"{path} must be a CSV or Parquet table, but it cannot be read: {reason}"
        ) from error


# Whole files


def read_encoded(path: Path, columns: Mapping[str, Alphabet | Kind | None]) -> list[Encoded]:
    """Columns of a file as codes, each in the alphabet given for it, or in the one that is found.

    A :data:`~rldp.data.labels.Kind` says what the labels of a CSV file are that are to be found.
    """
    table = read_table(path, list(columns))
    read = typed if is_parquet(path) else _untyped
    return [read(column_name(column, path), table[column], given) for column, given in columns.items()]


def typed(name: str, column: Any, given: Alphabet | Kind | None) -> Encoded:
    """The codes of a column whose entries have a type, which must be the kind that is asked for."""
    if isinstance(given, Alphabet):
        return encode(name, column, given)
    found = encode(name, column)
    if given is not None and any(isinstance(label, str) != (given == "text") for label in found.labels):
        raise DataError(
            f"{name} must hold {'text' if given == 'text' else 'numbers'}, as asked for, but its entries are "
            "of another type"
        )
    return found


def _untyped(name: str, column: Any, given: Alphabet | Kind | None) -> Encoded:
    if isinstance(given, Alphabet):
        given.require_readable(name)
        return encode_texts(name, column, given)
    texts = {text for chunk in column.chunks for text in chunk.unique().to_pylist() if text is not None}
    encoded = encode_texts(name, column, Alphabet.read(name, texts, given))
    if given == "number":
        others = int((encoded.alphabet.of_texts(sorted(texts)) == NOT_A_LABEL).sum())
        if others:
            raise DataError(
                f"{name} must hold numbers, as asked for, but {others} of its {len(texts)} distinct entries "
                "are none"
            )
    return encoded


def read_table(path: Path, columns: Sequence[str]) -> Any:
    """Columns of a file as an Arrow table; those of a CSV file are text."""
    _table_file(path)
    with _reading(path):
        import pyarrow.parquet

        if not is_parquet(path):
            return _read_csv(path, columns)
        schema = pyarrow.parquet.read_schema(path)
        require_columns(schema.names, columns, path)
        for column in columns:
            _require_flat(column_name(column, path), schema.field(column).type)
        with pyarrow.parquet.ParquetFile(path, read_dictionary=list(columns)) as file:
            return file.read(columns=list(columns))


def _require_flat(name: str, kind: Any) -> None:
    """A column whose entries have parts is several columns of a Parquet file, and none of labels."""
    import pyarrow

    if pyarrow.types.is_nested(kind):
        raise DataError(
            f"{name} must hold strings, numbers or booleans, got entries of type {shown(str(kind))}"
        )


def _read_csv(path: Path, columns: Sequence[str]) -> Any:
    """As text: what it stands for depends on all of a column, or on labels that are known."""
    import pyarrow.csv

    require_columns(_open_csv(path)[0].schema.names, columns, path)
    file = _Followed(path)
    with file.parsed(path):
        return pyarrow.csv.read_csv(
            file, **_csv_options(list(columns), dict.fromkeys(columns, pyarrow.string()))
        )


def _csv_options(
    columns: list[str] | None, types: dict[str, Any] | None, nulls: list[str] = NULLS
) -> dict[str, Any]:
    """How every CSV file is read: an entry in quotes is never null, and may hold line breaks."""
    import pyarrow.csv

    return {
        "parse_options": pyarrow.csv.ParseOptions(newlines_in_values=True),
        "convert_options": pyarrow.csv.ConvertOptions(
            include_columns=columns,
            column_types=types,
            null_values=nulls,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


# Part by part


@dataclass(frozen=True)
class Columns:
    """The columns of the data that are needed: those that are read, and those to keep as they are."""

    reading: Reading
    keep: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys((*self.reading.names, *self.keep)))

    @property
    def alphabets(self) -> dict[str, Alphabet]:
        return {column.name: alphabet_of(column) for column in self.reading.columns}


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows in a row: the columns that are read, in order, and those to keep.

    ``share`` of the file is read by now.
    """

    columns: list[Encoded]
    kept: list[Any]
    share: float


@dataclass(frozen=True, eq=False)
class Parts:
    """All parts of a file, in order; ``kept``: the Arrow fields of the columns to keep."""

    kept: list[Any]
    parts: Iterator[Part]

    def __iter__(self) -> Iterator[Part]:
        return self.parts


def read_parts(path: Path, columns: Columns, *, text: bool) -> Parts:
    """Open a file; columns kept from a CSV file are Arrow strings if ``text``, else bytes as they stand."""
    size = _table_file(path)
    with _reading(path):
        if is_parquet(path):
            return _parquet_parts(path, columns)
        return _csv_parts(path, size, columns, text)


def _parquet_parts(path: Path, columns: Columns) -> Parts:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20)
    schema = file.schema_arrow
    require_columns(schema.names, columns.names, path)
    total, alphabets = max(1, file.metadata.num_rows), columns.alphabets

    def parts() -> Iterator[Part]:
        rows = 0
        with _reading(path):
            for batch in file.iter_batches(_ROWS, columns=columns.names):
                rows += batch.num_rows
                read = [encode(column_name(c, path), batch.column(c), a) for c, a in alphabets.items()]
                yield Part(read, [batch.column(name) for name in columns.keep], rows / total)

    return Parts([schema.field(name).remove_metadata() for name in columns.keep], parts())


def _csv_parts(path: Path, size: int, columns: Columns, text: bool) -> Parts:
    import pyarrow

    before, alphabets = _identity(path), columns.alphabets
    require_columns(_open_csv(path)[0].schema.names, columns.names, path)
    for column, alphabet in alphabets.items():
        alphabet.require_readable(column_name(column, path))
    labels, file = _open_csv(path, dict.fromkeys(alphabets, pyarrow.string()))
    kind = pyarrow.string() if text else pyarrow.binary()
    kept = iter(_open_csv(path, dict.fromkeys(columns.keep, kind), nulls=[""])[0]) if columns.keep else None

    def parts() -> Iterator[Part]:
        with _reading(path), file.parsed(path):
            for batch in labels:
                beside = batch.select([]) if kept is None else next(kept)
                if kept is not None and beside.num_rows != batch.num_rows:
                    raise DataFileError(f"{path} must not change while it is read, but it did")
                read = [encode_texts(column_name(c, path), batch.column(c), a) for c, a in alphabets.items()]
                cells = [beside.column(name) for name in columns.keep]
                yield Part(read, cells, min(1.0, file.position() / size))
            if _identity(path) != before:  # another file, perhaps with the rows of other people
                raise DataFileError(f"{path} must not change while it is read, but it did")

    return Parts([pyarrow.field(name, kind) for name in columns.keep], parts())


def _open_csv(
    path: Path, types: dict[str, Any] | None = None, nulls: list[str] = NULLS
) -> tuple[Any, _Followed]:
    """A stream of the columns in ``types`` (all if None), and the file that it reads."""
    import pyarrow.csv

    file = _Followed(path)
    with file.parsed(path):
        stream = pyarrow.csv.open_csv(
            file,
            read_options=pyarrow.csv.ReadOptions(block_size=_BYTES, use_threads=False),  # threads read ahead
            **_csv_options(None if types is None else list(types), types, nulls),
        )
    return stream, file


class _Followed(Watched):
    """A CSV file, compressed or not."""

    def __init__(self, path: Path) -> None:
        import pyarrow

        raw = pyarrow.OSFile(str(path))
        codec = _CODECS.get(path.suffix.lower())
        super().__init__(raw if codec is None else pyarrow.CompressedInputStream(raw, codec))
        self.position: Callable[[], int] = raw.tell
        """How many bytes of the file have been read, as they are on the disk."""


def _identity(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
