"""The structured interior-point engine: many problems of one shape in, strictly private iterates out."""

from rldp.designer.engine.path import Progress, Solution, solve

__all__ = ["Progress", "Solution", "solve"]
