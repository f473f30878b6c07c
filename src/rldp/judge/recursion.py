r"""Theorem A2 in floats: an upper bound on the tail of Σ n_s·KL(P̂_s‖P_s) for every distribution.

Cells are peeled off, the smallest first. What is left to explain of x when a cell was hit j times is x − c,
with c = n·kl(j/n, π), and the worst π ≤ 1/k counts, k being the number of cells that are left. For all
numbers of rows n in [N₁, N₂] and all means μ = nπ in [a, b]

- Pr(j) = C_j e^{−c}, where C_j and c are at most those of N₁ and c is at least that of N₂;
- c is convex in log μ: largest at an end, smallest at μ = j or the end next to it, above its tangents.

A tail T is kept as an upper bound f_i on e^{κx} T(x) for x in (iδ, (i+1)δ]. Rounding: δ is a power of two
and κ a multiple of 1/64, so that multiples are exact; NumPy's elementary functions are taken to be right to
four units in the last place; errors of exponents are bounded where they arise; and every step is enlarged by
a factor 1 + 2^-35, more than all its sums and exponentials can lose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

__all__ = ["every_size", "recursion_proof", "similar_sizes"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_UNIT = 2.0**-52
_ENLARGED = 1 + 2.0**-35
_APART = 100  # rows up to which every n is looked at for itself
_MANY_ROWS = 16  # rows for each cell, from which on one proof serves all
_ENDLESS, _MOST_ROWS = 2**20, 2**53  # rows from which on all n are looked at together, and how many there are
_NORMAL = 400.0  # mean from which on the normal law is used
_UNDERFLOW = 1e-290
_SMALLEST_ALPHA, _MOST_CELLS = 1e-100, 250

# δ, width of a range of means in standard deviations, change of logarithms with n; and how much may be
# looked up, so that no file can hang. Finest first. Each but the first and the last is a little finer than
# one that radii are found with, which takes up to 1.6 times as much; it may take twice as much.
_MESHES = (
    ((1 / 64, 0.03, 0.005), 1e8),
    ((1 / 32, 0.05, 0.008), 8e8),
    ((1 / 16, 0.05, 0.008), 8e8),
    ((1 / 16, 0.1, 0.016), 8e8),
    ((1 / 8, 0.1, 0.016), 8e8),
    ((1 / 4, 0.1, 0.016), 2.4e9),
    ((1 / 2, 0.1, 0.016), 2.4e9),
    ((1 / 2, 0.17, 0.025), 2.4e9),
    ((1.0, 0.17, 0.025), 2.4e9),
    ((1.0, 0.22, 0.035), 2.4e9),
)
_ROUGH, _ROUGHER = (1 / 8, 0.22, 0.035), (1.0, 0.22, 0.035)
_ROUGH_WORK = 2.4e9
_BATCH = 2**19  # numbers looked up at once


@dataclass(frozen=True)
class Mesh:
    """Steps, and what is spent on rare events."""

    delta: float
    width: float
    change: float
    tilt: float
    points: int
    spare: float

    @property
    def cut(self) -> float:
        """Divergence beyond which hits are summed up by Chernoff's bound."""
        return math.log(2 / self.spare)

    def powers(self) -> Floats:
        """e^{κx} at the upper ends of the intervals."""
        return np.asarray(np.exp(self.tilt * self.delta * np.arange(1, self.points + 1)))


