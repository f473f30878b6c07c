r"""Bounds on the tails of Σ n_s·KL(P̂_s‖P_s) that hold for every n and every distribution (theorem A2).

Cells are removed one by one, the smallest first, so that a cell has probability at most 1/k among the k that
remain. The statistic is then a sum of binomial divergences. With the worst probability at every step,

.. math:: T_1(n,x)=1\{x\le 0\},\qquad
          T_k(n,x)=\sup_{0<\pi\le 1/k} E\,T_{k-1}\big(n-J,\ x-n\,\mathrm{kl}(J/n,\pi)\big)

with J ~ Bin(n, π) bounds the tail for every distribution on k cells. A second stratum starts from the tail of
the first instead of from T₁. This module computes upper bounds on T for every x, and for all n from some
number of rows on, so one radius serves all pairs of a table. The proofs are in ``docs/theory.md``, 'Radii for
every n'. All rounding is to the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import erfc

from rldp.theory.kl_laws import SPANS, Boxes, Floats, Grid, Law, sure_rows

__all__ = ["Resolution", "Strata", "Tail", "normal_survival", "recursion_tail", "work"]

_UNIT = 2.0**-52
_ROUNDING = 1 + 2.0**-36  # exceeds the relative rounding of all weights and sums of one step
_UNDERFLOW = 1e-290  # exceeds the total probability of hits whose weight underflows: each is below e^-700
_MOST_ROWS = 2**53
_NORMAL_FROM = 400.0  # larger means are bounded by the normal law
_FINER = 8  # parts of an interval for the sum over the normal law
_SPARE = 1e-3  # share of α spent on outcomes that are not enumerated, at each of four places
_AHEAD = 3.0  # how much farther each tail is computed than the previous one


@dataclass(frozen=True)
class Resolution:
    """The steps of a grid: δ, the width of boxes in standard deviations, and their looseness in n."""

    step: float
    width: float
    looseness: float


@dataclass(frozen=True)
class Strata:
    """Independent multinomial samples on ``cells`` cells, each of at least ``fewest`` rows."""

    count: int
    cells: int
    fewest: int = 1

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the statistic in the limit of many rows."""
        return self.count * (self.cells - 1)


@dataclass(frozen=True)
class Tail:
    """An upper bound on Pr(statistic ≥ x) for all distributions.

    Attributes
    ----------
    grid : Grid
    suprema : array (points,)
        Upper bounds on e^{κx} T(x) for x in (iδ, (i+1)δ].
    waste : float
        Probability to add.
    """

    grid: Grid
    suprema: Floats
    waste: float

    def at(self, x: float) -> float:
        """Return the bound at ``x``; beyond the grid, the bound at its end."""
        if x <= 0:
            return 1.0
        end = min(x, self.grid.points * self.grid.step)
        supremum = float(self.suprema[math.ceil(end / self.grid.step) - 1])
        return min(1.0, (supremum * math.exp(-self.grid.tilt * end) + self.waste) * _ROUNDING)

    def radius(self, alpha: float) -> float:
        """Return nearly the smallest x with a bound of at most α; infinity if it is beyond the grid."""
        left = alpha / _ROUNDING**2 - self.waste
        if left <= 0:
            return math.inf
        starts = self.grid.step * np.arange(self.grid.points)
        with np.errstate(divide="ignore"):
            needed = np.log(self.suprema / left) / self.grid.tilt
        x = np.maximum(needed, starts) + 2.0**-32
        enough = x[x <= starts + self.grid.step]
        return next((float(each) for each in enough if self.at(float(each)) <= alpha), math.inf)


def _grid(strata: Strata, alpha: float, reach: float, tilt: float, resolution: Resolution) -> Grid:
    spare = alpha * _SPARE / strata.freedom
    return Grid(
        step=resolution.step,
        points=math.ceil(reach / resolution.step),
        tilt=tilt,
        width=resolution.width,
        looseness=resolution.looseness,
        least=spare,
        cut=math.log(2 / spare),
    )


def recursion_tail(
    strata: Strata, alpha: float, *, reach: float, tilt: float, resolution: Resolution
) -> Tail:
    """Return a tail that is sharp where it is about ``alpha``.

    Parameters
    ----------
    strata : Strata
        At least one, with more than one cell.
    alpha : float
        Limits the probability spent on rare outcomes to less than α/100.
    reach : float
        The tail is computed for x up to here.
    tilt : float
        κ, a multiple of 1/64, about −d log T/dx where T is α. The bound holds for any κ.
    resolution : Resolution
    """
    grid = _grid(strata, alpha, reach, tilt, resolution)
    fewest = _fewest(strata, grid)
    laws = _laws(grid, min(fewest))
    waste, tail = strata.count * grid.least * (strata.cells - 2), np.zeros(0)
    for _ in range(strata.count):
        for cells, rows in enumerate(fewest, start=2):
            tail, lost = _peeled(grid, tail, laws, cells, rows)
            waste += lost
    suprema = np.zeros(grid.points)
    suprema[: len(tail)] = tail
    return Tail(grid, suprema, waste)


def _fewest(strata: Strata, grid: Grid) -> list[int]:
    """Return the rows that remain for 2, 3, … cells, each except with probability ``least``."""
    cost = -math.log(grid.least)
    shares = [cells / strata.cells for cells in range(2, strata.cells)]
    sure = [sure_rows(strata.fewest, share, cost) for share in shares]
    return [max(rows, 1) for rows in [*sure, strata.fewest]]  # a stratum without rows adds nothing


@lru_cache(maxsize=2)
def _laws(grid: Grid, fewest: int) -> tuple[Law, ...]:
    return tuple(Law.of(grid, chunk) for chunk in _boxes(grid, fewest).chunks(grid.points))


