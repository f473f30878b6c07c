"""The structured interior-point engine: many problems of one shape in, strictly private iterates out."""

from rldp.solver.path import Progress, Solution, solve

__all__ = ["Progress", "Solution", "solve"]