@lru_cache(maxsize=4096)
def recursion_proof(
    x: float, ranges: tuple[tuple[int, int], ...], cells: int, alpha: float
) -> tuple[bool, float]:
    """Whether the recursion bounds the tail at x by α, and how many numbers were looked up for it.

    First roughly, then as finely as is affordable.

    Parameters
    ----------
    ranges : tuple of (int, int)
        The fewest and the most rows that each sample may have.
    """
    if alpha < _SMALLEST_ALPHA or cells > _MOST_CELLS:
        return False, 0.0
    freedom = len(ranges) * (cells - 1)
    rough = _ROUGH if freedom <= 20 else _ROUGHER
    spent = 0.0

    def bound(steps: tuple[float, float, float], tilt: float, affordable: float) -> float:
        nonlocal spent
        spare = alpha * 1e-3 / freedom
        mesh = Mesh(*steps, tilt, math.ceil(x / steps[0]), spare)
        work = _work(mesh, ranges, cells)
        if work > affordable:
            return math.inf
        spent += work
        return _tail_at(x, mesh, ranges, cells)

    tilt = round(64 * min(max(1.02 - (freedom / 2 - 1) / x, 0.125), 0.875)) / 64
    best = bound(rough, tilt, _ROUGH_WORK)
    while alpha < best and tilt + 1 / 16 < 1:
        steeper = bound(rough, tilt + 1 / 16, _ROUGH_WORK / 3)
        if steeper >= best < math.inf:
            break
        best, tilt = steeper, tilt + 1 / 16
    if best <= alpha:
        return True, spent
    fine = (bound(steps, tilt, affordable) for steps, affordable in _MESHES)
    proved = next((value <= alpha for value in fine if value < math.inf), False)
    return proved, spent


def every_size(rarest: int, cells: int) -> tuple[int, int]:
    """All sizes that samples may have, of which the smallest has ``rarest`` rows."""
    many = _MANY_ROWS * cells
    return (many if rarest >= many else 1), _MOST_ROWS


def similar_sizes(n: int) -> tuple[int, int]:
    """Sizes that are treated alike: few for themselves, then about a fifth more, then all."""
    if n <= _APART:
        return n, n
    if n >= _ENDLESS:
        return _ENDLESS, _MOST_ROWS
    octave = math.floor(4 * math.log2(n / _APART))
    low = math.floor(_APART * 2 ** (octave / 4)) + 1
    high = math.floor(_APART * 2 ** ((octave + 1) / 4))
    return min(low, n), max(high, n)


def _tail_at(x: float, mesh: Mesh, ranges: Sequence[tuple[int, int]], cells: int) -> float:
    """An upper bound on Pr(statistic ≥ x), x in the last interval of the mesh."""
    tails, wasted = np.zeros((1, mesh.points)), 0.0
    for low, high in ranges:
        apart = high <= _APART
        fewest = _fewest(low, cells, mesh.spare)
        batches = _batches(mesh, min(fewest), high, apart)
        wasted += mesh.spare * (cells - 2)
        tails = np.repeat(tails, high + 1, axis=0) if apart else tails
        for left, rows in enumerate(fewest, start=2):
            tails, lost = _peeled(mesh, tails, batches, left, rows, high)
            wasted += lost
        tails = tails[-1:]
    return (float(tails[0, -1]) * math.exp(-mesh.tilt * x) + wasted) * _ENLARGED


def _fewest(n: int, cells: int, spare: float) -> list[int]:
    """Rows left when 2, 3, …, k cells are left, fewer having probability at most ``spare`` (Chernoff).

    The j largest of k cells have probability j/k at least. A tenth is added for rounding: with n < 2^53 and
    at most 250 cells, n·kl is wrong by less where it is below 1000.
    """
    rows = []
    for left in range(2, cells):
        share, cost = left / cells, -math.log(spare) + 0.1
        below, above = -1, math.floor(n * share)
        while above - below > 1:
            m = (below + above) // 2
            kl = m * math.log(m / (n * share)) if m else 0.0
            kl += (n - m) * math.log1p((n * share - m) / (n * (1 - share)))
            rounding = 16 * _UNIT * n
            below, above = (m, above) if kl - rounding >= cost else (below, m)
        rows.append(below + 1)
    return [*rows, n]


# One cell


@dataclass(frozen=True)
class Batch:
    """Ranges of means and rows (B), their hits (J), what a hit does; two entries for the ends of means."""

    low: Floats  # (B,)
    most: Integers  # (B,)
    place: Integers  # (B,): n if every n is for itself, else 0
    left: Integers  # (B, J): n − j, or 0
    shift: Integers  # (B, J): ⌊smallest c/δ⌋
    length: Integers  # (B, J): intervals that x − c may lie in
    weight: Floats  # (B, 2, J): C e^{−(1−κ)c}
    alone: Floats  # (B, 2, points): e^{κx} times the probability that c alone exceeds x
    beyond: float  # probability of hits that are not looked at


