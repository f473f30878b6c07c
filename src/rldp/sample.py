"""The public sample: how often each pair (secret, value) was seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp import _html
from rldp._checks import Label, count_array, counted, labels

__all__ = ["Sample"]


@dataclass(frozen=True, init=False, eq=False)
class Sample:
    """Counts of (secret, value) pairs, with their labels.

    Parameters
    ----------
    counts : array_like of int, shape (|S|, |U|)
        Non-negative, not all zero. A row of zeros is a secret that was never seen.
    secrets, values : sequence of str, int, float or bool, optional
        Labels of the rows and columns; 0, 1, 2, … by default.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If counts are not non-negative integers, or labels do not fit them.

    Notes
    -----
    The draws are assumed independent and identically distributed; see ``docs/theory.md``, 'Model'.

    Examples
    --------
    >>> sample = Sample([[30, 10], [5, 55]], secrets=["ill", "well"])
    >>> sample.n, sample.values
    (100, (0, 1))
    >>> sample.distribution
    array([[0.3 , 0.1 ],
           [0.05, 0.55]])
    """

    counts: NDArray[np.int64]
    secrets: tuple[Label, ...] = field()
    values: tuple[Label, ...] = field()

    def __init__(
        self,
        counts: ArrayLike,
        secrets: Iterable[Label] | None = None,
        values: Iterable[Label] | None = None,
    ) -> None:
        array = count_array("counts", counts, ndim=2)
        object.__setattr__(self, "counts", array)
        object.__setattr__(self, "secrets", labels("secrets", secrets, array.shape[0]))
        object.__setattr__(self, "values", labels("values", values, array.shape[1]))

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        secret: str,
        value: str,
        secrets: Iterable[Label] | None = None,
        values: Iterable[Label] | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        show_labels: bool = False,
    ) -> Sample:
        """Count the pairs in a CSV or Parquet file, or in any data frame.

        What the sample stands for is in ``docs/theory.md``, 'Model'.

        Parameters
        ----------
        data : path, or data frame (pandas, Polars, PyArrow, …)
            A folder or a pattern such as ``rows/*.parquet`` stands for Parquet files of one schema, "-"
            for a CSV table on standard input; workbooks are read with the extra ``excel``.
        secret, value : str
            Names of the two columns; or their places, ``"#2"`` for the second, if no column is called so.
        secrets, values : sequence, optional
            The alphabets, in the order wanted; by default what the data shows, sorted: at most
            1000 labels. A label that is given but not in the data gets count 0; one in the data but
            not given is an error. Equal numbers are the same label, whatever their type, and a
            number is not its text; but an entry of a CSV file, which has no type, is read as the
            type of the labels that are given. Where none are, the column has the type that fits all
            of it.
        delimiter : str, optional
            The mark between the columns of a CSV file, ``"tab"`` too. By default that of comma, semicolon,
            tab and bar under which the two columns are there.
        encoding : str, optional
            Of a CSV file, such as ``"latin-1"``; UTF-8 by default.
        show_labels : bool
            Whether a message about an entry that is no label may show it. It is somebody's, and
            messages end in logs.

        Raises
        ------
        DataError
            If the file or a column is missing or empty, or holds nulls or unknown labels, with the
            first such row (counted from 1) and how many there are.
        """
        from rldp.data.dialects import Dialect
        from rldp.data.frames import pair_counts

        counts, secret_labels, value_labels = pair_counts(
            data,
            secret=secret,
            value=value,
            secrets=None if secrets is None else labels("secrets", secrets),
            values=None if values is None else labels("values", values),
            dialect=Dialect(delimiter, encoding),
            show_labels=show_labels,
        )
        return cls(counts, secret_labels, value_labels)

    @property
    def n(self) -> int:
        """Number of draws."""
        return int(self.counts.sum())

    @property
    def distribution(self) -> NDArray[np.float64]:
        """P̂, the empirical distribution: (|S|, |U|)."""
        return self.counts / self.n

    def __repr__(self) -> str:
        size = f"{counted('secret', self.secrets)} × {counted('value', self.values)}"
        return f"<Sample of {self.n} draws: {size}>"

    def _repr_html_(self) -> str:
        """The counts as a table, for notebooks."""
        secrets, values = self.secrets[: _html.MOST_COLUMNS], self.values[: _html.MOST_COLUMNS]
        cells = [[str(count) for count in row[: len(values)]] for row in self.counts[: len(secrets)].tolist()]
        cut = ("secrets", len(secrets), len(self.secrets)), ("values", len(values), len(self.values))
        table = _html.grid(f"Sample of {self.n} draws", "", values, secrets, cells)
        return f"<div>{table}{_html.shown_of(*cut)}</div>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented
        mine, theirs = (self.secrets, self.values), (other.secrets, other.values)
        return mine == theirs and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.counts.tobytes(), self.secrets, self.values))
