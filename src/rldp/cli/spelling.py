"""Translate arguments of the library into options of the command.

Messages of the library name Python's arguments: ``show_labels=True shows it``. The command prints
``--show-labels shows it``. Only this module translates.
"""

from __future__ import annotations

import re

__all__ = ["as_options"]

_OPTIONS = {
    "after": "--after",
    "again": "--again",
    "allow_absence": "--allow-absence",
    "allow_drift": "--allow-drift",
    "allow_identifier": "--allow-identifier",
    "allow_original": "--allow-original",
    "as_earlier": "--as-earlier",
    "as_secret": "--as-secret",
    "as_value": "--as-value",
    "bin_width": "--bin-width",
    "bins": "--bins",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "epsilon_at_most": "--max-epsilon",
    "expect_sha256": "--expect-sha256",
    "force": "--force",
    "given": "--given",
    "given_known": "--given-known",
    "id": "--id",
    "ledger": "--ledger",
    "missing": "--missing",
    "missing_distance": "--missing-distance",
    "number": "--number",
    "privacy": "--privacy",
    "rare": "--rare",
    "released": "--released-name",
    "require": "--require",
    "show_labels": "--show-labels",
    "text": "--text",
    "unknown": "--unknown",
    "unproved": "--unproved",
    "utility": "--utility",
    "windows": "--windows",
}
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
