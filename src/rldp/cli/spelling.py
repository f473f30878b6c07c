"""Translate arguments of the library into options of the command.

Messages of the library name Python's arguments: ``show_labels=True shows it``. The command prints
``--show-labels shows it``. Only this module translates.
"""

from __future__ import annotations

import re

__all__ = ["as_options"]

_ARGUMENTS = (
    "after", "again", "allow_absence", "allow_drift", "allow_identifier", "allow_original", "as_earlier",
    "as_secret", "as_value", "bin_width", "bins", "delimiter", "encoding", "expect_sha256", "force", "given",
    "given_known", "id", "ledger", "missing", "missing_distance", "number", "privacy", "rare", "require",
    "show_labels", "text", "unknown", "unproved", "utility", "windows",
)  # fmt: skip
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _ARGUMENTS}
_OPTIONS |= {"epsilon_at_most": "--max-epsilon", "released": "--released-name"}
_NAMES = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"(?<![\w-])({_NAMES})=(?:True|(?=…)|\[?['\"]([^'\"]*)['\"]\]?)?")
_SPOKEN_OF = re.compile(r"(?:^|(?<= ))([a-z]+(?:_[a-z0-9]+)+)(?= )")


def as_options(sentence: str) -> str:
    """Return a sentence of the library with its arguments as options of the command.

    Examples
    --------
    >>> as_options("expect_sha256 must be 64 digits; missing='skip' leaves rows out, unproved=True releases")
    '--expect-sha256 must be 64 digits; --missing skip leaves rows out, --unproved releases'
    """
    typed = _GIVEN.sub(lambda match: " ".join(filter(None, (_OPTIONS[match[1]], match[2]))), sentence)
    return _SPOKEN_OF.sub(lambda match: _OPTIONS.get(match[1], match[1]), typed)
