"""Options of page one of a report; this module does not need the libraries of reports."""

from __future__ import annotations

from dataclasses import dataclass

from rldp._common.checks import choice
from rldp.errors import InvalidArgumentType

__all__ = ["LANGUAGES", "Cover"]

LANGUAGES = ("en", "de", "fr")


@dataclass(frozen=True)
class Cover:
    """The entries of page one that the caller chooses.

    Attributes
    ----------
    author : str, optional
        The person or office responsible for the report.
    unit : str, optional
        Unit of the published column, such as "years".
    date : str, optional
        Date of the report; by default today.
    language : {"en", "de", "fr"}
        Language of page one; the appendix is in English.
    """

    author: str | None = None
    unit: str | None = None
    date: str | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        for name in ("author", "unit", "date"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise InvalidArgumentType(f"{name} must be text, got {type(given).__name__}")
        choice("language", self.language, LANGUAGES)
