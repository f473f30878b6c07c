"""The public sample: counts of (secret, value) pairs."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from secrets import randbelow
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._common import html as _html
from rldp._common.checks import Label, count_array, counted, finite_number, kind_name, labels, whole_number
from rldp._common.discrete_laplace import discrete_laplace
from rldp.data.bins import BinCount
from rldp.data.frames import taken_apart
from rldp.data.meaning import Scale
from rldp.data.reading import Reading, Treatment
from rldp.data.wanted import Alphabets, Wanted
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["Sample", "require_exact", "require_no_given"]

_log = logging.getLogger(__name__)
_LEAST_NOISE, _MOST_NOISE = 1e-3, 1e3


@dataclass(frozen=True, init=False, eq=False)
class Sample:
    """Counts of (secret, value) pairs, with their labels.

    Parameters
    ----------
    counts : array_like of int, shape (|S|, |U|), or data frame
        Non-negative, not all zero. A row of zeros is a secret that was never seen. A contingency table such
        as ``pandas.crosstab(rows.sex, rows.age)`` keeps its labels.
    secrets, values : sequence of str, int, float or bool, optional
        Labels of the rows and columns; by default those of the data frame, or 0, 1, 2, …. Values may be
        tuples, an entry for each of several columns that are published together.
    reading : Reading, optional
        The columns that were counted, and how their entries were read. :meth:`from_data` fills this in. A
        protocol designed on the sample stores it in its file.
    skipped : int
        Rows that were left out because an entry was missing.
    scales : tuple of (Scale or None), optional
        For each column of the value, the numbers its labels stand for under squared and absolute distortions.
        Needed for dates, ordered categories, bins and missing entries.
    noise : float, optional
        The ε of the discrete Laplace noise that :meth:`noisy` added, which makes the counts ε-differentially
        private. Noisy counts may be negative: ``noisy_counts`` keeps them, ``counts`` holds zeros in their
        place.
    rows_a_person : int
        With noise, the largest number of rows one person has in the table. The noise of each count has level
        ``noise / rows_a_person``.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If counts are not non-negative integers, or the labels do not fit them.

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
    reading: Reading | None = None
    skipped: int = 0
    scales: tuple[Scale | None, ...] = ()
    noise: float | None = None
    noisy_counts: NDArray[np.int64] | None = None
    rows_a_person: int = 1

    def __init__(
        self,
        counts: Any,
        secrets: Iterable[Label] | None = None,
        values: Iterable[Label] | None = None,
        *,
        reading: Reading | None = None,
        skipped: int = 0,
        scales: tuple[Scale | None, ...] = (),
        noise: float | None = None,
        noisy_counts: Any = None,
        rows_a_person: int = 1,
    ) -> None:
        cells, own_secrets, own_values = taken_apart(counts)
        if noise is None and rows_a_person != 1:
            raise InvalidArgument("rows_a_person must be left out unless the counts have noise")
        if noise is not None:
            noise, rows_a_person = _checked_noise("noise", noise, rows_a_person)
            noisy_counts = count_array(
                "counts", cells if noisy_counts is None else noisy_counts, ndim=2, noisy=True
            )
            cells = np.maximum(noisy_counts, 0)
        array = count_array("counts", cells, ndim=2)
        rows, columns = (
            own_secrets if secrets is None else secrets,
            own_values if values is None else values,
        )
        vars(self).update(
            counts=array,
            secrets=labels("secrets", rows, array.shape[0]),
            values=labels("values", columns, array.shape[1], of_columns=True),
            reading=reading,
            skipped=skipped,
            scales=scales,
            noise=noise,
            noisy_counts=noisy_counts,
            rows_a_person=rows_a_person,
        )

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        secret: str | Sequence[str],
        value: str | Sequence[str],
        secrets: Alphabets = None,
        values: Alphabets = None,
        missing: Treatment = "refuse",
        missing_distance: float | None = None,
        text: Sequence[str] = (),
        number: Sequence[str] = (),
        order: Mapping[str, Sequence[Label]] | None = None,
        bins: BinCount | Mapping[str, BinCount] | None = None,
        bin_width: float | Mapping[str, float] | None = None,
        given: str | Sequence[str] = (),
        rare: int = 1,
        after: Any = (),
        delimiter: str | None = None,
        encoding: str | None = None,
        show_labels: bool = False,
    ) -> Sample:
        """Count the pairs in a CSV or Parquet file, or in a data frame.

        See ``docs/theory.md``, 'Model', for what the sample stands for.

        Parameters
        ----------
        data : path, or data frame (pandas, Polars, PyArrow, …)
            A folder or a pattern such as ``rows/*.parquet`` stands for Parquet files with one schema. "-"
            reads a CSV table from standard input. Workbooks need the extra ``excel``.
        secret : str, or sequence of str
            The column of the secret. Several columns are protected jointly: every combination of their labels
            is a secret, even if it was never seen.
        value : str, or sequence of str
            The column to publish. Several columns are published together: the values are tuples, all
            combinations of their labels in the order of :func:`itertools.product`. A column is given by its
            name or, if no column has that name, by its position: ``"#2"`` is the second.
        secrets, values : sequence, optional
            The labels, in the order wanted. By default the labels found in the data, sorted, at most 1000. A
            given label that is not in the data has count 0; a label in the data that is not given is an
            error. For several columns, pass a mapping from column names to labels. Equal numbers are one
            label, whatever their type. A number and its text are different labels, but entries of a CSV file,
            which have no type, are read as the type of the given labels. Without given labels, a CSV column
            is read as numbers or booleans if that loses nothing (no leading zeros or exponents, at most 15
            digits, one spelling per number), and as text otherwise.
        missing : {"refuse", "skip", "category"}
            How missing entries are treated: "refuse" raises an error, "skip" leaves the row out, "category"
            gives them the label ``(missing)``.
        missing_distance : float, optional
            Distance between the label ``(missing)`` and every other label under a squared or absolute
            distortion. By default the average distance of the known entries from the best constant output.
        text, number : sequence of str
            Columns to read as text, or as numbers, whatever their entries look like.
        order : mapping, optional
            Column → its labels in order. Squared and absolute distortions of a value then count ranks. Dates
            such as 2024-01-31 need no order: distances between them are in days.
        bins : int or "auto", or mapping from columns to these, optional
            Cut the value, a column of numbers, into this many bins with about the same number of rows.
            ``"auto"`` takes the most bins out of 4, 8, 16 and 32 for which at most a fifth of the cells of
            the table were seen fewer than 5 times. For several columns, a mapping from the columns to cut.
        bin_width : float, or mapping from columns to float, optional
            Cut the value into bins of this width. A bin's label is the mean of its entries. A squared or
            absolute distortion of a bin is the average over its entries, so it includes the loss by binning.
        given : str or sequence of str, optional
            Columns that will be published unchanged beside the value. A protocol designed on the sample
            promises ε for these and the released columns together. Values are then tuples: entries of the
            given columns, then of the value. ``values=`` may also list the labels of given columns.
        rare : int
            Merge labels of a given column into ``(other)``, the rarest first, until each label was seen this
            often under every secret; 0 merges none. A label never seen under some secret may reveal it.
        after : sequence of Protocol, or mapping {value column: Protocol}
            Protocols whose outputs are already published, as for :func:`rldp.design`. Their columns are read
            with the labels and bins of these protocols.
        delimiter : str, optional
            The delimiter of a CSV file; ``"tab"`` stands for a tab. By default whichever of comma, semicolon,
            tab and bar yields all the columns.
        encoding : str, optional
            Encoding of a CSV file, such as ``"latin-1"``; UTF-8 by default.
        show_labels : bool
            Show offending values in error messages. They may contain personal data, and messages end
            up in logs.

        Raises
        ------
        DataError
            If the file or a column is missing or empty, or holds nulls or unknown labels. The message names
            the first such row (counted from 1) and how many there are.
        """
        wanted = Wanted.of(
            secret,
            value,
            secrets=secrets,
            values=values,
            text=text,
            number=number,
            missing=missing,
            missing_distance=missing_distance,
            order=order,
            bins=bins,
            bin_width=bin_width,
            kept=given,
            rare=rare,
            known={name: column for protocol in _earlier(after) for name, column in protocol},
        )
        return cls._counted(data, wanted, delimiter, encoding, show_labels)

    @classmethod
    def like(
        cls,
        data: Any,
        reading: Reading,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        show_labels: bool = False,
    ) -> Sample:
        """Count the pairs in new data with the same columns and labels as an earlier sample."""
        return cls._counted(data, Wanted.like(reading), delimiter, encoding, show_labels)

    @classmethod
    def _counted(
        cls, data: Any, wanted: Wanted, delimiter: str | None, encoding: str | None, show_labels: bool
    ) -> Sample:
        from rldp.data.frames import counted_pairs
        from rldp.data.sources import Dialect, Source

        started = time.perf_counter()
        counted = counted_pairs(data, wanted, dialect=Dialect(delimiter, encoding), show_labels=show_labels)
        sample = cls(
            counted.counts,
            counted.reading.secrets,
            counted.reading.values,
            reading=counted.reading,
            skipped=counted.skipped,
            scales=counted.scales,
        )
        seconds, (rows, columns) = time.perf_counter() - started, sample.counts.shape
        source = data if isinstance(data, str | PathLike | Source) else f"a {type(data).__name__}"
        _log.info("counted %s: %d secrets × %d values, %.2g s", source, rows, columns, seconds)
        return sample

    @property
    def given_columns(self) -> tuple[str, ...]:
        """Names of the columns published unchanged beside the value, inside the promise."""
        return () if self.reading is None else self.reading.given_names

    @property
    def scale(self) -> Scale | None:
        """The scale of the value, if it is a single column."""
        return self.scales[0] if len(self.scales) == 1 else None

    def save(self, path: str | PathLike[str]) -> None:
        """Write counts, labels and reading to a JSON file, atomically. :meth:`load` reads it.

        The file contains no rows.
        """
        from rldp.protocol_file.samples import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Sample:
        """Read a sample written by :meth:`save` or ``rldp sample``.

        Raises
        ------
        DataFileError
            If the file is missing, too large, not a sample, or has a version that this library does not know.
        """
        from rldp.protocol_file.samples import load

        return load(path)

    def noisy(self, epsilon: float, *, rows_a_person: int = 1) -> Sample:
        """Return a copy with random noise on the counts, which may be published.

        Every count gets discrete Laplace noise, including cells that were never seen. One row more or less
        changes one count by one, so the noisy table is ε-differentially private, and so is everything
        computed from it. Draw the noise once and use only the noisy sample afterwards. The labels must be
        public: a label that occurs in the table is itself a fact about somebody. See ``docs/theory.md``,
        'Noise on the counts'.

        Parameters
        ----------
        epsilon : float
            From 0.001 to 1000. Smaller is more private.
        rows_a_person : int
            The largest number of rows one person has in the table. A person with M rows changes the counts by
            M in total, so the noise of each count has level ε/M, which must be at least 0.001.

        Returns
        -------
        Sample
            With ``noise`` equal to ``epsilon``, without ``skipped``.

        Raises
        ------
        InvalidArgument
            If the sample already has noise; if it has bins, given columns or a category of missing entries,
            whose labels or distances depend on exact counts; or if the noisy counts sum to zero or less.

        Examples
        --------
        >>> private = Sample([[3000, 1000], [500, 5500]]).noisy(1.0)
        >>> private.noise, private.counts.shape
        (1.0, (2, 2))
        """
        level, most = _checked_noise("epsilon", epsilon, rows_a_person)
        if self.noise is not None:
            raise InvalidArgument(
                f"the sample must have no noise yet, got one with noise of ε = {self.noise!r}"
            )
        reading = self.reading
        if reading is not None and (reading.given or reading.missing == "category"):
            raise InvalidArgument(
                "the sample must have no given columns and no category of missing entries, since its labels "
                "then depend on exact counts"
            )
        binned = reading is not None and any(column.edges is not None for column in reading.value)
        if binned or any(scale is not None and scale.counts for scale in self.scales):
            raise InvalidArgument(
                "the sample must have no bins found in the table, since their distances depend on exact "
                "counts; cut the column into bins before it is read, and name them with values="
            )
        exact = Fraction(level) / most
        counts = np.array([[int(n) + discrete_laplace(exact, randbelow) for n in row] for row in self.counts])
        if counts.sum() <= 0:
            needed = math.ceil(10 * math.sqrt(2 * self.counts.size) * most / level)
            raise InvalidArgument(
                f"nothing is left of the sample: with noise of ε = {level!r}, the counts of "
                f"{self.counts.size} cells sum to zero or less; about {needed} rows would be needed"
            )
        return replace(self, counts=counts, skipped=0, noise=level, rows_a_person=most)

    @property
    def count_noise(self) -> float | None:
        """The level of noise on each count, ``noise / rows_a_person``; None without noise."""
        return None if self.noise is None else self.noise / self.rows_a_person

    @property
    def observed(self) -> NDArray[np.int64]:
        """The counts; with noise, the noisy ones, of which some may be negative."""
        return self.counts if self.noisy_counts is None else self.noisy_counts

    @property
    def n(self) -> int:
        """Number of draws; with noise, the sum of the noisy counts."""
        return int(self.observed.sum())

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The empirical distribution P̂, shape (|S|, |U|)."""
        return np.asarray(self.counts / self.counts.sum())

    def __repr__(self) -> str:
        size = f"{counted('secret', self.secrets)} × {counted('value', self.values)}"
        noise = "" if self.noise is None else f", noise of ε = {self.noise:g}"
        return f"<Sample of {self.n} draws: {size}{noise}>"

    def _repr_html_(self) -> str:
        """Show the counts as a table in notebooks."""
        secrets, values = self.secrets[: _html.MOST_COLUMNS], self.values[: _html.MOST_COLUMNS]
        cells = [
            [str(count) for count in row[: len(values)]] for row in self.observed[: len(secrets)].tolist()
        ]
        cut = ("secrets", len(secrets), len(self.secrets)), ("values", len(values), len(self.values))
        about = "" if self.noise is None else "about "
        table = _html.grid(f"Sample of {about}{self.n} draws", "", values, secrets, cells)
        return f"<div>{table}{_html.shown_of(*cut)}</div>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented
        mine, theirs = ((each.secrets, each.values, each.noise, each.rows_a_person) for each in (self, other))
        return mine == theirs and np.array_equal(self.observed, other.observed)

    def __hash__(self) -> int:
        return hash((self.observed.tobytes(), self.secrets, self.values, self.noise))


def require_no_given(sample: Sample) -> None:
    """Refuse a sample with given columns, which few functions besides :func:`rldp.design` accept."""
    if sample.given_columns:
        raise InvalidArgument(
            f"the sample must have no given columns here, got {', '.join(map(repr, sample.given_columns))}; "
            "rldp.design takes them with privacy='credible' and utility='nominal'"
        )


def require_exact(sample: Sample, name: str = "sample") -> None:
    """Refuse counts with noise where a computation takes them for exact."""
    if sample.noise is not None:
        raise InvalidArgument(
            f"{name} must have exact counts here, got counts with noise of ε = {sample.noise:g}; "
            "rldp.posterior accounts for the noise"
        )


def _earlier(after: Any) -> list[list[tuple[str, Any]]]:
    """List the columns of earlier releases, with their names in the new data and how they were read."""
    if isinstance(after, str) or not isinstance(after, Sequence | Mapping):
        raise InvalidArgumentType(f"after must be a list of protocols, got {kind_name(after)}")
    listed = after.items() if isinstance(after, Mapping) else [(None, given) for given in after]
    columns = []
    for name, given in listed:
        protocol: Any = getattr(given, "protocol", given)  # of a design
        if not hasattr(protocol, "reading"):
            raise InvalidArgumentType(f"after must hold protocols, got {kind_name(given)}")
        reading = protocol.reading
        if reading is None:
            raise InvalidArgument(
                "after must hold protocols that name their columns, as designs on Sample.from_data do"
            )
        if name is not None and len(reading.value) != 1:
            raise InvalidArgument(f"after[{name!r}] must be a protocol of one value column")
        columns.append([(name or column.name, column) for column in reading.value])
    return columns


def _checked_noise(name: str, value: float, rows: int) -> tuple[float, int]:
    level, most = finite_number(name, value), whole_number("rows_a_person", rows, 1, 10**6)
    if not _LEAST_NOISE <= level <= _MOST_NOISE:
        raise InvalidArgument(f"{name} must be from {_LEAST_NOISE:g} to {_MOST_NOISE:g}, got {level!r}")
    if level / most < _LEAST_NOISE:
        raise InvalidArgument(
            f"{name} must be at least {_LEAST_NOISE:g} for each of the rows of a person, got {level!r} for "
            f"{most} rows"
        )
    return level, most