def _means(mesh: Mesh, top: float) -> Floats:
    ends = [mesh.spare]
    while ends[-1] < top:
        mu = ends[-1]
        relative = mesh.width * min(3.0, 1 + mu / 64) / math.sqrt(mu)
        ends.append(mu * math.exp(min(relative, 0.25 if mu > 0.01 else 0.75)))
    return np.array(ends)


@lru_cache(maxsize=4)
def _ranges(mesh: Mesh, fewest: int, most: int, apart: bool) -> tuple[Floats, Floats, Integers, Integers]:
    """Means from, to, rows from, to: all μ ≤ n/2 up to 400 and all n, in rows of the result."""
    ends = _means(mesh, min(most / 2, _NORMAL))
    ranges: list[tuple[float, float, int, int]] = []
    for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        bottom = max(1 if apart else fewest, math.ceil(2 * a), 1)
        while bottom <= most:
            inverse = 1 / bottom - 2 * mesh.change / (3 * b)
            top = most if inverse * most <= 1 else max(bottom, math.floor(1 / inverse))
            top = bottom if apart else top
            ranges.append((a, b, bottom, top))
            bottom = top + 1
    columns = list(zip(*ranges, strict=True))
    return np.array(columns[0]), np.array(columns[1]), np.array(columns[2]), np.array(columns[3])


def _windows(mesh: Mesh, a: Floats, b: Floats) -> tuple[Integers, Integers]:
    """Hits outside of which c exceeds the cut, for every n: by Poisson's law, which has the smallest c."""
    a, which = np.unique(a, return_inverse=True)
    b = np.unique(b)
    j = np.arange(math.ceil(b.max() + 2 * mesh.cut + 2 * math.sqrt(mesh.cut * b.max())) + 1.0)
    entropy = j * np.log(np.maximum(j, 1)) - j
    below = (j < a[:, None]) & (entropy + a[:, None] - np.log(a)[:, None] * j > mesh.cut)
    above = (j > b[:, None]) & (entropy + b[:, None] - np.log(b)[:, None] * j > mesh.cut)
    return below.sum(axis=1)[which], len(j) - 1 - above.sum(axis=1)[which]


@lru_cache(maxsize=2)
def _batches(mesh: Mesh, fewest: int, most: int, apart: bool) -> tuple[Batch, ...]:
    a, b, n1, n2 = _ranges(mesh, fewest, most, apart)
    first, last = _windows(mesh, a, b)
    return tuple(
        _batch(mesh, apart, a[part], b[part], n1[part], n2[part], first[part], last[part])
        for part in _parts(first, last, mesh.points)
    )


def _parts(first: Integers, last: Integers, points: int) -> Iterator[slice]:
    """Neighbouring ranges, so few that all they need can be looked up at once."""
    start = 0
    for stop in range(1, len(first) + 1):
        with_next = slice(start, stop + 1)
        hits = int(last[with_next].max() - first[with_next].min()) + 1
        if stop == len(first) or (stop + 1 - start) * hits * points > _BATCH:
            yield slice(start, stop)
            start = stop


def _batch(
    mesh: Mesh, apart: bool, a: Floats, b: Floats, n1: Integers, n2: Integers, first: Integers, last: Integers
) -> Batch:
    j = np.arange(first.min(), min(last.max(), n2.max()) + 1)
    low, high = a[:, None], b[:, None]
    small, large = np.maximum(n1[:, None], j), np.maximum(n2[:, None], j)
    log_peak = _log_peak(n1[:, None], j)[:, None, :]
    least, error = _c(large, j, np.clip(j, low, high))
    shift = np.clip(np.floor((least - error) / mesh.delta), 0, mesh.points).astype(np.int64)
    at_low, at_high = _c(small, j, low), _c(small, j, high)
    greatest = np.maximum(at_low[0] + at_low[1], at_high[0] + at_high[1])
    length = np.ceil(np.minimum(greatest / mesh.delta, 3 * mesh.points)).astype(np.int64) - shift + 1
    middle = np.sqrt(low * high)
    value, error = _c(large, j, middle)
    slope = (middle - j) * large / (large - middle)
    line = (value - error - 8 * _UNIT * np.abs(slope))[:, None, :]
    line = line + slope[:, None, :] * np.log(np.stack([low, high], axis=1) / middle[:, None])
    possible = (j <= n2[:, None])[:, None, :]
    sure = np.where(possible, np.exp(log_peak - line), 0.0)
    at_shift, each = np.zeros((len(a), 2, mesh.points + 1)), np.arange(len(a))
    for hit in range(len(j)):
        at_shift[each, :, shift[:, hit]] += sure[:, :, hit]
    alone = np.flip(np.cumsum(np.flip(at_shift, axis=2), axis=2), axis=2)[:, :, 1:]
    return Batch(
        low=a,
        most=n2,
        place=n1 if apart else np.zeros_like(n1),
        left=np.maximum(n1[:, None] - j, 0) if apart else np.zeros_like(shift),
        shift=shift,
        length=length,
        weight=np.where(possible, np.exp(log_peak - (1 - mesh.tilt) * line), 0.0),
        alone=alone * mesh.powers(),
        beyond=_rare(n2, int(j[0]) - 1, a) + _rare(n2, int(j[-1]) + 1, b),
    )


