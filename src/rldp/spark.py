"""Release on Spark 4; see :func:`rldp.spark.release`."""

from rldp.clients.spark import release

__all__ = ["release"]
