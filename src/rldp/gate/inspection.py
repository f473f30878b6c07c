r"""Test whether rows may leave under a protocol's promise, on their counts and before anything appears.

Two things can void the promise of a proved protocol. The rows may come from another population than the
sample. And leaving out rows with missing entries reveals something, since being absent is part of what is
published.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rldp.auditor.new_data import membership, predicted
from rldp.chain import Chain, ChainGuarantee
from rldp.errors import DataError
from rldp.measures.leakage import leakage, leakages_of_outputs
from rldp.protocol import Guarantee, Protocol
from rldp.releaser.options import ReleaseOptions
from rldp.releaser.requests import Tally
from rldp.sample import Sample
from rldp.sets import AllDistributions, Nominal

__all__ = ["LEVEL", "Inspection", "absence", "p_value"]

LEVEL = 5e-4
"""The largest probability of refusing rows from the sample's own population."""

_SHUFFLES = 1999  # the smallest p-value is then LEVEL
_MOST_CELLS = 2**8  # that are shuffled, which takes a fifth of a second
_MOST_SHUFFLED = 10**9  # limit of NumPy's multivariate hypergeometric draws
_FEW = 50.0  # above this expected count, the χ² distribution matches LEVEL to within a third
_ROUNDING = 1e-12

_ABSENT_TO_THOSE_WHO_KNOW = (
    "rows with missing entries must not be left out if ε refers to readers who know the given columns: "
    "among the rows with one of their entries, being left out can reveal more about the secret than among "
    "all rows; a design with missing='category' publishes them, and allow_absence=True leaves them out anyway"
)

