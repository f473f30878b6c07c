"""A contingency table as a data frame: counts in its cells, labels beside and above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rldp._common.checks import Label
from rldp.data.texts import labels_of_texts

__all__ = ["taken_apart"]


def taken_apart(table: Any) -> tuple[Any, Iterable[Label] | None, Iterable[Label] | None]:
    """Counts, and the labels of rows and columns where a data frame has them.

    Parameters
    ----------
    table : data frame, or anything else
        A pandas frame has its secrets in the index, as ``pandas.crosstab`` makes it. Frames without an index
        (Polars, PyArrow) have them in the first column, if that holds no numbers. Names of columns that can
        only be texts are read as the header of a CSV file is: as numbers where that loses nothing.

    Returns
    -------
    counts, secrets, values
        What is no frame comes back as it is, without labels.
    """
    if not hasattr(table, "columns"):
        return table, None, None
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return table, None, None
    if nw.dependencies.is_pandas_dataframe(table):
        return table.to_numpy(), _plain(table.index), _plain(table.columns)
    names = frame.columns
    secrets = None
    if names and not frame[names[0]].dtype.is_numeric():
        secrets, names = frame[names[0]].to_list(), names[1:]
    return frame.select(names).to_numpy(), secrets, labels_of_texts(names)


def _plain(index: Any) -> list[Any]:
    """The entries of a pandas index as Python objects."""
    found: list[Any] = index.tolist()
    return found
