"""Designs beside simple mechanisms at one ε: distortion, leakage and what is proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from rldp._common.checks import shown
from rldp._common.deprecated import renamed
from rldp._common.frames import Tabular
from rldp.adviser.baselines import SIMPLE, baselines, is_private_anyway, relabelled
from rldp.adviser.frontier import checked_levels
from rldp.adviser.ladder import PrivacySets, named_sets, usual
from rldp.designer.api import design
from rldp.distortions import Distortion, Outputs, distortion_of
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.measures.leakage import distortions, known_leakage, worst_case_distortion, worst_case_leakage
from rldp.measures.posterior import posterior
from rldp.protocol import Protocol, require_labels
from rldp.sample import Sample
from rldp.sets import (
    AllDistributions,
    ChiSquare,
    Credible,
    Nominal,
    Pairs,
    Prior,
    UncertaintySet,
    UtilitySet,
    checked_prior,
    checked_set,
)
from rldp.theory.model import Floats

__all__ = ["RIVAL", "Compared", "Comparison", "Setting", "compare"]

Kind = Literal["design", "simple", "given"]
BLIND = "without reading the secret"
RIVAL = "OptimPreproc's constraint"


@dataclass(frozen=True)
class Compared:
    """One protocol of a comparison.

    Attributes
    ----------
    name : str
    kind : {"design", "simple", "given"}
    promised : float
        The proved maximum of the expected distortion over the utility set.
    estimate : float
        Expected distortion under the estimate.
    relabelled : float
        The same if every output were replaced by the best estimate of the value: what a reader who knows the
        sample can make of the output.
    leakage_median, leakage_high : float
        Median and 95 % quantile of the posterior distribution of ε*.
    known_leakage : float
        What an output reveals about the secret to a reader who knows the value; see
        :func:`rldp.known_leakage`.
    risk : (float, float)
        Bounds on the posterior probability that ε* exceeds ε.
    proved : UncertaintySet, or None
        The set for which privacy at ε is proved: for a design, the set it was made for; for other protocols,
        the largest of a few. None if the protocol is not even private under the estimate.
    protocol : Protocol
    """

    name: str
    kind: Kind
    promised: float
    estimate: float
    relabelled: float
    leakage_median: float
    leakage_high: float
    known_leakage: float
    risk: tuple[float, float]
    proved: UncertaintySet | None
    protocol: Protocol = field(repr=False)

    @property
    def proved_for(self) -> str | None:
        """The distributions for which privacy at ε is proved, in words."""
        return None if self.proved is None else self.proved.scope


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Protocols side by side; see :func:`rldp.compare`.

    Attributes
    ----------
    rows : tuple of Compared
    epsilon : float
    sample : Sample
    utility : UncertaintySet
        The set that the distortion is promised for.
    prior : float
        The prior of the posterior distribution of ε*.
    """

    rows: tuple[Compared, ...]
    epsilon: float
    sample: Sample
    utility: UncertaintySet
    prior: Prior

    def __getitem__(self, name: str) -> Compared:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def table(self) -> dict[str, list[Any]]:
        """Return the numbers as tidy columns, one row for each protocol, as data frames accept them."""
        names = [each.name for each in fields(Compared) if each.name not in ("risk", "proved", "protocol")]
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        lower, upper = zip(*(row.risk for row in self.rows), strict=True)
        proved_for = [row.proved_for for row in self.rows]
        return columns | {"risk_lower": list(lower), "risk_upper": list(upper), "proved_for": proved_for}

    def __repr__(self) -> str:
        return f"<Comparison at ε = {self.epsilon:g}: {', '.join(row.name for row in self.rows)}>"


