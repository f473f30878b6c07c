"""The result of a design: the protocol, what is proved about it, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from rldp.chain import Chain
from rldp.designer.closed_forms import best_constant
from rldp.designer.status import BatchStatus, Reason, Status
from rldp.protocol import Certificate, Protocol
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Floats

if TYPE_CHECKING:
    from rldp.releaser.options import Asked, ReleaseOptions

_CONSTANT_GAP = 1e-4  # gap of the best constant output, if it is a mixture

__all__ = ["Batch", "ColumnCost", "Design"]

_Frame = TypeVar("_Frame")


@dataclass(frozen=True)
class ColumnCost:
    """The loss of one of several published columns, in its own unit and under the estimate.

    Attributes
    ----------
    name : str
    weight : float
        Weight of its distortion in the objective.
    distortion : float
        Expected distortion of the column.
    constant : float
        Expected distortion of the best output that ignores the data.
    """

    name: str
    weight: float
    distortion: float
    constant: float


@dataclass(frozen=True, eq=False)
class Design:
    """A designed protocol, with what is proved about it.

    Attributes
    ----------
    problem : str
        "NUNP", "NURP", "RUNP" or "RURP": (non)robust utility, (non)robust privacy.
    protocol : Protocol
    objective : float
        Largest expected distortion of this protocol over the utility set, rounded up.
    lower_bound : float
        No protocol with these outputs that is private for the same set has a smaller objective; rounded
        down. The set of a credible promise is the one that the design found: another protocol of the same
        posterior probability may have less.
    certificate : Certificate
        The numbers that prove privacy, objective and lower bound.
    status : Status
        How the design was found.
    columns : tuple of ColumnCost
        The loss of each column, if several are published together.
    """

    problem: str
    protocol: Protocol
    objective: float
    lower_bound: float
    certificate: Certificate
    status: Status
    columns: tuple[ColumnCost, ...] = field(default=(), kw_only=True)

    @property
    def gap(self) -> float:
        """(objective − lower_bound) / max(1, objective): the distance from the optimum is at most this."""
        return (self.objective - self.lower_bound) / max(1.0, self.objective)

    @property
    def is_optimal(self) -> bool:
        """Whether the requested gap is proved."""
        return self.status.reason is Reason.GAP_CLOSED

    @property
    def epsilon(self) -> float:
        """The proved privacy level; the largest one, if pairs of secrets have their own."""
        assert self.protocol.guarantee is not None
        return self.protocol.guarantee.epsilon

    @cached_property
    def constant_objective(self) -> float:
        """The objective of the best output that ignores secret and value: what a protocol has to beat."""
        if isinstance(self.protocol, Chain):
            return sum(column.weight * column.constant for column in self.columns)
        claim = self.protocol.guarantee
        assert claim is not None
        problem = DesignProblem.of(
            claim.sample.counts[None], np.zeros(1), claim.distortion, claim.privacy, claim.utility
        )
        return float(bounds.objective(problem, best_constant(problem, _CONSTANT_GAP)[0])[0][0])

    def release_frame(
        self,
        frame: _Frame,
        *,
        options: ReleaseOptions | None = None,
        seed: int | None = None,
        **keywords: Unpack[Asked],
    ) -> _Frame:
        """Release a column of a data frame; see :meth:`rldp.Protocol.release_frame`."""
        return self.protocol.release_frame(frame, options=options, seed=seed, **keywords)

    def __repr__(self) -> str:
        protocol = self.protocol
        secrets, values, outputs = map(len, (protocol.secrets, protocol.values, protocol.outputs))
        claim = protocol.guarantee
        level = "" if claim is None else f", epsilon={claim.epsilon:g}"
        if getattr(claim, "levels", None) is not None:
            level = f", epsilon of each pair, at most {claim.epsilon:g}" if claim is not None else ""
        return (
            f"<Design {self.problem}{level}: {secrets} secrets, {values} values, {outputs} outputs; "
            f"distortion {self.objective:.6g}, at best {self.lower_bound:.6g}; "
            f"solver={self.status.route}, {self.status.reason}>"
        )

    def _repr_html_(self) -> str:
        return self.protocol._repr_html_()


@dataclass(frozen=True, eq=False)
class Batch:
    """Designed protocols for many samples of one shape.

    Attributes
    ----------
    matrices : array (K, |S|, |U|, |Y|)
    objective, lower_bound : array (K,)
        As in :class:`Design`.
    status : BatchStatus
        How they were found.
    """

    matrices: Floats
    objective: Floats
    lower_bound: Floats
    status: BatchStatus

    @property
    def gap(self) -> Floats:
        """(K,): as in :class:`Design`."""
        gap: Floats = (self.objective - self.lower_bound) / self.objective.clip(1.0)
        return gap

    @property
    def is_optimal(self) -> NDArray[np.bool_]:
        """(K,): as in :class:`Design`."""
        return np.asarray(self.status.reason == Reason.GAP_CLOSED)

    def __repr__(self) -> str:
        count, secrets, values, outputs = self.matrices.shape
        return f"<Batch of {count} designs: {secrets} secrets, {values} values, {outputs} outputs>"
