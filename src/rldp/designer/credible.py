r"""Credible designs: the smallest sets that keep the posterior risk of their own protocol at α.

Let :math:`Q_\rho` be the robust optimum over the power-divergence set of radius ρ, and :math:`\pi(\rho)` the
posterior probability that it fails: that it is not ε-private, or that it distorts more than its objective.
π falls with ρ, and the normal quantile of 1 − π is nearly a straight line in :math:`t=\sqrt{\rho n}`. So two
rough designs give a line, the line gives t, and a design at the requested gap is judged by fresh draws: it is
accepted if the upper bound of Clopper and Pearson on π is at most α, and otherwise made again with a larger
set. See ``docs/theory.md``, 'Credible privacy'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rldp.designer.certify import CertifiedBatch
from rldp.designer.engine.settings import Settings
from rldp.designer.request import CPU, Device, Promised, SolveResult
from rldp.designer.risks import Risk, estimated, proved
from rldp.errors import InvalidArgument, RldpError
from rldp.sample import Sample
from rldp.sets import AllDistributions, Credible, Nominal, UncertaintySet
from rldp.theory.arrays import ordered_pairs
from rldp.theory.dirichlet import centre_counts
from rldp.theory.model import Ball, DesignProblem, Floats

__all__ = ["Solve", "credible_risks", "solve_credible", "with_noise"]

Solve = Callable[[DesignProblem, float], CertifiedBatch]

_CHECKED_SHARE = 0.3  # of α: what could not be used to this share is refused
_MOST_TRIALS = 20  # by then the sets are so large that everything is accepted
_LEAST_SLOPE = 0.5  # of the line that is believed; no sample measured has less
_RANGE = (0.2, 3.0)  # of the first guess of t, where the line ends; no sample measured comes near
_LEAST_T = 0.1  # where α leaves more than half to each constraint


def credible_risks(
    privacy: UncertaintySet, utility: UncertaintySet, cells: int, settings: Settings
) -> tuple[Risk, ...]:
    """Return the credible promises; the others are sets that need no search.

    Raises
    ------
    InvalidArgument
        If α is too small to be checked by draws, for a table of so many cells.
    """
    both: tuple[tuple[Promised, UncertaintySet], ...] = (("privacy", privacy), ("utility", utility))
    risks = tuple(Risk(about, given, cells, settings) for about, given in both if isinstance(given, Credible))
    for risk in risks:
        if risk.level < _CHECKED_SHARE * risk.promise.alpha:
            raise InvalidArgument(
                f"alpha must be larger to be checked by draws on a table of {cells} cells, got "
                f"{risk.promise.alpha!r}"
            )
    return risks


def solve_credible(
    problem: DesignProblem,
    risks: Sequence[Risk],
    gap: float,
    solve: Solve,
    device: Device = CPU,
    *,
    searches: bool = True,
) -> SolveResult:
    """Design protocols whose risks are proved by fresh draws, for sets as small as possible.

    Parameters
    ----------
    problem : DesignProblem
        With the sets of the promises that are not credible.
    risks : sequence of Risk
        The credible promises; at least one.
    gap : float
    solve : callable (DesignProblem, gap) → CertifiedBatch
    device : Device
        Where draws are made.
    searches : bool
        Whether there is time for two rough designs; otherwise the first guess of t is tried.

    Raises
    ------
    InvalidArgument
        If a promise comes with a radius at which the draws do not prove it.
    """
    problem = _centred(problem, risks)
    given = not searches or all(risk.promise.radius is not None for risk in risks)
    t, slope, steps = _guessed(problem, risks) if given else _searched(problem, risks, solve, device)
    target, settings = np.array([[risk.target] for risk in risks]), risks[0].settings
    left = np.arange(len(problem.counts))
    solved: CertifiedBatch | None = None
    for trial in range(_MOST_TRIALS):
        part = _at(problem.subset(left), risks, t[:, left])
        tried = solve(part, gap)
        steps[left] += tried.steps
        solved = tried if solved is None else solved.replaced(left, tried)
        accepted, quantile = proved(risks, part, tried, trial, device)
        _require_given(risks, accepted)
        if accepted.all():
            radii = {risk.about: _radius(risk, problem, row) for risk, row in zip(risks, t, strict=True)}
            return SolveResult(_at(problem, risks, t), replace(solved, steps=steps), radii)
        further = np.maximum(
            (target - quantile) / slope[:, left], settings.credible_growth * 2.0**trial * t[:, left]
        )
        t[:, left] += np.where(accepted, 0.0, further)
        left = left[~accepted.all(axis=0)]
    raise RldpError(f"no set was found that keeps the posterior risk at alpha, in {_MOST_TRIALS} designs")


def _searched(
    problem: DesignProblem, risks: Sequence[Risk], solve: Solve, device: Device
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return sizes t that are likely to be accepted, the slopes of the lines behind them, and steps (K,).

    Sizes and slopes are (risks, K).
    """
    k, settings = len(problem.counts), risks[0].settings
    guess = _guessed(problem, risks)[0]
    tried = np.concatenate([factor * guess for factor in settings.credible_sizes], axis=1)
    rough = _at(problem.subset(np.tile(np.arange(k), 2)), risks, tried)
    solved = solve(rough, settings.credible_gap)
    quantile = estimated(risks, rough, solved, device)
    slope = (quantile[:, k:] - quantile[:, :k]) / (tried[:, k:] - tried[:, :k])
    slope = np.maximum(slope, _LEAST_SLOPE)
    slope[[risk.about == "utility" for risk in risks]] = 1.0  # of one mean, nearly normal, measured in its σ
    missing = np.array([[risk.target] for risk in risks]) - quantile
    nearer = np.abs(missing[:, k:]) < np.abs(missing[:, :k])
    t = np.where(nearer, tried[:, k:], tried[:, :k])
    t = t + np.where(nearer, missing[:, k:], missing[:, :k]) / slope
    steps = solved.steps.reshape(len(settings.credible_sizes), k).sum(axis=0)
    return np.clip(t, _RANGE[0] * guess, _RANGE[1] * guess), slope, steps


