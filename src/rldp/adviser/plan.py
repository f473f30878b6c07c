"""Prediction of what samples of other sizes would promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from os import PathLike
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import finite_number, seed_number, whole_number
from rldp._common.deprecated import renamed, warn_deprecated
from rldp._common.frames import Tabular
from rldp._common.process import silenced
from rldp.adviser.frontier import checked_levels
from rldp.designer.api import design, design_batch, usual_utility
from rldp.distortions import Distortion, Outputs, distortion_of
from rldp.errors import InvalidArgument, InvalidArgumentType, RldpWarning
from rldp.sample import Sample
from rldp.sets import (
    AllDistributions,
    Nominal,
    Prior,
    PrivacySet,
    UncertaintySet,
    UtilitySet,
    checked_prior,
    checked_set,
)
from rldp.theory.dirichlet import conditionals, masses
from rldp.theory.hierarchy import alike_secrets, cells_apart
from rldp.theory.model import Floats

__all__ = ["Plan", "PlanRow", "plan"]

BAND = (0.05, 0.5, 0.95)
"""Quantiles of the promised distortion: the band holds 90 % of the samples; its middle is the median."""
_LARGEST = 10**15
_AS_GOOD_AS_INFINITE = 10**12
_GAP = 1e-4
_NOISY_GAP = 1e-2  # of designs with noise, which are solved one by one
_Options = ParamSpec("_Options")


@dataclass(frozen=True)
class PlanRow:
    """The promises of samples of one size.

    Attributes
    ----------
    size : int, or infinity
        Number of rows; infinity stands for a known distribution.
    low, median, high : float
        5 %, 50 % and 95 % quantiles of the promised distortion over the samples.
    promised : array (samples,)
        The promise of each sample, in increasing order.
    """

    size: float
    low: float
    median: float
    high: float
    promised: Floats = field(repr=False)

    @classmethod
    def of(cls, size: float, promised: Floats) -> PlanRow:
        """Return the row that summarises the promises of some samples."""
        low, median, high = np.quantile(promised, BAND).tolist()
        return cls(size, low, median, high, np.sort(promised))


@dataclass(frozen=True, eq=False)
class Plan(Tabular):
    """Promised distortion against the size of the sample; see :func:`rldp.plan`.

    Attributes
    ----------
    rows : tuple of PlanRow
        In increasing order of size.
    limit : PlanRow
        The row of a known distribution.
    present : float
        The distortion that the present sample promises.
    sample : Sample
    epsilon : float
    privacy, utility : UncertaintySet
    """

    rows: tuple[PlanRow, ...]
    limit: PlanRow
    present: float
    sample: Sample
    epsilon: float
    privacy: UncertaintySet
    utility: UncertaintySet

    def size_for(self, distortion: float) -> int | None:
        """Return the size at which half of the samples promise at most ``distortion``.

        Interpolate the medians linearly in logarithms. Return None if the largest size is too small, and the
        smallest tried size if that suffices.
        """
        wanted = finite_number("distortion", distortion, at_least=0.0)
        for before, row in zip((None, *self.rows), self.rows, strict=False):
            if row.median <= wanted:
                return int(row.size) if before is None else _between(before, row, wanted)
        return None

    def table(self) -> dict[str, list[Any]]:
        """Return the numbers as tidy columns, one row for each size, as data-frame libraries accept them."""
        return {
            name: [getattr(row, name) for row in (*self.rows, self.limit)]
            for name in ("size", "low", "median", "high")
        }

    @property
    def promise(self) -> UncertaintySet:
        """The deprecated name of ``privacy``."""
        warn_deprecated("Plan.promise", "Plan.privacy")
        return self.privacy

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the plan into a PNG, SVG or PDF file; needs matplotlib."""
        from rldp.reporter.charts import draw_plan

        draw_plan(self, path)

    def __repr__(self) -> str:
        shown = ", ".join(f"{row.median:.4g} at {row.size}" for row in self.rows)
        return f"<Plan at ε = {self.epsilon:g}: median distortion {shown}; {self.limit.median:.4g} at best>"


def _takes_sizes_first(function: Callable[_Options, Plan]) -> Callable[_Options, Plan]:
    """Accept the deprecated order ``plan(sample, sizes, epsilon)`` of versions before 0.3."""

    @wraps(function)
    def run(*given: Any, **options: Any) -> Plan:
        if len(given) > 1 and isinstance(given[1], Iterable):
            warn_deprecated("plan(sample, sizes, epsilon)", "plan(sample, epsilon, sizes)")
            sample, *rest = given
            options |= dict(zip(("sizes", "epsilon"), rest, strict=False))
            given = (sample,)
        return function(*given, **options)

    return run


