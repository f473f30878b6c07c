"""``--epsilon`` and ``--epsilon-between``: one level, own ones of secret columns, or of pairs of secrets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

import rldp
from rldp._common.checks import Label
from rldp.designer.pair_levels import levels_of_sample
from rldp.errors import InvalidArgument
from rldp.theory.arrays import from_pairs

__all__ = ["Levels"]


@dataclass(frozen=True, kw_only=True)
class Levels:
    """What is asked of ε."""

    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon",
            metavar="E|COL=E",
            help="Privacy level, 0 or more; smaller is more private. With several --secret, COL=E for each: "
            "levels add up over the columns in which people differ.",
        ),
    ] = None
    between: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon-between",
            metavar="A,B=E",
            help="Another level between two secrets, both ways; inf for none. May be repeated.",
        ),
    ] = None

    @property
    def is_given(self) -> bool:
        """Whether any level is asked for."""
        return bool(self.epsilon)

    @property
    def one(self) -> float | None:
        """The level, where all pairs of secrets have the same."""
        given = self.epsilon or ()
        return _number("--epsilon", given[0]) if len(given) == 1 and "=" not in given[0] else None

    def of(self, sample: rldp.Sample) -> Any:
        """ε as :func:`rldp.design` takes it."""
        base = self.one if self.one is not None else self._of_columns()
        if not self.between:
            return base
        table = from_pairs(levels_of_sample(sample, [base]).reshape(1, -1), len(sample.secrets))[0]
        for text in self.between:
            names, level = _split("--epsilon-between", "A,B=E", text)
            a, b = _pair(names, sample.secrets)
            table[a, b] = table[b, a] = _number("--epsilon-between", level)
        if len(table) > 1 and np.isinf(table[~np.eye(len(table), dtype=bool)]).all():
            raise InvalidArgument("--epsilon must be finite for some pair of secrets, got inf for all")
        return table

    def _of_columns(self) -> dict[str, float]:
        own: dict[str, float] = {}
        for text in self.epsilon or ():
            name, level = _split("--epsilon", "given once, or as COL=E for several", text)
            if name in own:
                raise InvalidArgument(f"--epsilon must name every column once, got {name!r} twice")
            own[name] = _number("--epsilon", level)
        if own and all(map(math.isinf, own.values())):
            raise InvalidArgument("--epsilon must be finite for some column, got inf for all")
        return own


def _split(option: str, needed: str, text: str) -> tuple[str, str]:
    name, equals, level = text.rpartition("=")
    if not equals:
        raise typer.BadParameter(f"must be {needed}, got {text!r}", param_hint=option)
    return name.strip(), level


def _number(option: str, text: str) -> float:
    """A level as it is typed; which numbers can be one is for the library to say."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid float.", param_hint=option) from None


def _pair(names: str, secrets: Sequence[Label]) -> tuple[int, int]:
    """The numbers of two secrets that are written with a comma between them; labels may hold commas."""
    places = {str(secret): s for s, secret in enumerate(secrets)}
    parts = names.split(",")
    found = [
        (places[one], places[other])
        for one, other in (
            (",".join(parts[:k]).strip(), ",".join(parts[k:]).strip()) for k in range(1, len(parts))
        )
        if one in places and other in places and one != other
    ]
    if len(found) != 1:
        raise InvalidArgument("--epsilon-between must be A,B=E with two different secrets, got other names")
    return found[0]