def _c(n: Integers, j: Integers, mean: Floats) -> tuple[Floats, Floats]:
    """n·kl(j/n, mean/n), and more than its error."""
    hit = j * np.log(np.where(j > 0, j / mean, 1.0))
    missed = (n - j) * np.log1p(np.where(j < n, (mean - j) / (n - mean), 0.0))
    return np.maximum(hit + missed, 0.0), 8 * _UNIT * (j + mean + np.abs(hit) + np.abs(missed))


@lru_cache(maxsize=1)
def _log_factorials(count: int) -> Floats:
    product, logs = 1, [0.0]
    for j in range(1, count):
        product *= j
        logs.append(math.log(product))
    return np.array(logs)


def _log_peak(n: Integers, j: Integers) -> Floats:
    """log C_j (B, J) for n (B, 1), rounded up; C_j = 1 from j = n on, where only larger n count.

    C_j = j^j/j!·(1 − 1/n)⋯(1 − (j−1)/n)·(1 − j/n)^{n−j}. The logarithms of the product add up to j at most,
    so that their sum is wrong by less than j²·2^-52.
    """
    i = np.arange(int(j[-1]))
    product = np.zeros((len(n), len(i) + 1))
    product[:, 1:] = np.cumsum(np.log1p(-np.where(i < n, i, 0) / n), axis=1)
    entropy, factorials = j * np.log(np.maximum(j, 1)), _log_factorials(int(j[-1]) + 1)[j]
    misses = (n - j) * np.log1p(-np.where(j < n, j, 0) / n)
    error = _UNIT * (8 * (entropy + factorials + 2 * j) + j * j)
    return np.asarray(np.where(j < n, entropy - factorials + product[:, j] + misses + error, 0.0))


def _rare(n: Integers, j: int, mean: Floats) -> float:
    """The largest probability of j hits and those beyond, by Chernoff's bound, rounded up."""
    if j < 0:
        return 0.0
    value, error = _c(np.maximum(n, j), np.array(j), mean)
    return float(np.where(j <= n, np.exp(error - value), 0.0).max()) * _ENLARGED + _UNDERFLOW


# One step


def _needed(a: Floats, n2: Integers, left: int, rows: int) -> NDArray[np.bool_]:
    """Rows with some n that is not too few, and some π ≤ 1/left."""
    return n2 >= np.maximum(rows, left * a)