def _guessed(problem: DesignProblem, risks: Sequence[Risk]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The same without a search."""
    k = len(problem.counts)
    guess = np.array([np.full(k, _guess(risk, problem)) for risk in risks])
    return guess, np.ones_like(guess), np.zeros(k, dtype=np.int64)


def _guess(risk: Risk, problem: DesignProblem) -> float:
    """Return the t at which each constraint, if normal, fails with at most its share of α."""
    secrets, _, outputs = problem.shape
    constraints = len(ordered_pairs(secrets)) * outputs if risk.about == "privacy" else 1
    return max(-float(ndtri(risk.promise.alpha / max(constraints, 1))), _LEAST_T)


def _radius(risk: Risk, problem: DesignProblem, t: Floats) -> Floats:
    """Return the radii (K,) of the sets of size t²/n in the units of Pearson's χ²."""
    if risk.promise.radius is not None:
        return np.full(len(t), risk.promise.radius)
    lambda_ = risk.promise.lambda_
    factor = lambda_ * (lambda_ + 1) / 2 if lambda_ > 0 else 0.5
    return np.asarray(factor * t**2 / problem.counts.sum(axis=(1, 2)))


def _centred(problem: DesignProblem, risks: Sequence[Risk]) -> DesignProblem:
    """Return the problem with sets around the posterior means, if the prior is adaptive.

    Utility under one distribution alone is then utility under that mean too: where a cell was never seen, the
    estimate would say that its outputs cost nothing.
    """
    adaptive = {risk.about for risk in risks if risk.promise.prior == "adaptive" or problem.noise is not None}
    if not adaptive:
        return problem
    prior = risks[0].promise.prior
    tables, sample = np.unique(problem.published, axis=0, return_inverse=True)
    means = np.stack([centre_counts(counts, prior, problem.noise) for counts in tables])[sample.reshape(-1)]
    private, useful = problem.centre_of_privacy, problem.centre_of_utility
    if "privacy" in adaptive and private is None:
        private = means
    if useful is None and ("utility" in adaptive or ("privacy" in adaptive and problem.utility is None)):
        useful = means
    return replace(problem, centre_of_privacy=private, centre_of_utility=useful)


def with_noise(
    problem: DesignProblem, sample: Sample, privacy: UncertaintySet, utility: UncertaintySet
) -> DesignProblem:
    """Return the problem of a sample with noisy counts.

    Raises
    ------
    InvalidArgument
        If a promise does not account for the noise.
    """
    assert sample.noise is not None
    assert sample.noisy_counts is not None
    useful = isinstance(utility, Credible | Nominal)
    if not isinstance(privacy, Credible | AllDistributions):
        refused = _of_noise("privacy", "rldp.Credible() or rldp.AllDistributions()", privacy)
        raise InvalidArgument(refused if useful else f"{refused}; so does utility='nominal'")
    if not useful:
        raise InvalidArgument(_of_noise("utility", "rldp.Credible() or rldp.Nominal()", utility))
    noisy = np.broadcast_to(sample.noisy_counts, problem.counts.shape)
    problem = replace(problem, noise=sample.count_noise, noisy_counts=noisy)
    if isinstance(privacy, AllDistributions) and isinstance(utility, Nominal):
        mean = centre_counts(sample.noisy_counts, "adaptive", sample.count_noise)
        problem = replace(problem, centre_of_utility=np.broadcast_to(mean, problem.counts.shape))
    return problem


def _of_noise(name: str, known: str, given: UncertaintySet) -> str:
    return (
        f"{name} must be {known} where counts have noise, got {given!r}, which does not account for the "
        f"noise; {name}='credible' does"
    )


def _at(problem: DesignProblem, risks: Sequence[Risk], t: Floats) -> DesignProblem:
    """Return the problem with sets of sizes t (risks, K)."""
    for risk, row in zip(risks, t, strict=True):
        ball = Ball.of_radius(risk.promise.lambda_, _radius(risk, problem, row))
        if risk.about == "privacy":
            problem = replace(problem, privacy=ball)
        else:
            problem = replace(problem, utility=ball)
    return problem


def _require_given(risks: Sequence[Risk], accepted: NDArray[np.bool_]) -> None:
    for risk, fine in zip(risks, accepted, strict=True):
        if risk.promise.radius is not None and not fine.all():
            raise InvalidArgument(
                f"radius must keep the posterior risk of {risk.about} at {risk.promise.alpha!r}, but at "
                f"{risk.promise.radius!r} draws do not prove it; without a radius, one is searched for"
            )