@_takes_sizes_first
def plan(
    sample: Sample,
    epsilon: float,
    sizes: Iterable[int],
    *,
    privacy: PrivacySet = "chi2",
    utility: UtilitySet | None = None,
    distortion: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    epsilon_known: float = math.inf,
    alpha: float = 0.05,
    prior: Prior = "adaptive",
    draws: int = 60,
    seed: int = 0,
    callback: Callable[[int, int, str], None] | None = None,
    promise: PrivacySet | None = None,
) -> Plan:
    """Predict the distortion that samples of other sizes would promise.

    For each size, draw distributions that the sample makes likely, draw a new sample of that size from each,
    and design for it. Half of the distributions come from the posterior with the prior Dirichlet(``prior``)
    on the cells, half from one under which secrets may be alike; see ``docs/theory.md``, 'Planning'. The band
    is a prediction based on these draws, not a guarantee.

    If the sample's counts have noise, the posterior takes it into account, and new samples get noise of the
    same level. Privacy must then be a promise that supports noise.

    Parameters
    ----------
    sample : Sample
        The present sample.
    epsilon : float
    sizes : iterable of int
        Numbers of rows, 1 to 10^15, smaller or larger than at present.
    privacy : UncertaintySet or its name
        The privacy promise, as in :func:`rldp.design`.
    utility, distortion, weights, outputs, epsilon_known
        As in :func:`rldp.design`.
    alpha, prior : float
        Used for a promise given by name; the prior is also used for the distributions.
    draws : int
        Number of samples of each size, 10 to 100 000.
    seed : int
        The same seed gives the same samples.
    callback : callable (done, total, note), optional
    promise
        The deprecated name of ``privacy``.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import rldp
    >>> sample = rldp.Sample([[30, 10], [5, 25]])
    >>> found = rldp.plan(sample, 1.0, [70, 700], draws=20)
    >>> [row.size for row in found.rows], found.rows[1].median < found.rows[0].median
    ([70, 700], True)
    """
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    (level,) = checked_levels([epsilon], "epsilon")
    wanted = _checked_sizes(sizes)
    chosen = renamed("promise", promise, "privacy", privacy, stacklevel=5)
    private = checked_set("privacy", chosen, alpha=alpha, prior=prior)
    useful = checked_set("utility", usual_utility(sample, utility), alpha=alpha, prior=prior)
    measure = distortion_of(sample, distortion, outputs, weights)
    same: dict[str, Any] = {
        "distortion": measure.matrix,
        "outputs": measure.outputs,
        "epsilon_known": epsilon_known,
    }
    count = whole_number("draws", draws, 10, 100_000)
    truths = _truths(sample, prior, count, seed)
    rows = []

    def noisy(counts: NDArray[np.int64], generator: np.random.Generator) -> Floats:
        """Return what new tables would promise with noise of the present level."""
        assert sample.count_noise is not None
        promises = []
        for table in _with_noise(counts, sample.count_noise, generator):
            if table.sum() <= 0:  # no rows remain: use the best constant
                promises.append(float((truths.mean(axis=0).sum(axis=0) @ measure.matrix).min()))
                continue
            new = Sample(table, sample.secrets, sample.values, noise=sample.count_noise)
            made = design(new, level, privacy=private, utility=useful, chain=False, gap=_NOISY_GAP, **same)
            promises.append(made.objective)
        return np.array(promises)

    def promised(counts: NDArray[np.int64], privacy: UncertaintySet, utility: UncertaintySet) -> Floats:
        return design_batch(counts, level, privacy=privacy, utility=utility, gap=_GAP, **same).objective

    with silenced(RldpWarning):
        for done, size in enumerate(wanted):
            if callback is not None:
                callback(done, len(wanted) + 1, f"{size} rows")
            rng = np.random.default_rng([seed, 1, size])
            counts = np.stack([rng.multinomial(size, p) for p in truths.reshape(count, -1)])
            tables = counts.reshape(truths.shape)
            promises = promised(tables, private, useful) if sample.noise is None else noisy(tables, rng)
            rows.append(PlanRow.of(size, promises))
        if callback is not None:
            callback(len(wanted), len(wanted) + 1, "known distribution")
        known = np.rint(truths * _AS_GOOD_AS_INFINITE).astype(np.int64)
        given_all = private if isinstance(private, AllDistributions) else Nominal()
        limit = PlanRow.of(math.inf, promised(known, given_all, Nominal()))
        present = design(sample, level, privacy=private, utility=useful, gap=_GAP, **same)
    return Plan(tuple(rows), limit, present.objective, sample, level, private, useful)


def _checked_sizes(sizes: Iterable[int]) -> list[int]:
    """Return the distinct sizes in increasing order."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InvalidArgumentType(f"sizes must be a list of whole numbers, got {type(sizes).__name__}")
    checked = sorted({whole_number("sizes", size, 1, _LARGEST) for size in sizes})
    if not checked:
        raise InvalidArgument("sizes must hold at least one number of rows, got none")
    return checked


def _truths(sample: Sample, prior: Prior, count: int, seed: int) -> Floats:
    """Draw distributions that the sample makes likely: (count, |S|, |U|)."""
    a = checked_prior(prior)
    if sample.noise is not None:
        assert sample.noisy_counts is not None
        options: dict[str, Any] = {"prior": a, "draws": count, "seed": seed, "noise": sample.count_noise}
        given = conditionals(sample.noisy_counts, **options)
        return np.moveaxis(masses(sample.noisy_counts, **options)[:, None] * given, -1, 0)
    rng = np.random.default_rng([seed_number(seed), 0])
    half = count // 2
    return np.concatenate(
        [cells_apart(sample.counts, a, half, rng), alike_secrets(sample.counts, a, count - half, rng)]
    )


def _with_noise(counts: NDArray[np.int64], level: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Add discrete Laplace noise, as the difference of two geometric draws; for planning only."""
    stop = -math.expm1(-level)
    noise = [generator.geometric(stop, counts.shape) for _ in range(2)]
    return counts + noise[0] - noise[1]


def _between(before: PlanRow, row: PlanRow, wanted: float) -> int:
    """Return where the line through two medians, in logarithms, reaches ``wanted``, rounded up."""
    if wanted <= 0 or row.median <= 0 or before.median <= row.median:
        return int(row.size)
    share = math.log(before.median / wanted) / math.log(before.median / row.median)
    return min(
        int(row.size), math.ceil(math.exp((1 - share) * math.log(before.size) + share * math.log(row.size)))
    )
