"""The paper's figures, data files and claims, and one more figure, from one seed.

>>> from rldp.paper import FIGURES
>>> list(FIGURES)
['scatter-small', 'scatter-large', 'leakage-vs-n', 'distortion-vs-n', 'alpha', 'promises']

:func:`reproduce` fills a folder; :func:`check_claims` checks the paper's statements against its tables.
"""

from rldp.paper.claims import Checked, check_claims
from rldp.paper.figures import FIGURES
from rldp.paper.reproduction import Report, reproduce
from rldp.paper.settings import Settings

__all__ = ["FIGURES", "Checked", "Report", "Settings", "check_claims", "reproduce"]
