r"""An upper confidence bound on ε* from fresh rows, by the betting game of :mod:`rldp.theory.betting`.

:mod:`rldp.theory.confidence` computes an upper confidence bound on ln P(y|s₁)/P(y|s₂) for every triple
(y, s₁, s₂). The largest of these is a bound on ε*, with no correction for the number of triples. See
``docs/theory.md``, 'Confirmation'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldp.theory.arrays import ordered_pairs
from rldp.theory.betting import LARGEST_EPSILON, Triples, caps
from rldp.theory.confidence import levels_around, most_together, upper_bounds
from rldp.theory.model import Floats
from rldp.theory.stakes import moments

__all__ = ["leakage_bound", "ratio_bounds", "table_bound"]

_EXPECTED = 1.9  # typical distance of the bound above the estimate, in standard errors
_FIRST_TRIPLES = 32
_SMALLEST_MEAN = 1e-100


@dataclass(frozen=True)
class _Ratios:
    """ln P(y|s₁)/P(y|s₂) of T triples."""

    triples: Triples
    largest: float = LARGEST_EPSILON

    @property
    def values(self) -> int:
        return int(self.triples.q.shape[2])

    def subset(self, index: NDArray[np.int64]) -> _Ratios:
        return _Ratios(self.triples.subset(index))

    def at(self, x: Floats) -> tuple[Triples, Floats]:
        return self.triples, x


def leakage_bound(
    matrix: Floats,
    blocks: NDArray[np.int64],
    known: Floats,
    alpha: float,
    *,
    claim: float = math.inf,
    floor: float = 0.0,
) -> tuple[float, tuple[int, int, int] | None]:
    """Return an upper confidence bound on ε* of level 1 − α, at least ``floor``, and the deciding triple.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    blocks : int array (|S|, B, |U|)
        Fresh rows, in blocks.
    known : array (|S|, |U|), positive
        Prior weights of the values, used for bets only.
    claim : float
        A relevant ε, for which bets are also made.

    Returns
    -------
    epsilon : float
    triple : (y, s1, s2), or None if the bound is ``floor``
    """
    order = _in_order(matrix, blocks, known)
    bound, decides, start = floor, None, 0
    while start < len(order) and math.isfinite(bound):
        most = most_together(matrix.shape[1])
        some = order[start : start + (min(most, _FIRST_TRIPLES) if start == 0 else most)]
        pairs = some[:, 1:]
        triples = Triples(
            q=matrix[pairs, :, some[:, :1]], rows=blocks[pairs].astype(np.float64), known=known[pairs]
        )
        ratios = ratio_bounds(triples, alpha, claim=claim, floor=bound)
        if ratios.max() > bound:
            decides, bound = some[ratios.argmax()], float(ratios.max())
        start += len(some)
    return bound, None if decides is None else (int(decides[0]), int(decides[1]), int(decides[2]))


def table_bound(matrix: Floats, about: NDArray[np.bool_]) -> tuple[float, tuple[int, int, int] | None]:
    """Return the largest ε* over all distributions, for pairs that include one of the secrets ``about``.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    about : bool array (|S|,)

    Returns
    -------
    epsilon : float
    triple : (y, s1, s2), or None if the bound is 0
    """
    pairs = ordered_pairs(len(matrix))
    pairs = pairs[about[pairs].any(axis=1)]
    columns = np.moveaxis(matrix[pairs], 3, 0)
    bounds = caps(columns.reshape(-1, *columns.shape[2:])).reshape(columns.shape[:2])
    if not bounds.any():
        return 0.0, None
    y, pair = np.unravel_index(bounds.argmax(), bounds.shape)
    return float(bounds[y, pair]), (int(y), int(pairs[pair, 0]), int(pairs[pair, 1]))


def ratio_bounds(triples: Triples, alpha: float, *, claim: float = math.inf, floor: float = 0.0) -> Floats:
    """Return upper confidence bounds on ln P(y|s₁)/P(y|s₂), each of level 1 − α and at least ``floor``: (T,).

    A bound is infinite if neither the rows nor the table bound the ratio. Any other bound is an ε at which
    the triple holds by the table alone, or was tested and confirmed with its wealth rounded down.
    """
    return upper_bounds(_Ratios(triples), _levels(triples, claim), caps(triples.q), alpha, floor=floor)


def _in_order(matrix: Floats, blocks: NDArray[np.int64], known: Floats) -> NDArray[np.int64]:
    """Return all triples (y, s1, s2) as an array (T, 3), the ones likely to decide first."""
    columns = np.moveaxis(matrix, 2, 1)
    mean, variance = moments(columns, np.broadcast_to(known[:, None], columns.shape))
    used, mean = mean > 0, np.maximum(mean, _SMALLEST_MEAN)
    logarithm, spread = np.log(mean), variance / mean**2 / np.maximum(blocks.sum(axis=(1, 2)), 1)[:, None]
    first, second = ordered_pairs(len(matrix)).T
    expected = logarithm[first] - logarithm[second] + _EXPECTED * np.sqrt(spread[first] + spread[second])
    expected = np.where(used[first], expected, -np.inf)
    pair, y = np.unravel_index(np.argsort(-expected, axis=None, kind="stable"), expected.shape)
    return np.stack([y, first[pair], second[pair]], axis=1)


def _levels(triples: Triples, claim: float) -> Floats:
    """Return the levels for which bets are made, down to 0: (T, G).

    Most are near the expected bound, which is some standard errors above the estimate; their spread reflects
    the errors of fresh and earlier rows.
    """
    mean, variance = moments(triples.q, triples.known)
    mean = np.maximum(mean, _SMALLEST_MEAN)
    relative = variance / mean**2
    fresh = (relative / triples.n).sum(axis=-1)
    earlier = (relative / triples.known.sum(axis=-1)).sum(axis=-1)
    expected = np.log(mean[:, 0] / mean[:, 1]) + _EXPECTED * np.sqrt(fresh)
    around = levels_around(expected, np.sqrt(fresh + earlier))
    named = np.broadcast_to([0.0, claim], (len(around), 2))
    return np.asarray(np.clip(np.concatenate([around, named], axis=1), 0, LARGEST_EPSILON))
