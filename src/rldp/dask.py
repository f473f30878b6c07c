"""Release on Dask; see :func:`rldp.dask.release`."""

from rldp.clients.dask import release

__all__ = ["release"]
