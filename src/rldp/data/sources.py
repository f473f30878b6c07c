"""Sources of tables: a CSV file with its dialect, Parquet files, standard input; errors for all else.

No message contains an entry of the table. Messages of libraries may, so only those known to be harmless are
passed on.
"""

from __future__ import annotations

import codecs
import glob
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rldp._common.checks import shown
from rldp.data import arrow, workbooks
from rldp.data.atomic import require_other_file
from rldp.data.standard import STANDARD, spooled, standard_input
from rldp.errors import DataFileError, InvalidArgument, InvalidArgumentType

__all__ = [
    "COMMON_DELIMITERS",
    "HOW_TO_DECODE",
    "Dialect",
    "Source",
    "is_parquet",
    "opened",
    "reading",
    "require_apart",
    "source_of",
]

HOW_TO_DECODE = "if they are latin-1, encoding='latin-1' reads them"
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".lz4": "lz4", ".zst": "zstd"}
COMMON_DELIMITERS = (",", ";", "\t", "|")
_SPELLED = {"tab": "\t", "\\t": "\t"}
_UTF_8 = ("utf-8", "utf-8-sig")
_NO_ENCODING_OF_TABLES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is read.

    Attributes
    ----------
    delimiter : str or None
        The character between two columns, or "tab"; None if it is to be inferred.
    encoding : str or None
        Python's name of an encoding; None for UTF-8, with or without a byte order mark.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If there is no such encoding, or the delimiter is not one character that can separate entries.

    Examples
    --------
    >>> Dialect("tab", "L1")
    Dialect(delimiter='\t', encoding='iso8859-1')
    """

    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delimiter", _checked_delimiter(self.delimiter))
        object.__setattr__(self, "encoding", _checked_encoding(self.encoding))


def _checked_delimiter(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgumentType(f"delimiter must be a character, got {shown(given)}")
    delimiter = _SPELLED.get(given.lower(), given)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0' or delimiter.isalnum():
        raise InvalidArgument(
            f"delimiter must be one character such as ';', but no quote, letter or digit, got {shown(given)}"
        )
    return delimiter


def _checked_encoding(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgumentType(f"encoding must be the name of an encoding, got {shown(given)}")
    try:
        codec = codecs.lookup(given)
    except (LookupError, ValueError) as error:  # ValueError: a null character
        raise InvalidArgument(
            f"encoding must be one that Python knows, such as latin-1, got {shown(given)}"
        ) from error
    # These read two texts as one, or are not encodings of text at all.
    if not codec._is_text_encoding or codec.name.replace("_", "-") in _NO_ENCODING_OF_TABLES:
        raise InvalidArgument(f"encoding must be one of text, such as latin-1, got {shown(given)}")
    return None if codec.name in _UTF_8 else codec.name


@dataclass(frozen=True)
class Source:
    """The source of a table.

    Attributes
    ----------
    name : str
        Its name in messages.
    paths : tuple of Path
        One CSV file, or one or more Parquet files.
    identities : tuple
        Shows whether one of the files was replaced or changed.
    parquet : bool
    codec : str or None
        Compression of a CSV file.
    dialect : Dialect
        Delimiter and encoding of a CSV file, as far as known.
    many : bool
        Whether it is a folder or a pattern, with any number of files.
    """

    name: str
    paths: tuple[Path, ...]
    identities: tuple[tuple[int, ...], ...]
    parquet: bool
    codec: str | None = None
    dialect: Dialect = field(default_factory=Dialect)
    many: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        """The file, if there is only one."""
        return self.paths[0]

    @property
    def size(self) -> int:
        """Size on disk in bytes."""
        return sum(identity[2] for identity in self.identities)

    def require_unchanged(self) -> None:
        """Refuse files that changed, possibly to the rows of other people."""
        if tuple(_identity(path.stat()) for path in self.paths) != self.identities:
            raise DataFileError(f"{self} must not change while it is read, but it did")


def is_parquet(path: Path) -> bool:
    """Return whether the name is that of a Parquet file; all others are CSV."""
    return path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def opened(data: str | os.PathLike[str] | Source, dialect: Dialect | None = None) -> Iterator[Source]:
    """Open the source that ``data`` names, while the block runs.

    "-" is standard input. Standard input and workbooks become temporary CSV files.
    """
    if isinstance(data, Source):
        yield data
    elif os.fspath(data) == STANDARD:
        with standard_input() as path:
            yield source_of(path, dialect, name="standard input")
    elif Path(data).suffix.lower() in workbooks.ENDINGS:
        book = source_of(data)
        if dialect not in (None, Dialect()):
            raise InvalidArgument(f"delimiter and encoding are for CSV files, got the workbook {str(book)!r}")
        with spooled(workbooks.as_csv(book.path)) as path:
            yield source_of(path, Dialect(","), name=str(book))
    else:
        yield source_of(data, dialect)


def source_of(
    data: str | os.PathLike[str] | Source, dialect: Dialect | None = None, *, name: str | None = None
) -> Source:
    """Return the source that a path names: a file, or a folder or a pattern of Parquet files.

    Raises
    ------
    DataError
        If there is none, or nothing in it.
    InvalidArgument
        If it is not a CSV file and a dialect is given.
    """
    if isinstance(data, Source):
        return data
    path = Path(data)
    files = _files(path)
    called = str(path) if name is None else name
    identities = tuple(_identity(status) for _, status in files)
    if not any(size for _, _, size, _ in identities):
        raise DataFileError(f"{called} must hold a table, got an empty file")
    paths, dialect = tuple(file for file, _ in files), dialect or Dialect()
    parquet = is_parquet(paths[0])
    if parquet and dialect != Dialect():
        raise InvalidArgument(f"delimiter and encoding are for CSV files, got the Parquet file {called!r}")
    codec = _CODECS.get(path.suffix.lower())
    return Source(called, paths, identities, parquet, codec, dialect, many=paths != (path,))


def _files(path: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the files that a path names."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        if not glob.has_magic(str(path)):
            raise DataFileError(f"data must be a file that exists, got {shown(str(path))}") from error
        return _several(path, map(Path, glob.glob(str(path), recursive=True)), "the pattern")  # noqa: PTH207
    if stat.S_ISDIR(status.st_mode):
        candidates = (file for ending in ("parquet", "pq") for file in path.rglob(f"*.{ending}"))
        hidden = re.compile(r"[._]")
        return _several(
            path,
            (file for file in candidates if not any(map(hidden.match, file.relative_to(path).parts))),
            "the folder",
        )
    if not stat.S_ISREG(status.st_mode):
        raise DataFileError(f"data must be a CSV or Parquet file, got the device or pipe {str(path)!r}")
    return [(path, status)]


def _several(path: Path, candidates: Iterator[Path], kind: str) -> list[tuple[Path, os.stat_result]]:
    files = [(file, file.stat()) for file in sorted(candidates) if file.is_file()]
    if len({(status.st_dev, status.st_ino) for _, status in files}) < len(files):
        raise DataFileError(
            f"data must hold each file once, got {kind} {str(path)!r}, where a link repeats one"
        )
    if not files:
        raise DataFileError(
            f"data must be a CSV or Parquet file, got {kind} {str(path)!r} without any Parquet files"
        )
    for file, _ in files:
        if not is_parquet(file):
            raise DataFileError(
                f"data must be one CSV file or Parquet files, got {kind} {str(path)!r} with others"
            )
    return files


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def require_apart(target: Path, source: Source) -> None:
    """Refuse to overwrite the data, or to write among its files, where the output would be data next time."""
    for path in source.paths:
        require_other_file(target, path, "the data")
    if source.many and is_parquet(target):
        folders = {path.resolve().parent for path in source.paths}
        if Path(source.name).is_dir():
            folders = {Path(source.name).resolve()}
        if any(target.resolve().is_relative_to(folder) for folder in folders):
            raise InvalidArgument(f"output must not lie among the files of the data, got {str(target)!r}")


# Files that are not tables

_HARMLESS = (
    (re.compile(r"(?:Row #\d+: )?Expected \d+ columns, got \d+"), None),
    (re.compile("Empty CSV file"), "it has no row"),
    (re.compile("straddl"), "a row is longer than what is read at once"),
    (
        re.compile("magic bytes|file size is|Parquet file size"),
        "it is not a Parquet file, or it is truncated",
    ),
    (re.compile("zlib|gzip|zstd|lz4|bz2|bzip|ompress", re.IGNORECASE), "its compression is damaged"),
)


@contextmanager
def reading(source: Source | str | os.PathLike[str]) -> Iterator[None]:
    """Read ``source`` with pyarrow in the block; errors become one sentence without any entry."""
    try:
        yield
    except UnicodeError:
        raise _of_another_encoding(source) from None  # what it was raised for holds entries
    except (arrow.ArrowException, OSError) as error:
        if "invalid UTF8" in str(error):
            raise _of_another_encoding(source) from None
        raise DataFileError(
            f"{source} must be a CSV or Parquet table, but it cannot be read: {_harmless(error)}"
        ) from None


def _of_another_encoding(source: object) -> DataFileError:
    encoding = source.dialect.encoding if isinstance(source, Source) else None
    if encoding is not None:
        return DataFileError(f"{source} must be text in {encoding}, got other bytes")
    return DataFileError(f"{source} must be UTF-8 text, got other bytes; {HOW_TO_DECODE}")


def _harmless(error: Exception) -> str:
    """Describe the problem, without anything that may come from the file."""
    said = str(error)
    for pattern, words in _HARMLESS:
        match = pattern.search(said)
        if match is not None:
            return words or match[0]
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return f"it is damaged, or its format is unknown ({type(error).__name__})"
