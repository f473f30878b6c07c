"""The judge: a protocol file in, a verdict out. It uses the file and the theorems, but no solver."""

from rldp.judge.verdict import Verdict, judged, verify

__all__ = ["Verdict", "judged", "verify"]
