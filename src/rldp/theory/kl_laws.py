r"""Bounds on the law of one cell of the likelihood-ratio statistic, for whole ranges of n and π.

With J ~ Bin(n, π) and mean μ = nπ, the cell adds c = n·kl(J/n, π) to the statistic, and

.. math:: \Pr(J=j) = C_{n,j}\,e^{-c_n(j,\mu)},\qquad C_{n,j}=\binom nj (j/n)^j(1-j/n)^{n-j},\qquad
          c_n(j,\mu) = j\log\frac j\mu+(n-j)\log\frac{n-j}{n-\mu}.

For fixed j and μ both C and c decrease in n; c is convex in log μ, with minimum 0 at μ = j. All quantities of
the recursion in :mod:`rldp.theory.kl_recursion` therefore have simple bounds on a *box*: n from ``fewest`` to
``most`` and μ from ``low`` to ``high``. See ``docs/theory.md``, 'Radii for every n'.

Rounding: NumPy's elementary functions are assumed to be correct to four units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["SPANS", "Boxes", "Grid", "Law", "divergence", "log_weight", "sure_rows"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SPANS = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256])
"""Numbers of intervals over which suprema are kept; longer ranges are extended to all lower intervals."""

_UNIT = 2.0**-52
_CHUNK = 2**19  # numbers gathered at once, to stay in the processor's cache
_STIRLING_FROM = 257


def _small_weights() -> Floats:
    """Return log(j^j e^{-j} / j!) for j < 257, by the increments j·log(1 + 1/j) − 1."""
    j = np.arange(1.0, _STIRLING_FROM - 1)
    return np.concatenate([[0.0, -1.0], np.cumsum(j * np.log1p(1 / j) - 1) - 1])


_SMALL_WEIGHTS = _small_weights()


def log_weight(j: ArrayLike) -> Floats:
    """Return log(j^j e^{-j} / j!), 0 at j = 0, for integers j ≥ 0, with an error below 2^-40.

    From 257 on it is Stirling's series up to 1/(360 j³); the next term is below 2^-50. Below, it is a sum of
    at most 256 increments between −1 and 0, each with an error below 8·2^-52.
    """
    count = np.asarray(j, dtype=np.float64)
    large = np.maximum(count, _STIRLING_FROM)
    series = -0.5 * np.log(2 * np.pi * large) - 1 / (12 * large) + 1 / (360 * large**3)
    small = _SMALL_WEIGHTS[np.minimum(count, _STIRLING_FROM - 1).astype(np.int64)]
    return np.asarray(np.where(count < _STIRLING_FROM, small, series))


def divergence(n: ArrayLike, j: ArrayLike, mean: ArrayLike) -> tuple[Floats, Floats]:
    """Return c_n(j, μ) = n·kl(j/n, μ/n) and a bound on its rounding error, for 0 ≤ j ≤ n, 0 < μ < n."""
    rows, count, mu = (np.asarray(x, dtype=np.float64) for x in (n, j, mean))
    hits = count * np.log(np.where(count > 0, count / mu, 1.0))
    misses = (rows - count) * np.log1p(np.where(count < rows, (mu - count) / (rows - mu), 0.0))
    error = 8 * _UNIT * (count + mu + np.abs(hits) + np.abs(misses))
    return np.asarray(np.maximum(hits + misses, 0.0)), np.asarray(error)


def sure_rows(n: int, share: float, cost: float) -> int:
    """Return the largest m with Pr(Bin(n, p) < m) ≤ e^{-cost} for p ≥ ``share``, by Chernoff's bound; or 0.

    An extra eighth covers the rounding of n·share, for n below 2^53 and share ≤ 1 − 1/1000.
    """
    mean = n * share
    low, high = -1, math.floor(mean)
    while high - low > 1:
        middle = (low + high) // 2
        hits = middle * math.log(middle / mean) if middle else 0.0
        misses = (n - middle) * math.log1p((mean - middle) / (n - mean))
        error = 8 * _UNIT * (middle + mean + abs(hits) + abs(misses))
        low, high = (middle, high) if hits + misses - error >= cost + 0.125 else (low, middle)
    return low + 1


@dataclass(frozen=True)
class Grid:
    """The resolution at which tails are computed.

    Attributes
    ----------
    step : float
        δ, a power of two: the statistic is divided into intervals (iδ, (i+1)δ].
    points : int
        Number of intervals.
    tilt : float
        κ, a multiple of 1/64 between 0 and 1: a tail T is stored as sup e^{κx} T(x) over each interval.
    width : float
        Width of the boxes in μ, in standard deviations of J.
    looseness : float
        Approximate limit on the change of log C and log c with n within a box.
    least : float
        Hits of a cell with a mean below this are ignored.
    cut : float
        Hits with a divergence above this are covered by Chernoff's bound.
    """

    step: float
    points: int
    tilt: float
    width: float
    looseness: float
    least: float
    cut: float

    def growth(self, points: int) -> Floats:
        """Return e^{κx} at the upper ends of the first intervals."""
        return np.asarray(np.exp(self.tilt * self.step * np.arange(1, points + 1)))

    def means(self, top: float) -> Floats:
        """Return the ends of the intervals of μ, from ``least`` to ``top`` or slightly beyond."""
        ends = [self.least]
        while ends[-1] < top:
            mu = ends[-1]
            deviations = self.width * min(3.0, 1 + mu / 64)
            ends.append(mu * math.exp(min(deviations / math.sqrt(mu), 0.25 if mu > 0.01 else 0.75)))
        return np.array(ends)


@dataclass(frozen=True)
class Boxes:
    """Boxes of n and μ, and the window of hits that are treated individually.

    Attributes
    ----------
    low, high : arrays (B,)
        The range of μ of a box.
    fewest, most : arrays (B,)
        The range of n of a box; 2·low ≤ most.
    first, last : arrays (B,)
        The window of hits.
    """

    low: Floats
    high: Floats
    fewest: Integers
    most: Integers
    first: Integers
    last: Integers

    @classmethod
    def covering(cls, grid: Grid, fewest: int, most: int, top: float) -> Boxes:
        """Cover all n from ``fewest`` to ``most`` and μ up to ``top`` by blocks [n₁, n₂].

        Blocks with 1/n₁ − 1/n₂ ≤ 2·looseness/(3μ) have the looseness of ``grid``.
        """
        ends = grid.means(min(most / 2, top))
        parts: list[tuple[Integers, Integers, Integers]] = []
        for index, (low, high) in enumerate(pairwise(ends)):
            bottom = max(fewest, math.ceil(2 * low), 1)
            if bottom > most:
                break
            pace = 2 * grid.looseness / (3 * high)
            blocks = math.ceil((1 / bottom - 1 / most) / pace)
            inner = np.floor(1 / (1 / most + pace * np.arange(1, blocks + 1)))
            stops = np.unique(np.concatenate([[bottom - 1, most], inner[inner >= bottom]])).astype(np.int64)
            parts.append((np.full(len(stops) - 1, index), stops[:-1] + 1, stops[1:]))
        cell, n1, n2 = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls._of(grid, ends, cell, n1, n2)

    @classmethod
    def _of(cls, grid: Grid, ends: Floats, cell: Integers, fewest: Integers, most: Integers) -> Boxes:
        low, high = ends[:-1], ends[1:]
        j = np.arange(math.ceil(ends[-1] + math.sqrt(2 * grid.cut * ends[-1]) + grid.cut) + 1.0)
        infinite_n = j * np.log(np.maximum(j, 1.0)) - j  # where c is smallest: widest windows
        rare = (j > high[:, None]) & (infinite_n - np.outer(np.log(high), j) + high[:, None] > grid.cut)
        rare |= (j < low[:, None]) & (infinite_n - np.outer(np.log(low), j) + low[:, None] > grid.cut)
        first, count = (~rare).argmax(axis=1), (~rare).sum(axis=1)
        last = np.minimum((first + count - 1)[cell], most)
        return cls(low[cell], high[cell], fewest, most, first[cell], last)

    def __len__(self) -> int:
        return len(self.low)

    def chosen(self, which: slice | NDArray[np.bool_]) -> Boxes:
        """Select some of the boxes."""
        return Boxes(*(getattr(self, field.name)[which] for field in fields(self)))

    def chunks(self, points: int) -> Iterator[Boxes]:
        """Yield consecutive boxes whose hits, times ``points``, fill a chunk."""
        start = 0
        while start < len(self):
            ahead = slice(start, start + max(1, _CHUNK // points))
            hits = np.maximum.accumulate(self.last[ahead]) - np.minimum.accumulate(self.first[ahead]) + 1
            sizes = hits * np.arange(1, len(hits) + 1) * points
            stop = start + max(1, int(np.searchsorted(sizes, _CHUNK, side="right")))
            yield self.chosen(slice(start, stop))
            start = stop


@dataclass(frozen=True)
class Law:
    r"""The data of the recursion for hits j (J) in some boxes (B), at both ends of the means.

    Let T be 1 up to 0, f_i an upper bound on e^{κy} T(y) in interval i (f_i = e^{κδ(i+1)} for i < 0). Then
    for all n and μ of a box and x in interval i

    .. math:: e^{\kappa x} E\,T(x-c) \le \max_{\text{ends}}\Big(\sum_{j} \text{tilted}_j
              \max_{i-\text{shift}_j-\text{span}_j< m\le i-\text{shift}_j} f_m + \text{sure}_i\Big)
              + e^{\kappa x}\,\text{beyond},

    the sum over the j with shift_j ≤ i.

    Attributes
    ----------
    boxes : Boxes
    shift : array (B, J)
        ⌊c/δ⌋ for the smallest c, at most ``points``.
    span : array (B, J)
        Index into SPANS.
    tilted : array (B, 2, J)
        C_j e^{−(1−κ)c}.
    sure : array (B, 2, points)
        e^{κx} times the probability of the hits for which c exceeds x.
    beyond : array (B,)
        Probability of the hits outside the window.
    """

    boxes: Boxes
    shift: Integers
    span: Integers
    tilted: Floats
    sure: Floats
    beyond: Floats

    @classmethod
    def of(cls, grid: Grid, boxes: Boxes) -> Law:
        """Return the law of some boxes."""
        first, last = int(boxes.first.min()), int(boxes.last.max())
        j = np.arange(first, last + 1)[None, :]
        low, high, most = boxes.low[:, None], boxes.high[:, None], boxes.most[:, None]
        small_n, large_n = np.maximum(boxes.fewest[:, None], j), np.maximum(most, j)
        nearest, error = divergence(large_n, j, np.clip(j, low, high))
        shift = np.floor(np.clip((nearest - error) / grid.step, 0, grid.points)).astype(np.int64)
        farthest = np.maximum(*(np.add(*divergence(small_n, j, end)) for end in (low, high)))
        reach = np.ceil(np.minimum(farthest / grid.step, 2 * grid.points))
        bent = _tangents(large_n, j, low, high)
        log_peak = (log_weight(j) + log_weight(small_n - j) - log_weight(small_n))[:, None, :]
        possible = (j <= most)[:, None, :]
        plain = np.where(possible, np.exp(log_peak - bent), 0.0)
        return cls(
            boxes=boxes,
            shift=shift,
            span=np.searchsorted(SPANS, reach - shift + 1),
            tilted=np.where(possible, np.exp(log_peak - (1 - grid.tilt) * bent), 0.0),
            sure=_exceeding(plain, shift, grid.points) * grid.growth(grid.points),
            beyond=_chernoff(most, last + 1, high)[:, 0] + _chernoff(most, first - 1, low)[:, 0],
        )

    def chosen(self, which: NDArray[np.bool_]) -> Law:
        """Select some of the boxes."""
        arrays = (getattr(self, field.name)[which] for field in fields(self)[1:])
        return Law(self.boxes.chosen(which), *arrays)


def _tangents(n: Integers, j: Integers, low: Floats, high: Floats) -> Floats:
    """Return lines in log μ below c_n(j, μ) on the whole box, at the ends of the means (B, 2, J)."""
    middle = np.sqrt(low * high)
    value, error = divergence(n, j, middle)
    slope = (middle - j) * (n / (n - middle))
    ways = np.log(np.stack([low, high], axis=1) / middle[:, None])
    error = error + 8 * _UNIT * np.abs(slope)
    return np.asarray((value - error)[:, None, :] + slope[:, None, :] * ways)


def _exceeding(weights: Floats, shift: Integers, points: int) -> Floats:
    """Sum the weights (B, 2, J) of hits with a shift above i, for i < points: (B, 2, points)."""
    boxes = len(weights)
    place = np.arange(2 * boxes).reshape(boxes, 2, 1) * (points + 1) + shift[:, None, :]
    sums = np.bincount(place.ravel(), weights=weights.ravel(), minlength=2 * boxes * (points + 1))
    return np.asarray(sums.reshape(boxes, 2, points + 1)[..., :0:-1].cumsum(axis=2)[..., ::-1])


def _chernoff(n: Integers, j: int, mean: Floats) -> Floats:
    """Return e^{−c}, rounded up, a bound on the probability of j hits and beyond; 0 if impossible."""
    if j < 0:
        return np.zeros(mean.shape)
    value, error = divergence(np.maximum(n, j), j, mean)
    return np.asarray(np.where(j <= n, np.exp(error - value) * (1 + 8 * _UNIT), 0.0))
