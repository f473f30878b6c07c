"""Certified batches: protocols with their proofs, and the better of two batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp.designer.status import Reason, Route
from rldp.theory import bounds
from rldp.theory.arrays import updated
from rldp.theory.model import DesignProblem, Floats, Witness

__all__ = ["CertifiedBatch", "better", "certified", "joined"]

_OF_THE_PROTOCOL = ("matrix", "objective", "eta", "eta_utility", "route")
_OF_THE_BOUND = ("lower_bound", "z", "members", "distribution", "known", "constant")


@dataclass(frozen=True)
class CertifiedBatch:
    """A batch of designed protocols with their proofs; every field has the problems first.

    Attributes
    ----------
    matrix : array (K, |S|, |U|, |Y|)
        On the grid, with rows that sum to exactly one; strictly private.
    objective, lower_bound : array (K,)
        Rounded to the safe side.
    eta (K, Y, T, 2), eta_utility (K, 0 or 1), z (K, Y, T), members (K, Y, T, 2, U),
    distribution (K, |S|, |U|), known (K, Y, |S|, |U|) or (K, 0) : array
        The proofs; see :class:`rldp.protocol.Certificate`.
    constant : bool array (K,)
        Whether the lower bound rests on ε = 0 instead of z and members.
    route, reason : object array (K,)
        How the protocol was found, a :class:`Route`, and why the search ended, a :class:`Reason`.
    steps : int array (K,)
        Steps of all runs of the engine.
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

    @property
    def gap(self) -> Floats:
        """Gap relative to max(1, objective): (K,); infinite if nothing is proved."""
        objective = np.where(np.isfinite(self.objective), self.objective, 1.0)
        return np.asarray((self.objective - self.lower_bound) / np.maximum(1, objective))

    def closes(self, gap: float) -> NDArray[np.bool_]:
        """Return which problems are solved to ``gap``: (K,)."""
        return np.asarray(self.gap <= gap)

    @property
    def witness(self) -> Witness:
        """The proof of the lower bounds."""
        known = self.known if self.known.ndim == 4 else None
        return Witness(self.z, self.members, self.distribution, known)

    def subset(self, index: NDArray[np.int64]) -> CertifiedBatch:
        """Return the problems numbered ``index``."""
        return CertifiedBatch(*(getattr(self, f.name)[index] for f in fields(CertifiedBatch)))

    def replaced(self, index: NDArray[np.int64], others: CertifiedBatch) -> CertifiedBatch:
        """Replace the problems numbered ``index`` by ``others``."""
        order = np.arange(len(self.matrix))
        order[index] = len(order) + np.arange(len(index))
        return joined([self, others]).subset(order)

    def explained(self, gap: float) -> CertifiedBatch:
        """Set the reason that is shown to users: a closed gap needs no other."""
        reason = self.reason.copy()
        reason[self.closes(gap)] = Reason.GAP_CLOSED
        return updated(self, reason=reason)

    def with_bound_of(self, other: CertifiedBatch) -> CertifiedBatch:
        """Take the larger of two lower bounds for each problem, with its proof, and add the steps of both."""
        larger = self.lower_bound >= other.lower_bound
        chosen = {name: _where(larger, getattr(self, name), getattr(other, name)) for name in _OF_THE_BOUND}
        chosen["lower_bound"] = np.minimum(chosen["lower_bound"], self.objective)
        return replace(self, **chosen, steps=self.steps + other.steps)


def certified(
    problem: DesignProblem,
    matrix: Floats,
    eta: Floats,
    witness: Witness,
    route: Route,
    *,
    eta_utility: Floats | None = None,
    steps: NDArray[np.int64] | None = None,
    reason: NDArray[np.object_] | Reason = Reason.NO_PROGRESS,
) -> CertifiedBatch:
    """Certify protocols that η proves private, with objectives and the bounds that ``witness`` proves.

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
        route=_filled(k, route),
        steps=np.zeros(k, dtype=np.int64) if steps is None else steps,
        reason=reason if isinstance(reason, np.ndarray) else _filled(k, reason),
    )


def _prices(problem: DesignProblem, witness: Witness) -> Floats:
    """Return γ, if a constraint has prices: (K, Y, |S|, |U|), otherwise (K, 0)."""
    if witness.known is not None:
        return np.asarray(witness.known)
    k, secrets, values = problem.counts.shape
    priced = 0 < problem.epsilon_known < math.inf
    return np.zeros((k, witness.z.shape[1], secrets, values) if priced else (k, 0))


def _filled(count: int, member: StrEnum) -> NDArray[np.object_]:
    """Return an array of the enum member; ``np.full`` would make it a string."""
    array = np.empty(count, dtype=object)
    array[:] = member
    return array


def _finite(problem: DesignProblem, witness: Witness) -> tuple[Witness, Floats]:
    """Return the witness and its bound; the centre, which always proves a bound, if they are not numbers."""
    bound = bounds.lower_bound(problem, witness)
    usable = np.isfinite(bound)
    if usable.all():
        return witness, bound
    plain = {
        "z": np.zeros_like(witness.z),
        "members": np.broadcast_to(1 / problem.counts.shape[2], witness.members.shape),
        "distribution": problem.useful_centre,
    }
    if witness.known is not None:
        plain["known"] = np.zeros_like(witness.known)
    witness = replace(
        witness, **{name: _where(usable, getattr(witness, name), plain[name]) for name in plain}
    )
    return witness, bounds.lower_bound(problem, witness)


def _where(mask: NDArray[np.bool_], yes: NDArray[Any], no: NDArray[Any]) -> NDArray[Any]:
    return np.where(mask.reshape((-1,) + (1,) * (yes.ndim - 1)), yes, no)


def joined(parts: Sequence[CertifiedBatch]) -> CertifiedBatch:
    """Join several batches."""
    if len(parts) == 1:
        return parts[0]
    return CertifiedBatch(
        *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(CertifiedBatch))
    )


def better(one: CertifiedBatch, other: CertifiedBatch) -> CertifiedBatch:
    """Take the smaller objective and the larger lower bound for each problem, and add the steps of both."""
    smaller = one.objective <= other.objective
    chosen = {name: _where(smaller, getattr(one, name), getattr(other, name)) for name in _OF_THE_PROTOCOL}
    return replace(one.with_bound_of(other), **chosen)
