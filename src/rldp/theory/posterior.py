r"""Evaluation of a protocol under draws from the posterior: privacy, ε* and D*.

The draws are those of :mod:`rldp.theory.dirichlet`, the last axis of every array. See ``docs/theory.md``,
'Credible privacy'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from rldp.theory.arrays import Array, from_pairs, namespace, ordered_pairs

__all__ = [
    "always_infinite",
    "can_fail",
    "distortions",
    "exceedances",
    "excesses",
    "failures",
    "keeps_levels",
    "largest_ratios",
    "leakages",
    "log_ratio_rounding",
]

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_SMALLEST = 2.0**-1074
_LARGEST_EXPONENT = 700.0  # a protocol that is private with a smaller ε is private
_VANISHING = 2.0**-900  # below, a sum of products may have lost digits to underflow

_IN_CACHE = 2**15  # output probabilities processed together with NumPy
_ON_DEVICE = 2**26  # and with other libraries


# Privacy


def failures(matrices: Floats, epsilon: Floats | float, conditionals: Array) -> NDArray[np.int64]:
    r"""Count the draws under which each protocol is not private, on the safe side.

    A draw fails unless :math:`\max_sP(y|s)\le e^\varepsilon\min_sP(y|s)` for every y, with a margin that
    exceeds all rounding. If pairs have separate levels, every pair must satisfy its own. Outputs that are
    private under every distribution are skipped.

    Parameters
    ----------
    matrices : array (K, |S|, |U|, |Y|)
        Protocols.
    epsilon : float, or array (K,), or (K, T) with one for each ordered pair of secrets
        Non-negative; may be infinite.
    conditionals : array (K, |S|, |U|, draws) or (|S|, |U|, draws), float64, of any library
        The draws of each protocol, or draws that all protocols share.

    Returns
    -------
    int array (K,)

    Notes
    -----
    A computed P(y|s) is off by a factor of at most :math:`1\pm2|U|2^{-52}`: |U| roundings in the sum of a
    draw's weights, with the division, and |U| in the sum of products, whose terms are non-negative. Adding
    the rounding of :math:`e^\varepsilon` and of the comparison, a protocol that is private with
    :math:`e^\varepsilon(1-(4|U|+8)2^{-52})` as computed is private. Underflow loses less than
    :math:`|U|2^{-1020}`, which is negligible for probabilities of :math:`2^{-900}`. A draw with a smaller one
    fails.
    """
    levels, shared = np.asarray(epsilon, dtype=float), conditionals.ndim == 3
    if levels.ndim == 2 and levels.shape[1] > 1:
        return _failures_of_pairs(matrices, levels, conditionals[None, ...] if shared else conditionals)
    levels = np.broadcast_to(levels.reshape(-1) if levels.ndim else levels, (len(matrices),))
    if not shared and type(conditionals) is not np.ndarray:
        return _failures_together(matrices, levels, conditionals)
    return np.array(
        [
            _failures(matrix, float(level), conditionals if shared else conditionals[k, ...])
            for k, (matrix, level) in enumerate(zip(matrices, levels, strict=True))
        ],
        dtype=np.int64,
    )


def can_fail(matrix: Floats, epsilon: Floats) -> bool:
    """Return whether a protocol (|S|, |U|, |Y|) is not private under some distribution.

    ``epsilon`` is (T,) with a level for each ordered pair of secrets, or (1,) with one for all.
    """
    if len(epsilon) > 1:
        return not keeps_levels(matrix, from_pairs(epsilon, len(matrix)))
    return not bool(_harmless(matrix, float(epsilon[0])).all())


def _harmless(matrix: Floats, epsilon: float) -> NDArray[np.bool_]:
    """Return the mask of outputs (|Y|,) that are private for every distribution."""
    if epsilon == np.inf:
        return np.ones(matrix.shape[2], dtype=bool)
    tops, bottoms = _extremes(matrix)
    most = np.exp(min(epsilon, _LARGEST_EXPONENT)) * (1 - 4 * _UNIT) * bottoms
    return np.asarray(((tops <= bottoms) | (tops <= most)).all(axis=0))


def _failures_together(matrices: Floats, levels: Floats, conditionals: Array) -> NDArray[np.int64]:
    """Process all protocols at once, if calls are expensive: conditionals (K, |S|, |U|, draws)."""
    xp, place = namespace(conditionals), device(conditionals)
    pairs = zip(matrices, levels.tolist(), strict=True)
    harmless = xp.asarray(np.stack([_harmless(m, level) for m, level in pairs]), device=place)
    e = np.exp(np.minimum(levels, _LARGEST_EXPONENT)) * (1 - _margin(matrices.shape[2]))
    least_e = xp.asarray(e, device=place)[:, None, None]
    columns = xp.asarray(np.ascontiguousarray(np.moveaxis(matrices, 3, 2)), device=place)  # (K, S, Y, U)
    given_secret = xp.matmul(columns, conditionals)
    high, low = xp.max(given_secret, axis=1), xp.min(given_secret, axis=1)
    private = ((high <= least_e * low) & (low >= _VANISHING)) | harmless[:, :, None]
    failed = xp.sum(xp.astype(~xp.all(private, axis=1), xp.int64), axis=1)
    return np.array([int(number) for number in failed], dtype=np.int64)


def _failures(matrix: Floats, epsilon: float, conditionals: Array) -> int:
    e = np.exp(min(epsilon, _LARGEST_EXPONENT))
    harmless = _harmless(matrix, epsilon)
    if harmless.all():
        return 0
    least_e = float(e * (1 - _margin(matrix.shape[1])))
    failed = 0
    for xp, high, low in _spans(matrix[:, :, ~harmless], conditionals):
        private = (high <= least_e * low) & (low >= _VANISHING)  # NaN is not private
        failed += int(xp.sum(xp.astype(~xp.all(private, axis=0), xp.int64)))
    return failed


def _failures_of_pairs(matrices: Floats, levels: Floats, conditionals: Array) -> NDArray[np.int64]:
    """Count failures for levels (K, T) that differ between pairs, for draws (K or 1, |S|, |U|, draws)."""
    failed = np.zeros(len(matrices), dtype=np.int64)
    for k, (matrix, own) in enumerate(zip(matrices, from_pairs(levels, matrices.shape[1]), strict=True)):
        harmless = _harmless_pairs(matrix, own)
        doubtful = ~harmless.all(axis=(0, 1))
        if doubtful.any():
            e = np.exp(np.minimum(own, _LARGEST_EXPONENT)) * (1 - _margin(matrix.shape[1]))
            drawn = conditionals[min(k, conditionals.shape[0] - 1), ...]
            failed[k] = _failures_with(matrix[:, :, doubtful], e, harmless[:, :, doubtful], drawn)
    return failed


def keeps_levels(matrix: Floats, levels: Floats) -> bool:
    """Return whether every pair of secrets satisfies its level (|S|, |S|) for every distribution."""
    return bool(_harmless_pairs(matrix, levels).all())


def _harmless_pairs(matrix: Floats, levels: Floats) -> NDArray[np.bool_]:
    """Return the mask (|S|, |S|, |Y|) of pairs and outputs within their level for every distribution."""
    e = np.exp(np.minimum(levels, _LARGEST_EXPONENT)) * (1 - 4 * _UNIT)
    tops, bottoms = matrix.max(axis=1)[:, None], matrix.min(axis=1)[None]
    return np.asarray((tops <= bottoms) | (tops <= e[..., None] * bottoms) | _unprotected(levels)[..., None])


def _unprotected(levels: Floats) -> NDArray[np.bool_]:
    """Return the mask (|S|, |S|) of pairs with an infinite level, including the diagonal."""
    return np.asarray(np.isinf(levels) | np.eye(len(levels), dtype=bool))


def _failures_with(matrix: Floats, e: Floats, harmless: NDArray[np.bool_], conditionals: Array) -> int:
    """Count draws with some P(y|s1) > e[s1, s2] P(y|s2) that is not harmless."""
    failed = 0
    for xp, given_secret in _given_secrets(matrix, conditionals):
        place = {} if type(given_secret) is np.ndarray else {"device": device(given_secret)}
        fine = given_secret[0, 0, :] >= 0  # NaN is not private
        for s, t in zip(*np.nonzero(~harmless.all(axis=2)), strict=True):
            kept = (given_secret[int(s), ...] <= float(e[s, t]) * given_secret[int(t), ...]) & (
                given_secret[int(t), ...] >= _VANISHING
            )
            kept = kept | xp.asarray(harmless[s, t][:, None], **place)
            fine = fine & xp.all(kept, axis=0)
        failed += int(xp.sum(xp.astype(~fine, xp.int64)))
    return failed


def exceedances(matrix: Floats, levels: Floats, conditionals: Floats) -> tuple[int, int]:
    """Count the draws under which some pair of secrets exceeds its level: certainly, and possibly.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    levels : array (|S|, |S|)
    conditionals : array (|S|, |U|, draws)
    """
    protected = ~_unprotected(levels)
    pairs = levels[tuple(ordered_pairs(len(levels)).T)]
    possible = int(_failures_of_pairs(matrix[None], pairs[None], conditionals[None])[0])
    e = np.exp(np.minimum(levels, _LARGEST_EXPONENT)) * (1 + _margin(matrix.shape[1]))
    certain = 0
    for _, given_secret in _given_secrets(matrix, conditionals):
        over = np.zeros(given_secret.shape[2], dtype=bool)
        for s, t in np.argwhere(protected & (levels < _LARGEST_EXPONENT)):
            top, bottom = given_secret[s], given_secret[t]
            over |= ((top > e[s, t] * bottom) & (top >= _VANISHING)).any(axis=0)
        certain += int(over.sum())
    return certain, possible


def leakages(matrix: Floats, conditionals: Floats) -> Floats:
    r"""Return ε* of a protocol under every draw, :math:`\max_{y,s_1\ne s_2}\log P(y|s_1)/P(y|s_2)`.

    0/0 = 1 for outputs with probability 0 for all cells. The result is ∞ if one secret cannot give an output
    of another, or gives it with a probability that underflows. It is at most the leakage under any
    distribution, the log of the largest ratio of two entries in a column.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    conditionals : array (|S|, |U|, draws)

    Returns
    -------
    array (draws,), each within :func:`log_ratio_rounding` of ε* where it is finite
    """
    largest = largest_ratios(matrix)
    telling = largest > 1
    if not telling.any():
        return np.zeros(conditionals.shape[-1])
    leaked = []
    for _, high, low in _spans(matrix[:, :, telling], conditionals):
        lost = ~(low >= _VANISHING)
        ratio = np.where(lost, np.inf, high / np.where(lost, 1.0, low))
        leaked.append(np.minimum(ratio, largest[telling, None]).max(axis=0))
    return np.asarray(np.log(np.concatenate(leaked)))


def log_ratio_rounding(values: int, epsilon: float) -> float:
    """Return a bound on the rounding error of an ε* near ``epsilon`` from :func:`leakages`."""
    return _margin(values) + 4 * _UNIT * min(epsilon, _LARGEST_EXPONENT)


def largest_ratios(matrix: Floats) -> Floats:
    """Return the largest P(y|s1)/P(y|s2), s1 ≠ s2, over all distributions: (|Y|,); 1 for unused outputs."""
    tops, bottoms = _extremes(matrix)
    ratios = np.where(tops > 0, np.inf, 1.0)
    np.divide(tops, bottoms, out=ratios, where=bottoms > 0)
    return np.asarray(np.maximum(ratios.max(axis=0), 1.0))


def always_infinite(matrix: Floats) -> bool:
    """Return whether some output is possible for one secret and impossible for another."""
    given = matrix.max(axis=1) > 0
    return bool((given.any(axis=0) & ~given.all(axis=0)).any())


def _margin(values: int) -> float:
    return (4 * values + 8) * _UNIT


def _extremes(matrix: Floats) -> tuple[Floats, Floats]:
    """Return, per secret and output, the largest entry of other secrets and its own smallest entry."""
    own = matrix.max(axis=1)
    secrets = np.arange(len(own))[:, None]
    others = np.where(secrets == own.argmax(axis=0), 0.0, own).max(axis=0)  # all but the largest
    tops = np.where(secrets == own.argmax(axis=0), others, own.max(axis=0))
    return tops, matrix.min(axis=1)


def _spans(matrix: Floats, conditionals: Array) -> Iterator[tuple[Any, Array, Array]]:
    """Yield the largest and smallest P(y|s) over the secrets under every draw, in parts of the draws."""
    for xp, given_secret in _given_secrets(matrix, conditionals):
        yield xp, xp.max(given_secret, axis=0), xp.min(given_secret, axis=0)


def _given_secrets(matrix: Floats, conditionals: Array) -> Iterator[tuple[Any, Array]]:
    """Yield P(y|s) under every draw (|S|, |Y|, draws), in parts of the draws."""
    xp = namespace(conditionals)
    columns = np.ascontiguousarray(np.moveaxis(matrix, 2, 1))  # (S, Y, U)
    if type(conditionals) is not np.ndarray:
        columns = xp.asarray(columns, device=device(conditionals))
    room = _IN_CACHE if type(conditionals) is np.ndarray else _ON_DEVICE
    piece = max(64, room // (columns.shape[0] * columns.shape[1]))
    draws = conditionals.shape[-1]
    for start in range(0, draws, piece):
        yield xp, columns @ conditionals[..., start : min(start + piece, draws)]


# Utility


def distortions(matrix: Floats, d: Floats, conditionals: Floats, masses: Floats) -> Floats:
    r"""Return D* of a protocol under every draw, :math:`\sum_{suy}P_sP_{u|s}\,d(u,y)\,Q[s,u,y]`.

    Parameters
    ----------
    matrix : array (|S|, |U|, |Y|)
    d : array (|U|, |Y|)
    conditionals : array (|S|, |U|, draws)
    masses : array (|S|, draws)

    Returns
    -------
    array (draws,), up to a relative error of (|S| + |U| + |Y| + 8) 2^-52
    """
    v = (matrix * d).sum(axis=2)
    given_secret = (v[:, None] @ conditionals)[:, 0]
    return np.asarray((masses * given_secret).sum(axis=0))


def excesses(matrix: Floats, d: Floats, most: float, conditionals: Floats, masses: Floats) -> int:
    """Count the draws under which D* of a protocol exceeds ``most``, or may exceed it within rounding.

    Parameters as in :func:`distortions`.
    """
    if _never_exceeds(matrix, d, most):
        return 0
    power = -math.frexp(float(d.max()))[1]  # distortions below 1 do not underflow
    d, most = np.ldexp(d, power), math.ldexp(most, power)
    within = distortions(matrix, d, conditionals, masses) <= most * (1 - (sum(matrix.shape) + 10) * _UNIT)
    return int((~within).sum())


def _never_exceeds(matrix: Floats, d: Floats, most: float) -> bool:
    """Return whether no cell costs more than ``most``, by exact arithmetic if floats are inconclusive."""
    costs = (matrix * d).sum(axis=2)
    if not costs.max() <= most * (1 + (d.shape[1] + 2) * _UNIT) + _SMALLEST * d.shape[1]:
        return False
    exact = [[Fraction(x) for x in row] for row in d.tolist()]
    spent = (
        sum(Fraction(q) * x for q, x in zip(row, cell, strict=True))
        for table in matrix.tolist()
        for row, cell in zip(table, exact, strict=True)
    )
    return all(cost <= Fraction(most) for cost in spent)
