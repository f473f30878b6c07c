r"""Estimate from released rows, with error bars.

See ``docs/estimate.md`` for how to use it and ``docs/theory.md``, 'Estimation', for the mathematics.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rldp._common.checks import choice, finite_number, seed_or_fresh, share_number
from rldp.errors import DataError, InvalidArgument, RldpWarning
from rldp.estimator.estimates import Estimate, Interval, Method
from rldp.estimator.functionals import Asked, Functionals, asked
from rldp.estimator.methods import by_method
from rldp.estimator.released import Released
from rldp.estimator.sources import sources_of
from rldp.protocol import Protocol, require_labels
from rldp.sample import Sample, require_exact
from rldp.theory.derived import Derived
from rldp.theory.estimation import (
    allowed,
    identified,
    outcome_limits,
    row_space,
    unbiased,
)
from rldp.theory.likelihood import agreement, maximum_likelihood
from rldp.theory.mean_bounds import betting_limits
from rldp.theory.model import Floats
from rldp.theory.tallies import Tally

__all__ = ["estimate"]

_log = logging.getLogger(__name__)

_KEPT = 0.9  # share of α for intervals that use the sample; the rest is for those without it
_ARRAYS = ("values", "lower", "upper", "identifiable", "least", "most", "covariance")
_IMPOSSIBLE = 1e-9  # rows less likely than this under the protocol are attributed to another one


def estimate(
    released: Any,
    protocol: Protocol | None = None,
    *,
    sample: Sample | Literal["protocol"] | None = "protocol",
    secrets: Any = None,
    of: Asked = "shares",
    alpha: float = 0.05,
    method: Method = "unbiased",
    interval: Interval = "normal",
    min_agreement: float = 0.05,
    seed: int | None = None,
) -> Estimate:
    r"""Estimate shares, means or any linear functional of the values from released rows, with error bars.

    For a functional :math:`\theta=\sum_{s,u}a(s,u)P(s,u)`, released rows Y and a public sample, the estimate
    is

    .. math:: \hat\theta = \mathrm{mean}\,g(Y) + \langle a - Qg, \hat P\rangle

    with the weights g of least variance. It is unbiased whatever the rank of the protocol, since the weights
    for some rows are computed from the other rows (ten random folds). Without a sample, a functional is
    estimated if :math:`Qg=a` for some g; for the others the result is an interval.

    Assumptions: released rows and sample are independent draws from one distribution, and the protocol was
    fixed before both. A test at level ``min_agreement`` checks the common distribution as far as the outputs
    show it; a sample that fails is left out, with a warning. If the protocol was designed on the same sample,
    the bias is not exactly 0, but small compared with the standard error. See ``docs/theory.md``,
    'Estimation'.

    Parameters
    ----------
    released : column, :class:`rldp.Released`, or a list of ``Released`` or of pairs (released, protocol)
        The outputs: a list, NumPy array, pandas or Polars series or Arrow array of n rows, or their counts.
        Pass a list for several protocols that were used on different people; their secrets and values must be
        the same.
    protocol : Protocol, optional
        The protocol of the rows; not needed if ``released`` contains it.
    sample : Sample, "protocol" or None
        Public rows from the same distribution, with the protocol's labels. By default the sample that the
        protocol was designed on, if it holds one; None uses the released rows alone.
    secrets : column of n rows, optional
        The secrets of the released rows, if known. Estimates are then by secret.
    of : {"shares", "mean"}, array (|U|,) or (|S|, |U|), or mapping from names to these
        What to estimate: the shares of all values; their mean; or any numbers a(u) or a(s, u). For columns
        released together, "shares" refers to all combinations, the cells of a cross table. "shares of age"
        and "mean of age" refer to one column, "mean of pay by job", "difference of pay by job" (each group
        minus the first), "slope of pay on age", "regression of pay on age" (slope and intercept),
        "correlation of pay and age" and "moments of pay and age" to two. All of these but the moments are
        functions of moments; their intervals come from the delta method or, with ``interval="betting"``, from
        proved limits on all moments together.
    alpha : float
        The intervals miss the truth with this probability.
    method : {"unbiased", "projected", "shrunk", "likelihood", "posterior", "bayes"}
        The default is unbiased. "projected" moves the unbiased shares to the nearest distribution. "shrunk"
        shrinks them towards equal shares, which reduces the error for many spread-out values and few rows.
        "likelihood" maximises the likelihood of all rows together, with a proved gap. "posterior" is the
        posterior mean under a Dirichlet prior whose weight is fitted to the rows. "bayes" is iterative
        Bayesian update, for comparison.
    interval : {"normal", "betting"}
        The default uses the normal distribution with a correction for skewness. "betting" holds for every
        number of rows and every distribution, and is typically wider by a fifth. Both cover the truth,
        whatever the ``method``.
    min_agreement : float
        Leave the sample out if rows from one distribution would differ this much from the released rows with
        a probability below this. With 0 the sample is always used, and the estimate is exactly unbiased.
    seed : int, optional
        Seed of the random order in which rows are split into folds and bet on; by default fresh from the
        operating system. The result records it, and passing it repeats the result. The statements about bias
        and betting intervals average over this order, so they do not hold for a fixed seed.

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        If there is no row, an entry is missing or not an output of the protocol, or no distribution could
        have led to these rows.
    InvalidArgument, InvalidArgumentType
        If arguments do not fit the protocol or each other.

    Examples
    --------
    >>> coin = Protocol([[[0.75, 0.25], [0.25, 0.75]]], values=["no", "yes"], outputs=["no", "yes"])
    >>> found = estimate(["no"] * 650 + ["yes"] * 350, coin)
    >>> found.values.round(6), found.naive
    (array([0.8, 0.2]), array([0.65, 0.35]))
    >>> found.lower.round(2), found.upper.round(2)
    (array([0.74, 0.14]), array([0.86, 0.26]))
    """
    started = time.perf_counter()
    level = share_number("alpha", alpha)
    sources = sources_of(released, protocol, secrets)
    first = sources[0].protocol
    known = _own_sample(sources) if isinstance(sample, str) and sample == "protocol" else sample
    if known is not None:
        require_labels(first, known)
        require_exact(known)
    least = finite_number("min_agreement", min_agreement)
    if not 0 <= least < 1:
        raise InvalidArgument(f"min_agreement must be at least 0 and below 1, got {least!r}")
    how = _How(
        choice("method", method, get_args(Method)),
        choice("interval", interval, get_args(Interval)),
        level,
        least,
        seed_or_fresh(seed),
    )
    functionals = asked(of, first)
    if how.method in ("projected", "shrunk") and not functionals.are_shares:
        raise InvalidArgument(f"method may be {how.method!r} for shares only, got another functional")
    overall = _overall(sources, known, functionals, how)
    estimates = overall
    if any(source.knows_secrets for source in sources):
        estimates = _by_secret(sources, known, functionals, how, overall)
    for about in dict.fromkeys((*estimates.about_rejection, *overall.about_rejection)):
        warnings.warn(about, RldpWarning, stacklevel=2)
    _log.info("estimated from %d released rows, %.2g s", estimates.rows, time.perf_counter() - started)
    return estimates


@dataclass(frozen=True)
class _How:
    """Options, by their names in the result."""

    method: str
    interval: str
    alpha: float
    min_agreement: float
    seed: int


@dataclass(frozen=True)
class _Answer:
    """Estimates of m functionals from some tallies, by their names in the result."""

    values: Floats
    lower: Floats
    upper: Floats
    identifiable: NDArray[np.bool_]
    least: Floats
    most: Floats
    covariance: Floats
    gap: float | None = None
    prior_rows: float | None = None
    posterior_errors: Floats | None = None
    agreement: float | None = None
    sample_rejected: bool | NDArray[np.bool_] = False


# Arguments


def _own_sample(sources: Sequence[Released]) -> Sample | None:
    """Return the sample that all protocols were designed on, if there is exactly one, without noise."""
    samples = _designed_on(sources)
    known = samples[0] if all(each == samples[0] for each in samples) else None
    return None if known is None or known.noise else known


def _designed_on(sources: Sequence[Released]) -> list[Sample | None]:
    promises = [source.protocol.guarantee for source in sources]
    return [None if promise is None else promise.sample for promise in promises]


# Estimates


def _overall(sources: list[Released], sample: Sample | None, of: Functionals, how: _How) -> Estimate:
    """Estimate for all people together."""
    tallies = [_tally(source) for source in sources]
    _require_possible(tallies)
    if sample is not None:
        tallies.insert(0, Tally.of_sample(sample.counts))
    answer = _tested(tallies, of.a.reshape(-1, of.a.shape[-1]), of, how)
    rows = 0 if sample is None or answer.sample_rejected else sample.n
    return _estimate(answer, sources, sample, of, how, naive=_naive(sources, of), sample_rows=rows)


def _tally(source: Released) -> Tally:
    """Tally released rows; if secrets are known, an outcome is a pair of secret and output."""
    matrix = source.protocol.matrix
    secrets, values, outputs = matrix.shape
    if not source.knows_secrets:
        return Tally(matrix.reshape(-1, outputs), source.counts)
    channel = np.zeros((secrets, values, secrets, outputs))
    for s in range(secrets):
        channel[s, :, s] = matrix[s]
    return Tally(channel.reshape(secrets * values, secrets * outputs), source.counts.reshape(-1))


def _require_possible(tallies: Sequence[Tally]) -> None:
    """Refuse rows that no distribution explains."""
    nothing = np.zeros((tallies[0].channel.shape[0], 1))
    never = any((tally.counts[tally.channel.max(axis=0) == 0] > 0).any() for tally in tallies)
    if never or allowed(tallies, outcome_limits(tallies, _IMPOSSIBLE), nothing) is None:
        raise DataError(
            "released must be rows of this protocol, but no distribution of secrets and values explains how "
            "often its outputs occur; perhaps they were released with another protocol"
        )


def _by_secret(
    sources: list[Released], sample: Sample | None, of: Functionals, how: _How, overall: Estimate
) -> Estimate:
    """Estimate for each secret. Given the number of people with it, each is a problem of its own."""
    known = [source for source in sources if source.knows_secrets]
    answers: list[_Answer] = []
    naive: list[Any] = []
    for s in range(len(of.a)):
        tallies = [Tally(source.protocol.matrix[s], source.counts[s]) for source in known]
        if sample is not None:
            tallies.insert(0, Tally.of_sample(sample.counts[s]))
        answers.append(_tested([tally for tally in tallies if tally.n], of.a[s], of, how))
        naive.append(_naive(known, of, s))
    by_field = {name: [getattr(answer, name) for answer in answers] for name in vars(answers[0])}
    known_in = {name: [each for each in given if each is not None] for name, given in by_field.items()}
    nothing = np.full(len(of.labels), np.nan)
    spreads = [nothing if each is None else each for each in by_field["posterior_errors"]]
    together = _Answer(
        **{name: np.stack(by_field[name]) for name in _ARRAYS},
        gap=max(known_in["gap"], default=None),
        prior_rows=max(known_in["prior_rows"], default=None),
        posterior_errors=np.stack(spreads) if known_in["posterior_errors"] else None,
        agreement=min(known_in["agreement"], default=None),
        sample_rejected=np.array(by_field["sample_rejected"]),
    )
    rows = 0 if sample is None else int(sample.counts[~np.asarray(together.sample_rejected)].sum())
    shown_naive = None if any(each is None for each in naive) else np.stack(naive)
    return _estimate(together, sources, sample, of, how, naive=shown_naive, sample_rows=rows, overall=overall)


def _estimate(
    answer: _Answer,
    sources: list[Released],
    sample: Sample | None,
    of: Functionals,
    how: _How,
    *,
    naive: Floats | None,
    sample_rows: int,
    overall: Estimate | None = None,
) -> Estimate:
    for array in vars(answer).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return Estimate(
        **vars(answer),
        **vars(how),
        labels=of.labels,
        secrets=None if overall is None else sources[0].protocol.secrets,
        naive=naive,
        rows=sum(source.n for source in sources),
        sample_rows=sample_rows,
        designed_on_sample=sample_rows > 0 and any(sample == each for each in _designed_on(sources)),
        overall=overall,
        of_moments=of.derived is not None,
    )


def _naive(sources: Sequence[Released], of: Functionals, secret: int | None = None) -> Floats | None:
    """Evaluate the functionals as if the released columns were the values."""
    total, rows = np.zeros(of.a.shape[-1]), 0
    for source in sources:
        scores = of.naive(source.protocol)
        if scores is None or (secret is None and not source.knows_secrets and (scores != scores[0]).any()):
            return None
        counts = source.counts if source.knows_secrets else source.counts[None]
        scores = scores[: len(counts)]
        if secret is not None:
            counts, scores = counts[secret : secret + 1], scores[secret : secret + 1]
        total += np.einsum("sy,sym->m", counts, scores)
        rows += int(counts.sum())
    moments = total / rows if rows else np.full(len(total), np.nan)
    return moments if of.derived is None else of.derived.at(moments)[: len(of.labels)]


def _tested(tallies: list[Tally], a: Floats, of: Functionals, how: _How) -> _Answer:
    """Estimate the functionals a (k, m) from tallies, leaving out a sample that the other rows reject.

    Proved intervals keep their level under this choice: they miss with probability 0.9 α if the sample is
    used, and 0.1 α if it is rejected.
    """
    probability = agreement(tallies)
    if probability is None or not tallies[0].is_sample or how.min_agreement == 0:
        return replace(_asked(tallies, a, of, how, how.alpha), agreement=probability)
    if probability >= how.min_agreement:
        return replace(_asked(tallies, a, of, how, _KEPT * how.alpha), agreement=probability)
    alone = _asked(tallies[1:], a, of, how, (1 - _KEPT) * how.alpha)
    return replace(alone, agreement=probability, sample_rejected=True)


def _asked(tallies: list[Tally], a: Floats, of: Functionals, how: _How, alpha: float) -> _Answer:
    """Return the functionals, or the requested functions of them."""
    if of.derived is None:
        return _answer(tallies, a, how, alpha)
    shared = replace(how, alpha=how.alpha / of.derived.needed)
    moments = _answer(tallies, a, shared, alpha / of.derived.needed)
    return _function(of.derived, len(of.labels), moments, how)


def _function(derived: Derived, wanted: int, moments: _Answer, how: _How) -> _Answer:
    """Evaluate functions of moments, by the delta method or from limits on all moments they need.

    The intervals of ``moments`` hold together at the requested level.
    """
    lowest, highest = (ends[:wanted] for ends in derived.limits())
    m = moments.values
    values = derived.at(m)[:wanted]
    lower, upper = (ends[:wanted] for ends in derived.between(moments.lower, moments.upper))
    sure = np.isfinite(values)
    covariance = np.full((wanted, wanted), np.nan)
    if sure.any():
        gradient = derived.gradient(m)[:wanted][sure]
        used = (gradient != 0).any(axis=0)  # moments of a group without rows are not used
        spread = gradient[:, used] @ moments.covariance[np.ix_(used, used)] @ gradient[:, used].T
        covariance[np.ix_(sure, sure)] = spread
        if how.interval == "normal":
            half = -float(ndtri(how.alpha / 2)) * np.sqrt(np.maximum(np.diag(spread), 0.0))
            lower[sure], upper[sure] = values[sure] - half, values[sure] + half
    return replace(
        moments,
        values=values,
        lower=np.clip(lower, lowest, highest),
        upper=np.clip(upper, lowest, highest),
        identifiable=sure,
        least=np.where(sure, values, lowest),
        most=np.where(sure, values, highest),
        covariance=covariance,
        posterior_errors=None,
    )


def _answer(tallies: list[Tally], a: Floats, how: _How, alpha: float) -> _Answer:
    """Estimate the functionals a (k, m) from tallies, each of which has a row.

    Proved intervals have the level ``alpha``.
    """
    m = a.shape[1]
    lowest, highest = a.min(axis=0), a.max(axis=0)
    blank = np.full(m, np.nan)
    if not tallies:
        nowhere = np.zeros(m, dtype=np.bool_)
        return _Answer(
            blank, lowest, highest, nowhere, lowest.copy(), highest.copy(), np.full((m, m), np.nan)
        )
    basis = row_space(tallies)
    sure = identified(basis, a)
    values, covariance = blank.copy(), np.full((m, m), np.nan)
    lower, upper = lowest.copy(), highest.copy()
    if sure.any():
        answer = unbiased(tallies, basis, a[:, sure], np.random.default_rng(how.seed))
        values[sure], covariance[np.ix_(sure, sure)] = answer.values, answer.covariance
        limits = (
            answer.limits(how.alpha)
            if how.interval == "normal"
            else betting_limits(tallies, basis, a[:, sure], alpha, np.random.default_rng(how.seed))
        )
        lower[sure], upper[sure] = limits
    moved = by_method(how.method, tallies, a, sure, values, covariance)
    values = moved.values
    least, most = values.copy(), values.copy()
    if not sure.all():
        fitted = maximum_likelihood(tallies).distribution
        laws = [(tally.at(fitted), tally.at(fitted)) for tally in tallies]
        rest = a[:, ~sure]
        least[~sure], most[~sure] = allowed(tallies, laws, rest) or (lowest[~sure], highest[~sure])
        around = allowed(tallies, outcome_limits(tallies, alpha), rest)
        if around is not None:
            lower[~sure], upper[~sure] = around
    lower, upper = np.clip(lower, lowest, highest), np.clip(upper, lowest, highest)
    extras = {**vars(moved), "values": values}
    return _Answer(
        **extras, lower=lower, upper=upper, identifiable=sure, least=least, most=most, covariance=covariance
    )
