"""The kinds of privacy term, which all answer to the same names."""

from __future__ import annotations

from typing import TypeAlias

from rldp.designer.engine.terms.pairs import NominalCurvature, NominalPrivacy, RobustCurvature, RobustPrivacy
from rldp.designer.engine.terms.windows import (
    NominalWindows,
    NominalWindowsCurvature,
    RobustWindows,
    RobustWindowsCurvature,
)

__all__ = ["PrivacyCurvature", "PrivacyTerm"]

PrivacyTerm: TypeAlias = NominalPrivacy | RobustPrivacy | NominalWindows | RobustWindows
PrivacyCurvature: TypeAlias = (
    NominalCurvature | RobustCurvature | NominalWindowsCurvature | RobustWindowsCurvature
)