@lru_cache(maxsize=8)
def _boxes(grid: Grid, fewest: int) -> Boxes:
    return Boxes.covering(grid, fewest, _MOST_ROWS, _NORMAL_FROM)


def _needed(boxes: Boxes, cells: int, rows: int) -> NDArray[np.bool_]:
    """Return the mask of boxes with some n ≥ ``rows`` and some π ≤ 1/``cells``."""
    return boxes.most >= np.maximum(rows, cells * boxes.low)


def _peeled(grid: Grid, tail: Floats, laws: Sequence[Law], cells: int, rows: int) -> tuple[Floats, float]:
    """Compute the tail for ``cells`` cells from that for ``cells`` − 1, and the probability lost.

    A tail is an array (points,) of sup e^{κx} T(x). Fewer than ``rows`` rows do not occur.
    """
    points = _points(grid, len(tail))
    tail = np.pad(tail, (0, points - len(tail)))
    suprema = _suprema(grid, tail)
    windows = sliding_window_view(suprema.reshape(-1), points)
    best = suprema[0, points:] * math.exp(2 * grid.tilt * grid.least)  # means below ``least``
    best = np.maximum(best, _normal(grid, tail, cells))
    lost = grid.least + _UNDERFLOW
    for law in laws:
        needed = _needed(law.boxes, cells, rows)
        if needed.any():
            part = law if needed.all() else law.chosen(needed)
            start = part.span * (2 * points) + points - np.minimum(part.shift, points)
            value = part.tilted @ windows[start] + part.sure[..., :points]
            best = np.maximum(best, value.max(axis=(0, 1)))
            lost = max(lost, float(part.beyond.max()) + _UNDERFLOW)
    return _trimmed(grid, np.minimum(best * _ROUNDING, grid.growth(points)), lost)


def _points(grid: Grid, before: int) -> int:
    """Return the number of points of the next tail to compute."""
    ahead = math.ceil((_AHEAD if before else grid.cut) / grid.step)
    return min(grid.points, before + ahead)


def _trimmed(grid: Grid, tail: Floats, lost: float) -> tuple[Floats, float]:
    """Set parts of the tail below ``least`` to zero, and count them as lost."""
    points = len(tail)
    highest = tail * np.exp(-grid.tilt * grid.step * np.arange(points))
    keep = int(np.searchsorted(-highest, -grid.least)) + 1
    if keep >= points:
        return tail, lost + (float(highest[-1]) if points < grid.points else 0.0)
    return tail[:keep], lost + float(highest[keep])


def _suprema(grid: Grid, tail: Floats) -> Floats:
    """Return maxima over spans of intervals that end at each interval: (spans, 2·points).

    The first half is 0: there x − c ≤ 0, and hits are counted as sure. Intervals below 0 hold e^{κy}.
    """
    points = len(tail)
    below = np.exp(grid.tilt * grid.step * np.arange(1 - points, 1))
    widened = np.concatenate([below, tail])
    table = np.zeros((len(SPANS) + 1, 2 * points))
    table[:, points:] = np.maximum.accumulate(widened)[points:]
    for size, span, place in zip([1, *SPANS], SPANS, table, strict=False):
        if span > points:
            break
        more = span - size
        widened[more:] = np.maximum(widened[more:], widened[:-more])
        place[points:] = widened[points:]
    return table


def _normal(grid: Grid, tail: Floats, cells: int) -> Floats:
    """Return the step of the recursion for all cells with a mean above 400."""
    points = len(tail)
    y = np.arange(points * _FINER + 1.0) * (grid.step / _FINER)
    survival = normal_survival(y, cells)
    mass = survival[:-1] - survival[1:] + 16 * _UNIT * survival[:-1]
    mass = (mass * np.exp(grid.tilt * y[1:])).reshape(points, _FINER).sum(axis=1)
    either = np.maximum(tail, np.concatenate([[1.0], tail[:-1]]))
    return np.asarray(np.convolve(mass, either)[:points] + survival[_FINER::_FINER] * grid.growth(points))


def normal_survival(y: Floats, cells: int) -> Floats:
    """Return upper bounds on Pr(c ≥ y) for all π ≤ 1/cells and n with nπ ≥ 400, for increasing y ≥ 0.

    By Zubkov and Serov's inequalities it is at most Pr(|Z| ≥ √(2y) − h), Z standard normal, where h bounds
    the steps of √(2c) from one hit to the next; and by Chernoff's at most 2e^{−y}.
    """
    slack = 1 - np.sqrt(2 * y / _NORMAL_FROM) - 1 / _NORMAL_FROM
    step = 1 / math.sqrt(_NORMAL_FROM * (1 - 1 / cells)) / np.maximum(slack, 0.1)
    normal = np.where(slack > 0.1, erfc((np.sqrt(2 * y) - step) / math.sqrt(2)) + 1e-300, 1.0)
    return np.asarray(np.minimum.accumulate(np.minimum(normal, np.minimum(2 * np.exp(-y), 1.0))))


def work(strata: Strata, alpha: float, *, reach: float, tilt: float, resolution: Resolution) -> float:
    """Return the largest number of values that :func:`recursion_tail` may gather."""
    grid = _grid(strata, alpha, reach, tilt, resolution)
    fewest = _fewest(strata, grid)
    boxes = _boxes(grid, min(fewest))
    hits = (boxes.last - boxes.first + 1.0) * grid.points
    return strata.count * sum(
        float(hits[_needed(boxes, cells, rows)].sum()) for cells, rows in enumerate(fewest, start=2)
    )
