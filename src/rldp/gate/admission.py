"""Decide whether a protocol may be released from, on the bytes read from its file and before any row is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import Any

from rldp._common.checks import level_number, shown
from rldp.errors import InvalidArgument, InvalidArgumentType, NotProved
from rldp.judge import Verdict, judged, verify
from rldp.protocol import Protocol
from rldp.protocol_file.json import ProtocolFile, read
from rldp.releaser.options import ReleaseOptions
from rldp.sets import LARGEST_ALPHA, NAMED, UncertaintySet, name_of

__all__ = ["LARGEST_EPSILON", "Admitted", "Conditions", "admitted", "admitted_protocol"]

LARGEST_EPSILON = 10.0
"""Above this, an output may be twenty thousand times as likely under one secret as under another."""

_USUAL_ALPHA = 0.05  # of a requirement that names a promise and no level
_RELEASES = "unproved=True releases"
_LEVELLESS = ("all", "nominal")


@dataclass(frozen=True)
class Conditions:
    """The conditions that a protocol file must meet.

    Attributes
    ----------
    unproved : bool
        Whether it may be unproved.
    epsilon_at_most : float or None
        The largest accepted ε; :data:`LARGEST_EPSILON` by default.
    sha256 : str or None
        The SHA-256 that its bytes must have.
    require : str or sequence of str
        Promises, each with the largest accepted α: ``"credible:0.05"``. One of them must be proved. A promise
        for all distributions meets every requirement.
    """

    unproved: bool = False
    epsilon_at_most: float | None = None
    sha256: str | None = None
    require: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.epsilon_at_most is not None:
            level_number("epsilon_at_most", self.epsilon_at_most)
            if self.unproved:
                raise InvalidArgument(
                    "epsilon_at_most and unproved=True must not be given together: an unproved protocol has "
                    "no ε"
                )
        if self.sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", self.sha256):
            raise InvalidArgument(f"expect_sha256 must be 64 hexadecimal digits, got {shown(self.sha256)}")
        if self.accepted and self.unproved:
            raise InvalidArgument(
                "require= and unproved=True must not be given together: an unproved protocol promises nothing"
            )

    @classmethod
    def of(cls, options: ReleaseOptions) -> Conditions:
        """Return the conditions of a release."""
        return cls(options.unproved, options.epsilon_at_most, options.expect_sha256, options.require)

    @property
    def accepted(self) -> dict[str, float]:
        """The largest accepted α of each promise; empty if any promise is accepted."""
        asked = (self.require,) if isinstance(self.require, str) else self.require
        if not isinstance(asked, Sequence):
            raise InvalidArgumentType(f"require must be a list of promises, got {shown(asked)}")
        return dict(map(_requirement, asked))


def _requirement(text: object) -> tuple[str, float]:
    """Parse ``credible:0.05`` into the name of a promise and the largest accepted α."""
    if not isinstance(text, str):
        raise InvalidArgumentType(f"require must hold promises such as 'credible:0.05', got {shown(text)}")
    name, colon, level = text.partition(":")
    try:
        alpha = float(level) if colon else _USUAL_ALPHA
    except ValueError:
        alpha = math.nan
    if name not in NAMED or not 0 < alpha <= LARGEST_ALPHA or (colon and name in _LEVELLESS):
        raise InvalidArgument(
            f"require= must be one of {', '.join(NAMED)}, with a level of at most {LARGEST_ALPHA} where it "
            f"has one, as in credible:0.05, got {shown(text)}"
        )
    return name, alpha


@dataclass(frozen=True, eq=False)
class Admitted:
    """A protocol that may be released from, its verdict and its origin.

    ``verdict`` is None if the protocol was not judged, ``sha256`` if it comes from no file.
    """

    protocol: Protocol
    verdict: Verdict | None
    sha256: str | None


def admitted(
    path: str | PathLike[str],
    conditions: Conditions,
    *,
    all_the_same: str = _RELEASES,
    verifying: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> tuple[ProtocolFile, Verdict]:
    """Return a protocol file and its verdict, if it meets the conditions.

    The file is read only once, so the returned protocol is the one that was judged.

    Parameters
    ----------
    path : path
    conditions : Conditions
    all_the_same : str
        Advice on what admits a file that proves nothing, for the message.
    verifying : callable
        Returns a context in which the judge works.

    Raises
    ------
    NotProved
        If the file does not meet the conditions.
    ProtocolFileError
        If it is not a protocol file.
    """
    file = read(path)
    _require_digest(file.path, file.sha256, conditions)
    with verifying():
        verdict = judged(file.document)
    if not conditions.unproved:
        _require_proof(file.path, file.protocol, verdict, conditions, all_the_same)
    return file, verdict


def admitted_protocol(protocol: Protocol | str | PathLike[str], conditions: Conditions) -> Admitted:
    """Return the protocol to release from, if it meets the conditions.

    A protocol with a claim must prove it, whether it comes from a file or from memory. One in memory without
    a claim is accepted as it is, as in :meth:`rldp.Protocol.release`. A protocol in memory is immutable, so
    it is judged only once.
    """
    if not isinstance(protocol, Protocol):
        if not isinstance(protocol, str | PathLike):
            raise InvalidArgumentType(
                f"protocol must be an rldp.Protocol or the path of a file, got {shown(protocol)}"
            )
        file, verdict = admitted(protocol, conditions)
        return Admitted(file.protocol, verdict, file.sha256)
    _require_digest("protocol", protocol.sha256, conditions)
    if protocol.guarantee is None:
        if conditions.epsilon_at_most is not None or conditions.accepted:
            raise NotProved("protocol must prove a privacy level, but it claims none")
        return Admitted(protocol, None, protocol.sha256)
    if conditions.unproved:
        return Admitted(protocol, None, protocol.sha256)
    verdict = _judged_once(protocol)
    _require_proof("protocol", protocol, verdict, conditions, _RELEASES)
    return Admitted(protocol, verdict, protocol.sha256)


def _judged_once(protocol: Protocol) -> Verdict:
    kept: dict[str, Any] = vars(protocol)
    if "_verdict" not in kept:
        kept["_verdict"] = verify(protocol)
    verdict: Verdict = kept["_verdict"]
    return verdict


def _require_digest(name: str, sha256: str | None, conditions: Conditions) -> None:
    wanted = conditions.sha256
    if wanted is None:
        return
    if sha256 is None:
        raise InvalidArgument("expect_sha256 is for protocols that were read from a file, got another one")
    if sha256 != wanted.lower():
        raise NotProved(f"{name} must be the file with SHA-256 {wanted.lower()}, but it has {sha256}")


def _require_proof(
    name: str, protocol: Protocol, verdict: Verdict, conditions: Conditions, all_the_same: str
) -> None:
    if protocol.guarantee is None:
        needed, reason = "a privacy level", verdict.reasons[0]
    elif not verdict.ok:
        needed, reason = "what it claims", verdict.reasons[0]
    elif verdict.epsilon is None or (math.isinf(verdict.epsilon) and verdict.levels is None):
        needed, reason = "a privacy level", "it claims none (ε = ∞)"
    else:
        _require_level(name, verdict, conditions)
        _require_promise(name, protocol.guarantee.privacy, verdict, conditions)
        return
    raise NotProved(f"{name} must prove {needed}, but {reason}; {all_the_same} anyway")


def _require_level(name: str, verdict: Verdict, conditions: Conditions) -> None:
    limit = LARGEST_EPSILON if conditions.epsilon_at_most is None else conditions.epsilon_at_most
    if verdict.epsilon is None or not verdict.epsilon <= limit:
        raise NotProved(
            f"{name} must prove a privacy level of at most {limit!r}, but it proves {verdict.promise}; "
            "epsilon_at_most= sets another limit"
        )


def _require_promise(name: str, privacy: UncertaintySet, verdict: Verdict, conditions: Conditions) -> None:
    kind = name_of(privacy)
    alpha = getattr(privacy, "alpha", 0.0)
    if kind != "set" and alpha > LARGEST_ALPHA:
        raise NotProved(
            f"{name} must promise more than a coin toss, an α of at most {LARGEST_ALPHA}, but it proves "
            f"{verdict.promise}"
        )
    accepted = conditions.accepted
    if accepted and kind != "all" and not alpha <= accepted.get(kind, -1.0):
        wanted = " or ".join(
            each if each in _LEVELLESS else f"{each} with an α of at most {most!r}"
            for each, most in accepted.items()
        )
        raise NotProved(f"{name} must promise {wanted}, as require= asks, but it proves {verdict.promise}")
