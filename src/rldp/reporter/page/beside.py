"""Kept columns and earlier releases in a report, which are the fixed first stages of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from rldp._common.checks import printable
from rldp.chain import Chain
from rldp.protocol import Protocol
from rldp.theory.model import Floats

__all__ = ["Beside", "and_of", "distortion_of_rows"]


@dataclass(frozen=True)
class Beside:
    """Columns published beside the drawn ones, which ε includes or readers know.

    Attributes
    ----------
    kept : tuple of str
        Columns that are published unchanged.
    earlier : tuple of (str, str or None)
        Columns whose outputs are already published, with the digest of their protocol's file.
    drawn : tuple of str
        Columns that a release draws, in the order of the row.
    known : int
        The number of combinations of kept columns that readers are assumed to know; 1 if ε includes them.
    is_known : bool
        Whether the promise is to readers who know the kept columns.
    """

    kept: tuple[str, ...] = ()
    earlier: tuple[tuple[str, str | None], ...] = ()
    drawn: tuple[str, ...] = ()
    known: int = 1
    is_known: bool = False

    @classmethod
    def of(cls, protocol: Protocol) -> Beside:
        """Return the columns beside those of a chain; empty for other protocols."""
        if not isinstance(protocol, Chain):
            return cls(drawn=protocol.value_columns)
        is_known = bool(getattr(protocol.guarantee, "given_known", False))
        return cls(
            kept=protocol.given_columns,
            earlier=tuple((s.column, s.earlier.sha256) for s in protocol.stages if s.earlier is not None),
            drawn=protocol.value_columns,
            known=prod(len(stage.outputs) for stage in protocol.stages if stage.kept) if is_known else 1,
            is_known=is_known,
        )

    def __bool__(self) -> bool:
        return bool(self.kept or self.earlier)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that the ratio refers to: all but those that the readers know."""
        kept = () if self.is_known else self.kept
        return (*kept, *self.earlier_names, *self.drawn)

    @property
    def earlier_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.earlier)

    def sentences(self, epsilon: float, secret: str) -> list[str]:
        """Say what the promise says about them, for the appendix."""
        words = []
        drawn, kept = and_of(self.drawn), and_of(self.kept)
        if self.kept and self.is_known:
            words.append(
                f"A release publishes {kept} unchanged, beside {drawn}. The promise is to readers who know "
                f"{kept}: ε bounds what {drawn} reveals beyond that. What {kept} itself reveals about "
                f"{secret} comes on top, and nothing bounds it."
            )
        elif self.kept:
            words.append(
                f"A release publishes {kept} unchanged, beside {drawn}, inside the promise: ε = {epsilon:g} "
                "covers everything together."
            )
        for name, digest in self.earlier:
            source = "" if digest is None else f" (SHA-256 of its protocol's file: {digest})"
            words.append(
                f"{and_of([name])} was published by an earlier release{source}, and is not drawn again. "
                f"That release is included: ε = {epsilon:g} is the total of it and of {drawn}."
            )
        return words


def and_of(names: tuple[str, ...] | list[str]) -> str:
    """Return names of columns in quotes."""
    return " and ".join(f"“{printable(name)}”" for name in names)


def distortion_of_rows(protocol: Chain) -> Floats:
    """Return d(u, y) of whole rows (|U|, |Y|); kept columns and earlier releases lose nothing."""
    total = np.zeros((1, 1))
    for stage in np.argsort(protocol.order):  # in the order of the row
        own = protocol.distortions[stage]
        total = np.add.outer(total, own).swapaxes(1, 2).reshape(len(total) * len(own), -1)
    return total
