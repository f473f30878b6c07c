r"""Radii of KL sets that are valid for every n and every distribution.

The set of a pair of secrets is :math:`\{n_1 KL(\hat P_1\|P_1)+n_2 KL(\hat P_2\|P_2)\le x\}`, where
:math:`n_s` rows of the sample have secret s, :math:`\hat P_s` is the estimated and :math:`P_s` the true
conditional distribution of the value. Two theorems give an x with which the truth lies outside with
probability at most α, for every truth and all :math:`n_s`:

- A1, a closed form (:func:`moment_radius`): 1.2 to 2.1 times the limit for many rows, less with
  fewer rows than values;
- A2, a recursion (:func:`recursion_radius`): 1.1 to 1.3 times, for up to about 150 values. It is computed for
  all numbers of rows at once, so that the pairs of a table share it.

See ``docs/theory.md``, 'Radii for every n'. All numbers are rounded up. The bounds on rounding assume that
NumPy's elementary functions are correct to four units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from scipy.special import chdtri

from rldp._common.checks import share_number, shown
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sets import Radius
from rldp.theory.kl_recursion import Resolution, Strata, recursion_tail, work

__all__ = [
    "Radius",
    "asymptotic_radius",
    "log_moment_bound",
    "moment_radius",
    "pair_level",
    "pair_radii",
    "recursion_radius",
]

_UNIT = 2.0**-52
_MOST_TERMS = 2**17
_TOO_MANY = 2**53

# Finest first. Coarser steps cost little where there are many cells; coarser boxes cost more.
_RESOLUTIONS = (
    Resolution(1 / 32, 0.06, 0.01),
    Resolution(1 / 16, 0.06, 0.01),
    Resolution(1 / 16, 0.12, 0.02),
    Resolution(1 / 8, 0.12, 0.02),
    Resolution(1 / 4, 0.12, 0.02),
    Resolution(1 / 2, 0.12, 0.02),
    Resolution(1 / 2, 0.2, 0.03),
    Resolution(1.0, 0.2, 0.03),
)
_SMALLEST_LEVEL = 1e-100  # below, numbers of the recursion would underflow
_ROUGH, _ROUGHER = Resolution(1 / 8, 0.25, 0.04), Resolution(1.0, 0.25, 0.04)
_MOST_CELLS = 250
_MANY_ROWS = 16  # rows per cell: from here on small samples are excluded, which gains up to a tenth
_WORK = 4e8  # limit on gathered numbers, about a second, with a step below 1/4
_MOST_WORK = 1.2e9  # the same with a larger step; if a rough radius takes more, only A1 is used


def pair_radii(sizes: Sequence[tuple[int, int]], cells: int, alpha: float) -> tuple[Radius, ...]:
    r"""Return the radii x of the KL sets of the pairs of one table, the smaller of A1 and A2 for each.

    .. math:: \Pr\big(n_1 KL(\hat P_1\|P_1)+n_2 KL(\hat P_2\|P_2)\ge x\big)\le\alpha

    for all distributions :math:`P_1, P_2` on ``cells`` values and independent samples of n1 and n2 rows. A
    radius is 0 for a single value. It is positive for any other pair without rows: its set is everything. A2
    is computed once, for the number of rows of the rarest secret.

    Parameters
    ----------
    sizes : sequence of (int, int)
        Rows of the two secrets of each pair, from 0 to 2^53 − 1, in any order.
    cells : int
        Number of values, at least 1.
    alpha : float
        Level of each pair, strictly between 0 and 1.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If an argument is invalid.

    Examples
    --------
    >>> (radius,) = pair_radii([(25, 25)], 5, 0.05 / 3)
    >>> radius.method, round(radius.value, 1)
    ('A2', 12.2)
    """
    checked = [_checked(sorted(pair), cells, alpha)[0] for pair in sizes]
    fewest = _fewest([n for pair in checked for n in pair], cells)
    return tuple(_pair_radius(pair, fewest, int(cells), float(alpha)) for pair in checked)


@lru_cache(maxsize=4096)
def _pair_radius(sizes: tuple[int, ...], fewest: int, cells: int, alpha: float) -> Radius:
    by_moments = moment_radius(sizes, cells, alpha)
    by_recursion = _strata_radius(Strata(sum(n > 0 for n in sizes), cells, fewest), alpha)
    return Radius(by_recursion, "A2") if by_recursion <= by_moments else Radius(by_moments, "A1")


def pair_level(alpha: float, secrets: int) -> float:
    """Return the level of each pair: α over the number of pairs of secrets, rounded down."""
    pairs = max(math.comb(secrets, 2), 1)
    return math.nextafter(alpha / pairs, 0.0) if pairs > 1 else alpha


def asymptotic_radius(freedom: int, alpha: float) -> float:
    """Return χ²_{freedom}(1 − α)/2, the limit of x for fixed positive probabilities; for comparison only."""
    return 0.5 * float(chdtri(freedom, alpha)) if freedom > 0 else 0.0


# A1


def moment_radius(sizes: Sequence[int], cells: int, alpha: float) -> float:
    r"""Return min over t in (0, 1] of [Σ_s log G_{k,n_s}(t) + log 1/α]/t, rounded up (theorem A1).

    Parameters
    ----------
    sizes : sequence of int
        Rows of each stratum; a stratum without rows adds nothing.
    cells : int
        k, the number of cells of each stratum.
    alpha : float
    """
    sizes, cells, alpha = _checked(sizes, cells, alpha)
    return _moment_radius(sizes, cells, alpha)[0] if cells > 1 else 0.0


def _moment_radius(sizes: tuple[int, ...], cells: int, alpha: float) -> tuple[float, float]:
    """Return the radius and its t. Every t proves its x, so the search for the best t needs no proof."""
    from scipy.optimize import minimize_scalar  # imported late, because it is slow

    level = -math.log(alpha) * (1 + 8 * _UNIT) + 1e-300

    def bound(t: float) -> float:
        moments = sum(log_moment_bound(n, cells, t) for n in sizes)
        return (moments + level) / t * (1 + 8 * (len(sizes) + 2) * _UNIT)

    fit = minimize_scalar(lambda v: bound(1 / (1 + math.exp(-v))), bounds=(-16, 16), method="bounded")
    best, t = min((bound(t), t) for t in (1.0, 1 / (1 + math.exp(-float(fit.x)))))
    return best * (1 + 2.0**-30), t  # slightly more, so that nearby t prove it too


def log_moment_bound(n: int, cells: int, t: float) -> float:
    r"""Return an upper bound on log G, sharp up to rounding, for 0 < t ≤ 1.

    .. math:: G_{k,n}(t)=\sum_{m=0}^{n}\binom{k+m-2}{m}\,t^m\,\frac{n!}{(n-m)!\,n^m}
              \ \ge\ E\exp\big(t\,n\,KL(\hat P\|P)\big)\quad\text{for every P on k cells.}

    The ratio of neighbouring terms, (k−1+m)/(m+1)·t·(1−m/n), decreases in m (for k > 1). The terms therefore
    rise to a peak and fall, and once the ratio r is below 1 the rest is bounded by a geometric series. If
    2^17 terms do not suffice, the bound G ≤ (1−t)^{−(k−1)} is used.
    """
    if n == 0 or cells == 1:
        return 0.0
    limit = -(cells - 1) * math.log1p(-t) * (1 + 8 * _UNIT) if t < 1 else math.inf
    terms = 64
    while True:
        value = _log_sum(n, cells, t, terms)
        if value is not None:
            return min(value, limit)
        if terms >= _MOST_TERMS:
            return limit
        terms *= 4


def _log_sum(n: int, cells: int, t: float, terms: int) -> float | None:
    """Return the log of the first terms of G plus a bound on the others; None if these are not negligible.

    Each ratio has a relative error below 2·2^-52. Products and sums of M ratios have one below 4M·2^-52. The
    logarithm of the peak has an error below that times 1 + Σ|log ratio|. A product that underflows is below
    2^-1000.
    """
    m = np.arange(terms, dtype=np.float64)
    ratios = (cells - 1 + m) / (m + 1) * t * np.maximum((n - m) / n, 0.0)
    rising = int(np.searchsorted(-ratios, -1.0))
    last = float(ratios[-1])
    if rising == terms or last > 1 - 2.0**-20:
        return None
    logs = np.log(ratios[:rising])
    before, after = np.cumprod(1 / ratios[:rising][::-1]), np.cumprod(ratios[rising:])
    rest = float(after[-1]) / (1 - last) if last > 0 else 0.0
    if rest > 2.0**-50:
        return None
    total = 1 + float(before.sum()) + float(after.sum()) + 2 * rest + terms * 2.0**-1000
    error = 4 * _UNIT * terms * (2 + float(np.abs(logs).sum()))
    return float(logs.sum()) + math.log(total) * (1 + 8 * _UNIT) + error


# A2


def recursion_radius(sizes: Sequence[int], cells: int, alpha: float) -> float:
    """Return an x with T(x) ≤ α, rounded up (theorem A2); infinity if that takes too long.

    It is valid for all samples of at least one row. If each has at least 16 rows per cell, it is valid for
    such samples only. The cost is counted, not timed, so that the result is the same on every machine.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each stratum; those without rows are left out.
    cells : int
        k, the number of cells of each stratum.
    alpha : float
    """
    sizes, cells, alpha = _checked(sizes, cells, alpha)
    return _strata_radius(Strata(sum(n > 0 for n in sizes), cells, _fewest(sizes, cells)), alpha)


def _fewest(sizes: Sequence[int], cells: int) -> int:
    """Return the assumed least number of rows of non-empty samples: 16 per cell, or one."""
    many = _MANY_ROWS * cells
    return many if all(n >= many for n in sizes if n > 0) else 1


def _strata_radius(strata: Strata, alpha: float) -> float:
    if strata.cells == 1:
        return 0.0
    if strata.count == 0 or strata.cells > _MOST_CELLS or alpha < _SMALLEST_LEVEL:
        return math.inf
    return _recursion_radius(strata, alpha)


@lru_cache(maxsize=1024)
def _recursion_radius(strata: Strata, alpha: float) -> float:
    """Return the best of rough radii with increasing tilts and of a fine one; each of them is proved."""
    limit = asymptotic_radius(strata.freedom, alpha)
    moments, _ = _moment_radius((_TOO_MANY,) * strata.count, strata.cells, alpha)
    reach = min(1.5 * limit + 4, moments)
    tilt = round(64 * min(max(1.02 - (strata.freedom / 2 - 1) / (1.2 * limit), 0.125), 0.875)) / 64
    rough = _ROUGH if strata.freedom <= 20 else _ROUGHER
    radius = _tried(strata, alpha, reach, tilt, rough, _MOST_WORK)
    while tilt + 0.125 < 1:
        steeper = _tried(strata, alpha, min(reach, radius), tilt + 0.125, rough, _WORK)
        if steeper >= radius < math.inf:
            break
        radius, tilt = steeper, tilt + 0.125
    fine = (
        _tried(strata, alpha, min(reach, radius), tilt, each, _WORK if each.step < 0.25 else _MOST_WORK)
        for each in _RESOLUTIONS
    )
    radius = min(radius, next((found for found in fine if found < math.inf), math.inf))
    return radius * (1 + 2.0**-10)  # slightly more, so that another mesh proves it too


def _tried(
    strata: Strata, alpha: float, reach: float, tilt: float, resolution: Resolution, most: float
) -> float:
    """Return a radius of at most ``reach``; infinity if it takes more than ``most`` numbers, or is larger."""
    if work(strata, alpha, reach=reach, tilt=tilt, resolution=resolution) > most:
        return math.inf
    return recursion_tail(strata, alpha, reach=reach, tilt=tilt, resolution=resolution).radius(alpha)


def _checked(sizes: Sequence[int], cells: int, alpha: float) -> tuple[tuple[int, ...], int, float]:
    for name, value, least in chain((("the number of rows", n, 0) for n in sizes), [("cells", cells, 1)]):
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise InvalidArgumentType(f"{name} must be an integer, got {shown(value)}")
        if not least <= value < _TOO_MANY:
            raise InvalidArgument(f"{name} must lie between {least} and 2^53 − 1, got {shown(value)}")
    return tuple(int(n) for n in sizes), int(cells), share_number("alpha", alpha)
