"""PyArrow, imported when one of its names is first used, so that importing the package stays quick."""

from importlib import import_module
from typing import Any

from rldp._common.process import needs

_MODULES = ("compute", "csv", "parquet", "types")


def __getattr__(name: str) -> Any:
    with needs("reading files", "pyarrow"):
        parent = import_module("pyarrow")
        found = import_module(f"pyarrow.{name}") if name in _MODULES else getattr(parent, name)
    globals()[name] = found
    return found
