"""Reading of tables, and the statistics for figures and claims."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.errors import DataFileError
from rldp.paper.work import COLUMNS
from rldp.theory.model import Floats

__all__ = ["Results", "Summary", "finite", "outliers", "read", "summary"]

_TEXT = ("problem", "solver")


@dataclass(frozen=True, eq=False)
class Results:
    """A table of designs, or some of its rows, as columns.

    The columns are those of the file: ``n``, ``alpha_privacy``, ``alpha_utility``, ``instance``,
    ``problem``, ``solver``, ``objective``, ``lower_bound``, ``leakage`` (ε*), ``distortion`` (D*) and
    ``covered`` (whether P* ∈ F: 1 or 0). NaN stands for an empty field.
    """

    columns: dict[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["n"])

    def where(self, **wanted: object) -> Results:
        """Return the rows where each named column has the given value."""
        mask = np.ones(len(self), dtype=bool)
        for name, value in wanted.items():
            mask &= self[name] == value
        return self.rows(mask)

    def rows(self, mask: NDArray[np.bool_]) -> Results:
        """Return the rows selected by ``mask``."""
        return Results({name: column[mask] for name, column in self.columns.items()})


def read(path: Path) -> Results:
    """Read a table.

    Raises
    ------
    DataError
        If the file is not such a table.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            names = next(rows)
            where = [names.index(name) for name in COLUMNS]
            columns = list(zip(*([row[i] for i in where] for row in rows), strict=True))
        if not columns:
            raise ValueError("it has no rows")
        return Results(
            {
                name: np.array(column) if name in _TEXT else np.array([float(x or "nan") for x in column])
                for name, column in zip(COLUMNS, columns, strict=True)
            }
        )
    except (OSError, ValueError, IndexError, StopIteration) as error:
        raise DataFileError(f"{path} must be a table of designs, but: {error}") from error


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation after the 1.5·IQR rule.

    Attributes
    ----------
    mean, deviation : float
        NaN if nothing is left.
    infinite : int
        Number of infinite values, which are removed first.
    outliers : int
        Number of finite values removed by the rule.
    """

    mean: float
    deviation: float
    infinite: int
    outliers: int


def summary(values: Floats) -> Summary:
    """Summarise values without infinities and without outliers by the 1.5·IQR rule.

    Examples
    --------
    >>> summary(np.array([1.0, 2.0, 3.0, 2.0, 100.0, np.inf]))
    Summary(mean=2.0, deviation=0.816496580927726, infinite=1, outliers=1)
    """
    bounded = finite(values)
    outside = outliers(bounded)
    kept = bounded[~outside]
    return Summary(
        mean=float(kept.mean()) if len(kept) else float("nan"),
        deviation=float(kept.std(ddof=1)) if len(kept) > 1 else 0.0 * len(kept),
        infinite=int(np.isinf(values).sum()),
        outliers=int(outside.sum()),
    )


def finite(values: Floats) -> Floats:
    """Return the finite values."""
    return values[np.isfinite(values)]


def outliers(values: Floats) -> NDArray[np.bool_]:
    """Return the mask of finite values outside [Q1 − 1.5·IQR, Q3 + 1.5·IQR]."""
    if len(values) == 0:
        return np.zeros(0, dtype=bool)
    low, high = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (high - low)
    return np.asarray((values < low - reach) | (values > high + reach))
