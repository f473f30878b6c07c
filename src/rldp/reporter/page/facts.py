"""The facts of a report, before they are worded and drawn."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from rldp._common.process import silenced
from rldp.adviser.baselines import baselines, is_private_anyway
from rldp.adviser.compare import RIVAL, Compared, Setting, compare
from rldp.adviser.frontier import Frontier, checked_levels, frontier
from rldp.adviser.ladder import STANDARD, WITH_NOISE, named_sets
from rldp.adviser.verdict import Worth, worth
from rldp.chain import Chain
from rldp.designer.designs import Design
from rldp.designer.status import Status
from rldp.errors import InvalidArgument, RldpWarning
from rldp.judge import Verdict, verify
from rldp.measures.association import Association, associations, by_column
from rldp.measures.leakage import (
    WorstCase,
    worst_case,
    worst_case_distortion,
)
from rldp.protocol import Certificate, Guarantee, Protocol
from rldp.protocol_file.format import document_of
from rldp.reporter.page.asked import Cover
from rldp.reporter.page.beside import Beside, distortion_of_rows
from rldp.reporter.page.law import Law, law_of
from rldp.sample import Sample
from rldp.sets import NAMED, AllDistributions, Credible, Nominal, Prior, UncertaintySet, as_asked

__all__ = ["OWN", "Level", "Report", "Told", "gathered", "standard_levels"]

Told = Callable[[int, int, str], None]

OWN = "this protocol"
"""The name of the protocol among others."""
FEW, SOME = 1_000, 10_000
"""Entries |S|·|U|·|Y| of a table up to which many levels and promises, or some levels, are designed for: on
one core, a design takes a tenth of a second there, or some seconds."""
DRAWS = 20_000
_ALPHA = 0.05  # of promises where the protocol's has none
_GAP = 1e-4  # of designs that are only compared with
_ROUND = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)  # preferred numbers, three to a doubling
_AROUND = 8.0  # times ε, and a fraction of it: between these, other levels are tried
_HUGE = 700.0  # e to the power of more is not a float, and no level near it is of interest
_USUAL = 0.5  # a level in the middle where ε is 0


@dataclass(frozen=True, eq=False)
class Level:
    """The protocol for one of the ε that can be chosen on the page.

    Attributes
    ----------
    epsilon : float
    promised, estimate : float
        Largest expected distortion over the utility set, and that under the estimate.
    law : Law
        The posterior distribution of its leakage.
    proved : bool, or None
        Whether the judge proves every claim of its file; None if it was not asked.
    protocol : Protocol
    is_own : bool
        Whether it is the protocol of the report.
    """

    epsilon: float
    promised: float
    estimate: float
    law: Law
    proved: bool | None
    protocol: Protocol = field(repr=False)
    is_own: bool = False


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report; see :func:`rldp.report`.

    Attributes
    ----------
    protocol : Protocol
    text : str
        The text of the protocol file.
    verdict : Verdict
        The judge's verdict on that file.
    epsilon : float
        The claimed ε.
    promised : float
        Largest expected distortion over the utility set, recomputed.
    worth : Worth
        How good the protocol is, compared with an output that ignores the data and with no privacy.
    law : Law
        The posterior distribution of the leakage, given sample and prior.
    worst : WorstCase, or None
        The largest leakage over the privacy set, and a distribution that attains it; None for a chain, which
        is proved by draws and has no set.
    by_column : dict from str to Protocol
        With several published columns, the table of each under the estimate.
    associations : tuple of Association
        The association between published columns, before and after the release.
    compared : tuple of Compared
        This protocol, followed by other designs and simple mechanisms at the same ε. With kept columns or
        earlier releases, only this protocol, because the others do not account for them.
    frontier : Frontier, or None
        Promised distortion against ε; None if the table is too large to compute it quickly.
    promise : str
        The name of the protocol's own promise on the frontier.
    levels : tuple of Level
        The choices of ε, in increasing order; one of them is this protocol.
    with_counts : bool
        Whether the page may show what reveals the counts of the sample; noisy counts may always be shown.
    seed : int
        Seed of the draws.
    cover : Cover
        The entries of page one that the caller chose.
    beside : Beside
        The kept columns and those of earlier releases.
    size : int, or None
        Size of the page in bytes, once it is written.
    """

    protocol: Protocol = field(repr=False)
    text: str = field(repr=False)
    verdict: Verdict
    epsilon: float
    promised: float
    worth: Worth
    law: Law
    worst: WorstCase | None
    compared: tuple[Compared, ...] = field(repr=False)
    frontier: Frontier | None
    promise: str
    levels: tuple[Level, ...] = field(repr=False)
    with_counts: bool
    seed: int
    by_column: dict[str, Protocol] = field(default_factory=dict, repr=False)
    associations: tuple[Association, ...] = ()
    cover: Cover = field(default_factory=Cover)
    beside: Beside = field(default_factory=Beside)
    size: int | None = None

    @property
    def sha256(self) -> str:
        """SHA-256 of the protocol file."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @property
    def generator(self) -> str:
        """The program that wrote the protocol file, as the file says."""
        return document_of(self.text.encode("utf-8")).generator

    @property
    def claim(self) -> Guarantee:
        """The claims of the file."""
        assert self.protocol.guarantee is not None
        return self.protocol.guarantee

    @property
    def sample(self) -> Sample:
        """The sample that the protocol was designed on."""
        return self.claim.sample

    @property
    def constant(self) -> float:
        """Promised distortion of the best output that ignores the data."""
        return self.worth.constant

    def __repr__(self) -> str:
        ruling = "proved" if self.verdict.ok else "not proved"
        return f"<Report: ε = {self.epsilon!r}, {ruling}; {len(self.compared)} mechanisms compared>"


def gathered(
    protocol: Protocol,
    *,
    with_counts: bool = False,
    epsilons: Iterable[float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    cover: Cover | None = None,
    text: str | None = None,
    callback: Told | None = None,
) -> Report:
    """Gather all facts of a report; see :func:`rldp.report` for the parameters.

    Parameters
    ----------
    cover : Cover, optional
        The entries of page one that the caller chooses.
    text : str, optional
        The text of the protocol's file; by default that of the file it would be saved to.
    """
    claim = _checked_claim(protocol)
    beside = Beside.of(protocol)
    wanted = standard_levels(protocol)
    if epsilons is not None and beside:
        raise InvalidArgument(
            "epsilons must be left out where columns are kept or follow an earlier release, since a report "
            "designs nothing then, got other levels"
        )
    if epsilons is not None:
        wanted = checked_levels([*checked_levels(epsilons), claim.epsilon])
        if math.isinf(wanted[-1]):
            raise InvalidArgument("epsilons must be finite, got inf")
    told = callback or (lambda done, total, what: None)

    def part(low: int, high: int) -> Told:
        """Return a callback for a part of the work, in hundredths of the whole."""
        return lambda done, total, what: told(round(low + (high - low) * done / max(total, 1)), 100, what)

    with silenced(RldpWarning):
        told(0, 100, "verifying")
        verdict = verify(protocol)
        text = protocol.to_json() if text is None else text
        is_chain = isinstance(protocol, Chain)
        drawn = protocol
        protocol = _as_table(protocol) if is_chain else protocol
        claim = _checked_claim(protocol)
        promised = worst_case_distortion(protocol, claim.sample, claim.utility)[1]
        setting = _Setting(protocol, claim, draws, seed, beside)
        law = setting.law(protocol, claim.epsilon)
        compared = setting.compared(verdict, law, part(5, 25))
        curve = setting.frontier(wanted, part(25, 75))
        own = Level(claim.epsilon, promised, compared[0].estimate, law, verdict.ok, protocol, is_own=True)
        levels = setting.levels(own, curve, part(75, 95))
        told(95, 100, "worst distribution")
        found_worth = worth(claim.sample, _as_design(protocol, claim, promised))
        if beside.earlier:  # most changes of whole rows are in columns that were released before
            found_worth = replace(found_worth, changed=None, changed_of=None)
        report = Report(
            protocol=protocol,
            text=text,
            verdict=verdict,
            epsilon=claim.epsilon,
            promised=promised,
            worth=found_worth,
            law=law,
            worst=None if is_chain else worst_case(protocol, claim.sample, claim.privacy),
            compared=compared,
            frontier=curve,
            promise=setting.promise,
            levels=levels,
            with_counts=bool(with_counts) or claim.sample.noise is not None,
            seed=seed,
            by_column=by_column(drawn, claim.sample.distribution),
            associations=associations(drawn, claim.sample.distribution),
            cover=cover or Cover(),
            beside=beside,
        )
    told(100, 100, "")
    return report


def standard_levels(protocol: Protocol) -> list[float]:
    """Return the other ε to design for: fewer for larger tables, none for huge ones.

    Examples
    --------
    >>> import rldp
    >>> standard_levels(rldp.design(rldp.Sample([[30, 10], [5, 25]]), 0.5).protocol)[::6]
    [0.063, 0.25, 1.0, 4.0]
    """
    claim = _checked_claim(protocol)
    if isinstance(protocol, Chain) or protocol.matrix.size > SOME:
        return []
    entries = protocol.matrix.size
    middle = min(claim.epsilon, _HUGE) or _USUAL
    powers = range(math.floor(math.log10(middle / _AROUND)), math.ceil(math.log10(middle * _AROUND)) + 1)
    levels = [float(f"{each}e{power}") for power in powers for each in _ROUND]
    near = [level for level in levels if 0.99 / _AROUND <= level / middle <= 1.01 * _AROUND]
    return checked_levels([*near[:: 1 if entries <= FEW else 3], claim.epsilon])


def _as_table(protocol: Protocol, privacy: UncertaintySet | None = None) -> Protocol:
    """Return a chain as the table of its whole rows, for comparisons, possibly with another promise."""
    claim = protocol.guarantee
    assert claim is not None
    guarantee = Guarantee(
        epsilon=claim.epsilon,
        sample=claim.sample,
        privacy=privacy or claim.privacy,
        utility=claim.utility,
        distortion=distortion_of_rows(protocol) if isinstance(protocol, Chain) else claim.distortion,
        objective=claim.objective,
        lower_bound=claim.lower_bound,
        certificate=Certificate(None, None, None, None, None),
    )
    labels = protocol.secrets, protocol.values, protocol.outputs
    return Protocol(protocol.matrix, *labels, guarantee=guarantee, reading=protocol.reading)


def _checked_claim(protocol: Protocol) -> Guarantee:
    claim = protocol.guarantee
    if claim is None:
        raise InvalidArgument(
            "protocol must claim something that can be reported on, got a table without a guarantee"
        )
    if math.isinf(claim.epsilon):
        raise InvalidArgument("protocol must claim a privacy level to be reported on, got ε = ∞")
    return claim


@dataclass(frozen=True)
class _Setting:
    """The protocol, and how it is compared with others."""

    protocol: Protocol
    claim: Guarantee
    draws: int
    seed: int
    beside: Beside

    @property
    def prior(self) -> Prior:
        privacy = self.claim.privacy
        return privacy.prior if isinstance(privacy, Credible) else "adaptive"

    @property
    def own(self) -> UncertaintySet:
        """The privacy promise, without what a design found."""
        return as_asked(self.claim.privacy)

    @property
    def known(self) -> dict[str, UncertaintySet]:
        """All named promises, at the protocol's α."""
        alpha = getattr(self.own, "alpha", None) or _ALPHA
        return named_sets(tuple(NAMED), alpha=alpha, prior=self.prior)

    @property
    def promise(self) -> str:
        """The name of the protocol's own promise."""
        return next((name for name, each in self.known.items() if each == self.own), "its own")

    @property
    def others(self) -> dict[str, UncertaintySet]:
        """Promises to compare with; only the estimate if designs take long."""
        names = STANDARD if self.claim.sample.noise is None else WITH_NOISE
        wanted = [name for name in names if name != self.promise]
        few = wanted if self.protocol.matrix.size <= FEW else wanted[-1:]
        return {name: self.known[name] for name in few}

    def compared(self, verdict: Verdict, law: Law, tell: Told) -> tuple[Compared, ...]:
        """Return the protocol, then designs with other promises, then simple mechanisms."""
        claim, outputs, utility = self.claim, self.protocol.outputs, _same_for_all(self.claim.utility)
        proved = self.claim.privacy if verdict.epsilon is not None else None
        if self.beside or self.protocol.matrix.size > SOME:
            setting = Setting(claim.sample, claim.epsilon, utility, _ALPHA, self.prior, self.draws, self.seed)
            tell(0, 1, OWN)
            own = setting.row(OWN, "given", self.protocol, claim.distortion, proved)
            own = replace(own, leakage_median=law.median, leakage_high=law.high, risk=law.risk)
            if self.beside:
                return (own,)
            simple = baselines(claim.sample, claim.epsilon, claim.distortion, outputs, utility)
            rows = [own]
            for done, (name, each) in enumerate(simple.items(), 1):
                tell(done, 1 + len(simple), name)
                private = AllDistributions() if is_private_anyway(each, claim.epsilon) else None
                rows.append(setting.row(name, "simple", each, claim.distortion, private))
            return tuple(rows)
        comparison = compare(
            claim.sample,
            claim.epsilon,
            privacy={self.promise: self.own, **self.others},  # the first is designed without the secret too
            protocols={OWN: self.protocol},
            utility=utility,
            distortion=claim.distortion,
            outputs=outputs,
            epsilon_known=claim.epsilon_known,
            prior=self.prior,
            draws=self.draws,
            seed=self.seed,
            gap=_GAP,
            callback=tell,
        )
        everything = {"all distributions"} if isinstance(self.own, AllDistributions) else set()
        others = (row for row in comparison.rows if row.name not in {OWN, RIVAL, self.promise, *everything})
        return replace(comparison[OWN], proved=proved), *others

    def frontier(self, wanted: list[float], tell: Told) -> Frontier | None:
        """Design for the same distortion at other ε; empty if none are to be made."""
        if not wanted:
            return None
        shown = {self.promise: self.own} | (self.others if self.protocol.matrix.size <= FEW else {})
        return frontier(
            self.claim.sample,
            wanted,
            privacy=shown,
            utility=as_asked(self.claim.utility),
            distortion=self.claim.distortion,
            outputs=self.protocol.outputs,
            epsilon_known=self.claim.epsilon_known,
            gap=_GAP,
            callback=tell,
        )

    def law(self, protocol: Protocol, epsilon: float) -> Law:
        return law_of(
            protocol,
            self.claim,
            epsilon,
            prior=self.prior,
            draws=self.draws,
            seed=self.seed,
            known=self.beside.known,
        )

    def levels(self, own: Level, frontier: Frontier | None, tell: Told) -> tuple[Level, ...]:
        """Return the protocol, and designs with the same promise at the other ε."""
        points = () if frontier is None else frontier.of(self.promise)
        levels = [own]
        for done, point in enumerate(points):
            tell(done, len(points), f"ε = {point.epsilon:g}")
            if point.epsilon != own.epsilon:
                made = point.design.protocol
                ok = verify(made).ok if made.matrix.size <= FEW else None
                law = self.law(made, point.epsilon)
                levels.append(Level(point.epsilon, point.promised, point.estimate, law, ok, made))
        return tuple(sorted(levels, key=lambda level: level.epsilon))


def _same_for_all(utility: UncertaintySet) -> UncertaintySet:
    """Return a utility set for comparisons: for a credible one, the set with the radius found."""
    return utility.proved_set if isinstance(utility, Credible) else utility


def _as_design(protocol: Protocol, claim: Guarantee, promised: float) -> Design:
    """Return the protocol of a file as a design of unknown origin."""
    if isinstance(claim.privacy, Credible) and claim.privacy.radius is None:  # a chain: proved without a set
        protocol = _as_table(protocol, Nominal())
    robust = ["N" if isinstance(each, Nominal) else "R" for each in (claim.utility, claim.privacy)]
    return Design(
        problem=f"{robust[0]}U{robust[1]}P",
        protocol=protocol,
        objective=promised,
        lower_bound=claim.lower_bound,
        certificate=claim.certificate,
        status=Status("read from a file", 0, None, math.inf),
    )
