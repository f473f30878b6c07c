r"""The sets of :class:`rldp.Pairs` for a sample: radii, budgets, and divergences of a distribution.

Unordered pairs of secrets come in the order (0, 1), (0, 2), …, (1, 2), …. With n rows in all and
:math:`\hat P_s = n_s/n`, the set of a pair with radius x is

.. math:: \{\hat P_1 KL(\hat P_{\cdot|1}\|R_1)+\hat P_2 KL(\hat P_{\cdot|2}\|R_2)\le x/n\},

the λ = 0 form of :class:`rldp.theory.nested_mean.NestedMean` with the budget x/n. See ``docs/theory.md``,
'Radii for every n'.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import finite_number
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sets import Pairs, Radius
from rldp.theory.arrays import ordered_pairs, per_secret
from rldp.theory.radii import pair_level, pair_radii

__all__ = ["joined_pairs", "pair_budgets", "radii_of", "radii_values", "spent_by_pairs", "unordered_pairs"]

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_HAIR = 1e-9  # relative to a radius: a member this far inside is inside for every reader


def unordered_pairs(secrets: int) -> NDArray[np.int64]:
    """Return all (s1, s2) with s1 < s2 as an array (C, 2): (0, 1), (0, 2), …, (1, 2), …."""
    return np.stack(np.triu_indices(secrets, 1), axis=1)


def radii_of(pairs: Pairs, counts: NDArray[np.int64]) -> list[tuple[Radius, ...]]:
    """Return the radii of the unordered pairs of each sample: those given in ``pairs``, or proved ones.

    Parameters
    ----------
    counts : int array (K, |S|, |U|)

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If the number of given radii is wrong, or they are not radii.
    """
    _, secrets, values = counts.shape
    ends = unordered_pairs(secrets)
    if pairs.radii is not None:
        return [_checked(pairs, len(ends), secrets)] * len(counts)
    sizes = counts.sum(axis=2)[:, ends]  # (K, C, 2)
    level = pair_level(pairs.alpha, secrets)
    return [pair_radii([(n1, n2) for n1, n2 in each], values, level) for each in sizes.tolist()]


def _checked(pairs: Pairs, wanted: int, secrets: int) -> tuple[Radius, ...]:
    radii = tuple(pairs.radii or ())
    if len(radii) != wanted:
        raise InvalidArgument(
            f"radii must be one for each of the {wanted} pairs of {secrets} secrets, got {len(radii)}"
        )
    for radius in radii:
        if not isinstance(radius, Radius):
            raise InvalidArgumentType(f"radii must hold rldp.sets.Radius, got {type(radius).__name__}")
        finite_number("radius", radius.value, at_least=0.0)
    return radii


def pair_budgets(pairs: Pairs, counts: NDArray[np.int64]) -> Floats:
    """Return budgets x/n (K, T) of the ordered pairs, rounded up, for samples ``counts`` (K, |S|, |U|)."""
    secrets = counts.shape[1]
    place = np.zeros((secrets, secrets), dtype=np.int64)
    first, second = unordered_pairs(secrets).T
    place[first, second] = place[second, first] = np.arange(len(first))
    ordered = radii_values(pairs, counts)[:, place[tuple(ordered_pairs(secrets).T)]]
    return np.asarray(np.nextafter(ordered / counts.sum(axis=(1, 2))[:, None], math.inf))


def radii_values(pairs: Pairs, counts: NDArray[np.int64]) -> Floats:
    """Return the values of :func:`radii_of`: (K, C)."""
    values = [[radius.value for radius in radii] for radii in radii_of(pairs, counts)]
    return np.array(values, dtype=np.float64)


def spent_by_pairs(counts: NDArray[np.int64], distribution: Floats) -> Floats:
    r"""Return n₁KL(P̂₁‖P₁) + n₂KL(P̂₂‖P₂) of the unordered pairs (C,), in units of the radii.

    A secret of probability zero has no conditional and contributes 0.

    Parameters
    ----------
    counts : int array (|S|, |U|)
    distribution : array (|S|, |U|)
    """
    masses, conditionals = per_secret(distribution)
    rows, estimates = per_secret(counts)
    seen = (counts > 0) & (masses > 0)[:, None]
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(seen, estimates, 1.0)) - np.log(np.where(seen, conditionals, 1.0))
    spent = np.maximum((counts * logs).sum(axis=1), 0.0)
    return np.asarray(spent[unordered_pairs(len(rows))].sum(axis=1))


def joined_pairs(
    pairs: Pairs, counts: NDArray[np.int64], pair: tuple[int, int], members: Floats
) -> tuple[Floats, bool]:
    """Return a joint distribution in the sets of all pairs, given the conditionals ``members`` of one pair.

    ``members`` is (2, U). Other secrets keep their estimates. An unseen secret has probability zero, or that
    of one row if it is in the pair. Members may exceed the radius of another pair of their secret. Then both
    are moved towards the estimate, where the divergence is convex and decreases to zero.

    Returns
    -------
    array (|S|, |U|)
    bool
        Whether the members were moved.
    """
    ends = list(pair)
    rows = counts.sum(axis=1)
    table = counts.astype(np.float64)
    table[ends] = np.maximum(rows[ends], 1)[:, None] * members
    radii = radii_values(pairs, counts[None])[0]
    spent = spent_by_pairs(counts, table)
    rounding = 8 * _UNIT * int(rows.sum()) * (counts.shape[1] + 8)
    allowed = np.maximum(radii * (1 - _HAIR) - rounding, 0.0)
    over = (spent > radii * (1 - _HAIR / 2) - rounding) & (spent > 0)
    if not over.any():
        return np.asarray(table / table.sum()), False
    kept = float((allowed[over] / spent[over]).min())
    seen = rows[ends, None] > 0
    table[ends] = np.where(seen, kept * table[ends] + (1 - kept) * counts[ends], table[ends])
    return np.asarray(table / table.sum()), True
