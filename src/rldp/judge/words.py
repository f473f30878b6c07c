"""Which distortion a file is about, in words. The file has the table alone; its labels tell the rest."""

from __future__ import annotations

from collections.abc import Callable

from rldp._checks import Label
from rldp.protocol_file.format import Claim, Document, Table

__all__ = ["distortion_words"]


def _squared(u: Label, y: Label) -> float:
    difference = float(u) - float(y)
    return difference * difference


_KNOWN: dict[str, Callable[[Label, Label], float]] = {
    "(u − y)²": _squared,
    "|u − y|": lambda u, y: abs(float(u) - float(y)),
    "1 if y ≠ u, else 0": lambda u, y: float(u != y),
}


def distortion_words(document: Document, claim: Claim) -> str:
    """The formulas that give every entry of the table exactly, or from where to where it goes."""
    table = claim.distortion
    entries = [entry for row in table for entry in row]
    if not any(entries):
        return "d(u, y) = 0 whatever u and y are, so that it measures nothing"
    names = [name for name, formula in _KNOWN.items() if _tabulated(formula, document) == table]
    if names:
        return f"d(u, y) = {' = '.join(names)}"
    return f"the table d(u, y) in the file, which goes from {min(entries)!r} to {max(entries)!r}"


def _tabulated(formula: Callable[[Label, Label], float], document: Document) -> Table | None:
    """The formula at every value and output; None where it makes no sense of the labels."""
    names = (*document.values, *document.outputs)
    if formula is not _KNOWN["1 if y ≠ u, else 0"] and any(isinstance(label, str) for label in names):
        return None
    try:
        return [[formula(u, y) for y in document.outputs] for u in document.values]
    except OverflowError:  # an integer that no float holds
        return None
