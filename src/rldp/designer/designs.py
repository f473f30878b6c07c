"""What a design gives: the protocol, what is proved of it, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rldp.designer.closed_forms import best_constant
from rldp.protocol import Certificate, Protocol
from rldp.theory import bounds
from rldp.theory.model import DesignProblem, Floats

if TYPE_CHECKING:
    from rldp.releaser.options import Asked, ReleaseOptions

_CONSTANT_GAP = 1e-4  # to which the best constant output is found where it is a mixture

__all__ = ["Batch", "BatchStatus", "ColumnCost", "Design", "Status"]


@dataclass(frozen=True)
class Status:
    """How a protocol was found.

    Attributes
    ----------
    route : str
        "pairs" or "windows" for the interior-point engine; else the special case that applied: "single
        output", "unconstrained", "constant", "near zero" (``docs/theory.md``, 'Special cases').
    steps : int
        Newton steps of the engine; 0 where it was not needed.
    reason : str
        Why it stopped: "gap closed"; "gap closed among windows" where only a stronger constraint was
        solved for; "no further progress", "step limit", "rounding" or "ε is too small for floats".
    seconds : float
        By the clock, proofs included.
    """

    route: str
    steps: int
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class BatchStatus:
    """How the protocols of a batch were found; see :class:`Status`.

    Attributes
    ----------
    route, reason : object array (K,)
    steps : int array (K,)
    seconds : float
        For all of them together.
    """

    route: NDArray[np.object_]
    steps: NDArray[np.int64]
    reason: NDArray[np.object_]
    seconds: float


@dataclass(frozen=True)
class ColumnCost:
    """What one of several published columns loses, in its own unit and under the estimate.

    Attributes
    ----------
    name : str
    weight : float
        What its distortion is multiplied with in the objective.
    distortion : float
        Expected distortion of the column.
    constant : float
        That of the best output that ignores the data.
    """

    name: str
    weight: float
    distortion: float
    constant: float


@dataclass(frozen=True, eq=False)
class Design:
    """A designed protocol and what is proved of it.

    Attributes
    ----------
    problem : str
        "NUNP", "NURP", "RUNP" or "RURP": (non)robust utility, (non)robust privacy.
    protocol : Protocol
    objective : float
        Largest expected distortion of that very protocol over the utility set, rounded up.
    lower_bound : float
        No private protocol has a smaller objective; rounded down.
    certificate : Certificate
        The numbers that prove all three.
    status : Status
        How it was found.
    columns : tuple of ColumnCost
        What each column loses, where several are published together.
    """

    problem: str
    protocol: Protocol
    objective: float
    lower_bound: float
    certificate: Certificate
    status: Status
    columns: tuple[ColumnCost, ...] = field(default=(), kw_only=True)

    @property
    def epsilon(self) -> float:
        """The privacy level that the protocol is proved for."""
        assert self.protocol.guarantee is not None
        return self.protocol.guarantee.epsilon

    @cached_property
    def constant_objective(self) -> float:
        """The objective of the best output that ignores secret and value: what a protocol has to beat."""
        claim = self.protocol.guarantee
        assert claim is not None
        problem = DesignProblem.of(
            claim.sample.counts[None], np.zeros(1), claim.distortion, claim.privacy, claim.utility
        )
        return float(bounds.objective(problem, best_constant(problem, _CONSTANT_GAP)[0])[0][0])

    def release_frame(
        self,
        frame: Any,
        *,
        options: ReleaseOptions | None = None,
        seed: int | None = None,
        **keywords: Unpack[Asked],
    ) -> Any:
        """Release a column of a data frame; see :meth:`rldp.Protocol.release_frame`."""
        return self.protocol.release_frame(frame, options=options, seed=seed, **keywords)

    def __repr__(self) -> str:
        secrets, values, outputs = self.protocol.matrix.shape
        claim = self.protocol.guarantee
        level = "" if claim is None else f", epsilon={claim.epsilon:g}"
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

    def __repr__(self) -> str:
        count, secrets, values, outputs = self.matrices.shape
        return f"<Batch of {count} designs: {secrets} secrets, {values} values, {outputs} outputs>"
