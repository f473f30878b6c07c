r"""Lower bounds on ε from counts of secrets and outputs, by single outputs and groups of rare ones.

For every event A, a set of outputs, :math:`\log P(A|s_1)/P(A|s_2)\le\varepsilon`. Single outputs are events.
Rare outputs show little one by one, and more in groups. Groups are chosen on a random part of the rows and
tested on the others, so the choice needs no correction. See ``docs/audit.md``, 'Released rows'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

__all__ = ["Columns", "Shown", "noticeable", "shown_by"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_FEW = 8  # up to this number of outputs, each is tested by itself and none are grouped
_PARTS = (0.15, 0.15, 0.7)  # shares of the rows that order the groups, choose how many to join, and test them
_TRIED = 4  # largest number of groups tested, each for its own pair of secrets
_ROWS_A_GROUP = 5  # of the rarer secret of a pair, in the part that orders the groups
_MOST_GROUPS = 64
_DISTRUST = 1e-9  # relative: far more than the error of SciPy's limits
_STEPS = np.geomspace(1e-3, 30, 150)  # above a claim: candidates for an ε that rows would show


@dataclass(frozen=True)
class Columns:
    """The labels of the released columns that make up each output.

    Attributes
    ----------
    places : int array (|Y|, d)
        For output y and column j, the position of its label among those of the column.
    ordered : tuple of bool
        Whether the labels of a column are numbers in increasing order, so that neighbours can be grouped.
    """

    places: NDArray[np.int64]
    ordered: tuple[bool, ...]

    def grouped(self, weights: Counts, most: int) -> NDArray[np.int64]:
        """Assign each output to one of at most ``most`` groups, by how often outputs occur: (|Y|,)."""
        each = max(2, math.floor(most ** (1 / len(self.ordered)) + 1e-9))
        joint = np.zeros(len(self.places), dtype=np.int64)
        for place, ordered in zip(self.places.T, self.ordered, strict=True):
            total: Floats = np.bincount(place, weights=weights).astype(np.float64)
            joint = joint * each + (_neighbours if ordered else _frequent)(total, each)[place]
        return np.asarray(np.unique(joint, return_inverse=True)[1])


def _neighbours(total: Floats, most: int) -> NDArray[np.int64]:
    """Divide ordered labels into ``most`` groups of neighbours with about equally many rows."""
    middle = (np.cumsum(total) - total / 2) / max(total.sum(), 1)
    return np.asarray(np.minimum((middle * most).astype(np.int64), most - 1))


def _frequent(total: Floats, most: int) -> NDArray[np.int64]:
    """Give each of the most frequent labels its own group, and put all others together."""
    rank = np.empty(len(total), dtype=np.int64)
    rank[np.argsort(-total, kind="stable")] = np.arange(len(total))
    return np.minimum(rank, most - 1)


@dataclass(frozen=True)
class Shown:
    """A lower bound on ε, and the event that shows it.

    Attributes
    ----------
    epsilon : float
    outputs : int array
        Numbers of the outputs in the event.
    high, low : int
        The event is more frequent under the first of these two secrets.
    frequencies : (float, float)
        Its frequency under each, among the rows that tested it.
    """

    epsilon: float
    outputs: NDArray[np.int64]
    high: int
    low: int
    frequencies: tuple[float, float]


def shown_by(counts: Counts, columns: Columns, alpha: float, rng: np.random.Generator) -> Shown | None:
    """Return the best bound, wrong with probability at most ``alpha``, or None if nothing is shown.

    Parameters
    ----------
    counts : int array (|S|, |Y|)
    """
    if counts.shape[1] <= _FEW:
        return _single(counts, alpha)
    bounds = [_single(counts, alpha / 2), _group(counts, columns, alpha / 2, rng)]
    return max((each for each in bounds if each is not None), key=lambda each: each.epsilon, default=None)


def noticeable(counts: Counts, alpha: float, claim: float) -> float:
    """Return the smallest ε that would be seen to exceed ``claim`` in a maximally revealing release.

    That release is randomised response between the two most frequent secrets: no other release with this ε
    distinguishes them more often. At a smaller ε the expected counts do not contradict the claim.
    """
    sizes = np.sort(counts.sum(axis=1))[::-1][:2].astype(float)
    if len(sizes) < 2 or sizes[1] == 0 or claim > _STEPS[-1]:
        return math.inf
    few = counts.shape[1] <= _FEW
    tests = [(sizes, (alpha if few else alpha / 2) / (2 * counts.size))]
    if not few:
        tests.append((sizes * _PARTS[2], _share(alpha / 2, len(counts))))

    tried = claim + _STEPS
    rare = 1 / (1 + np.exp(tried))
    shows = np.zeros(len(tried), dtype=np.bool_)
    for n, share in tests:
        often, seldom = n[0] * (1 - rare), n[1] * rare
        lower, upper = (
            betaincinv(often, n[0] - often + 1, share),
            betainccinv(seldom + 1, n[1] - seldom, share),
        )
        shows |= lower > np.exp(claim) * upper
    return float(tried[shows.argmax()]) if shows.any() else math.inf


def _lower(hits: Any, rows: Any, share: float) -> Floats:
    """Return Clopper and Pearson's lower limit, too large with probability at most ``share``."""
    limit = betaincinv(np.maximum(hits, 1), rows - hits + 1, share) * (1 - _DISTRUST)
    return np.where(np.asarray(hits) > 0, limit, 0.0)


