"""The frontier: the distortion that can be promised at each ε, for several promises about privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from rldp._common.checks import real_number
from rldp._common.deprecated import renamed
from rldp._common.frames import Tabular
from rldp.adviser.ladder import PrivacySets, named_sets, under_estimate, usual
from rldp.designer.api import design_levels
from rldp.designer.designs import Design
from rldp.distortions import Distortion, Outputs
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sample import Sample
from rldp.sets import Credible, Prior, UncertaintySet, UtilitySet, checked_set

__all__ = ["Frontier", "FrontierPoint", "frontier"]


@dataclass(frozen=True)
class FrontierPoint:
    """The cost of one promise at one ε.

    Attributes
    ----------
    promise : str
    epsilon : float
    promised : float
        The proved maximum of the expected distortion over the utility set.
    estimate : float
        Expected distortion under the estimate.
    lower_bound : float
        No protocol that keeps the promise has a smaller distortion. For a credible promise: no protocol that
        is private over the set found for it.
    design : Design
        A protocol that attains it. Its own ε is smaller if the better protocol was found at a smaller ε.
    """

    promise: str
    epsilon: float
    promised: float
    estimate: float
    lower_bound: float
    design: Design = field(repr=False)


@dataclass(frozen=True, eq=False)
class Frontier(Tabular):
    """Distortion against ε, for several promises; see :func:`rldp.frontier`.

    Attributes
    ----------
    points : tuple of FrontierPoint
        Ordered by promise, then by increasing ε.
    sample : Sample
    utility : UncertaintySet
        The set that the distortion is promised for.
    """

    points: tuple[FrontierPoint, ...]
    sample: Sample
    utility: UncertaintySet

    @property
    def promises(self) -> tuple[str, ...]:
        """The names of the promises."""
        return tuple(dict.fromkeys(point.promise for point in self.points))

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The levels, in increasing order."""
        return tuple(point.epsilon for point in self.of(self.promises[0]))

    def of(self, promise: str) -> tuple[FrontierPoint, ...]:
        """Return the points of one promise."""
        points = tuple(point for point in self.points if point.promise == promise)
        if not points:
            raise InvalidArgument(f"promise must be among {', '.join(self.promises)}, got {promise!r}")
        return points

    def table(self) -> dict[str, list[Any]]:
        """Return the numbers as tidy columns, one row for each point, as data-frame libraries accept them."""
        names = ("promise", "epsilon", "promised", "estimate", "lower_bound")
        return {name: [getattr(point, name) for point in self.points] for name in names}

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the frontier into a PNG, SVG or PDF file; needs matplotlib."""
        from rldp.reporter.charts import draw_frontier

        draw_frontier(self, path)

    def __repr__(self) -> str:
        low, high = min(self.epsilons), max(self.epsilons)
        return (
            f"<Frontier: {len(self.epsilons)} levels of ε from {low:g} to {high:g}; "
            f"promises {', '.join(self.promises)}>"
        )


def frontier(
    sample: Sample,
    epsilons: Iterable[float],
    *,
    privacy: PrivacySets | None = None,
    utility: UtilitySet | None = None,
    distortion: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    alpha: float = 0.05,
    prior: Prior = "adaptive",
    epsilon_known: float = math.inf,
    gap: float = 1e-6,
    callback: Callable[[int, int, str], None] | None = None,
    promises: PrivacySets | None = None,
) -> Frontier:
    """Compute the distortion that can be promised at each ε, for several promises about privacy.

    All levels of a promise are designed for in one batch. A protocol that is private at some ε is private at
    every larger one, so a point uses the protocol of a smaller ε if that is better: the frontier never rises.

    Parameters
    ----------
    sample : Sample
        The public sample.
    epsilons : iterable of float
        Privacy levels, 0 or more, in any order; duplicates are dropped.
    privacy : names or sets, one or several, or a mapping from your own names to sets
        Names are "all", "pairs", "chi2", "cr", "g", "credible" and "nominal". By default "pairs", "chi2",
        "credible" and "nominal"; if the counts have noise, "credible" and "all".
    utility : UncertaintySet or its name
        The set over which the distortion must hold, the same for all promises. By default "chi2"; if the
        counts have noise, "nominal".
    distortion, weights, outputs, epsilon_known, gap
        As in :func:`rldp.design`.
    alpha, prior : float
        Used for promises given by name.
    callback : callable (done, total, promise), optional
        Called before each promise and at the end.
    promises
        The deprecated name of ``privacy``.

    Returns
    -------
    Frontier

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If an argument is unusable.

    Examples
    --------
    >>> import rldp
    >>> sample = rldp.Sample([[300, 100], [50, 250]])
    >>> found = rldp.frontier(sample, [0.5, 1.0, 2.0], privacy=["chi2", "nominal"])
    >>> found
    <Frontier: 3 levels of ε from 0.5 to 2; promises chi2, nominal>
    >>> [round(point.promised, 3) for point in found.of("chi2")]
    [0.205, 0.099, 0.0]
    """
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    levels = checked_levels(epsilons)
    wanted, utility = usual(sample, renamed("promises", promises, "privacy", privacy), utility)
    sets = named_sets(wanted, alpha=alpha, prior=prior)
    useful = checked_set("utility", utility, alpha=alpha, prior=prior)
    tell = callback or (lambda done, total, promise: None)
    points: list[FrontierPoint] = []
    for done, (name, private) in enumerate(sets.items()):
        tell(done, len(sets), name)
        designs = design_levels(
            sample,
            levels,
            privacy=private,
            utility=useful,
            distortion=distortion,
            weights=weights,
            outputs=outputs,
            epsilon_known=epsilon_known,
            gap=gap,
        )
        points += _points(name, levels, designs, fixed=not isinstance(private, Credible))
    tell(len(sets), len(sets), "")
    return Frontier(tuple(points), sample, useful)


def checked_levels(epsilons: Iterable[float], name: str = "epsilons") -> list[float]:
    """Return the distinct levels in increasing order."""
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise InvalidArgumentType(f"{name} must be a list of numbers, got {type(epsilons).__name__}")
    levels = sorted({real_number(name, item) for item in epsilons})
    if not levels:
        raise InvalidArgument(f"{name} must hold at least one level, got none")
    if levels[0] < 0:
        raise InvalidArgument(f"{name} must be at least 0, got {levels[0]!r}")
    return levels


def _points(
    name: str, levels: Sequence[float], designs: Sequence[Design], *, fixed: bool
) -> list[FrontierPoint]:
    """Return the best protocol at each level; bounds of a ``fixed`` set carry over to smaller ε."""
    bounds = np.array([designed.lower_bound for designed in designs])
    if fixed:
        bounds = np.maximum.accumulate(bounds[::-1])[::-1]
    points: list[FrontierPoint] = []
    best = designs[0]
    for epsilon, designed, bound in zip(levels, designs, bounds.tolist(), strict=True):
        best = designed if designed.objective <= best.objective else best
        promised, bound = best.objective, max(0.0, min(bound, best.objective))
        points.append(FrontierPoint(name, epsilon, promised, under_estimate(best), bound, best))
    return points
