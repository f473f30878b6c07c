"""The worth of a protocol: its cost beside a constant output and beside no privacy, and what drives it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rldp._common.checks import Label
from rldp._common.process import silenced
from rldp.adviser.ladder import under_estimate
from rldp.chain import Chain
from rldp.designer.api import design
from rldp.designer.designs import Design
from rldp.designer.notices import is_sparse
from rldp.errors import RldpWarning
from rldp.measures.association import basis_of
from rldp.measures.leakage import known_leakage
from rldp.protocol import Guarantee, Protocol
from rldp.sample import Sample
from rldp.sets import Nominal, as_asked
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Floats

__all__ = ["Without", "Worth", "is_hardly_better", "may_take_minutes", "outputs_used", "worth"]

USED = 1e-6
"""Outputs less likely than this under the estimate do not count as used."""
QUICK = 2.0
"""Redesign without the rarest secrets if the design took at most this many seconds."""
RARE = 0.05
"""Largest share of the rows that rare secrets may have together."""
MOST_LEFT_OUT = 3
WORTH_TELLING = 0.9
"""Mention a cheaper alternative (without a rare secret, or with fewer bins) if its promised distortion is at
most this share.
"""
HARDLY_BETTER = 0.99
"""Warn of a protocol whose promised distortion is at least this share of the best constant's."""
MINUTES = 50_000
"""Number of probabilities from which a design may take minutes."""
CERTAIN = 1e6
"""An output that is so many times as likely with another secret rules a secret out."""
NEVER, SOMETIMES = 1e-3, 1e-3
"""Changed shares of a secret's rows: below the first they count as never changed, from the second as
changed, if they are ten times as large.
"""
FEW = 5
"""Average rows per cell below which a sample is called tiny.

A count of 5 has a standard deviation of √5, 45 % of itself: about half of what such a cell shows is chance.
"""

_GAP = 1e-3


@dataclass(frozen=True)
class Without:
    """The promise if some rare secrets were left out.

    Attributes
    ----------
    secrets : tuple of labels
        The rarest secrets, which are left out.
    rows : int
        Number of rows with these secrets.
    promised : float
        Promised distortion of a design for the other secrets, up to a gap of 0.001.
    """

    secrets: tuple[Label, ...]
    rows: int
    promised: float


@dataclass(frozen=True)
class Worth:
    """The worth of a protocol.

    Attributes
    ----------
    promised : float
        The proved maximum of the expected distortion over the utility set.
    is_robust : bool
        Whether that set holds more than the estimate.
    estimate : float
        Expected distortion under the estimate.
    constant, estimate_constant : float
        Distortion of the best output that ignores secret and value: promised, and under the estimate.
    unprotected, estimate_unprotected : float
        Distortion of the nearest output for each value, promised and under the estimate: 0 if the outputs are
        the values. With bins it is the cost of binning alone.
    binned : bool
        Whether values are labels of bins, so that no raw number is published.
    changed : float, or None
        P(Y ≠ U) under the estimate; None if some value is not an output.
    changed_of : tuple of (label, float), or None
        P(Y ≠ U | S) under the estimate for each secret that was seen, the most frequent secret first.
    known_leakage : float
        What the output reveals about the secret to a reader who knows the value.
    gives_away : tuple of (label, label, float), or None
        The most frequent secret, if its rows change only where those of all secrets do; another one, and the
        share of its rows whose output rules the first out for a reader who knows the value. Otherwise None.
    outputs_used, outputs : int
        The number of outputs with a probability above 1e-6 under the estimate, and of all outputs.
    without : Without, or None
        The rare secrets that drive the cost: without them the promised distortion is at most 90 %. Several
        are named if each of them adds as much. None if there are none, or finding out would take long.
    secrets, values, rows : int
        Size of the sample.
    is_tiny : bool
        Whether there are fewer than 5 rows per cell on average and no SparseTableWarning was given.
    """

    promised: float
    is_robust: bool
    estimate: float
    constant: float
    estimate_constant: float
    unprotected: float
    estimate_unprotected: float
    binned: bool
    changed: float | None
    outputs_used: int
    outputs: int
    without: Without | None
    secrets: int
    values: int
    rows: int
    is_tiny: bool
    changed_of: tuple[tuple[Label, float], ...] | None = None
    known_leakage: float = 0.0
    gives_away: tuple[Label, Label, float] | None = None

    @property
    def reach(self) -> float | None:
        """The promised share of the way from the constant to no privacy, 0 to 1; None if both are equal."""
        way = self.constant - self.unprotected
        if not way > 0:
            return None
        return float(np.clip((self.constant - self.promised) / way, 0.0, 1.0))