def _upper(hits: Any, rows: Any, share: float) -> Floats:
    """Return the corresponding upper limit."""
    limit = betainccinv(hits + 1, np.maximum(rows - hits, 1), share) * (1 + _DISTRUST)
    return np.where(np.asarray(hits) < rows, np.minimum(limit, 1.0), 1.0)


def _single(counts: Counts, alpha: float) -> Shown | None:
    """Test single outputs; the 2|S||Y| limits share the level."""
    rows = counts.sum(axis=1, keepdims=True)
    share = alpha / (2 * counts.size)
    lower, upper = _lower(counts, rows, share), _upper(counts, rows, share)
    high, low = lower.argmax(axis=0), upper.argmin(axis=0)
    ratio = lower.max(axis=0) / upper.min(axis=0)
    y = int(ratio.argmax())
    if ratio[y] <= 1:
        return None
    shares = counts[:, y] / rows[:, 0]
    pair = int(high[y]), int(low[y])
    return Shown(math.log(ratio[y]), np.array([y]), *pair, (float(shares[pair[0]]), float(shares[pair[1]])))


def _group(counts: Counts, columns: Columns, alpha: float, rng: np.random.Generator) -> Shown | None:
    """Test groups on other rows than those that chose them."""
    parts = rng.multinomial(counts, _PARTS)
    first, second, tested = np.moveaxis(parts, 2, 0)
    present = np.flatnonzero((first.sum(axis=1) > 0) & (second.sum(axis=1) > 0) & (tested.sum(axis=1) > 0))
    if len(present) < 2:
        return None
    smallest = np.sort(first.sum(axis=1)[present])[-2]
    most = int(np.clip(smallest // _ROWS_A_GROUP, 2, _MOST_GROUPS))
    group = columns.grouped((first + second).sum(axis=0), most)
    first, second, tested = (_summed(part[present], group) for part in (first, second, tested))
    share = _share(alpha, len(counts))
    best: Shown | None = None
    for high, low, joined in _chosen(first, second, share):
        hits = tested[[high, low]][:, joined].sum(axis=1).astype(float)
        rows = tested[[high, low]].sum(axis=1).astype(float)
        ratio = float(_lower(hits[0], rows[0], share) / _upper(hits[1], rows[1], share))
        bound = math.log(ratio) if ratio > 1 else 0.0
        if bound > (0.0 if best is None else best.epsilon):
            outputs = np.flatnonzero(np.isin(group, joined) & (counts.sum(axis=0) > 0))
            often = float(hits[0] / rows[0]), float(hits[1] / rows[1])
            best = Shown(bound, outputs, int(present[high]), int(present[low]), often)
    return best


def _share(alpha: float, secrets: int) -> float:
    """Return the share of the level for each of the two limits of every tested group."""
    return alpha / (2 * min(_TRIED, secrets * (secrets - 1)))


def _summed(counts: Counts, group: NDArray[np.int64]) -> Counts:
    """Sum counts (S, Y) of outputs to counts (S, G) of groups."""
    summed = np.zeros((len(counts), int(group.max()) + 1), dtype=np.int64)
    np.add.at(summed.T, group, counts.T)
    return summed


def _chosen(first: Counts, second: Counts, share: float) -> list[tuple[int, int, NDArray[np.int64]]]:
    """Return the most promising pairs of secrets and the groups to join.

    One part of the rows orders the groups by their ratios. Another, scaled to the size of the part that tests
    them, says how many to join.
    """
    pairs, larger = np.array(list(permutations(range(len(first)), 2))), _PARTS[2] / _PARTS[1]
    shares = (first + 0.5) / (first.sum(axis=1, keepdims=True) + 0.5 * first.shape[1])
    order = np.argsort(-shares[pairs[:, 0]] / shares[pairs[:, 1]], axis=1, kind="stable")
    sorted_by_ratio = (np.take_along_axis(second[pairs[:, i]], order, axis=1) for i in (0, 1))
    high, low = (larger * np.cumsum(part, axis=1)[:, :-1] for part in sorted_by_ratio)
    rows = larger * second.sum(axis=1)[pairs]
    promising = _lower(high, rows[:, :1], share) / _upper(low, rows[:, 1:], share)
    if promising.shape[1] == 0:
        return []
    best = promising.argmax(axis=1)
    tried = np.argsort(-promising.max(axis=1), kind="stable")[:_TRIED]
    return [(int(pairs[i, 0]), int(pairs[i, 1]), order[i, : best[i] + 1]) for i in tried]
