"""The paper's figures, its data files and its claims, and a figure beyond it, from one seed.

>>> from rldp.paper import FIGURES
>>> list(FIGURES)
['scatter-small', 'scatter-large', 'leakage-vs-n', 'distortion-vs-n', 'alpha', 'promises']

:func:`reproduce` fills a folder; :func:`check_claims` judges the paper's statements by what is in it.
"""

from rldp.paper.claims import Checked, check_claims
from rldp.paper.figures import FIGURES
from rldp.paper.reproduction import Report, reproduce
from rldp.paper.settings import Settings

__all__ = ["FIGURES", "Checked", "Report", "Settings", "check_claims", "reproduce"]