def worth(sample: Sample, designed: Design) -> Worth:
    """Assess the worth of a design.

    Parameters
    ----------
    sample : Sample
        The sample it was designed on.
    designed : Design

    Examples
    --------
    >>> import rldp
    >>> sample = rldp.Sample([[300, 100], [50, 250]])
    >>> found = worth(sample, rldp.design(sample, epsilon=1.0))
    >>> found.outputs_used, found.unprotected, found.without
    (2, 0.0, None)
    >>> found.promised < found.constant
    True
    """
    protocol, claim = designed.protocol, designed.protocol.guarantee
    assert claim is not None
    p, moved = sample.distribution, _moved(sample, protocol)
    return Worth(
        promised=designed.objective,
        is_robust=designed.problem.startswith("RU"),
        estimate=under_estimate(designed),
        constant=designed.constant_objective,
        estimate_constant=float((p.sum(axis=0) @ claim.distortion).min()),
        unprotected=_unprotected(claim),
        estimate_unprotected=float(p.sum(axis=0) @ claim.distortion.min(axis=1)),
        binned=sample.reading is not None and any(each.edges is not None for each in sample.reading.value),
        changed=None if moved is None else float(np.clip(moved.sum(), 0.0, 1.0)),
        outputs_used=outputs_used(protocol),
        outputs=len(protocol.outputs),
        without=_without(sample, designed, claim),
        secrets=len(sample.secrets),
        values=len(sample.values),
        rows=sample.n,
        is_tiny=_is_tiny(sample, claim),
        changed_of=None if moved is None else _changed_of(sample, moved),
        known_leakage=known_leakage(protocol),
        gives_away=None if moved is None else _gives_away(sample, protocol, moved),
    )


def outputs_used(protocol: Protocol) -> int:
    """Count the outputs with a probability above 1e-6 under the estimate, or above 0 without one."""
    claim = protocol.guarantee
    if isinstance(protocol, Chain):
        p = basis_of(protocol)
        likely = p.sum(axis=1) @ protocol.output_law(p)
        return int((likely > (0 if claim is None else USED)).sum())
    if claim is None:
        return int(protocol.matrix.any(axis=(0, 1)).sum())
    likely = np.einsum("su,suy->y", claim.sample.distribution, protocol.matrix)
    return int((likely > USED).sum())


def _unprotected(claim: Guarantee) -> float:
    """Return the objective of the table that maps each value to its nearest output."""
    nearest, counts = claim.distortion.min(axis=1, keepdims=True), claim.sample.counts
    problem = DesignProblem.of(counts[None], np.zeros(1), nearest, claim.privacy, claim.utility)
    return float(bounds.objective(problem, np.ones((1, *counts.shape, 1)))[0][0])


def _changed_of(sample: Sample, moved: Floats) -> tuple[tuple[Label, float], ...]:
    rows = sample.counts.sum(axis=1)
    order = [s for s in np.argsort(-rows, kind="stable").tolist() if rows[s]]
    shares = np.clip(moved.sum(axis=1) / np.maximum(rows / sample.n, 1e-300), 0.0, 1.0)
    return tuple((sample.secrets[s], float(shares[s])) for s in order)


