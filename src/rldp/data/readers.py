"""Read CSV and Parquet files part by part: columns of codes, together with columns to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rldp.data import arrow
from rldp.data.bins import alphabet_of
from rldp.data.columns import encode, encode_texts
from rldp.data.csv_files import open_csv
from rldp.data.headers import Located, column_name, require_columns, require_distinct, require_headers
from rldp.data.kinds import FittingType
from rldp.data.labels import Alphabet, Encoded
from rldp.data.reading import Reading
from rldp.data.sources import reading
from rldp.errors import DataFileError

__all__ = ["Columns", "Part", "read_parts"]

_ROWS = 2**16  # of a Parquet file, in one part


@dataclass(frozen=True)
class Columns:
    """The needed columns of the data: to read, to keep unchanged, and one that identifies people."""

    reading: Reading
    keep: tuple[str, ...]
    id: str | None = None

    @property
    def names(self) -> list[str]:
        ids = () if self.id is None else (self.id,)
        return list(dict.fromkeys((*self.reading.names, *self.keep, *ids)))

    @property
    def alphabets(self) -> dict[str, Alphabet]:
        return {column.name: alphabet_of(column) for column in self.reading.columns}

    def places(self, header: Sequence[Any], source: object) -> dict[str, int]:
        """Locate each column in a header, where it must occur once and have the right name."""
        places = require_columns(list(header), self.names, source)
        require_distinct(places)
        require_headers(self.reading.columns, lambda column: str(header[places[column]]), source)
        return places

    def named(self, header: Sequence[str], places: Mapping[str, int]) -> Columns:
        """Return the same columns by their names in a header."""
        name = {column: header[place] for column, place in places.items()}
        secret, given, value = (
            tuple(replace(column, name=name[column.name], header=None) for column in columns)
            for columns in (self.reading.secret, self.reading.given, self.reading.value)
        )
        reading = replace(self.reading, secret=secret, given=given, value=value)
        return Columns(reading, tuple(map(name.__getitem__, self.keep)), self.id and name[self.id])


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive rows: the columns that are read, in order, and those to keep.

    ``share`` is the part of the file read so far, ``ids`` the column that identifies people, if requested.
    """

    columns: list[Encoded]
    kept: list[Any]
    share: float
    ids: Any = None


def read_parts(layout: Located, columns: Columns, *, typed: bool) -> tuple[list[Any], Iterator[Part]]:
    """Return the Arrow fields of the columns to keep, and all parts of a file in order.

    If ``typed``, columns kept from a CSV file get types that fit all of their entries, for which the file is
    read twice; else they are unchanged bytes.
    """
    source, alphabets = layout.source, columns.alphabets
    require_headers(columns.reading.columns, layout.name, source)
    code = encode if source.parquet else encode_texts
    with reading(source):
        kept, batches = (
            _parquet_rows(layout, columns) if source.parquet else _csv_rows(layout, columns, typed)
        )

    def parts() -> Iterator[Part]:
        with reading(source):
            for batch, cells, share in batches:
                read = [code(column_name(c, source), batch.column(c), a) for c, a in alphabets.items()]
                yield Part(read, cells, share, None if columns.id is None else batch.column(columns.id))
            source.require_unchanged()

    return kept, parts()


_Rows: TypeAlias = Iterator[tuple[Any, list[Any], float]]
"""Batches of the columns as requested, the entries to keep, and the share of the file read so far."""


def _parquet_rows(layout: Located, columns: Columns) -> tuple[list[Any], _Rows]:
    source, names = layout.source, [layout.name(column) for column in columns.names]
    schema = arrow.parquet.read_schema(source.path)
    total = max(1, sum(arrow.parquet.read_metadata(path).num_rows for path in source.paths))

    def rows() -> _Rows:
        done = 0
        for path in source.paths:
            with arrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
                for batch in file.iter_batches(_ROWS, columns=names):
                    done += batch.num_rows
                    chosen = layout.chosen(batch, columns.names)
                    yield chosen, [chosen.column(name) for name in columns.keep], done / total

    return [schema.field(layout.places[column]).remove_metadata() for column in columns.keep], rows()


def _csv_rows(layout: Located, columns: Columns, typed: bool) -> tuple[list[Any], _Rows]:
    source, keep = layout.source, columns.keep
    for column, alphabet in columns.alphabets.items():
        alphabet.require_readable(column_name(column, source))
    types = _fitting_types(layout, keep) if typed else [arrow.binary()] * len(keep)
    texts = [*columns.alphabets, *([] if columns.id is None else [columns.id])]
    read = {layout.number(column): arrow.string() for column in texts}
    batches, file = open_csv(source, read, layout.numbers)
    kept = _kept(layout, keep, arrow.string() if typed else arrow.binary()) if keep else None

    def rows() -> _Rows:
        with file.parsed():
            for batch in batches:
                beside = next(kept, None) if kept else batch
                if beside is None or beside.num_rows != batch.num_rows:
                    raise DataFileError(f"{source} must not change while it is read, but it did")
                cells = [
                    beside.column(layout.number(c)).cast(kind) for c, kind in zip(keep, types, strict=True)
                ]
                yield batch.rename_columns(texts), cells, min(1.0, file.position() / source.size)

    return [arrow.field(layout.name(c), kind) for c, kind in zip(keep, types, strict=True)], rows()


def _kept(layout: Located, columns: Sequence[str], kind: Any) -> Iterator[Any]:
    """Return batches of columns to keep, with the rows of those of the columns that are read."""
    types = {layout.number(column): kind for column in columns}
    return iter(open_csv(layout.source, types, layout.numbers, nulls=[""])[0])


def _fitting_types(layout: Located, columns: Sequence[str]) -> list[Any]:
    """Return the types that fit all entries of the columns."""
    kinds = [FittingType() for _ in columns]
    for batch in _kept(layout, columns, arrow.string()) if columns else ():
        for column, kind in zip(columns, kinds, strict=True):
            kind.see(batch.column(layout.number(column)))
    return [kind.type for kind in kinds]
