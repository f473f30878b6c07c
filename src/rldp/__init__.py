"""Publish a column without leaking another: robust local differential privacy.

Docstrings refer to pages such as ``docs/theory.md``, which the source distribution contains. ``rldp --help``
lists the commands. ``rldp verify`` says what a protocol file proves, what it assumes and what it does not
promise.

>>> import rldp
>>> sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], secrets=["ill", "well"])
>>> design = rldp.design(sample, epsilon=1.0, privacy=rldp.ChiSquare(alpha=0.05))
>>> design.protocol.outputs
(0, 1, 2)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from rldp._version import __version__ as __version__

if _TYPE_CHECKING:  # for type checkers; at run time each name is imported when it is first used
    from rldp.adviser.compare import Compared as Compared, Comparison as Comparison, compare as compare
    from rldp.adviser.frontier import (
        Frontier as Frontier,
        FrontierPoint as FrontierPoint,
        frontier as frontier,
    )
    from rldp.adviser.least import LeastDesign as LeastDesign, least_epsilon as least_epsilon
    from rldp.adviser.plan import Plan as Plan, PlanRow as PlanRow, plan as plan
    from rldp.auditor.confirmation import (
        Confirmation as Confirmation,
        confirm as confirm,
        confirm_chain as confirm_chain,
    )
    from rldp.auditor.new_data import Audit as Audit, Membership as Membership, audit as audit
    from rldp.auditor.released_rows import ReleaseAudit as ReleaseAudit, audit_release as audit_release
    from rldp.chain import Chain as Chain, Earlier as Earlier, Stage as Stage
    from rldp.designer.api import design as design, design_batch as design_batch
    from rldp.designer.designs import Batch as Batch, ColumnCost as ColumnCost, Design as Design
    from rldp.designer.engine import Progress as Progress, Settings as Settings
    from rldp.designer.status import BatchStatus as BatchStatus, Reason as Reason, Status as Status
    from rldp.errors import (
        DataError as DataError,
        DataFileError as DataFileError,
        FewerBinsWarning as FewerBinsWarning,
        FileError as FileError,
        GapWarning as GapWarning,
        InvalidArgument as InvalidArgument,
        InvalidArgumentType as InvalidArgumentType,
        KeptColumnsWarning as KeptColumnsWarning,
        KeyFileWarning as KeyFileWarning,
        MissingDependency as MissingDependency,
        NotEnoughMemory as NotEnoughMemory,
        NotProved as NotProved,
        PriceWarning as PriceWarning,
        ProtocolFileError as ProtocolFileError,
        RldpError as RldpError,
        RldpWarning as RldpWarning,
        SparseTableWarning as SparseTableWarning,
        UnseenSecretWarning as UnseenSecretWarning,
    )
    from rldp.estimator.api import estimate as estimate
    from rldp.estimator.estimates import Estimate as Estimate
    from rldp.estimator.released import Released as Released
    from rldp.estimator.sharpening import sharpen as sharpen
    from rldp.gate.release import release_file as release_file
    from rldp.judge import Verdict as Verdict, verify as verify
    from rldp.measures.association import Association as Association, associations as associations
    from rldp.measures.leakage import (
        WorstCase as WorstCase,
        distortion as distortion,
        known_leakage as known_leakage,
        leakage as leakage,
        pair_leakage as pair_leakage,
        worst_case as worst_case,
        worst_case_distortion as worst_case_distortion,
        worst_case_leakage as worst_case_leakage,
    )
    from rldp.measures.posterior import Posterior as Posterior, posterior as posterior
    from rldp.protocol import Certificate as Certificate, Guarantee as Guarantee, Protocol as Protocol
    from rldp.protocol_file.json import load as load
    from rldp.releaser.options import ReleaseOptions as ReleaseOptions, ReleaseResult as ReleaseResult
    from rldp.reporter.page.api import report as report
    from rldp.reporter.page.facts import Report as Report
    from rldp.sample import Sample as Sample
    from rldp.sets import (
        AllDistributions as AllDistributions,
        ChiSquare as ChiSquare,
        Credible as Credible,
        CressieRead as CressieRead,
        GTest as GTest,
        Nominal as Nominal,
        Pairs as Pairs,
        PowerDivergence as PowerDivergence,
        UncertaintySet as UncertaintySet,
    )

_NAMES = {
    "adviser.compare": ["Compared", "Comparison", "compare"],
    "adviser.frontier": ["Frontier", "FrontierPoint", "frontier"],
    "adviser.least": ["LeastDesign", "least_epsilon"],
    "adviser.plan": ["Plan", "PlanRow", "plan"],
    "auditor.confirmation": ["Confirmation", "confirm", "confirm_chain"],
    "auditor.new_data": ["Audit", "Membership", "audit"],
    "auditor.released_rows": ["ReleaseAudit", "audit_release"],
    "chain": ["Chain", "Earlier", "Stage"],
    "designer.api": ["design", "design_batch"],
    "designer.designs": ["Batch", "ColumnCost", "Design"],
    "designer.engine": ["Progress", "Settings"],
    "designer.status": ["BatchStatus", "Reason", "Status"],
    "errors": [
        "DataError",
        "DataFileError",
        "FileError",
        "FewerBinsWarning",
        "GapWarning",
        "InvalidArgument",
        "InvalidArgumentType",
        "KeptColumnsWarning",
        "KeyFileWarning",
        "MissingDependency",
        "NotEnoughMemory",
        "NotProved",
        "PriceWarning",
        "ProtocolFileError",
        "RldpError",
        "RldpWarning",
        "SparseTableWarning",
        "UnseenSecretWarning",
    ],
    "estimator.api": ["estimate"],
    "estimator.estimates": ["Estimate"],
    "estimator.released": ["Released"],
    "estimator.sharpening": ["sharpen"],
    "gate.release": ["release_file"],
    "judge": ["Verdict", "verify"],
    "measures.association": ["Association", "associations"],
    "measures.leakage": [
        "WorstCase",
        "distortion",
        "known_leakage",
        "leakage",
        "pair_leakage",
        "worst_case",
        "worst_case_distortion",
        "worst_case_leakage",
    ],
    "measures.posterior": ["Posterior", "posterior"],
    "protocol": ["Certificate", "Guarantee", "Protocol"],
    "protocol_file.json": ["load"],
    "releaser.options": ["ReleaseOptions", "ReleaseResult"],
    "reporter.page.api": ["report"],
    "reporter.page.facts": ["Report"],
    "sample": ["Sample"],
    "sets": [
        "AllDistributions",
        "ChiSquare",
        "Credible",
        "CressieRead",
        "GTest",
        "Nominal",
        "Pairs",
        "PowerDivergence",
        "UncertaintySet",
    ],
}
_MODULES = ["dask", "sklearn", "spark"]  # not imported with the package: each needs an extra
_HOME = {name: room for room, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"rldp.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'rldp' has no attribute {name!r}")
    value = getattr(_import_module(f"rldp.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
