"""Counts of released rows, the input of estimates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import Label, shown
from rldp.data.bins import alphabet_of
from rldp.data.columns import encode, kind_of
from rldp.data.frames import columns as columns_of
from rldp.data.headers import located
from rldp.data.labels import HOW_TO_SHOW, Alphabet, Encoded, Faults, count_pairs
from rldp.data.readers import Columns, read_parts
from rldp.data.reading import Column, Reading
from rldp.data.rows import rows_of, with_missing_labelled
from rldp.data.sources import Dialect, Source, opened
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol, require_protocol

__all__ = ["Released"]

_TOO_MANY = 2**53


@dataclass(frozen=True, init=False, eq=False)
class Released:
    """Counts of released outputs, by secret if the secrets are known.

    Parts of a stream can be counted separately and added with ``+``.

    Parameters
    ----------
    counts : array_like of int, shape (|Y|,) or (|S|, |Y|); or mapping from outputs to integers
        Number of rows of each output, or of each secret and output. Not all zero.
    protocol : Protocol
        The protocol of the rows.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If counts are not non-negative integers that fit the protocol.

    Examples
    --------
    >>> coin = Protocol([[[0.75, 0.25], [0.25, 0.75]]], values=["no", "yes"], outputs=["no", "yes"])
    >>> (Released([60, 40], coin) + Released({"yes": 5}, coin)).counts
    array([60, 45])
    """

    counts: NDArray[np.int64]
    protocol: Protocol = field(repr=False)

    def __init__(self, counts: ArrayLike | Mapping[Label, int], protocol: Protocol) -> None:
        require_protocol(protocol)
        object.__setattr__(self, "protocol", protocol)
        object.__setattr__(self, "counts", _checked(counts, protocol))

    @classmethod
    def from_columns(cls, released: Any, protocol: Protocol, *, secrets: Any = None) -> Released:
        """Count a column of outputs, by secret if the secrets are given.

        Parameters
        ----------
        released, secrets : list, NumPy array, pandas or Polars series, or Arrow array
            Columns of equal length with labels of the protocol. Missing entries are the label ``(missing)``,
            if there is one.

        Raises
        ------
        DataError
            If there is no row, or entries are missing or are not labels of the protocol, with the first such
            row (counted from 1) and how many there are.
        """
        given = {"released": released} if secrets is None else {"secrets": secrets, "released": released}
        for name, column in given.items():
            kind_of(name, column)
        if secrets is not None and len(secrets) != len(released):
            raise DataError(
                f"secrets must have as many rows as released, {len(released)}, got {len(secrets)}"
            )
        if len(released) == 0:
            raise DataError("released must hold at least one row, got none")
        names = {"secrets": protocol.secrets, "released": protocol.outputs}
        encoded = [
            with_missing_labelled(encode(name, column, Alphabet(names[name])))
            for name, column in given.items()
        ]
        _refuse(Faults().and_in(*encoded), protocol)
        return cls(
            _tallied(encoded[-1].codes, None if secrets is None else encoded[0].codes, protocol), protocol
        )

    @classmethod
    def from_data(
        cls,
        data: Any,
        protocol: Protocol,
        *,
        released: str | Sequence[str] | None = None,
        secret: str | Sequence[str] | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        show_labels: bool = False,
    ) -> Released:
        """Count released columns of a data frame, or of a CSV or Parquet file of any size in batches.

        Parameters
        ----------
        data : path, or data frame (pandas, Polars, PyArrow, …)
            A file as for :meth:`rldp.Sample.from_data`.
        protocol : Protocol
        released : str or sequence of str, optional
            The columns of outputs, one for each value column of the protocol and in their order; by default
            the columns with the same names.
        secret : str or sequence of str, optional
            The columns of the secret, if known.
        delimiter, encoding, show_labels
            As for :meth:`rldp.Sample.from_data`.

        Raises
        ------
        DataError
            If the file or a column is missing or empty, or holds nulls or unknown labels.
        """
        require_protocol(protocol)
        reading = _reading(protocol, released, secret)
        faults, total = Faults(show_labels=show_labels), np.zeros(0, dtype=np.int64)
        with _parts(data, reading, Dialect(delimiter, encoding)) as (source, parts):
            for columns in parts:
                faults, counts = _counted(reading, columns, faults, protocol)
                total = counts if not total.size else total + counts
            _refuse(faults, protocol, advice=HOW_TO_SHOW)
            if not faults.rows:
                raise DataError(f"{source} must hold at least one row, got none")
        return cls(total, protocol)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def knows_secrets(self) -> bool:
        """Whether rows are counted by secret."""
        return self.counts.ndim == 2

    def __add__(self, other: object) -> Released:
        if not isinstance(other, Released):
            return NotImplemented
        mine, theirs = ((p.secrets, p.values, p.outputs) for p in (self.protocol, other.protocol))
        if mine != theirs or not np.array_equal(self.protocol.matrix, other.protocol.matrix):
            raise InvalidArgument(
                "released rows must be of one protocol to be added up; give rldp.estimate a list of them "
                "otherwise"
            )
        if self.knows_secrets != other.knows_secrets:
            raise InvalidArgument(
                "released rows must both have secrets, or neither, to be added up; "
                "give rldp.estimate a list of them otherwise"
            )
        return Released(self.counts + other.counts, self.protocol)

    def __repr__(self) -> str:
        known = " with their secrets" if self.knows_secrets else ""
        return f"<Released: {self.n} rows{known}, {len(self.protocol.outputs)} outputs>"


@contextmanager
def _parts(
    data: Any, reading: Reading, dialect: Dialect
) -> Iterator[tuple[str, Iterable[Sequence[Encoded]]]]:
    """Open a table and give its name in messages, and the columns of its parts."""
    if isinstance(data, str | os.PathLike | Source):
        with opened(data, dialect) as source:
            table = located(source, reading.names)
            _, parts = read_parts(table, Columns(reading, ()), typed=False)
            yield str(source), (part.columns for part in parts)
        return
    entries = zip(reading.columns, columns_of(data, reading.names), strict=True)
    yield "data", [[encode(f"column {c.name!r} of data", each, alphabet_of(c)) for c, each in entries]]


def _counted(
    reading: Reading, columns: Sequence[Any], faults: Faults, protocol: Protocol
) -> tuple[Faults, NDArray[np.int64]]:
    """Count some rows; unusable rows are reported and not counted."""
    rows = rows_of(reading, columns, faults)
    good = (rows.secrets >= 0) & (rows.values >= 0)
    outputs: NDArray[np.integer] = rows.values[good]
    places = _places(protocol, reading)
    if places is not None:
        outputs = places[outputs]
        if (unknown := int((outputs < 0).sum())) > 0:
            raise DataError(
                f"released must hold rows that the protocol can release, but {unknown} of {len(outputs)} are "
                "combinations that are no output of it; another protocol may have released them"
            )
    return rows.faults, _tallied(outputs, rows.secrets[good] if reading.secret else None, protocol)


def _tallied(outputs: Any, secrets: Any, protocol: Protocol) -> NDArray[np.int64]:
    if secrets is None:
        return np.bincount(outputs, minlength=len(protocol.outputs))
    return count_pairs(secrets, outputs, (len(protocol.secrets), len(protocol.outputs)))


def _reading(
    protocol: Protocol, released: str | Sequence[str] | None, secret: str | Sequence[str] | None
) -> Reading:
    """Return how a table of released rows is read; no row is left out."""
    own = protocol.reading
    if released is None:
        if own is None:
            raise InvalidArgument(
                "released must name the column of outputs, since the protocol does not name its columns, "
                "got none"
            )
        released = own.row_names
    outputs = _outputs_by_column(protocol)
    chosen = _names("released", released)
    if len(chosen) != len(outputs):
        each = "" if own is None else f", for {', '.join(map(repr, own.row_names))}"
        raise InvalidArgument(f"released must name {len(outputs)} columns{each}, got {len(chosen)}")
    names = _names("secret", secret)
    known = (Column("secret", protocol.secrets),) if own is None else own.secret
    if names and len(names) != len(known):
        raise InvalidArgument(
            f"secret must name {len(known)} columns, one for each of the secret, got {len(names)}"
        )
    columns = tuple(
        Column(name, column.labels, column.edges) for name, column in zip(names, known, strict=False)
    )
    if both := set(chosen) & set(names):
        raise InvalidArgument(f"secret and released must be different columns, got {min(both)!r} for both")
    if len(set(chosen)) < len(chosen):
        raise InvalidArgument("released must name different columns, got one twice")
    missing = "category" if own is not None and own.missing == "category" else "refuse"
    return Reading(columns, tuple(map(Column, chosen, outputs)), missing)


def _outputs_by_column(protocol: Protocol) -> list[tuple[Label, ...]]:
    """Return the distinct outputs of every column."""
    if not isinstance(protocol.outputs[0], tuple):
        return [protocol.outputs]
    rows = (output for output in protocol.outputs if isinstance(output, tuple))
    return [tuple(dict.fromkeys(column)) for column in zip(*rows, strict=True)]


def _places(protocol: Protocol, reading: Reading) -> NDArray[np.int64] | None:
    """Map combinations of the columns' outputs to outputs, −1 if none; return None for a single column."""
    if len(reading.value) == 1:
        return None
    at: dict[Any, int] = {output: y for y, output in enumerate(protocol.outputs)}
    combinations = product(*(column.labels for column in reading.value))
    return np.array([at.get(each, -1) for each in combinations], dtype=np.int64)


