"""The paper's figures, its data files and its claims, from one seed.

>>> from rldp.experiments import FIGURES
>>> list(FIGURES)
['scatter-small', 'scatter-large', 'leakage-vs-n', 'distortion-vs-n', 'alpha']

:func:`reproduce` fills a folder; :func:`check_claims` judges the paper's statements by what is in it.
"""

from rldp.experiments.claims import Checked, check_claims
from rldp.experiments.figures import FIGURES
from rldp.experiments.reproduction import Report, reproduce
from rldp.experiments.settings import Settings

__all__ = ["FIGURES", "Checked", "Report", "Settings", "check_claims", "reproduce"]