def _moved(sample: Sample, protocol: Protocol) -> Floats | None:
    """Return P(Y ≠ U, S, U) under the estimate, (|S|, |U|), or None if some value is not an output."""
    if not set(protocol.values) <= set(protocol.outputs):
        return None
    same = [protocol.outputs.index(value) for value in protocol.values]
    kept = protocol.matrix[:, np.arange(len(same)), same]
    return np.asarray(sample.distribution * (1 - kept))


def _gives_away(sample: Sample, protocol: Protocol, moved: Floats) -> tuple[Label, Label, float] | None:
    """Return the most frequent secret that never changes, and of what share of another's rows that tells."""
    rows = sample.counts.sum(axis=1)
    most = int(rows.argmax())
    telling = np.where(protocol.matrix > CERTAIN * protocol.matrix[most], protocol.matrix, 0.0).sum(axis=2)
    shares = (sample.counts * telling).sum(axis=1) / np.maximum(rows, 1)
    other = int(shares.argmax())
    chances = moved / np.maximum(sample.distribution, 1e-300)
    seldom = np.where(sample.counts > 0, chances, 1.0).min(axis=0)  # of all secrets with a value
    own = float((sample.counts[most] * (chances[most] - seldom)).sum() / rows[most])
    if own >= min(NEVER, shares[other] / 10) or shares[other] < SOMETIMES:
        return None
    return sample.secrets[most], sample.secrets[other], float(min(shares[other], 1.0))


def is_hardly_better(designed: Design) -> bool:
    """Return whether an output that ignores the data would do nearly as well."""
    return designed.objective >= HARDLY_BETTER * designed.constant_objective > 0


def may_take_minutes(sample: Sample) -> bool:
    """Return whether a design for this table may take long, if its outputs are its values."""
    return sample.counts.size * len(sample.values) > MINUTES


def _is_tiny(sample: Sample, claim: Guarantee) -> bool:
    asymptotic = claim.privacy.is_asymptotic or claim.utility.is_asymptotic
    told = asymptotic and bool(is_sparse(sample.counts))
    return sample.n < FEW * sample.counts.size and not told


def _without(sample: Sample, designed: Design, claim: Guarantee) -> Without | None:
    """Return the rarest secrets, at most three, without which much less distortion could be promised."""
    if designed.status.seconds > QUICK or designed.status.route == "windows" or sample.noise is not None:
        return None
    best, least = None, designed.objective
    for rarest in _rarest(sample):
        left = [s for s in range(len(sample.secrets)) if s not in rarest]
        promised = _designed_for(left, sample, designed, claim)
        if promised <= WORTH_TELLING * least:
            names = tuple(sample.secrets[s] for s in rarest)
            best, least = Without(names, int(sample.counts[rarest].sum()), promised), promised
    return best


def _rarest(sample: Sample) -> Iterator[list[int]]:
    """Yield the rarest secret, the two rarest, …, while they are rare and two others remain."""
    rows = sample.counts.sum(axis=1)
    order = np.argsort(rows, kind="stable").tolist()
    for count in range(1, min(MOST_LEFT_OUT, len(order) - 2) + 1):
        if rows[order[:count]].sum() > RARE * sample.n:
            return
        yield order[:count]


def _designed_for(left: list[int], sample: Sample, designed: Design, claim: Guarantee) -> float:
    utility = Nominal() if isinstance(claim.utility, Nominal) else as_asked(claim.utility)
    fewer = Sample(sample.counts[left], [sample.secrets[s] for s in left], sample.values)
    with silenced(RldpWarning):
        again = design(
            fewer,
            claim.epsilon if claim.levels is None else claim.levels[np.ix_(left, left)],
            privacy=as_asked(claim.privacy),
            utility=utility,
            distortion=claim.distortion,
            outputs=designed.protocol.outputs,
            epsilon_known=claim.epsilon_known,
            gap=_GAP,
        )
    return again.objective
