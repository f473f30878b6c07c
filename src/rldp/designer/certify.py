"""Protocols with their proofs: what is certified of a batch, and the better of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from rldp.designer.routes import Route
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = ["CLOSED", "CertifiedBatch", "better", "certified", "joined", "witness_where"]

CLOSED = "gap closed"
_STOPPED = "no further progress"
_OF_THE_PROTOCOL = ("matrix", "objective", "eta", "eta_utility", "route", "steps", "reason")


@dataclass(frozen=True)
class CertifiedBatch:
    """A batch of designed protocols with their proofs; every field has the problems first.

    Attributes
    ----------
    matrix : array (K, |S|, |U|, |Y|)
        On the grid, rows summing to exactly one, strictly private.
    objective, lower_bound : array (K,)
        Rounded to the safe side.
    eta (K, Y, T, 2), eta_utility (K, 0 or 1), z (K, Y, T), members (K, Y, T, 2, U),
    distribution (K, |S|, |U|), known (K, Y, |S|, |U|) or (K, 0) : array
        The proofs; see :class:`rldp.protocol.Certificate`.
    constant : bool array (K,)
        Whether the lower bound rests on ε = 0 instead of z and members.
    route, reason : object array (K,)
        How the protocol was found, and why nothing better was looked for.
    steps : int array (K,)
        Of the engine.
    """

    matrix: Floats
    objective: Floats
    lower_bound: Floats
    eta: Floats
    eta_utility: Floats
    z: Floats
    members: Floats
    distribution: Floats
    known: Floats
    constant: NDArray[np.bool_]
    route: NDArray[np.object_]
    steps: NDArray[np.int64]
    reason: NDArray[np.object_]

    def closes(self, gap: float) -> NDArray[np.bool_]:
        """Which problems are solved to ``gap``; none whose objective is infinite, where nothing is proved."""
        small = self.objective - self.lower_bound <= gap * np.maximum(1, self.objective)
        return np.asarray(small & np.isfinite(self.objective))

    @property
    def witness(self) -> Witness:
        """What proves the lower bounds."""
        known = self.known if self.known.ndim == 4 else None
        return Witness(self.z, self.members, self.distribution, known)

    def subset(self, index: NDArray[np.int64]) -> CertifiedBatch:
        """The problems numbered ``index``."""
        return CertifiedBatch(*(getattr(self, f.name)[index] for f in fields(CertifiedBatch)))

    def replaced(self, index: NDArray[np.int64], others: CertifiedBatch) -> CertifiedBatch:
        """With ``others`` for the problems numbered ``index``."""
        order = np.arange(len(self.matrix))
        order[index] = len(order) + np.arange(len(index))
        return joined([self, others]).subset(order)

    def explained(self, gap: float) -> CertifiedBatch:
        """With the reason that people are told: a closed gap needs no other."""
        reason = self.reason.copy()
        reason[self.closes(gap)] = CLOSED
        return replace(self, reason=reason)


def certified(
    problem: DesignProblem,
    matrix: Floats,
    eta: Floats,
    witness: Witness,
    route: Route,
    *,
    eta_utility: Floats | None = None,
    steps: NDArray[np.int64] | None = None,
    reason: NDArray[np.object_] | None = None,
) -> CertifiedBatch:
    """Protocols that η proves private, with their objectives and the bounds that ``witness`` proves.

    ``eta_utility`` (K, 1) may hold scalars that are known to be near the best.
    """
    k = len(matrix)
    objective, eta_utility = bounds.objective(problem, matrix, eta_utility)
    witness, bound = _finite(problem, witness)
    return CertifiedBatch(
        matrix=matrix,
        objective=objective,
        lower_bound=np.minimum(np.maximum(bound, 0), objective),
        eta=eta,
        eta_utility=eta_utility,
        z=witness.z,
        members=witness.members,
        distribution=witness.distribution,
        known=_prices(problem, witness),
        constant=np.zeros(k, dtype=bool),
        route=np.full(k, route, dtype=object),
        steps=np.zeros(k, dtype=np.int64) if steps is None else steps,
        reason=np.full(k, _STOPPED, dtype=object) if reason is None else reason,
    )


def _prices(problem: DesignProblem, witness: Witness) -> Floats:
    """γ, where there is a constraint that has prices: (K, Y, |S|, |U|), otherwise (K, 0)."""
    if witness.known is not None:
        return np.asarray(witness.known)
    k, secrets, values = problem.counts.shape
    priced = 0 < problem.epsilon_known < math.inf
    return np.zeros((k, witness.z.shape[1], secrets, values) if priced else (k, 0))


def _finite(problem: DesignProblem, witness: Witness) -> tuple[Witness, Floats]:
    """The witness and its bound; the centre, which proves something always, where they are no numbers."""
    bound = bounds.lower_bound(problem, witness)
    usable = np.isfinite(bound)
    if usable.all():
        return witness, bound
    members = np.broadcast_to(1 / problem.counts.shape[2], witness.members.shape)
    plain = Witness(np.zeros_like(witness.z), members, problem.useful_centre)
    witness = witness_where(usable, witness, plain)
    return witness, bounds.lower_bound(problem, witness)


def witness_where(mask: NDArray[np.bool_], yes: Witness, no: Witness) -> Witness:
    """Per problem, ``yes`` where ``mask`` holds and ``no`` elsewhere."""

    def choose(a: Floats, b: Floats) -> Floats:
        return np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)

    known = yes.known
    if known is not None:
        known = choose(known, np.zeros_like(known) if no.known is None else no.known)
    z, members = choose(yes.z, no.z), choose(yes.members, no.members)
    return Witness(z, members, choose(yes.distribution, no.distribution), known)


def joined(parts: Sequence[CertifiedBatch]) -> CertifiedBatch:
    """Several batches as one."""
    if len(parts) == 1:
        return parts[0]
    return CertifiedBatch(
        *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(CertifiedBatch))
    )


def better(one: CertifiedBatch, other: CertifiedBatch) -> CertifiedBatch:
    """Per problem the protocol with the smaller objective, and the larger lower bound."""
    smaller = one.objective <= other.objective
    larger = one.lower_bound >= other.lower_bound
    chosen = {}
    for field in fields(CertifiedBatch):
        a, b = getattr(one, field.name), getattr(other, field.name)
        mask = smaller if field.name in _OF_THE_PROTOCOL else larger
        chosen[field.name] = np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)
    return CertifiedBatch(**chosen)
