"""The verdict, in numbers and in words that an auditor can quote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import Protocol as Interface

from rldp._checks import shown
from rldp.errors import InvalidArgument, ProtocolFileError, needs
from rldp.judge.words import distortion_words
from rldp.protocol_file.format import Claim, Document, SetClaim, content_of, parsed

__all__ = ["Verdict", "judged", "verify"]

_RARE, _MOST_RARE = 5, 0.2
_NO_LEVEL = "nothing claimed (ε = ∞)"


class _HasJson(Interface):
    def to_json(self) -> str: ...


@dataclass(frozen=True)
class Verdict:
    """What is proved of a protocol, by the numbers in its file and nothing else.

    Attributes
    ----------
    ok : bool
        Whether every claim of the file is proved.
    epsilon, objective, lower_bound : float, or None
        The claimed numbers, each where it is proved.
    reasons : tuple of str
        Why not ok: a sentence for each claim that is not proved, with the first place where it fails.
    proved : tuple of str
        A sentence for each claim that is proved.
    assumptions : tuple of str
        What the proof rests on and no file can show.
    scope : str, or None
        The distributions that ``epsilon`` holds for, in words; None where nothing is claimed.
    distortion : str, or None
        Which distortion the file is about, in words.
    """

    ok: bool
    epsilon: float | None = None
    objective: float | None = None
    lower_bound: float | None = None
    reasons: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    scope: str | None = None
    distortion: str | None = None

    @property
    def promise(self) -> str:
        """What is proved about privacy: ε, and the distributions without which it says nothing."""
        if self.epsilon is None:
            return "nothing proved"
        return _NO_LEVEL if math.isinf(self.epsilon) else f"ε = {self.epsilon!r} for {self.scope}"

    def __str__(self) -> str:
        parts = [("Refused" if not self.ok else "Proved", self.reasons)]
        parts += [("What is proved" if not self.ok else "", self.proved)]
        parts += [("Assuming", self.assumptions)]
        lines = []
        for heading, sentences in parts:
            lines += [f"{heading}:"] if heading and (sentences or heading == "Proved") else []
            lines += [f"  - {sentence}" for sentence in sentences]
        return "\n".join(lines)


def verify(protocol: str | PathLike[str] | _HasJson) -> Verdict:
    """Check everything that a protocol file claims, trusting nothing that made it.

    From the file alone and in ball arithmetic: rows sum exactly to one; the privacy constraint holds
    for every distribution of the set, whose radius is computed from n, the number of cells and α; the
    objective is not exceeded on the utility set; no private protocol is better than the lower bound.
    See ``docs/theory.md``, 'Two bounds', for why the numbers in the file prove this.

    Parameters
    ----------
    protocol : path, or Protocol

    Returns
    -------
    Verdict

    Raises
    ------
    ProtocolFileError
        If there is no file to read. A file that can be read gets a verdict, whatever is in it.

    Examples
    --------
    >>> import rldp
    >>> design = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), epsilon=1.0)
    >>> verdict = rldp.verify(design.protocol)
    >>> verdict.ok, verdict.epsilon
    (True, 1.0)
    """
    try:
        return judged(_document(protocol))
    except _Unreadable as error:
        return Verdict(False, reasons=(str(error),))


def judged(document: Document) -> Verdict:
    """As :func:`verify`, of a file that was read already."""
    with needs("verifying", "python-flint"):
        import flint
    from rldp.judge.regions import precision

    claim = document.guarantee
    if claim is None:
        return Verdict(False, reasons=("the file claims nothing: it holds a table without a guarantee",))
    with flint.ctx.workprec(precision(claim.privacy, claim.utility)):
        return _judged(document, claim)


class _Unreadable(Exception):
    """There is something, but it is no protocol."""


def _document(protocol: str | PathLike[str] | _HasJson) -> Document:
    if hasattr(protocol, "to_json"):
        try:
            return parsed(protocol.to_json().encode("utf-8"))
        except (InvalidArgument, ProtocolFileError) as error:
            raise _Unreadable(str(error)) from error
    content = content_of(protocol)
    try:
        return parsed(content)
    except ProtocolFileError as error:
        raise _Unreadable(f"the file is no protocol file: {error}") from error


def _judged(document: Document, claim: Claim) -> Verdict:
    from rldp.judge.checks import Case

    case = Case(document, claim)
    rows, privacy = case.rows(), case.privacy()
    objective, lower_bound = case.objective(), case.lower_bound()
    failures = [failure for failure in (rows, privacy, objective, lower_bound) if failure]
    whole = rows is None
    proved = {
        _rows_sentence(): whole,
        _privacy_sentence(document, claim): whole and privacy is None,
        _objective_sentence(document, claim): whole and objective is None,
        _lower_bound_sentence(claim): lower_bound is None,
    }
    return Verdict(
        ok=not failures,
        epsilon=claim.epsilon if whole and privacy is None else None,
        objective=claim.objective if whole and objective is None else None,
        lower_bound=claim.lower_bound if lower_bound is None else None,
        reasons=tuple(failures),
        proved=tuple(sentence for sentence, holds in proved.items() if holds),
        assumptions=_assumptions(claim),
        scope=_scope(claim.privacy) + _except_for(document, claim),
        distortion=distortion_words(document, claim),
    )


def _rows_sentence() -> str:
    return "Every probability is an integer over 2^52, and every row of the table sums to exactly one."


def _privacy_sentence(document: Document, claim: Claim) -> str:
    if math.isinf(claim.epsilon):
        return "Nothing is claimed about privacy (ε = ∞)."
    return (
        f"P(Y=y | S=s1) ≤ e^{claim.epsilon!r} · P(Y=y | S=s2) for all outputs y and secrets s1, s2, "
        f"{_for_all(claim.privacy, claim)}{_except_for(document, claim)}."
    )


def _except_for(document: Document, claim: Claim) -> str:
    """The estimate says nothing about a secret that it does not show."""
    if not _is_estimate(claim.privacy):
        return ""
    unseen = [
        shown(secret) for secret, row in zip(document.secrets, claim.counts, strict=True) if not any(row)
    ]
    return f", and not for secrets that the sample never shows ({', '.join(unseen)})" if unseen else ""


def _objective_sentence(document: Document, claim: Claim) -> str:
    return (
        f"The expected distortion is at most {claim.objective!r}, {_for_all(claim.utility, claim)}, "
        f"where distortion is {distortion_words(document, claim)}."
    )


def _lower_bound_sentence(claim: Claim) -> str:
    return (
        f"No protocol with these outputs that is private in this sense has a largest expected distortion "
        f"below {claim.lower_bound!r}, {_for_all(claim.utility, claim)}."
    )


def _is_estimate(region: SetClaim) -> bool:
    return region.lambda_ is None or region.radius == 0


def _scope(region: SetClaim) -> str:
    """The distributions of a set, in words."""
    if _is_estimate(region):
        return "the estimated distribution only"
    named = {1.0: "χ² test", 2 / 3: "Cressie-Read test", 0.0: "G-test"}
    test = named.get(region.lambda_ or 0.0, f"power-divergence test of order {region.lambda_!r}")
    if region.radius is not None:
        return f"every distribution within radius {region.radius!r} of the estimate, as a {test} measures it"
    return f"every distribution that a {test} at level {region.alpha!r} does not reject"


def _for_all(region: SetClaim, claim: Claim) -> str:
    """The same, with the sample that the set is built on."""
    cells = len(claim.counts) * len(claim.counts[0])
    return f"for {_scope(region)} (sample of {claim.n} rows, {cells} cells)"


def _where_sparse(claim: Claim) -> str:
    """Cochran's rule: the level of a test is not to be relied on if over a fifth of the cells are rare."""
    cells = [count for row in claim.counts for count in row]
    rare = sum(count < _RARE for count in cells)
    if rare <= _MOST_RARE * len(cells):
        return ""
    return f"; here {rare} of {len(cells)} cells were seen fewer than {_RARE} times, and it can be far less"


def _assumptions(claim: Claim) -> tuple[str, ...]:
    given = [
        f"The sample of n = {claim.n} rows was drawn independently from the distribution of the people "
        "who are to be protected."
    ]
    for what, region in (("privacy", claim.privacy), ("utility", claim.utility)):
        if _is_estimate(region):
            given.append(f"For {what}, that distribution is exactly the one the sample shows.")
        elif region.radius is not None:
            given.append(f"For {what}, that distribution lies within the radius that the designer chose.")
        else:
            assert region.alpha is not None
            given.append(
                f"For {what}, that distribution is in the set: over the draw of the sample this has "
                f"probability about {1 - region.alpha:.6g} for large samples, not for every size"
                f"{_where_sparse(claim)}."
            )
    given.append("Outputs are drawn with exactly these probabilities, with fresh randomness for every row.")
    given.append(
        "The released column is judged alone: what is published beside it, or released again of the same "
        "people, is not covered."
    )
    return tuple(given)