_ABSENT_WITHOUT_SECRET = (
    "rows with missing entries must not be left out if the secret is not read, since nobody can tell what "
    "being left out reveals about it; a design with missing='category' publishes them, and "
    "allow_absence=True leaves them out anyway"
)

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Inspection:
    """Refuses rows to which a protocol's promise does not apply, unless the options allow them.

    It is called once, with the counts of all rows, and keeps what it found.

    Attributes
    ----------
    leakage : float or None
        ε* under the distribution of these rows.
    absence : float or None
        The ε of being left out; None if no row is.
    drift : str or None
        How these rows differ from the sample, if they do and are released nevertheless.
    """

    protocol: Protocol
    options: ReleaseOptions
    leakage: float | None = field(default=None, init=False)
    absence: float | None = field(default=None, init=False)
    drift: str | None = field(default=None, init=False)

    @property
    def is_due(self) -> bool:
        """Whether rows could be refused; if not, nobody needs to count them beforehand."""
        claim, reading = self.protocol.guarantee, self.protocol.reading_of_rows
        if claim is None or self.options.unproved:
            return False
        may_skip = reading is not None and reading.missing == "skip"
        return not self.options.allow_drift or (may_skip and not self.options.allow_absence)

    def __call__(self, tally: Tally) -> None:
        """Inspect all rows.

        Raises
        ------
        DataError
            If the rows are refused.
        """
        claim, knows_secrets = self.protocol.guarantee, len(tally.pairs) == len(self.protocol.secrets)
        if tally.absent.any() and knows_secrets:
            self.absence = absence(tally)
            _log.info("the ε of being left out is %.3g", self.absence)
        if claim is None or self.options.unproved or not tally.pairs.any():
            return
        if knows_secrets:
            self.leakage = self._leakage(tally.pairs)
            self.drift = self._drift(claim, tally)
        else:
            self.drift = self._drift_of_values(claim, tally)
        if self.drift is not None and not self.options.allow_drift:
            raise DataError(
                "data must come from the population that the protocol was designed for, but its rows differ "
                f"{self.drift}; allow_drift=True releases them anyway"
            )
        if tally.absent.any() and not self.options.allow_absence:
            if self.absence is None:
                raise DataError(_ABSENT_WITHOUT_SECRET)
            if isinstance(claim, ChainGuarantee) and claim.given_known:
                raise DataError(_ABSENT_TO_THOSE_WHO_KNOW)
            if self.absence > claim.least_level + _ROUNDING:
                raise DataError(
                    "rows with missing entries must not reveal more by being left out than the protocol's "
                    f"ε = {claim.least_level:.3g}, but the ε of being left out is {self.absence:.3g} among "
                    "these rows; a design with missing='category' publishes them, and allow_absence=True "
                    "leaves them out anyway"
                )

    def _drift(self, claim: Guarantee, tally: Tally) -> str | None:
        """Return how the rows differ from the sample, if chance does not explain it."""
        if not isinstance(claim, ChainGuarantee):  # a chain has no set
            rows = Sample(tally.pairs, self.protocol.secrets, self.protocol.values)
            if membership(claim, claim.privacy, rows).inside:
                return None
        if claim.sample.noise is not None:  # the test includes it, and such samples have no earlier outputs
            chance = predicted(claim.sample, tally.pairs, claim.privacy)
        else:
            before, after = self._expected_counts(claim.sample.counts), tally.pairs
            if isinstance(claim.privacy, Nominal):  # which protects no secret that the sample lacks
                before, after = _and_unseen(before, after)
            chance = p_value(before, after)
        if chance > LEVEL:
            return None
        return (
            f"from the sample more than chance explains ({_bound(chance)}), and ε* among them is "
            f"{self.leakage:.3g} where {claim.epsilon:.3g} is promised"
        )

    def _drift_of_values(self, claim: Guarantee, tally: Tally) -> str | None:
        """Return how the rows differ from the sample in their values alone, if the secret is not read.

        Nothing is known if the counts of the sample have noise: its sum over the secrets has another law.
        """
        if isinstance(claim.privacy, AllDistributions) or claim.sample.noise is not None:
            return None
        before = self._expected_counts(claim.sample.counts).sum(axis=0, keepdims=True)
        chance = p_value(before, tally.pairs)
        differ = (
            f"from the sample in their values more than chance explains ({_bound(chance)}), and without the "
            "secret nobody can tell whether the promise still holds"
        )
        return differ if chance <= LEVEL else None

    def _leakage(self, pairs: NDArray[np.int64]) -> float:
        """Return ε* of everything that leaves, under the distribution of these rows."""
        distribution = pairs / pairs.sum()
        if not isinstance(self.protocol, Chain):
            return leakage(self.protocol, distribution)
        law = self.protocol.law_of_rows(distribution)
        return float(leakages_of_outputs(law[None], distribution.sum(axis=1)[None] > 0)[0])

    def _expected_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sample as rows would show it, with earlier outputs drawn for their values.

        Rows of the sample's population follow the distribution of these counts, so the test keeps its level.
        """
        chain = self.protocol
        if not isinstance(chain, Chain) or not chain.earlier_columns:
            return counts
        return chain.with_earlier_drawn(counts, np.random.default_rng())


def _bound(chance: float) -> str:
    return f"p ≤ {chance:.2g}" if chance > 1e-9 else "p < 1e-9"


def _and_unseen(before: NDArray[np.int64], after: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return tables with one row more: how many people have a secret that ``before`` holds, and one not."""
    seen = before.any(axis=1)
    further = np.zeros((2, 1, max(before.shape[1], 2)), dtype=np.int64)
    for row, counts in zip(further, (before, after), strict=True):
        row[0, :2] = counts[seen].sum(), counts[~seen].sum()
    wide = [np.pad(counts, ((0, 0), (0, further.shape[2] - counts.shape[1]))) for counts in (before, after)]
    return tuple(np.concatenate(pair) for pair in zip(wide, further, strict=True))


