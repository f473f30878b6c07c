"""Whether a protocol may be released from: decided on the bytes that were read, before any row is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rldp._checks import real_number, shown
from rldp.cli.voice import progress
from rldp.errors import InvalidArgument, NotProved
from rldp.judge import Verdict, judged
from rldp.protocol_file.json import ProtocolFile, read

__all__ = [
    "LARGEST_EPSILON",
    "Conditions",
    "EpsilonAtMost",
    "ExpectSha256",
    "Unproved",
    "admitted",
]

LARGEST_EPSILON = 10.0
"""Above this, an output may be twenty thousand times as likely under one secret as under another."""

Unproved: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unproved", help="Go on even if the file does not prove what it claims, or claims nothing."
    ),
]
EpsilonAtMost: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--epsilon-at-most",
        metavar="E",
        help="Refuse a protocol whose proved ε is larger.",
        show_default=f"{LARGEST_EPSILON:g}",
    ),
]
ExpectSha256: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--expect-sha256", metavar="HEX", help="Refuse a protocol file whose bytes have another SHA-256."
    ),
]


@dataclass(frozen=True)
class Conditions:
    """What a protocol file must meet.

    Attributes
    ----------
    unproved : bool
        Whether it need not prove anything.
    epsilon_at_most : float or None
        The largest ε that it may prove; :data:`LARGEST_EPSILON` by default.
    sha256 : str or None
        The digest that its bytes must have.
    """

    unproved: bool = False
    epsilon_at_most: float | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if self.epsilon_at_most is not None:
            limit = real_number("--epsilon-at-most", self.epsilon_at_most)
            if limit < 0:
                raise InvalidArgument(f"--epsilon-at-most must be at least 0, got {limit!r}")
            if self.unproved:
                raise InvalidArgument(
                    "--epsilon-at-most and --unproved must not be given together: what is unproved has no ε"
                )
        if self.sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", self.sha256):
            raise InvalidArgument(f"--expect-sha256 must be 64 hexadecimal digits, got {shown(self.sha256)}")


def admitted(
    path: Path, conditions: Conditions, *, all_the_same: str = "releases"
) -> tuple[ProtocolFile, Verdict]:
    """A protocol file, and what is proved of it, if it meets the conditions.

    The file is read once: what is returned is what was judged.

    Parameters
    ----------
    path : Path
    conditions : Conditions
    all_the_same : str
        What --unproved does with a file that proves nothing.

    Raises
    ------
    NotProved
        If it does not meet them.
    ProtocolFileError
        If it is no protocol file.
    """
    file = read(path)
    _require_digest(file, conditions)
    with progress("Verifying"):
        verdict = judged(file.document)
    if not conditions.unproved:
        _require_proof(file, verdict, all_the_same)
        _require_level(file, verdict, conditions)
    return file, verdict


def _require_digest(file: ProtocolFile, conditions: Conditions) -> None:
    wanted = conditions.sha256
    if wanted is not None and file.sha256 != wanted.lower():
        raise NotProved(
            f"{file.path} must be the file with SHA-256 {wanted.lower()}, but it has {file.sha256}"
        )


def _require_proof(file: ProtocolFile, verdict: Verdict, all_the_same: str) -> None:
    if file.document.guarantee is None:
        needed, reason = "a privacy level", verdict.reasons[0]
    elif not verdict.ok:
        needed, reason = "what it claims", verdict.reasons[0]
    elif verdict.epsilon is None or math.isinf(verdict.epsilon):
        needed, reason = "a privacy level", "it claims none (ε = ∞)"
    else:
        return
    raise NotProved(f"{file.path} must prove {needed}, but {reason}; --unproved {all_the_same} all the same")


def _require_level(file: ProtocolFile, verdict: Verdict, conditions: Conditions) -> None:
    limit = LARGEST_EPSILON if conditions.epsilon_at_most is None else conditions.epsilon_at_most
    if verdict.epsilon is None or not verdict.epsilon <= limit:
        raise NotProved(
            f"{file.path} must prove a privacy level of at most {limit!r}, but it proves {verdict.promise}; "
            "--epsilon-at-most says what is expected"
        )
