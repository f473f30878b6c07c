"""The verdict, in numbers and in words that an auditor can quote."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol as Interface

from rldp._common.levels import level_words
from rldp._common.process import needs
from rldp.errors import InvalidArgument, ProtocolFileError
from rldp.judge.level_words import levels_not_promised, levels_promised, levels_sentence
from rldp.judge.words import (
    assumption,
    at_least,
    at_most,
    distortion_words,
    except_for,
    given_the_sample,
    known_not_promised,
    noise_assumption,
    noise_not_promised,
    noise_promised,
    not_promised,
    other_columns,
    proved_set,
    scope,
    table_promised,
)
from rldp.protocol_file.chains import ChainDocument
from rldp.protocol_file.format import (
    Claim,
    CredibleClaim,
    Document,
    EverythingClaim,
    PairsClaim,
    Promise,
    SetClaim,
    document_of,
)
from rldp.protocol_file.reader import content_of

if TYPE_CHECKING:
    from rldp.judge.posterior import Trial

__all__ = ["Verdict", "judged", "verify"]

_log = logging.getLogger(__name__)
_RARE, _MOST_RARE = 5, 0.2
_WHOLE = "Every probability is an integer over 2^52, and every row of the table sums to exactly one."


class _HasJson(Interface):
    def to_json(self) -> str: ...


class _HasProtocol(Interface):
    @property
    def protocol(self) -> _HasJson: ...


@dataclass(frozen=True)
class Verdict:
    """What is proved about a protocol from its file alone.

    Attributes
    ----------
    ok : bool
        Whether every claim of the file is proved.
    epsilon, objective, lower_bound : float, or None
        The claimed numbers; None if not proved.
    epsilon_known : float, or None
        κ, if it is claimed and proved; ∞ if nothing is claimed.
    reasons : tuple of str
        A sentence for each claim that is not proved, with the first place where it fails.
    proved : tuple of str
        A sentence for each claim that is proved.
    assumptions : tuple of str
        The assumptions of the proof, which no file can show.
    not_promised : tuple of str
        What readers might mistake for promises.
    scope : str, or None
        The distributions for which ``epsilon`` holds, in words; None if nothing is claimed.
    distortion : str, or None
        The distortion of the file, in words.
    readable : bool
        Whether the file is a protocol file.
    levels : tuple of tuple of float, or None
        ε of each ordered pair of secrets, if they differ and are proved; ``epsilon`` is then the largest.
    """

    ok: bool
    epsilon: float | None = None
    objective: float | None = None
    lower_bound: float | None = None
    epsilon_known: float | None = None
    reasons: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_promised: tuple[str, ...] = ()
    scope: str | None = None
    distortion: str | None = None
    readable: bool = True
    levels: tuple[tuple[float, ...], ...] | None = None

    @property
    def promise(self) -> str:
        """What is proved about privacy: ε, and the distributions for which it holds."""
        if self.epsilon is None:
            return "nothing proved"
        if math.isinf(self.epsilon) and self.levels is None:
            return "nothing claimed (ε = ∞)"
        return f"{level_words(self.epsilon, self.levels)} for {self.scope}"

    def __str__(self) -> str:
        parts = {
            "Refused": self.reasons,
            "Proved" if self.ok else "What is proved": self.proved,
            "Assuming": self.assumptions,
            "Not promised": self.not_promised,
        }
        shown = {f"{heading}:": sentences for heading, sentences in parts.items() if sentences}
        return "\n".join(
            line
            for heading, sentences in shown.items()
            for line in (heading, *(f"  - {s}" for s in sentences))
        )


def verify(protocol: str | PathLike[str] | _HasJson | _HasProtocol) -> Verdict:
    """Check every claim of a protocol file, without trusting the program that made it.

    The judge uses only the file, exact or interval arithmetic, and draws where a promise is credible. It
    proves that rows sum to exactly one; that the privacy constraint holds for every distribution of the set,
    whose radius follows from n, the number of cells and α; that the objective holds on the utility set; and
    that no protocol that is private for the set is better than the lower bound. See ``docs/theory.md``, 'Two
    bounds', for why the numbers in the file prove this. The radii of sets for pairs of secrets are proved
    again ('Radii for every n'). A posterior risk is tested with fresh draws, so two verdicts on one file may
    quote different counts. A false claim is confirmed with probability at most 1e-9 ('Monte Carlo').

    Parameters
    ----------
    protocol : path, Protocol, or Design

    Returns
    -------
    Verdict

    Raises
    ------
    ProtocolFileError
        If there is no file to read. Every readable file gets a verdict.

    Examples
    --------
    >>> import rldp
    >>> design = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), epsilon=1.0)
    >>> verdict = rldp.verify(design)
    >>> verdict.ok, verdict.epsilon
    (True, 1.0)
    """
    given: Any = getattr(protocol, "protocol", protocol)
    file = None if hasattr(given, "to_json") else content_of(given)
    try:
        document = document_of(given.to_json().encode("utf-8") if file is None else file)
    except (InvalidArgument, ProtocolFileError) as error:
        reason = str(error) if file is None else f"the file is not a protocol file: {error}"
        return Verdict(False, reasons=(reason,), readable=False)
    return judged(document)


def judged(document: Document | ChainDocument) -> Verdict:
    """Judge a document that was already read, as :func:`verify` does."""
    with needs("verifying", "python-flint"):
        from rldp.judge.regions import precision, working_bits

    claim = document.guarantee
    if claim is None:
        return Verdict(False, reasons=("the file claims nothing: it holds a table without a guarantee",))
    started = time.perf_counter()
    if isinstance(document, ChainDocument):
        from rldp.judge.chain_verdict import judged_chain

        verdict = judged_chain(document)
    else:
        assert isinstance(claim, Claim)
        with precision(working_bits(claim.privacy, claim.utility)):
            verdict = _judged(document, claim)
    ruling = "all claims proved" if verdict.ok else f"{len(verdict.reasons)} not proved"  # no label in a log
    _log.info("judged in %.2g s; %s", time.perf_counter() - started, ruling)
    return verdict


def _judged(document: Document, claim: Claim) -> Verdict:
    from rldp.judge.checks import Case

    case = Case(document, claim)
    rows, lower_bound = case.rows(), case.lower_bound()
    whole = rows is None
    radii, risk, excess = _beyond_arithmetic(document, claim, whole)
    privacy = [case.privacy(), radii, _risk_failure("privacy", _not_private(claim), claim.privacy, risk)]
    objective = [case.objective(), _risk_failure("utility", _exceeded(claim), claim.utility, excess)]
    known = case.known()
    private, useful = (whole and not any(reasons) for reasons in (privacy, objective))
    proved = {
        _WHOLE: whole,
        _risk_sentence(_not_private(claim), claim.privacy, risk): private,
        _privacy_sentence(document, claim): whole and privacy[0] is None,
        **({} if claim.levels is None else dict.fromkeys(levels_promised(document, claim), private)),
        _radii_sentence(claim): whole and privacy[1] is None,
        _known_sentence(claim): whole and known is None,
        _risk_sentence(_exceeded(claim), claim.utility, excess): useful,
        _objective_sentence(document, claim): whole and objective[0] is None,
        _lower_bound_sentence(claim): lower_bound is None,
        noise_promised(
            claim.epsilon, claim.noise, is_certain=isinstance(claim.privacy, EverythingClaim)
        ): private,
        table_promised(claim.noise, claim.rows_a_person): True,
    }
    failures = [failure for failure in (rows, *privacy, known, *objective, lower_bound) if failure]
    return Verdict(
        ok=not failures,
        epsilon=claim.epsilon if private else None,
        objective=claim.objective if useful else None,
        lower_bound=claim.lower_bound if lower_bound is None else None,
        reasons=tuple(failures),
        proved=tuple(sentence for sentence, holds in proved.items() if sentence and holds),
        assumptions=_assumptions(claim),
        not_promised=_not_promised(document, claim, case.known_level()),
        scope=scope(claim.privacy) + except_for(claim.privacy, document, claim),
        distortion=distortion_words(document, claim),
        epsilon_known=claim.epsilon_known if whole and known is None else None,
        levels=tuple(map(tuple, claim.levels)) if private and claim.levels is not None else None,
    )


def _beyond_arithmetic(
    document: Document, claim: Claim, whole: bool
) -> tuple[str | None, Trial | None, Trial | None]:
    """Return why a radius fails, and the draws that test credible promises; None for other promises."""
    if not any(isinstance(promise, CredibleClaim | PairsClaim) for promise in (claim.privacy, claim.utility)):
        return None, None, None
    from rldp.judge.promises import privacy_risk, radii_failure, utility_risk

    radii = radii_failure(document, claim)
    if not whole:
        return radii, None, None
    return radii, privacy_risk(document, claim), utility_risk(document, claim)


def _not_private(claim: Claim) -> str:
    if claim.levels is not None:
        return "some pair of secrets exceeds its level"
    return f"this protocol is not {claim.epsilon!r}-private"


def _exceeded(claim: Claim) -> str:
    return f"the expected distortion exceeds {at_most(claim.objective)}"


def _risk_failure(what: str, event: str, promise: object, trial: Trial | None) -> str | None:
    """Say why a risk is not confirmed, if it is not."""
    if trial is None or trial.confirmed:
        return None
    assert isinstance(promise, CredibleClaim)
    adaptive = promise.prior == "adaptive"  # which takes many words to write out
    given = "given the sample and the adaptive prior" if adaptive else given_the_sample(promise)
    return (
        f"credible {what} is not confirmed: {given}, the probability that {event} may be more than "
        f"{promise.alpha!r} ({trial.evidence})"
    )


def _risk_sentence(event: str, promise: Promise, trial: Trial | None) -> str:
    """Say what the draws confirm about a credible promise; empty for others."""
    if trial is None or not isinstance(promise, CredibleClaim):
        return ""
    given = given_the_sample(promise).replace("given", "Given", 1)
    return f"{given}, the probability that {event} is at most {promise.alpha!r} ({trial.evidence})."


def _privacy_sentence(document: Document, claim: Claim) -> str:
    if math.isinf(claim.least_level):
        return "Nothing is claimed about privacy (ε = ∞)."
    proved = proved_set(claim.privacy)
    constraint = f"P(Y=y | S=s1) ≤ e^{claim.epsilon!r} · P(Y=y | S=s2) for all outputs y and secrets s1, s2"
    if claim.levels is not None:
        constraint = levels_sentence(document, claim)
    return f"{constraint}, {_for_all(proved, claim)}{except_for(proved, document, claim)}."


_THEOREMS = {"A1": "a closed formula, theorem A1,", "A2": "an exact recursion, theorem A2,"}


def _radii_sentence(claim: Claim) -> str:
    """Say why the sets of pairs hold the truth as often as claimed; empty for other promises."""
    promise = claim.privacy
    if not isinstance(promise, PairsClaim) or math.isinf(claim.least_level) or not promise.radii:
        return ""
    counts = {words: promise.methods.count(method) for method, words in _THEOREMS.items()}
    theorems = " and ".join(f"{words} for {n} pair{'s' * (n > 1)}" for words, n in counts.items() if n)
    return (
        f"Over the draw of the sample, the sets of all pairs of secrets hold the truth with probability at "
        f"least {1 - promise.alpha:.6g}, whatever the truth and the number of rows ({theorems})."
    )


def _known_sentence(claim: Claim) -> str:
    """Say what is promised to readers who know the value; empty if nothing is."""
    kappa = claim.epsilon_known
    if math.isinf(kappa):
        return ""
    if kappa == 0:
        return (
            "To a reader who knows the value, the output reveals nothing more about the secret, whatever the "
            "distribution: the table does not read the secret."
        )
    return (
        f"To a reader who knows the value, the output reveals at most {kappa!r} more about the secret, "
        f"whatever the distribution: P(Y=y | S=s1, U=u) ≤ e^{kappa!r} · P(Y=y | S=s2, U=u) for all outputs "
        "y, values u and secrets s1, s2."
    )


def _objective_sentence(document: Document, claim: Claim) -> str:
    where = _for_all(proved_set(claim.utility), claim)
    return (
        f"The expected distortion is at most {at_most(claim.objective)}, {where}, "
        f"where distortion is {distortion_words(document, claim)}."
    )


def _lower_bound_sentence(claim: Claim) -> str:
    sense = "in this sense"
    if isinstance(claim.privacy, CredibleClaim):
        sense = f"for {scope(claim.privacy.proved_set)},"
    return (
        f"No protocol with these outputs that is private {sense} has a largest expected distortion "
        f"below {at_least(claim.lower_bound)}, {_for_all(proved_set(claim.utility), claim)}."
    )


def _for_all(promise: Promise, claim: Claim) -> str:
    """Name the distributions of a promise, with the sample of its set."""
    if isinstance(promise, EverythingClaim):
        return f"for {scope(promise)}"
    cells = len(claim.counts) * len(claim.counts[0])
    rows = f"{claim.n} rows" if claim.noise is None else f"about {claim.n} rows, by noisy counts"
    return f"for {scope(promise)} (sample of {rows}, {cells} cells)"


def _where_sparse(claim: Claim, promise: Promise) -> str:
    """Cochran's rule: the level of a test is unreliable if over a fifth of the cells are rare."""
    cells = [count for row in claim.counts for count in row]
    rare = sum(count < _RARE for count in cells)
    asymptotic = isinstance(promise, SetClaim) and promise.lambda_ is not None and promise.radius is None
    if not asymptotic or rare <= _MOST_RARE * len(cells):
        return ""
    return f" Here {rare} of {len(cells)} cells were seen fewer than {_RARE} times, and it can be far less."


