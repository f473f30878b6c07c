"""Decide whether a protocol may be released from, on the bytes read from its file and before any row is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from rldp._common.checks import level_number, shown
from rldp.errors import InvalidArgument, InvalidArgumentType, NotProved
from rldp.judge import Verdict, judged, verify
from rldp.protocol import Protocol
from rldp.protocol_file.json import ProtocolFile, read
from rldp.releaser.options import ReleaseOptions
from rldp.sets import LARGEST_ALPHA, NAMED, Credible, PowerDivergence, UncertaintySet, name_of, prior_words

__all__ = ["LARGEST_EPSILON", "Admitted", "admitted", "admitted_protocol"]

LARGEST_EPSILON = 10.0
"""Above this, an output may be twenty thousand times as likely under one secret as under another."""

_USUAL_ALPHA = 0.05  # of a requirement that names a promise and no level
_RELEASES = "unproved=True releases"
_LEVELLESS = ("all", "nominal")
_USUAL_PRIORS = ("adaptive", 0.5)


def _require_conditions(options: ReleaseOptions) -> None:
    """Refuse conditions that no protocol can meet, or that contradict each other."""
    if options.epsilon_at_most is not None:
        level_number("epsilon_at_most", options.epsilon_at_most)
        if options.unproved:
            raise InvalidArgument(
                "epsilon_at_most and unproved=True must not be given together: an unproved protocol has no ε"
            )
    sha256 = options.expect_sha256
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise InvalidArgument(f"expect_sha256 must be 64 hexadecimal digits, got {shown(sha256)}")
    if _accepted(options) and options.unproved:
        raise InvalidArgument(
            "require= and unproved=True must not be given together: an unproved protocol promises nothing"
        )


def _accepted(options: ReleaseOptions) -> dict[str, float]:
    """Return the largest accepted α of each promise; none if any promise is accepted."""
    asked = (options.require,) if isinstance(options.require, str) else options.require
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
    path: str | PathLike[str], options: ReleaseOptions, *, all_the_same: str = _RELEASES
) -> tuple[ProtocolFile, Verdict]:
    """Return a protocol file and its verdict, if it meets the conditions of the options.

    The file is read only once, so the returned protocol is the one that was judged. ``all_the_same`` tells
    in the message what admits a file that proves nothing.

    Raises
    ------
    NotProved
        If the file does not meet the conditions.
    ProtocolFileError
        If it is not a protocol file.
    """
    _require_conditions(options)
    file = read(path)
    _require_digest(file.path, file.sha256, options)
    verdict = judged(file.document)
    if not options.unproved:
        _require_proof(file.path, file.protocol, verdict, options, all_the_same)
    return file, verdict


def admitted_protocol(protocol: Protocol | str | PathLike[str], options: ReleaseOptions) -> Admitted:
    """Return the protocol to release from, if it meets the conditions of the options.

    A protocol with a claim must prove it, whether it comes from a file or from memory. One in memory without
    a claim is accepted as it is, as in :meth:`rldp.Protocol.release`. A protocol in memory is immutable, so
    it is judged only once.
    """
    _require_conditions(options)
    if not isinstance(protocol, Protocol):
        if not isinstance(protocol, str | PathLike):
            raise InvalidArgumentType(
                f"protocol must be an rldp.Protocol or the path of a file, got {shown(protocol)}"
            )
        file, of_file = admitted(protocol, options)
        return Admitted(file.protocol, of_file, file.sha256)
    _require_digest("protocol", protocol.sha256, options)
    verdict = None
    if protocol.guarantee is None:
        if options.epsilon_at_most is not None or _accepted(options):
            raise NotProved("protocol must prove a privacy level, but it claims none")
    elif not options.unproved:
        kept: dict[str, Any] = vars(protocol)
        if "_verdict" not in kept:
            kept["_verdict"] = verify(protocol)
        verdict = kept["_verdict"]
        _require_proof("protocol", protocol, verdict, options, _RELEASES)
    return Admitted(protocol, verdict, protocol.sha256)


def _require_digest(name: str, sha256: str | None, options: ReleaseOptions) -> None:
    wanted = options.expect_sha256
    if wanted is None:
        return
    if sha256 is None:
        raise InvalidArgument("expect_sha256 is for protocols that were read from a file, got another one")
    if sha256 != wanted.lower():
        raise NotProved(f"{name} must be the file with SHA-256 {wanted.lower()}, but it has {sha256}")


def _require_proof(
    name: str, protocol: Protocol, verdict: Verdict, options: ReleaseOptions, all_the_same: str
) -> None:
    if protocol.guarantee is None:
        needed, reason = "a privacy level", verdict.reasons[0]
    elif not verdict.ok:
        needed, reason = "what it claims", verdict.reasons[0]
    elif verdict.epsilon is None or (math.isinf(verdict.epsilon) and verdict.levels is None):
        needed, reason = "a privacy level", "it claims none (ε = ∞)"
    else:
        _require_level(name, verdict, options)
        _require_promise(name, protocol.guarantee.privacy, verdict, options)
        return
    raise NotProved(f"{name} must prove {needed}, but {reason}; {all_the_same} anyway")


def _require_level(name: str, verdict: Verdict, options: ReleaseOptions) -> None:
    limit = LARGEST_EPSILON if options.epsilon_at_most is None else options.epsilon_at_most
    if verdict.epsilon is None or not verdict.epsilon <= limit:
        raise NotProved(
            f"{name} must prove a privacy level of at most {limit!r}, but it proves {verdict.promise}; "
            "epsilon_at_most= sets another limit"
        )


def _require_promise(name: str, privacy: UncertaintySet, verdict: Verdict, options: ReleaseOptions) -> None:
    kind = name_of(privacy)
    of_radius = isinstance(privacy, PowerDivergence) and privacy.radius is not None
    alpha = 0.0 if of_radius else getattr(privacy, "alpha", 0.0)
    if alpha > LARGEST_ALPHA:
        raise NotProved(
            f"{name} must promise more than a coin toss, an α of at most {LARGEST_ALPHA}, but it proves "
            f"{verdict.promise}"
        )
    accepted = _accepted(options)
    if accepted and kind != "all" and not alpha <= accepted.get(kind, -1.0):
        wanted = " or ".join(
            each if each in _LEVELLESS else f"{each} with an α of at most {most!r}"
            for each, most in accepted.items()
        )
        raise NotProved(f"{name} must promise {wanted}, as require= asks, but it proves {verdict.promise}")
    if accepted and isinstance(privacy, Credible) and privacy.prior not in _USUAL_PRIORS:
        raise NotProved(
            f"{name} must have the adaptive prior or Dirichlet(0.5), as require= asks, but it has the "
            f"{prior_words(privacy.prior)}, and some priors make any table pass; expect_sha256= in place of "
            "require= accepts this very file"
        )
