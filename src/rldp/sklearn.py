"""Release as a step of a scikit-learn pipeline; see :class:`rldp.sklearn.ReleaseTransformer`."""

from rldp.clients.sklearn import ReleaseTransformer

__all__ = ["ReleaseTransformer"]