def _assumptions(claim: Claim) -> tuple[str, ...]:
    claimed = _promises(claim)
    rows = f"The sample of n = {claim.n} rows was" if claim.noise is None else "The rows of the table were"
    given = [
        f"{rows} drawn independently from the distribution of the people who are to be protected.",
        *(assumption(what, promise) + _where_sparse(claim, promise) for what, promise in claimed.items()),
    ]
    if claim.noise is not None:
        given.append(noise_assumption(claim.noise, claim.rows_a_person))
    if any(isinstance(promise, CredibleClaim) for promise in claimed.values()):
        given.append("The random draws of this check are independent and have the stated distributions.")
    if any(isinstance(promise, PairsClaim) and "A2" in promise.methods for promise in claimed.values()):
        given.append(
            "The exact recursion is evaluated in floats, whose logarithms and exponentials are right to four "
            "units in the last place."
        )
    given.append("Outputs are drawn with exactly these probabilities, with fresh randomness for every row.")
    return tuple(given)


def _promises(claim: Claim) -> dict[str, Promise]:
    """Return what is promised; with ε = ∞, nothing about privacy."""
    private: dict[str, Promise] = {} if math.isinf(claim.least_level) else {"privacy": claim.privacy}
    return {**private, "utility": claim.utility}


def _not_promised(document: Document, claim: Claim, known_level: float) -> tuple[str, ...]:
    covered = (
        "For the lower bound: that no protocol of the same posterior probability distorts less. It covers "
        "protocols that are private on the whole set of that radius."
    )
    beyond = "such as" if math.isinf(claim.epsilon_known) else "other than"
    return (
        *(() if claim.levels is None else levels_not_promised(document, claim)),
        *(words for what, promise in _promises(claim).items() for words in not_promised(what, promise)),
        noise_not_promised(claim.epsilon, claim.noise),
        *([covered] if isinstance(claim.privacy, CredibleClaim) else []),
        other_columns("the released column"),
        f"Anything against readers who know more about a person than the distribution, {beyond} their value.",
        *known_not_promised(claim.epsilon_known, known_level),
    )
