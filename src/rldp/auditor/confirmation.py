r"""Confirm a protocol on fresh data: an upper bound on ε* for every distribution and every n.

See ``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, level_number, seed_or_fresh, share_number, shown
from rldp._common.digits import at_most
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.measures import leakage as measures
from rldp.protocol import Guarantee, Protocol, require_labels
from rldp.sample import Sample, require_exact
from rldp.theory.betting import block_shares, split
from rldp.theory.leakage_bounds import leakage_bound, table_bound
from rldp.theory.model import Floats

__all__ = ["Confirmation", "confirm", "confirm_chain"]

_FIRST_ROWS = 0.125  # of the fresh rows train the bets if there is no other data; 0.08 and 0.2 do no better
_UNSEEN = 0.5  # pseudo-rows of prior knowledge, spread over all values


@dataclass(frozen=True, eq=False)
class Confirmation:
    """The result of confirming a protocol on fresh data.

    Attributes
    ----------
    epsilon : float
        Upper bound on ε*. Whatever the distribution and the number of rows, it is too small with probability
        at most ``alpha``, if the number of rows was fixed before they were seen. ∞ if the rows do not bound
        ε*, for example if a secret has no row and the table itself does not satisfy the claim.
    alpha : float
    claim : float or None
        The ε to confirm: by default the protocol's own.
    leakage : float
        ε* under the distribution of the fresh rows: an estimate, not a bound.
    output : label or None
        The output that determines the bound; None if no output raises it.
    secrets : (label, label) or None
        The two secrets that this output distinguishes.
    unseen : tuple of labels
        Secrets without fresh rows.
    used_before : bool
        Whether the fresh sample equals the one that the protocol was designed or planned on. It is then not
        fresh and confirms nothing.
    seed : int
        The seed of the row order; ``confirm(…, seed=…)`` repeats the result.
    protocol : Protocol
    sample : Sample
        The fresh data.
    """

    epsilon: float
    alpha: float
    claim: float | None
    leakage: float
    output: Label | None
    secrets: tuple[Label, Label] | None
    unseen: tuple[Label, ...]
    used_before: bool
    seed: int
    protocol: Protocol = field(repr=False)
    sample: Sample = field(repr=False)

    def holds(self, epsilon: float) -> bool:
        """Return whether the protocol is confirmed to be ε-private. Any number of ε may be checked."""
        return self.epsilon <= level_number("epsilon", epsilon)

    @property
    def confirmed(self) -> bool | None:
        """Whether the claim is confirmed; None without a claim."""
        return None if self.claim is None else self.holds(self.claim)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        if self.used_before:
            return (
                "Not confirmed: the fresh sample equals the one that the protocol was designed on or planned "
                "with; such rows confirm nothing.",
            )
        order = f"The rows were ordered at random, with seed {self.seed}; the same seed repeats this result."
        return (*self._about_claim(), *self._about_bound(), *self._about_unseen(), order)

    def _about_claim(self) -> Iterator[str]:
        if self.claim is None:
            yield "The protocol carries no guarantee and no ε was named, so there is no claim to confirm."
        elif math.isinf(self.claim):
            yield "The file claims no privacy (ε = ∞), so there is nothing to confirm."
        elif self.confirmed:
            yield f"Confirmed: the protocol is {self.claim:g}-private for the people the rows come from."
        elif self.leakage > self.claim:
            yield (
                f"Not confirmed: in the fresh rows themselves ε* is {self.leakage:.4g}, "
                f"which is more than {self.claim:g}."
            )
        else:
            yield (
                f"Not confirmed: in the fresh rows themselves ε* is {self.leakage:.4g}, but they do not show "
                f"that it is at most {self.claim:g} for the people they come from."
            )
            yield (
                f"A larger sample may show it. Each attempt is wrong with probability up to {self.alpha:g}: "
                "decide beforehand how many rows to collect and how many attempts to make, and divide alpha "
                "by the number of attempts."
            )

    def _about_bound(self) -> Iterator[str]:
        if math.isinf(self.epsilon):
            yield "The fresh rows give no upper bound on ε*."
        else:
            yield (
                f"ε* is at most {at_most(self.epsilon)}. A bound found in this way is too small with "
                f"probability {self.alpha:g} at most, for every distribution and every number of rows that "
                "was fixed before the rows were seen."
            )
        if self.output is not None and self.secrets is not None:
            one, other = self.secrets
            yield f"Output {self.output!r} decides the bound: it tells secret {one!r} from {other!r}."

    def _about_unseen(self) -> Iterator[str]:
        if not self.unseen:
            return
        which = ", ".join(repr(secret) for secret in self.unseen)
        if math.isinf(self.epsilon):
            yield f"No fresh row has secret {which}. The rows therefore do not bound ε*."
        else:
            yield f"No fresh row has secret {which}: statements about it follow from the table alone."


def confirm(
    protocol: Protocol,
    sample: Sample,
    *,
    alpha: float = 0.05,
    planned: Sample | None = None,
    epsilon: float | None = None,
    seed: int | None = None,
) -> Confirmation:
    r"""Confirm on fresh data that a protocol is private, or bound its ε*.

    The ``epsilon`` of the result is an upper confidence bound on ε* under the distribution P of the rows:

    .. math:: \Pr\big(\varepsilon^*(P) > \texttt{epsilon}\big) \le \alpha\quad\text{for every } P, n.

    It is the largest of upper bounds, each at this level, on ln P(y|s₁)/P(y|s₂) for all outputs and pairs of
    secrets. If it is too small, then so is the bound of the worst pair, so no correction for the number of
    pairs is needed. Each bound is no less than any ε that a betting test of level α does not reject.

    Assumptions: the rows are independent draws from one distribution (independence of the values within each
    secret suffices), none of them was used for the protocol or ``planned``, and their number was fixed before
    they were seen. The level α refers to one call. If you confirm again with more rows or another seed, each
    call has its own chance to be wrong; divide ``alpha`` by the number of calls that you plan. See
    ``docs/theory.md``, 'Confirmation'.

    Parameters
    ----------
    protocol : Protocol
        Any protocol that was fixed before the fresh rows were seen, designed with rldp or not.
    sample : Sample
        Fresh data with the protocol's labels and bins: ``protocol.count(data)``.
    alpha : float
        Between 0 and 1: the probability that the bound is too small.
    planned : Sample, optional
        Earlier data on which to choose the bets; by default the sample of the guarantee. The bound is valid
        in any case, and tighter if the sample resembles the fresh data. Without one, an eighth of the fresh
        rows is used instead and not bet on.
    epsilon : float, optional
        The ε to confirm; by default the guarantee's. Some bets are aimed at it.
    seed : int, optional
        Seed of the random order of the rows, which the bets need and a sample of counts does not have. By
        default it is fresh from the operating system. The result records it, and passing it repeats the
        result. The level α is an average over this order, so a fixed seed voids it.

    Returns
    -------
    Confirmation

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If alpha is not between 0 and 1, epsilon is negative, or a sample's labels are not the protocol's.

    Examples
    --------
    >>> from rldp import Sample, design
    >>> protocol = design(Sample([[52, 31, 17], [14, 38, 48]]), 0.5).protocol
    >>> confirmation = confirm(protocol, Sample([[490, 330, 180], [150, 370, 480]]))
    >>> confirmation.holds(0.5), confirmation.holds(0.1)
    (True, False)
    """
    level = share_number("alpha", alpha)
    claim = _claim(protocol, sample, epsilon)
    return _tested(protocol, sample, planned, level, claim, seed_or_fresh(seed))


def confirm_chain(
    protocols: Sequence[Protocol],
    sample: Sample,
    *,
    alpha: float = 0.05,
    planned: Sample | None = None,
    epsilon: float | None = None,
    seed: int | None = None,
) -> Confirmation | None:
    r"""Return the last protocol of a chain that fresh data confirm.

    The chain is fixed before the fresh rows are seen, ordered from the most cautious protocol to the boldest.
    Protocols are tested in this order, each at its own ε, until one is not confirmed. The last confirmed
    protocol is not ε-private with probability at most ``alpha``, as if it alone had been tested: the error
    requires confirming the first protocol of the chain that is not private, and which one that is does not
    depend on the rows. See ``docs/theory.md``, 'Confirmation'.

    Parameters
    ----------
    protocols : sequence of Protocol
    sample : Sample
        Fresh data with the labels of all protocols.
    alpha, planned
        As for :func:`confirm`.
    epsilon : float, optional
        The ε to confirm for each protocol; by default its guarantee's.
    seed : int, optional
        As for :func:`confirm`.

    Returns
    -------
    Confirmation or None
        For the boldest confirmed protocol; None if the first one is not confirmed. Its ``epsilon`` is the
        tested ε: since the rows determine which protocol is chosen, nothing smaller is confirmed.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        As :func:`confirm`; also if there is no protocol, or one without ε.

    Examples
    --------
    >>> from rldp import ChiSquare, Nominal, Sample, design
    >>> sample, sets = Sample([[52, 31, 17], [14, 38, 48]]), (ChiSquare(0.01), ChiSquare(0.5), Nominal())
    >>> chain = [design(sample, 0.5, privacy=each).protocol for each in sets]
    >>> boldest = confirm_chain(chain, Sample([[49, 33, 18], [15, 37, 48]]), seed=0)
    >>> chain.index(boldest.protocol), boldest.epsilon
    (1, 0.5)
    """
    level = share_number("alpha", alpha)
    chain = _checked_chain(protocols)
    claims = [_claim(protocol, sample, epsilon) for protocol in chain]
    if None in claims:
        place = 1 + claims.index(None)
        raise InvalidArgument(f"epsilon must be given, as protocol {place} of the chain carries no guarantee")
    order = seed_or_fresh(seed)
    best = None
    for protocol, claim in zip(chain, claims, strict=True):
        assert claim is not None
        tested = _tested(protocol, sample, planned, level, claim, order, floor=claim)
        if tested.used_before or tested.epsilon > claim:
            break
        best = replace(tested, epsilon=claim, output=None, secrets=None)
    return best


def _checked_chain(protocols: Sequence[Protocol]) -> list[Protocol]:
    if isinstance(protocols, str) or not isinstance(protocols, Sequence):
        raise InvalidArgumentType(f"protocols must be a list of rldp.Protocol, got {shown(protocols)}")
    if not protocols:
        raise InvalidArgument("protocols must hold at least one rldp.Protocol, got none")
    return list(protocols)


def _claim(protocol: Protocol, sample: Sample, epsilon: float | None) -> float | None:
    """Return the ε to confirm, after checking that protocol and sample fit."""
    require_labels(protocol, sample)
    require_exact(sample)
    if epsilon is not None:
        return level_number("epsilon", epsilon)
    claim = protocol.guarantee
    if isinstance(claim, Guarantee) and claim.levels is not None:
        raise InvalidArgument(
            "epsilon must be given for a protocol that has a level for each pair of secrets: the bound is on "
            "the largest ε* of any pair"
        )
    return None if claim is None else claim.epsilon


def _tested(
    protocol: Protocol,
    sample: Sample,
    planned: Sample | None,
    alpha: float,
    claim: float | None,
    seed: int,
    floor: float = 0.0,
) -> Confirmation:
    """Bound ε* from above, by at least ``floor``; by ∞ if the rows were used before."""
    blocks, known = _game(protocol, sample, planned, seed)
    designed_on = None if protocol.guarantee is None else protocol.guarantee.sample
    used = sample in (designed_on, planned)
    bound, triple = (math.inf, None) if used else _bound(protocol, blocks, known, alpha, claim, floor)
    output, secrets = None, None
    if triple is not None:
        y, first, second = triple
        output, secrets = protocol.outputs[y], (protocol.secrets[first], protocol.secrets[second])
    return Confirmation(
        epsilon=bound,
        alpha=alpha,
        claim=claim,
        leakage=measures.leakage(protocol, sample.distribution),
        output=output,
        secrets=secrets,
        unseen=tuple(protocol.secrets[i] for i in np.flatnonzero(sample.counts.sum(axis=1) == 0)),
        used_before=used,
        seed=seed,
        protocol=protocol,
        sample=sample,
    )


def _game(
    protocol: Protocol, sample: Sample, planned: Sample | None, seed: int
) -> tuple[NDArray[np.int64], Floats]:
    """Return fresh rows in blocks (|S|, B, |U|), and prior knowledge of them (|S|, |U|)."""
    if planned is not None:
        require_labels(protocol, planned, name="planned")
    elif protocol.guarantee is not None:
        planned = protocol.guarantee.sample
    rng = np.random.default_rng(seed)
    if planned is None:
        rest = _FIRST_ROWS + (1 - _FIRST_ROWS) * block_shares()
        blocks = split(sample.counts, np.concatenate([[_FIRST_ROWS], rest]), rng)
        before, blocks = blocks[:, 0], blocks[:, 1:]
    else:
        before, blocks = planned.counts, split(sample.counts, block_shares(), rng)
    fresh, earlier = (counts.sum(axis=1, keepdims=True) for counts in (sample.counts, before))
    weight = np.minimum(1.0, fresh / np.maximum(earlier, 1))  # so that fresh rows can outweigh it
    return blocks, before * weight + _UNSEEN / before.shape[1]


def _bound(
    protocol: Protocol,
    blocks: NDArray[np.int64],
    known: Floats,
    alpha: float,
    claim: float | None,
    floor: float,
) -> tuple[float, tuple[int, int, int] | None]:
    """Return an upper confidence bound on ε*, at least ``floor``, and the deciding triple (y, s1, s2).

    Rows say nothing about a secret that has none. Its bound from the table counts if the table satisfies the
    claim, or if other secrets leak as much; otherwise there is no bound.
    """
    wanted = math.inf if claim is None else claim
    seen = blocks.sum(axis=(1, 2)) > 0
    index = np.flatnonzero(seen)
    bound, triple = leakage_bound(
        protocol.matrix[seen], blocks[seen], known[seen], alpha, claim=wanted, floor=floor
    )
    if triple is not None:
        triple = triple[0], int(index[triple[1]]), int(index[triple[2]])
    table, leaks_most = table_bound(protocol.matrix, ~seen)
    if table <= bound:
        return bound, triple
    return (table, leaks_most) if claim is not None and table <= claim else (math.inf, leaks_most)