def _names(argument: str, given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidArgumentType(
            f"{argument} must be the name of a column, or a list of them, got {shown(given)}"
        )
    return tuple(names)


def _refuse(faults: Faults, protocol: Protocol, *, advice: str = "") -> None:
    """Refuse rows with unknown outputs, which another protocol may have released."""
    foreign = faults.first is not None and "known labels" in faults.first
    which = f"; the protocol has {len(protocol.outputs)} outputs, and another may have released these rows"
    faults.refuse(hint=which if foreign else "", advice=advice)


def _checked(counts: object, protocol: Protocol) -> NDArray[np.int64]:
    outputs, secrets = len(protocol.outputs), len(protocol.secrets)
    if isinstance(counts, Mapping):
        counts = _of_mapping(counts, protocol)
    try:
        array = np.asarray(counts)
    except ValueError as error:
        raise InvalidArgument("counts must be a rectangular table, got rows that differ") from error
    if array.dtype.kind not in "iuf":
        raise InvalidArgumentType(f"counts must hold non-negative integers, got {shown(counts)}")
    if array.shape not in ((outputs,), (secrets, outputs)):
        raise InvalidArgument(
            f"counts must have shape ({outputs},) or ({secrets}, {outputs}), as the protocol has {outputs} "
            f"outputs and {secrets} secrets, got {array.shape}"
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and (array == np.floor(array)).all()):
        raise InvalidArgument("counts must hold non-negative integers, got something else")
    total = float(array.sum(dtype=np.float64))
    if not 0 < total < _TOO_MANY:
        raise InvalidArgument(f"counts must hold from 1 to 2^53 - 1 rows, got {total:g}")
    result = array.astype(np.int64)
    result.setflags(write=False)
    return result


def _of_mapping(counts: Mapping[Any, Any], protocol: Protocol) -> list[Any]:
    for output in counts:
        if output not in protocol.outputs:
            raise InvalidArgument(f"counts must be of outputs of the protocol, got {shown(output)}")
    return [counts.get(output, 0) for output in protocol.outputs]
