"""The structured interior-point engine: many problems of one shape in, strictly private iterates out."""

from rldp.designer.engine.path import EngineResult, Progress, Stop, solve
from rldp.designer.engine.settings import Settings

__all__ = ["EngineResult", "Progress", "Settings", "Stop", "solve"]
