"""Which terms a problem has: a line for each kind of constraint and of objective."""

from __future__ import annotations

from rldp.designer.engine.terms.interface import PrivacyTerm, UtilityTerm
from rldp.designer.engine.terms.pairs import NominalPairs, RobustPairs
from rldp.designer.engine.terms.utility import NominalUtility, RobustUtility
from rldp.designer.engine.terms.windows import NominalWindows, RobustWindows
from rldp.theory.model import DesignProblem

__all__ = ["privacy_term", "utility_term"]


def privacy_term(problem: DesignProblem, *, windows: bool) -> type[PrivacyTerm]:
    """The term that keeps privacy: on every pair of secrets, or by ``windows``."""
    if problem.privacy is None:
        return NominalWindows if windows else NominalPairs
    return RobustWindows if windows else RobustPairs


def utility_term(problem: DesignProblem) -> type[UtilityTerm]:
    """The term of the objective."""
    return NominalUtility if problem.utility is None else RobustUtility
