"""Round bounds to a few digits, to the side on which they remain true."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

__all__ = ["at_least", "at_most", "rounded_up"]


def at_most(bound: float | Decimal, digits: int = 5) -> str:
    """Return an upper bound in a few digits, rounded up.

    >>> at_most(0.4321001), at_most(0.25), at_most(0.0), at_most(math.inf)
    ('0.43211', '0.25', '0', '∞')
    """
    return _written(rounded_up(bound, digits), digits)


def at_least(bound: float | Decimal, digits: int = 5) -> str:
    """Return a lower bound in a few digits, rounded down.

    >>> at_least(0.4321091), at_least(0.25)
    ('0.4321', '0.25')
    """
    return _written(_rounded(bound, digits, ROUND_FLOOR), digits)


def rounded_up(bound: float | Decimal, digits: int) -> float:
    """Return the bound rounded up to a number of digits."""
    return _rounded(bound, digits, ROUND_CEILING)


def _rounded(bound: float | Decimal, digits: int, side: str) -> float:
    exact = Decimal(bound)
    return math.inf if exact.is_infinite() else float(Context(prec=digits, rounding=side).plus(exact))


def _written(number: float, digits: int) -> str:
    return "∞" if math.isinf(number) else f"{number:.{digits}g}"