def _peeled(
    mesh: Mesh, tails: Floats, batches: Sequence[Batch], left: int, rows: int, high: int
) -> tuple[Floats, float]:
    """From the tails with one cell less to those with ``left`` cells, and the probability left out.

    ``tails`` has a row for each number of rows 0, …, n, or one for all of them.
    """
    groups, points = tails.shape
    table = _maxima(mesh, tails)
    look = sliding_window_view(table.reshape(-1), points)
    best = table[1, :, points:] * math.exp(2 * mesh.tilt * mesh.spare)  # μ ≤ spare: c ≤ 2μ unless hit
    lost = mesh.spare
    for batch in batches:
        use = np.flatnonzero(_needed(batch.low, batch.most, left, rows))
        if not len(use):
            continue
        kind = np.searchsorted(_sizes(points), batch.length[use])
        start = (kind * groups + batch.left[use]) * (2 * points) + points - batch.shift[use]
        value = (batch.weight[use] @ look[start] + batch.alone[use]).max(axis=1)
        lost = max(lost, batch.beyond)
        if groups == 1:
            best = np.maximum(best, value.max(axis=0))
        else:
            order = np.argsort(batch.place[use], kind="stable")
            places, starts = np.unique(batch.place[use][order], return_index=True)
            best[places] = np.maximum(best[places], np.maximum.reduceat(value[order], starts, axis=0))
    if high > left * _NORMAL:
        best = np.maximum(best, _by_normal_law(mesh, tails[0], left))
    if groups > 1:
        best[0] = tails[0]
        best[:rows] = 0.0  # so few rows do not occur
    return np.minimum(best * _ENLARGED, mesh.powers()), lost + _UNDERFLOW


@lru_cache(maxsize=16)
def _sizes(points: int) -> Integers:
    """Numbers of intervals whose maxima are tabled; the last stands for all."""
    sizes = list(range(1, 41))
    while sizes[-1] < points:
        sizes.append(sizes[-1] * 5 // 4)
    return np.array([*sizes[:-1], 10**9])


def _maxima(mesh: Mesh, tails: Floats) -> Floats:
    """The largest f over the intervals i − s + 1, …, i for each size s: (sizes, groups, 2·points).

    Below 0 it is e^{κy}. For i < 0 the table holds 0: those hits exceed x alone and are counted elsewhere.
    """
    groups, points = tails.shape
    below = np.broadcast_to(np.exp(mesh.tilt * mesh.delta * np.arange(1 - points, 1)), tails.shape)
    padded = np.concatenate([below, tails], axis=1)
    sizes = _sizes(points)
    table = np.zeros((len(sizes), groups, 2 * points))
    current, reached = padded.copy(), 1
    for row, size in enumerate(sizes[:-1].tolist()):
        while reached < size:
            step = min(reached, size - reached)
            current[:, step:] = np.maximum(current[:, step:], current[:, :-step].copy())
            reached += step
        table[row, :, points:] = current[:, points:]
    table[-1, :, points:] = np.maximum.accumulate(padded, axis=1)[:, points:]
    return table


def _by_normal_law(mesh: Mesh, tail: Floats, left: int) -> Floats:
    """The same for means above 400: Pr(c ≥ y) ≤ Pr(|Z| ≥ √(2y) − h), by Zubkov and Serov; and ≤ 2e^{−y}."""
    parts = 8
    y = np.arange(len(tail) * parts + 1.0) * (mesh.delta / parts)
    survival: list[float] = []
    for value in y.tolist():
        room = 1 - math.sqrt(2 * value / _NORMAL) - 1 / _NORMAL
        at_most = min(1.0, 2 * math.exp(-value))
        if room > 0.1:
            h = 1 / (math.sqrt(_NORMAL * (1 - 1 / left)) * room)
            at_most = min(at_most, math.erfc((math.sqrt(2 * value) - h) / math.sqrt(2)) + 1e-300)
        survival.append(min(at_most, survival[-1]) if survival else 1.0)
    above = np.array(survival)
    mass = above[:-1] - above[1:] + 16 * _UNIT * above[:-1]
    grouped = (mass * np.exp(mesh.tilt * y[1:])).reshape(-1, parts).sum(axis=1)
    either = np.maximum(tail, np.append(1.0, tail[:-1]))
    return np.asarray(np.convolve(grouped, either)[: len(tail)] + above[parts::parts] * mesh.powers())


def _work(mesh: Mesh, ranges: Sequence[tuple[int, int]], cells: int) -> float:
    """How many numbers the recursion looks up."""
    total = 0.0
    for low, high in ranges:
        fewest = _fewest(low, cells, mesh.spare)
        a, b, _, n2 = _ranges(mesh, min(fewest), high, high <= _APART)
        first, last = _windows(mesh, a, b)
        hits = np.minimum(last, n2) - first + 1.0
        total += sum(float(hits[_needed(a, n2, left, rows)].sum()) for left, rows in enumerate(fewest, 2))
    return total * mesh.points
