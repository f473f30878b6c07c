"""Publish one column without leaking another: robust local differential privacy.

>>> import rldp
>>> sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], secrets=["ill", "well"])
>>> design = rldp.design(sample, epsilon=1.0, privacy=rldp.ChiSquare(alpha=0.05))
>>> design.protocol.outputs
(0, 1, 2)
"""

from rldp import _start

_start.leave_when_interrupted()

from rldp._version import __version__ as __version__
from rldp.auditor.confirmation import Confirmation, confirm, confirm_chain
from rldp.auditor.new_data import Audit, Membership, audit
from rldp.auditor.released_rows import ReleaseAudit, audit_release
from rldp.beliefs import Posterior, posterior
from rldp.certificate import Certificate
from rldp.designer.api import design, design_batch
from rldp.designer.designs import Batch, BatchStatus, Design, Status
from rldp.designer.engine import Progress
from rldp.errors import (
    DataError,
    GapWarning,
    InvalidArgument,
    InvalidArgumentType,
    MissingDependency,
    NotEnoughMemory,
    PriceWarning,
    ProtocolFileError,
    RldpError,
    RldpWarning,
    SparseTableWarning,
    UnseenSecretWarning,
)
from rldp.judge import Verdict, verify
from rldp.measures import WorstCase, distortion, leakage, worst_case, worst_case_leakage
from rldp.protocol import Guarantee, Protocol
from rldp.protocol_file.json import load
from rldp.sample import Sample
from rldp.sets import (
    AllDistributions,
    ChiSquare,
    Credible,
    CressieRead,
    GTest,
    Nominal,
    Pairs,
    PowerDivergence,
    UncertaintySet,
)

_start.allow_interruption()

__all__ = [
    "AllDistributions",
    "Audit",
    "Batch",
    "BatchStatus",
    "Certificate",
    "ChiSquare",
    "Confirmation",
    "Credible",
    "CressieRead",
    "DataError",
    "Design",
    "GTest",
    "GapWarning",
    "Guarantee",
    "InvalidArgument",
    "InvalidArgumentType",
    "Membership",
    "MissingDependency",
    "Nominal",
    "NotEnoughMemory",
    "Pairs",
    "Posterior",
    "PowerDivergence",
    "PriceWarning",
    "Progress",
    "Protocol",
    "ProtocolFileError",
    "ReleaseAudit",
    "RldpError",
    "RldpWarning",
    "Sample",
    "SparseTableWarning",
    "Status",
    "UncertaintySet",
    "UnseenSecretWarning",
    "Verdict",
    "WorstCase",
    "audit",
    "audit_release",
    "confirm",
    "confirm_chain",
    "design",
    "design_batch",
    "distortion",
    "leakage",
    "load",
    "posterior",
    "verify",
    "worst_case",
    "worst_case_leakage",
]
