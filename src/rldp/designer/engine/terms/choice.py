"""Which terms a problem has: a line for each kind of constraint and of objective."""

from __future__ import annotations

from rldp.designer.engine.terms.interface import PrivacyTerm, Start, UtilityTerm
from rldp.designer.engine.terms.pairs import NominalPairs, RobustPairs
from rldp.designer.engine.terms.utility import NominalUtility, RobustUtility
from rldp.designer.engine.terms.windows import NominalWindows, RobustWindows
from rldp.theory.namespace import Array

__all__ = ["privacy_term", "utility_term"]


def privacy_term(at: Start, *, windows: bool) -> PrivacyTerm:
    """The constraints: on every pair of secrets, or by ``windows``.

    A constraint beside them is another term: ``Together(term, Another.start(at))``.
    """
    if at.problem.privacy is None:
        return NominalWindows.start(at) if windows else NominalPairs.start(at)
    return RobustWindows.start(at) if windows else RobustPairs.start(at)


def utility_term(at: Start, v: Array) -> UtilityTerm:
    """The objective, for the expected distortion ``v`` (K, |S|U) of each cell."""
    return NominalUtility.start(at, v) if at.problem.utility is None else RobustUtility.start(at, v)