def compare(
    sample: Sample,
    epsilon: float,
    *,
    privacy: PrivacySets | None = None,
    protocols: Mapping[str, Protocol] | None = None,
    utility: UtilitySet | None = None,
    distortion: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    epsilon_known: float = math.inf,
    alpha: float = 0.05,
    prior: Prior = "adaptive",
    draws: int = 20_000,
    seed: int = 0,
    gap: float = 1e-6,
    callback: Callable[[int, int, str], None] | None = None,
    promises: PrivacySets | None = None,
) -> Comparison:
    """Compare designs with simple mechanisms, and with protocols of your own, at one ε.

    The table also contains the first of these designs with κ = 0, which does not read the secret, and the
    best protocol under the constraint of Optimized Pre-Processing (Calmon et al., 2017), ``|P(y|s)/P(y|s') −
    1| ≤ e^ε − 1`` under the estimate alone ("OptimPreproc's constraint"). The simple mechanisms are the
    unchanged column with its own leakage ("as it is"), the best output that ignores the data ("constant"),
    the best protocol that needs no sample ("all distributions"), randomised response of the value ("GRR"),
    secret randomised response ("SRR") and independent reporting ("independent"); see ``docs/theory.md``,
    'Simple mechanisms'. Their reports are values. If the outputs are not the values, each report becomes the
    nearest output.

    Parameters
    ----------
    sample : Sample
        The public sample.
    epsilon : float
    privacy : names or sets, one or several, or a mapping from your own names to sets
        The privacy promises to design for, as in :func:`rldp.frontier`.
    protocols : mapping from names to Protocol, optional
        Further mechanisms, with the sample's secrets and values: ``{"mine": rldp.Protocol(matrix, …)}``.
    utility : UncertaintySet or its name
        The set that the distortion is promised for, the same for all. By default "chi2"; if the counts have
        noise, "nominal".
    distortion, weights, outputs, epsilon_known, gap
        As in :func:`rldp.design`.
    alpha, prior : float
        Used for promises given by name; the prior is also used for the posterior distribution of ε*.
    draws, seed : int
        Number of draws from that distribution, and their seed; see :func:`rldp.posterior`.
    callback : callable (done, total, name), optional
    promises
        The deprecated name of ``privacy``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import rldp
    >>> found = rldp.compare(rldp.Sample([[300, 100], [50, 250]]), 1.0, privacy=["chi2"])
    >>> [row.name for row in found.rows][:4]
    ['chi2', 'without reading the secret', 'all distributions', "OptimPreproc's constraint"]
    >>> found["GRR"].proved_for
    'every distribution'
    """
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    (level,) = checked_levels([epsilon], "epsilon")
    of_privacy, utility = usual(sample, renamed("promises", promises, "privacy", privacy), utility)
    useful = _checked_utility(utility, alpha, sample)
    setting = Setting(sample, level, useful, alpha, prior, draws, seed)
    measure = distortion_of(sample, distortion, outputs, weights)
    d, names = measure.matrix, measure.outputs
    chosen = named_sets(of_privacy, alpha=alpha, prior=prior)
    sets = {**chosen, "all distributions": AllDistributions()}
    wanted = [(name, private, epsilon_known) for name, private in sets.items()]
    if len(sample.secrets) > 1 and epsilon_known > 0:
        wanted.insert(len(chosen), (BLIND, next(iter(chosen.values())), 0.0))
    if len(sample.secrets) > 1 and sample.noise is None:  # noisy counts are not an estimate
        wanted.append((RIVAL, Nominal(), math.inf))
    taken = [*(name for name, _, _ in wanted), *SIMPLE]
    given = _checked_protocols({} if protocols is None else protocols, sample, taken)
    total = len(wanted) + len(SIMPLE) + len(given)
    rows: list[Compared] = []

    def tell(name: str) -> None:
        if callback is not None:
            callback(len(rows), total, name)

    for name, private, known in wanted:
        tell(name)
        asked = zip(rows, wanted, strict=False)
        twin = next((row for row, (_, *other) in asked if other == [private, known]), None)
        if twin is not None:
            rows.append(replace(twin, name=name))
            continue
        designed = design(
            sample,
            level,
            privacy=private,
            utility=useful,
            distortion=d,
            outputs=names,
            epsilon_known=known,
            gap=gap,
        )
        rows.append(setting.row(name, "design", designed.protocol, d, setting.proved(designed.protocol)))
    for name, protocol in baselines(sample, level, d, names, useful).items():
        tell(name)
        rows.append(setting.row(name, "simple", protocol, d, setting.proved(protocol)))
    for name, protocol in given.items():
        tell(name)
        own = distortion_of(sample, distortion, protocol.outputs, weights).matrix
        rows.append(setting.row(name, "given", protocol, own, setting.proved(protocol)))
    tell("")
    return Comparison(tuple(rows), level, sample, useful, checked_prior(prior))


