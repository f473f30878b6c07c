"""CSV and Parquet files → parts of bounded size: codes of the two columns, and the columns to keep.

An entry of a CSV file has no type. It is read as the type of the protocol's labels, never as what the rest
of the column looks like, so that a file of any size is read alike from its first row to its last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rldp.data.columns import Encoded, encode_arrow, through
from rldp.data.frames import NULLS, is_parquet, reading, require_columns, table_file
from rldp.data.labels import Alphabet
from rldp.data.quotes import Watched
from rldp.errors import DataError

__all__ = ["Columns", "Part", "Parts", "read_parts"]

_BYTES = 2**20  # of a CSV file, in one part
_ROWS = 2**16  # of a Parquet file
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".lz4": "lz4", ".zst": "zstd"}


@dataclass(frozen=True)
class Columns:
    """The columns of the data that are needed."""

    secret: str
    value: str
    keep: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys((self.secret, self.value, *self.keep)))


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows in a row; ``share`` of the file is read by now."""

    secrets: Encoded
    values: Encoded
    kept: list[Any]
    share: float


@dataclass(frozen=True, eq=False)
class Parts:
    """All parts of a file, in order; ``kept``: the Arrow fields of the columns to keep."""

    kept: list[Any]
    parts: Iterator[Part]

    def __iter__(self) -> Iterator[Part]:
        return self.parts


def read_parts(path: Path, columns: Columns, secrets: Alphabet, values: Alphabet, *, text: bool) -> Parts:
    """Open a file; columns kept from a CSV file are Arrow strings if ``text``, else bytes as they stand."""
    size = table_file(path)
    with reading(path):
        if is_parquet(path):
            return _parquet_parts(path, columns, secrets, values)
        secrets.require_readable("secrets")
        values.require_readable("values")
        return _csv_parts(path, size, columns, (secrets, values), text)


def _parquet_parts(path: Path, columns: Columns, secrets: Alphabet, values: Alphabet) -> Parts:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20)
    schema = file.schema_arrow
    require_columns(schema.names, columns.names, str(path))
    total = max(1, file.metadata.num_rows)

    def parts() -> Iterator[Part]:
        rows = 0
        with reading(path):
            for batch in file.iter_batches(_ROWS, columns=columns.names):
                rows += batch.num_rows
                yield Part(
                    encode_arrow(batch.column(columns.secret), secrets),
                    encode_arrow(batch.column(columns.value), values),
                    [batch.column(name) for name in columns.keep],
                    rows / total,
                )

    return Parts([schema.field(name).remove_metadata() for name in columns.keep], parts())


def _csv_parts(
    path: Path, size: int, columns: Columns, alphabets: tuple[Alphabet, Alphabet], text: bool
) -> Parts:
    import pyarrow

    before = _identity(path)
    require_columns(_open_csv(path)[0].schema.names, columns.names, str(path))
    label = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    pair, file = _open_csv(path, dict.fromkeys((columns.secret, columns.value), label), nulls=NULLS)
    kind = pyarrow.string() if text else pyarrow.binary()
    kept = iter(_open_csv(path, dict.fromkeys(columns.keep, kind), nulls=[""])[0]) if columns.keep else None

    def parts() -> Iterator[Part]:
        with reading(path), file.parsed(path):
            for batch in pair:
                beside = batch.select([]) if kept is None else next(kept)
                if kept is not None and beside.num_rows != batch.num_rows:
                    raise DataError(f"{path} must not change while it is read, but it did")
                yield Part(
                    _encode_texts(batch.column(columns.secret), alphabets[0]),
                    _encode_texts(batch.column(columns.value), alphabets[1]),
                    [beside.column(name) for name in columns.keep],
                    min(1.0, file.position() / size),
                )
            if _identity(path) != before:  # another file, perhaps with the rows of other people
                raise DataError(f"{path} must not change while it is read, but it did")

    return Parts([pyarrow.field(name, kind) for name in columns.keep], parts())


def _open_csv(
    path: Path, types: dict[str, Any] | None = None, *, nulls: list[str] | None = None
) -> tuple[Any, _Followed]:
    """A stream of the columns in ``types`` (all if None), and the file that it reads.

    An entry in quotes is never null.
    """
    import pyarrow.csv

    file = _Followed(path)
    options = pyarrow.csv.ConvertOptions(
        include_columns=None if types is None else list(types),
        column_types=types,
        null_values=nulls,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with file.parsed(path):
        stream = pyarrow.csv.open_csv(
            file,
            read_options=pyarrow.csv.ReadOptions(block_size=_BYTES, use_threads=False),  # threads read ahead
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=options,
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


def _encode_texts(column: Any, alphabet: Alphabet) -> Encoded:
    """The codes of texts that are read as labels; each distinct text is read once."""
    texts = column.dictionary.to_pylist()
    table = np.fromiter(map(alphabet.of_text, texts), dtype=np.int32, count=len(texts))
    return Encoded(through(column.indices, table), lambda row: column[row].as_py())
