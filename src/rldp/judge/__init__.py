"""The judge: a protocol file in, a verdict out. Knows the file and the theorems, nothing of any solver."""

from rldp.judge.verdict import Verdict, judged, verify

__all__ = ["Verdict", "judged", "verify"]
