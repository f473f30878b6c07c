"""Which terms a problem has: a line for each kind of constraint and of objective."""

from __future__ import annotations

import math

from rldp.designer.engine.terms.interface import PrivacyTerm, Start, UtilityTerm
from rldp.designer.engine.terms.known_value import KnownValue
from rldp.designer.engine.terms.pairs import NominalPairs, RobustPairs
from rldp.designer.engine.terms.shared_row import SharedRow
from rldp.designer.engine.terms.together import Together
from rldp.designer.engine.terms.utility import NominalUtility, RobustUtility
from rldp.designer.engine.terms.windows import NominalWindows, RobustWindows
from rldp.theory.namespace import Array

__all__ = ["privacy_term", "utility_term"]


def privacy_term(at: Start, *, windows: bool) -> PrivacyTerm:
    """The constraints: on pairs of secrets, or by ``windows``; and beside them on who knows the value."""
    term = _of_secrets(at, windows)
    if at.problem.epsilon_known == 0:
        return SharedRow(term, at.q.shape[2])
    return term if math.isinf(at.problem.epsilon_known) else Together(term, KnownValue.start(at))


def _of_secrets(at: Start, windows: bool) -> PrivacyTerm:
    if at.problem.privacy is None:
        return NominalWindows.start(at) if windows else NominalPairs.start(at)
    return RobustWindows.start(at) if windows else RobustPairs.start(at)


def utility_term(at: Start, v: Array) -> UtilityTerm:
    """The objective, for the expected distortion ``v`` (K, |S|U) of each cell."""
    return NominalUtility.start(at, v) if at.problem.utility is None else RobustUtility.start(at, v)