def absence(tally: Tally) -> float:
    r"""Compute the ε of being left out, from the shares among the counted rows.

    With :math:`a_s` the share of absent rows under the secret s, it is the largest :math:`|\log(a_s/a_{s'})|`
    or :math:`|\log((1-a_s)/(1-a_{s'}))|`; ∞ if one of them is 0 and another is not. Secrets without rows and
    rows with a missing secret are left out.

    Examples
    --------
    >>> round(absence(Tally(np.array([[80], [95]]), np.array([20, 5]))), 6)
    1.386294
    """
    present = tally.pairs.sum(axis=1)
    seen = present + tally.absent > 0
    total = (present + tally.absent)[seen]
    worst = 0.0
    for part in (present[seen], tally.absent[seen]):
        if part.any():
            with np.errstate(divide="ignore"):
                logs = np.log(part / total)
            worst = max(worst, float(logs.max() - logs.min()))
    return worst


def p_value(first: NDArray[np.int64], second: NDArray[np.int64], *, seed: int | None = None) -> float:
    r"""Return the p-value of values having the same distribution given the secret in two tables.

    Only this matters for privacy: ε* depends on P(u|s) and not on how frequent the secrets are. The statistic
    is the sum over the secrets of Pearson's statistics of homogeneity. If an expected count is small, the
    statistic is compared with random divisions of the pooled rows within each secret: the probability of a
    p-value of at most p is then at most p, for every distribution and all sizes. In large tables rare values
    are merged, by the pooled counts alone, until the χ² distribution can be trusted.

    Parameters
    ----------
    first, second : int array (|S|, |U|)
    seed : int, optional
        Seed of the divisions; by default fresh.

    Examples
    --------
    >>> p_value(np.array([[500, 500]]), np.array([[5000, 5000]]))
    1.0
    >>> p_value(np.array([[500, 500]]), np.array([[6000, 4000]])) < 1e-6
    True
    """
    strata = [(a[a + b > 0], b[a + b > 0]) for a, b in zip(first, second, strict=True)]
    strata = [(a, b) for a, b in strata if a.any() and b.any() and len(a) > 1]
    if sum(len(a) for a, _ in strata) > _MOST_CELLS or first.sum() + second.sum() >= _MOST_SHUFFLED:
        strata = [pair for pair in (_grouped(a, b) for a, b in strata) if len(pair[0]) > 1]
    statistic = sum(float(_pearson(b, a + b)) for a, b in strata)
    if all(_expected(a, b).min() >= _FEW for a, b in strata):
        return float(chdtrc(sum(len(a) - 1 for a, _ in strata), statistic)) if strata else 1.0
    urn = np.random.default_rng(seed)
    shuffled = np.zeros(_SHUFFLES)
    for a, b in strata:
        divided = urn.multivariate_hypergeometric(a + b, int(b.sum()), size=_SHUFFLES, method="marginals")
        shuffled += _pearson(divided, a + b)
    as_far = int((shuffled >= statistic * (1 - 1e-9)).sum())
    return (1 + as_far) / (1 + _SHUFFLES)


def _expected(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the smaller of the two expected counts in each cell."""
    m, n = int(a.sum()), int(b.sum())
    return np.asarray((a + b) * (min(m, n) / (m + n)), dtype=np.float64)


def _pearson(b: NDArray[np.int64], pooled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute Σ (b − expected)² / expected · (m + n) / m, for one or many divisions of the pooled counts."""
    total, n = int(pooled.sum()), int(b[..., :].sum(axis=-1).flat[0])
    expected = pooled * (n / total)
    return np.asarray(((b - expected) ** 2 / expected).sum(axis=-1) * (total / (total - n)))


def _grouped(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge rare cells, in the order of the pooled counts; if too few remain, drop them."""
    order = np.argsort(a + b, kind="stable")
    a, b = a[order], b[order]
    expected = _expected(a, b)
    group = np.zeros(len(a), dtype=np.intp)
    number, filled = 0, 0.0
    for i, more in enumerate(expected.tolist()):
        group[i] = number
        filled += more
        if filled >= _FEW:
            number, filled = number + 1, 0.0
    group[group == number] = max(number - 1, 0)  # the remainder joins the last group
    return np.bincount(group, a).astype(np.int64), np.bincount(group, b).astype(np.int64)
