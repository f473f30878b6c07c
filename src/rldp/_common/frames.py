"""Tables of results as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

from rldp._common.checks import shown
from rldp._common.process import needs
from rldp.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Backend", "Tabular", "frame_of"]

Backend: TypeAlias = Literal["pyarrow", "pandas", "polars"]

_BACKENDS: tuple[Backend, ...] = get_args(Backend)


class Tabular:
    """A result whose numbers form a table."""

    def table(self) -> dict[str, list[Any]]:
        """Return tidy columns by their names."""
        raise NotImplementedError

    @overload
    def to_frame(self, backend: Literal["pyarrow"] = "pyarrow") -> pyarrow.Table: ...
    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def to_frame(self, backend: Literal["polars"]) -> polars.DataFrame: ...
    def to_frame(self, backend: Backend = "pyarrow") -> Any:
        """Return :meth:`table` as a data frame of "pyarrow", "pandas" or "polars"."""
        return frame_of(self.table(), backend)


def frame_of(columns: Mapping[str, Sequence[Any]], backend: Backend) -> Any:
    """Return tidy columns as a data frame of the requested library.

    Parameters
    ----------
    columns : mapping from names to entries, all of one length
    backend : {"pyarrow", "pandas", "polars"}
        PyArrow is always installed; the others must be.

    Raises
    ------
    InvalidArgument
        If the library is none of these.
    MissingDependency
        If it is not installed.

    Examples
    --------
    >>> frame_of({"epsilon": [0.5, 1.0]}, "pyarrow").to_pydict()
    {'epsilon': [0.5, 1.0]}
    """
    if backend not in _BACKENDS:
        raise InvalidArgument(f"backend must be one of {', '.join(_BACKENDS)}, got {shown(backend)}")
    import narwhals as nw
    import pyarrow as pa

    with needs(f"a frame of {backend}", backend):
        __import__(backend)
    plain = {name: _of_one_type(entries) for name, entries in columns.items()}
    return nw.from_arrow(pa.table(plain), backend=backend).to_native()


def _of_one_type(entries: Sequence[Any]) -> Sequence[Any]:
    """Return the entries, all as texts if some are texts and others are not."""
    texts = [isinstance(entry, str) for entry in entries if entry is not None]
    if all(texts) or not any(texts):
        return entries
    return [None if entry is None else str(entry) for entry in entries]
