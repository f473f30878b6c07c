r"""Check the claims of a chain from its file: risk of whole rows, objective, lower bound.

A chain releases one column after the other. Stage j has a table of integers K over 2^52 for every context,
the outputs of the stages before it, and reads the secret and the value of its own column:

.. math:: P(y\,|\,s)=\sum_uP(u\,|\,s)\prod_jK_j[y_{<j}][s][u_j][y_j]\,2^{-52} .

The judge computes this law for distributions of its own draws and counts those under which a whole row is not
private. Every term is non-negative, so sums and products lose a factor of at most
:math:`1\pm(|U|+2+\sum_j(|U_j|+2))2^{-52}`, and a draw counts as private only with more margin than that. See
``docs/theory.md``, 'Chains' and 'Contexts'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from rldp.judge.contexts import Integers, context_masses, promised, whole_tables
from rldp.judge.posterior import Trial, posterior_of, trial_of
from rldp.judge.regions import dot, just_below_exp
from rldp.protocol_file.chains import ChainClaim, ChainDocument
from rldp.protocol_file.reader import DENOMINATOR

__all__ = ["chain_costs", "chain_failing", "column_bound", "failures_of", "known_level", "widest"]

Floats = NDArray[np.float64]

_UNIT = 2.0**-52
_VANISHING = 2.0**-800  # below, products may have underflowed
_AT_ONCE = 2**21  # numbers that are held for a piece of the draws


def chain_failing(stages: Sequence[Integers], epsilon: float, known: int = 1) -> Callable[[Floats], int]:
    """A function from logarithms of weights (|S|, |U|, m) to the number of draws that are not private.

    Stages are tables (contexts, |S|, |U_j|, |Y_j|) of integers over 2^52. Columns are numbered in the order
    of the stages, the last one fastest. The first columns, of which there are ``known`` combinations, are
    known to the readers: the ratio is that of P(y|s, k).
    """
    values = [stage.shape[2] for stage in stages]
    by_secret = [np.multiply(stage.transpose(1, 0, 3, 2), _UNIT, order="C") for stage in stages]
    factor = float(just_below_exp(epsilon))
    margin = 4 * (math.prod(values) + sum(values) + 2 * len(values) + 4) * _UNIT
    if known > 1:  # a sum over the outputs of a context, and a division
        margin += 4 * (math.prod(stage.shape[3] for stage in stages) + 2) * _UNIT
    never = _never_given(stages)
    piece = max(1, _AT_ONCE // widest(stages))

    def failing(log_weights: Floats) -> int:
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        given_secret = weights / weights.sum(axis=1, keepdims=True)
        failed = 0
        for start in range(0, given_secret.shape[2], piece):
            law = _law(given_secret[..., start : start + piece], by_secret)  # (S, Y, m)
            lost = law.min(axis=0) < _VANISHING
            if known > 1:
                law = _given_known(law, known)
            private = (law.max(axis=0) <= factor * (1 - margin) * law.min(axis=0)) & ~lost
            failed += int((~(private | never[:, None]).all(axis=0)).sum())
        return failed

    return failing


def widest(stages: Sequence[Integers]) -> int:
    """How many numbers the law of a draw takes, at most, while stage follows stage."""
    values, outputs = zip(*(stage.shape[2:] for stage in stages), strict=True)
    columns = range(len(stages) + 1)
    return int(stages[0].shape[1] * max(math.prod(outputs[:j]) * math.prod(values[j:]) for j in columns))


def _law(given_secret: Floats, tables: Sequence[Floats]) -> Floats:
    """P(y|s) of whole rows (|S|, |Y|, m), for tables (|S|, contexts, |Y_j|, |U_j|)."""
    secrets, _, draws = given_secret.shape
    law = given_secret
    for table in tables:
        law = table @ law.reshape(secrets, table.shape[1], table.shape[3], -1)
    return law.reshape(secrets, -1, draws)


def _given_known(law: Floats, known: int) -> Floats:
    """P(y|s, k) from P(k, y|s): (|S|, |Y|, m)."""
    secrets, _, draws = law.shape
    by_known = law.reshape(secrets, known, -1, draws)
    total = by_known.sum(axis=2, keepdims=True)
    return np.asarray((by_known / np.where(total > 0, total, 1.0)).reshape(law.shape))


def _never_given(stages: Sequence[Integers]) -> NDArray[np.bool_]:
    """Return which outputs of whole rows no secret can give: (|Y|,)."""
    possible = np.ones(1, dtype=bool)
    for stage in stages:
        possible = (possible[:, None] & (stage > 0).any(axis=(1, 2))).ravel()
    return np.asarray(~possible)


def known_level(stages: Sequence[Integers]) -> float:
    r"""Bound from above what a row reveals about the secret to a reader who knows all values.

    For secrets s and s', the largest :math:`\sum_j\log(K_j[y_{<j}][s][u_j][y_j]/K_j[y_{<j}][s'][u_j][y_j])`
    over all values and all rows that s can give. It is 0 only if no integer of the tables depends on the
    secret. A logarithm, of at most 36.1, is right to 2^-46, a difference of two and what is added to it to
    2^-44.
    """
    if all(bool((stage == stage[:, :1]).all()) for stage in stages):
        return 0.0
    pairs = permutations(range(stages[0].shape[1]), 2)
    return max(0.0, *(_known_between(stages, *pair) for pair in pairs)) + len(stages) * 2.0**-44


def _known_between(tables: Sequence[Integers], s: int, other: int) -> float:
    """Compute, from the last stage back, the largest remaining sum in every context."""
    ahead = np.zeros(len(tables[-1]) * tables[-1].shape[3])
    for table in reversed(tables):
        own, theirs = table[:, s], table[:, other]  # (C, U, Y)
        logs = np.full(own.shape, -np.inf)
        logs[(own > 0) & (theirs == 0)] = np.inf
        both = (own > 0) & (theirs > 0)
        logs[both] = np.log(own[both].astype(np.float64)) - np.log(theirs[both].astype(np.float64))
        here = logs.max(axis=1)
        whole = np.full(here.shape, -np.inf)  # of what s never gives, whatever follows
        np.add(here, ahead.reshape(here.shape), out=whole, where=here > -np.inf)
        ahead = whole.max(axis=1)
    return float(ahead.max())


def chain_costs(
    stages: Sequence[Integers], distortions: Sequence[Sequence[Sequence[float]] | None], centre: Integers
) -> list[float]:
    """Return the expected distortion of every column at the centre, rounded up; None if it costs nothing."""
    values = [stage.shape[2] for stage in stages]
    law = centre.astype(np.float64)
    law = (law / law.sum()).reshape(len(centre), 1, -1)
    costs = []
    for stage, d in zip(stages, distortions, strict=True):
        table, law = stage * _UNIT, law.reshape(len(centre), len(stage), stage.shape[2], -1)
        if d is not None:
            costs.append(float(np.einsum("scur,csuy,uy->", law, table, np.array(d), optimize=True)))
        law = np.einsum("csuy,scur->scyr", table, law, optimize=True)
    terms = math.prod(values) + sum(values) + sum(stage.size for stage in stages) + 8
    return [cost * (1 + 4 * terms * _UNIT) for cost in costs]


def column_bound(
    epsilon: float,
    distortion: Sequence[Sequence[float]],
    multipliers: Sequence[Sequence[float]],
    masses: Sequence[Sequence[int]],
    own: Sequence[int],
    total: int,
) -> arb:
    r"""A lower bound on E d(U_j, Y_j) in a context, for every protocol of one column that is private there.

    With multipliers :math:`z\ge0` for outputs y and ordered pairs of secrets (those of s are s and s+1, s+2,
    …, counted round), and :math:`P_s` the mass and :math:`P_{u|s}` the conditionals of the margin,

    .. math:: \sum_{s,u}\min_y\Big[P_{su}d(u,y)+\sum_{t:s_1=s}z_{yt}P_{u|s}-E\sum_{t:s_2=s}z_{yt}P_{u|s}\Big]

    is a lower bound, evaluated in balls. In a context c of fixed stages, ``masses`` are :math:`P_{s,c,u}`,
    and ``own`` the masses that their conditionals are taken of: :math:`P_s`, or those of s with the kept
    columns that readers know; both in units of 1/``total``. The constraint on :math:`P(c,y|s)` is then the
    same sum over u. A secret without mass has no conditionals, and what weighs another against it counts for
    nothing.
    """
    whole, factor, secrets = arb(total), arb(epsilon).exp(), len(masses)
    pairs = [(a, (a + 1 + i) % secrets) for a in range(secrets) for i in range(secrets - 1)]
    pulls = []  # of every output on every secret
    for weights in multipliers:
        pull = [arb(0)] * secrets
        for z, (a, b) in zip(weights, pairs, strict=True):
            pull[a] += arb(z) if own[b] else 0
            pull[b] -= factor * arb(z)
        pulls.append([each / mass if mass else arb(0) for each, mass in zip(pull, own, strict=True)])
    bound = arb(0)
    for s, row in enumerate(masses):
        for count, distances in zip(row, distortion, strict=True):
            brackets = (
                arb(count) * (arb(d) / whole + pull[s]) for d, pull in zip(distances, pulls, strict=True)
            )
            bound += min(bracket.lower() for bracket in brackets)
    return bound


def failures_of(document: ChainDocument, claim: ChainClaim) -> tuple[dict[str, str], Trial | None]:
    """Return, for every claim of the file that is not proved, why; and the draws behind privacy."""
    rows, trial, stages = _rows_failure(document), None, whole_tables(document)
    failures = {} if rows is None else {"rows": rows}
    if not failures:
        failing = chain_failing(stages, claim.epsilon, document.known)
        counts = _in_stage_order(claim.counts, document)
        drawn = posterior_of(counts.tolist(), claim.prior, claim.count_noise)
        trial = trial_of(failing, drawn, claim.alpha, None, widest(stages))
        if not trial.confirmed:
            failures["privacy"] = (
                f"privacy is not proved: the posterior probability that {promised(document)} are not "
                f"{claim.epsilon!r}-private is not confirmed to be at most {claim.alpha!r} ({trial.evidence})"
            )
        level = known_level(stages)
        if not level <= claim.epsilon_known:
            failures["known"] = (
                f"to a reader who knows all values, a row can reveal {level:.6g} about the secret, more than "
                f"{claim.epsilon_known!r}"
            )
    centre = _in_stage_order(claim.centre, document)
    free: list[Any] = [column.distortion for column in claim.columns]
    costs = chain_costs(stages, [*[None] * document.fixed, *free], centre)
    most = dot([column.weight for column in claim.columns], costs)
    if not most <= arb(claim.objective):
        failures["objective"] = (
            f"the objective is not proved: at the centre the expected distortion is about {float(most):.6g}, "
            f"more than {claim.objective!r}"
        )
    least = _lower_bound(document, claim, centre, stages)
    if not arb(claim.lower_bound) <= least:
        failures["lower_bound"] = (
            f"the lower bound is not proved: the multipliers prove {float(least):.6g}, less than "
            f"{claim.lower_bound!r}"
        )
    return failures, trial


def _rows_failure(document: ChainDocument) -> str | None:
    for stage in document.stages:
        for context, tables in enumerate(stage.numerators):
            for rows in tables:
                if any(sum(row) != DENOMINATOR for row in rows):
                    return (
                        f"not every row of the table of column {stage.column!r} sums to one: in context "
                        f"{context} one does not"
                    )
    return None


def _lower_bound(
    document: ChainDocument, claim: ChainClaim, centre: Integers, stages: Sequence[Integers]
) -> arb:
    """Sum the bounds of the drawn columns, each a sum over the contexts of fixed stages."""
    total = arb(0)
    for j, column in enumerate(claim.columns):
        masses = context_masses(stages, centre, document.fixed, j)
        behind = len(masses) // document.known  # contexts for each combination that readers know
        by_context = column.multipliers if document.fixed else [column.multipliers]
        bound = arb(0)
        for c, (table, multipliers) in enumerate(zip(masses, by_context, strict=True)):
            if c % behind == 0:
                own = [sum(map(sum, rows)) for rows in zip(*masses[c : c + behind], strict=True)]
            bound += column_bound(
                claim.epsilon, column.distortion, multipliers, table, own, DENOMINATOR ** (1 + document.fixed)
            )
        total += arb(column.weight) * max(bound.lower(), arb(0))  # no distortion is negative
    return total


def _in_stage_order(table: Sequence[Sequence[int]], document: ChainDocument) -> NDArray[Any]:
    """[s][u] with the columns in the order of the stages."""
    sizes = [len(column.labels) for column in document.reading.row]
    array = np.array(table, dtype=np.int64).reshape(len(table), *sizes)
    return array.transpose(0, *(1 + j for j in document.order)).reshape(len(table), -1)