@dataclass(frozen=True)
class Setting:
    """The common setting in which the protocols of a comparison are judged."""

    sample: Sample
    epsilon: float
    utility: UncertaintySet
    alpha: float
    prior: Prior
    draws: int
    seed: int

    def row(
        self, name: str, kind: Kind, protocol: Protocol, d: Floats, proved: UncertaintySet | None
    ) -> Compared:
        """Return the row of a protocol."""
        sample = self.sample
        law = posterior(protocol, sample, prior=self.prior, draws=self.draws, seed=self.seed, distortion=d)
        median, high = np.quantile(law.leakage, [0.5, 0.95], method="inverted_cdf").tolist()
        read = relabelled(protocol.matrix, sample.distribution, d)
        both = np.stack([protocol.matrix, read])
        estimate, best = distortions(both, np.stack([sample.distribution] * 2), d).tolist()
        return Compared(
            name=name,
            kind=kind,
            promised=worst_case_distortion(protocol, sample, self.utility, d)[1],
            estimate=estimate,
            relabelled=min(best, estimate),
            leakage_median=median,
            leakage_high=high,
            known_leakage=known_leakage(protocol),
            risk=law.risk(self.epsilon),
            proved=proved,
            protocol=protocol,
        )

    def proved(self, protocol: Protocol) -> UncertaintySet | None:
        """Return the set a design was made for or, for other protocols, the largest of a few proved sets."""
        claim = protocol.guarantee
        if claim is not None and claim.sample is self.sample:
            return claim.privacy
        if is_private_anyway(protocol, self.epsilon):
            return AllDistributions()
        if self.sample.noise is not None:
            return None  # a set around noisy counts proves nothing
        known: UncertaintySet
        for known in (Pairs(self.alpha), ChiSquare(self.alpha), Nominal()):
            if worst_case_leakage(protocol, self.sample, known)[1] <= self.epsilon:
                return known
        return None


def _checked_utility(utility: UtilitySet, alpha: float, sample: Sample) -> UncertaintySet:
    useful = checked_set("utility", utility, alpha=alpha)
    if sample.noise is not None and not isinstance(useful, Nominal):
        raise InvalidArgument(f"utility must be rldp.Nominal() here where counts have noise, got {useful!r}")
    if isinstance(useful, Credible):
        raise InvalidArgument(
            "utility must be a set that is the same for every protocol, such as rldp.ChiSquare() or "
            "rldp.Nominal(), got a credible one, whose radius is found for each design"
        )
    return useful


def _checked_protocols(
    protocols: Mapping[str, Protocol], sample: Sample, taken: Collection[str]
) -> Mapping[str, Protocol]:
    """Refuse protocols that do not fit the sample, and names already taken."""
    if not isinstance(protocols, Mapping) or not all(isinstance(name, str) for name in protocols):
        raise InvalidArgumentType(f"protocols must map names to protocols, got {shown(protocols)}")
    for name, protocol in protocols.items():
        if name in taken:
            raise InvalidArgument(f"protocols must have names of their own, got {shown(name)}")
        require_labels(protocol, sample)
    return protocols
